"""Journal of a study: a header, then one line per finished (split, method).

The header identifies the study. Several processes may work on one journal: a process claims an entry before it computes
it, by a lock on a byte beyond the end of the file. File format: :mod:`similis._utils.journal`.
"""

from __future__ import annotations

import json
import os
import warnings
from contextlib import AbstractContextManager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from similis._utils.files import short_path, sync_directory
from similis._utils.journal import JsonLines
from similis.exceptions import ProximityError
from similis.study._entry import Entry

__all__ = ["Journal", "JournalWarning"]

_MAGIC = "similis-journal"
_CLAIMS = 2**41  # claims lock bytes from here on
_IDENTITY = {  # parts of the header that must agree, and how an error message calls another one
    "matrix": "another matrix",
    "labels": "other labels",
    "groups": "other groups",
    "kind": "another kind of proximity",
    "measure": "another measure",
    "costs": "other costs",
    "priors": "other priors",
    "protocol": "another protocol",
    "settings": "other settings",
}


class JournalWarning(UserWarning):
    """A journal is continued although it is damaged or was started with other package versions."""


class Journal:
    """Append-only file of finished entries.

    Parameters
    ----------
    path : str or path-like
        The file, created if it does not exist.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.entries: dict[tuple[str, int, str], Entry] = {}
        self.sessions: list[dict[str, Any]] = []
        self._header: dict[str, Any] | None = None
        self._n_damaged = 0
        self._lines = JsonLines(path)

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and release every claim."""
        self._lines.close()

    def is_at(self, path: str | os.PathLike[str]) -> bool:
        """Tell whether the journal is open and is the file that `path` names."""
        return self._lines.is_at(path)

    def start(self, header: dict[str, Any], session: dict[str, Any]) -> None:
        """Open the journal for a study: write or compare the header, read the finished entries, add the session."""
        header = json.loads(json.dumps(header))  # with the types that reading gives
        with self._lines.lock():
            self.refresh()
            if self._header is None:
                if not self._lines.is_unused():
                    raise ProximityError(
                        f"{short_path(self.path)} is not a study's journal, or its first line is damaged. "
                        "Choose another file."
                    )
                self._lines.append([{_MAGIC: 1, **header}])
                sync_directory(self.path.parent)
            else:
                self._compare(header)
            self._lines.append([{"begin": session}])
        self.refresh()
        if self._n_damaged:
            warnings.warn(
                f"{short_path(self.path)} has {self._n_damaged} damaged line(s); their entries are computed again.",
                JournalWarning,
                stacklevel=3,
            )

    def refresh(self) -> None:
        """Read the lines appended since the last call, by any process."""
        for line in self._lines.read_new():
            record = line.record
            if record is None:
                self._n_damaged += 1
            elif _MAGIC in record:
                self._header = record
            elif "begin" in record:
                self.sessions.append(record["begin"])
            elif "method" in record:
                entry = Entry.from_record(record)
                known = self.entries.get(entry.journal_key)
                if known is None or not known.ok:  # the first success counts; a failure is replaced
                    self.entries[entry.journal_key] = entry

    def find(self, method: str, split: int, spec: str) -> Entry | None:
        """Return the finished entry, or None."""
        return self.entries.get((method, split, spec))

    def append(self, entry: Entry) -> None:
        """Write an entry and sync it to disk."""
        with self._lines.lock():
            self._lines.append([entry.to_record()])

    def claim(self, method: str, split: int, spec: str) -> AbstractContextManager[bool]:
        """Try to reserve an entry for this process; yields whether it is reserved."""
        return self._lines.lock(claim_byte(method, split, spec), wait=False)

    def check_specs(self, specs: dict[str, str]) -> None:
        """Reject a method that the journal holds with another pipeline or grid."""
        for method, _, spec in self.entries:
            if specs.get(method, spec) != spec:
                raise ProximityError(
                    f"{short_path(self.path)} holds results of {method!r} with another grid or other parameters "
                    f"(fingerprint {spec}, here {specs[method]}). Use another journal, or another name for the method."
                )

    def _compare(self, header: dict[str, Any]) -> None:
        known = self._header or {}
        if known.get("metric") != header.get("metric"):
            usual = "cost" if header.get("costs") else "error"
            there, here = (given.get("metric") or usual for given in (known, header))
            raise ProximityError(
                f"{short_path(self.path)} belongs to a study whose parameters are chosen by {there}, here by {here}. "
                f"Continue it with the metric {there!r}, or use another journal."
            )
        for part, words in _IDENTITY.items():
            if known.get(part) != header.get(part):
                raise ProximityError(
                    f"{short_path(self.path)} belongs to {words}: {_brief(known.get(part))} there, "
                    f"{_brief(header.get(part))} here. Use another journal, or remove this one."
                )
        if known.get("versions") != header.get("versions"):
            warnings.warn(
                f"{short_path(self.path)} was started with other versions ({_brief(known.get('versions'))}; now "
                f"{_brief(header.get('versions'))}). Its finished entries are used unchanged.",
                JournalWarning,
                stacklevel=4,
            )


def claim_byte(method: str, split: int, spec: str) -> int:
    """Byte whose lock is the claim on an entry."""
    digest = blake2b(f"{split}\0{method}\0{spec}".encode(), digest_size=5).digest()
    return _CLAIMS + int.from_bytes(digest, "big")


def _brief(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
