"""k-medoids clustering by exchanges: best exchange per sweep ([qiao2013] sec. 2.2) or first improving ([schubert2021]).

The cost of assigning object i to medoid j is ``sign * D[i, j]``: the row is the object, the column the medoid.
"""

import numpy as np

from similis._kernels._jit import kernel

CACHE = 2**16  # gains that stay in the cache


@kernel
def nearest_two(D, sign: float, medoids, nearest, first, second) -> None:
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
def exchange_gains(D, sign: float, weights, starts, nearest, first, second, gains) -> None:
    """Write ``gains[s, m, j]``, the change of the total cost of start s when object j replaces its medoid m."""
    # The last row of ``gains[s]`` holds the part common to all medoids.
    # With c the cost of object i under the candidate and d1, d2 its two smallest costs, it contributes w min(c - d1, 0)
    # for every m, plus w (min(max(c, d1), d2) - d1) if m is its own medoid: one pass over D serves all starts.
    n_objects, n_candidates, k = D.shape[0], D.shape[1], gains.shape[1] - 1
    for s in starts:
        gains[s] = 0.0
    tile = max(512, CACHE // (starts.shape[0] * (k + 1)))  # candidates
    for begin in range(0, n_candidates, tile):
        end = min(begin + tile, n_candidates)
        for i in range(n_objects):
            row, weight = D[i, begin:end], weights[i]
            for s in starts:
                common, own = gains[s, k, begin:end], gains[s, nearest[s, i], begin:end]
                d1, d2 = first[s, i], second[s, i]
                for j in range(end - begin):
                    cost = sign * row[j]
                    common[j] += weight * min(cost - d1, 0.0)
                    own[j] += weight * (min(max(cost, d1), d2) - d1)
    for s in starts:
        for m in range(k):
            gains[s, m] += gains[s, k]


@kernel
def vertex_substitution(D, sign: float, weights, medoids, rounds: int, counts) -> None:
    """Make the best exchange of each sweep until none improves; ``medoids[s]`` of each start is updated in place."""
    # ``counts[s]`` receives the numbers of sweeps and of exchanges; they are equal if `rounds` was reached first.
    (n_starts, k), n = medoids.shape, D.shape[0]
    nearest, gains = np.empty((n_starts, n), np.intp), np.empty((n_starts, k + 1, n))
    first, second = np.empty((n_starts, n)), np.empty((n_starts, n))
    active, left = np.arange(n_starts), n_starts
    while left:
        for s in active[:left]:
            nearest_two(D, sign, medoids[s], nearest[s], first[s], second[s])
        exchange_gains(D, sign, weights, active[:left], nearest, first, second, gains)
        swept, left = left, 0
        for s in active[:swept]:
            best, m, j = np.inf, 0, 0
            for candidate in range(n):
                for medoid in range(k):
                    if gains[s, medoid, candidate] < best:
                        best, m, j = gains[s, medoid, candidate], medoid, candidate
            total = 0.0
            for i in range(n):
                total += weights[i] * abs(first[s, i])
            counts[s, 0] += 1
            # An exchange must gain more than rounding of the total cost.
            if best < -1e-13 * np.sqrt(n) * total:
                medoids[s, m] = j
                counts[s, 1] += 1
                if counts[s, 0] < rounds:
                    active[left] = s
                    left += 1


@kernel
def eager_exchanges(C, sign: float, weights, medoids, nearest, first, second, tolerance, rounds: int, counts) -> None:
    """Make every exchange that lowers the total cost as soon as it is found, FasterPAM of [schubert2021]."""
    # ``C[j, i]`` is the cost of assigning i to j. ``counts[s]`` receives the numbers of candidates and of exchanges.
    (n_starts, k), n = medoids.shape, C.shape[0]
    leaving, change, idle = np.empty((n_starts, k)), np.empty(k), np.zeros(n_starts, np.intp)
    active, left, j = np.arange(n_starts), n_starts, 0
    # Starts run side by side, so that all read a row of C while it is in the cache; `leaving` holds the cost of
    # removing each medoid without a replacement.
    while left:
        row = C[j]
        looking, left = left, 0
        for s in active[:looking]:
            near, d1, d2 = nearest[s], first[s], second[s]
            if idle[s] == 0:  # after an exchange: removing medoid m moves its objects to their second medoid
                leaving[s] = 0.0
                for i in range(n):
                    leaving[s, near[i]] += weights[i] * (d2[i] - d1[i])
            common = 0.0
            change[:] = leaving[s]
            # Change of the total cost: `common` for any medoid that leaves, `change[m]` in addition for medoid m.
            for i in range(n):
                cost = sign * row[i]
                if cost < d2[i]:
                    if cost < d1[i]:
                        common += weights[i] * (cost - d1[i])
                        cost = d1[i]
                    change[near[i]] += weights[i] * (cost - d2[i])
            best = np.argmin(change)
            counts[s, 0] += 1
            idle[s] += 1
            if common + change[best] < -tolerance[s]:
                _exchange(C, sign, medoids[s], best, j, near, d1, d2)
                counts[s, 1] += 1
                idle[s] = 0
            if idle[s] < n and counts[s, 0] < rounds * n:
                active[left] = s
                left += 1
        j = (j + 1) % n


@kernel
def _exchange(C, sign: float, medoids, m: int, j: int, nearest, first, second) -> None:
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
def cluster_totals(D, sign: float, weights, nearest, totals) -> None:
    """Write ``totals[j]``, the cost of assigning the whole cluster of j to j: [cazzanti2007] Eq. (2.8)."""
    n = D.shape[0]
    totals[:] = 0.0
    for i in range(n):
        row, cluster, weight = D[i], nearest[i], sign * weights[i]
        for j in range(n):
            totals[j] += weight * row[j] if nearest[j] == cluster else 0.0
