"""Studies with a protocol of the caller's own: splits with seeds, methods that read objects, folds, details."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LeaveOneOut, ShuffleSplit, StratifiedKFold

from similis import ProximityError, SimilarityKNN, Study, StudyResult
from similis.datasets import make_similarity
from similis.measures import RBF
from similis.model_selection import PathSearchCV
from similis.study import AtMost, Method, make_model

KNN = Method("knn", SimilarityKNN, {"n_neighbors": AtMost((1, 3, 5, 40))}, reads="either")
LINES = Method("lines", LogisticRegression, reads="objects")


class Seeded(SimilarityKNN):
    """Shows the seed it was given by the number of neighbors."""

    def __init__(self, n_neighbors=3, random_state=None):
        super().__init__(n_neighbors=n_neighbors)
        self.random_state = random_state


def seed_of(model, *_):
    return {"seed": model.random_state}


@pytest.fixture(scope="module")
def matrix():
    return make_similarity(40, 2, random_state=3)[:2]


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(5)
    y = np.repeat(["a", "b"], 15)
    return rng.normal(size=(30, 3)) + 2 * (y == "b")[:, None], y


def test_splits_may_come_from_a_generator(matrix):
    S, y = matrix
    splitter = ShuffleSplit(3, random_state=0)
    result = Study([KNN]).run(S, y, splits=splitter.split(S))
    for split, (train, test) in zip(result.splits, splitter.split(S), strict=True):
        np.testing.assert_array_equal(split.train, train)
        np.testing.assert_array_equal(split.test, test)


def test_the_given_order_of_the_training_objects_is_kept(matrix):
    """The order decides ties: the first of two equally near neighbors counts."""
    S = np.array([[1.0, 0.5, 0.5], [0.5, 1.0, 0.2], [0.5, 0.2, 1.0]])
    nearest = Method("1-nn", lambda: SimilarityKNN(n_neighbors=1))
    found = [
        Study([nearest]).run(S, ["a", "a", "b"], splits=[(train, [0])]).entries["1-nn", 0].predictions.tolist()
        for train in ([1, 2], [2, 1])
    ]
    assert found == [[0], [1]]


def test_a_seed_is_that_of_all_methods_of_its_split(matrix):
    S, y = matrix
    methods = [Method(name, Seeded, details=seed_of) for name in ("one", "two")]
    halves = np.arange(40).reshape(2, 20)
    result = Study(methods).run(S, y, splits=[(halves[0], halves[1], 11), (halves[1], halves[0], 12)])
    seeds = {key: entry.details["seed"] for key, entry in result.entries.items()}
    assert seeds == {("one", 0): 11, ("two", 0): 11, ("one", 1): 12, ("two", 1): 12}


@pytest.mark.parametrize("cv", [StratifiedKFold(4), LeaveOneOut()])
def test_a_method_may_have_folds_of_its_own(matrix, cv):
    S, y = matrix
    train, test = np.arange(30), np.arange(30, 40)
    method = Method("knn", SimilarityKNN, {"n_neighbors": (1, 3, 5)}, cv=cv)
    entry = Study([method]).run(S, y, splits=[(train, test)]).entries["knn", 0]
    search = PathSearchCV(SimilarityKNN(), {"n_neighbors": [1, 3, 5]}, cv=cv)
    search.fit(S[np.ix_(train, train)], y[train])
    assert entry.params == search.best_params_
    assert make_model(method).cv is cv
    np.testing.assert_array_equal(np.unique(y)[entry.predictions], search.predict(S[np.ix_(test, train)]))


def test_own_folds_limit_the_grid_and_change_the_fingerprint():
    method = Method("knn", SimilarityKNN, {"n_neighbors": AtMost((1, 9, 10, 99))})
    S, y = make_similarity(11, 2, random_state=0)[:2]
    split = [(np.arange(10), [10])]
    one_out = Method("knn", SimilarityKNN, method.grid, cv=LeaveOneOut())
    assert Study([one_out]).run(S, y, splits=split).methods[0].grid == {"n_neighbors": [1, 9]}
    assert Study([method], cv=2).run(S, y, splits=split).methods[0].grid == {"n_neighbors": [1]}
    assert one_out.fingerprint(9) != method.fingerprint(9)


def test_details_are_kept_in_journal_and_results(matrix, tmp_path):
    S, y = matrix

    def count(model, X_train, y_train, X_test, y_test):
        return {"rows": len(X_train), "tests": len(y_test), "classes": len(np.unique(y_train))}

    counted = Method("counted", SimilarityKNN, details=count)
    result = Study([counted], n_splits=2, journal=tmp_path / "j").run(S, y)
    assert result.entries["counted", 1].details == {"rows": 32, "tests": 8, "classes": 2}
    again = Study([counted], n_splits=2, journal=tmp_path / "j").run(S, y)
    assert again.entries["counted", 1].details == result.entries["counted", 1].details
    result.save(tmp_path / "r.json")
    assert StudyResult.load(tmp_path / "r.json").entries["counted", 0].details["tests"] == 8


def test_methods_without_details_have_the_record_of_1_0(matrix):
    S, y = matrix
    result = Study(["nc"], n_splits=1).run(S, y)
    assert "details" not in result.entries["nc", 0].to_record()


def test_an_empty_test_part_only_fits(matrix):
    S, y = matrix
    fitted = Method("fitted", SimilarityKNN, details=lambda model, *_: {"n": model.n_features_in_})
    result = Study([fitted]).run(S, y, splits=[(np.arange(40), [])])
    entry = result.entries["fitted", 0]
    assert entry.ok
    assert entry.details == {"n": 40}
    assert len(entry.predictions) == 0
    with pytest.raises(ValueError, match="test part must hold"):
        Study([fitted, "nc"]).run(S, y, splits=[(np.arange(40), [])])


@pytest.mark.parametrize("split", [([0], [1], 2, 3), ([0],)])
def test_a_split_of_another_form_is_rejected(matrix, split):
    with pytest.raises(ValueError, match=r"Split 0: expected \(train, test\)"):
        Study([KNN]).run(*matrix, splits=[split])


def test_objects_beside_a_matrix_and_with_a_measure_give_the_same(vectors):
    X, y = vectors
    beside = Study([KNN, LINES], n_splits=3).run(RBF().fit(X).matrix(X), y, objects=X)
    measured = Study([KNN, LINES], n_splits=3).run(X, y, measure=RBF())
    for key, entry in beside.entries.items():
        assert entry.ok, entry.reason
        np.testing.assert_array_equal(entry.predictions, measured.entries[key].predictions)
    split = beside.splits[0]
    expected = LogisticRegression().fit(X[split.train], y[split.train]).predict(X[split.test])
    np.testing.assert_array_equal(beside.classes[beside.entries["lines", 0].predictions], expected)
    for result in (beside, measured):
        fitted = result.fit_best(X, y, method="lines")
        np.testing.assert_array_equal(fitted.predict(X), LogisticRegression().fit(X, y).predict(X))


def test_no_matrix_is_needed_where_all_methods_read_objects(vectors):
    X, y = vectors
    result = Study([LINES, KNN], n_splits=2).run(None, y, objects=X)
    assert result.entries["lines", 0].ok
    assert "reads a matrix" in result.entries["knn", 0].reason
    assert result.table()[0].method == "lines"


def test_objects_that_are_missing_or_too_many(matrix, vectors):
    S, y = matrix
    entry = Study([LINES], n_splits=1).run(S, y).entries["lines", 0]
    assert "give them by objects=" in entry.reason
    with pytest.raises(ProximityError, match="Got 30 for 40"):
        Study([LINES]).run(S, y, objects=vectors[0])
    with pytest.raises(ProximityError, match="Give the objects once"):
        Study([LINES]).run(*vectors, objects=vectors[0], measure=RBF())


def test_a_journal_belongs_to_its_objects_and_seeds(matrix, tmp_path):
    S, y = matrix
    X = np.arange(40.0)[:, None]
    split = (np.arange(20), np.arange(20, 40), 1)
    Study([LINES], journal=tmp_path / "j").run(S, y, objects=X, splits=[split])
    with pytest.raises(ProximityError, match="another matrix"):
        Study([LINES], journal=tmp_path / "j").run(S, y, objects=X + 1, splits=[split])
    for other in ((*split[:2], 2), (split[0][::-1], *split[1:])):
        with pytest.raises(ProximityError, match="another protocol"):
            Study([LINES], journal=tmp_path / "j").run(S, y, objects=X, splits=[other])


def test_labels_without_probabilities(matrix):
    S, y = matrix
    whole = Study(["knn"], n_splits=2).run(S, y)
    labels = Study(["knn"], n_splits=2, probabilities=False).run(S, y)
    assert all(entry.proba is None for entry in labels.entries.values())
    for key, entry in whole.entries.items():
        assert entry.proba is not None
        np.testing.assert_array_equal(entry.predictions, labels.entries[key].predictions)


def test_a_note_is_kept_with_the_session(matrix, tmp_path):
    result = Study(["nc"], n_splits=1, journal=tmp_path / "j").run(*matrix, note={"commit": "abc"})
    assert result.sessions[-1]["commit"] == "abc"
    lines = [json.loads(line) for line in (tmp_path / "j").read_text().splitlines()]
    assert [line["begin"]["commit"] for line in lines if "begin" in line] == ["abc"]
