"""Zarr stores: one chunked array, with its card (ids, kind, labels) among the attributes.

Chunks are written uncompressed, since the digits of similarities hardly compress. Filters of the older format 2 may run
code when they decode, so stores with filters are rejected; compressed chunks are read after checking that each unpacks
to the size of a chunk.
"""

from __future__ import annotations

import bz2
import lzma
import math
import os
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from similis._utils.environment import require_package
from similis._utils.files import copy_owner, draft_folder, parse_errors, short_path
from similis.exceptions import ProximityError
from similis.io._checks import ReadOptions, reject_infinite
from similis.io._numpy import card, parts_of_card
from similis.io._proximity import Proximity, proximity_in_file

_SAME_SIZE = {"BytesCodec", "TransposeCodec", "Crc32cCodec"}  # codecs of format 3 that do not compress
_STEP = 2**20
_DICTIONARY = 2**28  # bytes of memory for unpacking an lzma stream
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


def _check_chunks(array: Any, folder: Path) -> None:
    """Reject a store with a chunk that does not unpack to the size of a chunk."""
    compressor = _compressor(array.metadata)
    if compressor is None:
        return
    size = math.prod(array.chunks) * array.dtype.itemsize
    for file in sorted(folder.rglob("*")):
        is_chunk = file.is_file() and not file.name.startswith(".") and file.name != "zarr.json"
        if is_chunk and _SIZES[compressor](file, size) != size:
            name = file.relative_to(folder).as_posix()
            raise ProximityError(
                f"{short_path(folder)} holds a chunk, {name[:60]!r}, that does not unpack to {size} bytes as it should."
            )


def _compressor(metadata: Any) -> str | None:
    """Name of the codec that compresses chunks; None if there is none."""
    if metadata.zarr_format == 2:
        return None if metadata.compressor is None else str(metadata.compressor.codec_id)
    compressors = [codec for codec in metadata.codecs if not _keeps_size(codec)]
    return " and ".join(type(codec).__name__.removesuffix("Codec").lower() for codec in compressors) or None


def _keeps_size(codec: Any) -> bool:
    """Tell whether a codec keeps the size of a chunk; a sharding codec does if its inner codecs do."""
    inside = getattr(codec, "codecs", None)
    return type(codec).__name__ in _SAME_SIZE or (inside is not None and all(map(_keeps_size, inside)))


def _field(start: int) -> Callable[[Path, int], int]:
    """Return a function that reads the size which a chunk declares in four bytes of its header."""

    def read(file: Path, size: int) -> int:
        with open(file, "rb") as opened:
            return int.from_bytes(opened.read(start + 4)[start:], "little")

    return read


def _zstd(file: Path, size: int) -> int:
    """Content size in the header of the frame; -1 if it has none."""
    with open(file, "rb") as opened:
        head = opened.read(18)
    if len(head) < 6 or head[:4] != _ZSTD_MAGIC:
        return -1
    flag, single, dictionary = head[4] >> 6, head[4] >> 5 & 1, (0, 1, 2, 4)[head[4] & 3]
    width = (single, 2, 4, 8)[flag]
    start = 5 + (1 - single) + dictionary
    found = int.from_bytes(head[start : start + width], "little") + (256 if width == 2 else 0)
    return found if width else -1


def _counted(make: Callable[[], Any]) -> Callable[[Path, int], int]:
    """Return a function that unpacks in steps and counts the bytes, until there are more than expected."""

    def count(file: Path, size: int) -> int:
        total, rest, unpacker = 0, b"", make()
        with open(file, "rb") as opened:
            while total <= size and not unpacker.eof:
                packed = rest or (opened.read(_STEP) if getattr(unpacker, "needs_input", True) else b"")
                try:
                    piece = unpacker.decompress(packed, _STEP)
                except (OSError, EOFError, zlib.error, lzma.LZMAError):
                    return -1
                rest = getattr(unpacker, "unconsumed_tail", b"")
                total += len(piece)
                if not packed and not piece:
                    return -1  # truncated
            more = bool(unpacker.eof and (unpacker.unused_data or opened.read(1)))
        return -1 if more else total

    return count


_SIZES: dict[str, Callable[[Path, int], int]] = {
    "blosc": _field(4),
    "lz4": _field(0),
    "zstd": _zstd,
    "gzip": _counted(lambda: zlib.decompressobj(wbits=31)),
    "zlib": _counted(zlib.decompressobj),
    "bz2": _counted(bz2.BZ2Decompressor),
    "lzma": _counted(lambda: lzma.LZMADecompressor(memlimit=_DICTIONARY)),
}
CARD = "similis"
CHUNK = 2048


