"""Choose the constants of the rule for suspicious entries on simulated matrices with simulated damage alone.

    python benchmarks/tune_suspects.py           # writes benchmarks/results/suspects_tuning.json

The criterion was written down before the run. An alarm on good data costs more trust than a missed error, so:

1. A setting is admissible if it flags nothing at all in undamaged matrices: every sort in tests/oracles/damage.py,
   those made irregular on purpose included (real matrices are more irregular than simulated ones), of 70, 130 and 220
   objects, with seeds that no test and no other benchmark uses. It is given up at the fourth matrix with an alarm.
2. Of the admissible settings, those that repair the most lost digits: matrices in which 3 or 6 % of the pairs lost a
   leading digit and the rule has precision and recall of 0.9 or more. One matrix less is chance.
3. Of these, those with the highest recall, averaged over the sorts of damage, while the pooled precision of every sort
   of damage is 0.9 or more. Less than 0.02 is chance.
4. Of these, the safest: the largest deviation asked for, CUT x FLOOR, then the largest CUT.

CUT and FLOOR are chosen together: for each FLOOR, CUT rises until two values in succession are admissible; larger ones
only lose recall. TYPICAL changes afterwards if the change is admissible, repairs no fewer lost digits and adds 0.01 of
recall. Should admissible settings repair fewer than half of the lost digits that any setting repairs, demands 1 and 2
exclude each other, and those that alarm in the fewest matrices while they repair so many take their place. WIDTHS
stays.

A first run, with other seeds and without the last clause on lost digits, was broken off: one of the new simulated trees
had close relatives at quite different distances from everybody else, which no tree has and every setting tried flagged.
Distances in it are now lengths of paths.

The second run was cut short as well, for want of time, so the record was put together from what it printed. Values of
CUT with FLOOR = 0.1 are complete. FLOOR = 0.15 and 0.2 met nine clean matrices only, of the three sorts that alarmed
with CUT = 8.5, and alarmed in at least two of them at every CUT tried, 10 at most; CUT = 10 with FLOOR = 0.1 alarms in
one of all 294. No setting was admissible, so the clause on lost digits decided. TYPICAL = 0.05 added 0.004 of recall,
too little. An earlier criterion asked for a pooled precision of 0.99 and at most one alarm in 10,000 clean pairs, and
chose CUT = 5 with TYPICAL = 0.05. Neither choice is in use: suspects_blind.py made a third one.
"""

import sys
from pathlib import Path

import numpy as np
from _measure import Benchmark

from similis.proximity import _suspects as rule
from similis.proximity import suspects

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracles.damage import CLEAN, DAMAGE

SEED = 32_452_843
SEEDS = {70: 3, 130: 2, 220: 1}  # clean matrices of each sort, by number of objects
PATIENCE = 4  # clean matrices with an alarm before a setting is given up
N = 100  # objects of damaged matrices
FAIR, CHANCE, GAIN = 0.9, 0.02, 0.01
KINDS = ("lost digit, 6 %", "swapped entries, 1 %", "lost minus sign, 1 %", "factor 10, 1 %", "noise, 1 %")
LOST = "lost digit, 3 %"  # of every sort; the other kinds take turns
CUTS, FLOORS, TYPICALS = (5.0, 6.0, 7.0, 8.5, 10.0, 12.0, 14.0), (0.1, 0.15, 0.2), (0.1, 0.05)


def clean():
    """(sort, matrix) of every sort and size, small ones first."""
    for n, seeds in SEEDS.items():
        for seed in range(seeds):
            for number, (sort, make) in enumerate(CLEAN.items()):
                yield f"{sort}, {n}", make(np.random.default_rng([SEED, n, seed, number]), n)


def damaged():
    """(damage, matrix, mask): a lost digit and one other kind of damage for every sort."""
    for number, make in enumerate(CLEAN.values()):
        rng = np.random.default_rng([SEED, N, number])
        D = make(rng, N)
        for kind in (LOST, KINDS[number % len(KINDS)]):
            done = DAMAGE[kind](D, rng)
            if done is not None:
                yield kind, *done


def alarms(problems):
    """Matrices looked at, and those with an alarm: how many pairs each."""
    found, looked = {}, 0
    for sort, D in problems:
        flagged, looked = len(suspects(-D)), looked + 1
        if flagged:
            found.setdefault(sort, []).append(flagged)
        if sum(map(len, found.values())) == PATIENCE:
            break
    return {"looked": looked, "alarming": sum(map(len, found.values())), "alarms": found}


def finds(problems):
    """Lost digits repaired, mean recall and least pooled precision over the kinds of damage."""
    upper = np.triu(np.ones((N, N), bool), 1)
    counts = {kind: np.zeros(3) for kind in (LOST, *KINDS)}  # rightly flagged, flagged, damaged
    repaired = cases = 0
    for kind, D, mask in problems:
        found = suspects(-D).mask(N) & upper  # as similarities: a lost sign is welcome
        right, flagged, wrong = (found & mask).sum(), found.sum(), (mask & upper).sum()
        counts[kind] += right, flagged, wrong
        if kind.startswith("lost digit"):
            cases += 1
            repaired += right >= FAIR * wrong and right >= FAIR * flagged
    right, flagged, wrong = np.array(list(counts.values())).T
    precision, recall = np.where(flagged > 0, right / np.maximum(flagged, 1), 1.0), right / wrong
    return {
        "repaired": int(repaired),
        "lost_digits": cases,
        "recall": float(recall.mean()),
        "precision": float(precision.min()),
        "recall_by_kind": dict(zip(counts, recall.tolist())),
        "precision_by_kind": dict(zip(counts, precision.tolist())),
    }


def main():
    bench = Benchmark("suspects_tuning")
    good, bad = list(clean()), list(damaged())

    def tried(**constants):
        for name, value in constants.items():
            setattr(rule, name, value)
        item = {"name": ", ".join(f"{name} = {value}" for name, value in constants.items()), "constants": constants}
        item |= alarms(good)
        bench.items.append(item)
        text = f"{item['name']:40s} {item['alarming']} alarming of {item['looked']} {item['alarms']}"
        item |= finds(bad)
        text += f" repaired {item['repaired']}/{item['lost_digits']}"
        print(f"{text} recall {item['recall']:.3f} precision {item['precision']:.3f}", flush=True)
        return item

    settings = []
    for floor in FLOORS:
        silent = 0
        for cut in CUTS:
            settings.append(tried(CUT=cut, FLOOR=floor, TYPICAL=TYPICALS[0]))
            silent = silent + 1 if not settings[-1]["alarming"] else 0
            if silent == 2:
                break
    useful = [s for s in settings if 2 * s["repaired"] >= max(s["repaired"] for s in settings)]
    left = [s for s in useful if s["alarming"] == min(s["alarming"] for s in useful)]
    left = [s for s in left if s["repaired"] >= max(s["repaired"] for s in left) - 1]
    left = [s for s in left if s["precision"] >= FAIR] or left
    left = [s for s in left if s["recall"] > max(s["recall"] for s in left) - CHANCE]
    best = max(left, key=lambda s: (s["constants"]["CUT"] * s["constants"]["FLOOR"], s["constants"]["CUT"]))
    for typical in TYPICALS[1:]:
        other = tried(**best["constants"] | {"TYPICAL": typical})
        if other["alarming"] <= best["alarming"] and other["precision"] >= FAIR:
            if other["repaired"] >= best["repaired"] and other["recall"] > best["recall"] + GAIN:
                best = other
    bench.items.append({"name": "chosen", "constants": best["constants"]})
    print("chosen:", best["constants"])
    print(bench.write())


if __name__ == "__main__":
    main()
