"""Nearest centroid and local nearest centroid against plain definitions, and their laws."""

import numpy as np
import pytest
from oracles import centroids as oracle
from sklearn.datasets import load_iris
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from similis import SDA, LocalNearestCentroid, LocalSDA, NearestCentroid, compact


def problem(rng, n=40, m=25, n_classes=3, levels=None, asymmetric=True):
    """Random similarities; with few `levels` nearly everything is tied."""
    S, Q = rng.random((n, n)), rng.random((m, n))
    if levels:
        S, Q = np.floor(levels * S), np.floor(levels * Q)
    if not asymmetric:
        S = (S + S.T) / 2
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    return S, y, Q


@pytest.mark.parametrize(
    "model",
    [
        *(NearestCentroid(centroid=rule) for rule in ("max-sum", "popular", "any-class")),
        LocalNearestCentroid(n_neighbors=9),
        SDA(),
        *(LocalSDA(n_neighbors=15, neighborhood=name) for name in ("knn", "per-class", "natural", "enclosing")),
    ],
    ids=repr,
)
@pytest.mark.parametrize("levels", [None, 4])
def test_centroids_do_not_depend_on_the_unit(rng, model, levels):
    S, y, Q = problem(rng, levels=levels, asymmetric=False)
    expected, grid = model.fit(S, y).predict(Q), [{}]
    folds = model.predict_path_cv(S, y, np.arange(40) % 5, grid)[0]
    for unit in (1e-10, 1e-30, 1e30):
        np.testing.assert_array_equal(model.fit(unit * S, y).predict(unit * Q), expected)
        np.testing.assert_array_equal(model.predict_path_cv(unit * S, y, np.arange(40) % 5, grid)[0], folds)


def test_centroids_tie_where_sums_cancel():
    """Doubly centered inner products: sums over all objects are zero up to rounding, in any order of summation."""
    Z = np.random.default_rng(0).normal(size=(30, 4))
    Z -= Z.mean(axis=0)
    S = np.kron(np.ones((2, 2)), Z @ Z.T)
    model = NearestCentroid(centroid="any-class").fit(S, np.repeat([0, 1], 30))
    np.testing.assert_array_equal(model.centroids_, [0, 0])


@pytest.mark.parametrize("levels", [None, 3])
@pytest.mark.parametrize("kind", ["similarity", "dissimilarity"])
@pytest.mark.parametrize("rule", ["max-sum", "popular", "any-class"])
@pytest.mark.parametrize("adjusted", [False, True])
def test_nearest_centroid_is_its_definition(rng, levels, kind, rule, adjusted):
    for _ in range(5):
        S, y, Q = problem(rng, levels=levels)
        S, Q = S + 0.5, Q + 0.5
        model = NearestCentroid(kind=kind, centroid=rule, adjusted=adjusted).fit(S, y)
        centroids, labels = oracle.nearest_centroid(
            S, list(y), Q, rule, adjusted, sign=-1.0 if kind == "dissimilarity" else 1.0
        )
        np.testing.assert_array_equal(model.centroids_, centroids)
        np.testing.assert_array_equal(model.predict(Q), labels)


@pytest.mark.parametrize("levels", [None, 3])
@pytest.mark.parametrize("kind", ["similarity", "dissimilarity"])
@pytest.mark.parametrize("k", [1, 2, 5, 17, 40])
def test_local_nearest_centroid_is_its_definition(rng, levels, kind, k):
    S, y, Q = problem(rng, levels=levels)
    sign = -1.0 if kind == "dissimilarity" else 1.0
    model = LocalNearestCentroid(kind=kind, n_neighbors=k).fit(S, y)
    np.testing.assert_array_equal(model.predict(Q), oracle.local_nearest_centroid(S, list(y), Q, k, sign))


def test_missing_entries_are_left_out(rng):
    S, y, Q = problem(rng)
    S[rng.random(S.shape) < 0.3] = np.nan
    Q[rng.random(Q.shape) < 0.3] = np.nan
    model = LocalNearestCentroid(n_neighbors=9).fit(S, y)
    np.testing.assert_array_equal(model.predict(Q), oracle.local_nearest_centroid(S, list(y), Q, 9))
    model = NearestCentroid().fit(S, y)
    assert list(model.centroids_) == [oracle.max_sum_centroid(S, np.flatnonzero(y == h)) for h in range(3)]
    assert set(model.predict(np.full((2, 40), np.nan))) == {np.bincount(y).argmax()}


def test_local_with_all_neighbors_is_global(rng):
    S, y, Q = problem(rng, asymmetric=False)
    local = LocalNearestCentroid(n_neighbors=len(y)).fit(S, y)
    np.testing.assert_array_equal(local.predict(Q), NearestCentroid().fit(S, y).predict(Q))
    np.testing.assert_array_equal(local.local_centroids(Q), np.tile(NearestCentroid().fit(S, y).centroids_, (25, 1)))


def test_one_neighbor_is_its_own_centroid(rng):
    S, y, Q = problem(rng)
    model = LocalNearestCentroid(n_neighbors=1).fit(S, y)
    np.testing.assert_array_equal(model.predict(Q), y[Q.argmax(axis=1)])


