"""Files of other tools on the command line: options of pair lists, convert, metadata, inspect."""

import json
import tracemalloc

import numpy as np
import pytest
from scipy import sparse as sp
from test_pairs import HITS
from typer.testing import CliRunner

from similis import read_proximity, write_proximity
from similis.cli import app


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hits.m8").write_text(HITS)

    def run(*words, status=0):
        done = CliRunner().invoke(app, list(words))
        assert done.exit_code == status, done.output
        return done

    return run


def test_inspect_tells_what_was_read(run):
    done = run("inspect", "hits.m8")
    for words in (
        "read: format       alignment hits",
        "read: score        bitscore",
        "read: kind         similarity",
        "read: pairs        3 of 6 ordered pairs are present",
        "read: duplicates   1",
        "read: absent       zero",
    ):
        assert words in done.stdout
    assert "absent ones are zero" in done.stderr
    read = json.loads(run("inspect", "hits.m8", "--json", "--score", "evalue").stdout)["read"]
    assert (read["score"], read["kind"], read["aggregate"]) == ("evalue", "dissimilarity", "min")


def test_options_in_messages(run):
    assert "--absent must be" in run("inspect", "hits.m8", "--absent", "never", status=2).stderr
    assert "no column 'x'" in run("inspect", "hits.m8", "--score", "x", status=2).stderr
    error = run("inspect", "hits.m8", "--score", "evalue", "--absent", "zero", status=2).stderr
    assert "Use --absent 'missing', or a number" in error
    assert "There is no format 'x'" in run("inspect", "hits.m8", "--format", "x", status=2).stderr


def test_an_error_is_one_message(run, tmp_path):
    (tmp_path / "e.csv").write_text("source,target,weight\na,b,0.5\nb,c,0.25\n")
    error = run("inspect", "e.csv", status=2).stderr
    assert error.count("similis:") == 1
    assert "set --kind similarity" in error


def test_kind_and_absent_entries_are_printed(run, tmp_path):
    """Also where the format, the name of an array, or a sparse matrix decides them."""
    D = np.array([[0, 1, 2.0], [1, 0, 3], [2, 3, 0]])
    write_proximity("d.phylip", D, ids=list("abc"), kind="dissimilarity")
    write_proximity("d.lsmat", D, ids=list("abc"), kind="dissimilarity")
    np.savez("d.npz", K=9 - D)
    for name, words in {
        "d.phylip": "PHYLIP distance matrix, 3 objects, dissimilarity",
        "d.lsmat": "scikit-bio distance matrix, 3 objects, dissimilarity",
        "d.npz": "NumPy archive, 3 objects, similarity by the name of the array, 'K'",
    }.items():
        assert words in run("convert", name, "o.csv", "--overwrite").stderr
    sp.save_npz("s.npz", sp.csr_array(np.where(D > 2, 0, D)))
    done = run("convert", "s.npz", "o.csv", "--overwrite", "--kind", "dissimilarity").stderr
    assert "4 of 6 ordered pairs present, absent ones are missing" in done


def test_convert(run, tmp_path):
    run("convert", "hits.m8", "m.npz", "--absent", "-1", "--aggregate", "sum", "--score", "bitscore")
    P = read_proximity("m.npz")
    np.testing.assert_array_equal(P.values[0], [113, pytest.approx(70.4), -1])
    run("convert", "m.npz", "m.phylip", status=2)  # similarities
    D = np.array([[0, 1, 2.0], [1, 0, 3], [2, 3, 0]])
    write_proximity("d.npz", D, ids=list("abc"), kind="dissimilarity", labels=["x", "y", "x"])
    for name in ("d.phylip", "d.lsmat", "d.edges", "d.tsv"):
        run("convert", "d.npz", name, "--overwrite")
        run("convert", name, "back.npz")
        back = read_proximity("back.npz")
        np.testing.assert_array_equal(back.values, D)
        assert (back.ids, back.kind, back.labels.tolist()) == (("a", "b", "c"), "dissimilarity", ["x", "y", "x"])
    run("convert", "d.npz", "near.edges", "--top", "1")
    lines = (tmp_path / "near.edges").read_text().splitlines()
    assert lines[1:] == ["a\ta\t0.0", "a\tb\t1.0", "b\ta\t1.0", "b\tb\t0.0", "c\ta\t2.0", "c\tc\t0.0"]


