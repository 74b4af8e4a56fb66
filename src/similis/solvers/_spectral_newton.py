"""Dual of SimSVM for one similarity, by Newton steps in the few variables that are not at a bound.

The dual (docs/guide/duals.md), that of an SVM with one convex constraint, becomes an augmented Lagrangian, which is
minimized by quadratic programs in the variables between the bounds and those that violate their conditions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

from similis import _kernels
from similis._utils.arrays import Floats
from similis.solvers._interior_point import improve_in_box

_MAX_VIOLATORS = 50  # of each direction in one step
_MAX_STEPS = 100
# The quadratic programs need not be exact: their solution is the direction of a line search.
_PAIRS = 2  # steps of two variables, times the number of variables
_LOOSE = 0.1  # part of the violation at which they end
_PIVOTS = 8  # changes of the active set after them
_PENALTY = 100.0  # weight of the squared constraint, times n


def minimize_in_ball(
    block: Any, y: Floats, x: Floats, certify: Callable[[Floats, Floats, int], Any], target: float
) -> Any:
    """Minimize -1'x + cost'g^2 / 2 on 0 <= x <= 1, y'x = 0, ||p|| <= gamma with g = B'x, p = k d g^2, for a Norm2Block.

    x is feasible at the start. ``certify(x, alpha, steps)`` returns a solution with its gap; the best one is returned,
    as soon as its relative gap is below `target`.
    """
    B, cost, kd, gamma, n = block.B, block.cost, block.kd, block.gamma, len(y)
    lift = kd / (block.k * block.values) / (n * gamma)
    rho, z = _PENALTY * n, 0.0
    g = B.T @ x
    best, last = None, np.inf
    for step in range(1, _MAX_STEPS + 1):
        p = kd * g**2
        size = float(np.linalg.norm(p))
        unit = p / size if size > 0 else p
        h = size / gamma - 1.0
        pressed = max(z + rho * h, 0.0)  # the multiplier that the augmented Lagrangian implies
        bend = 2 * kd * unit / gamma
        grad_h = B @ (bend * g)
        slope = B @ (cost * g) - 1.0 + pressed * grad_h
        up, down, pull = np.where(y > 0, x < 1, x > 0), np.where(y > 0, x > 0, x < 1), -y * slope
        top, bottom = float(pull.max(where=up, initial=-np.inf)), float(pull.min(where=down, initial=np.inf))
        violation = max(top - bottom, 0.0)
        moved = abs(pressed - z) / rho
        if violation <= max(0.1 * moved, 1e-9) or step % 10 == 0:
            fit = certify(x, block.anchor + pressed * lift * unit, step)
            if best is None or fit.gap < best.gap:
                best = fit
            if best.gap <= target * best.gap_scale or (violation <= 1e-13 and moved <= 1e-13):
                break
        if violation <= max(0.1 * moved, 1e-11):
            if moved > 0.5 * last:  # the multiplier converges too slowly
                rho *= 10
            z, last = pressed, moved
            continue
        W = _active(x, pull, up, down, top, bottom)
        B_W, y_W, x_W = B[W], y[W], x[W]
        scaled = B_W * np.sqrt(cost + 3 * pressed * bend)
        H = scaled @ scaled.T
        if pressed > 0:
            H += (rho - pressed * gamma / size) * np.outer(grad_h[W], grad_h[W])
        # Steps of two variables in y . d, then active sets, on the quadratic program of the step.
        d, tol = np.zeros(len(W)), 1e-12 * (1 + float(np.abs(slope[W]).max(initial=0.0)))
        low, high = np.where(y_W > 0, -x_W, x_W - 1), np.where(y_W > 0, 1 - x_W, x_W)
        K, most = y_W[:, None] * H * y_W, _PAIRS * len(W)
        _kernels.pair_steps(K, low, high, d, pull[W], len(W), most, max(_LOOSE * violation, tol))
        d *= y_W
        improve_in_box(H, slope[W], -x_W, 1 - x_W, d, y=y_W, pivots=_PIVOTS, tol=tol)
        change, x = B_W.T @ d, x.copy()
        t = _line_search(g, change, float(d.sum()), cost, kd, gamma, z, rho)
        x[W] = np.clip(x_W + t * d, 0.0, 1.0)
        g = g + t * change if step % 20 else B.T @ x
    return best


def _active(x: Floats, pull: Floats, up: Any, down: Any, top: float, bottom: float) -> Any:
    """Return the variables between the bounds, and the worst violators of both directions, which balance each other."""
    chosen = (x > 0) & (x < 1)
    for side, size in ((up, pull - bottom), (down, top - pull)):
        wrong = np.flatnonzero(side & ~chosen & (size > 0))
        if len(wrong) > _MAX_VIOLATORS:
            wrong = wrong[np.argpartition(-size[wrong], _MAX_VIOLATORS)[:_MAX_VIOLATORS]]
        chosen[wrong] = True
    return np.flatnonzero(chosen)


def _line_search(
    g: Floats, change: Floats, gain: float, cost: Floats, kd: Floats, gamma: float, z: float, rho: float
) -> float:
    """Step length in [0, 1] that minimizes the augmented Lagrangian, by its derivative, which grows with the step."""

    def derivative(t: float) -> float:
        moved = g + t * change
        p = kd * moved**2
        size = float(np.linalg.norm(p))
        pressed = max(z + rho * (size / gamma - 1.0), 0.0)
        slope_h = float(p @ (kd * moved * change)) * 2 / (gamma * size) if size > 0 else 0.0
        return float((cost * moved) @ change) - gain + pressed * slope_h

    if derivative(1.0) <= 0 or derivative(0.0) >= 0:  # the latter by rounding
        return 1.0
    return float(brentq(derivative, 0.0, 1.0, xtol=1e-6, rtol=1e-3))
