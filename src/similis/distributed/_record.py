"""What is known of an unfinished matrix: a journal of lines beside it, so that a kill costs the last second."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from similis._utils.files import byte_lock, short_path
from similis.distributed._store import Store
from similis.exceptions import ProximityError

__all__ = ["Record", "Writer"]

_PAUSE = 1.0  # seconds between two visits to the disk
_LOCK = 2**40  # a byte far behind the end
_FORMAT = {"format": "similis blocks", "version": 1}


@dataclass
class Record:
    """Which tiles are done, since when, and which the measure refused.

    Attributes
    ----------
    head : dict
        What the matrix is of: the first line of the journal.
    done : dict
        When each finished tile was finished.
    refused : dict
        For each tile in which the measure refused an object, the parts that hold it.
    """

    path: Path
    head: dict[str, Any] = field(default_factory=dict)
    done: dict[int, str] = field(default_factory=dict)
    refused: dict[int, tuple[int, ...]] = field(default_factory=dict)

    _file: IO[bytes] | None = None
    _sound: int = 0  # bytes up to the first torn line

    @classmethod
    def beside(cls, store: Store) -> Record:
        """The journal of a store."""
        return cls(store.part.with_name(store.part.name + ".jsonl"))

    @contextmanager
    def held(self, store: Store) -> Iterator[None]:
        """Keep other processes out, and read how far the matrix is; an empty journal is removed in the end."""
        with open(self.path, "a+b") as file, byte_lock(file.fileno(), _LOCK, wait=False) as held:
            if not held or not _is_at(file, self.path):
                raise ProximityError(
                    f"Another process is measuring into {short_path(store.path)}; wait for it, or name another file."
                )
            self._file = file
            if store.part.exists():
                self._read(file)
            try:
                yield
            finally:
                self._file = None
                if not os.fstat(file.fileno()).st_size:
                    self.remove()

    def clear(self) -> None:
        """Forget everything; an empty journal says nothing of any matrix."""
        self.head, self.done, self.refused, self._sound = {}, {}, {}, 0
        self._cut()

    def start(self, head: dict[str, Any], again: Iterable[int] = ()) -> None:
        """Begin, or go on under another head and have these tiles measured again. Lines are only ever added."""
        self.head, self.refused = head, {}
        for number in again:
            self.done.pop(number, None)
        self._cut()
        self.write([{**_FORMAT, **head, "again": sorted(again)}])

    def write(self, lines: list[dict[str, Any]]) -> None:
        """Add lines to the journal that is held."""
        assert self._file is not None
        self._file.write("".join(json.dumps(line) + "\n" for line in lines).encode())
        self._file.flush()

    def remove(self) -> None:
        """Remove the file."""
        with suppress(OSError):
            self.path.unlink()

    def _cut(self) -> None:
        """Cut off what a kill left of a line."""
        assert self._file is not None
        os.ftruncate(self._file.fileno(), self._sound)

    def _read(self, file: IO[bytes]) -> None:
        """Lines up to the first that is torn or strange."""
        file.seek(0)
        for line in file.read().splitlines(keepends=True):
            try:
                entry = json.loads(line)
                if not line.endswith(b"\n"):
                    return
                if not self.head or "format" in entry:
                    if any(entry[key] != value for key, value in _FORMAT.items()):
                        return
                    for number in entry.pop("again", ()):
                        self.done.pop(number, None)
                    self.head, self.refused = entry, {}
                elif "refused" in entry:
                    self.refused[int(entry["block"])] = tuple(map(int, entry["refused"]))
                else:
                    self.done[int(entry["block"])] = str(entry["time"])
            except (ValueError, KeyError, TypeError, IndexError, AttributeError):
                return
            self._sound += len(line)


def _is_at(file: IO[bytes], path: Path) -> bool:
    """Whether the open file still has its name: the process that held it may have finished and removed it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except OSError:
        return False


@dataclass
class Writer:
    """Adds finished tiles to a journal, a second's worth at a time, once their bytes are on the disk."""

    record: Record
    store: Store
    waiting: list[dict[str, Any]] = field(default_factory=list)
    last: float = field(default_factory=time.monotonic)

    def add(self, number: int, refused: tuple[int, ...] | None = None) -> None:
        """Note that a tile is done, or in which parts the measure refused an object."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        if refused is None:
            self.record.done[number] = now
            self.waiting.append({"block": number, "time": now})
        else:
            self.record.refused[number] = refused
            self.waiting.append({"block": number, "refused": refused})
        if time.monotonic() - self.last > _PAUSE:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        if self.waiting:
            self.store.sync()
            self.record.write(self.waiting)
        self.waiting, self.last = [], time.monotonic()
