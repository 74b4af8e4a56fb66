"""Categorical rows against categorical rows: equal features counted, value differences summed."""

from __future__ import annotations

from typing import Any

import numpy as np

from similis._kernels._jit import kernel
from similis._kernels._tiles import COLUMNS, ROWS, put_tile

__all__ = ["count_equal", "value_difference"]

BYTE = 255


@kernel
def count_equal(A: Any, Bt: Any, start: int, stop: int, mirror: bool, out: Any) -> None:
    """Count the features with equal codes: ``out[i, j] = #{k: A[i, k] == Bt[k, j]}``.

    Bytes count, as many at a time as a register holds; every 255 features they are emptied into wider counters.
    """
    d, n = Bt.shape
    few = np.empty(COLUMNS, np.uint8)
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
def add_differences(x: Any, Bt: Any, table: Any, offsets: Any, widths: Any, j0: int, row: Any) -> None:
    """Add sum_k T_k[x[k], Bt[k, j0 + j]] to each row[j], two tables to a pass over the row."""
    d, width = x.shape[0], row.shape[0]
    pairs = d - d % 2
    for k in range(0, pairs, 2):
        first, second = offsets[k] + widths[k] * np.int64(x[k]), offsets[k + 1] + widths[k + 1] * np.int64(x[k + 1])
        T, U = table[first : first + widths[k]], table[second : second + widths[k + 1]]
        b, c = Bt[k, j0 : j0 + width], Bt[k + 1, j0 : j0 + width]
        for j in range(width):
            row[j] += T[b[j]] + U[c[j]]
    for k in range(pairs, d):
        first = offsets[k] + widths[k] * np.int64(x[k])
        T, b = table[first : first + widths[k]], Bt[k, j0 : j0 + width]
        for j in range(width):
            row[j] += T[b[j]]


@kernel
def value_difference(
    A: Any, Bt: Any, table: Any, offsets: Any, widths: Any, start: int, stop: int, mirror: bool, out: Any
) -> None:
    """Sum looked-up differences: ``out[i, j] = sum_k T_k[A[i, k], Bt[k, j]]``.

    ``T_k`` is the widths[k] x widths[k] table that starts at ``table[offsets[k]]``.
    """
    n = Bt.shape[1]
    tile = np.empty((ROWS, COLUMNS))
    for i0 in range(start, stop, ROWS):
        height = min(ROWS, stop - i0)
        for j0 in range(i0 if mirror else 0, n, COLUMNS):
            width = min(COLUMNS, n - j0)
            for i in range(height):
                row = tile[i, :width]
                row[:] = 0.0
                add_differences(A[i0 + i], Bt, table, offsets, widths, j0, row)
            put_tile(tile, i0, height, j0, width, mirror, out)
