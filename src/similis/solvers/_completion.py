"""Completion of incomplete kernels, [chen2010] sec. 6.1.

K11 is the block of the known objects and M a model of the whole kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from scipy import linalg, optimize, special

from similis._utils.arrays import Array, Floats, Mask
from similis._utils.threads import single_blas_thread

_Model = Callable[[Floats], Floats]
_Watch = Callable[[Floats, Floats], None]
_Update = Callable[[Floats, Floats, Floats, int], Floats]
_MEMORY = 10  # past steps of the Anderson acceleration
_EM_STEPS = 50  # em's own steps before the majorization
_RELAX = 1.6  # over-relaxation of Douglas-Rachford; below 2


@dataclass(frozen=True)
class Completion:
    """Completed kernel.

    Attributes
    ----------
    kernel, weights : ndarray of shape (n, n), ndarray or None
        Known entries unchanged; weight of each eigenvector (em, frobenius) or kernel (mixture).
    objective, path, degrees_of_freedom : float, ndarray, float or None
        Final value of the objective; em: Stein's loss after each step, which never rises; wishart: r.
    n_iter, converged : int, bool
        Number of steps, 0 for a closed form; whether the last step was below the tolerance.
    """

    kernel: Floats
    weights: Floats | None = None
    objective: float = float("nan")
    path: Floats = field(default_factory=lambda: np.empty(0))
    n_iter: int = 0
    converged: bool = True
    degrees_of_freedom: float | None = None


class Infeasible(ValueError):
    """Error: no positive semi-definite matrix has the known entries, proven by a dual certificate."""


@single_blas_thread()
def conditional_completion(K: Floats, known: Mask, M: Floats, residual: float = 1.0) -> Floats:
    """Complete K by the e-step: the matrix nearest to M in Stein's loss among those with this known block.

    Parameters
    ----------
    K, known
        As in :func:`em_completion`.
    M, residual : ndarray of shape (n, n), float
        Positive semi-definite, on the known objects definite; fraction of M22 - M21 M11^-1 M12 that is kept.
    """
    i, j = np.flatnonzero(known), np.flatnonzero(~known)
    M12, M22, K11 = M[np.ix_(i, j)], M[np.ix_(j, j)], K[np.ix_(i, i)]
    B = linalg.cho_solve(linalg.cho_factor(M[np.ix_(i, i)], lower=True), M12)  # M11^-1 M12
    # K12 = K11 M11^-1 M12, K22 = M22 - M21 M11^-1 M12 + M21 M11^-1 K11 M11^-1 M12
    K12, rest = K11 @ B, B.T @ K11 @ B + residual * (M22 - M12.T @ B)
    out, order = np.empty_like(M), np.append(i, j)
    out[np.ix_(order, order)] = np.block([[K11, K12], [K12.T, (rest + rest.T) / 2]])
    return out


@single_blas_thread()
def em_completion(
    K: Floats, known: Mask, K_aux: Floats, *, floor: float, tol: float = 1e-6, max_iter: int = 1000
) -> Completion:
    """Complete K by the em algorithm with M = sum_i w_i v_i v_i', v_i the eigenvectors of `K_aux`.

    Parameters
    ----------
    K, K_aux : ndarrays of shape (n, n)
        Positive semi-definite, only the block of the known objects is read; and the auxiliary kernel.
    known : ndarray of bool of shape (n,)
        The known objects.
    floor : float
        Smallest weight, above zero.
    tol, max_iter : float, int
        Stop when the estimated distance of the weights from their limits is below this fraction of the largest weight;
        steps at most.
    """
    i = np.flatnonzero(known)
    K11 = K[np.ix_(i, i)]
    values, V = np.linalg.eigh(K_aux)
    A = V[i]  # (n1, n): column i is the known part of v_i
    share = float(np.trace(K11)) / max(float(np.trace(K_aux[np.ix_(i, i)])), np.finfo(float).tiny)

    def update(w: Floats, C: Floats, R: Floats, steps: int) -> Floats:
        # m-step: w_i = v_i' K v_i for the K of the e-step, and v_i' M = w_i v_i', so that
        # w_i' = w_i - w_i^2 a_i' (M11^-1 - M11^-1 K11 M11^-1) a_i
        Y = linalg.solve_triangular(C, A, lower=True)
        Z = linalg.solve_triangular(C, Y, lower=True, trans="T")  # M11^-1 a_i
        first, second = np.einsum("ij,ij->j", Z, K11 @ Z), (Y**2).sum(axis=0)
        if steps <= _EM_STEPS:
            return np.maximum(np.maximum(w - w**2 * second, 0.0) + w**2 * first, floor)
        # As in mixture_completion: linear convergence to the same limit, zeros included, where em's is sublinear.
        return np.maximum(w * np.sqrt(first / np.maximum(second, np.finfo(float).tiny)), floor)

    start, stop = np.maximum(values * share, floor), (tol, max_iter, _EM_STEPS + 1)
    w, path, converged = _em(K11, floor, start, lambda w: (A * w) @ A.T, update, np.ones(len(start)), stop)
    kernel = conditional_completion(K, known, (V * w) @ V.T)
    return Completion(kernel, w, path[-1], path, len(path), converged)


def _em(
    K11: Floats, floor: float, w: Floats, model: _Model, update: _Update, sizes: Floats, stop: tuple[float, int, int]
) -> tuple[Floats, Floats, bool]:
    """Minimize Stein's loss of K11 and M11 = model(w); return w, the loss after each step, and whether w converged."""
    # ``update(w, C, R, steps)``, M11 = C C', R = M11^-1 K11, returns the next weights, whose changes are multiplied by
    # `sizes`.
    tol, max_iter, least = stop
    log_det = float(np.log(np.maximum(linalg.eigvalsh(K11), floor)).sum())  # kept finite for a singular K11
    path: list[float] = []
    converged, last = False, 0.0
    while True:
        C = linalg.cholesky(model(w), lower=True)
        # min over K of L_S(K, M) is L_S(K11, M11) = tr(K11 M11^-1) - log|K11 M11^-1| - n1
        R = linalg.cho_solve((C, True), K11)
        path.append(float(np.trace(R) - log_det + 2 * np.log(np.diag(C)).sum() - len(K11)))
        if converged or len(path) >= max_iter:
            return w, np.array(path), converged
        new = update(w, C, R, len(path))
        step = float((np.abs(new - w) * sizes).max())
        # Distance to the limit of a linearly convergent iteration from its last two steps.
        rate = min(step / last, 1 - 1e-12) if last > 0 else float(step > 0)
        left = step * rate / (1 - rate) if rate < 1 else np.inf
        converged = len(path) > least and left <= tol * float((new * sizes).max())
        w, last = new, step


