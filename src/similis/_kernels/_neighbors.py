"""Ranking of neighbors; votes, class sums and local centroids of ranked neighbors for a grid of k; NN-descent.

Neighbors are ordered by descending similarity, then by ascending index, so that results do not depend on threads.
"""

from typing import Any

import numpy as np

from similis._kernels._jit import kernel


@kernel
def top_k(S, sign, row_fold, col_fold, indices, values) -> None:
    """Rank the k largest ``sign * S[i, j]`` of each row i among the columns j with ``col_fold[j] != row_fold[i]``."""
    # NaN is never selected; a row with fewer candidates than k ends in index -1 and value NaN.
    n_rows, n_columns, k = S.shape[0], S.shape[1], indices.shape[1]
    # Values above a running threshold are appended to a buffer; one of 4 k or more values is reduced to its k largest,
    # which raises the threshold. It keeps the column order, so that ties need no second key.
    capacity = 4 * k + 64
    best, where = np.empty(capacity, S.dtype), np.empty(capacity, np.intp)
    spare, spare_index = np.empty(capacity, S.dtype), np.empty(capacity, np.intp)
    for i in range(n_rows):
        fold = row_fold[i]
        m: Any = np.intp(0)  # typed, so that the helpers compile once
        best[0] = -np.inf
        threshold = best[0]
        for start in range(0, n_columns, 64):
            run = S[i, start : min(start + 64, n_columns)]
            above = 0
            for a in range(run.shape[0]):  # this count vectorizes, and is zero for most runs
                above += sign * run[a] > threshold
            if above == 0:
                continue
            for a in range(run.shape[0]):
                value = sign * run[a]
                if value > threshold and col_fold[start + a] != fold:
                    best[m], where[m] = value, start + a
                    m += 1
            if m >= 4 * k:
                m, threshold = _keep_largest(best, where, m, k, spare)
        if m > k:
            m, threshold = _keep_largest(best, where, m, k, spare)
        _sort_descending(best, where, m, spare, spare_index)
        for r in range(k):
            indices[i, r] = where[r] if r < m else -1
            values[i, r] = sign * best[r] if r < m else np.nan


@kernel
def _keep_largest(best, where, m: int, k: int, spare):
    """Reduce the first m pairs to the k largest, of equals the earlier, in their order; return k and the k-th value."""
    threshold, above = _kth_largest(best, m, k, spare)
    ties, kept = k - above, 0
    for a in range(m):
        value = best[a]
        tied = value == threshold
        best[kept], where[kept] = value, where[a]
        kept += (value > threshold) | (tied & (ties > 0))
        ties -= tied
    return k, threshold


