"""Parameter validation: the only module that imports scikit-learn's private constraint classes.

An estimator declares each parameter with :func:`param` below the decorator :func:`estimator`, or writes its constructor
and ``_parameter_constraints`` as in scikit-learn, and decorates ``fit`` with :func:`validated`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from numbers import Integral as Integral
from numbers import Real
from typing import Any, TypeVar, dataclass_transform

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import HasMethods as HasMethods
from sklearn.utils._param_validation import Interval, StrOptions, make_constraint, validate_params
from sklearn.utils._param_validation import Options as Options

Class = TypeVar("Class", bound=type[Any])


def param(default: Any, *constraints: Any) -> Any:
    """Declare a parameter in the body of a class: its default, and constraints that values must meet one of.

    Without constraints those of a base class remain; without these either, all values are accepted.
    """
    return field(default=default, metadata={"constraints": list(constraints)})


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def estimator(cls: Class) -> Class:
    """Make the constructor and ``_parameter_constraints`` of a class from the parameters that it and its bases declare.

    A required parameter, also given by position, is a :func:`dataclasses.field` with ``kw_only=False``.

    Examples
    --------
    >>> from similis.base import ProximityEstimator, at_least, estimator, param
    >>> @estimator
    ... class Example(ProximityEstimator):
    ...     k: int = param(1, at_least(1))
    >>> Example(k=2)
    Example(k=2)
    """
    made: Any = dataclass(kw_only=True, eq=False, repr=False, match_args=False)(cls)
    inherited = getattr(cls, "_parameter_constraints", {})
    declared = {p.name: p.metadata["constraints"] or inherited.get(p.name, "no_validation") for p in fields(made)}
    made._parameter_constraints = {**inherited, **declared}
    return made


def validated(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate ``fit`` so that parameters are checked against ``_parameter_constraints``.

    Parameters
    ----------
    fit : callable
        ``fit`` or ``partial_fit`` of an estimator. Estimators fitted inside it are not checked again.

    Examples
    --------
    >>> from similis.base import ProximityEstimator, at_least, estimator, param, validated
    >>> @estimator
    ... class Example(ProximityEstimator):
    ...     k: int = param(1, at_least(1))
    ...     @validated
    ...     def fit(self, X, y=None):
    ...         return self
    >>> Example(k=2).fit(None)
    Example(k=2)
    """
    decorated: Callable[..., Any] = _fit_context(prefer_skip_nested_validation=True)(fit)
    return decorated


def validated_outer(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate ``fit`` of an estimator that fits others, such as a measure, whose parameters are checked too."""
    decorated: Callable[..., Any] = _fit_context(prefer_skip_nested_validation=False)(fit)
    return decorated


def validated_function(constraints: dict[str, list[Any]]) -> Callable[..., Any]:
    """Decorate a function so that its arguments are checked."""
    return validate_params(constraints, prefer_skip_nested_validation=True)


class Number(Interval):
    """Numeric interval that rejects booleans."""

    def is_satisfied_by(self, value: Any) -> bool:
        """Return whether `value` lies in the interval."""
        return not isinstance(value, bool) and bool(super().is_satisfied_by(value))


def choice(*names: str) -> StrOptions:
    """Constraint: one of some strings.

    Parameters
    ----------
    *names : str
        Allowed strings.
    """
    return StrOptions(set(names))


def at_least(low: int) -> Number:
    """Constraint: an integer of at least `low`; parameters as in :func:`between`."""
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
    """
    return Number(Real, low, high, closed=closed)


def _constraints(estimator: Any, name: str) -> list[Any] | None:
    """Return the constraints of a parameter without those for internal use; None if there are none."""
    declared = getattr(estimator, "_parameter_constraints", {}).get(name)
    if not isinstance(declared, list):
        return None
    return [constraint for item in declared if not (constraint := make_constraint(item)).hidden]


def satisfies_constraints(estimator: Any, name: str, value: Any) -> bool:
    """Check a value of a parameter against the declared constraints; True if there are none."""
    declared = _constraints(estimator, name)
    if declared is None:
        return True
    if isinstance(value, str):  # a sequence of letters counts as array-like
        declared = [constraint for constraint in declared if str(constraint) != "an array-like"]
    return any(constraint.is_satisfied_by(value) for constraint in declared)


def string_options(estimator: Any, name: str) -> list[str]:
    """Strings that an estimator accepts for a parameter."""
    found = [item.options for item in _constraints(estimator, name) or [] if isinstance(item, Options)]
    return sorted({option for options in found for option in options if isinstance(option, str)})


def describe_constraints(estimator: Any, name: str) -> str:
    """Describe the values that an estimator accepts for a parameter, as text can give them."""
    words = string_options(estimator, name)
    for constraint in _constraints(estimator, name) or []:
        kind = str(constraint)
        if isinstance(constraint, Interval):
            low, high, closed = constraint.left, constraint.right, constraint.closed
            parts = ["integer" if constraint.type is Integral else "number"]
            if low is not None and low != -np.inf:
                parts.append(f">{'=' * (closed in ('left', 'both'))} {low:g}")
            if high is not None and high != np.inf:
                parts.append(f"{'and ' * (len(parts) > 1)}<{'=' * (closed in ('right', 'both'))} {high:g}")
            words.append(" ".join(parts))
        elif kind == "None":
            words.append("none")
        elif constraint.is_satisfied_by(True) and not constraint.is_satisfied_by(2):
            words.append("true|false")
        elif "array-like" in kind or "list" in kind or "tuple" in kind:
            words.append("list")
        elif constraint.is_satisfied_by(2):
            words.append("integer")
    return "|".join(dict.fromkeys(words))
