"""Verdicts by the fixed rule, the cache, the runner and the pages: on small problems with known answers."""

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from oracles.knn_votes import leave_one_out_knn

from similis.datasets import load_benchmark
from similis.exceptions import DataNotFoundError, ProximityError
from similis.neighbors import SimilarityKNN
from similis.reproduce import (
    EXPERIMENTS,
    note_repetition,
    published_cells,
    read_results,
    reproduce_tables,
    write_pages,
    write_results,
)
from similis.reproduce._cache import RunCache
from similis.reproduce._method import Method, Part
from similis.reproduce._notes import NOTES, notes_on
from similis.reproduce._problems import PerturbedCentroids
from similis.reproduce._runner import _Planned
from similis.reproduce._verdict import compare


def outcomes(values, quantity="error"):
    return [{"values": {quantity: v}, "chosen": {}, "seconds": 0.1} for v in values]


def cell(paper, table, method, dataset=None):
    return next(c for c in published_cells(paper, table, method=method) if dataset is None or c.dataset == dataset)


# Verdicts


def test_the_printed_spread_is_used_with_the_papers_runs():
    published = cell("chen2010", "4.5", "knn", "Protein")  # 29.88 (9.96), 20 splits
    ours = [20.0, 22.0, 24.0, 26.0]
    found = compare(published, "", outcomes(ours), paper_runs=20)
    error = math.hypot(np.std(ours, ddof=1) / 2, 9.96 / math.sqrt(20))
    assert found.standard_error == pytest.approx(error)
    assert found.tolerance == pytest.approx(3 * error + 0.005)
    assert found.difference == pytest.approx(23 - 29.88)
    assert found.verdict == "agrees"


def test_without_a_spread_the_paper_is_taken_to_spread_like_us():
    published = cell("chen2010", "4.6", "krr-knn(pinv)", "Protein")  # 9.53
    ours = [1.0, 2.0, 3.0]
    found = compare(published, "", outcomes(ours), paper_runs=20)
    assert found.standard_error == pytest.approx(math.sqrt(1 / 3 + 1 / 20))
    assert found.verdict == "better"
    assert found.is_miss


def test_no_spread_at_all_leaves_the_rounding_of_the_print():
    published = cell("cazzanti2007", "6.9", "nc")  # 41.78
    assert compare(published, "", outcomes([41.7840] * 3), paper_runs=20, in_order=True).verdict == "agrees"
    assert compare(published, "", outcomes([41.90] * 3), paper_runs=20, in_order=True).verdict == "worse"
    one = compare(published, "", outcomes([41.90] * 3), paper_runs=20, in_order=True, resolution=100 / 213)
    assert one.verdict == "agrees"


def test_leave_one_out_is_judged_in_the_order_of_the_file():
    published = cell("cazzanti2007", "6.9", "nc")  # 41.78
    found = compare(published, "", outcomes([41.0, 45.0, 47.0]), paper_runs=20, in_order=True)
    assert found.ours == 41.0
    assert found.standard_error == pytest.approx(np.std([41, 45, 47], ddof=1))
    assert found.verdict == "agrees"


def test_a_high_normalised_cross_entropy_is_better():
    published = cell("chen2010", "4.8", "knn", "Voting")  # 0.7984
    assert compare(published, "", outcomes([0.9, 0.9], "nce"), paper_runs=1).verdict == "better"
    assert compare(published, "", outcomes([0.5, 0.5], "nce"), paper_runs=1).verdict == "worse"


def test_one_run_gives_no_verdict_and_a_failure_its_reason():
    published = cell("cazzanti2007", "6.9", "nc")
    assert compare(published, "", outcomes([10.0]), paper_runs=1).verdict == "one run"
    failed = compare(published, "", [*outcomes([10.0]), {"failed": "ValueError: no"}], paper_runs=1)
    assert (failed.verdict, failed.reason, failed.ours) == ("failed", "ValueError: no", None)
    assert compare(published, "", [], paper_runs=1, reason="not here").reason == "not here"


