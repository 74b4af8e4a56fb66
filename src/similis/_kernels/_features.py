"""Similarities of categorical rows and of sets stored as bits, [cazzanti2007] sec. 2.1, and distances of vectors.

Each kernel fills ``out[start:stop]`` from the rows A, (m, d), of the left and the *columns* Bt, (d, n), of the right
objects, in tiles that fit into the cache. `mirror` (a symmetric measure of the objects with themselves) writes each
tile on and above the diagonal twice.
"""

import numpy as np

from similis._kernels._jit import kernel

ROWS = 64
COLUMNS = 512


@kernel
def put_tile(tile, i0: int, height: int, j0: int, width: int, mirror: bool, out) -> None:
    """Write ``tile[:height, :width]`` to `out` at (i0, j0) and, with `mirror`, its transpose at (j0, i0)."""
    for i in range(height):
        for j in range(width):
            out[i0 + i, j0 + j] = tile[i, j]
    if mirror:
        # In a tile on the diagonal the upper part is written last, over both halves: `out` is exactly symmetric.
        for j in range(width):
            for i in range(min(height, j0 + j - i0 + 1)):
                out[j0 + j, i0 + i] = tile[i, j]


BYTE = 255  # largest count that fits into a byte


@kernel
def count_equal(A, Bt, start: int, stop: int, mirror: bool, out) -> None:
    """Count the features with equal codes: ``out[i, j] = #{k: A[i, k] == Bt[k, j]}``, [cazzanti2007] sec. 2.1."""
    d, n = Bt.shape
    few = np.empty(COLUMNS, np.uint8)  # a register holds many bytes; added to wider counters every 255 features
    tile = np.empty((ROWS, COLUMNS), np.uint32)
    for i0 in range(start, stop, ROWS):
        height = min(ROWS, stop - i0)
        for j0 in range(i0 if mirror else 0, n, COLUMNS):
            width = min(COLUMNS, n - j0)
            for i in range(height):
                row = tile[i]
                row[:] = 0
                for first in range(0, d, BYTE):
                    few[:] = 0
                    for k in range(first, min(first + BYTE, d)):
                        a = A[i0 + i, k]
                        b = Bt[k, j0 : j0 + width]
                        for j in range(width):
                            few[j] += np.uint8(b[j] == a)
                    for j in range(width):
                        row[j] += few[j]
            put_tile(tile, i0, height, j0, width, mirror, out)


@kernel
def value_difference(A, Bt, table, offsets, widths, start: int, stop: int, mirror: bool, out) -> None:
    """Sum ``T_k[A[i, k], Bt[k, j]]`` over k, [cazzanti2007] Eq. (2.3); T_k has widths[k]^2 entries from its offset."""
    # Two tables per pass over the row.
    d, n = Bt.shape
    pairs = d - d % 2
    tile = np.empty((ROWS, COLUMNS))
    for i0 in range(start, stop, ROWS):
        height = min(ROWS, stop - i0)
        for j0 in range(i0 if mirror else 0, n, COLUMNS):
            width = min(COLUMNS, n - j0)
            for i in range(height):
                row = tile[i, :width]
                row[:] = 0.0
                x = A[i0 + i]
                for k in range(0, pairs, 2):
                    first = offsets[k] + widths[k] * np.int64(x[k])
                    second = offsets[k + 1] + widths[k + 1] * np.int64(x[k + 1])
                    T, U = table[first : first + widths[k]], table[second : second + widths[k + 1]]
                    b, c = Bt[k, j0 : j0 + width], Bt[k + 1, j0 : j0 + width]
                    for j in range(width):
                        row[j] += T[b[j]] + U[c[j]]
                if pairs < d:
                    first = offsets[pairs] + widths[pairs] * np.int64(x[pairs])
                    T, b = table[first : first + widths[pairs]], Bt[pairs, j0 : j0 + width]
                    for j in range(width):
                        row[j] += T[b[j]]
            put_tile(tile, i0, height, j0, width, mirror, out)


