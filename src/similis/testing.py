"""Checks for estimators and measures that extend similis; the package's own estimators pass them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import Any
from unittest import SkipTest

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier, is_clusterer, is_outlier_detector, is_regressor
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.validation import has_fit_parameter

from similis import base
from similis._utils.arrays import Array, Floats
from similis.base import Measure, compact, count_objects, take_objects

__all__ = [
    "check_estimator",
    "parametrize_with_checks",
    "check_measure",
    "estimator_checks",
    "expected_failures",
    "make_proximities",
]

Check = Callable[[Any], None]
Failures = Callable[[Any], dict[str, str]]


def make_proximities(
    estimator: Any = None, n: int = 40, n_classes: int = 3, seed: int = 0
) -> tuple[Floats, Array, Floats]:
    """Generate training proximities, labels (numbers for a regressor), and proximities of 15 new objects.

    Parameters
    ----------
    estimator : estimator, optional
        Gets Euclidean distances if it reads dissimilarities, else an RBF kernel.
    n, n_classes, seed : int, default=40, 3 and 0
        Numbers of training objects and of classes; random seed.

    Examples
    --------
    >>> from similis.testing import make_proximities
    >>> [part.shape for part in make_proximities(n=20)]
    [(20, 20), (20,), (15, 20)]
    """
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    centers = 2.0 * rng.normal(size=(n_classes, 4))
    Z = centers[y] + rng.normal(size=(n, 4))
    new = centers[np.arange(15) % n_classes] + rng.normal(size=(15, 4))
    measure = euclidean_distances if getattr(estimator, "metric", None) == "precomputed" else rbf_kernel
    if isinstance(estimator, BaseEstimator) and is_regressor(estimator):
        y = Z @ np.array([1.0, -0.5, 0.25, 0.0])
    return measure(Z), y, measure(new, Z)


def expected_failures(estimator: Any) -> dict[str, str]:
    """List scikit-learn's checks that cannot pass on pairwise input, with the reason.

    Parameters
    ----------
    estimator : estimator
        Any estimator.
    """
    names: list[str] = []
    if get_tags(estimator).input_tags.pairwise:
        if hasattr(estimator, "decision_function") and hasattr(estimator, "predict_proba"):
            names.append("check_decision_proba_consistency")
        if is_clusterer(estimator):
            names.append("check_clustering")
        if is_outlier_detector(estimator):
            names += ["check_outliers_train", "check_outliers_fit_predict"]
    return dict.fromkeys(names, "the check passes a non-square X to a pairwise estimator")


def estimator_checks(estimator: Any) -> list[Check]:
    """List the checks of this package for an estimator; each takes it and raises an AssertionError if it fails.

    Parameters
    ----------
    estimator : estimator
        A classifier, regressor, outlier detector or transformer that reads proximity matrices.

    Examples
    --------
    >>> from similis import MaxSim, testing
    >>> [check.__name__ for check in testing.estimator_checks(MaxSim())][:2]
    ['check_predictions_agree', 'check_rows_independent']
    """
    if not get_tags(estimator).input_tags.pairwise:
        return []
    if not (is_classifier(estimator) or is_regressor(estimator) or is_outlier_detector(estimator)):
        transforms: list[Check] = [check_transform_rows_independent, check_transform_float32, check_fitted_arrays]
        return transforms if hasattr(estimator, "transform") else []
    checks: list[Check] = [check_predictions_agree] if is_classifier(estimator) else []
    checks += [check_rows_independent, check_object_order, check_float32, check_fitted_arrays]
    if has_fit_parameter(estimator, "sample_weight"):
        checks += [check_weight_repeats_object, check_zero_weight_removes_object]
    if isinstance(estimator, base.ProximityClassifier | base.ProximityRegressor):
        checks += [check_error_messages, check_compact_predicts_same]
    if hasattr(estimator, "predict_path"):
        checks.append(check_path_equals_fits)
    return checks


def _all_checks(estimator: Any, failures: Failures | None, mark: Any) -> Iterator[tuple[Any, Check]]:
    reasons = expected_failures(estimator) | (failures(estimator) if failures is not None else {})
    return chain(
        estimator_checks_generator(estimator, legacy=True, expected_failed_checks=reasons, mark=mark),
        ((estimator, check) for check in estimator_checks(estimator) if check.__name__ not in reasons),
    )


def check_estimator(estimator: Any, *, expected_failed_checks: Failures | None = None) -> None:
    """Run scikit-learn's estimator checks and those of this package; a failed one raises an AssertionError.

    Parameters
    ----------
    estimator : estimator
        A classifier, regressor or transformer that reads proximity matrices.
    expected_failed_checks : callable, optional
        Takes the estimator and returns the names of checks not to run, with reasons, beside :func:`expected_failures`.

    Examples
    --------
    >>> from similis import MaxSim, testing
    >>> testing.check_estimator(MaxSim())
    """
    with warnings.catch_warnings(action="ignore"):
        for instance, check in _all_checks(estimator, expected_failed_checks, "skip"):
            with suppress(SkipTest):
                check(clone(instance) if hasattr(instance, "get_params") else instance)


def parametrize_with_checks(estimators: Iterable[Any], *, expected_failed_checks: Failures | None = None) -> Any:
    """Parametrize a pytest function of `estimator` and `check` with the checks of each estimator.

    Parameters
    ----------
    estimators : iterable of estimators
        Classifiers, regressors and transformers that read proximity matrices.
    expected_failed_checks : callable, optional
        As in :func:`check_estimator`; scikit-learn's checks in it are marked as expected failures.

    Examples
    --------
    >>> from similis import MaxSim
    >>> from similis.testing import parametrize_with_checks
    >>> @parametrize_with_checks([MaxSim(), MaxSim(kind="dissimilarity")])
    ... def test_estimator(estimator, check):
    ...     check(estimator)
    """
    import pytest

    pairs = list(chain.from_iterable(_all_checks(one, expected_failed_checks, "xfail") for one in estimators))
    return pytest.mark.parametrize("estimator, check", pairs, ids=_test_id)


def _test_id(argument: Any) -> str | None:
    if isinstance(argument, partial):
        return argument.func.__name__
    if hasattr(argument, "get_params"):
        return re.sub(r"\s", "", str(argument))
    return getattr(argument, "__name__", None)


def check_predictions_agree(estimator: Any) -> None:
    """``predict`` is the arg max of probabilities and of decision values; probabilities sum to one."""
    for n_classes in (2, 3):
        S, y, Q = make_proximities(estimator, n_classes=n_classes)
        model = clone(estimator).fit(S, y)
        predicted = model.predict(Q)
        if hasattr(model, "predict_proba") and getattr(model, "costs", None) is None:
            proba = model.predict_proba(Q)
            assert proba.shape == (len(Q), n_classes)
            assert (proba >= 0).all()
            np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-9)
            np.testing.assert_array_equal(model.classes_[proba.argmax(axis=1)], predicted)
        if hasattr(model, "decision_function"):
            value = model.decision_function(Q)
            assert value.shape == ((len(Q),) if n_classes == 2 else (len(Q), n_classes))
            code = (value > 0).astype(int) if n_classes == 2 else value.argmax(axis=1)
            np.testing.assert_array_equal(model.classes_[code], predicted)


def check_rows_independent(estimator: Any) -> None:
    """The prediction for a row depends neither on the other rows of the block nor on its memory order."""
    S, y, Q = make_proximities(estimator)
    model = clone(estimator).fit(S, y)
    whole = model.predict(Q)
    for other in (np.concatenate([model.predict(row[None, :]) for row in Q]), model.predict(np.asfortranarray(Q))):
        _assert_equal_predictions(estimator, whole, other)


def check_object_order(estimator: Any) -> None:
    """Predictions do not depend on the order of the training objects."""
    S, y, Q = make_proximities(estimator)
    order = np.random.default_rng(3).permutation(len(y))
    model = clone(estimator).fit(S, y)
    shuffled = clone(estimator).fit(S[np.ix_(order, order)], y[order])
    _assert_equal_predictions(estimator, model.predict(Q), shuffled.predict(Q[:, order]))


def check_float32(estimator: Any) -> None:
    """A float32 matrix gives the same labels, or values within the precision of float32."""
    S, y, Q = make_proximities(estimator)
    double = clone(estimator).fit(S, y).predict(Q)
    single = clone(estimator).fit(S.astype(np.float32), y).predict(Q.astype(np.float32))
    _assert_equal_predictions(estimator, double, single, rtol=1e-3)


def check_fitted_arrays(estimator: Any) -> None:
    """Check that what ``fit`` sets agrees with ``fitted_arrays``, so that saved models load."""
    for n, n_classes, dtype in ((30, 2, np.float64), (31, 3, np.float32), (4, 2, np.float64)):
        S, y, _ = make_proximities(estimator, n=n, n_classes=n_classes)
        try:
            model = clone(estimator).fit(S.astype(dtype), y)
        except ValueError:  # a method for two classes, or for more objects
            continue
        try:
            getattr(model, "verify_fitted", lambda: None)()
        except ValueError as error:
            raise AssertionError(f"{estimator} sets other arrays than it declares: {error}") from error


def check_error_messages(estimator: Any) -> None:
    """Invalid input raises a ValueError that names the problem and its position in under 300 characters."""
    S, y, Q = make_proximities(estimator)
    infinite, numeric = S.copy(), is_regressor(estimator)
    infinite[3, 5] = np.inf
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: clone(estimator).fit(S[:, :7], y), "square"),
        (lambda: clone(estimator).fit(infinite, y), "row 3, column 5"),
        (lambda: clone(estimator).fit(S, y[:-1]), "39 numbers for 40" if numeric else "39 labels for 40"),
        (lambda: clone(estimator).fit(S, np.full(len(y), "a") if numeric else np.zeros(len(y), int)), "class"),
        (lambda: clone(estimator).fit(S, y).predict(Q.T), "transpose"),
        (lambda: clone(estimator).fit(S, y).predict(Q[:, :5]), "expecting 40"),
    ]
    for call, words in cases:
        try:
            call()
        except ValueError as error:
            message = str(error)
        else:
            raise AssertionError(f"{estimator} accepts invalid input; expected a ValueError about {words!r}.")
        assert words in message, f"expected {words!r} in the message: {message}"
        assert len(message) < 300, message


def check_weight_repeats_object(estimator: Any) -> None:
    """An integer weight equals as many copies of the object: its row and column repeated."""
    S, y, Q = make_proximities(estimator, n=30)
    weight = np.random.default_rng(1).integers(1, 4, size=len(y))
    again = np.repeat(np.arange(len(y)), weight)
    weighted = clone(estimator).fit(S, y, sample_weight=weight)
    repeated = clone(estimator).fit(S[np.ix_(again, again)], y[again])
    _assert_same_predictions(weighted, Q, repeated, Q[:, again])


def check_zero_weight_removes_object(estimator: Any) -> None:
    """A weight of zero equals leaving the object out."""
    S, y, Q = make_proximities(estimator, n=30)
    keep = np.random.default_rng(2).random(len(y)) < 0.7
    weighted = clone(estimator).fit(S, y, sample_weight=keep.astype(float))
    without = clone(estimator).fit(S[np.ix_(keep, keep)], y[keep])
    _assert_same_predictions(weighted, Q, without, Q[:, keep])


def check_compact_predicts_same(estimator: Any) -> None:
    """:func:`similis.compact` changes no prediction."""
    S, y, Q = make_proximities(estimator)
    model = clone(estimator).fit(S, y)
    small = compact(model)
    _assert_equal_predictions(estimator, small.predict(Q[:, model.columns_]), model.predict(Q))


def check_path_equals_fits(estimator: Any) -> None:
    """``predict_path`` and ``predict_path_cv`` predict what separate fits predict."""
    S, y, Q = make_proximities(estimator, n=30)
    model = clone(estimator)
    if getattr(model, "random_state", 0) is None:
        model.set_params(random_state=0)
    grid: list[dict[str, Any]] = [{}]
    for name in model.path_params:
        value = getattr(model, name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            grid.append({name: value + 1 if isinstance(value, int) else value / 2})
    fold = np.arange(len(y)) % 5 // 2  # three folds of different size
    fits = [clone(model).set_params(**point) for point in grid]
    for fit, found in zip(fits, model.predict_path(S, y, Q, grid)):
        _assert_equal_predictions(estimator, found, fit.fit(S, y).predict(Q))
    for fit, found in zip(fits, model.predict_path_cv(S, y, fold, grid)):
        for number in range(3):
            train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            plain = fit.fit(S[np.ix_(train, train)], y[train]).predict(S[np.ix_(test, train)])
            _assert_equal_predictions(estimator, found[test], plain)


def _assert_equal_predictions(estimator: Any, a: Array, b: Array, rtol: float = 1e-7) -> None:
    """Labels must be equal; values of a regressor may differ by rounding, relative to their range."""
    if is_regressor(estimator):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * max(float(np.ptp(b)), 1e-300))
    else:
        np.testing.assert_array_equal(a, b)


def _assert_same_predictions(a: Any, Qa: Array, b: Any, Qb: Array) -> None:
    np.testing.assert_array_equal(a.predict(Qa), b.predict(Qb))
    for response in ("predict_proba", "decision_function"):
        if hasattr(a, response):
            np.testing.assert_allclose(getattr(a, response)(Qa), getattr(b, response)(Qb), rtol=1e-7, atol=1e-9)


def check_transform_rows_independent(estimator: Any) -> None:
    """The output for a row does not depend on the other rows of the block; the input is not changed."""
    S, y, Q = make_proximities(estimator)
    model = clone(estimator).fit(S, y)
    before = Q.copy()
    whole = np.asarray(model.transform(Q))
    np.testing.assert_array_equal(Q, before)
    np.testing.assert_allclose(whole, np.vstack([model.transform(row[None]) for row in Q]), atol=1e-8)


def check_transform_float32(estimator: Any) -> None:
    """float32 input gives float32 output."""
    S, y, Q = (np.asarray(a, np.float32) for a in make_proximities(estimator))
    assert clone(estimator).fit(S, y).transform(Q).dtype == np.float32
    assert clone(estimator).fit_transform(S, y).dtype == np.float32


def check_measure(measure: Any, objects: Any, y: Any = None) -> None:
    """Check that blocks, pairs and single calls of a measure agree, and that its values are finite and of their kind.

    Parameters
    ----------
    measure : Measure
        The measure.
    objects : collection
        At least three objects; the measure is fitted to them.
    y : array-like, optional
        Their labels, for a measure that learns from labels.

    Examples
    --------
    >>> from similis import Edit, testing
    >>> testing.check_measure(Edit(), ["spam", "spot", "eggs"])
    """
    assert isinstance(measure, Measure), f"{type(measure).__name__} is not a similis.base.Measure."
    assert measure.kind in ("similarity", "dissimilarity"), f"kind is {measure.kind!r}."
    fitted, n = clone(measure).fit(objects, y), count_objects(objects)
    S = fitted.matrix(objects)
    assert S.shape == (n, n), f"matrix has shape {S.shape} for {n} objects."
    assert np.isfinite(S).all(), "matrix has entries that are not finite."
    assert fitted.kind == "similarity" or (S >= 0).all(), "a dissimilarity is negative."
    if fitted.symmetric:
        np.testing.assert_allclose(S, S.T, rtol=1e-9, atol=1e-12)
    some = np.arange(min(3, n))
    part = take_objects(fitted.check_objects(objects), some)
    np.testing.assert_allclose(fitted.matrix(part, objects), S[some], rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(fitted.pairs(part, part), np.diagonal(S)[some], rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(fitted.matrix(objects, n_jobs=2), S, rtol=0, atol=0)
    np.testing.assert_allclose(fitted(part[0], part[1]), S[0, 1], rtol=1e-7, atol=1e-12)
