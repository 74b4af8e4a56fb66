"""The committed stress results are whole and without failures, the page shows them, and no import warns."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import similis

ROOT = Path(__file__).parents[1]


def load_page_script():
    spec = importlib.util.spec_from_file_location("reliability", ROOT / "scripts" / "reliability.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RELIABILITY = load_page_script()


@pytest.mark.parametrize("name", RELIABILITY.parts())
def test_every_part_has_a_result_without_failures(name):
    found = RELIABILITY.results(name)
    assert found is not None, f"run: scripts/stress {name}"
    assert {"date", "commit", "versions", "machine", "summary", "items", "failures"} <= set(found)
    assert {"similis", "python", "numpy", "scipy", "scikit-learn", "numba"} <= set(found["versions"])
    assert set(found["machine"]) == {"cores", "memory_gb", "system"}
    assert found["items"]
    assert not found["failures"]


def test_results_name_no_place():
    for path in (ROOT / "stress" / "results").glob("*.json"):
        text = path.read_text()
        assert not [word for word in ("/home", "/root", "/tmp", "/work", "/Users") if word in text], path.name


def test_enough_kills_hit_the_work():
    kills = sum(item["kills at work"] for item in RELIABILITY.results("kills")["items"])
    assert kills >= 200


def test_the_page_is_current():
    assert RELIABILITY.PAGE.read_text() == RELIABILITY.page(), "run: python scripts/reliability.py --write"


@pytest.mark.slow
def test_no_import_warns():
    modules = ["similis", *(f"similis.{name}" for name in similis._MODULES), "similis.cli"]
    code = "".join(f"import {name} as module\nfor name in module.__all__: getattr(module, name)\n" for name in modules)
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-500:]


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["fuzz_input", "kill_points", "kills", "memory", "mixups", "precision", "quiet", "threads"]
)
def test_parts_run(name, monkeypatch):
    monkeypatch.setenv("SIMILIS_STRESS_QUICK", "1")
    done = subprocess.run([sys.executable, ROOT / "stress" / f"{name}.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-1000:]
