"""What every method with k neighbours does with its k."""

from __future__ import annotations

import warnings

__all__ = ["cut_to"]


def cut_to(n: int, n_neighbors: int) -> int:
    """k, or the number of training objects where there are fewer; said in a warning."""
    if n_neighbors > n:
        warnings.warn(
            "n_neighbors exceeds the number of training objects and is cut to it (see n_neighbors_).", stacklevel=3
        )
    return min(n_neighbors, n)
