"""Mixture similarity discriminant analysis: the paper's example, its equations in plain loops, its laws."""

import warnings

import numpy as np
import pytest
from oracles import discriminant as oracle
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold

from similis import SDA, MixtureSDA, PathSearchCV, compact, load, save
from similis.discriminant import SDADisplay
from similis.solvers import k_medoids

pytestmark = pytest.mark.filterwarnings("ignore:Expectation maximization")
PROTOTYPES = np.repeat([[0, 0], [0, 1], [1, 1], [1, 0]], 6, axis=1)  # of class one, one, two, two


def counting(A, B):
    return (A[:, None, :] == B[None, :, :]).sum(axis=2).astype(float)


def example(seed, n=1000):
    """[cazzanti2007] sec. 5.3.5: perturbed prototypes of 12 bits, two a class."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 4, n)
    X = PROTOTYPES[z] ^ (rng.random((n, 12)) < 0.1)
    return X.astype(int), z // 2


def problem(rng, n=40, m=15, levels=8, n_classes=2):
    S, Q = np.floor(levels * rng.random((n, n))), np.floor(levels * rng.random((m, n)))
    return S, np.arange(n) % n_classes, Q


def test_section_5_3_5():
    """Figures 5.1-5.3: the likelihood rises and settles, weights near one half, exponents near +-0.45."""
    X, y = example(1)
    model = MixtureSDA(random_state=0, tol=0.0).fit(counting(X, X), y)
    assert model.n_iter_ == 30
    path = model.log_likelihood_path_
    np.testing.assert_allclose(path[0, 0, :4], [-1145.6, -1100.7, -1087.8, -1084.4], atol=0.06)
    np.testing.assert_allclose(path[0, 0, -1], -1083.2, atol=0.06)
    assert (np.diff(path) >= -1e-9 * np.abs(path[..., 1:])).all()
    assert (path[..., -1] - path[..., 5] < 1.0).all()
    own = np.sort(model.exponents_[0, 0])
    np.testing.assert_allclose(own, [0.442, 0.470], atol=1e-3)
    np.testing.assert_allclose(np.sort(model.exponents_[0, 1]), [-0.470, -0.442], atol=1e-3)
    np.testing.assert_allclose(np.sort(model.weights_[0, 0]), [0.44, 0.56], atol=5e-3)
    for g in range(2):
        found = {tuple(x) for x in X[model.centroids_[g]]}
        assert found == {tuple(p) for p in PROTOTYPES[2 * g : 2 * g + 2]}


def test_figures_5_2_and_5_3_iteration_by_iteration():
    """From plain means of different columns, which breaks the symmetry, straight to where they stay."""
    X, y = example(1)
    S = counting(X, X)
    fits = [MixtureSDA(random_state=0, tol=0.0, max_iter=steps).fit(S, y) for steps in (1, 2, 5, 10, 20, 30)]
    exponents = np.array([fit.exponents_[0] for fit in fits])  # (iteration, h, l)
    weights = np.array([fit.weights_[0] for fit in fits])
    np.testing.assert_allclose(np.sort(exponents[0, 0]), [0.167, 0.204], atol=1e-3)
    np.testing.assert_allclose(np.sort(exponents[0, 1]), [-0.204, -0.167], atol=1e-3)
    np.testing.assert_allclose(weights[0], 0.5, atol=1e-12)
    assert (np.diff(exponents[:, 0], axis=0) > -5e-3).all()
    assert (np.diff(exponents[:, 1], axis=0) < 5e-3).all()
    assert np.abs(weights - 0.5).max() < 0.1
    for curve in (exponents, weights):
        moved = np.abs(np.diff(curve, axis=0)).max(axis=(1, 2))
        assert moved[-1] < 0.01
        assert moved[-1] < moved[1]


@pytest.mark.slow
def test_section_5_3_5_for_twenty_seeds():
    for seed in range(20):
        X, y = example(seed)
        model = MixtureSDA(random_state=seed).fit(counting(X, X), y)
        for g in range(2):
            found = {tuple(x) for x in X[model.centroids_[g]]}
            assert found == {tuple(p) for p in PROTOTYPES[2 * g : 2 * g + 2]}  # with restarts, always
        own, other = model.exponents_[[0, 1], [0, 1]], model.exponents_[[0, 1], [1, 0]]
        assert 0.4 < min(own.min(), -other.max()) <= max(own.max(), -other.min()) < 0.65
        assert np.abs(model.weights_ - 0.5).max() < 0.1


def test_starts_agree_on_the_example():
    """Both initializations end at the same parameters, of the same signs as the paper's."""
    X, y = example(3, n=400)
    S = counting(X, X)
    a, b = (MixtureSDA(init=init, max_iter=200, tol=1e-10, random_state=0).fit(S, y) for init in ("uniform", "medoids"))
    np.testing.assert_allclose(a.exponents_, b.exponents_, atol=2e-3)
    assert (a.exponents_[[0, 1], [0, 1]] > 0).all()
    assert (a.exponents_[[0, 1], [1, 0]] < 0).all()


