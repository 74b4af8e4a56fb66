"""Approximate neighbors under any measure: recall, calls counted, and local classifiers on top."""

import numpy as np
import pytest

from similis import (
    SVMKNN,
    VDM,
    Counting,
    Edit,
    FromFunction,
    LocalNearestCentroid,
    LocalSDA,
    Minkowski,
    NearestCentroid,
    SimilarityKNN,
    load,
    save,
)
from similis.distributed import NeighborIndex, OnNeighbors
from similis.distributed._descent import Lists, grow_tree
from similis.exceptions import ProximityError


def clustered(rng, n, d=24, n_groups=12, noise=0.2):
    centers, group = rng.integers(0, 4, (n_groups, d)), rng.integers(0, n_groups, n)
    X = centers[group]
    flip = rng.random(X.shape) < noise
    X[flip] = rng.integers(0, 4, flip.sum())
    return X, group % 3


def test_lists_keep_the_best_once(rng):
    rows, columns = rng.integers(0, 5, 400), rng.integers(0, 30, 400)
    score = rng.random((5, 30)).astype(np.float32)
    lists = Lists.empty(5, 6)
    lists.push(rows, columns, score[rows, columns])
    for i in range(5):
        seen = np.unique(columns[rows == i])
        expected = seen[np.argsort(-score[i, seen])][:6]
        np.testing.assert_array_equal(lists.indices[i], expected)
        np.testing.assert_array_equal(lists.best[i], score[i, expected])
    assert lists.push([0], [29], [np.nan]) == 0


