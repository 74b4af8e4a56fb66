"""From a training matrix and ranked neighbours to weights, or to class scores for a whole grid."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import ExitStack
from threading import Lock
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from similis import _kernels
from similis._utils.threads import map_row_chunks, single_blas_thread
from similis.exceptions import ProximityError
from similis.solvers._local_solves import BlockWeights, kri_weights, krr_weights, lime_weights
from similis.solvers._local_spectrum import local_psd, psd_prefix, spectral_filter

__all__ = ["local_scores", "local_weights"]

Method = Literal["kri", "krr", "lime"]
Spectrum = Literal["clip", "flip", "shift", "pinv"] | None
_SOLVE = {"kri": kri_weights, "krr": krr_weights, "lime": lime_weights}
# Blocks of this many numbers at a time stay in the processor's cache.
_CHUNK = 2**19


def local_weights(
    S: NDArray[Any],
    indices: NDArray[np.intp],
    s: NDArray[Any],
    ridge: float,
    *,
    method: Method = "kri",
    spectrum: Spectrum = "clip",
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Weights of the ranked neighbours of many queries.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        Similarities of the training objects. Only its symmetric part matters to these methods.
    indices : ndarray of shape (m, K)
        Ranked neighbours of each query; -1 pads at the end.
    s : ndarray of shape (m, K)
        Similarities of the queries to them; anything at pads.
    ridge : float
        Regulariser, the paper's lambda.
    method : {"kri", "krr", "lime"}
        [chen2010] Eq. (3.5), (3.8) or (3.3) in kernel form.
    spectrum : {"clip", "flip", "shift", "pinv", None}
        How a K x K block that is not positive semi-definite is treated. Clip and flip act on s as well. "pinv" is for
        regression only, where None means the same; for the others None promises that no treatment is needed.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    ndarray of shape (m, K)
        Zero at pads.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.solvers import local_weights
    >>> S = np.array([[5.0, 1, 1], [1, 5, 4], [1, 4, 5]])
    >>> local_weights(S, np.array([[0, 1, 2]]), np.array([[3.0, 3, 3]]), 1.0).round(3)
    array([[0.444, 0.278, 0.278]])
    """
    weights = np.empty(indices.shape)

    def keep(rows: slice, found: NDArray[np.float64]) -> None:
        weights[rows] = found[:, 0, 0]

    _sweep(S, indices, s, np.array([indices.shape[1]]), np.array([ridge]), method, spectrum, n_jobs, keep)
    return weights


