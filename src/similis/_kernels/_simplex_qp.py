"""Kernel ridge interpolation weights: quadratic programs on the simplex by block principal pivoting."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from similis._kernels._cholesky import back_substitute, forward_substitute, grow_cholesky
from similis._kernels._jit import kernel

__all__ = ["simplex_path"]

EPS = float(np.finfo(np.float64).eps)


class _Work(NamedTuple):
    """The support P = order[:size] and what belongs to it, by position: LL' = H_PP, a = L^-1 s_P, b = L^-1 1, w."""

    order: Any
    inside: Any  # by index: whether it is in the support
    L: Any
    inverse: Any  # 1 / L[p, p]
    a: Any
    b: Any
    w: Any
    gradient: Any  # by index: H w - s
    spare: Any


@kernel
def simplex_path(blocks: Any, s: Any, known: Any, ks: Any, ridges: Any, weights: Any, gaps: Any) -> None:
    """Solve [chen2010] Eq. (3.5) for every query c, every leading block of size ks[t] (ascending) and every ridge.

    ``weights[c, t, r]`` minimises w'Sw / 2 - s'w + ridges[r] w'w / 2 on the simplex, S = blocks[c, :k, :k]; zeros
    beyond k. ``gaps[c, t, r]`` bounds how far the objective is above its minimum.
    """
    n_queries, K = s.shape
    order, inside, L = np.empty(K, np.intp), np.empty(K, np.bool_), np.empty((K, K))
    work = _Work(order, inside, L, np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(K))
    for c in range(n_queries):
        B, scale = blocks[c], 0.0
        for i in range(known[c]):
            scale = max(scale, abs(B[i, i]), abs(s[c, i]))
        for r in range(ridges.shape[0]):
            floor = K * EPS * (scale + ridges[r])
            size: Any = np.intp(0)  # typed, so that the search compiles once
            k: Any = np.intp(0)
            for i in range(K):
                inside[i] = False
            for t in range(ks.shape[0]):
                target = min(ks[t], known[c])
                while k < target:
                    # Neighbours come in order of similarity: the support for few is a good start for more.
                    k = min(max(2 * k, 8), target)
                    size = _pivot(B, s[c], k, ridges[r], floor, size, work)
                gaps[c, t, r] = _write(weights[c, t, r], k, size, work)


@kernel
def _pivot(B: Any, s: Any, k: int, ridge: float, floor: float, size: int, work: Any) -> int:
    """Pivot from a support of `size`, whose factor stands, to the optimal one among the first k; return its size.

    All violated indices change sides at once while their number falls (with five steps of grace), otherwise only
    the largest, which is Murty's rule. It is finite: on the simplex s'w = w'(s1' + 1s')w / 2, so that with c large
    the problem is a multiple of the complementarity problem of S + ridge I - s1' - 1s' + c 11', positive definite.
    """
    order, inside, w, gradient = work.order, work.inside, work.w, work.gradient
    factored = size
    if size == 0:
        for i in range(k):
            order[i], inside[i] = i, True
        size = k
    fewest, grace = k + 1, 5
    for _ in range(100 * k):
        nu = _solve(B, s, k, ridge, floor, size, factored, work)
        # Violated: a negative weight inside the support, a negative multiplier outside it.
        violated, largest = 0, -1
        for p in range(size):
            if w[p] < -1e-14:
                violated += 1
                largest = max(largest, order[p])
        for i in range(k):
            if not inside[i] and gradient[i] + nu < -8.0 * floor:
                violated += 1
                largest = max(largest, i)
        if violated == 0:
            break
        grace -= 1
        if violated < fewest:
            fewest, grace = violated, 5
        factored, kept = size, 0
        for p in range(size):
            i = order[p]
            if w[p] < -1e-14 and (grace >= 0 or i == largest):
                inside[i] = False
                gradient[i] = np.inf  # it left just now and does not come back in this step
                factored = min(factored, kept)
            else:
                order[kept] = i
                kept += 1
        for i in range(k):
            if not inside[i] and gradient[i] + nu < -8.0 * floor and (grace >= 0 or i == largest):
                inside[i] = True
                order[kept] = i
                kept += 1
        size = kept
    return size


@kernel
def _solve(B: Any, s: Any, k: int, ridge: float, floor: float, size: int, factored: int, work: Any) -> float:
    """Find the weights on the support that sum to one, H w + nu 1 = s, and the gradient H w - s; return nu."""
    order, _inside, L, inverse, a, b, w, gradient, spare = work
    grow_cholesky(B, ridge, floor, True, order, factored, size, L, inverse)
    for p in range(factored, size):
        row, x, y = L[p], s[order[p]], 1.0
        for q in range(p):
            x -= row[q] * a[q]
            y -= row[q] * b[q]
        a[p], b[p] = x * inverse[p], y * inverse[p]
    ab = bb = 0.0
    for p in range(size):
        ab += a[p] * b[p]
        bb += b[p] * b[p]
    nu = (ab - 1.0) / bb
    for p in range(size):
        w[p] = a[p] - nu * b[p]
    back_substitute(L, inverse, size, w)
    if _residual(B, s, k, ridge, floor, nu, size, work) > 4.0 * floor:
        # One step of refinement: the same bordered system with what is left of its right-hand sides.
        for p in range(size):
            spare[p] = -gradient[order[p]] - nu
        forward_substitute(L, inverse, size, spare)
        ab, missing = 0.0, 1.0
        for p in range(size):
            ab += spare[p] * b[p]
            missing -= w[p]
        change = (ab - missing) / bb
        for p in range(size):
            spare[p] -= change * b[p]
        back_substitute(L, inverse, size, spare)
        for p in range(size):
            w[p] += spare[p]
        nu += change
        _residual(B, s, k, ridge, floor, nu, size, work)
    return nu


@kernel
def _residual(B: Any, s: Any, k: int, ridge: float, floor: float, nu: float, size: int, work: Any) -> float:
    """Compute the gradient for the first k indices; return how far the support is from H w + nu 1 = s and 1'w = 1."""
    order, w, gradient = work.order, work.w, work.gradient
    for i in range(k):
        gradient[i] = -s[i]
    missing = 1.0
    for p in range(size):
        row, weight = B[order[p]], w[p]
        for i in range(k):
            gradient[i] += weight * row[i]
        gradient[order[p]] += ridge * weight
        missing -= weight
    worst = abs(missing) * floor / (w.shape[0] * EPS)
    for p in range(size):
        worst = max(worst, abs(gradient[order[p]] + nu))
    return worst


@kernel
def _write(out: Any, k: int, size: int, work: Any) -> float:
    """Write non-negative weights of sum one; return the gap w'g - min g, g the gradient of the objective."""
    total = 0.0
    for i in range(out.shape[0]):
        out[i] = 0.0
    for p in range(size):
        out[work.order[p]] = max(work.w[p], 0.0)
        total += out[work.order[p]]
    mean, least = 0.0, np.inf
    for i in range(k):
        out[i] /= total
        mean += out[i] * work.gradient[i]
        least = min(least, work.gradient[i])
    return max(mean - least, 0.0) if k > 0 else 0.0
