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
    objective : float
        |a|^2 + C sum max(1 - A a, 0) at `alpha`; without C, |a|^2.
    gap : float
        `objective` minus the dual value 1'u - |max(A'u, 0)|^2 / 4, relative to 1 + |objective|: a bound of the error.
    feasible, n_iter : bool, int
        False if no weights satisfy A a >= 1, with the certificate ``multipliers``: u >= 0, A'u <= 0, 1'u > 0; Newton
        steps.
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
    state = _State(A, C)
    steps = stalled = 0
    while steps < max_iter and stalled < _PATIENCE:
        steps += 1
        before = state.gap
        if not state.step() or state.evaluate(tol) or state.is_infeasible():
            break
        # Far from the end a step may shorten the gap by little: it restores feasibility first.
        at_limit = state.mean <= 1e-8 * (1 + abs(state.bound)) or (state.length < 1e-3 and state.gap < 0.1)
        stalled = stalled + 1 if at_limit and state.gap > 0.5 * before else 0
    feasible = bool(np.isfinite(state.best))
    return MarginWeights(state.best_a, state.best_u if feasible else state.u, state.best, state.gap, feasible, steps)


class _State:
    """Primal (a, t, xi) and dual (u, v, w) iterates, all positive; t = A a - 1 + xi, v = 2 a - A'u, w = C - u."""

    # `best_a` with the objective `best`, and `best_u` with the dual value `bound`, are the best points so far.

    def __init__(self, A: Constraints, C: float | None) -> None:
        (c, n), self.A, self.C = A.shape, A, C
        self.a, self.v, self.u, self.t = np.ones(n), np.ones(n), np.ones(c), np.ones(c)
        self.mean, self.length = np.inf, 1.0  # mean product and step length of the last step
        if C is not None:
            self.u *= min(1.0, C / 2)
            self.w, self.xi = C - self.u, np.ones(c)
        self.best_a, self.best, self.best_u, self.bound = np.zeros(n), np.inf, self.u.copy(), -np.inf

    @property
    def gap(self) -> float:
        """Relative bound on the difference of `best` and the minimum."""
        return max(self.best - self.bound, 0.0) / (1 + self.best) if np.isfinite(self.best) else np.inf

    def evaluate(self, tol: float) -> bool:
        """Update the best points; return True if the one recovered from the multipliers has a gap below `tol`."""
        pull = np.maximum(self.A.transposed(self.u), 0.0)
        bound = float(self.u.sum()) - float(pull @ pull) / 4
        if bound > self.bound:
            self.bound, self.best_u = bound, self.u.copy()
        recovered, objective = self.objective(pull / 2)
        done = objective - self.bound <= tol * (1 + objective) and np.isfinite(objective)
        if done or objective < self.best:
            self.best_a, self.best = recovered, objective
        iterate, objective = self.objective(self.a)
        if not done and objective < self.best:
            self.best_a, self.best = iterate, objective
        return bool(done)

    def step(self) -> bool:
        """Take one predictor-corrector step; return False if the iterates diverge along a ray."""
        a, u, v, t = self.a, self.u, self.v, self.t
        soft = self.C is not None
        dual = -(2 * a - self.A.transposed(u) - v)
        primal = -(self.A.times(a) + (self.xi if soft else 0.0) - 1 - t)
        E = t / u + (self.xi / self.w if soft else 0.0)
        factor = cholesky(self.A.normal(1 / E), 2 + v / a)  # of A' diag(1/E) A + diag(2 + v / a)
        if factor is None:
            return False

        def direction(goals: list[Array]) -> Pairs:  # of (multiplier, variable)
            r_a, r_u = goals[0] / a, goals[1] / u
            rhs = primal + r_u - (goals[2] / self.w if soft else 0.0)
            da = cholesky_solve(factor, dual + r_a + self.A.transposed(rhs / E))
            du = (rhs - self.A.times(da)) / E
            steps = [(r_a - v / a * da, da), (du, r_u - t / u * du)]
            return steps + ([(-du, (goals[2] + self.xi * du) / self.w)] if soft else [])

        pairs = [(v, a), (u, t)] + ([(self.w, self.xi)] if soft else [])
        steps, self.length, self.mean = predictor_corrector(pairs, direction, 0.995)
        for (x, y), (dx, dy) in zip(pairs, steps):
            x += self.length * dx
            y += self.length * dy
        return True

    def objective(self, alpha: Array) -> tuple[Array, float]:
        """Return the weights, without C scaled up to A a >= 1, and their objective; infinite if that is impossible."""
        margin = self.A.times(alpha)
        if self.C is not None:
            return alpha, float(alpha @ alpha) + self.C * float(np.maximum(1 - margin, 0.0).sum())
        worst = float(margin.min(initial=np.inf))
        if worst <= 1e-11 * float(alpha.sum()):  # |A| <= 1: smaller margins are rounding errors
            return alpha, np.inf
        alpha = alpha / min(worst, 1.0)
        return alpha, float(alpha @ alpha)

    def is_infeasible(self) -> bool:
        """Return True if the multipliers are a ray u >= 0, A'u <= 0, 1'u > 0: then A a >= 1 fails for all a >= 0."""
        if self.C is not None:
            return False
        size = float(self.u.sum())
        return size > 1e4 and float(self.A.transposed(self.u).max(initial=-np.inf)) <= 1e-9 * size
