"""Support vector machines: for all C, on a whole kernel or on the neighbors of each query; linear programming SVM."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from similis import _kernels
from similis._utils.arrays import Array, Floats, Indices
from similis._utils.threads import map_row_chunks, single_blas_thread
from similis.solvers._local_weights import local_psd, psd_prefix

_CHUNK = 2**19  # entries of the blocks that are processed together; they fit into the cache
_BOUNDS = (np.inf, 1e6, 1e4, 1e3)  # of scale * C in linear programs; smaller ones are tried while the gap is open
_TOLERATED = 1e-6  # violation of the optimality conditions in units of the margin; 1/1000 of the default of libsvm


@dataclass(frozen=True)
class SVMPath:
    """Solutions of :func:`svm_path` for R costs.

    Attributes
    ----------
    coef, intercept : ndarrays of shape (R, n) and (R,)
        c = y . alpha, alpha of [chen2010] Eq. (2.4), and the middle of the optimal b; f(x) = sum_i c_i k(x, x_i) + b.
    violation : ndarray of shape (R,)
        Certificate: max{y_i - (Kc)_i : c_i can grow} - min{y_i - (Kc)_i : c_i can fall}, at most about 1e-9.
    """

    coef: Floats
    intercept: Floats
    violation: Floats


def svm_path(K: Array, y: ArrayLike, Cs: ArrayLike) -> SVMPath:
    """Solve the dual of the support vector machine, [chen2010] Eq. (2.4), for all C of a grid.

    Parameters
    ----------
    K, y, Cs : arrays of shape (n, n), (n,) and (R,)
        Symmetric positive semi-definite kernel; labels, 1 and -1, both present; positive costs, in any order.

    Examples
    --------
    >>> from similis.solvers import svm_path
    >>> svm_path([[1, 0], [0, 1]], [1, -1], [0.5, 10.0]).coef.tolist()
    [[0.5, -0.5], [1.0, -1.0]]
    """
    y = np.ascontiguousarray(y, dtype=np.float64)
    cost = np.atleast_1d(np.asarray(Cs, dtype=np.float64))
    order = np.argsort(cost, kind="stable")
    coef, intercept, violation = np.empty((cost.size, y.size)), np.empty(cost.size), np.empty(cost.size)
    _kernels.svm_path(np.ascontiguousarray(K, dtype=np.float64), y, cost[order], coef, intercept, violation)
    back = np.argsort(order, kind="stable")
    return SVMPath(coef[back], intercept[back], violation[back])


def local_svm_scores(
    S: Array,
    indices: Indices,
    s: Array,
    codes: Indices,
    n_classes: int,
    ks: ArrayLike,
    Cs: ArrayLike,
    *,
    spectrum: str = "clip",
    n_jobs: int | None = None,
) -> Floats:
    """Classify each query by SVMs on its neighbors, for all k and all C of a grid; ndarray of shape (T, R, m, G).

    The scores for two classes are -f and f, with |f| = 1, the limit of the SVM, where all neighbors are of one class;
    for more classes votes of the pairs plus a bounded sum of their f.

    Parameters
    ----------
    S, indices, s, codes, n_classes, ks, n_jobs
        As in :func:`local_scores`; every query has at least one neighbor.
    Cs, spectrum : array of shape (R,), {"clip", "flip", "shift"}
        Costs, in any order; repair of a block that is not positive semi-definite, as in :func:`local_psd`.
    """
    S, indices = np.ascontiguousarray(S), np.ascontiguousarray(indices, dtype=np.intp)
    s, known = np.where(indices >= 0, s, 0.0).astype(np.float64, copy=False), (indices >= 0).sum(axis=1)
    sizes, where = np.unique(np.asarray(ks, dtype=np.intp), return_inverse=True)
    cost, at = np.unique(np.asarray(Cs, dtype=np.float64), return_inverse=True)
    m, K = indices.shape
    scores = np.empty((sizes.size, m, cost.size, n_classes))
    failures: list[int] = []

    def work(rows: slice) -> None:
        batch = max(1, _CHUNK // (K * K))
        for start in range(rows.start, rows.stop, batch):
            part = np.arange(start, min(start + batch, rows.stop))
            blocks = np.empty((part.size, K, K))
            _kernels.gather_blocks(S, indices[part], blocks)
            sound = psd_prefix(blocks, known[part])
            for t, k in enumerate(sizes):
                size_of = np.minimum(k, known[part])
                treat_of = size_of > sound  # the leading block needs repair
                for size, treat in sorted(set(zip(size_of.tolist(), treat_of.tolist()))):
                    chosen = np.flatnonzero((size_of == size) & (treat_of == treat))
                    rows_ = part[chosen]
                    block, query = blocks[chosen, :size, :size].copy(), s[rows_, :size].copy()
                    if treat:
                        block, query = local_psd(block, query, spectrum)
                    result, violation = np.empty((rows_.size, cost.size, n_classes)), np.empty((rows_.size, cost.size))
                    _kernels.local_svm(block, query, codes[indices[rows_, :size]], cost, result, violation)
                    scores[t, rows_] = result
                    failures.append(int((violation > _TOLERATED).sum()))

    with single_blas_thread():
        map_row_chunks(work, m, n_jobs)
    if sum(failures):
        warnings.warn(
            f"{sum(failures)} of {m * sizes.size * cost.size} local SVMs ended with their optimality conditions "
            f"violated by more than {_TOLERATED:g}; rescale the similarities or lower C.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return scores.transpose(0, 2, 1, 3)[where][:, at]


@dataclass(frozen=True)
class LPMargin:
    """Solution of :func:`lp_margin`.

    Attributes
    ----------
    coef, intercept : ndarray of shape (p,), float
        w, a vertex: at most as many non-zeros as objects; b, the middle of those that are optimal for w.
    multipliers, objective, gap : ndarray of shape (n,), float, float
        u, between 0 and C: |sum_i u_i y_i s_ij| <= 1 for each j and sum_i u_i y_i = 0; ||w||_1 + sum_i C_i max(0, 1 -
        y_i f_i), and its distance from the dual value.
    """

    coef: Floats
    intercept: float
    multipliers: Floats
    objective: float
    gap: float


def lp_margin(S: Array, y: ArrayLike, C: float | ArrayLike) -> LPMargin:
    """Minimize ||w||_1 + sum_i C_i max(0, 1 - y_i (s_i'w + b)), [chen2010] Eq. (2.7).

    Parameters
    ----------
    S, y, C : ndarray of shape (n, p), array of shape (n,), float or array of shape (n,)
        Rows s_i; labels, 1 and -1, both present; positive cost of a violated margin.
    """
    y, (n, p) = np.asarray(y, dtype=np.float64), np.shape(S)
    # In units of the largest entry of S, for the tolerances of the solver: v = scale w, ||v||_1 + sum_i scale C_i xi_i.
    scale = float(np.abs(S).max(initial=0.0)) or 1.0
    S = np.asarray(S, dtype=np.float64)
    A = y[:, None] * (S / scale)
    cost = np.broadcast_to(np.asarray(C, dtype=np.float64), (n,))
    zero = _zero_weights(y, cost, p)
    if scale * float(zero.multipliers.sum()) <= 1:  # |sum_i u_i y_i s_ij| <= scale sum_i u_i
        return zero
    # The solver ignores ||v||_1 for very large costs: a bound, because from some cost on margins are hard anyway.
    best: LPMargin | None = None
    for bound in _BOUNDS:
        if best is not None and bound >= scale * float(cost.max()):
            continue
        relative = np.minimum(scale * cost, bound)
        unit = max(1.0, float(relative.max()))
        # Variables: v = v+ - v-, b, slacks xi >= 1 - y (S w + b).
        result = linprog(
            np.concatenate([np.ones(2 * p), [0.0], relative]) / unit,
            A_ub=sparse.csr_array(np.hstack([-A, A, -y[:, None], -np.eye(n)])),
            b_ub=-np.ones(n),
            bounds=[(0, None)] * (2 * p) + [(None, None)] + [(0, None)] * n,
            method="highs-ds",
            options={"dual_feasibility_tolerance": 1e-10},  # in units of the largest cost
        )
        if result.x is None:
            continue
        w = (result.x[:p] - result.x[p : 2 * p]) / scale
        u = np.clip(-result.ineqlin.marginals * unit / scale, 0.0, cost)
        found = _certified(S, y, cost, w, u)
        best = found if best is None or found.gap < best.gap else best
        if best.gap <= 1e-6 * best.objective:
            break
    if best is None:
        raise RuntimeError(f"The linear program was not solved: {result.message}")
    return best


def _certified(S: Floats, y: Floats, cost: Floats, w: Any, u: Floats) -> LPMargin:
    """Solution for weights w, with its gap to the dual point made of the multipliers u, 0 <= u <= C."""
    f = S @ w
    b = best_intercept(f, y, cost)
    norm, margins = float(np.abs(w).sum()), y * (f + b)
    objective = norm + float(cost @ np.maximum(1 - margins, 0.0))
    # Margins violated within the tolerance of the solver cost much for a large C: scale until they hold.
    if 0 < (slack := float(np.max(1 - margins))) < 1 / 2:
        larger = (1 + 4 * np.finfo(float).eps) / (1 - slack)
        scaled = larger * norm + float(cost @ np.maximum(1 - larger * margins, 0.0))
        if scaled < objective:
            w, b, objective = larger * w, larger * b, scaled
    # Dual point: scaled until |sum_i u_i y_i s_ij| <= 1.
    u = u / max(1.0, float(np.abs((y * u) @ S).max(initial=0.0)))
    gap = objective - float(u.sum()) + abs(b * float(y @ u))
    return LPMargin(w, b, u, objective, max(gap, 0.0))


def _zero_weights(y: Floats, cost: Floats, p: int) -> LPMargin:
    """Solution without weights, optimal for small costs: all objects are assigned to the class of larger cost."""
    totals = np.array([cost[y == g].sum() for g in (-1, 1)])
    u, b = cost * (totals.min() / totals)[(y > 0).astype(int)], best_intercept(np.zeros(len(y)), y, cost)
    objective = float(cost @ np.maximum(1 - y * b, 0.0))
    return LPMargin(np.zeros(p), b, u, objective, max(objective - float(u.sum()), 0.0))


def best_intercept(f: Floats, y: Floats, cost: float | Floats) -> float:
    """Minimize sum_i C_i max(0, 1 - y_i (f_i + b)) over b; the middle of the interval where several are optimal.

    Parameters
    ----------
    f, y, cost : ndarrays of shape (n,), cost also float
        Decision values without intercept; labels, 1 and -1, both present; C.
    """
    # Piecewise linear in b: the slope starts at minus the cost of the positive class and grows by C_i at y_i - f_i.
    breaks = y - f
    order = np.argsort(breaks, kind="stable")
    weight = np.broadcast_to(cost, y.shape)[order]
    slope = np.cumsum(weight) - weight[y[order] > 0].sum()
    flat = 1e-12 * weight.sum()
    first = int(np.argmax(slope >= -flat))
    last = min(first + 1, len(order) - 1) if slope[first] <= flat else first
    return float(breaks[order[first]] + breaks[order[last]]) / 2
