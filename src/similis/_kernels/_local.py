"""The neighbours' own blocks: gathering them, how far they are positive definite, sums of weights by class."""

from __future__ import annotations

from typing import Any

import numpy as np

from similis._kernels._cholesky import back_substitute, forward_substitute, grow_cholesky
from similis._kernels._jit import kernel

__all__ = ["gather_blocks", "krr_path", "psd_prefix", "sum_by_class"]


@kernel
def gather_blocks(S: Any, indices: Any, blocks: Any) -> None:
    """Write the symmetric part of S among the neighbours of each query, zero where an index is -1."""
    n_queries, k = indices.shape
    for c in range(n_queries):
        for a in range(k):
            i = indices[c, a]
            for b in range(a + 1):
                j = indices[c, b]
                value = 0.0
                if i >= 0 and j >= 0:
                    value = 0.5 * (np.float64(S[i, j]) + np.float64(S[j, i]))
                blocks[c, a, b] = value
                blocks[c, b, a] = value


@kernel
def psd_prefix(blocks: Any, s: Any, known: Any, prefix: Any) -> None:
    """Write the size of the largest leading block that is surely PSD, with s in its range.

    A Cholesky factor of the independent rows: a row either adds a pivot clear of round-off, or depends on them to
    round-off, entries and s alike (duplicates, Gram matrices of low rank). The first row that does neither ends it.
    """
    n_queries, K = s.shape
    L, inverse, a = np.zeros((K, K)), np.empty(K), np.empty(K)
    independent, dependent = np.empty(K, np.intp), np.empty(K, np.intp)
    for c in range(n_queries):
        scale = size = 0.0
        for i in range(known[c]):
            scale, size = max(scale, abs(blocks[c, i, i])), max(size, abs(s[c, i]))
        rank = idle = 0
        prefix[c] = known[c]
        for p in range(known[c]):
            row, pivot, x = L[p], blocks[c, p, p], s[c, p]
            for q in range(rank):
                other, t = L[independent[q]], 0.0
                for r in range(q):
                    t += row[r] * other[r]
                row[q] = (blocks[c, p, independent[q]] - t) * inverse[q]
                pivot -= row[q] * row[q]
                x -= row[q] * a[q]
            worst = 0.0
            for e in range(idle):
                other, t = L[dependent[e]], blocks[c, p, dependent[e]]
                for q in range(rank):
                    t -= row[q] * other[q]
                worst = max(worst, abs(t))
            if pivot > 1e-9 * scale and worst <= 1e-12 * scale:
                row[rank] = pivot**0.5
                inverse[rank] = 1.0 / row[rank]
                a[rank] = x * inverse[rank]
                independent[rank] = p
                rank += 1
            elif max(abs(pivot), worst) <= 1e-12 * scale and abs(x) <= 1e-12 * size:
                for q in range(rank, K):
                    row[q] = 0.0
                dependent[idle] = p
                idle += 1
            else:
                prefix[c] = p
                break


@kernel
def krr_path(blocks: Any, s: Any, known: Any, ks: Any, ridges: Any, weights: Any, sound: Any) -> None:
    """Solve [chen2010] Eq. (3.8), (S + ridge I) w = s, for leading blocks of all sizes ks and all ridges.

    Neighbours in rank order make the factor of a smaller block the leading part of one factor. ``sound[c, r]`` is
    the size of the largest leading block of S + ridge I that is safely positive definite; larger k get its weights.
    """
    n_queries, K = s.shape
    L, inverse, order = np.empty((K, K)), np.empty(K), np.arange(K)
    z, w = np.empty(K), np.empty(K)
    for c in range(n_queries):
        scale = 0.0
        for i in range(known[c]):
            scale = max(scale, abs(blocks[c, i, i]))
        for r in range(ridges.shape[0]):
            floor = 1e-10 * (scale + ridges[r])
            rows = grow_cholesky(blocks[c], ridges[r], floor, False, order, np.intp(0), known[c], L, inverse)
            sound[c, r] = rows
            for p in range(rows):
                z[p] = s[c, p]
            forward_substitute(L, inverse, rows, z)
            for t in range(ks.shape[0]):
                k = min(ks[t], rows)
                for p in range(k):
                    w[p] = z[p]
                back_substitute(L, inverse, k, w)
                for p in range(K):
                    weights[c, t, r, p] = w[p] if p < k else 0.0


@kernel
def sum_by_class(weights: Any, codes: Any, sums: Any) -> None:
    """Write ``sums[c, q, g]``, the sum of ``weights[c, q, p]`` over the neighbours p of class g; code -1 is nobody."""
    n_queries, n_sets, K = weights.shape
    for c in range(n_queries):
        for q in range(n_sets):
            for g in range(sums.shape[2]):
                sums[c, q, g] = 0.0
            for p in range(K):
                if codes[c, p] >= 0:
                    sums[c, q, codes[c, p]] += weights[c, q, p]
