"""Kernel ridge regression weights: the growing factor against plain solves, indefinite blocks, worked numbers."""

import numpy as np
import pytest
from oracles import simplex_qp as oracle
from test_simplex_qp import S2, indefinite_problem

from similis.solvers import krr_weights, local_scores, local_weights, spectral_filter

S1 = 5 * np.eye(4)
WORKED = [  # S, s, ridge, weights, normalized weights: the three examples of [chen2010] sec. 3.2.2
    (S1, [4, 3, 2, 1], 0.1, [0.784314, 0.588235, 0.392157, 0.196078], [0.544118, 0.348039, 0.151961, -0.044118]),
    (S1, [4, 3, 2, 1], 1.0, [0.666667, 0.5, 0.333333, 0.166667], [0.5, 0.333333, 0.166667, 0]),
    (S1, [4, 3, 2, 1], 10.0, [0.266667, 0.2, 0.133333, 0.066667], [0.35, 0.283333, 0.216667, 0.15]),
    (S2, [3, 3, 3, 3], 0.1, [0.440596, 0.206565, 0.206565, 0.339832], [0.392206, 0.158175, 0.158175, 0.291443]),
    (S2, [3, 3, 3, 3], 1.0, [0.382550, 0.201342, 0.201342, 0.302013], [0.360738, 0.179530, 0.179530, 0.280201]),
    (S2, [3, 3, 3, 3], 10.0, [0.172095, 0.132718, 0.132718, 0.153136], [0.274429, 0.235051, 0.235051, 0.255469]),
    (S2, [2, 4, 3, 3], 0.1, [0.215720, 0.745648, -0.163442, 0.317621], [0.186833, 0.716762, -0.192329, 0.288734]),
    (S2, [2, 4, 3, 3], 1.0, [0.194631, 0.523490, 0.023490, 0.285235], [0.187919, 0.516779, 0.016779, 0.278523]),
    (S2, [2, 4, 3, 3], 10.0, [0.101604, 0.208556, 0.117647, 0.149733], [0.207219, 0.314171, 0.223262, 0.255348]),
]  # fmt: skip


@pytest.mark.parametrize("S, s, ridge, expected, normalized", WORKED)
def test_worked_examples(S, s, ridge, expected, normalized):
    w = krr_weights(S, np.array(s, float), ridge).weights.ravel()
    np.testing.assert_allclose(w, expected, atol=6e-7)
    np.testing.assert_allclose(w - w.mean() + 0.25, normalized, atol=6e-7)
    np.testing.assert_allclose(spectral_filter(S[None], np.array([s], float), np.array([ridge]), "pinv").ravel(), w)


@pytest.mark.parametrize("K", [1, 2, 3, 17, 64])
def test_growing_factor_equals_plain_solves(rng, K):
    A = rng.standard_normal((4, K, K + 3))
    blocks, s, ridges = A @ A.swapaxes(1, 2) / K, rng.standard_normal((4, K)), np.array([1e-3, 0.1, 10.0])
    ks = np.unique(np.minimum([1, 2, 3, 9, 17, 40, 64], K))
    solved = krr_weights(blocks, s, ridges, ks=ks)
    assert (solved.sound == K).all()
    for t, k in enumerate(ks):
        for r, ridge in enumerate(ridges):
            expected = np.linalg.solve(blocks[:, :k, :k] + ridge * np.eye(k), s[:, :k, None])[..., 0]
            np.testing.assert_allclose(solved.weights[:, t, r, :k], expected, atol=1e-9)
            assert (solved.weights[:, t, r, k:] == 0).all()


@pytest.mark.parametrize("spectrum", ["clip", "flip", "shift", "pinv"])
def test_one_decomposition_serves_all_ridges(rng, spectrum):
    A = rng.standard_normal((3, 8, 8))
    blocks, s, ridges = (A + A.swapaxes(1, 2)) / 2, rng.standard_normal((3, 8)), np.array([1e-3, 1.0, 50.0])
    found = spectral_filter(blocks, s, ridges, spectrum)
    for c in range(3):
        S, query = oracle.TREATMENTS[spectrum](blocks[c], s[c]) if spectrum != "pinv" else (blocks[c], s[c])
        for r, ridge in enumerate(ridges):
            np.testing.assert_allclose(found[c, r], np.linalg.pinv(S + ridge * np.eye(8)) @ query, atol=1e-8)


