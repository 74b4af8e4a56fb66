"""Verdicts by the fixed rule, runs as studies, journals, results and pages: on small problems with known answers."""

import csv
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from oracles.knn_votes import leave_one_out_knn

from papers import (
    EXPERIMENTS,
    account_for,
    default_cache,
    note_repetition,
    published_cells,
    read_results,
    reproduce_tables,
    write_pages,
    write_results,
)
from papers.__main__ import main
from papers.data import Data, load_data
from papers.methods import BENCHMARK, SIMULATION
from papers.notes import NOTES, notes_on
from papers.problems import LeaveOneOut, PerturbedCentroids, Problem
from papers.published import PAPERS
from papers.records import _seconds
from papers.runner import run_once
from papers.verdict import joint_differences, judge
from similis.datasets import load_benchmark
from similis.exceptions import DataNotFoundError, ProximityError
from similis.neighbors import SimilarityKNN
from similis.study import AtMost, Method


def outcomes(values, quantity="error"):
    return [{"values": {quantity: v}, "chosen": {}, "seconds": 0.1} for v in values]


def cell(paper, table, method, dataset=None):
    return next(c for c in published_cells(paper, table, method=method) if dataset is None or c.dataset == dataset)


# Verdicts


def test_the_printed_spread_is_used_with_the_papers_runs():
    published = cell("chen2010", "4.5", "knn", "Protein")  # 29.88 (9.96), 20 splits
    ours = [20.0, 22.0, 24.0, 26.0]
    found = judge(published, "", outcomes(ours), paper_runs=20)
    error = math.hypot(np.std(ours, ddof=1) / 2, 9.96 / math.sqrt(20))
    assert found.standard_error == pytest.approx(error)
    assert found.tolerance == pytest.approx(3 * error + 0.005)
    assert found.difference == pytest.approx(23 - 29.88)
    assert found.verdict == "agrees"


def test_without_a_spread_the_paper_is_taken_to_spread_like_us():
    published = cell("chen2010", "4.6", "krr-knn(pinv)", "Protein")  # 9.53
    ours = [1.0, 2.0, 3.0]
    found = judge(published, "", outcomes(ours), paper_runs=20)
    assert found.standard_error == pytest.approx(math.sqrt(1 / 3 + 1 / 20))
    assert found.verdict == "better"
    assert found.is_miss


def test_no_spread_at_all_leaves_the_rounding_of_the_print():
    published = cell("cazzanti2007", "6.9", "nc")  # 41.78
    assert judge(published, "", outcomes([41.7840] * 3), paper_runs=20, in_order=True).verdict == "agrees"
    assert judge(published, "", outcomes([41.90] * 3), paper_runs=20, in_order=True).verdict == "worse"
    one = judge(published, "", outcomes([41.90] * 3), paper_runs=20, in_order=True, resolution=100 / 213)
    assert one.verdict == "agrees"


def test_leave_one_out_is_judged_in_the_order_of_the_file():
    published = cell("cazzanti2007", "6.9", "nc")  # 41.78
    found = judge(published, "", outcomes([41.0, 45.0, 47.0]), paper_runs=20, in_order=True)
    assert found.ours == 41.0
    assert found.standard_error == pytest.approx(np.std([41, 45, 47], ddof=1))
    assert found.verdict == "agrees"


def test_a_high_normalized_cross_entropy_is_better():
    published = cell("chen2010", "4.8", "knn", "Voting")  # 0.7984
    assert judge(published, "", outcomes([0.9, 0.9], "nce"), paper_runs=1).verdict == "better"
    assert judge(published, "", outcomes([0.5, 0.5], "nce"), paper_runs=1).verdict == "worse"


def test_one_run_gives_no_verdict_and_a_failure_its_reason():
    published = cell("cazzanti2007", "6.9", "nc")
    assert judge(published, "", outcomes([10.0]), paper_runs=1).verdict == "one run"
    failed = judge(published, "", [*outcomes([10.0]), {"failed": "ValueError: no"}], paper_runs=1)
    assert (failed.verdict, failed.reason, failed.ours) == ("failed", "ValueError: no", None)
    assert judge(published, "", [], paper_runs=1, reason="not here").reason == "not here"


# Methods and problems


@dataclass(frozen=True)
class SmallLeaveOneOut(LeaveOneOut):
    """25 objects with many ties."""

    def data(self, run):
        rng = np.random.default_rng(7)
        X = rng.integers(0, 2, (25, 6))
        S = (X[:, None] == X[None]).sum(-1).astype(float)
        data = Data(rng.integers(0, 2, 25), S)
        return data if run == 0 else data.take(self.generator(run).permutation(25))


