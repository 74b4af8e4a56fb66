"""Maximum-entropy exponents and local SDA against scipy's brentq.

    python benchmarks/bench_sda.py          # writes benchmarks/results/sda.json

Exponents: 20,000 means on one Omega, each solved by itself ("newton") or from the table that many problems share,
set-up included. Local SDA: every fold and every k of a grid, against a plain loop over queries in NumPy that solves
its four exponents by brentq.
"""

import numpy as np
from _measure import Benchmark
from scipy.optimize import brentq
from sklearn.metrics.pairwise import euclidean_distances

from similis import Counting, LocalSDA
from similis.datasets import load_votes
from similis.solvers import Omega, maxent_exponents

N = 20_000
KS = [*range(1, 17), 32, 64, 128]
KS_VOTES = [*range(1, 21), *range(30, 101, 10), 150, 200]


def brentq_discrete(values, means):
    """lambda by bracketing on values scaled to [0, 1], with the usual shift against overflow."""
    low, width = values[0], values[-1] - values[0]
    d = (values - low) / width
    out = np.empty(len(means))
    for i, mean in enumerate((means - low) / width):

        def excess(x, mean=mean):
            w = np.exp(x * d - max(x, 0.0))
            return (w @ d) / w.sum() - mean

        out[i] = brentq(excess, -600.0, 600.0)
    return out / width


def brentq_interval(low, high, means):
    out = np.empty(len(means))
    for i, mean in enumerate((means - low) / (high - low)):

        def excess(x, mean=mean):
            if abs(x) < 1e-4:
                return 0.5 + x / 12 - mean
            return 1 / -np.expm1(-x) - 1 / x - mean if x > 0 else 1 / -x - 1 / np.expm1(-x) - mean

        out[i] = brentq(excess, -600.0, 600.0)
    return out / (high - low)


def one_by_one(values, means):
    """Ours without the shared table: few enough problems at a time."""
    omega = Omega(values)
    parts = [maxent_exponents(omega, *omega.offsets(part)).exponents for part in np.array_split(means, 10)]
    return np.concatenate(parts)


def together(domain, means):
    omega = Omega(domain)
    return maxent_exponents(omega, *omega.offsets(means)).exponents


def largest_difference(a, b):
    return np.max(np.abs(a - b) / (1 + np.abs(b)))


def exponents(bench):
    rng = np.random.default_rng(0)
    for size, floors, goals in ((9, (90, 110), (170, 800)), (200, (35, 115), (70, 240)), (5000, (70, 280), (150, 600))):
        values = np.sort(rng.random(size))
        means = values[0] + np.ptp(values) * (0.05 + 0.9 * rng.random(N))
        options = {"peer_name": "scipy brentq", "repeats": 2, "check": largest_difference, "problems": N}
        for name, ours, floor, goal in zip(("newton", "table"), (one_by_one, together), floors, goals):
            bench.compare(
                f"SDA exponents, {size} values, {name}",
                lambda values=values, means=means, ours=ours: ours(values, means),
                lambda values=values, means=means: brentq_discrete(values, means),
                floor=floor,
                goal=goal,
                **options,
            )
    means = 0.05 + 0.9 * rng.random(N)
    bench.compare(
        "SDA exponents, interval",
        lambda: together((0.0, 1.0), means),
        lambda: brentq_interval(0.0, 1.0, means),
        peer_name="scipy brentq",
        floor=50,
        goal=240,
        repeats=2,
        check=largest_difference,
        problems=N,
    )


def plain_local_sda(S, y, fold, ks, smallest=3):
    """Labels for all objects and all k: one query, one k, one exponent at a time."""
    said = np.empty((len(ks), len(y)), int)
    for f in np.unique(fold):
        train = np.flatnonzero(fold != f)
        values = np.unique(S[np.ix_(train, train)])
        for i in np.flatnonzero(fold == f):
            order = train[np.argsort(-S[i, train], kind="stable")]
            for t, k in enumerate(ks):
                said[t, i] = _plain_answer(S, y, S[i], order[:k], values, smallest)
    return said


def _plain_answer(S, y, row, near, values, smallest):
    classes, counts = np.unique(y[near], return_counts=True)
    members = [near[y[near] == g] for g in classes]
    centroids = [own[np.argmax(S[np.ix_(own, own)].sum(axis=0) + 1e-9)] for own in members]
    if len(classes) == 1:
        return classes[0]
    if counts.min() < smallest:
        best = row[centroids] + 1e-9 * counts
        return classes[np.argmax(best)]
    scores = np.log(counts)
    low, high = values[0], values[-1]
    for g, own in enumerate(members):
        for mu in centroids:
            mean = S[own, mu].mean()
            if mean >= high - 1e-9 or mean <= low + 1e-9:
                lam = 600.0 / (high - low) * (1 if mean > low + 1e-9 else -1)
            else:
                lam = brentq_discrete(values, np.array([mean]))[0]
            top = max(lam * low, lam * high)
            scores[g] += lam * row[mu] - top - np.log(np.exp(lam * values - top).sum())
    return classes[np.argmax(scores)]


def disagreement(ours, plain):
    """Share of different labels; ties and point masses are decided by round-off in the plain one."""
    share = np.mean(np.array(ours) != plain)
    assert share < 0.01, share
    return share


def local(bench):
    rng = np.random.default_rng(0)
    for n, digits, values, floor in ((800, 2, "100 values", 30), (200, 15, "all different", 100)):
        y = np.arange(n) % 2
        d = euclidean_distances(rng.normal(size=(n, 5)) + 0.7 * y[:, None])
        S = np.round(np.exp(-d / np.median(d)), digits)
        fold = np.arange(n) % 10
        bench.compare(
            f"local SDA, 10 folds x 19 k, n = {n}, {values}",
            lambda S=S, y=y, fold=fold: LocalSDA().predict_path_cv(S, y, fold, [{"n_neighbors": k} for k in KS]),
            lambda S=S, y=y, fold=fold: plain_local_sda(S, y, fold, KS),
            peer_name="plain loop, scipy brentq",
            floor=floor,
            goal=300,
            repeats=3,
            check=disagreement,
        )
    X, party = load_votes(return_X_y=True)
    V = Counting().fit(X).matrix(X)
    each = np.arange(len(party))
    bench.compare(
        "local SDA, leave-one-out x 30 k, votes",
        lambda: LocalSDA().predict_path_cv(V, party, each, [{"n_neighbors": k} for k in KS_VOTES]),
        lambda: plain_local_sda(V, party, each, KS_VOTES),
        peer_name="plain loop, scipy brentq",
        floor=30,
        repeats=3,
        check=disagreement,
    )


if __name__ == "__main__":
    bench = Benchmark("sda")
    exponents(bench)
    local(bench)
    bench.write()
