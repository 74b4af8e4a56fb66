"""Gaussian class models of numeric columns, conditional on other columns if there are any."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from similis._utils.storable import storable

__all__ = ["ConditionalGaussians"]


@storable
class ConditionalGaussians:
    """x | t, g ~ N(m_g + B_g (t - s_g), C_g): the conditionals of one joint Gaussian of (t, x) per class.

    Parameters
    ----------
    regularization : float in (0, 1]
        Weight r of the pooled variances in each class's covariance, (1 - r) C_g + r diag(C).
    """

    def __init__(self, regularization: float) -> None:
        self.regularization = regularization

    def fit(self, x: NDArray[Any], t: NDArray[Any], codes: NDArray[np.intp]) -> ConditionalGaussians:
        """Learn from n rows of numbers `x` and conditions `t`; columns that never vary are left out."""
        G = int(codes.max()) + 1
        members = [codes == g for g in range(G)]
        u = np.hstack([t, x])
        means = np.stack([u[rows].mean(axis=0) for rows in members])
        within = u - means[codes]
        variance = (within**2).mean(axis=0)
        # A class may be constant where others vary; what varies only between classes has the total variance.
        variance = np.where(variance > 0, variance, u.var(axis=0))
        keep = variance > 1e-30 * (1 + (u**2).mean(axis=0))
        self._t, self._x = np.flatnonzero(keep[: t.shape[1]]), np.flatnonzero(keep[t.shape[1] :])
        a = len(self._t)
        r = self.regularization
        self.means = means[:, t.shape[1] :]
        self._m = means[:, keep]
        self._slope = np.zeros((G, len(self._x), a))
        self.covariances = np.empty((G, len(self._x), len(self._x)))
        for g, rows in enumerate(members):
            w = within[rows][:, keep]
            C = (1 - r) * w.T @ w / len(w) + r * np.diag(variance[keep])
            if a:
                self._slope[g] = cho_solve(cho_factor(C[:a, :a]), C[:a, a:]).T
            self.covariances[g] = C[a:, a:] - self._slope[g] @ C[:a, a:]
        return self

    def log_density(self, x: NDArray[Any], t: NDArray[Any]) -> NDArray[np.float64]:
        """Log-density of new rows under each class, (m, G)."""
        x, a = x[:, self._x], len(self._t)
        answers = []
        for m, slope, C in zip(self._m, self._slope, self.covariances):
            rest = x - m[a:]
            if a:
                rest = rest - (t[:, self._t] - m[:a]) @ slope.T
            L = np.linalg.cholesky(C)
            z = solve_triangular(L, rest.T, lower=True)
            answers.append(-0.5 * ((z**2).sum(axis=0) + len(C) * np.log(2 * np.pi)) - np.log(np.diag(L)).sum())
        return np.stack(answers, axis=1)