@pytest.mark.parametrize("run", [0, 1])
def test_nested_leave_one_out_against_plain_loops(run):
    problem = SmallLeaveOneOut("small")
    data = problem.data(run)
    method = replace(BENCHMARK["knn"], grid={"n_neighbors": AtMost((1, 3, 5, 99))})
    plain = [leave_one_out_knn(data.matrix, data.labels, i, (1, 3, 5)) for i in range(25)]
    outcome = run_once(problem, run, [method])["knn"]
    wrong = sum(label != truth for (_, label), truth in zip(plain, data.labels))
    assert outcome["values"]["error"] == pytest.approx(4 * wrong)
    sizes = [k for k, _ in plain]
    assert outcome["chosen"] == {"n_neighbors": max(sizes, key=sizes.count)}


def test_leave_one_out_is_shuffled_in_all_runs_but_the_first():
    problem = SmallLeaveOneOut("small")
    first, second = problem.data(0), problem.data(1)
    assert not np.array_equal(first.labels, second.labels)
    assert sorted(first.labels) == sorted(second.labels)
    assert problem.resolution == 4.0


def test_the_simulated_floor_is_that_of_one_label_vector():
    """A classifier without errors is charged for the test samples beyond the labels of their class."""
    problem = PerturbedCentroids("floor", p=("1/3", "1/30"), d=200, first=502)
    (cell,) = published_cells("cazzanti2007", "6.1", method="nnsda")[:1]
    assert SIMULATED.problem(cell).first == 502  # the printed error of one-class answers at d = 2 is 49.8
    floors = []
    for run in range(6):
        values = run_once(problem, run, [SIMULATION["naive-bayes"]])["naive-bayes"]["values"]
        assert values["error"] == 0
        floors.append(values["error with floor"])
        first = np.count_nonzero(problem.data(run).labels[100:] == 0)
        assert floors[-1] == pytest.approx(abs(first - 502) / 10)
    assert 0.2 < np.mean(floors) < 3.0


class Broken(SimilarityKNN):
    def fit(self, X, y):
        raise ValueError("out of order")


def test_a_method_that_fails_is_a_row_with_a_reason_and_is_tried_again(tmp_path):
    problem = PerturbedCentroids("broken", d=4)
    outcomes = run_once(problem, 0, [Method("broken", Broken), SIMULATION["nc"]], tmp_path)
    assert outcomes["broken"] == {"failed": "out of order"}
    assert "error" in outcomes["nc"]["values"]
    mended = Method("broken", Broken)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Broken, "fit", SimilarityKNN.fit)
        assert "values" in run_once(problem, 0, [mended], tmp_path)["broken"]


# Runner


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache") / "deep" / "runs"
    return cache, reproduce_tables(["cazzanti2007:6.1"], methods=["nc", "naive-bayes"], runs=2, cache=cache)


def test_misses_come_first_and_nothing_is_left_out(small):
    _, result = small
    assert len(result.cells) == 13 * 2 * 2
    missing = [c.is_miss for c in result.cells]
    assert missing == sorted(missing, reverse=True)
    assert all(len(c.values) == 2 for c in result.cells)
    assert "sda" in result.without["cazzanti2007:6.1"]["methods"] or "sda" in SIMULATED.methods


def entries(cache):
    """Entries of all journals, as (problem, run, method)."""
    return [
        (path.parent.name, int(path.stem), record["method"])
        for path in sorted(cache.glob("*/*.jsonl"))
        for record in map(json.loads, path.read_text().splitlines())
        if "method" in record
    ]


@pytest.mark.slow
def test_a_second_run_computes_nothing_and_more_runs_only_the_new_ones(small):
    cache, result = small
    before = entries(cache)
    assert len(before) == len(set(before)) == 13 * 2 * 2
    again = reproduce_tables(["6.1"], methods=["nc", "naive-bayes"], runs=2, cache=cache)
    assert entries(cache) == before
    assert [c.values for c in again.cells] == [c.values for c in result.cells]
    assert all(c.made and len(c.made) == len(result.cells[0].made) for c in again.cells)
    more = reproduce_tables(["6.1"], methods=["nc"], runs=3, cache=cache)
    assert {(run, method) for _, run, method in set(entries(cache)) - set(before)} == {(2, "nc")}
    assert more.cells[0].values[:2] in [c.values for c in result.cells]


