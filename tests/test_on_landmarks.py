"""Methods on landmarks: a subset of the training objects, chosen with classes in proportion."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from similis import (
    Counting,
    Minkowski,
    NearestCentroid,
    Pairwise,
    PathSearchCV,
    ProximityRidge,
    SimilarityKNN,
    Study,
    compact,
    load,
    save,
)
from similis.datasets import make_similarity
from similis.distributed import OnLandmarks, choose_landmarks
from similis.exceptions import ProximityError
from similis.study import _problem, _run, find_method, read_model, train_model, write_model
from similis.study._estimate import put_on_landmarks

S, y = make_similarity(120, 3, random_state=0)


def test_landmarks_have_classes_in_proportion_and_every_class():
    labels = np.repeat(["a", "b", "c"], [80, 38, 2])
    chosen = choose_landmarks(labels, 30, 0)
    assert [int((labels[chosen] == g).sum()) for g in "abc"] in ([20, 9, 1], [19, 10, 1])
    assert not np.array_equal(chosen, choose_landmarks(labels, 30, 1))
    assert np.array_equal(choose_landmarks(labels, 500), np.arange(120))
    values = choose_landmarks(np.random.default_rng(0).normal(size=1000), 500, 0)
    assert 200 < (values < 500).sum() < 300  # a random sample, not the first objects


def test_the_model_is_the_method_on_the_landmarks():
    model = OnLandmarks(SimilarityKNN(n_neighbors=5), n_landmarks=40, random_state=3).fit(S, y)
    chosen = model.landmark_indices_
    plain = SimilarityKNN(n_neighbors=5).fit(S[np.ix_(chosen, chosen)], y[chosen])
    np.testing.assert_array_equal(model.predict(S), plain.predict(S[:, chosen]))
    np.testing.assert_array_equal(model.predict_proba(S), plain.predict_proba(S[:, chosen]))
    assert model.score(S, y) == plain.score(S[:, chosen], y)
    np.testing.assert_array_equal(model.classes_, np.unique(y))
    small, columns = compact(model, return_columns=True)
    np.testing.assert_array_equal(small.predict(S[:, columns]), model.predict(S))
    assert set(columns) <= set(chosen)


def test_a_search_runs_on_the_landmarks_and_the_model_is_saved_without_it(tmp_path):
    search = PathSearchCV(SimilarityKNN(), {"n_neighbors": [1, 5, 9]}, cv=3)
    model = OnLandmarks(search, n_landmarks=30, random_state=0).fit(S, y)
    assert model.estimator_.n_features_in_ == 30
    assert set(model.best_params_) == {"n_neighbors"}
    save(model.without_search(), tmp_path / "m.skops")
    np.testing.assert_array_equal(load(tmp_path / "m.skops").predict(S), model.predict(S))


def test_objects_and_values(tmp_path):
    X = np.random.default_rng(0).normal(size=(90, 2))
    model = OnLandmarks(make_pipeline(Pairwise(Minkowski()), SimilarityKNN(kind="dissimilarity")), n_landmarks=20)
    model.set_params(random_state=0).fit(X, X[:, 0] > 0)
    assert model.score(X, X[:, 0] > 0) > 0.8
    assert len(model.estimator_[0].objects_) == 20
    assert compact(model, return_columns=True)[1] is None
    save(model, tmp_path / "m.skops")
    np.testing.assert_array_equal(load(tmp_path / "m.skops").predict(X), model.predict(X))
    rows = OnLandmarks(SimilarityKNN(), n_landmarks=40, random_state=0).fit(S, y)
    rows.landmark_indices_ = rows.landmark_indices_ + 100
    save(rows, tmp_path / "m.skops")
    with pytest.raises(ValueError, match="landmark_indices_ of OnLandmarks must be below 120"):
        load(tmp_path / "m.skops")
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    assert OnLandmarks(ProximityRidge(), n_landmarks=50, random_state=0).fit(K, X[:, 0]).score(K, X[:, 0]) > 0.8
    table = np.random.default_rng(0).integers(0, 3, (60, 4))
    assert OnLandmarks(make_pipeline(Pairwise(Counting()), SimilarityKNN()), n_landmarks=9).fit(table, table[:, 0])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, tuple])
def test_objects_of_any_container(rng, make):
    X, labels = rng.normal(size=(30, 2)).tolist(), np.arange(30) % 2
    steps = Pairwise(Minkowski()), SimilarityKNN(kind="dissimilarity")
    expected = OnLandmarks(make_pipeline(*steps), n_landmarks=9, random_state=0)
    given, new = (rows if make is tuple else dict(zip("uv", zip(*rows))) for rows in (X, X[:5]))
    model, new = clone(expected).fit(make(given), labels), make(new)
    np.testing.assert_array_equal(model.predict(new), expected.fit(X, labels).predict(X[:5]))


def test_bad_input():
    with pytest.raises(ProximityError, match="one value per object"):
        OnLandmarks(SimilarityKNN()).fit(S, y[:5])
    with pytest.raises(ValueError, match="n_landmarks"):
        OnLandmarks(SimilarityKNN(), n_landmarks=0).fit(S, y)
    with pytest.raises(ProximityError, match="features"):
        OnLandmarks(SimilarityKNN(), n_landmarks=9).fit(S, y).predict(S[:, :9])


# In the study


def test_a_study_fits_on_landmarks_what_the_model_fits():
    names = ["nc(landmarks=30)", "knn(n_neighbors=3, landmarks=40)", "nc"]
    result = Study(names, n_splits=3, cv=3).run(S, y)
    assert {info.name for info in result.methods} == set(names)
    split = result.splits[1]
    train = split.on_landmarks(result.codes, 30, 0).train
    assert len(train) == 30
    assert set(train) <= set(split.train)
    plain = NearestCentroid().fit(S[np.ix_(train, train)], y[train]).predict(S[np.ix_(split.test, train)])
    np.testing.assert_array_equal(result.classes[result.entries["nc(landmarks=30)", 1].predictions], plain)
    model = result.fit_best(S, y, method="nc(landmarks=30)")
    assert isinstance(model, OnLandmarks)
    scope = {"S": S, "y": y}
    exec(result.training_code("nc(landmarks=30)"), scope)
    np.testing.assert_array_equal(scope["model"].predict(S), model.predict(S))


@pytest.mark.parametrize("small", [True, False])
def test_a_trained_model_needs_the_columns_of_landmarks(tmp_path, small):
    study = Study("knn(n_neighbors=1|3, landmarks=50)", n_splits=2, cv=3)
    trained = train_model(S, y, study=study, compact=small)
    assert set(trained.card.params) == {"n_neighbors"}
    write_model(trained, tmp_path / "m.skops")
    again = read_model(tmp_path / "m.skops")
    rows = S[:, again.card.needed] if small else S
    assert rows.shape[1] == (50 if small else 120)
    expected = Study("knn(n_neighbors=1|3, landmarks=50)", n_splits=2, cv=3).run(S, y).fit_best(S, y).predict(S)
    np.testing.assert_array_equal(again.model.predict(rows), expected)


def test_slow_methods_are_put_on_as_many_landmarks_as_the_time_allows():
    methods = [find_method(name) for name in ("knn", "svm-kernel(clip)", "simsvm", "psvm(C=1, landmarks=70)")]
    chosen = put_on_landmarks(methods, 16_000, 2, 10, limit=300, speed=1)
    assert chosen[0] is methods[0]
    assert chosen[3] is methods[3]
    assert chosen[2].landmarks < chosen[1].landmarks <= 8000
    assert chosen[1].name == f"svm-kernel(clip, landmarks={chosen[1].landmarks})"
    assert put_on_landmarks(methods, 300, 2, 10, limit=300, speed=1) == methods
    assert put_on_landmarks(methods, 16_000, 2, 10, 700, limit=300, speed=1)[1].landmarks == 700
    assert put_on_landmarks(methods, 80_000, 2, 10, limit=9e9, whole=False, speed=1)[0].landmarks == 2000
    expected = Study(["knn", "simsvm"]).estimate(y=[0, 1] * 10_000)
    assert "1 of them on landmarks" in str(expected)
    assert list(Study("simsvm", landmarks=None).estimate(y=[0, 1] * 10_000).per_split) == ["simsvm"]


def test_landmark_decisions_of_a_budget_are_journaled(tmp_path, monkeypatch):
    options = {"n_splits": 2, "cv": 2, "time_budget": "1h", "journal": tmp_path / "j"}
    monkeypatch.setattr(_run, "put_on_landmarks", lambda methods, *a, **k: [m.on_landmarks(20) for m in methods])
    first = Study("nc", **options).run(S, y)
    assert [info.name for info in first.methods] == ["nc(landmarks=20)"]
    monkeypatch.undo()  # a faster machine would decide otherwise
    again = Study("nc", **options).run(S, y)
    assert [info.name for info in again.methods] == ["nc(landmarks=20)"]
    assert again.entries["nc(landmarks=20)", 1].session == first.entries["nc(landmarks=20)", 1].session
    assert [info.name for info in Study("nc", **{**options, "time_budget": "2h"}).run(S, y).methods] == ["nc"]


def test_many_objects_are_measured_in_parts(monkeypatch):
    monkeypatch.setattr(_problem, "MOST_MEASURED", 100)
    X = np.random.default_rng(0).normal(size=(1300, 2))
    result = Study(["knn(n_neighbors=3)", "nc"], n_splits=2, cv=2).run(X, X[:, 0] > 0, measure=Minkowski())
    assert {info.name for info in result.methods} == {"knn(n_neighbors=3, landmarks=500)", "nc(landmarks=500)"}
    assert max(row.error for row in result.table()) < 0.1


@pytest.mark.parametrize("landmarks", [0, -5, "many", True])
def test_bad_numbers(landmarks):
    with pytest.raises(ValueError, match="landmarks must be"):
        Study("nc", landmarks=landmarks).estimate(y=[0, 1] * 50)


@pytest.mark.parametrize("name", ["nc(landmarks=0)", "nc(landmarks=x)", "nc(landmarks)"])
def test_bad_names(name):
    with pytest.raises(ValueError, match="landmarks"):
        find_method(name)
