"""Inner products of sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import safe_sparse_dot

from similis.measures._base import Tick, mirror_upper, over_rows

__all__ = ["sparse_products"]

# Rows in a strip; fewer are multiplied at once and not copied.
ROWS = 1024


def sparse_products(A: Any, B: Any, n_jobs: int | None = None, tick: Tick | None = None) -> NDArray[np.float64]:
    """Every inner product of a row of A and a row of B, dense; exactly symmetric for A with itself."""
    right = B.T
    if A.shape[0] <= ROWS:
        # scikit-learn has a product that is dense from the start.
        out = safe_sparse_dot(A, right, dense_output=True)
        if tick is not None:
            tick(A.shape[0])
    else:
        out = np.empty((A.shape[0], B.shape[0]))

        def work(rows: slice) -> None:
            out[rows] = safe_sparse_dot(A[rows], right, dense_output=True)

        over_rows(work, len(out), n_jobs, tick, step=ROWS)
    if B is A:
        mirror_upper(out)
    return out
