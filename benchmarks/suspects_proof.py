"""Does a second, higher cut make the rule for suspicious entries less sensitive to its cut and to chance?

    python benchmarks/suspects_proof.py           # writes benchmarks/results/suspects_proof.json

Two criteria, each written down before its run, chose a cut on simulated matrices alone (benchmarks/tune_suspects.py):
one that weighs alarms lightly chose 5, one that allows none chose 10. The rule here uses both, as edge detectors do: a
deviation beyond PROOF = 10 proves that a matrix is damaged, and in a damaged matrix every pair beyond CUT = 5 is
suspect. Neither number is new, so there is nothing to tune. The rule replaces the single cut of 7 if, on the problems
of tune_suspects.py,

1. at most two of the 294 undamaged matrices alarm (a single cut of 10: one);
2. the pooled precision of every sort of damage is 0.9 or more;
3. it repairs no fewer lost digits than a single cut of 7 does, less one for chance.

This was written down, and committed, before the first run. The real matrices are looked at once, afterwards, and only
if the rule is accepted (benchmarks/suspects_cuts.py). What is not blind: that a cut of 5 flags pairs of a clean real
matrix and that the finds of a cut of 10 depend on chance in a damaged one was known when the two were combined.
"""

from dataclasses import replace

import numpy as np
import tune_suspects as tuning
from _measure import Benchmark

from similis.proximity import _suspects as rule
from similis.proximity import suspects

RULES = {"CUT = 5, PROOF = 10": (5.0, 10.0), "CUT = 7": (7.0, 7.0), "CUT = 10": (10.0, 10.0)}  # CUT and PROOF
STATES = range(4)


def with_proof(proof):
    """The rule that names pairs only where one deviation at least is beyond `proof`."""

    def find(S, **options):
        found = suspects(S, **options)
        return found if found.scores.max(initial=0.0) > proof else replace(found, pairs=found.pairs[:0])

    return find


def swing(find, problems):
    """How far the share of damaged pairs found moves with the random state, on average over the lost digits."""
    moved = []
    for kind, D, mask in problems:
        if kind.startswith("lost digit"):
            found = [(find(-D, random_state=state).mask(len(D)) & mask).sum() / mask.sum() for state in STATES]
            moved.append(max(found) - min(found))
    return {"swing": float(np.mean(moved)), "largest_swing": float(max(moved))}


def main():
    bench = Benchmark("suspects_proof")
    tuning.PATIENCE = 1000  # every clean matrix is looked at
    good, bad = list(tuning.clean()), list(tuning.damaged())
    for name, (rule.CUT, proof) in RULES.items():
        tuning.suspects = with_proof(proof)
        item = {"name": name} | tuning.finds(bad) | swing(tuning.suspects, bad) | tuning.alarms(good)
        bench.items.append(item)
        print({key: value for key, value in item.items() if not key.endswith("by_kind")}, flush=True)
        bench.write()
    new, old, _ = bench.items
    accepted = new["alarming"] <= 2 and new["precision"] >= tuning.FAIR and new["repaired"] >= old["repaired"] - 1
    bench.items.append({"name": "accepted", "accepted": bool(accepted)})
    print("accepted:", accepted)
    print(bench.write())


if __name__ == "__main__":
    main()
