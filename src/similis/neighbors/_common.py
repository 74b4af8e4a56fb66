"""What the neighbour methods share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.neighbors import cut_to
from similis.solvers import top_k

__all__ = ["cut_to", "path_neighbors"]


def path_neighbors(
    rows: NDArray[Any],
    codes: NDArray[np.intp],
    test_fold: NDArray[np.intp] | None,
    k: int,
    *,
    sign: int,
    n_jobs: int | None,
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Ranked neighbours of new rows; with `test_fold`, of each training row among the objects outside its own fold."""
    n = len(codes) if test_fold is None else len(codes) - int(np.bincount(test_fold).min())
    return top_k(rows, cut_to(n, int(k)), sign=sign, folds=test_fold, n_jobs=n_jobs)
