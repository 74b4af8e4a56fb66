"""Options of the readers of all formats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from similis.base import Kind
from similis.exceptions import ProximityError
from similis.io._proximity import check_kind, quote_short


@dataclass(frozen=True)
class PairOptions:
    """Options of pair lists, None where the default is to be used.

    Parameters
    ----------
    columns, score, aggregate, absent : optional
        As in :func:`similis.io.read_pairs`.
    """

    columns: Sequence[str] | str | None = None
    score: str | None = None
    aggregate: str | None = None
    absent: str | float | None = None

    def __post_init__(self) -> None:
        if self.aggregate not in (None, "max", "min", "sum", "mean"):
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
        return any(value is not None for value in vars(self).values())


@dataclass(frozen=True)
class ReadOptions:
    """Options of :func:`similis.read_proximity` that the reader of a format may use.

    Parameters
    ----------
    square, directed, mmap, kind, key, delimiter, header, max_bytes : optional
        As in :func:`similis.read_proximity`.
    label_column : str, optional
        Column of the labels in the file itself.
    pairs : PairOptions, optional
        Options of lists of pairs.
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

    def __post_init__(self) -> None:
        check_kind(self.kind)
        if self.delimiter not in (None, ",", ";", "\t", " ", "|"):
            raise ProximityError(
                f"delimiter must be a comma, semicolon, tab, blank or bar. Got {quote_short(self.delimiter)}."
            )
