"""Kernel values of new objects, inferred from what is known of them. [chen2010] Eq. (6.8)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize

__all__ = ["KernelFactor", "infer_row", "kernel_factor"]


class KernelFactor:
    """R with K = R R', and the rows r = R z that agree with known entries.

    Parameters
    ----------
    R : ndarray of shape (n, rank)
        One row for each training object.
    """

    def __init__(self, R: NDArray[np.float64]) -> None:
        self.R = R
        self._cut = np.sqrt(10 * max(R.shape) * np.finfo(np.float64).eps)

    def split(
        self, known: NDArray[np.bool_], values: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The shortest z whose R z is nearest to the known values, and a basis of the z that leave those alone.

        R z is K_.J K_JJ^+ s_J, the row of least norm among the nearest ones; of the whole row, its projection on the
        range of K.
        """
        rank = self.R.shape[1]
        if not known.any() or not rank:
            return np.zeros(rank), np.eye(rank)
        U, sizes, Wt = linalg.svd(self.R[known], full_matrices=True)
        keep = int((sizes > self._cut * sizes.max(initial=0.0)).sum())
        z = Wt[:keep].T @ ((U[:, :keep].T @ values[known]) / sizes[:keep])
        return z, Wt[keep:].T

    def fill(self, known: NDArray[np.bool_], values: NDArray[np.float64], ridge: float = 0.0) -> NDArray[np.float64]:
        """Rows r = R z for values of shape (m, n), known where `known` says: K_.J (K_JJ + ridge I)^+ s_J.

        r minimises ||r_J - s_J||^2 + ridge r'K^+r; without a ridge it is the shortest of the nearest.
        """
        if not known.any() or not self.R.shape[1]:
            return np.zeros_like(values)
        part = self.R[known]
        if ridge > 0:
            gram = part.T @ part + ridge * np.eye(part.shape[1])
            z = linalg.solve(gram, part.T @ values[:, known].T, assume_a="pos")
        else:
            z = linalg.lstsq(part, values[:, known].T, cond=self._cut)[0]
        return np.asarray((self.R @ z).T)


def kernel_factor(K: NDArray[np.float64], *, tol: float = 1e-12) -> KernelFactor:
    """Factor of K, or of |K| where K has negative eigenvalues, without those below `tol` times the largest.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric.
    tol : float, default=1e-12
        Share of the largest eigenvalue that counts as zero.

    Returns
    -------
    KernelFactor
    """
    values, U = linalg.eigh(K)
    size = np.abs(values)
    keep = size > tol * max(float(size.max(initial=0.0)), np.finfo(float).tiny)
    return KernelFactor(U[:, keep] * np.sqrt(size[keep]))


def infer_row(
    factor: KernelFactor,
    K_aux: NDArray[np.float64],
    aux: NDArray[np.float64],
    aux_self: float,
    row: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Minimise ||[K r; r' t] - sum_i w_i b_i b_i'||_F over r, t and w >= 0 with [K r; r' t] >= 0.

    Parameters
    ----------
    factor : KernelFactor
        Of K, (n, n).
    K_aux : ndarray of shape (n, n)
        The auxiliary kernel; b_i are the eigenvectors of [K_aux aux; aux' aux_self].
    aux : ndarray of shape (n,)
        Auxiliary kernel values of the new object.
    aux_self : float
        Its own auxiliary kernel value.
    row : ndarray of shape (n,)
        What is known of r; NaN elsewhere.

    Returns
    -------
    ndarray of shape (n,)
        r, in the range of K; nearest to the known entries where no row in that range has them.

    Notes
    -----
    The paper prints r'Kr <= t; what makes the matrix positive semi-definite is r'K^+r <= t with r in the range of K.
    With r = R z it reads ||z||^2 <= t. As in (6.7) the weights drop out, w_i being the quadratic forms of b_i; what is
    left is a quadratic function of (z, t) and one multiplier, the root of a monotone function.
    """
    R, n = factor.R, len(aux)
    known = ~np.isnan(row)
    z, N = factor.split(known, np.where(known, row, 0.0))
    if not N.shape[1]:
        return np.asarray(R @ z)
    b = np.linalg.eigh(np.block([[K_aux, aux[:, None]], [aux[None, :], np.array([[aux_self]])]]))[1]
    P, q = b[:n], b[n]
    # b_i' [K r; r' t] b_i = ||R'p_i||^2 + 2 q_i p_i'r + q_i^2 t; what is minimised is ||.||_F^2 minus their squares
    r, E = R @ z, R @ N
    L = 2 * q[:, None] * P.T
    constant = ((R.T @ P) ** 2).sum(axis=0) + L @ r
    B = np.column_stack([L @ E, q**2])
    H = -B.T @ B
    H[:-1, :-1] += 2 * E.T @ E
    H[-1, -1] += 1.0
    slope = -B.T @ constant
    slope[:-1] += 2 * E.T @ r
    x = _in_cone(H, slope, float(z @ z))
    return np.asarray(r + E @ x[:-1])


def _in_cone(H: NDArray[np.float64], slope: NDArray[np.float64], base: float) -> NDArray[np.float64]:
    """Minimise 1/2 x'Hx + slope'x over x = (v, t) with base + ||v||^2 <= t."""
    ridge = 1e-12 * max(float(np.trace(H)), np.finfo(float).tiny)
    D = np.diag(np.r_[np.full(len(H) - 1, 2.0), 0.0])
    up = np.r_[np.zeros(len(H) - 1), 1.0]

    def at(m: float) -> NDArray[np.float64]:
        A = H + m * D + ridge * np.eye(len(H))
        return np.asarray(linalg.solve(A, m * up - slope, assume_a="sym"))

    def excess(m: float) -> float:
        x = at(m)
        return base + float(x[:-1] @ x[:-1]) - float(x[-1])

    if excess(0.0) <= 0:
        return at(0.0)
    high = float(np.abs(H).max()) or 1.0
    while excess(high) > 0:
        high *= 10
    return at(optimize.brentq(excess, 0.0, high, xtol=1e-14 * high, rtol=1e-12))
