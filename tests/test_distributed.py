"""Blocks on a Dask cluster, and methods on matrices that stay on disk, in bounded memory."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from similis import SDA, Counting, FromFunction, MaxSim, NearestCentroid, Pairwise, SimilarityKNN, write_proximity
from similis.distributed import cluster_jobs, connect, measure_to_disk, predict_blocks
from similis.distributed._measure import Plan
from similis.exceptions import ProximityError


@pytest.fixture
def data(rng):
    X = rng.integers(0, 3, (90, 12))
    X[::2, :6] = 0
    return X, np.arange(90) % 2


# blocks of rows


@pytest.mark.parametrize("size", [1, 7, 90, None])
@pytest.mark.parametrize("model", [SimilarityKNN(), MaxSim(), NearestCentroid(), SDA()], ids=lambda m: type(m).__name__)
def test_blocks_of_rows_are_answered_as_all_rows(data, model, size):
    X, y = data
    S = Pairwise(Counting()).fit_transform(X)
    model.fit(S, y)
    np.testing.assert_array_equal(predict_blocks(model, S, block_size=size), model.predict(S))
    if hasattr(model, "predict_proba"):
        found = predict_blocks(model, S, method="predict_proba", block_size=size)
        np.testing.assert_array_equal(found, model.predict_proba(S))


def test_objects_are_answered_in_blocks(data):
    X, y = data
    model = make_pipeline(Pairwise(Counting()), SimilarityKNN()).fit(X, y)
    np.testing.assert_array_equal(predict_blocks(model, X, block_size=8), model.predict(X))
    np.testing.assert_array_equal(predict_blocks(model, X), model.predict(X))


def test_features_of_landmarks_are_made_in_blocks(data):
    from similis import PairwiseLandmarks

    step = PairwiseLandmarks(Counting(), n_landmarks=7, random_state=0).fit(data[0])
    for size in (None, 13):
        found = predict_blocks(step, data[0], method="transform", block_size=size)
        np.testing.assert_array_equal(found, step.transform(data[0]))


def test_models_read_maps_and_stores_alike(tmp_path, data):
    pytest.importorskip("zarr")
    from similis import read_proximity

    X, y = data
    S = Pairwise(Counting()).fit_transform(X).astype(np.float32)
    for name in ("S.npy", "S.zarr"):
        write_proximity(tmp_path / name, S)
        stored = read_proximity(tmp_path / name, mmap=True).values
        for model in (SimilarityKNN(), MaxSim(), SDA()):
            expected = model.fit(S, y).predict(S)
            model.fit(stored, y)
            np.testing.assert_array_equal(model.predict(stored), expected)
            np.testing.assert_array_equal(predict_blocks(model, stored, block_size=40), expected)


LIMITED = """
import resource, sys, warnings
import numpy as np
import similis as s
from similis.distributed import predict_blocks

