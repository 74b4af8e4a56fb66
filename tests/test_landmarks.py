"""Features from a few landmarks: equal to the matrix route where both exist, exact with every object a landmark."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from similis import (
    RBF,
    VDM,
    Counting,
    DissimilaritySpace,
    FromFunction,
    Jaccard,
    Landmarks,
    Minkowski,
    Pairwise,
    PairwiseLandmarks,
    PathSearchCV,
    PotentialSVM,
    SpectrumClip,
    SpectrumFlip,
    compact,
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
def test_k_centers_are_spread(rng, measure, sign):
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
    labeled = make_pipeline(PairwiseLandmarks(VDM(), n_landmarks=20, random_state=0), LogisticRegression())
    assert labeled.fit(X, y).score(X, y) > 0.9


def test_saved_and_loaded(tmp_path, X):
    y = X[:, 0] > 1
    model = make_pipeline(
        PairwiseLandmarks(Counting(), n_landmarks=9, output="nystrom", random_state=0), LogisticRegression()
    ).fit(X, y)
    save(model, tmp_path / "m.skops")
    np.testing.assert_array_equal(load(tmp_path / "m.skops").predict(X), model.predict(X))


def test_bad_input(X):
    with pytest.raises(ProximityError, match="output='nystrom' needs similarities, but Minkowski returns dissim"):
        PairwiseLandmarks(Minkowski(), output="nystrom").fit(X)
    with pytest.raises(ValueError, match="n_landmarks"):
        PairwiseLandmarks(Counting(), n_landmarks=0).fit(X)
    with pytest.warns(AsymmetryWarning):
        PairwiseLandmarks(FromFunction(lambda x, z: float(x[0] - z[1])), output="nystrom").fit(X)


def test_nothing_but_zeros_is_the_origin(X):
    Z = PairwiseLandmarks(FromFunction(lambda x, z: 0.0), n_landmarks=4, output="nystrom").fit_transform(X)
    np.testing.assert_array_equal(Z, np.zeros((60, 1)))


def votes_like(rng, n_classes=2):
    X = rng.integers(0, 2, (90, 15))
    return X, np.minimum(X[:, :5].sum(axis=1) // (6 // n_classes), n_classes - 1)


LANDMARKS = [
    [PairwiseLandmarks(Counting(), n_landmarks=12, random_state=0)],
    [PairwiseLandmarks(RBF(gamma=0.05), n_landmarks=12, output="nystrom", random_state=0)],
    [Pairwise(Counting()), Landmarks(12, output="features", random_state=0)],
    [Pairwise(RBF(gamma=0.05)), Landmarks(12, random_state=0)],
    [Pairwise(Minkowski()), DissimilaritySpace(n_prototypes=12, selection="kcenter")],
]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(
    "steps", LANDMARKS, ids=lambda steps: type(steps[-1]).__name__ + getattr(steps[-1], "output", "")
)
def test_the_potential_machine_reads_landmarks(rng, steps, n_classes):
    """Its matrix need not be square: a row for an object, a column for a landmark. compact drops unused ones."""
    X, y = votes_like(rng, n_classes)
    model = make_pipeline(*steps, PotentialSVM(C=10.0, epsilon=0.5, normalize=True, input="features"))
    model.fit(X, y)
    chance = np.bincount(y).max() / len(y)
    assert model.score(X, y) > chance
    Z = model[:-1].transform(X)
    alone = PotentialSVM(C=10.0, epsilon=0.5, normalize=True, input="features").fit(Z, y)
    np.testing.assert_array_equal(alone.coef_, model[-1].coef_)
    assert alone.coef_.shape[-1] == Z.shape[1] == alone.n_features_in_
    small = compact(model)
    np.testing.assert_allclose(small.decision_function(X), model.decision_function(X), atol=1e-9)
    used = len(model[-1].columns_)
    if used < Z.shape[1] and getattr(steps[-1], "output", "features") == "features":
        assert len(small[0].objects_) == used
    assert len(cross_val_score(model, X, y, cv=3)) == 3


@pytest.mark.parametrize("normalize", [False, True])
def test_with_all_objects_as_landmarks_it_is_the_machine_on_the_matrix(rng, normalize):
    X, y = votes_like(rng)
    S = Counting().fit(X).matrix(X) - 7.5
    square = PotentialSVM(C=0.5, epsilon=0.2, normalize=normalize).fit(S, y)
    wide = PotentialSVM(C=0.5, epsilon=0.2, normalize=normalize, input="features").fit(S, y)
    np.testing.assert_array_equal(square.coef_, wide.coef_)
    with pytest.raises(ProximityError, match="square matrix at fit"):
        PotentialSVM().fit(S[:, :10], y)
    with pytest.raises(ProximityError, match="X has 11 features, but PotentialSVM is expecting 10"):
        PotentialSVM(input="features").fit(S[:, :10], y).predict(S[:, :11])


def test_a_path_over_landmarks_equals_single_fits(rng):
    X, y = votes_like(rng, 3)
    Z = PairwiseLandmarks(Counting(), n_landmarks=9, random_state=0).fit_transform(X)
    grid = {"C": [0.1, 10.0], "epsilon": [0.5, 5.0]}
    model = PotentialSVM(normalize=True, input="features")
    found, plain = (search(model, grid, cv=3).fit(Z, y) for search in (PathSearchCV, GridSearchCV))
    np.testing.assert_array_equal(found.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])
