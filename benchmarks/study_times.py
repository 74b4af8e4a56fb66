"""Measure how long each method takes on a split, and fit the coefficients that the estimate of a study uses.

    python benchmarks/study_times.py            # about ten minutes in one process; writes src/similis/study/times.json

Seconds of processor time, in one thread, for n training objects are fitted by a + b n + c n^2 + d n^3 (n in thousands)
with coefficients that are not negative, by least squares of relative errors.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
from _measure import compact_json
from scipy.optimize import nnls

from similis.study import Study, find_method, list_methods
from similis.study._estimate import machine_seconds

SIZES = (60, 120, 240, 400, 600)
TARGET = Path(__file__).parents[1] / "src" / "similis" / "study" / "times.json"
# Simulated similarities are far harder for sbc than real ones; these are its times in benchmarks/results/study.json.
REAL = {"sbc": [(80, 2.2424), (170, 3.1109), (181, 1.1859), (348, 2.2168)]}
LIMIT = 120.0  # seconds: larger sizes are left out for a method that exceeds it


def main():
    """Measure every method of the table and write the coefficients."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--method", action="append", help="measure this method again and keep the others")
    options = parser.parse_args()
    times = {name: [] for name in options.method or [method.name for method in list_methods(None)]}
    known = json.loads(TARGET.read_text()) if options.method else {"machine_seconds": machine_seconds(), "methods": {}}
    speed = known["machine_seconds"] / machine_seconds()  # other methods may have been measured on another machine
    for name in times:  # compile and import
        measure(name, 40)
    for n in options.sizes:
        for name, found in times.items():
            if not found or found[-1][1] < LIMIT / 10:
                found.append((n, speed * measure(name, n)))
        print(n, {name: round(found[-1][1], 2) for name, found in times.items() if found[-1][0] == n}, flush=True)
        fitted = {name: fit(REAL.get(name, found)) for name, found in times.items()}
        TARGET.write_text(compact_json({**known, "methods": {**known["methods"], **fitted}}))


def measure(name, n_train):
    """Processor time of one method on one split."""
    n = round(n_train / 0.8)
    rng = np.random.default_rng(n)
    y = np.arange(n) % 4
    X = rng.normal(size=(n, 6)) + 1.2 * np.eye(6)[y]
    S = np.exp(-np.linalg.norm(X[:, None] - X, axis=2)) + 0.02 * np.tri(n) * rng.normal(size=(n, n))
    S = np.clip((S + S.T) / 2, 0, None)
    if find_method(name).task == "regression":
        y = X[:, 0]
    study = Study(name, n_splits=1)
    start = time.process_time()
    study.run(S, y)
    return time.process_time() - start


def fit(found):
    """Coefficients of the powers of n / 1000."""
    n, seconds = np.array(found).T
    powers = (n[:, None] / 1000) ** np.arange(4) / seconds[:, None]
    return [round(float(value), 5) for value in nnls(powers, np.ones(len(n)))[0]]


if __name__ == "__main__":
    main()
