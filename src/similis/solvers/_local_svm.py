"""Support vector machines for all C of a grid: one on a whole kernel, or one per query on its neighbors (SVM-KNN)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from similis import _kernels
from similis._utils.arrays import Array, Floats, Indices
from similis._utils.threads import map_row_chunks, single_blas_thread
from similis.solvers._local_weights import local_psd, psd_prefix

_CHUNK = 2**19  # entries of the blocks that are processed together; they fit into the cache
_TOLERATED = 1e-6  # violation of the optimality conditions in units of the margin; 1/1000 of the default of libsvm


@dataclass(frozen=True)
class SVMPath:
    """Solutions of :func:`svm_path` for R costs.

    Attributes
    ----------
    coef, intercept : ndarrays of shape (R, n) and (R,)
        c = y . alpha, alpha of [chen2010] Eq. (2.4), and the middle of the optimal b; f(x) = sum_i c_i k(x, x_i) + b.
    violation : ndarray of shape (R,)
        Certificate: max{y_i - (Kc)_i : c_i can grow} - min{y_i - (Kc)_i : c_i can fall}, at most about 1e-9.
    """

    coef: Floats
    intercept: Floats
    violation: Floats


def svm_path(K: Array, y: ArrayLike, Cs: ArrayLike) -> SVMPath:
    """Solve the dual of the support vector machine, [chen2010] Eq. (2.4), for all C of a grid.

    Parameters
    ----------
    K, y, Cs : arrays of shape (n, n), (n,) and (R,)
        Symmetric positive semi-definite kernel; labels, 1 and -1, both present; positive costs, in any order.

    Examples
    --------
    >>> from similis.solvers import svm_path
    >>> svm_path([[1, 0], [0, 1]], [1, -1], [0.5, 10.0]).coef.tolist()
    [[0.5, -0.5], [1.0, -1.0]]
    """
    y = np.ascontiguousarray(y, dtype=np.float64)
    cost = np.atleast_1d(np.asarray(Cs, dtype=np.float64))
    order = np.argsort(cost, kind="stable")
    coef, intercept, violation = np.empty((cost.size, y.size)), np.empty(cost.size), np.empty(cost.size)
    _kernels.svm_path(np.ascontiguousarray(K, dtype=np.float64), y, cost[order], coef, intercept, violation)
    back = np.argsort(order, kind="stable")
    return SVMPath(coef[back], intercept[back], violation[back])


def local_svm_scores(
    S: Array,
    indices: Indices,
    s: Array,
    codes: Indices,
    n_classes: int,
    ks: ArrayLike,
    Cs: ArrayLike,
    *,
    spectrum: str = "clip",
    n_jobs: int | None = None,
) -> Floats:
    """Classify each query by SVMs on its neighbors, for all k and all C of a grid; ndarray of shape (T, R, m, G).

    The scores for two classes are -f and f, with |f| = 1, the limit of the SVM, where all neighbors are of one class;
    for more classes votes of the pairs plus a bounded sum of their f.

    Parameters
    ----------
    S, indices, s, codes, n_classes, ks, n_jobs
        As in :func:`local_scores`; every query has at least one neighbor.
    Cs, spectrum : array of shape (R,), {"clip", "flip", "shift"}
        Costs, in any order; repair of a block that is not positive semi-definite, as in :func:`local_psd`.
    """
    S, indices = np.ascontiguousarray(S), np.ascontiguousarray(indices, dtype=np.intp)
    s = np.where(indices >= 0, s, 0.0).astype(np.float64, copy=False)
    known = (indices >= 0).sum(axis=1)
    sizes, where = np.unique(np.asarray(ks, dtype=np.intp), return_inverse=True)
    cost, at = np.unique(np.asarray(Cs, dtype=np.float64), return_inverse=True)
    m, K = indices.shape
    scores = np.empty((sizes.size, m, cost.size, n_classes))
    failures: list[int] = []

    def work(rows: slice) -> None:
        batch = max(1, _CHUNK // (K * K))
        for start in range(rows.start, rows.stop, batch):
            part = np.arange(start, min(start + batch, rows.stop))
            blocks = np.empty((part.size, K, K))
            _kernels.gather_blocks(S, indices[part], blocks)
            sound = psd_prefix(blocks, known[part])
            for t, k in enumerate(sizes):
                size_of = np.minimum(k, known[part])
                treat_of = size_of > sound  # the leading block needs repair
                for size, treat in sorted(set(zip(size_of.tolist(), treat_of.tolist()))):
                    chosen = np.flatnonzero((size_of == size) & (treat_of == treat))
                    rows_ = part[chosen]
                    block, query = blocks[chosen, :size, :size].copy(), s[rows_, :size].copy()
                    if treat:
                        block, query = local_psd(block, query, spectrum)
                    result, violation = np.empty((rows_.size, cost.size, n_classes)), np.empty((rows_.size, cost.size))
                    _kernels.local_svm(block, query, codes[indices[rows_, :size]], cost, result, violation)
                    scores[t, rows_] = result
                    failures.append(int((violation > _TOLERATED).sum()))

    with single_blas_thread():
        map_row_chunks(work, m, n_jobs)
    if sum(failures):
        warnings.warn(
            f"{sum(failures)} of {m * sizes.size * cost.size} local SVMs ended with their optimality conditions "
            f"violated by more than {_TOLERATED:g}; rescale the similarities or lower C.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return scores.transpose(0, 2, 1, 3)[where][:, at]
