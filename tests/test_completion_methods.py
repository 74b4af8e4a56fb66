"""Completion of kernels: what each method minimizes, its optimality, its limits."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import completion as oracle
from toy_problems import hidden_rows, least_eigenvalue, missing_entries

from similis import CompleteKernel, SpectrumClip, complete_kernel, make_stack
from similis.solvers import em_completion, wishart_completion

# em


def test_em_is_the_algorithm_of_the_paper(rng):
    _, partial, known, aux = hidden_rows(rng, n=12)
    K11 = partial[np.ix_(known, known)]
    start = aux * np.trace(K11) / np.trace(aux[np.ix_(known, known)])
    losses, K, _ = oracle.em(K11, known, aux, start, steps=30)
    found = em_completion(partial, known, aux, floor=1e-12, tol=1e-300, max_iter=30)
    np.testing.assert_allclose(found.path, losses, rtol=1e-8)
    np.testing.assert_allclose(found.kernel, K, atol=1e-8)
    last_but_one = em_completion(partial, known, aux, floor=1e-12, tol=1e-300, max_iter=29)
    _, M = oracle.m_step(last_but_one.kernel, np.linalg.eigh(aux)[1])
    np.testing.assert_allclose(oracle.stein_loss(found.kernel, M), losses[-1], rtol=1e-6)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("n, noise, seed", [(12, 0.3, 1), (40, 0.3, 2), (100, 0.5, 1)])
def test_em_stops_at_the_limit(n, noise, seed):
    """Version 1.0 stopped up to 0.33 from the limit: a small step of em, which is slow, does not mean convergence."""
    _, partial, known, aux = hidden_rows(np.random.default_rng(seed), n=n, noise=noise)
    found = em_completion(partial, known, aux, floor=1e-6, max_iter=5000)
    assert found.converged
    limit = em_completion(partial, known, aux, floor=1e-6, tol=1e-10, max_iter=20_000)
    np.testing.assert_allclose(found.kernel, limit.kernel, atol=1e-4)
    assert (np.diff(found.path) <= 1e-9 * (1 + np.abs(found.path[:-1]))).all()
    # Stationary: the gradient of Stein's loss is zero, or not negative where a weight is at its floor.
    V, w = np.linalg.eigh(aux)[1], limit.weights
    inverse = np.linalg.inv(((V * w) @ V.T)[np.ix_(known, known)])
    A = V[known]
    gradient = np.einsum("ij,ij->j", A, (inverse - inverse @ partial[np.ix_(known, known)] @ inverse) @ A)
    free = w > 1.01e-6
    assert np.abs(w * gradient)[free].max() < 1e-4
    assert gradient[~free].min(initial=0) > -1e-4
    # em's own steps lead there too, and end no lower.
    if n == 12:
        K11 = partial[np.ix_(known, known)]
        start = aux * np.trace(K11) / np.trace(aux[np.ix_(known, known)])
        losses, K, _ = oracle.em(K11, known, aux, start, steps=4000)
        assert losses[-1] >= limit.objective - 1e-9
        assert losses[-1] == pytest.approx(limit.objective, abs=1e-3)
        np.testing.assert_allclose(K, limit.kernel, atol=2e-2)


@pytest.mark.slow
def test_em_with_several_kernels_stops_at_the_limit(rng):
    _, partial, _, aux = hidden_rows(rng, n=30)
    noise = rng.normal(size=(30, 30))
    kernels = [aux, 1e4 * noise @ noise.T, np.eye(30)]
    found = complete_kernel(partial, kernels)
    np.testing.assert_allclose(found, complete_kernel(partial, kernels, tol=1e-12, max_iter=50_000), atol=1e-4)


@pytest.mark.slow
@given(seed=st.integers(0, 10**6), hidden=st.floats(0.1, 0.8), noise=st.floats(0.0, 2.0))
@settings(deadline=None, max_examples=25)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_steins_loss_never_rises(seed, hidden, noise):
    _, partial, _, aux = hidden_rows(np.random.default_rng(seed), n=14, hidden=hidden, noise=noise)
    stack = make_stack([partial, aux])
    model = CompleteKernel(method="em", max_iter=200).fit(stack)
    steps = np.diff(model.loss_path_)
    assert (steps <= 1e-9 * (1 + np.abs(model.loss_path_[:-1]))).all()
    assert model.loss_path_[-1] >= -1e-9
    mixed = CompleteKernel(method="em", max_iter=200).fit(make_stack([partial, aux, np.eye(len(aux))]))
    assert (np.diff(mixed.loss_path_) <= 1e-9 * (1 + np.abs(mixed.loss_path_[:-1]))).all()


def test_em_recovers_a_kernel_with_the_auxiliary_eigenvectors(rng):
    """A smooth function of the auxiliary kernel is within M; with most rows known, em finds it."""
    K, _, _, aux = hidden_rows(rng, n=15)
    V = np.linalg.eigh(aux)[1]
    K = (V * np.linspace(0.5, 2, 15)) @ V.T
    partial = K.copy()
    partial[3] = partial[:, 3] = np.nan
    found = complete_kernel(partial, aux, tol=1e-10)
    np.testing.assert_allclose(found, K, atol=1e-2)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # slow where M fits exactly
@pytest.mark.slow
def test_several_auxiliary_kernels_are_weighted(rng):
    K, partial, _, aux = hidden_rows(rng, n=30, noise=0.0)
    noise = rng.normal(size=(30, 30))
    model = CompleteKernel(method="em", max_iter=2000).fit(make_stack([partial, aux, noise @ noise.T]))
    assert model.weights_[0] == pytest.approx(1.0, abs=0.05)
    assert model.weights_[1] < 1e-3
    np.testing.assert_allclose(complete_kernel(partial, [aux, noise @ noise.T], max_iter=2000), model.kernel_)
    np.testing.assert_allclose(model.kernel_, K, atol=0.05)
    for method in ("frobenius", "wishart"):  # take the weighted sum for their one auxiliary kernel
        found = complete_kernel(partial, [aux, noise @ noise.T], method, max_iter=2000)
        np.testing.assert_allclose(found, K, atol=0.1)


# wishart


def test_the_closed_form_is_the_fixed_point_of_em(rng):
    _, partial, known, aux = hidden_rows(rng, n=8)
    aux = aux + 0.1 * np.eye(8)
    K11 = partial[np.ix_(known, known)]
    for eta, r in ((0.5, 9.0), (3.0, 40.0)):
        K, Sigma = oracle.wishart_em(K11, known, aux, eta, r, steps=2000)
        found = wishart_completion(partial, known, aux, eta=eta, degrees_of_freedom=r)
        np.testing.assert_allclose(found.kernel, K, atol=1e-7)
        # Sigma is a mode: no symmetric change raises the posterior of the known block
        top = oracle.log_posterior(K11, known, Sigma, aux, eta, r)
        for _ in range(10):
            D = rng.normal(size=Sigma.shape) * 1e-3
            assert oracle.log_posterior(K11, known, Sigma + D + D.T, aux, eta, r) < top


def test_degrees_of_freedom_are_the_most_probable(rng):
    _, partial, known, aux = hidden_rows(rng, n=10, hidden=0.2)
    aux, K11 = aux + 0.1 * np.eye(10), partial[np.ix_(known, known)]

    def posterior(r):
        _, Sigma = oracle.wishart_em(K11, known, aux, 1.0, r, steps=1000)
        return oracle.log_posterior(K11, known, Sigma, aux, 1.0, r)

    found = wishart_completion(partial, known, aux, eta=1.0)
    grid = [9.01, 10, 15, 40]
    ours = [-wishart_completion(partial, known, aux, eta=1.0, degrees_of_freedom=r).objective for r in grid]
    theirs = [posterior(r) for r in grid]
    np.testing.assert_allclose(np.diff(ours), np.diff(theirs), atol=1e-4)
    assert -found.objective >= max(ours) - 1e-6


def test_many_degrees_of_freedom_are_one_em_step(rng):
    _, partial, known, aux = hidden_rows(rng)
    K = complete_kernel(partial, aux, "wishart", degrees_of_freedom=1e12, regularization=1e-12)
    expected = oracle.e_step(partial[np.ix_(known, known)], known, aux)
    np.testing.assert_allclose(K, expected, atol=1e-6)


# frobenius


def cvx_frobenius(partial, known, aux):
    n, i = len(aux), np.flatnonzero(known)
    V = np.linalg.eigh(aux)[1]
    X, w = cp.Variable((n, n), PSD=True), cp.Variable(n, nonneg=True)
    problem = cp.Problem(
        cp.Minimize(cp.norm(X - V @ cp.diag(w) @ V.T, "fro")),
        [X[np.ix_(i, i)] == partial[np.ix_(i, i)]],
    )
    return problem.solve(solver="CLARABEL")


@pytest.mark.parametrize("hidden", [0.2, 0.6])
def test_frobenius_against_a_conic_solver(hidden, rng):
    _, partial, known, aux = hidden_rows(rng, n=14, hidden=hidden)
    model = CompleteKernel(method="frobenius").fit(make_stack([partial, aux]))
    assert model.objective_ == pytest.approx(cvx_frobenius(partial, known, aux), rel=1e-6, abs=1e-7)
    value, _ = oracle.frobenius_objective(model.kernel_, np.linalg.eigh(aux)[1])
    assert value == pytest.approx(model.objective_)


def test_frobenius_is_optimal_to_first_order(rng):
    """Convex: no other completion lies downhill."""
    _, partial, known, aux = hidden_rows(rng, n=24, hidden=0.5)
    model = CompleteKernel(method="frobenius").fit(make_stack([partial, aux]))
    _, G = oracle.frobenius_objective(model.kernel_, np.linalg.eigh(aux)[1])
    for _ in range(50):
        F = rng.normal(size=(24, 24))
        other = oracle.e_step(partial[np.ix_(known, known)], known, F @ F.T / 24)
        assert (G * (other - model.kernel_)).sum() > -1e-4


def test_frobenius_of_a_singular_block(rng):
    """Without a strictly feasible point; the conic solver alone cannot do it well."""
    F = rng.normal(size=(20, 2))
    _, _, known, aux = hidden_rows(rng, n=20)
    K = F @ F.T
    partial = np.where(known[:, None] & known, K, np.nan)
    found = complete_kernel(partial, aux, "frobenius")
    np.testing.assert_array_equal(found[np.ix_(known, known)], K[np.ix_(known, known)])
    assert np.linalg.matrix_rank(found, tol=1e-6) <= 2 + (~known).sum()
    assert least_eigenvalue(found) > -1e-12


def test_frobenius_of_its_own_kernel_is_exact(rng):
    K, partial, _, _ = hidden_rows(rng, n=25)
    model = CompleteKernel(method="frobenius").fit(make_stack([partial, K]))
    assert model.objective_ < 1e-5


# nuclear norm and nearest kernel


@pytest.mark.parametrize("psd", [True, False])
def test_nuclear_against_a_conic_solver(psd, rng):
    _, partial = missing_entries(rng, n=10, rank=3, share=0.4, diagonal=False)
    known = ~np.isnan(partial)
    X = cp.Variable((10, 10), symmetric=True)
    limits = [cp.multiply(known, X) == np.where(known, partial, 0)] + ([X >> 0] if psd else [])
    best = cp.Problem(cp.Minimize(cp.normNuc(X)), limits).solve(solver="CLARABEL")
    found = complete_kernel(partial, method="nuclear", psd=psd)
    np.testing.assert_array_equal(found[known], partial[known])
    assert np.abs(np.linalg.eigvalsh(found)).sum() == pytest.approx(best, rel=1e-5)


def test_nuclear_recovers_low_rank(rng):
    K, partial = missing_entries(rng, n=30, rank=2, share=0.3, diagonal=False)
    np.testing.assert_allclose(complete_kernel(partial, method="nuclear", psd=False), K, atol=1e-4)
    indefinite = K @ np.diag(np.where(np.arange(30) % 2, 1, -1)) @ K / 30
    hidden = np.where(np.isnan(partial), np.nan, indefinite)
    np.testing.assert_allclose(complete_kernel(hidden, method="nuclear", psd=False), indefinite, atol=1e-3)


@given(seed=st.integers(0, 10**6), share=st.floats(0.0, 0.9), mu=st.floats(0.01, 3.0), psd=st.booleans())
@settings(deadline=None, max_examples=30)
def test_noisy_nuclear_is_optimal(seed, share, mu, psd):
    rng = np.random.default_rng(seed)
    K, partial = missing_entries(rng, n=10, rank=3, share=share)
    noise = rng.normal(size=K.shape)
    partial = partial + 0.3 * (noise + noise.T)
    known = ~np.isnan(partial)
    model = CompleteKernel(mu=mu, psd=psd, tol=1e-11, max_iter=50000).fit(partial)
    if np.abs(model.kernel_).max() < 1e-9:
        return
    assert oracle.noisy_nuclear_violation(model.kernel_, partial, known, mu, psd) < 1e-4


@given(seed=st.integers(0, 10**6), share=st.floats(0.0, 0.9))
@settings(deadline=None, max_examples=30)
def test_psd_is_optimal(seed, share):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(10, 10))
    _, partial = missing_entries(rng, n=10, share=share)
    partial = np.where(np.isnan(partial), np.nan, A + A.T)
    found = complete_kernel(partial, method="psd", max_iter=50000)
    assert max(oracle.nearest_kernel_conditions(found, partial, ~np.isnan(partial))) < 1e-6


def test_psd_against_a_conic_solver(rng):
    A = rng.normal(size=(9, 9))
    _, partial = missing_entries(rng, n=9)
    partial = np.where(np.isnan(partial), np.nan, A + A.T)
    known = ~np.isnan(partial)
    X = cp.Variable((9, 9), PSD=True)
    best = cp.Problem(cp.Minimize(cp.sum_squares(cp.multiply(known, X) - np.where(known, partial, 0)))).solve(
        solver="CLARABEL"
    )
    model = CompleteKernel(method="psd", keep_known=False).fit(partial)
    assert model.objective_ == pytest.approx(best, rel=1e-6)


def test_nothing_missing(rng):
    K, _, _, aux = hidden_rows(rng)
    S = K - 0.3
    np.testing.assert_array_equal(complete_kernel(K, aux), K)
    np.testing.assert_allclose(complete_kernel(K, method="nuclear"), K, atol=1e-12)
    np.testing.assert_allclose(complete_kernel(S, method="psd"), SpectrumClip().fit_transform(S), atol=1e-10)
    np.testing.assert_array_equal(CompleteKernel().fit_transform(S), S)


def test_a_huge_weight_leaves_nothing(rng):
    _, partial = missing_entries(rng)
    assert not complete_kernel(partial, method="nuclear", mu=1e6).any()
