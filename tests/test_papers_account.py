"""No published cell is unaccounted for, and the committed pages are those that the committed results make."""

import csv
import math
import os
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from papers import EXPERIMENTS, account_for, published_cells, read_results, reproduce_tables, write_pages
from papers.account import MISSING
from papers.methods import CHEN
from papers.pages import judged_cells
from papers.published import PAPERS
from similis.study import AtMost

ROOT = Path(__file__).parents[1]
RECORDS, PAGES = ROOT / "papers" / "results", ROOT / "docs" / "results"
STATUSES = {"compared", "set-up", "times", "left open", "too large", "no kernel", "stand-in", "no data"}


def test_every_published_cell_is_accounted_for():
    accounts = [(cell, account_for(cell)) for cell in published_cells()]
    assert {account.status for _, account in accounts} == STATUSES
    assert all(account.why for _, account in accounts if account.status != "compared")
    assert {cell.dataset for cell, account in accounts if account.status == "no data"} == set(MISSING)


@pytest.mark.parametrize("paper", PAPERS)
def test_cells_of_the_neighboring_folder_are_all_packaged(paper):
    path = Path(os.environ.get("SIMILIS_DATA", "nowhere")).parent / "published" / f"{paper}.csv"
    if not path.exists():
        pytest.skip("the folder published beside SIMILIS_DATA is not there")
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    keys = ("table", "dataset", "method", "quantity", "value", "text")
    printed = Counter(tuple(row[key] for key in keys) for row in rows)
    attributes = ("table", "dataset", "method", "quantity", "printed", "text")
    packaged = Counter(tuple(getattr(cell, key) for key in attributes) for cell in published_cells(paper))
    assert not printed - packaged


def printed_grid(text):
    """The numbers of a list such as 10^-6, 10^-5, ..., 10, and 10^6; powers of ten unless it counts from one."""
    parts = [part.strip().removeprefix("and ") for part in text.split(",")]
    known = [None if part == "..." else float(part.replace("10^", "1e")) for part in parts]
    found = []
    for before, value, after in zip([None, *known], known, [*known[1:], None]):
        if value is not None:
            found.append(value)
        elif "^" in text:
            found += [10.0**power for power in range(round(math.log10(before)) + 1, round(math.log10(after)))]
        else:
            found += list(range(int(before) + 1, int(after)))
    return found


NAMES = {
    ("all-local", "k"): ("knn", "n_neighbors"),
    ("kri-knn", "lambda"): ("kri-knn(clip)", "regularization"),
    ("krr-knn", "lambda"): ("krr-knn(pinv)", "regularization"),
    ("psvm", "epsilon"): ("psvm", "epsilon"),
    ("psvm", "C"): ("psvm", "C"),
    ("svm-knn", "C"): ("svm-knn(clip)", "C"),
    ("svm(linear,clip,flip,shift)", "C"): ("svm-kernel(clip)", "svc__C"),
    ("svm-features(rbf)", "C"): ("svm-features(rbf)", "svc__C"),
    ("svm-features(rbf)", "gamma"): ("svm-features(rbf)", "pairwise__measure__gamma"),
}


@pytest.mark.parametrize(
    "cell", published_cells("chen2010", "4.2"), ids=lambda c: f"{c.method}-{c.condition['parameter']}"
)
def test_the_grids_of_table_4_2_are_tried_here_too(cell):
    method, parameter = NAMES[cell.method, cell.condition["parameter"]]
    values = CHEN[method].grid[parameter]
    values = values.values if isinstance(values, AtMost) else values
    assert list(values) == pytest.approx(printed_grid(cell.text))


def test_no_cell_is_compared_twice():
    for cell in published_cells():
        assert sum(experiment.covers(cell) for experiment in EXPERIMENTS) <= 1


def test_sizes_and_words_about_data_are_facts():
    cell = next(c for c in published_cells("chen2010", "4.1", quantity="psd") if c.dataset == "Aural Sonar")
    assert (cell.value, cell.text, cell.rounding) == (0.0, "no", 0.5)
    assert account_for(cell).status == "compared"


