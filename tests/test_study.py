"""The study as a whole: methods, honest splits, failures as rows, the same bytes for any number of workers, input."""

import json
import os
import signal
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC
from studies import LIGHT, S, Sometimes, Y, run, toy

import similis
from similis import VDM, Counting, FromMatrix, Minkowski, Pairwise, Proximity, ProximityError, SimilarityKNN, Study
from similis.exceptions import KindWarning
from similis.proximity import (
    RowRBF,
    SimilarityFeatures,
    SpectrumClip,
    SpectrumSquare,
    Symmetrize,
    ToDissimilarity,
    ToSimilarity,
)
from similis.study import Method, _run
from similis.study import list_methods as list_all_methods
from similis.study._methods import find_methods
from similis.study._protocol import DealtFolds, Protocol


def list_methods():
    """All methods that read a matrix."""
    return [method for method in list_all_methods() if method.reads != "objects"]


def contents(result):
    return [entry.content() for entry in result.entries.values()]


# The table of methods


@pytest.mark.slow
def test_every_method_of_the_table_works():
    found = run(list_methods(), n_splits=1)
    assert [row.method for row in found.table() if row.status != "ok"] == []
    names = [m.name for m in list_methods()]
    assert len(set(names)) == len(names)
    for method in list_methods():
        assert method.summary
        assert method.family
        assert method.paper or method.baseline


@pytest.mark.slow
def test_every_method_reads_dissimilarities_and_asymmetric_matrices(rng):
    D = 1 - S
    found = run(
        list_methods(), (D + 0.05 * rng.random(D.shape) * (1 - np.eye(36)), Y), n_splits=1, kind="dissimilarity"
    )
    rows = {row.method: row for row in found.table()}
    assert [name for name, row in rows.items() if row.status != "ok"] == []
    assert rows["knn"].conversion == ""
    assert rows["affinity-knn"].conversion == "to similarity (linear)"
    assert rows["svm-kernel(clip)"].conversion == "symmetrized, to similarity (linear)"


def test_methods_by_name_alias_and_hand():
    own = Method("mine", lambda: SimilarityKNN(n_neighbors=3), reads="either")
    found = run([own, "svm-kernel(square)", "nc"], n_splits=1)
    assert [info.name for info in found.methods] == ["mine", "svm-features(linear)", "nc"]
    named = {word: [m.name for m in find_methods(word)] for word in ("quick", "all")}
    assert set(named["quick"]) < set(named["all"]) < {m.name for m in list_methods()}
    assert [m.name for m in find_methods(["majority", "quick", "knn"])][:2] == ["majority", "knn"]
    assert {m.name for m in find_methods(["majority", "quick", "knn"])} == {"majority", *named["quick"]}
    assert "lp-machine" not in named["all"]
    for bad, words in ((["knm"], "Did you mean 'knn'"), ([], "at least one"), (["nc", "nc"], "different names")):
        with pytest.raises(ValueError, match=words):
            run(bad)


def test_grids_are_cut_to_the_training_part():
    small = run(["knn"], toy(12), n_splits=1)
    assert max(small.methods[0].grid["n_neighbors"]) <= 7
    assert small.table()[0].status == "ok"


# What is computed


def test_one_entry_is_a_plain_search_fitted_by_hand():
    """The study's own path gives the predictions that scikit-learn's grid search gives on the same split."""
    found = run(["svm-kernel(clip)"], n_splits=2)
    codes = np.unique(Y, return_inverse=True)[1]
    protocol = Protocol(n_splits=2, cv=3)
    grid = {"svc__C": found.methods[0].grid["svc__C"]}
    for split in protocol.splits(codes):
        search = GridSearchCV(
            make_pipeline(SpectrumClip(), SVC(kernel="precomputed", max_iter=100_000)),
            grid,
            cv=protocol.inner(split.number),
        )
        search.fit(S[np.ix_(split.train, split.train)], codes[split.train])
        entry = found.entries["svm-kernel(clip)", split.number]
        np.testing.assert_array_equal(entry.predictions, search.predict(S[np.ix_(split.test, split.train)]))
        assert entry.params == search.best_params_


def test_workers_change_no_byte():
    methods = ["nc", "svm-kernel(clip)", "majority"]
    one, two = (run(methods, study={"n_jobs": n_jobs}) for n_jobs in (1, 2))
    assert json.dumps(contents(one)) == json.dumps(contents(two))


@pytest.mark.slow
def test_workers_change_no_byte_of_any_method():
    data = toy(90)
    first, *others = (run(list_methods(), data, n_splits=3, study={"n_jobs": n_jobs}) for n_jobs in (1, 2, 4))
    for other in others:
        assert json.dumps(contents(first)) == json.dumps(contents(other))


