"""What every method with k neighbours does with its k."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.params import at_least
from similis._utils.validation import show
from similis._utils.warn import warn_user
from similis.exceptions import ProximityError

__all__ = ["asked_for", "cut_to", "n_candidates"]


def asked_for(n_neighbors: Any) -> int:
    """The number of neighbours that a call names."""
    if not at_least(1).is_satisfied_by(n_neighbors):
        raise ProximityError(f"n_neighbors must be an integer of at least 1. Got {show(n_neighbors)[:60]}.")
    return int(n_neighbors)


def cut_to(n: int, n_neighbors: int) -> int:
    """k, or the number of training objects where there are fewer; said in a warning."""
    if n_neighbors > n:
        warn_user(
            "n_neighbors exceeds the number of training objects and is cut to it (see n_neighbors_).", UserWarning
        )
    return min(int(n_neighbors), n)


def n_candidates(n: int, test_fold: NDArray[np.intp] | None) -> int:
    """The largest number of training objects that a row can see: all, or those outside the smallest fold."""
    return n if test_fold is None else n - int(np.bincount(test_fold).min())
