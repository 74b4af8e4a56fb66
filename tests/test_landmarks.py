"""Features from a few landmarks: equal to the matrix route where both exist, exact with every object a landmark."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from similis import (
    RBF,
    VDM,
    Counting,
    FromFunction,
    Jaccard,
    Minkowski,
    Pairwise,
    PairwiseLandmarks,
    Polynomial,
    PotentialSVM,
    SpectrumClip,
    SpectrumFlip,
    load,
    save,
)
from similis.exceptions import AsymmetryWarning, ProximityError


@pytest.fixture
def X(rng):
    return rng.integers(0, 3, (60, 8))


def tanh(x, z):
    """Symmetric and indefinite."""
    return float(np.tanh(np.dot(x - 1.0, z - 1.0) / 2 - 0.3))


def test_features_are_columns_of_the_matrix(X):
    step = PairwiseLandmarks(Counting(), n_landmarks=9, random_state=0).fit(X)
    S = Pairwise(Counting()).fit_transform(X)
    np.testing.assert_array_equal(step.transform(X), S[:, step.landmark_indices_])
    np.testing.assert_array_equal(clone(step).fit_transform(X), step.transform(X))
    assert len(step.objects_) == 9
    assert step.get_feature_names_out().tolist() == [f"pairwiselandmarks{i}" for i in range(9)]


@pytest.mark.parametrize("spectrum, treatment", [("clip", SpectrumClip()), ("flip", SpectrumFlip())])
def test_with_all_objects_the_treated_matrix_is_exact(X, spectrum, treatment):
    measure = FromFunction(tanh, symmetric=True)
    S = measure.matrix(X)
    assert np.linalg.eigvalsh(S)[0] < -0.1
    step = PairwiseLandmarks(measure, n_landmarks=99, output="nystrom", spectrum=spectrum)
    Z = step.fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, treatment.fit_transform(S), atol=1e-8)
    if spectrum == "flip":
        np.testing.assert_allclose(Z * step.signature_ @ Z.T, S, atol=1e-8)


def test_coordinates_equal_those_from_the_matrix(X):
    from similis import Landmarks

    S = RBF(gamma=0.05).matrix(X)
    step = PairwiseLandmarks(RBF(gamma=0.05), n_landmarks=12, output="nystrom", random_state=3)
    there = Landmarks(12, random_state=3)
    np.testing.assert_allclose(step.fit_transform(X), there.fit_transform(S), atol=1e-9)
    np.testing.assert_array_equal(step.landmark_indices_, there.landmark_indices_)


def test_the_matrix_of_all_pairs_is_never_formed():
    calls = []
    measure = FromFunction(lambda x, z: calls.append(0) or float(x == z), symmetric=True)
    PairwiseLandmarks(measure, n_landmarks=5, random_state=0).fit_transform(list(range(100)))
    assert len(calls) == 500
    calls.clear()
    PairwiseLandmarks(measure, n_landmarks=5, selection="kcenter", random_state=0).fit(list(range(100)))
    assert len(calls) == 400


@pytest.mark.parametrize("measure, sign", [(Minkowski(), 1), (RBF(gamma=0.1), -1)])
def test_k_centres_are_spread(rng, measure, sign):
    points = rng.normal(size=(200, 2)) * 0.1 + rng.permutation(np.repeat(np.eye(2) * 10, 100, axis=0))
    points[7] = (50, 50)
    found = PairwiseLandmarks(measure, n_landmarks=3, selection="kcenter", random_state=0).fit(points)
    assert 7 in found.landmark_indices_
    corners = {tuple(np.round(points[i] / 10)) for i in found.landmark_indices_}
    assert len(corners) == 3


def test_medoids_are_central(rng):
    points = np.concatenate([rng.normal(size=(50, 2)) + c for c in ((0, 0), (9, 0), (0, 9))])
    found = PairwiseLandmarks(Minkowski(), n_landmarks=3, selection="medoids", random_state=0).fit(points)
    assert sorted(found.landmark_indices_ // 50) == [0, 1, 2]


def test_any_linear_classifier_follows(rng):
    X = rng.integers(0, 2, (120, 15))
    y = (X[:, :5].sum(axis=1) > 2).astype(int)
    for last in (LogisticRegression(), LogisticRegression(C=10)):
        model = make_pipeline(PairwiseLandmarks(Jaccard(), n_landmarks=30, random_state=0), last)
        assert cross_val_score(model, X, y, cv=3).mean() > 0.75
    labelled = make_pipeline(PairwiseLandmarks(VDM(), n_landmarks=20, random_state=0), LogisticRegression())
    assert labelled.fit(X, y).score(X, y) > 0.9


def test_saved_and_loaded(tmp_path, X):
    y = X[:, 0] > 1
    model = make_pipeline(
        PairwiseLandmarks(Counting(), n_landmarks=9, output="nystrom", random_state=0), LogisticRegression()
    ).fit(X, y)
    save(model, tmp_path / "m.skops")
    np.testing.assert_array_equal(load(tmp_path / "m.skops").predict(X), model.predict(X))


def test_bad_input(X):
    with pytest.raises(ProximityError, match="output='nystrom' needs similarities, and Minkowski gives dissim"):
        PairwiseLandmarks(Minkowski(), output="nystrom").fit(X)
    with pytest.raises(ValueError, match="n_landmarks"):
        PairwiseLandmarks(Counting(), n_landmarks=0).fit(X)
    with pytest.warns(AsymmetryWarning):
        PairwiseLandmarks(FromFunction(lambda x, z: float(x[0] - z[1])), output="nystrom").fit(X)


def test_nothing_but_zeros_is_the_origin(X):
    Z = PairwiseLandmarks(FromFunction(lambda x, z: 0.0), n_landmarks=4, output="nystrom").fit_transform(X)
    np.testing.assert_array_equal(Z, np.zeros((60, 1)))


def test_the_potential_machine_reads_few_columns(rng):
    """P-SVM on inner products of proximities to landmarks."""
    X = rng.integers(0, 2, (80, 15))
    y = (X[:, :5].sum(axis=1) > 2).astype(int)
    landmarks = PairwiseLandmarks(Counting(), n_landmarks=12, random_state=0)
    model = make_pipeline(landmarks, Pairwise(Polynomial(degree=1)), PotentialSVM(C=1.0, epsilon=0.1)).fit(X, y)
    assert model.score(X, y) > 0.8
