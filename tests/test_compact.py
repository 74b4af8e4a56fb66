"""compact: the same predictions from the objects a model needs."""

import warnings

import contract
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import similis
from similis import (
    CondensedNN,
    Counting,
    FromFunction,
    MaxSim,
    NearestCentroid,
    Pairwise,
    RowRBF,
    SimilarityFeatures,
    SimilarityKNN,
    SpectrumClip,
    SpectrumFlip,
    SpectrumShift,
    SpectrumSquare,
    Symmetrize,
    ToDissimilarity,
    compact,
    load,
    save,
)
from similis.datasets import load_votes


@pytest.fixture(scope="module")
def votes():
    X, y = load_votes(return_X_y=True)
    return X[:120], y[:120], X[120:160]


def test_a_pipeline_forgets_the_other_objects(votes):
    X, y, new = votes
    model = make_pipeline(Pairwise(Counting()), NearestCentroid()).fit(X, y)
    small = compact(model)
    assert len(small[0].objects_) == 2
    assert len(model[0].objects_) == 120
    np.testing.assert_array_equal(small.predict(new), model.predict(new))


def test_columns_are_returned():
    S = np.array([[4.0, 3, 1, 0], [3, 4, 0, 1], [1, 0, 4, 2], [0, 1, 2, 4]])
    y = ["a", "a", "b", "b"]
    small, columns = compact(NearestCentroid().fit(S, y), return_columns=True)
    assert columns.tolist() == small.columns_.tolist() == [0, 2]
    whole = make_pipeline(Symmetrize(), SimilarityKNN(n_neighbors=1)).fit(S, y)
    assert compact(whole, return_columns=True)[1].tolist() == [0, 1, 2, 3]
    assert compact(make_pipeline(Pairwise(Counting()), NearestCentroid()).fit(S, y), return_columns=True)[1] is None


def test_only_needed_objects_are_measured(votes):
    X, y, new = votes
    calls = []

    def alike(x, z):
        calls.append(1)
        return float(np.mean(np.asarray(x) == np.asarray(z)))

    model = make_pipeline(Pairwise(FromFunction(alike)), CondensedNN(n_prototypes=2, random_state=0)).fit(X, y)
    small = compact(model)
    calls.clear()
    answers = small.predict(new)
    assert len(calls) == 4 * len(new)
    np.testing.assert_array_equal(answers, model.predict(new))


def test_conversions_follow(votes):
    X, y, new = votes
    model = make_pipeline(Pairwise(Counting()), ToDissimilarity(), NearestCentroid(kind="dissimilarity")).fit(X, y)
    small = compact(model)
    assert small[1].n_features_in_ == 2
    np.testing.assert_array_equal(small.predict(new), model.predict(new))


def test_where_nothing_can_be_left_out(votes):
    X, y, new = votes
    for last in (SimilarityKNN(), MaxSim()):
        model = make_pipeline(Pairwise(Counting()), last).fit(X, y)
        np.testing.assert_array_equal(compact(model).predict(new), model.predict(new))
    spectrum = make_pipeline(Pairwise(Counting()), SpectrumClip(), NearestCentroid()).fit(X, y)
    np.testing.assert_array_equal(compact(spectrum).predict(new), spectrum.predict(new))


def test_strangers_are_refused(votes):
    X, y, _ = votes
    S = Counting().matrix(X)
    with pytest.raises(ValueError, match="SVC"):
        compact(SVC(kernel="precomputed").fit(S, y))
    with pytest.raises(ValueError, match="not fitted"):
        compact(NearestCentroid())


def indefinite(rng, n_classes, n=90):
    y = np.array(["a", "b", "c", "d"])[np.arange(n) % n_classes]
    Z = rng.normal(size=(n_classes, 4))[np.arange(n) % n_classes] + rng.normal(size=(n, 4))
    E = 0.3 * rng.normal(size=(n, n))
    S = np.exp(-((Z[:, None] - Z) ** 2).sum(-1) / 8) + (E + E.T) / 2
    return S[:60, :60], y[:60], S[60:, :60]


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize(
    "steps",
    [
        [SpectrumClip()],
        [SpectrumClip(n_components=5)],
        [SpectrumFlip()],
        [SpectrumShift()],
        [SpectrumSquare()],
        [Symmetrize(), SpectrumFlip()],
        [SimilarityFeatures()],
    ],
    ids=repr,
)
def test_repairs_are_folded_into_the_machines(rng, steps, n_classes):
    """(s P) c = s (P c): the treatment of a new row costs nothing of its own."""
    S, y, Q = indefinite(rng, n_classes)
    kernel = "linear" if isinstance(steps[0], SimilarityFeatures) else "precomputed"
    for params in ({}, {"decision_function_shape": "ovo"}, {"break_ties": n_classes > 2}):
        model = make_pipeline(*steps, SVC(kernel=kernel, **params)).fit(S, y)
        small = compact(model)
        assert len(small) == len(steps)  # the machine took the place of the repair
        columns = small[-1].columns_
        np.testing.assert_allclose(small.decision_function(Q[:, columns]), model.decision_function(Q), atol=1e-9)
        np.testing.assert_array_equal(small.predict(Q[:, columns]), model.predict(Q))
        if isinstance(steps[0], SpectrumShift):
            np.testing.assert_array_equal(columns, np.sort(model[-1].support_))


