"""Solvers of learned kernels: rank-one updates against decompositions, certificates on wide grids, conic solvers."""

import warnings

import conic
import numpy as np
import pytest
from oracles import learned_kernels as oracle

from similis import _kernels
from similis.solvers import FullKernelMachine, IndefiniteMachine, LearntSpectrum, SpectralMachine, signed_mkl

VARIANTS = [("clip", 2), ("flip", 2), ("clip", 1), ("flip", 1), ("identity", 2)]


def noisy(rng, n=30, noise=0.4):
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    Z = rng.normal(size=(n, 4)) + 0.5 * y[:, None]
    D = np.sqrt(((Z[:, None] - Z) ** 2).sum(-1))
    E = rng.normal(size=(n, n))
    return np.exp(-D / np.median(D)) + noise * (E + E.T) / 2, y


def alternate(n):
    return np.where(np.arange(n) % 2, 1.0, -1.0)


def problems(rng):
    """Matrices that break solvers, with labels."""
    v = rng.normal(size=8)
    repeated = np.repeat(np.arange(4), 3)
    base, _ = noisy(rng, 4)
    unbalanced = -np.ones(12)
    unbalanced[0] = 1
    return {
        "noisy": noisy(rng, 20),
        "zero": (np.zeros((6, 6)), alternate(6)),
        "rank one": (np.outer(v, v), alternate(8)),
        "negative rank one": (-np.outer(v, v), alternate(8)),
        "all alike": (np.ones((6, 6)), alternate(6)),
        "identity": (np.eye(6), alternate(6)),
        "negative identity": (-np.eye(6), alternate(6)),
        "repeated eigenvalues": (np.ones((7, 7)) - 2 * np.eye(7), alternate(7)),
        "duplicates": (base[np.ix_(repeated, repeated)], alternate(12)),
        "two": (np.array([[0.0, 1.0], [1.0, 0.0]]), alternate(2)),
        "one against all": (noisy(rng, 12)[0], unbalanced),
    }


NAMES = list(problems(np.random.default_rng(0)))


def spectrum(S, anchor="clip", norm=2):
    values, U = np.linalg.eigh(S)
    keep = np.abs(values) > 1e-12 * max(np.abs(values).max(), 1e-300)
    norm = "identity" if anchor == "identity" else norm
    return LearntSpectrum(values[keep], U[:, keep], oracle.anchor_of(values, anchor)[keep], norm)


def system(S):
    values, U = np.linalg.eigh(S)
    return np.where(np.abs(values) > 1e-12 * max(np.abs(values).max(), 1e-300), values, 0.0), U


class TestRankOne:
    @pytest.mark.parametrize("sigma", [1e-6, 1e-2, 1.0, 1e4])
    @pytest.mark.parametrize("shift", [-4.0, -0.3, 0.0, 0.3, 4.0])
    def test_equals_a_decomposition(self, rng, sigma, shift):
        for n in (1, 2, 7, 40):
            values = np.sort(rng.normal(size=n)) + shift
            z = rng.normal(size=n) * 10.0 ** rng.uniform(-9, 0, size=n)
            z[rng.random(n) < 0.2] = 0.0
            M = np.diag(values) + sigma * np.outer(z, z)
            mu, W = np.linalg.eigh(M)
            factor = np.empty(n)
            value = _kernels.rank_one_positive(values, z**2, sigma, False, factor, np.empty((3, n)))
            size = np.abs(M).max() * np.linalg.norm(z)
            np.testing.assert_allclose(factor * z, oracle.positive_part(M) @ z, atol=1e-13 * n * size)
            exact = (np.maximum(mu, 0) ** 2).sum() - (np.maximum(values, 0) ** 2).sum()
            assert value == pytest.approx(exact, abs=1e-13 * n * np.abs(M).max() ** 2)
            _kernels.rank_one_positive(values, z**2, sigma, True, factor, np.empty((3, n)))
            if np.abs(mu).min() > 1e-9:  # else the projection has a jump near by
                W = W[:, mu > 0]
                np.testing.assert_allclose(factor * z, W @ (W.T @ z), atol=1e-8 * np.linalg.norm(z))

    def test_small_weights_keep_relative_accuracy(self, rng):
        """An update of 1e-12 moves eigenvalues of size 1: their offsets must not be lost in the sum."""
        values, z = np.array([-1.2, -1.0, 0.5, 0.9]), np.array([1e-3, 0.5, 1e-3, 0.7])
        factor = np.empty(4)
        _kernels.rank_one_positive(values, z**2, 1e-6, False, factor, np.empty((3, 4)))
        exact = oracle.positive_part(np.diag(values) + 1e-6 * np.outer(z, z)) @ z
        np.testing.assert_allclose(factor[2:] * z[2:], exact[2:], rtol=1e-10)

    @pytest.mark.parametrize("name", NAMES)
    def test_value_and_gradient_of_the_indefinite_svm(self, name, rng):
        S, y = problems(rng)[name]
        machine = IndefiniteMachine(*system(S), y)
        alpha = rng.uniform(size=len(y))
        for rho in (1e-3, 1.0, 1e3):
            value, K = oracle.indefinite(S, y, alpha, rho)
            v = y * alpha
            Kv, grown = machine.update(v, rho)
            scale = np.abs(S).max() + v @ v / rho
            np.testing.assert_allclose(Kv, K @ v, atol=1e-11 * scale * np.linalg.norm(v))
            assert alpha.sum() - rho * grown + rho * machine.below == pytest.approx(value, abs=1e-10 * rho * scale**2)


