"""Malformed and hostile files: one clear sentence that names the file and the place, and nothing is executed."""

import gc
import gzip
import io
import json
import os
import pickle
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from similis import Proximity, ProximityError, read_proximity, write_proximity
from similis.io import _containers

FUZZ = settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])


def refused(path, message=".", **options):
    with pytest.raises(ProximityError, match=message) as caught:
        read_proximity(path, **options)
    text = str(caught.value)
    assert path.name in text
    assert len(text) < 300
    assert "\n" not in text
    return text


TEXTS = {
    "empty": (b"", "is empty"),
    "blank": (b"\n \n\r\n", "is empty"),
    "only ids": (b"id,a,b\n", "no rows of numbers"),
    "ragged": (b"id,a,b\na,1,2\nb,3\n", r"line 3: .* Got 2, while line 2 has 3"),
    "long row": (b"id,a,b\na,1,2\nb,3,4,5\n", "line 3"),
    "bare ragged": (b"1,2\n3\n", "line 2"),
    "header too short": (b"a\na,1,2\nb,3,4\n", "line 1: it must name every column"),
    "duplicate ids": (b"id,a,a\na,1,2\na,3,4\n", "Rows 0 and 1 are both 'a'"),
    "other order": (b"id,a,b\nb,1,2\na,3,4\n", "Number 1 is 'b' among the rows and 'a' among the columns"),
    "not square": (b"id,a,b\na,1,2\n", "Got 1 rows and 2 columns"),
    "bare not square": (b"1,2\n", "Got 1 rows and 2 columns"),
    "text in a cell": (b"id,a,b\na,1,2\nb,high,4\n", "line 3, column 2: 'high' is not a number"),
    "underscore": (b"1,2\n1_0,4\n", "line 2, column 1: '1_0' is not a number"),
    "other digits": ("id,a\na,٣\n".encode(), "line 2, column 2: .* is not a number"),
    "infinity": (b"1,2\n3,-Infinity\n", "line 2, column 2: infinity is not a proximity"),
    "inf": (b"id,a\na,inf\n", "line 2, column 2: infinity"),
    "too large": (b"1,2\n3,1e999\n", "line 2, column 2: '1e999' is too large"),
    "hexadecimal": (b"1,2\n3,0x10\n", "line 2, column 2"),
    "decimal comma": (b',a,b\na,"0,5",1\nb,1,1\n', "Decimal commas are read in files with semicolons"),
    "latin-1": (b"id,Ren\xe9\nRen\xe9,1\n", "not UTF-8 text from about line 1"),
    "latin-1 below": (b"id,a\n" + b"\n" * 20000 + b"Ren\xe9,1\n", "not UTF-8 text"),
    "utf-16 without mark": ("id,a\na,1\n".encode("utf-16-le"), "NUL"),
    "utf-16 cut": ("id,a\na,1\n".encode("utf-16")[:-1], "not UTF-8 text"),
    "binary": (bytes(range(128)) * 4, "."),
    "random bytes": (np.random.default_rng(0).bytes(500), "."),
    "nul": (b"id,a\0\na\0,1\n", "NUL"),
    "open quote": (b'id,a\n"a,1\n', "line"),
    "quote inside": (b'id,a\n"a"b,1\n', "line 2"),
    "huge cell": (b"id," + b"a" * 200000 + b"\na,1\n", "line 1: field larger"),
    "empty id": (b"id,,b\n,1,2\nb,3,4\n", "must not be empty"),
    "one column": (b"a\nb\nc\n", "line 2: there is one cell per line"),
    "comments only": (b"# similarity\n# of nothing\n", "is empty"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_text(tmp_path, case):
    content, message = TEXTS[case]
    path = tmp_path / "m.csv"
    path.write_bytes(content)
    refused(path, message)
    packed = tmp_path / "m.csv.gz"
    packed.write_bytes(gzip.compress(content))
    refused(packed, message)


def test_labels_of_another_encoding(tmp_path):
    write_proximity(tmp_path / "m.npz", np.eye(2), ids=["a", "b"])
    (tmp_path / "y.csv").write_bytes(b"a,Ren\xe9\nb,x\n")
    with pytest.raises(ProximityError, match=r"y\.csv is not UTF-8"):
        read_proximity(tmp_path / "m.npz", labels=tmp_path / "y.csv")


def test_gzip_bomb(tmp_path):
    path = tmp_path / "m.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(30):
            file.write(b"1," * 500_000)
    tracemalloc.start()
    refused(path, "unpacks to more than 1000000 bytes", max_bytes=10**6)
    assert tracemalloc.get_traced_memory()[1] < 3e7
    tracemalloc.stop()


def test_truncated_gzip(tmp_path):
    path = tmp_path / "m.csv.gz"
    data = gzip.compress(b"1,2\n3,4\n")
    for end in (5, 12, len(data) - 3):
        path.write_bytes(data[:end])
        refused(path, "damaged|gzip")


@pytest.fixture
def canary(tmp_path):
    """An object whose unpickling would create a file."""

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    yield Evil()
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("key", ["values", "ids", "labels", "kind"])
def test_pickled_objects_are_refused(tmp_path, canary, key):
    parts = {"values": np.eye(2)} | {key: np.array([[canary, 1], [1, 1]], dtype=object)}
    np.savez(tmp_path / "m.npz", **parts)
    refused(tmp_path / "m.npz", "pickled Python objects, which are never read")


def test_pickles_are_refused_whatever_their_name(tmp_path, canary):
    np.save(tmp_path / "m.npy", np.array([[canary]], dtype=object), allow_pickle=True)
    refused(tmp_path / "m.npy", "pickled Python objects")
    refused(tmp_path / "m.npy", "pickled Python objects", mmap=True)
    np.savez(tmp_path / "o.npz", objects=np.array([canary], dtype=object))
    refused(tmp_path / "o.npz", "pickled Python objects")
    for name in ("p.npy", "p.npz", "p.csv", "p.parquet"):
        (tmp_path / name).write_bytes(pickle.dumps(canary))
        refused(tmp_path / name)


def npy_bytes(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def test_npy(tmp_path):
    path = tmp_path / "m.npy"
    good = npy_bytes(np.eye(3))
    for content, message in [
        (b"", "does not start as an npy array does"),
        (b"\x93NUMPY", "not a readable npy file|version"),
        (b"not an array", "does not start"),
        (good[:-1], "truncated or damaged"),
        (good[:60], "not a readable npy file"),
        (good + b"\0", "Got 73 bytes"),
        (good.replace(b"(3, 3)", b"(9,-3)"), "truncated or damaged"),
        (good.replace(b"(3, 3), }", b"(3, 99999999999999999999), }"), "."),
        (good.replace(b"\x93NUMPY\x01", b"\x93NUMPY\x09"), "version"),
        (good.replace(b"<f8", b"<c8"), "."),
        (npy_bytes(np.eye(3) * 1j), "real numbers"),
        (npy_bytes(np.array([["a"]])), "real numbers"),
        (npy_bytes(np.zeros(4)), "."),  # no condensed matrix has four pairs
        (npy_bytes(np.zeros((2, 3))), "square"),
        (npy_bytes(np.zeros((0, 0))), "shape"),
        (npy_bytes(np.array(1.0)), "."),
        (npy_bytes(np.array([[np.inf]])), "Got inf at row 0, column 0"),
        (npy_bytes(np.zeros((2, 2), [("a", "f8")])), "real numbers"),
        (npy_bytes(np.zeros((2, 2), "M8[s]")), "real numbers"),
    ]:
        path.write_bytes(content)
        refused(path, message)


def test_npy_that_declares_more_than_it_has(tmp_path):
    """The header asks for 8 exabytes; nothing of the kind is allocated."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000000), }"
    header += b" " * (117 - len(header)) + b"\n"
    path = tmp_path / "m.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + b"\0" * 64)
    refused(path, "truncated or damaged")
    refused(path, "truncated or damaged", mmap=True)
    with zipfile.ZipFile(tmp_path / "m.npz", "w") as archive:
        archive.write(path, "values.npy")
    refused(tmp_path / "m.npz", "truncated or damaged")


@pytest.mark.parametrize(
    "card, message",
    [
        (b"", "not a readable JSON file"),
        (b"\xff\xfe", "not a readable JSON file"),
        (b"[" * 100_000, "not a readable JSON file"),
        (b"[1]", "must be a sidecar written by similis"),
        (b'{"format": "similis proximity", "version": 2}', "version 1"),
        ({"shape": [2, 2]}, r"shape \[2, 2\]"),
        ({"ids": "ab"}, "'ids' must be a list"),
        ({"ids": ["a", "a", "b"]}, "both 'a'"),
        ({"ids": ["a", ["b"], "c"]}, "a collection among them"),
        ({"ids": ["a"]}, "Got 1 ids for 3 rows"),
        ({"kind": "kernel"}, "kind must be"),
        ({"kind": ["similarity"]}, "kind must be"),
        ({"labels": [1, "a", 2]}, "text, integers or booleans"),
        ({"labels": [{}, [], None]}, "text, integers or booleans"),
        ({"labels": [10**30, 1, 2]}, "text, integers or booleans"),
        ({"column_ids": ["a", "b", "c"], "ids": ["a", "c", "b"]}, "Number 2"),
    ],
)
def test_sidecar(tmp_path, card, message):
    gc.collect()  # finalizers of earlier tests would fail at the recursion limit that a nested card reaches
    write_proximity(tmp_path / "m.npy", np.eye(3))
    path = tmp_path / "m.npy.json"
    if isinstance(card, dict):
        card = json.dumps(json.loads(path.read_text()) | card).encode()
    path.write_bytes(card)
    refused(tmp_path / "m.npy", message)


def test_npz(tmp_path):
    path = tmp_path / "m.npz"
    write_proximity(path, np.eye(3), ids=["a", "b", "c"])
    good = path.read_bytes()
    for content in (b"", b"PK", good[:100], good[: len(good) // 2], good[:-10], b"x" * 1000):
        path.write_bytes(content)
        refused(path, "not a readable npz archive")
    np.savez(path, a=np.arange(4))
    refused(path, "must hold a square matrix of numbers. Got 'a'")
    np.savez(path)
    refused(path, "Got nothing")
    np.savez(path, values=np.eye(2), ids=np.array(["a", "a"]))
    refused(path, "both 'a'")
    np.savez(path, values=np.eye(2), labels=np.eye(2))
    refused(path, "vector")
    np.savez(path, values=np.eye(2), kind=np.array(["similarity", "x"]))
    refused(path, "kind must be")
    np.savez(path, values=np.eye(2), ids=np.eye(2))
    refused(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("values.npy", b"no array")
    refused(path, "does not start as an npy array does")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("values.npy", npy_bytes(np.eye(3)) + b"more")
    refused(path, "truncated or damaged")


def test_damaged_bytes_are_noticed(tmp_path):
    """The archive's own checksum is looked at to the end."""
    path = tmp_path / "m.npz"
    write_proximity(path, np.arange(9.0).reshape(3, 3))
    content = path.read_bytes().replace(np.float64(5).tobytes(), np.float64(6).tobytes())
    path.write_bytes(content)
    refused(path, "CRC")


def zip_bomb(path, declared):
    """A few kilobytes that unpack to 72 MB of zeros; `declared` lies about the size."""
    n = 3000
    head = npy_bytes(np.empty((0, n)))
    head = head.replace(f"(0, {n})".encode().ljust(14), f"({n}, {n})".encode().ljust(14))[:128]
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
        archive.open("values.npy", "w", force_zip64=True) as file,
    ):
        file.write(head)
        chunk = bytes(8 * n)
        for _ in range(n if declared is None else 1000):
            file.write(chunk)
    if declared is not None:
        data = bytearray(path.read_bytes())
        central = data.index(b"PK\x01\x02")
        struct.pack_into("<I", data, central + 24, declared)
        path.write_bytes(data)


@pytest.mark.parametrize("declared", [None, 1000, 128 + 8 * 3000**2])
def test_zip_bomb(tmp_path, declared):
    path = tmp_path / "m.npz"
    zip_bomb(path, declared)
    assert path.stat().st_size < 1e6
    tracemalloc.start()
    refused(path, "unpacks to|truncated|CRC", max_bytes=2**24)
    assert tracemalloc.get_traced_memory()[1] < 1e7
    tracemalloc.stop()


def test_an_uncompressed_archive_needs_no_limit(tmp_path):
    write_proximity(tmp_path / "m.npz", np.eye(100))
    assert read_proximity(tmp_path / "m.npz", max_bytes=10).n == 100


def test_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "m.parquet"
    write_proximity(path, np.eye(3), ids=["a", "b", "c"])
    good = path.read_bytes()
    for content in (b"", b"PAR1", good[:100], good[:-10], good[10:], b"x" * 1000):
        path.write_bytes(content)
        refused(path, "not a readable parquet file")
    for columns, message in [
        ({"id": ["a", "b"], "a": [1.0, 2.0]}, "Number 2|Got 2 rows and 1 columns"),
        ({"id": ["a", "b"], "a": ["u", "v"], "b": ["x", "y"]}, "must hold numbers beside one column of ids"),
        ({"id": ["a", "b"]}, "holds no matrix"),
        ({"id": pa.array([], pa.string()), "a": pa.array([], pa.float64())}, "holds no matrix"),
        ({"id": ["a", "a"], "a": [1.0, 2.0], "b": [1.0, 2.0]}, "both 'a'|Number 2"),
        ({"a": [[1.0], [2.0]], "b": [1.0, 2.0]}, "column 'a': it must hold numbers"),
        ({"a": [1.0, np.inf], "b": [1.0, 2.0]}, "inf at row 1, column 0"),
        ({"id": ["a", None], "a": [1.0, 2.0], "None": [1.0, 2.0]}, "row 1 has no id"),
    ]:
        pq.write_table(pa.table(columns), path)
        refused(path, message)
    pq.write_table(pa.table({str(j): np.zeros(100_000) for j in range(20)}), path)
    refused(path, "unpacks to 16000000 bytes", max_bytes=10**6)
    table = pa.table({"a": [1.0]})
    for card in (b"{", b"[1]", b'{"labels": 3}', b'{"kind": "x", "labels": ["a", "b"]}', b"\xff"):
        pq.write_table(table.replace_schema_metadata({b"similis": card}), path)
        refused(path)


def good_files(folder):
    rng = np.random.default_rng(0)
    P = Proximity(rng.normal(size=(3, 3)).round(2), ids=["a", "b c", "é"], kind="similarity", labels=["x", "y", "x"])
    files = {}
    for name in ("m.npz", "m.npy", "m.csv", "m.csv.gz", "m.parquet"):
        write_proximity(folder / name, P)
        files[name] = (folder / name).read_bytes()
    np.savez_compressed(folder / "c.npz", S=P.values, y=np.arange(3))
    files["c.npz"] = (folder / "c.npz").read_bytes()
    files["m.npy.json"] = (folder / "m.npy.json").read_bytes()
    files["m.labels.csv"] = (folder / "m.labels.csv").read_bytes()
    return files


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzz")
    return folder, good_files(folder)


def read_if_good(path, **options):
    """Read a file; only the documented error may come of it."""
    message = ""
    try:
        assert not np.isinf(read_proximity(path, **options).values).any()
    except ProximityError as error:
        message = str(error)
    assert len(message) < 300
    assert "\n" not in message


def mutate(data, content):
    """Cut, overwrite, insert or repeat a few stretches of bytes."""
    content = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content)))
        length = data.draw(st.integers(0, 12))
        new = data.draw(st.binary(max_size=8) | st.sampled_from([b",", b'"', b"\n", b"\0\0", b"PK", b"1e400", b"\xff"]))
        content[at : at + length] = new
    return bytes(content[: data.draw(st.integers(0, len(content)))]) if data.draw(st.booleans()) else bytes(content)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    "name", ["m.npz", "c.npz", "m.npy", "m.npy.json", "m.csv", "m.csv.gz", "m.labels.csv", "m.parquet"]
)
@FUZZ
@given(data=st.data())
def test_mutated_files_raise_nothing_else(stage, name, data):
    folder, files = stage
    path = {"m.npy.json": "m.npy", "m.labels.csv": "m.csv"}.get(name, name)
    (folder / name).write_bytes(mutate(data, files[name]))
    try:
        read_if_good(folder / path, square=data.draw(st.booleans()))
    finally:
        (folder / name).write_bytes(files[name])