warnings.simplefilter("ignore")
folder, n = sys.argv[1], int(sys.argv[2])
y = np.load(folder + "/y.npy")
models = {
    "similarity": [
        s.SimilarityKNN(), s.SimilarityKNN(weights="affinity"), s.SimilarityKNN(weights="kri"),
        s.SimilarityKNN(weights="krr"), s.SimilarityKNN(weights="lime"), s.LocalNearestCentroid(), s.NearestCentroid(),
        s.MaxSim(), s.SDA(), s.SDA(statistic="nearest"), s.SDA(statistic="total"), s.LocalSDA(), s.SVMKNN(),
        s.MixtureSDA(n_init=1, max_iter=3, random_state=0),
    ],
    "dissimilarity": [
        s.KernelHLM(), s.MixtureHLM(n_init=1, random_state=0), s.MixtureHLM(clustering="kmedoids"),
        s.SimilarityKNN(kind="dissimilarity"), s.IncrementalHLM(n_init=1, random_state=0),
        s.IncrementalHLM(scheme="resample", n_init=1, random_state=0),
    ],
    "continuous": [
        s.SDA(kind="dissimilarity"), s.LocalSDA(kind="dissimilarity"),
        s.SDA(kind="dissimilarity", domain=(0, 40), statistic="nearest"),
        s.LocalSDA(kind="dissimilarity", domain=(0.0, 40.0)),
    ],
}
matrices = {kind: s.read_proximity(f"{folder}/{kind}.npy", mmap=True).values for kind in models}
stored = s.read_proximity(folder + "/similarity.zarr", mmap=True).values
few = np.arange(0, n, n // 60)
predict_blocks(s.MaxSim().fit(stored[:60, :60], y[:60]), stored[:60, :60])
stored[:, :1]  # starts the threads of zarr, each with room for a stack
for kind, chosen in models.items():  # whatever compiles or loads
    small = np.ascontiguousarray(matrices[kind][np.ix_(few, few)])
    for model in chosen:
        predict_blocks(model.fit(small, y[few]), small)
data = [line.split() for line in open("/proc/self/status") if line.startswith("VmData")]
bound = int(data[0][1]) * 1024 + int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_DATA, (bound, bound))
for kind, chosen in models.items():
    while chosen:
        model = chosen.pop(0)  # what a model keeps goes with it
        model.fit(matrices[kind], y)
        answers = predict_blocks(model, matrices[kind][: n // 4])
        print(model, np.mean(answers == y[: n // 4]), flush=True)
stream = s.IncrementalHLM(scheme="resample", n_init=1, random_state=0)
for first, stop in ((0, n // 2), (n // 2, n)):
    stream.partial_fit(matrices["dissimilarity"][first:stop, :stop], y[first:stop])
    print(stream, "batch", flush=True)
for model in (s.SimilarityKNN(), s.MaxSim(), s.SDA(), s.SimilarityKNN(weights="kri")):
    model.fit(stored, y)
    print("zarr", model, np.mean(predict_blocks(model, stored) == y), flush=True)
try:
    np.ones((n, n), dtype=np.float32)
    print("no limit")
except MemoryError:
    print("limited")
"""


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs a limit on private memory")
def test_methods_hold_a_block_and_not_the_matrix(tmp_path, rng):
    """The bound that the guide states: 224 MB beyond the libraries, for a matrix of any size; here 324 MB."""
    pytest.importorskip("zarr")
    n = 9000
    X, y = rng.integers(0, 3, (n, 20)), np.arange(n) % 4
    X[np.arange(n), y] = 7
    np.save(tmp_path / "y.npy", y)
    measure_to_disk(tmp_path / "similarity.npy", X, measure=Counting(), dtype="float32")
    measure_to_disk(tmp_path / "similarity.zarr", X, measure=Counting(), dtype="float32")
    distance = 20 - np.load(tmp_path / "similarity.npy")
    np.save(tmp_path / "dissimilarity.npy", distance)
    np.save(tmp_path / "continuous.npy", distance + rng.random(distance.shape, dtype=np.float32))
    del distance
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path, str(n), str(224 * 2**20)],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.stdout.strip().endswith("limited"), done.stdout[-500:] + done.stderr[-1500:]


# a cluster


def test_a_scheduler_that_is_not_there_is_one_sentence():
    pytest.importorskip("distributed")
    with pytest.raises(
        ProximityError, match=r"There is no Dask scheduler at tcp://127\.0\.0\.1:1\. Start one"
    ) as caught:
        connect("tcp://127.0.0.1:1", timeout=0.5)
    assert len(str(caught.value)) < 300
    with pytest.raises(ProximityError, match="There is no Dask scheduler at nonsense://"):
        connect("nonsense://x", timeout=0.5)


def test_without_dask_the_command_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'similis\[dask\]'"):
        connect()


@pytest.fixture(scope="module")
def client():
    pytest.importorskip("distributed")
    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    with connect(n_workers=2) as client:
        yield client
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def slowly(x, z):
    time.sleep(2e-3)
    return float(abs(x - z))


def never_seven(x, z):
    if 7 in (x, z):
        raise ValueError("it is seven")
    return float(abs(x - z))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["S.npy", "S.zarr"])
def test_a_killed_worker_does_not_change_the_answer(tmp_path, client, name):
    pytest.importorskip("zarr")
    killed = []
    measure = FromFunction(slowly, kind="dissimilarity", symmetric=True)

    journal = tmp_path / f"{name}.part.jsonl"

    def kill():
        deadline = time.monotonic() + 60
        while not (journal.exists() and journal.read_text().count('"time"') >= 2) and time.monotonic() < deadline:
            time.sleep(0.02)
        pid = next(iter(client.run(os.getpid).values()))
        os.kill(pid, 9)
        killed.append(pid)

    thread = threading.Thread(target=kill)
    thread.start()
    P = measure_to_disk(tmp_path / name, list(range(120)), measure=measure, block_size=15, client=client)
    thread.join()
    assert killed
    np.testing.assert_array_equal(P.values[:], abs(np.subtract.outer(np.arange(120), np.arange(120))))


@pytest.mark.slow
def test_a_cluster_predicts_and_names_what_is_refused(tmp_path, client, data):
    pytest.importorskip("zarr")
    from similis import read_proximity

    X, y = data
    P = measure_to_disk(tmp_path / "S.zarr", X, measure=Counting(), block_size=40, client=client)
    S = Pairwise(Counting()).fit_transform(X)
    np.testing.assert_array_equal(P.values[:], S)
    write_proximity(tmp_path / "S.npy", S)
    model = SimilarityKNN().fit(S, y)
    for stored in (P.values, read_proximity(tmp_path / "S.npy", mmap=True).values, S):
        found = predict_blocks(model, stored, block_size=25, client=client)
        np.testing.assert_array_equal(found, model.predict(S))
    measure = FromFunction(never_seven, kind="dissimilarity", symmetric=True)
    with pytest.raises(ProximityError, match=r"rejects object 7: it is seven\. 10 blocks are kept"):
        measure_to_disk(tmp_path / "r.zarr", list(range(20)), measure=measure, block_size=4, client=client)


def no_room(size):
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["S.npy", "S.zarr"])
def test_what_goes_wrong_on_a_cluster_is_one_sentence(tmp_path, client, data, name):
    """A full disk on the workers, another fingerprint, a pair refused in block 417."""
    pytest.importorskip("zarr")
    resource = pytest.importorskip("resource")
    X, _ = data
    options = {"measure": Counting(), "block_size": 30, "client": client}
    client.run(no_room, 4096)  # a block is 7200 bytes, of which npy rows are written one by one
    try:
        with pytest.raises(
            ProximityError, match=r"Not enough disk space for .*S\.(npy|zarr): \d of 6 blocks are kept\. Free some"
        ):
            measure_to_disk(tmp_path / name, X, **options)
    finally:
        client.run(no_room, resource.RLIM_INFINITY)
    P = measure_to_disk(tmp_path / name, X, **options)
    np.testing.assert_array_equal(P.values[:], Pairwise(Counting()).fit_transform(X))
    with pytest.raises(ProximityError, match="exists and holds other objects, another measure"):
        measure_to_disk(tmp_path / name, X[::-1], **options)
    tile = Plan(60, 2, True).tiles[417]
    i, j = tile.rows.start + 1, tile.columns.start

    def quarrel(x, z):
        if {x, z} == {i, j}:
            raise ValueError("not together")
        return float(abs(x - z))

    measure = FromFunction(quarrel, kind="dissimilarity", symmetric=True)
    message = rf"Block 417 of 465: FromFunction rejects the pair \({i}; {j}\): not together\. 464 blocks are kept"
    with pytest.raises(ProximityError, match=message):
        measure_to_disk(tmp_path / f"R{name}", list(range(60)), measure=measure, block_size=2, client=client)


@pytest.mark.slow
def test_neighbors_are_measured_and_searched_on_a_cluster(client, rng):
    """The same graph and the same neighbors as here, hence the same recall; a worker dies on the way."""
    from similis.distributed import NeighborIndex, OnNeighbors

    X = rng.integers(0, 4, (12, 20))[rng.integers(0, 12, 1600)]
    X[rng.random(X.shape) < 0.3] = 0
    X, new, y = X[:1500], X[1500:], np.arange(1500) % 3
    here = NeighborIndex(Counting(), random_state=0).fit(X)
    there = NeighborIndex(Counting(), random_state=0).fit(X, client=client)
    np.testing.assert_array_equal(there.indices_, here.indices_)
    np.testing.assert_array_equal(there.proximities_, here.proximities_)
    assert there.n_calls_ == here.n_calls_
    os.kill(next(iter(client.run(os.getpid).values())), 9)
    for a, b in zip(there.kneighbors(new, 7, client=client), here.kneighbors(new, 7)):
        np.testing.assert_array_equal(a, b)
    assert there.n_calls_ == here.n_calls_
    model = OnNeighbors(SimilarityKNN(n_neighbors=5), NeighborIndex(Counting(), random_state=0))
    model.fit(X, y, client=client)
    found = predict_blocks(model, new, client=client, block_size=30)
    np.testing.assert_array_equal(found, OnNeighbors(model.estimator, model.index).fit(X, y).predict(new))


@pytest.mark.slow
def test_studies_run_on_a_cluster(client):
    from similis import Study
    from similis.datasets import make_similarity

    S, y = make_similarity(60, 2, random_state=0)[:2]
    options = {"methods": ["knn", "nc"], "n_splits": 3, "cv": 3, "random_state": 0}
    here = Study(**options).run(S, y)
    with cluster_jobs(client):
        there = Study(**options, n_jobs=2).run(S, y)
    assert [(row.method, row.error) for row in here.table()] == [(row.method, row.error) for row in there.table()]
