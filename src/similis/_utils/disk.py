"""Arrays on disk: convert chunked (zarr) arrays to plain ones, and keep large blocks in scratch files."""

from __future__ import annotations

import itertools
import mmap
import os
import tempfile
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from similis._utils.arrays import Array, Indices
from similis._utils.files import name_file
from similis._utils.threads import row_blocks

_IN_MEMORY = 2**26  # bytes up to which an array stays in memory
_PART = 2**20  # the same for blocks of a matrix on disk, of which there may be many


def is_stored(X: Any) -> bool:
    """Tell whether X is a chunked array on disk, which is read when it is indexed."""
    return hasattr(X, "oindex") and hasattr(X, "chunks") and hasattr(X, "shape")


def on_disk(A: Any) -> bool:
    """Tell whether an array, or the array it is a view of, is a memory map."""
    while isinstance(A, np.ndarray):
        A = A.base
    return isinstance(A, mmap.mmap)


def allocate(shape: tuple[int, ...], dtype: DTypeLike, *, part: bool = False) -> Array:
    """Allocate an array: in memory if it is small (very small, for a `part` among many), else in an unnamed file."""
    n_bytes = np.dtype(dtype).itemsize * int(np.prod(shape, dtype=np.int64))
    if n_bytes <= (min(_PART, _IN_MEMORY) if part else _IN_MEMORY):
        return np.empty(shape, dtype)
    with tempfile.TemporaryFile() as file:
        if hasattr(os, "posix_fallocate"):
            try:  # a full disk raises here; in a mapped page it would crash
                os.posix_fallocate(file.fileno(), 0, n_bytes)
            except OSError as error:
                name_file(error, tempfile.gettempdir())
                raise
        return np.memmap(file, dtype, mode="r+", shape=shape)


def load_stored(X: Any, rows: slice | None = None, out: Array | None = None) -> Array:
    """Read a chunked array, or some of its rows: into memory if they are few, else into `out` or a scratch file."""
    first, stop = (0, X.shape[0]) if rows is None else (rows.start, rows.stop)
    shape = (stop - first, *X.shape[1:])
    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    if dtype.itemsize * int(np.prod(shape, dtype=np.int64)) <= _IN_MEMORY:
        return np.asarray(X[first:stop], dtype=dtype)
    out = allocate(shape, dtype) if out is None else out
    steps = [[slice(a, a + step) for a in range(0, extent, step)] for extent, step in zip(shape, X.chunks)]
    for top, *others in itertools.product(*steps):
        source = slice(first + top.start, min(first + top.stop, stop))
        out[top.start : top.start + source.stop - source.start, *others] = X[source, *others]
    return out


def as_contiguous_map(A: Array) -> Array:
    """Return a memory map with contiguous rows of float32 or float64: itself, or a copy, on disk if it is large."""
    if A.flags.c_contiguous and A.dtype in (np.float32, np.float64):
        return A
    out = allocate(A.shape, A.dtype if A.dtype == np.float32 else np.float64)
    for rows in row_blocks(len(A), int(np.prod(A.shape[1:]))):
        out[rows] = A[rows]
    return out


def take_block(A: Array, rows: Indices, columns: Indices) -> Array:
    """Copy the block of some rows and columns; on disk if it is large and A is on disk."""
    if not on_disk(A):
        return A[np.ix_(rows, columns)]
    out = allocate((len(rows), len(columns), *A.shape[2:]), A.dtype, part=True)
    for some in row_blocks(len(rows), len(columns)):
        out[some] = A[np.ix_(rows[some], columns)]
    return out
