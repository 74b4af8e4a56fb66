"""Derive CUT, FLOOR and TYPICAL of the rule for suspicious entries from simulated matrices.

    python benchmarks/derive_suspects.py           # about 25 minutes; writes benchmarks/results/derive_suspects.json
    python benchmarks/derive_suspects.py --clean   # prints the suspects in the clean matrices of stage 2

Real data are not used. Seventy kinds of clean matrices form two groups: 21 that resemble users' matrices (LIKE) and the
others. Damage is a lost leading digit in the largest 6.5 % of the pairs, the same in half of the largest 13 %, or a
damaged block of near values. A damaged matrix counts if at least 90 % of its damaged pairs are detectable.

* Loss of a clean matrix: 1 if any pair is flagged, else 0. Loss of a damaged one: 1 - min(1, precision / 0.9,
  recall / 0.9), the worse of two random states where these matter.
* Loss of a setting: mean over the matrices of a kind, the kinds of a group and the two groups, for clean plus for
  damaged matrices, smoothed along the logarithms of the constants.
* The choice is the geometric middle of the neighboring settings whose smoothed loss is within 0.03 of the least.

Stage 1a judges FLOOR x CUT on a coarse grid, stage 1b TYPICAL x CUT, stage 2 CUT on a fine grid with other matrices.
Each stage takes the problems in a fixed random order and stops at its deadline.
"""

import sys
import time
import warnings

import _suspects_problems as problems
import numpy as np
from _measure import Benchmark
from _suspects_problems import base

from similis.proximity import _suspects as rule
from similis.proximity import suspects

SEED = 20261116
FINE = np.geomspace(3.0, 20.0, 14)  # CUT of stage 2, ratio 1.157
COARSE, COARSE_B = [4.5, 7.0, 11.0], [5.0, 8.0]  # CUT of stages 1a and 1b
FLOORS = [0.02, 0.04, 0.08, 0.16, 0.32]
TYPICALS, START_TYPICAL = [0.01, 0.03, 0.08, 0.18, 0.35], 0.08  # the second during stage 1a
SD = {"CUT": np.log(1.35), "FLOOR": np.log(1.6), "TYPICAL": np.log(1.6)}  # of the kernels, in logarithms
REJECTED = [False]  # whether the rule rejected any pair since this was last reset
TOLERANCE = 0.03  # a smoothed loss so little above the least belongs to the working region
GOAL, GROSS, JUMP = 0.9, 0.9, 0.1  # precision and recall wanted; detectable share of gross damage; unstable recall
COLUMNS = ["CUT", "alarms", "shortfall", "smoothed", "clean_with_alarm", "repaired", "precision", "recall", "unstable"]
DEADLINES = {"1a": 340.0, "1b": 540.0, "2": 1650.0}  # seconds since the start

SORTS = {k: v for k, v in problems.CLEAN.items() if not k.startswith(("sonar", "promoters"))}
SORTS["judged, 9 steps, carefully"] = base.judged(9, 0.05)
LIKE = [
    *["alignment scores", "singletons 60 %, Gumbel", "singletons 30 %, reciprocal", "families, noisy"],
    *["uneven families", "uneven families, singletons", "uneven clades", "identities along a tree"],
    *["judged, 5 steps", "judged, 9 steps", "judged, 9 steps, carelessly", "judged, 9 steps, carefully"],
    *["judged twice, 5 levels", "judged twice, 11 levels", "votes, counting", "votes, value differences"],
    *["votes, squared value differences", "contours", "edit distance", "warped curves", "sizes of their own"],
]
OTHERS = [name for name in SORTS if name not in LIKE]


def half_lost(D, rng):
    """Of the largest 13 % of the pairs a random half loses the least of them."""
    i, j = np.triu_indices(len(D), 1)
    threshold = np.quantile(D[i, j], 0.87)
    hit = D[i, j] >= threshold
    lost = hit & (rng.random(len(i)) < 0.5)
    return base._damaged(D, i[lost], j[lost], D[i[lost], j[lost]] - threshold) if hit.mean() <= 0.26 else None


LOST, HALF, BLOCK = "lost digit, 6.5 %", "lost digit, half of 13 %", "block of near values, 6 %, one in two"
DAMAGE = {LOST: base.lost_digit(0.065), HALF: half_lost, BLOCK: problems.DAMAGE[BLOCK]}