@kernel
def population(x: np.uint64) -> np.uint64:
    """Count the set bits of x in groups of 1, 2, 4 and 8 bits; LLVM compiles the pattern to one instruction."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel
def add_common(x, Bt, j0: int, row) -> None:
    """Add sum_k popcount(x[k] & Bt[k, j0 + j]) to each row[j], four words per pass over the row."""
    n_words, width = x.shape[0], row.shape[0]
    fours = n_words - n_words % 4
    for k in range(0, fours, 4):
        x0, x1, x2, x3 = x[k], x[k + 1], x[k + 2], x[k + 3]
        b0, b1 = Bt[k, j0 : j0 + width], Bt[k + 1, j0 : j0 + width]
        b2, b3 = Bt[k + 2, j0 : j0 + width], Bt[k + 3, j0 : j0 + width]
        for j in range(width):
            low = population(x0 & b0[j]) + population(x1 & b1[j])
            row[j] += low + (population(x2 & b2[j]) + population(x3 & b3[j]))
    for k in range(fours, n_words):
        b = Bt[k, j0 : j0 + width]
        for j in range(width):
            row[j] += population(x[k] & b[j])


@kernel
def common_bits(A, Bt, start: int, stop: int, mirror: bool, out) -> None:
    """Count the common bits of packed rows: ``out[i, j] = sum_k popcount(A[i, k] & Bt[k, j])``."""
    n = Bt.shape[1]
    tile = np.empty((ROWS, COLUMNS), np.uint64)
    for i0 in range(start, stop, ROWS):
        height = min(ROWS, stop - i0)
        for j0 in range(i0 if mirror else 0, n, COLUMNS):
            width = min(COLUMNS, n - j0)
            for i in range(height):
                row = tile[i, :width]
                row[:] = 0
                add_common(A[i0 + i], Bt, j0, row)
            put_tile(tile, i0, height, j0, width, mirror, out)


@kernel
def contrast_model(fx, fz, alpha: float, beta: float, start: int, stop: int, out) -> None:
    """Turn common saliences c in `out` into c - alpha (f(x) - c) - beta (f(z) - c), [cazzanti2007] Eq. (2.1)."""
    for i in range(start, stop):
        for j in range(out.shape[1]):
            c = out[i, j]
            out[i, j] = c - alpha * (fx[i] - c) - beta * (fz[j] - c)


@kernel
def ratio_model(fx, fz, alpha: float, beta: float, start: int, stop: int, out) -> None:
    """Turn common saliences c in `out` into c / (c + alpha (f(x) - c) + beta (f(z) - c)), [cazzanti2007] Eq. (2.2)."""
    for i in range(start, stop):
        for j in range(out.shape[1]):
            c = out[i, j]
            out[i, j] = _share(c, c + alpha * (fx[i] - c) + beta * (fz[j] - c), fx[i] + fz[j])


@kernel
def overlap_model(fx, fz, start: int, stop: int, out) -> None:
    """Turn common saliences c in `out` into c / min(f(x), f(z))."""
    for i in range(start, stop):
        for j in range(out.shape[1]):
            out[i, j] = _share(out[i, j], min(fx[i], fz[j]), fx[i] + fz[j])


@kernel
def _share(common: float, whole: float, total: float) -> float:
    """Divide common by whole; 0/0 is 1 if neither object has a salient feature (`total` is zero), else 0."""
    if whole > 0:
        return common / whole
    return 1.0 if total == 0 else 0.0


@kernel
def entropy_of(chosen, counts, products, plain: bool) -> float:
    """Compute log N - sum c log c / N, N = sum c, over the objects whose bits are set; with `plain` every c is 1."""
    total, spread = 0.0, 0.0
    for w in range(chosen.shape[0]):
        word = chosen[w]
        if plain:
            total += population(word)
            continue
        while word != np.uint64(0):
            rest = word & (word - np.uint64(1))  # clear the lowest set bit
            k = 64 * w + population((word ^ rest) - np.uint64(1))  # the index of that bit
            total += counts[k]
            spread += products[k]
            word = rest
    if total == 0:
        return 0.0
    return max(np.log(total) - spread / total, 0.0)


@kernel
def residual_entropies(
    x, x_start, z, z_start, having, all_objects, counts, products, plain: bool, start: int, stop: int, mirror: bool, out
) -> None:
    """Fill `out` with [cazzanti2007] Eq. (2.5), (H(R | x without z) + H(R | z without x)) / 2 - H(R | x and z)."""
    # R is distributed as the training objects that have all features of a group. ``having[f]`` are those with feature
    # f, as bits; an object is a sorted run of features.
    n_words = having.shape[1]
    common, left, right = np.empty((3, n_words), np.uint64)
    for i in range(start, stop):
        for j in range(i if mirror else 0, z_start.shape[0] - 1):
            common[:], left[:], right[:] = all_objects, all_objects, all_objects
            # Merge the two sorted runs: a feature is common, or belongs to x alone, or to z alone.
            a, b = x_start[i], z_start[j]
            while a < x_start[i + 1] or b < z_start[j + 1]:
                if b == z_start[j + 1] or (a < x_start[i + 1] and x[a] < z[b]):
                    for w in range(n_words):
                        left[w] &= having[x[a], w]
                    a += 1
                elif a == x_start[i + 1] or z[b] < x[a]:
                    for w in range(n_words):
                        right[w] &= having[z[b], w]
                    b += 1
                else:
                    for w in range(n_words):
                        common[w] &= having[x[a], w]
                    a += 1
                    b += 1
            alone = entropy_of(left, counts, products, plain) + entropy_of(right, counts, products, plain)
            out[i, j] = alone / 2 - entropy_of(common, counts, products, plain)


@kernel
def add_squares(x, Bt, j0: int, row) -> None:
    """Add sum_k (Bt[k, j0 + j] - x[k])^2 to each row[j], four features per pass over the row."""
    d, width = x.shape[0], row.shape[0]
    fours = d - d % 4
    for k in range(0, fours, 4):
        x0, x1, x2, x3 = x[k], x[k + 1], x[k + 2], x[k + 3]
        b0, b1 = Bt[k, j0 : j0 + width], Bt[k + 1, j0 : j0 + width]
        b2, b3 = Bt[k + 2, j0 : j0 + width], Bt[k + 3, j0 : j0 + width]
        for j in range(width):
            t0, t1, t2, t3 = b0[j] - x0, b1[j] - x1, b2[j] - x2, b3[j] - x3
            row[j] += (t0 * t0 + t1 * t1) + (t2 * t2 + t3 * t3)
    for k in range(fours, d):
        b = Bt[k, j0 : j0 + width]
        for j in range(width):
            t = b[j] - x[k]
            row[j] += t * t


@kernel
def add_powers(x, Bt, p: float, j0: int, row) -> None:
    """Add sum_k |Bt[k, j0 + j] - x[k]|^p to each row[j]; p = inf keeps the largest difference."""
    for k in range(x.shape[0]):
        a, b = x[k], Bt[k, j0 : j0 + row.shape[0]]
        if p == 1.0:
            for j in range(row.shape[0]):
                row[j] += abs(b[j] - a)
        elif p == 0.5:
            for j in range(row.shape[0]):
                row[j] += np.sqrt(abs(b[j] - a))
        elif p == np.inf:
            for j in range(row.shape[0]):
                row[j] = max(row[j], abs(b[j] - a))
        else:
            for j in range(row.shape[0]):
                row[j] += abs(b[j] - a) ** p


@kernel
def take_root(p: float, row) -> None:
    """Replace each entry by its p-th root; p = 1 and p = inf leave it unchanged."""
    if p == 2.0:
        for j in range(row.shape[0]):
            row[j] = np.sqrt(row[j])
    elif p == 0.5:
        for j in range(row.shape[0]):
            row[j] = row[j] * row[j]
    elif p != 1.0 and p != np.inf:
        for j in range(row.shape[0]):
            row[j] = row[j] ** (1.0 / p)


@kernel
def minkowski(A, Bt, p: float, root: bool, start: int, stop: int, mirror: bool, out) -> None:
    """Fill ``out[i, j] = (sum_k |A[i, k] - Bt[k, j]|^p)^(1/p)``; without `root` the sum itself."""
    # Inner products would cancel digits ([pekalska2000] sec. 4.5).
    n = Bt.shape[1]
    tile = np.empty((ROWS, COLUMNS), out.dtype)
    for i0 in range(start, stop, ROWS):
        height = min(ROWS, stop - i0)
        for j0 in range(i0 if mirror else 0, n, COLUMNS):
            width = min(COLUMNS, n - j0)
            for i in range(height):
                row = tile[i, :width]
                row[:] = 0.0
                if p == 2.0:
                    add_squares(A[i0 + i], Bt, j0, row)
                else:
                    add_powers(A[i0 + i], Bt, p, j0, row)
                if root:
                    take_root(p, row)
            put_tile(tile, i0, height, j0, width, mirror, out)
