"""How studies, their results, trained models and published tables are tried."""

import functools
import tempfile
from pathlib import Path

import numpy as np
from _fuzz_calls import odd
from _fuzz_estimators import n_rows
from _fuzz_inputs import SEEDS, labels, matrix, often, one
from _fuzz_law import call, demand

import similis
from similis import study


def a_study(draw, note):
    options = {
        k: odd(draw, *v, share=0.15)
        for k, v in {
            "protocol": ("random", "kfold"),
            "n_splits": (2, 1),
            "test_size": (0.2, 0.5, 0.99),
            "cv": (2, "loo"),
            "random_state": (0,),
            "to_similarity": ("linear", "rbf"),
            "to_dissimilarity": ("max-minus",),
        }.items()
        if often(draw, 0.25)
    }
    methods = odd(draw, "nc", ["nc", "maxsim"], ["knn"], share=0.1)
    note(f"{methods} {options}")
    return call(study.Study, methods, **{"n_splits": 2, "cv": 2, **options})


def run_study(draw, note):
    plan = a_study(draw, note)
    S, _, words = matrix(draw, plain=0.85)
    y, what = labels(draw, n_rows(S), plain=0.85)
    extra = {}
    if often(draw, 0.2):
        extra["ids"] = odd(draw, [f"o{i}" for i in range(n_rows(S))], ["<script>"] * n_rows(S))
    if often(draw, 0.1):
        extra["groups"] = odd(draw, np.arange(n_rows(S)) % 3, ["a"] * n_rows(S))
    if often(draw, 0.1):
        extra["costs"] = odd(draw, [[0, 1], [5, 0]], [[1]])
    kind = odd(draw, "similarity", "dissimilarity", None, share=0.05)
    note(f"{words}, {what} {kind} {extra}")
    return call(plan.run, S, y, kind=kind, **extra)


@functools.cache
def _stock():
    """Results to read from, made once: a common study, a small one, one with failures, one of nothing."""
    S, y = similis.make_similarity(24, 3, random_state=0)
    made = [
        study.Study(["nc", "knn", "maxsim"], n_splits=3, cv=2).run(S, y),
        study.Study("nc", n_splits=1, cv=2).run(S[:6, :6], y[:6]),
        study.Study(["nc", "sda"], n_splits=2, cv=2).run(np.zeros((12, 12)), np.arange(12) % 2),
    ]
    return made


def _result(draw):
    made = _stock()
    return one(draw, *range(len(made))), made


def study_result(draw, note):
    i, made = _result(draw)
    found = made[i]
    metric, level, method = odd(draw, *study.METRICS), odd(draw, 0.05, 0.5), odd(draw, "nc", "knn")
    note(f"result {i} {metric} {level} {method}")
    for f, arguments in one(
        draw,
        [(found.table, ()), (found.frame, ()), (found.best, ()), (found.recommend, ())],
        [(found.scores, (metric,)), (found.mean_scores, (metric,))],
        [(found.significance, (level,))],
        [(found.error_interval, (method, level))],
        [(found.model, (method,))],
    ):
        call(f, *arguments)
    with tempfile.TemporaryDirectory() as folder:
        call(found.save, Path(folder) / "r.json")
        back = call(study.StudyResult.load, Path(folder) / "r.json")
        demand(back.table() == found.table() or str(back.table()) == str(found.table()), "another table")


def result_page(make):
    """Case for a function that makes a page from a result."""

    def case(draw, note):
        i, made = _result(draw)
        note(f"page of result {i}")
        call(make, one(draw, made[i], None, "result", {"a": made[i]}))

    return case


def fresh_result(draw, note):
    found = run_study(draw, note)
    note("run")
    call(found.table)
    if any(entry.ok for entry in found.entries.values()):
        with tempfile.TemporaryDirectory() as folder:
            call(found.to_html, Path(folder) / "r.html")


def result_display(f):
    """A case for a picture of a result."""

    def case(draw, note):
        i, made = _result(draw)
        note(f"result {i}")
        shown = call(f, made[i], plot=False)
        call(shown.svg)

    return case


def train(draw, note):
    plan = a_study(draw, note)
    S, Q, words = matrix(draw, plain=0.9)
    y, what = labels(draw, n_rows(S), plain=0.9)
    method = odd(draw, None, "nc", share=0.1)
    note(f"{words}, {what} {method}")
    trained = call(study.train_model, S, y, study=plan, method=method, kind=one(draw, "similarity", "dissimilarity"))
    note("trained")
    with tempfile.TemporaryDirectory() as folder:
        path = call(study.write_model, trained, Path(folder) / "m.skops")
        back = call(study.read_model, path)
        block = call(similis.Proximity, Q)
        found = call(study.predict_rows, back, block)
        demand(bool(np.isin(found.labels, found.classes).all()), "a label that is not in classes")


def make_model(draw, note):
    names = [m.name for m in study.list_methods()]
    method = odd(draw, *names, share=0.1)
    options = {
        k: odd(draw, *v, share=0.15)
        for k, v in {
            "kind": ("similarity", "dissimilarity"),
            "n": (5, 30, 1),
            "cv": (2, "loo"),
            "missing": (True,),
            "symmetric": (True, False),
            "random_state": (0,),
        }.items()
        if often(draw)
    }
    note(f"{method} {options}")
    call(study.make_model, method, **options)


def ranks(f):
    def case(draw, note):
        made = _stock()
        rng = np.random.default_rng(draw(SEEDS))
        numbers = {f"d{j}": {m: float(rng.random()) for m in ("a", "b", "c")} for j in range(one(draw, 0, 1, 3, 30))}
        given = one(
            draw,
            {"a": made[0], "b": made[0]},
            {"a": made[0], "b": made[1]},
            {},
            {"a": made[0]},
            numbers,
            3,
            None,
            {"a": 1},
        )
        note(str(given)[:60])
        found = call(f, given)
        if hasattr(found, "svg"):
            call(found.svg)

    return case


def on_numbers(f):
    """signed_rank and holm."""

    def case(draw, note):
        A, _, words = matrix(draw)
        flat = A.ravel() if isinstance(A, np.ndarray) else A
        values = one(draw, A, flat, flat, [], [0.0] * 4, [0.5, np.nan])
        note(words)
        found = call(f, values)
        demand(np.ndim(found) == 0 or len(found) == n_rows(values), "another length")

    return case
