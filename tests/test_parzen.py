"""Parzen windows on distances, and the nearest mean in pseudo-Euclidean space."""

import numpy as np
import pytest
from oracles import normal as oracle
from scipy.integrate import trapezoid
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.neighbors import NearestCentroid
from toy_problems import gaussian_distances as problem

from similis import Minkowski, Parzen, PseudoEuclidean, PseudoNearestMean
from similis.datasets import load_sonar
from similis.normal._parzen import distance_dimension


@pytest.mark.parametrize("rank", [1, 7, 30])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_dimension_of_rows_is_their_rank(rng, rank, dtype):
    """Symmetric and indefinite, which has a solver of its own, and neither."""
    U = np.linalg.qr(rng.normal(size=(30, rank)))[0]
    y = np.arange(30) % 2
    S = (U * rng.choice([-1, 1], size=rank) * rng.uniform(1, 2, size=rank)) @ U.T
    for A in ((S + S.T) / 2, S @ np.diag(rng.uniform(1, 2, size=30))):
        model = Parzen(bandwidth=1.0, space="features", dimension=None).fit(A.astype(dtype), y)
        assert model.dimension_ == rank


@pytest.mark.parametrize("d", ["objects", None, 1, 3.5])
def test_parzen_is_its_formula(rng, d):
    D, y, Q = problem(rng)
    model = Parzen(bandwidth=1.3, dimension=d).fit(D, y)
    expected = oracle.parzen_log_density(Q, y, 1.3, model.dimension_)
    np.testing.assert_allclose(model.log_density(Q), expected)
    joint = expected + np.log(np.bincount(y) / len(y))
    np.testing.assert_allclose(model.predict_proba(Q), oracle.posterior(joint))
    np.testing.assert_allclose(model.score_samples(Q), np.log(np.exp(joint).sum(axis=1)))
    S, rows = rbf_kernel(D), rbf_kernel(Q, D)
    features = Parzen(bandwidth=0.5, space="features").fit(S, y)
    given = Parzen(bandwidth=0.5).fit(euclidean_distances(S), y)
    np.testing.assert_allclose(features.predict_proba(rows), given.predict_proba(euclidean_distances(rows, S)))
    assert features.dimension_ == given.dimension_ == len(S)
    assert features.set_params(dimension=None).fit(S, y).dimension_ == np.linalg.matrix_rank(S)
    assert model.set_params(dimension=None).fit(D, y).dimension_ == distance_dimension(D, y)


@pytest.mark.parametrize("d", [1, 4, 30])
def test_bandwidth_is_the_most_likely(rng, d):
    D, y, _ = problem(rng)
    y[4] = 3  # a class of one object, left out
    h = Parzen(dimension=d).fit(D, y).bandwidth_
    others = h * np.concatenate([np.geomspace(0.01, 100, 60), [0.999, 1.001]])
    with np.errstate(divide="ignore"):
        best = oracle.left_out_log_likelihood(D, y, h, d)
        assert all(oracle.left_out_log_likelihood(D, y, other, d) < best for other in others)


def test_bandwidth_of_two_modes(rng):
    """Tight pairs far apart: the likelihood has a maximum at each scale, and the higher is taken."""
    x = np.array([0, 1e-3, 10, 10 + 1e-3, 20, 20 + 1e-3, 100, 103])
    D, y = np.abs(np.subtract.outer(x, x)), np.array([0, 0, 0, 0, 0, 0, 1, 1])
    for d in (0.05, 1.0, 20.0):
        h = Parzen(dimension=d).fit(D, y).bandwidth_
        best = oracle.left_out_log_likelihood(D, y, h, d)
        with np.errstate(divide="ignore"):
            grid = [oracle.left_out_log_likelihood(D, y, other, d) for other in np.geomspace(1e-5, 1e3, 400)]
        assert max(grid) <= best + 1e-9


def test_bandwidth_where_some_have_no_distance(rng):
    """Each object has a copy; objects of class 1 have nothing else and are left out."""
    x = np.repeat(np.r_[rng.normal(size=9), 50.0], 2)
    y = np.r_[np.zeros(18, int), 1, 1]
    D = np.abs(np.subtract.outer(x, x))
    h = Parzen(dimension=2).fit(D, y).bandwidth_
    alone = np.ix_(np.arange(18), np.arange(18))
    u = np.where(D[alone] > 0, D[alone], np.inf) ** 2
    widths = np.array([h, 0.99 * h, 1.01 * h])
    likelihood = [np.log(np.exp(-u / (2 * w**2)).sum(axis=1)).sum() - 18 * 2 * np.log(w) for w in widths]
    assert np.argmax(likelihood) == 0


