"""Regularized covariances of n rows in n dimensions, inverted for a whole grid."""

from contextlib import nullcontext
from typing import Any

import numpy as np
from scipy.linalg import lapack

from similis._utils.arrays import Array, Indices
from similis._utils.linalg import LARGE, eigen_symmetric
from similis._utils.moved import DEPRECATED
from similis._utils.threads import all_blas_threads
from similis.base import BayesClassifier, FittedArrays, between, choice, estimator, fitted_reals, param, storable

_NOISE = 32 * np.finfo(np.float64).eps  # deviations from a mean below this fraction of the largest entry are round-off
_LEAST = 1e-10  # smallest regularization of a singular covariance
_HUGE = 4000  # columns from which a Cholesky factor per regularization is faster than one tridiagonal form
_FACTORED = 1e-5  # smallest regularization for which these leave enough digits


@estimator
class ShrinkageParams(BayesClassifier):
    """Parameters of a classifier whose covariances are shrunk towards a diagonal matrix."""

    regularization: float = param(0.1, between(0, 1))
    shrinkage_target: str = param("diagonal", choice("diagonal", "trace"))
    priors: Any = param(None, "array-like", choice("laplace"), None)
    costs: Any = param(None, "array-like", None)
    shrinkage: str = param(DEPRECATED, choice("diagonal", "trace", DEPRECATED))

    _renamed_params = {"shrinkage": ("shrinkage_target", {})}
    path_params = ("regularization",)


class ClassRows:
    """Class means, deviations W from them (0 where a class is constant), center and variance, in columns that vary."""

    def __init__(self, S: Array, codes: Indices) -> None:
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

    def means_of_all_columns(self, S: Array) -> Any:
        """Class means, shape (G, n), of the columns that vary and of those that do not."""
        means = np.tile(S.mean(axis=0, dtype=np.float64), (len(self.means), 1))
        means[:, self.varying] = self.means
        return means


