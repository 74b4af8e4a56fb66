"""k-medoids clustering by exchanges: best exchange per sweep ([qiao2013] sec. 2.2) or first improving ([schubert2021]).

The cost of assigning object i to medoid j is ``sign * D[i, j]``: the row is the object, the column the medoid.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from similis._kernels._jit import kernel

__all__ = ["cluster_totals", "eager_exchanges", "exchange_gains", "nearest_two", "vertex_substitution"]


@kernel
def nearest_two(D: Any, sign: float, medoids: Any, nearest: Any, first: Any, second: Any) -> None:
    """Write the position of each object's cheapest medoid (the first of equals), its cost and the next cost."""
    for i in range(D.shape[0]):
        position, d1, d2 = 0, np.inf, np.inf
        for m in range(medoids.shape[0]):
            cost = sign * D[i, medoids[m]]
            if cost < d1:
                position, d1, d2 = m, cost, d1
            elif cost < d2:
                d2 = cost
        nearest[i], first[i], second[i] = position, d1, d2


@kernel
def exchange_gains(D: Any, sign: float, weights: Any, nearest: Any, first: Any, second: Any, gains: Any) -> None:
    """Write ``gains[m, j]``, the change of the total cost when object j replaces medoid m.

    [qiao2013] sec. 2.2, vertex substitution. With c the cost of object i under the candidate and d1, d2 its two
    smallest costs, it contributes w min(c - d1, 0) for every m, plus w (min(max(c, d1), d2) - d1) if m is its own
    medoid, so that one pass over D evaluates all medoids. The last row of `gains` holds the common part.
    """
    n_objects, n_candidates = D.shape
    k = gains.shape[0] - 1
    for m in range(k + 1):
        for j in range(n_candidates):
            gains[m, j] = 0.0
    for start in range(0, n_candidates, 512):
        stop = min(start + 512, n_candidates)
        common = gains[k, start:stop]
        for i in range(n_objects):
            row, own = D[i, start:stop], gains[nearest[i], start:stop]
            d1, d2, weight = first[i], second[i], weights[i]
            for j in range(stop - start):
                cost = sign * row[j]
                common[j] += weight * min(cost - d1, 0.0)
                own[j] += weight * (min(max(cost, d1), d2) - d1)
    for m in range(k):
        for j in range(n_candidates):
            gains[m, j] += gains[k, j]


@kernel
def vertex_substitution(D: Any, sign: float, weights: Any, medoids: Any, gains: Any, rounds: int) -> Any:
    """Make the best exchange of each sweep until none improves; `medoids` is updated in place.

    Among equals the lowest object is chosen, then the lowest medoid. An exchange must gain more than rounding of the
    total cost. Returns the numbers of sweeps and of exchanges; they are equal if `rounds` was reached first.
    """
    n, k = D.shape[0], medoids.shape[0]
    nearest, first, second = np.empty(n, np.intp), np.empty(n), np.empty(n)
    for exchanges in range(rounds):
        nearest_two(D, sign, medoids, nearest, first, second)
        exchange_gains(D, sign, weights, nearest, first, second, gains)
        best, m, j = np.inf, 0, 0
        for candidate in range(n):
            for medoid in range(k):
                if gains[medoid, candidate] < best:
                    best, m, j = gains[medoid, candidate], medoid, candidate
        total = 0.0
        for i in range(n):
            total += weights[i] * abs(first[i])
        if not best < -1e-13 * np.sqrt(n) * total:
            return exchanges + 1, exchanges
        medoids[m] = j
    return rounds, rounds


@kernel
def eager_exchanges(
    C: Any,
    sign: float,
    weights: Any,
    medoids: Any,
    nearest: Any,
    first: Any,
    second: Any,
    tolerance: float,
    rounds: int,
) -> Any:
    """Make every exchange that lowers the total cost as soon as it is found, until no object offers one.

    Eager swapping, FasterPAM of [schubert2021]. ``C[j, i]`` is the cost of assigning i to j, the transpose
    of D. Only objects closer to the candidate than to their second medoid change the sum; `leaving` holds the cost of
    removing each medoid without a replacement. Returns the numbers of candidates examined and of exchanges made;
    `medoids`, `nearest`, `first` and `second` are updated in place.
    """
    n, k = C.shape[0], medoids.shape[0]
    leaving, change = np.empty(k), np.empty(k)
    looked = exchanges = idle = 0
    j = 0
    while idle < n and looked < rounds * n:
        if idle == 0:  # after an exchange: removing medoid m moves its objects to their second medoid
            for m in range(k):
                leaving[m] = 0.0
            for i in range(n):
                leaving[nearest[i]] += weights[i] * (second[i] - first[i])
        common, row = 0.0, C[j]
        for m in range(k):
            change[m] = leaving[m]
        # Change of the total cost: `common` for any medoid that leaves, `change[m]` in addition for medoid m.
        for i in range(n):
            cost = sign * row[i]
            if cost < second[i]:
                if cost < first[i]:
                    common += weights[i] * (cost - first[i])
                    cost = first[i]
                change[nearest[i]] += weights[i] * (cost - second[i])
        best = 0
        for m in range(k):
            if change[m] < change[best]:
                best = m
        looked += 1
        idle += 1
        if common + change[best] < -tolerance:
            _exchange(C, sign, medoids, best, j, nearest, first, second)
            exchanges += 1
            idle = 0
        j = (j + 1) % n
    return looked, exchanges


@kernel
def _exchange(C: Any, sign: float, medoids: Any, m: int, j: int, nearest: Any, first: Any, second: Any) -> None:
    """Replace medoid m by object j and update the two cheapest medoids of every object."""
    old = C[medoids[m]]
    medoids[m] = j
    for i in range(C.shape[1]):
        if sign * old[i] > second[i]:  # the old medoid was neither of the two: only the new one can enter
            cost = sign * C[j, i]
            if cost < first[i]:
                nearest[i], first[i], second[i] = m, cost, first[i]
            elif cost < second[i]:
                second[i] = cost
        else:
            position, d1, d2 = 0, np.inf, np.inf
            for q in range(medoids.shape[0]):
                cost = sign * C[medoids[q], i]
                if cost < d1:
                    position, d1, d2 = q, cost, d1
                elif cost < d2:
                    d2 = cost
            nearest[i], first[i], second[i] = position, d1, d2


@kernel
def cluster_totals(D: Any, sign: float, weights: Any, nearest: Any, totals: Any) -> None:
    """Write ``totals[j]``, the cost of assigning the whole cluster of j to j: [cazzanti2007] Eq. (2.8)."""
    n = D.shape[0]
    for j in range(n):
        totals[j] = 0.0
    for i in range(n):
        row, cluster, weight = D[i], nearest[i], sign * weights[i]
        for j in range(n):
            totals[j] += weight * row[j] if nearest[j] == cluster else 0.0
