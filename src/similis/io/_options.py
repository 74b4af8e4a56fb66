"""Options of the readers of all formats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from similis.base import Kind
from similis.exceptions import ProximityError
from similis.io._proximity import quote_short

__all__ = ["PairOptions", "ReadOptions"]

AGGREGATES = ("max", "min", "sum", "mean")


@dataclass(frozen=True)
class PairOptions:
    """Options of pair lists, None where the default is to be used.

    Attributes
    ----------
    columns : sequence of str, str or None
        Names of all columns, or names or numbers of both id columns and the score.
    score : str or None
        Column of the values.
    aggregate : {"max", "min", "sum", "mean"} or None
        Value of a pair with several lines.
    absent : {"missing", "zero"}, float or None
        Value of pairs that are not listed.
    """

    columns: Sequence[str] | str | None = None
    score: str | None = None
    aggregate: str | None = None
    absent: str | float | None = None

    def __post_init__(self) -> None:
        if self.aggregate not in (None, *AGGREGATES):
            raise ProximityError(f"aggregate must be max, min, sum or mean. Got {quote_short(self.aggregate)}.")
        if self.absent in (None, "missing", "zero"):
            return
        try:
            is_finite = not isinstance(self.absent, bool) and np.isfinite(float(self.absent))
        except (TypeError, ValueError):
            is_finite = False
        if not is_finite:
            raise ProximityError(f"absent must be 'missing', 'zero' or a number. Got {quote_short(self.absent)}.")

    @property
    def any(self) -> bool:
        """True if an option is given that only pair lists have."""
        return any(x is not None for x in (self.columns, self.score, self.aggregate, self.absent))


@dataclass(frozen=True)
class ReadOptions:
    """Options of :func:`similis.read_proximity` that the reader of a format may use.

    Parameters
    ----------
    square, directed, mmap : bool
        As in :func:`similis.read_proximity`.
    kind : {"similarity", "dissimilarity"} or None
        Kind that the user gave.
    key : str or None
        Name of one array of several in a file.
    delimiter : str or None
        Character between the cells of a text file.
    header : bool or None
        Whether the first line of a text file names the columns.
    max_bytes : int
        Largest size that a compressed file may unpack to.
    label_column : str or None
        Column of the labels in the file itself.
    pairs : PairOptions
        Options of lists of pairs: columns, score, aggregate, absent.
    """

    square: bool = True
    directed: bool = False
    mmap: bool = False
    kind: Kind | None = None
    key: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    max_bytes: int = 2**31
    label_column: str | None = None
    pairs: PairOptions = field(default_factory=PairOptions)

    @property
    def of_pairs(self) -> dict[str, Any]:
        """Options of the function that makes a matrix of pairs."""
        return {"options": self.pairs, "kind": self.kind, "directed": self.directed, "max_bytes": self.max_bytes}
