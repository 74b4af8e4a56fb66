"""Libraries that only some measures need: imported when first used, and missed in one sentence."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from similis.exceptions import MissingExtraError

__all__ = ["need"]


def need(module: str, *, extra: str, who: str) -> Any:
    """Import `module`, which the extra `extra` installs and `who` cannot do without."""
    try:
        return import_module(module)
    except ImportError:
        library = {"ot": "POT"}.get(module.partition(".")[0], module.partition(".")[0])
        raise MissingExtraError(
            f"{who} needs the library {library}. Install it with: pip install 'similis[{extra}]'"
        ) from None