def test_a_torn_line_is_computed_again(tmp_path):
    problem = PerturbedCentroids("torn", d=8)
    first = run_once(problem, 0, [SIMULATION["nc"], SIMULATION["naive-bayes"]], tmp_path)
    (path,) = tmp_path.glob("*/*.jsonl")
    path.write_bytes(path.read_bytes()[:-20])
    again = run_once(problem, 0, [SIMULATION["nc"], SIMULATION["naive-bayes"]], tmp_path)
    assert {m: o["values"] for m, o in again.items()} == {m: o["values"] for m, o in first.items()}


@pytest.mark.slow
def test_the_figures_do_not_depend_on_the_number_of_workers(small):
    _, result = small
    two = reproduce_tables(["6.1"], methods=["nc", "naive-bayes"], runs=2, n_jobs=2)
    assert [c.values for c in two.cells] == [c.values for c in result.cells]


@pytest.mark.slow
def test_quick_means_four_runs_and_tables_are_found_by_name():
    result = reproduce_tables(["6.1"], methods=["naive-bayes"], quick=True)
    assert result.runs == {"cazzanti2007:6.1": 4}
    with pytest.raises(ProximityError, match=r"there is no '9\.9'"):
        reproduce_tables(["9.9"])
    with pytest.raises(ProximityError, match="tables must be a list of names"):
        reproduce_tables(3)


