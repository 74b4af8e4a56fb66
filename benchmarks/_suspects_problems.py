"""Problems for the rule of suspicious entries: clean matrices, damage, and an oracle that reads the clean matrix.

Used by derive_suspects.py. ``CLEAN[name](rng, n)`` gives dissimilarities, ``DAMAGE[name](D,
rng)`` a damaged copy and the mask of what changed, or None where that damage means nothing.
"""

import sys
from pathlib import Path

import numpy as np
from scipy.sparse.csgraph import shortest_path

from similis.datasets import load_promoters, load_sonar

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from oracles import damage as base
from oracles import dissimilarities as made

DETECTABLE = 6.0  # changes above so many local predictive spreads are worth finding


def euclid(X, p=2.0):
    return made._minkowski(X, p)


def unit(D):
    return D / np.median(D[np.triu_indices(len(D), 1)])


def noisy(D, rng, level, df=8):
    return made._zero_diagonal(D * np.exp(level * made._noise(rng, len(D), made._student(df))))


# Clean matrices


def singletons(share, tail):
    """Alignment scores: a few families score high within, all other pairs near one background level."""

    def make(rng, n):
        y = rng.integers(5, size=n)
        alone = rng.random(n) < share
        y[alone] = 5 + np.arange(alone.sum())
        tight, length = rng.uniform(0.3, 0.9, size=y.max() + 1), rng.lognormal(0, 0.25, size=n)
        S = rng.gumbel(1.0, 0.25, size=(n, n)) if tail else rng.normal(1.0, 0.2, size=(n, n))
        S = np.triu(S, 1) + np.triu(S, 1).T
        same = y[:, None] == y[None]
        close = 12 * np.exp(-0.5 * euclid(rng.normal(size=(n, 4)))) * tight[y]
        S = (np.where(same, 2 + close, S) + 0.15 * np.abs(made._noise(rng, n, made._student(8)))) * np.sqrt(
            length[:, None] * length[None]
        )
        return made._zero_diagonal(S.max() - S if tail else 1 / (0.2 + np.abs(S)))

    return make


def judged_twice(levels):
    """Judgments in both directions, asymmetric, on few levels; each judge of a row has a bias."""

    def make(rng, n):
        D = unit(made.vectors(dims=4, n_classes=5, spread=2.0)(rng, n))
        J = D * rng.lognormal(0, 0.12, size=n)[:, None] + 0.25 * rng.normal(size=(n, n))
        q = np.quantile(J, np.linspace(0, 1, levels + 1)[1:-1])
        return made._zero_diagonal(np.searchsorted(q, J).astype(float))

    return make


def shortest_paths(weighted):
    def make(rng, n):
        X = rng.normal(size=(n, 2)) + 3 * rng.integers(3, size=n)[:, None]
        D = euclid(X)
        near = D <= np.sort(D, axis=1)[:, [4]]
        G = np.where(near | near.T, D if weighted else 1.0, 0.0)
        G[np.arange(n - 1), np.arange(1, n)] = np.where(G[np.arange(n - 1), np.arange(1, n)] == 0, 4.0, 1.0)
        return shortest_path(G, directed=False)

    return make


def correlation(samples):
    def make(rng, n):
        X = rng.normal(size=(6, samples))[rng.integers(6, size=n)] + rng.lognormal(0, 0.4, size=(n, 1)) * rng.normal(
            size=(n, samples)
        )
        return made._zero_diagonal(1 - np.corrcoef(X))

    return make


def ultrametric(rng, n):
    D, members, age = np.zeros((n, n)), [[i] for i in range(n)], 0.0
    while len(members) > 1:
        age += rng.exponential(1 / len(members))
        a, b = sorted(rng.choice(len(members), 2, replace=False))
        B, A = members.pop(b), members.pop(a)
        D[np.ix_(A, B)] = age
        D[np.ix_(B, A)] = age
        members.append(A + B)
    return noisy(D, rng, 0.05)


