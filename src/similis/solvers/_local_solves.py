"""Weights of ranked neighbours from their own block: interpolation, regression, maximum entropy.

Each function takes a batch of blocks in rank order and returns the weights for every leading block (the k nearest)
and every regulariser at once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from similis import _kernels

__all__ = ["BlockWeights", "kri_weights", "krr_weights", "lime_weights"]


@dataclass(frozen=True)
class BlockWeights:
    """Weights for c queries, T numbers of neighbours and R regularisers, with what vouches for them.

    Attributes
    ----------
    weights : ndarray of shape (c, T, R, K)
        Zero beyond the k-th neighbour.
    gap : ndarray of shape (c, T, R) or None
        Bound on how far the objective is above its minimum; None where there is no objective to bound.
    sound : ndarray of shape (c, R) or None
        Regression only: the largest k for which S_k + ridge I is safely positive definite. A larger k repeats its
        weights; :func:`spectral_filter` gives the right ones.
    """

    weights: NDArray[np.float64]
    gap: NDArray[np.float64] | None = None
    sound: NDArray[np.intp] | None = None


def kri_weights(
    blocks: NDArray[np.float64],
    s: NDArray[np.float64],
    ridges: ArrayLike,
    *,
    ks: ArrayLike | None = None,
    known: NDArray[np.intp] | None = None,
) -> BlockWeights:
    """Kernel ridge interpolation weights, [chen2010] Eq. (3.5).

    Minimises w'S_k w / 2 - s_k'w + ridge w'w / 2 subject to w >= 0 and 1'w = 1, where S_k is the leading k x k part
    of a block.

    Parameters
    ----------
    blocks : ndarray of shape (c, K, K) or (K, K)
        Symmetric positive semi-definite similarities among the neighbours of each query.
    s : ndarray of shape (c, K) or (K,)
        Similarities of the queries to their neighbours; best first makes it fast, any order is right.
    ridges : array of shape (R,) or float
        Positive regularisers; zero is accepted, where the minimiser may not be unique.
    ks : array of shape (T,), ascending, or None
        Numbers of neighbours; None is K alone.
    known : ndarray of shape (c,) or None
        How many of the K neighbours each query has; the rest of its block is ignored. None is K.

    Returns
    -------
    BlockWeights
        With `gap`, the difference w'g - min_i g_i for the gradient g: an upper bound of f(w) - min f.

    Notes
    -----
    Block principal pivoting on a Cholesky factor that grows with k: the support for k neighbours starts the search
    for more. It ends, because on the simplex the problem is a linear complementarity problem of a positive definite
    matrix (see the kernel), for which the fall-back to one exchange at a time is finite.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.solvers import kri_weights
    >>> kri_weights(5 * np.eye(4), np.array([4.0, 3.0, 2.0, 1.0]), 0.1).weights.round(6)
    array([[[[0.529412, 0.333333, 0.137255, 0.      ]]]])
    """
    blocks, s, ridge, grid, known = _batch(blocks, s, ridges, ks, known)
    weights, gap = _room(s, grid, ridge)
    _kernels.simplex_path(blocks, s, known, grid, ridge, weights, gap)
    return BlockWeights(weights, gap=gap)


def krr_weights(
    blocks: NDArray[np.float64],
    s: NDArray[np.float64],
    ridges: ArrayLike,
    *,
    ks: ArrayLike | None = None,
    known: NDArray[np.intp] | None = None,
) -> BlockWeights:
    """Kernel ridge regression weights, [chen2010] Eq. (3.8): w = (S_k + ridge I)^-1 s_k.

    Parameters and shapes are those of :func:`kri_weights`; blocks need not be positive semi-definite, but see
    `sound` of the result.

    Notes
    -----
    In rank order S_k is the leading part of S_K, and so is its Cholesky factor: one factor per ridge serves all k,
    and each k costs one back substitution.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.solvers import krr_weights
    >>> krr_weights(5 * np.eye(4), np.array([4.0, 3.0, 2.0, 1.0]), 0.1).weights.round(6)
    array([[[[0.784314, 0.588235, 0.392157, 0.196078]]]])
    """
    blocks, s, ridge, grid, known = _batch(blocks, s, ridges, ks, known)
    weights, _ = _room(s, grid, ridge)
    sound = np.empty((len(s), ridge.size), np.intp)
    _kernels.krr_path(blocks, s, known, grid, ridge, weights, sound)
    return BlockWeights(weights, sound=sound)


def lime_weights(
    blocks: NDArray[np.float64],
    s: NDArray[np.float64],
    ridges: ArrayLike,
    *,
    ks: ArrayLike | None = None,
    known: NDArray[np.intp] | None = None,
) -> BlockWeights:
    """Linear interpolation with maximum entropy weights in kernel form, [chen2010] Eq. (3.3).

    Minimises ||phi(x) - sum_i w_i phi(x_i)||^2 - ridge H(w) on the simplex, that is
    w'S_k w - 2 s_k'w + ridge sum_i w_i log w_i. Parameters and shapes are those of :func:`kri_weights`; ridges must
    be positive.

    Notes
    -----
    Damped Newton steps on the dual, the temperature falling from the scale of the similarities; with p the softmax of
    2 (s - S v) / ridge at the dual point v, the duality gap is (p - v)'S(p - v), which is `gap`. A ridge below 1e-7
    of the largest similarity is raised to it: below, round-off would decide the weights.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.solvers import lime_weights
    >>> lime_weights(np.zeros((2, 2)), np.log([3.0, 1.0]) / 2, 1.0).weights
    array([[[[0.75, 0.25]]]])
    """
    blocks, s, ridge, grid, known = _batch(blocks, s, ridges, ks, known)
    weights, gap = _room(s, grid, ridge)
    falling = np.argsort(-ridge, kind="stable")
    _kernels.lime_path(blocks, s, known, grid, ridge[falling], weights, gap)
    back = np.argsort(falling)
    return BlockWeights(weights[:, :, back], gap=gap[:, :, back])


def _batch(
    blocks: NDArray[np.float64],
    s: NDArray[np.float64],
    ridges: ArrayLike,
    ks: ArrayLike | None,
    known: NDArray[np.intp] | None,
) -> tuple[
    NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]
]:  # fmt: skip
    """Bring the arguments to the shapes and types the kernels are compiled for."""
    s = np.ascontiguousarray(np.atleast_2d(s), dtype=np.float64)
    c, K = s.shape
    blocks = np.ascontiguousarray(np.reshape(blocks, (c, K, K)), dtype=np.float64)
    grid = np.ascontiguousarray(np.atleast_1d(K if ks is None else ks), dtype=np.intp)
    ridge = np.ascontiguousarray(np.atleast_1d(ridges), dtype=np.float64)
    return blocks, s, ridge, grid, np.full(c, K) if known is None else np.ascontiguousarray(known, dtype=np.intp)


def _room(
    s: NDArray[np.float64], grid: NDArray[np.intp], ridge: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    shape = (len(s), grid.size, ridge.size)
    return np.empty((*shape, s.shape[1])), np.empty(shape)
