"""Simulated dissimilarity matrices of many sorts, and ways to damage them. NumPy only.

``CLEAN[name](rng, n)`` gives a symmetric n x n matrix with a zero diagonal; ``DAMAGE[name](D, rng)`` a damaged copy and
the mask of the pairs it changed, or None where that damage means nothing for the matrix.
"""

import numpy as np

from oracles.dissimilarities import (
    alignment,
    chebyshev,
    clades,
    clipped,
    cosine,
    counting,
    duplicates,
    edit,
    families,
    heavy_noise,
    heavy_vectors,
    identities,
    judged,
    noisy,
    outlying,
    rbf,
    sized,
    sparse_links,
    tree,
    twins,
    uneven_clades,
    uneven_classes,
    uneven_families,
    vdm,
    vectors,
    votes_counting,
    warped,
)

CLEAN = {
    "euclidean, 2 dimensions": vectors(dims=2),
    "euclidean, 5 dimensions": vectors(),
    "euclidean, 20 dimensions": vectors(dims=20),
    "euclidean, 100 dimensions": vectors(dims=100, spread=0.5),
    "euclidean, one class": vectors(dims=10, n_classes=1),
    "squared euclidean": vectors(power=2.0),
    "squared euclidean, tight classes": vectors(power=2.0, dims=8, n_classes=4, spread=5.0),
    "root of euclidean": vectors(power=0.5),
    "city block": vectors(p=1.0),
    "L 0.5, not metric": vectors(p=0.5, dims=10),
    "largest difference": chebyshev,
    "three outlying objects": outlying,
    "twins": twins,
    "counting, 16 features": counting(16, 2, 2, 0.15),
    "counting, 100 features": counting(100, 2, 3, 0.2),
    "votes, counting": votes_counting,
    "votes, value differences": vdm(1),
    "votes, squared value differences": vdm(2),
    "edit distance": edit,
    "RBF, wide": rbf(0.2),
    "RBF, narrow": rbf(6.0),
    "cosine": cosine,
    "noise 10 %": noisy(0.1),
    "noise 30 %": noisy(0.3),
    "relative noise": noisy(0.1, relative=True),
    "judged, 9 steps": judged(9),
    "judged, 5 steps": judged(5),
    "families": families(4, 0.03),
    "families, noisy": families(5, 0.1),
    "tree": tree,
    "clades": clades(4, 0.1, 0.03),
    "alignment scores": alignment,
    "warped curves": warped,
    "sparse links": sparse_links,
    # More irregular than the others
    "heavy-tailed noise": heavy_noise(0.1),
    "heavy-tailed relative noise": heavy_noise(0.08, relative=True),
    "heavy-tailed objects": heavy_vectors,
    "uneven classes": uneven_classes(1.0),
    "uneven classes, squared": uneven_classes(2.0),
    "uneven families": uneven_families(0),
    "uneven families, singletons": uneven_families(6),
    "uneven clades": uneven_clades,
    "identities along a tree": identities,
    "near duplicates": duplicates(1.0),
    "near duplicates, squared": duplicates(2.0),
    "clipped above": clipped(0.0, 0.7, 0.0),
    "clipped at both ends, noisy": clipped(0.15, 0.8, 0.1),
    "sizes of their own": sized,
    "judged, 9 steps, carelessly": judged(9, 0.35),
}


def _damaged(D, i, j, values):
    """A copy with new values, and the mask of the pairs that really changed."""
    changed = D[i, j] != values
    i, j, values = i[changed], j[changed], values[changed]
    E, mask = D.copy(), np.zeros(D.shape, dtype=bool)
    E[i, j] = E[j, i] = values
    mask[i, j] = mask[j, i] = True
    return (E, mask) if len(i) else None


def _some(D, rng, share):
    i, j = np.triu_indices(len(D), 1)
    at = rng.choice(len(i), max(1, round(share * len(i))), replace=False)
    return i[at], j[at]


def lost_digit(share):
    """The largest pairs lose the least of them: 10.05 becomes 0.05. Concentrated where objects are far apart."""

    def damage(D, rng):
        i, j = np.triu_indices(len(D), 1)
        threshold = np.quantile(D[i, j], 1 - share)
        hit = D[i, j] >= threshold
        if hit.mean() > 2 * share:  # a coarse scale: the digit would be lost by most pairs
            return None
        return _damaged(D, i[hit], j[hit], D[i[hit], j[hit]] - threshold)

    return damage


def lost_minus(share):
    """Centered similarities lose their minus sign: what was far becomes as near as it was far."""

    def damage(D, rng):
        i, j = _some(D, rng, share)
        center = np.median(D[np.triu_indices(len(D), 1)])
        return _damaged(D, i, j, center - np.abs(center - D[i, j]))

    return damage


def swapped(share):
    def damage(D, rng):
        i, j = _some(D, rng, share)
        return _damaged(D, i, j, np.roll(D[i, j], 1))

    return damage


def factor(by, share):
    def damage(D, rng):
        i, j = _some(D, rng, share)
        return _damaged(D, i, j, by * D[i, j])

    return damage


def noise(share, level=2.0):
    """Some pairs get noise of `level` times the standard deviation of the matrix."""

    def damage(D, rng):
        i, j = _some(D, rng, share)
        scale = level * D[np.triu_indices(len(D), 1)].std()
        return _damaged(D, i, j, np.abs(D[i, j] + scale * rng.normal(size=len(i))))

    return damage


DAMAGE = {
    "lost digit, 1 % of the pairs": lost_digit(0.01),
    "lost digit, 3 %": lost_digit(0.03),
    "lost digit, 6 %": lost_digit(0.06),
    "swapped entries, 1 %": swapped(0.01),
    "lost minus sign, 1 %": lost_minus(0.01),
    "factor 10, 1 %": factor(10.0, 0.01),
    "factor 1/10, 1 %": factor(0.1, 0.01),
    "entry zero, 1 %": factor(0.0, 0.01),
    "noise, 1 %": noise(0.01),
}
