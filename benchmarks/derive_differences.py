"""Null rates and power of the test of a study over objects, beside the signed-rank test over splits.

    python benchmarks/derive_differences.py            # about five minutes; writes results/derive_differences.json
    python benchmarks/derive_differences.py --page     # prints the tables of docs/results/differences.md

Twenty methods are equally good by construction: the same classifier on the same similarities, each with its own
independent noise. Every study draws new objects. A study errs if it calls any method worse. Power: ten more methods
get noise so strong that they are about 30 points behind.
"""

import json
import sys
from pathlib import Path

import numpy as np
from _measure import Benchmark
from sklearn.datasets import load_iris

from similis.datasets import load_votes
from similis.study._differences import compare_objects
from similis.study._metrics import compare_to_best
from similis.study._protocol import Protocol

SEED, STUDIES, EQUAL = 20261116, 100, 20
RECORD = Path(__file__).parent / "results" / "derive_differences.json"


def clouds(rng, n=150, separation=1.7, shares=(0.5, 0.5), size=1):
    """Normal clouds, one per class; objects come in groups of `size` that are nearly identical."""
    y = np.repeat(rng.choice(len(shares), size=n // size, p=shares), size)
    y[: len(shares) * 2] = np.repeat(np.arange(len(shares)), 2)
    Z = np.repeat(rng.normal(size=(n // size, 4)), size, axis=0) + 0.1 * rng.normal(size=(n, 4))
    Z[:, 0] += separation * y
    return Z, y


def some_of(X, y):
    """Draw objects of a real data set; half of it at most, so that studies differ."""

    def draw(rng):
        kept = rng.permutation(len(y))[: min(150, len(y) // 2)]
        return X[kept], y[kept]

    return draw


def data_sets():
    """Functions that draw objects with their labels, by name."""
    iris, votes = load_iris(return_X_y=True), load_votes(return_X_y=True)
    X = np.where(votes[0] == "y", 1.0, np.where(votes[0] == "n", -1.0, 0.0))
    return {
        "clouds": clouds,
        "rare class": lambda rng: clouds(rng, shares=(0.88, 0.12)),
        "small": lambda rng: clouds(rng, n=60),
        "iris": some_of(iris[0] / iris[0].std(axis=0), iris[1]),
        "votes": some_of(X, np.unique(votes[1], return_inverse=True)[1]),
    }


def noisy_similarities(Z, noise, rng):
    """Similarities with independent noise, one matrix per entry of `noise`."""
    D = ((Z[:, None] - Z[None]) ** 2).sum(axis=-1)
    S = np.exp(-D / np.median(D))
    E = rng.normal(size=(len(noise), *S.shape)) * np.asarray(noise)[:, None, None]
    return (S + (E + np.swapaxes(E, 1, 2)) / np.sqrt(2)).astype(np.float32)


def nearest(k):
    """k nearest neighbors of stacked rows (m, n_test, n_train)."""

    def predict(rows, y):
        near = np.argpartition(-rows, k - 1, axis=-1)[..., :k] if k < rows.shape[-1] else np.arange(rows.shape[-1])
        votes = (y[near][..., None] == np.arange(y.max() + 1)).sum(axis=-2)
        return votes.argmax(axis=-1)

    return predict


def mean_similarity(rows, y):
    """Class with the highest mean similarity."""
    return np.stack([rows[..., y == g].mean(axis=-1) for g in range(y.max() + 1)], axis=-1).argmax(axis=-1)


LEARNERS = {"1-NN": nearest(1), "9-NN": nearest(9), "mean similarity": mean_similarity}
SCHEMES = {
    "5 random splits": Protocol(n_splits=5),
    "10 random splits": Protocol(n_splits=10),
    "20 random splits": Protocol(n_splits=20),
    "5 folds": Protocol("kfold", n_splits=5),
    "10 folds": Protocol("kfold", n_splits=10, test_size=0.1),
    "leave one out": Protocol("loo"),
    "one test set, 20 %": Protocol(n_splits=1),
    "one test set, 50 %": Protocol(n_splits=1, test_size=0.5),
}


def study(draw, predict, protocol, rng, *, noise, groups=None, balanced=False):
    """Verdicts of one study over objects, and whether the signed-rank test calls each method worse."""
    Z, y = draw(rng)
    S = noisy_similarities(Z, noise, rng)
    splits = Protocol(**{**vars(protocol), "random_state": int(rng.integers(2**31))}).splits(y, groups)
    wrong = np.full((len(splits), len(noise), len(y)), np.nan)
    for k, split in enumerate(splits):
        wrong[k][:, split.test] = predict(S[:, split.test][:, :, split.train], y[split.train]) != y[split.test]
    tested = ~np.isnan(wrong[:, 0])
    count = tested.sum(axis=0).astype(float)
    losses = np.nansum(wrong, axis=0)
    if balanced:
        per_class = np.bincount(y, weights=count)
        losses = losses * (count.sum() / np.maximum(per_class, 1) / (per_class > 0).sum())[y]
    means = losses.sum(axis=1)
    leader = int(means.argmin())
    ratio = float(np.mean([len(s.test) / s.n_train for s in splits]))
    found = []
    for j in range(len(noise)):
        total, tests = losses[j] - losses[leader], count
        if groups is not None:
            total, tests = np.bincount(groups, weights=total), np.bincount(groups, weights=count)
        found.append(compare_objects(str(j), total, tests, ratio, len(noise), is_leader=j == leader))
    errors = {str(j): np.nanmean(wrong[:, j], axis=1) for j in range(len(noise))}
    worse = [v.worse for v in compare_to_best(errors).values()] if len(splits) > 1 else [False] * len(noise)
    return found, worse, means / count.sum()


def null_rates(draw, predict, protocol, *, studies=STUDIES, seed=SEED, **options):
    """Share of studies that call an equal method worse, by each test; share of methods called possibly worse."""
    rng = np.random.default_rng(seed)
    clearly = any_possibly = split_test = 0
    possibly = []
    for _ in range(studies):
        found, worse, _ = study(draw, predict, protocol, rng, noise=[0.25] * EQUAL, **options)
        called = [d.verdict in ("possibly worse", "clearly worse") for d in found]
        clearly += any(d.verdict == "clearly worse" for d in found)
        any_possibly += any(called)
        split_test += any(worse)
        possibly.append(sum(called) / (EQUAL - 1))
    rates = {"clearly": clearly, "any possibly": any_possibly, "signed rank": split_test}
    return {name: value / studies for name, value in rates.items()} | {"possibly": float(np.mean(possibly))}


def power(draw, predict, protocol, *, studies=STUDIES // 5, seed=SEED):
    """Share of methods that are far behind and are called clearly worse, by each test; and how far behind they are."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(studies):
        found, worse, means = study(draw, predict, protocol, rng, noise=[0.1] * 10 + [1.2] * 10)
        far = [j for j in range(10, 20) if 0.2 <= means[j] - means.min() <= 0.35]
        rows += [(found[j].verdict == "clearly worse", worse[j], means[j] - means.min()) for j in far]
    return dict(zip(("clearly", "signed rank", "behind"), np.mean(rows, axis=0).tolist())) | {"methods": len(rows)}


def main():
    bench = Benchmark("derive_differences")
    sets = data_sets()

    def keep(name, **details):
        item = {"name": name} | {k: round(v, 4) if isinstance(v, float) else v for k, v in details.items()}
        bench.items.append(item)
        print(item, flush=True)

    for scheme, protocol in SCHEMES.items():
        for data in sets:
            for learner in LEARNERS if data == "clouds" else ["9-NN"]:
                rates = null_rates(sets[data], LEARNERS[learner], protocol, balanced=data == "rare class")
                keep("null", scheme=scheme, data=data, learner=learner, **rates)
    triples = np.arange(150) // 3
    for aware in (True, False):
        options = {"groups": triples} if aware else {}
        rates = null_rates(lambda rng: clouds(rng, size=3), LEARNERS["9-NN"], SCHEMES["10 random splits"], **options)
        keep("null", scheme="10 random splits", data=f"triples, groups {'given' if aware else 'ignored'}", **rates)
    for scheme in ("5 random splits", "20 random splits", "one test set, 20 %"):
        for learner in ("1-NN", "9-NN"):
            keep(
                "power",
                scheme=scheme,
                learner=learner,
                **power(lambda rng: clouds(rng, n=300), LEARNERS[learner], SCHEMES[scheme]),
            )
    print(bench.write())


def page():
    """Tables of the guide, from the record."""
    items = json.loads(RECORD.read_text())["items"]
    lines = [
        "| splits | clearly worse | possibly worse: any method | possibly worse: one method "
        "| signed rank over splits |",
        "|---|---|---|---|---|",
    ]
    for scheme in SCHEMES:
        rows = [i for i in items if i["name"] == "null" and i["scheme"] == scheme and "triples" not in i["data"]]
        cells = []
        for key in ("clearly", "any possibly", "possibly", "signed rank"):
            low, high = (f"{100 * of(row[key] for row in rows):.0f}" for of in (min, max))
            cells.append(f"{low} %" if low == high else f"{low}-{high} %")
        if "one test set" in scheme:
            cells[-1] = ""
        lines.append(f"| {scheme} | {' | '.join(cells)} |")
    lines += ["", "| splits | behind | clearly worse | signed rank over splits |", "|---|---|---|---|"]
    for scheme in dict.fromkeys(i["scheme"] for i in items if i["name"] == "power"):
        rows = [i for i in items if i["name"] == "power" and i["scheme"] == scheme]
        weights = [r["methods"] for r in rows]
        cells = [float(np.average([r[k] for r in rows], weights=weights)) for k in ("behind", "clearly", "signed rank")]
        shown = [f"{100 * c:.0f} {'points' if n == 0 else '%'}" for n, c in enumerate(cells)]
        if "one test set" in scheme:
            shown[-1] = ""
        lines.append(f"| {scheme} | {' | '.join(shown)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(page()) if "--page" in sys.argv else main()
