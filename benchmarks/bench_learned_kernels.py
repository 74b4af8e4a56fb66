"""Kernels learned with the machine against conic solvers, full decompositions and the linear program of the paper.

python benchmarks/bench_learned_kernels.py          # writes benchmarks/results/learned_kernels.json

Every solve of ours includes the eigen-decomposition of S. Floors and goals were written down before the first run:
half of the smallest ratio that a prototype had reached, and what it reached.
"""

import cvxpy
import numpy as np
from _measure import Benchmark
from bench_svm import problem
from scipy import sparse
from scipy.optimize import linprog
from threadpoolctl import threadpool_limits

from similis.solvers import FullKernelMachine, IndefiniteMachine, LearntSpectrum, SpectralMachine


def data(n):
    S, codes = problem(n, 2)
    return (S + S.T) / 2, np.where(codes == 0, 1.0, -1.0)


def spectrum(S, norm=2):
    values, U = np.linalg.eigh(S)
    return LearntSpectrum(values, U, (values >= 0).astype(float), norm)


def simsvm(S, y, eta, gamma, norm=2):
    return SpectralMachine(y, [spectrum(S, norm)]).solve(eta, gamma)


def relative(tolerance):
    def check(ours, theirs):
        error = abs(ours - theirs) / theirs
        assert error < tolerance, (ours, theirs)
        return error

    return check


def conic_simsvm(S, y, eta, gamma, solver):
    """[chen2010] Eq. (5.31)."""
    n = len(y)
    values, U = np.linalg.eigh(S)
    z, alpha, t = (cvxpy.Variable(n) for _ in range(3))
    xi, b = cvxpy.Variable(n, nonneg=True), cvxpy.Variable()
    kept = cvxpy.multiply(values, alpha)
    cones = cvxpy.SOC(kept + t, cvxpy.vstack([2 * z, kept - t]), axis=0)
    constraints = [cvxpy.multiply(y, U @ z + b) >= 1 - xi, kept >= 0, t >= 0, cones]
    cost = cvxpy.sum(xi) / n + eta * cvxpy.sum(t) + gamma * cvxpy.norm(alpha - (values >= 0))
    return float(cvxpy.Problem(cvxpy.Minimize(cost), constraints).solve(solver=solver))


def matrix_inequality(y, eta, K, cost, constraints, **options):
    """Mean hinge loss + eta u with [[K, z], [z', u]] positive semi-definite: (5.6), (5.12), (5.36)."""
    n = len(y)
    xi, b, u, z = cvxpy.Variable(n, nonneg=True), cvxpy.Variable(), cvxpy.Variable(), cvxpy.Variable((n, 1))
    M = cvxpy.bmat([[K, z], [z.T, cvxpy.reshape(u, (1, 1), order="C")]])
    constraints = [*constraints, (M + M.T) / 2 >> 0, cvxpy.multiply(y, z[:, 0] + b) >= 1 - xi]
    whole = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum(xi) / n + eta * u + cost), constraints)
    return float(whole.solve(solver=cvxpy.SCS, **options))


def conic_simmkl(S, kernels, y, eta, gamma, trace):
    values, U = np.linalg.eigh(S)
    alpha, w = cvxpy.Variable(len(y)), cvxpy.Variable(len(kernels), nonneg=True)
    K = U @ cvxpy.diag(cvxpy.multiply(values, alpha)) @ U.T + sum(w[j] * A for j, A in enumerate(kernels))
    constraints = [cvxpy.multiply(values, alpha) >= 0, w @ [np.trace(A) for A in kernels] <= trace]
    return matrix_inequality(y, eta, K, gamma * cvxpy.norm(alpha - (values >= 0)), constraints, eps=1e-6)


def conic_kernel(S, y, eta, weight, square):
    K = cvxpy.Variable(S.shape, symmetric=True)
    distance = cvxpy.sum_squares(K - S) if square else cvxpy.norm(K - S, "fro")
    return matrix_inequality(y, eta, K, weight * distance, [], eps=1e-6)


def linear_program(S, y, eta, gamma, p):
    """[chen2010] Eq. (5.28): an approximation from above, with p random vectors for each eigenvalue."""
    values, U = np.linalg.eigh(S)
    n, r = U.shape
    anchor = (values >= 0).astype(float)
    tau = np.random.default_rng(0).normal(U.mean(axis=0)[:, None], U.std(axis=0, ddof=1)[:, None], size=(r, p))
    margins = np.repeat(U, p, axis=1) * tau.ravel() * -y[:, None]
    sums = sparse.kron(sparse.diags_array(1 / values), np.ones((1, p)))
    zero, one = sparse.csr_array((r, n + 1)), sparse.eye_array(r)
    A = sparse.vstack(
        [
            sparse.csr_array(np.hstack([margins, -y[:, None], -np.eye(n), np.zeros((n, r))])),
            sparse.hstack([sums, zero, -one]),
            sparse.hstack([-sums, zero, -one]),
        ]
    ).tocsr()
    cost = np.concatenate([eta * tau.ravel() ** 2, [0.0], np.full(n, 1 / n), np.full(r, gamma)])
    bounds = [(0, None)] * (r * p) + [(None, None)] + [(0, None)] * (n + r)
    limits = np.concatenate([-np.ones(n), anchor, -anchor])
    return float(linprog(cost, A_ub=A, b_ub=limits, bounds=bounds, method="highs-ds").fun)


