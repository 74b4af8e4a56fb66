"""Pairwise: rows of training and new objects, labels kept inside the fold, nothing mirrored, nothing copied."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import clone
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils import get_tags

from similis import (
    HVDM,
    RBF,
    VDM,
    Counting,
    FromFunction,
    FromMatrix,
    Jaccard,
    Minkowski,
    NearestCentroid,
    Pairwise,
    TverskyRatio,
    compact,
    load,
    load_votes,
    save,
)


def words(rng, n=12):
    return [{w for w in "abcdef" if rng.random() < 0.5} for _ in range(n)]


MEASURES = [
    (RBF(), lambda rng: rng.normal(size=(12, 3))),
    (Minkowski(p=0.5), lambda rng: rng.normal(size=(12, 3))),
    (Counting(), lambda rng: rng.integers(0, 3, (12, 4)).astype(str)),
    (VDM(), lambda rng: rng.integers(0, 3, (12, 4)).astype(str)),
    (HVDM(), lambda rng: pd.DataFrame({"a": rng.normal(size=12), "b": list("xyxz" * 3)})),
    (Jaccard(), words),
    (TverskyRatio(alpha=1.0, beta=0.2), words),
    (Jaccard(), lambda rng: sparse.csr_array(rng.random((12, 9)) < 0.4)),
    (FromFunction(lambda x, z: x - 2 * z), lambda rng: list(rng.normal(size=12))),
    (FromMatrix(np.random.default_rng(0).normal(size=(12, 12))), lambda rng: rng.permutation(12)),
]


@pytest.fixture(params=MEASURES, ids=[f"{type(m).__name__}-{i}" for i, (m, _) in enumerate(MEASURES)])
def problem(request, rng):
    measure, make = request.param
    X = make(rng)
    return measure, X, np.array(["p", "q", "r"] * 4)


def some(X, rows):
    if isinstance(X, list):
        return [X[i] for i in rows]
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def test_rows_are_new_objects_and_columns_training_objects(problem):
    measure, X, y = problem
    train, new = np.arange(8), np.arange(8, 12)
    pairwise = Pairwise(measure)
    S = pairwise.fit_transform(some(X, train), y[train])
    fitted = clone(measure).fit(some(X, train), y[train])
    np.testing.assert_array_equal(S, fitted.matrix(some(X, train)))
    np.testing.assert_array_equal(pairwise.transform(some(X, train)), S)
    np.testing.assert_allclose(
        pairwise.transform(some(X, new)), fitted.matrix(some(X, new), some(X, train)), rtol=1e-14, atol=1e-14
    )
    assert pairwise._n_features_out == 8
    assert len(pairwise.get_feature_names_out()) == 8
    assert not get_tags(pairwise).input_tags.pairwise
    assert get_tags(pairwise).target_tags.required == isinstance(measure, VDM)


def test_self_similarity_of_new_objects(problem):
    measure, X, y = problem
    train, new = np.arange(8), [8, 9, 10, 11] * 5  # more than one strip
    pairwise = Pairwise(measure).fit(some(X, train), y[train])
    np.testing.assert_allclose(
        pairwise.self_similarity(some(X, new)), np.diagonal(pairwise.measure_.matrix(some(X, new))), rtol=1e-14
    )


def test_both_directions_are_averaged_only_on_request(problem):
    measure, X, y = problem
    train, new = np.arange(8), np.arange(8, 12)
    plain = Pairwise(measure).fit(some(X, train), y[train])
    both = Pairwise(measure, symmetrize=True)
    S, both_S = plain.transform(some(X, train)), both.fit_transform(some(X, train), y[train])
    np.testing.assert_allclose(both_S, (S + S.T) / 2, rtol=1e-15)
    np.testing.assert_array_equal(both_S, both_S.T)
    forth = plain.measure_.matrix(some(X, new), some(X, train))
    back = plain.measure_.matrix(some(X, train), some(X, new))
    np.testing.assert_allclose(both.transform(some(X, new)), (forth + back.T) / 2, rtol=1e-14, atol=1e-14)


def test_copies_clones_files_and_fewer_columns(problem, tmp_path):
    measure, X, y = problem
    pairwise = Pairwise(measure).fit(X, y)
    expected = pairwise.transform(X)
    if not isinstance(measure, FromFunction):  # a lambda can be neither pickled nor saved
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(pairwise)).transform(X), expected)
        save(pairwise, tmp_path / "pairwise.similis")
        np.testing.assert_array_equal(load(tmp_path / "pairwise.similis").transform(X), expected)
    assert not hasattr(clone(pairwise), "measure_")
    small, needs = pairwise.select_columns(np.array([7, 2]))
    assert needs is None
    np.testing.assert_array_equal(small.transform(X), expected[:, [7, 2]])
    assert small.get_feature_names_out().tolist() == pairwise.get_feature_names_out()[[7, 2]].tolist()


def test_a_compact_pipeline_measures_fewer_objects(rng):
    X, y = words(rng, 20), np.array(["a", "b"] * 10)
    model = make_pipeline(Pairwise(Jaccard()), NearestCentroid()).fit(X, y)
    small = compact(model)
    assert len(small[0].objects_) == 2
    np.testing.assert_array_equal(small.predict(X), model.predict(X))


def test_cloning_shares_the_stored_matrix():
    S, ids = np.eye(5), list("abcde")
    model = make_pipeline(Pairwise(FromMatrix(S, ids=ids, kind="dissimilarity")), SVC(kernel="precomputed"))
    measure = clone(clone(model))[0].measure
    assert measure.S is S
    assert (measure.ids, measure.kind) == (ids, "dissimilarity")
    assert Pairwise(FromMatrix(S)).fit([0, 1]).measure_.S is S


def test_names_and_frames(rng):
    frame = pd.DataFrame(rng.normal(size=(4, 2)), columns=["u", "v"], index=list("wxyz"))
    pairwise = Pairwise(RBF()).set_output(transform="pandas")
    S = pairwise.fit_transform(frame)
    assert S.index.tolist() == S.columns.tolist() == list("wxyz")
    assert pairwise.feature_names_in_.tolist() == ["u", "v"]
    assert pairwise.transform(frame.iloc[1:3]).shape == (2, 4)
    assert Pairwise(RBF()).fit(frame.to_numpy()).get_feature_names_out().tolist() == list("0123")
    assert Pairwise(RBF()).fit(pd.concat([frame, frame])).get_feature_names_out().tolist() == list("01234567")
    stored = Pairwise(FromMatrix(np.eye(3), ids=list("abc"))).fit(["c", "a"])
    assert stored.get_feature_names_out().tolist() == ["c", "a"]
    out = Pairwise(RBF()).set_output(transform="polars").fit_transform(pl.from_pandas(frame))
    assert out.columns == list("0123")
    with pytest.raises(ValueError, match="feature names should match"):
        pairwise.transform(frame[["v", "u"]])


def test_frames_flow_through_a_pipeline_in_cross_validation():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = make_pipeline(Pairwise(RBF(gamma=0.2)), NearestCentroid())
    plain = cross_val_score(model, X.to_numpy(), y, cv=StratifiedKFold(3))
    framed = cross_val_score(model.set_output(transform="pandas"), X, y, cv=StratifiedKFold(3))
    np.testing.assert_array_equal(framed, plain)


def test_refitting_forgets(rng):
    pairwise = Pairwise(Jaccard()).fit(rng.random((5, 3)) < 0.5)
    assert pairwise.n_features_in_ == 3
    pairwise.fit([{"a"}, {"b"}])
    assert not hasattr(pairwise, "n_features_in_")
    with pytest.raises(NotFittedError):
        Pairwise(RBF()).transform([[1.0]])


def test_parameters_of_the_measure_are_tuned():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(Pairwise(Minkowski()), KNeighborsClassifier(metric="precomputed"))
    grid = {"pairwise__measure__p": [0.5, 1.0, 2.0], "kneighborsclassifier__n_neighbors": [1, 5]}
    search = GridSearchCV(model, grid, cv=StratifiedKFold(3)).fit(X, y)
    euclidean = cross_val_score(KNeighborsClassifier(5), X, y, cv=StratifiedKFold(3)).mean()
    row = search.cv_results_["params"].index({"pairwise__measure__p": 2.0, "kneighborsclassifier__n_neighbors": 5})
    assert search.cv_results_["mean_test_score"][row] == pytest.approx(euclidean)
    whole = GridSearchCV(model, {"pairwise__measure": [RBF(), Minkowski(p=1.0)]}, cv=3).fit(X, y)
    assert isinstance(whole.best_estimator_[0].measure_, (RBF, Minkowski))


class Recorder(TransformerMixin, BaseEstimator):
    """Keeps every block that passes, so that a test can see what a classifier saw."""

    blocks: list = []

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        self.blocks.append(np.array(X))
        return X


@pytest.mark.parametrize("measure", [VDM(), VDM(similarity=True, smoothing=1.0), HVDM()], ids=repr)
def test_test_labels_never_reach_the_measure(measure, rng):
    """Permuting the labels of a test fold changes no number that the classifier sees; training labels do."""
    votes = load_votes()
    X, y = np.asarray(votes.data)[:120], np.asarray(votes.target)[:120]
    model = make_pipeline(Pairwise(measure), Recorder(), NearestCentroid(kind=measure.kind))
    splits = list(KFold(4, shuffle=True, random_state=0).split(X))

    def seen(labels, fold):
        Recorder.blocks.clear()
        answers = cross_val_predict_one(model, X, labels, splits[fold])
        return [*Recorder.blocks, answers]

    for fold, (train, test) in enumerate(splits):
        permuted, spoiled = y.copy(), y.copy()
        permuted[test] = rng.permutation(np.where(y[test] == y[0], y[-1], y[0]))
        spoiled[train] = rng.permutation(y[train])
        before = seen(y, fold)
        for a, b in zip(before, seen(permuted, fold)):
            np.testing.assert_array_equal(a, b)
        assert any(not np.array_equal(a, b) for a, b in zip(before, seen(spoiled, fold)))


def cross_val_predict_one(model, X, y, split):
    train, test = split
    return clone(model).fit(X[train], y[train]).predict(X[test])


def test_cross_validation_fits_the_measure_in_each_fold():
    votes = load_votes()
    X, y = np.asarray(votes.data)[:100], np.asarray(votes.target)[:100]
    model = make_pipeline(Pairwise(VDM()), NearestCentroid(kind="dissimilarity"))
    cv = StratifiedKFold(5)
    by_hand = np.empty(100, dtype=y.dtype)
    for train, test in cv.split(X, y):
        vdm = VDM().fit(X[train], y[train])
        inner = NearestCentroid(kind="dissimilarity").fit(vdm.matrix(X[train]), y[train])
        by_hand[test] = inner.predict(vdm.matrix(X[test], X[train]))
    np.testing.assert_array_equal(cross_val_predict(model, X, y, cv=cv), by_hand)


def test_progress_goes_to_standard_error(capsys, rng):
    for measure, X in (
        (RBF(), rng.normal(size=(30, 2))),
        (FromFunction(max), list(range(30))),
        (Jaccard(), words(rng, 30)),
        (VDM(), rng.integers(0, 2, (30, 3))),
        (HVDM(), rng.normal(size=(30, 3))),
        (FromMatrix(np.eye(30)), np.arange(30)),
    ):
        y = np.arange(30) % 2
        quiet = Pairwise(measure).fit_transform(X, y)
        assert capsys.readouterr() == ("", "")
        np.testing.assert_array_equal(Pairwise(measure, progress=True).fit_transform(X, y), quiet)
        streams = capsys.readouterr()
        assert streams.out == ""
        assert "30/30" in streams.err


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_threads_change_nothing(n_jobs, rng):
    X = rng.normal(size=(700, 5))
    new = rng.normal(size=(300, 5))
    one = Pairwise(RBF()).fit(X)
    many = Pairwise(RBF(), n_jobs=n_jobs)
    np.testing.assert_array_equal(many.fit_transform(X), one.transform(X))
    np.testing.assert_array_equal(many.transform(new), one.transform(new))


def test_as_a_kernel_inside_scikit_learn():
    X, y = load_iris(return_X_y=True)
    given = SVC(kernel="rbf", gamma=0.1).fit(X, y)
    for other in (
        SVC(kernel=RBF(gamma=0.1).matrix).fit(X, y),
        make_pipeline(Pairwise(RBF(gamma=0.1)), SVC(kernel="precomputed")).fit(X, y),
    ):
        np.testing.assert_allclose(other.decision_function(X), given.decision_function(X), atol=1e-2)
        np.testing.assert_array_equal(other.predict(X), given.predict(X))
    np.testing.assert_allclose(RBF(gamma=0.1).matrix(X), rbf_kernel(X, gamma=0.1), atol=1e-14)