@kernel
def _kth_largest(best, m: int, k: int, x):
    """Return the k-th largest of the first m numbers and the number of larger ones by quickselect ([hoare1961])."""
    x[:m] = best[:m]
    above, size = 0, m
    while True:
        a, b, c = x[0], x[size // 2], x[size - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        larger = equal = 0
        for q in range(size):
            larger += x[q] > pivot
            equal += x[q] == pivot
        if above + larger < k <= above + larger + equal:
            return pivot, above + larger
        kept = 0
        if k <= above + larger:
            for q in range(size):
                value = x[q]
                x[kept] = value
                kept += value > pivot
        else:
            above += larger + equal
            for q in range(size):
                value = x[q]
                x[kept] = value
                kept += value < pivot
        size = kept


@kernel
def _sort_descending(x, where, m: int, y, y_index) -> None:
    """Sort the first m pairs by descending value, equals in unchanged order: runs of 32 by rank, then merge sort."""
    for start in range(0, m, 32):
        stop = min(start + 32, m)
        run = x[start:stop]
        for a in range(stop - start):
            value, rank = run[a], start
            for b in range(a):
                rank += run[b] == value
            for b in range(stop - start):
                rank += run[b] > value
            y[rank], y_index[rank] = value, where[start + a]
        x[start:stop], where[start:stop] = y[start:stop], y_index[start:stop]
    width = 32
    while width < m:
        for start in range(0, m - width, 2 * width):
            middle, end = start + width, min(start + 2 * width, m)
            y[start:middle], y_index[start:middle] = x[start:middle], where[start:middle]
            left, right, out = start, middle, start
            while left < middle and right < end:
                later = x[right] > y[left]
                x[out] = x[right] if later else y[left]
                where[out] = where[right] if later else y_index[left]
                right += later
                left += not later
                out += 1
            rest = middle - left
            x[out : out + rest], where[out : out + rest] = y[left:middle], y_index[left:middle]
        width *= 2


@kernel
def vote_winners(indices, weights, codes, ks, n_classes: int, winners) -> None:
    """Write ``winners[i, t]``, the class with the largest summed weight among the first ks[t] neighbors of row i."""
    # Weights are non-negative; without columns every vote counts 1. A row without neighbors is assigned to class 0.
    (n_rows, n_ranks), weighted = indices.shape, weights.shape[1] > 0
    sums = np.empty(n_classes)
    for i in range(n_rows):
        sums[:] = 0.0
        leader, t = 0, 0
        for r in range(n_ranks):
            if indices[i, r] < 0:
                break
            c = codes[indices[i, r]]
            sums[c] += weights[i, r] if weighted else 1.0
            if sums[c] > sums[leader] or (sums[c] == sums[leader] and c < leader):
                leader = c
            while t < ks.shape[0] and ks[t] == r + 1:
                winners[i, t] = leader
                t += 1
        winners[i, t:] = leader


@kernel
def class_sums(indices, weights, codes, ks, sums) -> None:
    """Write ``sums[i, t, c]``, the summed weight (1 without columns) of class c in the first ks[t] neighbors of i."""
    (n_rows, n_ranks), weighted = indices.shape, weights.shape[1] > 0
    running = np.empty(sums.shape[2])
    for i in range(n_rows):
        running[:] = 0.0
        r = 0
        for t in range(ks.shape[0]):
            while r < min(ks[t], n_ranks) and indices[i, r] >= 0:
                running[codes[indices[i, r]]] += weights[i, r] if weighted else 1.0
                r += 1
            sums[i, t] = running


@kernel
def local_centroids(S, sign: float, codes, indices, values, ks, n_classes: int, winners, chosen) -> None:
    """Write ``winners[i, t]``, the class whose centroid among the first ks[t] neighbors is the most similar to i."""
    # [cazzanti2007] Eq. (2.9)-(2.10). ``chosen[i, t, c]``, if it has columns, receives the centroids, -1 if absent.
    n_rows, n_ranks = indices.shape
    # Neighborhoods are nested: the sums of s(z, mu) over the members z of the class of mu grow by one row and one
    # column per neighbor. The centroid has the largest mean over known entries; among equals it is nearer to the query.
    total, known, best_mean = np.empty(n_ranks), np.empty(n_ranks), np.empty(n_classes)
    count, best_rank = np.empty(n_classes, np.intp), np.empty(n_classes, np.intp)
    for i in range(n_rows):
        count[:] = 0
        r, size = 0, 0.0
        for t in range(ks.shape[0]):
            while r < min(ks[t], n_ranks) and indices[i, r] >= 0:
                size = max(size, _add_member(S, sign, codes, indices[i], r, total, known))
                count[codes[indices[i, r]]] += 1
                r += 1
            best_rank[:] = -1
            for q in range(r):
                c = codes[indices[i, q]]
                mean = total[q] / known[q] if known[q] > 0 else -np.inf
                if best_rank[c] < 0 or mean - 1e-12 * size > best_mean[c]:
                    best_rank[c], best_mean[c] = q, mean
            winners[i, t] = _nearest(values[i], sign, best_rank, count)
            for c in range(chosen.shape[2]):
                chosen[i, t, c] = indices[i, best_rank[c]] if best_rank[c] >= 0 else -1


@kernel
def _add_member(S, sign: float, codes, row, r: int, total, known) -> float:
    """Add the r-th neighbor to its class: update the sums of the members; return the largest absolute entry added."""
    j, size = row[r], 0.0
    total[r], known[r] = 0.0, 0.0
    for q in range(r + 1):
        z = row[q]
        if codes[z] == codes[j]:
            to_new, to_old = S[z, j], S[j, z]
            if not np.isnan(to_new):
                total[r] += sign * to_new
                known[r] += 1
                size = max(size, abs(float(to_new)))
            if q < r and not np.isnan(to_old):
                total[q] += sign * to_old
                known[q] += 1
                size = max(size, abs(float(to_old)))
    return size


@kernel
def _nearest(values, sign: float, best_rank, count):
    """Return the class of the most similar centroid; ties are decided by class count, then by the smaller code."""
    winner = -1
    for c in range(best_rank.shape[0]):
        if best_rank[c] < 0:
            continue
        if winner < 0:
            winner = c
            continue
        here, there = sign * values[best_rank[c]], sign * values[best_rank[winner]]
        if here > there or (here == there and count[c] > count[winner]):
            winner = c
    return max(winner, 0)


@kernel
def push_pairs(rows, columns, scores, indices, best, fresh) -> int:
    """Insert columns[p] into the list of rows[p] where scores[p] exceeds its last score; return how many were."""
    # The lists of NN-descent ([dong2011]) descend by score and are padded with index -1 and score -inf; without NaN.
    K = indices.shape[1]
    joined = 0
    for p in range(rows.size):
        i, j, score = rows[p], columns[p], scores[p]
        if not score > best[i, K - 1]:
            continue
        known = False
        for r in range(K):
            known |= indices[i, r] == j
        if known:
            continue
        r = K - 1
        while r > 0 and best[i, r - 1] < score:
            best[i, r], indices[i, r], fresh[i, r] = best[i, r - 1], indices[i, r - 1], fresh[i, r - 1]
            r -= 1
        best[i, r], indices[i, r], fresh[i, r] = score, j, True
        joined += 1
    return joined


@kernel
def sample_candidates(indices, fresh, draws, new, old, counts) -> None:
    """Sample each object's list and reverse list by reservoir sampling ([dong2011]), with uniform numbers `draws`."""
    # Fresh entries are written to `new`, others to `old`; sampled fresh entries become old. `counts`, (n, 2), are
    # zeros.
    n, K = indices.shape
    c = new.shape[1]
    for i in range(n):
        for r in range(K):
            j = indices[i, r]
            if j < 0:
                continue
            for side in range(2):
                a, b = (i, j) if side == 0 else (j, i)
                kind = 0 if fresh[i, r] else 1
                place = counts[a, kind]
                counts[a, kind] += 1
                if place >= c:
                    place = int(draws[i, r, side] * (place + 1))
                if place < c:
                    if kind == 0:
                        new[a, place] = b
                    else:
                        old[a, place] = b
    for i in range(n):
        for r in range(K):
            for t in range(c):
                if new[i, t] == indices[i, r]:
                    fresh[i, r] = False


@kernel
def candidate_pairs(new, old, first: int, stop: int, indices, left, right) -> int:
    """Write pairs of a new and another entry of each object that are not in each other's lists; return their number."""
    c, K = new.shape[1], indices.shape[1]
    m = 0
    for i in range(first, stop):
        for s in range(c):
            a = new[i, s]
            if a < 0:
                break
            for t in range(s + 1, 2 * c):
                b = new[i, t] if t < c else old[i, t - c]
                if b < 0 or a == b:
                    continue
                there = back = False
                for r in range(K):
                    there |= indices[a, r] == b
                    back |= indices[b, r] == a
                if not (there and back):
                    left[m], right[m] = min(a, b), max(a, b)
                    m += 1
    return m
