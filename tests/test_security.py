"""Files made to do harm: nothing is executed, unpacked beyond bounds, or written elsewhere.

tests/test_io_malformed.py and tests/test_persistence.py hold the plain cases (pickles under every name, crafted
descriptions of models, damaged bytes); here are the ones that need a trick.
"""

import contextlib
import gzip
import io
import json
import os
import pickle
import resource
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from papers import read_results
from similis import ProximityError, StudyResult, load, read_proximity, save, write_proximity
from similis.io import read_objects

MEMORY = 3 * 2**30  # of address space, for a process that imports everything and unpacks nothing


@pytest.fixture
def canary(tmp_path):
    """An object whose unpickling would create a folder."""

    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    yield Evil()
    assert not (tmp_path / "executed").exists()


def refused(call, path, *, match="."):
    with pytest.raises(ValueError, match=match) as caught:
        call(path)
    text = str(caught.value)
    assert Path(path).name in text
    assert len(text) < 300
    assert "\n" not in text


# Pickles where they are not looked for


@pytest.mark.parametrize("place", ["compressor", "filters"])
def test_codec_of_a_zarr_store_that_unpickles(tmp_path, canary, place):
    pytest.importorskip("zarr")
    codec = {"id": "pickle", "protocol": 4}
    metadata = {"zarr_format": 2, "shape": [2, 2], "chunks": [2, 2], "dtype": "<f8", "fill_value": 0, "order": "C"}
    metadata |= {"compressor": None, "filters": None} | {place: [codec] if place == "filters" else codec}
    path = tmp_path / "m.zarr"
    path.mkdir()
    (path / ".zarray").write_text(json.dumps(metadata))
    (path / "0.0").write_bytes(pickle.dumps(canary))
    refused(read_proximity, path)


@pytest.mark.filterwarnings("ignore:pyarrow.PyExtensionType", "ignore:pickle-based")
def test_extension_type_of_a_parquet_file_that_unpickles(tmp_path, canary):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    about = {b"ARROW:extension:name": b"arrow.py_extension_type", b"ARROW:extension:metadata": pickle.dumps(canary)}
    schema = pa.schema([pa.field("a", pa.float64(), metadata=about)], metadata={b"pandas": pickle.dumps(canary)})
    pq.write_table(pa.table([pa.array([1.0])], schema=schema), tmp_path / "m.parquet")
    with contextlib.suppress(ProximityError):  # by older versions of pyarrow, which know the type and do not load it
        assert read_proximity(tmp_path / "m.parquet").n == 1


def test_pickled_arrays_inside_a_model(tmp_path, canary):
    """A model whose array was exchanged for one of pickled objects, and the same in a sparse matrix."""
    buffer = io.BytesIO()
    np.save(buffer, np.array([canary], dtype=object), allow_pickle=True)
    path = tmp_path / "m.skops"
    for model in (holder(np.eye(3)), holder(sparse.csr_array(np.eye(3)))):
        save(model, path)
        exchange(path, buffer.getvalue())
        refused(load, path, match="pickled|not a model file")


def test_joblib_under_another_name(tmp_path, canary):
    joblib = pytest.importorskip("joblib")
    for name, read in (("m.skops", load), ("m.npz", read_proximity), ("r.json", StudyResult.load)):
        for compress in (0, 3):
            joblib.dump(canary, tmp_path / name, compress=compress)
            refused(read, tmp_path / name)


def holder(value):
    from sklearn.svm import SVC

    model = SVC()
    model.extra_ = value
    return model


