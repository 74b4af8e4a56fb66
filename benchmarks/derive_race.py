"""Constants of the race, replayed on recorded full studies: cost, regret and agreement with the full study.

    python benchmarks/derive_race.py --page     # prints the table of docs/results/study.md
    python benchmarks/derive_race.py            # studies the shipped data in full, then replays; it resumes

A replay takes the splits of a full study in a random order and drops methods by the rule with other constants. Cost is
the time of the splits that are run, over that of all; regret is the error of the method that the raced study
recommends minus that of the full study's, both over all splits.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from _measure import RESULTS, Benchmark

from similis import Study
from similis.datasets import has_dataset, load_benchmark, load_promoters, load_sonar, load_votes
from similis.measures import Counting, Minkowski, Pairwise
from similis.study import _plan
from similis.study._evaluate import Task

METHODS = """knn affinity-knn kri-knn(clip) krr-knn(clip) nc nc(adjusted) local-nc cnn sda nnsda local-sda maxsim rnlc
pfld svm-kernel(clip) svm-kernel(flip) majority""".split()
MORE = ("aural_sonar", "protein_uw", "voting_vdm", "chicken_pieces")  # where SIMILIS_DATA has them
ORDERS = 100
CHOSEN = (5, 1.28, 0.01)
RULES = [CHOSEN, (3, 1.28, 0.01), (7, 1.28, 0.01), (5, 1.0, 0.01), (5, 1.65, 0.01), (5, 1.28, 0.0), (5, 1.28, 0.02)]


def main():
    """Study the data sets in full, replay the race under each rule, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path("derive_race"), help="journals of the full studies")
    parser.add_argument("--orders", type=int, default=ORDERS)
    parser.add_argument("--page", action="store_true", help="print the table of docs/results/study.md and stop")
    options = parser.parse_args()
    if options.page:
        print(page())
        return
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
    votes, promoters, sonar = load_votes(), load_promoters(), load_sonar()
    found = {
        "votes": (Pairwise(Counting()).fit_transform(votes.data), votes.target, "similarity"),
        "promoters": (Pairwise(Counting()).fit_transform(promoters.data), promoters.target, "similarity"),
        "sonar": (Pairwise(Minkowski()).fit_transform(sonar.data), sonar.target, "dissimilarity"),
    }
    for name in filter(has_dataset, MORE):
        data = load_benchmark(name)
        found[name] = data.proximity, data.target, data.kind
    return found


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


def page():
    """Table of the record: means over the data sets, and the worst one."""
    items = json.loads((RESULTS / "derive_race.json").read_text())["items"]
    lines = [
        "| first decision | t above | points | cost | regret, mean | regret, 99 % | same recommendation |",
        "|---" * 7 + "|",
    ]
    for rule in RULES:
        rows = [item for item in items if (item["first"], item["statistic"], item["margin"]) == rule]
        mean = {key: float(np.mean([row[key] for row in rows])) for key in ("cost", "regret", "same")}
        worst = max(row["regret 99 %"] for row in rows)
        cells = [str(rule[0]), str(rule[1]), f"{100 * rule[2]:g}", f"{100 * mean['cost']:.0f} %"]
        cells += [f"{100 * mean['regret']:.2f}", f"{100 * worst:.2f}", f"{100 * mean['same']:.1f} %"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
