"""The journal: whatever is cut off or killed, what was finished stays finished and the table comes out the same."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import closing, nullcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier

from similis import KreinRidgeClassifier, ProximityError, Study, StudyResult
from similis.exceptions import KindWarning
from similis.study import Entry, JournalWarning, Method
from similis.study import _run as scheduler
from similis.study._journal import Journal, claim_byte

METHODS = ["knn", "nc", "majority"]


def toy(n=30):
    rng = np.random.default_rng(5)
    y = np.arange(n) % 2
    Z = 2.0 * y[:, None] + rng.normal(size=(n, 3))
    return np.round(np.exp(-((Z[:, None] - Z[None]) ** 2).sum(-1) / 6), 2), y


S, Y = toy()


def study(journal=None, *, methods=METHODS, n_splits=3, **options):
    return Study(methods, n_splits=n_splits, cv=3, journal=journal, **{"race": False, **options})


def contents(result):
    return [entry.content() for entry in result.entries.values()]


def stamps(result):
    return {key: entry.finished for key, entry in result.entries.items()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A finished journal, as bytes, and the result of an uninterrupted run."""
    path = tmp_path_factory.mktemp("journal") / "whole.journal"
    result = study(path).run(S, Y)
    return path.read_bytes(), result


def test_resumes_without_computing(whole, tmp_path, monkeypatch):
    data, result = whole
    path = tmp_path / "a.journal"
    path.write_bytes(data)
    monkeypatch.setattr(scheduler, "evaluate", lambda *a: pytest.fail("computed again"))
    again = study(path).run(S, Y)
    assert contents(again) == contents(result)
    assert stamps(again) == stamps(result)
    assert not again.partial
    assert len(again.sessions) == 2


def test_infinite_parameters_and_details_are_kept(tmp_path):
    def details(*_):
        return {"score": np.nan}

    method = Method("krein", lambda: KreinRidgeClassifier(), {"ratio": [np.inf, np.inf]}, details=details)
    result = study(tmp_path / "j", methods=[method], n_splits=2).run(S, Y)
    assert result.entries["krein", 0].params == {"ratio": np.inf}
    result.save(tmp_path / "r.json")
    for again in (study(tmp_path / "j", methods=[method], n_splits=2).run(S, Y), StudyResult.load(tmp_path / "r.json")):
        entry = again.entries["krein", 0]
        assert entry.params == {"ratio": "inf"}
        assert np.isnan(entry.details["score"])
        assert str(again) == str(result)


def test_without_a_journal_the_same(whole):
    assert contents(study().run(S, Y)) == contents(whole[1])


@pytest.mark.slow
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0, 1))
def test_any_truncation_is_repaired(whole, tmp_path_factory, monkeypatch, place):
    """Cut the file at any byte: complete lines are kept with their time stamps, the rest is computed again."""
    data, result = whole
    cut = data[: round(place * len(data))]
    path = tmp_path_factory.mktemp("cut") / "a.journal"
    path.write_bytes(cut)
    kept = sum(b'"method"' in line for line in cut.split(b"\n")[:-1])
    computed = []
    evaluate = scheduler.evaluate
    monkeypatch.setattr(scheduler, "evaluate", lambda task, *a: computed.append(task.key) or evaluate(task, *a))
    again = study(path).run(S, Y)
    assert contents(again) == contents(result)
    assert len(computed) == len(result.entries) - kept
    old = stamps(result)
    assert sum(old[key] == stamp for key, stamp in stamps(again).items()) >= kept
    lines = path.read_bytes().split(b"\n")
    assert lines[-1] == b""
    assert all(json.loads(line) for line in lines[:-1])


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.floats(0, 0.999), bit=st.integers(0, 7))
def test_a_flipped_bit_is_noticed(whole, tmp_path_factory, place, bit):
    data, result = whole
    header = data.index(b"\n") + 1
    at = header + int(place * (len(data) - header))
    path = tmp_path_factory.mktemp("flip") / "a.journal"
    path.write_bytes(data[:at] + bytes([data[at] ^ (1 << bit)]) + data[at + 1 :])
    with nullcontext() if at == len(data) - 1 else pytest.warns(JournalWarning, match="damaged"):
        again = study(path).run(S, Y)
    assert contents(again) == contents(result)


