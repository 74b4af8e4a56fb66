"""Probabilities in the limit of infinite exponents.

A class mean at the end of Omega makes its exponential a point mass. With one common |lambda| = L (Omega scaled to width
one) that tends to infinity, a log-probability has the form value + power log L - slope L, where slope is the summed
distance from the point masses and power the number of them that are densities. Classes are compared by slope, then by
power, then by value, so that infinities are never subtracted.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from similis._utils.arrays import Array, Floats, Indices
from similis.base import BayesClassifier, Points
from similis.discriminant._statistics import fold_options
from similis.solvers import Omega

_TIE = 1e-12


class LogLimit(NamedTuple):
    """Log-probabilities ``value + power log L - slope L`` for L to infinity, as three arrays of one shape."""

    slope: Array
    power: Array
    value: Array

    @classmethod
    def of_classes(cls, classes: Iterable[LogLimit]) -> LogLimit:
        """Stack the log-probabilities (m,) under each class to (m, G)."""
        return cls(*(np.stack(parts, axis=1) for parts in zip(*classes)))

    def sum(self, axis: int) -> LogLimit:
        """Logarithm of a product along `axis`."""
        return LogLimit(*(part.sum(axis=axis) for part in self))

    def plus(self, log_factor: Array) -> LogLimit:
        """Logarithm of the product with a finite factor."""
        return self._replace(value=self.value + log_factor)

    def mix(self, log_weights: Array, axis: int) -> LogLimit:
        """Logarithm of the sum along `axis` of exp(log_weights) times the probabilities; -inf excludes a term."""
        value = self.value + log_weights
        slope, power, leading = self._leading(np.isneginf(value), axis)
        total = logsumexp(np.where(leading, value, -np.inf), axis=axis)
        return LogLimit(np.squeeze(slope, axis), np.squeeze(power, axis), total)

    def log(self) -> Array:
        """Limit: minus infinity off a point mass, plus infinity for an infinite density."""
        unbounded = np.where(self.power > 0, np.inf, self.value)
        return np.where(self.slope > _TIE, -np.inf, np.where(self.slope < -_TIE, np.inf, unbounded))

    def log_joint(self, log_priors: Array) -> Array:
        """Log-probabilities with the priors of the classes (last axis): minus infinity off the leading order."""
        value = self.value + log_priors
        return np.where(self._leading(np.isneginf(value), -1)[2], value, -np.inf)

    def _leading(self, absent: Array, axis: int) -> tuple[Array, Array, Array]:
        """Least slope, its largest power, and the mask of terms with both; all terms if none is present."""
        absent = absent & ~absent.all(axis=axis, keepdims=True)
        slope = np.where(absent, np.inf, self.slope)
        least = slope.min(axis=axis, keepdims=True)
        first = slope <= least + _TIE * (1 + np.abs(least))
        power = np.where(first, self.power, -np.inf)
        most = power.max(axis=axis, keepdims=True)
        return least, most, first & (power == most)


def exponential_terms(omega: Omega, values: Any, rates: Any, log_partitions: Any) -> LogLimit:
    """Log gamma exp(lambda v) of exponentials on `omega`; outside it they continue, to infinity for a point mass."""
    offset = np.where(rates > 0, omega.high - values, values - omega.low) / omega.width
    point = np.isinf(rates)
    # [cazzanti2007] Eq. (3.6) -> lambda v + log gamma = -|rate| offset - log Z, seen from the favored end.
    value = -np.where(point | (rates == 0), 0.0, np.abs(rates)) * np.where(np.isfinite(offset), offset, 0.0)
    power = np.where(point & omega.continuous, np.ones_like(offset), 0.0)
    return LogLimit(np.where(point, offset, 0.0), power, value - log_partitions)


class LogLimitMixin:
    """Mixin for models whose class-conditional probabilities have the form of :class:`LogLimit`."""

    check_rows: Any
    log_priors: Any
    _limits: Any  # log P(T(x) | g) of validated rows, a LogLimit
    finite_log_odds = False  # of point masses

    def class_scores(self, Q: Any) -> Floats:
        """Log P(g) + log P(T(x) | g) of validated rows; minus infinity off the leading order."""
        return self._limits(Q).log_joint(self.log_priors)

    def class_log_prob(self, X: ArrayLike) -> Floats:
        """Log-probability, or density on an interval, (m, G), log P(T(x) | g); minus infinity off a point mass."""
        return self._limits(self.check_rows(X)).log()

    def score_samples(self, X: ArrayLike) -> Floats:
        """Log-probability, (m,), of an object's statistics under all classes together; low values are abnormal."""
        return self._limits(self.check_rows(X)).mix(self.log_priors, axis=1).log()


class ExponentialClassifier(LogLimitMixin, BayesClassifier):
    """Base of classifiers with exponential models on Omega.

    ``_prepare(S, codes, values)`` sets what does not depend on ``path_params``: Omega, from the distinct `values` of
    each slice if they are given, and the priors. ``_fit(S, codes, shared)`` does the rest; the points of a grid share
    `shared`, a dictionary.
    """

    _prepare: Any
    _fit: Any

    def learn(self, S: Array, codes: Indices) -> None:
        self._prepare(S, codes, None)
        self._fit(S, codes, {})

    def path_scores(self, S: Array, codes: Indices, Q: Array, points: Points, values: Any = None) -> list[Array]:
        self._prepare(S, codes, values)
        shared: dict[Any, Any] = {}
        return [self.set_params(**point)._fit(S, codes, shared).class_scores(Q) for point in points]

    def path_scores_cv(self, S: Array, codes: Indices, test_fold: Indices, points: Points) -> list[Array]:
        # Omega of every fold comes from one sort of the matrix
        return self.score_folds(S, codes, test_fold, points, fold_options(S, test_fold))
