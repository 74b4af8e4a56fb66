"""Errors side by side on the same splits: our main methods, scikit-learn, proto-dist-ml and MKLpy.

    SIMILIS_DATA=... python benchmarks/bench_accuracy.py          # writes benchmarks/results/accuracy.json
    python benchmarks/bench_accuracy.py --set sonar               # one data set anew, the others as they were
    python benchmarks/bench_accuracy.py --set sonar --splits 5    # prints only

Random splits, a fifth held out ([chen2010] sec. 4.3), and five folds inside for the parameters of all methods: the same
numbers of neighbors, the same C. Methods that take long get the first splits only. Data sets that do not ship with
similis are left out where SIMILIS_DATA does not name them.
"""

import argparse
import json
import warnings
from pathlib import Path
from time import perf_counter

import numpy as np
from _measure import RESULTS, Benchmark
from _peers import ask
from bench_svm import CS, KS, PlainClip
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from similis import VDM, Counting, Minkowski, Study, load_benchmark, load_promoters, load_sonar, load_votes
from similis.datasets import has_dataset

HERE = Path(__file__).parent
QUICK = ("knn", "kri-knn(clip)", "svm-kernel(clip)", "local-sda", "kernel-hlm")
SLOW = ("psvm", "simsvm")
N_SPLITS, N_SLOW, N_FOLDS = 20, 5, 5


def votes():
    X, y = load_votes(return_X_y=True)
    return VDM().fit(X, y).matrix(X), y


def promoters():
    X, y = load_promoters(return_X_y=True)
    D = Counting().fit(X).matrix(X)
    return D.max() - D, y


def sonar():
    X, y = load_sonar(return_X_y=True)
    return Minkowski().fit(X).matrix(X), y


SHIPPED = {"promoters": promoters, "sonar": sonar, "votes": votes}
OTHERS = ("aural_sonar", "protein_uw", "protein")


def distances(name):
    """Symmetric distances and codes; similarities s become s_max - s, as in the study."""
    if name in SHIPPED:
        D, y = SHIPPED[name]()
    else:
        data = load_benchmark(name)
        D, y = data.proximity, data.target
        D = D.max() - D if data.kind == "similarity" else D
    D = np.array(D + D.T) / 2
    np.fill_diagonal(D, 0)
    return D, np.unique(y, return_inverse=True)[1]


def ours(methods, D, y, n_splits):
    """Errors and seconds of each method of a study, and its splits."""
    study = Study(list(methods), n_splits=n_splits, cv=N_FOLDS, random_state=0, race=False, landmarks=None)
    result = study.run(D, y, kind="dissimilarity")
    errors, rows = result.scores("error"), {row.method: row for row in result.table()}
    found = {}
    for method in methods:
        assert rows[method].status == "ok", rows[method].reason
        found[method] = {"errors": errors[method].tolist(), "mean_seconds": rows[method].fit_seconds}
    return found, [np.isin(np.arange(len(y)), split.test) for split in result.splits]


def with_scikit_learn(D, y, tests):
    """Its classifiers for precomputed matrices, on the grids that ours search."""
    S = D.max() - D
    svc = SVC(kernel="precomputed", max_iter=100_000)
    machines = {
        "SVC on the matrix as it is": (svc, {"C": CS}, S),
        "SVC on the clipped matrix": (make_pipeline(PlainClip(), svc), {"svc__C": CS}, S),
        "KNeighborsClassifier": (KNeighborsClassifier(metric="precomputed"), "neighbors", D),
    }
    found = {}
    for name, (model, grid, M) in machines.items():
        errors, seconds = [], []
        for seed, flags in enumerate(tests):
            train, test = np.flatnonzero(~flags), np.flatnonzero(flags)
            if grid == "neighbors":
                most = int(len(train) * (1 - 1 / N_FOLDS))
                points = {"n_neighbors": [k for k in KS if k <= most]}
            else:
                points = grid
            cv = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
            start = perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # as one expects where the matrix is no kernel
                search = GridSearchCV(model, points, cv=cv).fit(M[np.ix_(train, train)], y[train])
            seconds.append(perf_counter() - start)
            errors.append(float(np.mean(search.predict(M[np.ix_(test, train)]) != y[test])))
        found[name] = {"errors": errors, "seconds": seconds}
    return found


def rows(name, n_splits, n_slow):
    """Every method's line for one data set."""
    D, y = distances(name)
    quick, tests = ours(QUICK, D, y, n_splits)
    slow, first = ours(SLOW, D, y, n_slow)
    assert np.array_equal(first, tests[:n_slow])
    problem = {"y": y, "n_folds": N_FOLDS}
    groups = {
        "similis": quick | slow,
        "scikit-learn": with_scikit_learn(D, y, tests),
        "proto-dist-ml": ask("proto-dist-ml", HERE / "peer_lvq.py", D=D, tests=np.array(first), **problem),
        "MKLpy": ask("MKLpy", HERE / "peer_mkl.py", S=D.max() - D, tests=np.array(first), **problem),
    }
    for by, found in groups.items():
        for method, record in (found or {}).items():
            if "failed" in record:
                print(f"{name}: {method} fails: {record['failed']}")
                continue
            errors = 100 * np.array(record["errors"])
            yield {
                "name": name,
                "objects": len(y),
                "by": by,
                "method": method,
                "error": round(float(errors.mean()), 2),
                "deviation": round(float(errors.std(ddof=1)), 2),
                "seconds": round(float(record.get("mean_seconds") or np.mean(record["seconds"])), 4),
                "splits": len(errors),
                "errors": errors.round(4).tolist(),
            }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--set", action="append", choices=[*SHIPPED, *OTHERS])
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    options = parser.parse_args()
    bench = Benchmark("accuracy")
    if options.set:
        known = json.loads((RESULTS / "accuracy.json").read_text())["items"]
        bench.items = [item for item in known if item["name"] not in options.set]
    with threadpool_limits(1):
        for name in options.set or (*SHIPPED, *filter(has_dataset, OTHERS)):
            for row in rows(name, options.splits, min(options.splits, N_SLOW)):
                bench.items.append(row)
                print(
                    "{name:12s} {by:14s} {method:28s} {error:6.2f} +- {deviation:5.2f} %{seconds:10.4f} s".format(**row)
                )
            if options.splits == N_SPLITS:
                bench.write()  # whole after every data set


if __name__ == "__main__":
    main()
