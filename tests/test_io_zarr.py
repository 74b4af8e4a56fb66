"""Matrices in zarr stores: what is written is read, from memory or from disk; nothing of a store is executed."""

import json
import sys

import numpy as np
import pytest

from similis import FromMatrix, Pairwise, Proximity, read_proximity, write_proximity
from similis.exceptions import ProximityError

zarr = pytest.importorskip("zarr")
numcodecs = pytest.importorskip("numcodecs")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("mmap", [False, True])
def test_round_trip(tmp_path, rng, dtype, mmap):
    values = rng.normal(size=(7, 7)).astype(dtype)
    values[2, 3] = np.nan
    write_proximity(tmp_path / "m.zarr", values, ids=list("abcdefg"), kind="similarity", labels=[0, 1, 0, 1, 2, 2, 2])
    P = read_proximity(tmp_path / "m.zarr", mmap=mmap)
    assert isinstance(P.values, np.ndarray) != mmap
    assert P.values.dtype == dtype
    np.testing.assert_array_equal(P.values[:], values)
    assert (P.ids, P.kind, P.labels.tolist()) == (tuple("abcdefg"), "similarity", [0, 1, 0, 1, 2, 2, 2])
    assert f"7 x 7 similarity, {np.dtype(dtype)}" in repr(P)
    write_proximity(tmp_path / "copy.npz", P)
    np.testing.assert_array_equal(read_proximity(tmp_path / "copy.npz").values, values)
    write_proximity(tmp_path / "copy.zarr", P)
    np.testing.assert_array_equal(read_proximity(tmp_path / "copy.zarr").values, values)


def test_blocks_of_new_rows_and_stacks(tmp_path, rng):
    block = Proximity(rng.normal(size=(2, 3)), ids=["u", "v"], column_ids=list("abc"))
    write_proximity(tmp_path / "b.zarr", block)
    found = read_proximity(tmp_path / "b.zarr", square=False)
    assert (found.ids, found.column_ids) == (("u", "v"), ("a", "b", "c"))
    with pytest.raises(ProximityError, match=r"row and column ids must be the same|square"):
        read_proximity(tmp_path / "b.zarr")
    write_proximity(tmp_path / "s.zarr", rng.normal(size=(3, 3, 2)))
    assert read_proximity(tmp_path / "s.zarr").shape == (3, 3, 2)


def test_others_stores_are_read(tmp_path):
    zarr.create_array(str(tmp_path / "m.zarr"), data=np.arange(9).reshape(3, 3))
    assert read_proximity(tmp_path / "m.zarr").values.dtype == np.float64
    old = zarr.create_array(str(tmp_path / "old.zarr"), shape=(2, 2), dtype="f4", zarr_format=2)
    old[:] = 1
    np.testing.assert_array_equal(read_proximity(tmp_path / "old.zarr").values, np.ones((2, 2)))


def test_a_store_is_a_measure(tmp_path, rng):
    S = rng.normal(size=(6, 6))
    write_proximity(tmp_path / "m.zarr", S)
    stored = read_proximity(tmp_path / "m.zarr", mmap=True).values
    rows = Pairwise(FromMatrix(stored), symmetrize=True).fit([0, 2, 4]).transform([1, 5])
    np.testing.assert_allclose(rows, ((S + S.T) / 2)[np.ix_([1, 5], [0, 2, 4])])


