"""k-medoids on similarities or dissimilarities, their starts, and the centroids of given classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from similis import _kernels
from similis._utils.arrays import Array, Floats, Indices, Mask
from similis._utils.linalg import is_symmetric
from similis._utils.threads import map_row_chunks, row_blocks

Method = Literal["alternating", "vsh", "eager"]
Run = tuple[Indices, int, int, bool]  # medoids, sweeps, exchanges, whether it converged
Init = Literal["random", "k-means++", "k-center"]
CentroidRule = Literal["max-sum", "popular", "any-class"]
_TIE = 1e-12


@dataclass(frozen=True)
class Medoids:
    """A clustering by medoids.

    Attributes
    ----------
    medoids, labels : ndarrays of shape (k,) and (n,)
        Ascending indices, and position in `medoids` of each object's medoid, the first among equals.
    total : float
        Weighted sum of the proximities of the objects to their medoids.
    n_iter, n_swaps, converged : int, int, bool
        Sweeps over the candidates and exchanges in the best start; True if no exchange improved it further.
    """

    medoids: Indices
    labels: Indices
    total: float
    n_iter: int
    n_swaps: int
    converged: bool

    def with_members(self) -> Medoids:
        """Leave out medoids without members, which duplicates may be."""
        used = np.bincount(self.labels, minlength=len(self.medoids)) > 0
        return replace(self, medoids=self.medoids[used], labels=(np.cumsum(used) - 1)[self.labels])


def k_medoids(
    D: Array,
    k: int,
    *,
    sign: int = 1,
    method: Method = "vsh",
    weights: ArrayLike | None = None,
    init: Init | ArrayLike = "random",
    n_init: int = 1,
    max_iter: int = 300,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Medoids:
    """Choose k of n objects so that the others are as close as possible to the nearest chosen one.

    Parameters
    ----------
    D : ndarray of shape (n, n), float64 or float32
        Proximities; ``D[i, j]`` is the gain or cost of assigning object i to medoid j. It need not be symmetric.
    k : int
        Number of medoids.
    sign : {1, -1}, default=1
        1 maximizes the total similarity, -1 minimizes the total dissimilarity.
    method : {"vsh", "alternating", "eager"}, default="vsh"
        "vsh", vertex substitution ([qiao2013]): the best of all exchanges per sweep, until none improves. "alternating"
        ([cazzanti2007] Eq. (2.8)): assignment and choice of the best object of each cluster in turn. "eager"
        ([schubert2021]): any exchange that improves; the same kind of optimum as "vsh", found faster.
    weights : array of shape (n,), non-negative, or None
        Weight of each object.
    init : {"random", "k-means++", "k-center"} or array of shape (k,) or (n_init, k)
        Start: distinct random objects; random ones with probability proportional to the loss by the nearest medoid so
        far; the one with the largest such loss, after a random first one; or given medoids. No two are identical.
    n_init, max_iter : int, default=1 and 300
        Number of starts, of which the best result is kept; sweeps at most, per start.
    random_state, n_jobs : int, RandomState or None; int or None
        Random seed of the starts; threads over starts, on which the result does not depend.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.solvers import k_medoids
    >>> x = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.0])
    >>> k_medoids(np.abs(x[:, None] - x), 2, sign=-1, random_state=0).medoids
    array([1, 4])
    """
    D, cost = np.ascontiguousarray(D), -float(sign)
    w = np.ones(len(D)) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    if not isinstance(init, str):
        starts = list(np.atleast_2d(np.array(init, dtype=np.intp)))
    elif init == "random":
        starts = RandomStarts(D, n_init, random_state)(k)
    else:
        rng = check_random_state(random_state)
        starts = [_spread(D, k, sign, w, rng, greedy=init == "k-center") for _ in range(n_init)]
    run = {"vsh": _vsh, "alternating": _alternate, "eager": _eager}[method]
    # Eager exchanges read the costs by candidate.
    read = D if method != "eager" or is_symmetric(D) else np.ascontiguousarray(D.T)
    results: dict[int, Run] = {}

    def work(rows: slice) -> None:
        for some in row_blocks(rows.stop - rows.start, (k + 4) * len(D)):  # starts that run side by side
            at = range(rows.start + some.start, rows.start + some.stop)
            results.update(zip(at, run(read, cost, w, np.array([starts[s] for s in at]), max_iter), strict=True))

    map_row_chunks(work, len(starts), n_jobs)
    found = []
    for start in range(len(starts)):
        medoids = np.sort(results[start][0])
        labels, costs = _assign(D, cost, medoids)
        found.append(Medoids(medoids, labels, cost * float(costs @ w), *results[start][1:]))
    return max(found, key=lambda one: sign * one.total)


def total_proximity(
    D: Array, medoids: Indices, *, sign: int = 1, weights: ArrayLike | None = None
) -> tuple[Indices, float]:
    """Assign every object (row) to its best medoid (column), the first among equals; return positions and the total.

    Parameters
    ----------
    D, medoids : ndarrays of shape (m, n) and (k,)
        Proximities, and columns of the medoids.
    sign, weights : {1, -1}, array-like of shape (m,) or None
        -1 for dissimilarities; weight of each object in the total.
    """
    served = sign * D[:, medoids].astype(np.float64)
    labels = served.argmax(axis=1)
    best = served[np.arange(len(D)), labels]
    return labels, float(sign * (best.sum() if weights is None else best @ np.asarray(weights, dtype=np.float64)))


def farthest_first(D: Array, k: int) -> Indices:
    """Choose k objects by greedy k-center: the one with the smallest largest dissimilarity, then always the farthest.

    For a metric the largest distance to the nearest chosen object is at most twice the optimum.

    Parameters
    ----------
    D, k : ndarray of shape (n, n), int
        Dissimilarities; number of objects, at most n.
    """
    chosen = [int(D.max(axis=0).argmin())]
    nearest = D[:, chosen[0]].copy()
    while len(chosen) < k:
        nearest[chosen] = -np.inf
        chosen.append(int(nearest.argmax()))
        np.minimum(nearest, D[:, chosen[-1]], out=nearest)
    return np.array(chosen)


class RandomStarts:
    """Random starts of distinct objects; the starts of fewer medoids are the beginnings of those of more.

    Parameters
    ----------
    D, n_init, random_state : ndarray of shape (n, n); int; int, RandomState or None
        Proximities, number of starts and random seed.
    """

    def __init__(self, D: Array, n_init: int, random_state: Any = None) -> None:
        self.D, rng = D, check_random_state(random_state)
        self.orders = [rng.permutation(len(D)) for _ in range(n_init)]
        own = D.diagonal()[:, None]
        alike = sum(np.count_nonzero(D[rows] == own[rows]) for rows in row_blocks(*D.shape))
        self._different = alike == len(D)  # no object is as near to another one as to itself

    def __call__(self, k: int) -> list[Indices]:
        """Return the starts with k medoids; fewer if there are fewer distinct objects."""
        return [order[:k] if self._different else _distinct(self.D, order, k) for order in self.orders]


def _assign(D: Array, cost: float, medoids: Indices) -> tuple[Indices, Floats]:
    """Return the position of the nearest medoid of every object and the cost of it; costs are cost * D."""
    nearest, first, second = np.empty(len(D), np.intp), np.empty(len(D)), np.empty(len(D))
    _kernels.nearest_two(D, cost, medoids, nearest, first, second)
    return nearest, first


def _vsh(D: Array, cost: float, weights: Floats, medoids: Indices, max_iter: int) -> list[Run]:
    """Run vertex substitution, [qiao2013] sec. 2.2: the best exchange of each sweep."""
    counts = np.zeros((len(medoids), 2), np.intp)
    _kernels.vertex_substitution(D, cost, weights, medoids, max_iter, counts)
    return [(found, sweeps, swaps, sweeps > swaps) for found, (sweeps, swaps) in zip(medoids, counts.tolist())]


def _eager(C: Array, cost: float, weights: Floats, medoids: Indices, max_iter: int) -> list[Run]:
    """Run eager exchanges, [schubert2021], on the costs by candidate C = D'."""
    if medoids.shape[1] == 1:  # the best single medoid needs no search
        best = int((cost * (C @ weights)).argmin())
        return [(np.array([best]), 1, int(best != start[0]), True) for start in medoids]
    n, counts = len(C), np.zeros((len(medoids), 2), np.intp)
    nearest, first, second = np.empty((len(medoids), n), np.intp), *np.empty((2, len(medoids), n))
    for s, start in enumerate(medoids):
        costs = cost * C[start].astype(np.float64)
        nearest[s] = costs.argmin(axis=0)
        first[s], second[s] = np.partition(costs, 1, axis=0)[:2]
    tolerance = 1e-13 * n**0.5 * np.abs(first) @ weights
    _kernels.eager_exchanges(C, cost, weights, medoids, nearest, first, second, tolerance, max_iter, counts)
    looked, swaps = counts.T.tolist()
    return [(found, -(-a // n), b, a < max_iter * n) for found, a, b in zip(medoids, looked, swaps)]


def _alternate(D: Array, cost: float, weights: Floats, starts: Indices, max_iter: int) -> list[Run]:
    """Alternate assignment and choice of the best object of each cluster, [cazzanti2007] Eq. (2.8)."""
    runs, totals = [], np.empty(len(D))
    for medoids in starts:
        nearest, first = _assign(D, cost, medoids)
        swaps = 0
        for sweep in range(max_iter):
            _kernels.cluster_totals(D, cost, weights, nearest, totals)
            chosen = medoids.copy()
            for m in np.unique(nearest):
                members = np.flatnonzero(nearest == m)
                chosen[m] = members[totals[members].argmin()]
            moved, before = int((chosen != medoids).sum()), float(weights @ first)
            if moved:
                nearest, first = _assign(D, cost, chosen)
            if not float(weights @ first) < before:  # keep the old medoids if nothing is gained: avoids cycles
                runs.append((medoids, sweep + 1, swaps, True))
                break
            medoids, swaps = chosen, swaps + moved
        else:
            runs.append((medoids, max_iter, swaps, False))
    return runs


def _distinct(D: Array, order: Indices, k: int) -> Indices:
    """Return the first k objects in this order that are not identical to an earlier one, that is have equal columns."""
    chosen: list[int] = []
    for j in order:
        if not any(D[j, j] == D[j, m] and np.array_equal(D[:, j], D[:, m]) for m in chosen):
            chosen.append(int(j))
            if len(chosen) == k:
                break
    return np.array(chosen, dtype=np.intp)


def _spread(D: Array, k: int, sign: int, weights: Floats, rng: Any, *, greedy: bool) -> Indices:
    """Choose a random first medoid, then objects much less similar to the nearest medoid so far than to themselves."""
    own, chosen = sign * D.diagonal().astype(np.float64), [int(rng.randint(len(D)))]
    best = sign * D[:, chosen[0]].astype(np.float64)
    while len(chosen) < k:
        loss = np.maximum(own - best, 0.0)
        mass = np.cumsum(weights * loss)
        if not mass[-1] > 0:
            break
        j = loss.argmax() if greedy else np.searchsorted(mass, rng.random_sample() * mass[-1], side="right")
        chosen.append(int(j))
        best = np.maximum(best, sign * D[:, j])
    if len(chosen) < k:  # no loss is left: fill up with distinct objects
        rest = rng.permutation(np.setdiff1d(np.arange(len(D)), chosen))
        return _distinct(D, np.concatenate([chosen, rest]), k)
    return np.array(chosen, dtype=np.intp)


def class_centroids(
    S: Array,
    codes: Indices,
    n_classes: int,
    *,
    rule: CentroidRule = "max-sum",
    sign: float = 1.0,
    sample_weight: Array | None = None,
) -> Indices:
    """Choose one object per class, the first among equals up to rounding; shape (n_classes,), -1 without members.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        Proximities, rows s(z, .); NaN is a missing entry and left out of the means.
    codes, n_classes : ndarray of shape (n,), int
        Class of each object, 0 .. n_classes - 1, and number of classes.
    rule : {"max-sum", "popular", "any-class"}
        The member or ("any-class") object most similar to the class on average, or the most frequent nearest neighbor.
    sign, sample_weight : {1.0, -1.0}, ndarray of shape (n,) or None
        -1 for dissimilarities; number of times that each object counts, 0 leaves it out.
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
            total, mass, size = _sums(S, members, candidates, weight)
            chosen[h] = candidates[_best_mean(sign * total, mass, size)]
    return chosen


def centroids_by_fold(
    S: Array, codes: Indices, n_classes: int, test_fold: Indices, *, rule: CentroidRule = "max-sum", sign: float = 1.0
) -> Iterator[tuple[Mask, Indices]]:
    """Yield for each fold a mask of its objects and the class centroids, (n_classes,), of the objects outside it.

    `test_fold` holds the fold of each object; the other parameters are those of :func:`class_centroids`.
    """
    if rule == "max-sum":  # the part of each fold is subtracted from sums that are computed once
        total, mass, ones, sizes = np.zeros(len(codes)), np.zeros(len(codes)), np.ones(len(codes)), np.ones(n_classes)
        for h in range(n_classes):
            members = np.flatnonzero(codes == h)
            total[members], mass[members], sizes[h] = _sums(S, members, members, ones)
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
            chosen[h] = members[_best_mean(kept[members], left[members], sizes[h])]
        yield test, chosen


def _sums(S: Array, rows: Indices, columns: Indices, weight: Array) -> tuple[Array, Array, float]:
    """Weighted sums over some rows of the known entries of some columns, and of their weights; the largest entry."""
    total, mass, size = np.zeros(len(columns)), np.zeros(len(columns)), 0.0
    for part in row_blocks(len(rows), len(columns)):
        block = S[np.ix_(rows[part], columns)]
        known = ~np.isnan(block)
        total += weight[rows[part]] @ np.where(known, block, 0.0)
        mass += weight[rows[part]] @ known
        size = max(size, float(np.fmax.reduce(np.abs(block), axis=None, initial=0.0)))
    return total, mass, size


def _best_mean(total: Array, mass: Array, size: float) -> int:
    """Return the index of the largest mean, the first of those equal up to rounding of numbers of this size."""
    means = np.divide(total, mass, out=np.full(len(total), np.nan), where=mass > 0)
    return int(np.argmax(means >= np.fmax.reduce(means) - _TIE * size))  # NaN counts as smallest


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
        sums = support[leaders]
        chosen[h] = leaders[_best_mean(sums, np.ones(len(sums)), np.abs(sums).max())]
    return chosen
