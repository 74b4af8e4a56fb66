"""KMedoids and silhouettes: optimality, new objects, saved models, scikit-learn's conventions."""

from itertools import combinations

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics import silhouette_samples as peer_silhouettes
from sklearn.pipeline import make_pipeline

from similis import Minkowski, Pairwise, compact, load, save
from similis.cluster import KMedoids, silhouette_samples
from similis.exceptions import InputWarning, ProximityError
from similis.testing import parametrize_with_checks

METHODS = ["vsh", "eager", "alternate", "ward"]


def blobs(seed=0, n=60, k=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    X = rng.normal(size=(n, 2)) + 6 * np.stack([np.cos(2.1 * y), np.sin(2.1 * y)], axis=1)
    return X, y


@parametrize_with_checks([KMedoids(n_clusters=2, n_init=2, random_state=0)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", METHODS)
def test_separated_clusters_are_found(method):
    X, y = blobs()
    D = squareform(pdist(X))
    model = KMedoids(3, method=method, random_state=0).fit(D)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    # Every medoid has the least total distance within its cluster, and objects belong to the nearest medoid.
    for j, medoid in enumerate(model.medoid_indices_):
        own = np.flatnonzero(model.labels_ == j)
        assert D[np.ix_(own, own)].sum(axis=0).min() == pytest.approx(D[own, medoid].sum())
    np.testing.assert_array_equal(model.predict(D), model.labels_)
    assert model.inertia_ == pytest.approx(D[:, model.medoid_indices_].min(axis=1).sum())
    assert model.silhouette_ == pytest.approx(peer_silhouettes(D, model.labels_, metric="precomputed").mean())


def test_vertex_substitution_finds_the_optimum_of_a_small_problem():
    D = squareform(pdist(np.random.default_rng(3).normal(size=(12, 3)))) ** 1.5
    best = min(D[:, list(some)].min(axis=1).sum() for some in combinations(range(12), 3))
    assert KMedoids(3, n_init=30, random_state=0).fit(D).inertia_ == pytest.approx(best)


def test_ward_equals_scipy():
    X, _ = blobs(1)
    labels = fcluster(linkage(X, "ward"), 4, "maxclust")
    model = KMedoids(4, method="ward").fit(squareform(pdist(X)))
    assert adjusted_rand_score(labels, model.labels_) == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_similarities_are_dissimilarities_upside_down(method):
    D = squareform(pdist(blobs()[0]))
    a = KMedoids(3, method=method, random_state=0).fit(D)
    b = KMedoids(3, method=method, kind="similarity", random_state=0).fit(20 - D)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    np.testing.assert_array_equal(a.predict(D[:5]), b.predict(20 - D[:5]))
    assert a.inertia_ == pytest.approx(20 * len(D) - b.inertia_)


def test_the_number_of_clusters_is_chosen_by_silhouette():
    D = squareform(pdist(blobs()[0]))
    model = KMedoids("auto", max_clusters=6, random_state=0).fit(D)
    assert len(model.medoid_indices_) == 3
    assert set(model.silhouettes_) == {2, 3, 4, 5, 6}
    assert model.silhouette_ == max(model.silhouettes_.values())


def test_silhouettes_without_symmetry_and_with_singletons():
    rng = np.random.default_rng(0)
    D = rng.random((8, 8))
    np.fill_diagonal(D, 0.0)
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 2])
    for i, value in enumerate(silhouette_samples(D, labels)):
        if labels[i] == 2:
            assert value == 0.0
            continue
        others = [j for j in range(8) if j != i and labels[j] == labels[i]]
        a = D[i, others].mean()
        b = min(D[i, labels == g].mean() for g in range(3) if g != labels[i])
        assert value == pytest.approx((b - a) / max(a, b))


def test_pipeline_save_and_compact(tmp_path):
    X, _ = blobs()
    model = make_pipeline(Pairwise(Minkowski()), KMedoids(3, random_state=0)).fit(X)
    new = X + 0.1
    save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(load(tmp_path / "model.skops").predict(new), model.predict(new))
    np.testing.assert_array_equal(compact(model).predict(new), model.predict(new))
    D = squareform(pdist(X))
    small = compact(KMedoids(3, random_state=0).fit(D))
    assert small.n_features_in_ == 3
    np.testing.assert_array_equal(small.predict(D[:, small.columns_]), KMedoids(3, random_state=0).fit_predict(D))


def test_matrix_on_disk(tmp_path):
    D = squareform(pdist(blobs()[0])).astype(np.float32)
    np.save(tmp_path / "D.npy", D)
    stored = np.load(tmp_path / "D.npy", mmap_mode="r")
    for method in ("eager", "alternate"):
        model = KMedoids(3, method=method, random_state=0)
        np.testing.assert_array_equal(clone(model).fit(stored).labels_, model.fit(D).labels_)


def test_limits_and_messages():
    same = np.zeros((5, 5))
    with pytest.warns(InputWarning, match="Found 1 clusters instead of 3"):
        model = KMedoids(3, random_state=0).fit(same)
    assert model.inertia_ == 0.0
    assert KMedoids(1).fit(squareform(pdist(blobs()[0]))).silhouette_ == 0.0
    assert KMedoids(1).fit([[0.0]]).predict([[3.0]]) == [0]
    with pytest.raises(ProximityError, match="n_clusters=9 must not exceed the number of objects, 5"):
        KMedoids(9).fit(same)
    with pytest.raises(ProximityError, match="square matrix"):
        KMedoids(2).fit(np.ones((5, 3)))
