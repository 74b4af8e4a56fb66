"""``similis complete``: where the matrix comes from and goes to, and what is refused."""

import csv
import io
import json

import numpy as np
import pytest
from test_cli_bad_input import refused
from test_cli_commands import run

from similis import complete_kernel, read_proximity, write_proximity

TEXT = "similarity,a,b,c\na,4,2,\nb,2,9,3\nc,,3,1\n"


@pytest.fixture
def folder(tmp_path, rng):
    (tmp_path / "holes.csv").write_text(TEXT)
    X = rng.normal(size=(8, 3))
    ids = [f"o{i}" for i in range(8)]
    K = X[:, :2] @ X[:, :2].T
    K[5:] = K[:, 5:] = np.nan
    write_proximity(tmp_path / "rows.npz", K, ids=ids, kind="similarity", labels=["x", "y"] * 4)
    back = np.arange(8)[::-1]
    write_proximity(tmp_path / "aux.csv", (X @ X.T)[np.ix_(back, back)], ids=ids[::-1], kind="similarity")
    return tmp_path


def test_scattered_entries(folder):
    printed = run("complete", folder / "holes.csv", "--mu", 0, "--psd").stdout
    assert printed == run("complete", "-", "--mu", 0, "--psd", stdin=TEXT).stdout
    rows = list(csv.reader(io.StringIO(printed)))
    assert rows[0] == ["similarity", "a", "b", "c"]
    assert float(rows[1][3]) == pytest.approx(2 / 3, abs=1e-6)
    assert [float(cell) for cell in rows[2][1:]] == [2, 9, 3]


def test_auxiliary_kernels_are_matched_by_id_and_labels_travel(folder):
    note = run("complete", folder / "rows.npz", "-a", folder / "aux.csv", "-o", folder / "whole.npz").stderr
    assert "39 of 64 entries by em" in note
    found, partial, aux = (read_proximity(folder / name) for name in ("whole.npz", "rows.npz", "aux.csv"))
    assert found.ids == partial.ids
    assert found.labels.tolist() == partial.labels.tolist()
    expected = complete_kernel(partial.values, aux.values[::-1, ::-1], "em")
    np.testing.assert_allclose(found.values, expected)


def test_objects_without_known_entries_are_counted(folder):
    """Without an auxiliary kernel nothing determines their entries."""
    said = " ".join(run("complete", folder / "rows.npz", "-o", folder / "w.npz").stderr.split())
    assert "3 objects have no known entry with another one, the first in row 5" in said
    assert "Leave them out, or give --auxiliary FILE." in said
    assert "no known entry" not in run("complete", folder / "rows.npz", "-a", folder / "aux.csv", "-o", "-").stderr
    assert "no known entry" not in run("complete", folder / "holes.csv").stderr
    said = refused("complete", folder / "rows.npz", "-a", folder / "rows.npz")
    assert "rows.npz: a matrix given as --auxiliary must have no missing entries" in said


def test_json(folder):
    found = json.loads(run("complete", folder / "holes.csv", "--json").stdout)
    assert found["method"] == "nuclear"
    assert found["missing"] == 2
    assert found["values"][1] == [2, 9, 3]
    fitted = json.loads(run("complete", folder / "holes.csv", "--method", "psd", "--fitted", "--json").stdout)
    assert min(np.linalg.eigvalsh(fitted["values"])) > -1e-9
    written = run("complete", folder / "holes.csv", "--json", "-o", folder / "w.csv").stdout
    assert json.loads(written)["output"].endswith("w.csv")


def test_refusals(folder):
    holes = folder / "holes.csv"
    assert "needs --auxiliary" in refused("complete", holes, "--method", "em")
    assert "reads no auxiliary" in refused("complete", holes, "--method", "psd", "-a", folder / "aux.csv")
    assert "no method 'magic'" in refused("complete", holes, "--method", "magic")
    assert "--mu" in refused("complete", holes, "--mu", "some")
    assert "mu" in refused("complete", holes, "--mu", "-1")
    assert "one of them only" in refused("complete", holes, "-a", folder / "aux.csv")
    assert "There is no file" in refused("complete", folder / "none.csv")
    assert "There is no folder" in refused("complete", holes, "-o", folder / "no" / "w.csv")
    (folder / "nothing.csv").write_text("similarity,a,b\na,,\nb,,\n")
    assert "at least one known" in refused("complete", folder / "nothing.csv")
    (folder / "no-kernel.csv").write_text("similarity,a,b,c\na,1,2,\nb,2,1,0\nc,,0,1\n")
    assert "psd=False" in refused("complete", folder / "no-kernel.csv", "--mu", 0, "--psd")
    (folder / "distances.csv").write_text("dissimilarity,a,b\na,0,\nb,1,0\n")
    assert "no kernel" in refused("complete", folder / "distances.csv", "--method", "psd")
