"""Small quadratic programs with bounds, and optionally one balance of signs: the steps of SBC and SimSVM."""

from __future__ import annotations

import numpy as np

from similis._utils.arrays import Array
from similis.solvers._interior_point import cholesky, cholesky_solve


def improve_in_box(
    H: Array, q: Array, low: Array, high: Array, d: Array, *, y: Array | None = None, pivots: int, tol: float
) -> None:
    """Reduce q'd + d'Hd / 2 in place on low <= d <= high, with y also y'd = 0, from a feasible d, by active sets.

    Ends when the violation of the optimality conditions is below `tol` or after `pivots` changes of the free variables.
    """
    # Each pivot takes the Newton step of the free variables. At the first bound on its way that variable is fixed; a
    # whole step frees the variable (with y the pair) that violates its optimality condition most.
    ridge = 1e-13 * float(H.diagonal().max(initial=0.0)) + 1e-300
    free = (d > low) & (d < high)
    for _ in range(pivots):
        slope = q + H @ d
        Z = np.flatnonzero(free)
        if len(Z) > (y is not None):
            factor = cholesky(H[np.ix_(Z, Z)], ridge)
            step = cholesky_solve(factor, -slope[Z])
            if y is not None:  # the part of the step that keeps y'd
                across = cholesky_solve(factor, y[Z])
                step -= float(y[Z] @ step) / float(y[Z] @ across) * across
            with np.errstate(divide="ignore", invalid="ignore"):
                reach = np.where(step > 0, (high[Z] - d[Z]) / step, np.where(step < 0, (low[Z] - d[Z]) / step, np.inf))
            first = int(reach.argmin())
            if reach[first] < 1:
                d[Z] += reach[first] * step
                d[Z[first]] = high[Z[first]] if step[first] > 0 else low[Z[first]]
                free[Z[first]] = False
                continue
            d[Z] += step
            slope = q + H @ d
        if y is None:
            wrong = ~free & (((d <= low) & (slope < -tol)) | ((d >= high) & (slope > tol)))
            if not wrong.any():
                return
            free[int(np.where(wrong, np.abs(slope), 0.0).argmax())] = True
        else:
            pull = -y * slope
            up, down = np.where(y > 0, d < high, d > low), np.where(y > 0, d > low, d < high)
            i, j = int(np.where(up, pull, -np.inf).argmax()), int(np.where(down, pull, np.inf).argmin())
            if pull[i] - pull[j] <= tol or (free[i] and free[j]):
                return
            free[[i, j]] = True
