"""Zarr stores: one chunked array, its card among the attributes; and matrices written block by block, npy or zarr."""

from __future__ import annotations

import bz2
import errno
import io
import json
import lzma
import math
import os
import shutil
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from similis._utils.arrays import Array
from similis._utils.environment import require_package
from similis._utils.files import copy_owner, draft_folder, is_stream, parse_errors, short_path, sync
from similis.exceptions import ProximityError
from similis.io._checks import ReadOptions, check_finite
from similis.io._numpy import card, parts_of_card, sidecar, write_card
from similis.io._proximity import Proximity, proximity_in_file

_SAME_SIZE = {"BytesCodec", "TransposeCodec", "Crc32cCodec"}  # codecs of format 3 that do not compress
_STEP = 2**20
_DICTIONARY = 2**28  # bytes of memory for unpacking an lzma stream
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


def _check_chunks(array: Any, folder: Path) -> None:
    compressor, size = _compressor(array.metadata), math.prod(array.chunks) * array.dtype.itemsize
    for file in sorted(folder.rglob("*")) if compressor else ():
        is_chunk = file.is_file() and not file.name.startswith(".") and file.name != "zarr.json"
        if is_chunk and _SIZES[compressor](file, size) != size:
            name = file.relative_to(folder).as_posix()[:60]
            wrong = f"that does not unpack to {size} bytes as it should."
            raise ProximityError(f"{short_path(folder)} holds a chunk, {name!r}, {wrong}")


def _compressor(metadata: Any) -> str:
    """Name of the codec that compresses chunks; empty if there is none."""
    if metadata.zarr_format == 2:
        return str(getattr(metadata.compressor, "codec_id", ""))
    names = [type(codec).__name__ for codec in metadata.codecs if not _keeps_size(codec)]
    return " and ".join(name.removesuffix("Codec").lower() for name in names)


def _keeps_size(codec: Any) -> bool:
    """Tell whether a codec keeps the size of a chunk; a sharding codec does if its inner codecs do."""
    inside = getattr(codec, "codecs", None)
    return type(codec).__name__ in _SAME_SIZE or (inside is not None and all(map(_keeps_size, inside)))


def _field(start: int, file: Path, size: int) -> int:
    """Size that a chunk declares in four bytes of its header."""
    with open(file, "rb") as opened:
        return int.from_bytes(opened.read(start + 4)[start:], "little")


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


def _counted(make: Callable[[], Any], file: Path, size: int) -> int:
    """Unpack in steps and count the bytes, until there are more than expected; -1 for a damaged chunk."""
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


