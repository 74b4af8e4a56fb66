"""Weighted point sets: greedy matching of near points, intersections of histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from similis._kernels._jit import kernel

__all__ = ["greedy_matches", "shared_counts"]


@kernel
def greedy_matches(M: Any, p: Any, q: Any, starts: Any, flips: Any, out: Any) -> None:
    """Match one set with many, nearest pairs first: ``out[j] = sum s_ab M[a, b]`` with s_ab what both have left.

    Set j has the columns ``starts[j]:starts[j + 1]`` of M and weights of q. Equal distances are taken by a, then b;
    by b, then a where ``flips[j]``.
    """
    k = p.shape[0]
    for j in range(starts.shape[0] - 1):
        s, n = starts[j], starts[j + 1] - starts[j]
        block = np.empty(k * n)
        for a in range(k):
            for b in range(n):
                block[b * k + a if flips[j] else a * n + b] = M[a, s + b]
        left, right = p.copy(), q[s : s + n].copy()
        total = 0.0
        for place in np.argsort(block, kind="mergesort"):
            a, b = (place % k, place // k) if flips[j] else (place // n, place % n)
            moved = min(left[a], right[b])
            if moved > 0:
                total += moved * block[place]
                left[a] -= moved
                right[b] -= moved
        out[j] = total


@kernel
def shared_counts(
    x: Any,
    x_count: Any,
    x_start: Any,
    z: Any,
    z_count: Any,
    z_start: Any,
    start: int,
    stop: int,
    mirror: bool,
    out: Any,
) -> None:
    """Fill ``out[i, j]`` with the sum of the smaller counts of the bins that both objects have; bins are sorted."""
    for i in range(start, stop):
        for j in range(i if mirror else 0, z_start.shape[0] - 1):
            a, b, total = x_start[i], z_start[j], 0.0
            while a < x_start[i + 1] and b < z_start[j + 1]:
                if x[a] == z[b]:
                    total += min(x_count[a], z_count[b])
                    a += 1
                    b += 1
                elif x[a] < z[b]:
                    a += 1
                else:
                    b += 1
            out[i, j] = total