@pytest.mark.slow
def test_facts_about_the_data_at_hand():
    result = reproduce_tables(["chen2010:4.1", "qiao2013:1", "pekalska2000:1"])
    known = [c for c in result.cells if c.verdict != "no data"]
    assert {c.verdict for c in known} == {"agrees"}
    assert {c.dataset for c in known} >= {"Iris", "Sonar"}  # these need no folder


def test_the_word_all_is_everything():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("papers.experiments.Experiment.cells", lambda self: [])
        assert reproduce_tables(["all"], runs=1).runs.keys() == {e.key for e in EXPERIMENTS}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    return {path.name: path.read_text() for path in write_pages(RECORDS, folder)}


def test_committed_pages_are_made_from_the_committed_results(pages):
    committed = {path.name: path.read_text() for path in PAGES.glob("*.md")}
    assert committed.keys() - pages.keys() == {"cost.md", "differences.md", "speed.md", "study.md"}
    for name, text in pages.items():
        assert text.partition("\n")[2] == committed[name].partition("\n")[2], f"{name}: run scripts/reproduce --pages"


def test_every_table_with_an_experiment_has_results():
    assert {f"{r['paper']}:{r['table']}" for r in read_results(RECORDS)} == {e.key for e in EXPERIMENTS}


def test_results_hold_every_cell_that_is_said_to_be_compared():
    for record in read_results(RECORDS):
        cells = published_cells(record["paper"], record["table"])
        compared = sum(account_for(cell).status == "compared" for cell in cells)
        judged = [cell for cell in judged_cells(record) if cell["verdict"] != "beside"]
        assert len(judged) == compared, record["table"]
        assert not [cell for cell in judged if cell["verdict"] in ("no data", "failed")]


def test_the_counts_add_up(pages):
    rows = [line.strip("| ").split(" | ") for line in pages["index.md"].splitlines() if line.startswith("| ")]
    counts = [list(map(int, row[1:])) for row in rows if row[-1].isdigit()]
    assert len(counts) == len(PAPERS) + 1
    assert counts[-1] == [sum(column) for column in zip(*counts[:-1])]
    assert counts[-1][0] == len(published_cells())
    with open(RECORDS / "counts.csv", encoding="utf-8", newline="") as file:
        tables = [list(map(int, row[3:])) for row in list(csv.reader(file))[1:]]
    assert counts[-1] == [sum(column) for column in zip(*tables)]
    for printed, *parts in (*counts, *tables):
        assert printed == sum(parts)


def test_the_pages_are_short(pages):
    """Words of all result pages, without code and numbers."""
    texts = [re.sub("^```.*?^```", "", path.read_text(), flags=re.M | re.S) for path in PAGES.rglob("*.md")]
    assert sum(len(re.findall(r"\S*[^\W\d]\S*", text)) for text in texts) < 8000
    for paper in PAPERS:  # two screens: the tables are folded
        open_text = re.sub("<details>.*?</details>", "", pages[f"{paper}.md"], flags=re.DOTALL)
        assert len(open_text.split()) < 850, paper


def test_headings_start_at_one_and_skip_no_level(pages):
    for name, text in pages.items():
        levels = [len(line) - len(line.lstrip("#")) for line in text.splitlines() if re.match("#+ ", line)]
        assert levels[0] == 1, name
        assert levels.count(1) == 1, name
        assert all(b - a <= 1 for a, b in pairwise(levels)), name


def test_links_between_pages_lead_somewhere(pages):
    anchors = {
        name: {re.sub("[^a-z0-9 -]", "", head.lower()).replace(" ", "-") for head in re.findall("(?m)^##+ (.*)", text)}
        for name, text in pages.items()
    }
    for name, text in pages.items():
        for target, _, anchor in re.findall(r"\]\(([^)#]*)(#([^)]*))?\)", text):
            if "/" in target:
                assert (PAGES / target).exists(), (name, target)
                continue
            assert (target or name) in pages, (name, target)
            assert not anchor or anchor in anchors[target or name], (name, target, anchor)