@single_blas_thread()
def mixture_completion(
    K: Floats, known: Mask, kernels: Sequence[Floats], *, ridge: float, tol: float = 1e-6, max_iter: int = 1000
) -> tuple[Completion, Floats]:
    """Complete K by the em algorithm with M = sum_i w_i K_i + ridge I for several auxiliary kernels; also return M.

    The m-step has no closed form; it minimizes an upper bound of Stein's loss. Other parameters as in
    :func:`em_completion`.
    """
    i = np.flatnonzero(known)
    K11, blocks = K[np.ix_(i, i)], np.array([A[np.ix_(i, i)] for A in kernels])
    sizes = np.array([float(np.trace(A)) for A in blocks])

    def update(w: Floats, C: Floats, R: Floats, steps: int) -> Floats:
        # tr(K11 M^-1) <= sum_i (w_i^2 / w_i') tr(R K_i M^-1), log|M| <= its tangent: w_i' = w_i sqrt(first / second)
        inverse = linalg.cho_solve((C, True), np.eye(len(i)))
        RM = R @ inverse
        first = np.array([max(float((RM * A).sum()), 0.0) for A in blocks])
        second = np.array([float((inverse * A).sum()) for A in blocks])
        return w * np.sqrt(np.divide(first, second, out=np.zeros_like(first), where=second > 0))

    def model(w: Floats, parts: Sequence[Floats] | Floats = blocks) -> Floats:
        return np.asarray(np.tensordot(w, np.asarray(parts), axes=1) + ridge * np.eye(len(parts[0])))

    start = float(np.trace(K11)) / np.maximum(len(blocks) * sizes, ridge)
    w, path, converged = _em(K11, ridge, start, model, update, sizes, (tol, max_iter, 1))
    M = model(w, kernels)
    return Completion(conditional_completion(K, known, M), w, path[-1], path, len(path), converged), M


