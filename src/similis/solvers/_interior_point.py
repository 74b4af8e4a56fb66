"""Mehrotra's predictor-corrector method for the duals of SVMs, its linear algebra, and small quadratic programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import linalg

from similis._utils.arrays import Array, Floats

Pairs = list[tuple[Floats, Floats]]  # (variables, multipliers)
_SIGNS = np.array([[1.0], [-1.0]])
# For small problems the checks in SciPy's wrappers of these LAPACK routines would take half of the time.
_potrf, _potrs = linalg.get_lapack_funcs(("potrf", "potrs"), dtype=np.float64)


class InteriorPoint:
    """Mehrotra's predictor-corrector method for min -1'x + costs of the blocks, x in [0, 1]^n, y'x = 0."""

    # `cautious` takes short steps without second-order terms, for constraints of large curvature.

    def __init__(self, y: Floats, blocks: Sequence[Block], x: Floats, *, cautious: bool = False) -> None:
        self.y, self.blocks, self.cautious, self.nu, self.dnu = y, blocks, cautious, 0.0, 0.0
        # Distances from both bounds, stored separately: 1 - x would lose its digits as x tends to 1.
        self.P = np.stack([x, 1.0 - x])
        self.M = 0.5 / np.maximum(self.P, 1e-3)  # their multipliers
        for block in blocks:
            block.start(x, 0.5)

    @property
    def x(self) -> Floats:
        return np.asarray(self.P[0])

    @property
    def total(self) -> float:
        return float((self.P * self.M).sum()) + sum(float(block.s @ block.z) for block in self.blocks)

    @np.errstate(over="ignore", divide="ignore", invalid="ignore")
    def step(self) -> bool:
        """Take one predictor-corrector step; return False if none is possible."""
        P, M, y, blocks = self.P, self.M, self.y, self.blocks
        residual = M[1] - M[0] - 1.0 + self.nu * y
        H = np.zeros((len(y), len(y)))
        for block in blocks:
            residual += block.evaluate(P[0])
            block.eliminate(H)
        factor = cholesky(H, (M / P).sum(axis=0))
        if factor is None or not np.isfinite(residual).all():
            return False
        Hy = cholesky_solve(factor, y)
        yHy, unbalanced = float(y @ Hy), float(y @ P[0])

        def direction(goals: list[Floats]) -> Pairs:
            R, es = goals[0] / P, goals[1:]
            rhs = R[0] - R[1] - residual + sum(block.push(e) for block, e in zip(blocks, es))
            base = cholesky_solve(factor, rhs)
            self.dnu = (float(y @ base) + unbalanced) / yHy
            dx = base - self.dnu * Hy
            for block, e in zip(blocks, es):
                block.pull(dx, e)
            dP = _SIGNS * dx
            return [(dP, (goals[0] - M * dP) / P), *((block.ds, block.dz) for block in blocks)]

        pairs = [(P, M), *((block.s, block.z) for block in blocks)]
        steps, t, _ = predictor_corrector(pairs, direction, 0.9 if self.cautious else 0.99, self.cautious)
        dP, dM = steps[0]
        if np.isnan(t) or not np.isfinite(dP[0]).all():
            return False
        self.P, self.M, self.nu = P + t * dP, M + t * dM, self.nu + t * self.dnu
        for block in blocks:
            block.move(t)
        return bool(t > 1e-10)


def predictor_corrector(
    pairs: Pairs, direction: Callable[[list[Floats]], Pairs], share: float, cautious: bool = False
) -> tuple[Pairs, float, float]:
    """Compute the steps of Mehrotra's method for pairs (x, z), x >= 0, z >= 0, whose products tend to zero."""
    # ``direction(goals)`` returns the Newton steps (dx, dz) for which x dz + z dx = goal. Returns the steps, `share` of
    # the length to the boundary (at most 1), and the mean product.
    # The predictor aims at zero products; its success sets the target of the corrector (Mehrotra's cube), which takes
    # the second-order terms of the predictor into account.
    products = [x * z for x, z in pairs]
    count = sum(x.size for x, _ in pairs)
    mean = sum(float(product.sum()) for product in products) / count
    steps = direction([-product for product in products])
    t = min(1.0, _reach(pairs, steps))
    after = sum(float(((x + t * dx) * (z + t * dz)).sum()) for (x, z), (dx, dz) in zip(pairs, steps))
    target, second = max(after / (count * mean), 0.0) ** 3 * mean, 1.0
    if cautious:
        target, second = max(target, 0.3 * mean), 0.0
    steps = direction([target - product - second * dx * dz for product, (dx, dz) in zip(products, steps)])
    return steps, min(1.0, share * _reach(pairs, steps)), mean