def spectra(bench):
    for n, floor, goal, repeats, points in (
        (80, 2.5, 7, 3, ((1e-2, 1e-2), (1e-3, 1e-3), (1e-2, 0.1))),
        (350, 4.5, 9, 2, ((1e-2, 1e-2), (1e-3, 1e-3))),
        (800, 7, 14, 2, ((1e-2, 1e-2),)),
    ):
        S, y = data(n)
        for eta, gamma in points:
            fit = simsvm(S, y, eta, gamma)
            bench.compare(
                f"SimSVM, n = {n}, eta = {eta:g}, gamma = {gamma:g}",
                lambda S=S, y=y, eta=eta, gamma=gamma: simsvm(S, y, eta, gamma).objective,
                lambda S=S, y=y, eta=eta, gamma=gamma: conic_simsvm(S, y, eta, gamma, cvxpy.CLARABEL),
                peer_name="cvxpy + clarabel",
                floor=floor,
                goal=goal,
                repeats=repeats,
                check=relative(1e-5),
                gap=fit.gap,
                steps=fit.n_iter,
                active=fit.active,
            )


def fusion(bench):
    S, y = data(80)
    square = ((S[:, None] - S) ** 2).sum(-1)
    kernels = [S @ S, np.exp(-0.1 * square), np.exp(-0.01 * square)]
    trace = float(np.maximum(np.linalg.eigvalsh(S), 0).sum())
    bench.compare(
        "SimMKL, n = 80, one similarity and three kernels",
        lambda: SpectralMachine(y, [spectrum(S)], kernels, trace).solve(0.01, 0.1).objective,
        lambda: conic_simmkl(S, kernels, y, 0.01, 0.1, trace),
        peer_name="cvxpy + SCS",
        floor=300,
        goal=600,
        repeats=1,
        check=relative(1e-4),
    )


def whole_kernels(bench):
    S, y = data(80)
    C, rho = 1.0, 1.0
    eta = 1 / (2 * 80 * C)

    def indefinite():
        return 2 * eta * IndefiniteMachine(*np.linalg.eigh(S), y).solve(C, rho).objective

    bench.compare(
        "Indefinite SVM, n = 80, C = 1, rho = 1",
        indefinite,
        lambda: conic_kernel(S, y, eta, 2 * eta * rho, True),
        peer_name="cvxpy + SCS",
        floor=90,
        goal=200,
        repeats=1,
        check=relative(1e-4),
    )
    bench.compare(
        "Full kernel SVM, n = 80, eta = 0.01, gamma = 0.1",
        lambda: FullKernelMachine(*np.linalg.eigh(S), y).solve(0.01, 0.1).objective,
        lambda: conic_kernel(S, y, 0.01, 0.1, False),
        peer_name="cvxpy + SCS",
        floor=25,
        repeats=1,
        check=relative(1e-4),
    )
    for n, floor, goal, repeats in ((80, 3, 6, 5), (350, 19, 40, 5), (800, 28, 60, 3), (2000, 45, 90, 2)):
        S, y = data(n)
        machine = IndefiniteMachine(*np.linalg.eigh(S), y)
        v = 0.1 * y * np.where(y > 0, (y < 0).sum(), (y > 0).sum()) / n

        def decomposed(S=S, v=v):
            values, W = np.linalg.eigh(S + np.outer(v, v) / 4)
            return W @ (np.maximum(values, 0) * (W.T @ v))

        bench.compare(
            f"Indefinite SVM, value and gradient, n = {n}",
            lambda machine=machine, v=v: machine.update(v, 1.0)[0],
            decomposed,
            peer_name="full decomposition",
            floor=floor,
            goal=goal,
            repeats=repeats,
            check=lambda a, b: np.abs(a - b).max() / np.abs(b).max(),
        )


def approximation(bench):
    """The paper found its linear program further from the optimum and slower; here is by how much."""
    S, y = data(80)
    exact = simsvm(S, y, 0.01, 0.01, 1).objective
    for p, floor in ((10, 6), (50, 60)):
        value = linear_program(S, y, 0.01, 0.01, p)
        bench.compare(
            f"SimSVM with norm 1, n = 80, against the linear program (5.28), p = {p}",
            lambda: simsvm(S, y, 0.01, 0.01, 1).objective,
            lambda p=p: linear_program(S, y, 0.01, 0.01, p),
            peer_name="HiGHS dual simplex",
            floor=floor,
            repeats=1,
            peer_above_optimum=value / exact - 1,
        )


def main():
    bench = Benchmark("learned_kernels", packages=("cvxpy", "clarabel", "scs"))
    with threadpool_limits(1):
        spectra(bench)
        whole_kernels(bench)
        fusion(bench)
        approximation(bench)
    print(bench.write())


if __name__ == "__main__":
    main()
