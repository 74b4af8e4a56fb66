"""Consistency of one entry with the others: row differences, expected values from neighbors, triangle bounds.

Pairs i < j are stored in one vector, row by row (condensed form); NaN is a missing entry.
"""

import numpy as np

from similis._kernels._jit import kernel
from similis._kernels._neighbors import _kth_largest


@kernel
def row_differences(T, cap: float, rows, R) -> None:
    """Write ``R[i, j]``, the mean over columns k of min(|T[i, k] - T[j, k]|, cap), for j > i; NaN is skipped."""
    n, n_columns = T.shape
    for i in rows:
        for j in range(i + 1, n):
            total, count = 0.0, 0.0
            for k in range(n_columns):
                x = abs(T[i, k] - T[j, k])
                if x == x:
                    total += min(x, cap)
                    count += 1.0
            R[i, j] = total / count if count > 0 else np.inf


@kernel
def expected_from_neighbors(T, N, turns: int, additive: bool, rows, level, slope) -> None:
    """Predict the pairs (i, j), i in rows, j > i, condensed, by the median `level` of their :func:`_matched_values`."""
    # `slope` is with `additive` that of T[p, j] + T[i, q] - T[p, q], exact for sums of row and column terms.
    n, k = N.shape
    values, spare = np.empty(k * turns), np.empty(k * turns)
    for i in rows:
        at = i * n - (i * (i + 1)) // 2 - i - 1
        for j in range(i + 1, n):
            m = _matched_values(T, N, turns, False, i, j, values)
            level[at + j] = slope[at + j] = _median(values, m, spare)
            if additive:
                m = _matched_values(T, N, turns, True, i, j, values)
                if m > 0:
                    slope[at + j] = _median(values, m, spare)


@kernel
def pair_spreads(T, N, turns: int, n_bounds: int, additive: bool, pairs, slope, spread, gap) -> None:
    """Write for each pair the median absolute deviation of the values whose median is its slope, and the `gap`."""
    # That is the median of the lower bounds |T[p, i] - T[p, j]| over `n_bounds` neighbors p of i and as many of j.
    k = N.shape[1]
    values, bound = np.empty(k * turns), np.empty(2 * n_bounds)
    spare = np.empty(max(k * turns, 2 * n_bounds))
    for r in range(len(pairs)):
        i, j = pairs[r, 0], pairs[r, 1]
        m = _matched_values(T, N, turns, additive, i, j, values)
        if additive and m == 0:
            m = _matched_values(T, N, turns, False, i, j, values)
        for t in range(m):
            values[t] = abs(values[t] - slope[r])
        spread[r] = _median(values, m, spare)
        m = 0
        for a in range(n_bounds):
            at = (a + 1) * k // n_bounds - 1
            for p in (N[i, at], N[j, at]):
                x = abs(T[p, i] - T[p, j])  # NaN where p is i or j
                if x == x:
                    bound[m] = x
                    m += 1
        gap[r] = _median(bound, m, spare)


@kernel
def _matched_values(T, N, turns: int, additive: bool, i: int, j: int, values) -> int:
    """Write the values for the pair (i, j) except NaN and the pair itself; return their number."""
    # The a-th neighbor of i is matched with `turns` neighbors of j, evenly spaced from the a-th on, cyclically.
    k, m = N.shape[1], 0
    for a in range(k):
        p = N[i, a]
        for turn in range(turns):
            q = N[j, (a + turn * (k // turns)) % k]
            x = T[p, j] + T[i, q] - T[p, q] if additive else T[p, q]
            if x == x and not (p == j and q == i):
                values[m] = x
                m += 1
    return m


@kernel
def _median(values, m: int, spare) -> float:
    """Return the upper median of values[:m], NaN if m = 0; `spare` is scratch."""
    return _kth_largest(values, m, m - m // 2, spare)[0] if m > 0 else np.nan
