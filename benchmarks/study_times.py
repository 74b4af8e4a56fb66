"""Measure how long each method takes on a split, and fit the coefficients that the estimate of a study uses.

    python benchmarks/study_times.py                # about half an hour; writes src/similis/study/times.json
    python benchmarks/study_times.py --method sbc   # this method again, the others as they are
    python benchmarks/study_times.py --journal study_sizes/1000.journal study_sizes/2000.journal

Seconds of processor time, in one thread, for n training objects are fitted by a + b n + c n^2 + d n^3 (n in thousands)
with coefficients that are not negative, by least squares of logarithms. The time of `majority`, which is that of
reading and checking the matrix, is subtracted from the others. Methods that read objects are left out.

Methods of a study share decompositions, so that they take less time there than alone. With journals of full studies
(of benchmarks/study_sizes.py, whose times are processor times) the coefficients are fitted to the times in them, and
where these have fewer than two sizes, or below the smallest, to the earlier coefficients.
"""

import argparse
import json
import multiprocessing
import time
from pathlib import Path

import numpy as np
from _measure import compact_json
from scipy.optimize import least_squares, nnls
from threadpoolctl import threadpool_limits

from similis.study import Study, find_method, list_methods
from similis.study._estimate import base_name, machine_seconds

SIZES = (60, 120, 240, 500, 1000)
TARGET = Path(__file__).parents[1] / "src" / "similis" / "study" / "times.json"
QUICK = 0.6  # seconds at the largest size
LIMIT = 60.0  # seconds of a split; larger sizes of a method are left out when one takes a sixth of it


def main():
    """Measure every method of the table and write the coefficients, after each method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--method", action="append", help="measure this method again and keep the others")
    parser.add_argument("--journal", nargs="+", type=Path, help="take times from these journals")
    options = parser.parse_args()
    if options.journal:
        renew(options.journal)
        return
    names = options.method or [method.name for method in list_methods(None) if method.reads != "objects"]
    known = json.loads(TARGET.read_text()) if options.method else {"machine_seconds": machine_seconds(), "methods": {}}
    speed = known["machine_seconds"] / machine_seconds()  # other methods may have been measured on another machine
    checks = {n: measure_in_child("majority", n) for n in options.sizes}
    for name in names:
        found = []
        for n in options.sizes:
            seconds = measure_in_child(name, n)
            if seconds is not None:
                found.append((n, speed * max(seconds - 0.85 * checks[n], 0.05 * seconds)))
            if seconds is None or seconds > LIMIT / 6:
                break
        print(name, *(f"{n}: {seconds:.3g} s" for n, seconds in found), flush=True)
        if len(found) > 1:
            known["methods"][name] = fit(found)
            TARGET.write_text(compact_json(known))


def renew(paths):
    """Fit the coefficients of the methods in journals again, in seconds of this machine."""
    known, times = json.loads(TARGET.read_text()), {}
    for path in paths:
        records = [json.loads(line) for line in path.read_text().splitlines()]
        share = records[0]["protocol"]["test_size"]
        for record in records:
            if record.get("status") == "ok":
                n = find_method(record["method"]).landmarks or round(len(record["predictions"]) * (1 - share) / share)
                name = base_name(record["method"])
                times.setdefault(name, {}).setdefault(n, []).append(sum(record["seconds"]))
    speed = machine_seconds() / known["machine_seconds"]
    known["machine_seconds"] = machine_seconds()
    for name, coefficients in known["methods"].items():
        new = [(n, float(np.median(seconds))) for n, seconds in sorted(times.get(name, {}).items())]
        old = [
            (n, speed * np.dot(coefficients, (n / 1000) ** np.arange(4)))
            for n in SIZES
            if len(new) < 2 or n < new[0][0]
        ]
        known["methods"][name] = fit(old + new)
        print(name, *(f"{n}: {seconds:.3g} s" for n, seconds in old + new))
    TARGET.write_text(compact_json(known))


def measure_in_child(name, n_train):
    """Processor time of one method on one split, in a process of its own; None if it fails or exceeds the limit."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sender.send(measure(name, n_train)))
    child.start()
    sender.close()
    child.join(2 * LIMIT)
    child.kill()
    try:
        return receiver.recv() if receiver.poll() else None
    except EOFError:
        return None


def measure(name, n_train):
    """Processor time of one method on one split; the first run compiles and imports."""
    with threadpool_limits(1):
        Study(name, n_splits=1, n_jobs=1).run(*problem(name, 40))
        start = time.process_time()
        Study(name, n_splits=1, n_jobs=1).run(*problem(name, round(n_train / 0.8)))
        return time.process_time() - start


def problem(name, n):
    """Similarities of n objects, indefinite, with four classes or a numeric target."""
    rng = np.random.default_rng(n)
    y = np.arange(n) % 4
    X = rng.normal(size=(n, 6)) + 1.2 * np.eye(6)[y]
    S = np.exp(-np.linalg.norm(X[:, None] - X, axis=2)) + 0.02 * np.tri(n) * rng.normal(size=(n, n))
    return np.clip((S + S.T) / 2, 0, None), X[:, 0] if find_method(name).task == "regression" else y


def fit(found):
    """Coefficients of the powers of n / 1000; up to the square for quick methods, whose cubes would be noise."""
    n, seconds = np.array(found).T
    powers = (n[:, None] / 1000) ** np.arange(3 if seconds[-1] < QUICK else 4)
    begin = np.log(nnls(powers / seconds[:, None], np.ones(len(n)))[0] + 1e-6 * seconds.max())
    result = least_squares(lambda logs: np.log(powers @ np.exp(logs)) - np.log(seconds), begin)
    return [round(float(value), 5) for value in (*np.exp(result.x), 0.0)[:4]]


if __name__ == "__main__":
    main()
