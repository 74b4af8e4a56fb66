"""Certificates of the solvers on random problems: smooth, noisy, singular, duplicated, of any scale; cold and warm."""

import numpy as np
import pytest

from similis.solvers import (
    BoxLasso,
    FullKernelMachine,
    IndefiniteMachine,
    LearntSpectrum,
    SpectralMachine,
    lp_margin,
    svm_path,
)

KINDS = ("smooth", "noisy", "singular", "copies", "rank one", "integers")
COUNTS = [12, pytest.param(300, marks=pytest.mark.slow)]


def problem(rng, number):
    """Symmetric similarities in any unit and labels 1 and -1, both present."""
    n = int(rng.integers(6, 50))
    y = np.where(rng.permutation(n) < rng.integers(1, n), 1.0, -1.0)
    Z = rng.normal(size=(n, 3)) + rng.uniform(0, 1.5) * y[:, None]
    S = np.exp(-np.sqrt(((Z[:, None] - Z) ** 2).sum(-1)))
    kind = KINDS[number % len(KINDS)]
    if kind == "noisy":
        E = rng.normal(size=(n, n))
        S = S + 0.1 * (E + E.T)
    elif kind == "singular":
        S = np.tanh(Z @ Z.T)[:, :4] @ np.diag([1.0, -1.0, 1.0, 1.0]) @ np.tanh(Z @ Z.T)[:, :4].T
    elif kind == "copies":
        twice = np.arange(n) // 2
        S = S[np.ix_(twice, twice)]
    elif kind == "rank one":
        S = np.outer(Z[:, 0], Z[:, 0])
    elif kind == "integers":
        S = np.rint(3 * S + rng.normal(size=(n, n)))
        S = np.triu(S) + np.triu(S, 1).T
    return S * 10 ** rng.uniform(-2, 2), y


def eigen_system(S):
    values, vectors = np.linalg.eigh(S)
    tolerance = len(S) * np.finfo(float).eps * np.abs(values).max(initial=0.0)
    return np.where(np.abs(values) > tolerance, values, 0.0), vectors


@pytest.mark.parametrize("count", COUNTS)
def test_box_lasso(rng, count):
    for number in range(count):
        S, y = problem(rng, number)
        if number % 4 == 0:
            S = S[:, : len(S) // 2 + 1]
        size = np.abs(S).max() or 1.0
        warm = BoxLasso(S, y)
        for epsilon, C in 10 ** rng.uniform((-4, -3), (1, 6), size=(4, 2)) * (size, 1 / size):
            fit, cold = warm.solve(epsilon, C), BoxLasso(S, y).solve(epsilon, C)
            objective = ((y - S @ fit.coef) ** 2).sum() / 2 + epsilon * np.abs(fit.coef).sum()
            assert np.abs(fit.coef).max() <= C * (1 + 1e-12), number
            assert fit.objective == pytest.approx(objective, rel=1e-8, abs=1e-12 * len(y)), number
            assert fit.gap <= 1e-8 * objective + 1e-10 * len(y), (number, epsilon, C)
            assert abs(fit.objective - cold.objective) <= fit.gap + cold.gap + 1e-12 * len(y), number


@pytest.mark.parametrize("few_variables", [False, True])
@pytest.mark.parametrize("count", COUNTS)
def test_learned_spectrum(rng, count, few_variables, monkeypatch):
    """Interior points, and Newton steps in few variables with interior points as fallback."""
    monkeypatch.setattr("similis.solvers._spectral_kernel._LARGE", 2 if few_variables else 10**9)
    for number in range(count):
        S, y = problem(rng, number)
        values, vectors = eigen_system(S)
        keep = values != 0
        anchor = np.maximum(np.sign(values), 0.0) if number % 2 else np.sign(values)
        norm = 1 if number % 5 == 0 else 2
        machine = SpectralMachine(y, [LearntSpectrum(values[keep], vectors[:, keep], anchor[keep], norm)])
        for eta, gamma in 10 ** rng.uniform((-5, -4), (1, 1), size=(3, 2)):
            fit = machine.solve(eta, gamma)
            assert fit.gap <= 1e-7 * fit.gap_scale + 1e-11, (number, eta, gamma, fit.gap / fit.gap_scale)
            assert (values[keep] * fit.alphas[0] >= -1e-9 * np.abs(values).max()).all(), number
            # The primal value from its definition, [chen2010] Eq. (5.20), is the certified one.
            K = (vectors[:, keep] * (values[keep] * fit.alphas[0])) @ vectors[:, keep].T
            hinge = np.maximum(1 - y * (K @ fit.coef + fit.intercept), 0).mean()
            penalty = np.linalg.norm(fit.alphas[0] - anchor[keep], norm)
            primal = hinge + eta * fit.coef @ K @ fit.coef + gamma * penalty
            assert primal == pytest.approx(fit.objective, rel=1e-6, abs=1e-9), number


@pytest.mark.parametrize("count", [6, pytest.param(150, marks=pytest.mark.slow)])
def test_learned_kernels(rng, count):
    for number in range(count):
        S, y = problem(rng, number)
        system = eigen_system(S)
        machine, start = IndefiniteMachine(*system, y), None
        size = np.abs(system[0]).max() or 1.0
        for C, rho in 10 ** rng.uniform((-3, -2), (2, 2), size=(2, 2)) / (size, size**2):
            fit = machine.solve(C, rho, start if number % 2 else None)
            assert fit.gap <= 1e-6 * fit.gap_scale + 1e-12, (number, C, rho, fit.gap / fit.gap_scale)
            assert abs(fit.v.sum()) <= 1e-9 * np.abs(fit.v).sum(), number
            start = np.clip(fit.v, -C, C) * 0.1  # feasible for C / 10 and more
        full = FullKernelMachine(*system, y)
        for eta, gamma in 10 ** rng.uniform((-3, -3), (0, 1), size=(2, 2)):
            fit = full.solve(eta * size, gamma / size)
            assert fit.gap <= 1e-5 * fit.gap_scale + 1e-12, (number, eta, gamma, fit.gap / fit.gap_scale)


@pytest.mark.parametrize("count", COUNTS)
def test_support_vectors(rng, count):
    """The path of C and the linear program; violations are those of the optimality conditions."""
    for number in range(count):
        S, y = problem(rng, number)
        values, vectors = eigen_system(S)
        K = (vectors * np.maximum(values, 0)) @ vectors.T
        size = np.abs(S).max() or 1.0
        costs = 10 ** rng.uniform(-3, 5, size=3) / size
        path = svm_path(K, y, costs)
        for C, c, violation in zip(costs, path.coef, path.violation, strict=True):
            assert abs(c.sum()) <= 1e-9 * np.abs(c).sum(), number
            assert (c * y >= 0).all(), number
            assert (c * y <= C * (1 + 1e-12)).all(), number
            assert violation <= 1e-6, (number, C * size)
        fit = lp_margin(S, y, costs[0])
        assert fit.gap <= 1e-6 * fit.objective, (number, costs[0] * size)
