"""The default study at several sizes, raced and in full, beside the same comparison written with scikit-learn.

    python benchmarks/study_sizes.py --sizes 435 1000   # writes results/study_sizes.json; --budget 10m for large sizes

The comparison searches two methods of scikit-learn, KNeighborsClassifier and SVC, by GridSearchCV on the same matrix
with as many splits and folds, on all cores. The verdict is stable at the time of the first split after which the leader
does not change any more.
"""

import argparse
import time

import numpy as np
from _measure import Benchmark
from sklearn.model_selection import GridSearchCV, ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from similis import Study
from similis.datasets import load_votes, make_similarity
from similis.measures import Counting, Pairwise


def main():
    """Run every size and write the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[435, 1000, 2000, 5000])
    parser.add_argument("--budget", help="time budget of each study; without it raced and full studies run to the end")
    parser.add_argument("--methods", default="all", help="all or quick")
    parser.add_argument("--jobs", type=int, default=-1)
    options = parser.parse_args()
    bench = Benchmark("study_sizes")
    for n in options.sizes:
        S, y = problem(n)
        for name, race in (("raced", True), ("full", False)):
            study = Study(options.methods, race=race, n_jobs=options.jobs, time_budget=options.budget)
            leaders = []
            start = time.perf_counter()

            def see(state, leaders=leaders, start=start):
                leaders.append((time.perf_counter() - start, state.leader))

            expected = study.estimate(S, y).seconds
            result = study.run(S, y, progress=see)
            total = time.perf_counter() - start
            changes = [at for (at, leader), (_, before) in zip(leaders[1:], leaders) if leader != before]
            item = {"name": name, "n": n, "methods": options.methods, "budget": options.budget, "seconds": total}
            item |= {"estimated": expected, "stable_seconds": changes[-1] if changes else leaders[0][0]}
            item |= {"recommended": result.best(), "error": result.recommend().error, "dropped": len(result.dropped)}
            item |= {"on_landmarks": sum("landmarks=" in info.name for info in result.methods)}
            bench.items.append(item)
            print(item, flush=True)
            means = result.paired_scores(result.metric)
            if name == "full":
                raced = bench.items[-2]
                raced["regret"] = means[raced["recommended"]] - means[result.leader()]
        start = time.perf_counter()
        error = with_scikit_learn(S, y, options.jobs)
        bench.items.append({"name": "scikit-learn", "n": n, "seconds": time.perf_counter() - start, "error": error})
        print(bench.items[-1], flush=True)
    bench.write()


def problem(n):
    """Votes, or simulated similarities of so many objects."""
    if n == 435:
        votes = load_votes()
        return Pairwise(Counting()).fit_transform(votes.data), votes.target
    return make_similarity(n, 4, indefinite=0.1, random_state=0)[:2]


def with_scikit_learn(S, y, n_jobs):
    """Lowest mean error of scikit-learn's methods on 20 splits."""
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    D = np.maximum(S.max() - S, 0)
    np.fill_diagonal(D, 0)
    searches = [
        (GridSearchCV(KNeighborsClassifier(metric="precomputed"), {"n_neighbors": [1, 3, 5, 9, 15, 25]}, cv=folds), D),
        (GridSearchCV(SVC(kernel="precomputed"), {"C": 10.0 ** np.arange(-3, 6)}, cv=folds), S),
    ]
    splits = ShuffleSplit(20, test_size=0.2, random_state=0)
    return min(1 - cross_val_score(search, X, y, cv=splits, n_jobs=n_jobs).mean() for search, X in searches)


if __name__ == "__main__":
    main()
