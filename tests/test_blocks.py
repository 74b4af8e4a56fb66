"""Matrices measured block by block into a file: right, resumable, and clear about what went wrong."""

import errno
import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

from similis import (
    HVDM,
    VDM,
    Alignment,
    Counting,
    FromFunction,
    Pairwise,
    TverskyContrast,
    read_proximity,
    write_proximity,
)
from similis.distributed import measure_to_disk
from similis.distributed._measure import Plan, tile_size
from similis.exceptions import ProximityError
from similis.io import BlockFile

FORMATS = ["S.npy", pytest.param("S.zarr", marks=pytest.mark.filterwarnings("ignore"))]


@pytest.fixture(autouse=True)
def _needs_zarr(request):
    if "zarr" in request.node.name:
        pytest.importorskip("zarr")


@pytest.fixture
def X(rng):
    return rng.integers(0, 3, (61, 9))


def gap(x, z):
    return abs(len(x) - len(z)) + (x < z) / 4


def picky(x, z):
    if "bad" in (x, z):
        raise ValueError("no vowels")
    return float(abs(len(x) - len(z)))


WORDS = [f"{'a' * (i % 7)}{i}" for i in range(40)]


# the plan


@pytest.mark.parametrize("n, size", [(1, 1), (10, 3), (10, 10), (10, 64), (12, 4)])
@pytest.mark.parametrize("half", [True, False])
def test_tiles_cover_every_pair_once(n, size, half):
    seen = np.zeros((n, n), dtype=int)
    for tile in Plan(n, size, half).tiles:
        seen[tile.rows, tile.columns] += 1
        if half and not tile.diagonal:
            seen[tile.columns, tile.rows] += 1
    assert (seen == 1).all()


def test_tiles_of_slow_measures_are_small_and_of_fast_ones_large():
    assert tile_size(lambda k: time.sleep(2e-3 * k * k), 10**6, seconds=0.2) == 64
    assert tile_size(lambda k: None, 10**6) == 4096
    assert tile_size(lambda k: None, 100) == 100


# the same as in memory


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("size", [1, 7, 20, 61, 100, None])
def test_blocks_are_the_matrix(tmp_path, X, name, size):
    P = measure_to_disk(tmp_path / name, X, measure=Counting(), block_size=size if size != 1 or "npy" in name else 30)
    assert not isinstance(P.values, np.ndarray) or isinstance(P.values, np.memmap)
    np.testing.assert_array_equal(P.values[:], Pairwise(Counting()).fit_transform(X))
    assert os.listdir(tmp_path) in (["S.zarr"], ["S.npy", "S.npy.json"], ["S.npy.json", "S.npy"])


@pytest.mark.parametrize("name", FORMATS)
def test_asymmetric_measures_are_not_mirrored_unless_asked(tmp_path, name):
    measure = FromFunction(gap, kind="dissimilarity")
    expected = np.array([[gap(x, z) for z in WORDS] for x in WORDS])
    P = measure_to_disk(tmp_path / name, WORDS, measure=measure, block_size=16)
    np.testing.assert_array_equal(P.values[:], expected)
    Q = measure_to_disk(tmp_path / f"both{name}", WORDS, measure=measure, block_size=16, symmetrize=True)
    np.testing.assert_array_equal(Q.values[:], (expected + expected.T) / 2)


def test_symmetric_measures_cost_half(tmp_path):
    for symmetric, most in ((True, 40 * 41 / 2), (False, 40 * 40)):
        calls = []
        measure = FromFunction(lambda x, z, calls=calls: calls.append(0) or 1.0, symmetric=symmetric)
        measure_to_disk(tmp_path / f"{symmetric}.npy", WORDS, measure=measure, block_size=8)
        assert most <= len(calls) <= most + 2  # one or two to learn the type


@pytest.mark.parametrize("name", FORMATS)
def test_everything_is_recorded(tmp_path, X, name):
    y = np.where(X[:, 0] > 1, "u", "v")
    ids = [f"o{i}" for i in range(len(X))]
    measure_to_disk(tmp_path / name, X, y, measure=VDM(), ids=ids, dtype="float32", block_size=20)
    P = read_proximity(tmp_path / name)
    assert (P.kind, P.ids, P.values.dtype) == ("dissimilarity", tuple(ids), np.float32)
    assert P.labels.tolist() == y.tolist()
    card = BlockFile(tmp_path / name, 61, "<f4", 20).card()
    assert card["measure"] == "VDM()"
    assert len(card["fingerprint"]) == 32
    assert len(card["times"]) == 10
    np.testing.assert_allclose(P.values, Pairwise(VDM()).fit_transform(X, y), rtol=1e-6)


