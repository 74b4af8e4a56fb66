"""Kernels learned by linear programs: the approximation of SimSVM, and combinations of kernels with any signs."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from similis._utils.arrays import Floats
from similis._utils.threads import single_blas_thread
from similis.exceptions import ProximityError
from similis.solvers._local_svm import best_intercept, svm_path
from similis.solvers._spectral_kernel import LearntSpectrum, SpectralFit


def spectral_lp(y: Floats, spectrum: LearntSpectrum, tau: Floats, eta: float, gamma: float) -> SpectralFit:
    """Solve the linear program that approximates SimSVM with norm 1, [chen2010] Eq. (5.28).

    The matrix [K z; z' t] is restricted to sums of w_ij b_ij b_ij', w_ij >= 0, b_ij = (u_i, tau_ij): the objective is
    an upper bound of the minimum. The gap is that of the linear program.

    Parameters
    ----------
    y, spectrum : ndarray of shape (n,), LearntSpectrum
        1 and -1; eigenvalues l_i, eigenvectors u_i and the anchor of the multipliers.
    tau : ndarray of shape (r, p)
        Last entries of the p vectors b_ij of each u_i; random in the paper.
    eta, gamma : float
        Weights of c'Kc and of the distance from the anchor.
    """
    values, U, anchor = spectrum.values, spectrum.vectors, spectrum.anchor
    (n, r), p = U.shape, tau.shape[1]
    # Variables: w (r p), b, xi (n), v (r); the multiplier of l_i is sum_j w_ij / l_i.
    margins = np.hstack([np.repeat(U, p, axis=1) * tau.ravel(), np.ones((n, 1))]) * -y[:, None]
    multipliers = sparse.kron(sparse.diags_array(1 / values), np.ones((1, p)))
    none, one = sparse.csr_array((r, n + 1)), sparse.eye_array(r)
    first = sparse.hstack([margins, -sparse.eye_array(n), sparse.csr_array((n, r))])
    others = [sparse.hstack([part, none, -one]) for part in (multipliers, -multipliers)]
    A = sparse.vstack([first, *others])
    limits = np.concatenate([-np.ones(n), anchor, -anchor])
    cost = np.concatenate([eta * tau.ravel() ** 2, [0.0], np.full(n, 1 / n), np.full(r, gamma)])
    bounds = [(0, None)] * (r * p) + [(None, None)] + [(0, None)] * (n + r)
    for method in ("highs-ds", "highs-ipm"):
        found = linprog(cost, A_ub=A.tocsr(), b_ub=limits, bounds=bounds, method=method)
        if found.x is not None:
            break
    else:
        raise ProximityError(f"The linear program of the spectrum could not be solved: {found.message[:120]}")
    w = found.x[: r * p].reshape(r, p)
    k, z = w.sum(axis=1), (w * tau).sum(axis=1)  # spectrum of K, and f - b in the basis U: Eq. (5.25), (5.26)
    used = k > 1e-12 * k.max(initial=0.0)
    dual = found.ineqlin.marginals
    return SpectralFit(
        x=-n * dual[:n],
        alphas=[k / values],
        weights=np.empty(0),
        coef=U[:, used] @ (z[used] / k[used]),
        intercept=float(found.x[r * p]),
        objective=float(found.fun),
        gap=max(float(found.fun - limits @ dual), 0.0),
        active=bool(np.abs(k / values - anchor).max(initial=0.0) > 1e-9),
        n_iter=int(found.nit),
        gap_scale=float(found.fun),
    )


@single_blas_thread()
def signed_mkl(y: Floats, kernels: list[Floats], trace: float, eta: float, *, max_iter: int = 200) -> SpectralFit:
    """Learn a support vector machine and weights of any sign of its kernels, [chen2010] Eq. (5.32).

    Minimizes mean hinge loss + eta c'Kc over c, b and w, where K = sum_i w_i K_i is positive semi-definite with the
    given trace. Each step, at most `max_iter`, solves one SVM and one linear program.

    Parameters
    ----------
    y, kernels : ndarray of shape (n,), list of ndarray of shape (n, n)
        1 and -1; the positive semi-definite K_i.
    trace, eta : float
        Trace of K, and weight of c'Kc.
    """
    # The minimum over c and b is the largest of the functions 1'x / n - eta c'K(w)c of the dual variables x with
    # c = y . x / (2 eta n), affine in w; K(w) >= 0 means v'K(w)v >= 0 for all v. The value of the linear program with
    # the x and v found so far is a lower bound. On the line from the equal weights to its solution, the last kernel
    # that is positive semi-definite gives the next v, and its SVM the next x and an upper bound.
    n, traces = len(y), np.array([float(np.trace(K)) for K in kernels])
    some = np.flatnonzero(traces > 0)
    # Unknowns v_i = w_i tr(K_i) / trace with sum one; K(v) = sum_i v_i S_i.
    scaled = [kernels[i] * (trace / traces[i]) for i in some]
    start = np.full(len(some), 1 / max(len(some), 1))
    # In the coordinates where the kernel of equal weights is the identity, K(v) >= 0 concerns its range only.
    values, U = np.linalg.eigh(_combined(start, scaled, n))
    keep = values > 1e-10 * max(values[-1], 0.0)
    B = U[:, keep] / np.sqrt(values[keep])
    inner = [B.T @ S @ B for S in scaled]

    cuts, limits = [], []  # rows a of a'(v, t) <= limit, t the objective
    v, lower, best, fit, n_iter, unit = start, -np.inf, np.inf, (start, y, 0.0), 0, 1.0
    while n_iter < max_iter:
        n_iter += 1
        e, E = np.linalg.eigh(_combined(v, inner, len(B.T)))
        least = float(e[0]) if len(e) else 1.0
        if least < 0:
            v = start + (v - start) / (1 - least)
            directions = E[:, e < 0.1 * least]
            cuts += [[-float(d @ M @ d) for M in inner] + [0.0] for d in directions.T]
            limits += [0.0] * directions.shape[1]
        # For this kernel the SVM is the standard one with C = 1 / (2 n eta).
        K = _combined(v, scaled, n)
        c = svm_path(K, y, [1 / (2 * n * eta)]).coef[0]
        f = K @ c
        b = best_intercept(f, y, 1.0)
        objective = float(np.maximum(1 - y * (f + b), 0.0).mean()) + eta * float(c @ f)
        unit = unit if n_iter > 1 else max(objective, 1e-12)  # of t, for the tolerances of the linear program
        if objective < best:
            best, fit = objective, (v, c, b)
        cuts.append([-eta / unit * float(c @ S @ c) for S in scaled] + [-1.0])
        limits.append(-2 * eta / unit * float(y @ c))
        if not len(some):
            lower = best
            break
        total, bounds = np.append(np.ones(len(some)), 0.0), [(-1e3, 1e3)] * len(some) + [(0.0, None)]
        program = linprog(1 - total, A_ub=cuts, b_ub=limits, A_eq=[total], b_eq=[1.0], bounds=bounds, method="highs-ds")
        v, lower = program.x[:-1], max(lower, unit * float(program.fun))
        if best - lower <= 1e-6 * best:
            break
    v, c, b = fit
    weights = np.zeros(len(kernels))
    weights[some] = v * trace / traces[some]
    return SpectralFit(2 * eta * n * y * c, [], weights, c, b, best, max(best - lower, 0.0), True, n_iter, best)


def _combined(v: Floats, matrices: list[Floats], n: int) -> Floats:
    return sum((w * M for w, M in zip(v, matrices)), start=np.zeros((n, n)))
