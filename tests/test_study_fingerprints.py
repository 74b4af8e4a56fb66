"""Which journal belongs to which study: fingerprints of parameters, concatenated, removed and replaced journals."""

import functools
import json
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
from scipy import sparse
from sklearn.dummy import DummyClassifier
from sklearn.preprocessing import FunctionTransformer
from test_study_journal import S, Y, contents, study

from similis import Edit, FromFunction, ProximityError, Study, TverskyContrast
from similis._utils.fingerprint import fingerprint
from similis._utils.journal import JsonLines
from similis.measures import Measure
from similis.study import JournalWarning, Method
from similis.study import _run as scheduler

FACTOR = 2.0
TABLE = {"a": 1}


def one(x, z, *, power=1):
    return -(abs(x - z) ** power)


def with_default(x, z, *, power=2):
    return -(abs(x - z) ** power)


def other_code(x, z, *, power=1):
    return -(abs(x + z) ** power)


def with_global(x, z):
    return FACTOR * helper(x, z)


def helper(x, z):
    return -abs(x - z)


def with_table(x, z):
    return TABLE["a"] * helper(x, z)


def same_name(function):
    function.__name__ = function.__qualname__ = "measure"
    return function


class Shift(Measure):
    def __init__(self, by=0.0):
        self.by = by

    def __call__(self, x, z):
        return -abs(x - z) + self.by


# values


@pytest.mark.parametrize(
    "value, other",
    [
        (one, with_default),
        (one, other_code),
        (lambda x: x + 1, lambda x: x + 2),
        (lambda x: [i + 1 for i in x], lambda x: [i + 2 for i in x]),
        (functools.partial(one, power=1), functools.partial(one, power=2)),
        (np.arange(2000.0), np.r_[np.arange(1000.0), 7, np.arange(1001.0, 2000)]),
        (np.array(["a", None], dtype=object), np.array(["b", None], dtype=object)),
        (sparse.eye(30, format="csr"), 2 * sparse.eye(30, format="csr")),
        ({"a", "b"}, {"a", "c"}),
        ([1, [2]], [[1], 2]),
        (1, 1.0),
        ("1", 1),
        (np.float32(1), np.float64(1)),
        (Edit(substitution={c: {"z": i / 50} for i, c in enumerate("abcdefghijklmnopqrstuv")}),
         Edit(substitution={c: {"z": i / 50 + (c == "v")} for i, c in enumerate("abcdefghijklmnopqrstuv")})),
        (Shift(1.0), Shift(2.0)),
        (DummyClassifier(), DummyClassifier(strategy="uniform")),
    ],
)  # fmt: skip
def test_different_values_have_different_fingerprints(value, other):
    assert fingerprint(value).digest != fingerprint(other).digest
    assert fingerprint(value).digest == fingerprint(value).digest


