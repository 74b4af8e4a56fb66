"""Kernel and mixture HLM: the formulae with plain loops, laws, limits, searches, bad input."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import hlm as oracle
from oracles import medoids
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline

from similis import (
    IncrementalHLM,
    KernelHLM,
    Minkowski,
    MixtureHLM,
    Pairwise,
    PathSearchCV,
    ProximityError,
    compact,
    load,
    save,
)
from similis.mixture._base import Clusters, estimate
from similis.mixture._mixture_hlm import Clustering

EVERY = [
    KernelHLM(),
    KernelHLM(shared=False),
    MixtureHLM(random_state=0),
    MixtureHLM(clustering="kmedoids", shared_shape=False),
    MixtureHLM(clustering="ward", n_components=2),
    MixtureHLM(n_components="auto", n_init=2, random_state=0),
    IncrementalHLM(random_state=0),
    IncrementalHLM(scheme="resample", random_state=0),
]


def problem(rng, n=60, n_classes=2, d=3, m=12):
    y = rng.permutation(np.arange(n) % n_classes)
    centers = 2 * rng.normal(size=(n_classes, d))
    Z, new = centers[y] + rng.normal(size=(n, d)), 2 * rng.normal(size=(m, d))
    return euclidean_distances(Z), y, euclidean_distances(new, Z)


# The formulae


@pytest.mark.parametrize("k", [1, 4, 9])
@pytest.mark.parametrize("shared", [True, False])
def test_mixture_is_its_formulae(rng, k, shared):
    D, y, Q = problem(rng, n_classes=3)
    model = MixtureHLM(n_components=k, shared_shape=shared, random_state=0).fit(D, y)
    by_class = [model.centroids_[model.component_classes_ == g] for g in range(3)]
    clusters = [oracle.clusters_of(D, np.flatnonzero(y == g), list(by_class[g])) for g in range(3)]
    if shared:
        s, scales = oracle.estimate([cluster for found in clusters for cluster in found])
        shapes = [s] * 3
    else:
        fits = [oracle.estimate(found) for found in clusters]
        shapes, scales = [s for s, _ in fits], [b for _, found in fits for b in found]
    np.testing.assert_allclose(np.broadcast_to(model.shape_estimate_, 3), shapes, rtol=1e-9)
    np.testing.assert_array_equal(np.broadcast_to(model.shape_, 3), [oracle.rounded(s) for s in shapes])
    np.testing.assert_allclose(model.scales_, scales, rtol=1e-9)
    log_density = np.empty((len(Q), 3))
    for g in range(3):
        own = model.component_classes_ == g
        shares = [size / np.sum(y == g) for size, _ in clusters[g]]
        np.testing.assert_allclose(model.component_priors_[own], shares)
        for i, row in enumerate(Q):
            log_density[i, g] = oracle.log_density(
                row, by_class[g], shares, oracle.rounded(shapes[g]), model.scales_[own]
            )
    np.testing.assert_allclose(model.log_density(Q), log_density, rtol=1e-9)
    joint = np.exp(log_density) * np.bincount(y) / len(y)
    np.testing.assert_allclose(model.predict_proba(Q), joint / joint.sum(axis=1, keepdims=True), rtol=1e-9)
    np.testing.assert_allclose(model.score_samples(Q), np.log(joint.sum(axis=1)), rtol=1e-9)


@pytest.mark.parametrize("shared", [True, False])
def test_kernel_is_its_formula(rng, shared):
    D, y, Q = problem(rng)
    model = KernelHLM(shared=shared).fit(D, y)
    others = D + np.where(np.eye(len(D)) + (y[:, None] != y), np.inf, 0.0)
    u = others.min(axis=1) ** 2
    for g in range(2):
        own = u if shared else u[y == g]
        s = oracle.solve_shape(np.log(own.mean()) - np.log(own).mean())
        b = own.mean() / s
        np.testing.assert_allclose(np.broadcast_to(model.shape_estimate_, 2)[g], s, rtol=1e-9)
        np.testing.assert_allclose(np.broadcast_to(model.scale_, 2)[g], b, rtol=1e-9)
        members = np.flatnonzero(y == g)
        shares = [1 / len(members)] * len(members)
        direct = [oracle.log_density(q, members, shares, oracle.rounded(s), [b] * len(members)) for q in Q]
        np.testing.assert_allclose(model.log_density(Q)[:, g], direct, rtol=1e-9)


def test_kernel_by_hand_and_by_sample(rng):
    D, y, Q = problem(rng)
    given = KernelHLM(shape=1.3, scale=0.7).fit(D, y)
    assert (given.shape_, given.scale_) == (1.3, 0.7)
    half = KernelHLM(shape=1.3).fit(D, y)
    estimated = KernelHLM().fit(D, y)
    assert half.scale_ * 1.3 == pytest.approx(estimated.scale_ * estimated.shape_estimate_)
    few = KernelHLM(max_samples=7, random_state=0).fit(D, y)
    assert np.bincount(y[few.centroids_]).tolist() == [7, 7]
    part = KernelHLM().fit(D[np.ix_(few.centroids_, few.centroids_)], y[few.centroids_])
    np.testing.assert_allclose(few.log_density(Q), part.log_density(Q[:, few.centroids_]))
    np.testing.assert_allclose(few.priors_, np.bincount(y) / len(y))


def test_as_many_components_as_objects_are_the_kernel(rng):
    D, y, Q = problem(rng)
    for clustering in ("vsh", "kmedoids", "ward"):
        model = MixtureHLM(n_components=len(y), clustering=clustering).fit(D, y)
        np.testing.assert_array_equal(model.predict_proba(Q), KernelHLM().fit(D, y).predict_proba(Q))


# Laws


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32 - 1), st.floats(1e-6, 1e6))
def test_equal_weights_are_no_weights_and_weights_are_those_of_the_formula(seed, weight):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(6, 40)), int(rng.integers(1, 4))
    labels, u = rng.permutation(np.arange(n) % k), rng.gamma(1.5, size=n)
    u[rng.random(n) < 0.2] = 0.0

    def whole():  # read where too few distances are above zero
        return Clusters.of(u, np.zeros(n, int), 1)

    others = np.zeros(k, int), 1, True, lambda: (whole(), 0.0), whole
    plain = estimate(Clusters.of(u, labels, k), *others)
    equal = estimate(Clusters.of(u, labels, k, weights=np.full(n, weight)), *others)
    np.testing.assert_allclose(equal[0], plain[0], rtol=1e-9)
    np.testing.assert_allclose(equal[1], plain[1], rtol=1e-9)
    w = rng.random(n) + 0.1
    found = estimate(Clusters.of(u, labels, k, weights=w), *others)
    clusters = [(int(np.sum(labels == j)), list(u[labels == j])) for j in range(k)]
    if any(members >= 3 and np.count_nonzero(us) > 1 for members, us in clusters):
        s, scales = oracle.estimate(clusters, [list(w[labels == j]) for j in range(k)])
        np.testing.assert_allclose(found[0][0], s, rtol=1e-7)
        np.testing.assert_allclose(found[1], scales, rtol=1e-7)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("unit", [1e-100, 2.0**-20, 1e3, 1e100])
@pytest.mark.parametrize(
    "model", [m for m in EVERY if getattr(m, "shared", True) and getattr(m, "shared_shape", True)], ids=repr
)
def test_the_unit_of_distance_does_not_matter(rng, model, unit):
    D, y, Q = problem(rng, n=30)
    a = model.fit(D, y)
    shape, scales, proba, log_density = a.shape_, a.scales_, a.predict_proba(Q), a.log_density(Q)
    b = model.fit(unit * D, y)
    np.testing.assert_allclose(b.predict_proba(unit * Q), proba, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(b.scales_, unit**2 * scales, rtol=1e-9)
    assert b.shape_ == shape
    np.testing.assert_allclose(b.log_density(unit * Q), log_density - 2 * shape * np.log(unit), rtol=1e-9, atol=1e-7)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_vertex_substitution_ends_in_an_exchange_optimum(seed, weighted):
    """Of R = H D, which is not symmetric: rows are weighted, by brute force over all exchanges."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 16))
    D = np.round(euclidean_distances(rng.normal(size=(n, 2))), int(rng.integers(1, 6)))
    w = 1 + 3 * rng.random(n) if weighted else None
    centroids, labels = Clustering(D, "vsh", 2, seed % 1000, w)(int(rng.integers(1, n)))
    R = D if w is None else np.diag(w) @ D
    now = medoids.loss(R, centroids)
    assert medoids.exchange_losses(R, list(centroids)).min() >= now - 1e-9
    assert R[np.arange(n), centroids[labels]].sum() == pytest.approx(now)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["vsh", "kmedoids", "ward"]), st.booleans())
