"""Permutation tests on a matrix: sums within permuted groups, and rows of permuted matrices.

Sums of at most `SUMMANDS` entries are kept in the precision of the matrix, sums of these in double precision. In single
precision a result of nonnegative terms thus has a relative error below (SUMMANDS + 2) / 2^24.
"""

from similis._kernels._jit import kernel

SUMMANDS = 512


@kernel
def shuffle_rows(rows, block, uniform) -> None:
    """Permute the entries `block` of each row at random (Fisher-Yates); `uniform` holds numbers in [0, 1)."""
    for p in range(rows.shape[0]):
        row = rows[p]
        for i in range(block.shape[0] - 1, 0, -1):
            k = int(uniform[p, i] * (i + 1))
            row[block[i]], row[block[k]] = row[block[k]], row[block[i]]


@kernel
def group_sums(A, codes, sums, W) -> None:
    """Write ``W[p, g]``, the sum of the entries below the diagonal of A between objects with ``codes[i, p] == g``."""
    # The loops over permutations vectorize without branches: with codes of one byte and single precision, 64
    # comparisons and 16 additions per instruction. Eight objects per loop save reading and writing `sums`.
    W[:] = 0.0
    zero = A[0, 0] - A[0, 0]  # in the precision of A
    n_permutations = codes.shape[1]
    for i in range(A.shape[0]):
        row, own = A[i], codes[i]
        for first in range(0, i, SUMMANDS):
            last = min(first + SUMMANDS, i)
            eights = last - (last - first) % 8
            sums[:] = zero
            for j in range(first, eights, 8):
                a0, a1, a2, a3, a4, a5, a6, a7 = row[j : j + 8]
                c0, c1, c2, c3, c4, c5, c6, c7 = codes[j : j + 8]
                for p in range(n_permutations):
                    g = own[p]
                    part = (a0 if c0[p] == g else zero) + (a1 if c1[p] == g else zero)
                    part += (a2 if c2[p] == g else zero) + (a3 if c3[p] == g else zero)
                    part += (a4 if c4[p] == g else zero) + (a5 if c5[p] == g else zero)
                    part += (a6 if c6[p] == g else zero) + (a7 if c7[p] == g else zero)
                    sums[p] += part
            for j in range(eights, last):
                a0, c0 = row[j], codes[j]
                for p in range(n_permutations):
                    sums[p] += a0 if c0[p] == own[p] else zero
            for p in range(n_permutations):
                W[p, own[p]] += sums[p]


@kernel
def permuted_rows(A, orders, first: int, last: int, symmetric: bool, out) -> int:
    """Write ``A[order[i], order[j]]`` for i from `first` to `last` and all j, with `symmetric` all j < i.

    There is one row per order; the number of columns is returned.
    """
    at = 0
    for p in range(orders.shape[0]):
        order, at = orders[p], 0  # unsigned indices are faster than signed ones
        for i in range(first, last):
            row, line = A[order[i]], out[p, at : at + (i if symmetric else A.shape[0])]
            for j in range(line.shape[0]):
                line[j] = row[order[j]]
            at += line.shape[0]
    return at
