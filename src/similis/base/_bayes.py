"""Bayes' rule for classifiers with class-conditional densities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.utils.metaestimators import available_if

from similis._utils.arrays import Array, Floats, Indices
from similis.base._decision import class_priors
from similis.base._estimators import DecisionMixin, ProbabilityMixin, ProximityClassifier
from similis.base._path import PathMixin


class BayesClassifier(ProbabilityMixin, PathMixin, ProximityClassifier):
    """Base class of classifiers that model the density of each class.

    A subclass has parameters ``priors`` and ``costs``. Its ``learn`` calls ``set_priors``; its ``class_scores(Q)``
    and ``path_scores(S, codes, Q, points)`` return log P(g) + log p(x | g), up to a term common to all classes.
    ``predict``, ``predict_proba``, ``decision_function`` (log-odds) and the path methods follow.

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
    ...     def learn(self, S, codes):
    ...         self._codes = codes
    ...         self.set_priors(codes)
    ...     def class_scores(self, Q):
    ...         nearest = [Q[:, self._codes == g].min(axis=1) for g in range(len(self.classes_))]
    ...         return self.log_priors - np.stack(nearest, axis=1)
    >>> D = np.array([[0.0, 1, 5], [1, 0, 4], [5, 4, 0]])
    >>> Laplace(priors=[0.5, 0.5]).fit(D, ["a", "a", "b"]).predict_proba([[1.0, 1, 1]])
    array([[0.5, 0.5]])
    """

    priors: Any
    costs: Any
    priors_: Floats
    finite_log_odds = True

    def set_priors(self, codes: Indices) -> None:
        """Set ``priors_`` from the ``priors`` parameter and the frequencies of the class codes."""
        self.priors_ = class_priors(self.priors, np.bincount(codes, minlength=len(self.classes_)))

    @property
    def log_priors(self) -> Floats:
        """Logarithms of the class priors."""
        with np.errstate(divide="ignore"):
            return np.log(self.priors_)

    decision_function = available_if(lambda self: self.finite_log_odds)(DecisionMixin.decision_function)

    def scores_to_response(self, scores: Array, response: str) -> Array:
        """Convert log-probabilities to labels, probabilities or log-odds."""
        if response == "predict_proba":
            return softmax(scores, axis=1)
        return super().scores_to_response(scores, response)

    def scores_to_codes(self, scores: Array) -> Indices:
        """Choose the class with the least expected cost."""
        return super().scores_to_codes(softmax(scores, axis=1))