def test_float32_stays_float32(tmp_path, rng):
    from similis import Minkowski

    points = rng.normal(size=(20, 3))
    for kind in (np.float32, np.float64):
        P = measure_to_disk(tmp_path / f"{kind.__name__}.npy", points.astype(kind), measure=Minkowski(), block_size=7)
        assert P.values.dtype == Pairwise(Minkowski()).fit_transform(points.astype(kind)).dtype
    with pytest.raises(ProximityError, match=r"float32 or float64\. Got <class 'int'>"):
        measure_to_disk(tmp_path / "i.npy", points, measure=Minkowski(), dtype=int)


def test_sets_and_one_object(tmp_path):
    X = [{"a", "b"}, {"b"}, {"c"}]
    P = measure_to_disk(tmp_path / "S.npy", X, measure=TverskyContrast(alpha=0.2, beta=0.7), block_size=2)
    np.testing.assert_allclose(P.values, Pairwise(TverskyContrast(alpha=0.2, beta=0.7)).fit_transform(X))
    assert measure_to_disk(tmp_path / "one.npy", [[1, 2]], measure=Counting()).values.tolist() == [[2]]


# resume


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("version_1", [False, True])
@pytest.mark.parametrize("name", ["S.npy", pytest.param("S.zarr", marks=pytest.mark.slow)])
def test_a_kill_costs_no_finished_block(tmp_path, name, version_1):
    (tmp_path / "job.py").write_text(
        textwrap.dedent(
            """
            import sys, time
            from similis import FromFunction
            from similis.distributed import measure_to_disk

            def slow(x, z):
                time.sleep(float(sys.argv[2]))
                return abs(x - z)

            measure = FromFunction(slow, kind="dissimilarity", symmetric=True)
            measure_to_disk(sys.argv[1], list(range(40)), measure=measure, block_size=5)
            """
        )
    )
    target = tmp_path / name
    journal = tmp_path / f"{name}.part.jsonl"
    first = subprocess.Popen([sys.executable, tmp_path / "job.py", target, "0.01"])
    deadline = time.monotonic() + 60
    while not (journal.exists() and journal.read_text().count("time") >= 3) and time.monotonic() < deadline:
        time.sleep(0.05)
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert not target.exists()
    before = [json.loads(line) for line in journal.read_text().splitlines()[1:]]
    assert 3 <= len(before) < 36
    chunks = {p: p.stat().st_mtime_ns for p in tmp_path.glob("S.zarr.part/c/*/*")}
    if version_1:  # which wrote no checksums
        lines = [json.loads(line) for line in journal.read_text().splitlines()]
        journal.write_text("".join(json.dumps({k: line[k] for k in line if k != "crc"}) + "\n" for line in lines))
    journal.write_text(journal.read_text() + '{"block": 3')  # torn
    subprocess.run([sys.executable, tmp_path / "job.py", target, "0"], check=True)
    np.testing.assert_array_equal(read_proximity(target).values, abs(np.subtract.outer(np.arange(40), np.arange(40))))
    times = BlockFile(target, 40, "<f8", 5).card()["times"]
    for entry in before:
        assert times[entry["block"]] == entry["time"]
    done = {entry["block"] for entry in before}
    tiles = Plan(40, 5, True).tiles
    for path, stamp in chunks.items():
        i, j = sorted(map(int, path.parts[-2:]))
        if next(t.number for t in tiles if (t.rows.start, t.columns.start) == (5 * i, 5 * j)) in done:
            assert (target / "c" / path.parts[-2] / path.parts[-1]).stat().st_mtime_ns == stamp


def test_a_finished_matrix_is_not_measured_again(tmp_path, X):
    first = measure_to_disk(tmp_path / "S.npy", X, measure=Counting(), block_size=20)
    stamp = os.stat(tmp_path / "S.npy").st_mtime_ns
    again = measure_to_disk(tmp_path / "S.npy", X, measure=Counting(), block_size=9)
    assert os.stat(tmp_path / "S.npy").st_mtime_ns == stamp
    np.testing.assert_array_equal(first.values, again.values)