def local_scores(
    S: NDArray[Any],
    indices: NDArray[np.intp],
    s: NDArray[Any],
    codes: NDArray[np.intp],
    n_classes: int,
    ks: ArrayLike,
    ridges: ArrayLike,
    *,
    method: Method = "kri",
    spectrum: Spectrum = "clip",
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Sum the neighbours' weights by class, for all numbers of neighbours and all regularisers in one sweep.

    Parameters
    ----------
    S, indices, s, method, spectrum, n_jobs
        As in :func:`local_weights`.
    codes : ndarray of shape (n,)
        Class code of every training object.
    n_classes : int
        Number of classes.
    ks : array of shape (T,)
        Numbers of neighbours, at most K, in any order; a query with fewer known neighbours uses those.
    ridges : array of shape (R,)
        Regularisers, in any order.

    Returns
    -------
    ndarray of shape (T, R, m, n_classes)
        [chen2010] Eq. (3.2) for weights on the simplex; the discriminants f_g of local regression for "krr".

    Examples
    --------
    >>> import numpy as np
    >>> from similis.solvers import local_scores
    >>> local_scores(np.eye(2), np.array([[0, 1]]), np.array([[1.0, 0.5]]), np.array([0, 1]), 2, [1, 2], [1.0])
    array([[[[1.   , 0.   ]]],
           [[[0.625, 0.375]]]])
    """
    grid, where = np.unique(np.asarray(ks, dtype=np.intp), return_inverse=True)
    ridge = np.atleast_1d(np.asarray(ridges, dtype=np.float64))
    sums = np.empty((len(indices), grid.size * ridge.size, n_classes))
    neighbours = np.where(indices >= 0, np.asarray(codes)[indices], -1)

    def keep(rows: slice, found: NDArray[np.float64]) -> None:
        _kernels.sum_by_class(found.reshape(found.shape[0], -1, found.shape[3]), neighbours[rows], sums[rows])

    _sweep(S, indices, s, grid, ridge, method, spectrum, n_jobs, keep)
    scores = sums.reshape(len(indices), grid.size, ridge.size, n_classes)
    return scores.transpose(1, 2, 0, 3)[where]


def _sweep(
    S: NDArray[Any],
    indices: NDArray[np.intp],
    s: NDArray[Any],
    ks: NDArray[np.intp],
    ridges: NDArray[np.float64],
    method: Method,
    spectrum: Spectrum,
    n_jobs: int | None,
    keep: Callable[[slice, NDArray[np.float64]], None],
) -> None:
    """Hand the weights (rows, T, R, K) of a few queries at a time to `keep`."""
    S, indices = np.ascontiguousarray(S), np.ascontiguousarray(indices, dtype=np.intp)
    s = np.where(indices >= 0, s, 0.0).astype(np.float64, copy=False)
    known = (indices >= 0).sum(axis=1)
    K = indices.shape[1]
    batch = max(1, _CHUNK // (K * max(K, ks.size * ridges.size)))
    failures: list[int] = []
    calm = _Calm()

    def work(rows: slice) -> None:
        for start in range(rows.start, rows.stop, batch):
            part = slice(start, min(start + batch, rows.stop))
            blocks = np.empty((part.stop - start, K, K))
            _kernels.gather_blocks(S, indices[part], blocks)
            solved = _solve(blocks, s[part], known[part], ks, ridges, method, spectrum, calm)
            if solved.gap is not None:
                failures.append(_uncertified(solved.gap, blocks, s[part], ridges))
            keep(part, solved.weights)

    with calm:
        map_row_chunks(work, len(indices), n_jobs)
    if sum(failures):
        warnings.warn(
            f"{sum(failures)} of {len(indices) * ks.size * ridges.size} weight problems ({method}) ended above the "
            "certified accuracy of 1e-8; rescale the similarities or raise the regularisation.",
            ConvergenceWarning,
            stacklevel=3,
        )


class _Calm:
    """One BLAS thread from the first small decomposition to the end of the sweep; most sweeps need none."""

    def __init__(self) -> None:
        self._lock, self._stack, self._begun = Lock(), ExitStack(), False

    def __enter__(self) -> _Calm:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def begin(self) -> None:
        with self._lock:
            if not self._begun:
                self._stack.enter_context(single_blas_thread())
                self._begun = True


def _solve(
    blocks: NDArray[np.float64],
    s: NDArray[np.float64],
    known: NDArray[np.intp],
    ks: NDArray[np.intp],
    ridges: NDArray[np.float64],
    method: Method,
    spectrum: Spectrum,
    calm: _Calm,
) -> BlockWeights:
    """Solve a batch: nested blocks while they are positive definite, one decomposition for each larger block."""
    if spectrum is None and method != "krr":
        if (psd_prefix(blocks, known) < known).any():
            raise ProximityError(
                f"{method} weights need a positive semi-definite block of neighbours. Got one with a negative "
                "eigenvalue; choose spectrum='clip', 'flip' or 'shift'."
            )
        return _SOLVE[method](blocks, s, ridges, ks=ks, known=known)
    untreated = spectrum in ("pinv", None)
    safe = known if untreated else psd_prefix(blocks, known, s)
    solved = _SOLVE[method](blocks, s, ridges, ks=ks, known=safe)
    # Up to this many neighbours the weights stand; it depends on the ridge where S + ridge I is factored as it is.
    settled = safe[:, None] if solved.sound is None else np.minimum(solved.sound, safe[:, None])  # (c, R) or (c, 1)
    for t, k in enumerate(ks):
        sizes = np.minimum(k, known)
        redo = sizes[:, None] > settled
        for size in np.unique(sizes[redo.any(axis=1)]):
            rows = np.flatnonzero(redo.any(axis=1) & (sizes == size))
            calm.begin()
            part, query, due = blocks[rows, :size, :size], s[rows, :size], redo[rows]
            if method == "krr":
                fresh = spectral_filter(part, query, ridges, spectrum or "pinv")
            else:
                again = _SOLVE[method](*local_psd(part, query, str(spectrum)), ridges)
                fresh = again.weights[:, 0]
                solved.gap[rows, t] = again.gap[:, 0]  # type: ignore[index]
            stand = solved.weights[rows, t, :, :size]
            solved.weights[rows, t, :, :size] = np.where(due[:, :, None], fresh, stand)
    return solved


def _uncertified(
    gap: NDArray[np.float64], blocks: NDArray[np.float64], s: NDArray[np.float64], ridges: NDArray[np.float64]
) -> int:
    """Count the problems whose gap is not small against the size of their objective."""
    scale = np.abs(np.einsum("cii->ci", blocks)).max(axis=1) + np.abs(s).max(axis=1)
    return int((gap > 1e-8 * (scale[:, None, None] + ridges)).sum())
