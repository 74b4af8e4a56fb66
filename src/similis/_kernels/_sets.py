"""Sets as packed bits: common features by population count, then any ratio of common and own features."""

from __future__ import annotations

from typing import Any

import numpy as np

from similis._kernels._jit import kernel
from similis._kernels._tiles import COLUMNS, ROWS, put_tile

__all__ = ["common_bits", "contrast_model", "overlap_model", "ratio_model"]


@kernel
def population(x: np.uint64) -> np.uint64:
    """Number of bits set; compilers know this sum by halves and make one instruction of it."""
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (x * np.uint64(0x0101010101010101)) >> np.uint64(56)


@kernel
def add_common(x: Any, Bt: Any, j0: int, row: Any) -> None:
    """Add sum_k popcount(x[k] & Bt[k, j0 + j]) to each row[j], four words to a pass over the row."""
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
def common_bits(A: Any, Bt: Any, start: int, stop: int, mirror: bool, out: Any) -> None:
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
def ratio_model(fx: Any, fz: Any, alpha: float, beta: float, start: int, stop: int, out: Any) -> None:
    """Turn common saliences c in `out` into c / (c + alpha (f(x) - c) + beta (f(z) - c)), in place.

    Where that is 0/0: 1 if neither object has a salient feature, else 0.
    """
    for i in range(start, stop):
        for j in range(out.shape[1]):
            c = out[i, j]
            whole = c + alpha * (fx[i] - c) + beta * (fz[j] - c)
            if whole > 0:
                out[i, j] = c / whole
            else:
                out[i, j] = 1.0 if fx[i] + fz[j] == 0 else 0.0


@kernel
def contrast_model(fx: Any, fz: Any, alpha: float, beta: float, start: int, stop: int, out: Any) -> None:
    """Turn common saliences c in `out` into c - alpha (f(x) - c) - beta (f(z) - c), in place."""
    for i in range(start, stop):
        for j in range(out.shape[1]):
            c = out[i, j]
            out[i, j] = c - alpha * (fx[i] - c) - beta * (fz[j] - c)


@kernel
def overlap_model(fx: Any, fz: Any, start: int, stop: int, out: Any) -> None:
    """Turn common saliences c in `out` into c / min(f(x), f(z)), in place; 0/0 as in the ratio model."""
    for i in range(start, stop):
        for j in range(out.shape[1]):
            smaller = min(fx[i], fz[j])
            if smaller > 0:
                out[i, j] = out[i, j] / smaller
            else:
                out[i, j] = 1.0 if fx[i] + fz[j] == 0 else 0.0
