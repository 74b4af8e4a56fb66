"""Hidden rows completed by the nearest kernel with an auxiliary kernel's eigenvectors. [chen2010] Eq. (6.5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from similis.solvers._completion import Completion
from similis.solvers._splitting import clip, douglas_rachford

__all__ = ["frobenius_completion", "known_range", "nearest_weights"]


def nearest_weights(K: NDArray[np.float64], V: NDArray[np.float64]) -> NDArray[np.float64]:
    """The w >= 0 for which sum_i w_i v_i v_i' is nearest to a positive semi-definite K: w_i = v_i' K v_i."""
    return np.maximum(np.einsum("ij,ij->j", V, K @ V), 0.0)


def frobenius_completion(
    K: NDArray[np.float64],
    known: NDArray[np.bool_],
    K_aux: NDArray[np.float64],
    *,
    tol: float = 1e-7,
    max_iter: int = 5000,
) -> Completion:
    """Minimise ||K - sum_i w_i v_i v_i'||_F over w >= 0 and the K >= 0 with the known block.

    For a positive semi-definite K the best weights are v_i' K v_i, never negative: what is minimised is the norm of the
    off-diagonal part of V' K V. Of two copies that are pulled together, one is positive semi-definite; for the other,
    which has the known block, it is a least-squares problem in w.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Only the block of the known objects is read; positive semi-definite.
    known : ndarray of bool of shape (n,)
        The known objects.
    K_aux : ndarray of shape (n, n)
        The auxiliary kernel.
    tol : float, default=1e-7
        Largest distance of the copies, and change by a step, relative to their norm.
    max_iter : int, default=5000
        Steps at most.

    Returns
    -------
    Completion
        Positive semi-definite, with the known block bit by bit; `objective` is the norm.
    """
    V = np.linalg.eigh(K_aux)[1]
    T, spectrum = known_range(K, known)
    size = float(spectrum.max(initial=0.0)) or 1.0
    r1 = len(spectrum)
    # From here on in the coordinates of T, where the known block is diagonal.
    A, K11 = T.T @ V, np.diag(spectrum / size)
    B = A[:r1]
    free = (A.T @ A) ** 2 - (B.T @ B) ** 2  # <v_i v_i', v_j v_j'> over the entries that are free
    fixed = np.einsum("ij,ij->j", B, K11 @ B)
    factor = linalg.cho_factor(2 * np.eye(len(free)) - free)

    def near_model(Q: NDArray[np.float64]) -> NDArray[np.float64]:
        # min 1/2 ||Z - M(w)||^2 + 1/2 ||Z - Q||^2 over the Z with the known block; Z drops out and leaves w
        seen = np.einsum("ij,ij->j", A, Q @ A) - np.einsum("ij,ij->j", B, Q[:r1, :r1] @ B)
        w = linalg.cho_solve(factor, seen + 2 * fixed)
        Z = ((A * w) @ A.T + Q) / 2
        Z[:r1, :r1] = K11
        return np.asarray(Z)

    start = _first_guess(K11, A, fixed, free)
    X, _, step, converged = douglas_rachford(clip, near_model, start, tol=tol, max_iter=max_iter)
    kernel = size * (T @ _put_block(X, r1, K11) @ T.T)
    kernel = (kernel + kernel.T) / 2
    kernel[np.ix_(known, known)] = K[np.ix_(known, known)]
    w = nearest_weights(kernel, V)
    return Completion(kernel, w, float(np.linalg.norm(kernel - (V * w) @ V.T)), n_iter=step, converged=converged)


def known_range(K: NDArray[np.float64], known: NDArray[np.bool_]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Columns T, orthonormal, that span every K >= 0 with this known block, K = T R T', and the block's spectrum.

    The null space of the known block is one of K; without its directions a strictly feasible R exists.
    """
    i, j = np.flatnonzero(known), np.flatnonzero(~known)
    values, U = linalg.eigh(K[np.ix_(i, i)])
    keep = values > 1e-12 * max(float(np.abs(values).max(initial=0.0)), np.finfo(float).tiny)
    r1 = int(keep.sum())
    T = np.zeros((len(K), r1 + len(j)))
    T[i, :r1] = U[:, keep]
    T[j, np.arange(r1, r1 + len(j))] = 1.0
    return T, values[keep]


def _first_guess(
    K11: NDArray[np.float64], A: NDArray[np.float64], fixed: NDArray[np.float64], free: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The answer without K >= 0 and w >= 0: M(w) where entries are free, the known block where they are not."""
    w = linalg.lstsq(np.eye(len(free)) - free, fixed)[0]
    M = (A * np.maximum(w, 0.0)) @ A.T
    M[: len(K11), : len(K11)] = K11
    return clip(M)


def _put_block(X: NDArray[np.float64], r1: int, K11: NDArray[np.float64]) -> NDArray[np.float64]:
    """D X D' with D = K11^1/2 X11^-1/2 on the known block: still positive semi-definite, and the block is K11."""
    values, U = linalg.eigh(X[:r1, :r1])
    positive = values > 1e-14 * max(float(values.max(initial=0.0)), np.finfo(float).tiny)
    inverse = (U[:, positive] / np.sqrt(values[positive])) @ U[:, positive].T
    out = X.copy()
    out[:r1] = np.sqrt(K11) @ inverse @ X[:r1]
    out[:, :r1] = out[:r1].T
    out[:r1, :r1] = K11
    return out
