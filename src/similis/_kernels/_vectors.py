"""Minkowski distances of real vectors ([pekalska2000] sec. 4.5), from differences: inner products cancel digits."""

import numpy as np

from similis._kernels._features import COLUMNS, ROWS, put_tile
from similis._kernels._jit import kernel


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
