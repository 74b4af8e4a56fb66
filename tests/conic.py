"""The problems of learned kernels as the paper states them, for a conic solver."""

import warnings

import numpy as np
import pytest

cvxpy = pytest.importorskip("cvxpy")


def solve(objective, constraints):
    """The minimum; NaN where the solver itself calls it inaccurate or gives up."""
    problem = cvxpy.Problem(cvxpy.Minimize(objective), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value = problem.solve(solver=cvxpy.CLARABEL)
        except cvxpy.SolverError:
            return np.nan
    return float(value) if problem.status == "optimal" else np.nan


def simsvm(S, y, eta, gamma, anchor="clip", norm=2):
    """[chen2010] Eq. (5.31)."""
    from oracles.learned_kernels import anchor_of

    n = len(y)
    values, U = np.linalg.eigh(S)
    keep = np.abs(values) > 1e-10 * max(np.abs(values).max(), 1e-300)
    values, U = values[keep], U[:, keep]
    xi, b = cvxpy.Variable(n, nonneg=True), cvxpy.Variable()
    if not len(values):
        return solve(cvxpy.sum(xi) / n, [y * b >= 1 - xi])
    z, alpha, t = (cvxpy.Variable(len(values)) for _ in range(3))
    spectrum = cvxpy.multiply(values, alpha)
    if anchor == "identity":
        h = cvxpy.norm(spectrum - values)
    else:
        h = cvxpy.norm(alpha - anchor_of(values, anchor), norm)
    cones = cvxpy.SOC(spectrum + t, cvxpy.vstack([2 * z, spectrum - t]), axis=0)
    constraints = [cvxpy.multiply(y, U @ z + b) >= 1 - xi, spectrum >= 0, t >= 0, cones]
    return solve(cvxpy.sum(xi) / n + eta * cvxpy.sum(t) + gamma * h, constraints)


def simmkl(similarities, kernels, y, eta, gamma, trace):
    """[chen2010] Eq. (5.36), a linear matrix inequality and all."""
    n = len(y)
    xi, b, u, z = cvxpy.Variable(n, nonneg=True), cvxpy.Variable(), cvxpy.Variable(), cvxpy.Variable((n, 1))
    w = cvxpy.Variable(max(len(kernels), 1), nonneg=True)
    K, h, constraints = np.zeros((n, n)), 0.0, []
    for S in similarities:
        values, U = np.linalg.eigh(S)
        alpha = cvxpy.Variable(n)
        K = K + U @ cvxpy.diag(cvxpy.multiply(values, alpha)) @ U.T
        constraints += [cvxpy.multiply(values, alpha) >= 0]
        h = h + cvxpy.norm(alpha - (values >= 0))
    for j, Kj in enumerate(kernels):
        K = K + w[j] * Kj
    constraints += [w @ np.array([np.trace(Kj) for Kj in kernels] or [0.0]) <= trace]
    constraints += [_psd(K, z, u), cvxpy.multiply(y, z[:, 0] + b) >= 1 - xi]
    return solve(cvxpy.sum(xi) / n + eta * u + gamma * h, constraints)


def multiple_kernels(kernels, y, C, trace):
    """[chen2010] Eq. (5.33), the maximum."""
    alpha, t = cvxpy.Variable(len(y), nonneg=True), cvxpy.Variable()
    constraints = [alpha <= C, y @ alpha == 0]
    for K in kernels:
        values, U = np.linalg.eigh(K)
        root = (U * np.sqrt(np.maximum(values, 0))).T * y
        constraints += [cvxpy.sum_squares(root @ alpha) <= np.trace(K) * t]
    return -solve(trace * t / 2 - cvxpy.sum(alpha), constraints)


def signed_kernels(kernels, y, C, trace):
    """[chen2010] Eq. (5.32) as the semidefinite program below it, over weights of any sign; half of its minimum."""
    n = len(y)
    w, t, delta = cvxpy.Variable(len(kernels)), cvxpy.Variable(), cvxpy.Variable()
    mu, nu = cvxpy.Variable((n, 1), nonneg=True), cvxpy.Variable((n, 1), nonneg=True)
    K = sum(w[i] * Ki for i, Ki in enumerate(kernels))
    column = np.ones((n, 1)) + mu - nu + delta * y[:, None]
    block = _psd(cvxpy.diag(y) @ K @ cvxpy.diag(y), column, t - 2 * C * cvxpy.sum(nu))
    return solve(t, [cvxpy.trace(K) == trace, (K + K.T) / 2 >> 0, block]) / 2


def full_kernel(S, y, eta, weight, square=False):
    """[chen2010] Eq. (5.6) and its transductive form (5.16), y being shorter than S; (5.12) with the square."""
    n, N = len(y), len(S)
    K = cvxpy.Variable((N, N), symmetric=True)
    xi, b, u, z = cvxpy.Variable(n, nonneg=True), cvxpy.Variable(), cvxpy.Variable(), cvxpy.Variable((n, 1))
    distance = cvxpy.sum_squares(K - S) if square else cvxpy.norm(K - S, "fro")
    constraints = [_psd(K[:n, :n], z, u), cvxpy.multiply(y, z[:, 0] + b) >= 1 - xi]
    if N > n:
        constraints += [K >> 0]
    return solve(cvxpy.sum(xi) / n + eta * u + weight * distance, constraints)


def nearest_row(K, s, psi):
    """[chen2010] Eq. (5.13): its minimum."""
    r, t = cvxpy.Variable((len(s), 1)), cvxpy.Variable()
    return solve(2 * cvxpy.sum_squares(r[:, 0] - s) + cvxpy.square(t - psi), [_psd(K, r, t)])


def _psd(K, z, u):
    M = cvxpy.bmat([[K, z], [z.T, cvxpy.reshape(u, (1, 1), order="C")]])
    return (M + M.T) / 2 >> 0
