"""Neighbours by descent: lists of the best so far, whom to candidate_pairs to whom, and pushing what was measured."""

from __future__ import annotations

from typing import Any

from similis._kernels._jit import kernel

__all__ = ["candidate_pairs", "push_pairs", "sample_candidates"]


@kernel
def push_pairs(rows: Any, columns: Any, scores: Any, indices: Any, best: Any, fresh: Any) -> int:
    """Let column j join the list of row i if its score is above the last one there; how many joined.

    Lists are sorted, the best first; -1 and minus infinity pad. NaN never joins, nor does a column that is there.
    """
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
def sample_candidates(indices: Any, fresh: Any, draws: Any, new: Any, old: Any, counts: Any) -> None:
    """Draw for each object some of those that it lists, or that list it, apart by whether they are fresh.

    A reservoir of as many as `new` and `old` have columns; `draws` are uniform numbers, `counts` (n, 2) zeros. Fresh
    entries that were drawn are fresh no more.
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
def candidate_pairs(new: Any, old: Any, first: int, stop: int, indices: Any, left: Any, right: Any) -> int:
    """Write the pairs, two new ones or a new and an old one, that objects first to stop - 1 bring together; how many.

    Pairs that list each other already are left out.
    """
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
