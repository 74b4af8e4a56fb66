"""What a study says: its table, its recommendation and the code for it, its files, ranks over several."""

import json
import re
import shlex
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from studies import LIGHT, S, Sometimes, Y, run, toy

import similis
from similis import VDM, ProximityError, Study, StudyResult, make_similarity, make_stack
from similis.study import Method, list_methods, make_model


@pytest.fixture(scope="module")
def result():
    return run(n_splits=6, study={"race": False})


# What it says


def test_table_is_sorted_and_tells_apart(result):
    rows = result.table()
    assert [row.error for row in rows] == sorted(row.error for row in rows)
    assert rows[-1].method == "majority"
    assert rows[0].bold
    assert not rows[-1].bold
    assert rows[-1].p_value == pytest.approx(2.0**-6)
    by_hand = np.mean([(e.predictions != result.codes[s.test]).mean() for s, e in _of(result, "nc")])
    assert next(row for row in rows if row.method == "nc").error == pytest.approx(by_hand)


def _of(result, method):
    return [(split, result.entries[method, split.number]) for split in result.splits]


def test_frame_has_a_row_per_entry(result):
    pandas = pytest.importorskip("pandas")
    frame = result.frame()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) == 24
    mean = frame[frame["method"] == "knn"]["error"].mean()
    assert mean == pytest.approx(result.mean_scores("error")["knn"])
    assert frame[frame["method"] == "nc"]["log_loss"].isna().all()


