"""Bayes' rule for classifiers with class-conditional densities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.utils.metaestimators import available_if

from similis.base._decision import class_priors
from similis.base._estimators import ProximityClassifier
from similis.base._path import PathMixin

__all__ = ["BayesClassifier"]


def _has_finite_log_odds(model: Any) -> bool:
    return bool(model.finite_log_odds)


class BayesClassifier(PathMixin, ProximityClassifier):
    """Base class of classifiers that model the density of each class.

    A subclass has parameters ``priors`` and ``costs``. Its ``fit`` calls ``set_priors``; its ``class_scores(Q)``
    and ``path_scores(S, codes, Q, points)`` return log P(g) + log p(x | g), up to a term common to all classes.
    ``predict``, ``predict_proba``, ``decision_function`` and the path methods follow.

    Attributes
    ----------
    finite_log_odds : bool
        Class attribute, True. With False there is no ``decision_function``: densities with point masses have infinite
        log-odds, which scikit-learn's scorers reject.
    priors_ : ndarray of shape (G,)
        Class priors.
    log_priors : ndarray of shape (G,)
        Their logarithms; minus infinity for a prior of zero.

    See Also
    --------
    similis.normal.NormalLinear : An example of a subclass.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.base import BayesClassifier
    >>> class Laplace(BayesClassifier):
    ...     reads = "dissimilarity"
    ...     def __init__(self, *, priors=None, costs=None):
    ...         self.priors, self.costs = priors, costs
    ...     def fit(self, X, y):
    ...         self._S, self._codes = self.check_training_labels(X, y)
    ...         self.set_priors(self._codes)
    ...         return self
    ...     def class_scores(self, Q):
    ...         nearest = [Q[:, self._codes == g].min(axis=1) for g in range(len(self.classes_))]
    ...         return self.log_priors - np.stack(nearest, axis=1)
    >>> D = np.array([[0.0, 1, 5], [1, 0, 4], [5, 4, 0]])
    >>> Laplace(priors=[0.5, 0.5]).fit(D, ["a", "a", "b"]).predict_proba([[1.0, 1, 1]])
    array([[0.5, 0.5]])
    """

    priors: Any
    costs: Any
    priors_: NDArray[np.float64]
    finite_log_odds = True

    def set_priors(self, codes: NDArray[np.intp]) -> None:
        """Set ``priors_`` from the ``priors`` parameter and the class frequencies.

        Parameters
        ----------
        codes : ndarray of shape (n,)
            Position of each training label in ``classes_``.
        """
        self.priors_ = class_priors(self.priors, np.bincount(codes, minlength=len(self.classes_)))

    @property
    def log_priors(self) -> NDArray[np.float64]:
        """Logarithms of the class priors."""
        with np.errstate(divide="ignore"):
            return np.log(self.priors_)

    @available_if(_has_finite_log_odds)
    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Log-odds of the second of two classes, or for more classes log P(g) + log p(x | g) up to a common term.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Proximities of new objects to the training objects.

        Returns
        -------
        ndarray of shape (m, G), or (m,) for two classes
            The arg max (for two classes the sign) gives the most probable class, whatever the costs.
        """
        return self.respond(X, "decision_function")

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
        return self.respond(X, "predict_proba")

    def scores_to_response(self, scores: NDArray[Any], response: str) -> NDArray[Any]:
        """Convert log-probabilities to labels, probabilities or log-odds.

        Parameters
        ----------
        scores : ndarray of shape (m, G)
            log P(g) + log p(x | g), up to a term common to all classes.
        response : {"predict", "predict_proba", "decision_function"}
            Prediction method.

        Returns
        -------
        ndarray
            Output of that method.
        """
        if response == "predict_proba":
            return softmax(scores, axis=1)
        return super().scores_to_response(scores, response)

    def scores_to_codes(self, scores: NDArray[Any]) -> NDArray[np.intp]:
        """Choose the class with the least expected cost.

        Parameters
        ----------
        scores : ndarray of shape (m, G)
            log P(g) + log p(x | g), up to a term common to all classes.

        Returns
        -------
        ndarray of shape (m,)
            Position in ``classes_``; the earlier class wins a tie.
        """
        return super().scores_to_codes(softmax(scores, axis=1))