@pytest.mark.parametrize("name", ["r.npz", "r.npy", "r.csv", "r.csv.gz", "r.parquet"])
@FUZZ
@given(content=st.binary(max_size=200))
def test_arbitrary_bytes_raise_nothing_else(stage, name, content):
    path = stage[0] / name
    path.write_bytes(content)
    read_if_good(path)


@FUZZ
@given(text=st.text(st.sampled_from(list('0123.e-+,;\t"\n\r abNn_∞inf')), max_size=60), square=st.booleans())
def test_arbitrary_text_raises_nothing_else(stage, text, square):
    path = stage[0] / "t.csv"
    path.write_bytes(text.encode())
    read_if_good(path, square=square)


def _hdf5(h5py, **options):
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", libver="latest") as file:
        file.create_dataset("D", data=np.eye(3), **options)
        file["ids"] = ["a", "b", "c"]
    return bytearray(buffer.getvalue())


def test_damaged_hdf5(tmp_path, monkeypatch):
    """Files that HDF5 2.0 reads in an endless loop, that crash it, or that fill the memory."""
    h5py = pytest.importorskip("h5py")
    monkeypatch.setattr(_containers, "_HDF5_SECONDS", 2.0)
    endless, crash, large = _hdf5(h5py), _hdf5(h5py, chunks=(2, 2), maxshape=(None, None)), _hdf5(h5py)
    endless[endless.index(b"GCOL") + 97] = 0  # less free space in the heap of texts: what follows has size 0
    crash[crash.index(b"BTHD") + 20] ^= 255  # in the chunk index
    address = large.index(b"GCOL").to_bytes(8, "little")
    large[large.index(address) - 1] = 0x20  # length of the first text: 512 MB
    for name, content in {"endless.h5": endless, "crash.h5": crash, "large.h5": large}.items():
        (tmp_path / name).write_bytes(content)
        refused(tmp_path / name, "is damaged: reading it with HDF5|is not a readable HDF5 file", max_bytes=2**24)


