"""Bayes' rule on log-densities, its responses, and its answers for a whole grid."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from similis._utils.disk import take_block
from similis.base._decision import check_costs, class_priors, least_cost
from similis.base._estimators import ProximityClassifier
from similis.base._path import PathMixin

__all__ = ["BayesClassifier"]

Points = list[dict[str, Any]]


class BayesClassifier(PathMixin, ProximityClassifier):
    """Classifies by the discriminants log P(g) + log p(x | g), up to a number common to all classes.

    A subclass writes ``_discriminants(Q)`` for a fitted model and ``_grid(S, codes, Q, points)``, the same for every
    point of a grid over ``_path_params`` from one look at the training rows.
    """

    priors: Any
    costs: Any

    def _discriminants(self, Q: NDArray[Any]) -> NDArray[np.float64]:
        raise NotImplementedError

    def _grid(
        self, S: NDArray[Any], codes: NDArray[np.intp], Q: NDArray[Any], points: Points
    ) -> list[NDArray[np.float64]]:
        raise NotImplementedError

    def _log_priors(self, codes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Logarithm of the class probabilities; sets ``priors_``."""
        self.priors_ = class_priors(self.priors, np.bincount(codes, minlength=len(self.classes_)))
        with np.errstate(divide="ignore"):
            return np.log(self.priors_)

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
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

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
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

    def _scores_to_response(self, scores: NDArray[Any], response: str) -> NDArray[np.float64]:
        if response == "decision_function":
            return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores
        return softmax(scores, axis=1)

    def _path_codes(
        self,
        S: NDArray[Any],
        codes: NDArray[np.intp],
        Q: NDArray[Any] | None,
        test_fold: NDArray[np.intp] | None,
        points: Points,
    ) -> list[NDArray[np.intp]]:
        costs = check_costs(self.costs, len(self.classes_))
        found = self._path_scores(S, codes, Q, test_fold, points)
        return [least_cost(softmax(scores, axis=1), costs) for scores in found]

    def _path_scores(
        self,
        S: NDArray[Any],
        codes: NDArray[np.intp],
        Q: NDArray[Any] | None,
        test_fold: NDArray[np.intp] | None,
        points: Points,
    ) -> list[NDArray[np.float64]]:
        if Q is not None:
            return self._grid(S, codes, Q, points)
        assert test_fold is not None
        scores = [np.full((len(codes), len(self.classes_)), -np.inf) for _ in points]
        for fold in np.unique(test_fold):
            test, train = np.flatnonzero(test_fold == fold), np.flatnonzero(test_fold != fold)
            # A class that occurs in the fold alone is unknown to its training part.
            present, inner = np.unique(codes[train], return_inverse=True)
            model: Any = copy.copy(self)
            model.classes_ = self.classes_[present]
            found = model._grid(take_block(S, train, train), inner, take_block(S, test, train), points)
            for score, answer in zip(scores, found):
                score[np.ix_(test, present)] = answer
        return scores