def exchange(path, content, inside="indices.npy"):
    """Put other bytes in the place of an array of a model file, or of an array of a sparse matrix in it."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = next(name for name in members if name.endswith((".npy", ".npz")))
    if name.endswith(".npz"):
        with zipfile.ZipFile(io.BytesIO(members[name])) as inner:
            parts = {part: inner.read(part) for part in inner.namelist()}
        content = archive_of(parts | {inside: content}, zipfile.ZIP_DEFLATED)
    path.write_bytes(archive_of(members | {name: content}))


def archive_of(members, kind=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", kind) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


# Bombs


def npy_head(shape, *, version=1, length=None):
    """An npy header that promises an array of this shape."""
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    size = struct.pack("<H" if version == 1 else "<I", len(text) if length is None else length)
    return b"\x93NUMPY" + bytes([version, 0]) + size + text


def bombs(folder):
    """Small files that would fill a memory: name, content, reader."""
    huge = (10**6, 10**6)
    zeros = b"\0" * 2**20
    yield "header.npz", packed({"values.npy": (npy_head((2, 2), version=2, length=2**32 - 1), zeros, 100)})
    yield "array.npz", lying_archive(npy_head((2**14, 2**15)), 2**32 - 2, zipfile.ZIP_DEFLATED)
    yield "stored.npz", lying_archive(npy_head((2**14, 2**14)), 2**31 + 128)
    yield "shape.npy", npy_head(huge)
    yield "shape.npz", archive_of({"values.npy": npy_head(huge)})
    yield "result.json.gz", gzip.compress(b'{"similis-study": 1, "x": "' + b" " * 10**8, 1)


def packed(members):
    """A zip archive with members that are a head and so many equal chunks."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, (head, chunk, times) in members.items():
            with archive.open(name, "w", force_zip64=True) as file:
                file.write(head)
                for _ in range(times):
                    file.write(chunk)
    return buffer.getvalue()


def lying_archive(content, declared, kind=zipfile.ZIP_STORED):
    """A member that is larger than the file, says the directory: as it is stored, or when it is unpacked."""
    data = bytearray(archive_of({"values.npy": content}, kind))
    central = data.index(b"PK\x01\x02")
    for place in (20, 24) if kind == zipfile.ZIP_STORED else (24,):
        struct.pack_into("<I", data, central + place, declared)
    return bytes(data)


READ = """
import resource, sys
from pathlib import Path
import similis
from similis import StudyResult, load, read_proximity
from similis.io import read_objects
readers = {".skops": load, ".json": StudyResult.load}
import pyarrow.parquet, zarr, similis.study, skops.io
resource.setrlimit(resource.RLIMIT_AS, 2 * (int(sys.argv[1]),))
for path in map(Path, sys.argv[2:]):
    end = path.suffixes[0]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        readers.get(end, read_proximity)(path)
        said = "read"
    except ValueError as error:
        said = str(error)
    print(path.name, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, said, sep="|")
"""


