"""The tile that the pairwise kernels share: a strip of rows against a strip of columns, small enough for the cache.

Each pairwise kernel fills ``out[start:stop]`` from the left objects' rows A, (m, d), and the right objects'
*columns* Bt, (d, n): the inner loop then runs over neighbouring objects and vectorises. With `mirror` (the objects
against themselves, a symmetric measure) it computes the tiles on and above the diagonal and writes each one twice,
so rows ``start:stop`` of the upper half and the same columns of the lower half are filled.
"""

from __future__ import annotations

from typing import Any

from similis._kernels._jit import kernel

__all__ = ["COLUMNS", "ROWS", "put_tile"]

ROWS = 64
COLUMNS = 512


@kernel
def put_tile(tile: Any, i0: int, height: int, j0: int, width: int, mirror: bool, out: Any) -> None:
    """Write ``tile[:height, :width]`` to `out` at (i0, j0) and, with `mirror`, its transpose at (j0, i0)."""
    for i in range(height):
        for j in range(width):
            out[i0 + i, j0 + j] = tile[i, j]
    if mirror:
        # Of a tile across the diagonal the part above it is written last, over both halves: exactly symmetric.
        for j in range(width):
            for i in range(min(height, j0 + j - i0 + 1)):
                out[j0 + j, i0 + i] = tile[i, j]
