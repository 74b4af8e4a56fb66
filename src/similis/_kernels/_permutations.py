"""Permutation tests on a matrix: sums within permuted groups, and products of a matrix with a permuted one.

Sums of at most `SUMMANDS` entries are kept in the precision of the matrix, sums of these in double precision. In single
precision a result of nonnegative terms thus has a relative error below (SUMMANDS + 2) / 2^24.
"""

import numpy as np

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
def permuted_products(A, B, orders, symmetric: bool, out) -> None:
    """Write ``out[p]``, the sum over i != j of A[i, j] * B[orders[p, i], orders[p, j]], for A with a zero diagonal."""
    # With `symmetric`, A and B are symmetric, and the triangle below the diagonal is read.
    out[:] = 0.0
    for i in range(A.shape[0]):
        row = A[i, : i if symmetric else A.shape[0]]
        for p in range(orders.shape[0]):
            order = orders[p]  # unsigned indices are faster than signed ones
            permuted = B[order[i]]
            total = 0.0
            for j in range(row.shape[0]):
                total += row[j] * permuted[order[j]]
            out[p] += 2.0 * total if symmetric else total


@kernel
def round_rows(A, unit: float, symmetric: bool, rounded, squares) -> float:
    """Write A (with `symmetric` below the diagonal) as integers in this unit, row i to ``rounded[i // k, i % k]``."""
    # `squares` receives the sums of squares of the rows. Returns the norm of the rounding errors.
    k, errors = rounded.shape[1], 0.0
    for i in range(A.shape[0]):
        row, whole = A[i, : i if symmetric else A.shape[0]], rounded[i // k, i % k]
        factor, own, error = row.dtype.type(1.0 / unit), row.dtype.type(0), row.dtype.type(0)
        for j in range(row.shape[0]):
            x = row[j] * factor
            nearest = np.rint(x)
            whole[j] = np.int16(nearest)
            own += row[j] * row[j]
            error += (x - nearest) * (x - nearest)
        squares[i] = own
        errors += error
    return unit * np.sqrt(errors)


@kernel
def coarse_products(A, first: int, B, orders, symmetric: bool, rows, some, out) -> None:
    """Add to ``out[p]`` sums of :func:`permuted_products`, for some rows of A, without the factor 2."""
    # A and B are int16. Row b of A holds rows 8 (first + b) to 8 (first + b) + 7 of the matrix in turn, zeros where
    # nothing is read.
    # The eight permuted rows of B are written to rows[0] in turn as well, so that one index fetches an entry of each:
    # rows[1] is the same array, read as items of eight entries, and so is some[1] for some[0], of which 32 bits can add
    # the products. The conversions to int32 make the compiler multiply and add pairs at once.
    n, (mixed, eights), (entries, fetched) = B.shape[0], rows, some
    for b in range(A.shape[0]):
        i = 8 * (first + b)
        end = min(i + 7, n) if symmetric else n
        for p in range(orders.shape[0]):
            order = orders[p]
            b0, b1 = B[order[i]], B[order[min(i + 1, n - 1)]]
            b2, b3 = B[order[min(i + 2, n - 1)]], B[order[min(i + 3, n - 1)]]
            b4, b5 = B[order[min(i + 4, n - 1)]], B[order[min(i + 5, n - 1)]]
            b6, b7 = B[order[min(i + 6, n - 1)]], B[order[min(i + 7, n - 1)]]
            for j in range(n):
                mixed[8 * j], mixed[8 * j + 1], mixed[8 * j + 2], mixed[8 * j + 3] = b0[j], b1[j], b2[j], b3[j]
                mixed[8 * j + 4], mixed[8 * j + 5], mixed[8 * j + 6], mixed[8 * j + 7] = b4[j], b5[j], b6[j], b7[j]
            for start in range(0, end, fetched.shape[0]):
                stop = min(start + fetched.shape[0], end)
                index = order[start:stop]
                for j in range(index.shape[0]):
                    fetched[j] = eights[index[j]]
                values, part = A[b, 8 * start : 8 * stop], np.int32(0)
                for j in range(values.shape[0]):
                    part = np.int32(part + np.int32(values[j]) * np.int32(entries[j]))
                out[p] += part
