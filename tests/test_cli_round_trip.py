"""From a matrix in a file to predictions in a file, and what a model refuses to read."""

import csv
import json

import numpy as np
import pytest
from test_cli_commands import matrix, run, votes  # noqa: F401 (fixtures)

from similis import Proximity, Study, write_proximity
from similis.datasets import make_similarity
from similis.study import predict_rows, train_model


@pytest.fixture
def world(tmp_path):
    """40 objects: 30 to learn from, 10 new ones, with the block that lies between them."""
    S, y = make_similarity(40, 2, separation=6.0, random_state=1)
    ids = [f"o{i}" for i in range(40)]
    labels = np.where(y == 1, "yes", "no")
    write_proximity(tmp_path / "train.csv", S[:30, :30], ids=ids[:30], kind="similarity", labels=labels[:30])
    return tmp_path, S, ids, labels


def write_rows(path, S, rows, columns, ids, kind="similarity"):
    lines = [",".join([kind, *(ids[j] for j in columns)])]
    lines += [",".join([ids[i], *(repr(float(S[i, j])) for j in columns)]) for i in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


def predictions(text):
    return list(csv.DictReader(text.splitlines()))


def test_study_fit_predict(world):
    folder, S, ids, labels = world
    advice = json.loads(run("study", folder / "train.csv", "--method", "knn", "--splits", 3, "-q", "--json").stdout)
    method = advice["recommendation"]["method"]
    fitted = run("fit", folder / "train.csv", "--method", method, "--splits", 3, "-q", "-o", folder / "m.skops")
    assert "Expect an error" in fitted.stdout
    card = json.loads((folder / "m.card.json").read_text())
    assert card["method"] == "knn"
    assert card["n"] == 30
    assert card["ids"] == ids[:30]
    assert card["kind"] == "similarity"
    assert card["classes"] == ["no", "yes"]
    assert 0 <= card["expected"]["interval"][0] <= card["expected"]["error"] <= card["expected"]["interval"][1] <= 1
    assert card["versions"]["similis"]
    assert card["fingerprint"]["matrix"]
    rows = write_rows(folder / "new.csv", S, range(30, 40), range(30), ids)
    found = predictions(run("predict", folder / "m.skops", rows).stdout)
    assert [row["id"] for row in found] == ids[30:]
    assert [row["label"] for row in found] == labels[30:].tolist()
    for i, row in enumerate(found):
        assert float(row["p(no)"]) + float(row["p(yes)"]) == pytest.approx(1)
        assert float(row["score"]) == pytest.approx(S[30 + i, :30].max(), rel=1e-5)


def test_columns_are_found_by_id_in_whatever_order(world, rng):
    folder, S, ids, _ = world
    run("fit", folder / "train.csv", "--method", "nc", "--splits", 2, "-q", "-o", folder / "m.skops")
    straight = write_rows(folder / "a.csv", S, range(30, 40), range(30), ids)
    shuffled = write_rows(folder / "b.csv", S, range(30, 40), rng.permutation(35), ids)  # and five columns too many
    assert run("predict", folder / "m.skops", straight).stdout == run("predict", folder / "m.skops", shuffled).stdout
    by_pipe = run("predict", folder / "m.skops", "-", stdin=straight.read_text()).stdout
    assert by_pipe == run("predict", folder / "m.skops", straight).stdout
    run("predict", folder / "m.skops", straight, "-o", folder / "out.csv")
    assert (folder / "out.csv").read_text() == by_pipe
    records = json.loads(run("predict", folder / "m.skops", straight, "--json").stdout)["predictions"]
    assert [r["label"] for r in records] == [r["label"] for r in predictions(by_pipe)]


def test_a_model_demands_the_columns_it_needs(world):
    folder, S, ids, labels = world
    done = run("fit", folder / "train.csv", "--method", "nc", "--splits", 2, "-q", "-o", folder / "m.skops")
    needed = json.loads((folder / "m.card.json").read_text())["needed"]
    assert len(needed) == 2
    assert "New rows need the columns of 2 of the 30 objects" in done.stdout
    whole = write_rows(folder / "a.csv", S, range(30, 40), range(30), ids)
    part = write_rows(folder / "b.csv", S, range(30, 40), [35, *needed[::-1]], ids)
    np.savetxt(folder / "bare.csv", S[30:, needed], delimiter=",")
    found = [predictions(run("predict", folder / "m.skops", file).stdout) for file in (whole, part)]
    assert [row["label"] for row in found[0]] == [row["label"] for row in found[1]] == labels[30:].tolist()
    assert len(predictions(run("predict", folder / "m.skops", folder / "bare.csv").stdout)) == 10
    fewer = write_rows(folder / "c.csv", S, range(30, 40), [3, needed[0]], ids)
    message = run("predict", folder / "m.skops", fewer, code=2).stderr
    assert f"2 objects of 30 that it needs. 1 are missing, such as {ids[needed[1]]!r}" in message
    card = json.loads((folder / "m.card.json").read_text())
    (folder / "m.card.json").write_text(json.dumps(card | {"needed": [0, 99]}))
    assert "damaged" in run("predict", folder / "m.skops", whole, code=2).stderr


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("method", ["nc", "sda", "cnn", "svm-kernel(clip)", "psvm", "knn", "svc-raw"])
def test_a_compact_model_predicts_as_the_whole_one(world, method):
    _, S, _, labels = world
    rows = Proximity(S[30:, :30], kind="similarity")
    found = []
    for compact in (False, True):
        study = Study([method], n_splits=2, cv=2)
        trained = train_model(S[:30, :30], labels[:30], study=study, compact=compact)
        found.append(predict_rows(trained, rows))
    assert (trained.card.needed is None) == (method in ("psvm", "knn"))
    np.testing.assert_array_equal(found[0].labels, found[1].labels)
    np.testing.assert_allclose(found[0].scores, found[1].scores)
    if found[0].proba is not None:
        np.testing.assert_allclose(found[0].proba, found[1].proba, atol=1e-10)


def test_rows_that_do_not_belong_are_refused(world):
    folder, S, ids, _ = world
    model = folder / "m.skops"
    run("fit", folder / "train.csv", "--method", "nc", "--splits", 2, "-q", "-o", model)
    needed = json.loads((folder / "m.card.json").read_text())["needed"]
    narrow = write_rows(folder / "narrow.csv", S, range(30, 40), range(needed[0] + 1, 30), ids)
    assert f"'o{needed[0]}'" in run("predict", model, narrow, code=2).stderr
    other = write_rows(folder / "other.csv", S, range(30, 40), range(30), ids, kind="dissimilarity")
    assert "dissimilarity" in run("predict", model, other, code=2).stderr
    (folder / "bare.csv").write_text("\n".join(",".join(map(repr, map(float, row[:29]))) for row in S[30:]) + "\n")
    assert "2 objects of 30 that it needs. Got 29" in run("predict", model, folder / "bare.csv", code=2).stderr
    (folder / "bare.csv").write_text("\n".join(",".join(map(repr, map(float, row[:30]))) for row in S[30:]) + "\n")
    assert len(predictions(run("predict", model, folder / "bare.csv").stdout)) == 10


def test_model_and_card_belong_together(world):
    folder, S, ids, _ = world
    rows = write_rows(folder / "new.csv", S, range(30, 40), range(30), ids)
    for name, method in (("a", "nc"), ("b", "knn")):
        run("fit", folder / "train.csv", "--method", method, "--splits", 2, "-q", "-o", folder / f"{name}.skops")
    (folder / "a.card.json").write_text((folder / "b.card.json").read_text())
    assert "another model" in run("predict", folder / "a.skops", rows, code=2).stderr
    (folder / "a.card.json").write_text("{}")
    assert "damaged" in run("predict", folder / "a.skops", rows, code=2).stderr
    (folder / "a.card.json").unlink()
    assert "no card" in run("predict", folder / "a.skops", rows, code=2).stderr
    (folder / "a.skops").write_bytes(b"\x80\x04.")
    assert "pickle" in run("predict", folder / "a.skops", rows, code=2).stderr


def test_objects_in_labels_out(votes, tmp_path):  # noqa: F811
    lines = votes.read_text().splitlines()
    (tmp_path / "train.csv").write_text("\n".join(lines[:301]) + "\n")
    reordered = [",".join(reversed(line.split(","))) for line in [lines[0], *lines[301:]]]
    (tmp_path / "new.csv").write_text("\n".join(reordered) + "\n")
    run("fit", tmp_path / "train.csv", "-m", "vdm", "--method", "nc", "--splits", 2, "-q", "-o", tmp_path / "m.skops")
    card = json.loads((tmp_path / "m.card.json").read_text())
    assert card["reads"] == "objects"
    assert "VDM" in card["measure"]
    found = predictions(run("predict", tmp_path / "m.skops", tmp_path / "new.csv").stdout)
    truth = [line.split(",")[-1] for line in lines[301:]]
    assert np.mean([row["label"] == label for row, label in zip(found, truth)]) > 0.8
    assert all(float(row["score"]) <= 0 for row in found)  # minus the lowest dissimilarity
    (tmp_path / "few.csv").write_text("V1,V2\ny,n\n")
    assert "is missing" in run("predict", tmp_path / "m.skops", tmp_path / "few.csv", code=2).stderr


def test_fit_of_the_best_method_says_which(matrix, tmp_path):  # noqa: F811
    path, labels = matrix
    done = run(
        "fit",
        path,
        "-l",
        labels,
        "--method",
        "quick",
        "--splits",
        2,
        "--folds",
        3,
        "-q",
        "-o",
        tmp_path / "m",
        "--json",
    )
    card = json.loads(done.stdout)
    assert card["method"]
    assert card["expected"]["protocol"].startswith("2 random splits")
    assert (tmp_path / "m.card.json").exists()
