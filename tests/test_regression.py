"""Regressors: oracles, leave-one-out by refitting, scikit-learn's conventions, saved models."""

import pickle

import contract
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.utils._testing import ignore_warnings

import similis
from similis import (
    RBF,
    KMedoids,
    KreinRidge,
    MedoidRegressor,
    Pairwise,
    PathSearchCV,
    ProximityRidge,
    SimilarityKNNRegressor,
    SpectrumClip,
    SpectrumFlip,
    SpectrumShift,
    compact,
    load,
    save,
)
from similis.base import ProximityRegressor
from similis.exceptions import AsymmetryWarning, ProximityError
from similis.testing import parametrize_with_checks


class Inverse:
    """A weight function with a name of its own, the same in every process."""

    def __call__(self, D):
        return 1 / (1 + D)

    def __repr__(self):
        return "inverse"


REGRESSORS = [
    KreinRidge(),
    KreinRidge(alpha=1.0, ratio=10.0, spread=0.9, kind="dissimilarity"),
    ProximityRidge(),
    ProximityRidge(spectrum="flip", alphas=[0.1, 1.0]),
    ProximityRidge(spectrum="shift", alphas=0.5, kind="dissimilarity"),
    SimilarityKNNRegressor(),
    SimilarityKNNRegressor(n_neighbors=3, kind="dissimilarity", weights=Inverse()),
    SimilarityKNNRegressor(n_neighbors=20, weights="affinity"),
    SimilarityKNNRegressor(n_neighbors=8, weights="kri"),
    SimilarityKNNRegressor(n_neighbors=8, weights="krr", regularization=0.1),
    SimilarityKNNRegressor(n_neighbors=8, weights="lime"),
    MedoidRegressor(n_medoids=3, random_state=0),
    MedoidRegressor(n_medoids=5, statistic="median", kind="dissimilarity", random_state=0),
]


@parametrize_with_checks(REGRESSORS, expected_failed_checks=contract.expected_failures)
def test_checks(estimator, check):
    with ignore_warnings(category=UserWarning):
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
    S, y, Q, _ = (np.abs(part) for part in problem(indefinite=0.1))
    if model.kind == "dissimilarity":
        S, Q = np.maximum(2 - S, 0), np.maximum(2 - Q, 0)
        np.fill_diagonal(S, 0.0)
    model = clone(model).fit(S, y)
    if callable(getattr(model, "weights", None)):
        pytest.skip("functions are not saved")
    save(model, tmp_path / "model.skops")
    expected = model.predict(Q)
    np.testing.assert_array_equal(load(tmp_path / "model.skops").predict(Q), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(Q), expected)
    np.testing.assert_array_equal(compact(model).predict(Q[:, model.columns_]), expected)
    damaged = clone(model).fit(S, y)
    name = next(iter(type(model).fitted_arrays))
    setattr(damaged, name, getattr(damaged, name)[:2])
    save(damaged, tmp_path / "damaged.skops")
    with pytest.raises(ValueError, match=name):
        load(tmp_path / "damaged.skops")


SEARCHES = [
    (SimilarityKNNRegressor(), {"n_neighbors": [1, 3, 25, 60]}),
    (SimilarityKNNRegressor(weights="krr"), {"n_neighbors": [2, 7, 30], "regularization": [0.1, 1.0]}),
    (SimilarityKNNRegressor(weights="kri"), {"n_neighbors": [2, 7], "regularization": [0.1, 1.0]}),
    (ProximityRidge(), {"alphas": [0.01, 0.1, 1.0, [0.1, 10.0]], "spectrum": ["clip", "flip"]}),
    (make_pipeline(SpectrumClip(), KernelRidge(kernel="precomputed")), {"kernelridge__alpha": [0.01, 0.1, 1.0]}),
]


