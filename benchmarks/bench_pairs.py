"""Five million alignment hits read as a matrix, by read_pairs and by pandas: time and peak memory.

    python benchmarks/bench_pairs.py          # writes benchmarks/results/pairs.json

Every reading is a process of its own, so that its peak memory can be measured; its time is given with the imports
(similis imports scikit-learn, which imports pandas) and without them. Both return the same matrix; pandas parses three
of the twelve columns with its C parser, and pivots with the largest score of a pair.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from _measure import Benchmark

SIMILIS = """
import time
from similis.io import read_pairs
start = time.perf_counter()
P = read_pairs(PATH, score="bitscore", aggregate="max", absent="zero", directed=True, sparse=SPARSE)
total = float(P.values.sum()) - float(P.values.diagonal().sum())
"""
PANDAS = """
import time
import pandas as pd
start = time.perf_counter()
table = pd.read_csv(PATH, sep="\\t", header=None, usecols=[0, 1, 11])
matrix = table.pivot_table(values=11, index=0, columns=1, aggfunc="max", fill_value=0.0)
total = float(matrix.to_numpy().sum())
"""
REPORT = """
seconds = time.perf_counter() - start
import json, resource
print(json.dumps([total, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def write_hits(path, n_lines, n_objects, seed=0):
    """Hits of random pairs of different objects, in blocks by query as aligners write them; some pairs repeat."""
    rng = np.random.default_rng(seed)
    names = [f"protein_{i:06d}" for i in range(n_objects)]
    queries = np.sort(rng.integers(0, n_objects, n_lines))
    subjects = (queries + rng.integers(1, n_objects, n_lines)) % n_objects
    scores = rng.integers(200, 20_000, n_lines) / 10
    with open(path, "w") as file:
        for start in range(0, n_lines, 100_000):
            part = slice(start, start + 100_000)
            file.writelines(
                f"{names[q]}\t{names[s]}\t87.5\t112\t14\t0\t1\t112\t5\t116\t1.2e-30\t{score}\n"
                for q, s, score in zip(queries[part].tolist(), subjects[part].tolist(), scores[part].tolist())
            )


class Reading:
    """Callable that reads in a new process and notes seconds without imports and peak memory in megabytes."""

    def __init__(self, code, path, sparse=None):
        self.code = code.replace("PATH", repr(str(path))).replace("SPARSE", repr(sparse)) + REPORT
        self.seconds, self.peaks = [], []

    def __call__(self):
        done = subprocess.run([sys.executable, "-c", self.code], check=True, capture_output=True, text=True)
        total, seconds, peak = json.loads(done.stdout)
        self.seconds.append(seconds)
        self.peaks.append(peak)
        return total


def main():
    bench = Benchmark("pairs", packages=("pandas",))
    n_lines = 50_000 if os.environ.get("SIMILIS_BENCH_QUICK") else 5_000_000
    with tempfile.TemporaryDirectory() as folder:
        for n_objects, sparse in ((4000, None), (16_000, True)):
            path = Path(folder) / f"{n_objects}.m8"
            write_hits(path, n_lines, n_objects)
            ours, peer = Reading(SIMILIS, path, sparse), Reading(PANDAS, path)
            name = f"{n_lines} hits of {n_objects} objects" + (", sparse" if sparse else "")
            bench.compare(
                f"read {name}",
                ours,
                peer,
                peer_name="pandas read_csv, pivot_table",
                floor=0.5,
                goal=1,
                repeats=2,
                check=lambda a, b: abs(a - b) / b,
            )
            # The first call may compile and is not counted.
            times = {"ours_seconds": min(ours.seconds[1:]), "peer_seconds": min(peer.seconds[1:])}
            ratio = times["peer_seconds"] / times["ours_seconds"]
            item = {"name": f"read {name}, without imports", "peer": "pandas read_csv, pivot_table", **times}
            bench.items.append({**item, "ratio": ratio, "floor": 1, "goal": 2})
            print(bench.items[-1], flush=True)
            used = {"ours_megabytes": max(ours.peaks), "peer_megabytes": max(peer.peaks)}
            ratio = used["peer_megabytes"] / used["ours_megabytes"]
            item = {"name": f"peak memory, {name}", "peer": "pandas read_csv, pivot_table", **used, "ratio": ratio}
            bench.items.append({**item, "floor": 1.2, "goal": 2})
            print(bench.items[-1], flush=True)
            path.unlink()
    print(bench.write())


if __name__ == "__main__":
    main()