def tiny_classes(power):
    def make(rng, n):
        y = rng.integers(max(2, n // 3), size=n)
        return euclid(rng.normal(size=(n, 15))[y] + 0.3 * rng.normal(size=(n, 15))) ** power

    return make


def rounded(levels):
    def make(rng, n):
        D = made.vectors(dims=6, n_classes=4)(rng, n)
        return np.round(D / D.max() * levels)

    return make


def copies(rng, n):
    """Categorical objects with many exact duplicates."""
    X = rng.integers(3, size=(max(8, n // 4), 9))[rng.integers(max(8, n // 4), size=n)]
    return (X[:, None] != X[None]).sum(axis=2).astype(float)


def heavy_spectrum(p, power):
    def make(rng, n):
        X = rng.standard_t(4, size=(n, 40)) * np.arange(1, 41) ** -1.0
        return euclid(X, p) ** power

    return make


def contours(rng, n):
    """Cyclic curves under the best of all turns, raised unequally by a cost for length: not metric."""
    t = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    kind, amp = rng.integers(5, size=n), rng.normal(size=(5, 4))
    c = amp[kind] * (1 + 0.25 * rng.normal(size=(n, 4)))
    X = sum(c[:, [k]] * np.sin((k + 1) * t + rng.uniform(0, 6.3, size=(n, 1)) * (k == 0)) for k in range(4))
    D = np.min([np.abs(X[:, None] - np.roll(X, s, axis=1)[None]).sum(axis=2) for s in range(24)], axis=0)
    size = rng.lognormal(0, 0.2, size=n)
    return made._zero_diagonal(np.minimum(D, D.T) * np.minimum(size[:, None], size[None]) ** 0.7)


def loners(power):
    """Half of the objects have no neighbor at all: wide noise in many dimensions; the rest are four tight classes."""

    def make(rng, n):
        y, alone = rng.integers(4, size=n), rng.random(n) < 0.5
        X = 1.5 * rng.normal(size=(4, 12))[y] + np.where(alone, 2.5, 0.35)[:, None] * rng.normal(size=(n, 12))
        return noisy(euclid(X) ** power, rng, 0.04)

    return make


def sonar(p, power):
    def make(rng, n):
        X = np.asarray(load_sonar().data, float)
        return euclid(X[rng.choice(len(X), min(n, 130), replace=False)], p) ** power

    return make


def promoters(power):
    def make(rng, n):
        X = np.asarray(load_promoters().data)
        X = X[rng.choice(len(X), min(n, 90), replace=False)]
        return (X[:, None] != X[None]).sum(axis=2).astype(float) ** power

    return make


NEW = {
    "singletons 60 %, Gumbel": singletons(0.6, True),
    "singletons 30 %, reciprocal": singletons(0.3, False),
    "judged twice, 5 levels": judged_twice(5),
    "judged twice, 11 levels": judged_twice(11),
    "steps in a graph": shortest_paths(False),
    "paths in a graph": shortest_paths(True),
    "correlation, 12 samples": correlation(12),
    "correlation, 60 samples": correlation(60),
    "ultrametric": ultrametric,
    "tiny classes": tiny_classes(1.0),
    "tiny classes, squared": tiny_classes(2.0),
    "rounded to 5": rounded(5),
    "rounded to 20": rounded(20),
    "exact copies": copies,
    "heavy spectrum": heavy_spectrum(2.0, 1.0),
    "heavy spectrum, city block": heavy_spectrum(1.0, 1.0),
    "cubed": made.vectors(power=3.0),
    "contours": contours,
    "loners": loners(1.0),
    "loners, squared": loners(2.0),
    "sonar, euclidean": sonar(2.0, 1.0),
    "sonar, city block": sonar(1.0, 1.0),
    "sonar, squared": sonar(2.0, 2.0),
    "promoters, counting": promoters(1.0),
    "promoters, squared": promoters(2.0),
}
CLEAN = {**base.CLEAN, **NEW}


# Damage


def replaced(share):
    """Other entries of the matrix in their place."""

    def damage(D, rng):
        i, j = base._some(D, rng, share)
        k, m = base._some(D, rng, share)
        return base._damaged(D, i, j, D[k, m])

    return damage


def constant(share, quantile):
    def damage(D, rng):
        i, j = base._some(D, rng, share)
        return base._damaged(D, i, j, np.full(len(i), np.quantile(D[np.triu_indices(len(D), 1)], quantile)))

    return damage


def block(share, change, density=1.0):
    """Pairs between the nearest of one object and the nearest of another one."""

    def damage(D, rng):
        n = len(D)
        m = max(3, int(np.sqrt(share * n * (n - 1) / 2 / density)))
        a = rng.integers(n)
        A = np.argsort(D[a])[:m]
        rest = np.setdiff1d(np.arange(n), A)
        b = rng.choice(rest)
        B = rest[np.argsort(D[b, rest])][:m]
        i, j = (x.ravel() for x in np.meshgrid(A, B))
        hit = rng.random(len(i)) < density
        i, j = i[hit], j[hit]
        return base._damaged(D, i, j, change(D, D[i, j], rng))

    return damage


def half_rows(objects, change):
    """A random half of all pairs of a few objects."""

    def damage(D, rng):
        n = len(D)
        who = rng.choice(n, max(1, round(objects * n)), replace=False)
        M = np.zeros((n, n), bool)
        M[who] = rng.random((len(who), n)) < 0.5
        i, j = np.nonzero(np.triu(M | M.T, 1))
        return base._damaged(D, i, j, change(D, D[i, j], rng))

    return damage


def times(c):
    return lambda D, d, rng: c * d


def near(D, d, rng):
    """Values of near pairs."""
    low = np.quantile(D[np.triu_indices(len(D), 1)], 0.1)
    return low * rng.uniform(0.3, 1.0, size=len(d))


def shuffle(D, d, rng):
    return rng.choice(D[np.triu_indices(len(D), 1)], len(d))


DAMAGE = {
    **{name: base.DAMAGE[name] for name in base.DAMAGE if name != "entry zero, 1 %"},
    "entry zero, 0.3 %": base.factor(0.0, 0.003),
    "factor 10, 0.1 %": base.factor(10.0, 0.001),
    "factor 1/10, 4 %": base.factor(0.1, 0.04),
    "other entries, 0.5 %": replaced(0.005),
    "other entries, 3 %": replaced(0.03),
    "other entries, 8 %": replaced(0.08),
    "set to the largest, 2 %": constant(0.02, 1.0),
    "set to a near value, 2 %": constant(0.02, 0.02),
    "block of near values, 2 %": block(0.02, near),
    "block of near values, 6 %, one in two": block(0.06, near, 0.5),
    "block times 3, 3 %": block(0.03, times(3.0)),
    "block shuffled, 3 %": block(0.03, shuffle),
    "half of a row times 1/10": half_rows(0.02, times(0.1)),
    "half of a row times 3": half_rows(0.02, times(3.0)),
}


# Damage that is detectable given the clean matrix


def predictive_spread(C):
    """Row by row: how well the medians over the 7 nearest rows of both objects foretell the entries of clean C."""
    n = len(C)
    C = (C + C.T) / 2
    X = C.copy()
    np.fill_diagonal(X, np.nan)
    R = np.nanmean(np.abs(X[:, None] - X[None]), axis=2) if n <= 220 else _row_differences(X)
    np.fill_diagonal(R, np.inf)
    N = np.argsort(R, axis=1, kind="stable")[:, :7]
    side = np.nanmedian(X[N], axis=1)  # (n, n): row i from the rows of its neighbors
    residual = np.abs(X - (side + side.T) / 2)
    values = X[np.triu_indices(n, 1)]
    floor = 0.02 * base_spread(values) + 0.3 * step(values)
    s = np.maximum(1.4826 * np.nanmedian(residual, axis=1), floor)
    return np.maximum(s[:, None], s[None])


def _row_differences(X):
    return np.stack([np.nanmean(np.abs(X - x), axis=1) for x in X])


def base_spread(values):
    return 1.4826 * np.median(np.abs(values - np.median(values)))


def step(values):
    """The step of a discrete scale: the median over the entries of the gap to the nearest other value."""
    v, counts = np.unique(values, return_counts=True)
    gaps = np.diff(v)
    nearest = np.minimum(np.r_[np.inf, gaps], np.r_[gaps, np.inf])
    return float(np.repeat(nearest, counts)[np.argsort(np.repeat(nearest, counts))[len(values) // 2]])


def detectable(C, D, mask):
    """Damaged pairs whose change exceeds DETECTABLE predictive spreads of the worse of the two rows."""
    return mask & (np.abs((D + D.T) - (C + C.T)) / 2 > DETECTABLE * predictive_spread(C))


def quality(found, mask, worth):
    """Precision (of what is flagged, how much is damaged) and recall among what is worth finding, or None."""
    upper = np.triu(np.ones(mask.shape, bool), 1)
    found, mask, worth = found & upper, mask & upper, worth & upper
    if not worth.any():
        return None
    precision = (found & mask).sum() / found.sum() if found.any() else 1.0
    return precision, (found & worth).sum() / worth.sum()