@pytest.mark.quick_cases(6)
@pytest.mark.filterwarnings("ignore:n_neighbors exceeds")
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


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("k", [1, 4, 40])
def test_neighbors_equal_scikit_learn(weights, k):
    S, y, Q, _ = problem()
    D, E = np.sqrt(np.maximum(1 - S, 0)), np.sqrt(np.maximum(1 - Q, 0))
    np.fill_diagonal(D, 0.0)
    ours = SimilarityKNNRegressor(
        n_neighbors=k, weights="uniform" if weights == "uniform" else lambda d: 1 / d, kind="dissimilarity"
    )
    theirs = KNeighborsRegressor(n_neighbors=k, weights=weights, metric="precomputed")
    np.testing.assert_allclose(ours.fit(D, y).predict(E), theirs.fit(D, y).predict(E))


def test_affinity_weights_are_similarities():
    S, y, Q, _ = problem()
    model = SimilarityKNNRegressor(n_neighbors=5, weights="affinity").fit(S, y)
    order = np.argsort(-Q, axis=1)[:, :5]
    s = np.take_along_axis(Q, order, axis=1)
    np.testing.assert_allclose(model.predict(Q), (s * y[order]).sum(axis=1) / s.sum(axis=1))


@pytest.mark.parametrize("indefinite", [0.0, 0.3])
@pytest.mark.parametrize("weights", ["kri", "krr", "lime"])
def test_local_weights_average_the_target(weights, indefinite):
    S, y, Q, _ = problem(indefinite=indefinite)
    model = SimilarityKNNRegressor(n_neighbors=7, weights=weights, regularization=0.3).fit(S, y)
    indices, w = model.neighbor_weights(Q)
    np.testing.assert_allclose(w.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.predict(Q), (w * y[indices]).sum(axis=1))


@pytest.mark.parametrize("indefinite", [0.0, 0.3])
def test_krr_is_ridge_regression_on_the_neighbors_with_their_mean(indefinite):
    S, y, Q, _ = problem(indefinite=indefinite)
    model = SimilarityKNNRegressor(n_neighbors=6, weights="krr", regularization=0.2).fit(S, y)
    for row, found in zip(Q, model.predict(Q)):
        near = np.argsort(-row)[:6]
        clip = SpectrumClip()
        K = clip.fit_transform(S[np.ix_(near, near)])
        c = np.linalg.solve(K + 0.2 * np.eye(6), y[near] - y[near].mean())
        assert found == pytest.approx(y[near].mean() + clip.transform(row[None, near])[0] @ c)


def test_missing_entries_are_not_neighbors():
    S, y, Q, _ = problem()
    Q[0, :] = np.nan
    Q[1, 3:] = np.nan
    S[5, 6:] = np.nan
    for weights in ("uniform", "affinity"):
        model = SimilarityKNNRegressor(n_neighbors=5, weights=weights).fit(S, y)
        found = model.predict(Q)
        assert found[0] == model.mean_ == pytest.approx(y.mean())
        w = np.ones(3) if weights == "uniform" else Q[1, :3]
        assert found[1] == pytest.approx(w @ y[:3] / w.sum())
    # In cross-validation, the mean is that of the training part.
    S[2], fold = np.nan, np.arange(len(y)) % 4
    values = SimilarityKNNRegressor().predict_path_cv(S, y, fold, [{}])[0]
    assert values[2] == pytest.approx(y[fold != 2].mean())
    with pytest.raises(ProximityError, match="missing"):
        SimilarityKNNRegressor(weights="kri").fit(S, y)


def test_zero_weights_are_equal_weights():
    S, y, Q, _ = problem()
    model = SimilarityKNNRegressor(n_neighbors=4, weights=np.zeros_like).fit(S, y)
    np.testing.assert_allclose(model.predict(Q), SimilarityKNNRegressor(n_neighbors=4).fit(S, y).predict(Q))


def test_neighbor_messages():
    S, y, _, _ = problem(indefinite=0.3)
    with pytest.raises(ProximityError, match=r"SimilarityKNNRegressor.*at least 0"):
        SimilarityKNNRegressor(weights="affinity").fit(S, y)
    with pytest.raises(ProximityError, match="needs similarities"):
        SimilarityKNNRegressor(weights="kri", kind="dissimilarity").fit(np.abs(S), y)
    with pytest.raises(ProximityError, match="pinv"):
        SimilarityKNNRegressor(weights="kri", spectrum="pinv").fit(S, y)
    with pytest.warns(UserWarning, match="clipped"):
        assert SimilarityKNNRegressor(n_neighbors=99).fit(S, y).n_neighbors_ == len(y)


