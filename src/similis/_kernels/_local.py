"""The neighbours' own blocks: gathering them, how far they are positive definite, sums of weights by class."""

from __future__ import annotations

from typing import Any

import numpy as np

from similis._kernels._cholesky import back_substitute, grow_cholesky
from similis._kernels._jit import kernel

__all__ = ["gather_blocks", "krr_path", "psd_prefix", "sum_by_class"]

EPS = float(np.finfo(np.float64).eps)


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
def psd_prefix(blocks: Any, known: Any, slack: float, prefix: Any) -> None:
    """Write the size of the largest leading block whose eigenvalues all exceed ``slack`` times round-off.

    Round-off is K eps times the largest absolute row sum, a bound on every eigenvalue's magnitude.
    """
    n_queries, K = blocks.shape[0], blocks.shape[1]
    L, inverse, order = np.empty((K, K)), np.empty(K), np.arange(K)
    for c in range(n_queries):
        bound = 1e-280
        for i in range(known[c]):
            total = 0.0
            for j in range(known[c]):
                total += abs(blocks[c, i, j])
            bound = max(bound, total)
        margin = slack * K * EPS * bound
        prefix[c] = grow_cholesky(blocks[c], -margin, 0.0, False, order, np.intp(0), known[c], L, inverse)


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
                row, x = L[p], s[c, p]
                for q in range(p):
                    x -= row[q] * z[q]
                z[p] = x * inverse[p]
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
