"""Committed benchmarks are whole, and the pages quote nothing else."""

import ast
import importlib.util
import inspect
import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RECORDS = sorted((ROOT / "benchmarks" / "results").glob("*.json"))


def load_script(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # a dataclass looks its module up, and run.py imports targets.py
    spec.loader.exec_module(module)
    return module


README = load_script(ROOT / "scripts" / "readme.py")
TARGETS = load_script(ROOT / "benchmarks" / "targets.py").TARGETS
RUN = load_script(ROOT / "benchmarks" / "run.py")
SCALE = load_script(ROOT / "benchmarks" / "_scale_page.py")


@pytest.mark.parametrize("path", RECORDS, ids=lambda p: p.stem)
def test_records_hold_versions_machine_and_ratios(path):
    record = json.loads(path.read_text())
    assert {"date", "machine", "versions"} <= set(record)
    assert {"cpu", "cores", "memory_gb"} <= set(record["machine"])
    assert {"python", "numpy"} <= set(record["versions"])
    for item in record.get("items", ()):
        if "ours_seconds" in item:
            assert item["peer_seconds"] / item["ours_seconds"] == pytest.approx(item["ratio"], rel=1e-4)


@pytest.mark.parametrize(("page", "name"), list(README.SECTIONS))
def test_pages_quote_what_the_repository_holds(page, name):
    assert README.quoted(page, name) == README.SECTIONS[page, name](), "run: python scripts/readme.py --write"


@pytest.mark.parametrize(
    ("page", "words", "record", "start", "least"),
    [
        ("svm", "more than 40 times faster", "compact", "SpectrumClip + SVC, n = 800, 2 classes", 40),
        ("normal", "the grid takes less time than SciPy's `eigh`", "normal", "RNLC, 20 regularizers, n = 2500", 1),
        ("proximity", "about 15 times faster at 1,000 objects", "spectrum", "clip of a kernel, n = 1000", 14),
    ],
)
def test_speeds_in_the_user_guide_are_measured(page, words, record, start, least):
    assert words in " ".join((ROOT / "docs" / "guide" / f"{page}.md").read_text().split())
    (item,) = (item for item in RUN.read(ROOT / "benchmarks" / "results", record) if item["name"].startswith(start))
    assert item["ratio"] > least


@pytest.mark.parametrize(("ratio", "listed"), [(4.9, True), (5.2, False)])
def test_goals_that_are_left_open_are_not_reached(ratio, listed, monkeypatch):
    goals = [goal for goal in README.OPEN_GOALS if goal.work == "Tanimoto"]
    found = [{"record": "measures", "name": "Tanimoto, 2048 bits", "peer": "float32 product", "ratio": ratio}]
    monkeypatch.setattr(README, "items", lambda: found)
    monkeypatch.setattr(README, "OPEN_GOALS", goals)
    assert ("| Tanimoto | " in README.open_goals()) == listed


@pytest.mark.parametrize("name", list(README.TABLES))
def test_csv_tables_are_those_of_the_records(name):
    committed = (ROOT / "benchmarks" / "results" / f"{name}.csv").read_text()
    assert committed == README.table(name), "run: python scripts/readme.py --write"


@pytest.mark.parametrize("page", SCALE.PAGES, ids=lambda page: page.stem)
def test_the_pages_on_scale_quote_what_was_measured(page):
    text = page.read_text()
    assert "<!-- end of " in text
    assert SCALE.filled(text) == text, "run: python benchmarks/bench_scale.py page"
    assert SCALE.METHODS.read_text() == SCALE.methods()


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: f"{t.item}-{t.peer}")
def test_every_promise_is_measured_and_no_script_holds_itself_to_less(target):
    items = target.items(RUN.read(ROOT / "benchmarks" / "results", target.record))
    assert items, f"nothing in results/{target.record}.json answers for {target.item}"
    assert all(item["floor"] is not None and item["floor"] >= target.floor for item in items)
    assert target.goal >= target.floor


