"""P-values of new objects as outliers, printed with the predictions."""

import numpy as np
import pytest
from typer.testing import CliRunner

from similis import Minkowski, ProximityOutlier
from similis.cli import app
from similis.io import Objects, Proximity, read_model, write_model, write_proximity
from similis.study import Study, predict_rows, train_model


def points(n=60, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, np.array(["low", "high"])[(X[:, 0] > 0).astype(int)]


def distances(A, B):
    return np.sqrt(((A[:, None] - B) ** 2).sum(axis=2))


@pytest.mark.parametrize("kind", ["dissimilarity", "similarity"])
def test_p_values_are_those_of_the_outlier_detector(tmp_path, kind):
    X, y = points()
    new = np.vstack([points(10, seed=1)[0], [[9.0, 9.0]]])
    D, Q = distances(X, X), distances(new, X)
    if kind == "similarity":
        D, Q = np.exp(-D), np.exp(-Q)
    trained = train_model(D, y, study=Study(["knn"], n_splits=2, cv=2), kind=kind)
    write_model(trained, tmp_path / "model.skops")
    found = predict_rows(read_model(tmp_path / "model.skops"), Proximity(Q, kind=kind)).outlier_p
    np.testing.assert_allclose(found, ProximityOutlier(method="knn", n_neighbors=5, kind=kind).fit(D).p_values(Q))
    assert found[-1] == pytest.approx(1 / 61)
    write_proximity(tmp_path / "new.npz", Proximity(Q, kind=kind))
    done = CliRunner().invoke(app, ["predict", str(tmp_path / "model.skops"), str(tmp_path / "new.npz")])
    header, *lines = [line.split(",") for line in done.stdout.splitlines()]
    np.testing.assert_allclose([float(line[header.index("outlier_p")]) for line in lines], found, rtol=1e-5)


@pytest.mark.parametrize("method", ["nc", "knn", "svm-kernel(clip, C=1)"])
@pytest.mark.parametrize("conformal", [False, True])
def test_compact_models_are_calibrated_on_the_columns_they_need(method, conformal):
    """A new object like the others has a p-value of at most 0.2 in about a fifth of all cases."""
    X, y = points(120)
    new = np.vstack([points(300, seed=1)[0], [[9.0, 9.0]]])
    study = Study([method], n_splits=2, cv=2)
    trained = train_model(distances(X, X), y, study=study, kind="dissimilarity", compact=True, conformal=conformal)
    found = predict_rows(trained, Proximity(distances(new, X), kind="dissimilarity")).outlier_p
    assert 0.1 < (found <= 0.2).mean() < 0.35
    assert found[-1] < 0.01


def test_a_model_that_measures_objects():
    X, y = points()
    new = np.vstack([points(10, seed=1)[0], [[9.0, 9.0]]])
    for compact in (False, True):
        trained = train_model(
            X, y, study=Study(["svm-kernel(clip, C=1)"], n_splits=2, cv=2), measure=Minkowski(), compact=compact
        )
        found = predict_rows(trained, Objects(new, ("a", "b"))).outlier_p
        assert found[-1] == pytest.approx(1 / 61)
        assert found[:-1].mean() > 0.3
    detector = ProximityOutlier(method="knn", n_neighbors=5).fit(distances(X, X))
    whole = train_model(X, y, study=Study(["knn"], n_splits=2, cv=2), measure=Minkowski())
    found = predict_rows(whole, Objects(new, ("a", "b"))).outlier_p
    np.testing.assert_allclose(found, detector.p_values(distances(new, X)))


def test_explanations_of_a_compact_model_of_objects_name_the_training_objects():
    X, y = points()
    new = Objects(points(3, seed=1)[0], ("a", "b"))
    names = [f"object {i}" for i in range(len(X))]
    study = Study(["svm-kernel(clip, C=1)"], n_splits=2, cv=2)
    for ids in (names, None):
        whole, small = (
            predict_rows(train_model(X, y, study=study, ids=ids, measure=Minkowski(), compact=compact), new, explain=3)
            for compact in (False, True)
        )
        for expected, found in zip(whole.because, small.because):
            assert [name for name, _ in found] == [name for name, _ in expected]
            assert all(name in names or (ids is None and int(name) < len(X)) for name, _ in found)


def test_missing_proximities_and_several_matrices():
    X, y = points()
    D = distances(X, X)
    Q = distances(points(3, seed=1)[0], X)
    Q[0] = np.nan
    holes = D.copy()
    holes[0, 1] = holes[1, 0] = np.nan
    trained = train_model(holes, y, study=Study(["knn"], n_splits=2, cv=2), kind="dissimilarity")
    found = predict_rows(trained, Proximity(Q, kind="dissimilarity")).outlier_p
    assert np.isnan(found[0])
    assert (found[1:] > 0).all()
    stack = train_model(
        np.stack([D, D**2], axis=2), y, study=Study(["knn"], n_splits=2, cv=2), kind=["dissimilarity"] * 2
    )
    assert stack.card.novelty is None
