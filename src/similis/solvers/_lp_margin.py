"""Linear programming SVM, a hinge loss with an l1 penalty: [chen2010] Eq. (2.7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import linprog

__all__ = ["LPMargin", "best_intercept", "lp_margin"]


@dataclass(frozen=True)
class LPMargin:
    """Solution of :func:`lp_margin`.

    Attributes
    ----------
    coef : ndarray of shape (p,)
        w, a vertex of the feasible set: at most as many non-zeros as objects.
    intercept : float
        b; the middle of the interval where several are optimal for w.
    multipliers : ndarray of shape (n,)
        u of the margins, between 0 and C: |sum_i u_i y_i s_ij| <= 1 for each j and sum_i u_i y_i = 0.
    objective : float
        ||w||_1 + sum_i C_i max(0, 1 - y_i f_i).
    gap : float
        `objective` minus the dual value sum_i u_i of the multipliers made feasible.
    """

    coef: NDArray[np.float64]
    intercept: float
    multipliers: NDArray[np.float64]
    objective: float
    gap: float


def lp_margin(S: NDArray[Any], y: ArrayLike, C: float | ArrayLike) -> LPMargin:
    """Minimize ||w||_1 + sum_i C_i max(0, 1 - y_i (s_i'w + b)), [chen2010] Eq. (2.7).

    Parameters
    ----------
    S : ndarray of shape (n, p)
        Rows s_i.
    y : array of shape (n,)
        Labels, 1 and -1, both present.
    C : float or array of shape (n,)
        Positive cost of a violated margin.

    Returns
    -------
    LPMargin

    Examples
    --------
    >>> import numpy as np
    >>> from similis.solvers import lp_margin
    >>> fit = lp_margin(np.array([[2.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), [1, 1, -1], C=10.0)
    >>> fit.coef, fit.intercept
    (array([2., 0.]), -1.0)
    """
    y = np.asarray(y, dtype=np.float64)
    n, p = np.shape(S)
    # Scale by the largest entry of S and the largest cost, so that the tolerances of the solver are relative.
    scale = float(np.abs(S).max(initial=0.0)) or 1.0
    A = y[:, None] * (np.asarray(S, dtype=np.float64) / scale)
    cost = np.broadcast_to(np.asarray(C, dtype=np.float64), (n,))
    unit = max(1.0 / scale, float(cost.max()))
    # Variables: w = w+ - w-, b, slacks xi >= 1 - y (S w + b).
    result = linprog(
        np.concatenate([np.full(2 * p, 1.0 / scale), [0.0], cost]) / unit,
        A_ub=sparse.csr_array(np.hstack([-A, A, -y[:, None], -np.eye(n)])),
        b_ub=-np.ones(n),
        bounds=np.column_stack(
            [np.r_[np.zeros(2 * p), -np.inf, np.zeros(n)], np.full(2 * p + 1 + n, np.inf)],
        ),
        method="highs-ds",
    )
    if result.x is None:  # pragma: no cover
        raise RuntimeError(f"The linear program was not solved: {result.message}")
    w = (result.x[:p] - result.x[p : 2 * p]) / scale
    f = np.asarray(S, dtype=np.float64) @ w
    b = best_intercept(f, y, cost)
    objective = float(np.abs(w).sum()) + float(cost @ np.maximum(1 - y * (f + b), 0.0))
    # Dual point: multipliers clipped to [0, C] and scaled until |sum_i u_i y_i s_ij| <= 1.
    u = np.clip(-result.ineqlin.marginals * unit, 0.0, cost)
    u /= max(1.0, scale * float(np.abs(A.T @ u).max(initial=0.0)))
    gap = objective - float(u.sum()) + abs(b * float(y @ u))
    return LPMargin(w, b, u, objective, max(gap, 0.0))


def best_intercept(f: NDArray[np.float64], y: NDArray[np.float64], cost: float | NDArray[np.float64]) -> float:
    """Minimize sum_i C_i max(0, 1 - y_i (f_i + b)) over b; the middle of the interval where several are optimal.

    Parameters
    ----------
    f : ndarray of shape (n,)
        Decision values without intercept.
    y : ndarray of shape (n,)
        Labels, 1 and -1, both present.
    cost : float or ndarray of shape (n,)
        C.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from similis.solvers import best_intercept
    >>> best_intercept(np.array([3.0, -2.0]), np.array([1.0, -1.0]), 1.0)
    -0.5
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
