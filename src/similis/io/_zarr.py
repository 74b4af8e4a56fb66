"""Proximities as a zarr store: one chunked array, its card (ids, kind, labels) among the attributes.

Chunks are written uncompressed: similarities are float noise to a compressor, and whole rows are what every method
reads. Filters of the older format 2 may run code when they decode, so stores with filters are not read; packed chunks
are, once each is known to unpack to a chunk and no more (``_zarr_chunks.py``).
"""

from __future__ import annotations

import math
import os
import shutil
from pathlib import Path
from typing import Any

from similis._utils.extras import need
from similis._utils.files import damaged, draft_folder, short_path
from similis.exceptions import ProximityError
from similis.io._numpy import card, from_card
from similis.io._proximity import Proximity, refuse_infinite
from similis.io._raw import Raw
from similis.io._zarr_chunks import PACKERS, check_chunks

__all__ = ["create_zarr", "open_zarr", "read_zarr", "remove_older", "replace_folder", "write_zarr"]

CARD = "similis"
CHUNK = 2048


def read_zarr(path: Path, *, mmap: bool, max_bytes: int) -> Raw:
    """Read a store; with `mmap` the array stays on disk and rows are read when they are asked for."""
    where = short_path(path)
    array = open_zarr(path)
    with damaged(where, "zarr store"):
        found = array.attrs.get(CARD)
        piece = math.prod(array.chunks) * array.dtype.itemsize
        if piece > max(max_bytes, array.nbytes):
            raise ProximityError(f"{where} has chunks of {piece} bytes, more than max_bytes={max_bytes}; raise it.")
        if not mmap and array.nbytes > max_bytes and array.nbytes_stored() < array.nbytes:
            raise ProximityError(
                f"{where} unpacks to {array.nbytes} bytes, more than max_bytes={max_bytes}; raise it, or use mmap=True."
            )
        check_chunks(array, path)
        raw = Raw(array if mmap else array[...])
    if found is not None:
        from_card(found, raw, where)
    return raw


def write_zarr(path: Path, P: Proximity, chunk: int = CHUNK) -> None:
    """Write to a temporary folder and rename it: a reader finds the old store or the new one."""
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(2, "No such file or directory", os.fspath(path))
    with draft_folder(path) as temporary:
        array = create_zarr(temporary, P.shape, P.values.dtype, chunk)
        for first in range(0, P.shape[0], chunk):
            rows = P.values[first : first + chunk]
            refuse_infinite(rows, f"values from row {first} on")
            array[first : first + chunk] = rows
        array.attrs[CARD] = card(P)
        replace_folder(temporary, path)


def create_zarr(path: Path, shape: tuple[int, ...], dtype: Any, chunk: int) -> Any:
    """An empty array of square chunks, NaN where nothing was written."""
    zarr = need("zarr", extra="zarr", who="A zarr store")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(2, "No such file or directory", os.fspath(path))
    chunks = (min(chunk, shape[0]), min(chunk, shape[1]), *shape[2:])
    return zarr.create_array(
        os.fspath(path), shape=shape, dtype=dtype, chunks=chunks, compressors=None, fill_value=float("nan")
    )


def open_zarr(path: Path, mode: str = "r") -> Any:
    """The array of a store, once it is known to hold plain numbers."""
    where = short_path(path)
    zarr = need("zarr", extra="zarr", who="A zarr store")
    if not path.exists():
        raise FileNotFoundError(2, "No such file or directory", os.fspath(path))
    with damaged(where, "zarr store"):
        try:
            array = zarr.open(os.fspath(path), mode=mode)
        except (FileNotFoundError, NotADirectoryError):  # the path is there: the metadata are not
            raise ProximityError(f"{where} is not a readable zarr store: it has no metadata.") from None
        if not hasattr(array, "shape"):
            raise ProximityError(f"{where} must hold one array. Got a group; name the array inside it.")
        if array.metadata.zarr_format == 2 and array.metadata.filters:
            raise ProximityError(f"{where} has filters, which may run code; write it again without, or in format 3.")
        packer = getattr(array.metadata, "compressor", None)
        if packer is not None and packer.codec_id not in PACKERS:  # others may run code
            raise ProximityError(f"{where} is packed by {packer.codec_id[:40]!r}, which is not read; write it again.")
        if array.dtype.kind not in "fiub":
            raise ProximityError(f"{where} must hold real numbers. Got dtype {str(array.dtype)[:40]}.")
    return array


def remove_older(path: Path) -> None:
    """Remove what :func:`replace_folder` put aside, once there is a folder of that name again."""
    if path.exists():
        shutil.rmtree(_aside(path), ignore_errors=True)


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name[:100]}.old")


def replace_folder(temporary: Path, path: Path) -> None:
    """Give a complete folder its name; an older one of that name goes only when the new one is ready."""
    old = _aside(path)
    if path.exists():
        remove_older(path)
        os.replace(path, old)
    try:
        os.replace(temporary, path)
    except BaseException:
        if old.exists():
            os.replace(old, path)
        raise
    remove_older(path)