# bad input


@pytest.mark.parametrize("name", FORMATS)
def test_a_store_of_another_fingerprint_is_refused(tmp_path, X, name):
    measure_to_disk(tmp_path / name, X, measure=Counting())
    for other, options in ((X[::-1], {}), (X, {"dtype": "float32"}), (X, {"measure": Counting(missing="mismatch")})):
        with pytest.raises(ProximityError, match=r"S\.(npy|zarr) exists and holds other objects, another measure"):
            measure_to_disk(tmp_path / name, other, **{"measure": Counting(), **options})
    P = measure_to_disk(tmp_path / name, X[::-1], measure=Counting(), overwrite=True)
    np.testing.assert_array_equal(P.values[:], Pairwise(Counting()).fit_transform(X[::-1]))
    write_proximity(tmp_path / "mine.npy", np.eye(2))
    with pytest.raises(ProximityError, match="exists and holds other objects"):
        measure_to_disk(tmp_path / "mine.npy", X, measure=Counting())


@pytest.mark.parametrize("measure", [VDM(), HVDM()])
def test_other_labels_are_another_matrix(tmp_path, X, measure):
    rows, y = X.astype(str).tolist(), X[:, 0] % 2
    options = {"measure": measure, "labels": y}
    measure_to_disk(tmp_path / "S.npy", rows, y, **options)
    with pytest.raises(ProximityError, match="holds other objects, another measure"):
        measure_to_disk(tmp_path / "S.npy", rows, y[::-1], **options)
    P = measure_to_disk(tmp_path / "S.npy", rows, y[::-1], overwrite=True, **options)
    np.testing.assert_array_equal(P.values, Pairwise(measure).fit_transform(rows, y[::-1]))


@pytest.mark.parametrize("name", FORMATS)
def test_a_begun_store_of_other_objects_is_refused(tmp_path, name):
    measure = FromFunction(picky, kind="dissimilarity", symmetric=True)
    with pytest.raises(ProximityError, match="rejects object 7"):
        measure_to_disk(tmp_path / name, [*WORDS[:7], "bad", *WORDS[8:]], measure=measure, block_size=10)
    with pytest.raises(ProximityError, match=r"S\.(npy|zarr)\.part was started for other objects"):
        measure_to_disk(tmp_path / name, WORDS[::-1], measure=measure, block_size=10)
    for other, options in ((WORDS[:30], {}), (WORDS, {"dtype": "float32"})):  # whose files have another size
        with pytest.raises(ProximityError, match=r"S\.(npy|zarr)\.part was started for other objects"):
            measure_to_disk(tmp_path / name, other, measure=measure, **options)
    P = measure_to_disk(tmp_path / name, WORDS[:30], measure=measure, block_size=8, overwrite=True)
    np.testing.assert_array_equal(P.values[:], [[picky(x, z) for z in WORDS[:30]] for x in WORDS[:30]])
    assert BlockFile(tmp_path / name, 30, "<f8", 8).card()["block_size"] == 8


@pytest.mark.parametrize("name", FORMATS)
def test_a_refused_object_is_named_and_the_rest_is_kept(tmp_path, name):
    words = [*WORDS[:17], "bad", *WORDS[18:]]
    measure = FromFunction(picky, kind="dissimilarity", symmetric=True)
    options = {"measure": measure, "block_size": 10, "ids": [f"w{i}" for i in range(40)]}
    message = r"Block 1 of 10: FromFunction rejects object 17, 'w17': no vowels. 6 blocks are kept; fix it"
    with pytest.raises(ProximityError, match=message) as caught:
        measure_to_disk(tmp_path / name, words, **options)
    assert len(str(caught.value)) < 300
    kept = [json.loads(line) for line in (tmp_path / f"{name}.part.jsonl").read_text().splitlines()[1:]]
    kept = {line["block"]: line["time"] for line in kept if "time" in line}
    assert len(kept) == 6
    P = measure_to_disk(tmp_path / name, WORDS, **options)  # mended
    np.testing.assert_array_equal(P.values[:], [[picky(x, z) for z in WORDS] for x in WORDS])
    times = BlockFile(tmp_path / name, 40, "<f8", 10).card()["times"]
    assert {number: times[number] for number in kept} == kept