@pytest.mark.parametrize("program", ["", "/nowhere/python", "/bin/sh"])
def test_hdf5_is_read_without_an_interpreter(tmp_path, monkeypatch, program):
    """The check of a file needs a program that runs scripts; without one the file is read directly."""
    h5py = pytest.importorskip("h5py")
    (tmp_path / "m.h5").write_bytes(_hdf5(h5py))
    monkeypatch.setattr("sys.executable", program)
    assert read_proximity(tmp_path / "m.h5").ids == ("a", "b", "c")


def test_cells_of_matlab_are_not_searched_for_by_name(tmp_path, monkeypatch):
    """HDF5 finds the name of the target of a reference by a search of the whole file."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "m.mat", "w", userblock_size=512) as file:
        file["D"] = np.eye(3)
        cells = [file.create_dataset(f"#refs#/{name}", data=[[ord(name)]]).ref for name in "abc"]
        file.create_dataset("ids", data=np.array([cells], dtype=h5py.ref_dtype), dtype=h5py.ref_dtype)
    content = bytearray((tmp_path / "m.mat").read_bytes())
    content[:10] = b"MATLAB 7.3"
    (tmp_path / "m.mat").write_bytes(content)
    monkeypatch.setattr(h5py.Dataset, "name", property(lambda item: pytest.fail("the name was searched for")))
    assert read_proximity(tmp_path / "m.mat").ids == ("a", "b", "c")


@pytest.mark.parametrize("case", ["soft link", "path"])
def test_no_detour_to_another_hdf5_file(tmp_path, case):
    """A link of the file, or the path that it gives for the ids, must not lead through a link to another file."""
    h5py = pytest.importorskip("h5py")
    for name in ("m.h5ad", "other.h5ad"):
        write_proximity(tmp_path / name, Proximity(np.eye(2), ids=[name, "b"], kind="similarity"))
    with h5py.File(tmp_path / "m.h5ad", "a") as file:
        file["other"] = h5py.ExternalLink("other.h5ad", "/obs")
        if case == "path":
            file["obs"].attrs["_index"] = "/other/_index"
        else:
            del file["obs/_index"]
            file["obs/_index"] = h5py.SoftLink("/other/_index")
    refused(tmp_path / "m.h5ad", "_index' is a link")
