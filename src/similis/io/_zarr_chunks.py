"""Packed chunks of a zarr store: that each unpacks to the size its metadata say, before anything is unpacked.

A few kilobytes may unpack to gigabytes. Some formats say in their first bytes how large they become, and their readers
hold them to it; the others are unpacked in small steps and counted.
"""

from __future__ import annotations

import bz2
import lzma
import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from similis._utils.files import short_path
from similis.exceptions import ProximityError

__all__ = ["PACKERS", "check_chunks"]

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
