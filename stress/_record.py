"""Keep what a stress run found, with date, versions, commit and the kind of machine.

A script in this folder ends with::

    from _record import record

    record("kills", summary="212 kills, nothing lost.", items=[{"job": "study", "kills": 80}], failures=[])

docs/reliability.md has a row for each script: the first line of its docstring, and `summary`. `items` are details,
and further facts (seeds, tolerances, limits) are kept as they are. `failures` must be empty for tests/test_stress.py
to pass.
"""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results"
sys.path.insert(0, str(ROOT / "benchmarks"))

from _measure import compact_json, machine, versions  # noqa: E402  (one description of machines for benchmarks and stress)


def record(name: str, *, summary: str, items: list[dict[str, Any]], failures: list[Any], **facts: Any) -> Path:
    """Write ``stress/results/<name>.json``, all or nothing; with SIMILIS_STRESS_QUICK set, print the summary only."""
    from similis import __version__

    whole = {
        "name": name,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "versions": {"similis": __version__, **versions()},
        "machine": {key: value for key, value in machine().items() if key in ("cores", "memory_gb", "system")},
        "summary": summary,
        "items": items,
        "failures": failures,
        **facts,
    }
    if any("commit" in item for item in items):  # some were tried earlier
        items = [{**item, "commit": item.get("commit", whole["commit"])} for item in items]
        whole["items"] = items
    path = RESULTS / f"{name}.json"
    print(f"{name}: {summary} {len(failures)} failures.", flush=True)
    for failure in failures:
        print(f"  {failure}", flush=True)
    if quick():
        return path
    path.parent.mkdir(exist_ok=True)
    draft = path.with_suffix(".part")
    draft.write_text(compact_json(whole))
    draft.replace(path)
    return path


def kept(name: str, key: str, again: list[str]) -> tuple[list[dict[str, Any]], list[Any]]:
    """Items and failures of the result that is there, without those (by the value of `key`) that are tried again."""
    path = RESULTS / f"{name}.json"
    if not path.exists() or quick():
        return [], []
    old = json.loads(path.read_text())
    items = [{**item, "commit": item.get("commit", old["commit"])} for item in old["items"] if item[key] not in again]
    return items, [line for line in old["failures"] if not str(line).startswith(tuple(f"{word}:" for word in again))]


def quick() -> bool:
    """Is this the short version, which leaves the committed results alone?"""
    return bool(os.environ.get("SIMILIS_STRESS_QUICK"))


def commit() -> str:
    """The commit that was tried, with a plus sign if the source had changed since."""

    def git(*command: str) -> str:
        return subprocess.run(["git", "-C", str(ROOT), *command], capture_output=True, text=True).stdout.strip()

    return git("rev-parse", "--short", "HEAD") + ("+" if git("status", "--porcelain", "src") else "")
