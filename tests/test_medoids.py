"""k-medoids: the exact optimum by enumeration, exchange optima by brute force, degenerate sets, determinism."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import medoids as oracle

from similis.solvers import k_medoids, total_proximity

METHODS = ["vsh", "eager", "alternating"]


def problem(rng, n, *, symmetric=True):
    X = rng.standard_normal((n, 2)) + 3 * rng.integers(0, 3, (n, 1))
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    return D if symmetric else D * (0.5 + rng.random((n, n)))


@pytest.mark.parametrize("method", ["vsh", "eager"])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_best_of_restarts_is_the_exact_optimum(rng, method, symmetric, weighted):
    for k in (1, 2, 3, 4):
        D = problem(rng, 12, symmetric=symmetric)
        weights = rng.random(12) if weighted else None
        exact = oracle.best_medoids(D, k, weights)
        found = k_medoids(D, k, sign=-1, method=method, weights=weights, n_init=20, random_state=0)
        assert found.converged
        np.testing.assert_allclose(found.total, exact, rtol=1e-12)
        # The same in similarities: s = 5 - d is worth 5 - d.
        alike = k_medoids(5 - D, k, sign=1, method=method, weights=weights, n_init=20, random_state=0)
        np.testing.assert_allclose(oracle.loss(D, alike.medoids, weights), exact, rtol=1e-12)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["vsh", "eager"]), st.booleans(), st.booleans())
def test_ends_where_no_exchange_improves(seed, method, symmetric, rounded):
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 15)), int(rng.integers(1, 6))
    D = problem(rng, n, symmetric=symmetric)
    D = np.round(D) if rounded else D
    weights = rng.random(n)
    found = k_medoids(D, min(k, n), sign=-1, method=method, weights=weights, random_state=seed % 1000)
    now = oracle.loss(D, found.medoids, weights)
    np.testing.assert_allclose(found.total, now, rtol=1e-12, atol=1e-12)
    assert oracle.exchange_losses(D, found.medoids, weights).min() >= now - 1e-9
    np.testing.assert_array_equal(found.labels, D[:, found.medoids].argmin(axis=1))


@pytest.mark.parametrize("symmetric", [True, False])
def test_vertex_substitution_follows_the_best_exchange(rng, symmetric):
    for _ in range(10):
        D, start = problem(rng, 25, symmetric=symmetric), rng.choice(25, 4, replace=False)
        weights = rng.random(25)
        medoids, trail = oracle.vertex_substitution(D, start, weights)
        found = k_medoids(D, 4, sign=-1, weights=weights, init=start)
        assert sorted(medoids) == found.medoids.tolist()
        assert found.n_swaps == len(trail) - 1
        stopped = k_medoids(D, 4, sign=-1, weights=weights, init=start, max_iter=1)
        np.testing.assert_allclose(stopped.total, trail[min(1, len(trail) - 1)])
        assert stopped.converged == (len(trail) == 1)


def test_alternating_follows_assignment_and_update(rng):
    for _ in range(20):
        D, start = problem(rng, 30, symmetric=False), rng.choice(30, 4, replace=False)
        weights = rng.random(30)
        found = k_medoids(D, 4, sign=-1, method="alternating", weights=weights, init=start)
        assert found.medoids.tolist() == sorted(oracle.alternating(D, start, weights))
        assert found.total <= oracle.loss(D, start, weights)


def test_alternating_on_similarities_is_equation_2_8():
    """Ten binary objects around 1111 and 0000: the update finds the objects most similar to their own."""
    X = np.array([[1, 1, 1, 1], [0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [0, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    S = (X[:, None] == X[None]).sum(-1).astype(float)
    found = k_medoids(S, 2, method="alternating", init=[1, 6])
    assert found.medoids.tolist() == [0, 4]
    assert found.labels.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert found.total == 4 + 3 + 3 + 3 + 4 + 3 + 3


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("init", ["random", "k-means++", "k-center"])
def test_starts_are_distinct_objects(rng, method, init):
    D = problem(rng, 5)[np.ix_([0] * 40 + [1, 2], [0] * 40 + [1, 2])]  # one object forty times, two others
    for seed in range(10):
        found = k_medoids(D, 3, sign=-1, method=method, init=init, random_state=seed)
        assert found.total == 0
        assert len(found.medoids) == 3
    more = k_medoids(D, 7, sign=-1, method=method, init=init, random_state=0)
    assert len(more.medoids) == 3
    assert more.total == 0
    similar = k_medoids(1 - D, 3, method=method, init=init, random_state=0)
    assert similar.total == len(D)


@pytest.mark.parametrize("method", METHODS)
def test_degenerate_sets(method):
    for D in (np.zeros((1, 1)), np.zeros((4, 4)), np.ones((3, 3))):
        found = k_medoids(D, 1, sign=-1, method=method, random_state=0)
        assert found.medoids.tolist() in ([0], [1], [2], [3])
        assert found.total == D[0].sum()
        assert found.converged
    everyone = k_medoids(1.0 - np.eye(4), 4, sign=-1, method=method, random_state=0)
    assert everyone.medoids.tolist() == [0, 1, 2, 3]
    assert everyone.labels.tolist() == [0, 1, 2, 3]
    weightless = k_medoids(1.0 - np.eye(4), 2, sign=-1, method=method, weights=np.zeros(4), random_state=0)
    assert weightless.total == 0


@pytest.mark.parametrize("method", METHODS)
def test_threads_seeds_and_float32(rng, method):
    D = problem(rng, 80)
    runs = [k_medoids(D, 5, sign=-1, method=method, n_init=7, random_state=3, n_jobs=j) for j in (1, 2, 4)]
    for other in runs[1:]:
        np.testing.assert_array_equal(other.medoids, runs[0].medoids)
        assert other.total == runs[0].total
    rough = k_medoids(D.astype(np.float32), 5, sign=-1, method=method, n_init=7, random_state=3)
    np.testing.assert_allclose(rough.total, runs[0].total, rtol=1e-5)
    once = k_medoids(D, 5, sign=-1, method=method, n_init=1, random_state=3)
    assert runs[0].total <= once.total


def test_total_and_labels(rng):
    D, medoids, weights = rng.random((9, 9)), np.array([2, 5]), rng.random(9)
    labels, total = total_proximity(D, medoids, sign=-1, weights=weights)
    np.testing.assert_array_equal(labels, D[:, medoids].argmin(axis=1))
    np.testing.assert_allclose(total, oracle.loss(D, medoids, weights))
