"""``similis stream``: batches of lines are predicted, then learned."""

import csv
import io

import numpy as np
import pytest
from typer.testing import CliRunner

from similis import IncrementalHLM, Minkowski, load, stream_fit
from similis.cli._app import app


def run(*words, code=0, **options):
    result = CliRunner().invoke(app, ["stream", *map(str, words)], **options)
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def points(tmp_path, rng):
    y = np.where(rng.random(60) < 0.5, "near", "far")
    X = (rng.normal(size=(60, 2)) + 4 * (y == "far")[:, None]).round(6)
    lines = [f"p{i},{a},{b},{label}\n" for i, ((a, b), label) in enumerate(zip(X, y))]
    path = tmp_path / "points.csv"
    path.write_text("id,u,v,class\n" + "".join(lines))
    return path, X, y


def test_batches_are_predicted_by_the_model_of_those_before(points, tmp_path):
    path, X, y = points
    state = tmp_path / "state.skops"
    result = run(path, "--measure", "minkowski", "--batch", 20, "--components", 2, "-o", state)
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    model = stream_fit(IncrementalHLM(n_components=2, bounded=True, random_state=0), Minkowski())
    expected = [""] * 20
    for start in (0, 20, 40):
        if start:
            expected += model.predict(X[start : start + 20]).tolist()
        model.partial_fit(X[start : start + 20], y[start : start + 20])
    assert [row["predicted"] for row in rows] == expected
    assert [(row["id"], row["label"]) for row in rows] == [(f"p{i}", label) for i, label in enumerate(y)]
    wrong = 100 * np.mean(np.array(expected[20:]) != y[20:])
    assert f"60 objects; {wrong:.1f} % of 40 predictions differ" in result.stderr
    # The same in two parts, the second through standard input; then a file without labels is predicted only.
    header, *lines = path.read_text().splitlines(keepends=True)
    first, half = tmp_path / "first.csv", tmp_path / "half.skops"
    first.write_text(header + "".join(lines[:40]))
    run(first, "--measure", "minkowski", "--batch", 20, "--components", 2, "-o", half)
    second = run("-", "--resume", half, "--batch", 20, "-o", half, input=header + "".join(lines[40:]))
    assert [row["predicted"] for row in csv.DictReader(io.StringIO(second.stdout))] == expected[40:]
    np.testing.assert_array_equal(load(half).predict(X), load(state).predict(X))
    new = run("-", "--resume", half, input="u,v\n0,0\n4,4\n").stdout
    assert new == "id,predicted,label\n0,near,\n1,far,\n"


def test_objects_without_a_label_are_predicted_only(points, tmp_path):
    path, X, y = points
    lines = path.read_text().splitlines(keepends=True)
    some = [line.replace(y[i], ("", "NA")[i % 2]) if i % 3 else line for i, line in enumerate(lines[1:])]
    state = tmp_path / "state.skops"
    (tmp_path / "some.csv").write_text(lines[0] + "".join(some))
    result = run(tmp_path / "some.csv", "-m", "minkowski", "--batch", 30, "--components", 2, "-o", state)
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["label"] for row in rows] == ["" if i % 3 else label for i, label in enumerate(y)]
    assert all(row["predicted"] for row in rows[30:])
    assert "of 10 predictions" in result.stderr
    model = stream_fit(IncrementalHLM(n_components=2, bounded=True, random_state=0), Minkowski())
    for start in (0, 30):
        model.partial_fit(X[start : start + 30 : 3], y[start : start + 30 : 3])
    np.testing.assert_array_equal(load(state).predict(X), model.predict(X))


def test_a_message_names_the_file_and_the_lines(points, tmp_path):
    path, *_ = points
    path.write_text(path.read_text().replace("p25,", "p25,0,"))
    error = run(path, "-m", "minkowski", "--batch", 20, code=2).stderr
    assert f"{path.name} (batch from line 22), line 7: every line must have 4 cells" in " ".join(error.split())
    assert "batch.csv" not in error


def test_what_is_missing_is_named(points, tmp_path):
    path, *_ = points
    assert "either --measure or --resume" in run(path, code=2).stderr
    assert "stream_fit needs a dissimilarity" in run(path, "--measure", "rbf", code=2).stderr
    (tmp_path / "bare.csv").write_text("u,v\n1,2\n")
    assert "The first batch needs labels" in run(tmp_path / "bare.csv", "-m", "minkowski", code=2).stderr
    assert "There is no file" in run(tmp_path / "no.csv", "-m", "minkowski", code=2).stderr


def test_help_describes_a_file_of_objects():
    shown = " ".join(run("--help").stdout.replace("│", " ").split())
    assert "Table of objects" in shown
    assert "Matrix" not in shown


def test_the_state_of_the_earlier_batches_is_written_where_a_stream_ends_early(points, tmp_path):
    path, X, y = points
    header, *lines = path.read_text().splitlines(keepends=True)
    lines[50] = "p50,what,0,near\n"
    text, state = header + "".join(lines), tmp_path / "state.skops"
    options = ("--measure", "minkowski", "--batch", 20, "--components", 2, "-o", state)
    result = run("-", *options, code=2, input=text)
    assert "wrote the state" in result.stderr
    assert "'what'" in result.stderr
    model = stream_fit(IncrementalHLM(n_components=2, bounded=True, random_state=0), Minkowski())
    for start in (0, 20):
        model.partial_fit(X[start : start + 20], y[start : start + 20])
    np.testing.assert_array_equal(load(state).predict(X), model.predict(X))


def test_ctrl_c_leaves_the_state_before_the_batch_that_it_interrupts(points, tmp_path, monkeypatch):
    path, X, y = points
    update = IncrementalHLM.partial_fit

    def interrupted(self, *args, **options):
        update(self, *args, **options)
        if self.n_batches_ == 3:
            raise KeyboardInterrupt
        return self

    monkeypatch.setattr(IncrementalHLM, "partial_fit", interrupted)
    state = tmp_path / "state.skops"
    run(path, "--measure", "minkowski", "--batch", 20, "--components", 2, "-o", state, code=130)
    model = stream_fit(IncrementalHLM(n_components=2, bounded=True, random_state=0), Minkowski())
    for start in (0, 20):
        model.partial_fit(X[start : start + 20], y[start : start + 20])
    np.testing.assert_array_equal(load(state).predict(X), model.predict(X))
