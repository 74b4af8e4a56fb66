"""What other objects say of a pair: how differently the two see everybody, what their neighbours lead one to expect.

Pairs i < j are stored in one vector, row after row (``condensed``); a NaN is an entry nobody knows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from similis._kernels._jit import kernel

__all__ = ["expected_from_neighbors", "row_differences"]


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
def expected_from_neighbors(
    T: Any, N: Any, turns: int, additive: bool, rows: Any, level: Any, slope: Any, spread: Any, gap: Any
) -> None:
    """What the neighbours N[i] of i and N[j] of j say of the pair (i, j), i in rows, j > i; four numbers a pair.

    The a-th neighbour p of i meets `turns` neighbours q of j, the a-th and those after it, in a circle. level: the
    median of T[p, q]. With `additive`, slope: the median of T[p, j] + T[i, q] - T[p, q], exact where T is a sum of two
    terms; else the level. spread: median absolute deviation of the values behind the slope. gap: the median of
    |T[p, i] - T[p, j]| over p in N[i] and N[j], the lower bound of the triangle inequality.
    """
    n, k = N.shape
    plain, steep, bound = np.empty(k * turns), np.empty(k * turns), np.empty(2 * k)
    for i in rows:
        at = i * n - (i * (i + 1)) // 2 - i - 1
        for j in range(i + 1, n):
            n_plain, n_steep, n_bound = 0, 0, 0
            for a in range(k):
                p = N[i, a]
                for turn in range(turns):
                    q = N[j, (a + turn) % k]
                    x = T[p, q]
                    if x == x and not (p == j and q == i):
                        plain[n_plain] = x
                        n_plain += 1
                    if additive and p != j and q != i:
                        x = T[p, j] + T[i, q] - x
                        if x == x:
                            steep[n_steep] = x
                            n_steep += 1
                q = N[j, a]
                x = abs(T[p, i] - T[p, j])
                if p != j and x == x:
                    bound[n_bound] = x
                    n_bound += 1
                x = abs(T[q, i] - T[q, j])
                if q != i and x == x:
                    bound[n_bound] = x
                    n_bound += 1
            level[at + j] = _median(plain, n_plain)
            if additive and n_steep > 0:
                slope[at + j] = _median(steep, n_steep)
                spread[at + j] = _deviation(steep, n_steep, slope[at + j])
            else:
                slope[at + j] = level[at + j]
                spread[at + j] = _deviation(plain, n_plain, level[at + j])
            gap[at + j] = _median(bound, n_bound)


@kernel
def _deviation(values: Any, m: int, center: float) -> float:
    """Median absolute deviation of values[:m] from `center`; overwrites them."""
    for t in range(m):
        values[t] = abs(values[t] - center)
    return _median(values, m)


@kernel
def _median(values: Any, m: int) -> float:
    """Upper median of values[:m] by quickselect, in place; NaN of none."""
    if m == 0:
        return np.nan
    wanted, low, high = m // 2, 0, m - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if wanted <= j:
            high = j
        elif wanted >= i:
            low = i
        else:
            break
    return values[wanted]
