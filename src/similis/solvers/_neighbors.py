"""Ranking of the neighbors of many rows, and class votes, sums and means of a target for all k of a grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from similis import _kernels
from similis._utils.arrays import Array, Floats, Indices
from similis._utils.threads import map_row_chunks

Folds = ArrayLike | tuple[ArrayLike, ArrayLike] | None
Weights = Array | None
Jobs = int | None


def top_k(S: Array, k: int, *, sign: int = 1, folds: Folds = None, n_jobs: int | None = None) -> tuple[Indices, Array]:
    """Find the k best columns of every row, the best first and the lower index first among equals.

    Parameters
    ----------
    S : ndarray of shape (m, n), float64 or float32
        Proximities; NaN is missing and never selected. Not copied if C-contiguous.
    k : int
        Number of columns; may exceed n.
    sign : {1, -1}, default=1
        1 ranks the largest first (similarities), -1 the smallest (dissimilarities).
    folds : array of shape (n,), pair of arrays of shapes (m,) and (n,), or None
        Column j is a candidate for row i only if their folds differ. One array is used for rows and columns of a square
        S: cross-validation folds restrict every row to its training part, and ``np.arange(n)`` excludes the row itself.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    indices, values : ndarrays of shape (m, k), intp and dtype of S
        Columns, and ``S[i, indices[i]]``; -1 and NaN where a row has fewer than k candidates.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.solvers import top_k
    >>> top_k(np.array([[1.0, 3.0, 3.0], [np.nan, 2.0, np.nan]]), 2)[0].tolist()
    [[1, 2], [1, -1]]
    """
    S = np.ascontiguousarray(S)
    m, n = S.shape
    if folds is None:
        folds = np.full(m, -1), np.zeros(n)
    rows, columns = folds if isinstance(folds, tuple) else (folds, folds)
    row_fold, col_fold = np.ascontiguousarray(rows, dtype=np.intp), np.ascontiguousarray(columns, dtype=np.intp)
    indices, values = np.empty((m, k), np.intp), np.empty((m, k), S.dtype)

    def rank(rows: slice) -> None:
        _kernels.top_k(S[rows], S.dtype.type(sign), row_fold[rows], col_fold, indices[rows], values[rows])

    if k:  # the loop ends when k values are found
        map_row_chunks(rank, m, n_jobs)
    return indices, values


def vote_winners(
    indices: Indices, codes: Indices, ks: ArrayLike, n_classes: int, *, weights: Weights = None, n_jobs: Jobs = None
) -> Indices:
    """Find the class with the most votes among the first k ranked neighbors, for all k; ndarray of shape (len(ks), m).

    Ties go to the smallest code; a row without neighbors, or with zero weights, to code 0.

    Parameters
    ----------
    indices, codes, n_classes : ndarrays of shape (m, K) and (n,), int
        Ranked neighbors, -1 pads at the end; class code of every training object; number of classes.
    ks : array of ints, ascending
        Numbers of neighbors; a k beyond a row's known neighbors uses them all.
    weights, n_jobs : non-negative ndarray of shape (m, K) or None; int or None
        Weight of each vote, 1 by default; threads.
    """
    grid, indices, codes, votes = _vote_arrays(indices, codes, ks, weights)
    winners = np.empty((len(indices), grid.size), np.intp)

    def vote(rows: slice) -> None:
        _kernels.vote_winners(indices[rows], votes[rows], codes, grid, n_classes, winners[rows])

    map_row_chunks(vote, len(indices), n_jobs)
    return winners.T


def class_sums(
    indices: Indices, codes: Indices, ks: ArrayLike, n_classes: int, *, weights: Weights = None, n_jobs: Jobs = None
) -> Floats:
    """Sum the weights of each class among the first k ranked neighbors, for all k; ndarray of shape (len(ks), m, G).

    [chen2010] Eq. (3.2) before normalization. Parameters as in :func:`vote_winners`, but weights of any sign.
    """
    grid, indices, codes, votes = _vote_arrays(indices, codes, ks, weights)
    sums = np.empty((len(indices), grid.size, n_classes))

    def add(rows: slice) -> None:
        _kernels.class_sums(indices[rows], votes[rows], codes, grid, sums[rows])

    map_row_chunks(add, len(indices), n_jobs)
    return sums.transpose(1, 0, 2)


def neighbor_means(indices: Indices, target: Floats, ks: ArrayLike, *, weights: Array | None = None) -> Floats:
    """Average the target over the first k ranked neighbors, for all k; shape (len(ks), m), NaN without neighbors.

    Parameters
    ----------
    indices, ks, weights
        As in :func:`vote_winners`; weights that are all zero among the first k weight all neighbors equally.
    target : ndarray of shape (n,)
        Target of every training object.
    """
    last = np.minimum(np.asarray(ks, dtype=np.intp), indices.shape[1]) - 1
    known = indices >= 0
    y = np.asarray(target, dtype=np.float64)
    center = y.mean()  # so that a large mean costs no digits
    deviation = np.where(known, y[indices] - center, 0.0)

    def average(w: Array) -> Floats:
        total, sums = (np.cumsum(a, axis=1, dtype=np.float64)[:, last] for a in (w, w * deviation))
        return np.divide(sums, total, out=np.full_like(sums, np.nan), where=total > 0)

    means = average(known if weights is None else np.where(known, weights, 0.0))
    if weights is not None and np.isnan(means).any():
        means = np.where(np.isnan(means), average(known), means)
    return means.T + center


def _vote_arrays(indices: Indices, codes: Indices, ks: ArrayLike, weights: Weights) -> tuple[Array, ...]:
    """Return ks, indices, codes and weights as the kernels need them: no weights are an array without columns."""
    grid, indices, codes = (np.ascontiguousarray(a, dtype=np.intp) for a in (ks, indices, codes))
    votes = np.empty((len(indices), 0)) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    return grid, indices, codes, votes
