"""What other objects say of a pair: how differently the two see everybody, what their neighbours lead one to expect.

Pairs i < j are stored in one vector, row after row (``condensed``); a NaN is an entry nobody knows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from similis._kernels._jit import kernel

__all__ = ["pair_doubts", "expected_from_neighbors", "row_differences"]


@kernel
def row_differences(T: Any, cap: float, rows: Any, R: Any) -> None:
    """R[i, j] = mean over witnesses k of min(|T[i, k] - T[j, k]|, cap) for j > i, unknown entries left out."""
    n, n_witnesses = T.shape
    for i in rows:
        for j in range(i + 1, n):
            total, count = 0.0, 0.0
            for k in range(n_witnesses):
                x = abs(T[i, k] - T[j, k])
                if x == x:
                    total += min(x, cap)
                    count += 1.0
            R[i, j] = total / count if count > 0 else np.inf


@kernel
def expected_from_neighbors(T: Any, N: Any, turns: int, additive: bool, rows: Any, level: Any, slope: Any) -> None:
    """What the neighbours of i and of j lead one to expect of the pair (i, j), i in rows, j > i; condensed.

    level: the median of T[p, q] over neighbours p of i and q of j that meet. With `additive`, slope: the median of
    T[p, j] + T[i, q] - T[p, q], exact where T is a sum of two terms; else the level.
    """
    n, k = N.shape
    plain, steep = np.empty(k * turns), np.empty(k * turns)
    for i in rows:
        at = i * n - (i * (i + 1)) // 2 - i - 1
        for j in range(i + 1, n):
            m = _meet(T, N, turns, False, i, j, plain)
            level[at + j] = slope[at + j] = _median(plain, m)
            if additive:
                m = _meet(T, N, turns, True, i, j, steep)
                if m > 0:
                    slope[at + j] = _median(steep, m)


@kernel
def pair_doubts(
    T: Any, N: Any, turns: int, n_bounds: int, additive: bool, pairs: Any, slope: Any, spread: Any, gap: Any
) -> None:
    """How much to trust the expectation `slope` of the listed pairs, and what triangles ask of them.

    spread: median absolute deviation of the values behind the slope. gap: the median of |T[p, i] - T[p, j]| over
    `n_bounds` evenly spaced neighbours p of i and as many of j.
    """
    k = N.shape[1]
    values, bound = np.empty(k * turns), np.empty(2 * n_bounds)
    for r in range(len(pairs)):
        i, j = pairs[r, 0], pairs[r, 1]
        m = _meet(T, N, turns, additive, i, j, values)
        if additive and m == 0:
            m = _meet(T, N, turns, False, i, j, values)
        for t in range(m):
            values[t] = abs(values[t] - slope[r])
        spread[r] = _median(values, m)
        m = 0
        for a in range(n_bounds):
            at = (a + 1) * k // n_bounds - 1
            for p in (N[i, at], N[j, at]):
                x = abs(T[p, i] - T[p, j])  # unknown where p is i or j
                if x == x:
                    bound[m] = x
                    m += 1
        gap[r] = _median(bound, m)


@kernel
def _meet(T: Any, N: Any, turns: int, additive: bool, i: int, j: int, values: Any) -> int:
    """Values that the neighbours of i and j propose for the pair; how many are known.

    The a-th neighbour p of i meets `turns` neighbours q of j, evenly spaced from the a-th on, in a circle. The diagonal
    of T is unknown, and the pair does not speak for itself.
    """
    k = N.shape[1]
    step = k // turns
    m = 0
    for a in range(k):
        p = N[i, a]
        for turn in range(turns):
            q = N[j, (a + turn * step) % k]
            x = T[p, j] + T[i, q] - T[p, q] if additive else T[p, q]
            if x == x and not (p == j and q == i):
                values[m] = x
                m += 1
    return m


@kernel
def _median(values: Any, m: int) -> float:
    """Upper median of values[:m], by halving their range 16 times and counting: no branches. NaN of none.

    The value returned is one of the values, within 1/65,536 of their range of the median, and nearly always the median.
    """
    if m == 0:
        return np.nan
    low, high = values[0], values[0]
    for t in range(m):
        low, high = min(low, values[t]), max(high, values[t])
    if low == high:
        return low
    low -= (high - low) * 1e-9
    for _ in range(16):
        middle = (low + high) / 2
        count = 0
        for t in range(m):
            count += values[t] <= middle
        if count > m // 2:
            high = middle
        else:
            low = middle
    found = high
    for t in range(m):
        if values[t] > low:
            found = min(found, values[t])
    return found