@single_blas_thread()
def wishart_completion(
    K: Floats, known: Mask, K_aux: Floats, *, eta: float, degrees_of_freedom: float | None = None
) -> Completion:
    """Complete K by its expectation under K ~ W(r, Sigma / r), Sigma ~ IW(eta r + n + 1, eta r K_aux), at the mode.

    EM for Sigma has a fixed point in closed form: the m-step is Sigma = c (K + eta K_aux) with c = r / (r (1 + eta) +
    2n + 2), and the e-step of that Sigma, with B = K_aux11^-1 K_aux12 and Q = K_aux22 - K_aux21 B, returns K12 = K11 B
    and K22 = B' K11 B + q Q with q = eta r / (eta r + 2n + 2).

    Parameters
    ----------
    K, known, K_aux
        As in :func:`em_completion`; the auxiliary kernel is positive definite.
    eta, degrees_of_freedom : float, float or None
        Weight of the auxiliary kernel; r, above n - 1, or None for the most probable one. The `objective` of the result
        is minus the log posterior of r and Sigma, up to a constant.
    """
    # The posterior of r depends on the data only through the eigenvalues of K_aux11^-1 K11.
    n, i = len(K), np.flatnonzero(known)
    ratios = linalg.eigh(K[np.ix_(i, i)], K_aux[np.ix_(i, i)], eigvals_only=True)
    ratios = np.maximum(ratios, 1e-12 * max(float(ratios.max(initial=0.0)), np.finfo(float).tiny))
    r = degrees_of_freedom
    if r is None:
        bounds = np.log(1e-3), np.log(1e6 * n)
        found = optimize.minimize_scalar(
            lambda t: _posterior(n - 1 + np.exp(t), ratios, n, eta), bounds=bounds, options={"xatol": 1e-8}
        )
        r = n - 1 + float(np.exp(found.x))
    kernel = conditional_completion(K, known, K_aux, residual=eta * r / (eta * r + 2 * n + 2))
    return Completion(kernel, objective=_posterior(r, ratios, n, eta), degrees_of_freedom=float(r))


def _posterior(r: float, ratios: Array, n: int, eta: float) -> float:
    """Compute -log p(K11 | Sigma, r) - log p(Sigma | r), Sigma at its mode, without terms that do not depend on r."""
    # With Sigma22.1 = c (q + eta) Q every determinant of K_aux cancels.
    n1, n2, nu = len(ratios), n - len(ratios), eta * r + n + 1
    c = r / (r * (1 + eta) + 2 * n + 2)
    q = eta * r / (eta * r + 2 * n + 2)
    spread, rest = np.log(c * (ratios + eta)), np.log(c * (q + eta))  # log eigenvalues of K_aux11^-1 Sigma11; of Q
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


