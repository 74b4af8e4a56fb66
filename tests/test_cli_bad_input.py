"""Bad input of every kind: status 2, one sentence on standard error, nothing on standard output, no traceback."""

import gzip

import pytest
from typer.testing import CliRunner

from similis.cli import app
from similis.cli._console import INTERRUPTED

GOOD = "similarity,a,b,c,d\na,4,3,1,0\nb,3,4,0,1\nc,1,0,4,2\nd,0,1,2,4\n"
LABELS = "id,label\na,x\nb,x\nc,y\nd,y\n"

FILES = {
    "empty.csv": b"",
    "header-only.csv": b"similarity,a,b\n",
    "ragged.csv": b"similarity,a,b\na,1,2\nb,3\n",
    "text.csv": b"similarity,a,b\na,1,two\nb,3,4\n",
    "not-square.csv": b"similarity,a,b\na,1,2\n",
    "other-order.csv": b"similarity,a,b\nb,1,2\na,3,4\n",
    "twice.csv": b"similarity,a,a\na,1,2\na,3,4\n",
    "infinite.csv": b"similarity,a,b\na,1,inf\nb,3,4\n",
    "latin.csv": b"similarity,\xe9,b\n\xe9,1,2\nb,3,4\n",
    "nul.csv": b"a\0b,1\n",
    "binary.npz": b"PK\x03\x04 this is no archive",
    "binary.npy": b"\x93NUMPY but no more",
    "binary.parquet": b"PAR1 no",
    "cut.csv.gz": gzip.compress(b"similarity,a,b\na,1,2\nb,3,4\n" * 50)[:40],
    "unknown.xyz": b"1,2\n3,4\n",
    "no-ending": b"1,2\n3,4\n",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "good.csv").write_text(GOOD)
    (tmp_path / "labels.csv").write_text(LABELS)
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def refused(*arguments, code=2, stdin=None):
    result = CliRunner().invoke(app, [str(a) for a in arguments], input=stdin)
    assert result.exit_code == code, (result.output, result.exception)
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("similis: ")
    assert "Traceback" not in result.stderr
    assert len(lines[0]) < 320
    return lines[0]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", ["inspect", "study", "fit"])
def test_broken_matrices(command, name, folder):
    assert name.split(".")[0] in refused(command, folder / name)


@pytest.mark.parametrize(
    "labels",
    [
        "",
        "id,label\nq,x\nr,y\n",
        "id,label\na,x\nb,x\nc,y\nd,y\na,y\n",
        "x\ny\n",
        "a,x,1\nb,x,2\nc,y,1\nd,y,2\n",
        "label\n\nx\ny\ny\n",
        "a;x,y\nb;x\n",
        "id,label\na,1\nb,2\nc,3\nd,4\n",
    ],
)
def test_broken_labels(labels, folder):
    (folder / "bad-labels.csv").write_text(labels)
    assert "bad-labels" in refused("study", folder / "good.csv", "-l", folder / "bad-labels.csv", "-q")


def test_one_class_missing_labels_and_too_few_objects(folder):
    (folder / "same.csv").write_text(LABELS.replace("y", "x"))
    assert "class" in refused("study", folder / "good.csv", "-l", folder / "same.csv", "-q")
    assert "--labels" in refused("study", folder / "good.csv", "-q")
    assert "--labels" in refused("fit", folder / "good.csv", "-q")


