"""What scripts around the command line rely on: exit codes, JSON, completion, and the options of version 1.0."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_cli_commands import run
from typer.main import get_command

from similis import write_proximity
from similis.cli import app
from similis.cli._console import BAD_INPUT, FAILED, INTERRUPTED, JSON_SCHEMA
from similis.datasets import make_similarity

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "guide" / "command_line.md").read_text()
COMMANDS = get_command(app).commands
CODE = "from similis.cli import main; main()"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A matrix of 24 objects in two classes, one with missing entries, and a table of objects."""
    monkeypatch.chdir(tmp_path)
    S, y = make_similarity(24, 2, separation=6.0, random_state=0)
    labels = np.where(y, "north", "south")
    write_proximity("m.npz", S, kind="similarity", labels=labels, ids=[f"o{i}" for i in range(24)])
    K = S @ S.T
    K[0, 5] = K[5, 0] = np.nan
    write_proximity("holes.npz", K, kind="similarity")
    lines = [f"{a},{b},{c}" for a, b, c in zip(S[0], S[1], labels)]
    Path("objects.csv").write_text("u,v,class\n" + "\n".join(lines) + "\n")
    return tmp_path


# Exit codes.


def test_the_page_lists_every_exit_code():
    listed = re.findall(r"^\| (\d+) \|", PAGE.partition("## Exit codes")[2], flags=re.MULTILINE)
    assert [*map(int, listed)] == [0, FAILED, BAD_INPUT, INTERRUPTED]


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("inspect m.npz", 0),
        ("study m.npz --method nc --splits 2 --folds 2 -q", 0),
        ("study m.npz --method psvm --splits 1 --test-size 0.95 -q", FAILED),  # a training part of one object
        ("study m.npz --method svm-kernel(clip,C=-1) --splits 2 -q", BAD_INPUT),
        ("inspect none.csv", BAD_INPUT),
        ("inspect m.npz --no-such-option", BAD_INPUT),
        ("no-such-command", BAD_INPUT),
        ("study m.npz --splits many", BAD_INPUT),
        ("predict m.npz m.npz", BAD_INPUT),
    ],
)
def test_exit_codes(folder, line, code):
    result = run(*line.split(), code=code)
    assert "Traceback" not in result.output
    if code == BAD_INPUT:
        assert not result.stdout
        assert result.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_exit_code_of_an_interrupted_command():
    """Ctrl-C while `stream` waits for lines of standard input."""
    words = [sys.executable, "-u", "-c", CODE, "stream", "-", "--measure", "edit"]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(words, text=True, **pipes) as process:
        assert process.stdout.readline() == "id,predicted,label\n"
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)
        said = process.stderr.read()
    assert process.returncode == INTERRUPTED, said
    assert "interrupted" in said
    assert "Traceback" not in said


# JSON.

JSON_LINES = [
    "measure objects.csv -m minkowski --json",
    "measure objects.csv -m minkowski -o d.csv --json",
    "measure objects.csv -m minkowski -o d.npy --json",
    "convert m.npz - --json",
    "convert m.npz m.csv --json",
    "inspect m.npz --json",
    "complete holes.npz --json",
    "complete holes.npz -o whole.npz --json",
    "study m.npz --method nc --splits 2 --folds 2 -q --json",
    "study m.npz --method nc --splits 2 -q --estimate --json",
    "study --list --json",
    "study --list knn --json",
    "fit m.npz --method nc --splits 2 --folds 2 -q --json",
    "predict model.skops m.npz --json",
    "predict model.skops m.npz -o predicted.csv --json",
    "datasets --json",
    "datasets votes --json",
    "datasets votes -o votes.csv --json",
    "datasets votes -o - --json",
]


def test_every_command_with_json_is_tested():
    found = {name for name, command in COMMANDS.items() if any("--json" in p.opts for p in command.params)}
    assert found == {line.split()[0] for line in JSON_LINES}


@pytest.mark.parametrize("line", JSON_LINES)
def test_json_has_a_schema_version(folder, line):
    if line.startswith("predict"):
        run(*"fit m.npz --method nc --splits 2 --folds 2 -q".split())
    words = line.split()
    found = json.loads(run(*words).stdout)  # nothing else on standard output
    assert next(iter(found.items())) == ("schema_version", JSON_SCHEMA)
    if "-o" in words and words[words.index("-o") + 1] != "-":
        assert found["output"] == words[words.index("-o") + 1]
        assert Path(found["output"]).exists()


# Completion.


@pytest.fixture(scope="module")
def bash(tmp_path_factory):
    """Complete a line by bash, as the printed script does it."""
    if shutil.which("bash") is None:
        pytest.skip("needs bash")
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "similis"
    program.write_text(f"#!{sys.executable}\n{CODE}\n")
    program.chmod(0o755)
    environment = os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    # Typer looks for the shell among the parents of the process.
    words = ["bash", "-c", "similis --show-completion; exit $?"]
    script = subprocess.run(words, env=environment, capture_output=True, text=True)
    assert script.returncode == 0, script.stderr

    def complete(line):
        words = line.split(" ")
        call = (
            f"{script.stdout}\n"
            f"COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}\n"
            '_similis_completion similis; printf "%s\\n" "${COMPREPLY[@]}"\n'
        )
        done = subprocess.run(["bash", "-c", call], env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    return complete


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("similis stu", "study"),
        ("similis study --meth", "--method"),
        ("similis study m.csv --method local-s", "local-sda"),
        ("similis study m.csv --measure ed", "edit"),
        ("similis datasets vo", "votes"),
    ],
)
def test_completion(bash, line, word):
    found = bash(line)
    assert word in found
    assert all(other.startswith(line.rpartition(" ")[2]) for other in found)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_module_has_the_name_of_the_command():
    words = ["bash", "-c", f"{shlex.quote(sys.executable)} -m similis --show-completion; exit $?"]
    shown = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert "complete -o default -F _similis_completion similis" in shown.stdout, shown.stderr


def test_the_page_explains_completion():
    assert "similis --install-completion" in PAGE
    assert "similis --show-completion" in PAGE


# The command line of 1.0.

V1 = json.loads((ROOT / "tests" / "v1" / "command_line.json").read_text())
NEW_DEFAULTS = {("study", "--jobs"), ("study", "-j"), ("fit", "--jobs"), ("fit", "-j")}  # all cores where that helps


@pytest.mark.parametrize("name", sorted(V1.keys() - {"reproduce"}))
def test_options_of_version_1(name):
    now = {flag: p.default for p in COMMANDS[name].params for flag in (*p.opts, *p.secondary_opts)}
    for flag, default in V1[name].items():
        assert flag in now
        assert now[flag] == default or (name, flag) in NEW_DEFAULTS, flag


def test_the_command_that_moved_out_says_where():
    said = " ".join(run("reproduce", "chen2010:4.3", "--quick", code=BAD_INPUT).stderr.split())
    assert "./scripts/reproduce" in said
    assert "reproduce" not in run("--help").stdout
