"""``similis predict`` with a first line of numbers: names of the columns, or the proximities of an object."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from similis import read_proximity, write_proximity
from similis.cli._app import app

N = 12
IDS = [str(1000 + 7 * i) for i in range(N)]


def run(*words, code=0):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module", params=["ids", "no ids"])
def model(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("header")
    rng = np.random.default_rng(0)
    y = np.arange(N) % 2
    S = np.where(y[:, None] == y, 0.8, 0.2) + rng.uniform(0, 0.1, (N, N))
    S = (S + S.T) / 2
    ids = IDS if request.param == "ids" else None
    write_proximity(folder / "S.npz", S, kind="similarity", labels=["ab"[c] for c in y], ids=ids)
    run("fit", folder / "S.npz", "--method", "knn", "--splits", 2, "-q", "-o", folder / "m.skops")
    return folder / "m.skops", S, ids


def write(path, *lines):
    path.write_text("\n".join(",".join(map(str, line)) for line in lines) + "\n")
    return path


@pytest.mark.parametrize("start", [0, 1])
def test_numbers_that_count_the_columns_are_no_object(model, start, tmp_path):
    file, S, _ = model
    rows = write(tmp_path / "rows.csv", range(start, start + N), *S[:3])
    result = run("predict", file, rows, "--json")
    found = json.loads(result.stdout)["predictions"]
    assert [(record["id"], record["label"]) for record in found] == [("0", "a"), ("1", "b"), ("2", "a")]
    assert "first line" in result.stderr
    assert "--no-header" in result.stderr
    assert len(json.loads(run("predict", file, rows, "--no-header", "--json").stdout)["predictions"]) == 4


def test_ids_that_are_numbers_name_the_columns_in_any_order(model, tmp_path):
    file, S, ids = model
    order = np.random.default_rng(1).permutation(N)
    rows = write(tmp_path / "rows.csv", [IDS[j] for j in order], *S[:3, order])
    if ids is None:  # any large whole numbers
        message = " ".join(run("predict", file, rows, code=2).stderr.split())
        assert "may name the columns" in message
        assert "--header or --no-header" in message
        assert len(json.loads(run("predict", file, rows, "--header", "--json").stdout)["predictions"]) == 3
    else:
        found = json.loads(run("predict", file, rows, "--json").stdout)["predictions"]
        assert [record["label"] for record in found] == ["a", "b", "a"]


def test_whole_numbers_below_a_counting_line_are_ambiguous(model, tmp_path):
    file, _, _ = model
    rows = write(tmp_path / "rows.csv", range(N), [1] * N)
    assert "may name the columns" in run("predict", file, rows, code=2).stderr
    assert len(json.loads(run("predict", file, rows, "--header", "--json").stdout)["predictions"]) == 1
    assert len(json.loads(run("predict", file, rows, "--no-header", "--json").stdout)["predictions"]) == 2
    assert "may name the columns" in run("predict", file, write(rows, range(N)), code=2).stderr
    assert "no rows below" in run("predict", file, rows, "--header", code=2).stderr


def test_rows_without_a_header_and_arrays_are_not_examined(model, tmp_path):
    file, S, _ = model
    result = run("predict", file, write(tmp_path / "rows.csv", *S[:3]), "--json")
    assert len(json.loads(result.stdout)["predictions"]) == 3
    assert "first line" not in result.stderr
    np.save(tmp_path / "rows.npy", np.vstack([np.arange(N), S[:3]]))
    assert len(json.loads(run("predict", file, tmp_path / "rows.npy", "--json").stdout)["predictions"]) == 4


@pytest.mark.parametrize("first", [[0.25, 0.5, 0.75], [0.0, 0.0, 0.0], [1, 2, 1], ["", 0.5, 1]])
def test_rows_without_ids_below_ids_of_the_columns(tmp_path, first):
    D = np.abs(np.subtract.outer(range(N), range(N))) + 0.5 * (1 - np.eye(N))
    ids = [f"s{i}" for i in range(N)]
    write_proximity(tmp_path / "D.npz", D, kind="dissimilarity", labels=["a"] * 6 + ["b"] * 6, ids=ids)
    run("fit", tmp_path / "D.npz", "--method", "knn(n_neighbors=1)", "--splits", 2, "-q", "-o", tmp_path / "m.skops")
    rows = [[v, *row] for v, row in zip(first, D[[0, 7, 9], 1:].tolist())]
    plain = run("predict", tmp_path / "m.skops", write(tmp_path / "rows.csv", ids, *rows))  # frame.to_csv(index=False)
    named = [["n0", *rows[0]], ["n1", *rows[1]], ["n2", *rows[2]]]
    full = run("predict", tmp_path / "m.skops", write(tmp_path / "named.csv", ["", *ids], *named))
    assert [line.split(",")[1:] for line in plain.stdout.splitlines()] == [
        line.split(",")[1:] for line in full.stdout.splitlines()
    ]
    assert "rows.csv: the first column, 's0', is read as proximities to that object" in " ".join(plain.stderr.split())
    assert "first column" not in full.stderr


@pytest.mark.parametrize("corner", ["", "id", "sample", "dissimilarity"])
def test_ids_that_are_numbers_stay_ids_of_the_rows(tmp_path, corner):
    path = write(tmp_path / "rows.csv", [corner, "s0", "s1"], ["1.1", 0.5, 1], ["1.2", 0.25, 1])
    P = read_proximity(path, square=False)
    assert (P.ids, P.columns) == (("1.1", "1.2"), ("s0", "s1"))
