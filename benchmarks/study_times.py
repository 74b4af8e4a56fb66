"""Measure how long each method takes on a split, and fit the coefficients that the estimate of a study uses.

    python benchmarks/study_times.py                 # about 20 minutes of one core; it resumes, method by method
    python benchmarks/study_times.py --fit           # writes src/similis/study/times.json
    SIMILIS_DATA=... python benchmarks/study_times.py --check    # other data: expected and measured times

Seconds of processor time, in one thread, are fitted by a + b n + c n^2 + d n^3 for n thousand training objects and an
exponent e of the number of classes, all not negative, as `expect_seconds` uses them. Methods of a study share
decompositions, so that they take less time there than alone: all run in one study. Times depend on the data too; three
kinds of matrices with overlapping classes are measured. The fit minimizes the deviance of the gamma distribution, whose
expected values have the same mean as the measured ones, relative to each other, so that sums over methods agree.

For more objects than were measured, times grow as those of one fit without a search (benchmarks/bench_scale.py).
The coefficients of methods that are not measured, those on request and of regression, stay.
"""

import argparse
import json
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from _measure import RESULTS, compact_json
from scipy.optimize import least_squares
from sklearn.metrics import euclidean_distances
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from similis import Study, make_similarity
from similis.datasets import has_dataset, load_benchmark, load_promoters, load_votes
from similis.measures import Counting, Pairwise
from similis.study import _evaluate, _plan, _run
from similis.study._estimate import base_name, machine_seconds
from similis.study._methods import find_methods

KINDS = ("simulated", "laplace", "counting")
PROBLEMS = [(kind, 120, G) for G in (2, 5) for kind in KINDS] + [("laplace", 120, 15), ("simulated", 120, 15)]
PROBLEMS += [("counting", 300, 5), ("laplace", 300, 2), ("simulated", 300, 5), ("laplace", 1000, 5)]
PROBLEMS += [("laplace", 300, 15), ("counting", 600, 5), ("simulated", 600, 5)]  # kind, objects, classes
MEASURED = [("digits", 300, 10), ("satimage", 600, 6), ("pima", 768, 2), ("crabs", 200, 4)]
TARGET = Path(__file__).parents[1] / "src" / "similis" / "study" / "times.json"
CLASSES = 5  # of the times without the exponent
QUICK = 0.6  # seconds at the largest size, below which a cube would be noise
PROCESSOR = SimpleNamespace(perf_counter=time.process_time, monotonic=time.process_time, sleep=time.sleep)


def main():
    """Measure studies into journals, fit the coefficients, or check them on other data."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("study_times"), help="for the journals")
    parser.add_argument("--fit", action="store_true", help="write the coefficients")
    parser.add_argument("--check", action="store_true", help="compare expected and measured times on other data")
    parser.add_argument("--journal", nargs="+", type=Path, default=[], help="fit also journals of study_sizes.py")
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True, parents=True)
    with threadpool_limits(1):
        if options.fit:
            fit_all([*sorted(options.folder.glob("fit-*.journal")), *options.journal])
        elif options.check:
            check(options.folder)
        else:
            measure(options.folder)


def measure(folder):
    """Study every problem once."""
    for kind, n, n_classes in PROBLEMS:
        journal = folder / f"fit-{kind}-{n}-{n_classes}.journal"
        run_timed(*problem(kind, n, n_classes), journal, find_methods("all", "classification"))


def run_timed(S, y, journal, methods):
    """Run or resume a study with processor times; the journal keeps the speed of the machine."""
    if _run.time is not PROCESSOR:
        for n_classes in (2, 3):  # imports and compiles
            Study(methods, n_splits=1, n_jobs=1).run(*problem("laplace", 60, n_classes))
        for module in (_evaluate, _plan, _run):
            module.time = PROCESSOR
    machine_seconds.cache_clear()
    note = {"machine_seconds": machine_seconds()}
    study = Study(methods, n_splits=1, n_jobs=1, landmarks=None, race=False, journal=journal)
    result = study.run(S, y, note=note)
    used = {name: entry.fit_seconds + entry.predict_seconds for (name, _), entry in result.entries.items()}
    print(f"{journal.stem}: {sum(used.values()):.1f} s, machine {note['machine_seconds']:.4f} s", flush=True)
    return used


def problem(kind, n, n_classes):
    """Similarities of n objects in overlapping classes: indefinite, nearly positive definite, or of low rank."""
    rng = np.random.default_rng([n, n_classes])
    if kind == "simulated":
        return make_similarity(n, n_classes, separation=1.2, indefinite=0.1, random_state=n + n_classes)
    y = np.arange(n) % n_classes
    if kind == "laplace":
        X = rng.normal(size=(n, 6)) + 1.2 * rng.normal(size=(n_classes, 6))[y]
        S = np.exp(-np.linalg.norm(X[:, None] - X, axis=2) / 2) + 0.02 * np.tri(n) * rng.normal(size=(n, n))
        return np.clip((S + S.T) / 2, 0, None), y
    values = rng.integers(3, size=(n_classes, 16))[y]
    values = np.where(rng.random((n, 16)) < 0.5, rng.integers(3, size=(n, 16)), values)
    return (values[:, None] == values).mean(axis=2), y


def read_times(paths):
    """Training objects, classes and seconds by method, and the median time of the machine's fixed computation."""
    times, machine = {}, []
    for path in paths:
        header, *records = [json.loads(line) for line in path.read_text().splitlines()]
        n_train = header["n"] - round(header["n"] * header["protocol"]["test_size"])
        machine += [r["begin"]["machine_seconds"] for r in records if "machine_seconds" in r.get("begin", {})]
        for record in records:
            if record.get("status") == "ok" and record["split"] == 0:
                point = n_train, len(header["classes"]), sum(record["seconds"])
                times.setdefault(base_name(record["method"]), []).append(point)
    return times, float(np.median(machine))


