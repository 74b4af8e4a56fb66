"""Smallest non-negative weights with a margin: min |a|^2, A a >= 1, a >= 0, hard or soft ([bernal2003] sec. 5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from similis._utils.arrays import Array, Floats
from similis._utils.threads import single_blas_thread
from similis.solvers._interior_point import Pairs, cholesky, cholesky_solve, predictor_corrector

_PATIENCE = 5  # steps at the end of the arithmetic's reach that fail to halve the gap before the solver stops


@dataclass(frozen=True)
class MarginWeights:
    """Solution of :func:`nonnegative_margin`.

    Attributes
    ----------
    alpha, multipliers : ndarrays of shape (n,) and (c,)
        The weights, and u, one for each constraint, between 0 and C: ``alpha = max(A'u, 0) / 2`` at the optimum.
    objective, gap : float
        |a|^2 + C sum max(1 - A a, 0), without C |a|^2; and a bound of its error relative to 1 + |objective|, from the
        dual value 1'u - |max(A'u, 0)|^2 / 4.
    feasible, n_iter : bool, int
        False if A a >= 1 is impossible, with the certificate u >= 0, A'u <= 0, 1'u > 0; Newton steps.
    """

    alpha: Floats
    multipliers: Floats
    objective: float
    gap: float
    feasible: bool
    n_iter: int


class Constraints:
    """The matrix A of the constraints A a >= 1, one per row; entries are at most one in size."""

    def __init__(self, A: Floats) -> None:
        self.A, self.shape = A, A.shape

    def times(self, a: Array) -> Any:
        return self.A @ a

    def transposed(self, u: Array) -> Any:
        return self.A.T @ u

    def normal(self, weights: Array) -> Any:
        """Return A' diag(weights) A, its upper triangle at least."""
        scaled = self.A * np.sqrt(weights)[:, None]
        return scaled.T @ scaled


def nonnegative_margin(A: Array, C: float | None = None, *, tol: float = 1e-9, max_iter: int = 100) -> MarginWeights:
    """Solve [bernal2003] sec. 5: min |a|^2 + C sum xi subject to A a >= 1 - xi, a >= 0, xi >= 0.

    Parameters
    ----------
    A, C : ndarray of shape (c, n), float or None
        One constraint per row; cost of a violation, None allows none.
    tol, max_iter : float, int
        Relative gap at which to stop; Newton steps at most.
    """
    A = np.ascontiguousarray(A, dtype=np.float64)
    scale = float(np.abs(A).max(initial=0.0)) or 1.0
    if C is not None and C * scale * scale < 1e-290:  # A is so small that a margin would cost more than its violation
        return MarginWeights(np.zeros(A.shape[1]), np.full(len(A), float(C)), C * len(A), 0.0, True, 0)
    found = solve_margin(Constraints(A / scale), None if C is None else C * scale * scale, tol, max_iter)
    with np.errstate(over="ignore"):
        u, objective = found.multipliers / scale / scale, found.objective / scale / scale
        return replace(found, alpha=found.alpha / scale, multipliers=u, objective=objective)


@single_blas_thread()
def solve_margin(A: Constraints, C: float | None, tol: float, max_iter: int = 100) -> MarginWeights:
    """Solve the problem of :func:`nonnegative_margin` for any form of the constraints."""
    # Primal (a, t, xi) and dual (u, v, w) iterates, all positive; t = A a - 1 + xi, v = 2 a - A'u, w = C - u.
    (c, n), cost = A.shape, np.inf if C is None else C
    a, v, u, t = np.ones(n), np.ones(n), np.full(c, min(1.0, cost / 2)), np.ones(c)
    w, xi = cost - u, np.ones(c) if C is not None else np.zeros(c)
    pairs = [(v, a), (u, t), (w, xi)][: 2 if C is None else 3]

    def step() -> tuple[float, float] | None:
        """Take a predictor-corrector step; return its length and the mean product, None on the way along a ray."""
        dual = -(2 * a - A.transposed(u) - v)
        primal = -(A.times(a) + xi - 1 - t)
        E = t / u + xi / w
        factor = cholesky(A.normal(1 / E), 2 + v / a)  # of A' diag(1/E) A + diag(2 + v / a)
        if factor is None:
            return None

        def direction(goals: list[Array]) -> Pairs:
            r_a, r_u, r_w = goals[0] / a, goals[1] / u, goals[2] / w if len(goals) > 2 else 0.0
            rhs = primal + r_u - r_w
            da = cholesky_solve(factor, dual + r_a + A.transposed(rhs / E))
            du = (rhs - A.times(da)) / E
            return [(r_a - v / a * da, da), (du, r_u - t / u * du), (-du, r_w + xi / w * du)][: len(goals)]

        steps, length, mean = predictor_corrector(pairs, direction, 0.995)
        for (x, y), (dx, dy) in zip(pairs, steps):
            x += length * dx
            y += length * dy
        return length, mean

    def scaled(alpha: Array) -> tuple[Array, float]:
        """Return the weights, without C scaled up to A a >= 1, and their objective; infinite if that is impossible."""
        margin = A.times(alpha)
        if C is not None:
            return alpha, float(alpha @ alpha) + C * float(np.maximum(1 - margin, 0.0).sum())
        worst = float(margin.min(initial=np.inf))
        if worst <= 1e-11 * float(alpha.sum()):  # |A| <= 1: smaller margins are rounding errors
            return alpha, np.inf
        alpha = alpha / min(worst, 1.0)
        return alpha, float(alpha @ alpha)

    # The best points so far: the iterates, and those recovered from their multipliers.
    best_a, best, best_u, bound, gap = np.zeros(n), np.inf, u.copy(), -np.inf, np.inf
    steps = stalled = 0
    while steps < max_iter and stalled < _PATIENCE:
        steps += 1
        taken = step()
        if taken is None:
            break
        image, size = A.transposed(u), float(u.sum())
        pull = np.maximum(image, 0.0)
        value = size - float(pull @ pull) / 4
        if value > bound:
            bound, best_u = value, u.copy()
        recovered, objective = scaled(pull / 2)
        done = np.isfinite(objective) and objective - bound <= tol * (1 + objective)
        if done or objective < best:
            best_a, best = recovered, objective
        iterate, objective = scaled(a)
        if not done and objective < best:
            best_a, best = iterate, objective
        before, gap = gap, max(best - bound, 0.0) / (1 + best) if np.isfinite(best) else np.inf
        # Multipliers that are a ray u >= 0, A'u <= 0, 1'u > 0 prove that A a >= 1 fails for all a >= 0.
        if done or (C is None and size > 1e4 and float(image.max(initial=-np.inf)) <= 1e-9 * size):
            break
        # Far from the end a step may shorten the gap by little: it restores feasibility first.
        length, mean = taken
        at_limit = mean <= 1e-8 * (1 + abs(bound)) or (length < 1e-3 and gap < 0.1)
        stalled = stalled + 1 if at_limit and gap > 0.5 * before else 0
    feasible = bool(np.isfinite(best))
    return MarginWeights(best_a, best_u if feasible else u, best, gap, feasible, steps)
