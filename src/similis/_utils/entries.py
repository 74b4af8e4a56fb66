"""What the entries of a matrix must be: finite or declared missing, of a sign and size that can be computed with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from similis.exceptions import ProximityError

__all__ = ["LARGEST", "Kind", "check_not_vanishing", "check_values", "first_place", "place_name"]

Kind = Literal["similarity", "dissimilarity"]
LARGEST = {8: 1e140, 4: 1e15}  # by bytes of an entry: squares, and sums of many of them, are finite
_LEAST = {8: 1e-290, 4: 1e-36}  # of the largest entry: reciprocals are finite


def check_values(A: NDArray[Any], *, kind: Kind | None, allow_missing: bool, who: str) -> float:
    """Refuse infinite, missing and negative entries where they may not stand, and name the first; return A's square."""
    # The sum of squares is finite for finite entries of a sensible size: one product settles the usual case.
    largest = LARGEST[4 if A.dtype == np.float32 else 8]
    with np.errstate(all="ignore"):
        square = float(np.vdot(A, A))
    suspicious = not square <= largest**2
    if suspicious:
        if np.isinf(A).any():
            raise ProximityError(
                f"{who} needs finite numbers. Got infinity (inf) at {first_place(np.isinf(A))}. Use NaN for an unknown "
                "entry, or a large finite number."
            )
        if not allow_missing and np.isnan(A).any():
            raise ProximityError(
                f"{who} does not accept missing entries. Got NaN at {first_place(np.isnan(A))}. Fill them with "
                "complete_kernel, or use an estimator that allows them, such as SimilarityKNN."
            )
        if np.nanmax(A, initial=0.0) > largest or np.nanmin(A, initial=0.0) < -largest:
            more = ", or give it as float64" if A.dtype == np.float32 else ""
            raise ProximityError(
                f"{who} needs entries of at most {largest:g}, so that their squares can be added up. Got a larger one "
                f"at {first_place(np.abs(A) > largest)}. Divide the matrix by a constant{more}."
            )
    least = np.nanmin if suspicious else np.min  # without NaN, which is faster
    if kind == "dissimilarity" and A.size and least(A, initial=0.0) < 0:
        where = first_place(A < 0)
        raise ProximityError(
            f"Negative values in data passed to {who}: dissimilarities must not be below zero. Got one at {where}. "
            "If these are similarities, say kind='similarity' or convert with ToDissimilarity."
        )
    return square


def check_not_vanishing(A: NDArray[Any], square: float, who: str) -> None:
    """Refuse a training matrix that is not zero, but so nearly that a quotient by its entries overflows."""
    if A.size and not square:
        least = _LEAST[4 if A.dtype == np.float32 else 8]
        if 0 < np.abs(A).max() < least:
            raise ProximityError(
                f"{who} needs a matrix that is zero, or whose largest entry is above {least:g}, so that it can be "
                f"divided by. Got {np.abs(A).max():g} as the largest. Multiply the matrix by a constant."
            )


def first_place(mask: NDArray[np.bool_]) -> str:
    """Where a mask is True for the first time, in words."""
    return place_name(np.unravel_index(int(np.argmax(mask)), mask.shape))


def place_name(index: Iterable[Any]) -> str:
    """The place of an entry, in words."""
    return ", ".join(f"{name} {int(i)}" for name, i in zip(("row", "column", "slice"), index))