def test_a_measure_that_stores_lookup_tables_only_resumes_after_a_fix(tmp_path):
    pytest.importorskip("parasail")
    sequences, path = ["MKV", "MKA", "M?V", "KVA"], tmp_path / "S.npy"
    with pytest.raises(ProximityError, match=r"rejects object 2.* 1 blocks are kept; fix it"):
        measure_to_disk(path, sequences, measure=Alignment(), block_size=2)
    P = measure_to_disk(path, ["MKV", "MKA", "MLV", "KVA"], measure=Alignment(), block_size=2)
    np.testing.assert_array_equal(P.values, Alignment().matrix(["MKV", "MKA", "MLV", "KVA"]))


def pair_417():
    """Two objects that meet in block 417 of 465, and nowhere else."""
    tile = Plan(60, 2, True).tiles[417]
    return tile.rows.start + 1, tile.columns.start


@pytest.mark.parametrize("name", ["S.npy", pytest.param("S.zarr", marks=pytest.mark.slow)])
def test_a_refusal_in_block_417_is_named_and_the_rest_is_kept(tmp_path, name):
    i, j = pair_417()

    def quarrel(x, z):
        if {x, z} == {i, j}:
            raise ValueError("not together")
        return float(abs(x - z))

    measure = FromFunction(quarrel, kind="dissimilarity", symmetric=True)
    message = rf"Block 417 of 465: FromFunction rejects the pair \({i}; {j}\): not together\. 464 blocks are kept"
    with pytest.raises(ProximityError, match=message):
        measure_to_disk(tmp_path / name, list(range(60)), measure=measure, block_size=2)
    entries = [json.loads(line) for line in (tmp_path / f"{name}.part.jsonl").read_text().splitlines()[1:]]
    assert {line["block"] for line in entries if "time" in line} == set(range(465)) - {417}


def test_what_is_refused_may_be_missing(tmp_path):
    words = [*WORDS[:17], "bad", *WORDS[18:]]
    measure = FromFunction(picky, kind="dissimilarity", symmetric=True)
    P = measure_to_disk(tmp_path / "S.npy", words, measure=measure, block_size=10, refused="missing")
    unknown = np.isnan(P.values)
    assert unknown[17].all()
    assert unknown[:, 17].all()
    assert unknown.sum() == 79


def test_infinite_values_are_refused_by_pair(tmp_path):
    measure = FromFunction(lambda x, z: 1e300 if x + z == 5 else x, kind="similarity")
    with pytest.raises(ProximityError, match=r"rejects the pair \(0; 5\): its value is infinite"):
        measure_to_disk(tmp_path / "S.npy", list(range(9)), measure=measure, block_size=3, dtype="float32")


@pytest.mark.slow
def test_no_room_is_said_before_anything_is_measured(tmp_path):
    resource = pytest.importorskip("resource")
    code = f"""
    import resource
    from similis import FromFunction
    from similis.distributed import measure_to_disk
    resource.setrlimit(resource.RLIMIT_FSIZE, ({2**16}, {resource.RLIM_INFINITY}))
    try:
        measure_to_disk({str(tmp_path / "S.npy")!r}, list(range(300)), measure=FromFunction(max))
    except ValueError as error:
        print(error)
    """
    said = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True).stdout
    assert "Not enough disk space for " in said
    assert "S.npy: 720000 bytes are needed. Free some" in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", FORMATS)
def test_a_disk_that_fills_up_keeps_what_is_finished(tmp_path, X, name, monkeypatch):
    write = BlockFile.write
    written = []

    def fills_up(self, rows, columns, block):
        if len(written) == 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(write(self, rows, columns, block))

    monkeypatch.setattr(BlockFile, "write", fills_up)
    with pytest.raises(
        ProximityError, match=r"Not enough disk space for .*S\.(npy|zarr): 3 of 10 blocks are kept. Free some"
    ):
        measure_to_disk(tmp_path / name, X, measure=Counting(), block_size=20)
    monkeypatch.setattr(BlockFile, "write", write)
    P = measure_to_disk(tmp_path / name, X, measure=Counting(), block_size=20)
    np.testing.assert_array_equal(P.values[:], Pairwise(Counting()).fit_transform(X))


