"""Constants of the race, replayed on recorded full studies: cost, regret and agreement with the full study.

    python benchmarks/derive_race.py            # studies the shipped data in full, then replays; it resumes

A replay takes the splits of a full study in a random order and drops methods by the rule with other constants. Cost is
the time of the splits that are run, over that of all; regret is the error of the method that the raced study
recommends minus that of the full study's, both over all splits.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from _measure import Benchmark

from similis import Study
from similis.datasets import load_promoters, load_sonar, load_votes
from similis.measures import Counting, Pairwise
from similis.study import _plan
from similis.study._evaluate import Task

METHODS = [
    *("knn", "affinity-knn", "kri-knn(clip)", "krr-knn(clip)", "nc", "nc(adjusted)", "local-nc", "cnn", "sda", "nnsda"),
    *(
        "local-sda",
        "maxsim",
        "rnlc",
        "pfld",
        "svm-kernel(clip)",
        "svm-kernel(flip)",
        "svm-features(linear)",
        "majority",
    ),
]
ORDERS = 100
CHOSEN = (5, 1.28, 0.01)
RULES = [CHOSEN, (3, 1.28, 0.01), (7, 1.28, 0.01), (5, 1.0, 0.01), (5, 1.65, 0.01), (5, 1.28, 0.0), (5, 1.28, 0.02)]


def main():
    """Study the data sets in full, replay the race under each rule, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("derive_race"), help="journals of the full studies")
    parser.add_argument("--orders", type=int, default=ORDERS)
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    full = {}
    for name, (S, y, kind) in data_sets().items():
        study = Study(METHODS, race=False, journal=options.folder / f"{name}.journal")
        full[name] = study.run(S, y, kind=kind, progress=True)
    bench = Benchmark("derive_race")
    for rule in RULES:
        for name, result in full.items():
            rng = np.random.default_rng(0)
            found = [replay(result, rule, rng.permutation(len(result.splits))) for _ in range(options.orders)]
            cost, regret, same = np.array(found).T
            item = {"name": name, "first": rule[0], "statistic": rule[1], "margin": rule[2], "orders": len(found)}
            item |= {"cost": float(cost.mean()), "regret": float(regret.mean())}
            item |= {"regret 99 %": float(np.quantile(regret, 0.99)), "same": float(same.mean())}
            bench.items.append(item)
            print(item, flush=True)
    bench.write()


def data_sets():
    """Matrix, labels and kind of each data set."""
    votes, promoters = load_votes(), load_promoters()
    return {
        "votes": (Pairwise(Counting()).fit_transform(votes.data), votes.target, "similarity"),
        "promoters": (Pairwise(Counting()).fit_transform(promoters.data), promoters.target, "similarity"),
        "sonar": (*load_sonar(return_X_y=True), "similarity"),
    }


def replay(full, rule, order):
    """Cost, regret and agreement of a race over the splits of a full study in another order."""
    _plan._FIRST, _plan._STATISTIC, _plan._MARGIN = rule
    splits = [replace(full.splits[old], number=new) for new, old in enumerate(order)]
    entries = {
        (name, new): replace(full.entries[name, full.splits[old].number], split=new)
        for new, old in enumerate(order)
        for name in METHODS
    }
    tasks = [Task(full.custom[name], {}, "", split) for split in splits for name in METHODS]
    plan = _plan.Plan(tasks, replace(full, splits=splits, entries={}), race=True)
    for batch in plan.rounds():
        for task in batch:
            plan.add(entries[task.key])
    run = sum(entry.fit_seconds + entry.predict_seconds for entry in plan.entries.values())
    whole = sum(entry.fit_seconds + entry.predict_seconds for entry in entries.values())
    means, chosen = full.mean_scores(full.metric), plan.snapshot().leader()
    return run / whole, means[chosen] - means[full.leader()], chosen == full.leader()


if __name__ == "__main__":
    main()