def plan(stage):
    """(sort, size, damage or None) of every problem of a stage."""
    if stage == "1":
        clean = [(s, 110, None) for s in LIKE + OTHERS[::4]]
        return clean + [(s, 100, LOST) for s in LIKE] + [(s, 100, HALF) for s in OTHERS[1::8]]
    clean = [(s, 100, None) for s in SORTS] + [(s, 200, None) for s in LIKE[::3]]
    hurt = [(s, n, LOST) for s in LIKE for n in (80, 130)] + [(s, 100, BLOCK) for s in LIKE]
    hurt += [(s, 100, (LOST, HALF)[k % 2]) for k, s in enumerate(OTHERS[::2])]
    return clean + hurt + [(s, 260, LOST) for s in ("votes, squared value differences", "uneven families")]


class Problem:
    """A matrix to judge, what is wrong with it, and the random states to try; `counts` is False unless gross."""

    def __init__(self, stage, k, sort, n, damage):
        rng = np.random.default_rng([SEED, int(stage), k])
        C = SORTS[sort](rng, n)
        self.sort, self.n, self.damage, self.D, self.counts = sort, n, damage, C, True
        i, j = np.triu_indices(n, 1)
        if damage:
            self.D, self.mask = DAMAGE[damage](C, rng) or (C, np.zeros((n, n), dtype=bool))
            self.worth = problems.detectable(C, self.D, self.mask)
            self.counts = bool(self.mask.any() and self.worth[i, j].sum() >= GROSS * self.mask[i, j].sum())
        random = n > rule.REFERENCES or len(np.unique(self.D[i, j])) < len(i) / 2  # references sampled, or dithered
        self.states = (0, 1) if stage == "2" and random else (0,)

    def judge(self, cut, floor, typical):
        """Per random state: number flagged, precision, recall (None where clean); and whether any pair was rejected."""
        rule.CUT, rule.FLOOR, rule.TYPICAL = cut, floor, typical
        out, REJECTED[0] = [], False
        for state in self.states:
            found = suspects(-self.D, random_state=state)
            q = problems.quality(found.mask(self.n), self.mask, self.worth) if self.damage else (None, None)
            out.append([len(found), *q])
        return out, REJECTED[0]


def _watched(*args, run_round=rule._run_round):
    """Run a round of the rule; note whether it rejected anything."""
    found = run_round(*args)
    REJECTED[0] |= bool(found[0].any())
    return found


def loss(result):
    """Worst over random states: an alarm on a clean matrix is 1; on a damaged one the shortfall from the goal."""
    return max(float(m > 0) if p is None else 1 - min(1.0, p / GOAL, r / GOAL) for m, p, r in result)


def run(name, settings, started):
    """Judge the problems of a stage in all settings [(cut, floor, typical)]; cuts rise within equal floor, typical."""
    todo, table = plan(name[0]), []
    for k in np.random.default_rng([SEED, int(name[0])]).permutation(len(todo)):
        if time.time() - started > DEADLINES[name]:
            print(f"stage {name}: deadline after {len(table)} problems that count", flush=True)
            break
        problem = Problem(name[0], int(k), *todo[k])
        if not problem.counts:
            continue
        results, quiet = [], {}
        for cut, floor, typical in settings:
            # Where nothing was rejected at a lower cut, nothing is at a higher one (n <= 632: all pairs are sampled).
            if (floor, typical) not in quiet:
                result, rejected = problem.judge(cut, floor, typical)
                if not rejected:
                    quiet[floor, typical] = result
            results.append(quiet.get((floor, typical), result))
        table.append(dict(sort=problem.sort, n=problem.n, damage=problem.damage, results=results))
        print(f"{time.time() - started:6.0f} s  {name}  {problem.sort}, {problem.n}, {problem.damage}", flush=True)
    return table


def mean_loss(table, damaged):
    """Per setting: mean over the problems of a sort, over the sorts of a group, over both groups."""
    groups = []
    for group in (LIKE, OTHERS):
        rows = [r for r in table if bool(r["damage"]) == damaged and r["sort"] in group]
        sorts = sorted({r["sort"] for r in rows})
        each = [np.mean([[loss(x) for x in r["results"]] for r in rows if r["sort"] == s], axis=0) for s in sorts]
        groups += [np.mean(each, axis=0)] if each else []
    return np.mean(groups, axis=0)