def test_another_problem_is_refused_in_one_sentence(whole, tmp_path):
    data, _ = whole
    path = tmp_path / "a.journal"
    path.write_bytes(data)
    cases = [
        ("another matrix", study(path), (S + 1e-9 * np.eye(30), Y), {}),
        ("other labels", study(path), (S, np.roll(Y, 1)), {}),
        ("other groups", study(path), (S, Y), {"groups": np.arange(30) // 3}),
        ("other costs", study(path), (S, Y), {"costs": [[0, 1], [2, 0]]}),
        (
            'another protocol: {"random_state": 0} there, {"random_state": 1} here',
            study(path, random_state=1),
            (S, Y),
            {},
        ),
        ('another protocol: {"test_size": 0.2} there, {"test_size": 0.3} here', study(path, test_size=0.3), (S, Y), {}),
        ("other settings", study(path, to_similarity="rbf"), (S, Y), {}),
    ]
    for words, one, given_data, options in cases:
        with pytest.raises(ProximityError, match=words) as caught:
            one.run(*given_data, **options)
        assert len(str(caught.value)) < 300
    with pytest.raises(ProximityError, match="another kind"), pytest.warns(KindWarning):
        study(path).run(S, Y, kind="dissimilarity")
    assert path.read_bytes() == data


def test_another_grid_is_refused_and_new_methods_join(whole, tmp_path):
    from dataclasses import replace

    from similis.study import list_methods

    data, result = whole
    path = tmp_path / "a.journal"
    path.write_bytes(data)
    knn = next(m for m in list_methods() if m.name == "knn")
    with pytest.raises(ProximityError, match="'knn' with another grid"):
        study(path, methods=[replace(knn, grid={"n_neighbors": [1, 3]})]).run(S, Y)
    joined = study(path, methods=["nc", "local-nc"], n_splits=4).run(S, Y)
    assert len(joined.entries) == 8
    assert all(stamps(joined)["nc", i] == stamps(result)["nc", i] for i in range(3))


def test_foreign_files_are_left_alone(tmp_path):
    for text in ("id,a,b\n", '{"x": 1}\n', "no end of line"):
        path = tmp_path / "mine.csv"
        path.write_text(text)
        with pytest.raises(ProximityError, match="not a study's journal"):
            study(path).run(S, Y)
        assert path.read_text() == text


def test_other_versions_draw_a_warning(whole, tmp_path, monkeypatch):
    from similis.study import _run

    path = tmp_path / "a.journal"
    path.write_bytes(whole[0])
    monkeypatch.setattr(_run, "versions", lambda: {"similis": "0.0"})
    with pytest.warns(JournalWarning, match="other versions"):
        study(path).run(S, Y)


def test_claims_keep_two_studies_apart(tmp_path):
    """A second process does not compute what a first has claimed; it waits until the claim is gone."""
    path = tmp_path / "a.journal"
    code = (
        "import sys, time\nfrom similis._utils.journal import JsonLines\n"
        "with JsonLines(sys.argv[1]).lock(int(sys.argv[2])) as mine:\n    print(mine, flush=True); time.sleep(60)"
    )
    place = str(claim_byte("nc", 0, "x"))
    other = subprocess.Popen([sys.executable, "-c", code, str(path), place], stdout=subprocess.PIPE)
    try:
        assert other.stdout.read(4) == b"True"
        with closing(Journal(path)) as journal:
            with journal.claim("nc", 0, "x") as mine:
                assert not mine
            with journal.claim("nc", 1, "x") as mine:
                assert mine
            journal.append(Entry("nc", 1))  # appending needs no claim, and neither waits for the other
            other.kill()
            other.wait()
            with journal.claim("nc", 0, "x") as mine:
                assert mine
    finally:
        other.kill()


def test_waits_for_an_entry_that_another_study_computes(tmp_path, monkeypatch):
    path = tmp_path / "a.journal"
    claim = Journal.claim
    refused = []

    class Busy:
        def __enter__(self):
            return False

        def __exit__(self, *args):
            return False

    def busy_once(self, method, split, spec):
        if (method, split) == ("nc", 1) and len(refused) < 2:
            refused.append(1)
            return Busy()
        return claim(self, method, split, spec)

    monkeypatch.setattr(Journal, "claim", busy_once)
    result = study(path, methods=["nc"]).run(S, Y)
    assert len(refused) == 2
    assert len(result.entries) == 3
    assert not result.partial


def test_interrupt_gives_partial_results_and_resumes(tmp_path):
    path = tmp_path / "a.journal"

    def stop(progress):
        if progress.done == 4:
            raise KeyboardInterrupt

    partial = study(path).run(S, Y, progress=stop)
    assert partial.partial
    assert len(partial.entries) == 4
    assert "interrupted" in repr(partial)
    assert {row.status for row in partial.table()} <= {"ok", "incomplete", "missing"}
    assert "interrupted" in partial.recommend().text
    whole = study(path).run(S, Y)
    assert not whole.partial
    assert all(stamps(whole)[key] == stamp for key, stamp in stamps(partial).items())


class Moody(DummyClassifier):
    """Fails until it has been repaired."""

    def fit(self, X, y):
        if "SIMILIS_TEST_WELL" not in os.environ:
            raise RuntimeError("out of patience")
        return super().fit(X, y)


def test_failures_stay_unless_asked_to_retry(tmp_path, monkeypatch):
    path = tmp_path / "a.journal"
    methods = ["nc", Method("moody", Moody)]
    first = study(path, methods=methods).run(S, Y)
    assert next(row for row in first.table() if row.method == "moody").reason == "RuntimeError: out of patience"
    monkeypatch.setenv("SIMILIS_TEST_WELL", "1")
    assert contents(study(path, methods=methods).run(S, Y)) == contents(first)
    again = study(path, methods=methods, retry_failed=True).run(S, Y)
    assert {row.status for row in again.table()} == {"ok"}
    assert stamps(again)["nc", 0] == stamps(first)["nc", 0]
    assert contents(study(path, methods=methods).run(S, Y)) == contents(again)


def test_results_of_a_killed_run_survive_a_file(whole, tmp_path):
    _, result = whole
    result.save(tmp_path / "result.json")
    again = StudyResult.load(tmp_path / "result.json")
    assert contents(again) == contents(result)
    assert [row.to_dict() for row in again.table()] == [row.to_dict() for row in result.table()]


# The real thing: processes killed at random moments.

CHILD = """
import sys, numpy as np
sys.path.insert(0, sys.argv[3])
from test_study_journal import S, Y, study
study(sys.argv[1], n_splits=int(sys.argv[2]), n_jobs=int(sys.argv[4]), methods=sys.argv[5].split()).run(S, Y)
"""


def _child(path, n_splits, n_jobs=1, methods=METHODS):
    command = [sys.executable, "-c", CHILD, str(path), str(n_splits), str(Path(__file__).parent), str(n_jobs)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen([*command, " ".join(methods)], env=environment, stderr=subprocess.DEVNULL)


def _lines(path):
    return path.read_bytes().count(b"\n") if path.exists() else 0


def _kill_until_done(path, *, n_splits, n_jobs, methods, kills, moments):
    """Start, kill -9 after a random number of further lines and a random moment, and so on; then finish."""
    finished = {}
    for _ in range(kills):
        child = _child(path, n_splits, n_jobs, methods)
        goal = _lines(path) + moments.randint(0, 12)
        while child.poll() is None and _lines(path) < goal:
            time.sleep(0.002)
        time.sleep(moments.random() * 0.05)
        child.send_signal(signal.SIGKILL)
        child.wait()
        with closing(Journal(path)) as journal:
            journal.refresh()
            now = {key: entry.finished for key, entry in journal.entries.items()}
        assert all(now[key] == stamp for key, stamp in finished.items())
        finished = now
    result = study(path, methods=methods, n_splits=n_splits).run(S, Y)
    assert all(result.entries[method, split].finished == t for (method, split, _), t in finished.items())
    return result, finished


def test_kill_9_once(tmp_path):
    result, _ = _kill_until_done(
        tmp_path / "a.journal", n_splits=8, n_jobs=1, methods=METHODS, kills=1, moments=random.Random(0)
    )
    assert contents(result) == contents(study(n_splits=8).run(S, Y))


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_kill_9_many_times(tmp_path, n_jobs):
    methods = ["knn", "kri-knn(clip)", "svm-kernel(clip)", "nc", "majority"]
    expected = contents(study(methods=methods, n_splits=60).run(S, Y))
    for seed in range(4):
        result, finished = _kill_until_done(
            tmp_path / f"{seed}.journal",
            n_splits=60,
            n_jobs=n_jobs,
            methods=methods,
            kills=10,
            moments=random.Random(seed),
        )
        assert contents(result) == expected
        assert finished


@pytest.mark.slow
def test_two_studies_share_one_journal(tmp_path):
    """Both end with everything; nothing is computed twice; the file is sound."""
    path = tmp_path / "a.journal"
    children = [_child(path, 80) for _ in range(3)]
    assert [child.wait() for child in children] == [0, 0, 0]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    entries = [(line["method"], line["split"]) for line in lines if "method" in line]
    assert len(entries) == len(set(entries)) == 240
    assert len({line["session"] for line in lines if "method" in line}) > 1
    result = study(path, n_splits=80).run(S, Y)
    assert contents(result) == contents(study(n_splits=80).run(S, Y))


_STOPPED = """
from studies import run

def stop(progress):
    if progress.done == 3:
        raise KeyboardInterrupt

if __name__ == "__main__":
    options = {"n_jobs": 2, "journal": "a.journal"}
    found = run(["nc", "knn", "majority"], n_splits=8, study=options, progress=stop)
    assert found.partial and len(found.entries) >= 3, found
    again = run(["nc", "knn", "majority"], n_splits=8, study=options)
    assert not again.partial
    print("resumed")
"""


@pytest.mark.slow
def test_a_callback_can_interrupt_several_workers(tmp_path):
    """In a process of its own: before, the run waited for ever."""
    (tmp_path / "stopped.py").write_text(_STOPPED)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    found = subprocess.run(
        [sys.executable, "stopped.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=200
    )
    assert found.stdout == "resumed\n", found.stderr
    assert found.stderr == ""
