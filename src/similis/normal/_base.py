"""Bayes' rule on log-densities of rows, its responses, and its answers for a whole grid."""

from __future__ import annotations

import copy

import numpy as np
from scipy.special import softmax

from similis._utils.base import ProximityClassifier
from similis._utils.decision import check_costs, class_priors, least_cost
from similis._utils.params import validated
from similis._utils.path import PathMixin
from similis.normal._covariance import ClassRows

__all__ = ["BayesClassifier", "LinearRule"]


class BayesClassifier(PathMixin, ProximityClassifier):
    """Classifies by the discriminants log P(g) + log p(x | g), up to a number common to all classes.

    A subclass writes ``_discriminants(Q)`` for a fitted model and ``_grid(S, codes, Q, points)``, the same for every
    point of a grid over ``_path_params`` from one look at the training rows.
    """

    def _log_priors(self, codes):
        """Logarithm of the class probabilities; sets ``priors_``."""
        self.priors_ = class_priors(self.priors, np.bincount(codes, minlength=len(self.classes_)))
        with np.errstate(divide="ignore"):
            return np.log(self.priors_)

    def decision_function(self, X):
        """Log-odds of the second of two classes, or for more classes log P(g) + log p(x | g) up to a common number.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Proximities of new objects to the training objects.

        Returns
        -------
        ndarray of shape (m, G), or (m,) for two classes
            Its arg max (its sign) is the most probable class, whatever the costs.
        """
        return self._scores_to_response(self._discriminants(self._check_query(X)), "decision_function")

    def predict_proba(self, X):
        """Probability of each class by Bayes' rule.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Proximities of new objects to the training objects.

        Returns
        -------
        ndarray of shape (m, G)
            Columns in the order of ``classes_``.
        """
        return softmax(self._discriminants(self._check_query(X)), axis=1)

    def _scores_to_response(self, scores, response):
        if response == "decision_function":
            return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
        return softmax(scores, axis=1)

    def _path_codes(self, S, codes, Q, test_fold, points):
        costs = check_costs(self.costs, len(self.classes_))
        found = self._path_scores(S, codes, Q, test_fold, points)
        return [least_cost(softmax(scores, axis=1), costs) for scores in found]

    def _path_scores(self, S, codes, Q, test_fold, points):
        if Q is not None:
            return self._grid(S, codes, Q, points)
        scores = [np.full((len(codes), len(self.classes_)), -np.inf) for _ in points]
        for fold in np.unique(test_fold):
            test, train = np.flatnonzero(test_fold == fold), np.flatnonzero(test_fold != fold)
            # A class that occurs in the fold alone is unknown to its training part.
            present, inner = np.unique(codes[train], return_inverse=True)
            model = copy.copy(self)
            model.classes_ = self.classes_[present]
            found = model._grid(S[np.ix_(train, train)], inner, S[np.ix_(test, train)], points)
            for score, answer in zip(scores, found):
                score[np.ix_(test, present)] = answer
        return scores


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
