"""Kernels whose rows are hidden, completed with an auxiliary kernel. [chen2010] sec. 6.1.

The known objects' block is K11, M a model of the whole kernel. For a fixed M both em and the Wishart model fill in the
conditional expectation (:func:`conditional_completion`); they differ in how they learn M.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize, special

__all__ = ["Completion", "conditional_completion", "em_completion", "mixture_completion", "wishart_completion"]


@dataclass(frozen=True)
class Completion:
    """A completed kernel.

    Attributes
    ----------
    kernel : ndarray of shape (n, n)
        The known entries as they were and the others filled in.
    weights : ndarray or None
        em, frobenius: weight of each eigenvector of the auxiliary kernel; of each kernel for a mixture.
    objective : float
        What the method makes small, at the end.
    path : ndarray
        em: Stein's loss after each step, never rising; else empty.
    n_iter : int
        Steps taken; 0 for a closed form.
    converged : bool
        Whether the last step was as small as was asked.
    degrees_of_freedom : float or None
        wishart: r.
    """

    kernel: NDArray[np.float64]
    weights: NDArray[np.float64] | None = None
    objective: float = float("nan")
    path: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    n_iter: int = 0
    converged: bool = True
    degrees_of_freedom: float | None = None


def conditional_completion(
    K: NDArray[np.float64], known: NDArray[np.bool_], M: NDArray[np.float64], residual: float = 1.0
) -> NDArray[np.float64]:
    """The e-step: the K nearest to M in Stein's loss among those with this known block.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Only the block of the known objects is read.
    known : ndarray of bool of shape (n,)
        The known objects.
    M : ndarray of shape (n, n)
        Positive semi-definite; positive definite on the known objects.
    residual : float, default=1.0
        Share of M22 - M21 M11^-1 M12 that is kept.

    Returns
    -------
    ndarray of shape (n, n)
        Symmetric, with the known block bit by bit.
    """
    i, j = np.flatnonzero(known), np.flatnonzero(~known)
    M12, M22 = M[np.ix_(i, j)], M[np.ix_(j, j)]
    K11 = K[np.ix_(i, i)]
    B = linalg.cho_solve(linalg.cho_factor(M[np.ix_(i, i)], lower=True), M12)  # M11^-1 M12
    out = np.empty_like(M)
    out[np.ix_(i, i)] = K11
    # K12 = K11 M11^-1 M12, K22 = M22 - M21 M11^-1 M12 + M21 M11^-1 K11 M11^-1 M12
    out[np.ix_(i, j)] = K11 @ B
    out[np.ix_(j, i)] = out[np.ix_(i, j)].T
    rest = B.T @ K11 @ B + residual * (M22 - M12.T @ B)
    out[np.ix_(j, j)] = (rest + rest.T) / 2
    return out


def em_completion(
    K: NDArray[np.float64],
    known: NDArray[np.bool_],
    K_aux: NDArray[np.float64],
    *,
    floor: float,
    tol: float = 1e-6,
    max_iter: int = 1000,
) -> Completion:
    """em: alternate between K and M = sum_i w_i v_i v_i', v_i the eigenvectors of `K_aux`.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Only the block of the known objects is read; positive semi-definite.
    known : ndarray of bool of shape (n,)
        The known objects.
    K_aux : ndarray of shape (n, n)
        The auxiliary kernel.
    floor : float
        Smallest weight, above zero.
    tol : float, default=1e-6
        Stop when a step lowers Stein's loss by less than this for each known object.
    max_iter : int, default=1000
        Steps at most.

    Returns
    -------
    Completion
    """
    i = np.flatnonzero(known)
    K11 = K[np.ix_(i, i)]
    values, V = np.linalg.eigh(K_aux)
    A = V[i]  # (n1, n): column i is the known part of v_i
    share = float(np.trace(K11)) / max(float(np.trace(K_aux[np.ix_(i, i)])), np.finfo(float).tiny)
    w = np.maximum(values * share, floor)
    log_det = _log_det(K11, floor)
    path: list[float] = []
    converged = False
    for _ in range(max_iter):
        C = linalg.cholesky((A * w) @ A.T, lower=True)  # M11 = C C'
        Y = linalg.solve_triangular(C, A, lower=True)
        R = linalg.cho_solve((C, True), K11)  # M11^-1 K11
        # min over K of L_S(K, M) is L_S(K11, M11) = tr(K11 M11^-1) - log|K11 M11^-1| - n1
        path.append(float(np.trace(R) - log_det + 2 * np.log(np.diag(C)).sum() - len(i)))
        converged = len(path) > 1 and path[-2] - path[-1] <= tol * len(i)
        if converged or len(path) == max_iter:
            break
        # m-step: w_i = v_i' K v_i of the e-step's K, and v_i' M = w_i v_i':
        # w_i' = w_i - w_i^2 a_i' (M11^-1 - M11^-1 K11 M11^-1) a_i
        Z = linalg.solve_triangular(C, Y, lower=True, trans="T")  # M11^-1 a_i
        prior = np.maximum(w - w**2 * (Y**2).sum(axis=0), 0.0)
        w = np.maximum(prior + w**2 * np.einsum("ij,ij->j", Z, K11 @ Z), floor)
    kernel = conditional_completion(K, known, (V * w) @ V.T)
    return Completion(kernel, w, path[-1], np.array(path), len(path), converged)


def mixture_completion(
    K: NDArray[np.float64],
    known: NDArray[np.bool_],
    kernels: Sequence[NDArray[np.float64]],
    *,
    ridge: float,
    tol: float = 1e-6,
    max_iter: int = 1000,
) -> tuple[Completion, NDArray[np.float64]]:
    """The em algorithm with M = sum_i w_i K_i + ridge I for several auxiliary kernels; also returns M.

    The m-step has no closed form: one step that minimises a bound of Stein's loss from above takes its place, so the
    loss never rises either. The other parameters are those of :func:`em_completion`.
    """
    i = np.flatnonzero(known)
    K11 = K[np.ix_(i, i)]
    blocks = [A[np.ix_(i, i)] for A in kernels]
    w = np.array([float(np.trace(K11)) / max(len(blocks) * float(np.trace(A)), ridge) for A in blocks])
    log_det = _log_det(K11, ridge)
    path: list[float] = []
    converged = False
    for _ in range(max_iter):
        M11 = np.tensordot(w, blocks, axes=1) + ridge * np.eye(len(i))
        factor = linalg.cho_factor(M11, lower=True)
        inverse = linalg.cho_solve(factor, np.eye(len(i)))
        R = inverse @ K11
        path.append(float(np.trace(R) - log_det + 2 * np.log(np.diag(factor[0])).sum() - len(i)))
        converged = len(path) > 1 and path[-2] - path[-1] <= tol * len(i)
        if converged or len(path) == max_iter:
            break
        # tr(K11 M^-1) <= sum_i (w_i^2 / w_i') tr(R K_i M^-1), log|M| <= its tangent: w_i' = w_i sqrt(first / second)
        bent = R @ inverse
        first = np.array([max(float((bent * A).sum()), 0.0) for A in blocks])
        second = np.array([float((inverse * A).sum()) for A in blocks])
        w = w * np.sqrt(np.divide(first, second, out=np.zeros_like(first), where=second > 0))
    M = np.tensordot(w, np.asarray(kernels), axes=1) + ridge * np.eye(len(K))
    return Completion(conditional_completion(K, known, M), w, path[-1], np.array(path), len(path), converged), M


def wishart_completion(
    K: NDArray[np.float64],
    known: NDArray[np.bool_],
    K_aux: NDArray[np.float64],
    *,
    eta: float,
    degrees_of_freedom: float | None = None,
) -> Completion:
    """The kernel expected under K ~ W(r, Sigma / r), Sigma ~ IW(eta r + n + 1, eta r K_aux), both at their mode.

    EM for Sigma has a fixed point in closed form. Its m-step is Sigma = c (K + eta K_aux) with c = r / (r (1 + eta) +
    2n + 2). With B = K_aux11^-1 K_aux12 and Q = K_aux22 - K_aux21 B, the e-step of that Sigma returns

        K12 = K11 B,   K22 = B' K11 B + q Q,   q = eta r / (eta r + 2n + 2),

    and no other K: r and eta only say how much of the residual Q is kept.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Only the block of the known objects is read; positive semi-definite.
    known : ndarray of bool of shape (n,)
        The known objects.
    K_aux : ndarray of shape (n, n)
        The auxiliary kernel, positive definite.
    eta : float
        How much the auxiliary kernel counts.
    degrees_of_freedom : float or None
        r, above n - 1; None takes the most probable one.

    Returns
    -------
    Completion
        Its `objective` is minus the log posterior of r and Sigma, up to a constant.
    """
    n, i = len(K), np.flatnonzero(known)
    # All that r is judged by are the eigenvalues of K_aux11^-1 K11.
    ratios = linalg.eigh(K[np.ix_(i, i)], K_aux[np.ix_(i, i)], eigvals_only=True)
    ratios = np.maximum(ratios, 1e-12 * max(float(ratios.max(initial=0.0)), np.finfo(float).tiny))
    r = degrees_of_freedom
    if r is None:
        found = optimize.minimize_scalar(
            lambda t: _posterior(n - 1 + np.exp(t), ratios, n, eta),
            bounds=(np.log(1e-3), np.log(1e6 * n)),
            method="bounded",
            options={"xatol": 1e-8},
        )
        r = n - 1 + float(np.exp(found.x))
    q = eta * r / (eta * r + 2 * n + 2)
    kernel = conditional_completion(K, known, K_aux, residual=q)
    return Completion(kernel, objective=_posterior(r, ratios, n, eta), degrees_of_freedom=float(r))


def _posterior(r: float, ratios: NDArray[Any], n: int, eta: float) -> float:
    """Minus log p(K11 | Sigma, r) - log p(Sigma | r) with Sigma at its mode, without terms that do not depend on r.

    With l_i the eigenvalues of K_aux11^-1 K11 and Sigma22.1 = c (q + eta) Q, every determinant of K_aux falls out.
    """
    n1, n2, nu = len(ratios), n - len(ratios), eta * r + n + 1
    c = r / (r * (1 + eta) + 2 * n + 2)
    q = eta * r / (eta * r + 2 * n + 2)
    spread = np.log(c * (ratios + eta))  # log eigenvalues of K_aux11^-1 Sigma11
    rest = np.log(c * (q + eta))
    # [chen2010] Def. C.1: log W_n1(K11; r, Sigma11 / r)
    wishart = r / 2 * (np.log(ratios) - ratios / (c * (ratios + eta)) - spread + np.log(r / 2)).sum()
    wishart -= special.multigammaln(r / 2, n1)
    # [chen2010] Def. C.7: log IW_n(Sigma; nu, eta r K_aux)
    prior = (
        nu / 2 * n * np.log(eta * r / 2)
        - (nu + n + 1) / 2 * (spread.sum() + n2 * rest)
        - eta * r / 2 * ((1 / (c * (ratios + eta))).sum() + n2 / (c * (q + eta)))
        - special.multigammaln(nu / 2, n)
    )
    return -float(wishart + prior)


def _log_det(A: NDArray[np.float64], floor: float) -> float:
    """log|A| with eigenvalues no smaller than `floor`: a constant of Stein's loss that keeps it finite."""
    return float(np.log(np.maximum(linalg.eigvalsh(A), floor)).sum())