@pytest.mark.parametrize("n", [1, 2, 17, 200])
def test_leaves_part_the_objects_also_when_all_are_alike(n):
    for pairs in (lambda i, j: -abs(i - j).astype(float), lambda i, j: np.zeros(len(i))):
        tree = grow_tree(n, pairs, 16, np.random.RandomState(0))
        assert sorted(tree.order) == list(range(n))
        assert np.diff(tree.start).max() <= 16
        assert len(tree.leaf_pairs()[0]) == (np.diff(tree.start) * (np.diff(tree.start) - 1) // 2).sum()


def test_most_neighbors_are_found_from_few_pairs(rng):
    X, _ = clustered(rng, 1540)
    X, new = X[:1500], X[1500:]
    index = NeighborIndex(Counting(), n_neighbors=15, random_state=0).fit(X)
    S = Counting().fit(X).matrix(X)
    np.testing.assert_array_equal(index.proximities_, np.take_along_axis(S, index.indices_.astype(np.intp), axis=1))
    np.fill_diagonal(S, -1)
    kth = np.sort(S, axis=1)[:, -10]
    assert (index.proximities_[:, :10] >= kth[:, None]).mean() > 0.93
    assert (index.indices_ != np.arange(1500)[:, None]).all()
    assert index.n_calls_ < 0.5 * 1500 * 1499 / 2
    before = index.n_calls_
    proximities, indices = index.kneighbors(new, 10)
    T = Counting().fit(X).matrix(new, X)
    np.testing.assert_array_equal(proximities, np.take_along_axis(T, indices, axis=1))
    assert (proximities >= np.sort(T, axis=1)[:, -10][:, None]).mean() > 0.8
    assert index.n_calls_ - before < 0.6 * T.size


def test_calls_are_counted(rng):
    calls = []
    words = ["".join(rng.choice(list("abc"), 6)) for _ in range(60)]
    measure = FromFunction(lambda x, z: calls.append(0) or sum(a != b for a, b in zip(x, z)), kind="dissimilarity")
    index = NeighborIndex(measure, n_neighbors=5, random_state=0).fit(words)
    assert index.n_calls_ == len(calls)
    index.kneighbors(words[:7], 3)
    assert index.n_calls_ == len(calls)


def test_any_objects_and_both_directions(rng):
    """Texts under a distance; an asymmetric measure is asked in the direction row to column."""
    pytest.importorskip("rapidfuzz")
    words = ["".join(rng.choice(list("ab"), rng.integers(3, 9))) for _ in range(150)]
    index = NeighborIndex(Edit(), n_neighbors=6, random_state=0).fit(words)
    D = Edit().matrix(words)
    np.testing.assert_array_equal(index.proximities_, np.take_along_axis(D, index.indices_.astype(np.intp), axis=1))
    one_way = FromFunction(lambda x, z: float(z - 2 * x))
    found = NeighborIndex(one_way, n_neighbors=4, random_state=0).fit(list(range(50)))
    rows = np.arange(50)[:, None]
    np.testing.assert_array_equal(found.proximities_, found.indices_ - 2 * rows)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_few_objects(n):
    X = np.eye(5, dtype=int)[:n]
    index = NeighborIndex(Counting(), n_neighbors=4, random_state=0).fit(X)
    proximities, indices = index.kneighbors(X, 9)
    assert indices.shape == (n, n)
    np.testing.assert_array_equal(np.sort(indices, axis=1), np.tile(np.arange(n), (n, 1)))
    np.testing.assert_array_equal(proximities[:, 0], 5)


def test_the_same_seed_gives_the_same_graph(rng):
    X, _ = clustered(rng, 300)
    one, two = (NeighborIndex(Counting(), random_state=3).fit(X) for _ in range(2))
    np.testing.assert_array_equal(one.indices_, two.indices_)


@pytest.mark.slow
def test_pynndescent_serves_numeric_measures(rng):
    pytest.importorskip("pynndescent")
    X = rng.normal(size=(600, 5))
    index = NeighborIndex(Minkowski(), n_neighbors=10, method="pynndescent", random_state=0).fit(X)
    D = Minkowski().matrix(X)
    np.testing.assert_allclose(
        index.proximities_, np.take_along_axis(D, index.indices_.astype(np.intp), axis=1), rtol=1e-5
    )
    np.fill_diagonal(D, np.inf)
    kth = np.sort(D, axis=1)[:, 9]
    assert (index.proximities_ <= kth[:, None] * (1 + 1e-5)).mean() > 0.95
    proximities, _ = index.kneighbors(X[:20], 3)
    assert (proximities[:, 0] < 1e-5).mean() > 0.9


MODELS = [
    SimilarityKNN(n_neighbors=9),
    SimilarityKNN(n_neighbors=9, weights="affinity"),
    SimilarityKNN(n_neighbors=9, weights="kri"),
    SimilarityKNN(n_neighbors=9, weights="krr"),
    SVMKNN(n_neighbors=9),
    LocalNearestCentroid(n_neighbors=9),
    LocalSDA(n_neighbors=9, domain=list(range(31))),
]


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("model", MODELS, ids=lambda m: f"{type(m).__name__}-{getattr(m, 'weights', '')}")
def test_local_methods_answer_as_on_the_matrix(rng, model):
    """Distinct proximities, all pairs in the index: the same neighbors, hence the same answers."""
    X = np.concatenate([rng.integers(0, 2, (70, 30))])
    y = np.where(X[:, :5].sum(axis=1) > 2, "u", np.where(X[:, 5] > 0, "v", "w"))
    new = rng.integers(0, 2, (25, 30))
    S, Q = Counting().fit(X).matrix(X), Counting().fit(X).matrix(new, X)
    index = NeighborIndex(Counting(), n_neighbors=60, n_trees=4, random_state=0)
    local = OnNeighbors(model, index).fit(X, y)
    # rank ties as the index does, so that both see the same neighbors
    _, indices = local.index_.kneighbors(new, 9)
    only = np.full(Q.shape, -5.0)
    np.put_along_axis(only, indices, np.take_along_axis(Q, indices, axis=1), axis=1)
    expected = []
    for row, near in zip(only, indices):
        block = np.ix_(near, near)
        labels = y[near]
        if len(set(labels)) < 2:
            expected.append(labels[0])
        else:
            expected.append(model.fit(S[block], labels).predict(row[near][None])[0])
    np.testing.assert_array_equal(local.predict(new), expected)


def test_probabilities_have_a_column_for_every_class(rng):
    X, y = clustered(rng, 200)
    model = OnNeighbors(SimilarityKNN(n_neighbors=5), NeighborIndex(Counting(), random_state=0)).fit(X, y)
    proba = model.predict_proba(X[:30])
    assert proba.shape == (30, 3)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert model.score(X, y) > 0.85


def test_bad_input(rng):
    X, y = clustered(rng, 30)
    index = NeighborIndex(Counting())
    with pytest.raises(ProximityError, match="needs a local method with the parameter n_neighbors"):
        OnNeighbors(NearestCentroid(), index).fit(X, y)
    with pytest.raises(ProximityError, match="pynndescent' needs Minkowski"):
        NeighborIndex(Counting(), method="pynndescent").fit(X)
    with pytest.raises(ProximityError, match="n_neighbors must be an integer of at least 1"):
        index.fit(X).kneighbors(X, 0)


@pytest.mark.parametrize("missing", ["match", "mismatch"])
def test_objects_are_encoded_together(missing):
    """Pairs equal the entries of the matrix, and objects are encoded in a few calls."""
    rng = np.random.default_rng(0)
    X = rng.choice(np.array(["a", "b", "c", None], dtype=object), size=(60, 6))
    y = (X[:, 0] == "a").astype(int)
    calls = []

    class Counted(Counting):
        def encode(self, objects):
            calls.append(len(objects))
            return super().encode(objects)

    measure = Counted(missing=missing).fit(X)
    i, j = rng.integers(60, size=(2, 500))
    np.testing.assert_array_equal(measure.pairs(X[i], X[j]), measure.matrix(X)[i, j])
    vdm = VDM().fit(X, y)
    np.testing.assert_allclose(vdm.pairs(X[i], X[j]), vdm.matrix(X)[i, j], atol=1e-14)
    model = OnNeighbors(SimilarityKNN(n_neighbors=5, weights="kri"), NeighborIndex(Counted(), random_state=0)).fit(X, y)
    calls.clear()
    model.predict(X)
    assert len(calls) < 5


def test_an_index_with_trees_loads_again(rng, tmp_path):
    X, y = clustered(rng, 300)
    model = OnNeighbors(SimilarityKNN(n_neighbors=5), NeighborIndex(Counting(), random_state=0)).fit(X[:250], y[:250])
    save(model, tmp_path / "m.skops")
    again = load(tmp_path / "m.skops")
    assert len(again.index_._trees) == 2
    np.testing.assert_array_equal(again.predict(X[250:]), model.predict(X[250:]))
