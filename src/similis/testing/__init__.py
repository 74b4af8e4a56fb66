"""Checks for estimators and measures that extend similis; the package's own estimators pass them."""

from similis.testing._checks import (
    check_estimator,
    check_measure,
    estimator_checks,
    expected_failures,
    make_proximities,
    parametrize_with_checks,
)

__all__ = [
    "check_estimator",
    "parametrize_with_checks",
    "check_measure",
    "estimator_checks",
    "expected_failures",
    "make_proximities",
]