# Cache


def test_cache_keeps_what_is_finished_and_survives_a_torn_line(tmp_path):
    path = tmp_path / "deep" / "runs.jsonl"
    cache = RunCache(path)
    cache.put([("a", {"values": {"error": 1.0}}), ("b", {"failed": "no"})])
    assert cache.get("b") == {"failed": "no"}
    with open(path, "ab") as file:
        file.write(b'{"key": "c", "values"')
    cache = RunCache(path)
    assert cache.get("b") is None  # failures are tried again
    assert cache.get("c") is None
    cache.put([("d", {"values": {"error": 2.0}})])
    again = RunCache(path)
    assert again.get("a")["values"] == {"error": 1.0}
    assert again.get("d")["values"] == {"error": 2.0}


def test_cache_of_another_version_is_passed_over(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text('{"key": "a", "version": "0.0.0", "values": {}}\n[]\n5\nnot json\n')
    assert RunCache(path).get("a") is None


def test_no_cache_keeps_nothing(tmp_path):
    cache = RunCache(None)
    cache.put([("a", {"values": {}})])
    assert cache.get("a")["values"] == {}
    assert {"when", "commit"} <= set(cache.get("a"))
    assert not list(tmp_path.iterdir())


# Methods and problems


def test_fingerprints_tell_methods_apart():
    grids = [{}, {"n_neighbors": (1, 2)}, {"n_neighbors": (1, 3)}]
    marks = {Method(SimilarityKNN(), grid).fingerprint for grid in grids}
    marks |= {Method(SimilarityKNN(weights="kri")).fingerprint, Method(SimilarityKNN(), grids[1], cv=5).fingerprint}
    assert len(marks) == 5
    assert Method(SimilarityKNN()).fingerprint == Method(SimilarityKNN()).fingerprint


def test_neighbourhoods_larger_than_the_training_set_are_left_out():
    method = Method(SimilarityKNN(), {"n_neighbors": (1, 9, 10, 99)})
    assert method.points(10) == {"n_neighbors": (1, 9)}
    assert Method(SimilarityKNN(), method.grid, cv=5).points(11) == {"n_neighbors": (1,)}


def test_nested_leave_one_out_against_plain_loops(rng):
    X = rng.integers(0, 2, (25, 6))
    S = (X[:, None] == X[None]).sum(-1).astype(float)
    y = rng.integers(0, 2, 25)
    method, ks = Method(SimilarityKNN(), {"n_neighbors": (1, 3, 5)}), (1, 3, 5)
    for i in range(25):
        others = np.delete(np.arange(25), i)
        model, chosen = method.fit(Part(S[np.ix_(others, others)], y[others], "similarity"), seed=0)
        k, label = leave_one_out_knn(S, y, i, ks)
        assert chosen["n_neighbors"] == k
        assert method.predict(model, Part(S[np.ix_([i], others)], y[[i]], "similarity"))[0] == label


def test_the_simulated_floor_is_that_of_exact_halves():
    """A classifier that knows every class is charged for the test samples beyond 500 and 500."""
    from sklearn.naive_bayes import BernoulliNB

    problem = PerturbedCentroids("floor", "counting", ("1/3", "1/30"), 1, 200)
    floors = []
    for run in range(6):
        ((_, outcome),) = problem.outcomes({"nb": Method(BernoulliNB(), reads="objects")}, run)
        assert outcome["values"]["error"] == 0
        floors.append(outcome["values"]["error with floor"])
    assert 0.2 < np.mean(floors) < 3.0  # E|Bin(1000, 1/2) - 500| / 10 = 1.26


def test_a_method_that_fails_is_a_row_with_a_reason():
    @dataclass(frozen=True)
    class Broken(Method):
        def fit(self, part, seed):
            raise ValueError("out of order")

    problem = PerturbedCentroids("broken", "counting", ("1/3", "1/30"), 1, 4)
    ((_, outcome),) = problem.outcomes({"broken": Broken(SimilarityKNN())}, 0)
    assert outcome == {"failed": "ValueError: out of order"}


# Runner


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache") / "runs.jsonl"
    return cache, reproduce_tables(["cazzanti2007:6.1"], methods=["nc", "naive-bayes"], runs=2, cache=cache)


def test_misses_come_first_and_nothing_is_left_out(small):
    _, result = small
    assert len(result.comparisons) == 13 * 2 * 2
    missing = [c.is_miss for c in result.comparisons]
    assert missing == sorted(missing, reverse=True)
    assert all(len(c.values) == 2 for c in result.comparisons)
    assert "sda" in result.without["cazzanti2007:6.1"]["methods"] or "sda" in EXPERIMENTS[0].methods


def test_a_second_run_computes_nothing_and_more_runs_only_the_new_ones(small, monkeypatch):
    cache, result = small
    lines = cache.read_bytes()
    solved = []
    original = PerturbedCentroids.prepare
    monkeypatch.setattr(PerturbedCentroids, "prepare", lambda self, run: (solved.append(run), original(self, run))[1])
    again = reproduce_tables(["6.1"], methods=["nc", "naive-bayes"], runs=2, cache=cache)
    assert not solved
    assert cache.read_bytes() == lines
    assert [c.values for c in again.comparisons] == [c.values for c in result.comparisons]
    more = reproduce_tables(["6.1"], methods=["nc"], runs=3, cache=cache)
    assert set(solved) == {2}
    assert more.comparisons[0].values[:2] in [c.values for c in result.comparisons]


@pytest.mark.slow
def test_the_figures_do_not_depend_on_the_number_of_workers(small):
    _, result = small
    two = reproduce_tables(["6.1"], methods=["nc", "naive-bayes"], runs=2, n_jobs=2)
    assert [c.values for c in two.comparisons] == [c.values for c in result.comparisons]


def test_quick_means_four_runs_and_tables_are_found_by_name():
    result = reproduce_tables(["6.1"], methods=["naive-bayes"], quick=True)
    assert result.runs == {"cazzanti2007:6.1": 4}
    with pytest.raises(ProximityError, match=r"there is no '9\.9'"):
        reproduce_tables(["9.9"])


def test_absent_data_are_said_and_listed_first(monkeypatch):
    from similis.reproduce import _data

    _data.load_part.cache_clear()
    monkeypatch.delenv("SIMILIS_DATA", raising=False)
    result = reproduce_tables(["chen2010:4.3"], methods=["knn"], runs=2)
    assert [c.verdict for c in result.comparisons] == ["no data"]
    assert "SIMILIS_DATA" in result.comparisons[0].reason
    _data.load_part.cache_clear()


def test_every_experiment_has_cells_and_methods_that_exist():
    for experiment in EXPERIMENTS:
        cells = experiment.cells()
        assert cells, experiment.key
        assert {c.method for c in cells} <= set(experiment.methods)
        assert len({experiment.problem(c).name for c in cells}) >= 1


# Results and pages

RECORDS = Path(__file__).parents[1] / "benchmarks" / "results" / "reproduce"


def test_results_are_complete_and_pages_come_from_them_alone(small, tmp_path):
    _, result = small
    (path,) = write_results(result, tmp_path / "results")
    record = json.loads(path.read_text())
    assert record["machine"]["cores"] >= 1
    assert {"python", "similis", "numpy", "scikit-learn"} <= set(record["versions"])
    assert all(len(c["values"]) == record["runs"] for c in record["cells"])
    assert read_results(tmp_path / "results") == [record]
    pages = write_pages(tmp_path / "results", tmp_path / "pages")
    assert [page.name for page in pages] == ["index.md", "all_tables.md", "cazzanti2007-6.1.md"]
    text = pages[2].read_text()
    assert "## Misses" in text
    assert text.index("## Misses") < text.index("## All figures")
    assert "The published error rates of tables 6.1-6.8 carry a floor" in text
    assert "d = 200" in text
    assert str(tmp_path) not in text
    first = [page.read_bytes() for page in pages]
    assert [page.read_bytes() for page in write_pages(tmp_path / "results", tmp_path / "pages")] == first


@pytest.mark.parametrize("path", sorted(RECORDS.glob("*.json")), ids=lambda path: path.stem)
def test_every_figure_stands_on_its_page(path):
    """The committed pages, too: a grid whose rows are not told apart would lose figures."""
    cells = json.loads(path.read_text())["cells"]
    page = (RECORDS.parents[2] / "docs" / "results" / f"{path.stem}.md").read_text()
    grids = [line.split(" | ")[1:] for line in page.partition("## All figures")[2].splitlines() if " | " in line]
    entries = [entry for row in grids for entry in row if re.match(r"\W*(\d+(\.\d+)?|yes|no)(?![\w.-])", entry)]
    assert len(entries) == len(cells)


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
    ours = {c.dataset: c.ours for c in result.comparisons}
    assert ours["Protein"] == pytest.approx(41.78, abs=0.005)
    assert ours["Aural Sonar"] == pytest.approx(26.0)


def test_other_methods_of_a_file_are_kept(small, tmp_path):
    cache, result = small
    (path,) = write_results(result, tmp_path)
    whole = json.loads(path.read_text())
    one = reproduce_tables(["6.1"], methods=["nc"], runs=2, cache=cache)
    write_results(one, tmp_path)
    again = json.loads(path.read_text())
    assert again["cells"] == whole["cells"]
    write_results(reproduce_tables(["6.1"], methods=["nc"], runs=1, cache=cache), tmp_path)
    assert {cell["method"] for cell in json.loads(path.read_text())["cells"]} == {"nc"}


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
    assert [cell["repeated"][2:] for cell in cells if cell["method"] == "nc"].count([2, 1]) == 1
    assert not any(cell["repeated"] for cell in cells if cell["method"] != "nc")
    page = next(page for page in write_pages(tmp_path, tmp_path) if page.name == "cazzanti2007-6.1.md").read_text()
    assert "25 of 26 the same" in page


def test_data_beside_the_papers_are_shown_and_not_judged(tmp_path):
    try:
        load_benchmark("protein")
    except DataNotFoundError as error:
        pytest.skip(str(error))
    result = reproduce_tables(["chen2010:4.5", "qiao2013:2"], methods=["knn"], runs=2)
    clean = [c for c in result.comparisons if c.dataset == "Protein, clean"]
    assert [c.verdict for c in clean] == ["beside", "beside"]
    assert not any(c.is_miss for c in clean)
    damaged = next(c for c in result.comparisons if c.dataset == "Protein")
    assert max(clean[0].values) < min(damaged.values)  # the same splits
    write_results(result, tmp_path)
    text = next(page for page in write_pages(tmp_path, tmp_path) if page.name == "chen2010-4.5.md").read_text()
    assert "3 comparisons" in text
    assert f"| Protein, clean | {clean[0].ours:.2f} |" in text


def test_a_slow_method_takes_part_in_few_runs():
    table = next(e for e in EXPERIMENTS if e.key == "cazzanti2007:6.10")
    planned = _Planned(table, 5, ["psvm", "nc"])
    assert planned.numbers(planned.problems[0], table.methods["nc"]) == range(5)
    assert planned.numbers(planned.problems[0], table.methods["psvm"]) == range(1)


def test_problems_beside_share_the_draws_of_the_original():
    beside = next(e for e in EXPERIMENTS if e.key == "chen2010:4.5")
    problems = {c.dataset: beside.problem(c) for c in beside.cells()}
    one, two = problems["Protein"], problems["Protein, clean"]
    assert one.name != two.name
    assert (one.generator(3).permutation(9) == two.generator(3).permutation(9)).all()
    assert (one.generator(3).permutation(99) != problems["Voting"].generator(3).permutation(99)).any()
