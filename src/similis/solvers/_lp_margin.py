"""Linear programming SVM, a hinge loss with an l1 penalty: [chen2010] Eq. (2.7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import linprog

from similis._utils.arrays import Array, Floats

_BOUNDS = (np.inf, 1e6, 1e4, 1e3)  # of scale * C; smaller ones are tried while the gap is open


@dataclass(frozen=True)
class LPMargin:
    """Solution of :func:`lp_margin`.

    Attributes
    ----------
    coef, intercept : ndarray of shape (p,), float
        w, a vertex: at most as many non-zeros as objects; b, the middle of those that are optimal for w.
    multipliers : ndarray of shape (n,)
        u of the margins, between 0 and C: |sum_i u_i y_i s_ij| <= 1 for each j and sum_i u_i y_i = 0.
    objective, gap : float
        ||w||_1 + sum_i C_i max(0, 1 - y_i f_i), and its distance from the dual value of the multipliers.
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
    S, y : ndarray of shape (n, p), array of shape (n,)
        Rows s_i; labels, 1 and -1, both present.
    C : float or array of shape (n,)
        Positive cost of a violated margin.
    """
    y = np.asarray(y, dtype=np.float64)
    n, p = np.shape(S)
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
    message = ""
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
        )
        if result.x is None:
            message = result.message
            continue
        w = (result.x[:p] - result.x[p : 2 * p]) / scale
        u = np.clip(-result.ineqlin.marginals * unit / scale, 0.0, cost)
        found = _certified(S, y, cost, w, u)
        best = found if best is None or found.gap < best.gap else best
        if best.gap <= 1e-6 * best.objective:
            break
    if best is None:
        raise RuntimeError(f"The linear program was not solved: {message}")
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
    u = cost * (totals.min() / totals)[(y > 0).astype(int)]
    b = best_intercept(np.zeros(len(y)), y, cost)
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