def test_metadata(run, tmp_path):
    rng = np.random.default_rng(0)
    D = np.abs(rng.normal(size=(12, 1)) - rng.normal(size=12))
    D = D + D.T
    np.fill_diagonal(D, 0)
    write_proximity("d.npz", D, ids=[f"s{i}" for i in range(12)], kind="dissimilarity")
    lines = ["sample\tclass\tbatch", *(f"s{i}\t{'xy'[i % 2]}\tb{i % 3}" for i in range(2, 14))]
    (tmp_path / "samples.tsv").write_text("\n".join(lines))
    done = run("inspect", "d.npz", "--metadata", "samples.tsv", "--label-column", "class")
    assert "2 of 12 objects have no label and are left out; 2 ids are not among the objects" in done.stderr
    assert "classes" in done.stdout
    done = run("convert", "d.npz", "some.npz", "--metadata", "samples.tsv", "--subset", "batch=b0|b1")
    assert "--subset batch=b0|b1: 6 of 12 objects are kept" in done.stderr
    assert read_proximity("some.npz").ids == ("s3", "s4", "s6", "s7", "s9", "s10")
    both = ("--subset", "batch=b1", "--subset", "class=x", "--label-column", "class", "--id-column", "sample")
    run("convert", "d.npz", "few.npz", "--metadata", "samples.tsv", *both)
    few = read_proximity("few.npz")
    assert (few.ids, few.labels.tolist()) == (("s4", "s10"), ["x", "x"])
    assert (
        "Values of 'batch': b0, b1, b2."
        in run("inspect", "d.npz", "--metadata", "samples.tsv", "--subset", "batch=b9", status=2).stderr
    )
    (tmp_path / "batches.csv").write_text("id,batch\n" + "".join(f"s{i},batch{i:03d}\n" for i in range(12)))
    many = run("inspect", "d.npz", "--metadata", "batches.csv", "--subset", "batch=b9", status=2).stderr
    assert "batch005, batch006, and others." in " ".join(many.split())
    assert "give both" in run("inspect", "d.npz", "--subset", "batch=b1", status=2).stderr
    assert "COLUMN=VALUE" in run("inspect", "d.npz", "--metadata", "samples.tsv", "--subset", "b1", status=2).stderr


def test_labels_and_groups_of_one_table_are_counted_apart(run, tmp_path):
    write_proximity("d.npz", 1 - np.eye(30), ids=[f"s{i}" for i in range(30)], kind="dissimilarity")
    labels = ["NA"] * 4 + ["x", "y"] * 12
    groups = ["g"] * 3 + [""] * 3 + ["g", "g", "h", "h", "i", "i"] * 4
    lines = [f"s{i}\t{y}\t{group}" for i, (y, group) in enumerate(zip(labels, groups))][:28]
    (tmp_path / "samples.tsv").write_text("\n".join(["sample\tclass\tsite", *lines]))
    source = ("d.npz", "--metadata", "samples.tsv", "--label-column", "class", "--group-column", "site")
    done = run("study", *source, "--method", "nc", "--splits", "2", "--json")
    assert "6 of 30 objects have no label and are left out (2 not in the file)" in done.stderr
    assert "5 of 30 objects have no group and are left out (2 not in the file)" in done.stderr
    assert "not among the objects" not in done.stderr
    assert json.loads(done.stdout)["objects"] == 22
    (tmp_path / "samples.tsv").write_text("sample\tclass\tsite\ns0\tx\tNA\ns1\tNA\tg\n")
    assert "No object has both a label" in run("study", *source, "--method", "nc", status=2).stderr