@pytest.mark.slow
def test_fingerprints_are_the_same_in_every_process():
    code = """
        import numpy as np, functools
        from similis import FromFunction, FromMatrix
        from similis._utils.fingerprint import fingerprint
        shift = np.arange(4)
        def f(x, z, k=frozenset("abc")):
            return abs(x - z) if x in {"p", "q", "r"} else shift[0]
        class M:
            def __init__(self): self.a, self.b = {"x", "y", "z"}, np.array(["u", None], dtype=object)
        for value in (f, functools.partial(f, 1), FromFunction(f), FromMatrix(np.eye(3), ids=["a", "b", "c"]), M()):
            print(fingerprint(value).digest)
    """
    runs = [
        subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert len(set(runs[0].split())) == 5


def test_globals_of_a_function_count(monkeypatch):
    before = fingerprint(with_global).digest
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert fingerprint(with_global).digest != before
    monkeypatch.undo()
    assert fingerprint(with_global).digest == before
    monkeypatch.setitem(globals(), "helper", lambda x, z: x * z)
    assert fingerprint(with_global).digest != before
    assert fingerprint(with_table).unverified == ("the variable TABLE in with_table",)


def test_parts_of_a_set_that_cannot_be_verified_are_named_once():
    assert fingerprint({threading.Lock(), threading.Lock()}).unverified == ("lock",)


def test_documentation_and_position_do_not_count():
    def documented(x):
        """A."""
        return x + 1

    first = fingerprint(documented).digest

    def documented(x):
        """B."""
        return x + 1

    assert fingerprint(documented).digest == first


# studies

X = np.round(np.random.default_rng(0).normal(size=30) + 3.0 * Y, 2)


def measured(journal, measure, **options):
    return Study(["nc", "majority"], n_splits=2, cv=3, journal=journal, **options).run(X, Y, measure=measure)


@pytest.mark.parametrize(
    "measure, other",
    [
        (FromFunction(same_name(lambda x, z: -abs(x - z))), FromFunction(same_name(lambda x, z: -((x - z) ** 2)))),
        (FromFunction(one), FromFunction(functools.partial(one, power=2))),
        (Shift(0.0), Shift(1.0)),
    ],
)
def test_another_function_is_another_measure(tmp_path, monkeypatch, measure, other):
    path = tmp_path / "a.journal"
    first = measured(path, measure)
    with pytest.raises(ProximityError, match="belongs to another m"):  # the matrix, if it is measured once
        measured(path, other)
    monkeypatch.setattr(scheduler, "evaluate", lambda *a: pytest.fail("computed again"))
    assert contents(measured(path, measure)) == contents(first)


def test_measures_that_learn_are_compared_in_full(tmp_path):
    """The matrix is not known before the splits, and the description of the measure exceeds 200 characters."""
    sets = [{f"t{i % 7}", f"u{i % 3}", "ab"[y]} for i, y in enumerate(Y)]
    weights = {token: 1.0 for tokens in sets for token in tokens}
    path = tmp_path / "a.journal"
    options = {"n_splits": 2, "cv": 3, "journal": path}
    first = TverskyContrast(salience=weights)
    Study("nc", **options).run(sets, Y, measure=first)
    last = list(weights)[-1]
    with pytest.raises(ProximityError, match="belongs to another measure"):
        Study("nc", **options).run(sets, Y, measure=TverskyContrast(salience={**weights, last: 2.0}))


def test_what_cannot_be_verified_is_said(tmp_path):
    path = tmp_path / "a.journal"
    measured(path, FromFunction(with_table))
    with pytest.warns(JournalWarning, match="TABLE in with_table.* cannot be verified"):
        measured(path, FromFunction(with_table))


def test_a_method_with_another_function_is_refused(tmp_path):
    def method(function):
        from sklearn.neighbors import KNeighborsClassifier
        from sklearn.pipeline import make_pipeline

        return Method("mine", lambda: make_pipeline(FunctionTransformer(function), KNeighborsClassifier()))

    path = tmp_path / "a.journal"
    study(path, methods=[method(same_name(lambda A: A**2))]).run(S, Y)
    study(path, methods=[method(same_name(lambda A: A**2))]).run(S, Y)
    with pytest.raises(ProximityError, match="'mine' with another grid, other parameters or other code"):
        study(path, methods=[method(same_name(lambda A: A**3))]).run(S, Y)


def test_other_settings_of_probabilities_are_refused(tmp_path):
    path = tmp_path / "a.journal"
    study(path, probabilities=False).run(S, Y)
    with pytest.raises(ProximityError, match="other settings"):
        study(path).run(S, Y)
    study(path, probabilities=False).run(S, Y)


def as_version_1(data):
    """The lines of a journal as version 1.0 wrote them."""
    from similis._utils.journal import _format

    lines = []
    for line in data.splitlines():
        record = {key: value for key, value in json.loads(line).items() if key not in ("crc", "study", "exact")}
        lines.append(_format(record))
    return b"".join(lines)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("order", ["ours first", "ours last"])
def test_concatenated_journals_use_their_own_entries(tmp_path, monkeypatch, version, order):
    ours, theirs = tmp_path / "ours.journal", tmp_path / "theirs.journal"
    first = study(ours).run(S, Y)
    flipped = S**3
    study(theirs).run(flipped, Y)
    parts = [ours.read_bytes(), theirs.read_bytes()]
    parts = [as_version_1(part) for part in parts] if version == 1 else parts
    both = tmp_path / "both.journal"
    both.write_bytes(b"".join(parts if order == "ours first" else parts[::-1]))
    monkeypatch.setattr(scheduler, "evaluate", lambda *a: pytest.fail("computed again"))
    with pytest.warns(JournalWarning, match="holds 2 studies"):
        assert contents(study(both).run(S, Y)) == contents(first)
    with pytest.warns(JournalWarning, match="holds 2 studies"):
        other = study(both).run(flipped, Y)
    assert contents(other) != contents(first)
    with pytest.raises(ProximityError, match="belongs to another matrix"):
        study(both).run(S + 1, Y)


def test_entries_below_a_damaged_header_belong_to_no_study(tmp_path):
    """Version 1.0: a torn line and the header of the next file make one damaged line."""
    ours, theirs = tmp_path / "ours.journal", tmp_path / "theirs.journal"
    first = study(ours, n_splits=1).run(S, Y)
    study(theirs).run(S**3, Y)
    both = tmp_path / "both.journal"
    both.write_bytes(as_version_1(ours.read_bytes())[:-9] + as_version_1(theirs.read_bytes()))
    with pytest.warns(JournalWarning, match="damaged"):
        again = study(both).run(S, Y)
    assert contents(again)[:3] == contents(first)
    assert contents(again) == contents(study().run(S, Y))


def test_an_incomplete_entry_is_computed_again(tmp_path):
    path = tmp_path / "a.journal"
    first = study(path).run(S, Y)
    lines = JsonLines(path)
    records = [line.record for line in lines.read_new()]
    lines.close()
    path.unlink()
    del records[-1]["predictions"]
    lines = JsonLines(path)
    lines.append(records)
    lines.close()
    with pytest.warns(JournalWarning, match="1 damaged line"):
        assert contents(study(path).run(S, Y)) == contents(first)


# a journal that is removed or replaced during a run


def run_and_disturb(path, disturb, *, n_jobs=None, at=4):
    def after(progress):
        if progress.done == at:
            disturb()

    return study(path, n_jobs=n_jobs).run(S, Y, progress=after)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("how", ["removed", "truncated", "copied"])
def test_a_journal_that_is_removed_during_a_run_is_restored(tmp_path, monkeypatch, n_jobs, how):
    path = tmp_path / "a.journal"

    def disturb():
        if how == "truncated":
            path.write_bytes(b"")
        else:
            data = path.read_bytes()
            path.unlink()
            if how == "copied":  # as editors do
                path.write_bytes(data)

    result = run_and_disturb(path, disturb, n_jobs=n_jobs)
    assert contents(result) == contents(study().run(S, Y))
    monkeypatch.setattr(scheduler, "evaluate", lambda *a: pytest.fail("computed again"))
    assert contents(study(path).run(S, Y)) == contents(result)


def test_a_journal_removed_after_the_last_entry_is_restored(tmp_path, monkeypatch):
    path = tmp_path / "a.journal"
    result = run_and_disturb(path, path.unlink, at=9)
    monkeypatch.setattr(scheduler, "evaluate", lambda *a: pytest.fail("computed again"))
    assert contents(study(path).run(S, Y)) == contents(result)


@pytest.mark.parametrize("what", ["journal", "text"])
def test_a_journal_that_is_replaced_by_another_file_is_saved(tmp_path, what):
    path, other = tmp_path / "a.journal", tmp_path / "other.journal"
    study(other).run(S**3, Y)
    data = other.read_bytes() if what == "journal" else b"my notes\n"

    def disturb():
        path.unlink()
        path.write_bytes(data)

    with pytest.raises(ProximityError, match=r"was replaced by another file.*saved; name it as the journal") as caught:
        run_and_disturb(path, disturb)
    assert path.read_bytes() == data
    (saved,) = tmp_path.glob("*.saved")
    assert saved.name in str(caught.value)
    kept = saved.read_bytes().count(b'"method"')
    assert kept >= 4
    computed = []
    evaluate = scheduler.evaluate
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scheduler, "evaluate", lambda task, *a: computed.append(task.key) or evaluate(task, *a))
        again = study(saved).run(S, Y)
    assert len(computed) == 9 - kept
    assert contents(again) == contents(study().run(S, Y))
