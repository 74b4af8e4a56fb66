"""Centroids of each class among a query's ranked neighbours, for all k of a grid in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from similis._kernels._jit import kernel

__all__ = ["local_centroids"]


@kernel
def local_centroids(
    S: Any, sign: float, codes: Any, indices: Any, values: Any, ks: Any, n_classes: int, winners: Any, chosen: Any
) -> None:
    """Write ``winners[i, t]``, the class whose centroid among the first ks[t] neighbours is the most similar to i.

    Neighbourhoods are nested, so the sums s(z, mu) over the members z of mu's class grow by one row and one column
    a neighbour. Centroid: the largest mean over known entries, the nearer to the query among equals. Equal
    similarity to two centroids is decided by the larger class count, then the smaller code. ``chosen[i, t, c]``
    receives the centroid's index (-1: class absent), unless it has no columns.
    """
    n_rows, n_ranks = indices.shape
    total, known = np.empty(n_ranks), np.empty(n_ranks)
    count, best_rank = np.empty(n_classes, np.intp), np.empty(n_classes, np.intp)
    best_mean = np.empty(n_classes)
    for i in range(n_rows):
        count[:] = 0
        r = 0
        for t in range(ks.shape[0]):
            while r < min(ks[t], n_ranks) and indices[i, r] >= 0:
                _add_member(S, sign, codes, indices[i], r, total, known)
                count[codes[indices[i, r]]] += 1
                r += 1
            best_rank[:] = -1
            for q in range(r):
                c = codes[indices[i, q]]
                mean = total[q] / known[q] if known[q] > 0 else -np.inf
                if best_rank[c] < 0 or mean - 1e-12 * max(1.0, abs(mean)) > best_mean[c]:
                    best_rank[c], best_mean[c] = q, mean
            winners[i, t] = _nearest(values[i], sign, best_rank, count)
            for c in range(chosen.shape[2]):
                chosen[i, t, c] = indices[i, best_rank[c]] if best_rank[c] >= 0 else -1


@kernel
def _add_member(S: Any, sign: float, codes: Any, row: Any, r: int, total: Any, known: Any) -> None:
    """Let the r-th neighbour join its class: it adds to the others' sums and they to its own."""
    j = row[r]
    total[r], known[r] = 0.0, 0.0
    for q in range(r + 1):
        z = row[q]
        if codes[z] == codes[j]:
            to_new, to_old = S[z, j], S[j, z]
            if not np.isnan(to_new):
                total[r] += sign * to_new
                known[r] += 1
            if q < r and not np.isnan(to_old):
                total[q] += sign * to_old
                known[q] += 1


@kernel
def _nearest(values: Any, sign: float, best_rank: Any, count: Any) -> Any:
    """Class of the most similar centroid; ties by class count, then by the smaller code."""
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
