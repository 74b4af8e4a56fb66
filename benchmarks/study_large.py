"""Studies of many objects within a time budget, to be compared with a study of the first 2,000.

    python benchmarks/study_large.py 2000 --splits 3 --jobs 1  # all methods on all objects; an hour; it resumes
    python benchmarks/study_large.py 2000 --budget 15m --jobs 1
    python benchmarks/study_large.py 20000 --budget 5m         # a float32 matrix on disk
    python benchmarks/study_large.py 100000 --budget 8m        # objects and a measure: landmarks
    python benchmarks/study_large.py 100000 --budget 8m --kill-after 120   # a worker process is killed (Linux)

The objects are categorical: 24 features with four values, 200 centroids, five classes. The commands are those of a
user; times are wall times of the whole command, and of a study that was resumed those of its last part. Every call adds
its line to results/study_large.json.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
from _measure import RESULTS, Benchmark
from bench_scale import categorical

MOST_IN_MATRIX = 25_000


def main():
    """Write the objects, measure them if the matrix fits on the disk, study them, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n", type=int)
    parser.add_argument("--budget")
    parser.add_argument("--folder", type=Path, default=Path("study_large"))
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--kill-after", type=float, help="seconds after which a worker process of the study is killed")
    parser.add_argument("options", nargs="*", help="further options of similis study, after --")
    options = parser.parse_args()
    options.folder = options.folder.resolve()
    options.folder.mkdir(exist_ok=True, parents=True)
    os.chdir(options.folder)
    n, name = options.n, f"objects{options.n}"
    X, y = categorical(100_000)
    with open(f"{name}.csv", "w") as file:
        file.write(",".join(f"f{j}" for j in range(X.shape[1])) + ",class\n")
        file.writelines(",".join(map(str, row)) + f",c{g}\n" for row, g in zip(X[:n].tolist(), y[:n]))
    source = [f"{name}.csv", "--measure", "counting", "--label-column", "class"]
    measuring = 0.0
    if n <= MOST_IN_MATRIX:
        if not Path(f"{name}.npy").exists():
            start = time.perf_counter()
            call("measure", *source, "--dtype", "float32", "--out", f"{name}.npy")
            measuring = time.perf_counter() - start
        source = [f"{name}.npy"]
    limits = ["--budget", options.budget] if options.budget else ["--full"]
    limits += ["--splits", str(options.splits), *options.options]
    start = time.perf_counter()
    outputs = ["--journal", f"{name}.journal", "--save", f"{name}.json", "--report", f"{name}.html", "--overwrite"]
    killed = call("study", *source, *limits, *outputs, "--jobs", str(options.jobs), kill_after=options.kill_after)
    seconds = time.perf_counter() - start
    write(options, seconds, measuring, killed)


def call(*words, kill_after=None):
    """Call the command line, perhaps killing one of its worker processes; return the number of killed processes."""
    process, killed = subprocess.Popen([sys.executable, "-m", "similis", *words]), []

    def kill():
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        workers = [int(child) for child in children if "popen_loky" in Path(f"/proc/{child}/cmdline").read_text()]
        os.kill(workers[0], signal.SIGKILL)
        killed.append(workers[0])

    timer = threading.Timer(kill_after or 0, kill)
    if kill_after:
        timer.start()
    status = process.wait()
    timer.cancel()
    if status or (kill_after and not killed):
        sys.exit(f"exit status {status}, {len(killed)} workers killed")
    return len(killed)


def write(options, seconds, measuring, killed):
    """Add the record of a study."""
    from similis.study import StudyResult

    result = StudyResult.load(options.folder / f"objects{options.n}.json")
    bench, path = Benchmark("study_large"), RESULTS / "study_large.json"
    if path.exists():
        others = json.loads(path.read_text())["items"]
        same = options.n, options.budget, killed
        bench.items = [item for item in others if (item["n"], item["budget"], item.get("workers_killed", 0)) != same]
    rows = result.table()
    splits = {
        row.method: sum(entry.ok for key, entry in result.entries.items() if key[0] == row.method) for row in rows
    }
    advice = result.recommend()
    computing = sum(entry.fit_seconds + entry.predict_seconds for entry in result.entries.values() if entry.ok)
    item = {
        "name": f"{options.n} objects", "n": options.n, "budget": options.budget, "jobs": options.jobs,
        "workers_killed": killed, "seconds": seconds, "computing_seconds": computing, "measure_seconds": measuring,
        "methods": len(rows),
        "on_landmarks": sum("landmarks=" in row.method for row in rows),
        "with 3 splits": sum(count >= 3 for count in splits.values()),
        "splits": float(np.median(list(splits.values()))),
        "peak_gigabytes": max(session.get("peak_memory", 0) for session in result.sessions) / 1e9,
        "recommended": advice.method, "error": advice.error,
        "first": [{"method": row.method, "error": row.error, "splits": splits[row.method]} for row in rows[:8]],
    }  # fmt: skip
    bench.items.append(item)
    bench.items.sort(key=lambda item: (item["n"], item["budget"] or "", item.get("workers_killed", 0)))
    print(json.dumps(item, indent=1))
    print(bench.write())


if __name__ == "__main__":
    main()
