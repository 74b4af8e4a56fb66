"""Weighted edit distance and dynamic time warping of sequences stored one after another, with one row of the table."""

import numpy as np

from similis._kernels._jit import kernel


@kernel
def edit_distances(
    x, x_class, x_start, z, z_class, z_start, insert, delete, substitute, start: int, stop: int, mirror: bool, out
) -> None:
    """Fill ``out[i, j]`` (j >= i with `mirror`) with the smallest cost of turning sequence i into j ([wagner1974])."""
    # Symbols are equal if their codes are; costs depend on the classes of the symbols.
    D = np.empty(z.shape[0] + 1)
    for i in range(start, stop):
        for j in range(i if mirror else 0, z_start.shape[0] - 1):
            b0, width = z_start[j], z_start[j + 1] - z_start[j]
            # D[a, b] = min(D[a-1, b] + delete, D[a, b-1] + insert, D[a-1, b-1] + substitute, or + 0 for equal symbols)
            D[0] = 0.0
            for b in range(width):
                D[b + 1] = D[b] + insert[z_class[b0 + b]]
            for a in range(x_start[i], x_start[i + 1]):
                diagonal, gone = D[0], delete[x_class[a]]
                D[0] = left = diagonal + gone
                for b in range(width):
                    above = D[b + 1]
                    change = diagonal
                    if x[a] != z[b0 + b]:
                        change += substitute[x_class[a], z_class[b0 + b]]
                    left = min(min(above + gone, left + insert[z_class[b0 + b]]), change)
                    D[b + 1] = left
                    diagonal = above
            out[i, j] = D[width]


@kernel
def warping_distances(x, x_start, z, z_start, window: int, start: int, stop: int, mirror: bool, out) -> None:
    """Fill ``out[i, j]`` with the root of the smallest sum of squares over warping paths in a band ([sakoe1978])."""
    # |a - b| is at most `window` (negative: no band) or the difference of the lengths, whichever is larger.
    D = np.empty(z.shape[0] + 1)
    for i in range(start, stop):
        m = x_start[i + 1] - x_start[i]
        for j in range(i if mirror else 0, z_start.shape[0] - 1):
            n = z_start[j + 1] - z_start[j]
            band = max(m, n) if window < 0 else max(window, abs(m - n))
            # D[a, b] = |x_a - z_b|^2 + min(D[a-1, b-1], D[a-1, b], D[a, b-1])
            D[: n + 1] = np.inf
            D[0] = 0.0
            for a in range(m):
                first, last = max(0, a - band), min(n, a + band + 1)
                diagonal = D[first]
                D[first] = np.inf  # no path comes from the left of the band
                for b in range(first, last):
                    above, square = D[b + 1], 0.0
                    for k in range(x.shape[1]):
                        square += (x[x_start[i] + a, k] - z[z_start[j] + b, k]) ** 2
                    D[b + 1] = square + min(diagonal, min(above, D[b]))
                    diagonal = above
            out[i, j] = np.sqrt(D[n])
