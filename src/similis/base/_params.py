"""Parameter validation: the only module that imports scikit-learn's private constraint classes.

An estimator declares ``_parameter_constraints`` and decorates ``fit`` with :func:`validated`.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

from sklearn.base import _fit_context
from sklearn.utils._param_validation import HasMethods, Interval, Options, StrOptions, validate_params

__all__ = [
    "HasMethods",
    "Integral",
    "Number",
    "Options",
    "Real",
    "StrOptions",
    "at_least",
    "between",
    "choice",
    "positive",
    "validated",
    "validated_function",
    "validated_outer",
]


def validated(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate ``fit`` so that parameters are checked against ``_parameter_constraints``.

    Parameters
    ----------
    fit : callable
        ``fit`` or ``partial_fit`` of an estimator. Estimators fitted inside it are not checked again.

    Returns
    -------
    callable
        The decorated method.

    See Also
    --------
    validated_outer : For an estimator with other estimators as parameters.

    Examples
    --------
    >>> from similis.base import ProximityEstimator, at_least, validated
    >>> class Example(ProximityEstimator):
    ...     _parameter_constraints = {"k": [at_least(1)]}
    ...     def __init__(self, *, k=1):
    ...         self.k = k
    ...     @validated
    ...     def fit(self, X, y=None):
    ...         return self
    >>> Example(k=2).fit(None)
    Example(k=2)
    """
    decorated: Callable[..., Any] = _fit_context(prefer_skip_nested_validation=True)(fit)
    return decorated


def validated_outer(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate ``fit`` of an estimator that fits others, such as a measure, whose parameters are checked too.

    Parameters
    ----------
    fit : callable
        ``fit`` of an estimator.

    Returns
    -------
    callable
        The decorated method.

    See Also
    --------
    validated : For an estimator without other estimators as parameters.
    """
    decorated: Callable[..., Any] = _fit_context(prefer_skip_nested_validation=False)(fit)
    return decorated


def validated_function(constraints: dict[str, list[Any]]) -> Callable[..., Any]:
    """Decorate a function so that its arguments are checked.

    Parameters
    ----------
    constraints : dict of str to list
        Allowed values by name of the argument, as in ``_parameter_constraints``.

    Returns
    -------
    callable
        A decorator.

    Examples
    --------
    >>> from similis.base import positive, validated_function
    >>> @validated_function({"x": [positive()]})
    ... def half(x):
    ...     return x / 2
    >>> half(3)
    1.5
    """
    return validate_params(constraints, prefer_skip_nested_validation=True)


class Number(Interval):
    """Numeric interval that rejects booleans."""

    def is_satisfied_by(self, value: Any) -> bool:
        """Whether `value` lies in the interval."""
        return not isinstance(value, bool) and bool(super().is_satisfied_by(value))


def choice(*names: str) -> StrOptions:
    """Constraint: one of some strings.

    Parameters
    ----------
    *names : str
        Allowed strings.

    Returns
    -------
    constraint
        For ``_parameter_constraints``.
    """
    return StrOptions(set(names))


def at_least(low: int) -> Number:
    """Constraint: an integer of at least `low`.

    Parameters
    ----------
    low : int
        Smallest value.

    Returns
    -------
    constraint
        For ``_parameter_constraints``.
    """
    return Number(Integral, low, None, closed="left")


def positive() -> Number:
    """Constraint: a real number above zero, for ``_parameter_constraints``."""
    return Number(Real, 0, None, closed="neither")


def between(low: float | None, high: float | None, closed: str = "both") -> Number:
    """Constraint: a real number in an interval.

    Parameters
    ----------
    low, high : float or None
        Ends of the interval; None for no limit.
    closed : {"both", "left", "right", "neither"}, default="both"
        Ends that belong to the interval.

    Returns
    -------
    constraint
        For ``_parameter_constraints``.
    """
    return Number(Real, low, high, closed=closed)