def test_bad_stores(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_proximity(tmp_path / "m.zarr")
    with pytest.raises(FileNotFoundError):
        write_proximity(tmp_path / "nowhere" / "m.zarr", [[1.0]])
    (tmp_path / "empty.zarr").mkdir()
    (tmp_path / "file.zarr").write_text("{}")
    zarr.create_group(str(tmp_path / "group.zarr"))
    zarr.create_array(str(tmp_path / "line.zarr"), data=np.ones(4))
    zarr.create_array(str(tmp_path / "text.zarr"), data=np.array([["a"]]))
    for name, words in (
        ("empty", "not a readable zarr store"),
        ("file", "not a readable zarr store"),
        ("group", "must hold one array"),
        ("line", "shape"),
        ("text", "real numbers"),
    ):
        with pytest.raises(ProximityError, match=words) as caught:
            read_proximity(tmp_path / f"{name}.zarr")
        assert len(str(caught.value)) < 300
    with pytest.raises(ProximityError, match="finite numbers"):
        write_proximity(tmp_path / "inf.zarr", [[1.0, np.inf], [1.0, 1.0]])
    assert not (tmp_path / "inf.zarr").exists()


def test_filters_that_run_code_are_not_read(tmp_path):
    """Format 2 knows a filter that unpickles what it reads."""
    path = tmp_path / "m.zarr"
    path.mkdir()
    meta = {
        "zarr_format": 2, "shape": [1, 1], "chunks": [1, 1], "dtype": "<f8", "order": "C", "fill_value": 0.0,
        "compressor": None, "filters": [{"id": "pickle", "protocol": 5}],
    }  # fmt: skip
    (path / ".zarray").write_text(json.dumps(meta))
    (path / "0.0").write_bytes(b"cbuiltins\nexec\n(S'raise SystemExit(7)'\ntR.")
    with pytest.raises(ProximityError, match=r"has filters, which may run code|not a readable"):
        read_proximity(path)


def test_a_store_that_claims_to_be_huge_is_refused(tmp_path):
    zarr.create_array(str(tmp_path / "m.zarr"), shape=(10**6, 10**6), chunks=(1000, 1000), dtype="f8")
    with pytest.raises(ProximityError, match="more than max_bytes"):
        read_proximity(tmp_path / "m.zarr")
    assert read_proximity(tmp_path / "m.zarr", mmap=True).n == 10**6


def test_a_failed_write_leaves_the_old_store(tmp_path, monkeypatch):
    write_proximity(tmp_path / "m.zarr", np.eye(3), ids=list("abc"))
    import os

    real, calls = os.replace, []

    def fails_once(source, target):
        if os.fspath(target).endswith("m.zarr") and not calls:
            calls.append(target)
            raise KeyboardInterrupt
        real(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fails_once)
        with pytest.raises(KeyboardInterrupt):
            write_proximity(tmp_path / "m.zarr", np.zeros((2, 2)))
    assert os.listdir(tmp_path) == ["m.zarr"]
    np.testing.assert_array_equal(read_proximity(tmp_path / "m.zarr").values, np.eye(3))


def test_without_zarr_the_command_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    for call in (lambda: read_proximity(tmp_path / "m.zarr"), lambda: write_proximity(tmp_path / "m.zarr", [[1.0]])):
        with pytest.raises(ImportError, match=r"pip install 'similis\[zarr\]'"):
            call()


@pytest.mark.parametrize("packer", ["blosc", "bz2", "gzip", "lz4", "lzma", "zlib", "zstd"])
def test_packed_stores_of_others_are_read_and_held_to_the_size_of_a_chunk(tmp_path, rng, packer):
    values = rng.integers(0, 9, (30, 30)).astype(float)
    config = {"id": packer} if packer != "blosc" else {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}
    codec = numcodecs.get_codec(config)
    old = zarr.create_array(
        str(tmp_path / "m.zarr"), shape=(30, 30), chunks=(16, 16), dtype="f8", zarr_format=2, compressors=codec
    )
    old[:] = values
    for mmap in (False, True):
        np.testing.assert_array_equal(np.asarray(read_proximity(tmp_path / "m.zarr", mmap=mmap).values[...]), values)
    chunk = next(path for path in (tmp_path / "m.zarr").rglob("*") if path.name in ("1.1", "1"))
    whole = chunk.read_bytes()
    for bad in (codec.encode(bytes(16 * 16 * 8 + 8)), codec.encode(bytes(8)), b"", b"\0" * 40, whole[:1]):
        chunk.write_bytes(bad)
        with pytest.raises(ProximityError, match="does not unpack to 2048 bytes"):
            read_proximity(tmp_path / "m.zarr")
    if packer in ("gzip", "bz2", "lzma"):  # further streams behind the first
        chunk.write_bytes(whole + whole)
        with pytest.raises(ProximityError, match="does not unpack"):
            read_proximity(tmp_path / "m.zarr")


@pytest.mark.parametrize("packer", ["blosc", "gzip", "zstd"])
def test_packed_stores_of_format_3_are_held_to_the_size_of_a_chunk(tmp_path, packer):
    codec = {"blosc": zarr.codecs.BloscCodec, "gzip": zarr.codecs.GzipCodec, "zstd": zarr.codecs.ZstdCodec}[packer]()
    zarr.create_array(str(tmp_path / "m.zarr"), data=np.ones((4, 4)), chunks=(4, 4), compressors=codec)
    assert read_proximity(tmp_path / "m.zarr").values.all()
    (chunk,) = (path for path in (tmp_path / "m.zarr").rglob("0") if path.is_file())
    zarr.create_array(str(tmp_path / "large.zarr"), data=np.ones((400, 400)), chunks=(400, 400), compressors=codec)
    chunk.write_bytes(next(p for p in (tmp_path / "large.zarr").rglob("0") if p.is_file()).read_bytes())
    with pytest.raises(ProximityError, match="does not unpack to 128 bytes"):
        read_proximity(tmp_path / "m.zarr", mmap=True)


def test_shards_are_read_where_nothing_in_them_is_packed(tmp_path, rng):
    values = rng.normal(size=(4, 4))
    for name, packers in (("plain", None), ("packed", "auto")):
        zarr.create_array(
            str(tmp_path / f"{name}.zarr"), data=values, chunks=(2, 2), shards=(4, 4), compressors=packers
        )
    np.testing.assert_array_equal(read_proximity(tmp_path / "plain.zarr").values, values)
    with pytest.raises(ProximityError, match="compressed by 'sharding'"):
        read_proximity(tmp_path / "packed.zarr")
