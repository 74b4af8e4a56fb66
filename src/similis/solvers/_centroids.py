"""Class centroids: the most similar or the most popular member of each class, also for all folds at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from similis._utils.arrays import Array, Indices, Mask
from similis._utils.threads import row_blocks

CentroidRule = Literal["max-sum", "popular", "any-class"]
_TIE = 1e-12


def class_centroids(
    S: Array,
    codes: Indices,
    n_classes: int,
    *,
    rule: CentroidRule = "max-sum",
    sign: float = 1.0,
    sample_weight: Array | None = None,
) -> Indices:
    """Choose one object per class; indices of shape (n_classes,), -1 for a class without members.

    Among equals, where a difference of the size of rounding does not count, the lowest index is chosen.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        Proximities, rows s(z, .); NaN is a missing entry and left out of the means.
    codes, n_classes : ndarray of shape (n,), int
        Class of each object, 0 .. n_classes - 1, and number of classes.
    rule : {"max-sum", "popular", "any-class"}
        The member most similar to its class on average, the one that is most often a nearest neighbor, or the object of
        any class that is most similar to the class on average.
    sign, sample_weight : {1.0, -1.0}, ndarray of shape (n,) or None
        -1 for dissimilarities. Weights are equivalent to repeating each object this many times; 0 leaves it out.
    """
    weight = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if rule == "popular":
        return _most_popular(S, codes, n_classes, sign, weight)
    present = np.flatnonzero(weight > 0)
    chosen = np.full(n_classes, -1, dtype=np.intp)
    for h in range(n_classes):
        members = present[codes[present] == h]
        if len(members):
            # mu_h = argmax_mu of the mean of s(z, mu) over z in X_h, [cazzanti2007] Eq. (2.10), (3.10)
            candidates = present if rule == "any-class" else members
            total, mass = _sums(S, members, candidates, weight)
            chosen[h] = candidates[_best_mean(sign * total, mass)]
    return chosen


def centroids_by_fold(
    S: Array, codes: Indices, n_classes: int, test_fold: Indices, *, rule: CentroidRule = "max-sum", sign: float = 1.0
) -> Iterator[tuple[Mask, Indices]]:
    """Yield for each fold a mask of its objects and the class centroids, (n_classes,), of the objects outside it.

    `test_fold` holds the fold of each object; the other parameters are those of :func:`class_centroids`.
    """
    if rule == "max-sum":  # the part of each fold is subtracted from sums that are computed once
        total, mass, ones = np.zeros(len(codes)), np.zeros(len(codes)), np.ones(len(codes))
        for h in range(n_classes):
            members = np.flatnonzero(codes == h)
            total[members], mass[members] = _sums(S, members, members, ones)
    for fold in np.unique(test_fold):
        test = test_fold == fold
        if rule != "max-sum":
            yield test, class_centroids(S, codes, n_classes, rule=rule, sign=sign, sample_weight=~test)
            continue
        rows = np.flatnonzero(test)
        block = S[rows]
        known = (codes[rows][:, None] == codes) & ~np.isnan(block)
        kept = sign * (total - np.where(known, block, 0.0).sum(axis=0, dtype=np.float64))
        left, chosen = mass - known.sum(axis=0), np.full(n_classes, -1, dtype=np.intp)
        for h in np.unique(codes[~test]):
            members = np.flatnonzero((codes == h) & ~test)
            chosen[h] = members[_best_mean(kept[members], left[members])]
        yield test, chosen


def first_best(values: Array) -> int:
    """Return the index of the largest value, the first of those equal up to rounding; NaN counts as smallest."""
    if np.isnan(values).all():
        return 0
    best = np.nanmax(values)
    return int(np.argmax(values >= best - _TIE * max(1.0, abs(float(best)))))


def _sums(S: Array, rows: Indices, columns: Indices, weight: Array) -> tuple[Array, Array]:
    """Weighted sums over some rows of the known entries of some columns, and of their weights."""
    total, mass = np.zeros(len(columns)), np.zeros(len(columns))
    for part in row_blocks(len(rows), len(columns)):
        block = S[np.ix_(rows[part], columns)]
        known = ~np.isnan(block)
        total += weight[rows[part]] @ np.where(known, block, 0.0)
        mass += weight[rows[part]] @ known
    return total, mass


def _best_mean(total: Array, mass: Array) -> int:
    return first_best(np.divide(total, mass, out=np.full(len(total), np.nan), where=mass > 0))


def _most_popular(S: Array, codes: Indices, n_classes: int, sign: float, weight: Array) -> Indices:
    """Choose mu_h = argmax_{z in X_h} |N(z)|, [cazzanti2007] Eq. (3.11); ties by total similarity to N(z)."""
    nearest, similarity = np.empty(len(S), np.intp), np.empty(len(S))
    for rows in row_blocks(*S.shape):
        others = np.where(np.isnan(S[rows]), -np.inf, sign * S[rows]).astype(np.float64)
        np.fill_diagonal(others[:, rows], -np.inf)
        others[:, weight == 0] = -np.inf
        nearest[rows] = np.argmax(others, axis=1)
        similarity[rows] = np.take_along_axis(others, nearest[rows, None], axis=1)[:, 0]
    counts = np.where(np.isfinite(similarity), weight, 0.0)
    votes = np.bincount(nearest, weights=counts, minlength=len(S))
    support = np.bincount(nearest, weights=np.where(counts > 0, similarity, 0.0) * counts, minlength=len(S))
    chosen = np.full(n_classes, -1, dtype=np.intp)
    for h in np.unique(codes[weight > 0]):
        members = np.flatnonzero((codes == h) & (weight > 0))
        leaders = members[votes[members] == votes[members].max()]
        chosen[h] = leaders[first_best(support[leaders])]
    return chosen
