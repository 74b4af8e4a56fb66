"""Outputs of the commands: never an input, never a file of another kind without --overwrite, never a broken device."""

import csv
import io
import os
import pty
import re
import shutil
import stat
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from similis import load_votes, write_proximity
from similis.cli import app

STUDY = ["--method", "nc", "--splits", "2"]


def run(*command, **options):
    found = CliRunner().invoke(app, [str(part) for part in command], **options)
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        raise found.exception
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Files of every kind that a command reads."""
    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(0)
    x = rng.normal(size=24) + 4 * (np.arange(24) % 2)
    S = np.exp(-np.abs(x[:, None] - x))
    labels, ids = np.array(["u", "v"])[np.arange(24) % 2], [f"o{i}" for i in range(24)]
    write_proximity(folder / "M.csv", S, ids=ids, kind="similarity")
    write_proximity(folder / "rows.csv", S[:3], kind="similarity")
    write_proximity(folder / "N.npy", S, ids=ids, kind="similarity", labels=labels)
    (folder / "L.csv").write_text("".join(f"{i},{label}\n" for i, label in zip(ids, labels)))
    (folder / "G.csv").write_text("".join(f"{i},g{k // 2}\n" for k, i in enumerate(ids)))
    (folder / "costs.csv").write_text("id,u,v\nu,0,1\nv,2,0\n")
    X, y = load_votes(return_X_y=True)
    votes = [",".join([*map(str, row), str(label)]) for row, label in zip(X[:20], y[:20])]
    (folder / "votes.csv").write_text("\n".join([",".join([*(f"v{k}" for k in range(X.shape[1])), "class"]), *votes]))
    assert run("fit", folder / "M.csv", "-l", folder / "L.csv", *STUDY, "-o", folder / "m.skops").exit_code == 0
    save = ["--save", folder / "R.json", "--report", folder / "R.html", "--journal", folder / "J.journal"]
    assert run("study", folder / "M.csv", "-l", folder / "L.csv", *STUDY, *save).exit_code == 0
    return folder


@pytest.fixture
def at(made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path / "at")
    monkeypatch.chdir(tmp_path / "at")
    return tmp_path / "at"


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


ON_INPUTS = [
    "predict m.skops rows.csv -o rows.csv",
    "predict m.skops rows.csv -o m.skops",
    "predict m.skops rows.csv -o m.card.json",
    "study M.csv -l L.csv --report M.csv",
    "study M.csv -l L.csv --save L.csv",
    "study M.csv -l L.csv --journal L.csv",
    "study M.csv -l L.csv --groups G.csv --save G.csv",
    "study M.csv -l L.csv --costs costs.csv --report costs.csv",
    "study N.npy --save N.npy.json",
    "fit M.csv -l L.csv -o L.csv",
    "fit M.csv -l L.csv -o M.csv",
    "report R.json -o R.json",
    "measure votes.csv -m counting -o votes.csv",
    "measure votes.csv -m counting -l L.csv -o L.csv",
    "complete M.csv -o M.csv",
    "complete M.csv -a N.npy -o N.npy",
]


@pytest.mark.parametrize("line", ON_INPUTS)
def test_inputs_are_not_outputs(at, line):
    before = contents(at)
    found = run(*line.split(), "--overwrite")  # permits to replace other files, never inputs
    assert found.exit_code == 2
    assert re.search(r"'[\w.]+' is read by this command( as well)?; name another file", found.stderr), found.stderr
    assert contents(at) == before


@pytest.mark.parametrize("how", ["symlink", "hard link", "other spelling", "symlinked folder", "companion"])
def test_inputs_under_another_name(at, how):
    if how == "symlink":
        (at / "x.csv").symlink_to("rows.csv")
    elif how == "hard link":
        os.link(at / "rows.csv", at / "x.csv")
    elif how == "symlinked folder":
        (at / "sub").symlink_to(".")
    name = {"other spelling": "../at/rows.csv", "symlinked folder": "sub/rows.csv"}.get(how, "x.csv")
    before = contents(at)
    if how == "companion":  # the labels are written beside the matrix
        shutil.copy(at / "votes.csv", at / "x.labels.csv")
        found = run("measure", "x.labels.csv", "-m", "counting", "-o", "x.csv")
        (at / "x.labels.csv").unlink()
    else:
        found = run("predict", "m.skops", "rows.csv", "-o", name, "--overwrite")
    assert found.exit_code == 2
    assert "is read by this command" in found.stderr
    assert contents(at) == before


@pytest.mark.parametrize(
    "line",
    [
        "study M.csv -l L.csv --report x --save x",
        "study M.csv -l L.csv --report x --save ./x",
        "study M.csv -l L.csv --save x --journal x",
        "study M.csv -l L.csv --watch --save report.html",
        "fit M.csv -l L.csv -o x.skops --journal x.card.json",
        "fit M.csv -l L.csv -o x.card.json --journal x.card.json",
    ],
)
def test_two_outputs_are_two_files(at, line):
    before = contents(at)
    found = run(*line.split(), "--overwrite")
    assert found.exit_code == 2
    assert re.search(r"are the same file.*name two", found.stderr), found.stderr
    assert contents(at) == before


OVER_OTHERS = [
    ("predict m.skops rows.csv -o", ["L.csv", "M.csv", "R.html", "J.journal"]),
    ("study M.csv -l L.csv --method nc --splits 2 --report", ["votes.csv", "R.json", "m.skops", "J.journal"]),
    ("study M.csv -l L.csv --method nc --splits 2 --save", ["votes.csv", "R.html", "m.skops", "J.journal"]),
    ("fit M.csv -l L.csv --method nc --splits 2 -o", ["votes.csv", "R.json", "J.journal", "N.npy"]),
    ("report R.json -o", ["M.csv", "L.csv", "m.card.json", "J.journal"]),
    ("measure votes.csv -m counting -o", ["L.csv", "predicted.csv"]),
    ("complete M.csv -o", ["L.csv", "votes.csv"]),
    ("datasets votes -o", ["L.csv", "M.csv", "R.json"]),
]


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize(("line", "name"), [(line, name) for line, names in OVER_OTHERS for name in names])
def test_files_of_another_kind_need_overwrite(at, line, name):
    (at / "predicted.csv").write_text("id,label,score\n1,u,0.5\n")
    before = contents(at)
    found = run(*line.split(), name)
    assert found.exit_code == 2
    assert re.search(rf"'{name}' exists and is not .*; name another file, or give --overwrite", found.stderr)
    assert contents(at) == before
    found = run(*line.split(), name, "--overwrite")
    assert found.exit_code == 0, found.stderr
    assert contents(at)[name] != before[name]


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize(
    "line",
    [
        "predict m.skops rows.csv -o x.csv",
        "study M.csv -l L.csv --method nc --splits 2 --report x.html --save x.json --journal x.journal",
        "study M.csv -l L.csv --method nc --splits 2 --save x.json.gz",
        "fit M.csv -l L.csv --method nc --splits 2 -o x.skops",
        "report R.json -o x.html",
        "measure votes.csv -m counting -o x.csv",
        "measure votes.csv -m counting -o x.csv.gz",
        "measure votes.csv -m counting -o x.npz",
        "measure votes.csv -m counting -o x.npy",
        "measure votes.csv -m counting -o x.zarr",
        "complete M.csv -o x.parquet",
        "datasets votes -o x.csv",
    ],
)
def test_files_of_the_same_kind_are_replaced(at, line):
    for _ in range(2):
        found = run(*line.split())
        assert found.exit_code == 0, found.stderr
    (at / "empty.csv").touch()
    assert run("predict", "m.skops", "rows.csv", "-o", "empty.csv").exit_code == 0


def test_a_card_of_something_else_is_kept(at):
    (at / "x.card.json").write_text('{"mine": 1}')
    found = run("fit", "M.csv", "-l", "L.csv", *STUDY, "-o", "x.skops")
    assert found.exit_code == 2
    assert "'x.card.json' exists and is not the card of a model" in found.stderr
    assert not (at / "x.skops").exists()


# Streams


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


def similis(*command, **options):
    return subprocess.run([sys.executable, "-m", "similis", *map(str, command)], text=True, **options)


@pytest.mark.parametrize(
    ("line", "begins"),
    [
        ("predict m.skops rows.csv -o", "id,label"),
        slow("measure votes.csv -m counting -o", "# similarity\n16.0,13.0"),
        slow("datasets votes -o", "handicapped"),
        slow("report R.json -o", "<!doctype"),
        slow("study M.csv -l L.csv --method nc --splits 2 --json --save", '{"similis-study'),
    ],
)
def test_standard_output_by_its_path(at, line, begins):
    if not os.path.exists("/dev/stdout"):
        pytest.skip("there is no /dev/stdout")
    done = similis(*line.split(), "/dev/stdout", capture_output=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.lower().startswith(begins)


def test_a_fifo_gets_the_table(at):
    os.mkfifo("fifo")
    reader = subprocess.Popen(["cat", "fifo"], stdout=subprocess.PIPE, text=True)
    assert run("predict", "m.skops", "rows.csv", "-o", "fifo").exit_code == 0
    assert reader.communicate(timeout=20)[0].startswith("id,label")
    assert stat.S_ISFIFO(os.stat("fifo").st_mode)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root makes devices")
def test_a_device_stays_a_device(at):
    try:
        os.mknod("null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        open("null", "wb").close()
    except OSError as error:
        pytest.skip(f"devices cannot be made here: {error}")
    for line in (
        "predict m.skops rows.csv -o null",
        "study M.csv -l L.csv --method nc --splits 2 --save null --report null",
        "fit M.csv -l L.csv --method nc --splits 2 -o null",
        "measure votes.csv -m counting -o null",
        "complete M.csv -o null",
        "datasets votes -o null",
        "report R.json -o null",
    ):
        found = run(*line.split())
        assert found.exit_code == 0, (line, found.stderr)
        assert stat.S_ISCHR(os.stat("null").st_mode), line
    assert not [name for name in os.listdir(at) if name.startswith("null.")]


# Terminals and spreadsheets


EVIL = ["\x1b]0;owned\x07a", "b\x1b[2J", "c\u202eexe", "=cmd|' /C calc'!A0", "@SUM(1)", "+1+1", "-x", "-1.5", "plain"]


@pytest.fixture
def evil(at):
    x = np.arange(9.0)
    S = np.exp(-np.abs(x[:, None] - x))
    write_proximity(at / "E.npz", S, ids=EVIL, kind="similarity", labels=["=1+1", "\x1b[31mred"] * 4 + ["=1+1"])
    assert run("fit", "E.npz", *STUDY, "--protocol", "stratified", "--folds", "2", "-o", "e.skops").exit_code == 0
    return at


@pytest.mark.parametrize("output", [[], slow(["-o", "-"]), slow(["-o", "/dev/stdout"]), slow(["-o", "/dev/tty"])])
def test_predictions_on_a_terminal_have_no_escape_sequences(evil, output):
    """On a real terminal; in a file or a pipe, names stay as they are."""
    command = [sys.executable, "-m", "similis", "predict", "e.skops", "E.npz", *output]
    child, terminal = pty.fork()
    if not child:
        os.execv(sys.executable, command)
    said = b""
    try:
        while part := os.read(terminal, 4096):
            said += part
    except OSError:
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, said
    text = said.decode().replace("\r\n", "\n")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text), text
    assert r"\x1b[2J" in text
    assert "b\x1b[2J" in run("predict", "e.skops", "E.npz").stdout


def test_formulas_are_escaped_on_request(evil):
    plain = run("predict", "e.skops", "E.npz").stdout
    assert "\n=cmd|' /C calc'!A0," in plain
    assert "\n@SUM(1),=1+1," in plain
    safe = run("predict", "e.skops", "E.npz", "--escape-formulas").stdout
    rows = list(csv.reader(io.StringIO(safe)))
    ids = [row[0] for row in rows[1:]]
    assert ids == [*EVIL[:3], "'=cmd|' /C calc'!A0", "'@SUM(1)", "'+1+1", "'-x", "-1.5", "plain"]
    assert {row[1] for row in rows[1:]} <= {"'=1+1", "\x1b[31mred"}
    assert not [row for row in rows if row[-1].startswith("'")]  # negative scores stay numbers
