"""Predictions of the study's methods do not depend on the unit of the proximities, nor most of them on their origin."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from similis import Minkowski, Rescale, ToSimilarity
from similis.datasets import load_sonar
from similis.study import list_methods, make_model

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

LEFT_OUT = {
    "sbc(hard)": "needs classes that it can separate",
    "completion-svm": "needs a kernel",
    "kernel-hlm(per-class)": "a density of shape s has the unit 1 / d^(2s), which differs between classes",
    "hlm-vsh(per-class)": "the same",
}
METHODS = {m.name: m for m in list_methods() if m.reads != "objects" and m.name not in LEFT_OUT}
FACTORS = (1e-6, 1e-3, 1e3, 1e6)
CHANGES = {
    "unit of D": ("dissimilarity", lambda D, c: c * D),
    "unit of S": ("similarity", lambda S, c: c * S),
    "origin of S": ("similarity", lambda S, c: S + c),
}
SPECTRUM = "a constant changes the eigenvalues, and with them what the repair of the spectrum removes"
WEIGHTS = "weights are the similarities or solve a system of them without a constraint on their sum"
ROUNDING = "S + c gives the same rule, but its solver loses the digits that the constant takes"
# (change, method) -> reason, see docs/choose.md. The unit has no exceptions.
EXCEPTIONS = {
    **{("origin of S", f"kri-knn({spectrum})"): SPECTRUM for spectrum in ("clip", "flip", "shift")},
    **{("origin of S", f"krr-knn({spectrum})"): WEIGHTS for spectrum in ("pinv", "clip", "flip", "shift")},
    **{("origin of S", f"svm-kernel({spectrum})"): SPECTRUM for spectrum in ("clip", "flip", "shift")},
    **{("origin of S", f"svm-knn({spectrum})"): SPECTRUM for spectrum in ("clip", "flip", "shift")},
    **{("origin of S", name): SPECTRUM for name in ("simsvm", "simsvm(flip)", "indefinite-svm", "full-kernel-svm")},
    ("origin of S", "simmkl"): SPECTRUM,
    **{("origin of S", name): ROUNDING for name in ("svm-features(linear)", "svc-raw", "lp-machine")},
    **{("origin of S", name): "trees read single precision" for name in ("dt-max", "dt-gini")},
    ("origin of S", "affinity-knn"): WEIGHTS,
    ("origin of S", "nc(adjusted)"): "similarities are divided by the mean similarity to the centroid",
    ("origin of S", "psvm"): "columns are divided by their norms",
    ("origin of S", "maxsim"): "a sum over a class counts the constant once per object",
    **{
        ("origin of S", name): "a sum over a class counts the constant once per object"
        for name in ("sbc", "sbc(weak)", "sbc(normalized)", "perceptron")
    },
    **{("origin of S", name): SPECTRUM for name in ("mkl", "mkl(signed)")},
    ("origin of S", "pcvm"): WEIGHTS,
    ("origin of S", "local-nc(radius)"): "neighbors are those within a factor of the best similarity",
}


@cache
def problem(kind):
    """Matrix without ties, indefinite, and with neither range nor diagonal 1; labels; training objects; the others."""
    X, y = load_sonar(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(y))[:54]
    D = Minkowski().fit(X).matrix(X[chosen])
    noise = np.random.default_rng(1).normal(scale=0.05, size=D.shape)
    noise = (noise + noise.T) / 2
    D = D * (1 + noise)
    S = np.abs(3.7 * np.exp(-((D / np.median(D)) ** 2)) + 4 * noise)
    return (D if kind == "dissimilarity" else S), y[chosen], np.arange(36), np.arange(36, 54)


def thinned(values):
    """A few values of a grid, its limits among them."""
    return (
        values if len(values) < 4 else [values[0], values[len(values) // 3], values[2 * len(values) // 3], values[-1]]
    )


def predictions(name, kind, matrix):
    """Labels of the held out objects, and the scores or probabilities behind them."""
    _, y, train, test = problem(kind)
    method = METHODS[name]
    method = replace(method, grid={key: thinned(values) for key, values in method.grid_for(len(train) // 2).items()})
    model = make_model(method, kind=kind, cv=2).fit(matrix[np.ix_(train, train)], y[train])
    rows = matrix[np.ix_(test, train)]
    response = next((r for r in ("decision_function", "predict_proba") if hasattr(model, r)), "predict")
    return model.predict(rows), getattr(model, response)(rows)


@cache
def original(name, kind):
    return predictions(name, kind, problem(kind)[0])


def check(name, change, factors):
    kind, apply = CHANGES[change]
    labels, scores = original(name, kind)
    changed = [predictions(name, kind, apply(problem(kind)[0], c)) for c in factors]
    if (change, name) not in EXCEPTIONS:
        for c, (found, _) in zip(factors, changed):
            np.testing.assert_array_equal(found, labels, err_msg=f"c = {c}")
    else:
        same = [np.allclose(found, scores, rtol=1e-6, atol=1e-9) for _, found in changed]
        assert not all(same), "no exception any more: remove it from the list"


@pytest.mark.quick_cases(16)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if not method.on_request])
def test_methods_of_the_study(name, change):
    check(name, change, FACTORS[:1] if change == "unit of D" else FACTORS[-1:])  # all of them in the slow test


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", METHODS)
def test_all_methods(name, change):
    check(name, change, FACTORS)


def test_exceptions_name_methods():
    assert {name for _, name in EXCEPTIONS} <= METHODS.keys()
    assert {change for change, _ in EXCEPTIONS} == {"origin of S"}


@pytest.mark.parametrize("c", FACTORS)
def test_rescale(c):
    S, _, train, test = problem("similarity")
    K, rows = S[np.ix_(train, train)], S[np.ix_(test, train)]
    step, same = Rescale().fit(c * K), Rescale().fit(K)
    assert step.scale_ == pytest.approx(c * (K.max() - K.min()))
    assert Rescale().fit(K + c).scale_ == pytest.approx(same.scale_, rel=1e-8)
    np.testing.assert_allclose(step.transform(c * rows), same.transform(rows))
    np.testing.assert_allclose(step.fit_transform(c * K), K / (K.max() - K.min()))
    np.testing.assert_array_equal(Rescale().fit_transform((1 / c) * np.eye(3)), np.eye(3))


def test_rescale_keeps_what_has_no_unit():
    D = problem("dissimilarity")[0]
    S = ToSimilarity().fit_transform(D - np.diag(np.diag(D)))
    np.testing.assert_array_equal(Rescale().fit_transform(S), S)
    constant = np.full((4, 4), 5.0) + 1e-15 * np.arange(16).reshape(4, 4)
    assert Rescale().fit(constant).scale_ == pytest.approx(5)  # not the range of rounding errors
    assert Rescale().fit(np.zeros((3, 3))).scale_ == 1
    missing = np.array([[2.0, np.nan], [1.0, 2.0]])
    np.testing.assert_array_equal(Rescale().fit_transform(missing), missing)
    assert Rescale().fit(np.float32([[4, 1], [1, 4]])).transform(np.float32([[3, 1]])).dtype == np.float32
