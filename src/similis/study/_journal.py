"""The journal: one line of JSON per finished (split, method), on disk before anything goes on.

The file opens with a header that says which study it belongs to. Lines are only ever appended, each checked by a
sum of its bytes and synced; a line torn by a crash is cut off when the next one is written. Several processes may work
on one journal: appending takes a lock, and whoever computes an entry first claims it. Claims are locks too, on bytes
far beyond the end of the file, so they vanish with the process that held them.
"""

from __future__ import annotations

import json
import os
import warnings
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from similis._utils.files import byte_lock, short_path, sync_directory
from similis.exceptions import ProximityError
from similis.study._entry import Entry

__all__ = ["Journal", "JournalWarning"]

_MAGIC = "similis-journal"
_PREFIX = b'{"crc":"'
_HEAD = len(_PREFIX) + 8 + 2  # up to and with the comma after the sum
_APPEND = 2**40  # the byte whose lock allows appending
_CLAIMS = 2**41  # claims lock bytes from here on


class JournalWarning(UserWarning):
    """A journal is used on, though something about it should be known."""


class Journal:
    """An append-only file of finished entries.

    Parameters
    ----------
    path : str or path-like
        The file; made if need be.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.entries: dict[tuple[str, int, str], Entry] = {}
        self.sessions: list[dict[str, Any]] = []
        self._header: dict[str, Any] | None = None
        self._read_to = 0
        self._damaged = 0
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
        self._fd = os.open(self.path, flags, 0o666)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, which also gives up every claim."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def is_file(self, status: os.stat_result) -> bool:
        """Whether this is the file that the status describes, and it is still open."""
        return self._fd >= 0 and os.path.samestat(os.fstat(self._fd), status)

    def start(self, header: dict[str, Any], session: dict[str, Any]) -> None:
        """Open the journal for a study: write or compare the header, read what is finished, note the session."""
        header = json.loads(json.dumps(header))  # as it will be read back
        with self._appending():
            self.refresh()
            if self._header is None:
                self._refuse_foreign()
                self._write({_MAGIC: 1, **header})
                sync_directory(self.path.parent)
            else:
                self._compare(header)
            self._write({"begin": session})
        self.refresh()
        if self._damaged:
            warnings.warn(
                f"{short_path(self.path)} has {self._damaged} damaged line(s); what they held is computed again.",
                JournalWarning,
                stacklevel=3,
            )

    def refresh(self) -> None:
        """Read the lines that were appended since the last look, by whomever."""
        for record in self._new_records():
            if _MAGIC in record:
                self._header = record
            elif "begin" in record:
                self.sessions.append(record["begin"])
            elif "method" in record:
                entry = Entry.from_record(record)
                known = self.entries.get(entry.journal_key)
                if known is None or not known.ok:  # what was finished first stays, failures give way
                    self.entries[entry.journal_key] = entry

    def find(self, method: str, split: int, spec: str) -> Entry | None:
        """The finished entry, if there is one."""
        return self.entries.get((method, split, spec))

    def append(self, entry: Entry) -> None:
        """Write an entry and wait until it is on the disk."""
        with self._appending():
            self._write(entry.to_record())

    def claim(self, method: str, split: int, spec: str) -> AbstractContextManager[bool]:
        """Try to reserve an entry for this process; yields whether that worked."""
        return byte_lock(self._fd, claim_byte(method, split, spec), wait=False)

    def check_specs(self, specs: dict[str, str]) -> None:
        """Refuse a method that this journal knows with another pipeline or grid."""
        for method, _, spec in self.entries:
            if specs.get(method, spec) != spec:
                raise ProximityError(
                    f"{short_path(self.path)} holds results of {method!r} with another grid or other parameters "
                    f"(fingerprint {spec}, here {specs[method]}). Use another journal, or another name for the method."
                )

    def _appending(self) -> AbstractContextManager[bool]:
        return byte_lock(self._fd, _APPEND)

    def _write(self, record: dict[str, Any]) -> None:
        """Append one line; the caller holds the lock."""
        self._cut_torn_tail()
        body = json.dumps(record, separators=(",", ":"), allow_nan=False).encode()[1:]
        line = _PREFIX + b"%08x" % zlib.crc32(body) + b'",' + body + b"\n"
        view = memoryview(line)
        while view:
            view = view[os.write(self._fd, view) :]
        os.fsync(self._fd)

    def _cut_torn_tail(self) -> None:
        """Remove a last line without an end: its writer died, and nobody has taken it for finished."""
        size = keep = os.fstat(self._fd).st_size
        while keep:
            step = min(keep, 2**16)
            place = self._read(keep - step, step).rfind(b"\n")
            if place >= 0:
                keep += place + 1 - step
                break
            keep -= step
        if keep < size:
            os.ftruncate(self._fd, keep)

    def _new_records(self) -> Iterator[dict[str, Any]]:
        fresh = self._read(self._read_to, os.fstat(self._fd).st_size - self._read_to)
        *lines, _torn = fresh.split(b"\n")
        for line in lines:
            self._read_to += len(line) + 1
            record = _parse(line)
            if record is None:
                self._damaged += 1
            else:
                yield record

    def _read(self, start: int, size: int) -> bytes:
        """Bytes at a place. Always by the one descriptor: to close another would give up this process's locks."""
        os.lseek(self._fd, start, os.SEEK_SET)
        parts = []
        while size > 0 and (part := os.read(self._fd, size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _refuse_foreign(self) -> None:
        """A file with something else in it is not written to; a torn header is our own."""
        start = self._read(0, len(_PREFIX))
        torn_header = not self._read_to and _PREFIX.startswith(start)
        if not torn_header:
            raise ProximityError(
                f"{short_path(self.path)} is not a study's journal, or its first line is damaged. Choose another file."
            )

    def _compare(self, header: dict[str, Any]) -> None:
        known = self._header or {}
        for part, word in (
            ("matrix", "another matrix"),
            ("labels", "other labels"),
            ("groups", "other groups"),
            ("kind", "another kind of proximity"),
            ("measure", "another measure"),
            ("costs", "other costs"),
            ("protocol", "another protocol"),
            ("settings", "other settings"),
        ):
            if known.get(part) != header.get(part):
                raise ProximityError(
                    f"{short_path(self.path)} belongs to {word}: {_brief(known.get(part))} there, "
                    f"{_brief(header.get(part))} here. Use another journal, or remove this one."
                )
        if known.get("versions") != header.get("versions"):
            warnings.warn(
                f"{short_path(self.path)} was begun with other versions ({_brief(known.get('versions'))}; now "
                f"{_brief(header.get('versions'))}); finished entries are kept as they are.",
                JournalWarning,
                stacklevel=4,
            )


def claim_byte(method: str, split: int, spec: str) -> int:
    """The byte whose lock is the claim on an entry."""
    digest = blake2b(f"{split}\0{method}\0{spec}".encode(), digest_size=5).digest()
    return _CLAIMS + int.from_bytes(digest, "big")


def _parse(line: bytes) -> dict[str, Any] | None:
    """The record of a line; None if the line is not what was written."""
    if not line.startswith(_PREFIX):
        return None
    body = line[_HEAD:]
    if line[len(_PREFIX) : _HEAD] != b"%08x" % zlib.crc32(body) + b'",':
        return None
    try:
        record = json.loads(b"{" + body)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


def _brief(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
