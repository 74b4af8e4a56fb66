"""Arrays on disk: those that are indexed chunk by chunk, such as zarr's, become memory maps before methods see them."""

from __future__ import annotations

import itertools
import os
import tempfile
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["is_stored", "mapped"]


def is_stored(X: Any) -> bool:
    """Whether this is a chunked array on disk, read where it is indexed."""
    return hasattr(X, "oindex") and hasattr(X, "chunks") and hasattr(X, "shape")


def mapped(X: Any, rows: slice | None = None) -> NDArray[Any]:
    """The same values, or those of some rows, as a memory map of a scratch file, copied chunk by chunk.

    The file is in the folder for temporary files (TMPDIR) and nameless: its room is free again when the array is gone.
    Memory holds one chunk, whatever the size of the array.
    """
    first, stop = (0, X.shape[0]) if rows is None else (rows.start, rows.stop)
    shape = (stop - first, *X.shape[1:])
    dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.dtype(np.float64)
    n_bytes = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
    if not n_bytes:
        return np.empty(shape, dtype)
    with tempfile.TemporaryFile() as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, n_bytes)  # a full disk is an error here, a crash in a mapped page
        out = np.memmap(file, dtype, mode="r+", shape=shape)
    steps = [[slice(a, a + step) for a in range(0, extent, step)] for extent, step in zip(shape, X.chunks)]
    for top, *others in itertools.product(*steps):
        source = slice(first + top.start, min(first + top.stop, stop))
        out[top, *others] = X[source, *others]
    return out
