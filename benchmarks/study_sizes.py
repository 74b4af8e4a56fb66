"""The default study at several sizes, raced and in full, beside the same comparison written with scikit-learn.

    python benchmarks/study_sizes.py 435 --splits 20            # adds its lines to results/study_sizes.json; it resumes
    python benchmarks/study_sizes.py 5000 --budget 10m
    python benchmarks/study_sizes.py --page                     # the table of docs/results/study.md

The full study runs; the raced one is replayed from its journal, so that its time is that of the splits it needs. With a
budget only the raced study runs, without a comparison. A verdict is stable from the split after which the leader does
not change any more. Times, also the budget, are processor times of one process in one thread, which hardly depend on
other programs.

The comparison searches methods of scikit-learn by GridSearchCV on the same splits: k-NN and SVC on the matrix,
ridge regression of the classes and nearest centroids on its rows as features.
"""

import argparse
import json
import os
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from _measure import RESULTS, Benchmark
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from similis import Study, make_similarity
from similis.datasets import load_votes
from similis.measures import Counting, Pairwise
from similis.study import _evaluate, _plan, _run

PROCESSOR = SimpleNamespace(perf_counter=time.process_time, monotonic=time.process_time, sleep=time.sleep)


def main():
    """Study one size and add its lines to the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n", type=int, nargs="?", default=435)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--budget", help="time budget; without it the full study runs to the end")
    parser.add_argument("--folder", type=Path, default=Path("study_sizes"), help="for the journals")
    parser.add_argument("--alone", action="store_true", help="without scikit-learn")
    parser.add_argument("--page", action="store_true")
    options = parser.parse_args()
    if options.page:
        print(page())
        return
    options.folder.mkdir(exist_ok=True, parents=True)
    with threadpool_limits(1):
        items = measure(options)
    bench = Benchmark("study_sizes")
    path = Path(os.environ.get("SIMILIS_BENCH_RESULTS") or RESULTS) / "study_sizes.json"
    if path.exists():
        bench.items = [item for item in json.loads(path.read_text())["items"] if item["n"] != options.n]
    bench.items = sorted(bench.items + items, key=lambda item: item["n"])
    bench.write()


def measure(options):
    """Items of one size: the study in full, raced, and with scikit-learn."""
    S, y = problem(options.n)
    Study(n_splits=1, n_jobs=1).run(*problem(60))  # imports and compiles
    for module in (_evaluate, _plan, _run):
        module.time = PROCESSOR
    about = {"n": options.n, "splits": options.splits, "budget": options.budget}
    shared = {"n_splits": options.splits, "n_jobs": 1, "journal": options.folder / f"{options.n}.journal"}
    study = Study(race=options.budget is not None, time_budget=options.budget, **shared)
    expected = study.estimate(S, y).seconds
    result = study.run(S, y)
    means = result.paired_scores(result.metric)
    items = []
    both = ("full", "raced") if options.splits > 5 else ("full",)  # a race needs six splits
    for name in ("raced",) if options.budget else both:
        found = Study(**shared).run(S, y) if items else result
        items.append({
            "name": name, **about, "seconds": seconds(found), "estimated": expected, "stable_seconds": stable(found),
            "methods": len(found.methods), "dropped": len(found.dropped), "skipped": len(found.skipped),
            "on_landmarks": sum("landmarks=" in info.name for info in found.methods),
            "recommended": found.best(), "error": found.recommend().error,
            "regret": float(means[found.best()] - means[result.best()]),
            "first": [[row.method, row.error] for row in found.table()[:5]],
        })  # fmt: skip
        print(items[-1], flush=True)
    if options.budget or options.alone:
        return items
    start = time.process_time()
    errors = with_scikit_learn(S, y, [(split.train, split.test) for split in result.splits])
    took, name = time.process_time() - start, min(errors, key=errors.get)
    items.append({"name": "scikit-learn", **about, "methods": len(errors), "seconds": took, "recommended": name,
                  "error": errors[name]})  # fmt: skip
    print(items[-1], flush=True)
    return items


def problem(n):
    """Votes, compared by counting equal values, or simulated similarities: five classes, indefinite, of full rank."""
    if n == 435:
        votes = load_votes()
        return Pairwise(Counting()).fit_transform(votes.data), votes.target
    return make_similarity(n, 5, indefinite=0.1, random_state=0)


def seconds(result, n_splits=None):
    """Time of all methods on the first splits."""
    entries = result.entries.values()
    return sum(e.fit_seconds + e.predict_seconds for e in entries if n_splits is None or e.split < n_splits)


def stable(result):
    """Time of the splits after which the leader does not change any more."""
    leaders = []
    for r in range(1, len(result.splits) + 1):
        entries = {key: entry for key, entry in result.entries.items() if key[1] < r}
        leaders.append(replace(result, splits=result.splits[:r], entries=entries).leader())
    first = next(r for r in range(len(leaders)) if len(set(leaders[r:])) == 1)
    return seconds(result, first + 1)


def with_scikit_learn(S, y, splits):
    """Mean error of scikit-learn's methods on the same splits."""
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    D = np.maximum(S.max() - S, 0)
    np.fill_diagonal(D, 0)
    searches = {
        "k-NN": (KNeighborsClassifier(metric="precomputed"), {"n_neighbors": [1, 3, 5, 9, 15, 25]}, D),
        "SVC": (SVC(kernel="precomputed"), {"C": 10.0 ** np.arange(-3, 6)}, S),
        "ridge": (RidgeClassifier(), {"alpha": 10.0 ** np.arange(-2, 3)}, S),
        "nearest centroids": (NearestCentroid(), {"shrink_threshold": [None, 0.1, 1.0, 10.0]}, S),
    }
    return {
        name: 1 - float(cross_val_score(GridSearchCV(model, grid, cv=folds), X, y, cv=splits).mean())
        for name, (model, grid, X) in searches.items()
    }


def page():
    """Table of the record."""
    items = json.loads((RESULTS / "study_sizes.json").read_text())["items"]
    lines = ["| n | splits | study | methods | stable | total | recommended | error | regret |", "|---" * 9 + "|"]
    for item in items:
        peer = item["name"] == "scikit-learn"
        name = item["name"] + (f", budget {item['budget']}" if item["budget"] else "")
        cells = [f"{item['n']:,}", str(item["splits"]), name, str(item["methods"])]
        cells += ["" if peer else f"{item['stable_seconds']:,.0f} s", f"{item['seconds']:,.0f} s"]
        cells += [item["recommended"] if peer else f"`{item['recommended']}`", f"{100 * item['error']:.2f} %"]
        cells += ["" if peer or item["budget"] else f"{100 * item['regret']:.2f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