def test_only_support_vectors_are_measured(votes, tmp_path):
    X, y, new = votes
    model = make_pipeline(Pairwise(Counting()), SpectrumShift(), SVC(kernel="precomputed")).fit(X, y)
    small = compact(model)
    assert len(small[0].objects_) == len(model[-1].support_) < len(X)
    np.testing.assert_array_equal(small.predict(new), model.predict(new))
    save(small, tmp_path / "small.skops")
    np.testing.assert_array_equal(load(tmp_path / "small.skops").predict(new), model.predict(new))


def test_what_cannot_be_folded_is_left_as_it_is(rng):
    S, y, Q = indefinite(rng, 2)
    rows = make_pipeline(RowRBF(), SVC(kernel="precomputed")).fit(S, y)
    gaussian = make_pipeline(SimilarityFeatures(), SVC()).fit(S, y)
    for model in (rows, gaussian):
        small = compact(model)
        assert isinstance(small[-1], SVC)
        np.testing.assert_array_equal(small.predict(Q), model.predict(Q))
    with pytest.raises(ValueError, match="fit the original pipeline"):
        compact(make_pipeline(SpectrumClip(), SVC(kernel="precomputed")).fit(S, y))[-1].fit(S, y)


def test_a_model_without_weights_keeps_a_column(rng):
    """Nobody's weight is above zero: every object is as similar to each class, and a block still has a column."""
    S, y = np.ones((6, 6)), np.arange(6) % 2
    model = similis.SBC(C=1e-9, strong=False).fit(S, y)
    assert not model.alpha_.round(12).any()
    small = compact(model)
    np.testing.assert_array_equal(small.predict(S[:, small.columns_]), model.predict(S))
    model = similis.PotentialSVM(epsilon=1e9).fit(S, y)
    small = compact(model)
    np.testing.assert_array_equal(small.predict(S[:, small.columns_]), model.predict(S))


NEEDS_ALL = {  # classifiers whose answers read every training object's column, and why
    "SimilarityKNN": "any object may be a neighbor",
    "SimilarityKNNRegressor": "any object may be a neighbor",
    "ProximityRidge": "every object has a coefficient",
    "KreinSVM": "the Krein space mixes all columns",
    "KreinRidge": "every object has a coefficient",
    "KreinRidgeClassifier": "every object has a coefficient",
    "KreinLogistic": "every object has a coefficient",
    "RelationalGLVQ": "prototypes are means of all objects",
    "SimilarityLabelSpreading": "any object may be a neighbor",
    "LocalNearestCentroid": "any object may be a neighbor",
    "LocalSDA": "any object may be a neighbor",
    "NearestNeighborSDA": "any object may be the nearest of its class",
    "SVMKNN": "any object may be a neighbor",
    "MaxSim": "every similarity is summed",
    "KernelHLM": "every object is a component",
    "NormalLinear": "every column is a feature",
    "NormalQuadratic": "every column is a feature",
    "PseudoFisher": "every column is a feature",
    "Parzen": "every object is a window",
    "PseudoNearestMean": "mean dissimilarities to every class",
    "IndefiniteSVM": "the kernel is learned from whole rows",
    "SimSVM": "the kernel is learned from whole rows",
    "SimMKL": "the kernel is learned from whole rows",
    "FullKernelSVM": "the kernel is learned from whole rows",
    "CompletionSVM": "the kernel is learned from whole rows",
}
FAMILIES = ("neighbors", "discriminant", "mixture", "svm", "normal", "maxsim")
# A table; functions; no classifier; a forest that may need any number of columns.
ELSEWHERE = {"MixedSDA", "stream_fit", "tightness", "ProximityOutlier", "SimilarityForest"}
SLACK = {"SBC": {"C": 1.0}}


@pytest.mark.parametrize("name", [n for family in FAMILIES for n in similis._PACKAGES[family] if n not in ELSEWHERE])
def test_every_family_answers_the_same_from_fewer_columns(name, tmp_path):
    model = getattr(similis, name)(**SLACK.get(name, {}))
    S, y, Q = contract.toy(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        small = compact(model.fit(S, y))
        np.testing.assert_array_equal(small.predict(Q[:, small.columns_]), model.predict(Q))
    save(small, tmp_path / "small.skops")
    np.testing.assert_array_equal(load(tmp_path / "small.skops").predict(Q[:, small.columns_]), model.predict(Q))
    if name in {"SDA", "NearestCentroid"}:
        assert len(small.columns_) == 3
    assert (len(small.columns_) == len(y)) == (name in NEEDS_ALL), len(small.columns_)
