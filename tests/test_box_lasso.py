"""The box-constrained lasso: certified on grids and on nasty matrices, against a conic solver, exact in its reuse."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import svm as oracle

from similis.datasets import load_benchmark, load_votes
from similis.exceptions import DataNotFoundError
from similis.solvers import BoxLasso, _box_lasso, box_lasso

# [chen2010] table 4.2
EPSILONS = [10.0**p for p in range(-4, 2)]
CS = [10.0**p for p in range(5)]


def two_classes(rng, n=40):
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    Z = rng.normal(size=(n, 3)) + 0.7 * y[:, None]
    return np.exp(-((Z[:, None] - Z) ** 2).sum(-1) / 2), y, Z


def nasty(rng):
    K, y, Z = two_classes(rng)
    n = len(y)
    four = np.repeat(np.arange(n // 4), 4)
    noise = rng.normal(size=(n, n))
    return {
        "kernel": K,
        "linear, rank 3": Z @ Z.T,
        "rank one": np.outer(Z[:, 0], Z[:, 0]),
        "ones": np.ones((n, n)),
        "zero": np.zeros((n, n)),
        "identity": np.eye(n),
        "duplicates": K[np.ix_(four, four)],
        "huge": 1e8 * K,
        "enormous": 1e150 * K,
        "tiny": 1e-8 * K,
        "asymmetric": noise,
        "indefinite": K + 0.3 * (noise + noise.T),
        "negative": -K,
        "hilbert": 1 / (1.0 + np.arange(n)[:, None] + np.arange(n)),
        "polynomial": np.vander(np.linspace(0, 1, n)),
        "few columns": noise[:, :7],
    }, y


def assert_certified(S, y, fit, epsilon, C):
    """The objective is what it says and within 1e-6 of a bound that needs nothing but S, y and the coefficients.

    Where y is all but interpolated, the objective is smaller than what rounding makes of ||y||^2: hence the floor.
    """
    assert (np.abs(fit.coef) <= np.asarray(C) * (1 + 1e-12)).all()
    objective = oracle.box_lasso_objective(S, y, fit.coef, epsilon)
    assert fit.objective == pytest.approx(objective, rel=1e-9, abs=1e-14 * (y @ y))
    bound = oracle.box_lasso_bound(S, y, fit.coef, epsilon, C)
    assert objective - bound <= 1e-6 * objective + 1e-10 * (y @ y)
    assert fit.gap <= 1e-6 * objective + 1e-10 * (y @ y)


@pytest.mark.parametrize("name", sorted(nasty(np.random.default_rng(0))[0]))
def test_nasty_matrices(name, rng):
    matrices, y = nasty(rng)
    S = matrices[name]
    problem = BoxLasso(S, y)
    for epsilon in (0.0, 1e-4, 1e-2, 1.0, 10.0):
        for C in (1e-3, 1.0, 1e4):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                fit = problem.solve(epsilon, C)
            assert_certified(S, y, fit, epsilon, C)


def test_whole_grid_on_votes():
    votes, party = load_votes(return_X_y=True)
    S = (votes[:, None] == votes[None]).mean(axis=2)[::3, ::3]
    y = np.where(np.asarray(party)[::3] == party[0], 1.0, -1.0)
    problem = BoxLasso(S, y)
    for epsilon in EPSILONS:
        for C in CS:
            fit = problem.solve(epsilon, C)
            assert_certified(S, y, fit, epsilon, C)
            assert oracle.box_lasso_violation(S, y, fit.coef, epsilon, C) < 1e-6 * (1 + epsilon)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 8),
    st.integers(1, 8),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 1e-3, 0.3, 5.0]),
    st.sampled_from([1e-2, 1.0, 1e3]),
    st.sampled_from([0, 1]),
)
def test_small_problems(n, p, seed, epsilon, C, digits):
    rng = np.random.default_rng(seed)
    S, y = np.round(rng.normal(size=(n, p)), digits), rng.normal(size=n)
    assert_certified(S, y, box_lasso(S, y, epsilon, C), epsilon, C)


@pytest.mark.parametrize("kind", ["similarity", "singular", "copies", "tall", "wide"])
def test_fixed_coefficients_leave_no_gap(kind, rng, monkeypatch):
    """Steps without the coefficients that are zero or at the bound beyond doubt, against steps with all."""
    n = 160
    Z = rng.normal(size=(n, 4))
    S = np.exp(-np.sqrt(((Z[:, None] - Z) ** 2).sum(-1))) + 0.02 * rng.normal(size=(n, n))
    if kind == "singular":
        S = S[:, :20] @ S[:20]
    elif kind == "copies":
        S = np.repeat(S[:, ::2], 2, axis=1)
    elif kind == "tall":
        S = S[:, :110]
    elif kind == "wide":
        S = S[:60]
    y = np.where(Z[: len(S), 0] > 0, 1.0, -1.0)
    for epsilon in (1e-4, 1e-2, 1.0):
        for C in (0.01, 1.0, 1e4, np.inf):
            fit = box_lasso(S, y, epsilon, C)
            assert fit.gap <= 1e-8 * max(fit.objective, 1e-8 * n)
            with monkeypatch.context() as patch:
                patch.setattr(_box_lasso, "_SMALL", 10**9)
                patch.setattr(_box_lasso, "_POLISHED_GAP", 0.0)
                whole = box_lasso(S, y, epsilon, C)
            assert abs(fit.objective - whole.objective) <= fit.gap + whole.gap + 1e-12 * n


def test_orthogonal_columns_have_a_closed_form(rng):
    Q, _ = np.linalg.qr(rng.normal(size=(30, 10)))
    y, C = 3 * rng.normal(size=30), rng.uniform(0.1, 2.0, size=10)
    for epsilon in (0.0, 0.2, 1.0):
        q = Q.T @ y
        soft = np.sign(q) * np.maximum(np.abs(q) - epsilon, 0)
        np.testing.assert_allclose(box_lasso(Q, y, epsilon).coef, soft, atol=1e-9)
        np.testing.assert_allclose(box_lasso(Q, y, epsilon, C).coef, np.clip(soft, -C, C), atol=1e-9)


def test_zeros_and_bounds_are_exact(rng):
    K, y, _ = two_classes(rng)
    fit = box_lasso(K, y, 0.5, 0.3)
    assert 0 < (fit.coef == 0).sum() < len(y)
    assert (np.abs(fit.coef) == 0.3).any()
    assert oracle.box_lasso_violation(K, y, fit.coef, 0.5, 0.3) < 1e-9


def test_epsilon_above_every_pull_gives_zero(rng):
    K, y, _ = two_classes(rng)
    largest = np.abs(K.T @ y).max()
    assert not box_lasso(K, y, largest).coef.any()
    assert box_lasso(K, y, 0.999 * largest).coef.any()
    assert box_lasso(K, y, largest).objective == pytest.approx(y @ y / 2)


def test_units_do_not_matter(rng):
    K, y, _ = two_classes(rng)
    plain = box_lasso(K, y, 0.1, 1.0)
    for t in (1e-100, 1e-3, 1e7):
        scaled = box_lasso(t * K, y, 0.1 * t, 1.0 / t)
        np.testing.assert_allclose(t * scaled.coef, plain.coef, rtol=1e-6, atol=1e-9)


def test_a_grid_gives_what_single_problems_give(rng):
    """Bit for bit, in any order, whether or not solutions are unique."""
    K, y, _ = two_classes(rng)
    four = np.repeat(np.arange(10), 4)
    for S in (K, K[np.ix_(four, four)]):
        problem = BoxLasso(S, y)
        points = [(epsilon, C) for epsilon in (1e-3, 0.1, 2.0) for C in (0.05, 1.0, 100.0)]
        for epsilon, C in [points[i] for i in rng.permutation(len(points))]:
            alone = box_lasso(S, y, epsilon, C)
            shared = problem.solve(epsilon, C)
            assert alone.coef.tobytes() == shared.coef.tobytes()
            assert (alone.objective, alone.gap) == (shared.objective, shared.gap)


def test_a_grid_costs_few_solves(rng, monkeypatch):
    K, y, _ = two_classes(rng)
    calls = []
    boxed = BoxLasso._boxed
    monkeypatch.setattr(BoxLasso, "_boxed", lambda self, *a: calls.append(1) or boxed(self, *a))
    problem = BoxLasso(K, y)
    for epsilon in EPSILONS:
        for C in CS:
            problem.solve(epsilon, C)
    assert len(calls) <= len(EPSILONS) * len(CS) / 2


def clarabel(S, y, epsilon, C):
    cvxpy = pytest.importorskip("cvxpy")
    a = cvxpy.Variable(S.shape[1])
    loss = cvxpy.sum_squares(y - S @ a) / 2 + epsilon * cvxpy.norm1(a)
    problem = cvxpy.Problem(cvxpy.Minimize(loss), [cvxpy.abs(a) <= C])
    return problem.solve(solver=cvxpy.CLARABEL)


@pytest.mark.parametrize("epsilon", [1e-4, 1e-2, 1.0])
def test_conic_solver_agrees(epsilon, rng):
    matrices, y = nasty(rng)
    for name in ("kernel", "duplicates", "asymmetric", "rank one", "zero"):
        for C in (1.0, 1e4):
            theirs = clarabel(matrices[name], y, epsilon, C)
            assert box_lasso(matrices[name], y, epsilon, C).objective == pytest.approx(theirs, rel=1e-6, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["aural_sonar", "protein_uw", "voting_vdm"])
def test_conic_solver_agrees_on_the_papers_grids(name):
    try:
        data = load_benchmark(name)
    except DataNotFoundError as error:
        pytest.skip(str(error))
    keep = data.target < 2
    S, y = data.proximity[np.ix_(keep, keep)].astype(float), np.where(data.target[keep] == 0, 1.0, -1.0)
    problem = BoxLasso(S, y)
    for epsilon in EPSILONS:
        for C in CS:
            fit = problem.solve(epsilon, C)
            assert_certified(S, y, fit, epsilon, C)
            assert fit.objective == pytest.approx(clarabel(S, y, epsilon, C), rel=1e-6)
