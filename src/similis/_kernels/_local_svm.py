"""Support vector machines on many small blocks, all C of a grid: decomposition steps with Newton steps in between."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from similis._kernels._cholesky import back_substitute, grow_cholesky
from similis._kernels._jit import kernel

__all__ = ["local_svm", "svm_path"]

EPS = float(np.finfo(np.float64).eps)


class _Work(NamedTuple):
    """One machine of n objects: minimise c'Kc / 2 - y'c, sum c = 0, c_i between 0 and C y_i. Room for the largest."""

    K: Any
    y: Any
    c: Any
    v: Any  # y - K c
    free: Any  # indices strictly inside their bounds
    L: Any
    inverse: Any
    d: Any
    e: Any
    Kd: Any


@kernel
def _room(n: int) -> Any:
    free = np.empty(n, np.intp)
    K, L, y, c, v = np.empty((n, n)), np.empty((n, n)), np.empty(n), np.empty(n), np.empty(n)
    return _Work(K, y, c, v, free, L, np.empty(n), np.empty(n), np.empty(n), np.empty(n))


@kernel
def svm_path(K: Any, y: Any, Cs: Any, coef: Any, intercept: Any, violation: Any) -> None:
    """Solve [chen2010] Eq. (2.4) for every C (ascending): ``coef[r]`` = y . alpha, the intercept, what is violated."""
    n = y.shape[0]
    work = _room(n)
    work.K[:, :] = K
    work.y[:] = y
    for r in range(Cs.shape[0]):
        violation[r] = 0.0
    _path(n, Cs, work, coef, intercept, violation)


@kernel
def local_svm(blocks: Any, s: Any, codes: Any, Cs: Any, scores: Any, violation: Any) -> None:
    """Answer query i by the SVM on ``blocks[i]``, one machine a pair of classes, for every C (ascending).

    ``scores[i, r]`` are class scores: -f and f for two classes, else votes plus a bounded sum of margins, where a class
    without neighbours loses to every other with a margin of one. ``violation[i, r]`` is the largest violation of
    the optimality conditions among the machines.
    """
    n_queries, k = s.shape
    R, G = scores.shape[1], scores.shape[2]
    work, query = _room(k), np.empty(k)
    coef, f, counts = np.empty((R, k)), np.empty(R), np.empty(G, np.intp)
    margins, votes = np.empty((R, G)), np.empty((R, G))
    for i in range(n_queries):
        counts[:] = 0
        for p in range(k):
            counts[codes[i, p]] += 1
        violation[i, :] = 0.0
        margins[:, :] = 0.0
        votes[:, :] = 0.0
        for g in range(G):
            for h in range(g + 1, G):
                if counts[g] > 0 and counts[h] > 0:
                    n = _gather(blocks[i], s[i], codes[i], g, h, work, query)
                    _path(n, Cs, work, coef, f, violation[i])
                    for r in range(R):
                        for p in range(n):
                            f[r] += coef[r, p] * query[p]
                elif counts[g] + counts[h] > 0:
                    f[:] = 1.0 if counts[h] > 0 else -1.0
                else:
                    continue
                for r in range(R):
                    margins[r, h] += f[r]
                    margins[r, g] -= f[r]
                    votes[r, h if f[r] > 0 else g] += 1.0
        for r in range(R):
            for g in range(G):
                m = margins[r, g]
                scores[i, r, g] = m if G == 2 else votes[r, g] + m / (3.0 * (abs(m) + 1.0))


@kernel
def _gather(B: Any, s: Any, codes: Any, g: int, h: int, work: Any, query: Any) -> int:
    """Copy what concerns classes g (y = -1) and h (y = 1); return the number of their members."""
    n = 0
    for p in range(codes.shape[0]):
        if codes[p] == g or codes[p] == h:
            work.free[n] = p
            work.y[n] = 1.0 if codes[p] == h else -1.0
            query[n] = s[p]
            n += 1
    for a in range(n):
        row = B[work.free[a]]
        for b in range(n):
            work.K[a, b] = row[work.free[b]]
    return n


@kernel
def _path(n: int, Cs: Any, work: Any, coef: Any, intercept: Any, violation: Any) -> None:
    """Solve for every C; raise `violation` where the solution is worse."""
    before, inside, b, bad = 0.0, False, 0.0, 0.0
    for r in range(Cs.shape[0]):
        C = Cs[r]
        if not inside:  # a solution off the bound C is that for every larger C
            bad, b = _solve(n, C, before, work)
            inside, before = True, C
            for i in range(n):
                inside = inside and work.c[i] * work.y[i] < C
        intercept[r] = b
        violation[r] = max(violation[r], bad)
        for i in range(n):
            coef[r, i] = work.c[i]


@kernel
def _solve(n: int, C: float, before: float, work: Any) -> tuple[float, float]:
    """Solve for C from the solution for `before` (0: from nothing); return the violation and the intercept."""
    K, y, c = work.K, work.y, work.c
    _start(n, C, before, work)
    top = 0.0
    for i in range(n):
        top = max(top, abs(K[i, i]))
    bad, b = np.inf, 0.0
    for _ in range(1000):
        if not _decompose(n, C, work):
            _newton(n, C, top, work)
        size = 0.0
        for i in range(n):
            # What rounding left beside a bound would pass for a free coefficient and fix the intercept alone.
            if abs(c[i]) < 1e-13 * C:
                c[i] = 0.0
            elif abs(c[i] - C * y[i]) < 1e-13 * C:
                c[i] = C * y[i]
            size += abs(c[i])
        _refresh(n, work)
        up, down = _extremes(n, C, work)
        bad, b = up - down, 0.5 * (up + down)
        if bad <= 1e-9 + 16.0 * EPS * top * size:
            break
    return max(bad, 0.0), b


@kernel
def _start(n: int, C: float, before: float, work: Any) -> None:
    """Set c and v: the best multiple of the last solution, or of the difference of the class means, inside the box."""
    y, c, v = work.y, work.c, work.v
    most = 1.0
    if before > 0.0:
        most = C / before
    else:
        plus = 0
        for i in range(n):
            plus += 1 if y[i] > 0 else 0
        less = min(plus, n - plus)
        for i in range(n):
            c[i] = C * y[i] * less / (plus if y[i] > 0 else n - plus)
        _refresh(n, work)
    linear = quadratic = 0.0
    for i in range(n):
        linear += y[i] * c[i]
        quadratic += c[i] * (y[i] - v[i])
    step = most if linear >= most * quadratic else linear / quadratic
    for i in range(n):
        c[i] *= step
        if abs(c[i] - C * y[i]) < 1e-13 * C:
            c[i] = C * y[i]
    _refresh(n, work)


@kernel
def _refresh(n: int, work: Any) -> None:
    """Compute v = y - K c."""
    for i in range(n):
        row, t = work.K[i], 0.0
        for j in range(n):
            t += row[j] * work.c[j]
        work.v[i] = work.y[i] - t


@kernel
def _extremes(n: int, C: float, work: Any) -> tuple[float, float]:
    """The largest v that could grow and the smallest that could fall; optimal where they do not cross."""
    y, c, v = work.y, work.c, work.v
    up, down = -np.inf, np.inf
    for i in range(n):
        if c[i] < max(C * y[i], 0.0):
            up = max(up, v[i])
        if c[i] > min(C * y[i], 0.0):
            down = min(down, v[i])
    return up, down


@kernel
def _decompose(n: int, C: float, work: Any) -> bool:
    """Move two coefficients at a time, those that promise the most; return whether nothing is left to move."""
    K, y, c, v = work.K, work.y, work.c, work.v
    for _ in range(n):
        i, up = -1, -np.inf
        for p in range(n):
            if c[p] < max(C * y[p], 0.0) and v[p] > up:
                i, up = p, v[p]
        j, best, row = -1, 0.0, K[i]
        for p in range(n):
            if c[p] > min(C * y[p], 0.0) and v[p] < up:
                curve = max(row[i] + K[p, p] - 2.0 * row[p], 1e-12 * (row[i] + K[p, p]) + 1e-300)
                gain = (up - v[p]) * (up - v[p]) / curve
                if gain > best:
                    j, best = p, gain
        if j < 0 or up - v[j] <= 1e-9:
            return True
        other = K[j]
        curve = max(row[i] + other[j] - 2.0 * row[j], 1e-12 * (row[i] + other[j]) + 1e-300)
        room, depth = max(C * y[i], 0.0) - c[i], c[j] - min(C * y[j], 0.0)
        step = min((up - v[j]) / curve, room, depth)
        c[i] = max(C * y[i], 0.0) if step == room else c[i] + step
        c[j] = min(C * y[j], 0.0) if step == depth else c[j] - step
        for p in range(n):
            v[p] -= step * (row[p] - other[p])
    return False


@kernel
def _newton(n: int, C: float, top: float, work: Any) -> None:
    """Go to the optimum of the free coefficients; one that meets its bound on the way stays there, the rest go on."""
    c, v, y, free, d, Kd = work.c, work.v, work.y, work.free, work.d, work.Kd
    size = factored = 0
    for i in range(n):
        if min(C * y[i], 0.0) < c[i] < max(C * y[i], 0.0):
            free[size] = i
            size += 1
    while size > 1:
        grow_cholesky(work.K, 0.0, n * EPS * top + 1e-300, True, free, np.intp(factored), size, work.L, work.inverse)
        linear, quadratic = _direction(n, size, work)
        if not linear > 0.0:
            break
        longest, stop, goal = np.inf, 0, 0.0
        for p in range(size):
            i = free[p]
            bound = max(C * y[i], 0.0) if d[p] > 0 else min(C * y[i], 0.0)
            if d[p] != 0.0 and (bound - c[i]) / d[p] < longest:
                longest, stop, goal = (bound - c[i]) / d[p], p, bound
        blocked = linear >= longest * quadratic
        step = longest if blocked else linear / quadratic
        for p in range(size):
            c[free[p]] += step * d[p]
        for i in range(n):
            v[i] -= step * Kd[i]
        if not blocked:
            break
        c[free[stop]] = goal
        size -= 1
        for p in range(stop, size):
            free[p] = free[p + 1]
        factored = stop


@kernel
def _direction(n: int, size: int, work: Any) -> tuple[float, float]:
    """Solve K d + nu 1 = v, 1'd = 0 on the free coefficients; set Kd; return v'd and d'Kd."""
    K, v, free, L, inverse, d, e, Kd = (
        work.K, work.v, work.free, work.L, work.inverse, work.d, work.e, work.Kd,
    )  # fmt: skip
    ab = bb = 0.0
    for p in range(size):
        row, a, b = L[p], v[free[p]], 1.0
        for q in range(p):
            a -= row[q] * d[q]
            b -= row[q] * e[q]
        d[p], e[p] = a * inverse[p], b * inverse[p]
        ab += d[p] * e[p]
        bb += e[p] * e[p]
    for p in range(size):
        d[p] -= ab / bb * e[p]
    back_substitute(L, inverse, size, d)
    total = linear = quadratic = 0.0
    for p in range(size):
        total += d[p]
    for p in range(size):
        d[p] -= total / size  # rounding must not leave the plane
        linear += d[p] * v[free[p]]
    for i in range(n):
        row, t = K[i], 0.0
        for p in range(size):
            t += row[free[p]] * d[p]
        Kd[i] = t
    for p in range(size):
        quadratic += d[p] * Kd[free[p]]
    return linear, quadratic