@single_blas_thread()
def frobenius_completion(
    K: Floats, known: Mask, K_aux: Floats, *, tol: float = 1e-7, max_iter: int = 5000
) -> Completion:
    """Minimize ||K - sum_i w_i v_i v_i'||_F over w >= 0 and the K >= 0 with the known block, [chen2010] Eq. (6.5).

    Parameters
    ----------
    K, known, K_aux
        As in :func:`em_completion`; v_i are the eigenvectors of the auxiliary kernel.
    tol, max_iter
        Largest distance of the two copies of the splitting relative to their norm; steps at most.
    """
    # For K >= 0 the optimal weights v_i' K v_i are never negative. One copy of K is positive semi-definite; the other
    # has the known block and is a least-squares problem in w.
    V = np.linalg.eigh(K_aux)[1]
    T, spectrum = known_range(K, known)
    size, r1 = float(spectrum.max(initial=0.0)) or 1.0, len(spectrum)
    # Below, matrices are in the coordinates of T, where the known block is diagonal.
    A, B, K11 = T.T @ V, T.T[:r1] @ V, np.diag(spectrum / size)
    free = (A.T @ A) ** 2 - (B.T @ B) ** 2  # <v_i v_i', v_j v_j'> over the free entries
    fixed = np.einsum("ij,ij->j", B, K11 @ B)
    factor = linalg.cho_factor(2 * np.eye(len(free)) - free)

    def near_model(Q: Floats) -> Floats:
        # min ||Z - M(w)||^2 + ||Z - Q||^2 over the Z with the known block: the mean of M(w) and Q on the free entries.
        projected = np.einsum("ij,ij->j", A, Q @ A) - np.einsum("ij,ij->j", B, Q[:r1, :r1] @ B)
        w = linalg.cho_solve(factor, projected + 2 * fixed)
        Z = ((A * w) @ A.T + Q) / 2
        Z[:r1, :r1] = K11
        return np.asarray(Z)

    # Start from the solution without K >= 0 and w >= 0: M(w) on free entries, the known block elsewhere.
    w = linalg.lstsq(np.eye(len(free)) - free, fixed)[0]
    M = (A * np.maximum(w, 0.0)) @ A.T
    M[:r1, :r1] = K11
    X, _, step, converged = douglas_rachford(shrink, near_model, shrink(M), tol=tol, max_iter=max_iter)
    kernel = size * (T @ _put_block(X, r1, K11) @ T.T)
    kernel = (kernel + kernel.T) / 2
    kernel[np.ix_(known, known)] = K[np.ix_(known, known)]
    w = nearest_weights(kernel, V)
    return Completion(kernel, w, float(np.linalg.norm(kernel - (V * w) @ V.T)), n_iter=step, converged=converged)


def known_range(K: Floats, known: Mask) -> tuple[Floats, Floats]:
    """Return orthonormal columns T with K = T R T' for every K >= 0 with this known block, and the block's spectrum."""
    # The null space of the known block belongs to that of K; without it a strictly feasible R exists.
    i, j = np.flatnonzero(known), np.flatnonzero(~known)
    values, U = linalg.eigh(K[np.ix_(i, i)])
    keep = values > 1e-12 * max(float(np.abs(values).max(initial=0.0)), np.finfo(float).tiny)
    r1 = int(keep.sum())
    T = np.zeros((len(K), r1 + len(j)))
    T[i, :r1], T[j, r1:] = U[:, keep], np.eye(len(j))
    return T, values[keep]


def nearest_weights(K: Floats, V: Floats) -> Floats:
    """Return the w >= 0 for which sum_i w_i v_i v_i' is nearest to a positive semi-definite K: w_i = v_i' K v_i."""
    return np.maximum(np.einsum("ij,ij->j", V, K @ V), 0.0)


def _put_block(X: Floats, r1: int, K11: Floats) -> Floats:
    """Return D X D' with D = K11^1/2 X11^-1/2 on the known block: positive semi-definite with the block K11."""
    values, U = linalg.eigh(X[:r1, :r1])
    positive = values > 1e-14 * max(float(values.max(initial=0.0)), np.finfo(float).tiny)
    inverse = (U[:, positive] / np.sqrt(values[positive])) @ U[:, positive].T
    top = np.sqrt(K11) @ inverse @ X[:r1, r1:]
    return np.block([[K11, top], [top.T, X[r1:, r1:]]])


