"""``query="raw"`` of SimilarityKNN: the block among the neighbors is repaired, the row is left as it is.

[chen2010] ch. 4; weights by their definitions (3.3), (3.5) and (3.8) with a repaired S~.
"""

import numpy as np
import pytest
from oracles import knn as oracle

from similis import SimilarityKNN
from similis.datasets import load_benchmark
from similis.exceptions import DataNotFoundError
from similis.study import make_model

LAMBDA = 0.3
K = 7


@pytest.fixture(scope="module")
def problem():
    """Indefinite similarities of 30 objects, 12 new rows and three classes."""
    rng = np.random.default_rng(3)
    A = rng.normal(size=(42, 42))
    S = (A + A.T) / 2
    return S[:30, :30], rng.integers(3, size=30), S[30:, :30]


def repaired(block, spectrum):
    values, U = np.linalg.eigh((block + block.T) / 2)
    assert values.min() < -0.1, "the block must need a repair"
    values = {"clip": np.maximum(values, 0), "flip": np.abs(values), "shift": values - values.min()}[spectrum]
    return U @ np.diag(values) @ U.T


@pytest.mark.parametrize("spectrum", ["clip", "flip", "shift"])
@pytest.mark.parametrize("weights", ["kri", "krr", "lime"])
def test_weights_solve_the_papers_problem(problem, weights, spectrum):
    S, y, rows = problem
    model = SimilarityKNN(n_neighbors=K, weights=weights, spectrum=spectrum, query="raw", regularization=LAMBDA)
    indices, w = model.fit(S, y).neighbor_weights(rows)
    for row, near, found in zip(rows, indices, w):
        assert list(near) == oracle.ranked(row, K)
        B, s = repaired(S[np.ix_(near, near)], spectrum), row[near]
        if weights == "krr":  # Eq. (3.8)
            assert found == pytest.approx(np.linalg.solve(B + LAMBDA * np.eye(K), s), abs=1e-9)
            continue
        assert found.min() >= 0
        assert found.sum() == pytest.approx(1)
        if weights == "kri":  # Eq. (3.5): the gradient is smallest, and equal, where the weight is positive
            gradient = B @ found - s + LAMBDA * found
            support = found > 1e-9
        else:  # Eq. (3.3) in kernel form: the gradient is equal everywhere
            gradient = 2 * (B @ found - s) + LAMBDA * np.log(found)
            support = found > 1e-12
        assert np.ptp(gradient[support]) < 1e-4
        assert gradient.min() > gradient[support].mean() - 1e-4


@pytest.mark.parametrize("weights", ["kri", "krr", "lime"])
def test_rules_agree_where_nothing_is_repaired(weights):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 50))
    S, y = X @ X.T, rng.integers(2, size=30)
    both = [
        SimilarityKNN(n_neighbors=K, weights=weights, spectrum="clip", query=query)
        .fit(S[:30, :30], y)
        .neighbor_weights(S[30:, :30])[1]
        for query in ("consistent", "raw")
    ]
    assert both[0] == pytest.approx(both[1], abs=1e-9)


def test_rules_differ_and_the_default_is_consistent(problem):
    S, y, rows = problem
    found = {
        query: SimilarityKNN(n_neighbors=K, weights="kri", **query_of(query)).fit(S, y).neighbor_weights(rows)[1]
        for query in (None, "consistent", "raw")
    }
    assert np.array_equal(found[None], found["consistent"])
    assert np.abs(found["raw"] - found["consistent"]).max() > 0.05


def query_of(query):
    return {} if query is None else {"query": query}


@pytest.mark.parametrize("weights", ["kri", "krr", "lime"])
def test_a_path_gives_the_same_as_single_fits(problem, weights):
    S, y, rows = problem
    model = SimilarityKNN(weights=weights, spectrum="flip", query="raw")
    points = [{"n_neighbors": k, "regularization": r} for k in (2, 9, 20) for r in (0.1, 2.0)]
    model.fit(S, y)
    for point, scores in zip(points, model.path_scores(S, y, rows, points)):
        one = SimilarityKNN(weights=weights, spectrum="flip", query="raw", **point).fit(S, y)
        assert scores == pytest.approx(one.class_scores(rows), abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, k, regularization, printed", [("aural_sonar", 12, 1.0, 0.5757), ("voting_vdm", 128, 0.1, 0.8243)]
)
def test_published_normalized_cross_entropy(name, k, regularization, printed):
    """[chen2010] table 4.8 with the lambda of figures 4.6 and 4.8, leave-one-out; k is best on 8, 12, 16, 24, ..."""
    try:
        data = load_benchmark(name)
    except DataNotFoundError:
        pytest.skip("needs the benchmark data")
    S, y = np.asarray(data.proximity, float), np.unique(data.target, return_inverse=True)[1]
    n = len(y)
    base = -np.log((np.bincount(y)[y] - 1) / (n - 1)).mean()
    found = {}
    for query in ("raw", "consistent"):
        model = SimilarityKNN(weights="kri", spectrum="clip", query=query, smoothing=1e-4)
        point = {"n_neighbors": k, "regularization": regularization}
        (proba,) = model.predict_path_cv(S, y, np.arange(n), [point], response="predict_proba")
        found[query] = round(1 + np.log(proba[np.arange(n), y]).mean() / base, 4)
    assert found["raw"] == printed
    assert found["consistent"] != printed


def test_reachable_by_name():
    model = make_model("kri-knn(clip, query=raw, n_neighbors=5, regularization=1)")
    assert model.named_steps["classifier"].query == "raw"
