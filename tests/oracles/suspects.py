"""Plain loops for what other objects say of a pair."""

import numpy as np


def row_differences(T, witnesses, cap):
    n = len(T)
    R = np.full((n, n), np.inf)
    for i in range(n):
        for j in range(i + 1, n):
            x = np.abs(T[i, witnesses] - T[j, witnesses])
            x = x[~np.isnan(x)]
            if len(x):
                R[i, j] = np.minimum(x, cap).mean()
    return R


def _upper_median(values):
    values = sorted(v for v in values if not np.isnan(v))
    return values[len(values) // 2] if values else np.nan


def expected_from_neighbors(T, N, turns, n_bounds, additive):
    """Four rows, one column per pair i < j: level, slope, spread, gap."""
    (n, k), found = N.shape, []
    spaced = [(a + 1) * k // n_bounds - 1 for a in range(n_bounds)]
    for i in range(n):
        for j in range(i + 1, n):
            met = [(N[i, a], N[j, (a + turn * (k // turns)) % k]) for a in range(k) for turn in range(turns)]
            plain = [T[p, q] for p, q in met if (p, q) != (j, i)]
            steep = [T[p, j] + T[i, q] - T[p, q] for p, q in met if p != j and q != i]
            used = steep if additive and not np.isnan(steep).all() else plain
            slope = _upper_median(used)
            spread = _upper_median([abs(x - slope) for x in used])
            bound = [abs(T[p, i] - T[p, j]) for p in [*N[i, spaced], *N[j, spaced]] if p not in (i, j)]
            found.append((_upper_median(plain), slope, spread, _upper_median(bound)))
    return np.array(found).T