def test_standard_input_is_named_in_the_sentence():
    assert "standard input" in refused("inspect", "-", stdin="similarity,a,b\na,1,two\nb,3,4\n")


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("study", "good.csv", "-l", "labels.csv", "--method", "kn"), "There is no method 'kn'"),
        (("study", "good.csv", "-l", "labels.csv", "--kind", "distance"), "--kind must be similarity or dissimilarity"),
        (("study", "good.csv", "-l", "labels.csv", "--protocol", "bootstrap"), "--protocol must be"),
        (("study", "good.csv", "-l", "labels.csv", "--splits", "0"), "--splits must"),
        (("study", "good.csv", "-l", "labels.csv", "--test-size", "1.5"), "--test-size must"),
        (("study", "good.csv", "-l", "labels.csv", "--folds", "many"), "--folds"),
        (("study", "good.csv", "--dataset", "votes"), "not both"),
        (("study",), "--dataset"),
        (("study", "--dataset", "nothing"), "There is no data set"),
        (("study", "--dataset", "votes", "-m", "rbf"), "umber"),
        (("inspect", "good.csv", "--dataset", "votes"), "not both"),
        (("measure", "good.csv"), "--measure"),
        (("measure", "good.csv", "-m", "counting", "-o", "out.xyz"), "must end in"),
        (("measure", "good.csv", "-m", "counting", "--column", "z"), "no column 'z'"),
        (("datasets", "nothing"), "There is no data set"),
        (("predict", "good.csv", "good.csv"), "not a model file"),
        (("predict", "nowhere.skops", "good.csv"), "There is no file"),
        (
            ("inspect", "good.csv", "--absent", "zero"),
            "--absent and --aggregate are for lists of pairs (--format pairs)",
        ),
        (("inspect", "good.csv", "--metadata", "labels.csv", "--subset", "z=1"), "no column 'z', given in --subset"),
        (("study", "good.csv", "-l", "labels.csv", "--seed", "-1"), "--seed must be a whole number"),
        (("study", "good.csv", "-l", "labels.csv", "--jobs", "0"), "--jobs must be a number of processes"),
        (("study", "good.csv", "-l", "labels.csv", "--landmarks", "0"), "--landmarks must be"),
        (("study", "good.csv", "-l", "labels.csv", "--priors", "x=0.9,y=0.3"), "--priors must sum to 1"),
        (("study", "good.csv", "-l", "labels.csv", "--column", "a"), "--column are for objects; name a --measure"),
        (("inspect", "good.csv", "--param", "q=1"), "--column are for objects; name a --measure"),
        (("predict", "m.skops", "good.csv", "-o", "out.xlsx"), "'out.xlsx' must end in .csv or .tsv"),
        (("predict", "m.skops", "good.csv", "-o", "out.csv.gz"), "'out.csv.gz' must end in .csv or .tsv"),
        (("fit", "good.csv", "--predict-unlabeled", "new.npz"), "'new.npz' must end in .csv or .tsv"),
        (("datasets", "votes", "-o", "votes.parquet"), "'votes.parquet' must end in .csv or .tsv"),
    ],
)
def test_wrong_options_are_one_sentence(arguments, words, folder, monkeypatch):
    monkeypatch.chdir(folder)
    more = ["-q"] if arguments[0] == "study" else []
    assert words in refused(*arguments, *more)


def test_absent_benchmark_data(folder, monkeypatch):
    monkeypatch.delenv("SIMILIS_DATA", raising=False)
    assert "SIMILIS_DATA" in refused("datasets", "aural_sonar")
    assert "aural_sonar" in refused("datasets", "aural_sonar", "--data", folder)


def test_a_folder_in_place_of_a_file(folder):
    refused("predict", folder, folder / "good.csv")
    (folder / "dir.csv").mkdir()
    refused("inspect", folder / "dir.csv")


def test_unwritable_output(folder):
    assert "There is no folder" in refused(
        "measure", folder / "good.csv", "-m", "counting", "-o", folder / "no" / "m.npz"
    )


def test_ctrl_c_is_status_130(folder, monkeypatch):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("similis.cli._study.load_data", interrupted)
    line = refused("study", folder / "good.csv", "-l", folder / "labels.csv", "-q", code=INTERRUPTED)
    assert "interrupted; the same command resumes a study with --journal, or a measurement to npy or zarr." in line


def test_wrong_usage_is_status_2_too():
    for arguments in (["study", "--no-such-option"], ["predict"], ["no-such-command"]):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 2
        assert "Traceback" not in result.output


def test_a_bug_keeps_its_traceback(folder, monkeypatch):
    def broken(*args, **kwargs):
        raise KeyError("a bug")

    monkeypatch.setattr("similis.cli._study.load_data", broken)
    result = CliRunner().invoke(app, ["study", str(folder / "good.csv"), "-l", str(folder / "labels.csv")])
    assert isinstance(result.exception, KeyError)


def test_debug_shows_where_bad_input_was_noticed(folder, monkeypatch):
    monkeypatch.setenv("SIMILIS_DEBUG", "1")
    result = CliRunner().invoke(app, ["inspect", str(folder / "ragged.csv")])
    assert isinstance(result.exception, ValueError)


def test_the_settings_of_another_protocol_are_named_as_options(folder):
    study = ["study", folder / "good.csv", "-l", folder / "labels.csv", "--method", "knn", "-q", "--journal"]
    CliRunner().invoke(app, [str(a) for a in [*study, folder / "a.journal", "--splits", 1, "--folds", 2]])
    message = refused(*study, folder / "a.journal", "--splits", 1, "--folds", 3, "--seed", 7)
    assert 'belongs to another protocol: {"--folds": 2, "--seed": 0} there, {"--folds": 3, "--seed": 7} here' in message