@single_blas_thread()
def nearest_completion(
    S: Floats,
    known: Mask,
    *,
    mu: float = 0.0,
    psd: bool = True,
    tol: float = 1e-8,
    max_iter: int = 5000,
    start: Floats | None = None,
) -> Completion:
    """Minimize sum over known entries of (X_ij - S_ij)^2 + mu ||X||_*, X symmetric.

    Parameters
    ----------
    S, known : ndarrays of shape (n, n), of floats and bool
        Symmetric; only known entries are read.
    mu, psd : float, bool
        Weight of the nuclear norm, and whether X must be positive semi-definite: with ``mu=0`` [chen2010] Eq. (6.1).
    tol, max_iter : float, int
        Largest relative change of X by the last step; steps at most.
    start : ndarray of shape (n, n), optional
        Initial missing entries, zero by default. Where several X are optimal, it determines the result.
    """
    shrunk = X = shrink(np.where(known, S, 0.0 if start is None else start), mu / 2, psd)
    # FISTA ([beck2009]): a proximal gradient step fills the missing entries from X and shrinks the spectrum
    # ([cai2010]); the momentum is reset whenever it points uphill ([odonoghue2015]).
    Y, t, converged, step = X, 1.0, False, 0
    while step < max_iter and not converged:
        step += 1
        shrunk = shrink(np.where(known, S, Y), mu / 2, psd)
        converged = bool(np.linalg.norm(shrunk - Y) <= tol * max(np.linalg.norm(shrunk), np.finfo(float).tiny))
        if not converged and float(((Y - shrunk) * (shrunk - X)).sum()) > 0:
            shrunk, t = shrink(np.where(known, S, X), mu / 2, psd), 1.0
        t_next = (1 + np.sqrt(1 + 4 * t**2)) / 2
        Y, X, t = shrunk + (t - 1) / t_next * (shrunk - X), shrunk, t_next
    objective = float(((shrunk - S)[known] ** 2).sum()) + mu * float(np.abs(linalg.eigvalsh(shrunk)).sum())
    return Completion(shrunk, objective=objective, n_iter=step, converged=converged)


@single_blas_thread()
def nuclear_completion(
    S: Floats, known: Mask, *, psd: bool = True, tol: float = 1e-9, max_iter: int = 5000
) -> Completion:
    """Minimize ||X||_* over the symmetric X with X_ij = S_ij for every known entry, [chen2010] Eq. (6.2).

    Parameters as in :func:`nearest_completion`. Raises :class:`Infeasible` if no X >= 0 has the known entries.
    """
    size = float(np.abs(S[known]).max(initial=0.0))
    if size == 0:
        return Completion(np.where(known, S, 0.0), objective=0.0)
    target = np.where(known, S, 0.0) / size
    # With a known diagonal the trace is fixed: every feasible positive semi-definite X is optimal, nothing is shrunk.
    cost = 0.0 if psd and known.diagonal().all() else 1.0

    def watch(X: Floats, Z: Floats) -> None:
        if psd and _separates(X - Z, known, target):
            raise Infeasible("no positive semi-definite matrix has the known entries")

    def filled(A: Floats) -> Floats:
        return np.where(known, target, A)

    found = douglas_rachford(lambda A: shrink(A, cost, psd), filled, target, tol=tol, max_iter=max_iter, watch=watch)
    _, Z, step, converged = found
    objective = size * float(np.abs(linalg.eigvalsh(Z)).sum())
    return Completion(np.where(known, S, size * Z), objective=objective, n_iter=step, converged=converged)


def _separates(D: Floats, known: Mask, S: Floats) -> bool:
    """Return True if D, corrected to a dual certificate, proves that no X >= 0 has the known entries of S."""
    # A certificate is a positive semi-definite D that is zero where X is free, with <D, S> < 0, because <D, X> >= 0 for
    # every X >= 0; D_ii = 0 forces its row to zero, so that only objects with a known diagonal entry contribute. The
    # difference of the two Douglas-Rachford copies converges to such a matrix ([banjac2019]), but keeps small entries
    # in the other rows and small negative eigenvalues, which are removed exactly.
    part = np.ix_(known.diagonal(), known.diagonal())
    D = np.where(known[part], D[part], 0.0)
    size = float(np.linalg.norm(D))
    if size == 0:
        return False
    D[np.diag_indices_from(D)] -= min(float(linalg.eigvalsh(D, subset_by_index=[0, 0])[0]), 0.0)
    return float((D * S[part]).sum()) < -1e-6 * size * float(np.linalg.norm(S))