@pytest.mark.parametrize("name", FORMATS)
def test_blocks_are_on_the_disk_before_they_are_noted(tmp_path, X, name, monkeypatch):
    """What the journal calls done survives a power cut: every file of a block was synchronized before."""
    from similis.distributed import _record

    synced, noted, fsync = set(), [], os.fsync

    def seen(descriptor):
        synced.add(os.path.realpath(f"/proc/self/fd/{descriptor}"))
        fsync(descriptor)

    def flush(self):
        files = list(self.store.part.rglob("c/*/*")) if self.store.zarr else []
        noted.append({os.path.realpath(p) for p in files} <= synced)
        write(self)
        noted.append(self.store.zarr or os.path.realpath(self.store.part) in synced)

    write = _record.Record.flush
    if not os.path.exists("/proc/self/fd"):
        pytest.skip("needs /proc to name the files")
    monkeypatch.setattr(os, "fsync", seen)
    monkeypatch.setattr(_record, "_INTERVAL", 0.0)
    monkeypatch.setattr(_record.Record, "flush", flush)
    measure_to_disk(tmp_path / name, X, measure=Counting(), block_size=20)
    assert len(noted) >= 20
    assert all(noted)


def test_two_processes_do_not_write_one_matrix(tmp_path):
    from similis.distributed._record import Record

    store = BlockFile(tmp_path / "S.npy", 2, "<f8", 1)
    store.create()
    record = Record(store)
    with record.held():
        record.start({"format": "similis blocks", "version": 1})
    code = "import sys, fcntl; f = open(sys.argv[1], 'ab'); fcntl.lockf(f, fcntl.LOCK_EX, 1, 2**40); print(); input()"
    other = subprocess.Popen(
        [sys.executable, "-c", code, record.path], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
    )
    other.stdout.readline()
    try:
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
        for overwrite in (False, True):  # whatever was asked for, the other process's work is left alone
            with pytest.raises(ProximityError, match="Another process is measuring"):
                measure_to_disk(tmp_path / "S.npy", [1, 2], measure=FromFunction(max), overwrite=overwrite)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    finally:
        other.communicate("\n")


def test_names_that_cannot_be_written_block_by_block(tmp_path, X):
    with pytest.raises(ProximityError, match=r"must end in \.npy or \.zarr"):
        measure_to_disk(tmp_path / "S.csv", X, measure=Counting())
    with pytest.raises(ProximityError, match="There is no folder"):
        measure_to_disk(tmp_path / "no" / "S.npy", X, measure=Counting())


# the command


def test_the_command_measures_in_blocks_and_reads_large_matrices_from_disk(tmp_path, monkeypatch):
    pytest.importorskip("zarr")
    from typer.testing import CliRunner

    from similis.cli import _source
    from similis.cli._app import app

    (tmp_path / "o.csv").write_text("id,class,u,v\n" + "".join(f"o{i},{i % 2},{i % 5},{i % 3}\n" for i in range(30)))
    call = CliRunner().invoke
    for name in ("S.npy", "S.zarr"):
        options = ["--out", str(tmp_path / name), "--dtype", "float32", "--block-size", "8"]
        done = call(app, ["measure", str(tmp_path / "o.csv"), "--measure", "counting", *options])
        assert done.exit_code == 0, done.output
        P = read_proximity(tmp_path / name)
        assert (P.values.dtype, P.kind, P.ids[3]) == (np.float32, "similarity", "o3")
        refused = call(app, ["measure", str(tmp_path / "o.csv"), "-m", "vdm", "--out", str(tmp_path / name)])
        assert refused.exit_code == 2
        assert "holds other objects, another measure" in refused.output
        monkeypatch.setattr(_source, "LARGE", 1)
        monkeypatch.setattr("similis._utils.disk._IN_MEMORY", 0)
        data = _source.load_data(_source.Source(str(tmp_path / name))).data
        assert isinstance(data.values, np.memmap)
        np.testing.assert_array_equal(data.values, P.values)
    gone = ["--cluster", "tcp://127.0.0.1:1", "--out", str(tmp_path / "T.npy")]
    done = call(app, ["measure", str(tmp_path / "o.csv"), "-m", "counting", *gone])
    assert "There is no Dask scheduler at tcp://127.0.0.1:1" in done.output


# a finished file: everything in the card, and the values


