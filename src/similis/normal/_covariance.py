"""Regularized covariances of n rows in n dimensions, inverted for a whole grid without forming them.

One eigen-decomposition of the Gram matrix of the scaled, centered rows gives the inverse for every regularization.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.linalg import eigen_symmetric
from similis.base import FittedArrays, fitted_reals, storable

__all__ = ["ClassRows", "ShrunkCovariance"]

_NOISE = 32 * np.finfo(np.float64).eps  # deviations from a mean below this fraction of the largest entry are round-off
_LEAST = 1e-10  # smallest regularization of a singular covariance


class ClassRows:
    """Training rows as features: class means and deviations from them, without the columns that never vary.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        Training rows.
    codes : ndarray of shape (n,)
        Class of each.

    Attributes
    ----------
    varying : ndarray of shape (p,)
        Columns that are not constant; the following attributes refer to them.
    means : ndarray of shape (G, p)
        Class means.
    center : ndarray of shape (p,)
        Mean of all rows.
    W : ndarray of shape (n, p)
        Rows minus the mean of their class; exactly zero where a class is constant.
    total : ndarray of shape (p,)
        Variance of all rows, above zero.
    """

    def __init__(self, S: NDArray[Any], codes: NDArray[np.intp]) -> None:
        X = np.asarray(S, dtype=np.float64)
        noise = (_NOISE * np.abs(X).max(axis=0)) ** 2
        self.varying = np.flatnonzero(X.var(axis=0) > noise)
        X, noise = X[:, self.varying], noise[self.varying]
        self.center, self.total = X.mean(axis=0), X.var(axis=0)
        self.means = np.empty((codes.max() + 1, len(self.varying)))
        self.W = X
        for g in range(len(self.means)):
            members = codes == g
            self.means[g] = X[members].mean(axis=0)
            deviations = X[members] - self.means[g]
            deviations[:, (deviations**2).mean(axis=0) <= noise] = 0.0
            self.W[members] = deviations

    def means_of_all_columns(self, S: NDArray[Any]) -> Any:
        """Class means, shape (G, n), of the columns that vary and of those that do not."""
        means = np.tile(S.mean(axis=0, dtype=np.float64), (len(self.means), 1))
        means[:, self.varying] = self.means
        return means

    @property
    def fallback_variance(self) -> Any:
        """Pooled variance of each column, or its total variance where it varies only between classes."""
        pooled = (self.W**2).mean(axis=0)
        return np.where(pooled > 0, pooled, self.total)


@storable
class ShrunkCovariance(FittedArrays):
    """(1 - r) C + r T of deviations W, C = W'W / m, for every r in [0, 1] from one decomposition.

    T = diag(C) or (tr C / p) I. With A = W T^(-1/2) / sqrt(m) it is T^(1/2) ((1 - r) A'A + r I) T^(1/2), and the
    eigenvectors of A'A that have positive eigenvalues l are U = A'V l^(-1/2), where A A' = V diag(l) V' is m x m.

    A column in which W is constant (T = 0) gets the variance `fallback`, uncorrelated with the others.

    Parameters
    ----------
    W : ndarray of shape (m, p)
        Deviations from a mean.
    shrinkage_target : {"diagonal", "trace"}
        What T is.
    fallback : ndarray of shape (p,)
        Positive variances, used where T = 0.
    """

    fitted_arrays = {
        "scale": fitted_reals("v"),
        "A": fitted_reals("m", "v"),
        "l": fitted_reals("k"),
        "V": fitted_reals("m", "k"),
    }

    def __init__(self, W: NDArray[Any], shrinkage_target: Any, fallback: Any) -> None:
        T = (W**2).mean(axis=0)
        if shrinkage_target == "trace":
            T, fallback = (np.full(len(v), v.sum() / max(1, len(v))) for v in (T, fallback))
        self.known = T > 0
        self.scale = np.sqrt(np.where(self.known, T, fallback))
        self.A = W / (self.scale * np.sqrt(len(W)))
        system = eigen_symmetric(self.A @ self.A.T)
        positive = system.values > system.tolerance
        self.l, self.V = system.values[positive], system.vectors[:, positive]
        # Directions, among the columns that vary, in which W does not.
        self.n_null = np.count_nonzero(self.known) - len(self.l)

    def solve(self, D: NDArray[Any], regularization: Any) -> Any:
        """Solve ((1 - r) C + r T) B = D, D of shape (p, G), for each r: (len(regularization), p, G)."""
        D = D / self.scale[:, None]
        inside = self._to_axes(D)  # U'D
        rest = D - self._from_axes(inside)
        again = self._to_axes(rest)  # again, to remove round-off
        inside, rest = inside + again, rest - self._from_axes(again)
        if self.n_null == 0:
            rest[self.known] = 0.0
        rest[:, np.linalg.norm(rest, axis=0) <= _NOISE * np.linalg.norm(D, axis=0)] = 0.0
        eigenvalues, null = self._regularized(regularization)
        # ((1 - r) A'A + r I)^-1 D = U (U'D / ((1 - r) l + r)) + (I - UU') D / r, all r in one product
        parts = inside / eigenvalues[:, :, None]  # (t, k, G)
        t, k, G = parts.shape
        lifted = self._from_axes(parts.transpose(1, 0, 2).reshape(k, t * G)).reshape(-1, t, G)
        B = lifted.transpose(1, 0, 2) + rest / np.where(self.known, null[:, None], 1.0)[:, :, None]
        return B / self.scale[:, None]

    def log_density(self, Z: NDArray[Any], regularization: Any) -> Any:
        """Log-density of N(0, (1 - r) C + r T) at the rows of Z, shape (m, p), for each r: (len(regularization), m)."""
        Z = Z / self.scale
        eigenvalues, null = self._regularized(regularization)
        inside = self._to_axes(Z.T) ** 2  # (k, m)
        squares = Z**2
        outside = squares @ self.known - inside.sum(axis=0) if self.n_null else np.zeros(len(Z))
        distance = (1 / eigenvalues) @ inside + np.maximum(outside, 0.0) / null[:, None] + squares @ ~self.known
        log_det = np.log(eigenvalues).sum(axis=1) + self.n_null * np.log(null) + 2 * np.log(self.scale).sum()
        return -0.5 * (distance + log_det[:, None] + len(self.scale) * np.log(2 * np.pi))

    def matrix(self, r: Any) -> Any:
        """Regularized covariance, shape (p, p)."""
        r = max(r, _LEAST) if self.n_null else r
        C = (1 - r) * (self.A.T @ self.A)
        C[np.diag_indices_from(C)] += np.where(self.known, r, 1.0)
        return C * self.scale * self.scale[:, None]

    def _regularized(self, regularization: Any) -> Any:
        """Eigenvalues (1 - r) l + r, shape (t, k), and r itself for the directions without variance, shape (t,)."""
        r = np.asarray(regularization, dtype=np.float64)
        r = np.maximum(r, _LEAST) if self.n_null else r
        eigenvalues = (1 - r[:, None]) * self.l + r[:, None]
        return eigenvalues, r if self.n_null else np.ones(len(r))

    def _to_axes(self, D: NDArray[Any]) -> Any:
        """U'D for D of shape (p, q)."""
        return self.V.T @ (self.A @ D) / np.sqrt(self.l)[:, None]

    def _from_axes(self, c: NDArray[Any]) -> Any:
        """U c for c of shape (k, q)."""
        return self.A.T @ (self.V @ (c / np.sqrt(self.l)[:, None]))
