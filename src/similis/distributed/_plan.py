"""The block graph: which tiles of a matrix there are, and how large a tile shall be."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Plan", "Tile", "tile_size"]

SMALLEST, LARGEST = 64, 4096
SECONDS = 1.0  # of work in a tile: a hundred times a scheduler's overhead for a task, a second to lose at a kill


@dataclass(frozen=True)
class Tile:
    """Rows and columns of one block, and its number in the plan."""

    number: int
    rows: slice
    columns: slice

    @property
    def diagonal(self) -> bool:
        """Whether its objects are measured against themselves."""
        return self.rows == self.columns


@dataclass(frozen=True)
class Plan:
    """A square matrix in square tiles, row by row; with `half` only those on and above the diagonal."""

    n: int
    size: int
    half: bool

    @property
    def parts(self) -> list[slice]:
        """The objects of each row, or column, of tiles."""
        return [slice(a, min(a + self.size, self.n)) for a in range(0, self.n, self.size)]

    @property
    def tiles(self) -> list[Tile]:
        """All tiles in the order in which they are measured."""
        parts = self.parts
        pairs = ((a, b) for i, a in enumerate(parts) for b in (parts[i:] if self.half else parts))
        return [Tile(number, a, b) for number, (a, b) in enumerate(pairs)]

    def parts_of(self, tile: Tile) -> tuple[int, int]:
        """The numbers of the parts that meet in a tile."""
        return tile.rows.start // self.size, tile.columns.start // self.size


def tile_size(measure_some: Callable[[int], object], n: int, seconds: float = SECONDS) -> int:
    """A size for which a tile takes about `seconds`; `measure_some(k)` measures the first k objects."""
    per_pair = 0.0
    measure_some(min(n, 2))  # whatever compiles or loads
    for k in (4, 32, 256):
        start = time.perf_counter()
        measure_some(min(n, k))
        elapsed = time.perf_counter() - start
        per_pair = elapsed / min(n, k) ** 2
        if elapsed > 0.1 * seconds:
            break
    size = math.isqrt(int(seconds / max(per_pair, 1e-12)))
    size = max(SMALLEST, min(LARGEST, size))
    return min(n, size - size % SMALLEST)