@pytest.mark.parametrize("weights", ["uniform", "affinity", "kri", "krr", "lime"])
def test_neighbors_do_not_depend_on_the_origin_of_the_target_or_on_threads(weights):
    S, y, Q, _ = problem()
    model = SimilarityKNNRegressor(weights=weights).fit(S, y)
    far = SimilarityKNNRegressor(weights=weights, n_jobs=2).fit(S, y + 1e8)
    np.testing.assert_allclose(far.predict(Q) - 1e8, model.predict(Q), atol=1e-6)


def test_every_public_regressor_is_here():
    public = (getattr(similis, name) for name in similis.__all__)
    names = {cls.__name__ for cls in public if isinstance(cls, type) and issubclass(cls, ProximityRegressor)}
    assert names == {type(model).__name__ for model in REGRESSORS}


def test_objects_in_a_pipeline():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    y = X @ [1.0, 2.0, 3.0]
    model = make_pipeline(Pairwise(RBF(gamma=0.1)), ProximityRidge()).fit(X[:40], y[:40])
    assert model.score(X[40:], y[40:]) > 0.95
    np.testing.assert_allclose(compact(model).predict(X[40:]), model.predict(X[40:]))


def test_single_object_and_constant_target():
    assert ProximityRidge().fit([[2.0]], [3.0]).predict([[1.0]]) == [3.0]
    assert SimilarityKNNRegressor(n_neighbors=1, weights="krr").fit([[2.0]], [3.0]).predict([[1.0]]) == [3.0]
    S, y, Q, _ = problem()
    for model in (ProximityRidge(), SimilarityKNNRegressor(weights="kri"), ProximityRidge(kind="dissimilarity")):
        P, R = (1 - S, 1 - Q) if model.kind == "dissimilarity" else (S, Q)
        np.testing.assert_allclose(model.fit(P, np.full(len(y), 7.0)).predict(R), 7.0)
    zero = ProximityRidge().fit(np.zeros_like(S), y)
    np.testing.assert_allclose(zero.predict(np.zeros_like(Q)), y.mean())


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_medoids_are_those_of_the_clustering(statistic):
    S, y, Q, _ = problem()
    model = MedoidRegressor(n_medoids=4, statistic=statistic, random_state=0).fit(S, y)
    clusters = KMedoids(4, kind="similarity", random_state=0).fit(S)
    np.testing.assert_array_equal(model.medoid_indices_, clusters.medoid_indices_)
    values = np.array([getattr(np, statistic)(y[clusters.labels_ == j]) for j in range(4)])
    np.testing.assert_allclose(model.predict(Q), values[clusters.predict(Q)])
    small = compact(model)
    np.testing.assert_array_equal(small.predict(Q[:, small.columns_]), model.predict(Q))


def test_medoids_of_few_distinct_objects():
    S = np.kron(np.eye(2), np.ones((4, 4)))
    model = MedoidRegressor(n_medoids=99, random_state=0).fit(S, np.repeat([1.0, 5.0], 4))
    np.testing.assert_array_equal(model.predict(S), np.repeat([1.0, 5.0], 4))


def test_weights_of_targets_on_a_tiny_kernel_do_not_overflow(recwarn):
    """[(K + a) ^ -1 1] is about 1e200 here: its square has no number, its share has."""
    x = np.linspace(0, 1, 12)
    S = 1e-200 * np.exp(-((x[:, None] - x) ** 2))
    model = ProximityRidge(alphas=[1e-200]).fit(S, x)
    coef, intercept = model.target_weights(S)
    np.testing.assert_allclose((S @ coef + intercept) @ x, model.predict(S), rtol=1e-6)
    assert not [w for w in recwarn if issubclass(w.category, RuntimeWarning)]
