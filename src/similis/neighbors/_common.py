"""What the neighbour methods share."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis.solvers import top_k

__all__ = ["cut_to", "path_neighbors"]


def cut_to(n: int, n_neighbors: int) -> int:
    """k, or the number of training objects where there are fewer; said in a warning."""
    if n_neighbors > n:
        warnings.warn(
            "n_neighbors exceeds the number of training objects and is cut to it (see n_neighbors_).", stacklevel=3
        )
    return min(n_neighbors, n)


def path_neighbors(
    S: NDArray[Any],
    Q: NDArray[Any] | None,
    test_fold: NDArray[np.intp] | None,
    k: int,
    *,
    sign: int,
    n_jobs: int | None,
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Ranked neighbours of new rows `Q`, or of each row of `S` outside its own fold."""
    if test_fold is None:
        k = cut_to(S.shape[0], k)
    else:
        k = cut_to(S.shape[0] - int(np.bincount(test_fold).min()), k)
    rows = S if Q is None else Q
    return top_k(rows, k, sign=sign, folds=test_fold, n_jobs=n_jobs)
