"""Expectation maximisation for a mixture of maximum-entropy exponentials, one statistic per component."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from similis._kernels._jit import kernel
from similis._kernels._maxent import solve_rate

__all__ = ["mixture_em"]


@kernel
def mixture_em(
    above: Any,
    below: Any,
    pooled: Any,
    pseudocount: float,
    omega: Any,
    tol: float,
    share: Any,
    weights: Any,
    rates: Any,
    log_z: Any,
    path: Any,
) -> int:
    """Fit sum_l w_l gamma_l exp(lambda_l s_l) to n objects; return the number of iterations.

    ``above[i, l]`` and ``below[i, l]`` are the distances of object i's similarity to centroid l from the ends of Omega,
    over its width. ``share`` holds the responsibilities, the first ones given, the last ones left behind. Each
    iteration is an M step and an E step; ``path`` receives the log-likelihood after it, which never decreases (with a
    pseudocount, the log-likelihood plus as many objects of mean ``pooled[:, l]`` in each component). ``omega`` is
    (form, nodes, weights, centre, table).
    """
    n, c = above.shape
    log_p = np.empty(c)
    for step in range(path.shape[0]):
        bonus = _m_step(above, below, pooled, pseudocount, omega, share, weights, rates, log_z)
        total = bonus
        for i in range(n):
            best = -np.inf
            for h in range(c):
                log_p[h] = -np.inf
                if weights[h] > 0.0:
                    offset = above[i, h] if rates[h] < 0.0 else below[i, h]
                    log_p[h] = math.log(weights[h]) + _log_p(omega[0] > 1, rates[h], log_z[h], offset)
                best = max(best, log_p[h])
            # [cazzanti2007] Eq. (5.9); an infinite density takes the object to itself.
            mass = 0.0
            for h in range(c):
                share[i, h] = math.exp(log_p[h] - best) if log_p[h] < best else 1.0
                mass += share[i, h]
            for h in range(c):
                share[i, h] /= mass
            total += best + math.log(mass)
        path[step] = total
        if total == np.inf or (step > 0 and total - path[step - 1] <= tol * (1.0 + abs(total))):
            return step + 1
    return path.shape[0]


@kernel
def _m_step(
    above: Any,
    below: Any,
    pooled: Any,
    pseudocount: float,
    omega: Any,
    share: Any,
    weights: Any,
    rates: Any,
    log_z: Any,
) -> float:
    """[cazzanti2007] Eq. (5.10)-(5.12); returns the log-probability of the pseudo-objects."""
    form, nodes, node_weights, center, table = omega
    n, c = above.shape
    bonus = 0.0
    for h in range(c):
        mass, up, down = pseudocount, pseudocount * pooled[0, h], pseudocount * pooled[1, h]
        for i in range(n):
            mass += share[i, h]
            up += share[i, h] * above[i, h]
            down += share[i, h] * below[i, h]
        weights[h] = (mass - pseudocount) / n
        rates[h], log_z[h] = 0.0, 0.0
        if mass > 0.0:
            rates[h], log_z[h] = solve_rate(form, nodes, node_weights, center, table, up / mass, down / mass)
        if pseudocount > 0.0:
            offset = pooled[0, h] if rates[h] < 0.0 else pooled[1, h]
            bonus += pseudocount * _log_p(form > 1, rates[h], log_z[h], offset)
    return bonus


@kernel
def _log_p(density: bool, rate: float, log_z: float, offset: float) -> float:
    """Log gamma exp(lambda s) on Omega of width one; a point mass is all or nothing."""
    if not np.isinf(rate):
        return -abs(rate) * offset - log_z
    if offset > 1e-12:
        return -np.inf
    return np.inf if density else 0.0
