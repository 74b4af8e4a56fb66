"""Support vector machine learned together with the hidden part of its kernel, [chen2010] Eq. (6.7), (6.10)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from similis._utils.arrays import Floats, Mask
from similis._utils.environment import require_package
from similis._utils.threads import single_blas_thread
from similis.solvers._completion import known_range, nearest_weights, shrink
from similis.solvers._local_svm import best_intercept, svm_path


@dataclass(frozen=True)
class CompletionMachine:
    """Solution of :func:`completion_machine`.

    Attributes
    ----------
    kernel, weights : ndarrays of shape (n, n) and (n,)
        K, positive semi-definite, with the given known block; w of the auxiliary kernel's eigenvectors.
    coef, intercept, status : ndarray of shape (l,), float, str
        c, one for each labeled object, and b; status reported by the conic solver.
    objective, gap : float
        Objective of K, c and b, and a bound on its distance to the minimum, up to the tolerance of the conic solver.
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
    Of the two matrix inequalities of Eq. (6.10) one is enough, [K z; z' u] >= 0 with z free where there is no label:
    K_.T c with c = K_TT^+ z_T extends z_T with the same c'K_TT c. w_i = v_i' K v_i is never negative.
    """
    V = np.linalg.eigh(K_aux)[1]
    learned = (K.copy(), 0.0, "Solved") if known.all() else _learn_kernel(K, known, V, y, eta, gamma)
    kernel, lower, status = learned
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
    # R >= 0 in K = size T R T' has a positive diagonal as its known block, so that a strictly feasible point exists.
    T, spectrum = known_range(K, known)
    size, labeled = float(spectrum.max(initial=0.0)) or 1.0, np.flatnonzero(y)
    (n, r), r1, m = T.shape, len(spectrum), len(labeled)
    R = np.diag(np.append(spectrum / size, np.zeros(r - r1)))
    cols, rows = np.tril_indices(r)  # the upper triangle column by column, the order of clarabel's triangular cone
    free = cols >= r1
    i, j, scale = rows[free], cols[free], np.where(rows == cols, 1.0, np.sqrt(2.0))

    # The norm of K - sum w_i v_i v_i'. Free entries have one row each; elsewhere its square is w'Nw - 2 f'w + const =
    # ||N^1/2 w - g||^2 + rest^2 with N = I - <v_i v_i', v_j v_j'>_free.
    A = T.T @ V  # v_i in the coordinates of T
    outer = scale[free, None] * A[i] * A[j]
    values, U = np.linalg.eigh(np.eye(n) - outer.T @ outer)
    keep = values > 1e-12 * max(float(values.max(initial=0.0)), 1.0)
    root = U[:, keep] * np.sqrt(values[keep])
    g = ((U[:, keep] / np.sqrt(values[keep])).T) @ np.einsum("ij,i,ij->j", A, R.diagonal(), A)
    rest = np.sqrt(max(float((R**2).sum() - g @ g), 0.0))

    # A x + s = b, s in a product of cones, for x = (R12 and R22, z, b, xi, w, u, v); eta c'Kc = (eta / size) C'RC.
    matrix, one = sparse.csr_array, sparse.csr_array([[-1.0]])
    signs, place = -y[labeled, None], np.flatnonzero(free)
    entries = matrix((-scale[free], (place, np.arange(len(place)))), shape=(len(scale), len(place)))
    blocks = [
        [None, matrix(signs * T[labeled]), matrix(signs), -sparse.eye_array(m), None, None, None],  # margins
        [None, None, None, -sparse.eye_array(m), None, None, None],  # xi >= 0
        [None, None, None, None, None, None, one],  # v >= the norm of the next three
        [-sparse.diags_array(scale[free]), None, None, None, matrix(outer), None, None],
        [None, None, None, None, -matrix(root.T), None, None],
        [None, None, None, None, matrix((1, n)), None, None],
        [entries, None, None, None, None, None, None],  # [R z; z' u] >= 0, off-diagonal entries times sqrt(2)
        [None, -np.sqrt(2.0) * sparse.eye_array(r), None, None, None, None, None],
        [None, None, None, None, None, one, None],
    ]
    b = np.concatenate([-np.ones(m), np.zeros(m + 1 + len(i)), -g, [rest], R[rows, cols], np.zeros(r + 1)])
    q = np.concatenate([np.zeros(len(i) + r + 1), np.full(m, 1 / m), np.zeros(n), [eta / size, gamma * size]])
    kinds = clarabel.NonnegativeConeT, clarabel.SecondOrderConeT, clarabel.PSDTriangleConeT
    cones = [cone(width) for cone, width in zip(kinds, (2 * m, 2 + len(i) + len(g), r + 1))]
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    program = sparse.csc_matrix(sparse.block_array(blocks))
    empty = sparse.csc_matrix((len(q), len(q)))
    solution = clarabel.DefaultSolver(empty, q, program, b, cones, settings).solve()

    # R22 is corrected for rounding so that R >= 0 (Schur complement).
    R[i, j] = R[j, i] = np.asarray(solution.x)[: len(i)]
    R12 = R[:r1, r1:]
    must = R12.T @ (R12 / R.diagonal()[:r1, None])
    R[r1:, r1:] = must + shrink(R[r1:, r1:] - must)
    kernel = size * (T @ R @ T.T)
    kernel = (kernel + kernel.T) / 2
    kernel[np.ix_(known, known)] = K[np.ix_(known, known)]
    return kernel, float(solution.obj_val_dual), str(solution.status)
