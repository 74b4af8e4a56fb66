"""Files of proximities are written whole or not at all, where they were asked for."""

import gzip
import json
import os

import numpy as np
import pytest
from formats import FORMATS, same
from scipy import sparse

from similis import Proximity, read_proximity, write_proximity


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("moment", ["fsync", "replace", "middle"])
def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch, name, moment):
    path = tmp_path / name
    write_proximity(path, np.eye(3), ids=list("abc"), kind="similarity")
    before = {file: (tmp_path / file).read_bytes() for file in os.listdir(tmp_path)}

    def fail(*args, **kwargs):
        raise KeyboardInterrupt

    new = Proximity(np.eye(4), ids=list("wxyz"))
    with monkeypatch.context() as patch:
        if moment == "middle":
            # the disk fills up: whatever the format, its bytes go through one temporary file
            class Full:
                def __init__(self, file):
                    self.file, self.left = file, 20

                def write(self, data):
                    self.left -= len(bytes(data))
                    if self.left < 0:
                        raise OSError(28, "No space left on device")
                    return self.file.write(data)

                def __getattr__(self, attribute):
                    return getattr(self.file, attribute)

                def __enter__(self):
                    return self

                def __exit__(self, *error):
                    self.file.close()

            patch.setattr("similis._utils.files.open", lambda *a: Full(open(*a)), raising=False)
        else:
            patch.setattr(os, moment, fail)
        with pytest.raises((KeyboardInterrupt, OSError)):
            write_proximity(path, new)
    after = {file: (tmp_path / file).read_bytes() for file in os.listdir(tmp_path)}
    assert after == before
    same(read_proximity(path), Proximity(np.eye(3), list("abc"), "similarity"))


def test_writing_through_a_link_keeps_the_link(tmp_path):
    real, link = tmp_path / "real.npz", tmp_path / "link.npz"
    write_proximity(real, [[1.0]])
    link.symlink_to(real)
    write_proximity(link, [[2.0]])
    assert link.is_symlink()
    assert read_proximity(real).values == 2.0


def test_new_files_follow_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        write_proximity(tmp_path / "m.npz", [[1.0]])
    finally:
        os.umask(old)
    assert (tmp_path / "m.npz").stat().st_mode & 0o777 == 0o640


def test_sidecar_is_plain_json(tmp_path):
    write_proximity(tmp_path / "m.npy", [[1.0]], ids=["é"], kind="similarity", labels=["x"])
    card = json.loads((tmp_path / "m.npy.json").read_text())
    assert card["ids"] == ["é"]
    assert card["kind"] == "similarity"
    assert card["labels"] == ["x"]


def test_given_parts_replace_those_of_the_matrix(tmp_path):
    P = Proximity(np.eye(2), ids=["a", "b"], labels=[1, 2])
    write_proximity(tmp_path / "m.npz", P, ids=["c", "d"], kind="similarity", labels=["x", "y"])
    same(read_proximity(tmp_path / "m.npz"), Proximity(np.eye(2), ["c", "d"], "similarity", ["x", "y"]))


@pytest.mark.parametrize("name", ["m.tsv", "m.tab", "m.tab.gz"])
def test_the_ending_names_the_delimiter(tmp_path, name):
    write_proximity(tmp_path / name, np.eye(2), ids=["a", "b"], kind="similarity")
    data = (tmp_path / name).read_bytes()
    text = gzip.decompress(data) if name.endswith("gz") else data
    assert text == b'similarity\t"a"\t"b"\n"a"\t1.0\t0.0\n"b"\t0.0\t1.0\n'
    assert read_proximity(tmp_path / name).ids == ("a", "b")


@pytest.mark.parametrize("name", ["m.npz", "m.h5ad", "m.edges", "m.csv"])
@pytest.mark.filterwarnings("ignore::similis.exceptions.InputWarning")
def test_a_sparse_similarity_keeps_its_zero_diagonal(tmp_path, name):
    if name == "m.h5ad":
        pytest.importorskip("h5py")
    S = np.array([[2, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=np.float32)  # object c shares nothing, not even with itself
    write_proximity(tmp_path / name, sparse.csr_array(S), ids=list("abc"), kind="similarity")
    P = read_proximity(tmp_path / name, absent="zero") if name != "m.csv" else read_proximity(tmp_path / name)
    assert P.ids == ("a", "b", "c")
    np.testing.assert_array_equal(P.to_dense(), S)
    if name != "m.csv":
        D = sparse.csr_array(np.array([[0, 1, 0], [1, 0, 2], [0, 2, 0.0]]))
        write_proximity(tmp_path / name, D, ids=list("abc"), kind="dissimilarity")
        np.testing.assert_array_equal(
            read_proximity(tmp_path / name).values, [[0, 1, np.nan], [1, 0, 2], [np.nan, 2, 0]]
        )