def _reach(pairs: Pairs, steps: Pairs) -> float:
    """Largest step that keeps all variables and multipliers positive."""
    ratios = [(dx / x).min(initial=0.0) for pair, step in zip(pairs, steps) for x, dx in zip(pair, step)]
    return -1.0 / float(min(ratios)) if min(ratios) < 0 else np.inf


class Block:
    """Convex costs of x, and constraints c(x, u) + s = 0, s >= 0, with multipliers z; `ds`, `dz` are the last step."""

    # By default there are no constraints and no variables u.

    B: Floats  # (n, r): g = B'x
    c = s = z = ds = dz = np.zeros(0)

    def start(self, x: Floats, mean: float) -> None:
        """Choose slacks and multipliers with products near `mean` for the first x."""

    def evaluate(self, x: Floats) -> Floats:
        """Store values at x; return the gradient of costs and constraints, weighted by their multipliers."""
        raise NotImplementedError

    def eliminate(self, H: Floats) -> None:
        """Add the part of this block to the Newton matrix."""
        raise NotImplementedError

    def lift(self, e: Floats) -> Floats:
        """Return the multipliers that changes e of the products s z would give if x stayed: (e + z (c + s)) / s."""
        return (e + self.z * (self.c + self.s)) / self.s

    def push(self, e: Floats) -> Floats | float:
        """Return the part of this block of the right-hand side, for changes e of the products s z."""
        return 0.0

    def change(self, dx: Floats, e: Floats) -> Floats:
        """Compute the step of u from that of x; return the change of c."""
        return np.zeros(0)

    def pull(self, dx: Floats, e: Floats) -> None:
        self.ds = -(self.c + self.s) - self.change(dx, e)
        self.dz = (e - self.z * self.ds) / self.s

    def move(self, t: float) -> None:
        self.s, self.z = self.s + t * self.ds, self.z + t * self.dz


def class_balance(y: Floats) -> Floats:
    """Return weights of 1/2 on the smaller class and the same total on the larger one: inside the bounds, y'x = 0."""
    plus = int((y > 0).sum())
    return np.asarray(0.5 * min(plus, len(y) - plus) / np.where(y > 0, plus, len(y) - plus))


def balanced(x: Floats, y: Floats) -> Floats:
    """Scale the class with the larger sum down until y'x = 0."""
    plus, minus = float(x[y > 0].sum()), float(x[y < 0].sum())
    if min(plus, minus) <= 0:
        return np.zeros_like(x)
    return np.asarray(x * np.where(y > 0, min(1.0, minus / plus), min(1.0, plus / minus)))


def cholesky(H: Floats, shift: float | Floats = 0.0) -> Any:
    """Lower Cholesky factor of H + diag(shift), raised where rounding makes it indefinite; None if it is not finite."""
    scale = float(np.abs(H.diagonal() + shift).mean())
    for share in (0.0, *10.0 ** np.arange(-14, 1, 2)):
        M = H.copy()
        M.flat[:: len(M) + 1] += shift + share * scale
        factor, failed = _potrf(M.T, lower=True, clean=False, overwrite_a=True)
        if not failed:
            return factor
    return None


def cholesky_solve(factor: Floats, b: Floats) -> Floats:
    """Solve a linear system by the factor of :func:`cholesky`."""
    return np.asarray(_potrs(factor, b, lower=True)[0])


def improve_in_box(
    H: Array, q: Array, low: Array, high: Array, d: Array, *, y: Array | None = None, pivots: int, tol: float
) -> None:
    """Reduce q'd + d'Hd / 2 in place on low <= d <= high, with y also y'd = 0, from a feasible d, by active sets."""
    # Ends when the violation of the optimality conditions is below `tol` or after `pivots` changes of the free
    # variables.
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