def test_exactly_singular_is_the_pseudo_inverse():
    """S + ridge I with an eigenvalue of zero: w = (S + ridge I)^+ s, not an explosion."""
    S, s = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([3.0, 1.0])
    expected = np.linalg.pinv(S + np.eye(2)) @ s
    np.testing.assert_allclose(spectral_filter(S[None], s[None], np.array([1.0]), "pinv").ravel(), expected)
    np.testing.assert_allclose(local_weights(S, np.array([[0, 1]]), s[None], 1.0, method="krr")[0], expected)
    zero = local_weights(np.zeros((2, 2)), np.array([[0, 1]]), s[None], 0.0, method="krr", spectrum="pinv")
    np.testing.assert_array_equal(zero, [[0.0, 0.0]])


@pytest.mark.parametrize("spectrum", ["clip", "flip", "shift", "pinv", None])
@pytest.mark.parametrize("lift", [0.0, 30.0])
def test_scores_of_a_grid_follow_the_definition(rng, spectrum, lift):
    S, indices, s = indefinite_problem(rng)
    S[:20, :20] += lift * np.eye(20)
    codes = rng.integers(0, 3, len(S))
    ks, ridges = [11, 2, 6], [0.1, 100.0, 1e-3]
    scores = local_scores(S, indices, s, codes, 3, ks, ridges, method="krr", spectrum=spectrum)
    for t, k in enumerate(ks):
        for r, ridge in enumerate(ridges):
            for i, row in enumerate(indices[:, :k]):
                row = row[row >= 0]
                block, query = S[np.ix_(row, row)], s[i, : len(row)]
                if spectrum in oracle.TREATMENTS and len(row):
                    block, query = oracle.TREATMENTS[spectrum](block, query)
                w = np.linalg.pinv(block + ridge * np.eye(len(row))) @ query
                expected = [w[codes[row] == g].sum() for g in range(3)]
                np.testing.assert_allclose(scores[t, r, i], expected, rtol=1e-6, atol=1e-8)


def test_weights_of_one_point_are_those_of_the_grid(rng):
    S, indices, s = indefinite_problem(rng, holes=False)
    single = local_weights(S, indices, s, 0.5, method="krr", spectrum="pinv")
    for jobs in (2, 3):
        again = local_weights(S, indices, s, 0.5, method="krr", spectrum="pinv", n_jobs=jobs)
        np.testing.assert_array_equal(again, single)
    expected = [np.linalg.pinv(S[np.ix_(r, r)] + 0.5 * np.eye(len(r))) @ q for r, q in zip(indices, s)]
    np.testing.assert_allclose(single, expected, rtol=1e-6, atol=1e-9)


def test_grid_and_point_agree(rng):
    """Which way a problem is solved must not depend on what else is in the grid."""
    S, indices, s = indefinite_problem(rng)
    codes = np.arange(len(S)) % 3
    ks, ridges = [3, 6, 11], [1e-3, 3.0, 40.0]
    for spectrum in ("pinv", "clip"):
        grid = local_scores(S, indices, s, codes, 3, ks, ridges, method="krr", spectrum=spectrum)
        for t, k in enumerate(ks):
            for r, ridge in enumerate(ridges):
                point = local_scores(
                    S, indices[:, :k], s[:, :k], codes, 3, [k], [ridge], method="krr", spectrum=spectrum
                )
                np.testing.assert_allclose(point[0, 0], grid[t, r], rtol=1e-9, atol=1e-12)


def test_nearly_singular_blocks_without_a_ridge():
    """Eigenvalues above round-off but too small for a safe factor still give the treated solution."""
    S, s = np.diag([1.0, 1e-11]), np.array([[1.0, 1.0]])
    for spectrum in ("clip", "flip", "pinv"):
        w = local_weights(S, np.array([[0, 1]]), s, 0.0, method="krr", spectrum=spectrum)
        np.testing.assert_allclose(w, [[1.0, 1e11]], rtol=1e-6)
