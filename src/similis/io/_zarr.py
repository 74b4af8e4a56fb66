"""Proximities as a zarr store: one chunked array, its card (ids, kind, labels) among the attributes.

Chunks are written uncompressed: similarities are float noise to a compressor, and whole rows are what every method
reads. Filters of the older format 2 may run code when they decode, so stores with filters are not read; packed chunks
are, once each is known to unpack to a chunk and no more (``_zarr_chunks.py``).
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
from similis._utils.files import draft_folder, readable_or_error, short_path
from similis.exceptions import ProximityError
from similis.io._numpy import card, parts_of_card
from similis.io._proximity import Proximity, proximity_in_file, reject_infinite

__all__ = [
    "PACKERS",
    "check_chunks",
    "create_zarr",
    "open_zarr",
    "read_zarr",
    "remove_older",
    "replace_folder",
    "write_zarr",
]

_PLAIN = {"BytesCodec", "TransposeCodec", "Crc32cCodec"}  # of format 3
_STEP = 2**20
_DICTIONARY = 2**28  # bytes that an lzma stream may ask for to unpack itself
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


def check_chunks(array: Any, folder: Path) -> None:
    """Refuse a store with a chunk that would unpack to more than a chunk holds."""
    packer = _packer(array.metadata)
    if packer is None:
        return
    if packer not in PACKERS:
        raise ProximityError(f"{short_path(folder)} is packed by {packer[:40]!r}, which is not read; write it again.")
    size = math.prod(array.chunks) * array.dtype.itemsize
    for file in sorted(path for path in folder.rglob("*") if _is_chunk(path)):
        if _SIZES[packer](file, size) != size:
            name = file.relative_to(folder).as_posix()
            raise ProximityError(
                f"{short_path(folder)} holds a chunk, {name[:60]!r}, that does not unpack to {size} bytes as it should."
            )


def _packer(metadata: Any) -> str | None:
    """The name of the one codec that changes the size of chunks; None where there is none."""
    if metadata.zarr_format == 2:
        return None if metadata.compressor is None else str(metadata.compressor.codec_id)
    packers = [codec for codec in metadata.codecs if not _is_plain(codec)]
    return " and ".join(type(codec).__name__.removesuffix("Codec").lower() for codec in packers) or None


def _is_plain(codec: Any) -> bool:
    """Whether what it packs is as large as before, or nearly; shards are if what is in them is."""
    inside = getattr(codec, "codecs", None)
    return type(codec).__name__ in _PLAIN or (inside is not None and all(map(_is_plain, inside)))


def _is_chunk(path: Path) -> bool:
    return path.is_file() and not path.name.startswith(".") and path.name != "zarr.json"


def _head(file: Path, n: int) -> bytes:
    with open(file, "rb") as opened:
        return opened.read(n)


def _blosc(file: Path, size: int) -> int:
    return int.from_bytes(_head(file, 8)[4:8], "little")


def _lz4(file: Path, size: int) -> int:
    return int.from_bytes(_head(file, 4), "little")


def _zstd(file: Path, size: int) -> int:
    """Content size in the header of the frame; -1 where it says none."""
    head = _head(file, 18)
    if len(head) < 6 or head[:4] != _ZSTD_MAGIC:
        return -1
    flag, single, dictionary = head[4] >> 6, head[4] >> 5 & 1, (0, 1, 2, 4)[head[4] & 3]
    width = (single, 2, 4, 8)[flag]
    start = 5 + (1 - single) + dictionary
    found = int.from_bytes(head[start : start + width], "little") + (256 if width == 2 else 0)
    return found if width else -1


def _counted(make: Callable[[], Any]) -> Callable[[Path, int], int]:
    """Unpack in steps and count, until it is more than it should be."""

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
                    return -1  # cut off
            more = bool(unpacker.eof and (unpacker.unused_data or opened.read(1)))
        return -1 if more else total

    return count


_SIZES: dict[str, Callable[[Path, int], int]] = {
    "blosc": _blosc,
    "lz4": _lz4,
    "zstd": _zstd,
    "gzip": _counted(lambda: zlib.decompressobj(wbits=31)),
    "zlib": _counted(zlib.decompressobj),
    "bz2": _counted(bz2.BZ2Decompressor),
    "lzma": _counted(lambda: lzma.LZMADecompressor(memlimit=_DICTIONARY)),
}
PACKERS = frozenset(_SIZES)


CARD = "similis"
CHUNK = 2048


def read_zarr(path: Path, *, mmap: bool, max_bytes: int) -> Proximity:
    """Read a store; with `mmap` the array stays on disk and rows are read when they are asked for."""
    where = short_path(path)
    array = open_zarr(path)
    with readable_or_error(where, "zarr store"):
        found = array.attrs.get(CARD)
        piece = math.prod(array.chunks) * array.dtype.itemsize
        if piece > max(max_bytes, array.nbytes):
            raise ProximityError(f"{where} has chunks of {piece} bytes, more than max_bytes={max_bytes}; raise it.")
        if not mmap and array.nbytes > max_bytes and array.nbytes_stored() < array.nbytes:
            raise ProximityError(
                f"{where} unpacks to {array.nbytes} bytes, more than max_bytes={max_bytes}; raise it, or use mmap=True."
            )
        check_chunks(array, path)
        values = array if mmap else array[...]
    about = {} if found is None else parts_of_card(found, values.shape, where)
    return proximity_in_file(where, values, **about)


def write_zarr(path: Path, P: Proximity, chunk: int = CHUNK) -> None:
    """Write to a temporary folder and rename it: a reader finds the old store or the new one."""
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(2, "No such file or directory", os.fspath(path))
    with draft_folder(path) as temporary:
        array = create_zarr(temporary, P.shape, P.values.dtype, chunk)
        for first in range(0, P.shape[0], chunk):
            rows = P.values[first : first + chunk]
            reject_infinite(rows, f"values from row {first} on")
            array[first : first + chunk] = rows
        array.attrs[CARD] = card(P)
        replace_folder(temporary, path)


def create_zarr(path: Path, shape: tuple[int, ...], dtype: Any, chunk: int) -> Any:
    """An empty array of square chunks, NaN where nothing was written."""
    zarr = require_package("zarr", extra="zarr", who="A zarr store")
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(2, "No such file or directory", os.fspath(path))
    chunks = (min(chunk, shape[0]), min(chunk, shape[1]), *shape[2:])
    return zarr.create_array(
        os.fspath(path), shape=shape, dtype=dtype, chunks=chunks, compressors=None, fill_value=float("nan")
    )


def open_zarr(path: Path, mode: str = "r") -> Any:
    """The array of a store, once it is known to hold plain numbers."""
    where = short_path(path)
    zarr = require_package("zarr", extra="zarr", who="A zarr store")
    if not path.exists():
        raise FileNotFoundError(2, "No such file or directory", os.fspath(path))
    with readable_or_error(where, "zarr store"):
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
