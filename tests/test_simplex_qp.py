"""Kernel ridge interpolation: optimality conditions recomputed from the data, worked numbers, spectrum, whole grids."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import simplex_qp as oracle

from similis.exceptions import ProximityError
from similis.solvers import kri_weights, local_psd, local_scores, local_weights, psd_prefix, top_k

RIDGES = 10.0 ** np.arange(-6, 7)
KS = [1, 2, 3, 5, 8, 9, 16, 17, 30]

S2 = np.array([[5.0, 1, 1, 1], [1, 5, 4, 2], [1, 4, 5, 2], [1, 2, 2, 5]])
WORKED = [  # S, s, ridge, weights: the three examples of [chen2010] sec. 3.2.2
    (5 * np.eye(4), [4, 3, 2, 1], 0.1, [0.529412, 0.333333, 0.137255, 0]),
    (5 * np.eye(4), [4, 3, 2, 1], 1.0, [0.5, 0.333333, 0.166667, 0]),
    (5 * np.eye(4), [4, 3, 2, 1], 10.0, [0.35, 0.283333, 0.216667, 0.15]),
    (S2, [3, 3, 3, 3], 0.1, [0.369145, 0.173066, 0.173066, 0.284722]),
    (S2, [3, 3, 3, 3], 1.0, [0.351852, 0.185185, 0.185185, 0.277778]),
    (S2, [3, 3, 3, 3], 10.0, [0.291358, 0.224691, 0.224691, 0.259259]),
    (S2, [2, 4, 3, 3], 0.1, [0.157895, 0.582343, 0, 0.259762]),
    (S2, [2, 4, 3, 3], 1.0, [0.185185, 0.518519, 0.018519, 0.277778]),
    (S2, [2, 4, 3, 3], 10.0, [0.224691, 0.303479, 0.212570, 0.259259]),
]


@pytest.mark.parametrize("S, s, ridge, expected", WORKED)
def test_worked_examples(S, s, ridge, expected):
    np.testing.assert_allclose(kri_weights(S, np.array(s, float), ridge).weights.ravel(), expected, atol=6e-7)


@pytest.mark.parametrize("k", [1, 2, 5, 13, 30])
def test_optimality_of_every_problem_on_adversarial_blocks(rng, k):
    """16 kinds of block x 13 ridges x all leading sizes, each judged by conditions computed here."""
    ks = [size for size in KS if size <= k]
    for _ in range(5):
        for name, S, s in oracle.adversarial_blocks(rng, k):
            solved = kri_weights(S, s, RIDGES, ks=ks)
            for t, size in enumerate(ks):
                for r, ridge in enumerate(RIDGES):
                    w = solved.weights[0, t, r]
                    assert (w[size:] == 0).all()
                    assert oracle.kri_kkt(S[:size, :size], s[:size], ridge, w[:size]) < 1e-12, (name, size, ridge)


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.floats(1e-6, 1e6))
def test_best_of_all_supports(seed, k, ridge):
    rng = np.random.default_rng(seed)
    A = np.round(rng.standard_normal((k, rng.integers(1, k + 1))), 1)
    S, s = A @ A.T, np.round(rng.standard_normal(k), 1)
    w = kri_weights(S, s, ridge).weights.ravel()
    expected = oracle.kri_by_enumeration(S, s, ridge)
    scale = np.abs(S).max() + np.abs(s).max() + ridge
    assert oracle.kri_objective(S, s, ridge, w) <= oracle.kri_objective(S, s, ridge, expected) + 1e-12 * scale
    if ridge > 1e-3:
        np.testing.assert_allclose(w, expected, atol=1e-9)


def test_gap_bounds_the_objective(rng):
    A = rng.standard_normal((20, 12))
    S, s = A @ A.T, rng.standard_normal(20)
    solved = kri_weights(S, s, RIDGES)
    assert (solved.gap >= 0).all()
    assert (solved.gap[0, 0] <= 1e-12 * (np.abs(S).max() + RIDGES)).all()


def test_order_of_neighbors_does_not_matter(rng):
    A = rng.standard_normal((40, 40))
    S, s, order = A @ A.T, rng.standard_normal(40), rng.permutation(40)
    w = kri_weights(S, s, 0.1).weights.ravel()
    shuffled = kri_weights(S[np.ix_(order, order)], s[order], 0.1).weights.ravel()
    np.testing.assert_allclose(shuffled, w[order], atol=1e-10)


def test_limits_of_the_ridge():
    S, s = np.diag([1.0, 2.0, 3.0]), np.array([3.0, 1.0, 0.0])
    np.testing.assert_allclose(kri_weights(S, s, 1e12).weights.ravel(), [1 / 3] * 3, atol=1e-9)
    np.testing.assert_allclose(kri_weights(np.zeros((3, 3)), s, 1e-9).weights.ravel(), [1, 0, 0], atol=1e-9)
    np.testing.assert_array_equal(kri_weights([[2.0]], [5.0], 1.0).weights.ravel(), [1.0])
    duplicated = kri_weights(np.ones((4, 4)), np.ones(4), 1e-6).weights.ravel()
    np.testing.assert_allclose(duplicated, 0.25, atol=1e-9)


def test_prefix_is_where_eigenvalues_turn_negative(rng):
    for _ in range(50):
        k = int(rng.integers(1, 12))
        A = rng.standard_normal((k, k))
        S = A @ A.T / k - rng.random() * 0.3 * np.eye(k)
        positive = [np.linalg.eigvalsh(S[:j, :j])[0] > 1e-8 for j in range(1, k + 1)]
        expected = positive.index(False) if False in positive else k
        assert psd_prefix(S[None], np.array([k]))[0] == expected


def test_prefix_goes_through_dependent_rows_that_agree(rng):
    """Duplicates and low rank need no spectrum when the query agrees with them, and do when it does not."""
    for rank in (1, 2, 3):
        X = rng.standard_normal((9, rank))[rng.integers(0, 9, 12)]
        S, s, k = (X @ X.T)[None], (X @ rng.standard_normal(rank))[None], np.array([12])
        assert psd_prefix(S, k)[0] == 12
        assert psd_prefix(S, k, s)[0] == 12
        made, moved = local_psd(S, s, "clip")
        np.testing.assert_allclose(made, S, atol=1e-12)
        np.testing.assert_allclose(moved, s, atol=1e-12)
        odd = s + rng.standard_normal((1, 12))
        assert psd_prefix(S, k, odd)[0] <= rank + 8
        worse = S.copy()
        worse[0, 11, 0] += 1e-3
        worse[0, 0, 11] += 1e-3
        assert psd_prefix(worse, k)[0] == (11 if np.linalg.eigvalsh(worse[0])[0] < -1e-9 else 12)
    assert psd_prefix(np.zeros((1, 3, 3)), np.array([3]))[0] == 3
    assert psd_prefix(np.zeros((1, 3, 3)), np.array([3]), np.ones((1, 3)))[0] == 0
    assert psd_prefix(-np.ones((1, 3, 3)), np.array([3]))[0] == 0
    assert psd_prefix(np.ones((1, 3, 3)), np.array([3]), np.ones((1, 3)))[0] == 3
    assert psd_prefix(np.array([[[0.0, 1.0], [1.0, 5.0]]]), np.array([2]))[0] == 1


@pytest.mark.parametrize("spectrum", ["clip", "flip", "shift"])
def test_local_treatment_follows_the_paper(rng, spectrum):
    A = rng.standard_normal((5, 9, 9))
    blocks, s = (A + A.swapaxes(1, 2)) / 2, rng.standard_normal((5, 9))
    made, moved = local_psd(blocks, s, spectrum)
    for c in range(5):
        expected, expected_s = oracle.TREATMENTS[spectrum](blocks[c], s[c])
        np.testing.assert_allclose(made[c], expected, atol=1e-12)
        np.testing.assert_allclose(moved[c], expected_s, atol=1e-12)
        assert np.linalg.eigvalsh(made[c])[0] > -1e-12
    if spectrum != "shift":  # consistency, [chen2010] sec. 4.1: a column of S becomes the column of S~
        _, column = local_psd(blocks, blocks[:, :, 3], spectrum)
        np.testing.assert_allclose(column, made[:, :, 3], atol=1e-12)


def indefinite_problem(rng, n=40, m=7, K=11, holes=True):
    """A training matrix with a negative part, queries, ranked neighbors, some rows with few known ones."""
    A = rng.standard_normal((n, n))
    X = rng.standard_normal((n, 4))
    S = X @ X.T + 0.8 * (A + A.T)
    Q = rng.standard_normal((m, n))
    if holes:
        Q[1, 4:] = np.nan
        Q[2] = np.nan
    indices, s = top_k(Q, K)
    return S, indices, s


@pytest.mark.parametrize("spectrum", ["clip", "flip", "shift"])
def test_weights_solve_the_treated_problem_of_each_query(rng, spectrum):
    S, indices, s = indefinite_problem(rng)
    S[:6, :6] = 3 * np.eye(6)
    indices[3, :6] = [5, 0, 1, 2, 3, 4]  # a query whose block is positive definite at first
    weights = local_weights(S, indices, s, 0.3, spectrum=spectrum)
    for i, row in enumerate(indices):
        row = row[row >= 0]
        assert (weights[i, len(row) :] == 0).all()
        if len(row):
            block, query = oracle.TREATMENTS[spectrum](S[np.ix_(row, row)], s[i, : len(row)])
            assert oracle.kri_kkt(block, query, 0.3, weights[i, : len(row)]) < 1e-10


@pytest.mark.parametrize("shares", [(1 / 3, 1 / 3, 1 / 3), (0.9, 0.1, 0.0)])  # the second: many pure neighborhoods
@pytest.mark.parametrize("method, spectrum", [("kri", "clip"), ("kri", "flip"), ("kri", "shift"), ("lime", "clip")])
def test_scores_of_a_grid_are_the_scores_of_its_points(rng, method, spectrum, shares):
    S, indices, s = indefinite_problem(rng)
    S[:20, :20] += 30 * np.eye(20)  # some leading blocks definite, others not
    codes = rng.choice(3, size=len(S), p=shares)
    ks, ridges = [5, 1, 11, 3], [0.1, 10.0, 1e-3]
    scores = local_scores(S, indices, s, codes, 3, ks, ridges, method=method, spectrum=spectrum)
    assert scores.shape == (4, 3, len(indices), 3)
    for t, k in enumerate(ks):
        for r, ridge in enumerate(ridges):
            w = local_weights(S, indices[:, :k], s[:, :k], ridge, method=method, spectrum=spectrum)
            one_hot = np.eye(4)[np.where(indices[:, :k] >= 0, codes[indices[:, :k]], 3)][..., :3]
            np.testing.assert_allclose(scores[t, r], np.einsum("mk,mkg->mg", w, one_hot), atol=2e-8)


def test_float32_and_threads(rng):
    S, indices, s = indefinite_problem(rng, holes=False)
    codes = rng.integers(0, 3, len(S))
    single = local_scores(S, indices, s, codes, 3, [4, 11], [0.1, 1.0])
    for jobs in (2, 4):
        again = local_scores(S, indices, s, codes, 3, [4, 11], [0.1, 1.0], n_jobs=jobs)
        np.testing.assert_array_equal(again, single)
    rough = local_scores(S.astype(np.float32), indices, s.astype(np.float32), codes, 3, [4, 11], [0.1, 1.0])
    np.testing.assert_allclose(rough, single, atol=1e-4)


def test_only_the_symmetric_part_matters(rng):
    S, indices, s = indefinite_problem(rng, holes=False)
    skew = rng.standard_normal(S.shape)
    np.testing.assert_allclose(
        local_weights(S + skew - skew.T, indices, s, 1.0), local_weights(S, indices, s, 1.0), atol=1e-9
    )


def test_indefinite_without_treatment_is_refused_in_one_sentence(rng):
    S, indices, s = indefinite_problem(rng)
    with pytest.raises(ProximityError, match="spectrum='clip'"):
        local_weights(S, indices, s, 1.0, spectrum=None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        local_weights(np.ones((40, 40)), indices, s, 1.0, spectrum=None)
        for spectrum in ("clip", "flip", "shift", None):
            local_weights(np.zeros((40, 40)), indices, s, 1.0, spectrum=spectrum)