@pytest.mark.parametrize("name", NAMES)
class TestCertificates:
    """No solution may be further from the optimum than its gap says, and every gap must be closed."""

    @pytest.mark.parametrize(("anchor", "norm"), VARIANTS)
    def test_spectra(self, name, anchor, norm, rng):
        S, y = problems(rng)[name]
        machine = SpectralMachine(y, [spectrum(S, anchor, norm)])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for eta in (1e-4, 1e-2, 1.0):
                for gamma in (1e-4, 1e-2, 1.0, 1e3):
                    fit = machine.solve(eta, gamma)
                    assert fit.gap <= 1e-6 * fit.gap_scale, (eta, gamma, fit.gap, fit.gap_scale)

    def test_whole_kernels(self, name, rng):
        S, y = problems(rng)[name]
        machine = IndefiniteMachine(*system(S), y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for C in (1e-3, 0.1, 1.0, 1e3):
                for rho in (1e-3, 0.1, 10.0, 1e3):
                    fit = machine.solve(C, rho)
                    assert fit.gap <= 1e-7 * fit.gap_scale, (C, rho, fit.gap, fit.gap_scale)
                    alpha = y * fit.v
                    assert (alpha >= 0).all()
                    assert (alpha <= C).all()
                    assert abs(fit.v.sum()) <= 1e-12 * C * len(y)
                    assert fit.objective == pytest.approx(oracle.indefinite(S, y, alpha, rho)[0], rel=1e-9, abs=1e-9)

    def test_norm_penalty(self, name, rng):
        S, y = problems(rng)[name]
        machine = FullKernelMachine(*system(S), y)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for eta in (1e-3, 0.1):
                for gamma in (1e-3, 0.1, 10.0):
                    fit = machine.solve(eta, gamma)
                    assert fit.gap <= 1e-6 * fit.gap_scale, (eta, gamma, fit.gap, fit.gap_scale)
                    k, W = machine.inner.kernel(fit.coef, fit.rho)
                    K = (W * k) @ W.T
                    value = oracle.full_kernel(S, y, K, fit.coef, fit.intercept, eta, gamma)
                    assert fit.objective == pytest.approx(value, rel=1e-7, abs=1e-9)
                    if fit.rho < np.inf:  # at the optimum t is the distance itself
                        assert fit.distance == pytest.approx(gamma / (4 * eta * fit.rho), rel=1e-3)


def agree(ours, theirs):
    """Within the tolerance of the conic solver; where it gives up, the certificate must do."""
    assert np.isnan(theirs) or ours == pytest.approx(theirs, rel=1e-5)


class TestConic:
    """Objectives against cvxpy + Clarabel, which stops at about 1e-8."""

    @pytest.mark.parametrize(("anchor", "norm"), VARIANTS)
    @pytest.mark.parametrize(
        "name", ["noisy", "duplicates", "repeated eigenvalues", "negative rank one", "two", "zero"]
    )
    def test_spectra(self, name, anchor, norm, rng):
        S, y = problems(rng)[name]
        machine = SpectralMachine(y, [spectrum(S, anchor, norm)])
        for eta, gamma in ((1e-2, 1e-2), (0.1, 1.0)):
            fit = machine.solve(eta, gamma)
            agree(fit.objective, conic.simsvm(S, y, eta, gamma, anchor, norm))

    def test_fusion(self, rng):
        (S, y), (T, _) = noisy(rng, 16), noisy(rng, 16)
        X = rng.normal(size=(16, 3)) + 0.5 * y[:, None]
        kernels = [X @ X.T, np.exp(-((X[:, None] - X) ** 2).sum(-1))]
        for similar, given in (([S], kernels), ([S, T], kernels[:1]), ([S, T], [])):
            fit = SpectralMachine(y, [spectrum(A) for A in similar], given, 16.0).solve(0.01, 0.02)
            agree(fit.objective, conic.simmkl(similar, given, y, 0.01, 0.02, 16.0))
            assert fit.gap < 1e-8

    @pytest.mark.parametrize("eta", [1.0, 0.01, 1e-4])
    def test_weights_of_any_sign(self, eta, rng):
        """[chen2010] Eq. (5.32); the optimum is below that of weights of at least zero, Eq. (5.33)."""
        y = alternate(14)
        X = rng.normal(size=(14, 3)) + 0.3 * y[:, None]
        kernels = [X @ X.T, np.exp(-((X[:, None] - X) ** 2).sum(-1)), (X @ X.T) ** 2, np.zeros((14, 14))]
        fit = signed_mkl(y, kernels, 14.0, eta)
        agree(fit.objective, 2 * eta * conic.signed_kernels(kernels[:3], y, 1 / (28 * eta), 14.0))
        assert fit.gap <= 1.01e-6 * fit.objective
        assert fit.objective <= SpectralMachine(y, [], kernels, 14.0).solve(eta, 1.0).objective * (1 + 1e-6)
        K = sum(w * K for w, K in zip(fit.weights, kernels))
        assert np.trace(K) == pytest.approx(14)
        assert np.linalg.eigvalsh(K)[0] > -1e-9

    @pytest.mark.parametrize(("eta", "trace"), [(1e-8, 20.0), (0.01, 1e6)])
    def test_small_objective_of_weights_of_any_sign(self, eta, trace):
        """The tolerances of the linear program, 1e-7, hold for the objective in units of its own size."""
        y, X = np.where(np.arange(20) == 0, 1.0, -1.0), np.random.default_rng(4).normal(size=(20, 3))
        fit = signed_mkl(y, [X @ X.T, np.exp(-((X[:, None] - X) ** 2).sum(-1))], trace, eta)
        assert fit.gap <= 1e-5 * fit.objective

    def test_weights_of_degenerate_kernels(self, rng):
        y = alternate(6)
        X = rng.normal(size=(6, 2))
        for kernels in ([np.zeros((6, 6))], [np.eye(6)], [X @ X.T, 2 * X @ X.T], [np.ones((6, 6)), np.eye(6)]):
            fit = signed_mkl(y, kernels, 6.0, 0.1)
            conic_fit = SpectralMachine(y, [], kernels, 6.0).solve(0.1, 1.0)
            assert fit.gap <= 1e-5 * fit.objective
            assert fit.objective <= conic_fit.objective * (1 + 1e-5)

    @pytest.mark.parametrize("name", ["noisy", "negative rank one", "two", "rank one"])
    def test_whole_kernels(self, name, rng):
        S, y = problems(rng)[name]
        S, y = S[:12, :12], y[:12]
        for eta, weight in ((1e-2, 1e-2), (0.1, 0.3)):
            n = len(y)
            # [chen2010] (5.12) is (5.8) with C = 1 / (2 n eta) and rho = weight / (2 eta), times 2 eta
            fit = IndefiniteMachine(*system(S), y).solve(1 / (2 * n * eta), weight / (2 * eta))
            agree(2 * eta * fit.objective, conic.full_kernel(S, y, eta, weight, True))
            agree(FullKernelMachine(*system(S), y).solve(eta, weight).objective, conic.full_kernel(S, y, eta, weight))

    def test_transduction(self, rng):
        S, y = noisy(rng, 13)
        part = y.copy()
        part[8:] = 0
        fit = FullKernelMachine(*system(S), part).solve(0.05, 0.05)
        agree(fit.objective, conic.full_kernel(S, y[:8], 0.05, 0.05))
        assert not fit.coef[8:].any()

    @pytest.mark.slow
    @pytest.mark.parametrize(("anchor", "norm"), VARIANTS)
    def test_spectra_on_wide_grids(self, anchor, norm, rng):
        for name, (S, y) in problems(rng).items():
            machine = SpectralMachine(y, [spectrum(S, anchor, norm)])
            for eta in 10.0 ** np.arange(-4, 2):
                for gamma in 10.0 ** np.arange(-4, 4):
                    fit, value = machine.solve(eta, gamma), conic.simsvm(S, y, eta, gamma, anchor, norm)
                    assert fit.gap <= 1e-6 * fit.gap_scale, (name, eta, gamma)
                    if not np.isnan(value):
                        # Clarabel calls values optimal that are up to 1e-4 below: two objects, gamma = 1000
                        assert fit.objective <= value * (1 + 2e-4) + 1e-8, (name, eta, gamma)
