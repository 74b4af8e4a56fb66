"""Append-only files of JSON lines, shared by processes and safe against kills.

Each line starts with a CRC-32 of its own bytes (``{"crc":"0a1b2c3d",...}``) and is synced before `append` returns. A
torn last line is not read, and the next `append` removes it. Locks are on single bytes far beyond the end of the file.
"""

from __future__ import annotations

import json
import os
import sys
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from similis._utils.files import name_file

_PREFIX = b'{"crc":"'
_BODY = len(_PREFIX) + 8 + 2  # first byte behind the checksum, its quote and its comma
_APPEND = 2**40  # byte whose lock allows appending


class Line(NamedTuple):
    """One complete line of a file."""

    record: dict[str, Any] | None  # None where the line is damaged
    end: int  # position
    text: bytes


class JsonLines:
    """Append-only file of JSON records; open it once per process: closing another descriptor releases all locks."""

    def __init__(self, path: str | os.PathLike[str], *, require_checksum: bool = True) -> None:
        self.path = Path(path)
        self.require_checksum = require_checksum  # 1.0 wrote none for half-measured matrices
        self.position = 0  # end of the last line that was read
        self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o666)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    @property
    def size(self) -> int:
        return os.fstat(self._descriptor).st_size

    def is_at(self, path: str | os.PathLike[str]) -> bool:
        """Tell whether this file is open and is the one that `path` names."""
        with suppress(OSError):
            return self._descriptor >= 0 and os.path.samestat(os.fstat(self._descriptor), os.stat(path))
        return False

    def is_truncated(self) -> bool:
        """Tell whether lines that were read are no longer in the file."""
        return self.size < self.position

    @contextmanager
    def lock(self, byte: int = _APPEND, *, wait: bool = True) -> Iterator[bool]:
        """Lock one byte against other processes, not threads; yields whether it is held (always with `wait`)."""
        held, pause = False, 0.001
        while not held:
            try:
                _set_lock(self._descriptor, byte, True)
                held = True
            except OSError:
                if not wait:
                    break
                time.sleep(pause)
                pause = min(2 * pause, 0.05)
        try:
            yield held
        finally:
            if held:
                _set_lock(self._descriptor, byte, False)

    def read_new(self) -> Iterator[Line]:
        """Yield the complete lines behind `position`."""
        fresh = self.read_bytes(self.position, self.size - self.position)
        for line in fresh.split(b"\n")[:-1]:
            self.position += len(line) + 1
            yield Line(_parse(line, self.require_checksum), self.position, line)

    def append(self, records: Iterable[dict[str, Any]]) -> None:
        """Write records and sync the file; the caller holds :meth:`lock`."""
        start = keep = self.size
        while keep:  # remove a torn last line
            step = min(keep, 2**16)
            keep -= step
            if (last := self.read_bytes(keep, step).rfind(b"\n")) >= 0:
                keep += last + 1
                break
        if keep < start:
            os.ftruncate(self._descriptor, keep)
        view = memoryview(b"".join(map(_format, records)))
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
            os.fsync(self._descriptor)
        except OSError as error:
            name_file(error, self.path)
            raise

    def is_unused(self) -> bool:
        """Tell whether the file holds nothing, or nothing but the start of a line torn by a kill."""
        return not self.position and _PREFIX.startswith(self.read_bytes(0, len(_PREFIX)))

    def truncate(self, position: int) -> None:
        os.ftruncate(self._descriptor, position)
        self.position = min(self.position, position)

    def read_bytes(self, start: int, size: int) -> bytes:
        """Read `size` bytes from `start`, fewer at the end of the file."""
        os.lseek(self._descriptor, start, os.SEEK_SET)
        parts = []
        while size > 0 and (part := os.read(self._descriptor, size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def _format(record: dict[str, Any]) -> bytes:
    body = json.dumps(record, separators=(",", ":"), allow_nan=False).encode()[1:]
    return _PREFIX + b"%08x" % zlib.crc32(body) + b'",' + body + b"\n"


def _parse(line: bytes, require_checksum: bool) -> dict[str, Any] | None:
    """Record of a line; None if the line is damaged."""
    if require_checksum or line.startswith(_PREFIX):
        head, body = line[:_BODY], line[_BODY:]
        if head != _PREFIX + b"%08x" % zlib.crc32(body) + b'",':
            return None
        line = b"{" + body
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _set_lock(descriptor: int, byte: int, locked: bool) -> None:
    """Lock or unlock one byte; raises an OSError if another process holds the lock."""
    if sys.platform == "win32":  # pragma: no cover
        import msvcrt

        os.lseek(descriptor, byte, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK if locked else msvcrt.LK_UNLCK, 1)
    else:
        import fcntl

        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB if locked else fcntl.LOCK_UN, 1, byte)
