"""Weights of ranked neighbors (KRI, KRR, LIME), class scores and means for whole grids, [chen2010] ch. 3, sec. 4.1."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from similis import _kernels
from similis._utils.arrays import Array, Floats, Indices
from similis._utils.threads import map_row_chunks, single_blas_thread
from similis.exceptions import ProximityError


def psd_prefix(blocks: Floats, known: Indices, s: Floats | None = None) -> Indices:
    """Find, for each block, the size of its largest leading block that clip, flip and shift certainly leave unchanged.

    It is positive semi-definite, with s in its range if `s` is given.

    Parameters
    ----------
    blocks, known, s : ndarrays of shape (c, k, k), (c,) and (c, k)
        Symmetric blocks of ranked neighbors, their sizes without padding, and the similarities of the queries to them.
    """
    prefix = np.empty(len(blocks), np.intp)
    _kernels.psd_prefix(blocks, np.zeros(blocks.shape[:2]) if s is None else s, known, prefix)
    return prefix


def local_psd(blocks: Floats, s: Floats, spectrum: str, query: str = "consistent") -> tuple[Floats, Floats]:
    """Make symmetric blocks positive semi-definite and transform the vectors of the queries consistently.

    [chen2010] sec. 4.1: S~ = P S with P_clip = U diag(1 if lambda_i > 0) U', P_flip = U diag(sgn lambda_i) U'.

    Parameters
    ----------
    blocks, s : ndarrays of shape (c, k, k) and (c, k)
        Symmetric similarities among the k neighbors of each query, and of the queries to their neighbors.
    spectrum, query : {"clip", "flip", "shift"}, {"consistent", "raw"}
        Set negative eigenvalues to zero, reverse their sign, or add a constant to all; whether P acts on s too.
    """
    values, U = np.linalg.eigh(blocks)
    if spectrum == "shift":
        return blocks + np.maximum(-values[:, :1], 0.0)[..., None] * np.eye(blocks.shape[1]), s
    if spectrum not in ("clip", "flip"):
        raise ValueError(f"spectrum must be 'clip', 'flip' or 'shift'. Got {spectrum!r}.")
    sign = _gains(values, spectrum)
    repaired = (U * (sign * values)[:, None, :]) @ U.swapaxes(1, 2)
    repaired = (repaired + repaired.swapaxes(1, 2)) / 2
    if query == "raw":
        return repaired, s
    return repaired, np.matmul((U * sign[:, None, :]) @ U.swapaxes(1, 2), s[..., None])[..., 0]


def spectral_filter(blocks: Floats, s: Floats, ridges: Floats, spectrum: str, query: str = "consistent") -> Floats:
    """Solve (S~ + ridge I) w = s~ for all ridges from one decomposition of each block S; ndarray of shape (c, R, k).

    Parameters
    ----------
    blocks, s, query
        As in :func:`local_psd`.
    ridges, spectrum : ndarray of shape (R,), {"clip", "flip", "shift", "pinv"}
        Not negative; S~ and s~ as in :func:`local_psd`, or "pinv": (S + ridge I)^+ s, [chen2010] sec. 3.2.1.
    """
    values, U = np.linalg.eigh(blocks)
    gain = np.ones_like(values)
    if spectrum == "shift":
        values = values + np.maximum(-values[:, :1], 0.0)
    elif spectrum in ("clip", "flip"):
        gain = _gains(values, spectrum)
        values = gain * values
    shifted = values[:, None, :] + ridges[:, None]  # (c, R, k)
    shifted[_gains(shifted, "flip") == 0] = np.inf
    coefficients = np.matmul(s[:, None, :], U)[:, 0] * (gain if query == "consistent" else 1.0)  # (c, k)
    return np.matmul(coefficients[:, None, :] / shifted, U.swapaxes(1, 2))


def _gains(values: Floats, spectrum: str) -> Floats:
    """Return the factors of the eigenvalues (last axis) for "clip" and "flip", zero at the level of rounding."""
    tolerance = values.shape[-1] * np.finfo(np.float64).eps * np.abs(values).max(axis=-1, keepdims=True)
    sign = np.sign(values) * (np.abs(values) > tolerance)
    return np.maximum(sign, 0.0) if spectrum == "clip" else sign


@dataclass(frozen=True)
class BlockWeights:
    """Weights for c queries, T numbers of neighbors and R regularizers, with their certificate.

    Attributes
    ----------
    weights, gap : ndarrays of shape (c, T, R, K) and (c, T, R)
        Zero beyond the k-th neighbor; bound on the difference of the objective and its minimum, None for regression.
    sound : ndarray of shape (c, R) or None
        Regression only: the largest k for which S_k + ridge I is numerically positive definite; weights are valid up to
        it, see :func:`spectral_filter`.
    """

    weights: Floats
    gap: Floats | None = None
    sound: Indices | None = None


def kri_weights(
    blocks: Floats, s: Floats, ridges: ArrayLike, *, ks: ArrayLike | None = None, known: Indices | None = None
) -> BlockWeights:
    """Compute kernel ridge interpolation weights, [chen2010] Eq. (3.5).

    Minimizes w'S_k w / 2 - s_k'w + ridge w'w / 2 over w >= 0 with 1'w = 1, S_k the leading k x k part of a block. The
    certificate is w'g - min_i g_i for the gradient g.

    Parameters
    ----------
    blocks, s : ndarrays of shape (c, K, K) and (c, K), or (K, K) and (K,)
        Symmetric positive semi-definite similarities among the neighbors, and of the queries to them; fastest ranked.
    ridges : array of shape (R,) or float
        Positive regularizers; for zero the minimizer may not be unique.
    ks, known : arrays of shape (T,), ascending, and (c,), or None
        Numbers of neighbors, and of the valid ones of each query (the rest is ignored); None means K.

    Examples
    --------
    >>> from similis.solvers import kri_weights
    >>> kri_weights([[5, 0], [0, 5]], [2, 1], 0.1).weights.round(3).tolist()
    [[[[0.598, 0.402]]]]
    """
    # Block principal pivoting ([portugal1994]): the support for k neighbors is the start for more.
    arguments, weights, gap = _batch(blocks, s, ridges, ks, known)
    _kernels.simplex_path(*arguments, weights, gap)
    return BlockWeights(weights, gap=gap)


def krr_weights(
    blocks: Floats, s: Floats, ridges: ArrayLike, *, ks: ArrayLike | None = None, known: Indices | None = None
) -> BlockWeights:
    """Compute kernel ridge regression weights w = (S_k + ridge I)^-1 s_k, [chen2010] Eq. (3.8).

    Parameters as in :func:`kri_weights`; blocks need not be positive semi-definite, but see `sound` of the result.
    """
    arguments, weights, gap = _batch(blocks, s, ridges, ks, known)
    sound = np.empty(gap[:, 0].shape, np.intp)
    _kernels.krr_path(*arguments, weights, sound)
    return BlockWeights(weights, sound=sound)


def lime_weights(
    blocks: Floats, s: Floats, ridges: ArrayLike, *, ks: ArrayLike | None = None, known: Indices | None = None
) -> BlockWeights:
    """Compute the weights of linear interpolation with maximum entropy in kernel form, [chen2010] Eq. (3.3).

    Minimizes w'S_k w - 2 s_k'w + ridge sum_i w_i log w_i on the simplex. Parameters as in :func:`kri_weights`; ridges
    must be positive, and one below 1e-7 of the largest similarity is raised to this value.
    """
    ridge = np.atleast_1d(np.asarray(ridges, dtype=np.float64))
    falling = np.argsort(-ridge, kind="stable")
    arguments, weights, gap = _batch(blocks, s, ridge[falling], ks, known)
    _kernels.lime_path(*arguments, weights, gap)
    back = np.argsort(falling)
    return BlockWeights(weights[:, :, back], gap=gap[:, :, back])


def _batch(
    blocks: Floats, s: Floats, ridges: ArrayLike, ks: ArrayLike | None, known: Indices | None
) -> tuple[tuple[Any, ...], Floats, Floats]:
    """Convert the arguments to what the kernels are compiled for, and allocate the weights and the gaps."""
    s = np.ascontiguousarray(np.atleast_2d(s), dtype=np.float64)
    c, K = s.shape
    blocks = np.ascontiguousarray(np.reshape(blocks, (c, K, K)), dtype=np.float64)
    grid = np.ascontiguousarray(np.atleast_1d(K if ks is None else ks), dtype=np.intp)
    ridge = np.ascontiguousarray(np.atleast_1d(ridges), dtype=np.float64)
    known = np.full(c, K) if known is None else np.ascontiguousarray(known, dtype=np.intp)
    shape = c, len(grid), len(ridge)
    return (blocks, s, known, grid, ridge), np.empty((*shape, K)), np.empty(shape)


Method = Literal["kri", "krr", "lime"]
Spectrum = Literal["clip", "flip", "shift", "pinv"] | None
Query = Literal["consistent", "raw"]
How = tuple[Method, Spectrum, Query, int | None]  # and the number of threads
Keep = Callable[[slice, Floats], None]
_SOLVE = {"kri": kri_weights, "krr": krr_weights, "lime": lime_weights}
_CHUNK = 2**19  # entries of the blocks that are processed together; they fit into the cache
_AMONG = 1024  # neighbors whose block of a sparse matrix is dense at a time


def local_weights(
    S: Array,
    indices: Indices,
    s: Array,
    ridge: float,
    *,
    method: Method = "kri",
    spectrum: Spectrum = "clip",
    query: Query = "consistent",
    n_jobs: int | None = None,
) -> Floats:
    """Compute the weights of the ranked neighbors of many queries; ndarray of shape (m, K), zero at padding.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        Similarities of the training objects, of which the symmetric part is used.
    indices, s : ndarrays of shape (m, K)
        Ranked neighbors of each query, padded by -1 at the end, and the similarities of the queries to them.
    ridge : float
        Regularizer, lambda in the paper.
    method : {"kri", "krr", "lime"}
        [chen2010] Eq. (3.5), (3.8) or (3.3) in kernel form.
    spectrum, query : {"clip", "flip", "shift", "pinv", None}, {"consistent", "raw"}
        Repair of a block that is not positive semi-definite, as in :func:`local_psd`. "pinv" is for regression only,
        where None means the same; for the other methods None asserts that no repair is needed.
    n_jobs : int or None
        Threads; the result does not depend on it.
    """
    weights, size, none = np.empty(indices.shape), np.array([indices.shape[1]]), np.zeros(len(indices), np.intp)

    def keep(rows: slice, part: Floats) -> None:
        weights[rows] = part[:, 0, 0]

    _sweep(S, indices, s, size, np.array([ridge]), (method, spectrum, query, n_jobs), keep, none)
    return weights


def local_scores(
    S: Array,
    indices: Indices,
    s: Array,
    codes: Indices,
    n_classes: int,
    ks: ArrayLike,
    ridges: ArrayLike,
    *,
    method: Method = "kri",
    spectrum: Spectrum = "clip",
    query: Query = "consistent",
    n_jobs: int | None = None,
) -> Floats:
    """Sum the weights of the neighbors by class, [chen2010] Eq. (3.2), for all k and ridges: (T, R, m, n_classes).

    Parameters
    ----------
    S, indices, s, method, spectrum, query, n_jobs
        As in :func:`local_weights`.
    codes, n_classes : ndarray of shape (n,), int
        Class code of every training object, and number of classes.
    ks, ridges : arrays of shape (T,) and (R,)
        Numbers of neighbors, at most K (of the known ones), and regularizers, in any order.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.solvers import local_scores
    >>> local_scores(np.eye(2), np.array([[0, 1]]), np.array([[1.0, 0.5]]), np.array([0, 1]), 2, [2], [1.0])
    array([[[[0.625, 0.375]]]])
    """
    grid, where = np.unique(np.asarray(ks, dtype=np.intp), return_inverse=True)
    ridge = np.atleast_1d(np.asarray(ridges, dtype=np.float64))
    scores, decided = np.zeros((len(indices), grid.size, ridge.size, n_classes)), np.zeros(len(indices), np.intp)
    neighbors = np.where(indices >= 0, np.asarray(codes)[indices], -1)
    if method != "krr" and spectrum is not None:
        # Weights on the simplex give all to one class where the first k neighbors belong to it: no solution is needed.
        decided = ((neighbors == neighbors[:, :1]) | (neighbors < 0)).cumprod(axis=1).sum(axis=1)
    due = np.flatnonzero(decided < grid[-1])
    neighbors_due, sums = neighbors[due], np.empty((len(due), grid.size * ridge.size, n_classes))

    def keep(rows: slice, part: Floats) -> None:
        _kernels.sum_by_class(part.reshape(part.shape[0], -1, part.shape[3]), neighbors_due[rows], sums[rows])

    _sweep(S, indices[due], s[due], grid, ridge, (method, spectrum, query, n_jobs), keep, decided[due])
    scores[due] = sums.reshape(len(due), *scores.shape[1:])
    for t, k in enumerate(grid):
        rows = np.flatnonzero((decided >= k) & (neighbors[:, 0] >= 0))
        scores[rows, t] = 0.0
        scores[rows, t, :, neighbors[rows, 0]] = 1.0
    return scores.transpose(1, 2, 0, 3)[where]


def local_means(
    S: Array,
    indices: Indices,
    s: Array,
    target: Floats,
    ks: ArrayLike,
    ridges: ArrayLike,
    *,
    method: Method = "kri",
    spectrum: Spectrum = "clip",
    query: Query = "consistent",
    n_jobs: int | None = None,
) -> Floats:
    """Average the target of the neighbors by their weights, for all k and all regularizers; ndarray of shape (T, R, m).

    For "krr", whose weights do not sum to one, the mean of the neighbors' targets is subtracted before and added after
    weighting: local regression with an intercept.

    Parameters
    ----------
    S, indices, s, ks, ridges, method, spectrum, query, n_jobs
        As in :func:`local_scores`.
    target : ndarray of shape (n,)
        Target of every training object.
    """
    grid, where = np.unique(np.asarray(ks, dtype=np.intp), return_inverse=True)
    ridge = np.atleast_1d(np.asarray(ridges, dtype=np.float64))
    means, known = np.empty((len(indices), grid.size, ridge.size)), indices >= 0
    center = np.mean(target, dtype=np.float64)  # so that a large mean costs no digits
    y = np.where(known, np.asarray(target, dtype=np.float64)[indices] - center, 0.0)
    first = np.minimum(grid, np.maximum(known.sum(axis=1, keepdims=True), 1))  # (m, T): neighbors used
    centers = np.take_along_axis(y.cumsum(axis=1), first - 1, axis=1) / first

    def keep(rows: slice, part: Floats) -> None:
        sums = np.matmul(part.reshape(len(part), -1, part.shape[3]), y[rows][:, :, None])
        means[rows] = sums.reshape(part.shape[:3])
        if method == "krr":
            means[rows] += (1.0 - part.sum(axis=3)) * centers[rows][:, :, None]

    none = np.zeros(len(indices), np.intp)
    _sweep(S, indices, s, grid, ridge, (method, spectrum, query, n_jobs), keep, none)
    return means.transpose(1, 2, 0)[where] + center


def _sweep(
    S: Any, indices: Indices, s: Array, ks: Indices, ridges: Floats, how: How, keep: Keep, decided: Indices
) -> None:
    """Compute the weights (rows, T, R, K) of all queries in batches and pass each batch to `keep`."""
    # Weights for at most `decided[i]` neighbors of query i may be anything.
    is_sparse = hasattr(S, "among")  # similis.base.SparseRows
    S, indices = S if is_sparse else np.ascontiguousarray(S), np.ascontiguousarray(indices, dtype=np.intp)
    s = np.where(indices >= 0, s, 0.0).astype(np.float64, copy=False)
    known = (indices >= 0).sum(axis=1)
    K = indices.shape[1]
    batch = max(1, _CHUNK // (K * max(K, ks.size * ridges.size)))
    batch = min(batch, max(1, _AMONG // K)) if is_sparse else batch
    failures: list[int] = []

    def work(rows: slice) -> None:
        for start in range(rows.start, rows.stop, batch):
            part = slice(start, min(start + batch, rows.stop))
            blocks = np.empty((part.stop - start, K, K))
            _kernels.gather_blocks(*(S.among(indices[part]) if is_sparse else (S, indices[part])), blocks)
            solved = _solve(blocks, s[part], known[part], ks, ridges, how, decided[part])
            if solved.gap is not None:
                # problems whose gap exceeds 1e-8 of the scale of their objective
                scale = np.abs(np.einsum("cii->ci", blocks)).max(axis=1) + np.abs(s[part]).max(axis=1)
                failures.append(int((solved.gap > 1e-8 * (scale[:, None, None] + ridges)).sum()))
            keep(part, solved.weights)

    with single_blas_thread():
        map_row_chunks(work, len(indices), how[3])
    if sum(failures):
        warnings.warn(
            f"{sum(failures)} of {len(indices) * ks.size * ridges.size} weight problems ({how[0]}) did not reach the "
            "certified accuracy of 1e-8; rescale the similarities or raise the regularization.",
            ConvergenceWarning,
            stacklevel=3,
        )


def _solve(
    blocks: Floats, s: Floats, known: Indices, ks: Indices, ridges: Floats, how: How, decided: Indices
) -> BlockWeights:
    """Solve a batch: nested blocks as long as they are positive definite, one decomposition for each larger block."""
    method, spectrum, query, _ = how
    if spectrum is None and method != "krr":
        if (psd_prefix(blocks, known) < known).any():
            raise ProximityError(
                f"{method} weights need a positive semi-definite block of neighbors. Got a block with a negative "
                "eigenvalue; choose spectrum='clip', 'flip' or 'shift'."
            )
        return _SOLVE[method](blocks, s, ridges, ks=ks, known=known)
    safe = known if spectrum in ("pinv", None) else psd_prefix(blocks, known, s if query == "consistent" else None)
    solved = _SOLVE[method](blocks, s, ridges, ks=ks, known=safe)
    # Weights are valid up to this number of neighbors, which depends on the ridge for an unrepaired S + ridge I.
    valid = safe[:, None] if solved.sound is None else np.minimum(solved.sound, safe[:, None])  # (c, R) or (c, 1)
    for t, k in enumerate(ks):
        sizes = np.minimum(k, known)
        redo = (sizes[:, None] > valid) & (sizes > decided)[:, None]
        for size in np.unique(sizes[redo.any(axis=1)]):
            rows = np.flatnonzero(redo.any(axis=1) & (sizes == size))
            part, s_part, due = blocks[rows, :size, :size], s[rows, :size], redo[rows]
            if method == "krr":
                fresh = spectral_filter(part, s_part, ridges, spectrum or "pinv", query)
            else:
                again = _SOLVE[method](*local_psd(part, s_part, str(spectrum), query), ridges)
                fresh = again.weights[:, 0]
                solved.gap[rows, t] = again.gap[:, 0]  # type: ignore[index]
            kept = solved.weights[rows, t, :, :size]
            solved.weights[rows, t, :, :size] = np.where(due[:, :, None], fresh, kept)
    return solved
