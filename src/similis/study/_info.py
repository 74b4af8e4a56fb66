"""What a result remembers of a method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["MethodInfo"]


@dataclass(frozen=True)
class MethodInfo:
    """What a result remembers of a method.

    Attributes
    ----------
    name, family, paper, summary, needs, baseline
        As in :class:`Method`.
    conversion : str
        What the study put in front of it, in words.
    grid : dict
        The grid it chose from.
    spec : str
        Fingerprint of pipeline and grid.
    """

    name: str
    family: str = ""
    paper: str = ""
    summary: str = ""
    needs: str = ""
    baseline: bool = False
    conversion: str = ""
    grid: dict[str, Any] = field(default_factory=dict)
    spec: str = ""