def smooth(values, x, sd, axis=0):
    """Gaussian kernel in log x along an axis, weights summing to one within the grid."""
    W = np.exp(-0.5 * (np.subtract.outer(np.log(x), np.log(x)) / sd) ** 2)
    return np.moveaxis(np.tensordot(W / W.sum(axis=1, keepdims=True), values, axes=(1, axis)), 0, axis)


def middle(x, values):
    """Geometric middle, to two digits, of the run around the least value that stays within TOLERANCE of it."""
    low = high = int(np.argmin(values))
    while low > 0 and values[low - 1] <= min(values) + TOLERANCE:
        low -= 1
    while high < len(x) - 1 and values[high + 1] <= min(values) + TOLERANCE:
        high += 1
    return float(f"{np.sqrt(x[low] * x[high]):.2g}"), [float(x[low]), float(x[high])]


def main():
    warnings.simplefilter("ignore")
    rule._run_round, started, out = _watched, time.time(), {}

    def stage(name, other, values, cuts, settings):
        """A constant `other` x CUT: its smoothed loss at the best CUT for each value, and the middle."""
        table = run(name, settings, started)
        parts = [mean_loss(table, damaged).reshape(len(values), len(cuts)) for damaged in (False, True)]
        S = smooth(smooth(sum(parts), cuts, SD["CUT"], 1), values, SD[other], 0)
        chosen, region = middle(values, S.min(axis=1))
        kept = dict(alarms=parts[0].tolist(), shortfall=parts[1].tolist(), smoothed=S.tolist(), region=region)
        out[name] = {other: values, "CUT": list(cuts), "chosen": chosen, **kept, "problems": len(table)}
        print(f"stage {name}: {other} {chosen}, working region {region}\n{np.round(S, 3)}", flush=True)
        return chosen

    floor = stage("1a", "FLOOR", FLOORS, COARSE, [(c, f, START_TYPICAL) for f in FLOORS for c in COARSE])
    typical = stage("1b", "TYPICAL", TYPICALS, COARSE_B, [(c, floor, t) for t in TYPICALS for c in COARSE_B])
    table = run("2", [(c, floor, typical) for c in FINE], started)
    alarms, short = (mean_loss(table, damaged) for damaged in (False, True))
    S = smooth(alarms + short, FINE, SD["CUT"])
    (cut, region), rows = middle(FINE, S), []
    clean, lost = ([r for r in table if r["damage"] in kinds] for kinds in ([None], [LOST, HALF]))
    twice = [r for r in table if r["damage"] and len(r["results"][0]) > 1]
    print("CUT, alarms + shortfall, smoothed | clean with alarm; lost digit: repaired, precision, recall | unstable")
    for k, c in enumerate(FINE):
        P, R = (np.mean([np.mean([x[m] for x in r["results"][k]]) for r in lost]) for m in (1, 2))
        n_alarms = sum(loss(r["results"][k]) > 0 for r in clean)
        n_repaired = sum(loss(r["results"][k]) < 1e-9 for r in lost)
        n_unstable = sum(np.ptp([x[2] for x in r["results"][k]]) > JUMP for r in twice)
        rows.append([c, alarms[k], short[k], S[k], n_alarms, n_repaired, P, R, n_unstable])
        print(*np.round(rows[-1], 3), f"({len(clean)} clean, {len(lost)} lost digit, {len(twice)} twice)", flush=True)
    out["2"] = dict(columns=COLUMNS, rows=rows, region=region, clean=len(clean), lost=len(lost), twice=len(twice))
    out["chosen"] = dict(CUT=cut, FLOOR=floor, TYPICAL=typical, WIDTHS=list(rule.WIDTHS))
    print(out["chosen"], "working region of CUT", region, f"{time.time() - started:.0f} s")
    bench = Benchmark("derive_suspects")
    bench.items = [{"name": name, **found} for name, found in out.items()]
    print(bench.write())


def clean():
    """Print the suspects in the clean matrices of stage 2 with the constants in use."""
    constants = rule.CUT, rule.FLOOR, rule.TYPICAL
    clean_problems = [Problem("2", k, *about) for k, about in enumerate(plan("2")) if about[2] is None]
    found = {(p.sort, p.n): max(r[0] for r in p.judge(*constants)[0]) for p in clean_problems}
    alarms = {where: flagged for where, flagged in found.items() if flagged}
    print(f"CUT, FLOOR, TYPICAL = {constants}: {len(alarms)} of {len(found)} matrices have a suspect, {alarms}")


if __name__ == "__main__":
    clean() if "--clean" in sys.argv else main()
