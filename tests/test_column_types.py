"""Types of the columns of a table of objects: decided at fit, stored in the card, applied to new files."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from similis import HVDM, VDM
from similis.cli._app import app
from similis.exceptions import ProximityError
from similis.io import Objects, read_model, read_objects
from similis.study import Study, predict_rows, train_model

CATEGORICAL = ["counting", "vdm", "hvdm", "lin", "residual-entropy"]


def run(*words, code=0):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result


def write(path, header, rows):
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in [header, *rows]))
    return path


def fit(path, measure, *more, method="knn"):
    model = path.with_name("model.skops")
    run("fit", path, "-m", measure, "--method", method, "--splits", 2, "-q", "-o", model, *more)
    return model


def predicted(model, path):
    return [record["label"] for record in json.loads(run("predict", model, path, "--json").stdout)["predictions"]]


def votes(n, seed):
    """Rows whose class shows in two columns of categories that are spelled like numbers."""
    rng = np.random.default_rng(seed)
    return [
        [f"o{seed}-{i}", "ab"[y], 1 + y, "001" if y else "1", rng.integers(1, 4)]
        for i, y in enumerate(rng.integers(2, size=n))
    ]


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize("measure", CATEGORICAL)
@pytest.mark.parametrize("text_in", ["training", "new"])
def test_categories_spelled_like_numbers_match_in_files_with_and_without_text(tmp_path, measure, text_in):
    header, train, new = ["id", "class", "u", "v", "w"], votes(40, 0), votes(30, 1)
    (train if text_in == "training" else new)[3][4] = "?"
    model = fit(write(tmp_path / "train.csv", header, train), measure)
    assert json.loads((tmp_path / "model.card.json").read_text())["types"]["v"] == (
        "number" if measure == "hvdm" else "category"
    )
    file = write(tmp_path / "new.csv", header, new)
    if measure == "hvdm" and text_in == "new":  # a column of numbers in training
        assert "column 'w' must hold numbers. Got '?'" in " ".join(run("predict", model, file, code=2).stderr.split())
    else:
        assert predicted(model, file) == [row[1] for row in new]


@pytest.mark.parametrize("measure", CATEGORICAL)
def test_categories_differ_as_written(tmp_path, measure):
    rows = [[("x", "001"), ("y", "1"), ("z", "1.0")][i % 3] for i in range(30)]
    more = ["-p", "categorical=[0]"] if measure == "hvdm" else []
    model = fit(write(tmp_path / "train.csv", ["class", "v"], rows), measure, *more)
    new = write(tmp_path / "new.csv", ["v"], [["1"], ["1.0"], ["001"]])
    assert predicted(model, new) == ["y", "z", "x"]


def test_empty_cells_of_categories_are_missing(tmp_path):
    path = write(tmp_path / "rows.csv", ["u", "v"], [["1", ""], ["2", ""], ["", "3"]])
    S = np.array(
        json.loads(run("measure", path, "-m", "counting", "-p", "missing=mismatch", "--json").stdout)["values"]
    )
    np.testing.assert_array_equal(S, [[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    assert read_objects(path, types="category").values.tolist() == [["1", None], ["2", None], [None, "3"]]


def test_hvdm_reads_numbers_and_categories_of_one_file(tmp_path):
    header, rows = ["class", "color", "size"], [["a", "red", 1.5], ["a", "red", 3], ["b", "blue", ""], ["b", "red", 2]]
    path = write(tmp_path / "rows.csv", header, rows)
    D = np.array(json.loads(run("measure", path, "-m", "hvdm", "--json").stdout)["values"])
    X = [["red", 1.5], ["red", 3.0], ["blue", None], ["red", 2.0]]
    np.testing.assert_allclose(D, HVDM().fit(X, list("aabb")).matrix(X))


def test_a_word_among_numbers_that_makes_them_categories_is_named(tmp_path):
    header, rows = ["class", "size", "floor"], [["a", 1.5, "1b"], ["a", 3, "2"], ["b", "?", "3a"], ["b", 2, ""]]
    path = write(tmp_path / "rows.csv", header, rows)
    message = " ".join(run("measure", path, "-m", "hvdm").stderr.split())
    assert "rows.csv: the column 'size' is read as categories, because '?' is not a number" in message
    assert "floor" not in message  # most of its cells are no numbers
    assert run("measure", path, "-m", "counting").stderr == ""  # which always reads categories
    model = fit(write(tmp_path / "train.csv", ["class", "u"], [["ab"[i % 2], i] for i in range(20)]), "hvdm")
    new = write(tmp_path / "new.csv", ["u", "other"], [[1, "?"], [2, 3], [3, 4], [4, 5]])
    assert run("predict", model, new).stderr == ""  # nothing about a column that the model does not read


def test_words_of_digits_are_texts(tmp_path):
    pytest.importorskip("rapidfuzz")
    words = [["a", "0110"], ["b", "9779"], ["a", "0111"], ["b", "9797"]] * 6
    path = write(tmp_path / "words.csv", ["class", "word"], words)
    D = json.loads(run("measure", path, "-m", "edit", "--json").stdout)["values"]
    assert D[0][:3] == [0, 4, 1]
    model = fit(path, "edit")
    new = write(tmp_path / "new.csv", ["word"], [["0010"], ["9799"], ["011"]])
    assert predicted(model, new) == ["a", "b", "a"]
    assert run("predict", model, new).stderr == ""
    other = write(tmp_path / "other.csv", ["text"], [["0010"], ["9799"]])
    assert predicted(model, other) == ["a", "b"]
    remark = "the first line, 'text', is read as the name of the column 'word', not as an object."
    assert remark in " ".join(run("predict", model, other).stderr.split())  # "text" may be an object


def test_numbers_stay_numbers_and_text_among_them_is_named(tmp_path):
    rows = [["ab"[i % 2], i % 2 + 0.1 * (i % 3), i % 3] for i in range(24)]
    model = fit(write(tmp_path / "train.csv", ["class", "u", "v"], rows), "minkowski")
    new = write(tmp_path / "new.csv", ["id", "comment", "v", "u"], [["p", "x", 0, 0.1], ["q", "y", 1, 1.2]])
    assert predicted(model, new) == ["a", "b"]
    bad = write(tmp_path / "bad.csv", ["id", "u", "v"], [["p", 0, 0], ["q", "many", 1]])
    message = " ".join(run("predict", model, bad, code=2).stderr.split())
    assert "bad.csv, object 2 ('q'): column 'u' must hold numbers. Got 'many'" in message


def test_features_of_the_model_are_neither_ids_nor_labels(tmp_path):
    rows = [["ab"[i % 2], "xy"[i % 2], "uv"[i % 2]] for i in range(20)]
    path = write(tmp_path / "train.csv", ["party", "label", "name"], rows)
    model = tmp_path / "model.skops"
    more = ["--column", "label", "--column", "name", "--label-column", "party"]
    run("fit", path, "-m", "counting", *more, "--method", "knn", "--splits", 2, "-q", "-o", model)
    assert predicted(model, write(tmp_path / "new.csv", ["name", "label"], [["v", "y"], ["u", "x"]])) == ["b", "a"]


def test_an_empty_label_column_of_new_objects_is_none(tmp_path):
    model = fit(write(tmp_path / "train.csv", ["class", "v"], [["ab"[i % 2], i % 2] for i in range(20)]), "counting")
    assert predicted(model, write(tmp_path / "new.csv", ["class", "v"], [["", 1], ["", 0]])) == ["b", "a"]


def test_python_objects_of_the_other_type_are_rejected(tmp_path):
    path = write(tmp_path / "train.csv", ["class", "u", "v"], [["ab"[i % 2], i % 2, 1 + i % 2] for i in range(20)])
    trained = train_model(read_objects(path, types="category"), measure=VDM(), study=Study("knn", n_splits=2))
    with pytest.raises(ProximityError, match="reads the column 'u' as text, and these objects hold numbers"):
        predict_rows(trained, read_objects(path))
    assert predict_rows(trained, read_objects(path, types=trained.card.types)).labels.tolist() == ["a", "b"] * 10
    with pytest.raises(ProximityError, match="reads the column 'u' as text"):
        predict_rows(trained, Objects(np.array([[1, 2], [0, 1]]), ("u", "v")))
    (tmp_path / "new.json").write_text("[[1, 2], [0, 1]]")
    with pytest.raises(ProximityError, match="reads the column 'u' as text"):
        predict_rows(trained, read_objects(tmp_path / "new.json"))


def test_a_model_of_version_1_reads_text_as_it_was_trained(tmp_path):
    """Its card has no types; those of its objects are applied."""
    from test_version_1 import FILES

    trained = read_model(FILES / "votes.skops")
    assert trained.card.types == dict.fromkeys(["first", "second", "third"], "text")
    card = json.loads((FILES / "votes.card.json").read_text())
    assert "types" not in card


@pytest.mark.parametrize("types", ["float", {"u": "int"}, 3])
def test_unknown_types(tmp_path, types):
    path = write(tmp_path / "rows.csv", ["u", "v"], [[1, 2]])
    with pytest.raises(ProximityError, match="types must be 'number', 'text'"):
        read_objects(path, types=types)
