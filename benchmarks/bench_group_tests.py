"""PERMANOVA, ANOSIM and the Mantel test beside scikit-bio, which runs in an environment of its own.

Run with the default number of threads on a quiet machine: python benchmarks/bench_group_tests.py
"""

import os
from pathlib import Path

import numpy as np
from _measure import Benchmark, seconds
from _peers import ask
from scipy.spatial.distance import pdist, squareform

from similis import anosim, mantel, permanova

FLOORS = {"PERMANOVA": 50, "ANOSIM": 20, "Mantel": 10}
TURNS = 1 if os.environ.get("SIMILIS_BENCH_QUICK") else 3


def problem(n):
    """Distances of n points in five groups that differ a little, and their square roots."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 5
    X = rng.normal(size=(n, 5))
    X[:, 0] += 0.1 * y
    D = squareform(pdist(X))
    return D, np.sqrt(D), y


def main():
    bench = Benchmark("group_tests")
    for n in (500, 2000):
        D, E, y = problem(n)
        tests = {
            "PERMANOVA": lambda D=D, y=y: permanova(D, y, random_state=0),
            "ANOSIM": lambda D=D, y=y: anosim(D, y, random_state=0),
            "Mantel": lambda D=D, E=E: mantel(D, E, random_state=0),
        }
        statistics = {name: test().statistic for name, test in tests.items()}  # also compiles
        ours, theirs = dict.fromkeys(tests, np.inf), dict.fromkeys(tests, np.inf)
        for _ in range(TURNS):
            for name, test in tests.items():
                ours[name] = min(ours[name], seconds(test))
            found = ask("scikit-bio", Path(__file__).with_name("peer_skbio.py"), D=D, E=E, y=y, permutations=999)
            if found is None:
                return
            for name, entry in found.items():
                theirs[name] = min(theirs[name], entry["seconds"])
        for name in tests:
            floor = FLOORS[name] if n == 2000 else None
            bench.items.append(
                {
                    "name": f"{name}, n = {n}, 999 permutations",
                    "peer": "scikit-bio",
                    "ours_seconds": ours[name],
                    "peer_seconds": theirs[name],
                    "ratio": theirs[name] / ours[name],
                    "floor": floor,
                    "goal": None,
                    "error": abs(statistics[name] - found[name]["statistic"]),
                }
            )
            print(f"{bench.items[-1]['name']:40s} {ours[name]:.3f} s | scikit-bio {theirs[name]:.3f} s")
    bench.write()


if __name__ == "__main__":
    main()