def read_zarr(path: Path, options: ReadOptions) -> Proximity:
    """Read a store; with `mmap` the array stays on disk and rows are read when they are indexed."""
    where, mmap, max_bytes = short_path(path), options.mmap, options.max_bytes
    path = path if options.key is None else path / options.key
    array = open_zarr(path)
    with parse_errors(where, "zarr store"):
        found = array.attrs.get(CARD)
        piece = math.prod(array.chunks) * array.dtype.itemsize
        if piece > max(max_bytes, array.nbytes):
            raise ProximityError(f"{where} has chunks of {piece} bytes, more than max_bytes={max_bytes}; raise it.")
        if not mmap and array.nbytes > max_bytes and array.nbytes_stored() < array.nbytes:
            raise ProximityError(
                f"{where} unpacks to {array.nbytes} bytes, more than max_bytes={max_bytes}; raise it, or use mmap=True."
            )
        _check_chunks(array, path)
        values = array if mmap else array[...]
    about = {} if found is None else parts_of_card(found, values.shape, where)
    return proximity_in_file(where, values, **about)


def write_zarr(path: Path, P: Proximity) -> None:
    """Write to a temporary folder and rename it, so that a reader finds the old store or the new one."""
    check_replaceable(path)
    with draft_folder(path) as temporary:
        array = create_zarr(temporary, P.shape, P.values.dtype, CHUNK)
        for first in range(0, P.shape[0], CHUNK):
            rows = P.values[first : first + CHUNK]
            reject_infinite(rows, f"values from row {first} on")
            array[first : first + CHUNK] = rows
        array.attrs[CARD] = card(P)
        replace_folder(temporary, path)


def create_zarr(path: Path, shape: tuple[int, ...], dtype: Any, chunk: int) -> Any:
    """Create an empty array of square chunks; NaN until values are written."""
    zarr = require_package("zarr", extra="zarr", who="A zarr store")
    check_replaceable(path)
    chunks = (min(chunk, shape[0]), min(chunk, shape[1]), *shape[2:])
    return zarr.create_array(
        os.fspath(path), shape=shape, dtype=dtype, chunks=chunks, compressors=None, fill_value=float("nan")
    )


def open_zarr(path: Path, mode: str = "r") -> Any:
    """Open the array of a store after checking that it holds plain numbers."""
    where = short_path(path)
    zarr = require_package("zarr", extra="zarr", who="A zarr store")
    path.stat()  # raises an error if there is no such folder
    with parse_errors(where, "zarr store"):
        try:
            array = zarr.open(os.fspath(path), mode=mode)
        except (FileNotFoundError, NotADirectoryError):  # the path exists, its metadata do not
            raise ProximityError(f"{where} is not a readable zarr store: it has no metadata.") from None
        if not hasattr(array, "shape"):
            names = ", ".join(sorted(array.array_keys()))[:120] or "none"
            raise ProximityError(f"{where} must hold one array. Got a group of {names}; say which with key=...")
        if array.metadata.zarr_format == 2 and array.metadata.filters:
            raise ProximityError(f"{where} has filters, which may run code; write it again without, or in format 3.")
        compressor = _compressor(array.metadata)
        if compressor is not None and compressor not in _SIZES:  # others may run code
            raise ProximityError(
                f"{where} is compressed by {compressor[:40]!r}, which is not supported; write it again."
            )
        if array.dtype.kind not in "fiub":
            raise ProximityError(f"{where} must hold real numbers. Got dtype {str(array.dtype)[:40]}.")
    return array


def check_replaceable(path: Path) -> None:
    """Raise if a zarr store at `path` would have no parent folder, or replace something other than a folder."""
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(2, "No such file or directory", os.fspath(path))
    if path.exists() and not path.is_dir():
        raise ProximityError(
            f"{short_path(path)} is not a folder, and a zarr store is one; remove it, or name another."
        )


def remove_older(path: Path) -> None:
    """Remove the older folder that :func:`replace_folder` moved aside, if the new one is in place."""
    if path.exists():
        shutil.rmtree(_aside(path), ignore_errors=True)


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name[:100]}.old")


def replace_folder(temporary: Path, path: Path) -> None:
    """Rename a complete folder to `path`; an older one is moved aside first and removed afterwards."""
    old = _aside(path)
    check_replaceable(path)
    if path.exists():
        copy_owner(path, temporary)
        remove_older(path)
        os.replace(path, old)
    try:
        os.replace(temporary, path)
    except BaseException:
        if old.exists():
            os.replace(old, path)
        raise
    remove_older(path)
