"""Choose the constants of the rule for suspicious entries on simulated matrices with simulated damage alone.

    python benchmarks/tune_suspects.py           # writes benchmarks/results/suspects_tuning.json

The criterion was written down before the first run. Each constant in turn takes the value with the highest recall,
averaged over the sorts of damage, among the values that keep the pooled precision of every sort at 0.99 or more and
flag at most one in 10,000 pairs of undamaged matrices. The present value stays unless another is better by 0.01: less
is chance. Every sort of simulated matrix (tests/oracles/damage.py) is drawn with seeds that no test and no other
benchmark uses.
"""

import sys
from pathlib import Path

import numpy as np
from _measure import Benchmark

from similis.proximity import _suspects_rule as rule
from similis.proximity import suspects

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracles.damage import CLEAN, DAMAGE

N, SEED = 100, 7_031
PRECISION, ALARMS, GAIN = 0.99, 1e-4, 0.01
KINDS = ("lost digit, 3 %", "swapped entries, 1 %", "lost minus sign, 1 %", "factor 10, 1 %", "noise, 1 %")
CHOICES = {
    "CUT": (5.0, 6.0, 7.0, 8.5, 10.0),
    "FLOOR": (0.05, 0.1, 0.2),
    "TYPICAL": (0.05, 0.1, 0.2),
    "WIDTHS": ((20, 10, 5), (28, 14, 7), (40, 20, 10)),
}


def simulate():
    """(damage, matrix, mask) of every sort of matrix, clean and damaged."""
    for number, make in enumerate(CLEAN.values()):
        rng = np.random.default_rng([SEED, number])
        D = make(rng, N)
        yield "clean", D, np.zeros(D.shape, bool)
        for name in KINDS:
            done = DAMAGE[name](D, rng)
            if done is not None:
                yield name, *done


def score(problems):
    """Least precision and mean recall over the sorts of damage, share of clean pairs flagged."""
    upper = np.triu(np.ones((N, N), bool), 1)
    counts = {name: np.zeros(3) for name in ("clean", *KINDS)}  # rightly flagged, flagged, damaged
    for name, D, mask in problems:
        found = suspects(-D).mask(N) & upper
        counts[name] += (found & mask).sum(), found.sum(), (mask & upper).sum()
    alarms = counts.pop("clean")[1] / (len(CLEAN) * upper.sum())
    right, flagged, damaged = np.array(list(counts.values())).T
    precision = np.where(flagged > 0, right / np.maximum(flagged, 1), 1.0)
    return float(precision.min()), float((right / damaged).mean()), float(alarms)


def main():
    bench = Benchmark("suspects_tuning")
    problems = list(simulate())
    known = {}

    def judged(constants):
        key = tuple(constants.items())
        if key not in known:
            for name, value in constants.items():
                setattr(rule, name, value)
            known[key] = score(problems)
            precision, recall, alarms = known[key]
            item = {"name": ", ".join(f"{name} = {value}" for name, value in key), "constants": constants}
            bench.items.append(item | {"precision": precision, "recall": recall, "alarms": alarms})
            print(f"{item['name']:70s} precision {precision:.4f} recall {recall:.4f} alarms {alarms:.1e}", flush=True)
        return known[key]

    chosen = {name: getattr(rule, name) for name in CHOICES}
    for name, values in CHOICES.items():
        best = judged(chosen)
        admissible = best[0] >= PRECISION and best[2] <= ALARMS
        for value in values:
            precision, recall, alarms = judged(chosen | {name: value})
            gain = recall - best[1] if admissible else np.inf
            if precision >= PRECISION and alarms <= ALARMS and gain > GAIN:
                chosen, best, admissible = chosen | {name: value}, (precision, recall, alarms), True
    bench.items.append({"name": "chosen", "constants": chosen})
    print("chosen:", chosen)
    print(bench.write())


if __name__ == "__main__":
    main()
