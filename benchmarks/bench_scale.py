"""Beyond memory and beyond one machine: reading from disk, a cluster, neighbors of many objects, cost against n.

    python benchmarks/bench_scale.py disk cluster index neighbors landmarks compact families
    python benchmarks/bench_scale.py neighbors --n 1000000
    python benchmarks/bench_scale.py page                      # tables of docs/guide/scale.md, docs/results/cost.md

Each part writes benchmarks/results/scale_<part>.json. Floors: a k-NN pass reads at least half as fast as a plain sum
over the memory map; resuming a nearly finished matrix costs less than half of measuring it (a tenth in 1.0, which had
no checksum: since 2.0 a finished matrix gets one of all its values, which takes longer than this cheap measure); the
scheduler's overhead is below a tenth of the work; nine in ten of the neighbors are found.
"""

import argparse
import json
import os
import resource
import shutil
import tempfile
import time
import tracemalloc
import warnings
from contextlib import nullcontext, suppress
from pathlib import Path
from time import process_time

import numpy as np
from _measure import RESULTS, Benchmark, seconds
from _scale_landmarks import landmarks
from _scale_page import page
from sklearn.base import ClassifierMixin
from sklearn.pipeline import make_pipeline

import similis as s
from similis.distributed import NeighborIndex, connect, measure_to_disk, predict_blocks

EXTRAS = ("zarr", "distributed", "pynndescent")


def categorical(n, d=24, n_groups=200, noise=0.25, seed=0):
    """Objects around some centroids, a share of their values drawn anew; the class is the centroid's."""
    rng = np.random.default_rng(seed)
    centers, group = rng.integers(0, 4, (n_groups, d), dtype=np.uint8), rng.integers(0, n_groups, n)
    X = centers[group]
    flip = rng.random(X.shape, dtype=np.float32) < noise
    X[flip] = rng.integers(0, 4, int(flip.sum()), dtype=np.uint8)
    return X, group % 5


