"""k-medoids against plain NumPy vertex substitution, the kmedoids package, and packages with a permissive license.

    python benchmarks/bench_medoids.py      # writes benchmarks/results/medoids.json

kmedoids (GPL) is installed in the benchmarks' own folder and never imported by the library or its tests. BanditPAM
(MIT), scikit-learn-extra (BSD, needs NumPy 1) and pyclustering (BSD) run in an environment of their own, one start. All
use one thread; the times are processor times.
"""

import os
from pathlib import Path
from time import process_time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np
from _measure import Benchmark, seconds
from _peers import ask, peers
from sklearn.metrics.pairwise import euclidean_distances

from similis.solvers import k_medoids


def problem(n, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(10, 8))[np.arange(n) % 10] + rng.normal(size=(n, 8))
    return euclidean_distances(Z)


def plain_vertex_substitution(D, medoids):
    """Every exchange of a medoid and an object evaluated by array arithmetic, one medoid at a time."""
    medoids = medoids.copy()
    total = D[:, medoids].min(axis=1).sum()
    while True:
        best = (total, -1, -1)
        for m in range(len(medoids)):
            rest = D[:, np.delete(medoids, m)].min(axis=1)
            totals = np.minimum(D, rest[:, None]).sum(axis=0)
            j = int(totals.argmin())
            best = min(best, (totals[j], m, j))
        if best[0] >= total * (1 - 1e-12):
            return total
        total, m, j = best
        medoids[m] = j


def excess(ours, theirs):
    """Our best total over theirs, less one: different exchanges may end in different local optima."""
    difference = (ours - theirs) / theirs
    assert difference < 1e-3, difference
    return difference


def same(ours, theirs):
    """Vertex substitution has one trajectory: the totals must be the same."""
    assert abs(excess(ours, theirs)) < 1e-9
    return excess(ours, theirs)


def main():
    peers("kmedoids")
    import kmedoids

    bench = Benchmark("medoids", packages=("kmedoids",), clock=process_time)
    rng = np.random.default_rng(1)
    for n, k, n_plain in ((300, 3, 20), (300, 10, 20), (2500, 10, 1)):
        D = problem(n)
        starts = np.stack([rng.choice(n, k, replace=False) for _ in range(20)])

        def ours(method, rows, D=D, k=k):
            return k_medoids(D, k, sign=-1, method=method, init=rows, n_jobs=1).total

        def theirs(rows, D=D):
            runs = (kmedoids.fasterpam(D, row.astype(np.uint64), n_cpu=1).loss for row in rows)
            return min(runs)

        few = starts[:n_plain]
        for method, floor, goal in (("vsh", 17, 34), ("eager", 12, 24)):
            bench.compare(
                f"k-medoids ({method}), n = {n}, k = {k}, {n_plain} starts",
                lambda method=method, few=few, ours=ours: ours(method, few),
                lambda few=few, D=D: min(plain_vertex_substitution(D, row) for row in few),
                peer_name="plain NumPy vertex substitution",
                floor=floor if n == 2500 else None,
                goal=goal if n == 2500 else None,
                repeats=2,
                check=same if method == "vsh" else excess,
            )
        for method in ("eager", "vsh"):
            bench.compare(
                f"k-medoids ({method}), n = {n}, k = {k}, 20 starts",
                lambda method=method, starts=starts, ours=ours: ours(method, starts),
                lambda starts=starts, theirs=theirs: theirs(starts),
                peer_name="kmedoids.fasterpam",
                floor=(1.4 if n == 2500 else 0.8) if method == "eager" else None,
                goal=(2.8 if n == 2500 else 1) if method == "eager" else None,
                repeats=3,
                check=excess,
            )
    for n, n_starts in ((1000, 10), (5000, 10), (10000, 3)):
        against_fasterpam(bench, kmedoids, n, n_starts)
    against_permissive_packages(bench)
    print(bench.write())


def against_fasterpam(bench, kmedoids, n, n_starts, k=10):
    """Time and total of the same starts."""
    D = problem(n)
    starts = np.stack([np.random.default_rng(s).choice(n, k, replace=False) for s in range(n_starts)])
    for method in ("eager", "vsh"):
        bench.compare(
            f"k-medoids ({method}), n = {n}, k = {k}, {n_starts} starts",
            lambda method=method: k_medoids(D, k, sign=-1, method=method, init=starts, n_jobs=1).total,
            lambda: min(kmedoids.fasterpam(D, row.astype(np.uint64), n_cpu=1).loss for row in starts),
            peer_name="kmedoids.fasterpam",
            floor=1,
            repeats=3 if n < 10000 else 2,
            check=excess,
        )


def against_permissive_packages(bench, n=1000, k=10):
    """One start of each package, ten of ours."""
    D = problem(n)
    start = np.random.default_rng(0).choice(n, k, replace=False)
    found = ask("k-medoids", Path(__file__).with_name("peer_medoids.py"), D=D, k=k, start=start)

    def ours():
        return k_medoids(D, k, sign=-1, n_init=10, random_state=0, n_jobs=1).total

    total = ours()
    time = min(seconds(ours, process_time) for _ in range(3))
    for name, peer in (found or {}).items():
        item = {"name": f"k-medoids (vsh), n = {n}, k = {k}, 10 starts", "peer": f"{name}, one start"}
        item |= {"ours_seconds": time, "peer_seconds": peer["seconds"], "ratio": peer["seconds"] / time}
        bench.items.append(item | {"floor": 1, "goal": None, "error": excess(total, peer["total"])})
        print(item)


if __name__ == "__main__":
    main()
