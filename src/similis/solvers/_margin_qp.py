"""The smallest non-negative weights that keep a margin: min |a|^2 subject to A a >= 1, a >= 0, or softly so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

__all__ = ["MarginWeights", "nonnegative_margin"]


@dataclass(frozen=True)
class MarginWeights:
    """Solution of :func:`nonnegative_margin`.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        The weights, exact zeros where the multipliers say so.
    multipliers : ndarray of shape (c,)
        One for each constraint, between 0 and C: ``alpha = max(A'u, 0) / 2`` at the optimum.
    objective : float
        |a|^2 + C sum max(1 - A a, 0) at `alpha`; without C, |a|^2.
    gap : float
        `objective` minus the dual value 1'u - |max(A'u, 0)|^2 / 4, relative to 1 + |objective|: a bound of the error.
    feasible : bool
        False where no weights satisfy A a >= 1, shown by ``multipliers``: u >= 0, A'u <= 0, 1'u > 0.
    n_iter : int
        Newton steps.
    """

    alpha: NDArray[np.float64]
    multipliers: NDArray[np.float64]
    objective: float
    gap: float
    feasible: bool
    n_iter: int


def nonnegative_margin(
    A: NDArray[Any], C: float | None = None, *, tol: float = 1e-9, max_iter: int = 100
) -> MarginWeights:
    """Solve [bernal2003] sec. 5: min |a|^2 + C sum xi subject to A a >= 1 - xi, a >= 0, xi >= 0.

    Parameters
    ----------
    A : ndarray of shape (c, n)
        One constraint a row.
    C : float or None
        Price of a violation; None forbids any.
    tol : float
        Relative gap at which to stop.
    max_iter : int
        Newton steps at most.

    Returns
    -------
    MarginWeights

    Notes
    -----
    Mehrotra's predictor-corrector method. Slacks and multipliers are eliminated, so that a step costs one product A'EA
    and one Cholesky factor of an n x n matrix that is at least 2 I: it never fails. The answer is recovered from the
    multipliers, a = max(A'u, 0) / 2, and certified by the gap between the two objectives.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.solvers import nonnegative_margin
    >>> nonnegative_margin(np.array([[2.0, -1.0], [-1.0, 2.0]])).alpha.round(6)
    array([1., 1.])
    """
    A = np.ascontiguousarray(A, dtype=np.float64)
    scale = float(np.abs(A).max(initial=0.0)) or 1.0
    state = _State(A / scale, None if C is None else C * scale**2)
    steps = 0
    while steps < max_iter:
        steps += 1
        if not state.step() or state.candidate()[2] <= tol or (C is None and state.is_infeasible()):
            break
    alpha, objective, gap = state.candidate()
    feasible = C is not None or not state.is_infeasible()
    return MarginWeights(alpha / scale, state.u / scale**2, objective / scale**2, gap, feasible, steps)


class _State:
    """Primal (a, t, xi) and dual (u, v, w) variables, all positive; t = A a - 1 + xi, v = 2 a - A'u, w = C - u."""

    def __init__(self, A: NDArray[np.float64], C: float | None) -> None:
        c, n = A.shape
        self.A, self.C = A, C
        self.a, self.v = np.ones(n), np.ones(n)
        self.u, self.t = np.ones(c), np.ones(c)
        if C is not None:
            self.u *= min(1.0, C / 2)
            self.w, self.xi = C - self.u, np.ones(c)

    def step(self) -> bool:
        """One predictor-corrector step; False where the numbers have outgrown the arithmetic, as rays do."""
        a, u, v, t = self.a, self.u, self.v, self.t
        soft = self.C is not None
        dual = -(2 * a - self.A.T @ u - v)
        primal = -(self.A @ a + (self.xi if soft else 0.0) - 1 - t)
        D = 2 + v / a
        E = t / u + (self.xi / self.w if soft else 0.0)
        try:
            factor = linalg.cho_factor(_normal_matrix(self.A, E, D), lower=True, check_finite=False, overwrite_a=True)
        except linalg.LinAlgError:
            return False
        pairs = [(v, a), (u, t)] + ([(self.w, self.xi)] if soft else [])
        mean = sum(float(x @ y) for x, y in pairs) / sum(x.size for x, _ in pairs)
        plain = [-x * y for x, y in pairs]
        first = self._direction(factor, E, dual, primal, plain)
        p, d = self._lengths(first, 1.0)
        after = sum(float((x + d * dx) @ (y + p * dy)) for (x, y), (dx, dy) in zip(pairs, first)) / sum(
            x.size for x, _ in pairs
        )
        center = (after / mean) ** 3 * mean
        corrected = [r + center - dx * dy for r, (dx, dy) in zip(plain, first)]
        second = self._direction(factor, E, dual, primal, corrected)
        p, d = self._lengths(second, 0.995)
        for (x, y), (dx, dy) in zip(pairs, second):
            x += d * dx
            y += p * dy
        return True

    def _direction(
        self, factor: Any, E: NDArray[Any], dual: NDArray[Any], primal: NDArray[Any], goals: list[NDArray[Any]]
    ) -> list[tuple[NDArray[Any], NDArray[Any]]]:
        """Newton's (multiplier, variable) steps towards the complementarity products `goals`."""
        r_a, r_u = goals[0] / self.a, goals[1] / self.u
        rhs = primal + r_u
        if self.C is not None:
            rhs = rhs - goals[2] / self.w
        da = linalg.cho_solve(factor, dual + r_a + self.A.T @ (rhs / E), check_finite=False)
        du = (rhs - self.A @ da) / E
        steps = [(r_a - self.v / self.a * da, da), (du, r_u - self.t / self.u * du)]
        if self.C is not None:
            steps.append((-du, (goals[2] + self.xi * du) / self.w))
        return steps

    def _lengths(self, steps: list[tuple[NDArray[Any], NDArray[Any]]], share: float) -> tuple[float, float]:
        """How far the variables and the multipliers can go and stay positive."""
        names = [(self.v, self.a), (self.u, self.t)] + ([(self.w, self.xi)] if self.C is not None else [])
        primal = min(_reach(y, dy) for (_, y), (_, dy) in zip(names, steps))
        dual = min(_reach(x, dx) for (x, _), (dx, _) in zip(names, steps))
        return min(1.0, share * primal), min(1.0, share * dual)

    def candidate(self) -> tuple[NDArray[Any], float, float]:
        """Weights recovered from the multipliers, their objective and the relative gap to the dual value."""
        pull = np.maximum(self.A.T @ self.u, 0.0)
        alpha = pull / 2
        margin = self.A @ alpha
        value = self.u.sum() - float(pull @ pull) / 4
        if self.C is None:
            # Push the recovered point into the feasible set where that takes little.
            worst = float(margin.min(initial=np.inf))
            alpha = alpha / worst if 0 < worst < 1 else alpha
            objective = float(alpha @ alpha)
            gap = objective - value if worst > 0 else np.inf
        else:
            objective = float(alpha @ alpha) + self.C * float(np.maximum(1 - margin, 0.0).sum())
            gap = objective - value
        return alpha, objective, abs(gap) / (1 + abs(objective))

    def is_infeasible(self) -> bool:
        """Whether the multipliers are a ray u >= 0, A'u <= 0, 1'u > 0, by which A a >= 1 cannot hold for a >= 0."""
        size = float(self.u.sum())
        return size > 1e4 and float((self.A.T @ self.u).max(initial=-np.inf)) <= 1e-7 * size


def _normal_matrix(A: NDArray[Any], E: NDArray[Any], D: NDArray[Any]) -> NDArray[Any]:
    """A' diag(1/E) A + diag(D)."""
    scaled = A / np.sqrt(E)[:, None]
    M = scaled.T @ scaled
    M[np.diag_indices_from(M)] += D
    return M


def _reach(x: NDArray[Any], dx: NDArray[Any]) -> float:
    falling = dx < 0
    return float((-x[falling] / dx[falling]).min(initial=np.inf))