def test_four_facial_features():
    """[cazzanti2007] sec. 3.1.1: ten faces; nearest centroid errs on two of class two and ties on the other three."""
    faces = np.array([list(map(int, f)) for f in "1111 0111 1011 1101 1110 1101 0000 0011 0110 0001".split()])
    y = np.repeat([1, 2], 5)
    S = faces @ faces.T
    model = NearestCentroid().fit(S, y)
    np.testing.assert_array_equal(S[:, model.centroids_].sum(axis=0) >= 0, True)
    assert list(model.centroids_) == [0, 5]
    assert [S[z, 0] for z in range(5)] == [4, 3, 3, 3, 3]
    assert [S[z, 5] for z in range(5, 10)] == [3, 0, 1, 1, 1]
    new = np.array([[0, 0, 1, 1]]) @ faces.T  # hair and mouth
    assert model.predict(new)[0] == 1


def test_mirrored_similarity_decides_alike(rng):
    S, y, Q = problem(rng, levels=4)
    a, b = NearestCentroid().fit(S, y), NearestCentroid(kind="dissimilarity").fit(S.max() - S, y)
    np.testing.assert_array_equal(a.predict(Q), b.predict(S.max() - np.minimum(Q, S.max())))


def test_compact_reads_one_column_a_class(rng):
    S, y, Q = problem(rng)
    model = NearestCentroid(adjusted=True).fit(S, y)
    small = compact(model)
    assert small.n_features_in_ == 3
    np.testing.assert_array_equal(small.predict(Q[:, small.columns_]), model.predict(Q))
    again = compact(small)
    np.testing.assert_array_equal(again.predict(Q[:, model.columns_]), model.predict(Q))


def test_degenerate_classes_have_limits(recwarn):
    D = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 2.0], [2.0, 2.0, 0.0]])
    model = NearestCentroid(kind="dissimilarity", adjusted=True).fit(D, [0, 0, 1])
    assert list(model.predict([[1.0, 1.0, 0.5], [1.0, 1.0, 0.0]])) == [0, 1]
    assert NearestCentroid().fit(np.zeros((4, 4)), [0, 0, 1, 1]).predict(np.zeros((2, 4))).tolist() == [0, 0]
    assert not [w for w in recwarn if "zero diagonal" not in str(w.message)]


@pytest.mark.parametrize("y", [[0, 0, 0, 1], [0, 0, 1, 2], [0, 1, 2, 3]])
def test_adjusted_scores_are_finite_for_classes_of_one_object(y):
    """Divided by a mean distance of zero, a distance would be infinite; the limit of a common small mean is not."""
    x = np.array([0.0, 1, 2, 7])
    D = np.abs(x[:, None] - x)
    model = NearestCentroid(adjusted=True, kind="dissimilarity").fit(D, y)
    new = np.array([0.3, 2, 6.5, 7, 100])
    scores = model.decision_function(np.abs(new[:, None] - x))
    assert np.isfinite(scores).all()
    assert model.predict([[7.0, 6, 5, 0]])[0] == y[3]
    # The limit: an object at a positive distance belongs to a class with spread if there is one, else to the nearest.
    spread = np.array([np.ptp(x[np.array(y) == g]) > 0 for g in model.classes_])
    expected = []
    for row in np.abs(new[:, None] - x)[:, model.centroids_]:
        rest = np.flatnonzero(spread) if spread.any() and row.min() > 0 else np.arange(len(row))
        scaled = row / np.where(spread, model.mean_proximity_, 1.0)
        expected.append(rest[scaled[rest].argmin()])
    np.testing.assert_array_equal(model.predict(np.abs(new[:, None] - x)), model.classes_[expected])


def test_adjusted_names_the_class_it_cannot_serve():
    with pytest.raises(ValueError, match="Class 'b'"):
        NearestCentroid(adjusted=True).fit([[1.0, 0.0], [0.0, -1.0]], ["a", "b"])


def test_leave_one_out_path_is_the_plain_loop(rng):
    S, y, _ = problem(rng, n=30, levels=5)
    for model in (
        NearestCentroid(),
        NearestCentroid(centroid="popular"),
        NearestCentroid(centroid="any-class"),
        NearestCentroid(adjusted=True),
    ):
        plain = cross_val_predict(model, S, y, cv=LeaveOneOut())
        np.testing.assert_array_equal(model.predict_path_cv(S, y, np.arange(30), [{}])[0], plain)


def test_iris_levels():
    X, y = load_iris(return_X_y=True)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    assert (NearestCentroid(kind="dissimilarity").fit(D, y).predict(D) == y).mean() > 0.9


def test_a_centroid_of_another_class(rng):
    """Object 2 of class b is nearer to class a than its members; folds choose among the objects outside them."""
    S = np.array([[5.0, 1, 7, 0], [1, 5, 7, 0], [0, 0, 9, 8], [0, 0, 8, 9]])
    y = np.array(["a", "a", "b", "b"])
    assert list(NearestCentroid().fit(S, y).centroids_) == [0, 2]
    model = NearestCentroid(centroid="any-class").fit(S, y)
    assert list(model.centroids_) == [2, 2]
    T, codes, _ = problem(rng)
    folds = np.arange(40) % 5
    found = NearestCentroid(centroid="any-class").predict_path_cv(T, codes, folds, [{}])[0]
    for fold in range(5):
        train, test = folds != fold, folds == fold
        one = NearestCentroid(centroid="any-class").fit(T[np.ix_(train, train)], codes[train])
        np.testing.assert_array_equal(found[test], one.predict(T[np.ix_(test, train)]))
