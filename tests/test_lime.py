"""Maximum entropy interpolation: stationarity recomputed from the data, limits, a second solver."""

import numpy as np
import pytest
from oracles import simplex_qp as oracle

from similis.solvers import kri_weights, lime_weights

RIDGES = 10.0 ** np.arange(-6, 7)


@pytest.mark.parametrize("k", [1, 2, 5, 20])
def test_stationary_on_adversarial_blocks(rng, k):
    for _ in range(3):
        for name, S, s in oracle.adversarial_blocks(rng, k):
            solved = lime_weights(S, s, RIDGES)
            scale = max(np.abs(S).max(), np.abs(s).max())
            for r, ridge in enumerate(np.maximum(RIDGES, 1e-7 * scale)):  # the documented least ridge
                # The gradient holds ridge log w, w a softmax at temperature ridge: round-off grows as 1/ridge.
                noise = 1e-12 + 2e-15 * scale / ridge
                assert oracle.lime_kkt(S, s, ridge, solved.weights[0, 0, r]) < noise, (name, ridge)
                assert solved.gap[0, 0, r] <= 1e-12 * (scale + ridge)


def test_against_a_conic_solver(rng):
    cp = pytest.importorskip("cvxpy")
    for ridge in (0.01, 1.0):
        A = rng.standard_normal((7, 5))
        S, s = A @ A.T, rng.standard_normal(7)
        w = cp.Variable(7)
        objective = cp.sum_squares(A.T @ w) - 2 * s @ w - ridge * cp.sum(cp.entr(w))
        cp.Problem(cp.Minimize(objective), [cp.sum(w) == 1]).solve(solver="CLARABEL")
        ours = lime_weights(S, s, ridge).weights.ravel()
        np.testing.assert_allclose(ours, w.value, atol=1e-4)
        assert oracle.lime_objective(S, s, ridge, ours) <= oracle.lime_objective(S, s, ridge, w.value) + 1e-9


def test_limits(rng):
    A = rng.standard_normal((6, 6))
    S, s = A @ A.T, rng.standard_normal(6)
    np.testing.assert_allclose(lime_weights(S, s, 1e9).weights.ravel(), 1 / 6, atol=1e-8)
    # Without a quadratic term the solution is a softmax; as the entropy vanishes, interpolation itself remains.
    soft = np.exp(2 * s / 0.7)
    np.testing.assert_allclose(lime_weights(np.zeros((6, 6)), s, 0.7).weights.ravel(), soft / soft.sum(), atol=1e-12)
    np.testing.assert_allclose(
        lime_weights(S, s, 1e-8).weights.ravel(), kri_weights(S, s, 1e-10).weights.ravel(), atol=1e-5
    )
    np.testing.assert_array_equal(lime_weights([[1.0]], [2.0], 1.0).weights.ravel(), [1.0])


def test_duplicates_share_and_order_of_ridges_is_free(rng):
    X = rng.standard_normal((4, 3))[[0, 0, 0, 1, 2, 3]]
    S, s = X @ X.T, X @ rng.standard_normal(3)
    ridges = [1.0, 1e-4, 10.0, 1e-2]
    batch = lime_weights(S, s, ridges).weights[0, 0]
    np.testing.assert_allclose(batch[:, 0], batch[:, 1], rtol=1e-9)
    for r, ridge in enumerate(ridges):
        np.testing.assert_allclose(batch[r], lime_weights(S, s, ridge).weights.ravel(), atol=1e-8)


def test_leading_blocks(rng):
    A = rng.standard_normal((2, 9, 9))
    blocks, s = A @ A.swapaxes(1, 2), rng.standard_normal((2, 9))
    grid = lime_weights(blocks, s, [0.5, 0.05], ks=[1, 4, 9], known=np.array([9, 6])).weights
    for t, k in enumerate((1, 4, 9)):
        np.testing.assert_allclose(
            grid[0, t, :, :k], lime_weights(blocks[0, :k, :k], s[0, :k], [0.5, 0.05]).weights[0, 0], atol=1e-10
        )
    np.testing.assert_allclose(grid[1, 2, :, :6], lime_weights(blocks[1, :6, :6], s[1, :6], [0.5, 0.05]).weights[0, 0])
    assert (grid[1, 2, :, 6:] == 0).all()