@storable
class ShrunkCovariance(FittedArrays):
    """(1 - r) C + r T of deviations W, C = W'W / m, for every r in [0, 1]; T = diag(C) or (tr C / p) I.

    With A = W T^(-1/2) / sqrt(m) it is T^(1/2) ((1 - r) A'A + r I) T^(1/2). The eigenvectors of A'A with eigenvalues
    l > 0 are U = A'V l^(-1/2), where A A' = V diag(l) V' is m x m; `decompose` computes them at once. A column in which
    W is constant (T = 0) gets the variance `fallback`, uncorrelated with the others.
    """

    fitted_arrays = {
        "scale": fitted_reals("v"),
        "A": fitted_reals("m", "v"),
        "l": fitted_reals("k"),
        "V": fitted_reals("m", "k"),
    }

    l: Array  # noqa: E741
    V: Array

    def __init__(self, W: Array, shrinkage_target: Any, fallback: Any, *, decompose: bool = True) -> None:
        T = (W**2).mean(axis=0)
        if shrinkage_target == "trace":
            T, fallback = (np.full(len(v), v.sum() / max(1, len(v))) for v in (T, fallback))
        self.known = T > 0
        self.scale = np.sqrt(np.where(self.known, T, fallback))
        self.A = W / (self.scale * np.sqrt(len(W)))
        if decompose:
            self._decompose()

    def _decompose(self) -> None:
        """Find l and V, unless they are known, and the number of directions of the known columns without variance."""
        if not hasattr(self, "V"):
            system = eigen_symmetric(self.A @ self.A.T)
            positive = system.values > system.tolerance
            self.l, self.V = system.values[positive], system.vectors[:, positive]
            self.n_null = np.count_nonzero(self.known) - len(self.l)

    def solve(self, D: Array, regularization: Any) -> Any:
        """Solve ((1 - r) C + r T) B = D, D of shape (p, G), for each r: (len(regularization), p, G)."""
        D = D / self.scale[:, None]
        r = np.asarray(regularization, dtype=np.float64)
        B = np.empty((len(r), *D.shape))
        factored = (r >= _FACTORED) & (D.size > 0)
        if factored.any():
            B[factored] = self._solve_by_factors(D, r[factored])
        if not factored.all():
            self._decompose()
            B[~factored] = self._solve_in_axes(D, r[~factored])
        return B / self.scale[:, None]

    def _solve_by_factors(self, D: Array, regularization: Any) -> Any:
        """Solve ((1 - r) A'A + r I) B = D, with 1 instead of r for the columns of A that are zero, for each r."""
        R = self.A.T @ self.A  # exactly symmetric, so that its order in memory does not matter
        few = len(regularization) < 3 or not 1 < len(R) < _HUGE
        with all_blas_threads() if len(R) >= LARGE else nullcontext():
            B = (_solve_by_cholesky if few else _solve_by_tridiagonal)(R, D, regularization)
        B[:, ~self.known] = D[~self.known]
        return B

    def _solve_in_axes(self, D: Array, regularization: Any) -> Any:
        """Do the same by the eigenvectors: U (U'D / ((1 - r) l + r)) + (I - UU') D / r, all r in one product."""
        inside = self._to_axes(D)
        rest = D - self._from_axes(inside)
        again = self._to_axes(rest)  # to remove round-off
        inside, rest = inside + again, rest - self._from_axes(again)
        if self.n_null == 0:
            rest[self.known] = 0.0
        rest[:, np.linalg.norm(rest, axis=0) <= _NOISE * np.linalg.norm(D, axis=0)] = 0.0
        eigenvalues, null = self._regularized(regularization)
        parts = inside / eigenvalues[:, :, None]  # (t, k, G)
        t, k, G = parts.shape
        lifted = self._from_axes(parts.transpose(1, 0, 2).reshape(k, t * G)).reshape(-1, t, G)
        return lifted.transpose(1, 0, 2) + rest / np.where(self.known, null[:, None], 1.0)[:, :, None]

    def log_density(self, Z: Array, regularization: Any) -> Any:
        """Log-density of N(0, (1 - r) C + r T) at the rows of Z, shape (m, p), for each r: (len(regularization), m)."""
        Z = Z / self.scale
        eigenvalues, null = self._regularized(regularization)
        inside = self._to_axes(Z.T) ** 2  # (k, m)
        squares = Z**2
        outside = squares @ self.known - inside.sum(axis=0) if self.n_null else np.zeros(len(Z))
        distance = (1 / eigenvalues) @ inside + np.maximum(outside, 0.0) / null[:, None] + squares @ ~self.known
        log_det = np.log(eigenvalues).sum(axis=1) + self.n_null * np.log(null) + 2 * np.log(self.scale).sum()
        return -0.5 * (distance + log_det[:, None] + len(self.scale) * np.log(2 * np.pi))

    def matrix(self, r: Any, columns: Indices, n: int) -> Any:
        """Regularized covariance, shape (n, n), of p `columns`; zero in the others."""
        if r < _LEAST:
            self._decompose()
            r = _LEAST if self.n_null else r
        C = (1 - r) * (self.A.T @ self.A)
        C[np.diag_indices_from(C)] += np.where(self.known, r, 1.0)
        full = np.zeros((n, n))
        full[np.ix_(columns, columns)] = C * self.scale * self.scale[:, None]
        return full

    def _regularized(self, regularization: Any) -> Any:
        """Eigenvalues (1 - r) l + r, shape (t, k), and r itself for the directions without variance, shape (t,)."""
        r = np.asarray(regularization, dtype=np.float64)
        r = np.maximum(r, _LEAST) if self.n_null else r
        eigenvalues = (1 - r[:, None]) * self.l + r[:, None]
        return eigenvalues, r if self.n_null else np.ones(len(r))

    def _to_axes(self, D: Array) -> Any:
        """U'D for D of shape (p, q)."""
        return self.V.T @ (self.A @ D) / np.sqrt(self.l)[:, None]

    def _from_axes(self, c: Array) -> Any:
        """U c for c of shape (k, q)."""
        return self.A.T @ (self.V @ (c / np.sqrt(self.l)[:, None]))


def _solve_by_cholesky(R: Array, D: Array, regularization: Any) -> Any:
    """Solve ((1 - r) R + r I) B = D for each r, by one factor each."""
    found = []
    for r in regularization:
        M = (1 - r) * R
        M.flat[:: len(M) + 1] += r
        factor, _ = lapack.dpotrf(M.T, lower=True, clean=False, overwrite_a=True)
        found.append(lapack.dpotrs(factor, D, lower=True)[0])
    return np.array(found)


def _solve_by_tridiagonal(R: Array, D: Array, regularization: Any) -> Any:
    """Solve the same with R = Q T Q', T tridiagonal: ((1 - r) T + r I) (Q'B) = Q'D."""
    p, G = D.shape
    n_work = int(lapack.dsytrd_lwork(p, lower=True)[0])
    form, diagonal, beside, tau, _ = lapack.dsytrd(R.T, lower=True, lwork=n_work)
    reflectors = np.asfortranarray(form[1:, :-1])  # Q is the identity in its first row and column

    def rotate(X: Array, side: str) -> None:
        X[1:] = lapack.dormqr("L", side, reflectors, tau, X[1:], 64 * X.shape[1])[0]

    turned = np.array(D, order="F")
    rotate(turned, "T")
    found = [lapack.dptsv((1 - r) * diagonal + r, (1 - r) * beside, turned)[2] for r in regularization]
    B = np.hstack(found)
    rotate(B, "N")
    return B.reshape(p, len(found), G).transpose(1, 0, 2).copy()