def fit_all(paths):
    """Fit the coefficients of the measured methods and write them, in seconds of the machine of the file."""
    known, (times, machine) = json.loads(TARGET.read_text()), read_times(paths)
    single = {item["name"]: item for item in json.loads((RESULTS / "scale_families.json").read_text())["items"]}
    for name, found in times.items():
        new = [(n, G, seconds * known["machine_seconds"] / machine) for n, G, seconds in found]
        if name in single:  # more objects: as fit and prediction without a search grow
            largest, _, longest = max(new)
            sizes, fits, rows = (np.array(single[name][key]) for key in ("n", "fit_seconds", "row_seconds"))
            logs = np.log(fits + sizes * rows)
            growth = np.exp(logs - np.interp(np.log(largest), np.log(sizes), logs))
            new += [(n, CLASSES, longest * factor) for n, factor in zip(sizes, growth) if n > 2 * largest]
        known["methods"][name] = fit(new)
        print(name, *known["methods"][name])
    TARGET.write_text(compact_json(known))


def fit(found):
    """Coefficients of the powers of n / 1000 and the exponent of the number of classes."""
    n, n_classes, seconds = np.array(found).T
    growth, degrees = n_classes / CLASSES, 3 if seconds[n == n.max()].max() < QUICK else 4

    def residuals(x):
        sizes = n / 1000 / growth ** min(x[-1] / 2, 1)
        ratio = seconds / (growth ** x[-1] * np.polynomial.polynomial.polyval(sizes, np.exp(x[:-1])))
        return np.sign(ratio - 1) * np.sqrt(np.maximum(ratio - np.log(ratio) - 1, 0))

    size = np.log(seconds.mean())
    lower, upper = [size - 15] * degrees + [0], [size + 15] * degrees + [2.5]
    begin = [size] * degrees + [0.3]
    best = least_squares(residuals, begin, bounds=(lower, upper)).x
    values = [*np.exp(best[:-1]), 0.0][:4]
    return [round(float(value), 5) for value in (*values, best[-1])]


def check(folder):
    """Print expected and measured times of a split for data that were not fitted."""
    print("| data | objects | classes | expected | measured | difference | without `sbc` |\n" + "|---" * 7 + "|")
    for name, (S, y) in other_problems().items():
        expected = Study(n_splits=1, n_jobs=1, landmarks=None).estimate(S, y).per_split
        used = run_timed(S, y, folder / f"check-{name}.journal", find_methods("all", "classification"))
        cells = [name, f"{len(y):,}", str(len(set(y)))]
        cells += [f"{sum(times.values()):.1f} s" for times in (expected, used)]
        for left_out in ((), ("sbc",)):
            first, second = (sum(t for m, t in times.items() if m not in left_out) for times in (expected, used))
            cells.append(f"{100 * (first / second - 1):+.0f} %")
        print(f"| {' | '.join(cells)} |", flush=True)


def other_problems():
    """Similarities and labels of real data, with those of the benchmark folder where it has them."""
    votes, promoters = load_votes(), load_promoters()
    found = {
        "promoters": (Pairwise(Counting()).fit_transform(promoters.data), promoters.target),
        "votes": (Pairwise(Counting()).fit_transform(votes.data), votes.target),
    }
    for name in ("aural_sonar", "protein_uw", "protein", "chicken_pieces"):
        if has_dataset(name):
            data = load_benchmark(name)
            P = data.proximity
            found[name] = (P if data.kind == "similarity" else 1 - P / P.max()), data.target
    for name, n, n_classes in MEASURED:
        if has_dataset(name):
            data = load_benchmark(name)
            kept = np.flatnonzero(data.target < n_classes)
            kept = np.sort(np.random.default_rng(0).permutation(kept)[:n])
            X = StandardScaler().fit_transform(data.data[kept])
            D = euclidean_distances(X)
            found[f"{name}, {n_classes} classes"] = np.exp(-D / np.median(D)), data.target[kept]
    return found


if __name__ == "__main__":
    main()
