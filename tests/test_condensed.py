"""Condensed nearest neighbors: the rule, its limits and its ties."""

import itertools

import numpy as np
import pytest

from similis import CondensedNN, NearestCentroid, SimilarityKNN, compact


def problem(rng, n=36, m=30, n_classes=3):
    y = np.arange(n) % n_classes
    S, Q = rng.random((n, n)), rng.random((m, n))
    return (S + S.T) / 2 + np.eye(n), y, Q


def test_one_prototype_is_the_centroid(rng):
    S, y, Q = problem(rng)
    for kind in ("similarity", "dissimilarity"):
        D = S if kind == "similarity" else 2 - S
        one = CondensedNN(kind=kind, random_state=0).fit(D, y)
        np.testing.assert_array_equal(one.prototypes_, NearestCentroid(kind=kind).fit(D, y).centroids_)
        np.testing.assert_array_equal(one.predict(Q), NearestCentroid(kind=kind).fit(D, y).predict(Q))


def test_all_prototypes_are_nearest_neighbor(rng):
    S, y, Q = problem(rng)
    every = CondensedNN(n_prototypes=99, random_state=0).fit(S, y)
    assert sorted(every.prototypes_) == list(range(36))
    np.testing.assert_array_equal(every.predict(Q), SimilarityKNN(n_neighbors=1).fit(S, y).predict(Q))


@pytest.mark.parametrize("clustering", ["kmedoids", "vsh"])
def test_prototypes_are_medoids_of_their_classes(rng, clustering):
    S, y, Q = problem(rng, n=24)
    model = CondensedNN(n_prototypes=2, clustering=clustering, n_init=50, random_state=0).fit(S, y)
    for h in range(3):
        members = np.flatnonzero(y == h)
        mine = model.prototypes_[model.prototype_classes_ == h]
        assert set(mine) <= set(members)
        best = max(S[np.ix_(members, pair)].max(axis=1).sum() for pair in itertools.combinations(members, 2))
        assert S[np.ix_(members, mine)].max(axis=1).sum() == pytest.approx(best)
        assert model.cluster_sizes_[model.prototype_classes_ == h].sum() == len(members)
    nearest = model.prototypes_[Q[:, model.prototypes_].argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(Q), y[nearest])


def test_ties_go_to_the_larger_cluster():
    S = np.zeros((5, 5))
    S[:2, :2] = S[2:, 2:] = 1.0
    model = CondensedNN(random_state=0).fit(S, [0, 0, 1, 1, 1])
    assert model.predict(np.ones((1, 5))).tolist() == [1]


def test_compact_keeps_the_prototypes(rng):
    S, y, Q = problem(rng)
    model = CondensedNN(n_prototypes=2, random_state=1).fit(S, y)
    small = compact(model)
    assert small.n_features_in_ == 6
    np.testing.assert_array_equal(small.predict(Q[:, small.columns_]), model.predict(Q))


def test_duplicates_and_singletons(recwarn):
    S = np.ones((5, 5))
    model = CondensedNN(n_prototypes=3, random_state=0).fit(S, [0, 0, 0, 0, 1])
    assert model.predict(S).tolist() == [0] * 5
    assert not recwarn.list