@pytest.mark.slow
def test_bombs_are_refused_before_they_go_off(tmp_path):
    """In a process with little memory: every file is refused, and none of them takes 64 MB."""
    pytest.importorskip("pyarrow")
    paths = []
    for name, content in bombs(tmp_path):
        (tmp_path / name).write_bytes(content)
        assert len(content) < 12 * 2**20
        paths.append(tmp_path / name)
    paths += [*zarr_bombs(tmp_path), *model_bombs(tmp_path)]
    command = [sys.executable, "-c", READ, str(MEMORY), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [line.split("|") for line in done.stdout.splitlines()]
    assert [name for name, *_ in lines] == [path.name for path in paths]
    for name, taken, said in lines:
        assert name in said, said
        assert "emory" not in said  # it was not the limit that stopped it
        assert len(said) < 300
        assert int(taken) < (2**16 if name != "result.json.gz" else 2**18), name


def zarr_bombs(folder):
    numcodecs = pytest.importorskip("numcodecs")
    about = {"zarr_format": 2, "dtype": "<f8", "compressor": None, "fill_value": 1.0, "order": "C", "filters": None}
    for name, shape, chunks in (("shape.zarr", [10**7] * 2, [1000] * 2), ("chunks.zarr", [2, 2], [10**7] * 2)):
        (folder / name).mkdir()
        (folder / name / ".zarray").write_text(json.dumps(about | {"shape": shape, "chunks": chunks}))
        yield folder / name
    zeros = bytes(2**28)
    for packer in (numcodecs.Zstd(), numcodecs.GZip(), numcodecs.BZ2(), numcodecs.LZMA(), numcodecs.Blosc()):
        store = folder / f"{packer.codec_id}.zarr"
        store.mkdir()
        about |= {"shape": [2, 2], "chunks": [2, 2], "compressor": packer.get_config()}
        (store / ".zarray").write_text(json.dumps(about))
        (store / "0.0").write_bytes(packer.encode(zeros))
        yield store


def model_bombs(folder):
    for name, value, content in (
        ("dense.skops", np.eye(3), npy_head((10**6, 10**6))),
        ("sparse.skops", sparse.csr_array(np.eye(3)), npy_head((10**6, 10**6))),
        ("header.skops", np.eye(3), npy_head((2, 2), version=2, length=2**32 - 1)),
    ):
        save(holder(value), folder / name)
        exchange(folder / name, content)
        yield folder / name


def test_an_archive_within_an_archive(tmp_path):
    inner = archive_of({"values.npy": b"x"})
    (tmp_path / "m.npz").write_bytes(archive_of({"values.npy": inner, "m.npz": inner}))
    refused(read_proximity, tmp_path / "m.npz")


# Paths


@pytest.mark.parametrize("name", ["../../outside", "/outside", "..\\outside", "a/../../outside", "C:\\outside"])
def test_members_with_paths_are_never_written(tmp_path, name):
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    buffer = io.BytesIO()
    np.save(buffer, np.eye(2))
    (folder / "m.npz").write_bytes(archive_of({f"{name}.npy": buffer.getvalue(), "values.npy": buffer.getvalue()}))
    assert read_proximity(folder / "m.npz").n == 2
    save(holder(np.eye(3)), folder / "m.skops")
    with zipfile.ZipFile(folder / "m.skops") as archive:
        members = {part: archive.read(part) for part in archive.namelist()}
    (folder / "m.skops").write_bytes(archive_of(members | {name: b"x"}))
    load(folder / "m.skops")
    found = sorted(str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*"))
    assert found == ["a", "a/b", "a/b/m.npz", "a/b/m.skops"]


def test_ids_with_slashes_name_no_files(tmp_path):
    ids = ["../../x", "/etc/passwd", "a/b", "..", "C:\\x"]
    for ending in ("csv", "npz", "npy", "parquet", "zarr"):
        folder = tmp_path / ending
        folder.mkdir()
        write_proximity(folder / f"m.{ending}", np.eye(5), ids=ids, labels=ids)
        assert list(read_proximity(folder / f"m.{ending}").ids) == ids
        beside = {f"m.{ending}"} | {"csv": {"m.labels.csv"}, "npy": {"m.npy.json"}}.get(ending, set())
        assert {p.name for p in folder.iterdir()} == beside
    assert {p.name for p in tmp_path.iterdir()} == {"csv", "npz", "npy", "parquet", "zarr"}


def test_results_of_tables_name_no_other_files(tmp_path):
    record = {"paper": "../../x", "table": "1", "date": "", "cells": [], "runs": 1}
    (tmp_path / "t.json").write_text(json.dumps(record))
    with pytest.raises(ProximityError, match=r"t\.json is not a results file"):
        read_results(tmp_path)


def test_this_process_has_no_limit_left():
    assert resource.getrlimit(resource.RLIMIT_AS)[0] != MEMORY


def test_text_that_python_cannot_hold(tmp_path):
    """Characters beyond Unicode in an array of text; found by fuzzing."""
    for key in ("ids", "labels", "kind"):
        text = np.array([0x110000, 65], dtype="<u4").view("<U1")
        np.savez(tmp_path / "m.npz", values=np.eye(2), **{key: text if key != "kind" else text[0:1].reshape(())})
        refused(read_proximity, tmp_path / "m.npz")


def test_ids_of_objects_name_their_file(tmp_path):
    (tmp_path / "x.csv").write_text("id,a\nu,1\nu,2\n")
    (tmp_path / "x.json").write_text('[{"id": "u", "object": 1}, {"id": "u", "object": 2}]')
    refused(read_objects, tmp_path / "x.csv", match="both 'u'")
    refused(read_objects, tmp_path / "x.json", match="both 'u'")
