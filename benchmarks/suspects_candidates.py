"""The rule of suspicious entries and a candidate for it, on the validation problems of ``suspects_protocol.md``.

    python benchmarks/suspects_candidates.py      # writes benchmarks/results/suspects_candidates.json

Only simulated matrices and the shipped data sets sonar and promoters are looked at.
"""

import time

import _suspects_candidate as candidate
import numpy as np
from _measure import Benchmark
from _suspects_problems import CLEAN, DAMAGE, detectable, quality

from similis.proximity import _suspects as rule
from similis.proximity import suspects

N = 80  # the protocol's larger sizes were left out: the candidate had already failed the first criterion in tuning
DAMAGES_PER_SORT = 2
FACTORS = (0.5, 2.0)


def in_use(D, state=0):
    return suspects(-D, random_state=state).mask(len(D))


def proposed(D):
    n = len(D)
    i, j = np.triu_indices(n, 1)
    verdict, found = candidate.judge(((D + D.T) / 2)[i, j], n), np.zeros((n, n), dtype=bool)
    if verdict is not None:
        found[i[verdict.suspects], j[verdict.suspects]] = True
    return found | found.T


def problems():
    clean, damaged = [], []
    kinds = list(DAMAGE)
    for sort, (name, make) in enumerate(CLEAN.items()):
        rng = np.random.default_rng((2, sort, 0))
        C = make(rng, N)
        clean.append((sort, name, C))
        for turn in range(DAMAGES_PER_SORT):
            kind = kinds[(DAMAGES_PER_SORT * sort + turn) % len(kinds)]
            done = DAMAGE[kind](C, rng)
            if done is not None and (worth := detectable(C, *done)).any():
                damaged.append((sort, kind, *done, worth))
    return clean, damaged


def score(find, damaged):
    """Mean over sorts of damage of the means over matrices: precision, recall, the lesser of both."""
    rows = {}
    for _, kind, D, mask, worth in damaged:
        p, r = quality(find(D), mask, worth)
        rows.setdefault(kind, []).append((p, r, min(p, r)))
    return [round(float(x), 3) for x in np.mean([np.mean(v, axis=0) for v in rows.values()], axis=0)], rows


def main():
    bench = Benchmark("suspects_candidates")
    clean, damaged = problems()
    rules = {"candidate": (proposed, candidate), "in use": (in_use, rule)}
    for name, (find, _) in rules.items():
        start = time.perf_counter()
        alarms = [kind for _, kind, C in clean if find(C).any()]
        means, rows = score(find, damaged)
        unseen, _ = score(find, [d for d in damaged if d[0] % 2])
        item = {"name": name, "clean": len(clean), "clean_with_alarms": alarms, "damaged": len(damaged)}
        item |= dict(zip(("precision", "recall", "lesser"), means)) | {"lesser_unseen_sorts": unseen[2]}
        item["by_damage"] = {k: [round(float(x), 3) for x in np.mean(v, axis=0)] for k, v in rows.items()}
        item["seconds"] = round(time.perf_counter() - start, 1)
        print(name, {k: v for k, v in item.items() if k != "by_damage"}, flush=True)
        bench.items.append(item)
        bench.write()
    for name, (find, module) in rules.items():
        cut = module.CUT
        for factor in FACTORS:
            module.CUT = factor * cut
            means, _ = score(find, damaged[::2])
            alarms = sum(bool(find(C).any()) for _, _, C in clean[::2])
            item = {
                "name": f"{name}, cut times {factor}",
                "lesser": means[2],
                "precision": means[0],
                "recall": means[1],
            }
            item |= {"clean": len(clean[::2]), "clean_with_alarms": alarms}
            print(item, flush=True)
            bench.items.append(item)
            bench.write()
        module.CUT = cut
        if name == "candidate":
            means, _ = score(find, damaged[::2])
            bench.items.append({"name": f"{name}, cut times 1.0", "lesser": means[2]})


if __name__ == "__main__":
    main()
