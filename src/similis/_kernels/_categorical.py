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
def value_difference(
    A: Any, Bt: Any, table: Any, offsets: Any, widths: Any, start: int, stop: int, mirror: bool, out: Any
) -> None:
    """Sum looked-up differences: ``out[i, j] = sum_k T_k[A[i, k], Bt[k, j]]``.

    ``T_k`` is the widths[k] x widths[k] table that starts at ``table[offsets[k]]``.
    """
    d, n = Bt.shape
    tile = np.empty((ROWS, COLUMNS))
    for i0 in range(start, stop, ROWS):
        height = min(ROWS, stop - i0)
        for j0 in range(i0 if mirror else 0, n, COLUMNS):
            width = min(COLUMNS, n - j0)
            for i in range(height):
                row = tile[i]
                row[:] = 0.0
                for k in range(d):
                    first = offsets[k] + widths[k] * np.int64(A[i0 + i, k])
                    T = table[first : first + widths[k]]
                    b = Bt[k, j0 : j0 + width]
                    for j in range(width):
                        row[j] += T[b[j]]
            put_tile(tile, i0, height, j0, width, mirror, out)
