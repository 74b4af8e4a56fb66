"""Work of the study against similis 1.0.0: processor time of one core, each run a process of its own.

    git archive 5061492 src | tar -x -C FOLDER       # the last commit of version 1.0
    python benchmarks/bench_version_1.py FOLDER/src  # writes benchmarks/results/version_1.json
    python benchmarks/bench_version_1.py FOLDER/src --item "sbc" --item "rnlc, n = 1440"
    python benchmarks/bench_version_1.py FOLDER/src --all --keep   # further methods of the default study, and the sum

Both versions take turns. The record is written after each item. `--keep` measures only what the record does not hold;
with `--item` these are measured again. All methods of the default study of 1.0 take about twelve minutes of one core.
"""

import argparse
import json
import math
import os
import subprocess
import sys
from pathlib import Path

from _measure import RESULTS, Benchmark

OURS = Path(__file__).parents[1] / "src"
SPLIT = "{}, one split, n = 2000"
# Methods that search more than in 1.0, as they were there: sbc 14 times as many points, parzen-f eight instead of none.
AS_BEFORE = {"sbc(q=1, strong=true)": "sbc", "parzen-f(dimension=none)": "parzen-f"}
FLOORS = {  # item: floor and goal
    **{
        SPLIT.format(method): bounds
        for method, bounds in {
            "sbc(q=1, strong=true)": (50, 150),
            "simsvm": (4, 10),
            "psvm": (1.3, 2),
            "svm-features(rbf)": (2.5, 3.2),
            "svc-d2": (2, 3),
            "parzen-f(dimension=none)": (1.5, 2),
        }.items()
    },
    "rnlc, 8 regularizers, n = 1440": (1.7, 2.2),
    "rnlc, 8 regularizers, n = 5120": (1.7, 2.2),
    "Indefinite SVM, two classes, n = 2000": (1.25, 2),
    "rnlc, five folds, n = 8000": (None, None),
    "SimMKL search, n = 200": (0.67, 1),
    "SimMKL search beside a busy process, n = 200": (0.67, 1),
}
TOTAL = "all methods of 1.0, one split, n = 2000"
BUSY = "while True: pass"


def run(source, *arguments, threads="1"):
    """What the peer script prints for the version of similis in folder `source`."""
    environment = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    environment |= {"PYTHONPATH": str(source)} | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), threads)
    if threads is None:
        environment = {key: value for key, value in environment.items() if value is not None}
    command = [sys.executable, str(Path(__file__).with_name("peer_version_1.py")), *map(str, arguments)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def threads(busy):
    """A search with the default number of BLAS threads and with one, seconds of the clock, the best of two."""
    other = subprocess.Popen([sys.executable, "-c", BUSY]) if busy else None
    try:
        turns = [[run(OURS, "simmkl", 200, threads=number)["wall"] for number in (None, "1")] for _ in range(2)]
    finally:
        if other is not None:
            other.kill()
            other.wait()
    ours, peer = map(min, zip(*turns))
    return {"peer": "one thread", "ours_seconds": ours, "peer_seconds": peer}


def against_version_1(peer, name):
    """Both versions in turns, each the best of two unless 1.0 takes more than 5 s."""
    what, _, size = name.rpartition(", n = ")
    method, _, kind = what.rpartition(", ")
    folds = [5] if kind == "five folds" else []
    if name.startswith("rnlc, 8"):
        ours, theirs = [("rnlc", size)] * 2
    elif name.startswith("Indefinite"):
        ours, theirs = [("indefinite", size)] * 2
    else:
        ours, theirs = (("split", size, one, *folds) for one in (method, AS_BEFORE.get(method, method)))
    found, before = [], []
    while not before or (len(before) < 2 and before[0]["seconds"] < 5):
        before.append(run(peer, *theirs))
        found.append(run(OURS, *ours))
    assert before[0]["version"] == "1.0.0", before
    difference = found[0]["figure"] - before[0]["figure"]
    return {
        "peer": "similis 1.0.0",
        "ours_seconds": min(one["seconds"] for one in found),
        "peer_seconds": min(one["seconds"] for one in before),
        "error": None if math.isnan(difference) else difference,
    }


def measure(peer, name):
    """One item of the record."""
    floor, goal = FLOORS.get(name, (None, None))
    found = threads("busy" in name) if name.startswith("SimMKL") else against_version_1(peer, name)
    ratio = found["peer_seconds"] / found["ours_seconds"]
    return {"name": name, **found, "ratio": ratio, "floor": floor, "goal": goal}


def total(items, methods):
    """Sum over the methods of 1.0 that are measured; `methods` has their number."""
    found = [item for item in items if item["name"] in {SPLIT.format(method) for method in methods}]
    ours, peer = (sum(item[key] for item in found) for key in ("ours_seconds", "peer_seconds"))
    item = {"name": TOTAL, "peer": "similis 1.0.0", "ours_seconds": ours, "peer_seconds": peer, "ratio": peer / ours}
    return {**item, "floor": 2, "goal": 4, "methods": f"{len(found)} of {len(methods)}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("peer", type=Path, help="folder `src` of version 1.0")
    parser.add_argument("--item", action="append", help="measure these, by the beginning of their names")
    parser.add_argument("--all", action="store_true", help="every method of the default study of 1.0")
    parser.add_argument("--keep", action="store_true", help="measure only what the record does not hold")
    options = parser.parse_args()
    bench = Benchmark("version_1")
    record = RESULTS / "version_1.json"
    known = {item["name"]: item for item in json.loads(record.read_text())["items"]} if record.exists() else {}
    methods = run(options.peer, "methods", 0)
    names = list(FLOORS)
    if options.all or options.item:
        names += [name for name in map(SPLIT.format, methods) if name not in FLOORS]
    if options.item:
        names = [name for name in names if name.startswith(tuple(options.item))]
    for name in names:
        if options.keep and name in known:
            continue
        known[name] = measure(options.peer, name)
        print(known[name], flush=True)
        known.pop(TOTAL, None)
        bench.items = [*known.values()]
        if any(SPLIT.format(method) in known for method in methods):
            bench.items.append(total(bench.items, methods))
        bench.write()


if __name__ == "__main__":
    main()