_SIZES: dict[str, Callable[[Path, int], int]] = {
    "blosc": partial(_field, 4),
    "lz4": partial(_field, 0),
    "zstd": _zstd,
    "gzip": partial(_counted, partial(zlib.decompressobj, wbits=31)),
    "zlib": partial(_counted, zlib.decompressobj),
    "bz2": partial(_counted, bz2.BZ2Decompressor),
    "lzma": partial(_counted, partial(lzma.LZMADecompressor, memlimit=_DICTIONARY)),
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
        limit = f"more than max_bytes={max_bytes}; raise it"
        if piece > max(max_bytes, array.nbytes):
            raise ProximityError(f"{where} has chunks of {piece} bytes, {limit}.")
        if not mmap and array.nbytes > max_bytes and array.nbytes_stored() < array.nbytes:
            raise ProximityError(f"{where} unpacks to {array.nbytes} bytes, {limit}, or use mmap=True.")
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
            check_finite(rows, f"values from row {first} on")
            array[first : first + CHUNK] = rows
        array.attrs[CARD] = card(P)
        replace_folder(temporary, path)


def create_zarr(path: Path, shape: tuple[int, ...], dtype: Any, chunk: int) -> Any:
    zarr = require_package("zarr", extra="zarr", who="A zarr store")
    check_replaceable(path)
    chunks, fill = (min(chunk, shape[0]), min(chunk, shape[1]), *shape[2:]), float("nan")
    return zarr.create_array(path, shape=shape, dtype=dtype, chunks=chunks, compressors=None, fill_value=fill)


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
        if array.metadata.zarr_format == 2 and array.metadata.filters:  # may run code when they decode
            raise ProximityError(f"{where} has filters, which may run code; write it again without, or in format 3.")
        compressor = _compressor(array.metadata)
        if compressor not in ("", *_SIZES):  # others may run code
            remedy = "which is not supported; write it again."
            raise ProximityError(f"{where} is compressed by {compressor[:40]!r}, {remedy}")
        if array.dtype.kind not in "fiub":
            raise ProximityError(f"{where} must hold real numbers. Got dtype {str(array.dtype)[:40]}.")
    return array


def check_replaceable(path: Path) -> None:
    """Raise if a zarr store at `path` would have no parent folder, or replace something other than a folder."""
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(2, "No such file or directory", os.fspath(path))
    if path.exists() and not path.is_dir():
        remedy = "a zarr store is one; remove it, or name another."
        raise ProximityError(f"{short_path(path)} is not a folder, and {remedy}")


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


@dataclass(frozen=True)
class BlockFile:
    """A square matrix on disk that is written block by block, perhaps by several processes.

    Until :meth:`finish` it is called ``<name>.part``. The bytes of an npy file are allocated at the start.

    Parameters
    ----------
    path : Path
        The finished file, ``.npy`` or ``.zarr``.
    n, tile : int
        Number of rows and columns of the matrix, and of a block; chunks of a zarr store divide it.
    dtype : str
        Type of the values, such as ``"<f8"``.
    """

    path: Path
    n: int
    dtype: str
    tile: int

    @property
    def part(self) -> Path:
        """Path of the unfinished matrix."""
        return self.path.with_name(self.path.name + ".part")

    @property
    def zarr(self) -> bool:
        """True for a zarr store, False for an npy file."""
        return self.path.suffix.lower() == ".zarr"

    @property
    def n_bytes(self) -> int:
        """Number of bytes of the values."""
        return self.n * self.n * np.dtype(self.dtype).itemsize

    def create(self) -> None:
        """Create the empty matrix and remove any unfinished one."""
        self.remove()
        if self.zarr:
            # Chunks are read whole, so they have 16 MB at most; none belongs to two blocks: several workers may write.
            chunk = self.tile // 2 if self.tile > CHUNK and self.tile % 2 == 0 else self.tile
            create_zarr(self.part, (self.n, self.n), self.dtype, chunk)
            return
        header = self._header()
        with open(self.part, "wb") as file:
            try:
                file.write(header)
                file.flush()
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, len(header) + self.n_bytes)
                else:  # pragma: no cover
                    os.truncate(file.fileno(), len(header) + self.n_bytes)
            except OSError as error:
                with suppress(OSError):
                    self.part.unlink()
                raise self.write_error(error, f"{self.n_bytes} bytes are needed") from None

    def write(self, rows: slice, columns: slice, block: Array) -> None:
        """Write one block."""
        block = np.ascontiguousarray(block, dtype=self.dtype)
        if self.zarr:
            array = open_zarr(self.part, "r+")
            array[rows, columns] = block
            spans = (range(s.start // size, -(-s.stop // size)) for s, size in zip((rows, columns), array.chunks))
            files = [self.part / array.metadata.encode_chunk_key(place) for place in product(*spans)]
            folders = {self.part, *(folder for file in files for folder in file.parents if self.part in folder.parents)}
            for path in (*files, *(folders if os.name == "posix" else ())):
                with suppress(FileNotFoundError):  # a chunk of NaN only has no file
                    sync(path)
            return
        start, width = len(self._header()), np.dtype(self.dtype).itemsize
        with open(self.part, "r+b") as file:
            for i, row in enumerate(block, rows.start):
                file.seek(start + width * (i * self.n + columns.start))
                file.write(row.data)

    def sync(self) -> None:
        """Sync an npy file; chunks of a zarr store are synced when they are written."""
        if not self.zarr:
            sync(self.part)

    def is_whole(self) -> bool:
        """Tell whether the unfinished file, perhaps of another matrix, has all its bytes; zarr's are not counted."""
        with suppress(OSError, ValueError):
            return self.zarr or (m := np.load(self.part, mmap_mode="r")).offset + m.nbytes == self.part.stat().st_size
        return False

    def digest(self, path: Path) -> str:
        """Digest of the values in `path`, the finished or the unfinished matrix, read in parts."""
        found = blake2b(digest_size=16)
        if self.zarr:
            array = open_zarr(path)
            height, width = array.chunks
            for row, column in product(range(0, self.n, height), range(0, self.n, width)):
                found.update(np.ascontiguousarray(array[row : row + height, column : column + width]).data)
        else:
            with open(path, "rb") as file:
                while piece := file.read(2**22):
                    found.update(piece)
        return found.hexdigest()

    def is_damaged(self, card: dict[str, Any]) -> bool:
        """Tell whether the finished matrix differs from what was measured; without a digest (1.0) only in size."""
        try:
            if "values_digest" in card:
                return bool(self.digest(self.path) != card["values_digest"])
            if self.zarr:
                return tuple(open_zarr(self.path).shape) != (self.n, self.n)
            return self.path.stat().st_size != len(self._header()) + self.n_bytes
        except (ValueError, OSError):
            return True

    def finish(self, card: dict[str, Any]) -> None:
        """Write the card, with a digest of the values, and rename the matrix to `path`."""
        card = {**card, "values_digest": self.digest(self.part)}
        if self.zarr:
            open_zarr(self.part, "r+").attrs[CARD] = card
            for left in self.part.rglob("*.partial"):  # temporary files of zarr in a process that was killed
                left.unlink()
            replace_folder(self.part, self.path)
            return
        self.sync()
        copy_owner(self.path, self.part)
        self.path.unlink(missing_ok=True)  # else a kill could leave the new card beside the older matrix
        write_card(self.path, card)
        os.replace(self.part, self.path)

    def replace_card(self, card: dict[str, Any]) -> None:
        """Write another card of the finished matrix."""
        if self.zarr:
            open_zarr(self.path, "r+").attrs[CARD] = card
        else:
            write_card(self.path, card)

    def tidy(self) -> None:
        """Remove leftovers of a process that was killed while it replaced an older matrix."""
        if self.zarr:
            remove_older(self.path)

    def remove(self) -> None:
        """Remove the unfinished matrix, if there is one."""
        if self.zarr:
            shutil.rmtree(self.part, ignore_errors=True)
        else:
            self.part.unlink(missing_ok=True)

    def card(self) -> dict[str, Any] | None:
        """Return the card of the finished matrix: None if there is no matrix, empty if it has no card."""
        if not self.path.exists():
            return None
        found: Any = None
        if self.zarr:
            check_replaceable(self.path)
        elif is_stream(self.path):
            raise ProximityError(f"{short_path(self.path)} is not a regular file, and blocks are written in any order.")
        with suppress(OSError, ValueError):  # damaged
            found = open_zarr(self.path).attrs.get(CARD) if self.zarr else json.loads(sidecar(self.path).read_bytes())
        return dict(found) if isinstance(found, dict) else {}

    def write_error(self, error: OSError, what: str) -> OSError | ProximityError:
        """Explain an error that a full disk caused, with `what` about the state; return any other error unchanged."""
        if error.errno not in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
            return error
        remedy = "Free some, use another disk, or halve it with dtype float32; then run again."
        return ProximityError(f"Not enough disk space for {short_path(self.path)}: {what}. {remedy}")

    def _header(self) -> bytes:
        out = io.BytesIO()
        description = {"descr": np.dtype(self.dtype).str, "fortran_order": False, "shape": (self.n, self.n)}
        npy.write_array_header_1_0(out, description)
        return out.getvalue()