def test_ties_and_copies_come_to_an_end(seed, method, weighted):
    """Small whole numbers at random are far from a metric, full of ties, copies and objects at distance zero."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    D = np.triu(rng.integers(0, rng.integers(2, 8), size=(n, n)) * rng.choice([1.0, 0.1, 1 / 3]), 1)
    D = D + D.T
    np.fill_diagonal(D, rng.choice([0, 0.05]))
    w = np.sqrt(rng.integers(1, 4, size=n)) if weighted else None
    k = int(rng.integers(1, n + 1))
    centroids, labels = Clustering(D, method, 2, seed % 1000, w)(k)
    assert len(set(centroids)) == len(centroids) <= k
    np.testing.assert_array_equal(np.unique(labels), np.arange(len(centroids)))


def test_wards_tree_is_cut_where_scipy_cuts_it(rng):
    D, _, _ = problem(rng, n=25)
    clustering = Clustering(D, "ward", 1, 0)
    tree = linkage(squareform(D, checks=False), "ward")
    for k in range(1, 25):
        centroids, labels = clustering(k)
        theirs = fcluster(tree, k, "maxclust")
        assert len(set(zip(labels, theirs))) == k == len(set(labels))
        for j, centroid in enumerate(centroids):
            members = np.flatnonzero(labels == j)
            assert centroid in members
            totals = D[np.ix_(members, members)].sum(axis=0)
            assert totals[list(members).index(centroid)] == pytest.approx(totals.min())


def test_recovers_dimension_and_variance_of_gaussian_clusters():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(4000, 6)) * 0.5
    Z[0] = 0.0
    y = np.zeros(len(Z), int)
    u = (Z**2).sum(axis=1)
    shapes, scales = estimate(Clusters.of(u, y, 1), np.array([0]), 1, True, None, None)
    assert shapes[0] == pytest.approx(3, rel=0.1)  # d = 2s
    assert scales[0] == pytest.approx(2 * 0.5**2, rel=0.1)  # b = 2 sigma^2


# Searches


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("clustering", ["vsh", "kmedoids", "ward"])
def test_search_over_components_is_a_plain_search(rng, clustering):
    D, y, _ = problem(rng, n=50, n_classes=3, d=2)
    D = np.round(D, 1)
    model = MixtureHLM(clustering=clustering, n_init=3, random_state=0)
    grid = {"n_components": [1, 2, 3, 5, 16, 40], "shared_shape": [True, False]}
    folds = StratifiedKFold(5)
    ours = PathSearchCV(model, grid, cv=folds, scoring="neg_log_loss").fit(D, y)
    theirs = GridSearchCV(model, grid, cv=folds, scoring="neg_log_loss").fit(D, y)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-9, atol=1e-9
    )
    assert ours.best_params_ == theirs.best_params_
    kernel = {"shape": [None, 1.0], "scale": [None, 0.5], "shared": [True, False]}
    ours, theirs = (search(KernelHLM(), kernel, cv=folds).fit(D, y) for search in (PathSearchCV, GridSearchCV))
    np.testing.assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_a_search_clusters_each_number_once(rng, monkeypatch):
    D, y, _ = problem(rng, n=40)
    trees = []
    monkeypatch.setattr("similis.mixture._mixture_hlm.linkage", lambda *args: trees.append(1) or linkage(*args))
    grid = {"n_components": [1, 2, 3, 4, 6, 8], "shared_shape": [True, False]}
    PathSearchCV(MixtureHLM(clustering="ward"), grid, cv=5, refit=False).fit(D, y)
    assert len(trees) == 5 * 2  # folds x classes


def test_auto_chooses_by_cross_validation(rng):
    D, y, Q = problem(rng, n=60, d=8)
    model = MixtureHLM(n_components="auto", n_init=2, random_state=0).fit(D, y)
    assert model.cv_scores_.shape == (14,)
    candidates = [*range(1, 11), 12, 14, 16, 60]
    assert model.n_components_ == candidates[int(model.cv_scores_.argmax())]
    plain = MixtureHLM(n_components=model.n_components_, n_init=2, random_state=0).fit(D, y)
    np.testing.assert_array_equal(model.predict_proba(Q), plain.predict_proba(Q))
    assert not hasattr(model.set_params(n_components=2).fit(D, y), "cv_scores_")
    search = PathSearchCV(MixtureHLM(n_init=2, random_state=0), {"n_components": [2, "auto"]}, cv=3).fit(D, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


# Limits


def degenerate():
    x = np.array([0.0, 1, 2, 5, 6, 9])
    line = np.abs(x[:, None] - x)
    copies = np.repeat(np.arange(3), 4)
    yield "zero", np.zeros((6, 6)), [0, 0, 0, 1, 1, 1]
    yield "equal", 1 - np.eye(6), [0, 0, 0, 1, 1, 1]
    yield "two objects", np.array([[0.0, 2], [2, 0]]), [0, 1]
    yield "a class of one", line, [0, 0, 0, 0, 0, 1]
    yield "classes of one", line, [0, 1, 2, 3, 4, 5]
    yield "classes of two", line, [0, 0, 1, 1, 2, 2]
    yield "copies", line[np.ix_(copies, copies)], [0, 0, 1, 1] * 3
    yield "copies alone in their class", line[np.ix_(copies, copies)], copies
    yield "far apart", 1e135 * line, [0, 0, 0, 1, 1, 1]
    yield "close by", 1e-150 * line, [0, 0, 0, 1, 1, 1]


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize("D, y", [case[1:] for case in degenerate()], ids=[case[0] for case in degenerate()])
@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_degenerate_data_give_a_model(model, D, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(D, y)
        proba = model.predict_proba(D)
        assert np.isfinite(model.score_samples(D)).all()
        assert (np.abs(model.decision_function(D)) < np.inf).any()
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (model.scales_ > 0).all()
    assert np.isfinite(model.scales_).all()
    assert np.min(model.shape_) >= 0.5


def test_limits_are_those_of_the_equations():
    equal = KernelHLM().fit(1 - np.eye(6), [0, 0, 0, 1, 1, 1])
    assert equal.shape_ == 1e10  # s is infinite: only the nearest objects count
    np.testing.assert_allclose(equal.predict_proba([[0.9, 1, 1, 1, 1, 1], [0.5, 1, 1, 0.5, 0.5, 1]])[0], [1, 0])
    np.testing.assert_allclose(equal.predict_proba([[0.5, 1, 1, 0.5, 0.5, 1]]), [[1 / 3, 2 / 3]])
    nothing = MixtureHLM().fit(np.zeros((4, 4)), [0, 0, 0, 1])
    np.testing.assert_allclose(nothing.predict_proba(np.zeros((1, 4))), [[0.75, 0.25]])
    # Copies say nothing about distances: with and without them, s and b are the same.
    x = np.array([0.0, 1, 2.5, 7, 9, 13])
    D, y = np.abs(x[:, None] - x), [0, 0, 0, 1, 1, 1]
    twice = np.repeat(np.arange(6), 2)
    once, doubled = KernelHLM().fit(D, y), KernelHLM().fit(D[np.ix_(twice, twice)], np.repeat(y, 2))
    assert doubled.shape_estimate_ == pytest.approx(once.shape_estimate_)
    assert doubled.scale_ == pytest.approx(once.scale_)


def patrol(rng, n=90, n_classes=3, named=4, noise=0.1):
    """Distances 0, .5, 1: 1 minus the share of the two directions in which one object names the other as its kind."""
    y = np.arange(n) % n_classes
    named_by = np.zeros((n, n))
    for i in range(n):
        for _ in range(named):
            same = (y == y[i]) if rng.random() > noise else (y != y[i])
            named_by[i, rng.choice(np.flatnonzero(same & (np.arange(n) != i)))] = 1
    D = 1 - (named_by + named_by.T) / 2
    np.fill_diagonal(D, 0)
    return D, y


def one_cluster_per_class(D, y):
    """[qiao2013] Eq. (3) with the medoid of each class as its only centroid."""
    clusters = []
    for g in np.unique(y):
        own = D[np.ix_(y == g, y == g)]
        u = np.delete(own[:, own.sum(axis=1).argmin()], own.sum(axis=1).argmin()) ** 2
        clusters.append(u[u > 0])
    s = oracle.solve_shape(np.mean(np.concatenate([np.log(u.mean()) - np.log(u) for u in clusters])))
    return s, np.concatenate(clusters).mean()


def test_distances_with_three_values(rng):
    """[qiao2013] sec. 5.2, Patrol: nearest neighbors at 0 or .5 fit no shape; it comes from clusters."""
    D, y = patrol(rng)
    nearest = np.where(np.eye(len(y)) + (y[:, None] != y) > 0, 9, D).min(axis=1)
    assert set(nearest) == {0.0, 0.5}
    s, mean = one_cluster_per_class(D, y)
    assert 0.5 < s < 20
    kernel = KernelHLM().fit(D, y)
    assert kernel.shape_estimate_ == pytest.approx(s)
    assert kernel.scale_ == pytest.approx(mean / s)
    single = MixtureHLM(n_components=1, random_state=0).fit(D, y)
    assert single.shape_estimate_ == pytest.approx(s)
    # With as many components as make all distances to centroids equal, only the shape is taken over.
    many = MixtureHLM(n_components=15, random_state=0).fit(D, y)
    assert many.shape_estimate_ == pytest.approx(s)
    assert many.scales_.max() <= 0.25 / s + 1e-12
    for model in EVERY:
        model.fit(D, y)
        assert np.max(model.shape_estimate_) < 1e3
        proba = model.predict_proba(D)
        assert ((proba > 0.01) & (proba < 0.99)).any()
    train, test = np.arange(90) < 60, np.arange(90) >= 60
    assert KernelHLM().fit(D[np.ix_(train, train)], y[train]).score(D[np.ix_(test, train)], y[test]) > 0.85


def test_a_class_with_equal_distances_has_the_shape_of_all(rng):
    x = np.r_[rng.normal(size=(20, 3)), [[9.0, 9, 9], [10, 9, 9]]]
    y = np.r_[np.zeros(20, int), [1, 1]]
    model = KernelHLM(shared=False).fit(euclidean_distances(x), y)
    assert model.shape_estimate_[1] == KernelHLM().fit(euclidean_distances(x), y).shape_estimate_ < 100
    assert model.scale_[1] == pytest.approx(1 / model.shape_estimate_[1])


def test_pairs_alone_are_taken_for_one_cluster():
    """A cluster with one distance fits any shape; all of them together do not."""
    x = np.array([0.0, 1, 10, 13, 30, 32, 50, 51.5])
    model = MixtureHLM(n_components=2, random_state=0).fit(np.abs(x[:, None] - x), [0, 0, 0, 0, 1, 1, 1, 1])
    u = np.array([1.0, 9, 4, 2.25])
    assert model.shape_estimate_ == pytest.approx(oracle.solve_shape(np.log(u.mean()) - np.log(u).mean()))
    np.testing.assert_allclose(model.scales_, (u + u.mean()) / 2 / model.shape_estimate_)


def test_far_objects_keep_their_probabilities(rng):
    D, y, Q = problem(rng)
    for model in (KernelHLM(), MixtureHLM(random_state=0)):
        proba = model.fit(D, y).predict_proba(1e130 * Q)
        assert np.isfinite(proba).all()


# Company


@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_compact_and_files(rng, model, tmp_path):
    D, y, Q = problem(rng, n=40)
    model.fit(D, y)
    small = compact(model)
    np.testing.assert_array_equal(small.columns_, model.columns_)
    np.testing.assert_array_equal(small.predict_proba(Q[:, model.columns_]), model.predict_proba(Q))
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.log_density(Q), model.log_density(Q))


def test_a_pipeline_from_objects_keeps_the_centroids(rng):
    X = rng.normal(size=(50, 3))
    y = (X[:, 0] > 0).astype(int)
    model = make_pipeline(Pairwise(Minkowski()), MixtureHLM(n_components=3, random_state=0)).fit(X, y)
    small = compact(model)
    assert len(small[0].objects_) == 6
    np.testing.assert_array_equal(small.predict(X), model.predict(X))


def test_priors_and_costs(rng):
    D, y, Q = problem(rng)
    model = MixtureHLM(priors=[0.01, 0.99], random_state=0).fit(D, y)
    np.testing.assert_allclose(model.priors_, [0.01, 0.99])
    careful = MixtureHLM(costs=[[0, 100], [1, 0]], random_state=0).fit(D, y)
    plain = MixtureHLM(random_state=0).fit(D, y)
    np.testing.assert_array_equal(careful.predict_proba(Q), plain.predict_proba(Q))
    assert (careful.predict(Q) == 1).sum() >= (plain.predict(Q) == 1).sum()


@pytest.mark.parametrize("model", EVERY, ids=repr)
def test_bad_input(rng, model):
    D, y, _ = problem(rng, n=20)
    lopsided, negative = D.copy(), D.copy()
    lopsided[2, 7] *= 1.1
    negative[2, 7] = negative[7, 2] = -1
    for bad, words in ((lopsided, "row 2, column 7.*symmetrize"), (negative, "row 2, column 7")):
        with pytest.raises(ProximityError, match=words) as caught:
            model.fit(bad, y)
        assert len(str(caught.value)) < 300
    with pytest.raises(ValueError, match="y"):
        model.fit(D, None)
    model.fit(D * (1 + 1e-9 * rng.random(D.shape)), y)  # round-off is no asymmetry


def test_numbers_of_components_of_numpy(rng):
    D, y, Q = problem(rng)
    model = MixtureHLM(n_components=np.int64(3), random_state=0).fit(D, y)
    assert type(model.n_components_) is int
    expected = MixtureHLM(n_components=3, random_state=0).fit(D, y).predict_proba(Q)
    np.testing.assert_array_equal(model.predict_proba(Q), expected)
    found = PathSearchCV(MixtureHLM(random_state=0), {"n_components": np.arange(1, 4)}, cv=2).fit(D, y)
    assert found.best_estimator_.n_components_ == found.best_params_["n_components"]
