"""What a format's reader hands over, before rows and columns, kind and labels are checked in one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

__all__ = ["Raw"]


@dataclass
class Raw:
    """The parts found in a file; None for those it does not have."""

    values: NDArray[Any]
    ids: list[str] | None = None
    column_ids: list[str] | None = None
    kind: str | None = None
    labels: Any = None
