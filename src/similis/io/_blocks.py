"""Matrices written block by block: an npy file or a zarr store, under a temporary name until it is complete."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from similis._utils.files import copy_owner, is_stream, short_path, sync
from similis.exceptions import ProximityError
from similis.io._numpy import sidecar, write_card
from similis.io._zarr import CARD, CHUNK, check_replaceable, create_zarr, open_zarr, remove_older, replace_folder


@dataclass(frozen=True)
class BlockFile:
    """A square matrix on disk that is written block by block, perhaps by several processes.

    Until :meth:`finish` it is called ``<name>.part``. The bytes of an npy file are allocated at the start, so that a
    full disk is an error before anything is measured.

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
            # Chunks are read whole, so they have 16 MB at most; no chunk belongs to two blocks, since several
            # workers may write.
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

    def write(self, rows: slice, columns: slice, block: NDArray[Any]) -> None:
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
            for i, row in zip(range(rows.start, rows.stop), block):
                file.seek(start + width * (i * self.n + columns.start))
                file.write(row.data)

    def sync(self) -> None:
        """Sync an npy file; chunks of a zarr store are synced when they are written."""
        if not self.zarr:
            sync(self.part)

    def is_whole(self) -> bool:
        """Tell whether the unfinished matrix has all its bytes; those of a zarr store are not counted."""
        return self.zarr or self.part.stat().st_size == len(self._header()) + self.n_bytes

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
        return ProximityError(
            f"Not enough disk space for {short_path(self.path)}: {what}. Free some, use another disk, or halve it with "
            "dtype float32; then run again."
        )

    def _header(self) -> bytes:
        out = io.BytesIO()
        description = {"descr": np.dtype(self.dtype).str, "fortran_order": False, "shape": (self.n, self.n)}
        npy.write_array_header_1_0(out, description)
        return out.getvalue()