def test_test_labels_are_never_seen(rng):
    """Permuting the labels of the test objects changes no prediction, with a measure that learns from labels too."""
    X = rng.integers(0, 3, size=(36, 5))
    X[:, 0] = np.unique(Y, return_inverse=True)[1]
    test = np.arange(0, 36, 4)
    train = np.setdiff1d(np.arange(36), test)
    shuffled = Y.copy()
    shuffled[test] = rng.permutation(Y[test])
    for data, options in ((S, {}), (X, {"measure": VDM()}), (X, {"measure": Counting()})):
        a, b = (run(data=(data, y), splits=[(train, test)], **options) for y in (Y, shuffled))
        assert contents(a) == contents(b)


def test_measure_that_learns_is_fitted_inside(rng):
    """By hand: VDM on the training part only, also in the folds that choose k."""
    X = rng.integers(0, 3, size=(40, 6))
    y = (X[:, 0] + X[:, 1] > 2).astype(int)
    found = run(["knn"], (X, y), n_splits=2, measure=VDM())
    protocol = Protocol(n_splits=2, cv=3)
    for split in protocol.splits(y):
        model = make_pipeline(Pairwise(VDM()), SimilarityKNN(kind="dissimilarity"))
        grid = {"similarityknn__n_neighbors": found.methods[0].grid["n_neighbors"]}
        search = GridSearchCV(model, grid, cv=protocol.inner(split.number)).fit(X[split.train], y[split.train])
        entry = found.entries["knn", split.number]
        np.testing.assert_array_equal(entry.predictions, search.predict(X[split.test]))


def test_measure_is_asked_once_a_training_part(rng, monkeypatch):
    fits = []
    fit = Pairwise.fit
    monkeypatch.setattr(Pairwise, "fit", lambda self, X, y=None: fits.append(len(X)) or fit(self, X, y))
    X = rng.integers(0, 3, size=(36, 5))
    run(["knn", "nc", "local-nc"], (X, Y), n_splits=1, measure=VDM())
    assert len(fits) == 1 + 3  # the training part and its three folds
    fits.clear()
    run(["knn", "nc", "local-nc"], (X, Y), n_splits=2, measure=Counting())
    assert len(fits) <= 2  # once a split at most


def test_objects_and_their_matrix_give_the_same():
    places = np.arange(36)
    a = run(data=(places, Y), measure=FromMatrix(S))
    assert contents(a) == contents(run())
    assert a.fit_best(places, Y).predict(places[:3]).shape == (3,)
    assert "--measure frommatrix" in a.recommend().command
    assert "FromMatrix(S=S)" in a.recommend().python


def test_groups_stay_together_all_the_way(monkeypatch):
    groups = np.arange(36) // 4
    seen = []
    split = DealtFolds.split

    def spy(self, X, y, groups=None):
        for a, b in split(self, X, y, groups):
            assert groups is not None
            assert not set(np.asarray(groups)[a]) & set(np.asarray(groups)[b])
            seen.append(1)
            yield a, b

    monkeypatch.setattr(DealtFolds, "split", spy)
    found = run(["knn", "svm-kernel(clip)"], groups=groups)
    assert seen
    for part in found.splits:
        assert not set(groups[part.train]) & set(groups[part.test])


def test_leave_one_out_pools_its_objects():
    found = run(["nc", "knn"], study={"protocol": "loo"})
    assert len(found.splits) == 36
    by_hand = [
        clone(similis.NearestCentroid()).fit(S[np.ix_(a, a)], Y[a]).predict(S[np.ix_(b, a)])[0] != Y[b[0]]
        for a, b in LeaveOneOut().split(S)
    ]
    rows = {row.method: row for row in found.table()}
    assert rows["nc"].error == pytest.approx(np.mean(by_hand))
    assert np.isnan(rows["nc"].error_sd)
    assert 0 <= rows["nc"].balanced_error <= 1
    low, high = found.error_interval("nc")
    assert low < rows["nc"].error < high
    for ask, words in ((found.error_interval, "no finished split"), (found.scores, "no metric")):
        for nothing in ("x", ["nc"], {}):
            with pytest.raises(ValueError, match=words):
                ask(nothing)


def test_costs_move_the_decision():
    costs = np.array([[0, 1, 1], [50, 0, 50], [1, 1, 0]], dtype=float)  # saying "b" wrongly is dear
    plain, dear = run(["knn"], n_splits=4), run(["knn"], n_splits=4, costs=costs)
    said = [np.concatenate([e.predictions for e in r.entries.values()]) for r in (plain, dear)]
    assert (said[1] == 1).sum() < (said[0] == 1).sum()
    assert "cost" in str(dear)
    assert dear.table()[0].cost >= 0
    assert "metric='cost'" in dear.recommend().python
    assert "lowest mean cost" in dear.recommend().text
    assert "cost" not in plain.recommend().text
    assert dear.fit_best(S, Y).predict(S).shape == (36,)
    assert np.isnan(plain.table()[0].cost)


