"""What the cut of the rule for suspicious entries does to real matrices: the table of docs/guide/diagnosis.md.

    SIMILIS_DATA=... python benchmarks/suspects_cuts.py          # writes benchmarks/results/suspects_cuts.json

For looking, not for choosing: a constant chosen here would be chosen on the data that judge it.
"""

import numpy as np
from _measure import Benchmark

from similis import load_benchmark
from similis.proximity import _suspects as rule
from similis.proximity import suspects

SETTINGS = ((5.0, 0.1, 0.05), (7.0, 0.1, 0.1), (10.0, 0.1, 0.1), (3.7, 0.23, 0.1))  # CUT, FLOOR and TYPICAL
CLEAN = ("protein", "aural_sonar", "voting_vdm", "chicken_pieces")
SEEDS = range(4)


def main():
    bench = Benchmark("suspects_cuts")
    damaged = load_benchmark("protein_uw")
    wrong = np.triu(damaged.lost_ten_mask.astype(bool) | damaged.lost_ten_mask.astype(bool).T, 1)
    for rule.CUT, rule.FLOOR, rule.TYPICAL in SETTINGS:
        masks = [np.triu(suspects(damaged.proximity, random_state=seed).mask(len(wrong)), 1) for seed in SEEDS]
        flagged = {}
        for name in CLEAN:
            data = load_benchmark(name)
            S = (data.proximity + data.proximity.T) / 2
            flagged[name] = [len(suspects(S, data.kind, random_state=seed)) for seed in SEEDS]
        item = {
            "name": f"CUT = {rule.CUT:g}, FLOOR = {rule.FLOOR:g}, TYPICAL = {rule.TYPICAL:g}",
            "flagged_in_clean": flagged,
        }
        item["precision"] = [float((mask & wrong).sum() / mask.sum()) for mask in masks]
        item["recall"] = [float((mask & wrong).sum() / wrong.sum()) for mask in masks]
        bench.items.append(item)
        print(item, flush=True)
    print(bench.write())


if __name__ == "__main__":
    main()
