"""Parameter validation: the one file that touches scikit-learn's private constraint machinery.

An estimator declares ``_parameter_constraints`` and decorates ``fit`` with :data:`validated`; the error text,
the check and the automatic test of scikit-learn all read the same table.
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

validated = _fit_context(prefer_skip_nested_validation=True)
# For an estimator that holds others, a measure or a classifier: their parameters are the user's and checked too.
validated_outer = _fit_context(prefer_skip_nested_validation=False)


def validated_function(constraints: dict[str, list[Any]]) -> Callable[..., Any]:
    """Check the arguments of a plain function against `constraints`."""
    return validate_params(constraints, prefer_skip_nested_validation=True)


class Number(Interval):
    """Numbers in an interval; True and False are none, though Python counts with them."""

    def is_satisfied_by(self, value: Any) -> bool:
        """Whether `value` is one of them."""
        return not isinstance(value, bool) and bool(super().is_satisfied_by(value))


def choice(*names: str) -> StrOptions:
    """One of these strings."""
    return StrOptions(set(names))


def at_least(low: int) -> Number:
    """An integer not below `low`."""
    return Number(Integral, low, None, closed="left")


def positive() -> Number:
    """A real number above zero."""
    return Number(Real, 0, None, closed="neither")


def between(low: float | None, high: float | None, closed: str = "both") -> Number:
    """A real number in an interval; `closed` is both, left, right or neither."""
    return Number(Real, low, high, closed=closed)
