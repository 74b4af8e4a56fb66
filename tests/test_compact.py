"""compact: the same predictions from the objects a model needs."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from similis import (
    CondensedNN,
    Counting,
    FromFunction,
    MaxSim,
    NearestCentroid,
    Pairwise,
    SimilarityKNN,
    SpectrumClip,
    ToDissimilarity,
    compact,
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
