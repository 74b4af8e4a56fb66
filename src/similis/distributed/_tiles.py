"""One tile: measure, find out which object the measure refuses, write. What a worker of a cluster is sent."""

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

__all__ = ["Plan", "Tile", "tile_size", "Refusal", "TileJob"]

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


@dataclass(frozen=True)
class Refusal:
    """Which pair of a tile the measure refuses, counted within the tile, and why."""

    row: int
    column: int
    alone: str  # "row", "column" or "pair": what it refuses even without the other
    reason: str


@dataclass(frozen=True)
class TileJob:
    """All that tiles have in common: the fitted measure, where they go and what is mirrored."""

    measure: Measure
    store: BlockFile
    symmetrize: bool
    missing: bool
    n_jobs: int | None = None

    @property
    def half(self) -> bool:
        """Whether a tile above the diagonal says everything about the one below."""
        return self.measure.symmetric or self.symmetrize

    def run(self, tile: Tile, left: Any, right: Any = None) -> Refusal | None:
        """Measure and write the tile; `right` is None where objects are measured against themselves."""
        try:
            block = self.values(left, right)
        except (MemoryError, OSError):
            raise
        except Exception:  # the user's own measure raises what it likes
            refusal = self._first_refused(left, left if right is None else right)
            if refusal is None:
                raise
            if not self.missing:
                return refusal
            block = self._with_gaps(left, left if right is None else right)
        self.store.write(tile.rows, tile.columns, block)
        if self.half and not tile.diagonal:
            self.store.write(tile.columns, tile.rows, block.T)
        return None

    def values(self, left: Any, right: Any = None) -> NDArray[Any]:
        """The block between two collections, in the type of the store; what is infinite is refused."""
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

    def _first_refused(self, left: Any, right: Any) -> Refusal | None:
        for i in range(count_objects(left)):
            x = left[i : i + 1]
            if self._refuses(x, right) is None:
                continue
            for j in range(count_objects(right)):
                z = right[j : j + 1]
                reason = self._refuses(x, z)
                if reason is not None:
                    alone = "row" if self._refuses(x, x) else "column" if self._refuses(z, z) else "pair"
                    return Refusal(i, j, alone, reason)
        return None

    def _with_gaps(self, left: Any, right: Any) -> NDArray[Any]:
        """The block with NaN for every pair that is refused."""
        block = np.full((count_objects(left), count_objects(right)), np.nan, dtype=self.store.dtype)
        for i in range(len(block)):
            x = left[i : i + 1]
            if self._refuses(x, right) is None:
                block[i] = self.values(x, right)[0]
                continue
            for j in range(block.shape[1]):
                if self._refuses(x, right[j : j + 1]) is None:
                    block[i, j] = self.values(x, right[j : j + 1])[0, 0]
        return block

    def _refuses(self, x: Any, z: Any) -> str | None:
        """Why the measure refuses these collections; None where it does not."""
        try:
            self.values(x, z)
        except (MemoryError, OSError):
            raise
        except Exception as error:
            return " ".join(str(error).split())[:90] or type(error).__name__
        return None
