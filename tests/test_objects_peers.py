"""The same numbers as the libraries that users know, on objects of ordinary size."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from scipy.stats import wasserstein_distance
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from similis import (
    DTW,
    Alignment,
    Edit,
    TfidfCosine,
    Wasserstein,
    WeisfeilerLehman,
    load_promoters,
)


def words(rng, n, longest=40, letters="abcdefé🦐"):
    return ["".join(rng.choice(list(letters), rng.integers(0, longest))) for _ in range(n)]


def test_rapidfuzz(rng):
    Levenshtein = pytest.importorskip("rapidfuzz.distance").Levenshtein
    X = words(rng, 70)
    for weights in ((1, 1, 1), (1, 1, 2), (2, 3, 4), (5, 1, 1)):
        raw, scaled = Edit(weights=weights).matrix(X), Edit(weights=weights, normalize=True).matrix(X)
        by_kernel = Edit(weights=weights, gaps={"a": weights[0]}) if weights[0] == weights[1] else None
        for i, x in enumerate(X):
            expected = [Levenshtein.distance(x, z, weights=weights) for z in X]
            assert raw[i].tolist() == expected
            shares = [Levenshtein.normalized_distance(x, z, weights=weights) for z in X]
            np.testing.assert_allclose(scaled[i], shares, atol=1e-14)
        if by_kernel is not None:
            np.testing.assert_array_equal(by_kernel.matrix(X), raw)


def test_parasail(rng):
    parasail = pytest.importorskip("parasail")
    proteins = words(rng, 12, 90, "ARNDCQEGHILKMFPSTWYV")
    proteins = [x for x in proteins if x]
    for name in ("blosum62", "pam250"):
        matrix = getattr(parasail, name)
        for mode, function in (("local", parasail.sw), ("global", parasail.nw)):
            S = Alignment(matrix=name, mode=mode).matrix(proteins)
            expected = [[function(x, z, 11, 1, matrix).score for z in proteins] for x in proteins]
            assert S.tolist() == expected
    X = load_promoters().sequences[:20]
    S = Alignment(matrix="dnafull", gap_open=10).matrix(X)
    assert S.tolist() == [[parasail.sw(x, z, 10, 1, parasail.dnafull).score for z in X] for x in X]


def test_pot_and_scipy(rng):
    ot = pytest.importorskip("ot")
    X = [(rng.normal(size=(k, 3)), rng.random(k) + 0.05) for k in rng.integers(1, 20, 12)]
    for p in (1.0, 2.0):
        W = Wasserstein(p=p).matrix(X)
        for i, (a, u) in enumerate(X):
            costs = [ot.emd2(u / u.sum(), v / v.sum(), cdist(a, b) ** p) ** (1 / p) for b, v in X]
            np.testing.assert_allclose(W[i], costs, atol=1e-12)
    a, b = rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
    costs = cdist(a, b)
    assert Wasserstein()(a, b) == pytest.approx(costs[linear_sum_assignment(costs)].mean())
    x, z, u, v = rng.normal(size=9), rng.normal(size=14), rng.random(9), rng.random(14)
    expected = wasserstein_distance(x, z, u, v)
    assert Wasserstein()((x[:, None], u), (z[:, None], v)) == pytest.approx(expected)


def test_transport_among_ties(rng):
    """Equal weights, equal costs, copies, weights of zero: every pivot may be degenerate."""
    ot = pytest.importorskip("ot")
    grid = np.array([(i, j) for i in range(6) for j in range(6)], dtype=float)
    sets = [(grid, np.ones(36)), (grid[::-1] + 1, np.ones(36)), (np.zeros((7, 2)), np.arange(7.0))]
    sets += [
        (rng.integers(0, 3, size=(k, 2)).astype(float), rng.integers(0, 3, k) + (np.arange(k) < 1)) for k in (1, 9, 40)
    ]
    for metric in ("euclidean", "cityblock", "sqeuclidean"):
        D = Wasserstein(metric=metric).matrix(sets)
        for i, (a, u) in enumerate(sets):
            costs = [ot.emd2(u / u.sum(), v / v.sum(), cdist(a, b, metric)) for b, v in sets]
            np.testing.assert_allclose(D[i], costs, atol=1e-12)
        assert not np.diag(D).any()


def test_pot_takes_over_where_the_simplex_method_ends_in_a_circle(rng, monkeypatch):
    pytest.importorskip("ot")
    X = [rng.normal(size=(k, 2)) for k in (3, 5, 4)]
    expected = Wasserstein().matrix(X)
    monkeypatch.setattr("similis._kernels.transport_costs", lambda M, a, b, starts, out: out.fill(np.nan))
    np.testing.assert_allclose(Wasserstein().matrix(X), expected, atol=1e-12)


def test_scikit_learn(rng):
    X = [" ".join(rng.choice(["red", "green", "blue", "of", "the"], rng.integers(0, 9))) for _ in range(30)]
    new = ["green green cheese", "", "of the"]
    for options in ({}, {"sublinear_tf": True}, {"analyzer": "char_wb", "ngram_range": (2, 4)}):
        vectors = TfidfVectorizer(**options).fit(X)
        measure = TfidfCosine(**options).fit(X)
        A, B = vectors.transform(X), vectors.transform(new)
        np.testing.assert_allclose(measure.matrix(X), cosine_similarity(A), atol=1e-12)
        np.testing.assert_allclose(measure.matrix(new, X), cosine_similarity(B, A), atol=1e-12)


def molecules(rng):
    path = Path(os.environ.get("SIMILIS_DATA", "."), "mutag", "mutag.json")
    if path.exists():
        return json.loads(path.read_text())[:60]
    sizes = rng.integers(2, 15, 60)
    return [
        {
            "node_labels": rng.integers(0, 4, n).tolist(),
            "edges": [[a, b, 0] for a in range(n) for b in range(a) if rng.random() < 0.3 or b == a - 1],
        }
        for n in sizes
    ]


def test_grakel(rng):
    grakel = pytest.importorskip("grakel")
    X = molecules(rng)
    theirs = [
        grakel.Graph(
            {(a, b): 1 for i, j, _ in x["edges"] for a, b in ((i, j), (j, i))},
            node_labels=dict(enumerate(x["node_labels"])),
        )
        for x in X
    ]
    for n_iter in (1, 5):
        for normalize in (False, True):
            kernel = grakel.WeisfeilerLehman(n_iter=n_iter, normalize=normalize)
            expected = kernel.fit_transform(theirs)
            np.testing.assert_allclose(WeisfeilerLehman(n_iter=n_iter, normalize=normalize).matrix(X), expected)


def test_warping_without_slack_is_scipys_distance(rng):
    X = rng.normal(size=(20, 30))
    np.testing.assert_allclose(DTW(window=0).matrix(X), cdist(X, X), atol=1e-12)
