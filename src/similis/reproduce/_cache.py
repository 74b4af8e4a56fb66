"""Finished runs on disk, one JSON line each: a stopped reproduction goes on where it was."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import similis

__all__ = ["RunCache", "default_cache"]


def default_cache() -> Path:
    """Where runs are kept unless the user says otherwise: the system's place for caches."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "similis" / "reproduce.jsonl"


class RunCache:
    """An append-only file of outcomes, found again by (problem, run, method, fingerprint) and the version of similis.

    A line is written, flushed and synced when its run is finished. A line cut short by a crash, or made by another
    version, is passed over.

    Parameters
    ----------
    path : path-like or None
        The file; None keeps nothing.
    """

    def __init__(self, path: str | os.PathLike[str] | None) -> None:
        self.path = None if path is None else Path(path)
        self._known: dict[str, dict[str, Any]] = {}
        if self.path is not None and self.path.exists():
            self._read(self.path.read_bytes().splitlines())

    def get(self, key: str) -> dict[str, Any] | None:
        """The outcome of a finished run, or None."""
        return self._known.get(key)

    def put(self, outcomes: Iterable[tuple[str, dict[str, Any]]]) -> None:
        """Keep finished outcomes; failures are remembered for this session only, so that they are tried again."""
        lines = []
        for key, outcome in outcomes:
            if "failed" in outcome:
                self._known[key] = outcome
                continue
            when = datetime.now(UTC).isoformat(timespec="seconds")
            self._known[key] = {**outcome, "when": when, "commit": source_commit()}
            lines.append(json.dumps({"key": key, "version": similis.__version__, **self._known[key]}))
        if self.path is None or not lines:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self.path, "ab") as file:
            # A line that a crash cut short is closed first, so that it spoils only itself.
            file.write(("\n" + "\n".join(lines) + "\n").encode())
            file.flush()
            os.fsync(file.fileno())

    def _read(self, lines: list[bytes]) -> None:
        for line in lines:
            try:
                entry = json.loads(line)
                if entry.pop("version") == similis.__version__:
                    self._known[entry.pop("key")] = entry
            except (ValueError, KeyError, AttributeError, TypeError):
                continue


@cache
def source_commit() -> str:
    """The commit of the sources that run, marked ``+`` where a source file differs from it; empty if installed."""
    here = Path(similis.__file__).parent
    asked = (("rev-parse", "--short=10", "HEAD"), ("status", "--porcelain", "--untracked-files=no", "--", str(here)))
    try:
        head, changed = (
            subprocess.run(["git", "-C", str(here), *words], capture_output=True, text=True, check=True).stdout.strip()
            for words in asked
        )
        known = subprocess.run(
            ["git", "-C", str(here), "ls-files", "--error-unmatch", "__init__.py"], capture_output=True
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    if known.returncode:  # an environment inside somebody's repository
        return ""
    return head + ("+" if changed else "")
