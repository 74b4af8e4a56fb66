"""Smallest non-negative weights with a margin, [bernal2003] sec. 5: interior points, and Newton steps from C to C.

The dual of min |a|^2 + C sum max(1 - A a, 0), a >= 0 is min |max(A'u, 0)|^2 / 4 - 1'u on 0 <= u <= C, with a equal to
max(A'u, 0) / 2. Few u lie between the bounds although many a are positive: a step of :class:`ClassMargin` is a
quadratic program in these and in those that violate their conditions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from similis import _kernels
from similis._utils.arrays import Array, Floats, Indices
from similis._utils.linalg import symmetric_part
from similis._utils.threads import single_blas_thread
from similis.solvers._interior_point import Pairs, cholesky, cholesky_solve, improve_in_box, predictor_corrector

_MAX_ACTIVE = 300  # multipliers of one Newton step, more where as many lie between the bounds
_SWEEP_GAP = 1e-2  # above which the first step is a round of coordinate sweeps
_MAX_STEPS = 400  # per stage of the continuation
_PATIENCE = 100  # steps that do not halve the gap
_SMALL = 250  # objects up to which interior points are as fast without C
_DENSE = 2**26  # entries of the matrix that interior points may write out
_MAX_LARGE = 1.5  # multipliers of the large steps of `each`, relative to n, before interior points are tried
_MAX_PIVOTS = 30  # of such a step, whose matrix is nearly singular
_MAX_BLOCKS = 2000  # pairs of classes up to which the normal matrix is made of blocks
_PATIENCE_AT_LIMIT = 5  # steps at the end of the arithmetic's reach that fail to halve the gap before the solver stops


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
    A, C, tol, max_iter : ndarray of shape (c, n), float or None, float, int
        One constraint per row; cost of a violation, None allows none; relative gap to reach; Newton steps at most.
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
    while steps < max_iter and stalled < _PATIENCE_AT_LIMIT:
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


class ClassMargin:
    """Constraints of SBC, solved for one cost after the other, each from the last solution: ascending costs are fast.

    Parameters
    ----------
    S, codes : ndarrays of shape (n, n) and (n,)
        Similarities of the training objects, and class of each object, 0 to G - 1.
    each, normalize : bool, default=False
        One constraint per object and other class instead of one against all others together; constraints of length one.

    Attributes
    ----------
    multipliers : ndarray of shape (n, G) with `each`, else (n, 1)
        Multipliers of the last solution, by object and other class.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.solvers import ClassMargin
    >>> ClassMargin(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([0, 1])).solve(10.0).alpha.round(3)
    array([1., 1.])
    """

    def __init__(self, S: Array, codes: Indices, *, each: bool = False, normalize: bool = False) -> None:
        n, n_classes = len(codes), int(codes.max()) + 1
        self._order = np.argsort(codes, kind="stable")
        self._codes = np.ascontiguousarray(codes[self._order], dtype=np.intp)
        self._starts = np.searchsorted(self._codes, np.arange(n_classes + 1))
        self._own = np.arange(n_classes) == self._codes[:, None]
        self._each = each
        M = self._M = S[np.ix_(self._order, self._order)].astype(np.float64, copy=False)
        self._factor = np.ones((n, n_classes if each else 1))
        if normalize:
            squares = np.add.reduceat(np.square(M), self._starts[:-1], axis=1)
            own = squares.sum(axis=1, where=self._own, keepdims=True)
            length = np.sqrt(own + squares if each else squares.sum(axis=1, keepdims=True))
            np.divide(1.0, length, out=self._factor, where=length > 0)
        largest = np.maximum(M.max(axis=1), -M.min(axis=1)) * self._factor.max(axis=1)
        self._scale = float(largest.max()) or 1.0
        self._factor /= self._scale
        self._T = M if symmetric_part(M) is M else np.ascontiguousarray(M.T)
        self._used = ~self._own if each else np.ones((n, 1), dtype=bool)  # no constraint against the own class
        self._u, self._C = np.zeros(self._used.shape), 0.0
        margins = self._margins(np.maximum(self._pull(self._used.astype(np.float64)), 0.0))
        self._first = 2 / max(float(margins.max(where=self._used, initial=0.0)), 1e-290)  # below it u = C is optimal

    @property
    def multipliers(self) -> Any:
        found = np.empty_like(self._u)
        found[self._order] = self._u / self._scale / self._scale  # the square may be zero
        return found

    @single_blas_thread()
    def solve(self, C: float | None, *, tol: float = 1e-9) -> MarginWeights:
        """Solve for one cost `C` of a violation, None for no violations, up to the relative gap `tol`."""
        if C is None:
            return self._solve_hard(tol)
        target = C * self._scale**2
        if target < 1e-290:  # A is so small that a margin would cost more than its violation
            u = np.full(int(self._used.sum()), float(C))
            return MarginWeights(np.zeros(len(self._M)), u, C * len(u), 0.0, True, 0)
        gap, steps, objective, pull = self._advance(target, tol)
        alpha = np.maximum(pull, 0.0) / 2
        if gap > max(tol, 1e-8):
            found = self._interior_points(target, tol)
            if found is not None and found.gap < gap:
                self._u[self._used] = np.clip(found.multipliers, 0.0, target)
                alpha, objective, gap, steps = found.alpha, found.objective, found.gap, steps + found.n_iter
        return self._result(alpha, objective, gap, steps)

    def _solve_hard(self, tol: float) -> MarginWeights:
        """Raise C until no multiplier is at its bound; small and infeasible problems go to interior points."""
        C, steps = 100.0, 0
        while len(self._M) > _SMALL and C <= 1e8:
            gap, count, _, pull = self._advance(C, tol)
            steps += count
            if gap <= tol and self._u.max() < C:
                alpha = np.maximum(pull, 0.0) / 2
                bound = float(self._u.sum()) - float(alpha @ alpha)
                alpha /= min(float(self._margins(alpha).min(where=self._used, initial=1.0)), 1.0)
                objective = float(alpha @ alpha)
                return self._result(alpha, objective, (objective - bound) / (1 + objective), steps)
            C *= 10
        found = self._interior_points(None, tol, always=True)
        assert found is not None
        self._u[self._used], self._C = found.multipliers, 0.0
        return replace(self._result(found.alpha, found.objective, found.gap, found.n_iter), feasible=found.feasible)

    def _result(self, alpha: Array, objective: float, gap: float, steps: int) -> MarginWeights:
        """Results in the units and the order of the input."""
        weights = np.empty_like(alpha)
        with np.errstate(over="ignore"):
            weights[self._order] = alpha / self._scale
            u = self.multipliers[self._used[np.argsort(self._order)]]
            objective = float(np.float64(objective) / self._scale / self._scale)
            return MarginWeights(weights, u, objective, max(gap, 0.0), True, steps)

    def start(self, multipliers: Array, C: float) -> None:
        """Start from the `multipliers` of a similar problem, of the shape of the attribute, found at the cost `C`."""
        self._C = C * self._scale**2
        self._u = np.clip(np.where(self._used, multipliers[self._order] * self._scale**2, 0.0), 0.0, self._C)

    def _advance(self, target: float, tol: float) -> tuple[float, int, float, Any]:
        """Raise C in factors of at most ten to the target; return gap, steps, objective and A'u there."""
        if self._C <= 0 or target < self._C:
            self._C = min(self._first, target)
            self._u = np.where(self._used, self._C, 0.0)
        steps = 0
        for left in range(int(np.ceil(np.log10(max(target / self._C, 1.0)) - 1e-9)), 1, -1):
            self._C *= (target / self._C) ** (1 / left)
            steps += self._solve_stage(self._C, 1e-3)[1]
        self._C = target
        gap, count, objective, pull = self._solve_stage(target, tol)
        return gap, steps + count, objective, pull

    def _solve_stage(self, C: float, tol: float) -> tuple[float, int, float, Any]:
        u, pull = self._u, self._pull(self._u)
        # The best multiple of u within the bounds.
        half, largest = float(np.square(np.maximum(pull, 0.0)).sum()) / 2, float(u.max(initial=0.0))
        if largest > 0:
            factor = min(C / largest, float(u.sum()) / half if half > 0 else np.inf)
            u *= factor
            pull *= factor
        damping, steps, large, stalled, best, swept = 0.0, 0, 0, 0, np.inf, np.inf  # swept: gap before the last sweeps
        while True:
            margins = self._margins(np.maximum(pull, 0.0) / 2)
            square = float(np.square(np.maximum(pull, 0.0)).sum()) / 4
            objective = square + C * float(np.maximum(1 - margins, 0.0).sum(where=self._used))
            gap = max(objective - float(u.sum()) + square, 0.0) / (1 + objective)
            stalled = stalled + 1 if gap > 0.5 * best else 0
            slow, swept = gap > 0.5 * swept, np.inf
            best = min(best, gap)
            if gap <= tol or steps >= _MAX_STEPS or stalled > _PATIENCE:
                return gap, steps, objective, pull
            steps += 1
            slope = margins - 1
            wrong = self._used & (((slope < 0) & (u < C)) | ((slope > 0) & (u > 0)))
            # Sweeps also while they work and there are more multipliers than one step takes: tight similarities have a
            # nearly diagonal A and nearly all multipliers between the bounds.
            crowded = np.count_nonzero(wrong) > _MAX_ACTIVE and not slow
            if crowded or (gap > _SWEEP_GAP and steps == 1):
                swept = gap
                rows, others = np.nonzero(wrong)
                data = self._M, self._codes, self._starts
                for _ in range(3):
                    _kernels.margin_sweep(*data, self._each, self._factor, rows, others, C, u, pull)
                    if self._each:
                        _kernels.margin_exchange(*data, self._factor, np.unique(rows), C, u, pull)
                continue
            rows, others = self._active(u, slope, wrong, C)
            if self._each and gap > _SWEEP_GAP and 8 * len(rows) > len(pull):
                large += len(rows)
                if large > _MAX_LARGE * len(pull):
                    return gap, steps, objective, pull  # nearly singular steps take many pivots
            A = self._rows(rows, others)
            A_P = A[:, pull > 0]
            H = A_P @ A_P.T / 2 + (damping * (A @ A.T) / 2 if damping else 0.0)
            # Coordinate sweeps find most bounds of the quadratic program, active sets its solution.
            v, g, d = u[rows, others], slope[rows, others], np.zeros(len(rows))
            smallest = 1e-13 * (1 + float(np.abs(g).max(initial=0.0)))
            _kernels.box_sweeps(H, g, -v, C - v, d, 100, smallest)
            improve_in_box(H, g, -v, C - v, d, pivots=_MAX_PIVOTS if self._each else 2 * len(g) + 10, tol=smallest)
            change = A.T @ d
            length = _line_search(pull, change, float(d.sum()))
            if length < 0.2:
                damping = max(10 * damping, 1e-3)
            elif length > 0.8:
                damping = damping / 3 if damping > 1e-7 else 0.0
            u[rows, others] = np.clip(v + length * d, 0.0, C)
            pull = pull + length * change

    def _active(self, u: Array, slope: Array, wrong: Array, C: float) -> Any:
        """Multipliers between the bounds and the worst violators."""
        free = (u > 0) & (u < C)
        size, n_free = np.where(wrong, np.abs(slope), 0.0), int(np.count_nonzero(free))
        most = min(max(_MAX_ACTIVE, n_free + 100), 1000)
        if n_free <= most:
            size[free] = np.inf
        chosen = np.flatnonzero(size)
        if len(chosen) > most:
            chosen = chosen[np.argpartition(-size.ravel()[chosen], most)[:most]]
        return np.unravel_index(np.sort(chosen), u.shape)

    def _rows(self, rows: Any, others: Any) -> Any:
        """Rows of A: the constraints of objects `rows` against classes `others`."""
        codes = self._codes[rows, None]
        against = self._codes == others[:, None] if self._each else self._codes != codes
        signs = (self._codes == codes).astype(np.float64) - against
        return self._factor[rows, others, None] * self._M[rows] * signs

    def _pull(self, u: Array) -> Any:
        """A'u."""
        weighted, pull = u * self._factor, np.empty(len(self._M))
        V = np.where(self._own, weighted.sum(axis=1, keepdims=True), -weighted)
        _kernels.margin_pull(self._M, V, self._starts, pull)
        return pull

    def _margins(self, alpha: Array) -> Any:
        """A a, by object and other class."""
        sums = np.empty((self._own.shape[1], len(alpha)))
        _kernels.margin_sums(self._T, alpha, self._starts, sums)
        own = sums[self._codes, np.arange(len(alpha))]
        return self._factor * ((own - sums).T if self._each else (2 * own - sums.sum(axis=0))[:, None])

    def _interior_points(self, C: float | None, tol: float, always: bool = False) -> MarginWeights | None:
        """Solution in the units and the order of the sorted objects; None if it would take too much memory."""
        n, n_classes = self._own.shape
        A: Constraints
        if self._each and n_classes * (n_classes - 1) // 2 <= _MAX_BLOCKS and (always or 2 * n * n <= _DENSE):
            A = _ClassBlocks(self)
        elif always or self._used.sum() * n <= _DENSE:
            A = Constraints(self._rows(*np.nonzero(self._used)))
        else:
            return None
        return solve_margin(A, C, tol)


