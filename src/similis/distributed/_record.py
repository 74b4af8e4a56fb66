"""What is known of an unfinished matrix: a journal of lines beside it, so that a kill costs the last second."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from similis._utils.files import short_path
from similis._utils.locks import byte_lock
from similis.distributed._store import Store
from similis.exceptions import ProximityError

__all__ = ["Record"]

_PAUSE = 1.0  # seconds between two visits to the disk
_LOCK = 2**40  # a byte far behind the end


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

    @classmethod
    def beside(cls, store: Store) -> Record:
        """The journal of a store as it was left; empty where there is none."""
        record = cls(store.part.with_name(store.part.name + ".jsonl"))
        if record.path.exists() and store.part.exists():
            record._read()
        return record

    def start(self, head: dict[str, Any]) -> None:
        """Begin anew."""
        self.head, self.done, self.refused = head, {}, {}
        self._rewrite()

    def forget(self, numbers: set[int], head: dict[str, Any]) -> None:
        """Have these tiles measured again, under another head."""
        self.head, self.refused = head, {}
        self.done = {number: when for number, when in self.done.items() if number not in numbers}
        self._rewrite()

    @contextmanager
    def writing(self, store: Store) -> Iterator[Writer]:
        """Hold the journal and add to it."""
        with open(self.path, "ab") as file, byte_lock(file.fileno(), _LOCK, wait=False) as held:
            if not held:
                raise ProximityError(
                    f"Another process is measuring into {short_path(store.path)}; wait for it, or name another file."
                )
            writer = Writer(self, store, file)
            try:
                yield writer
            finally:
                writer.flush()

    def _read(self) -> None:
        """Lines up to the first that is torn or strange."""
        for line in self.path.read_bytes().splitlines():
            try:
                entry = json.loads(line)
                if not self.head:
                    if entry["format"] != "similis blocks" or entry["version"] != 1:
                        return
                    self.head = entry
                elif "refused" in entry:
                    self.refused[int(entry["block"])] = tuple(map(int, entry["refused"]))
                else:
                    self.done[int(entry["block"])] = str(entry["time"])
            except (ValueError, KeyError, TypeError, IndexError):
                return

    def _rewrite(self) -> None:
        lines = [self.head, *({"block": number, "time": when} for number, when in self.done.items())]
        self.path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@dataclass
class Writer:
    """Adds finished tiles to a journal, a second's worth at a time, once their bytes are on the disk."""

    record: Record
    store: Store
    file: IO[bytes]
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
            self.file.write("".join(json.dumps(line) + "\n" for line in self.waiting).encode())
            self.file.flush()
        self.waiting, self.last = [], time.monotonic()
