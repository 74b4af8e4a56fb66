"""NN-descent [dong2011] on neighbor lists, descending by score, padded with index -1 and score -inf; without NaN."""

from similis._kernels._jit import kernel


@kernel
def push_pairs(rows, columns, scores, indices, best, fresh) -> int:
    """Insert columns[p] into the list of rows[p] where scores[p] exceeds its last score; return how many were."""
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
    """Sample each object's list and reverse list by reservoir sampling ([dong2011]), with uniform numbers `draws`.

    Fresh entries are written to `new`, others to `old`; sampled fresh entries become old. `counts`, (n, 2), are zeros.
    """
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
