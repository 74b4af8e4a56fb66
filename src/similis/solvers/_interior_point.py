"""Duals of support vector machines with more in them than a quadratic form, by interior point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from similis.solvers._spectral_blocks import Block, positive_reach

__all__ = ["InteriorPoint", "balanced", "class_balance"]

Array = NDArray[np.float64]


class InteriorPoint:
    """Mehrotra's predictor-corrector method for min -1'x + what the blocks cost, x in [0, 1]^n, y'x = 0.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels, 1 and -1.
    blocks : sequence of Block
        Convex costs and constraints of x.
    x : ndarray of shape (n,)
        Start, inside the bounds, y'x = 0.
    cautious : bool, default=False
        Short steps without second-order terms: for constraints that bend much.
    """

    def __init__(self, y: Array, blocks: Sequence[Block], x: Array, *, cautious: bool = False) -> None:
        self.y, self.n, self.all, self.cautious = y, len(y), blocks, cautious
        self.x, self.nu = x, 0.0
        self.room = 1.0 - x  # kept apart: x may come nearer to 1 than rounding can say
        self.lower, self.upper = 0.5 / np.maximum(x, 1e-3), 0.5 / self.room
        for block in blocks:
            block.start(x, 0.5)

    @property
    def total(self) -> float:
        """Sum of the complementarity products."""
        own = float(self.x @ self.lower) + float(self.room @ self.upper)
        return own + sum(float(block.s @ block.z) for block in self.all)

    def step(self) -> bool:
        """One predictor-corrector step; False where no step can be had."""
        x, y, lower, upper, room, n = self.x, self.y, self.lower, self.upper, self.room, self.n
        residual = -1.0 - lower + upper + self.nu * y
        H = np.zeros((n, n))
        for block in self.all:
            residual += block.look(x)
            block.eliminate(H)
        H.flat[:: n + 1] += lower / x + upper / room
        factor = cholesky(H)
        if factor is None or not np.isfinite(residual).all():
            return False
        Hy = linalg.cho_solve(factor, y, check_finite=False)
        count = 2 * n + sum(block.s.size for block in self.all)

        def direction(el: Array, eu: Array, es: list[Array]) -> tuple[Array, float, Array, Array, float]:
            """Newton's step towards products changed by el, eu and es."""
            rhs = -residual + el / x - eu / room + sum(block.push(e) for block, e in zip(self.all, es))
            base = linalg.cho_solve(factor, rhs, check_finite=False)
            dnu = (float(y @ base) + float(y @ x)) / float(y @ Hy)
            dx = base - dnu * Hy
            for block, e in zip(self.all, es):
                block.pull(dx, e)
            dl, du = (el - lower * dx) / x, (eu + upper * dx) / room
            reach = min(
                positive_reach(x, dx),
                positive_reach(room, -dx),
                positive_reach(lower, dl),
                positive_reach(upper, du),
                *(block.reach() for block in self.all),
            )
            return dx, dnu, dl, du, reach

        dx, _, dl, du, reach = direction(-x * lower, -room * upper, [-block.s * block.z for block in self.all])
        t = min(1.0, reach)
        mean = self.total / count
        after = float((x + t * dx) @ (lower + t * dl)) + float((room - t * dx) @ (upper + t * du))
        after += sum(float((b.s + t * b.ds) @ (b.z + t * b.dz)) for b in self.all)
        target, second = max(after / (count * mean), 0.0) ** 3 * mean, 1.0
        if self.cautious:  # where the constraints bend so much that the second-order term misleads
            target, second = max(target, 0.3 * mean), 0.0
        dx, dnu, dl, du, reach = direction(
            target - x * lower - second * dx * dl,
            target - room * upper + second * dx * du,
            [target - b.s * b.z - second * b.ds * b.dz for b in self.all],
        )
        if np.isnan(reach) or not np.isfinite(dx).all():
            return False
        t = min(1.0, (0.9 if self.cautious else 0.99) * reach)
        self.x, self.room, self.nu = x + t * dx, room - t * dx, self.nu + t * dnu
        self.lower, self.upper = lower + t * dl, upper + t * du
        for block in self.all:
            block.move(t)
        return bool(t > 1e-10)


def class_balance(y: Array) -> Array:
    """Weight 1/2 on the smaller class and as much in all on the larger: inside the bounds, y'x = 0."""
    plus = int((y > 0).sum())
    return np.asarray(0.5 * min(plus, len(y) - plus) / np.where(y > 0, plus, len(y) - plus))


def balanced(x: Array, y: Array) -> Array:
    """Scale the heavier side down until y'x = 0."""
    plus, minus = float(x[y > 0].sum()), float(x[y < 0].sum())
    least = min(plus, minus)
    if least <= 0:
        return np.zeros_like(x)
    return np.asarray(x * np.where(y > 0, least / plus, least / minus))


def cholesky(H: Array) -> Any:
    """Cholesky factor of H, the diagonal raised a little where rounding makes it indefinite; None if nothing helps."""
    raised, scale = 0.0, float(np.abs(np.einsum("ii->i", H)).mean())
    for _ in range(8):
        M = H.copy()
        M.flat[:: len(M) + 1] += raised
        try:
            return linalg.cho_factor(M, lower=True, check_finite=False, overwrite_a=True)
        except linalg.LinAlgError:
            raised = max(100 * raised, 1e-14 * scale)
    return None