def test_searched_dimensions_are_those_of_single_folds(rng):
    """Distances of all folds come from one product; near copies and one column far larger than the others."""
    A = rng.normal(size=(60, 60))
    A[7] = A[3] + 1e-9 * rng.normal(size=60)
    A[:, 11] *= 1e4
    y, fold = np.arange(60) % 3, rng.integers(5, size=60)
    grid = [{"dimension": d, "bandwidth": "ml"} for d in (1, 20, "objects")]
    model = Parzen(space="features")
    found = model.predict_path_cv(A, y, fold, grid, response="predict_proba")
    for f in range(5):
        a, b = np.flatnonzero(fold != f), np.flatnonzero(fold == f)
        for point, proba in zip(grid, found):
            alone = Parzen(space="features", **point).fit(A[np.ix_(a, a)], y[a]).predict_proba(A[np.ix_(b, a)])
            np.testing.assert_allclose(proba[b], alone, rtol=1e-6, atol=1e-12)


PUBLISHED = {  # [pekalska2000] table 2, Sonar: mean errors of Parzen (r) and Parzen (f) in percent
    "euclidean": (18.2, 22.8),
    "exponent": (17.7, 25.9),
    "standardized": (14.0, 18.1),
    "l-half": (16.1, 20.5),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_defaults_reach_the_published_errors(name):
    """The matrix alone is given, not the dimension of the vectors behind it."""
    X, y = load_sonar(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0) if name == "standardized" else X
    D = Minkowski(p=0.5 if name == "l-half" else 2).fit(X).matrix(X)
    D = np.where(D > 0, np.exp(D), 0) if name == "exponent" else D
    rng, errors = np.random.default_rng(0), []
    for _ in range(10):
        train = np.concatenate([rng.permutation(np.flatnonzero(y == g))[::2] for g in np.unique(y)])
        test = np.setdiff1d(np.arange(len(y)), train)
        S, Q = D[np.ix_(train, train)], D[np.ix_(test, train)]
        models = (Parzen(), Parzen(space="features"))
        errors.append([100 * np.mean(model.fit(S, y[train]).predict(Q) != y[test]) for model in models])
    np.testing.assert_allclose(np.mean(errors, axis=0), PUBLISHED[name], atol=4.5)  # three standard errors of both


def test_parzen_density_integrates_to_one(rng):
    x, y = rng.normal(size=20), np.arange(20) % 2
    model = Parzen(dimension=1).fit(np.abs(np.subtract.outer(x, x)), y)
    line = np.linspace(-12, 12, 4001)
    Q = np.abs(np.subtract.outer(line, x))
    assert trapezoid(np.exp(model.score_samples(Q)), line) == pytest.approx(1, abs=1e-6)


def test_parzen_far_away_and_narrow(rng):
    D, y, Q = problem(rng)
    nearest = y[Q.argmin(axis=1)]
    for h in (1e-3, 1e-200):
        model = Parzen(bandwidth=h).fit(D, y)
        np.testing.assert_array_equal(model.predict(Q + 1e6), nearest)
        assert not np.isnan(model.predict_proba(Q + 1e6)).any()


def test_copies_do_not_close_the_windows(rng):
    D, y, Q = problem(rng)
    twice = np.repeat(np.arange(len(y)), 2)
    model = Parzen(dimension=4).fit(D[np.ix_(twice, twice)], y[twice])
    assert model.bandwidth_ == pytest.approx(Parzen(dimension=4).fit(D, y).bandwidth_, rel=1e-6)
    np.testing.assert_array_equal(model.predict(Q[:, twice]), Parzen(dimension=4).fit(D, y).predict(Q))


@pytest.mark.parametrize("d", [2, 10])
def test_dimension_of_gaussian_classes(rng, d):
    y = np.arange(240) % 3
    Z = rng.normal(size=(240, d)) * np.array([1.0, 5.0, 20.0])[y][:, None]
    assert distance_dimension(euclidean_distances(Z), y) == pytest.approx(d, rel=0.15)
    assert distance_dimension(1 - np.eye(6), np.arange(6) % 2) == 5  # a regular simplex


@pytest.mark.parametrize("p", [1.0, 3.0])
def test_pseudo_nearest_mean_is_the_embeddings(rng, p):
    """p = 3 stretches the distances beyond the triangle inequality: axes of both signs."""
    D, y, Q = problem(rng)
    D, Q = D**p, Q**p
    model = PseudoNearestMean().fit(D, y)
    np.testing.assert_allclose(
        -model.decision_function(Q), oracle.embedded_mean_distances(D, y, Q), rtol=1e-7, atol=1e-6
    )
    embedding = PseudoEuclidean().fit(D)
    X, Z = embedding.transform(D), embedding.transform(Q)
    assert (embedding.signature_ < 0).any() == (p > 1)
    squared = (embedding.signature_ * (Z[:, None, :] - oracle.class_means(X, y)) ** 2).sum(axis=2)
    np.testing.assert_array_equal(model.predict(Q), squared.argmin(axis=1))


def test_pseudo_nearest_mean_on_vectors(rng):
    X, new = rng.normal(size=(30, 3)), rng.normal(size=(20, 3))
    y = np.arange(30) % 3
    ours = PseudoNearestMean().fit(euclidean_distances(X), y).predict(euclidean_distances(new, X))
    np.testing.assert_array_equal(ours, NearestCentroid().fit(X, y).predict(new))
