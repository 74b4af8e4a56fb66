"""Matrices and labels as people hold them, on the command line: what is printed, counted, rejected."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from test_cli_commands import run

from similis import SDA, KernelHLM, SimilarityKNN, SpectrumClip, write_proximity
from similis.cli._console import in_cli_words
from similis.datasets import make_similarity
from similis.exceptions import AsymmetryWarning


@pytest.fixture
def data(tmp_path):
    """60 objects of 3 classes that lie well apart: similarities, distances, labels."""
    S, y = make_similarity(60, 3, separation=6.0, random_state=0)
    S = S - S.min()
    np.fill_diagonal(S, S.max() + 0.1)
    D = S.max() - S
    ids = [f"o{i}" for i in range(60)]
    (tmp_path / "y.csv").write_text("id,family\n" + "".join(f"{a},c{b}\n" for a, b in zip(ids, y)))
    return tmp_path, S, D, ids, y


def study_error(*arguments):
    result = run("study", *arguments, "--method", "knn", "--splits", 3, "--folds", 3, "-q", "--json")
    found = json.loads(result.stdout)
    return found["table"][0]["error"], found["kind"], found["objects"], result.stderr


def test_distances_without_a_word_are_recognized(data):
    folder, S, D, _, _ = data
    np.savetxt(folder / "D.txt", D + 0.01)
    write_proximity(folder / "S.npy", S)
    labels = folder / "plain.csv"
    labels.write_text("".join(line.partition(",")[2] + "\n" for line in (folder / "y.csv").read_text().splitlines()))
    error, kind, _, said = study_error(folder / "D.txt", "-l", labels)
    assert (error < 0.1, kind) == (True, "dissimilarity")
    assert "D.txt is read as dissimilarity, because the diagonal is the minimum of its rows" in said
    assert "--kind similarity" in said
    assert study_error(folder / "S.npy", "-l", labels)[:2] == (error, "similarity")


@pytest.mark.parametrize("command", ["inspect", "study", "complete"])
def test_an_unclear_kind_is_asked_for(data, command):
    folder, _, D, ids, _ = data
    A = D.copy()
    np.fill_diagonal(A, D.mean())
    write_proximity(folder / "A.csv", A, ids=ids)
    more = ["-l", folder / "y.csv"] if command != "complete" else []
    message = run(command, folder / "A.csv", *more, code=2).stderr
    assert "set --kind similarity; if large means different, set --kind dissimilarity" in message
    run("inspect", folder / "A.csv", "--kind", "dissimilarity")


def test_a_given_kind_wins_with_a_remark(data):
    folder, _, D, ids, _ = data
    write_proximity(folder / "D.csv", D, ids=ids, kind="dissimilarity")
    said = run("inspect", folder / "D.csv", "--kind", "similarity", "--json").stderr
    assert "holds values of kind 'dissimilarity'; they are read as --kind similarity, as given" in said


def test_measured_distances_keep_their_kind(data):
    folder = data[0]
    run("datasets", "votes", "-o", folder / "votes.csv")
    run("measure", folder / "votes.csv", "-m", "vdm", "-o", folder / "D.csv")
    error, kind, _, said = study_error(folder / "D.csv")
    assert kind == "dissimilarity"
    assert error < 0.15
    assert said == ""


@pytest.mark.parametrize("half", [np.triu, np.tril])
@pytest.mark.parametrize("empty", [np.nan, 0.0])
def test_a_triangle_is_as_good_as_the_matrix(data, half, empty):
    folder, _, D, ids, _ = data
    write_proximity(folder / "D.csv", D, ids=ids, kind="dissimilarity")
    write_proximity(folder / "T.csv", np.where(half(np.ones(D.shape)) == 1, D, empty), ids=ids, kind="dissimilarity")
    whole = study_error(folder / "D.csv", "-l", folder / "y.csv")
    part = study_error(folder / "T.csv", "-l", folder / "y.csv")
    assert part[:3] == whole[:3]
    assert "triangle is" in part[3]
    assert "use --directed" in part[3]


@pytest.mark.parametrize("command", ["inspect", "study", "convert"])
@pytest.mark.parametrize(
    "text",
    [
        "length,width,height,class\n" + "".join(f"4.{i % 3},0.{i},1.5,{'ab'[i % 2]}\n" for i in range(9)),
        "id,length,width\n" + "".join(f"o{i},{i},0.{i}\n" for i in range(9)),
        "id,class,length,width\n" + "".join(f"o{i},{'ab'[i % 2]},{i},0.{i}\n" for i in range(9)),
    ],
)
def test_a_table_of_objects_is_no_matrix(data, command, text):
    (path := data[0] / "table.csv").write_text(text)
    message = " ".join(run(command, path, *(["-"] if command == "convert" else []), code=2).stderr.split())
    assert message.endswith("for `similis predict`, tables of objects for `similis measure` or --measure.")
    assert "--kind" not in message


def test_labels_in_any_order_with_more_columns_and_gaps(data):
    folder, S, _, ids, y = data
    write_proximity(folder / "S.csv", S, ids=ids, kind="similarity")
    lines = [f"{name},b{i % 4},c{label},{i / 7}" for i, (name, label) in enumerate(zip(ids, y))]
    lines[3] = "o3,b1,,0.5"
    lines[4] = "o4,b1,NA,0.5"
    text = "\n".join(["sample,batch,family,length", "extra,b1,c0,1", *lines[:0:-1], "nobody,b1,c1,1", ""])
    (folder / "meta.csv").write_text(text)
    message = run("study", folder / "S.csv", "-l", folder / "meta.csv", code=2).stderr
    assert "could hold the labels: 'batch', 'family'. Name one with --label-column 'batch'" in message
    error, _, n, said = study_error(folder / "S.csv", "-l", folder / "meta.csv", "--label-column", "family")
    assert error < 0.1
    assert n == 57
    assert "3 of 60 objects have no label and are left out (1 not in the file); 2 ids are not among the objects" in said
    found = study_error(folder / "S.csv", "-l", folder / "meta.csv", "--label-column", "family", "--na", "c0")
    assert found[2] < 50


def test_label_files_that_would_shift_or_scatter_are_rejected(data):
    folder, S, _, ids, y = data
    write_proximity(folder / "S.npy", S, kind="similarity")
    for text, message in {
        "label\n" + "".join(f"c{label}\n" for label in y[:-1]): "Got 59 labels below the header 'label' for 60 objects",
        "".join(f"{a},c{b}\n" for a, b in zip(ids[::-1], y[::-1])): "has ids, such as 'o59', but the objects have none",
        "".join(f"{a}\n" for a in ids): "every one of the 60 objects has a label of its own",
        "".join(f"{a} c{b}\n" for a, b in zip(ids, y)): "every one of the 60 objects has a label of its own",
    }.items():
        (folder / "bad.csv").write_text(text)
        said = run("study", folder / "S.npy", "-l", folder / "bad.csv", code=2).stderr
        assert message in said
        assert "label_column" not in said
    (folder / "good.csv").write_text("".join(f"{i},c{y[i]}\n" for i in reversed(range(60))))
    assert study_error(folder / "S.npy", "-l", folder / "good.csv")[0] < 0.1


def test_objects_and_data_sets_take_label_files_too(data):
    folder = data[0]
    rng = np.random.default_rng(0)
    (folder / "points.csv").write_text(
        "name,u,v\n" + "".join(f"p{i},{rng.normal() + 9 * (i % 2)},{rng.normal()}\n" for i in range(30))
    )
    (folder / "l.csv").write_text("id,kind\n" + "".join(f"p{i},{'xy'[i % 2]}\n" for i in reversed(range(28))))
    error, _, n, said = study_error(folder / "points.csv", "-m", "minkowski", "-l", folder / "l.csv")
    assert (error, n) == (0, 28)
    assert "2 of 30 objects have no label" in said
    (folder / "l.csv").write_text("x\ny\n")
    assert "Got 2 labels for 435 objects" in run("study", "--dataset", "votes", "-l", folder / "l.csv", code=2).stderr


def test_groups_are_aligned_with_the_objects_that_have_labels(data):
    folder, S, _, ids, y = data
    write_proximity(folder / "S.csv", S, ids=ids, kind="similarity")
    (folder / "few.csv").write_text("".join(f"{a},c{b}\n" for a, b in zip(ids[:50], y)))
    (folder / "g.csv").write_text("id,batch\n" + "".join(f"o{i},g{i // 5}\n" for i in reversed(range(60))))
    _, _, n, said = study_error(folder / "S.csv", "-l", folder / "few.csv", "--groups", folder / "g.csv")
    assert n == 50
    assert "10 ids are not among the objects" in said


def test_symmetrize_is_an_option(data):
    folder, S, _, ids, _ = data
    A = S + np.triu(np.random.default_rng(0).random(S.shape), 1)
    write_proximity(folder / "A.csv", A, ids=ids, kind="similarity")
    advice = run("inspect", folder / "A.csv").stdout
    assert "average both directions with --symmetrize" in advice
    assert "symmetrize(S)" not in advice
    table = json.loads(run("inspect", folder / "A.csv", "--symmetrize", "--json").stdout)
    assert table["entries"]["symmetric"] is True
    options = ("-l", folder / "y.csv", "--method", "svm-kernel(clip)", "--splits", 2, "--folds", 3, "-q")
    text = run("study", folder / "A.csv", *options, "--symmetrize").stdout
    assert "--symmetrize" in text.partition("On the command line")[2]
    assert "Asymmetry" not in text
    fitted = run("fit", folder / "A.csv", *options, "--symmetrize", "-o", folder / "m.skops")
    assert "asymm" not in fitted.stderr
    assert "--symmetrize is for matrices" in run("study", "--dataset", "votes", "--symmetrize", code=2).stderr


def test_one_array_of_several(data):
    folder, S, D, *_ = data
    np.savez(folder / "m.npz", S_one=S, D_two=D)
    assert "name one as FILE::NAME" in run("inspect", folder / "m.npz", code=2).stderr
    found = json.loads(run("inspect", f"{folder}/m.npz::D_two", "--json").stdout)
    assert found["kind"] == "dissimilarity"


def test_warnings_are_printed_once(data):
    folder, _, D, ids, _ = data
    write_proximity(folder / "D.csv", D, ids=ids)
    options = ("-l", folder / "y.csv", "--kind", "similarity", "--method", "kri-knn(clip)", "--splits", 2, "-q")
    said = run("fit", folder / "D.csv", *options, "-o", folder / "m.skops").stderr
    assert said.count("as dissimilarities have") == 1
    assert "set --kind dissimilarity" in said


def test_standard_input_that_is_closed(data):
    folder, S, _, ids, _ = data
    write_proximity(folder / "S.csv", S, ids=ids, kind="similarity")
    run(
        "fit", folder / "S.csv", "-l", folder / "y.csv", "--method", "nc", "--splits", 2, "-q", "-o", folder / "m.skops"
    )
    command = f"{sys.executable} -m similis predict {folder}/m.skops - <&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "similis: Standard input is closed; name a file, or send one in with '<' or a pipe.\n"


def test_standard_input_is_named_in_remarks(data):
    folder, _, D, ids, _ = data
    write_proximity(folder / "D.csv", D, ids=ids)
    said = run("inspect", "-", stdin=(folder / "D.csv").read_text()).stderr
    assert said.startswith("similis: standard input is read as dissimilarity")


PYTHON = re.compile(r"\b[a-z_]+=(?!\d)|\b[a-z_]+\([A-Z]\)|square=|max_bytes|[a-z]_[a-z]+=")


def test_messages_name_options_only(data, monkeypatch):
    folder, S, D, ids, _ = data
    monkeypatch.chdir(folder)
    holes = S.copy()
    holes[3, 4] = np.nan
    write_proximity("holes.csv", holes, ids=ids, kind="similarity")
    write_proximity("block.csv", S[:5], ids=ids[:5], column_ids=ids, kind="similarity")
    write_proximity("D.csv", -D, ids=ids, kind="dissimilarity")
    for arguments in (
        ("inspect", "block.csv"),
        ("study", "block.csv", "-l", "y.csv"),
        ("study", "D.csv", "-l", "y.csv"),
        ("study", "D.csv", "-l", "y.csv", "--label-column", "nothing"),
        ("study", "D.csv", "-l", "y.csv", "--kind", "x"),
        ("study", "D.csv", "-l", "y.csv", "--folds", "1"),
        ("complete", "D.csv", "--method", "psd"),
    ):
        said = run(*arguments, code=2).stderr
        assert not PYTHON.search(said), said


def test_advice_of_python_functions_is_translated():
    S = np.random.default_rng(0).random((6, 6))
    with pytest.warns(AsymmetryWarning) as caught:
        SpectrumClip().fit(S)
    messages = [str(caught[0].message)]
    for call in (
        lambda: SDA().fit(np.where(S > 0.9, np.nan, S), [0, 1] * 3),
        lambda: SDA().fit(S[:2], [0, 1]),
        lambda: SimilarityKNN(kind="dissimilarity").fit(-S, [0, 1] * 3),
        lambda: KernelHLM().fit(S, [0, 1] * 3),
    ):
        with pytest.raises(ValueError) as error:
            call()
        messages.append(str(error.value))
    words = [in_cli_words(message) for message in messages]
    assert not [text for text in words if PYTHON.search(text)]
    for text, option in zip(
        words, ("--symmetrize", "similis complete", "--measure", "--kind similarity", "--symmetrize")
    ):
        assert option in text