def test_predict_new_hits(run, tmp_path):
    names = [f"t{i}" for i in range(8)]
    lines = [f"{a}\t{b}\t{50 if i % 2 == j % 2 else 5}" for i, a in enumerate(names) for j, b in enumerate(names)]
    (tmp_path / "train.tsv").write_text("query\ttarget\tbits\n" + "\n".join(lines))
    (tmp_path / "y.csv").write_text("id,label\n" + "\n".join(f"{a},{'xy'[i % 2]}" for i, a in enumerate(names)))
    run("fit", "train.tsv", "--labels", "y.csv", "--method", "knn", "-o", "m.skops")
    new = [f"n{k}\t{b}\t{50 if k == j % 2 else 5}" for k in range(2) for j, b in enumerate(names)]
    (tmp_path / "new.tsv").write_text("query\ttarget\tbits\n" + "\n".join(new))
    out = json.loads(run("predict", "m.skops", "new.tsv", "--json").stdout)["predictions"]
    assert [(row["id"], row["label"]) for row in out] == [("n0", "x"), ("n1", "y")]
    # training objects that no new object hits, and a line of an object that the model does not know
    (tmp_path / "few.tsv").write_text("query\ttarget\tbits\nn0\tt1\t50\nn0\tz\t90\nn1\tt0\t50\n")
    out = json.loads(run("predict", "m.skops", "few.tsv", "--json").stdout)["predictions"]
    assert [(row["label"], row["score"]) for row in out] == [("y", 50), ("x", 50)]
    (tmp_path / "others.tsv").write_text("query\ttarget\tbits\nn0\tz\t90\n")
    assert "8 are missing, such as 't0'" in run("predict", "m.skops", "others.tsv", status=2).stderr


@pytest.mark.parametrize("ending", [".phylip", ".lsmat", ".edges", ".h5ad", ".tsv", ".npz", ".npy", ".parquet"])
def test_a_matrix_of_every_format_is_replaced_by_another(tmp_path, ending):
    if ending == ".h5ad":
        pytest.importorskip("h5py")
    D = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    write_proximity(tmp_path / "D.csv", D, ids=list("abcd"), kind="dissimilarity")
    for _ in range(2):
        done = CliRunner().invoke(app, ["convert", str(tmp_path / "D.csv"), str(tmp_path / f"out{ending}")])
        assert done.exit_code == 0, done.output
    (tmp_path / "report.npz").write_text("<!doctype html>")
    done = CliRunner().invoke(app, ["convert", str(tmp_path / "D.csv"), str(tmp_path / "report.npz")])
    assert done.exit_code == 2


def test_a_format_that_is_not_written_is_rejected_before_anything_is_computed(tmp_path):
    (tmp_path / "words.csv").write_text("id,text\na,x\nb,y\n")
    arguments = ["measure", str(tmp_path / "words.csv"), "-m", "no-such-measure", "-o", str(tmp_path / "out.xlsx")]
    done = CliRunner().invoke(app, arguments)
    assert "format xlsx are read, but not written. Use .npz" in " ".join(done.output.split())


def test_predict_unlabeled(run, tmp_path):
    rng = np.random.default_rng(0)
    points = rng.normal(size=(30, 2)) + 6 * (np.arange(30) % 2)[:, None]
    D = np.linalg.norm(points[:, None] - points, axis=2)
    write_proximity("d.npz", D, ids=[f"s{i}" for i in range(30)], kind="dissimilarity")
    lines = ["sample\tclass\tbatch", *(f"s{i}\t{'NA' if i < 6 else 'xy'[i % 2]}\tb{i // 4}" for i in range(30))]
    (tmp_path / "samples.tsv").write_text("\n".join(lines))
    words = ("fit", "d.npz", "--metadata", "samples.tsv", "--label-column", "class", "--method", "knn", "--splits", "3")
    done = run(*words, "--predict-unlabeled", "new.tsv")
    assert "6 of 30 objects have no label" in done.stderr
    assert "wrote predictions of 6 objects without a label to new.tsv" in done.stderr
    header, *rows = (line.split("\t") for line in (tmp_path / "new.tsv").read_text().splitlines())
    assert header == ["id", "label", "p(x)", "p(y)", "score", "outlier_p"]
    assert [row[:2] for row in rows] == [[f"s{i}", "xy"[i % 2]] for i in range(6)]
    kept = "b1|b2|b3|b4|b5"
    run(*words, "--predict-unlabeled", "some.csv", "--subset", f"batch={kept}", "-o", "m2.skops")
    assert len((tmp_path / "some.csv").read_text().splitlines()) == 3  # s4 and s5
    done = run("fit", "d.npz", "--labels", "y.csv", "--predict-unlabeled", "d.npz", status=2)