def test_missing_entries_are_completed_inside_the_splits_where_a_method_cannot_read_them():
    holes = S.copy()
    holes[3, 5] = holes[5, 3] = holes[0, 7] = holes[7, 0] = np.nan
    result = run(["knn", "svm-kernel(clip)"], (holes, Y))
    rows = {row.method: row for row in result.table()}
    assert {row.status for row in rows.values()} == {"ok"}
    assert rows["knn"].conversion == ""
    assert rows["svm-kernel(clip)"].conversion == "completed, rescaled"
    model = result.model("svm-kernel(clip)").fit(holes, Y)
    assert model.predict(np.where(np.arange(36) < 3, np.nan, S[:4])).shape == (4,)
    distances = {row.method: row for row in run(["knn", "nc"], (S.max() - holes, Y), kind="dissimilarity").table()}
    assert {row.status for row in distances.values()} == {"ok"}


def test_failures_are_rows():
    methods = [
        "nc",
        Method("never", lambda: Sometimes(limit=-1)),
        Method("at times", lambda: Sometimes(limit=0.0)),
        Method("odd", lambda: Sometimes(limit=-1, error=ZeroDivisionError)),
        Method("unmade", lambda: 1 / 0),
        Method("affinity", lambda: SimilarityKNN(weights="affinity")),
    ]
    found = run(methods, (S - 0.1, Y), n_splits=6)
    rows = {row.method: row for row in found.table()}
    assert rows["never"].status == "failed"
    assert rows["never"].reason == "the moon is in the wrong place and so is the sun"
    assert rows["odd"].reason.startswith("ZeroDivisionError: ")
    assert rows["unmade"].status == "failed"
    assert rows["at times"].status == "partly failed"
    assert 0 < rows["at times"].n_splits < 6
    assert "weights='affinity' needs" in rows["affinity"].reason
    assert found.table()[0].method == "nc"
    assert len(found.entries) == 6 * len(methods)
    assert set(found.significance()) == {"nc"}
    assert found.best() == "nc"
    assert "wrong place" in str(found)
    only = run(methods[1:2])
    with pytest.raises(ProximityError, match=r"none can be recommended\. never: the moon is in the wrong place"):
        only.recommend()
    assert "never" in str(only)


class Doomed(Sometimes):
    """Its process is killed, as for lack of memory."""

    def fit(self, X, y):
        os.kill(os.getpid(), signal.SIGKILL)


class DoomedOnce(Sometimes):
    """Its first process is killed."""

    def __init__(self, flag=None):
        self.flag = flag

    def fit(self, X, y):
        if not self.flag.exists():
            self.flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.slow
def test_under_a_budget_lost_splits_wait_for_their_turn(tmp_path, monkeypatch):
    def never(task, context):
        raise AssertionError(task.key)

    monkeypatch.setattr(_run, "_evaluate_alone", never)
    methods = ["nc", Method("once", partial(DoomedOnce, tmp_path / "flag")), "knn", "majority"]
    found = run(methods, n_splits=2, study={"n_jobs": 2, "time_budget": 600})
    assert (tmp_path / "flag").exists()
    assert len(found.entries) == 8
    assert all(entry.ok for entry in found.entries.values())


@pytest.mark.slow
@pytest.mark.parametrize("budget", [None, 600])
def test_a_killed_worker_is_a_row(tmp_path, budget):
    methods = ["nc", Method("doomed", Doomed), "knn", "majority"]
    study = {"n_jobs": 2, "journal": tmp_path / "a.journal", "time_budget": budget}
    found = run(methods, n_splits=1, study=study)
    rows = {row.method: row for row in found.table()}
    assert rows["doomed"].status == "failed"
    assert "killed, probably for lack of memory" in rows["doomed"].reason
    assert not found.partial
    alone = {entry.key: entry.content() for entry in run(["nc", "knn", "majority"], n_splits=1).entries.values()}
    assert {key: entry.content() for key, entry in found.entries.items() if entry.ok} == alone
    lines = [json.loads(line) for line in (tmp_path / "a.journal").read_text().splitlines()[1:]]
    written = {line.get("method") for line in lines if "status" in line or "predictions" in line}
    assert written == {"nc", "knn", "majority"}  # another try of the fourth may have more memory


def test_warnings_become_notes():
    with pytest.warns(KindWarning):
        found = run(["knn"], (1 - S, Y), n_splits=1)
    (entry,) = found.entries.values()
    assert any("KindWarning" in note for note in entry.notes)