@pytest.mark.parametrize("kind", ["similarity", "dissimilarity"])
def test_is_its_definition(rng, kind):
    S, y, Q = problem(rng)
    model = MixtureSDA(n_components=3, max_iter=7, tol=0.0, kind=kind, random_state=0).fit(S, y)
    domain = sorted(set(S.ravel().tolist()))
    log_p = np.zeros((len(Q), 2))
    for g in range(2):
        for h in range(2):
            T = S[y == g][:, model.centroids_[h]]
            exponents, weights, path = oracle.mixture_em(T, domain, 7)
            np.testing.assert_allclose(model.exponents_[g, h], exponents, rtol=1e-8)
            np.testing.assert_allclose(model.weights_[g, h], weights, rtol=1e-9)
            np.testing.assert_allclose(model.log_likelihood_path_[g, h], path, rtol=1e-10)
            gamma = np.exp(model.log_normalizers_[g, h])
            np.testing.assert_allclose(gamma, 1 / np.exp(np.outer(exponents, domain)).sum(axis=1), rtol=1e-8)
            log_p[:, g] += np.log((weights * gamma * np.exp(exponents * Q[:, model.centroids_[h]])).sum(axis=1))
    np.testing.assert_allclose(model.class_log_prob(Q), log_p, rtol=1e-9)
    joint = np.exp(log_p) / 2
    np.testing.assert_allclose(model.predict_proba(Q), joint / joint.sum(axis=1, keepdims=True), atol=1e-10)


def test_one_component_is_sda(rng):
    S, y, Q = problem(rng, n_classes=3, levels=100_000)  # no two objects equally central
    for options in ({}, {"pseudocount": 2.0}, {"domain": "continuous"}, {"kind": "dissimilarity"}):
        mixture, plain = MixtureSDA(n_components=1, random_state=0, **options).fit(S, y), SDA(**options).fit(S, y)
        np.testing.assert_array_equal(mixture.centroids_[:, 0], plain.centroids_)
        np.testing.assert_allclose(mixture.predict_proba(Q), plain.predict_proba(Q), atol=1e-10)


