"""Journal of an unfinished matrix, beside it: which blocks are measured. Version 1.0 wrote lines without checksums."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from similis._utils.files import short_path
from similis._utils.journal import JsonLines
from similis.exceptions import ProximityError
from similis.io import BlockFile

_INTERVAL = 1.0  # least number of seconds between two writes
_FORMAT = {"format": "similis blocks", "version": 1}


@dataclass
class Record:
    """Finished blocks of a matrix, and those that hold an object which the measure rejects."""

    store: BlockFile
    head: dict[str, Any] = field(default_factory=dict)  # objects, measure and block size: the first line
    done: dict[int, str] = field(default_factory=dict)  # time at which each finished block was measured
    refused: dict[int, tuple[int, ...]] = field(default_factory=dict)  # parts of the objects that hold a rejected one
    _lines: Any = None  # the open file
    _valid: int = 0  # bytes before the first damaged line
    _waiting: list[dict[str, Any]] = field(default_factory=list)
    _last: float = field(default_factory=time.monotonic)

    @property
    def path(self) -> Path:
        return self.store.part.with_name(self.store.part.name + ".jsonl")

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock out other processes and read the finished blocks; an empty journal is removed at the end."""
        with closing(JsonLines(self.path, require_checksum=False)) as lines, lines.lock(wait=False) as held:
            # A process that finished in between has removed the file that was opened here.
            if not held or not lines.is_at(self.path):
                where = short_path(self.store.path)
                raise ProximityError(f"Another process is measuring into {where}; wait for it, or name another file.")
            self._lines = lines
            try:
                if self.store.part.exists():
                    self._read(lines)
                yield
            finally:
                self._lines = None
                if not lines.size:
                    self.remove()

    def clear(self) -> None:
        """Remove all lines: an empty journal belongs to no matrix."""
        self.head, self.done, self.refused, self._valid = {}, {}, {}, 0
        self._lines.truncate(0)

    def start(self, head: dict[str, Any], again: Iterable[int] = ()) -> None:
        """Start the journal, or continue it under another head and measure the blocks `again` once more."""
        self.head, self.refused = head, {}
        for number in again:
            self.done.pop(number, None)
        self._lines.truncate(self._valid)
        self._lines.append([{**_FORMAT, **head, "again": sorted(again)}])

    def add(self, number: int, refused: tuple[int, ...] | None = None) -> None:
        """Note that a block is finished, or which parts hold an object that the measure rejects."""
        if refused is None:
            self.done[number] = datetime.now(UTC).isoformat(timespec="milliseconds")
            self._waiting.append({"block": number, "time": self.done[number]})
        else:
            self.refused[number] = refused
            self._waiting.append({"block": number, "refused": refused})
        if time.monotonic() - self._last > _INTERVAL:
            self.flush()

    def flush(self) -> None:
        """Sync the matrix, then write the blocks that are not noted yet."""
        if self._waiting:
            self.store.sync()
            self._lines.append(self._waiting)
        self._waiting, self._last = [], time.monotonic()

    def remove(self) -> None:
        with suppress(OSError):
            self.path.unlink()

    def _read(self, lines: JsonLines) -> None:
        """Read up to the first damaged line: a lost head could name blocks to be measured again."""
        for line in lines.read_new():
            record: Any = line.record
            try:
                if not self.head or "format" in record:
                    if any(record[key] != value for key, value in _FORMAT.items()):
                        return
                    for number in record.pop("again", ()):
                        self.done.pop(number, None)
                    self.head, self.refused = record, {}
                elif "refused" in record:
                    self.refused[int(record["block"])] = tuple(map(int, record["refused"]))
                else:
                    self.done[int(record["block"])] = str(record["time"])
            except (ValueError, KeyError, TypeError, IndexError, AttributeError):  # None has no keys
                return
            self._valid = line.end
