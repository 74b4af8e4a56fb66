"""SimSVM by Newton steps in few variables: certified gaps on random problems, and the interior points' solutions."""

import numpy as np
import pytest

from similis import SimSVM, make_similarity
from similis.solvers import SpectralMachine, _spectral_kernel
from similis.svm._sim_svm import Spectrum


def machine(S, y, anchor="clip"):
    return SpectralMachine(y, [Spectrum(S, anchor, 2).learned])


def problem(kind, seed, n=60):
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(n) < rng.integers(5, n - 5), 1.0, -1.0)
    Z = rng.normal(size=(n, 3)) + rng.uniform(0, 1.5) * y[:, None]
    S = np.exp(-np.sqrt(((Z[:, None] - Z) ** 2).sum(-1)))
    if kind == "noisy":
        E = rng.normal(size=(n, n))
        S = S + 0.1 * (E + E.T)
    elif kind == "singular":
        S = np.tanh(Z @ Z.T)
        S = S[:, :4] @ np.diag([1.0, -1.0, 1.0, 1.0]) @ S[:, :4].T
    elif kind == "copies":
        twice = np.arange(n) // 2
        S = S[np.ix_(twice, twice)]
    elif kind == "large":
        S = 1e3 * (S - 0.5)
    return (S + S.T) / 2, y


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("kind", ["smooth", "noisy", "singular", "copies", "large"])
def test_random_problems_end_with_certified_gaps(kind, monkeypatch):
    monkeypatch.setattr(_spectral_kernel, "_LARGE", 2)
    solved = fallbacks = 0
    run = _spectral_kernel._State.run

    def counted(state):
        nonlocal fallbacks
        fallbacks += 1
        return run(state)

    monkeypatch.setattr(_spectral_kernel._State, "run", counted)
    for seed in range(6):
        S, y = problem(kind, seed)
        steps = machine(S, y, ("clip", "flip")[seed % 2])
        for eta in (1e-5, 1e-3, 0.1, 10.0):
            for gamma in (1e-4, 1e-2, 1.0):
                fit = steps.solve(eta, gamma)
                solved += fit.active
                assert fit.gap <= 1e-7 * fit.gap_scale + 1e-10, (seed, eta, gamma, fit.gap / fit.gap_scale)
                assert 0 <= fit.x.min() <= fit.x.max() <= 1
                assert abs(y @ fit.x) < 1e-9 * len(y)
    assert solved > 5
    # Few eigenvalues leave the dual variables undetermined, and interior points take over more often.
    assert fallbacks <= (0.6 if kind == "singular" else 0.25) * solved


@pytest.mark.parametrize("anchor", ["clip", "flip"])
def test_solutions_are_those_of_interior_points(anchor, monkeypatch):
    S, y = make_similarity(200, 2, indefinite=0.2, random_state=1)
    y = np.where(y == 1, 1.0, -1.0)
    for eta, gamma in ((1e-3, 1e-3), (1e-2, 1e-2), (0.1, 1e-3), (1.0, 1e-2)):
        fit = machine(S, y, anchor).solve(eta, gamma)
        with monkeypatch.context() as patch:
            patch.setattr(_spectral_kernel, "_LARGE", 10**9)
            whole = machine(S, y, anchor).solve(eta, gamma)
        assert fit.active
        assert whole.active
        assert abs(fit.objective - whole.objective) <= 2e-9 * whole.gap_scale
        np.testing.assert_allclose(S @ fit.coef, S @ whole.coef, atol=1e-3 * np.abs(S @ whole.coef).max())


def test_interior_points_take_over(monkeypatch):
    S, y = problem("noisy", 0)
    monkeypatch.setattr(_spectral_kernel, "_LARGE", 2)
    monkeypatch.setattr(_spectral_kernel, "_MAX_STEPS", 1)
    fit = machine(S, y).solve(0.01, 0.01)
    assert fit.active
    assert fit.gap <= 1e-7 * fit.gap_scale


def test_search_and_single_fits_agree():
    S, y = make_similarity(240, 2, indefinite=0.2, random_state=0)
    train, test = np.arange(0, 200), np.arange(200, 240)
    points = [{"eta": eta, "gamma": gamma} for eta in (1e-3, 0.1) for gamma in (1e-3, 0.1)]
    A, Q = S[np.ix_(train, train)], S[np.ix_(test, train)]
    for point, labels in zip(points, SimSVM().predict_path(A, y[train], Q, points), strict=True):
        np.testing.assert_array_equal(labels, SimSVM(**point).fit(A, y[train]).predict(Q))