@pytest.mark.parametrize("name", FORMATS)
def test_other_ids_and_labels_are_noticed_and_replaced_on_request(tmp_path, X, name):
    ids, labels = [f"a{i}" for i in range(61)], np.arange(61) % 2
    path = tmp_path / name
    measure_to_disk(path, X, measure=Counting(), ids=ids, labels=labels)
    again = measure_to_disk(path, X, measure=Counting(), ids=ids, labels=labels)
    assert again.ids == tuple(ids)
    for other in ({"ids": ids[::-1], "labels": labels}, {"ids": ids, "labels": 1 - labels}, {"ids": ids}, {}):
        with pytest.raises(ProximityError, match="the same values with other ids or labels"):
            measure_to_disk(path, X, measure=Counting(), **other)
        assert read_proximity(path).ids == tuple(ids)
    new = measure_to_disk(path, X, measure=Counting(), ids=ids[::-1], labels=1 - labels, overwrite=True)
    assert new.ids == read_proximity(path).ids == tuple(ids[::-1])
    np.testing.assert_array_equal(new.labels, 1 - labels)
    np.testing.assert_array_equal(new.values[:], Pairwise(Counting()).fit_transform(X))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("damage", ["flip", "truncate", "zeros"])
def test_a_damaged_finished_file_is_measured_again_on_request(tmp_path, X, name, damage):
    path = tmp_path / name
    measure_to_disk(path, X, measure=Counting(), block_size=20)
    file = path if path.is_file() else path / "c" / "0" / "0"
    data = bytearray(file.read_bytes())
    if damage == "flip":
        data[len(data) // 2] ^= 1
    elif damage == "zeros":
        data[-64:] = bytes(64)
    else:
        del data[-8:]
    file.write_bytes(data)
    with pytest.raises(ProximityError, match="is damaged: its values are not those that were measured"):
        measure_to_disk(path, X, measure=Counting(), block_size=20)
    P = measure_to_disk(path, X, measure=Counting(), block_size=20, overwrite=True)
    np.testing.assert_array_equal(P.values[:], Pairwise(Counting()).fit_transform(X))


def test_a_truncated_unfinished_file_is_measured_again(tmp_path):
    calls = []

    def stops(x, z):
        calls.append(1)
        if len(calls) == 900:
            raise KeyboardInterrupt
        return gap(x, z)

    with pytest.raises(KeyboardInterrupt):
        measure_to_disk(tmp_path / "S.npy", WORDS, measure=FromFunction(stops), block_size=10)
    part = tmp_path / "S.npy.part"
    with open(part, "r+b") as file:
        file.truncate(2000)
    calls[:] = [1] * 1000
    P = measure_to_disk(tmp_path / "S.npy", WORDS, measure=FromFunction(stops), block_size=10)
    np.testing.assert_array_equal(P.values, FromFunction(gap).matrix(WORDS))


@pytest.mark.parametrize("name", FORMATS)
def test_the_command_says_what_it_wrote(tmp_path, name):
    from typer.testing import CliRunner

    from similis.cli._app import app

    def run(*words):
        result = CliRunner().invoke(app, ["measure", *map(str, words), "-m", "counting", "-o", str(tmp_path / name)])
        assert result.exit_code == 0, result.output
        return result.stderr

    (tmp_path / "a.csv").write_text("id,class,u\np,x,1\nq,y,2\n")
    (tmp_path / "b.csv").write_text("id,class,u\np,y,1\nq,x,2\n")
    assert "wrote 2 x 2 similarity values" in run(tmp_path / "a.csv")
    assert "is complete and unchanged; nothing was measured" in run(tmp_path / "a.csv")
    assert "wrote ids and labels of" in run(tmp_path / "b.csv", "--overwrite")
    assert read_proximity(tmp_path / name).labels.tolist() == ["y", "x"]


def test_changed_functions_are_another_measure(tmp_path):
    """Constants of inner functions and defaults of keyword-only parameters count too."""

    def make(power, factor):
        def distance(x, z, *, power=power):
            return sum(map(lambda i: factor * i, [abs(len(x) - len(z)) ** power]))

        return FromFunction(distance)

    measure_to_disk(tmp_path / "S.npy", WORDS, measure=make(1, 2))
    measure_to_disk(tmp_path / "S.npy", WORDS, measure=make(1, 2))
    for other in (make(2, 2), make(1, 3)):
        with pytest.raises(ProximityError, match="another measure"):
            measure_to_disk(tmp_path / "S.npy", WORDS, measure=other)
