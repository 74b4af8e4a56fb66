"""Regressors: oracles, leave-one-out by refitting, scikit-learn's conventions, saved models."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, cross_val_predict
from sklearn.pipeline import make_pipeline

from similis import (
    PathSearchCV,
    ProximityRidge,
    SpectrumClip,
    SpectrumFlip,
    SpectrumShift,
    compact,
    load,
    save,
)
from similis.exceptions import AsymmetryWarning, ProximityError
from similis.testing import parametrize_with_checks

REGRESSORS = [
    ProximityRidge(),
    ProximityRidge(spectrum="flip", alphas=[0.1, 1.0]),
    ProximityRidge(spectrum="shift", alphas=0.5, kind="dissimilarity"),
]


@parametrize_with_checks(REGRESSORS)
def test_checks(estimator, check):
    check(estimator)


def problem(n=40, m=10, indefinite=0.0, seed=0):
    """Similarities with negative eigenvalues, a smooth target with noise, and rows of new objects."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n + m, 3))
    noise = rng.normal(size=(n + m, n + m)) * indefinite
    K = rbf_kernel(Z, gamma=0.3) + (noise + noise.T) / 2
    y = np.sin(Z[:, 0]) + Z[:, 1] + 0.1 * rng.normal(size=n + m) + 5.0
    return K[:n, :n], y[:n], K[n:, :n], y[n:]


def plain_ridge(K, y, alpha, rows):
    """Solve the linear system of kernel ridge regression with an unpenalized intercept."""
    n = len(K)
    M = np.zeros((n + 1, n + 1))
    M[:n, :n] = K + alpha * np.eye(n)
    M[n, :n] = M[:n, n] = 1.0
    *c, b = np.linalg.solve(M, np.append(y, 0.0))
    return rows @ np.array(c) + b


@pytest.mark.parametrize("spectrum", ["clip", "flip", "shift"])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 100.0])
def test_ridge_solves_the_linear_system_of_the_repaired_kernel(spectrum, alpha):
    S, y, Q, _ = problem(indefinite=0.2)
    repair = {"clip": SpectrumClip, "flip": SpectrumFlip, "shift": SpectrumShift}[spectrum]()
    K = repair.fit_transform(S)
    assert np.linalg.eigvalsh(S)[0] < -0.1
    model = ProximityRidge(spectrum=spectrum, alphas=alpha).fit(S, y)
    np.testing.assert_allclose(model.predict(Q), plain_ridge(K, y, alpha, repair.transform(Q)), rtol=1e-8)
    assert model.best_alpha_ == alpha
    np.testing.assert_allclose(model.dual_coef_.sum(), 0.0, atol=1e-8 * np.abs(model.dual_coef_).max())


@pytest.mark.parametrize("spectrum", ["clip", "flip", "shift"])
def test_leave_one_out_equals_refits_on_the_repaired_kernel(spectrum):
    S, y, _, _ = problem(indefinite=0.2)
    K = {"clip": SpectrumClip, "flip": SpectrumFlip, "shift": SpectrumShift}[spectrum]().fit_transform(S)
    model = ProximityRidge(spectrum=spectrum).fit(S, y)
    errors = []
    for alpha in model.alphas_[::8]:
        found = ProximityRidge(spectrum=spectrum, alphas=alpha).fit(S, y)
        refits = np.empty(len(y))
        for i in range(len(y)):
            rest = np.delete(np.arange(len(y)), i)
            refits[i] = plain_ridge(K[np.ix_(rest, rest)], y[rest], alpha, K[i, rest])
        np.testing.assert_allclose(found.loo_predictions_, refits, rtol=1e-7)
        errors.append(np.mean((refits - y) ** 2))
    np.testing.assert_allclose(model.loo_errors_[::8], errors, rtol=1e-6)
    assert model.best_alpha_ == model.alphas_[np.argmin(model.loo_errors_)]