def test_journals_of_another_version_are_not_used(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    here = default_cache()
    assert tmp_path in here.parents
    monkeypatch.setattr("similis.__version__", "0.0.0")
    assert default_cache() != here


def test_without_a_cache_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    outcome = run_once(PerturbedCentroids("no journal", d=4), 0, [SIMULATION["nc"]])["nc"]
    assert {"values", "when", "commit"} <= set(outcome)
    assert not list(tmp_path.iterdir())


def test_absent_data_are_said_and_listed_first(monkeypatch):
    load_data.cache_clear()
    monkeypatch.delenv("SIMILIS_DATA", raising=False)
    result = reproduce_tables(["chen2010:4.3"], methods=["knn"], runs=2)
    assert [c.verdict for c in result.cells] == ["no data"]
    assert "SIMILIS_DATA" in result.cells[0].reason
    load_data.cache_clear()


@pytest.mark.slow
def test_every_experiment_has_cells_and_methods_that_exist():
    for experiment in EXPERIMENTS:
        cells = experiment.cells()
        assert cells, experiment.key
        assert {c.method for c in cells} <= set(experiment.methods)
        assert len({experiment.problem(c).name for c in cells}) >= 1


# Results and pages

SIMULATED = next(e for e in EXPERIMENTS if e.key == "cazzanti2007:6.1")
RECORDS = Path(__file__).parents[1] / "papers" / "results"


def test_results_are_complete_and_pages_come_from_them_alone(small, tmp_path):
    _, result = small
    (path,) = write_results(result, tmp_path / "results")
    record = json.loads(path.read_text())
    assert record["machine"]["cores"] >= 1
    assert {"python", "similis", "numpy", "scikit-learn"} <= set(record["versions"])
    assert all(len(c["values"]) == record["runs"] for c in record["cells"])
    assert read_results(tmp_path / "results") == [record]
    pages = write_pages(tmp_path / "results", tmp_path / "pages")
    assert [page.name for page in pages] == ["index.md", "cazzanti2007.md"]
    text = pages[1].read_text()
    assert text.index("<details>") < text.index("## Remarks")
    assert "* **Floor:** The printed errors lie 1.1 to 2 points above" in text
    assert str(tmp_path) not in text
    first = [page.read_bytes() for page in pages]
    assert [page.read_bytes() for page in write_pages(tmp_path / "results", tmp_path / "pages")] == first


@pytest.mark.parametrize("paper", PAPERS)
def test_every_figure_is_in_the_table_of_its_paper(paper):
    with (RECORDS / f"{paper}.csv").open() as file:
        rows = list(csv.DictReader(file))
    cells = [cell for path in RECORDS.glob(f"{paper}-*.json") for cell in json.loads(path.read_text())["cells"]]
    assert sorted(row["ours"] for row in rows if row["ours"]) == sorted(str(c["ours"]) for c in cells)
    others = [cell for cell in published_cells(paper) if account_for(cell).status != "compared"]
    assert len(rows) == len(cells) + len(others)


def test_results_that_are_none_get_one_sentence(tmp_path):
    with pytest.raises(ProximityError, match="holds no results"):
        read_results(tmp_path)
    (tmp_path / "x.json").write_text("[1, 2]")
    with pytest.raises(ProximityError, match="not a results file"):
        read_results(tmp_path)


def test_notes_are_found_by_what_they_are_about():
    floor = {
        "paper": "cazzanti2007",
        "table": "6.1",
        "dataset": "perturbed centroids",
        "condition": {"d": "200"},
        "method": "nc",
        "quantity": "error",
        "verdict": "better",
    }
    assert [n.mark for n in notes_on(floor)] == ["floor"]
    assert [n.mark for n in notes_on({**floor, "condition": {"d": "2"}})] == ["floor", "small d"]
    assert not notes_on({**floor, "verdict": "agrees"})
    assert len({n.mark for n in NOTES}) == len(NOTES)


@pytest.mark.slow
def test_deterministic_benchmark_figures():
    """Nearest centroid on protein and aural sonar has no ties to speak of: the papers' figures to the digit."""
    try:
        load_benchmark("protein_uw")
    except DataNotFoundError as error:
        pytest.skip(str(error))
    result = reproduce_tables(["6.9", "6.10"], methods=["nc"], runs=2)
    ours = {c.dataset: c.ours for c in result.cells}
    assert ours["Protein"] == pytest.approx(41.78, abs=0.005)
    assert ours["Aural Sonar"] == pytest.approx(26.0)


@pytest.mark.slow
def test_other_methods_of_a_file_are_kept(small, tmp_path):
    cache, result = small
    (path,) = write_results(result, tmp_path)
    whole = json.loads(path.read_text())
    one = reproduce_tables(["6.1"], methods=["nc"], runs=2, cache=cache)
    write_results(one, tmp_path)
    again = json.loads(path.read_text())
    for cell in (*again["cells"], *whole["cells"]):
        cell.pop("seconds")  # runs that are read from a journal have their wall time
    assert again["cells"] == whole["cells"]
    write_results(reproduce_tables(["6.1"], methods=["nc"], runs=1, cache=cache), tmp_path)
    assert {cell["method"] for cell in json.loads(path.read_text())["cells"]} == {"nc"}


@pytest.mark.slow
def test_repeated_runs_are_compared_one_by_one(small, tmp_path):
    cache, result = small
    (path,) = write_results(result, tmp_path)
    record = json.loads(path.read_text())
    spoilt = next(cell for cell in record["cells"] if cell["method"] == "nc")
    spoilt["values"][1] += 0.1
    path.write_text(json.dumps(record))
    again = reproduce_tables(["6.1"], methods=["nc"], runs=2, cache=cache)
    assert note_repetition(again, tmp_path) == (26, 25)
    cells = json.loads(path.read_text())["cells"]
    assert [cell["repeated"][2:4] for cell in cells if cell["method"] == "nc"].count([2, 1]) == 1
    assert not any(cell["repeated"] for cell in cells if cell["method"] != "nc")
    page = next(page for page in write_pages(tmp_path, tmp_path) if page.name == "cazzanti2007.md").read_text()
    assert "of 26 figures that were repeated with later code, 25 came out the same" in page


def test_the_estimate_is_that_of_the_last_repetition():
    first = {"seconds": 100.0, "values": [1.0] * 20, "repeated": []}
    assert _seconds(first) == 100
    assert _seconds(first | {"repeated": ["2026-11-18", "abc", 2, 2, 3.0]}) == 30


def test_data_beside_the_papers_are_shown_and_not_judged(tmp_path):
    try:
        load_benchmark("protein")
    except DataNotFoundError as error:
        pytest.skip(str(error))
    result = reproduce_tables(["chen2010:4.5", "qiao2013:2"], methods=["knn"], runs=2)
    clean = [c for c in result.cells if c.dataset == "Protein, clean"]
    assert [c.verdict for c in clean] == ["beside", "beside"]
    assert not any(c.is_miss for c in clean)
    damaged = next(c for c in result.cells if c.dataset == "Protein")
    assert max(clean[0].values) < min(damaged.values)  # the same splits
    write_results(result, tmp_path)
    write_pages(tmp_path, tmp_path)
    rows = list(csv.DictReader((tmp_path / "chen2010.csv").read_text().splitlines()))
    (row,) = [r for r in rows if r["dataset"] == "Protein, clean"]
    assert (row["verdict"], float(row["ours"])) == ("beside", pytest.approx(clean[0].ours, abs=1e-3))


def test_a_slow_method_takes_part_in_few_runs():
    table = next(e for e in EXPERIMENTS if e.key == "cazzanti2007:6.10")
    problem = Problem("any")
    assert table.run_numbers(problem, "nc", 5) == range(5)
    assert table.run_numbers(problem, "psvm", 5) == range(1)


def test_problems_beside_share_the_draws_of_the_original():
    beside = next(e for e in EXPERIMENTS if e.key == "chen2010:4.5")
    problems = {c.dataset: beside.problem(c) for c in beside.cells()}
    one, two = problems["Protein"], problems["Protein, clean"]
    assert one.name != two.name
    assert (one.generator(3).permutation(9) == two.generator(3).permutation(9)).all()
    assert (one.generator(3).permutation(99) != problems["Voting"].generator(3).permutation(99)).any()


# Figures


def test_methods_are_judged_together():
    """Four methods that agree one by one, all above the paper, on the same splits."""
    rng = np.random.default_rng(0)
    shared = rng.normal(size=20)
    cells = [
        {
            "verdict": "agrees",
            "method": f"hlm-{k}",
            "dataset": "Sonar",
            "difference": 1.0 + k,
            "values": list(shared + k),
        }
        for k in range(4)
    ]
    found = joint_differences(cells, lambda cell: cell["dataset"])
    error = shared.std(ddof=1) * math.sqrt(2 / 20)
    assert found == [("Sonar", name, 4, 2.5, pytest.approx(error)) for name in ("all", "hlm")]
    cells[0]["difference"] = -1.0
    assert joint_differences(cells, lambda cell: cell["dataset"]) == []


def test_the_worked_examples_are_those_of_the_paper():
    """All values but one, which the symmetry of the example excludes (sec. 3.3.4)."""
    result = reproduce_tables(["cazzanti2007:3.1.1", "cazzanti2007:3.3.4"])
    assert [(c.method, c.condition["x"], c.ours) for c in result.misses] == [("sda-features", "110", 1.0)]
    assert sum(c.verdict == "agrees" for c in result.cells) == 22


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("name", ["cazzanti2007:fig2.1", "cazzanti2007:fig3.3", "chen2010:fig3.2", "qiao2013:fig1"])
def test_a_figure_is_drawn(name, tmp_path):
    pytest.importorskip("matplotlib")
    assert main([name, "--figures", str(tmp_path)]) == 0
    (path,) = tmp_path.iterdir()
    assert path.name == f"{name.replace(':', '-')}.svg"
    assert "<svg" in path.read_text()


def test_unknown_figures_are_named(capsys):
    assert main(["chen2010:fig9.9"]) == 2
    assert "There is no figure 'chen2010:fig9.9'" in capsys.readouterr().err


# Command line


def test_the_command_lists_runs_and_writes(tmp_path, capsys):
    assert main(["--list"]) == 0
    assert "cazzanti2007:6.1" in capsys.readouterr().out
    assert main(["--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["table"] == "cazzanti2007:3.1.1"
    assert main(["chen2010:4.7", "chen2010:4.8", "--estimate"]) == 0
    shown = capsys.readouterr().out
    alone, both = re.search(r"chen2010:4.7 +([\d.]+)", shown), re.search(r"once: (\d+) minutes", shown)
    assert int(both[1]) == round(float(alone[1])) > 0  # the two tables share their runs
    base = ["6.1", "--method", "naive-bayes", "--runs", "2", "-q", "--cache", str(tmp_path / "runs")]
    assert main([*base, "--results", str(tmp_path / "results")]) == 0
    text = capsys.readouterr().out
    assert "26 figures" in text
    assert "better" in text  # the floor of the published tables
    assert main([*base, "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["cells"]) == 26
    assert main(["--results", str(tmp_path / "results"), "--pages", str(tmp_path / "pages")]) == 0
    assert "## Remarks" in (tmp_path / "pages" / "cazzanti2007.md").read_text()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["9.9"], "there is no '9.9'"),
        (["--pages", "pages"], "--results"),
        (["--repeat", "2"], "--results"),
        (["--pages", "pages", "--results", "tests"], "results file"),
    ],
)
def test_bad_arguments_are_one_line_and_status_2(arguments, message, capsys):
    assert main(arguments) == 2
    errors = capsys.readouterr().err
    assert message in errors
    assert errors.count("\n") == 1


@pytest.mark.slow
def test_ctrl_c_ends_a_real_process_and_the_next_one_resumes(tmp_path):
    command = [sys.executable, "-m", "papers", "6.1", "--method", "knn", "--jobs", "2", "--cache", str(tmp_path)]
    root = Path(__file__).parents[1]
    where = {**os.environ, "PYTHONPATH": os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, env=where
    )
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and len(list(tmp_path.glob("*/*.jsonl"))) < 4:
        time.sleep(0.2)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    before = entries(tmp_path)
    assert before
    done = subprocess.run([*command, "--runs", "1"], capture_output=True, text=True, check=True, env=where)
    assert "26 figures" in done.stdout
    assert len(set(entries(tmp_path))) == len(entries(tmp_path))
