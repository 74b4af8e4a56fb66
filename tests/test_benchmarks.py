"""Committed benchmarks are whole, and the pages quote nothing else."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RECORDS = sorted((ROOT / "benchmarks" / "results").glob("*.json"))


def load_readme_script():
    spec = importlib.util.spec_from_file_location("readme", ROOT / "scripts" / "readme.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


README = load_readme_script()


@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.stem)
def test_records_hold_versions_machine_and_every_repeat(path):
    record = json.loads(path.read_text())
    assert {"date", "machine", "versions"} <= set(record)
    assert {"cpu", "cores", "memory_gb"} <= set(record["machine"])
    assert {"python", "numpy"} <= set(record["versions"])
    for item in record.get("items", ()):
        if "ours_seconds" in item:
            best = min(item["peer_seconds"]) / min(item["ours_seconds"])
            assert best == pytest.approx(item["ratio"], rel=1e-9)
            assert item["ours_seconds"]


@pytest.mark.parametrize(("page", "name"), list(README.SECTIONS))
def test_pages_quote_what_the_repository_holds(page, name):
    assert README.quoted(page, name) == README.SECTIONS[page, name](), "run: python scripts/readme.py --write"
