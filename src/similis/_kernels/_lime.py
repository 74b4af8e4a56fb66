"""Linear interpolation with maximum entropy in kernel form: Newton on the dual."""

from __future__ import annotations

from typing import Any

import numpy as np

from similis._kernels._cholesky import back_substitute, grow_cholesky
from similis._kernels._jit import kernel

__all__ = ["lime_path"]

EPS = float(np.finfo(np.float64).eps)


@kernel
def lime_path(blocks: Any, s: Any, known: Any, ks: Any, temperatures: Any, weights: Any, gaps: Any) -> None:
    """Minimise [chen2010] Eq. (3.3), w'Sw - 2 s'w + t sum w log w on the simplex, S PSD, temperatures descending.

    The dual point is a vector v with value -v'Sv - t log sum exp(2 (s - Sv) / t); its softmax p is the primal point
    and the duality gap is (p - v)'S(p - v), written to `gaps`. The temperature falls tenfold at most at a time.
    """
    n_queries, K = s.shape
    L, inverse, order, M = np.empty((K, K)), np.empty(K), np.arange(K), np.empty((K, K))
    v, Sv, p, d, Sd = np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(K)
    for c in range(n_queries):
        B = blocks[c]
        for n in range(ks.shape[0]):
            k = min(ks[n], known[c])
            scale = 0.0
            for i in range(k):
                v[i] = 1.0 / k
                scale = max(scale, abs(B[i, i]), abs(s[c, i]))
            _multiply(B, v, k, Sv)
            t = np.inf
            for r in range(temperatures.shape[0]):
                target = max(temperatures[r], 1e-7 * scale)  # below, round-off decides the weights
                while t != target:
                    t = max(target, min(0.1 * t, scale))
                    noise = EPS * scale * max(8.0 * k, scale / t)
                    enough = noise if t == target else max(noise, 0.05 * t)
                    _newton(B, s[c], k, t, enough, v, Sv, p, d, Sd, M, L, inverse, order)
                gap = 0.0
                for i in range(k):
                    gap += d[i] * Sd[i]
                gaps[c, n, r] = max(gap, 0.0)
                for i in range(K):
                    weights[c, n, r, i] = p[i] if i < k else 0.0


@kernel
def _multiply(B: Any, x: Any, k: int, y: Any) -> None:
    """Write y = B x for the leading k rows of a symmetric B."""
    for i in range(k):
        total = 0.0
        for j in range(k):
            total += B[i, j] * x[j]
        y[i] = total


@kernel
def _softmax(s: Any, Sv: Any, Sd: Any, step: float, k: int, t: float, p: Any) -> float:
    """Write p proportional to exp(2 (s - Sv - step Sd) / t); return t times the log of the sum."""
    top = -np.inf
    for i in range(k):
        p[i] = 2.0 * (s[i] - Sv[i] - step * Sd[i]) / t
        top = max(top, p[i])
    total = 0.0
    for i in range(k):
        p[i] = np.exp(p[i] - top)
        total += p[i]
    for i in range(k):
        p[i] /= total
    return t * (top + np.log(total))


@kernel
def _newton(
    B: Any, s: Any, k: int, t: float, enough: float, v: Any, Sv: Any, p: Any, d: Any, Sd: Any, M: Any, L: Any,
    inverse: Any, order: Any,
) -> None:  # fmt: skip
    """Maximise the dual at temperature t from v until max |S(p - v)| is `enough`.

    With W = diag(p)^(1/2), q = W1, P = I - qq' and d = p - v, the step is d - W (t/2 I + P W S W P)^-1 P W S d.
    """
    mean, step, Sstep = np.empty(k), np.empty(k), np.empty(k)
    last = np.inf
    for _ in range(60):
        value = _softmax(s, Sv, Sv, 0.0, k, t, p)
        for i in range(k):
            d[i] = p[i] - v[i]
        _multiply(B, d, k, Sd)
        worst = center = total = 0.0
        for i in range(k):
            worst = max(worst, abs(Sd[i]))
            mean[i] = Sv[i] + Sd[i]
            center += p[i] * mean[i]
            total += p[i] * Sd[i]
        # The softmax magnifies round-off by 1/t: past that floor the residual no longer falls.
        if worst <= enough or (worst < 1e-4 * t and worst > 0.5 * last):
            return
        last = worst
        for i in range(k):
            qi = p[i] ** 0.5
            for j in range(i + 1):
                M[i, j] = qi * p[j] ** 0.5 * (B[i, j] - mean[i] - mean[j] + center)
            step[i] = qi * (Sd[i] - total)
        grow_cholesky(M, 0.5 * t, EPS * t, order, np.intp(0), k, L, inverse)
        for i in range(k):
            x = step[i]
            for j in range(i):
                x -= L[i, j] * step[j]
            step[i] = x * inverse[i]
        back_substitute(L, inverse, k, step)
        for i in range(k):
            step[i] = d[i] - p[i] ** 0.5 * step[i]
        _multiply(B, step, k, Sstep)
        vSv = vSx = xSx = slope = 0.0
        for i in range(k):
            vSv += v[i] * Sv[i]
            vSx += v[i] * Sstep[i]
            xSx += step[i] * Sstep[i]
            slope += 2.0 * d[i] * Sstep[i]
        length = 1.0
        allowance = 16.0 * EPS * (abs(value) + abs(vSv))
        for _ in range(40):
            trial = _softmax(s, Sv, Sstep, length, k, t, p)
            gain = value - trial - 2.0 * length * vSx - length * length * xSx
            if gain >= 1e-4 * length * slope - allowance:
                break
            length *= 0.5
        for i in range(k):
            v[i] += length * step[i]
            Sv[i] += length * Sstep[i]
