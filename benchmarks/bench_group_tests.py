"""PERMANOVA, ANOSIM and the Mantel test beside two releases of scikit-bio, which run in environments of their own.

Both sides use one core and are compared by processor time. The OpenMP threads of scikit-bio wait by spinning: beside
another process its PERMANOVA takes up to twenty times as long with two threads as with one.

    python benchmarks/bench_group_tests.py      # writes benchmarks/results/group_tests.json
"""

import os
from pathlib import Path
from time import process_time

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", LOKY_MAX_CPU_COUNT="1")

import numpy as np
from _measure import Benchmark, seconds
from _peers import ask
from scipy.spatial.distance import pdist, squareform

from similis import anosim, mantel, permanova

PEERS = ("scikit-bio 0.7.0", "scikit-bio 0.7.4")
FLOORS = {"PERMANOVA": 50, "ANOSIM": 20, "Mantel": 10, "Mantel (unrelated)": 10}
TURNS = 1 if os.environ.get("SIMILIS_BENCH_QUICK") else 3


def problem(n):
    """Distances of n points in five groups that differ a little, their square roots, and distances of other points."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 5
    X = rng.normal(size=(n, 5))
    X[:, 0] += 0.1 * y
    D = squareform(pdist(X))
    return D, np.sqrt(D), squareform(pdist(rng.normal(size=(n, 5)))), y


def main():
    bench = Benchmark("group_tests", clock=process_time)
    for n in (500, 2000):
        D, E, U, y = problem(n)
        tests = {
            "PERMANOVA": lambda D=D, y=y: permanova(D, y, random_state=0),
            "ANOSIM": lambda D=D, y=y: anosim(D, y, random_state=0),
            "Mantel": lambda D=D, E=E: mantel(D, E, random_state=0),
            "Mantel (unrelated)": lambda D=D, U=U: mantel(D, U, random_state=0),
        }
        statistics = {name: test().statistic for name, test in tests.items()}  # also compiles
        ours = dict.fromkeys(tests, np.inf)
        theirs = {(peer, name): np.inf for peer in PEERS for name in tests}
        error = {}
        for _ in range(TURNS):
            for name, test in tests.items():
                ours[name] = min(ours[name], seconds(test, process_time))
            for peer in PEERS:
                found = ask(peer, Path(__file__).with_name("peer_skbio.py"), D=D, E=E, U=U, y=y, permutations=999)
                if found is None:
                    return
                for name, entry in found.items():
                    theirs[peer, name] = min(theirs[peer, name], entry["seconds"])
                    error[peer, name] = abs(statistics[name] - entry["statistic"])
        for peer, name in theirs:
            item = {
                "name": f"{name}, n = {n}, 999 permutations",
                "peer": peer,
                "ours_seconds": ours[name],
                "peer_seconds": theirs[peer, name],
                "ratio": theirs[peer, name] / ours[name],
                "floor": FLOORS[name] if n == 2000 else None,
                "goal": None,
                "error": error[peer, name],
            }
            bench.items.append(item)
            print(f"{item['name']:40s} {ours[name]:.3f} s | {peer} {theirs[peer, name]:.3f} s")
    bench.write()


if __name__ == "__main__":
    main()
