"""ProximityOutlier: scores against scikit-learn and plain oracles, p-values, degenerate input."""

import numpy as np
import pytest
from scipy.special import digamma
from sklearn.neighbors import LocalOutlierFactor

from similis import ProximityOutlier, load, save
from similis.exceptions import ProximityError
from similis.testing import estimator_checks, parametrize_with_checks


@parametrize_with_checks([ProximityOutlier()])
def test_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", ["knn", "hlm"])
def test_own_checks(method):
    for check in estimator_checks(ProximityOutlier(method=method)):
        check(ProximityOutlier(method=method))


@pytest.fixture(scope="module")
def blocks():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(30, 3)), 0.2 * rng.normal(size=(30, 3)) + 4]
    Z = np.r_[rng.normal(size=(5, 3)), rng.normal(size=(5, 3)) + 8]
    return (np.linalg.norm(a[:, None] - X, axis=2) for a in (X, Z))


@pytest.fixture(scope="module")
def distances(blocks):
    return tuple(blocks)


def test_lof_is_that_of_sklearn(distances):
    D, Q = distances
    ours = ProximityOutlier(n_neighbors=7).fit(D)
    peer = LocalOutlierFactor(n_neighbors=7, metric="precomputed", novelty=True).fit(D)
    assert ours.training_scores_ == pytest.approx(peer.negative_outlier_factor_, rel=1e-8)
    assert ours.score_samples(Q) == pytest.approx(peer.score_samples(Q), rel=1e-8)


@pytest.mark.parametrize("kind", ["dissimilarity", "similarity"])
def test_knn_is_the_mean_of_the_nearest(distances, kind):
    D, Q = distances
    sign = 1 if kind == "dissimilarity" else -1
    ours = ProximityOutlier(method="knn", n_neighbors=4, kind=kind).fit(sign * D)
    assert ours.score_samples(sign * Q) == pytest.approx(-np.sort(Q, axis=1)[:, :4].mean(axis=1))
    assert ours.training_scores_ == pytest.approx(-np.sort(D, axis=1)[:, 1:5].mean(axis=1))  # without the object


def test_hlm_is_the_kernel_density(distances):
    D, Q = distances
    ours = ProximityOutlier(method="hlm").fit(D)
    u = np.sort(D, axis=1)[:, 1] ** 2
    s = u.mean() / ours._width  # the shape solves its equation
    assert np.log(s) - digamma(s) == pytest.approx(np.log(u.mean()) - np.log(u).mean(), rel=1e-6)
    assert ours.score_samples(Q) == pytest.approx(np.log(np.exp(-(Q**2) / ours._width).mean(axis=1)), rel=1e-6)
    left_out = [np.log(np.mean(np.exp(-(np.delete(D[i], i) ** 2) / ours._width))) for i in range(len(D))]
    assert ours.training_scores_ == pytest.approx(left_out, rel=1e-6)


@pytest.mark.parametrize("method", ["lof", "knn", "hlm"])
def test_p_values(distances, method, tmp_path):
    D, Q = distances
    model = ProximityOutlier(method=method, n_neighbors=10).fit(D)
    p = model.p_values(Q)
    assert p[5:] == pytest.approx(1 / 61)
    assert p[:5].mean() > 0.2
    count = [(model.training_scores_ <= t).sum() for t in model.score_samples(Q)]
    assert p == pytest.approx((1 + np.array(count)) / 61)
    assert model.predict(Q)[5:].tolist() == [-1] * 5
    scaled = ProximityOutlier(method=method, n_neighbors=10).fit(1000 * D)  # the unit does not matter
    assert scaled.p_values(1000 * Q) == pytest.approx(p)
    save(model, tmp_path / "m.skops")
    assert load(tmp_path / "m.skops").p_values(Q) == pytest.approx(p)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["lof", "knn", "hlm"])
def test_p_values_are_calibrated(method):
    rng = np.random.default_rng(1)
    p = []
    for _ in range(60):
        X, Z = rng.normal(size=(100, 2)), rng.normal(size=(50, 2))
        model = ProximityOutlier(method=method).fit(np.linalg.norm(X[:, None] - X, axis=2))
        p.extend(model.p_values(np.linalg.norm(Z[:, None] - X, axis=2)))
    for alpha in (0.05, 0.2):
        assert np.mean(np.array(p) <= alpha) == pytest.approx(alpha, abs=0.025)


def test_duplicates_and_small_data():
    model = ProximityOutlier().fit(np.zeros((4, 4)))
    assert model.n_neighbors_ == 3
    assert model.p_values(np.zeros((1, 4))) == pytest.approx(1.0)
    assert model.p_values(np.ones((1, 4))) == pytest.approx(0.2)
    assert ProximityOutlier(method="hlm").fit(np.zeros((3, 3))).predict(np.zeros((1, 3))).tolist() == [1]
    with pytest.raises(ProximityError, match="at least two objects"):
        ProximityOutlier().fit([[0.0]])
    with pytest.raises(ProximityError, match="ToDissimilarity"):
        ProximityOutlier(kind="similarity").fit(np.eye(3))


def test_training_objects_are_compared_with_the_others(distances):
    """A training object is not its own neighbor, as rows of new objects would make it."""
    D, _ = distances
    model = ProximityOutlier(n_neighbors=7, alpha=0.1)
    expected = LocalOutlierFactor(n_neighbors=7, metric="precomputed", contamination=0.1).fit_predict(D)
    np.testing.assert_array_equal(model.fit_predict(D), expected)
    assert (model.fit_predict(D) == -1).sum() == 6
