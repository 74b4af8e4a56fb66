"""Blocks of a matrix: the plan, and the task that measures and writes one block."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis.base import count_objects
from similis.io import BlockFile
from similis.measures import Measure

SMALLEST, LARGEST = 64, 4096
SECONDS = 1.0  # of work per block: a hundred times a scheduler's overhead per task; a kill loses that much


@dataclass(frozen=True)
class Tile:
    """One block: its rows, its columns and its number in the plan."""

    number: int
    rows: slice
    columns: slice

    @property
    def diagonal(self) -> bool:
        """True if rows and columns are the same objects."""
        return self.rows == self.columns


@dataclass(frozen=True)
class Plan:
    """Division of a square matrix into square blocks, row by row; with `half` only those on and above the diagonal."""

    n: int
    size: int
    half: bool

    @property
    def parts(self) -> list[slice]:
        """Objects of each row (or column) of blocks."""
        return [slice(a, min(a + self.size, self.n)) for a in range(0, self.n, self.size)]

    @property
    def tiles(self) -> list[Tile]:
        """All blocks in the order in which they are measured."""
        parts = self.parts
        pairs = ((a, b) for i, a in enumerate(parts) for b in (parts[i:] if self.half else parts))
        return [Tile(number, a, b) for number, (a, b) in enumerate(pairs)]

    def parts_of(self, tile: Tile) -> tuple[int, int]:
        """Numbers of the two parts whose pairs a block holds."""
        return tile.rows.start // self.size, tile.columns.start // self.size


def tile_size(measure_some: Callable[[int], object], n: int, seconds: float = SECONDS) -> int:
    """Find a block size that takes about `seconds`; `measure_some(k)` measures the first k objects."""
    per_pair = 0.0
    measure_some(min(n, 2))  # compiles and loads
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


@dataclass(frozen=True)
class Rejection:
    """Pair that the measure rejects, by its position in the block, with the reason."""

    row: int
    column: int
    alone: str  # "row" or "column" if that object is rejected by itself, else "pair"
    reason: str


@dataclass(frozen=True)
class TileJob:
    """Task that all blocks share: the fitted measure, the file, and whether blocks are mirrored."""

    measure: Measure
    store: BlockFile
    symmetrize: bool
    missing: bool
    n_jobs: int | None = None

    @property
    def half(self) -> bool:
        """True if blocks below the diagonal are mirror images of those above."""
        return self.measure.symmetric or self.symmetrize

    def run(self, tile: Tile, left: Any, right: Any = None) -> Rejection | None:
        """Measure and write a block; `right` is None if objects are measured against themselves."""
        try:
            block = self.values(left, right)
        except (MemoryError, OSError):
            raise
        except Exception:  # a measure of the user may raise anything
            block, rejection = self._measure_singly(left, left if right is None else right)
            if rejection is None:
                raise
            if not self.missing:
                return rejection
        self.store.write(tile.rows, tile.columns, block)
        if self.half and not tile.diagonal:
            self.store.write(tile.columns, tile.rows, block.T)
        return None

    def values(self, left: Any, right: Any = None) -> NDArray[Any]:
        """Measure the block between two collections, in the type of the file; raise if a value is infinite."""
        measure = self.measure
        A = measure.encode(left)
        B = A if right is None else measure.encode(right)
        S = measure.block(A, B, self.n_jobs)
        if self.symmetrize and not measure.symmetric:
            S = (S + (S if right is None else measure.block(B, A, self.n_jobs)).T) / 2
        with np.errstate(over="ignore", invalid="ignore"):
            S = np.asarray(S, dtype=self.store.dtype)
            if np.isfinite(S.sum(dtype=np.float64)) or not np.isinf(S).any():
                return S
        raise ValueError("its value is infinite")

    def _measure_singly(self, left: Any, right: Any) -> tuple[NDArray[Any], Rejection | None]:
        """Measure a block row by row, and a rejected row pair by pair: NaN for rejected pairs, and the first of them.

        Unless NaN is written, the first rejected pair ends it.
        """
        block = np.full((count_objects(left), count_objects(right)), np.nan, dtype=self.store.dtype)
        first = None
        for i in range(len(block)):
            x = left[i : i + 1]
            block[i], reason = self._try(x, right)
            for j in range(block.shape[1]) if reason else ():
                z = right[j : j + 1]
                block[i, j : j + 1], reason = self._try(x, z)
                if reason and first is None:
                    alone = "row" if self._try(x, x)[1] else "column" if self._try(z, z)[1] else "pair"
                    first = Rejection(i, j, alone, reason)
                    if not self.missing:
                        return block, first
        return block, first

    def _try(self, x: Any, z: Any) -> tuple[Any, str]:
        """Values of a block; or NaN, and the reason why the measure rejects it."""
        try:
            return self.values(x, z), ""
        except (MemoryError, OSError):
            raise
        except Exception as error:
            return np.nan, " ".join(str(error).split())[:90] or type(error).__name__
