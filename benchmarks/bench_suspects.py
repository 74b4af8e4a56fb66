"""Suspicious entries: precision and recall on simulated damage, false alarms on clean matrices.

    python benchmarks/bench_suspects.py          # writes benchmarks/results/suspects.json

Every fourth kind of simulated matrix (tests/oracles/damage.py) is damaged in every way that means something for it.
"""

import sys
from pathlib import Path

import numpy as np
from _measure import Benchmark

from similis.proximity import suspects

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracles.damage import CLEAN, DAMAGE

N, SEEDS = 120, (100,)


def flagged(D):
    return suspects(-D).mask(len(D))  # as similarities, so that a lost sign is welcome too


def main():
    bench = Benchmark("suspects")
    upper = np.triu(np.ones((N, N), bool), 1)
    alarms = pairs = 0
    counts = {name: [0, 0, 0] for name in DAMAGE}  # rightly flagged, flagged, damaged
    for make in list(CLEAN.values())[::4]:
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            D = make(rng, N)
            alarms += int((flagged(D) & upper).sum())
            pairs += int(upper.sum())
            for name, damage in DAMAGE.items():
                done = damage(D, rng)
                if done is None:
                    continue
                changed, mask = done
                found = flagged(changed) & upper
                counts[name][0] += int((found & mask).sum())
                counts[name][1] += int(found.sum())
                counts[name][2] += int((mask & upper).sum())
    bench.items.append({"name": "clean", "flagged": alarms, "pairs": pairs})
    for name, (right, found, damaged) in counts.items():
        item = {"name": name, "flagged": found, "damaged": damaged, "right": right}
        item |= {"precision": right / max(found, 1), "recall": right / max(damaged, 1)}
        bench.items.append(item)
        print(f"{name:24s} precision {item['precision']:.3f}  recall {item['recall']:.3f}  of {damaged}")
    print(f"clean: {alarms} of {pairs} flagged")
    print(bench.write())


if __name__ == "__main__":
    main()