class KernelFactor:
    """Factor with K = R R', and completion of rows r = R z from their known entries.

    Parameters
    ----------
    R : ndarray of shape (n, rank)
        One row per training object.
    """

    def __init__(self, R: Floats) -> None:
        self.R = R
        self._cut = np.sqrt(10 * max(R.shape) * np.finfo(np.float64).eps)

    def split(self, known: Mask, values: Floats) -> tuple[Floats, Floats]:
        """Return the shortest z with R z nearest to the known values, and a basis of the z that do not change them."""
        if not known.any() or not self.R.shape[1]:
            return np.zeros(self.R.shape[1]), np.eye(self.R.shape[1])
        U, sizes, Wt = linalg.svd(self.R[known], full_matrices=True)
        keep = int((sizes > self._cut * sizes.max(initial=0.0)).sum())
        z = Wt[:keep].T @ ((U[:, :keep].T @ values[known]) / sizes[:keep])
        return z, Wt[keep:].T

    def fill(self, known: Mask, values: Floats, ridge: float = 0.0) -> Floats:
        """Complete rows with the mask `known`, (n,): the shortest r that minimizes ||r_J - s_J||^2 + ridge r'K^+r."""
        if not known.any() or not self.R.shape[1]:
            return np.zeros_like(values)
        part, target = self.R[known], values[:, known].T
        if ridge > 0:
            z = linalg.solve(part.T @ part + ridge * np.eye(part.shape[1]), part.T @ target, assume_a="pos")
        else:
            z = linalg.lstsq(part, target, cond=self._cut)[0]
        return np.asarray((self.R @ z).T)


def kernel_factor(K: Floats, *, tol: float = 1e-12) -> KernelFactor:
    """Factor K, or |K| if K has negative eigenvalues, without eigenvalues below `tol` times the largest.

    Parameters
    ----------
    K, tol : symmetric ndarray of shape (n, n), float
        The kernel, and the fraction of the largest eigenvalue below which eigenvalues count as zero.
    """
    values, U = linalg.eigh(K)
    size = np.abs(values)
    keep = size > tol * max(float(size.max(initial=0.0)), np.finfo(float).tiny)
    return KernelFactor(U[:, keep] * np.sqrt(size[keep]))


def infer_row(factor: KernelFactor, K_aux: Floats, aux: Floats, aux_self: float, row: Floats) -> Floats:
    """Minimize ||[K r; r' t] - sum_i w_i b_i b_i'||_F over r, t and w >= 0 with [K r; r' t] >= 0, [chen2010] Eq. (6.8).

    The paper prints r'Kr <= t; the matrix is positive semi-definite if r'K^+r <= t with r in the range of K.

    Parameters
    ----------
    factor, row : KernelFactor, ndarray of shape (n,)
        Of K; known entries of r, NaN elsewhere. If no row in the range of K has them, r is the nearest one.
    K_aux, aux, aux_self : ndarrays of shape (n, n) and (n,), float
        The auxiliary kernel, and its values of the new object; b_i are the eigenvectors of [K_aux aux; aux' aux_self].
    """
    # With r = R z the constraint is ||z||^2 <= t. As in Eq. (6.7) the w_i are the quadratic forms of b_i: a quadratic
    # function of (z, t) with one multiplier remains.
    R, n, known = factor.R, len(aux), ~np.isnan(row)
    z, N = factor.split(known, np.where(known, row, 0.0))
    if not N.shape[1]:
        return np.asarray(R @ z)
    b = np.linalg.eigh(np.block([[K_aux, aux[:, None]], [aux, np.array(aux_self)]]))[1]
    P, q = b[:n], b[n]
    # b_i' [K r; r' t] b_i = ||R'p_i||^2 + 2 q_i p_i'r + q_i^2 t; the objective is ||.||_F^2 minus their squares.
    r, E = R @ z, R @ N
    L = 2 * q[:, None] * P.T
    constant = ((R.T @ P) ** 2).sum(axis=0) + L @ r
    B = np.column_stack([L @ E, q**2])
    H = -B.T @ B
    H[:-1, :-1] += 2 * E.T @ E
    H[-1, -1] += 1.0
    slope = -B.T @ constant
    slope[:-1] += 2 * E.T @ r
    # Minimize 1/2 x'Hx + slope'x over x = (v, t) with ||z||^2 + ||v||^2 <= t, whose multiplier is m.
    ridge = 1e-12 * max(float(np.trace(H)), np.finfo(float).tiny)
    e_t = np.append(np.zeros(len(H) - 1), 1.0)

    def at(m: float) -> Floats:
        return np.asarray(linalg.solve(H + np.diag(ridge + 2 * m * (1 - e_t)), m * e_t - slope, assume_a="sym"))

    def excess(m: float) -> float:  # falls as m grows
        x = at(m)
        return float(z @ z) + float(x[:-1] @ x[:-1]) - float(x[-1])

    m, high = 0.0, float(np.abs(H).max()) or 1.0
    if excess(0.0) > 0:
        while excess(high) > 0:
            high *= 10
        m = optimize.brentq(excess, 0.0, high, xtol=1e-14 * high, rtol=1e-12)
    return np.asarray(r + E @ at(m)[:-1])


