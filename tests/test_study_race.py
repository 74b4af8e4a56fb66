"""Racing, time budgets and estimates of a study."""

import json
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from joblib import effective_n_jobs, parallel_config

from similis import SimilarityKNN, Study, datasets
from similis.study import Method, StudyResult, _plan, _run
from similis.study._entry import Entry
from similis.study._plan import Plan, as_seconds, checkpoints


def problem(n=80, gap=1.6, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    x = rng.normal(size=(n, 2)) + gap * y[:, None]
    return np.exp(-np.linalg.norm(x[:, None] - x, axis=2)), y


S, Y = problem()
METHODS = ["nc", "knn", "affinity-knn", "majority", "sda"]


def race(methods=METHODS, n_splits=12, **options):
    return Study(methods, n_splits=n_splits, cv=3, **options).run(S, Y)


@pytest.fixture(scope="module")
def raced():
    return race()


@pytest.fixture(scope="module")
def full():
    return race(race=False)


def contents(result):
    return {key: entry.content() for key, entry in result.entries.items()}


def test_the_race_drops_what_is_behind_at_fixed_numbers_of_splits(raced, full):
    assert raced.dropped["majority"] == 5
    assert set(raced.dropped.values()) <= {5, 7, 10}
    assert not full.dropped
    assert len(full.entries) == 60
    assert not raced.partial
    for name in METHODS:
        expected = raced.dropped.get(name, 12)
        assert sorted(split for method, split in raced.entries if method == name) == list(range(expected))
    assert raced.leader() == full.leader() not in raced.dropped
    both = raced.entries.keys() & full.entries.keys()
    assert {key: contents(raced)[key] for key in both} == {key: contents(full)[key] for key in both}


def test_drops_follow_the_documented_rule(raced, full):
    """The rule, written again on per-object losses of the full study."""
    dropped = {}
    for r in (5, 7, 10):
        loss = {}
        for name in METHODS:
            rows = np.full((r, len(Y)), np.nan)
            for s in full.splits[:r]:
                rows[s.number, s.test] = full.entries[name, s.number].predictions != Y[s.test]
            loss[name] = rows
        alive = [name for name in METHODS if name not in dropped]
        means = {name: np.mean([np.nanmean(row) for row in loss[name]]) for name in alive if name != "majority"}
        leader = min(means, key=means.get)
        for name in alive:
            if name == leader:
                continue
            difference = loss[name] - loss[leader]
            c = (~np.isnan(difference)).sum(axis=0)
            T, c = np.nansum(difference, axis=0)[c > 0], c[c > 0]
            delta = T.sum() / c.sum()
            N = len(T)
            error = np.sqrt((1 + 2 * 16 / 64) * ((T - delta * c) ** 2).sum() * N / (N - 1)) / c.sum()
            if delta >= 0.01 - 1e-12 and delta > 1.28 * error:
                dropped[name] = r
    assert raced.dropped == dropped


@pytest.mark.slow
def test_the_race_does_not_depend_on_the_number_of_processes(raced):
    again = race(n_jobs=2)
    assert again.dropped == raced.dropped
    assert contents(again) == contents(raced)


def test_dropped_methods_keep_their_rows(raced, tmp_path):
    row = next(row for row in raced.table() if row.method == "majority")
    assert (row.status, row.n_splits, row.bold, row.leading) == ("dropped", 5, False, False)
    errors = [np.mean(raced.entries["majority", i].predictions != Y[raced.splits[i].test]) for i in range(5)]
    assert row.error == pytest.approx(np.mean(errors))
    assert np.isfinite(row.rank)
    leader = [np.mean(raced.entries[raced.leader(), i].predictions != Y[raced.splits[i].test]) for i in range(5)]
    assert row.difference == pytest.approx(np.mean(errors) - np.mean(leader))
    assert raced.paired_scores()["majority"] == pytest.approx(
        raced.mean_scores()[raced.leader()] + np.mean(errors) - np.mean(leader), abs=1e-9
    )
    assert "dropped after 5 splits" in str(raced)
    assert "majority" in raced.complete_methods()
    assert [r.method in raced.dropped for r in raced.table()] == sorted(
        r.method in raced.dropped for r in raced.table()
    )
    raced.save(tmp_path / "r.json")
    loaded = StudyResult.load(tmp_path / "r.json")
    assert loaded.dropped == raced.dropped
    assert str(loaded) == str(raced)
    raced.to_html(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "dropped after 5 splits" in page
    assert "Errors as splits come in" in page


def test_results_without_a_race_load(full, tmp_path):
    full.save(tmp_path / "r.json")
    record = json.loads((tmp_path / "r.json").read_text())
    for key in ("dropped", "skipped", "time_budget"):
        del record[key]
    (tmp_path / "old.json").write_text(json.dumps(record))
    assert str(StudyResult.load(tmp_path / "old.json")) == str(full)
    record["dropped"] = {"nobody": 3}
    (tmp_path / "bad.json").write_text(json.dumps(record))
    with pytest.raises(ValueError, match="dropped or skipped"):
        StudyResult.load(tmp_path / "bad.json")


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("stop", [3, 24, 27, 33])
def test_a_race_resumes_with_the_same_decisions(raced, tmp_path, stop):
    seen = 0

    def interrupt(state):
        nonlocal seen
        seen += 1
        if seen == stop:
            raise KeyboardInterrupt

    study = Study(METHODS, n_splits=12, cv=3, journal=tmp_path / "j")
    part = study.run(S, Y, progress=interrupt)
    assert part.partial
    assert len(part.entries) == stop
    done = study.run(S, Y)
    assert done.dropped == raced.dropped
    assert contents(done) == contents(raced)
    assert not done.partial
    assert contents(study.run(S, Y)) == contents(raced)  # replay


def test_a_race_on_the_journal_of_a_full_study_computes_nothing(raced, full, tmp_path):
    Study(METHODS, n_splits=12, cv=3, journal=tmp_path / "j", race=False).run(S, Y)
    size = (tmp_path / "j").read_text().count('"method"')
    again = Study(METHODS, n_splits=12, cv=3, journal=tmp_path / "j").run(S, Y)
    assert contents(again) == contents(raced)
    assert again.dropped == raced.dropped
    assert (tmp_path / "j").read_text().count('"method"') == size


def test_no_race_where_it_would_not_be_fair():
    own = [(np.arange(16, 80), np.arange(16))] * 6
    assert not Study(["nc", "majority"], cv=3).run(S, Y, splits=own).dropped
    assert not race(["nc", "majority"], n_splits=5).dropped
    assert not race(["nc", "majority"], protocol="loo").dropped


def test_checkpoints():
    assert checkpoints(20) == [5, 7, 10, 14]
    assert checkpoints(100) == [5, 7, 10, 14, 20, 28, 40, 56, 80]
    assert checkpoints(5) == []


def test_race_and_full_study_recommend_the_same_on_shipped_data():
    data = datasets.load_votes()
    votes = np.asarray(data.data)
    D = (votes[:, None] != votes).mean(axis=2)
    methods = ["knn", "nc", "sda", "majority", "rnlc"]
    keep = np.arange(0, len(D), 4)
    D, y = D[np.ix_(keep, keep)], np.asarray(data.target)[keep]
    found = [Study(methods, n_splits=8, cv=3, race=r).run(D, y, kind="dissimilarity") for r in (True, False)]
    assert found[0].best() == found[1].best()
    assert len(found[0].entries) < len(found[1].entries)


class Slow(SimilarityKNN):
    def fit(self, X, y):
        time.sleep(1.0)
        return super().fit(X, y)


SLOW = Method("slow", Slow, summary="sleeps")


def test_a_budget_is_shared_fairly_and_a_slow_method_is_skipped(tmp_path):
    race(["nc", "knn"], n_splits=1)  # imports and compiles
    study = Study(["nc", "knn", SLOW], n_splits=6, cv=3, time_budget=5, race=False, journal=tmp_path / "j")
    result = study.run(S, Y)
    counts = {name: sum(method == name for method, _ in result.entries) for name in ("nc", "knn", "slow")}
    assert counts["nc"] == counts["knn"] == 6
    assert result.skipped == {"slow": counts["slow"]}
    assert counts["slow"] < 6
    assert not result.partial
    assert f"skipped after {counts['slow']} split" in str(result)
    assert f"The time budget was 5 s; skipped, since the next split did not fit: slow after {counts['slow']}" in str(
        result
    )
    text = (tmp_path / "j").read_text()
    again = study.run(S, Y)
    assert again.skipped == result.skipped
    assert contents(again) == contents(result)
    assert (tmp_path / "j").read_text().count('"method"') == text.count('"method"')
    result.save(tmp_path / "r.json")
    assert StudyResult.load(tmp_path / "r.json").skipped == result.skipped
    more = Study(["nc", "knn", SLOW], n_splits=6, cv=3, time_budget="1h", race=False, journal=tmp_path / "j").run(S, Y)
    assert not more.skipped
    assert len(more.entries) == 18
    replayed = study.run(S, Y)  # without the splits that only the larger budget allowed
    assert contents(replayed) == contents(result)
    assert replayed.format_table() == result.format_table()


@pytest.mark.parametrize(("preparation", "n_tasks"), [(0, 5), (3, 3), (9, 2)])
def test_the_preparation_takes_at_most_half_of_the_budget(monkeypatch, full, preparation, n_tasks):
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(_plan, "time", SimpleNamespace(monotonic=lambda: clock.now))
    tasks = [SimpleNamespace(method=SimpleNamespace(name="nc"), key=("nc", r)) for r in range(12)]
    plan = Plan(tasks, full, race=False, budget=10, expected={"nc": 2.0}, preparation=preparation)
    begun = []
    for task in plan.fair_share(1):
        begun.append(task.key)
        clock.now += 2.0
    assert len(begun) == n_tasks
    assert plan.skipped == {"nc": n_tasks}  # with those that have begun


def test_the_budget_goes_on_after_a_worker_was_killed(monkeypatch, full):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(_plan, "time", SimpleNamespace(monotonic=lambda: clock.now))
    tasks = [SimpleNamespace(method=SimpleNamespace(name="nc"), key=("nc", r)) for r in range(12)]
    plan = Plan(tasks, full, race=False, budget=10, expected={"nc": 4.0})
    next(plan.fair_share(2))
    clock.now = 7.0  # what was lost with the worker is in no entry
    plan.add(Entry("nc", 0, fit_seconds=4.0))
    assert not list(plan.fair_share(2))
    assert plan.skipped == {"nc": 1}


def test_a_method_is_skipped_after_the_splits_that_have_begun(monkeypatch, full):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(_plan, "time", SimpleNamespace(monotonic=lambda: clock.now))
    tasks = [SimpleNamespace(method=SimpleNamespace(name="nc"), key=("nc", r)) for r in range(12)]
    plan = Plan(tasks, full, race=False, budget=10, expected={"nc": 4.0})
    begun = plan.fair_share(2)
    assert [next(begun).key for _ in range(2)] == [("nc", 0), ("nc", 1)]  # both run
    clock.now = 7.0
    assert not list(begun)
    assert plan.skipped == {"nc": 2}
    for r in range(3):
        plan.add(Entry("nc", r, fit_seconds=5.0))
    assert {key for key in plan.snapshot().entries if key[0] == "nc"} == {("nc", 0), ("nc", 1)}


def test_methods_with_too_few_splits_are_below_the_others_and_named_together(full):
    entries = {key: e for key, e in full.entries.items() if key[0] not in ("knn", "sda") or key[1] < 2}
    for split in range(2):
        entries["sda", split] = replace(entries["sda", split], predictions=full.codes[full.splits[split].test])
    result = replace(full, entries=entries, skipped={"knn": 2, "sda": 2}, time_budget=60.0)
    order = [row.method for row in result.table()]
    assert order[0] == result.leader() == result.best()
    assert set(order[-2:]) == {"knn", "sda"}
    assert "did not fit: knn and sda after 2 splits." in str(result)


def test_times_of_methods_that_hardly_take_any_do_not_correct_the_estimate(full):
    expected = {"a": 0.01, "b": 0.01, "c": 0.01, "d": 1.0, "e": 2.0, "f": 4.0, "g": 5.0}
    plan = Plan([], full, race=False, budget=10, expected=expected)
    for name in "abc":  # the first fits of a process import and compile
        plan.add(Entry(name, 0, fit_seconds=5.0))
    assert plan.expected_seconds("g") == 5.0
    for name, seconds in (("d", 2.0), ("e", 4.0), ("f", 8.0)):
        plan.add(Entry(name, 0, fit_seconds=seconds))
    assert plan.expected_seconds("g") == 10.0
    assert plan.expected_seconds("a") == 5.0


def test_methods_with_fewer_than_three_splits_are_not_recommended():
    result = Study(["nc", "majority", SLOW], n_splits=6, cv=3, time_budget=0.8, race=False).run(S, Y)
    if result.skipped["slow"] < 3:
        assert result.leader() == "nc"
        assert "slow" in result.recommend().text


def test_a_recommendation_from_too_few_splits_says_so():
    result = Study(["nc", "majority"], n_splits=2, cv=3).run(S, Y)
    result.skipped = {"nc": 2, "majority": 2}
    assert "fewer than 3 splits; allow more time" in result.recommend().text
    assert "Not considered" not in result.recommend().text


@pytest.mark.slow
def test_a_budget_with_two_processes():
    result = Study(["nc", "majority"], n_splits=8, cv=3, time_budget="5m", n_jobs=2).run(S, Y)
    assert not result.partial
    assert not result.skipped
    assert sum(method == "nc" for method, _ in result.entries) == 8


@pytest.mark.parametrize(("given", "seconds"), [("90s", 90), ("5m", 300), ("1h30m", 5400), (2.5, 2.5), ("1.5h", 5400)])
def test_durations(given, seconds):
    assert as_seconds(given) == seconds


@pytest.mark.parametrize("given", ["", "five", -3, 0, True, "5x", None])
def test_bad_durations(given):
    with pytest.raises(ValueError, match="time_budget"):
        as_seconds(given)


@pytest.mark.slow
def test_the_estimate_is_about_right():
    S, y = problem(150)
    study = Study(["knn", "svm-kernel(clip)", "kri-knn(clip)", "rnlc", "hlm-vsh"], n_splits=2, race=False)
    expected = study.estimate(S, y)
    assert expected.n_train == 120
    assert expected.n_splits == 2
    assert not expected.unknown
    result = study.run(S, y)
    used = sum(entry.fit_seconds + entry.predict_seconds for entry in result.entries.values())
    assert expected.seconds / 8 < used < expected.seconds * 8  # other processes may use the machine too
    assert "2 splits of 120 training objects" in str(expected)


def test_the_estimate_grows_with_the_data_and_names_unknown_methods():
    few, many = (Study(["svm-kernel(clip)", SLOW]).estimate(y=[0, 1] * n) for n in (100, 1000))
    assert many.per_split["svm-kernel(clip)"] > 5 * few.per_split["svm-kernel(clip)"]
    assert few.unknown == ("slow",)
    assert Study("all").estimate(y=[0, 1] * 1000).is_long


def test_the_estimate_grows_with_the_number_of_classes():
    few, many = (Study(["simsvm", "knn"]).estimate(y=np.arange(600) % n_classes) for n_classes in (2, 15))
    assert many.per_split["simsvm"] > 2 * few.per_split["simsvm"]
    values = Study(["svr(clip)"], task="regression")
    assert values.estimate(y=np.arange(60) % 2) == values.estimate(y=np.arange(60))


def test_a_budget_puts_methods_without_measured_times_on_landmarks_too():
    expected = Study([SLOW, "nc"], time_budget="1m", n_jobs=1).estimate(y=[0, 1] * 10_000)
    first, second = expected.per_split
    assert first.startswith("slow(landmarks=")
    assert second == "nc"


def test_progress_tells_leader_and_time():
    states = []
    Study(["nc", "majority"], n_splits=7, cv=3).run(S, Y, progress=states.append)
    assert states[-1].leader == "nc"
    assert states[-1].dropped == 1
    assert states[-1].seconds_left == 0
    assert states[-1].done == states[-1].total == 12
    assert states[-1].splits_done == 7


def test_all_cores_are_used_by_default_but_one_process_for_a_short_study():
    cores = effective_n_jobs(-1)
    assert Study("all").estimate(y=[0, 1] * 500).n_jobs == cores
    assert Study("all", n_jobs=1).estimate(y=[0, 1] * 500).n_jobs == 1
    assert Study(["nc", "knn"]).estimate(y=[0, 1] * 50).n_jobs == 1
    with parallel_config(n_jobs=cores + 2):
        assert Study("nc").estimate(y=[0, 1] * 50).n_jobs == cores + 2
    with parallel_config("threading", n_jobs=1):
        assert Study("all").estimate(y=[0, 1] * 500).n_jobs == 1


def test_the_default_number_of_processes_gives_the_same_results(monkeypatch, full):
    monkeypatch.setattr(_run, "_SHORT", 0.0)
    sizes = []
    config = _run.parallel_config
    monkeypatch.setattr(_run, "parallel_config", lambda **given: sizes.append(given["n_jobs"]) or config(**given))
    found = race(race=False)
    for key, expected in contents(full).items():
        # A process that compiles a kernel may differ in the last bits from one that loads it from the cache.
        content = contents(found)[key]
        chances = [np.asarray(one.pop("proba"), dtype=float) for one in (content, expected)]
        np.testing.assert_allclose(*chances, rtol=0, atol=1e-12)
        assert content == expected
    assert set(sizes) == {effective_n_jobs(-1)}