class _ClassBlocks(Constraints):
    """Constraints of each object against each other class, whose normal matrix consists of blocks of classes."""

    # The block (g, h) gets products of the rows of g and h alone: 2 n^3 / G for G classes instead of (G - 1) n^3.

    def __init__(self, margin: ClassMargin) -> None:
        self.margin, self.used, self.shape = margin, margin._used, (int(margin._used.sum()), len(margin._codes))
        self.classes = [slice(a, b) for a, b in zip(margin._starts, margin._starts[1:])]
        self.columns = [np.ascontiguousarray(margin._M[:, one]) for one in self.classes]

    def times(self, a: Array) -> Any:
        return self.margin._margins(a)[self.used]

    def transposed(self, u: Array) -> Any:
        return self.margin._pull(self._spread(u))

    def _spread(self, u: Array) -> Any:
        full = np.zeros(self.used.shape)
        full[self.used] = u
        return full

    def normal(self, weights: Array) -> Any:
        W = self._spread(weights) * np.square(self.margin._factor)
        of_own = np.where(self.margin._own, W.sum(axis=1, keepdims=True), W)
        H = np.empty((self.shape[1], self.shape[1]))
        for g, (one, S) in enumerate(zip(self.classes, self.columns)):
            scaled = S * np.sqrt(of_own[:, g])[:, None]
            H[one, one] = scaled.T @ scaled
        for g, h in combinations(range(len(self.classes)), 2):
            one, other = self.classes[g], self.classes[h]
            H[one, other] = 0.0
            for rows, against in ((one, h), (other, g)):
                root = np.sqrt(W[rows, against])[:, None]
                H[one, other] -= (self.columns[g][rows] * root).T @ (self.columns[h][rows] * root)
        return H


def _line_search(pull: Array, change: Array, gain: float) -> float:
    """Step length in [0, 1] that minimizes |max(pull + t change, 0)|^2 / 4 - t gain."""
    low, high, t = 0.0, 1.0, 1.0
    for _ in range(40):
        moved = pull + t * change
        active = np.where(moved > 0, change, 0.0)
        slope, curvature = float(active @ moved) / 2 - gain, float(active @ change) / 2
        if slope > 0:
            high = t
        else:
            low = t
        if low == 1.0 or abs(slope) <= 1e-14 * (1 + abs(gain)) or high - low < 1e-12:
            break
        t = t - slope / curvature if curvature > 0 else high
        if not low < t < high:
            t = (low + high) / 2
    return t
