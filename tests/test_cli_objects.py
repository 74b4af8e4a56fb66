"""Measures on real objects by their names on the command line."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from similis import (
    DTW,
    IRM,
    Alignment,
    Compression,
    Edit,
    Lin,
    PyramidMatch,
    ResidualEntropy,
    TfidfCosine,
    WeisfeilerLehman,
)
from similis.cli._app import app
from similis.cli._source import measure_names
from similis.datasets import has_dataset, load_promoters

pytest.importorskip("rapidfuzz")
pytest.importorskip("parasail")
pytest.importorskip("ot")

WORDS = ["tree", "three", "threat", "ärger", "anger"]


def run(*words, code=0):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == code, result.output
    return result


def measured(*words):
    return np.array(json.loads(run("measure", *words, "--json").stdout)["values"])


@pytest.fixture
def words(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("id,class,word\n" + "".join(f"w{i},{'ab'[i % 2]},{w}\n" for i, w in enumerate(WORDS)))
    return path


def test_every_measure_has_a_name():
    names = {"edit", "alignment", "compression", "tfidf-cosine", "lin", "residual-entropy", "wasserstein", "irm", "dtw"}
    assert names | {"pyramid-match", "weisfeiler-lehman"} <= measure_names().keys()


def test_texts(words):
    np.testing.assert_array_equal(measured(words, "-m", "edit"), Edit().matrix(WORDS))
    weighted = measured(words, "-m", "edit", "-p", "weights=[1, 1, 2]", "-p", 'substitution={"e": {"a": 0.5}}')
    np.testing.assert_allclose(weighted, Edit(weights=(1, 1, 2), substitution={"e": {"a": 0.5}}).matrix(WORDS))
    np.testing.assert_allclose(
        measured(words, "-m", "compression", "-p", "codec=bz2"), Compression(codec="bz2").matrix(WORDS)
    )
    np.testing.assert_allclose(measured(words, "-m", "tfidf-cosine"), TfidfCosine().fit(WORDS).matrix(WORDS))
    assert "has 'ä' at position 0" in run("measure", words, "-m", "alignment", code=2).stderr


def test_sequences_of_a_data_set():
    X = load_promoters().sequences
    S = measured("--dataset", "promoters", "-m", "alignment", "-p", "matrix=dnafull", "-p", "gap_open=10")
    np.testing.assert_array_equal(S, Alignment(matrix="dnafull", gap_open=10).matrix(X))


def test_rows_of_a_table(tmp_path):
    (tmp_path / "rows.csv").write_text("u,v,w\n0,1,2\n0,0,2\n5,6,9\n")
    X = np.array([[0.0, 1, 2], [0, 0, 2], [5, 6, 9]])
    for name, measure in {"dtw": DTW(), "irm": IRM(), "pyramid-match": PyramidMatch(), "lin": Lin()}.items():
        np.testing.assert_allclose(measured(tmp_path / "rows.csv", "-m", name), measure.fit(X).matrix(X), atol=1e-12)
    (tmp_path / "votes.csv").write_text("u,v\ny,n\ny,y\nn,n\n")
    votes = [["y", "n"], ["y", "y"], ["n", "n"]]
    expected = ResidualEntropy().fit(votes).matrix(votes)
    np.testing.assert_allclose(measured(tmp_path / "votes.csv", "-m", "residual-entropy"), expected, atol=1e-12)
    (tmp_path / "mixed.csv").write_text("u,v\ny,1.5\ny,2\nn,7\n")
    mixed = [["y", 1.5], ["y", 2.0], ["n", 7.0]]
    expected = ResidualEntropy(n_bins=2).fit(mixed).matrix(mixed)
    found = measured(tmp_path / "mixed.csv", "-m", "residual-entropy", "-p", "n_bins=2")
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_parameter_in_a_file(tmp_path):
    (tmp_path / "animals.csv").write_text("id,animal\na,cat\nb,dog\nc,bird\n")
    (tmp_path / "taxonomy.json").write_text(
        '{"cat": "mammal", "dog": ["mammal", "pet"], "mammal": "animal", "bird": "animal"}'
    )
    given = ["-m", "resnik", "-p", f"taxonomy=@{tmp_path / 'taxonomy.json'}"]
    S = measured(tmp_path / "animals.csv", *given)
    np.testing.assert_allclose(S[0], [np.log(3), np.log(1.5), 0])
    given[-1] += "x"
    assert "There is no file" in run("measure", tmp_path / "animals.csv", *given, code=2).stderr


def test_graphs_of_a_data_set():
    if not has_dataset("mutag"):
        pytest.skip("SIMILIS_DATA does not hold mutag")
    S = measured("--dataset", "mutag", "-m", "weisfeiler-lehman", "-p", "n_iter=2", "-p", "normalize=true")
    assert S.shape == (188, 188)
    np.testing.assert_allclose(np.diag(S), 1.0)


def test_a_study_and_a_model_of_texts(words, tmp_path):
    path = tmp_path / "more.csv"
    texts = [("b" if i % 2 else "a") * (i + 3) + "x" for i in range(20)]
    path.write_text("id,class,word\n" + "".join(f"w{i},{t[0]},{t}\n" for i, t in enumerate(texts)))
    base = [path, "--measure", "edit", "-p", "normalize=true", "--method", "knn", "--splits", 2, "-q"]
    assert "Use " in run("study", *base).stdout
    run("fit", *base, "--output", tmp_path / "model.skops")
    found = json.loads(run("predict", tmp_path / "model.skops", path, "--json").stdout)["predictions"]
    assert [record["label"] for record in found] == [t[0] for t in texts]


def test_missing_labels_of_a_table(words, tmp_path):
    """A study names the first object without a label; `predict` uses no labels, so some may be missing."""
    model, some = tmp_path / "words.skops", tmp_path / "some.csv"
    run("fit", words, "-m", "edit", "--method", "nc", "--splits", 2, "-o", model, "--quiet")
    some.write_text(words.read_text().replace("w1,b", "w1,NA").replace("w2,a", "w2,"))
    assert "object 2 has no label" in run("measure", some, "-m", "edit", code=2).stderr
    assert "object 3 has no label" in run("measure", some, "-m", "edit", "--na", "none", code=2).stderr
    assert run("predict", model, some).stdout == run("predict", model, words).stdout


def test_graphs_and_point_sets_of_a_json_file(tmp_path):
    rings = [
        {"id": f"r{n}", "label": "ring", "node_labels": ["C"] * n, "edges": [[i, (i + 1) % n] for i in range(n)]}
        for n in range(3, 12)
    ]
    paths = [
        {"id": f"p{n}", "label": "path", "node_labels": ["C"] * n, "edges": [[i, i + 1] for i in range(n - 1)]}
        for n in range(3, 12)
    ]
    graphs = tmp_path / "graphs.json"
    graphs.write_text(json.dumps(rings + paths))
    S = measured(graphs, "-m", "weisfeiler-lehman", "-p", "normalize=true")
    np.testing.assert_allclose(S, WeisfeilerLehman(normalize=True).matrix(rings + paths))
    base = [graphs, "--measure", "weisfeiler-lehman", "-p", "normalize=true", "--method", "nc", "--splits", 2, "-q"]
    run("fit", *base, "--output", tmp_path / "model.skops")
    found = json.loads(run("predict", tmp_path / "model.skops", graphs, "--json").stdout)["predictions"]
    assert [record["label"] for record in found] == ["ring"] * 9 + ["path"] * 9
    clouds = [{"class": "ab"[k % 2], "object": [[[k, 0.0], [k, 1.0]], [0.3, 0.7]]} for k in range(4)]
    (tmp_path / "clouds.json").write_text(json.dumps(clouds))
    np.testing.assert_allclose(
        measured(tmp_path / "clouds.json", "-m", "irm"), np.abs(np.subtract.outer(range(4), range(4)))
    )
    (tmp_path / "same.json").write_text("[[1, 2], [3, 4]]")
    np.testing.assert_allclose(measured(tmp_path / "same.json", "-m", "dtw"), DTW().matrix([[1, 2], [3, 4]]))
    (tmp_path / "series.json").write_text("[[1, 2, 3], [1, 2], [5]]")
    np.testing.assert_allclose(measured(tmp_path / "series.json", "-m", "dtw"), DTW().matrix([[1, 2, 3], [1, 2], [5]]))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2", "is not a JSON file"),
        ("{}", "must hold a list of objects"),
        ("[]", "must hold a list of objects"),
        ('[{"id": "a", "object": [1]}, {"object": [2]}]', "Object 1 has none"),
        ('[{"id": "a", "object": [1]}, {"id": "a", "object": [2]}]', "a"),
    ],
)
def test_json_files_that_hold_no_objects(text, said, tmp_path):
    (tmp_path / "bad.json").write_text(text)
    assert said in " ".join(run("measure", tmp_path / "bad.json", "-m", "dtw", code=2).stderr.split())


def test_models_of_rows_as_series(tmp_path):
    lines = [
        f"s{i},{'up' if i % 2 else 'down'},{','.join(str(v if i % 2 else -v) for v in (0, i, 2 * i))}"
        for i in range(1, 15)
    ]
    (tmp_path / "rows.csv").write_text("id,class,a,b,c\n" + "\n".join(lines) + "\n")
    base = [tmp_path / "rows.csv", "--measure", "dtw", "--method", "knn", "--splits", 2, "-q"]
    run("fit", *base, "--output", tmp_path / "model.skops")
    found = json.loads(run("predict", tmp_path / "model.skops", tmp_path / "rows.csv", "--json").stdout)["predictions"]
    assert np.mean([record["label"] == ("down", "up")[i % 2] for i, record in enumerate(found, start=1)]) > 0.8


def test_models_of_rows_as_sequences(tmp_path):
    lines = [f"s{i},{'xy'[i % 2]},{'a' if i % 3 else 'b'},{'cd'[i % 2]},{'cd'[i % 2]}" for i in range(18)]
    (tmp_path / "rows.csv").write_text("id,class,u,v,w\n" + "\n".join(lines) + "\n")
    base = [tmp_path / "rows.csv", "--measure", "edit", "--method", "knn", "--splits", 2, "-q"]
    run("fit", *base, "--output", tmp_path / "model.skops")
    found = json.loads(run("predict", tmp_path / "model.skops", tmp_path / "rows.csv", "--json").stdout)["predictions"]
    assert [record["label"] for record in found] == ["xy"[i % 2] for i in range(18)]
