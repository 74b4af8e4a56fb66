"""Write the facts behind docs/results/findings with date, versions and kind of machine."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from _measure import PACKAGES, RESULTS, machine, versions


def write_facts(name: str, *, packages: tuple[str, ...] = (), **facts: Any) -> Path:
    """Write ``results/findings/<name>.json``, all or nothing, and print it."""
    folder = Path(os.environ.get("SIMILIS_BENCH_RESULTS") or RESULTS) / "findings"
    folder.mkdir(parents=True, exist_ok=True)
    record = {
        "name": name,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "versions": versions(PACKAGES + packages),
        **facts,
    }
    path, draft = folder / f"{name}.json", folder / f"{name}.part"
    draft.write_text(json.dumps(record, indent=1) + "\n")
    draft.replace(path)
    print(json.dumps(facts, indent=1))
    return path