def test_all_kinds_of_work_are_promised_and_all_scripts_are_run():
    assert len({target.work for target in TARGETS}) >= 18
    scripts = {path.stem.removeprefix("bench_") for path in (ROOT / "benchmarks").glob("bench_*.py")}
    assert scripts == {*RUN.SCRIPTS, *RUN.BY_HAND}
    written = {record for records in RUN.SCRIPTS.values() for record in records} | {*RUN.BY_HAND}
    assert {target.record for target in TARGETS} <= written


def test_a_missed_floor_is_said_and_counted(tmp_path, capsys):
    item = {"peer": "plain", "ours_seconds": 1.0, "peer_seconds": 3.0, "ratio": 3.0}
    found = [item | {"name": "a", "floor": 4, "goal": 9}, item | {"name": "b", "floor": 2, "goal": 3}]
    found += [item | {"name": "c", "floor": 2, "goal": 4}, item | {"name": "d", "floor": None, "goal": None}]
    (tmp_path / "compact.json").write_text(json.dumps({"items": found}))
    assert RUN.report(["compact"], tmp_path) == 1
    assert RUN.report(["compact"], tmp_path, failed=["compact"]) == 2
    assert RUN.report(["compact", "psvm"], tmp_path) == 4  # three promises without an answer
    printed = capsys.readouterr().out
    verdicts = [line.split()[-1] for line in printed.splitlines() if line.startswith(tuple("abcd"))][:4]
    assert verdicts == ["MISSED", "goal", "met", "3x"]
    assert "floors met: 2 of 3; goals reached: 1 of 3; compact did not finish" in printed


SCRIPTS = [path for folder in ("benchmarks", "stress", "docs", "scripts") for path in (ROOT / folder).rglob("*.py")]


@pytest.mark.parametrize("path", sorted(SCRIPTS), ids=lambda p: str(p.relative_to(ROOT)))
def test_names_of_similis_that_scripts_use_exist(path):
    """Most scripts run by hand only; a renamed function must not break them unnoticed."""
    tree = ast.parse(path.read_text())
    known = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in ("similis", "papers"):
            module = importlib.import_module(node.module)
            for alias in node.names:
                if not hasattr(module, alias.name):
                    importlib.import_module(f"{node.module}.{alias.name}")
                known[alias.asname or alias.name] = getattr(module, alias.name)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = known.get(node.value.id)
            if inspect.ismodule(owner) or inspect.isclass(owner):
                assert hasattr(owner, node.attr), f"line {node.lineno}: {node.value.id}.{node.attr}"


def test_the_leaderboard_quotes_its_record(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    page = load_script(ROOT / "benchmarks" / "_leaderboard_page.py")
    rows = [
        {"set": name, "method": method, "by": by, "error": error, "seconds": 0.1, "splits": 2}
        for name in ("iris", "wine")
        for method, by, error in (("knn", "similis", 0.1), ("ikfd", "similis", 0.2), ("svc-raw", "peer", 0.3))
    ]
    record = {
        "date": "2026-11-18",
        "machine": {"cpu": "one"},
        "versions": {"python": "3.11"},
        "protocol": {"folds": 5},
        "sets": [{"set": name, "objects": 150, "splits": 2} for name in ("iris", "wine")],
        "rows": rows,
    }
    text = page.page(record)
    assert "| 1.0 | `knn` | 10.0 % | 0.1 | 2 |  |" in text
    assert "The best peer is svc-raw (mean rank 3.0, error 30.0 %)" in text
    assert "**Start with `knn`**" in text
    assert "`knn` (0.1 s, 10.0 %)." in text
    path = ROOT / "benchmarks" / "results" / "leaderboard.json"
    measured = json.loads(path.read_text()) if path.exists() else None
    shown = (ROOT / "docs" / "leaderboard.md").read_text()
    (worse,) = re.findall(r"differs significantly from the last (\d+) only", shown)
    mean = [float(rank) for rank in re.findall(r"^\| ([\d.]+) \| .* % \|", shown, flags=re.MULTILINE)]
    (critical,) = re.findall(r"farther apart than ([\d.]+) differ", shown)
    assert int(worse) == sum(rank > mean[0] + float(critical) for rank in mean)
    assert page.page(measured) == shown, "run: python benchmarks/leaderboard.py page"
