"""Journal of a study: a header, then one line per finished (split, method).

Every entry holds the fingerprint of its study; an entry of version 1.0 belongs to the header above it. A process claims
an entry before it computes it, by a lock on a byte beyond the end of the file.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from similis._utils.files import short_path, sync_directory
from similis._utils.journal import JsonLines
from similis._utils.messages import warn_user
from similis.exceptions import ProximityError
from similis.study._entry import Entry
from similis.study._methods import MethodIdentity

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
    """Append-only file of finished entries, created if it does not exist."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.study = ""  # fingerprint of the study whose entries are used; set by `start` and `join`
        self._entries: dict[str, dict[tuple[str, int, str], Entry]] = {}  # by study
        self._sessions: dict[str, list[dict[str, Any]]] = {}
        self._decisions: dict[str, list[dict[str, Any]]] = {}
        self._headers: dict[str, dict[str, Any]] = {}  # those of the file
        self.header: dict[str, Any] = {}  # of this study, for `join` in other processes
        self._above = ""  # study of the last header that was read
        self._n_damaged = 0
        self._lines = JsonLines(path)
        self.session = ""  # run of the study that a worker process has joined
        self._replaced: list[JsonLines] = []  # files that are gone; their claims are released when they are closed

    @property
    def entries(self) -> dict[tuple[str, int, str], Entry]:
        """Finished entries of the study, by :attr:`Entry.journal_key`."""
        return self._entries.get(self.study or next(iter(self._headers), ""), {})

    @property
    def sessions(self) -> list[dict[str, Any]]:
        return self._sessions.get(self.study or next(iter(self._headers), ""), [])

    def close(self) -> None:
        """Close the file and release every claim."""
        for lines in (self._lines, *self._replaced):
            lines.close()

    def is_at(self, path: str | os.PathLike[str]) -> bool:
        """Tell whether the journal is open and is the file that `path` names."""
        return self._lines.is_at(path)

    def start(
        self, header: dict[str, Any], session: dict[str, Any], methods: Mapping[str, MethodIdentity] | None = None
    ) -> None:
        """Open the journal for a study: find or write its header, read the finished entries, add the session."""
        header = json.loads(json.dumps(header))  # with the types that reading gives
        where, known = short_path(self.path), header
        with self._lines.lock():
            self.refresh()
            if self._headers:
                same = self._headers.get(study_fingerprint(header))
                candidates = [same] if same is not None else list(self._headers.values())
                others = [_difference(candidate, header) for candidate in candidates]
                if None not in others:
                    raise ProximityError(f"{where} belongs to {others[0]}. Use another journal, or remove this one.")
                known = candidates[others.index(None)]
            elif self._lines.is_unused():
                self._lines.append([{_MAGIC: 1, **header}])
                sync_directory(self.path.parent)
            else:
                raise ProximityError(
                    f"{where} is not a study's journal, or its first line is damaged. Choose another file."
                )
            self.join(known)
            self._lines.append([{"begin": session, "study": self.study}])
        self.refresh()
        methods = methods or {}
        if "exact" not in self.header:  # entries of 1.0 get the fingerprints that their methods have now
            for (name, split, spec), entry in list(self.entries.items()):
                method = methods.get(name)
                if method is not None and spec == method.before != method.spec:
                    self.entries[name, split, method.spec] = replace(entry, spec=method.spec)
                    del self.entries[name, split, spec]
        self._warn_about(header, known, methods)

    def join(self, header: dict[str, Any]) -> None:
        """Use the entries of the study with this header."""
        self.header = {key: value for key, value in header.items() if key != _MAGIC}
        self.study = study_fingerprint(header)

    def refresh(self) -> None:
        """Read the lines appended since the last call, by any process; restore a file that was removed or replaced."""
        self._read(self._lines)
        if self.header and (self._lines.is_truncated() or not self._lines.is_at(self.path)):
            self._restore()

    def _read(self, lines: JsonLines) -> None:
        for line in lines.read_new():
            record = line.record
            if record is None:
                self._n_damaged += 1
                if _MAGIC.encode() in line.text:
                    self._above = "unknown"
            elif _MAGIC in record:
                self._above = study_fingerprint(record)
                self._headers.setdefault(self._above, record)
            elif "begin" in record:
                self._sessions.setdefault(record.get("study", self._above), []).append(record["begin"])
            elif "decision" in record:
                self._decisions.setdefault(record.get("study", self._above), []).append(record["decision"])
            elif "method" in record:
                try:
                    self._keep(record.get("study", self._above), Entry.from_record(record))
                except ProximityError:
                    self._n_damaged += 1

    def _keep(self, study: str, entry: Entry) -> None:
        entries = self._entries.setdefault(study, {})
        known = entries.get(entry.journal_key)
        if known is None or not known.ok:  # the first success counts; a failure is replaced
            entries[entry.journal_key] = entry

    def append(self, entry: Entry) -> None:
        """Write an entry and sync it to disk."""
        if self.header:
            self.refresh()
            if self.study not in self._headers:  # an empty file in place of one that was removed
                self._restore()
        with self._lines.lock():
            self._lines.append([self._record(entry)])
        self._keep(self.study or self._above, entry)  # the line may be lost before it is read

    def decisions(self, plan: str, header: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        """Decisions that earlier runs made by the clock in a plan; before :meth:`start`, of the study of a header."""
        study = self.study
        if header is not None:
            self.refresh()
            study = study_fingerprint(json.loads(json.dumps(header)))
        return [found for found in self._decisions.get(study, []) if found["plan"] == plan]

    def append_decisions(self, plan: str, decisions: list[dict[str, Any]]) -> None:
        """Write decisions that depend on the clock, so that a later run of the same plan repeats them."""
        if decisions:
            with self._lines.lock():
                self._lines.append([{"decision": {"plan": plan, **d}, "study": self.study} for d in decisions])

    def _record(self, entry: Entry) -> dict[str, Any]:
        return entry.to_record() | ({"study": self.study} if self.study else {})

    def _restore(self) -> None:
        """Write the header and all entries that are known to the file that now has the name of the journal."""
        old, self._lines = self._lines, JsonLines(self.path)
        self._replaced.append(old)
        entries, self._entries = self._entries, {}
        sessions, self._sessions = self._sessions, {}
        self._headers, self._above = {}, ""
        with self._lines.lock():
            self._read(self._lines)
            found = self._entries.get(self.study, {})
            lost = [entry for key, entry in entries.get(self.study, {}).items() if key not in found]
            records: list[dict[str, Any]] = []
            if self.study not in self._headers:
                records = [{_MAGIC: 1, **self.header}]
                records += [{"begin": s, "study": self.study} for s in sessions.get(self.study, [])]
                records += [{"decision": d, "study": self.study} for d in self._decisions.get(self.study, [])]
            records += map(self._record, lost)
            ours = set(self._entries) == {self.study}  # entries that a process wrote before it noticed
            if self.study not in self._headers and not ours and not self._lines.is_unused():
                saved = self.path.with_name(f"{self.path.name}.{self.study[:6]}.saved")
                saved.unlink(missing_ok=True)
                lines = JsonLines(saved)
                lines.append(records)
                lines.close()
                what = f"{short_path(self.path)} was replaced by another file during the study."
                advice = f"The finished entries are in {short_path(saved)}; name it as the journal to resume."
                raise ProximityError(f"{what} {advice}")
            if records:
                self._lines.append(records)
                sync_directory(self.path.parent)
            self._read(self._lines)

    def claim(self, method: str, split: int, spec: str) -> AbstractContextManager[bool]:
        """Try to reserve an entry for this process; yields whether it is reserved."""
        return self._lines.lock(claim_byte(method, split, spec), wait=False)

    def check_specs(self, specs: dict[str, str]) -> None:
        """Reject a method that the journal holds with another pipeline or grid; one that failed may be changed."""
        for (method, _, spec), entry in self.entries.items():
            if entry.ok and specs.get(method, spec) != spec:
                other = f"another grid, other parameters or other code (fingerprint {spec}, here {specs[method]})"
                advice = "Use another journal, or another name for the method."
                raise ProximityError(f"{short_path(self.path)} holds results of {method!r} with {other}. {advice}")

    def _warn_about(self, header: dict[str, Any], known: dict[str, Any], methods: Mapping[str, MethodIdentity]) -> None:
        where = short_path(self.path)
        messages = []
        if self._n_damaged:
            messages.append(f"{where} has {self._n_damaged} damaged line(s); their entries are computed again.")
        if len(self._headers) > 1:
            messages.append(f"{where} holds {len(self._headers)} studies; only the entries of this one are used.")
        before, now = known.get("versions"), header.get("versions")
        if before != now:
            there = f"with other versions ({_brief(before)}; now {_brief(now)})"
            messages.append(f"{where} was started {there}. Its finished entries are used unchanged.")
        parts = _unverified(known, header)
        parts += [f"{part} of {name}" for name, method in methods.items() for part in method.unverified]
        if parts and self.entries:
            what = f"{_brief(', '.join(parts))} cannot be verified to be the same as before"
            advice = "Finished entries are used unchanged; use another journal if it has changed."
            messages.append(f"{where}: {what}. {advice}")
        for message in messages:
            warn_user(message, JournalWarning)


def study_fingerprint(header: Mapping[str, Any]) -> str:
    """Fingerprint of the study that a header describes."""
    parts = {part: header.get(part) for part in (*_IDENTITY, "metric")}
    exact = header.get("exact") or {}
    text = json.dumps([parts, exact.get("measure"), exact.get("train")], sort_keys=True)
    return blake2b(text.encode(), digest_size=8).hexdigest()


def _difference(known: dict[str, Any], header: dict[str, Any]) -> str | None:
    """Say what another study a header belongs to; None if it is the same."""
    if known.get("metric") != header.get("metric"):
        usual = "cost" if header.get("costs") else "error"
        there, here = known.get("metric") or usual, header.get("metric") or usual
        return f"a study whose parameters are chosen by {there}, here by {here}. Continue it with the metric {there!r}"
    for part, words in _IDENTITY.items():
        ours = header.get(part)
        if part == "settings" and "exact" not in known and isinstance(ours, dict):  # which 1.0 did not write
            ours = {key: value for key, value in ours.items() if key != "probabilities"}
        if (theirs := known.get(part)) != ours:
            if isinstance(theirs, dict) and isinstance(ours, dict):  # name what differs
                theirs, ours = ({k: a[k] for k in a if a[k] != b.get(k)} for a, b in ((theirs, ours), (ours, theirs)))
            return f"{words}: {_brief(theirs)} there, {_brief(ours)} here"
    there, here = known.get("exact") or {}, header.get("exact") or {}
    if "exact" in known and there.get("train") != here.get("train"):
        return "another protocol: its training parts are other objects"
    if "measure" in there and there["measure"] != here.get("measure") and not _other_bytecode(there, here):
        return f"another measure: its parameters, or the code of its functions, differ from {_brief(known['measure'])}"
    return None


def _other_bytecode(there: dict[str, Any], here: dict[str, Any]) -> bool:
    """Tell whether functions were compiled by another version of Python, so that fingerprints cannot be compared."""
    return bool(there.get("code")) and there.get("python") != here.get("python")


def _unverified(known: dict[str, Any], header: dict[str, Any]) -> list[str]:
    """Parts of the measure that cannot be compared with those of a journal."""
    there, here = known.get("exact") or {}, header.get("exact") or {}
    if "measure" not in here:
        return []
    if "measure" not in there:  # 1.0 stored 200 characters, and functions by name
        return ["the measure"] if here.get("code") or len(known.get("measure") or "") >= 200 else []
    if _other_bytecode(there, here):
        return [f"functions of the measure (Python {there.get('python')}; now {platform.python_version()})"]
    return [f"{part} of the measure" for part in here.get("unverified", [])]


def claim_byte(method: str, split: int, spec: str) -> int:
    """Byte whose lock is the claim on an entry."""
    digest = blake2b(f"{split}\0{method}\0{spec}".encode(), digest_size=5).digest()
    return _CLAIMS + int.from_bytes(digest, "big")


def _brief(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
