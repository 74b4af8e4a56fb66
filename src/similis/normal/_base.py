"""Linear discriminants of normal classes with one covariance."""

from __future__ import annotations

import numpy as np

from similis._utils.bayes import BayesClassifier
from similis._utils.params import validated
from similis.normal._covariance import ClassRows

__all__ = ["LinearRule"]


class LinearRule(BayesClassifier):
    """Normal classes with one covariance S: linear discriminants.

    A subclass gives ``_solve(rows, points)``: S^-1 (m_g - m) for the S of each point, shape (len(points), p, G).
    """

    @validated
    def fit(self, X, y):
        """Find the class means and the coefficients of the discriminants.

        Parameters
        ----------
        X : array-like of shape (n, n)
            Training proximities.
        y : array-like of shape (n,)
            Class labels.

        Returns
        -------
        self
        """
        self._S, self._codes = self._check_fit_labels(X, y)
        rows = ClassRows(self._S, self._codes)
        point = {name: getattr(self, name) for name in self._path_params}
        coefficients, constants = self._linear(rows, self._log_priors(self._codes), [point])
        self.means_ = rows.means_of_all_columns(self._S)
        self.coef_ = np.zeros_like(self.means_)
        self.coef_[:, rows.varying] = coefficients[0].T
        self._columns, self._centre, self._constants = rows.varying, rows.centre, constants[0]
        return self

    def _discriminants(self, Q):
        return (Q[:, self._columns] - self._centre) @ self.coef_[:, self._columns].T + self._constants

    def _linear(self, rows, log_priors, points):
        """Coefficients, shape (len(points), p, G), of x - m, and constants, shape (len(points), G)."""
        B = self._solve(rows, points)
        # Bayes -> log P(g) + (x - m)' S^-1 (m_g - m) - 1/2 (m_g - m)' S^-1 (m_g - m)
        return B, log_priors - 0.5 * np.einsum("gp,tpg->tg", rows.means - rows.centre, B)

    def _grid(self, S, codes, Q, points):
        rows = ClassRows(S, codes)
        B, constants = self._linear(rows, self._log_priors(codes), points)
        t, p, G = B.shape
        products = (Q[:, rows.varying] - rows.centre) @ B.transpose(1, 0, 2).reshape(p, t * G)
        return list(products.reshape(len(Q), t, G).transpose(1, 0, 2) + constants[:, None, :])
