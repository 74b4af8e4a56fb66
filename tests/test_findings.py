"""The findings name their commands and results, and say in words what the results say in numbers."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "results" / "findings").glob("*.md"))
RESULTS = ROOT / "benchmarks" / "results"


def load_script():
    spec = importlib.util.spec_from_file_location("finding_tables", ROOT / "benchmarks" / "finding_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TABLES = load_script()


def prose(page):
    """The page as one line, without its tables."""
    return " ".join((ROOT / "docs" / "results" / "findings" / f"{page}.md").read_text().split())


def facts(name):
    return json.loads((RESULTS / "findings" / f"{name}.json").read_text())


@pytest.mark.parametrize("page", [p for p in PAGES if p.stem != "index"], ids=lambda p: p.stem)
def test_a_page_names_its_command_and_its_results(page):
    text = page.read_text()
    assert re.search(r"^Commands?: `", text, flags=re.MULTILINE)
    assert re.search(r"^Results?: ", text, flags=re.MULTILINE)
    for script in re.findall(r"`python (benchmarks/\w+\.py)`", text):
        assert (ROOT / script).exists(), script
    for result in re.findall(r"`((?:benchmarks|papers)/results/[\w./-]+\.json)`", text):
        assert (ROOT / result).exists(), result
    assert f"({page.name})" in (page.parent / "index.md").read_text()


@pytest.mark.parametrize("page, name", list(TABLES.SECTIONS))
def test_tables_are_those_of_the_results(page, name):
    assert TABLES.quoted(page, name) == TABLES.SECTIONS[page, name](), "run: benchmarks/finding_tables.py --write"


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_named_tests_exist(page):
    for file, names in re.findall(r"`(test_\w+\.py)((?:::\w+)+)`", page.read_text()):
        source = (ROOT / "tests" / file).read_text()
        for name in names.strip(":").split("::"):
            assert f"def {name}(" in source, (file, name)


def test_the_words_about_the_floor():
    text, found = prose("floor"), facts("floor")
    bayes = found["bayes_error"]["1/30"]["200"]
    assert f"it is {bayes:.1e} percent" in text
    rows = {(row["table"], row["d"]): row for row in found["naive_bayes"]}
    assert rows["6.1", 200]["as described"] == 0
    for table in ("6.1", "6.3"):
        assert found["equal_to_the_last_digit"][table] == [75, 100, 125, 150, 175, 200]
        equal = ", ".join(f"{rows[table, d]['published']:.2f}" for d in found["equal_to_the_last_digit"][table])
        assert equal in text
    alone = found["floor_alone"]
    assert f"scatter by {alone['scatter']:.2f} points" in text
    for mechanism, words in (
        ("wrong labels", "would scatter by {:.2f}"),
        ("exact halves", "exact halves by {:.2f}"),
        ("independent counts", "independent counts by {:.2f}"),
    ):
        assert words.format(alone[mechanism]["scatter"]) in text
    assert f"(probability {alone['wrong labels']['p of the scatter']:.2g})" in text
    assert f"{alone['exact halves']['mean']:.2f} percent on average" in text
    assert f"{alone['independent counts']['mean']:.2f} percent on average" in text
    fits = {fit["table"]: fit for fit in found["mean_squared_z"]}

    def excluded(mechanism):
        return {table for table, fit in fits.items() if fit[f"{mechanism}, p"] < 0.01}

    assert excluded("as described") == set(fits)
    assert excluded("exact halves") == {"6.2", "6.3", "6.4", "6.8"}
    assert excluded("independent counts") == {"6.1", "6.5"}
    assert excluded("one label vector") == {"6.2"}
    assert [fit["labels of the first class"] for fit in fits.values()] == [502, 503, 511, 515, 507, 501, 510, 520]
    assert len(excluded("wrong labels")) == 7


def test_the_words_about_the_proteins():
    text, found = prose("protein"), facts("protein")
    pairs, wrong, tens = found["pairs"], found["wrong_pairs"], found["pairs_of_ten_or_more"]
    assert found["explained_by_a_lost_ten"]
    for number in (wrong, pairs, pairs - wrong, tens, tens - wrong):
        assert f"{number:,}" in text
    low, high = found["range_of_wrong_distances"]
    assert f"{low:.2f} to {high:.2f}" in text
    by_classes = found["by_classes"]
    assert sum(block["wrong"] for name, block in by_classes.items() if "HA" in name) == wrong
    assert 0.75 < by_classes["HA-HB"]["wrong"] / wrong < 0.85
    assert f"{found['objects_touched']} of the {found['objects']} objects" in text
    assert f"for {found['rows_whose_nearest_is_wrong']} the most similar" in text
    centroid = "nearest centroid, leave-one-out error"
    assert f"{found['damaged'][centroid]:.2f} on the damaged matrix" in text
    assert f"{found['clean'][centroid]:.2f} on the right values" in text


def test_the_words_about_descent():
    found = facts("descent")
    items = {
        (item["matrix"].partition(",")[0], "norm" in item["matrix"], item["epsilon"]): item for item in found["items"]
    }

    def above(item, method):
        return item["methods"][method][-1]["above the optimum"] * item["n"] / 2

    cyclic, single = "cyclic coordinate descent", "SMO, single"
    promoters, sonar = items["promoters", False, 1e-4], items["sonar", False, 1e-4]
    assert round(100 * sonar["methods"][cyclic][-1]["above the optimum"]) == 49
    assert 5 <= 100 * promoters["methods"][cyclic][-1]["above the optimum"] <= 6
    assert above(promoters, single) / promoters["optimum"] == pytest.approx(9, abs=1)  # ten times the optimum
    text = prose("descent")
    assert "In percent of the objective at $a=0$, the objective is above the optimum" in text
    raw = [items["promoters", False, epsilon] for epsilon in (1e-4, 1e-2, 1.0)]
    times = [1 + above(item, cyclic) / item["optimum"] for item in [*raw, sonar]]
    assert f"{min(times):.0f} to {round(max(times), -3):,.0f} times the optimum" in text
    smo = [(item, name) for item in found["items"] for name in item["methods"] if name in (single, "SMO, pairs")]
    assert f"up to {max(1 + above(item, name) / item['optimum'] for item, name in smo):.0f} times the optimum" in text
    assert max(item["methods"][name][-1]["above the optimum"] for item, name in smo) < 0.004
    votes = items["votes", False, 1e-4]
    assert votes["condition of S"] == float("inf")
    assert f"of {promoters['condition of S']:.0f} and {sonar['condition of S']:.0f}" in text
    simulated = items["simulated", False, 1e-4]
    assert above(simulated, single) / simulated["optimum"] == pytest.approx(1, abs=0.2)  # twice
    lines = [
        any(rows[-1]["answers that differ"] for name, rows in item["methods"].items() if "SMO" in name)
        for item in found["items"]
    ]
    assert sum(lines) == 1
    helped = {
        (item["matrix"], item["epsilon"])
        for item in found["items"]
        if 1e-12 < 2 * above(item, "SMO, pairs, annealed") < above(item, "SMO, pairs")
    }
    assert helped == {("votes, counting", 1e-4), ("votes, counting", 1e-2)}
    assert max(item["methods"][cyclic][-1]["answers that differ"] for item in found["items"]) == pytest.approx(
        0.14, abs=0.005
    )
    assert all(
        item["methods"][single][-1]["above the optimum"] < 1e-4 for item in found["items"] if item["epsilon"] == 1
    )
    assert all(item["certified gap"] < 1e-11 for item in found["items"])
    assert all(9 <= item["interior-point steps"] <= 20 for item in found["items"])
    sweeps = [row[cyclic] for row in found["by_condition"]]
    assert 20 < sweeps[-1] / sweeps[2] < 45  # condition 100 against 10


def test_the_words_about_the_duals():
    items = {item["name"]: item for item in json.loads((RESULTS / "learned_kernels.json").read_text())["items"]}
    program = next(item for name, item in items.items() if name.endswith("(5.28), p = 50"))
    assert program["ratio"] > 100
    assert program["peer_above_optimum"] == pytest.approx(0.1, abs=0.02)
    cells = json.loads((ROOT / "papers" / "results" / "chen2010-5.1.json").read_text())["cells"]
    for cell in cells:
        if cell["method"] == "simsvm-socp":
            assert abs(cell["ours"] - cell["published"]) <= cell["tolerance"]