def test_ridge_equals_scikit_learn_on_centered_data():
    """Without a mean to estimate the intercept is zero: a centered kernel and a centered target."""
    S, y, _, _ = problem()
    J = np.eye(len(y)) - 1 / len(y)
    K, y = J @ S @ J, y - y.mean()
    K = (K + K.T) / 2
    model = ProximityRidge(alphas=0.3).fit(K, y)
    theirs = KernelRidge(alpha=0.3, kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(model.predict(K), theirs.predict(K), atol=1e-10)
    np.testing.assert_allclose(model.dual_coef_, theirs.dual_coef_, atol=1e-10)


def test_dissimilarities_are_converted_to_inner_products():
    """Euclidean distances give ridge regression on the coordinates, whatever the origin."""
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(1)
    X, new = 3 + rng.normal(size=(30, 4)), rng.normal(size=(8, 4))
    y = X @ [1.0, 2.0, 0.0, -1.0] + rng.normal(size=30)
    model = ProximityRidge(alphas=2.0, kind="dissimilarity").fit(euclidean_distances(X), y)
    expected = Ridge(alpha=2.0).fit(X, y).predict(new)
    np.testing.assert_allclose(model.predict(euclidean_distances(new, X)), expected, rtol=1e-8)


@pytest.mark.parametrize("kind", ["similarity", "dissimilarity"])
def test_honest_leave_one_out_repairs_without_the_object(kind):
    S, y, _, _ = problem(n=25, indefinite=0.3)
    P = np.maximum(2 - S, 0) if kind == "dissimilarity" else S
    np.fill_diagonal(P, 0.0 if kind == "dissimilarity" else 1.0)
    model = ProximityRidge(kind=kind, loo="honest", alphas=[0.1, 1.0, 10.0]).fit(P, y)
    single = ProximityRidge(kind=kind, alphas=model.best_alpha_)
    expected = cross_val_predict(single, P, y, cv=LeaveOneOut())
    np.testing.assert_allclose(model.loo_predictions_, expected, rtol=1e-8)
    fast = ProximityRidge(kind=kind, alphas=model.best_alpha_).fit(P, y)
    assert np.abs(fast.loo_predictions_ - expected).max() > 1e-6  # the repair has used the object


def test_fast_and_honest_leave_one_out_agree_on_a_kernel():
    S, y, _, _ = problem(n=25)
    fast, honest = (ProximityRidge(loo=loo).fit(S, y) for loo in ("fast", "honest"))
    assert fast.best_alpha_ == honest.best_alpha_
    np.testing.assert_allclose(fast.loo_predictions_, honest.loo_predictions_, rtol=1e-6)


def test_ridge_does_not_depend_on_units():
    S, y, Q, _ = problem(indefinite=0.1)
    model, scaled = ProximityRidge().fit(S, y), ProximityRidge().fit(1e6 * S, 1e3 * y)
    np.testing.assert_allclose(scaled.predict(1e6 * Q), 1e3 * model.predict(Q), rtol=1e-6)
    far = ProximityRidge().fit(S, y + 1e6)
    np.testing.assert_allclose(far.predict(Q) - 1e6, model.predict(Q), rtol=1e-6)


def test_ridge_messages():
    S, y, _, _ = problem(indefinite=0.3)
    with pytest.raises(ProximityError, match="spectrum='clip'"):
        ProximityRidge(spectrum=None).fit(S, y)
    for bad in ([], [0.0, 1.0], [[1.0]], [np.nan], ["a"]):
        with pytest.raises(ProximityError, match="alphas must be"):
            ProximityRidge(alphas=bad).fit(S, y)
    with pytest.raises(ProximityError, match="numeric target"):
        ProximityRidge().fit(S, ["1.5"] * len(y))
    with pytest.raises(ProximityError, match="NaN, at object 3"):
        ProximityRidge().fit(S, np.where(np.arange(len(y)) == 3, np.nan, y))
    with pytest.warns(AsymmetryWarning, match="ProximityRidge"):
        ProximityRidge().fit(S + np.triu(np.ones_like(S)), y)


@pytest.mark.parametrize("model", REGRESSORS, ids=repr)
def test_saved_models_predict_the_same(model, tmp_path):
    S, y, Q, _ = problem(indefinite=0.1)
    if model.kind == "dissimilarity":
        S, Q = np.maximum(2 - S, 0), np.maximum(2 - Q, 0)
        np.fill_diagonal(S, 0.0)
    model = clone(model).fit(S, y)
    save(model, tmp_path / "model.skops")
    expected = model.predict(Q)
    np.testing.assert_array_equal(load(tmp_path / "model.skops").predict(Q), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(Q), expected)
    np.testing.assert_array_equal(compact(model).predict(Q), expected)
    damaged = clone(model).fit(S, y)
    name = next(iter(type(model).fitted_arrays))
    setattr(damaged, name, getattr(damaged, name)[:3])
    save(damaged, tmp_path / "damaged.skops")
    with pytest.raises(ValueError, match=name):
        load(tmp_path / "damaged.skops")


SEARCHES = [
    (ProximityRidge(), {"alphas": [0.01, 0.1, 1.0, [0.1, 10.0]], "spectrum": ["clip", "flip"]}),
    (make_pipeline(SpectrumClip(), KernelRidge(kernel="precomputed")), {"kernelridge__alpha": [0.01, 0.1, 1.0]}),
]


@pytest.mark.parametrize("scoring", [None, "r2", "neg_mean_squared_error", ["r2", "neg_mean_absolute_error"]])
@pytest.mark.parametrize(("model", "grid"), SEARCHES, ids=lambda part: repr(part)[:40])
def test_search_equals_grid_search(model, grid, scoring):
    S, y, _, _ = problem(indefinite=0.2)
    refit = "r2" if isinstance(scoring, list) else True
    options = {"scoring": scoring, "refit": refit, "cv": KFold(4, shuffle=True, random_state=0)}
    ours, theirs = (search(model, grid, **options).fit(S, y) for search in (PathSearchCV, GridSearchCV))
    for key in (k for k in theirs.cv_results_ if k.startswith(("mean_test", "split"))):
        np.testing.assert_allclose(ours.cv_results_[key], theirs.cv_results_[key], rtol=1e-9)
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_allclose(ours.predict(S), theirs.predict(S))
    assert ours.score(S, y) == pytest.approx(theirs.score(S, y))


def test_search_without_shuffling_is_not_stratified():
    S, y, _, _ = problem()
    ours, theirs = (search(ProximityRidge(alphas=1.0), {"alphas": [1.0]}, cv=5).fit(S, y.round()) for search in (
        PathSearchCV, GridSearchCV))  # fmt: skip
    assert ours.best_score_ == pytest.approx(theirs.best_score_)


def test_search_by_leave_one_out_needs_a_score_of_single_objects():
    S, y, _, _ = problem()
    with pytest.raises(ProximityError, match="neg_mean_squared_error"):
        PathSearchCV(ProximityRidge(), {"alphas": [1.0]}, cv=LeaveOneOut()).fit(S, y)
    search = PathSearchCV(
        ProximityRidge(), {"alphas": [0.01, 1.0]}, cv=LeaveOneOut(), scoring="neg_mean_squared_error"
    ).fit(S, y)
    np.testing.assert_allclose(
        -search.cv_results_["mean_test_score"], ProximityRidge(alphas=[0.01, 1.0]).fit(S, y).loo_errors_, rtol=1e-6
    )


def test_search_with_a_constant_target_scores_as_scikit_learn():
    S, y, _, _ = problem()
    flat = np.r_[np.full(20, 2.0), y[20:]]
    options = {"cv": KFold(4), "param_grid": {"alphas": [0.1, 1.0]}}
    ours, theirs = (s(ProximityRidge(), **options).fit(S, flat) for s in (PathSearchCV, GridSearchCV))
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