def douglas_rachford(
    first: _Model, second: _Model, start: Floats, *, tol: float, max_iter: int, watch: _Watch | None = None
) -> tuple[Floats, Floats, int, bool]:
    """Minimize f + g by Douglas-Rachford splitting ([lions1979]); ``first(A)`` minimizes f(X) + ||X - A||^2 / 2."""
    # `watch` sees both copies every 20 steps and may raise. Returns both copies, the number of steps, and True if the
    # copies agree up to `tol` relative to their norm.
    points: list[Floats] = []
    steps: list[Floats] = []
    s = X = Z = plain = start  # plain: point after the step without acceleration
    last, converged, step = np.inf, False, 0  # last: distance of the copies before it
    while step < max_iter and not converged:
        step += 1
        X = first(s)
        Z = second(2 * X - s)
        apart = float(np.linalg.norm(Z - X))
        converged = apart <= tol * max(float(np.linalg.norm(X)), float(np.linalg.norm(Z)), np.finfo(float).tiny)
        if watch is not None and step % 20 == 0:
            watch(X, Z)
        if points and apart > 2 * last:  # reject the accelerated step and restart from the plain one
            s, last, points, steps = plain, np.inf, [], []
            continue
        g = _RELAX * (Z - X)
        last, plain = apart, s + g
        points, steps = [*points, s][-_MEMORY:], [*steps, g][-_MEMORY:]
        s = _accelerated(points, steps) if len(points) > 2 else plain
    return X, Z, step, converged


def _accelerated(points: list[Floats], steps: list[Floats]) -> Floats:
    """Combine past steps so that the residual is smallest in least squares: Anderson acceleration ([walker2011])."""
    s, g = points[-1], steps[-1]
    G = np.array([(b - a).ravel() for a, b in pairwise(steps)])
    gram = G @ G.T
    gram[np.diag_indices_from(gram)] += 1e-10 * np.trace(gram)
    weights = np.linalg.solve(gram, G @ g.ravel())
    S = np.array([(b - a).ravel() for a, b in pairwise(points)])
    return np.asarray(s + g - (weights @ (S + G)).reshape(s.shape))


def shrink(A: Floats, by: float = 0.0, psd: bool = True) -> Floats:
    """Move the eigenvalues of A toward zero by `by`; with `psd` set negative ones to zero."""
    values, U = linalg.eigh(A, check_finite=False, driver="evd")
    moved = np.maximum(values - by, 0.0)
    if not psd:
        moved += np.minimum(values + by, 0.0)
    keep = moved != 0
    B: Floats = (U[:, keep] * moved[keep]) @ U[:, keep].T
    return (B + B.T) / 2