def disk(n):
    """Reading, writing, resuming."""
    n = n or 8000
    bench = Benchmark("scale_disk", packages=EXTRAS)
    folder = Path(tempfile.mkdtemp(dir="."))
    try:
        X, y = categorical(n)
        S = measure_to_disk(folder / "S.npy", X, measure=s.Counting(), dtype="float32").values
        Z = measure_to_disk(folder / "S.zarr", X, measure=s.Counting(), dtype="float32").values
        knn = s.SimilarityKNN().fit(S, y)
        size = max(1, 2**24 // (4 * n))

        def plain(A=S, step=size):
            return sum(float(A[i : i + step].sum(dtype=np.float64)) for i in range(0, n, step))

        gb = 4 * n * n / 1e9
        details = {"gigabytes": gb, "page_cache": "warm for both"}
        for threads, said in ((1, ""), (2, ", two threads")):
            options = {"floor": 0.5, "goal": 1.0, "repeats": 7, **details}
            bench.compare(f"k-NN pass over npy{said}", lambda t=threads: predict_blocks(knn, S, n_jobs=t), plain,
                          peer_name="plain memmap sum", **options)  # fmt: skip
            bench.compare(
                f"k-NN pass over zarr{said}",
                lambda t=threads: predict_blocks(knn, Z, n_jobs=t),
                lambda: plain(Z, Z.chunks[0]),
                peer_name="plain sum by rows of chunks",
                **options,
            )

        def whole():
            measure_to_disk(folder / "again.npy", X, measure=s.Counting(), dtype="float32", overwrite=True)
            (folder / "again.npy").unlink()

        def in_memory():
            with open(folder / "plain.npy", "wb") as file:
                np.save(file, s.Pairwise(s.Counting()).fit_transform(X).astype(np.float32))
                os.fsync(file.fileno())  # a finished block is on the disk, so must this be
            (folder / "plain.npy").unlink()

        bench.compare("measuring to npy in blocks", whole, in_memory, peer_name="in memory, then saved", repeats=5,
                      **details)  # fmt: skip
        bench.compare("taking up a matrix without its last block", lambda: resume(folder, X), whole,
                      peer_name="measuring all", floor=2, repeats=5, **details)  # fmt: skip
        print(bench.write())
    finally:
        shutil.rmtree(folder)


def resume(folder, X):
    """Resume a matrix of which one block in many is missing; made ready outside the clock on the first call."""
    ready = folder / "ready"
    target = folder / "resumed.npy"
    if not ready.exists():
        from similis.distributed._record import Record
        from similis.io import BlockFile

        ready.mkdir()
        store = BlockFile(target, len(X), "<f4", 1024)
        real = BlockFile.write

        def fails_at_the_end(self, rows, columns, block):
            if columns.start == rows.start and columns.stop == len(X):
                raise OSError(28, "no space")
            real(self, rows, columns, block)

        BlockFile.write = fails_at_the_end
        try:
            measure_to_disk(target, X, measure=s.Counting(), dtype="float32", block_size=1024)
        except ValueError:
            pass
        BlockFile.write = real
        shutil.copy(store.part, ready / "part")
        shutil.copy(Record(store).path, ready / "journal")
    target.unlink(missing_ok=True)
    Path(f"{target}.part").unlink(missing_ok=True)
    os.link(ready / "part", f"{target}.part")
    shutil.copy(ready / "journal", f"{target}.part.jsonl")
    measure_to_disk(target, X, measure=s.Counting(), dtype="float32", overwrite=True)


def nap(x, z):
    """Two milliseconds of work that no busy processor delays."""
    time.sleep(2e-3)
    return 1.0


def naps(count):
    """Seconds that so many naps take, one after the other, as the machine is now."""
    return seconds(lambda: [nap(0, 0) for _ in range(count)])


def cluster(n):
    """Speed-up from one to two workers, and what a task costs beyond its work, for two sizes of tiles.

    The bare work is that of the naps alone, timed between the runs, so that a busy machine delays them alike.
    """
    bench = Benchmark("scale_cluster", packages=EXTRAS)
    objects = list(range(n or 180))
    n_pairs = len(objects) * (len(objects) + 1) / 2
    measure = s.FromFunction(nap, symmetric=True)
    sizes, walls, bare = (20, 30), {}, []  # 400 or 900 pairs: 0.8 s, or 1.9 s as the library's own choice aims at
    folder = Path(tempfile.mkdtemp(dir="."))

    def run(name, size, client=None):
        bare.append(naps(500) / 500)
        path = folder / f"{name}-{size}.npy"
        walls[name, size] = seconds(
            lambda: measure_to_disk(path, objects, measure=measure, block_size=size, client=client)
        )

    try:
        for workers in (1, 2):
            started = time.perf_counter()
            with connect(n_workers=workers) as client:
                start_up = time.perf_counter() - started
                measure_to_disk(folder / f"w{workers}.npy", objects[:4], measure=measure, client=client)
                for size in sizes:
                    run(workers, size, client)
                if workers == 2:
                    empty = seconds(lambda c=client: c.gather(c.map(abs, range(500), pure=False)))
        for size in sizes:
            run("here", size)
        work = n_pairs * float(np.mean(bare))
        for size in sizes:
            parts = -(-len(objects) // size)
            here, one, two = (walls[name, size] for name in ("here", 1, 2))
            bench.items.append({
                "name": f"tiles of {size} x {size} pairs of 2 ms on a local cluster", "tiles": parts * (parts + 1) // 2,
                "work_seconds": work, "here_seconds": here, "one_worker_seconds": one, "two_workers_seconds": two,
                "speed_up": one / two, "overhead": one / work - 1, "overhead_floor": 0.1,
                "seconds_per_empty_task": empty / 500, "start_seconds": start_up,
            })  # fmt: skip
            print(bench.items[-1])
        print(bench.write())
    finally:
        shutil.rmtree(folder)


def toil(x, z):
    """A measure that takes its time, which no busy processor delays: some 0.2 ms."""
    time.sleep(1e-4)
    return float(sum(a == b for a, b in zip(x, z)))


def cluster_index(n):
    """An index whose pairs are measured here, on one worker and on two; the same graph."""
    bench = Benchmark("scale_index", packages=EXTRAS)
    objects = [tuple(row) for row in categorical(n or 600, n_groups=20)[0].tolist()]
    index = NeighborIndex(s.FromFunction(toil, symmetric=True), random_state=0)
    walls, graphs = {}, {}
    for workers in (0, 1, 2):
        with connect(n_workers=workers) if workers else nullcontext() as client:
            index.fit(objects[:300], client=client)
            walls[workers] = seconds(lambda c=client: index.fit(objects, client=c))
            graphs[workers] = index.indices_.copy()
    assert all(np.array_equal(graphs[0], graph) for graph in graphs.values())
    bench.items.append({
        "name": f"index of {len(objects)} objects, 0.2 ms a pair", "n": len(objects), "pairs": index.n_calls_,
        "here_seconds": walls[0], "one_worker_seconds": walls[1], "two_workers_seconds": walls[2],
        "speed_up": walls[0] / walls[2], "same_graph": True,
    })  # fmt: skip
    print(bench.items[-1])
    print(bench.write())


def neighbors(n):
    """Recall, pairs measured, time and memory of the index, and classifiers on top."""
    from similis.distributed import OnNeighbors

    n = n or 100_000
    bench = Benchmark("scale_neighbors" if n <= 300_000 else "scale_million", packages=EXTRAS)
    X, y = categorical(n + 1000)
    X, new, y, truth = X[:n], X[n:], y[:n], y[n:]
    NeighborIndex(s.Counting(), random_state=0).fit(X[:500]).kneighbors(X[:5])  # compiles
    rng = np.random.default_rng(1)
    asked = np.sort(rng.choice(n, 200, replace=False))
    S = s.Counting().fit(X[:10]).matrix(X[asked], X)
    S[np.arange(200), asked] = -1
    kth = -np.partition(-S, 9, axis=1)[:, 9]
    T = s.Counting().fit(X[:10]).matrix(new[:200], X)
    kth_new = -np.partition(-T, 9, axis=1)[:, 9]
    del S, T
    for K in (10, 15, 20) if n <= 300_000 else (15,):
        index = NeighborIndex(s.Counting(), n_neighbors=K, random_state=0)
        fit = seconds(lambda index=index: index.fit(X))
        calls = index.n_calls_
        start = time.perf_counter()
        proximities, _ = index.kneighbors(new, 10)
        query = (time.perf_counter() - start) / len(new)
        bench.items.append({
            "name": f"{n} categorical objects, {K} neighbors kept", "n": n, "kept": K, "fit_seconds": fit,
            "objects_per_second": n / fit, "rounds": index.n_iter_, "pairs_per_object": calls / n,
            "share_of_pairs": calls / (n * (n - 1) / 2),
            "recall_at_10": float((index.proximities_[asked, :10] >= kth[:, None]).mean()),
            "query_recall_at_10": float((proximities[:200] >= kth_new[:, None]).mean()), "recall_floor": 0.9,
            "query_seconds": query, "pairs_per_query": (index.n_calls_ - calls) / len(new),
            "peak_gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
            "objects_gigabytes": X.nbytes / 1e9, "matrix_gigabytes": 4 * n * n / 1e9,
        })  # fmt: skip
        print(bench.items[-1], flush=True)
        bench.write()
    methods = (s.SimilarityKNN(n_neighbors=10), s.SimilarityKNN(n_neighbors=10, weights="kri"),
               s.SimilarityKNN(n_neighbors=10, weights="krr"), s.SVMKNN(n_neighbors=10),
               s.LocalSDA(n_neighbors=10))  # fmt: skip
    for method in methods:
        model = OnNeighbors(method, index)
        model.index_, model.classes_, model._codes = index, *np.unique(y, return_inverse=True)
        model.predict(new[:20])
        start = time.perf_counter()
        right = float(np.mean(model.predict(new) == truth))
        bench.items.append({"name": f"{method} on the index", "n": n, "accuracy": right,
                            "queries_per_second": len(new) / (time.perf_counter() - start)})  # fmt: skip
        print(bench.items[-1], flush=True)
    print(bench.write())


FAMILIES = ("neighbors", "discriminant", "mixture", "svm", "normal", "maxsim")
SMALL = {"CompletionSVM": 60, "FullKernelSVM": 200, "SimMKL": 300, "IndefiniteSVM": 300, "LPMachine": 300, "SBC": 600,
         "SimSVM": 600, "PotentialSVM": 600, "NormalLinear": 1000, "NormalQuadratic": 1000, "PseudoFisher": 1000,
         "Parzen": 1000}  # fmt: skip
OPTIONS = {"SBC": {"C": 1.0}, "PotentialSVM": {"C": 1.0, "epsilon": 0.5}, "MixtureSDA": {"n_init": 1},
           "MixtureHLM": {"n_init": 1}, "IncrementalHLM": {"n_init": 1}}  # fmt: skip


def compacted(n):
    """What a new object costs before and after compact, in comparisons and seconds: every classifier of matrices."""
    bench = Benchmark("scale_compact")
    warnings.simplefilter("ignore")
    X, y = categorical(n or 3000)
    calls = []

    class Counted(s.Counting):
        def block(self, A, B, n_jobs=None, tick=None):
            out = super().block(A, B, n_jobs, tick)
            calls.append(out.size)
            return out

    new = categorical(200, seed=2)[0]
    names = [name for family in FAMILIES for name in s._PACKAGES[family] if name != "MixedSDA"]
    for name in names:
        if not (isinstance(getattr(s, name), type) and issubclass(getattr(s, name), ClassifierMixin)):
            continue
        model = getattr(s, name)(**OPTIONS.get(name, {}))
        size = min(len(X), SMALL.get(name, len(X)))
        labels = y[:size] % 2 if name == "CompletionSVM" else y[:size]
        steps = [s.Pairwise(Counted())] + [s.ToDissimilarity()] * (getattr(model, "metric", None) == "precomputed")
        whole = make_pipeline(*steps, model).fit(X[:size], labels)
        small = s.compact(whole)
        some, counts = new[: 10 if name == "CompletionSVM" else 200], []
        for one in (whole, small):
            calls.clear()
            one.predict(some)
            counts.append(sum(calls) / len(some))
        bench.compare(f"{name}, n = {size}", lambda m=small, q=some: m.predict(q), lambda m=whole, q=some: m.predict(q),
                      peer_name="before compact", repeats=3, comparisons_before=counts[0],
                      comparisons_after=counts[1], check=lambda a, b: np.mean(a != b))  # fmt: skip
    print(bench.write())


SLOW = 15.0  # seconds: a fit that takes longer is not tried on more objects


def families(n, names=()):
    """Time and memory of a fit and of a row's answer against n, with the exponent of a power law.

    Methods of the default study. With `names` only those are measured and the others are kept. Times are those of the
    process, on one thread.
    """
    from similis.study import list_methods

    bench = Benchmark("scale_families", clock=process_time)
    today, kept = bench.record()["date"], {}
    if names:
        before = json.loads((RESULTS / "scale_families.json").read_text())
        kept = {item["name"]: {"date": before["date"], **item} for item in before["items"]}
    warnings.simplefilter("ignore")
    sizes = [size for size in (125, 250, 500, 1000, 2000, 4000, 8000) if size <= (n or 8000)]
    X, y = categorical(max(sizes))
    S = s.Counting().fit(X).matrix(X).astype(np.float32)
    D = (24 - S).astype(np.float32)
    for method in list_methods():
        if method.name == "majority" or method.on_request:
            continue
        if names and method.name not in names:
            bench.items += [kept[method.name]] if method.name in kept else []
            continue
        model = method.make()
        if "sbc__C" in model.get_params():
            model.set_params(sbc__C=1.0)  # classes overlap
        A = D if method.reads == "dissimilarity" else S
        rows = []
        with suppress(Exception):  # compiles and loads; what it refuses, it refuses below
            model.fit(A[:100, :100], y[:100]).predict(A[:5, :100])
        for size in sizes:
            T = np.ascontiguousarray(A[:size, :size])
            work = lambda model=model, T=T, size=size: model.fit(T, y[:size])  # noqa: E731
            times = [seconds(work, process_time) for _ in range(2 if size <= 1000 else 0)]
            tracemalloc.start()
            times.append(seconds(work, process_time))
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            fit = min(times)
            answer = seconds(lambda model=model, T=T: model.predict(T[:100]), process_time) / 100
            rows.append((size, fit, answer, peak))
            if fit > SLOW:
                break
        table = np.array(rows)
        slopes = [float(np.polyfit(np.log(table[-3:, 0]), np.log(table[-3:, c]), 1)[0]) for c in (1, 2, 3)]
        bench.items.append({
            "name": method.name, "family": method.family, "date": today, "n": table[:, 0].tolist(),
            "fit_seconds": table[:, 1].tolist(), "row_seconds": table[:, 2].tolist(),
            "fit_bytes": table[:, 3].tolist(), "fit_exponent": slopes[0], "row_exponent": slopes[1],
            "bytes_exponent": slopes[2],
        })  # fmt: skip
        print(method.name, [round(v, 2) for v in slopes], table[-1].tolist(), flush=True)
        bench.write()
    print(bench.write())


PARTS = {"disk": disk, "cluster": cluster, "index": cluster_index, "neighbors": neighbors, "landmarks": landmarks,
         "compact": compacted, "families": families, "page": page}  # fmt: skip

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", default=list(PARTS), choices=list(PARTS))
    parser.add_argument("--n", type=int, default=None)
    parser.add_argument("--method", action="append", help="families: measure this method again and keep the others")
    given = parser.parse_args()
    for part in given.parts:
        if part == "families":
            families(given.n, given.method or ())
        else:
            PARTS[part](given.n)
