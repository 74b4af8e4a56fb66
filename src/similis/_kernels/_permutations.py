"""Permutation tests on a matrix: sums within permuted groups, and products of a matrix with a permuted one."""

from __future__ import annotations

from typing import Any

from similis._kernels._jit import kernel

__all__ = ["group_sums", "permuted_products"]


@kernel
def group_sums(A: Any, codes: Any, starts: Any, members: Any, W: Any) -> None:
    """Write ``W[p, g]``, the sum of the entries of A between the objects that ``codes[p]`` puts in group g.

    A is symmetric with a zero diagonal. `starts` (G + 1 integers) and `members` (n integers) are work space for a
    counting sort.
    """
    n_groups = W.shape[1]
    n = A.shape[0]
    for p in range(codes.shape[0]):
        starts[:] = 0
        for i in range(n):
            starts[codes[p, i] + 1] += 1
        for g in range(n_groups):
            starts[g + 1] += starts[g]
        for i in range(n - 1, -1, -1):  # from the back, so that afterwards starts[g + 1] is the start of group g
            g = codes[p, i]
            starts[g + 1] -= 1
            members[starts[g + 1]] = i
        for g in range(n_groups):
            end = starts[g + 2] if g + 2 <= n_groups else n
            total = 0.0
            for a in range(starts[g + 1], end):
                row = members[a]
                for b in range(starts[g + 1], a):
                    total += A[row, members[b]]
            W[p, g] = 2.0 * total


@kernel
def permuted_products(A: Any, B: Any, orders: Any, symmetric: bool, out: Any) -> None:
    """Write ``out[p]``, the sum over i != j of A[i, j] * B[orders[p, i], orders[p, j]].

    With `symmetric`, A and B are symmetric and one triangle is read. A row of A is used for all permutations while it
    is in the cache, so a few permutations per call are faster than one.
    """
    n = A.shape[0]
    out[:] = 0.0
    for i in range(n):
        for p in range(orders.shape[0]):
            order = orders[p]
            row = B[order[i]]
            part = 0.0
            for j in range(i):
                part += A[i, j] * row[order[j]]
            if not symmetric:
                for j in range(i + 1, n):
                    part += A[i, j] * row[order[j]]
            out[p] += 2.0 * part if symmetric else part
