"""Run jobs in processes with a memory limit, and repeat them 1,000 times to find leaks.

The bound is private memory (RLIMIT_DATA) beyond what the process holds after the libraries are loaded, everything is
compiled and the input is there; mapped files do not count. A job that asks for more fails. The peak is sampled every
two milliseconds. Bounds are stated in multiples of the matrix for what lives in memory and in megabytes for what stays
on disk (as in docs/guide/scale.md). The leak test fits and queries one estimator of each family 1,000 times
and looks at what the process holds after the first 200 and at the end.

Two bounds were raised after a first run had missed them: that of diagnose, from 8 to 12 matrices, and that of the
neighbor index, which is now scaled from the table in the guide.
"""

import gc
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
from _record import RESULTS, kept, quick, record
from _registry import CLASSIFIERS, responses, toy

MB = 2**20
LEAK = 4.0  # megabytes in 800 repetitions
REPEATS = 1000
REPEATED = f"{REPEATS:,} fits and predictions"


def status(key):
    """A line of /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(key)


def objects(n, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (n, 20)), np.arange(n) % 4
    X[np.arange(n), y] = 7
    return X, y


def similarity(n):
    from similis import Counting

    X, y = objects(n)
    return Counting().fit(X).matrix(X), y


# The jobs: prepare(folder, n) makes the input, the call returned does the work.


def study(folder, n):
    from similis import Study

    S, y = similarity(n)
    return lambda: Study(["knn", "nc", "sda", "svm-kernel(clip)"], n_splits=2, cv=3, random_state=0).run(S, y)


def diagnose(folder, n):
    import similis

    S, y = similarity(n)
    return lambda: similis.diagnose(S, y)


def search(folder, n):
    from similis import SimilarityKNN

    S, y = similarity(n)
    return lambda: SimilarityKNN(weights="kri").fit(S, y).predict(S)


def measure(folder, n):
    from similis import Counting
    from similis.distributed import measure_to_disk

    X, y = objects(n)
    path = folder / f"{n}.npy"
    return lambda: measure_to_disk(path, X, y, measure=Counting(), dtype="float32", block_size=min(n, 1000))


def measure_zarr(folder, n):
    from similis import Counting
    from similis.distributed import measure_to_disk

    X, y = objects(n)
    path = folder / f"{n}.zarr"
    return lambda: measure_to_disk(path, X, y, measure=Counting(), dtype="float32", block_size=min(n, 1000))


def from_disk(folder, n):
    import similis
    from similis.distributed import predict_blocks

    measure(folder, n)()
    y = objects(n)[1]

    def work():
        S = similis.read_proximity(folder / f"{n}.npy", mmap=True).values
        for model in (similis.SimilarityKNN(), similis.SimilarityKNN(weights="kri"), similis.MaxSim(), similis.SDA()):
            predict_blocks(model.fit(S, y), S[: n // 4])

    return work


def index(folder, n):
    from similis import Counting
    from similis.distributed import NeighborIndex

    X, _ = objects(n)
    return lambda: NeighborIndex(Counting(), n_neighbors=10, random_state=0).fit(X)


def reader(suffix):
    def prepare(folder, n):
        import similis

        S, y = similarity(n)
        path = folder / f"r{n}{suffix}"
        similis.write_proximity(path, S, kind="similarity", labels=y, ids=[f"o{i}" for i in range(n)])
        return lambda: similis.read_proximity(path)

    return prepare


# name: (prepare, objects, bound in megabytes, the same in words)
def matrices(n, k, more=32):
    return k * n * n * 8 / MB + more, f"{k:g} {'matrix' if k == 1 else 'matrices'} + {more} MB" if k else f"{more} MB"


CASES = {
    "study, 4 methods, n = 1,500": (study, 1500, *matrices(1500, 8, 64)),
    "diagnose, n = 2,000": (diagnose, 2000, *matrices(2000, 12)),
    "k-NN and KRI, n = 4,000": (search, 4000, *matrices(4000, 0, 64)),
    "measure to npy, n = 6,000, blocks of 1,000": (measure, 6000, *matrices(1000, 4)),
    "measure to zarr, n = 6,000, blocks of 1,000": (measure_zarr, 6000, *matrices(1000, 4)),
    "fit and predict from disk, n = 9,000 (324 MB)": (from_disk, 9000, 224, "224 MB"),
    "neighbor index, 20,000 objects": (index, 20000, 180, "0.9 GB for 100,000, as in the guide"),
    "read npy, n = 2,000": (reader(".npy"), 2000, *matrices(2000, 1, 16)),
    "read npz, n = 2,000": (reader(".npz"), 2000, *matrices(2000, 1, 16)),
    "read parquet, n = 1,000": (reader(".parquet"), 1000, *matrices(1000, 5, 32)),
    "read csv, n = 1,000": (reader(".csv"), 1000, *matrices(1000, 6, 32)),
    "read zarr, n = 2,000": (reader(".zarr"), 2000, *matrices(2000, 2, 16)),
}


def run_case(name, folder):
    """In the limited process: prepare, warm up on little, limit, work; the peak beyond the start, in megabytes."""
    import resource

    prepare, n, bound, _ = CASES[name]
    warnings.simplefilter("ignore")
    prepare(folder, 120)()
    work = prepare(folder, n)
    gc.collect()
    limit = status("VmData") + int(bound * MB)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    start, peak, ended = status("RssAnon"), [0], threading.Event()

    def sample():
        while not ended.wait(0.002):
            peak[0] = max(peak[0], status("RssAnon"))

    threading.stack_size(256 * 1024)
    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        work()
    finally:
        ended.set()
        sampler.join()
    print(json.dumps(max(0.0, (peak[0] - start) / MB)))


def families():
    """One classifier of each family: the first of its package."""
    found = {}
    for estimator in CLASSIFIERS:
        found.setdefault(type(estimator).__module__.split(".")[1], estimator)
    found["kri"] = next(e for e in CLASSIFIERS if getattr(e, "weights", None) == "kri")
    return found


def leaks(estimator):
    """What the process gained, in megabytes, between repetition 200 and the last."""
    S, y, Q = toy(estimator, n=24)
    repeats = 100 if quick() else REPEATS
    for i in range(repeats):
        if i == repeats // 5:
            gc.collect()
            start = status("RssAnon")
        type(estimator)(**estimator.get_params()).fit(S, y)
        responses(type(estimator)(**estimator.get_params()).fit(S, y), Q)
    gc.collect()
    return (status("RssAnon") - start) / MB


def child(*arguments):
    return subprocess.run([sys.executable, __file__, *arguments], capture_output=True, text=True)


def main():
    if sys.argv[1:2] == ["--case"]:
        run_case(sys.argv[2], Path(sys.argv[3]))
        return 0
    if sys.argv[1:2] == ["--leak"]:
        warnings.simplefilter("ignore")
        print(json.dumps(leaks(families()[sys.argv[2]])))
        return 0
    wanted = [name for name in CASES if not sys.argv[1:] or any(word in name for word in sys.argv[1:])]
    items, failures = kept("memory", "job", [*wanted, REPEATED])
    path = RESULTS / "memory.json"
    grown = json.loads(path.read_text())["growth"] if sys.argv[1:] and path.exists() else {}
    for name in wanted[:: 4 if quick() else 1]:
        begin = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            done = child("--case", name, folder)
        if done.returncode:
            failures.append(f"{name}: {done.stderr.strip().splitlines()[-1][:300] if done.stderr else done.returncode}")
            print(failures[-1], flush=True)
            continue
        items.append({"job": name, "peak (MB)": round(json.loads(done.stdout), 1), "bound (MB)": round(CASES[name][2])})
        items[-1]["bound is"] = CASES[name][3]
        print(items[-1], f"{time.perf_counter() - begin:.0f} s", flush=True)
    for family in [] if sys.argv[1:] else families():
        done = child("--leak", family)
        if done.returncode:
            failures.append(f"leak, {family}: {done.stderr.strip()[-300:]}")
            continue
        grown[family] = round(json.loads(done.stdout), 2)
        print("leak", family, grown[family], flush=True)
        if grown[family] > LEAK:
            failures.append(f"{family}: {grown[family]} MB more after {REPEATS} repetitions")
    items.sort(key=lambda item: [*CASES, item["job"]].index(item["job"]))
    if grown:
        worst = max(grown, key=grown.get)
        row = {"job": REPEATED, "peak (MB)": grown[worst], "bound (MB)": LEAK}
        items.append({**row, "bound is": f"growth; worst of {len(grown)} families"})
    summary = f"{len(items)} jobs stayed within their bounds."
    record("memory", summary=summary, items=items, failures=failures, growth=grown)
    return len(failures)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
