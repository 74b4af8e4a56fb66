"""Measures on real objects by their names on the command line."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from similis import DTW, IRM, Alignment, Compression, Edit, Lin, PyramidMatch, ResidualEntropy, TfidfCosine
from similis.cli._app import app
from similis.cli._measures import measure_names
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


def test_every_measure_of_the_room_has_a_name():
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


def test_numbers_are_no_texts(tmp_path):
    (tmp_path / "codes.csv").write_text("code\n0110\n1001\n")
    assert "holds numbers only" in run("measure", tmp_path / "codes.csv", "-m", "edit", code=2).stderr


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
    found = json.loads(run("predict", tmp_path / "model.skops", path, "--json").stdout)
    assert [record["label"] for record in found] == [t[0] for t in texts]
