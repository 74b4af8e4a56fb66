"""The command line: what each command prints, in text and in JSON, and where it writes."""

import csv
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import similis
from similis import StudyResult, read_proximity, write_proximity
from similis.cli import app
from similis.datasets import make_similarity

COMMANDS = ("measure", "inspect", "complete", "study", "report", "fit", "predict", "stream", "datasets")


def run(*arguments, code=0, stdin=None):
    result = CliRunner().invoke(app, [str(a) for a in arguments], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def matrix(tmp_path):
    """A csv of 30 named objects of two classes that lie well apart, with labels in a file of their own."""
    S, y = make_similarity(30, 2, separation=6.0, random_state=0)
    ids = [f"object-{i}" for i in range(30)]
    write_proximity(tmp_path / "matrix.csv", S, ids=ids, kind="similarity")
    lines = [f"{name},{'north' if label else 'south'}" for name, label in zip(ids, y)]
    (tmp_path / "labels.csv").write_text("\n".join(["id,label", *lines]) + "\n")
    return tmp_path / "matrix.csv", tmp_path / "labels.csv"


@pytest.fixture
def votes(tmp_path):
    path = tmp_path / "votes.csv"
    run("datasets", "votes", "-o", path)
    return path


def test_help_teaches_by_example():
    overview = run("--help").stdout
    for command in COMMANDS:
        assert command in overview
        text = run(command, "--help").stdout
        assert "Examples" in text
        assert f"similis {command}" in text
    assert run("--version").stdout.strip() == similis.__version__


def test_no_command_shows_the_help():
    assert "Usage" in CliRunner().invoke(app, []).output


# datasets


def test_datasets_lists_describes_and_exports(votes):
    assert "votes" in run("datasets").stdout
    listed = json.loads(run("datasets", "--json").stdout)["datasets"]
    assert {"votes", "sonar", "promoters"} <= {row["name"] for row in listed if row["available"]}
    assert "435 objects" in run("datasets", "votes").stdout
    assert json.loads(run("datasets", "votes", "--json").stdout)["classes"] == ["democrat", "republican"]
    assert json.loads(run("datasets", "--json").stdout)["schema_version"] == 2
    rows = list(csv.reader(votes.open()))
    assert len(rows) == 436
    assert rows[0][-1] == "class"
    assert run("datasets", "votes", "-o", "-").stdout == votes.read_text()


# measure


def test_measure_writes_the_matrix_with_ids_and_labels(tmp_path):
    (tmp_path / "points.csv").write_text("name,class,u,v\na,x,0,0\nb,x,0,2\nc,y,4,5\n")
    run("measure", tmp_path / "points.csv", "-m", "minkowski", "-p", "p=1", "-o", tmp_path / "m.npz")
    found = read_proximity(tmp_path / "m.npz")
    assert found.kind == "dissimilarity"
    assert found.ids == ("a", "b", "c")
    assert found.labels.tolist() == ["x", "x", "y"]
    np.testing.assert_array_equal(found.values, [[0, 2, 9], [2, 0, 7], [9, 7, 0]])


def test_measure_reads_standard_input_and_writes_standard_output(tmp_path):
    text = "a,b,c\n1,0,1\n1,1,1\n0,0,0\n"
    (tmp_path / "objects.csv").write_text(text)
    printed = run("measure", "-", "-m", "counting", stdin=text).stdout
    assert printed == run("measure", tmp_path / "objects.csv", "-m", "counting").stdout
    assert printed.startswith("# similarity\n")
    values = np.loadtxt(io.StringIO(printed), delimiter=",")
    np.testing.assert_array_equal(values, [[3, 2, 1], [2, 3, 0], [1, 0, 3]])


def test_measure_takes_parameters_and_prints_json(tmp_path):
    (tmp_path / "points.csv").write_text("x,y\n0,0\n3,4\n")
    found = json.loads(run("measure", tmp_path / "points.csv", "-m", "minkowski", "-p", "p=1", "--json").stdout)
    assert found["values"] == [[0, 7], [7, 0]]
    assert found["kind"] == "dissimilarity"
    written = run("measure", tmp_path / "points.csv", "-m", "minkowski", "-o", tmp_path / "m.csv", "--json").stdout
    assert json.loads(written)["n"] == 2


def test_measures_are_named_and_wrong_names_hinted_at(tmp_path):
    (tmp_path / "points.csv").write_text("x,y\n0,0\n3,4\n")
    for name, words in (("minkovski", "Did you mean 'minkowski'"), ("zzz", "There are")):
        assert words in run("measure", tmp_path / "points.csv", "-m", name, code=2).stderr
    assert "no parameter 'q'" in run("measure", tmp_path / "points.csv", "-m", "counting", "-p", "q=1", code=2).stderr
    assert "key=value" in run("measure", tmp_path / "points.csv", "-m", "counting", "-p", "q", code=2).stderr


# inspect


def test_inspect_prints_the_diagnosis(matrix):
    path, labels = matrix
    assert "30" in run("inspect", path, "--labels", labels).stdout
    assert json.loads(run("inspect", path, "-l", labels, "--json").stdout)
    assert run("inspect", "-", stdin=path.read_text()).stdout


def test_inspect_tests_the_classes_with_groups_as_blocks(matrix, tmp_path):
    path, labels = matrix
    assert "of the dissimilarity, p = " in run("inspect", path, "--labels", labels).stdout
    groups = tmp_path / "groups.csv"
    groups.write_text(labels.read_text())  # the class is constant within each group
    assert "whole blocks were permuted" in run("inspect", path, "--labels", labels, "--groups", groups).stdout


# study


def test_study_prints_table_and_advice(matrix):
    path, labels = matrix
    text = run("study", path, "--labels", labels, "--method", "nc", "--method", "knn", "--splits", 3, "-q").stdout
    assert "Use " in text
    assert f"similis fit {path} --labels {labels} --method" in text
    assert "95 % interval" in text


def test_study_json_journal_report_and_results_file(matrix, tmp_path):
    path, labels = matrix
    files = {name: tmp_path / name for name in ("study.journal", "report.html", "result.json")}
    arguments = ["study", path, "-l", labels, "--method", "nc", "--splits", 3, "-q", "--json"]
    arguments += ["--journal", files["study.journal"], "--report", files["report.html"], "--save", files["result.json"]]
    found = json.loads(run(*arguments).stdout)
    assert found["table"][0]["method"] == "nc"
    assert found["recommendation"]["method"] == "nc"
    assert found["classes"] == ["north", "south"]
    assert all(file.exists() for file in files.values())
    before = files["study.journal"].read_text().count("nc")
    assert json.loads(run(*arguments).stdout)["table"] == found["table"]
    assert files["study.journal"].read_text().count("nc") == before  # nothing was computed again


def test_study_reads_objects_with_a_measure_and_data_sets(votes):
    options = ("--method", "nc", "--splits", 2, "-q", "--json")
    by_file = json.loads(run("study", votes, "-m", "counting", *options).stdout)
    by_name = json.loads(run("study", "--dataset", "votes", "-m", "counting", *options).stdout)
    assert by_file["table"][0]["error"] == by_name["table"][0]["error"]
    assert by_file["objects"] == 435
    noted = run("study", "--dataset", "votes", *options)
    assert "vdm" in noted.stderr


def test_study_and_fit_respect_groups_and_costs(matrix, tmp_path):
    groups, costs, model = tmp_path / "groups.csv", tmp_path / "costs.csv", tmp_path / "model.skops"
    groups.write_text("id,group\n" + "".join(f"object-{i},g{i // 3}\n" for i in reversed(range(30))))
    costs.write_text("said,south,north\nsouth,0,1\nnorth,40,0\n")  # saying north when it is south is dear
    given = (matrix[0], "--labels", matrix[1], "--method", "knn", "--splits", 3, "--folds", 3, "-q")
    found = run("study", *given, "--groups", groups, "--costs", costs, "--save", tmp_path / "r.json").stdout
    result = StudyResult.load(tmp_path / "r.json")
    np.testing.assert_array_equal(result.costs, [[0, 40], [1, 0]])  # classes in sorted order
    for split in result.splits:
        assert not {i // 3 for i in split.train} & {i // 3 for i in split.test}
    assert f"--groups {groups} --costs {costs}" in found
    run("fit", *given, "--groups", groups, "--costs", costs, "--output", model)
    np.testing.assert_array_equal(similis.load(model).get_params()["costs"], [[0, 40], [1, 0]])


@pytest.mark.parametrize(
    ("option", "text", "said"),
    [
        ("--groups", "object-0,a\n", "29 of 30 objects have no group and are left out"),
        ("--groups", "nobody,a\nnothing,b\n", "none of its 2 ids is an id of the objects"),
        ("--groups", "a\nb\n", "one group per object. Got 2 groups for 30"),
        ("--groups", "a\n" * 30, "at least three groups"),
        ("--costs", "said,north,east\nnorth,0,1\neast,1,0\n", "'east' is in one of them only"),
        (
            "--costs",
            "0,1,2\n1,0,2\n1,1,0\n",
            "a row and a column per class of the labels, and no others. Got 3 instead",
        ),
        ("--costs", "said,north,south\nnorth,0,\nsouth,1,0\n", "costs"),
    ],
)
def test_bad_groups_and_costs_are_named(option, text, said, matrix, tmp_path):
    (tmp_path / "bad.csv").write_text(text)
    result = run("study", matrix[0], "-l", matrix[1], "--method", "nc", option, tmp_path / "bad.csv", code=2)
    assert said in " ".join(result.stderr.split())


def test_one_column_of_text_is_a_feature_unless_the_measure_reads_texts(tmp_path):
    words, more = tmp_path / "words.csv", tmp_path / "more.csv"
    words.write_text(
        "id,class,color\n" + "".join(f"o{i},{'xy'[i % 2]},{'red' if i % 2 else 'blue'}\n" for i in range(12))
    )
    more.write_text("id,weight,color\nn,3,red\n")
    model = tmp_path / "model.skops"
    run("fit", words, "--measure", "counting", "--method", "nc", "--splits", 2, "-q", "--output", model)
    for file in (words, more):
        (first, *_) = json.loads(run("predict", model, file, "--json").stdout)["predictions"]
        assert first["label"] == {"o0": "x", "n": "y"}[first["id"]]
    assert "Got text, 'blue'" in run("measure", words, "-m", "jaccard", code=2).stderr


def test_study_lists_methods():
    assert "knn" in run("study", "--list").stdout
    assert {"name", "paper", "summary"} <= set(json.loads(run("study", "--list", "--json").stdout)["methods"][0])


# Real processes


def similis_process(*arguments, stdin=None, **more):
    command = [sys.executable, "-m", "similis", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=120, check=False, **more)


def test_python_m_similis_reads_a_pipe_and_keeps_the_streams_apart():
    done = similis_process("measure", "-", "-m", "counting", "-o", "-", stdin="a,b\n1,0\n1,1\n")
    assert (done.returncode, done.stdout, done.stderr) == (0, "# similarity\n2.0,1.0\n1.0,2.0\n", "")


def test_a_process_ends_with_status_2_and_one_line():
    done = similis_process("inspect", "no-such-file.csv")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "similis: There is no file 'no-such-file.csv'.\n"


@pytest.mark.slow
def test_the_commands_of_the_guide_run(tmp_path, monkeypatch):
    page = Path(__file__).parents[1] / "docs" / "guide" / "command_line.md"
    lines = re.findall(r"^\$ similis (.*)$", page.read_text(), flags=re.MULTILINE)
    assert len(lines) >= 8
    monkeypatch.chdir(tmp_path)
    words = [f"w{i},{'ab'[i % 2] * (4 + i // 2)}c,{'xy'[i % 2]}" for i in range(40)]
    (tmp_path / "words.csv").write_text("\n".join(["id,word,class", *words]))
    (tmp_path / "proteins.csv").write_text("\n".join(["id,sequence,class", *words]).replace("b", "K").upper())
    sizes = [3 + i % 2 + i // 20 for i in range(40)]
    graphs = [{"id": f"m{i}", "label": "xy"[i % 2], "node_labels": ["C"] * n} for i, n in enumerate(sizes)]
    graphs = [{**graph, "edges": [[j, j + 1] for j in range(n - 1)]} for graph, n in zip(graphs, sizes)]
    (tmp_path / "molecules.json").write_text(json.dumps(graphs))
    signatures = [{"id": f"s{i}", "object": [[i, 0.0], [i + 1, 1.0]]} for i in range(5)]
    (tmp_path / "signatures.json").write_text(json.dumps(signatures))
    for line in lines:
        run(*shlex.split(line), *(["-q"] if line.startswith(("study", "fit")) else []))


def test_help_comes_without_the_heavy_packages():
    code = "import sys, similis.cli; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    for heavy in ("numpy", "sklearn", "scipy", "numba"):
        assert heavy not in loaded


@pytest.mark.parametrize(
    "typed, offered",
    [
        ("similis st", {"stream", "study"}),
        ("similis study --dataset vo", {"votes", "voting_vdm"}),
        ("similis measure --measure tv", {"tversky-contrast", "tversky-ratio"}),
        ("similis fit --method krr", {"krr-knn(pinv)", "krr-knn(clip)", "krr-knn(flip)", "krr-knn(shift)"}),
    ],
)
def test_the_shell_completes(typed, offered):
    more = {"_SIMILIS_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    result = CliRunner().invoke(app, [], prog_name="similis", env=more)
    assert set(result.stdout.split()) == offered


@pytest.mark.slow
def test_ctrl_c_ends_a_real_process_and_the_next_one_goes_on(tmp_path):
    """Interrupted with workers at work: status 130 at once, no traceback, and what was finished is not lost."""
    kept = tmp_path / "kept"
    arguments = ["study", "--dataset", "votes", "-m", "vdm", "--method", "knn", "--jobs", "2", "--journal", str(kept)]
    process = subprocess.Popen(
        [sys.executable, "-m", "similis", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and (not kept.exists() or kept.read_text().count("n_neighbors") < 3):
        time.sleep(0.2)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"This command resumes: similis {shlex.join(arguments)}" in errors
    assert "Traceback" not in errors
    assert kept.read_text().count("n_neighbors") >= 3
