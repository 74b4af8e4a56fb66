"""Committed benchmarks are whole, and the README quotes nothing else."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RECORDS = sorted((ROOT / "benchmarks" / "results").glob("*.json"))


def load_table():
    spec = importlib.util.spec_from_file_location("table", ROOT / "benchmarks" / "table.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.stem)
def test_records_hold_versions_machine_and_every_repeat(path):
    record = json.loads(path.read_text())
    assert {"date", "machine", "versions"} <= set(record)
    assert {"cpu", "cores", "memory_gb"} <= set(record["machine"])
    assert {"python", "numpy"} <= set(record["versions"])
    for item in record.get("items", ()):
        if "ours_seconds" not in item:
            continue
        assert len(item["ours_seconds"]) >= 2 or len(item["peer_seconds"]) >= 1
        best = min(item["peer_seconds"]) / min(item["ours_seconds"])
        assert best == pytest.approx(item["ratio"], rel=1e-9)


def test_readme_quotes_the_committed_ratios():
    table = load_table()
    readme = (ROOT / "README.md").read_text()
    quoted = readme.split(table.START)[1].split(table.END)[0].strip()
    assert quoted == table.table(), "run: python benchmarks/table.py --write"