@pytest.mark.parametrize("kind", ["similarity", "dissimilarity"])
def test_sparse_matrices_are_converted_without_a_dense_copy(run, tmp_path, kind, monkeypatch):
    lines = [f"p{i}\tp{j}\t{abs(i - j) % 7 + 1}" for i in range(40) for j in range(40) if (i * j) % 5 == 0]
    (tmp_path / "e.tsv").write_text(f"source\ttarget\t{kind}\n" + "\n".join(lines))
    absent = "zero" if kind == "similarity" else "missing"
    dense = read_proximity("e.tsv", absent=absent)
    monkeypatch.setattr("similis.io._pairs._DENSE", 0)
    monkeypatch.setattr("similis.io._pairs._SPARSE", 0.9)

    def never(self):
        raise AssertionError("made dense")

    with monkeypatch.context() as patch:
        patch.setattr("similis.Proximity.to_dense", never)
        for name in ("s.npz", "s.npy", "s.edges", "s.h5ad"):
            if name.endswith("h5ad"):
                pytest.importorskip("h5py")
            run("convert", "e.tsv", name, "--absent", absent)
        run("convert", "e.tsv", "top.npz", "--absent", absent, "--top", "3")
    for name in ("s.npz", "s.npy", "s.edges", "s.h5ad"):
        options = {"absent": absent} if name.endswith("edges") else {"directed": True}
        np.testing.assert_array_equal(read_proximity(name, **options).to_dense(), dense.values)
    top = read_proximity("top.npz", directed=True)
    assert top.values.nnz <= 4 * 40


@pytest.mark.slow
def test_a_large_text_file_is_converted_in_bounded_memory(run, monkeypatch, rng):
    """Rows go through a scratch file: far less memory is used than the matrix has."""
    D = np.abs(np.subtract.outer(*[rng.random(1500).round(3)] * 2)).round(3)
    write_proximity("d.csv", D, ids=range(1500), kind="dissimilarity")
    for name, size in (("_IN_MEMORY", 2**16), ("_WRITTEN", 2**14)):
        monkeypatch.setattr(f"similis.io._text.{name}", size)
    monkeypatch.setattr("similis._utils.threads.row_blocks.__defaults__", (2**14,))
    tracemalloc.start()
    run("convert", "d.csv", "d.npy")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(read_proximity("d.npy").values, D)
    assert peak < D.nbytes / 2


def test_rows_in_a_scratch_file(tmp_path, monkeypatch):
    D = np.abs(np.subtract.outer(np.arange(9.0), np.arange(9.0)))
    write_proximity(tmp_path / "d.csv", D, ids=list("abcdefghi"), kind="dissimilarity")
    monkeypatch.setattr("similis.io._text._IN_MEMORY", 200)
    monkeypatch.setattr("similis.io._text._WRITTEN", 150)
    P = read_proximity(tmp_path / "d.csv")
    assert isinstance(P.values, np.memmap)
    np.testing.assert_array_equal(P.values, D)
    write_proximity(tmp_path / "d.zarr", P)
    np.testing.assert_array_equal(read_proximity(tmp_path / "d.zarr").values, D)
