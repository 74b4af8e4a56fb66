"""What the generative classifiers of this family share: from class-conditional models to probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from similis._utils.base import ProximityClassifier
from similis.discriminant._limits import LogLimit

__all__ = ["BayesRule", "GenerativeClassifier"]


class BayesRule:
    """A subclass gives ``_limits(Q)``, log P(T(x) | g) of checked rows, and ``priors_``; the rest is Bayes' rule."""

    priors_: NDArray[np.float64]
    _check_query: Any

    def _limits(self, Q: Any) -> LogLimit:
        raise NotImplementedError

    @property
    def _log_priors(self) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.log(self.priors_)

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Probability of each class.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Proximities of m new objects to the n training objects.

        Returns
        -------
        ndarray of shape (m, G)
            Columns in the order of ``classes_``.
        """
        return self._limits(self._check_query(X)).posterior(self._log_priors)

    def class_log_prob(self, X: ArrayLike) -> NDArray[np.float64]:
        """Log-probability of an object's statistics under each class, log P(T(x) | g).

        Parameters
        ----------
        X : array-like of shape (m, n)
            Proximities of m new objects to the n training objects.

        Returns
        -------
        ndarray of shape (m, G)
            Minus infinity off a point mass; log-densities where Omega is an interval.
        """
        return self._limits(self._check_query(X)).log()

    def score_samples(self, X: ArrayLike) -> NDArray[np.float64]:
        """Log-probability of an object's statistics under all classes together, log P(T(x)): low is abnormal.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Proximities of m new objects to the n training objects.

        Returns
        -------
        ndarray of shape (m,)
            The logarithm of the prior-weighted sum over classes.
        """
        return self._limits(self._check_query(X)).mix(self._log_priors, axis=1).log()


class GenerativeClassifier(BayesRule, ProximityClassifier):
    """Bayes' rule on models of proximities."""
