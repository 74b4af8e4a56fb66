"""Support vector machine learned together with the hidden part of its kernel, [chen2010] Eq. (6.7), (6.10)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse

from similis._utils.arrays import Floats, Mask
from similis._utils.environment import require_package
from similis._utils.threads import single_blas_thread
from similis.solvers._completion import known_range, nearest_weights
from similis.solvers._local_svm import svm_path
from similis.solvers._lp_margin import best_intercept

_ROOT2 = np.sqrt(2.0)


@dataclass(frozen=True)
class CompletionMachine:
    """Solution of :func:`completion_machine`.

    Attributes
    ----------
    kernel, weights : ndarrays of shape (n, n) and (n,)
        K, positive semi-definite, with the given known block; w of the auxiliary kernel's eigenvectors.
    coef, intercept : ndarray of shape (l,), float
        c, one for each labeled object, and b.
    objective, gap : float
        Objective of K, c and b, and a bound on its distance to the minimum, up to the tolerance of the conic solver.
    status : str
        Status reported by the conic solver.
    """

    kernel: Floats
    weights: Floats
    coef: Floats
    intercept: float
    objective: float
    gap: float
    status: str


@single_blas_thread()
def completion_machine(
    K: Floats, known: Mask, K_aux: Floats, y: Floats, *, eta: float, gamma: float
) -> CompletionMachine:
    """Minimize (1/l) sum_i xi_i + eta c'Kc + gamma ||K - sum_i w_i v_i v_i'||_F over c, b, w >= 0 and K's hidden part.

    Parameters
    ----------
    K, known, K_aux
        As in :func:`em_completion`; v_i are the eigenvectors of the auxiliary kernel.
    y, eta, gamma : ndarray of shape (n,), float, float
        1 and -1, both present, 0 for an object without label; positive weights of the norm and of the departure from
        the auxiliary kernel.

    Notes
    -----
    The paper writes Eq. (6.10) with two matrix inequalities, on K and z of the labeled objects and on K. One is enough,
    [K z; z' u] >= 0 with z free where there is no label: K_.T c with c = K_TT^+ z_T extends z_T with the same
    c'K_TT c. The weights v_i' K v_i are never negative, so that w >= 0 is omitted.
    """
    V = np.linalg.eigh(K_aux)[1]
    lower, status = -np.inf, "Solved"
    if known.all():
        kernel, lower = K.copy(), 0.0
    else:
        kernel, lower, status = _learn_kernel(K, known, V, y, eta, gamma)
    w = nearest_weights(kernel, V)
    penalty = gamma * float(np.linalg.norm(kernel - (V * w) @ V.T))
    # For this kernel the SVM is the standard one with C = 1 / (2 l eta).
    labeled = np.flatnonzero(y)
    K_T, y_T = kernel[np.ix_(labeled, labeled)], y[labeled]
    c = svm_path(K_T, y_T, [1 / (2 * len(labeled) * eta)]).coef[0]
    f = K_T @ c
    b = best_intercept(f, y_T, 1.0)
    objective = float(np.maximum(1 - y_T * (f + b), 0.0).mean()) + eta * float(c @ f) + penalty
    if known.all():
        lower = penalty + float(y_T @ c) * 2 * eta - eta * float(c @ f)
    return CompletionMachine(kernel, w, c, b, objective, max(objective - lower, 0.0), status)


def _learn_kernel(K: Floats, known: Mask, V: Floats, y: Floats, eta: float, gamma: float) -> tuple[Floats, float, str]:
    """Solve the conic program; return the kernel, the dual value and the status of the solver."""
    clarabel = require_package("clarabel", extra="conic", who="CompletionSVM")
    T, spectrum = known_range(K, known)
    size = float(spectrum.max(initial=0.0)) or 1.0
    # R >= 0 in K = T R T' has a positive diagonal as its known block, so that a strictly feasible point exists.
    problem = _Cone(T, spectrum / size, V, y)
    # K = size R and c = C / size: eta c'Kc = (eta / size) C'RC
    q = np.zeros(problem.width)
    q[problem.xi] = 1.0 / len(problem.labeled)
    q[problem.u], q[problem.v] = eta / size, gamma * size
    parts = [problem.margins(), problem.norm(), problem.inequality()]
    A, b = sparse.csc_matrix(sparse.vstack([rows for rows, _ in parts])), np.concatenate([part for _, part in parts])
    sizes = len(parts[0][1]), len(parts[1][1]), problem.r + 1
    kinds = clarabel.NonnegativeConeT, clarabel.SecondOrderConeT, clarabel.PSDTriangleConeT
    cones = [cone(size) for cone, size in zip(kinds, sizes)]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    P = sparse.csc_matrix((len(q), len(q)))
    solution = clarabel.DefaultSolver(P, q, A, b, cones, settings).solve()
    kernel = size * (T @ problem.feasible(np.asarray(solution.x)) @ T.T)
    kernel = (kernel + kernel.T) / 2
    kernel[np.ix_(known, known)] = K[np.ix_(known, known)]
    return kernel, float(solution.obj_val_dual), str(solution.status)


class _Cone:
    """The conic program A x + s = b, s in a product of cones, over x = (R12, R22, zeta, b, xi, w, u, v)."""

    def __init__(self, T: Floats, spectrum: Floats, V: Floats, y: Floats) -> None:
        self.T, self.spectrum, self.y, self.labeled = T, spectrum, y, np.flatnonzero(y)
        self.r, self.r1, self.A = T.shape[1], len(spectrum), T.T @ V  # A (r, n): v_i in the coordinates of T
        rows, cols = np.triu_indices(self.r)
        order = np.lexsort((rows, cols))  # column by column, the order of clarabel's triangular cone
        self.rows, self.cols = rows[order], cols[order]
        self.free = self.cols >= self.r1
        counts = [int(self.free.sum()), self.r, 1, len(self.labeled), V.shape[1], 1, 1]
        ends = np.cumsum(counts).tolist()
        places = [slice(end - count, end) for end, count in zip(ends, counts)]
        (self.R, self.zeta, self.b, self.xi, self.w, self.u, self.v), self.width = places, ends[-1]

    def feasible(self, x: Floats) -> Floats:
        """Return R of a solution, with R22 corrected for rounding so that R >= 0 (Schur complement)."""
        R = np.diag(np.concatenate([self.spectrum, np.zeros(self.r - self.r1)]))
        i, j = self.rows[self.free], self.cols[self.free]
        R[i, j] = R[j, i] = x[self.R]
        R12 = R[: self.r1, self.r1 :]
        must = R12.T @ (R12 / self.spectrum[:, None])
        values, U = linalg.eigh(R[self.r1 :, self.r1 :] - must)
        R[self.r1 :, self.r1 :] = must + (U * np.maximum(values, 0.0)) @ U.T
        return R

    def margins(self) -> tuple[Any, Floats]:
        """Build the rows of y_i (z_i + b) - 1 + xi_i >= 0 for labeled objects, then of xi >= 0."""
        m, y = len(self.labeled), self.y[self.labeled]
        A = sparse.lil_matrix((2 * m, self.width))
        A[:m, self.zeta] = -y[:, None] * self.T[self.labeled]
        A[:m, self.b] = -y[:, None]
        A[:m, self.xi] = A[m:, self.xi] = -sparse.eye_array(m)
        return A, np.concatenate([-np.ones(m), np.zeros(m)])

    def norm(self) -> tuple[Any, Floats]:
        """Build the rows of (v, K - sum w_i v_i v_i') in the second-order cone."""
        # Free entries have one row each. Elsewhere the squared distance is w'Nw - 2 f'w + const = ||N^1/2 w - g||^2 +
        # rest^2 with N = I - <v_i v_i', v_j v_j'>_free.
        A, r1 = self.A, self.r1
        i, j = self.rows[self.free], self.cols[self.free]
        scale = np.where(i == j, 1.0, _ROOT2)
        outer = scale[:, None] * A[i] * A[j]  # (free entries, n): v_i v_i' there
        values, U = linalg.eigh(np.eye(A.shape[1]) - outer.T @ outer)
        keep = values > 1e-12 * max(float(values.max(initial=0.0)), 1.0)
        root = np.sqrt(values[keep])
        f = np.einsum("ij,i,ij->j", A[:r1], self.spectrum, A[:r1])
        g = (U[:, keep].T @ f) / root
        rest = np.sqrt(max(float(self.spectrum @ self.spectrum - g @ g), 0.0))
        head = sparse.csr_matrix(([-1.0], ([0], [self.v.start])), shape=(1, self.width))
        entries = sparse.lil_matrix((len(i), self.width))
        entries[:, self.R] = -sparse.diags_array(scale)
        entries[:, self.w] = outer
        others = sparse.lil_matrix((len(g) + 1, self.width))
        others[:-1, self.w] = -(root[:, None] * U[:, keep].T)
        return sparse.vstack([head, entries, others]), np.concatenate([np.zeros(1 + len(i)), -g, [rest]])

    def inequality(self) -> tuple[Any, Floats]:
        """Build the rows of [R zeta; zeta' u] >= 0: upper triangle by columns, off-diagonal entries times sqrt(2)."""
        scale = np.where(self.rows == self.cols, 1.0, _ROOT2)
        place = np.flatnonzero(self.free)
        A = sparse.lil_matrix((len(scale) + self.r + 1, self.width))
        A[place, self.R.start + np.arange(len(place))] = -scale[place]
        A[len(scale) + np.arange(self.r), self.zeta.start + np.arange(self.r)] = -_ROOT2
        A[-1, self.u] = -1.0
        b = np.zeros(A.shape[0])
        known = (self.rows == self.cols) & ~self.free
        b[: len(scale)][known] = self.spectrum
        return A, b