def test_frame_without_pandas(result, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    rows = result.frame()
    assert isinstance(rows, list)
    assert rows[0]["method"] == "knn"


def test_unknown_metric_is_named(result):
    for call in (result.scores, result.mean_scores):
        with pytest.raises(ValueError, match="calibration_error"):
            call("accuracy")


def test_recommendation_trains(result):
    advice = result.recommend()
    assert advice.method != "majority"
    assert advice.method in str(advice)
    assert advice.interval[0] <= advice.error <= advice.interval[1]
    assert f"--method {shlex.quote(advice.method)}" in advice.command
    for info in result.methods:
        names = {"S": S, "y": Y}
        code = replace(advice, python=_code(result, info.name)).python
        exec(code, names)
        assert names["model"].predict(S).shape == (36,)


def test_command_has_the_folds_seed_and_task_of_the_study(result):
    assert " --folds 3 " in result.recommend().command
    usual = run(["nc"], n_splits=1, cv=10).recommend().command
    assert not re.search("--(folds|seed|task|kind)", usual)
    assert " --folds loo --seed 7 " in run(["nc"], n_splits=1, cv="loo", study={"random_state": 7}).recommend().command
    many = np.repeat(np.arange(24), [3] * 12 + [2] * 12)  # as whole numbers, they look like a regression
    found = run(["nc"], (toy(60)[0], many), n_splits=1, study={"task": "classification"})
    assert " --task classification " in found.recommend().command


def test_command_names_several_matrices_and_their_kinds():
    stack = make_stack([S, 1 - S], names=["near", "far off"])
    found = run(["nc"], (stack, Y), n_splits=1, kind=["similarity", "dissimilarity"])
    words = "similis fit near.csv 'far off.csv' --labels labels.csv --kind similarity,dissimilarity --method "
    assert found.recommend().command.startswith(words)


def _code(result, name):
    from similis.study._assemble import training_code

    return training_code(result.model(name))


@pytest.mark.slow
def test_every_method_has_code_that_runs():
    from similis.study._assemble import training_code

    for method in list_methods():
        for options in ({}, {"kind": "dissimilarity", "symmetric": False}, {"measure": VDM()}):
            model = make_model(method, n=20, cv=3, **options)
            names = {}
            lines = training_code(model).splitlines()
            exec("\n".join(line.partition(".fit(")[0] for line in lines), names)
            made = getattr(names["model"], "estimator", names["model"])
            want = getattr(model, "estimator", model)
            assert repr(made) == repr(clone(want).set_params(**_unseeded(want)))


def _unseeded(model):
    return {k: None for k in model.get_params(deep=True) if k.rpartition("__")[2] == "random_state"}


def test_recommendation_says_when_nothing_works(rng):
    found = run(["knn", "nc", "majority"], (S, rng.permutation(np.repeat(["a", "b"], [28, 8]))), n_splits=8)
    assert "largest class" in found.recommend().warning


def test_fit_best_is_ready_to_save(result, tmp_path):
    for name in (None, "svm-kernel(clip)"):
        model = result.fit_best(S, Y, method=name)
        similis.save(model, tmp_path / "model.skops")
        again = similis.load(tmp_path / "model.skops")
        np.testing.assert_array_equal(again.predict(S), model.predict(S))
    with pytest.raises(ValueError, match="not among"):
        result.fit_best(S, Y, method="cnn")


# Files


def test_results_file_round_trip(result, tmp_path):
    path = tmp_path / "result.json"
    result.save(path)
    again = StudyResult.load(path)
    assert str(again) == str(result)
    assert [row.to_dict() for row in again.table()] == [row.to_dict() for row in result.table()]
    np.testing.assert_array_equal(again.fit_best(S, Y).predict(S), result.fit_best(S, Y).predict(S))
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_damaged_results_files_get_one_sentence(result, tmp_path, rng):
    path = tmp_path / "result.json"
    result.save(path)
    data = path.read_bytes()
    record = json.loads(data)
    broken = [b"", b"[]", b"{}", b"\x80\x04", data[:-20], b"[" * 100_000]
    for change in (
        {"codes": [0, 99]},
        {"splits": [{"test": [400], "train": None}]},
        {"protocol": {"scheme": "x", "exec": 1}},
        {"entries": [{"method": "nc"}]},
        {"methods": 3},
    ):
        broken.append(json.dumps({**record, **change}).encode())
    for bad in broken:
        path.write_bytes(bad)
        with pytest.raises(ProximityError, match="not a results file") as caught:
            StudyResult.load(path)
        assert len(str(caught.value)) < 300
    for _ in range(60):
        at = rng.integers(len(data))
        path.write_bytes(data[:at] + bytes(rng.integers(0, 256, size=3, dtype=np.uint8)) + data[at + 3 :])
        try:
            StudyResult.load(path)
        except ProximityError:
            pass


def test_html_shows_names_as_text(tmp_path):
    evil = Method("<script>alert(1)</script>", lambda: DummyClassifier(), summary='"><b>x</b>')
    found = run(["nc", evil])
    found.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page
    assert "<b>x</b>" not in page
    assert not re.search(r'(src|href)="(?!#|data:)', page)  # nothing is loaded from elsewhere
    assert "nc" in page
    only = run([Method("never", lambda: Sometimes(limit=-1))])
    only.to_html(tmp_path / "report.html")
    assert "none can be recommended" in (tmp_path / "report.html").read_text()


def test_ranks_across_studies(result):
    from similis.study import average_ranks

    other = run(LIGHT, toy(seed=3), n_splits=2)
    found = average_ranks({"first": result, "second": other})
    assert set(found.methods) == set(LIGHT)
    assert found.methods[-1] == "majority"
    assert found.ranks.shape == (2, 4)
    entropy = average_ranks({"first": result, "second": other}, metric="nce")  # larger is better
    scores = result.paired_scores("nce")
    assert entropy.ranks[0][0] == 1 + sum(scores[m] > scores[entropy.methods[0]] for m in entropy.methods)


def test_each_quantity_is_computed_once(tmp_path, monkeypatch):
    """Table, recommendation, text, results file and report of one result share what they compute."""
    from collections import Counter

    from similis.study import _result

    calls = Counter()

    def counted(module, name):
        original = getattr(module, name)

        def wrapper(*args, **kwargs):
            calls[name] += 1
            return original(*args, **kwargs)

        monkeypatch.setattr(module, name, wrapper)

    counted(_result._predictions, "count_predictions")
    counted(_result._metrics, "compare_to_best")
    for name in ("make_rows", "recommend", "training_code"):
        counted(_result, name)

    class Recorder(dict):
        def __setitem__(self, key, value):
            assert key not in self
            super().__setitem__(key, value)

    found = run(["nc"], n_splits=2)
    found.complete_methods()
    computed = found._computed = Recorder(found._computed)
    for _ in range(2):
        found.table(), found.recommend(), str(found), found.significance()
        found.to_html(tmp_path / "report.html")
        found.save(tmp_path / "result.json")
    assert calls == {
        "make_rows": 1,
        "count_predictions": 1,
        "recommend": 1,
        "compare_to_best": 1,
        "training_code": 1,
    }
    assert found._computed is computed
    assert len(computed) > 8


def test_cached_results_are_not_shared_with_callers(result):
    result.table().clear()
    result.scores("error")["nc"][:] = -1
    result.mean_scores("error").clear()
    result.complete_methods().clear()
    result.significance().clear()
    assert len(result.table()) == 4
    assert result.scores("error")["nc"].min() >= 0
    assert (
        set(result.mean_scores("error")) == set(result.complete_methods()) == set(result.significance()) == set(LIGHT)
    )
    assert replace(result, partial=True)._computed == {}
    fewer = replace(result, entries={key: e for key, e in result.entries.items() if key[0] != "nc"})
    assert "nc" not in fewer.complete_methods()


def test_reason_of_a_failure_names_the_condition_only():
    S, y = make_similarity(24, 2, random_state=0)[:2]
    result = Study(["affinity-knn", "nc"], n_splits=2, cv=2).run(S - S.mean(), y, kind="similarity")
    (row,) = (row for row in result.table() if row.status == "failed")
    assert row.reason.startswith("weights='affinity' needs similarities of at least 0. Got -")