@pytest.mark.parametrize("options", [{}, {"init": "medoids"}, {"pseudocount": 3.0}, {"domain": "continuous"}])
def test_likelihood_never_decreases(rng, options):
    for levels in (3, 8, 1000):
        S, y, _ = problem(rng, levels=levels, n_classes=3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            path = MixtureSDA(n_components=4, tol=0.0, random_state=0, **options).fit(S, y).log_likelihood_path_
        finite = np.isfinite(path[..., 1:])
        rise = np.diff(np.where(np.isfinite(path), path, 0.0))
        assert (rise[finite] >= -1e-9 * np.abs(path[..., 1:][finite])).all()


def test_centroids_are_medoids_of_their_class_with_restarts(rng):
    S, y, _ = problem(rng, n=60)
    model = MixtureSDA(n_components=3, n_init=20, random_state=0).fit(S, y)
    for h in range(2):
        members = np.flatnonzero(y == h)
        assert set(model.centroids_[h]) <= set(members)
        block = S[np.ix_(members, members)]
        total = block[:, np.searchsorted(members, model.centroids_[h])].max(axis=1).sum()
        one = k_medoids(block, 3, method="alternating", n_init=1, random_state=1)
        assert total >= one.total


def test_moving_centroids_raises_the_likelihood(rng):
    better = 0
    for seed in range(6):
        X, y = example(seed, n=120)
        S = counting(X, X)
        still = MixtureSDA(n_init=1, random_state=seed).fit(S, y)
        moved = MixtureSDA(n_init=1, random_state=seed, update_centroids=True).fit(S, y)
        gain = (moved.log_likelihood_path_[..., -1] - still.log_likelihood_path_[..., -1]).sum(axis=0)
        assert (gain >= -1e-9).all()  # for each class h whose centroids moved
        better += gain.sum() > 1
        assert all(len(set(c)) == 2 for c in moved.centroids_)
    assert better


def test_fewer_distinct_objects_than_components():
    S = np.kron(np.array([[4.0, 1.0], [1.0, 4.0]]), np.ones((3, 3)))
    model = MixtureSDA(n_components=3, random_state=0).fit(S, [0, 0, 0, 1, 1, 1])
    assert (model.centroids_ >= 0).sum() == 2
    np.testing.assert_allclose(model.weights_.sum(axis=2), 1.0)
    np.testing.assert_array_equal(model.predict_proba(S[[0, 3]]), np.eye(2))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("domain", ["empirical", "continuous"])
def test_degenerate_is_not_an_error(domain):
    for S, y in (
        (np.zeros((5, 5)), [0, 0, 0, 1, 1]),
        (np.eye(2), [0, 1]),
        (np.eye(6), [0, 0, 0, 1, 1, 1]),
        (np.kron(np.eye(2), np.ones((3, 3))), [0, 0, 0, 1, 1, 1]),
    ):
        for options in ({}, {"init": "medoids"}, {"update_centroids": True}):
            model = MixtureSDA(random_state=0, domain=domain, **options).fit(S, y)
            proba = model.predict_proba(np.vstack([S, S[:1] + 0.25]))
            np.testing.assert_allclose(proba.sum(axis=1), 1.0)
            assert not np.isnan(model.score_samples(S)).any()


def test_affine_changes_and_mirrors_change_no_decision(rng):
    S, y, Q = problem(rng, n=50)
    p = MixtureSDA(random_state=0).fit(S, y).predict_proba(Q)
    np.testing.assert_allclose(p, MixtureSDA(random_state=0).fit(3 * S - 7, y).predict_proba(3 * Q - 7), atol=1e-7)
    mirror = MixtureSDA(random_state=0, kind="dissimilarity").fit(8 - S, y)
    np.testing.assert_allclose(p, mirror.predict_proba(8 - Q), atol=1e-7)


def test_unfinished_runs_say_so(rng):
    S, y, _ = problem(rng)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        MixtureSDA(max_iter=2, tol=1e-12, random_state=0).fit(S, y)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("cv", [4, 36])
def test_path_is_grid_search(rng, cv):
    S, _, _ = problem(rng, n=36)
    y = np.arange(36) % 2
    S = (S + S.T) / 2 + 5.0 * (y[:, None] == y)
    grid = {"n_components": [1, 2, 4], "init": ["uniform", "medoids"], "pseudocount": [0.5]}
    scoring = "neg_log_loss" if cv == 4 else "accuracy"
    model = MixtureSDA(random_state=0, n_init=3)
    options = {"cv": KFold(cv), "scoring": scoring}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours = PathSearchCV(model, grid, **options).fit(S, y)
        theirs = GridSearchCV(model, grid, **options).fit(S, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-9)


def test_path_finds_medoids_once(rng, monkeypatch):
    S, y, Q = problem(rng)
    calls = []
    monkeypatch.setattr(
        "similis.discriminant._mixture_sda.k_medoids", lambda *a, **k: calls.append(a[1]) or k_medoids(*a, **k)
    )
    grid = [{"n_components": c, "pseudocount": p} for c in (1, 2, 3) for p in (0.1, 1.0, 2.0)]
    MixtureSDA(random_state=0).predict_path(S, y, Q, grid)
    assert sorted(calls) == [1, 1, 2, 2, 3, 3]  # two classes


def test_compact_save_display(rng, tmp_path):
    S, y, Q = problem(rng)
    model = MixtureSDA(n_components=3, random_state=0).fit(S, y)
    assert len(model.columns_) == 6
    np.testing.assert_array_equal(compact(model).predict_proba(Q[:, model.columns_]), model.predict_proba(Q))
    save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(load(tmp_path / "model.skops").predict_proba(Q), model.predict_proba(Q))
    shown = SDADisplay.from_estimator(model, plot=False)
    np.testing.assert_allclose([p.sum(axis=1) for p in shown.probabilities], model.weights_.reshape(2, 6).T)


@pytest.mark.parametrize(
    "params, words",
    [
        ({"n_components": 0}, "n_components"),
        ({"max_iter": 0}, "max_iter"),
        ({"pseudocount": -1.0}, "pseudocount"),
        ({"init": "random"}, "init"),
        ({"domain": [3]}, "at least two"),
        ({"domain": (0.0, 1.0)}, "outside the given domain"),
        ({"costs": np.zeros((3, 3))}, "costs must be a 2 x 2"),
    ],
)
def test_bad_input_gets_one_clear_sentence(rng, params, words):
    S, y, _ = problem(rng)
    with pytest.raises(ValueError, match=words) as caught:
        MixtureSDA(random_state=0, **params).fit(S, y)
    assert len(str(caught.value)) < 300
