"""Trained models, their cards, and what they refuse to predict."""

import json

import numpy as np
import pytest

from similis import Counting, Proximity
from similis.datasets import load_votes, make_similarity
from similis.exceptions import ProximityError
from similis.io import Objects, card_path
from similis.study import Study, predict_rows, read_model, train_model, write_model


@pytest.fixture(scope="module")
def trained():
    S, y = make_similarity(40, 2, separation=6.0, random_state=2)
    study = Study("knn", n_splits=3, cv=3)
    return S, y, train_model(S[:30, :30], y[:30], study=study, ids=[f"o{i}" for i in range(30)])


def test_the_card_says_what_the_study_found(trained):
    _, _, model = trained
    (row,) = model.result.table()
    assert model.card.expected["error"] == row.error
    assert tuple(model.card.expected["interval"]) == model.result.error_interval("knn")
    assert model.card.params == {"n_neighbors": model.model.n_neighbors}
    assert model.card.versions["similis"]


def test_cards_come_back_from_their_file(trained, tmp_path):
    S, _, model = trained
    beside = write_model(model, tmp_path / "model.skops")
    assert beside == card_path(tmp_path / "model.skops") == tmp_path / "model.card.json"
    again = read_model(tmp_path / "model.skops")
    assert again.card.digest
    assert {**vars(again.card), "digest": ""} == vars(model.card)
    np.testing.assert_array_equal(again.model.predict(S[30:, :30]), model.model.predict(S[30:, :30]))
    assert str(tmp_path) not in beside.read_text()


@pytest.mark.parametrize(
    "change",
    [
        {"similis-model-card": 2},
        {"reads": "minds"},
        {"kind": "distance"},
        {"ids": ["a", "b"]},
        {"ids": ["a"] * 30},
        {"method": ...},
    ],
)
def test_damaged_cards_are_refused(trained, tmp_path, change):
    beside = write_model(trained[2], tmp_path / "model.skops")
    record = {**json.loads(beside.read_text()), **change}
    beside.write_text(json.dumps({key: value for key, value in record.items() if value is not ...}))
    with pytest.raises(ProximityError, match="damaged"):
        read_model(tmp_path / "model.skops")


def test_scores_are_the_highest_known_similarity(trained):
    S, _, model = trained
    rows = S[30:33, :30].copy()
    rows[0, np.argmax(rows[0])] = np.nan
    rows[1] = np.nan
    found = predict_rows(model, Proximity(rows))
    assert found.scores[0] == np.nanmax(rows[0])
    assert np.isnan(found.scores[1])
    assert found.scores[2] == rows[2].max()
    assert found.proba.sum(axis=1) == pytest.approx(1)


def test_rows_of_another_kind_width_or_sort(trained):
    S, _, model = trained
    with pytest.raises(ProximityError, match="trained on a similarity"):
        predict_rows(model, Proximity(S[30:, :30], kind="dissimilarity"))
    with pytest.raises(ProximityError, match=r"30 training objects\. Got 29"):
        predict_rows(model, Proximity(S[30:, :29]))
    with pytest.raises(ProximityError, match="1 are missing, such as 'o0'"):
        predict_rows(model, Proximity(S[30:, 1:30], column_ids=[f"o{i}" for i in range(1, 30)]))
    with pytest.raises(ProximityError, match="reads rows of proximities"):
        predict_rows(model, Objects(np.zeros((2, 3)), ("a", "b", "c")))


def test_a_model_of_objects_finds_their_features_by_name():
    X, y = load_votes(return_X_y=True)
    names = [f"v{j}" for j in range(16)]
    model = train_model(X[:200], y[:200], study=Study("nc", n_splits=2), measure=Counting(), columns=names)
    assert model.card.reads == "objects"
    straight = predict_rows(model, Objects(X[200:230], tuple(names)))
    turned = predict_rows(model, Objects(X[200:230, ::-1], tuple(names[::-1])))
    np.testing.assert_array_equal(straight.labels, turned.labels)
    np.testing.assert_array_equal(straight.scores, turned.scores)
    assert straight.scores.max() <= 16
    with pytest.raises(ProximityError, match="'v0' is missing"):
        predict_rows(model, Objects(X[200:, 1:], tuple(names[1:])))
    with pytest.raises(ProximityError, match="measures itself"):
        predict_rows(model, Proximity(np.eye(3)))


def test_an_interrupted_study_trains_nothing(monkeypatch):
    S, y = make_similarity(12, 2, random_state=0)
    study = Study("nc", n_splits=2)
    original = Study.run

    def partial(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        result.partial = True
        return result

    monkeypatch.setattr(Study, "run", partial)
    with pytest.raises(KeyboardInterrupt):
        train_model(S, y, study=study)