def test_a_class_missing_from_training_has_probability_zero():
    y = Y.copy()
    y[y == "c"] = "b"
    y[0] = "z"
    found = run(["knn"], (S, y), splits=[(np.arange(1, 36), np.array([0]))])
    (entry,) = found.entries.values()
    assert entry.proba.shape == (1, 3)
    assert entry.proba[0, 2] == 0
    assert found.table()[0].error == 1


# What goes in


def test_proximity_and_frames_bring_their_own_names():
    P = Proximity(S, ids=[f"o{i}" for i in range(36)], kind="similarity", labels=Y)
    a = Study(["nc"], n_splits=2, cv=3).run(P)
    assert contents(a) == contents(run(["nc"]))
    assert a.ids[0] == "o0"
    pandas = pytest.importorskip("pandas")
    names = [f"o{i}" for i in range(36)]
    b = run(["nc"], (pandas.DataFrame(S, names, names), Y))
    assert b.ids == a.ids
    assert contents(a) == contents(b)


def test_bad_input_gets_one_sentence():
    cases = [
        ({"n_splits": 0}, {}, "n_splits"),
        ({"n_splits": True}, {}, "n_splits"),
        ({"test_size": 1.5}, {}, "test_size"),
        ({"cv": 1}, {}, "cv"),
        ({"random_state": None}, {}, "random_state"),
        ({"protocol": "bootstrap"}, {}, "protocol"),
        ({}, {"kind": "distance"}, "kind"),
        ({}, {"ids": ["a"]}, "ids"),
        ({}, {"groups": np.arange(36) % 2}, "three groups"),
        ({}, {"groups": [1]}, "groups"),
        ({}, {"costs": np.eye(2)}, "costs"),
        ({}, {"measure": "vdm"}, "measure"),
        ({}, {"measure": Counting(), "kind": "dissimilarity"}, "kind"),
        ({}, {"splits": [([0], [0])]}, "both"),
    ]
    for options, arguments, words in cases:
        with pytest.raises(ValueError, match=words) as caught:
            Study(LIGHT, **options).run(S, Y, **arguments)
        assert len(str(caught.value)) < 300
    for data, words in (
        ((S[:, :5], Y), "square"),
        ((S, Y[:4]), "labels"),
        ((S, None), "y"),
        ((S, ["a"] * 36), "classes"),
    ):
        with pytest.raises(ValueError, match=words):
            run(data=data)
    with pytest.raises(ValueError, match="more than the 2"):
        run(data=(S[:2, :2], ["a", "b"]))


@pytest.mark.parametrize("n", [3, 4, 6])
def test_tiny_studies_end_with_a_table(n):
    found = run("quick", (S[:n, :n], Y[:n]), n_splits=3)
    assert len(found.entries) == 3 * len(found.methods)
    assert str(found)


def test_progress_is_told_and_shown(capsys):
    states = []
    run(["nc", "knn"], progress=states.append)
    assert [state.done for state in states] == [1, 2, 3, 4]
    assert states[-1].total == 4
    assert states[-1].seconds_left == 0
    run(["nc"], progress=True)
    assert capsys.readouterr().out == ""


# A pipeline of the user's own


D = 1 - S


@pytest.mark.parametrize(
    ("make", "reads"),
    [
        (lambda: make_pipeline(ToSimilarity(), SimilarityKNN()), "dissimilarity"),
        (lambda: make_pipeline(ToSimilarity(), ToDissimilarity(), SimilarityKNN()), "dissimilarity"),
        (lambda: make_pipeline(RowRBF(), SimilarityKNN()), "either"),
        (lambda: make_pipeline(SpectrumSquare(), SimilarityKNN()), "similarity"),
        (lambda: make_pipeline(SimilarityFeatures(), Pairwise(Minkowski()), SimilarityKNN()), "either"),
        (lambda: make_pipeline(FunctionTransformer(lambda D: np.exp(-D)), SimilarityKNN()), "dissimilarity"),
        (lambda: make_pipeline("passthrough", Symmetrize(), SimilarityKNN()), "either"),
    ],
)
def test_kind_of_the_last_step_is_that_of_the_rows_it_reads(make, reads):
    found = Study([Method("mine", make, reads=reads), "knn"], n_splits=4, cv=3).run(D, Y, kind="dissimilarity")
    errors = found.mean_scores("error")
    assert errors["mine"] <= errors["knn"] + 0.2  # with the wrong kind nearly all predictions are wrong


def test_fit_best_keeps_the_kind_of_a_converting_pipeline():
    mine = Method("mine", lambda: make_pipeline(ToSimilarity(), SimilarityKNN(n_neighbors=3)), reads="dissimilarity")
    found = Study([mine], n_splits=3, cv=3).run(D, Y, kind="dissimilarity")
    assert found.fit_best(D, Y)[-1].kind == "similarity"
    assert "kind=" not in found.recommend().python
