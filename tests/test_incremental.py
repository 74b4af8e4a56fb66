"""Incremental HLM: both schemes against recomputation and retraining, classes that come later, files, bad batches."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from incremental import SCHEMES, distances, feed, problem, rows
from oracles import hlm as oracle

from similis import IncrementalHLM, MixtureHLM, ProximityError, compact, load, save

# Scheme I


def test_append_is_the_estimate_from_all_batches(rng):
    """Each batch clustered by itself; shape and scales from every squared distance at once, by plain loops."""
    X, y, new = problem(rng)
    D, edges = distances(X), [0, 40, 60, 90]
    model = feed(IncrementalHLM(random_state=5), X, y, edges)
    centroids, clusters = [[], [], []], [[], [], []]
    for a, b in pairwise(edges):
        batch = MixtureHLM(random_state=5).fit(D[a:b, a:b], y[a:b])
        for g in range(3):
            found = list(a + batch.centroids_[batch.component_classes_ == g])
            centroids[g] += found
            clusters[g] += oracle.clusters_of(D, a + np.flatnonzero(y[a:b] == g), found)
    s, scales = oracle.estimate([cluster for found in clusters for cluster in found])
    np.testing.assert_array_equal(model.centroids_, np.concatenate(centroids))
    assert model.shape_estimate_ == pytest.approx(s, rel=1e-9)
    np.testing.assert_allclose(model.scales_, scales, rtol=1e-9)
    shares = [members / np.sum(y == g) for g in range(3) for members, _ in clusters[g]]
    np.testing.assert_allclose(model.component_priors_, shares)
    np.testing.assert_allclose(model.priors_, np.bincount(y) / len(y))
    direct = oracle.log_density(distances(new, X)[0], centroids[1], shares[12:24], oracle.rounded(s), scales[12:24])
    assert model.log_density(rows(model, X, new))[0, 1] == pytest.approx(direct)


def test_append_is_content_with_the_new_columns(rng):
    X, y, new = problem(rng)
    a = feed(IncrementalHLM(random_state=0), X, y, [0, 30, 60, 90])
    b, c = IncrementalHLM(random_state=0), IncrementalHLM(random_state=0, bounded=True)
    for i in (0, 30, 60):
        block = distances(X[i : i + 30])
        b.partial_fit(block, y[i : i + 30])
        c.partial_fit(block, y[i : i + 30])
    c2 = feed(IncrementalHLM(random_state=0, bounded=True), X, y, [0, 30, 60, 90])
    for other in (b, c, c2):
        np.testing.assert_array_equal(other.predict_proba(rows(other, X, new)), a.predict_proba(rows(a, X, new)))
    np.testing.assert_array_equal(c.columns_, np.sort(a.centroids_))
    assert c.n_features_in_ == 36


def test_append_forgets_the_earliest_components(rng):
    X, y, _ = problem(rng)
    model = feed(IncrementalHLM(n_components=3, max_components=6, random_state=0), X, y, [0, 30, 60, 90])
    assert np.bincount(model.component_classes_).tolist() == [6, 6, 6]
    assert model.centroids_.min() >= 30


# Scheme II


@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("clustering", ["vsh", "kmedoids", "ward"])
def test_resample_is_retraining_while_every_object_is_kept(rng, bounded, clustering):
    X, y, new = problem(rng)
    D = distances(X)
    model = IncrementalHLM(
        scheme="resample",
        n_components=2,
        growth=1,
        sample_size=90,
        bounded=bounded,
        clustering=clustering,
        random_state=3,
    )
    for round_, (a, b) in enumerate(((0, 30), (30, 60), (60, 90))):
        model.partial_fit(D[a:b, :b], y[a:b])
        again = MixtureHLM(n_components=2 + round_, clustering=clustering, random_state=3).fit(D[:b, :b], y[:b])
        np.testing.assert_array_equal(model.centroids_, again.centroids_)
        np.testing.assert_allclose(model.scales_, again.scales_, rtol=1e-12)
        Q = distances(new, X[:b])
        np.testing.assert_allclose(model.predict_proba(Q), again.predict_proba(Q), rtol=1e-10)


def test_samples_and_weights_are_those_of_the_paper(rng):
    X, y, _ = problem(rng, n=120, n_classes=2)
    v = 3
    model = feed(IncrementalHLM(scheme="resample", sample_size=v, random_state=0), X, y, [0, 80])
    D = distances(X)
    for g, past in enumerate(model._pasts):
        centroids = model.centroids_[model.component_classes_ == g]
        nearest = centroids[D[np.ix_(past.objects, centroids)].argmin(axis=1)]
        for c in centroids:
            size = np.sum(nearest == c) - 1  # |I_j|, the centroid apart
            drawn = past.sample[nearest[past.sample] == c]
            weights = past.weights[nearest[past.sample] == c]
            assert c in past.objects[drawn]
            assert len(drawn) == min(size, v) + 1
            np.testing.assert_allclose(weights, np.sqrt((size + 1) / (v + 1)) if size > v else 1.0)


def test_resample_assigns_the_whole_past(rng):
    """Unbounded, Eq. (3) over all objects by nearest centroid, sampled or not."""
    X, y, _ = problem(rng, n=150, n_classes=2)
    D = distances(X)
    model = feed(IncrementalHLM(scheme="resample", random_state=0), X, y, [0, 60, 100, 150])
    assert np.bincount(model.component_classes_).tolist() == [8, 8]  # 4 + 2 + 2
    clusters = []
    for g in range(2):
        own = model.centroids_[model.component_classes_ == g]
        clusters += oracle.clusters_of(D, np.flatnonzero(y == g), list(own))
    s, scales = oracle.estimate(clusters)
    assert model.shape_estimate_ == pytest.approx(s, rel=1e-9)
    np.testing.assert_allclose(model.scales_, scales, rtol=1e-9)


def test_bounded_keeps_centroids_and_samples_alone(rng):
    X, y, new = problem(rng, n=600)
    edges = list(range(0, 601, 100))
    model = feed(
        IncrementalHLM(scheme="resample", growth=1, max_components=6, bounded=True, random_state=0), X, y, edges
    )
    assert model.n_seen_ == 600
    assert np.bincount(model.component_classes_).tolist() == [6, 6, 6]
    assert len(model.columns_) <= 3 * 6 * (4 + 1)
    assert model.n_features_in_ == len(model.columns_)
    assert np.isin(model.centroids_, model.columns_).all()
    assert sum(past.mass.sum() for past in model._pasts) == pytest.approx(600)
    np.testing.assert_allclose(model.priors_, np.bincount(y) / 600)
    assert all(past.D.shape == (len(past.objects),) * 2 for past in model._pasts)
    whole = MixtureHLM(n_components=6, random_state=0).fit(distances(X), y)
    agree = np.mean(model.predict(rows(model, X, X)) == whole.predict(distances(X)))
    assert agree > 0.8
    small = compact(model)
    np.testing.assert_array_equal(small.columns_, np.unique(model.centroids_))
    np.testing.assert_array_equal(
        small.predict_proba(distances(new, X[small.columns_])), model.predict_proba(rows(model, X, new))
    )


def test_bounded_estimates_by_weighted_objects(rng):
    """Eq. (4) by plain loops on what took part in the last round."""
    X, y, _ = problem(rng, n=120, n_classes=1)
    model = feed(IncrementalHLM(scheme="resample", bounded=True, random_state=0), X, y, [0, 80])
    past = model._pasts[0]
    objects, weights = np.concatenate([past.objects, np.arange(80, 120)]), np.concatenate([past.weights, np.ones(40)])
    assert weights.max() > 1
    mass = np.concatenate([past.mass, np.ones(40)])
    D = distances(X)
    model.partial_fit(D[80:, objects], y[80:])
    nearest = model.centroids_[D[np.ix_(objects, model.centroids_)].argmin(axis=1)]
    clusters, w = [], []
    for c in model.centroids_:
        own = nearest == c
        others = own & (objects != c)
        clusters.append((mass[own].sum(), list(D[objects[others], c] ** 2)))
        w.append(list(weights[others]))
    s, scales = oracle.estimate(clusters, w)
    assert model.shape_estimate_ == pytest.approx(s, rel=1e-9)
    np.testing.assert_allclose(model.scales_, scales, rtol=1e-9)
    np.testing.assert_allclose(model.component_priors_, [members / 120 for members, _ in clusters])


# Classes


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("bounded", [False, True])
def test_classes_may_come_with_any_batch(rng, scheme, bounded):
    X, y, new = problem(rng)
    order = np.argsort(y, kind="stable")[::-1]  # 2, then 1, then 0
    X, y = X[order], np.array(["a", "bb", "ccc"])[y[order]]
    model = IncrementalHLM(scheme=scheme, bounded=bounded, random_state=0)
    feed(model, X, y, [0, 20])
    assert model.classes_.tolist() == ["ccc"]
    assert (model.predict(rows(model, X, new)) == "ccc").all()
    feed(model, X, y, [20, 50]) if not bounded else model.partial_fit(
        distances(X[20:50], X[np.concatenate([model.columns_, np.arange(20, 50)])]), y[20:50]
    )
    assert model.classes_.tolist() == ["bb", "ccc"]
    before = model.centroids_[model.component_classes_ == 1]
    past = model.columns_ if bounded else np.arange(50)
    model.partial_fit(distances(X[50:], X[np.concatenate([past, np.arange(50, 90)])]), y[50:], classes=["a", "bb"])
    assert model.classes_.tolist() == ["a", "bb", "ccc"]
    np.testing.assert_allclose(model.priors_, [1 / 3] * 3)
    # The last batch had none of the third class, which stays as it was.
    np.testing.assert_array_equal(model.centroids_[model.component_classes_ == 2], before)
    assert np.mean(model.predict(rows(model, X, X)) == y) > 0.8
    assert model.predict_proba(rows(model, X, new)).shape == (15, 3)


def test_fit_forgets(rng):
    X, y, new = problem(rng)
    model = feed(IncrementalHLM(random_state=0), X, y, [0, 30, 60])
    D = distances(X)
    again = model.fit(D, y).predict_proba(distances(new, X))
    np.testing.assert_array_equal(again, MixtureHLM(random_state=0).fit(D, y).predict_proba(distances(new, X)))
    assert (model.n_seen_, model.n_batches_) == (90, 1)


# Files


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize("random_state", [0, None])
def test_a_model_saved_midway_goes_on_as_if_nothing_had_happened(rng, tmp_path, scheme, bounded, random_state):
    X, y, new = problem(rng, n=150)
    model = feed(IncrementalHLM(scheme=scheme, bounded=bounded, random_state=random_state), X, y, [0, 50, 100])
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    past = model.columns_ if bounded else np.arange(100)
    block = distances(X[100:], X[np.concatenate([past, np.arange(100, 150)])])
    for each in (model, again):
        each.partial_fit(block, y[100:])
    np.testing.assert_array_equal(again.centroids_, model.centroids_)
    np.testing.assert_array_equal(again.columns_, model.columns_)
    np.testing.assert_array_equal(again.log_density(rows(again, X, new)), model.log_density(rows(model, X, new)))


# Bad batches


@pytest.mark.parametrize("scheme", SCHEMES)
def test_batches_of_one_object(rng, scheme):
    X, y, new = problem(rng, n=12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = feed(IncrementalHLM(scheme=scheme, growth=0, random_state=0), X, y, range(13))
        assert np.isfinite(model.predict_proba(rows(model, X, new))).all()
    assert model.n_batches_ == 12


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("bounded", [False, True])
def test_bad_batches_are_refused_in_one_sentence_and_change_nothing(rng, scheme, bounded):
    X, y, new = problem(rng)
    model = feed(IncrementalHLM(scheme=scheme, bounded=bounded, random_state=0), X, y, [0, 40])
    past = model.columns_ if bounded else np.arange(40)
    good = distances(X[40:50], X[np.concatenate([past, np.arange(40, 50)])])
    lopsided, negative, missing = good.copy(), good.copy(), good.copy()
    lopsided[1, -3] += 1
    negative[1, 3] = -1
    missing[1, 3] = np.nan
    cases = [
        (lopsided, y[40:50], "symmetric"),
        (negative, y[40:50], "row 1, column 3"),
        (missing, y[40:50], "row 1, column 3"),
        (good[:, 1:], y[40:50], f"{good.shape[1]} columns"),
        (np.hstack([good, good]), y[40:50], f"{good.shape[1]} columns"),
        (good[:0], y[:0], "0 sample"),
        (good, None, "y"),
        (good, y[40:49], "9 labels for 10"),
        (good, np.where(np.arange(10) == 3, np.nan, 1.0), "NaN|label"),
        (good, ["a"] * 10, "type of the earlier"),
        (list(map(str, range(10))), y[40:50], "2D|matrix"),
    ]
    before = model.log_density(rows(model, X, new))
    for block, labels, words in cases:
        with pytest.raises(ValueError, match=words) as caught:
            model.partial_fit(block, labels)
        assert len(str(caught.value)) < 300
    assert model.n_seen_ == 40
    np.testing.assert_array_equal(model.log_density(rows(model, X, new)), before)
    model.partial_fit(good, y[40:50])
    with pytest.raises(ProximityError, match="expecting"):
        model.predict(good[:, :5])
    with pytest.raises(ProximityError, match="compacted"):
        compact(model).partial_fit(good, y[40:50])
    picky = IncrementalHLM(scheme=scheme, bounded=bounded, priors=[0.5, 0.5])
    with pytest.raises(ProximityError, match="priors"):
        picky.partial_fit(distances(X), y)
    assert not hasattr(picky, "classes_")
