"""Linear interpolation with maximum entropy in kernel form: Newton on the dual."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from similis._kernels._cholesky import back_substitute, forward_substitute, grow_cholesky
from similis._kernels._jit import kernel

__all__ = ["lime_path"]

EPS = float(np.finfo(np.float64).eps)


class _Work(NamedTuple):
    """The dual point v, its primal point p = softmax(2 (s - Sv) / t), their difference d = p - v, a step in v."""

    v: Any
    Sv: Any
    p: Any
    d: Any
    Sd: Any
    Sp: Any
    step: Any
    Sstep: Any
    M: Any
    L: Any
    inverse: Any
    order: Any


@kernel
def lime_path(blocks: Any, s: Any, known: Any, ks: Any, temperatures: Any, weights: Any, gaps: Any) -> None:
    """Minimise [chen2010] Eq. (3.3), w'Sw - 2 s'w + t sum w log w on the simplex, S PSD, temperatures descending.

    The dual value at v is -v'Sv - t log sum exp(2 (s - Sv) / t); the softmax p inside is the primal point, and the
    duality gap is (p - v)'S(p - v), written to `gaps`. The temperature falls tenfold at most at a time.
    """
    n_queries, K = s.shape
    work = _Work(
        np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(K),
        np.empty((K, K)), np.empty((K, K)), np.empty(K), np.arange(K),
    )  # fmt: skip
    for c in range(n_queries):
        for n in range(ks.shape[0]):
            k, scale = min(ks[n], known[c]), 0.0
            for i in range(k):
                work.v[i] = 1.0 / k
                scale = max(scale, abs(blocks[c, i, i]), abs(s[c, i]))
            _multiply(blocks[c], work.v, k, work.Sv)
            t = np.inf
            for r in range(temperatures.shape[0]):
                target = max(temperatures[r], 1e-7 * scale)  # below, round-off decides the weights
                while k > 0 and t != target:
                    t = max(target, min(0.1 * t, scale))
                    noise = EPS * scale * max(8.0 * k, scale / t)
                    _maximise(blocks[c], s[c], k, t, noise if t == target else max(noise, 0.05 * t), work)
                gap = 0.0
                for i in range(k):
                    gap += work.d[i] * work.Sd[i]
                gaps[c, n, r] = max(gap, 0.0)
                for i in range(K):
                    weights[c, n, r, i] = work.p[i] if i < k else 0.0


@kernel
def _maximise(B: Any, s: Any, k: int, t: float, enough: float, work: Any) -> None:
    """Take Newton steps in v at temperature t until max |S(p - v)| is `enough`."""
    v, Sv, p, d, Sd, step, Sstep = work.v, work.Sv, work.p, work.d, work.Sd, work.step, work.Sstep
    last = np.inf
    for _ in range(60):
        log_sum = _softmax(s, Sv, Sv, 0.0, k, t, p)
        for i in range(k):
            d[i] = p[i] - v[i]
        _multiply(B, d, k, Sd)
        worst = 0.0
        for i in range(k):
            worst = max(worst, abs(Sd[i]))
        # The softmax magnifies round-off by 1/t: past that floor the residual no longer falls.
        if worst <= enough or (worst < 1e-4 * t and worst > 0.5 * last):
            return
        last = worst
        _newton_step(B, k, t, work)
        _multiply(B, step, k, Sstep)
        vSv = vSx = xSx = slope = 0.0
        for i in range(k):
            vSv += v[i] * Sv[i]
            vSx += v[i] * Sstep[i]
            xSx += step[i] * Sstep[i]
            slope += 2.0 * d[i] * Sstep[i]
        length, allowance = 1.0, 16.0 * EPS * (abs(log_sum) + abs(vSv))
        for _ in range(40):
            gain = log_sum - _softmax(s, Sv, Sstep, length, k, t, p) - 2.0 * length * vSx - length * length * xSx
            if gain >= 1e-4 * length * slope - allowance:
                break
            length *= 0.5
        for i in range(k):
            v[i] += length * step[i]
            Sv[i] += length * Sstep[i]


@kernel
def _newton_step(B: Any, k: int, t: float, work: Any) -> None:
    """Write d - W (t/2 I + P W S W P)^-1 P W S d, where W = diag(p)^(1/2) and P = I - W 1 1'W."""
    p, d, Sd, Sp, step, M, L, inverse = (
        work.p, work.d, work.Sd, work.Sp, work.step, work.M, work.L, work.inverse,
    )  # fmt: skip
    pSp = pSd = 0.0
    for i in range(k):
        Sp[i] = work.Sv[i] + Sd[i]
        pSp += p[i] * Sp[i]
        pSd += p[i] * Sd[i]
    for i in range(k):
        root = p[i] ** 0.5
        for j in range(i + 1):
            M[i, j] = root * p[j] ** 0.5 * (B[i, j] - Sp[i] - Sp[j] + pSp)
        step[i] = root * (Sd[i] - pSd)
    grow_cholesky(M, 0.5 * t, EPS * t, True, work.order, np.intp(0), k, L, inverse)
    forward_substitute(L, inverse, k, step)
    back_substitute(L, inverse, k, step)
    for i in range(k):
        step[i] = d[i] - p[i] ** 0.5 * step[i]


@kernel
def _multiply(B: Any, x: Any, k: int, y: Any) -> None:
    """Write y = B x for the leading k rows."""
    for i in range(k):
        row, total = B[i], 0.0
        for j in range(k):
            total += row[j] * x[j]
        y[i] = total


@kernel
def _softmax(s: Any, Sv: Any, Sx: Any, length: float, k: int, t: float, p: Any) -> float:
    """Write p proportional to exp(2 (s - Sv - length Sx) / t); return t times the log of the sum."""
    top = -np.inf
    for i in range(k):
        p[i] = 2.0 * (s[i] - Sv[i] - length * Sx[i]) / t
        top = max(top, p[i])
    total = 0.0
    for i in range(k):
        p[i] = np.exp(p[i] - top)
        total += p[i]
    for i in range(k):
        p[i] /= total
    return t * (top + np.log(total))
