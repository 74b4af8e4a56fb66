"""Measures on weighted point sets: Wasserstein (earth mover's distance), IRM and pyramid match."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from similis import _kernels, base
from similis._utils.arrays import Array, Floats, Indices
from similis._utils.environment import require_package
from similis.exceptions import ProximityError

METRICS = ("euclidean", "sqeuclidean", "cityblock", "chebyshev")  # of scipy


class PointSetMeasure(base.Measure):
    """Base of measures on sets of points of one dimension, optionally weighted."""

    keeps_float32 = True
    fit_only_indexes = True
    _needs_mass = False

    def validate_objects(self, X: Any) -> list[tuple[Array, Floats]]:
        return read_point_sets(X, type(self).__name__)

    def learn(self, objects: list[Any], y: Any) -> None:
        self._dimension = _dimension([objects])

    def encode(self, objects: list[Any]) -> Any:
        return PointSets.of(objects, getattr(self, "_dimension", None), mass=self._needs_mass)

    def encode_together(self, collections: Sequence[list[Any]]) -> list[Any]:
        dimension = _dimension(collections)
        return [PointSets.of(objects, dimension, mass=self._needs_mass) for objects in collections]


@dataclass
class PointSets:
    """Points and weights of all sets in one array; set i is ``points[starts[i]:starts[i + 1]]``."""

    points: Array
    weights: Floats
    starts: Array
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, objects: list[Any], dimension: int | None, *, mass: bool) -> PointSets:
        """Concatenate sets; with `mass`, omit points of weight zero and scale the weights of each set to sum one."""
        if dimension is not None and (got := _dimension([objects])) != dimension:
            raise ProximityError(f"Point sets must have the dimension of the training sets, {dimension}. Got {got}.")
        dtype = np.result_type(*(points.dtype for points, _ in objects))
        if mass:
            objects = [(points[weights > 0], weights[weights > 0] / weights.sum()) for points, weights in objects]
        starts = np.concatenate([[0], np.cumsum([len(points) for points, _ in objects])]).astype(np.int64)
        points = np.concatenate([points for points, _ in objects]).astype(np.float64)
        return cls(points, np.concatenate([weights for _, weights in objects]), starts, dtype)

    @property
    def shape(self) -> tuple[int]:
        return (len(self.starts) - 1,)

    def get(self, i: int) -> tuple[Array, Floats]:
        place = slice(*self.starts[i : i + 2])
        return self.points[place], self.weights[place]

    def get_from(self, first: int) -> tuple[Array, Floats, Array]:
        begin = self.starts[first]
        return self.points[begin:], self.weights[begin:], self.starts[first:] - begin


def read_point_sets(X: Any, who: str) -> list[tuple[Array, Floats]]:
    """Validate point sets; return pairs of points (k, d) and weights (k,). Single numbers are points on a line."""
    sets = [_as_set(x, i, who) for i, x in enumerate(base.as_collection(X, who))]
    _dimension([sets])
    return sets


def _as_set(x: Any, i: int, who: str) -> tuple[Array, Floats]:
    weighted = isinstance(x, (tuple, list)) and len(x) == 2 and _depth(x[0]) == 2 and _depth(x[1]) == 1
    wanted = "sets of points: k rows of d numbers, or pairs (points, weights)"
    points = as_points(x[0] if weighted else x, i, who, wanted)
    n = len(points)
    try:
        weights = np.asarray(x[1] if weighted else np.ones(n), dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.full(n, np.nan)
    if len(weights) != n:
        raise ProximityError(f"{who} needs one weight per point. Object {i} has {n} points, {len(weights)} weights.")
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0):
        raise ProximityError(f"{who} needs finite, non-negative weights, not all zero. Object {i} has other weights.")
    return points, weights


def as_points(x: Any, i: int, who: str, wanted: str) -> Array:
    """Validate rows of finite numbers, at least one; float32 stays float32."""
    try:
        points = np.asarray(x)
        if points.dtype.kind == "c":
            raise TypeError
        points = points if points.dtype == np.float32 else points.astype(np.float64)
    except (TypeError, ValueError):
        points = np.empty((0, 0, 0))
    if points.ndim == 1:
        points = points[:, None]
    if points.ndim != 2:
        raise ProximityError(f"{who} needs {wanted}. Object {i} is a {type(x).__name__} of another form.")
    if not points.size:
        raise ProximityError(f"{who} needs objects with at least one point. Object {i} is empty.")
    if not np.isfinite(points).all():
        where = base.first_position(~np.isfinite(points))
        raise ProximityError(f"{who} needs finite numbers. Object {i} has NaN or infinity at {where}.")
    return points


def _depth(x: Any) -> int:
    """Return the nesting depth of numbers: 2 for rows of numbers."""
    if isinstance(x, (list, tuple)):
        return 1 + max(map(_depth, x), default=0)
    return int(getattr(x, "ndim", 0))


def _dimension(collections: Sequence[list[Any]]) -> int:
    """Return the common dimension of all sets; raise an error if they differ."""
    first: int = collections[0][0][0].shape[1]
    for objects in collections:
        for i, (points, _) in enumerate(objects):
            if points.shape[1] != first:
                got = f"Object 0 has {first}, object {i} has {points.shape[1]}."
                raise ProximityError(f"Points must all have the same dimension. {got}")
    return first


@base.estimator
class Wasserstein(PointSetMeasure):
    """Earth mover's distance: the smallest cost of moving the weight of one point set to the other.

    d(x, z) = (min sum_ij f_ij m(x_i, z_j)^p)^(1/p) over flows f >= 0 from the weights of the x_i to the weights of the
    z_j, which sum to one in each set.

    Objects are arrays of k points of d numbers, or pairs ``(points, weights)``, with weights scaled to sum to one; k
    may differ, and a list of numbers is a set of points on a line. [qiao2013] sec. 5.2 uses this distance of
    [rubner2000] for color signatures. If the network simplex method ([ahuja1993] ch. 11) cycles, POT is used (``pip
    install 'similis[transport]'``).

    Parameters
    ----------
    metric : {"euclidean", "sqeuclidean", "cityblock", "chebyshev"}, default="euclidean"
        The distance m between two points.
    p : float, default=1.0
        Order, at least 1; 2 is also called Mallows distance.

    Examples
    --------
    >>> from similis import Wasserstein
    >>> x, z = ([[0, 0], [4, 0]], [0.5, 0.5]), ([[0, 3]], [1.0])
    >>> Wasserstein()(x, z)
    4.0
    """

    metric: str = base.param("euclidean", base.choice(*METRICS))
    p: float = base.param(1.0, base.between(1, None, "left"))

    kind = "dissimilarity"
    domain_ = (0.0, np.inf)
    _needs_mass = True

    def block(self, A: PointSets, B: PointSets, n_jobs: int | None = None, tick: base.Tick = None) -> Array:
        def row(i: int, first: int) -> Floats:
            (x, a), (z, b, starts) = A.get(i), B.get_from(first)
            M = _costs(x, z, self.metric, self.p)
            costs = np.empty(len(starts) - 1)
            _kernels.transport_costs(M, a, b, starts, costs)
            for j in np.flatnonzero(np.isnan(costs)):  # the simplex method cycled
                there = slice(*starts[j : j + 2])
                costs[j] = _by_pot(a, b[there], np.ascontiguousarray(M[:, there]))
            return np.maximum(costs, 0.0) ** (1 / self.p)

        out = np.empty((*A.shape, *B.shape), self.result_dtype(A, B))
        return base.fill_rows(out, row, n_jobs, tick, 4, mirror=B is A)


@base.estimator
class IRM(PointSetMeasure):
    """Integrated region matching: greedy matching of the nearest points of two weighted sets.

    Pairs of points are processed by increasing distance; each pair gets the smaller of the remaining weights of its
    points. d(x, z) is the sum of the distances times these weights ([li2000]).

    Objects are as for :class:`Wasserstein`, which is the optimal matching and never larger. [qiao2013] sec. 5.2 uses it
    for photographs. The order of pairs at equal distance is fixed, so that it is symmetric.

    Parameters
    ----------
    metric : {"euclidean", "sqeuclidean", "cityblock", "chebyshev"}, default="euclidean"
        The distance between two points.

    Examples
    --------
    >>> from similis import IRM
    >>> IRM()(([[0.0], [10.0]], [0.5, 0.5]), ([[9.0], [30.0]], [0.5, 0.5]))
    15.5
    """

    metric: str = base.param("euclidean", base.choice(*METRICS))

    kind = "dissimilarity"
    domain_ = (0.0, np.inf)
    _needs_mass = True

    def validate_objects(self, X: Any) -> list[tuple[Array, Floats]]:
        # Sort the points of each set, so that the matching does not depend on their order.
        sets = super().validate_objects(X)
        orders = [np.lexsort((weights, *points.T[::-1])) for points, weights in sets]
        return [(points[order], weights[order]) for (points, weights), order in zip(sets, orders)]

    def block(self, A: PointSets, B: PointSets, n_jobs: int | None = None, tick: base.Tick = None) -> Array:
        rank_a, rank_b = _ranks(A, B)

        def row(i: int, first: int) -> Floats:
            (x, a), (z, b, starts) = A.get(i), B.get_from(first)
            flips = rank_b[first:] < rank_a[i]
            matched = np.empty(len(flips))
            _kernels.greedy_matches(_costs(x, z, self.metric), a, b, starts, flips, matched)
            return matched

        out = np.empty((*A.shape, *B.shape), self.result_dtype(A, B))
        return base.fill_rows(out, row, n_jobs, tick, 4, mirror=B is A)


def _costs(x: Array, z: Array, metric: str, p: float = 1.0) -> Floats:
    with np.errstate(over="ignore"):
        M = cdist(x, z, metric) ** p
    if not np.isfinite(M).all():
        raise ProximityError("The distance of two points overflows. Scale the points down.")
    return np.asarray(M)


def _by_pot(a: Array, b: Array, M: Array) -> float:
    ot = require_package("ot", extra="transport", who="Wasserstein, for a transport problem with many equal costs,")
    return float(ot.emd2(a, b * (a.sum() / b.sum()), M, numItermax=10_000_000))


def _ranks(*collections: PointSets) -> list[Indices]:
    """Return ranks of the sets of all collections in one common order; equal sets have equal ranks."""
    keys = [[tuple(np.concatenate(S.get(i), axis=None).tolist()) for i in range(*S.shape)] for S in collections]
    rank = {key: k for k, key in enumerate(sorted(set().union(*keys)))}
    return [np.array([rank[key] for key in own]) for own in keys]


@base.estimator
class PyramidMatch(PointSetMeasure):
    """Pyramid match: number of points with a partner in the same bin, with smaller weights for wider bins.

    s(x, z) = sum_l 2^-l (I_l - I_(l-1)), where I_l is the number of points of x and z that share a bin of side 2^l
    times the finest side, l = 0, 1, ..., and I_(-1) = 0 ([grauman2005]).

    A positive semi-definite similarity, used for images in [chen2010] sec. 4.2. It approximates the optimal matching of
    :class:`Wasserstein`, whose objects it reads. New points beyond the grid of the training points move to its edge.

    Parameters
    ----------
    n_levels : int, default=8
        Number of histograms. The widest bin holds all training points, the finest is 2^(n_levels - 1) times narrower.
    normalize : bool, default=True
        Divide by the geometric mean of the self-similarities, so that large sets have no advantage.

    Attributes
    ----------
    low_ : ndarray of shape (d,)
        Corner of the grid: the smallest coordinates of the training points.
    side_ : float
        Side of the finest bins.

    Examples
    --------
    >>> from similis import PyramidMatch
    >>> sets = [[[0.0, 0.0], [7.9, 7.9]], [[0.5, 0.5], [7.9, 7.9]], [[4.0, 4.0]]]
    >>> PyramidMatch(n_levels=4).fit(sets).matrix(sets[:1], sets).round(2)
    array([[1.  , 1.  , 0.18]])
    """

    n_levels: int = base.param(8, base.Number(base.Integral, 1, 53, closed="both"))  # binary digits of a float64
    normalize: bool = base.param(True, "boolean")

    fitted_arrays = {"low_": base.fitted_reals("d"), "_dimension": base.fitted_count(1)}
    fit_only_indexes = False

    @property
    def domain_(self) -> tuple[float, float]:
        return (0.0, 1.0 if self.normalize else np.inf)

    def learn(self, objects: list[Any], y: Any) -> None:
        super().learn(objects, y)
        points = np.concatenate([points for points, _ in objects]).astype(np.float64)
        self.low_ = points.min(axis=0)
        self.side_ = (float((points.max(axis=0) - self.low_).max()) or 1.0) / 2 ** (self.n_levels - 1)

    encode_together = base.Measure.encode_together  # the bins are those of the training sets

    def encode(self, objects: list[Any]) -> PointSets:
        """Compute the occupied bins of each set, each level weighted by 2^-l - 2^-(l+1) (the last one by 2^-l)."""
        check_is_fitted(self, "side_")
        sets = PointSets.of(objects, self._dimension, mass=False)
        levels = np.arange(self.n_levels)
        finest = np.clip((sets.points - self.low_) // self.side_, 0, 2 ** levels[-1] - 1).astype(np.int64)
        bins = np.concatenate([_bin_names(finest >> level, level) for level in range(self.n_levels)])
        # sum_l w_l (I_l - I_(l-1)) = sum_l (w_l - w_(l+1)) I_l with w_l = 2^-l, and zero after the last level
        factors = 0.5 ** np.minimum(levels + 1, levels[-1])
        counts = np.outer(factors, sets.weights).ravel()
        of = np.tile(np.repeat(np.arange(*sets.shape), np.diff(sets.starts)), self.n_levels)
        order = np.lexsort((bins, of))
        bins, counts, of = bins[order], counts[order], of[order]
        first = np.flatnonzero(np.r_[True, (bins[1:] != bins[:-1]) | (of[1:] != of[:-1])])
        starts = np.searchsorted(of[first], np.arange(sets.shape[0] + 1)).astype(np.int64)
        return PointSets(bins[first], np.add.reduceat(counts, first), starts, sets.dtype)

    def block(self, A: PointSets, B: PointSets, n_jobs: int | None = None, tick: base.Tick = None) -> Array:
        mirror, out = B is A, np.zeros((*A.shape, *B.shape))
        histograms = A.points, A.weights, A.starts, B.points, B.weights, B.starts
        # The self-similarity of a set is the sum of its weights in all bins.
        own_A, own_B = (np.add.reduceat(S.weights, S.starts[:-1]) for S in (A, B))

        def work(rows: slice) -> None:
            _kernels.shared_counts(*histograms, rows.start, rows.stop, mirror, out)
            if self.normalize:
                out[rows] /= np.sqrt(np.outer(own_A[rows], own_B))
                np.minimum(out[rows], 1.0, out=out[rows])

        base.fill_strips(out, work, n_jobs, tick, step=32, mirror=mirror)
        return out.astype(self.result_dtype(A, B), copy=False)


def _bin_names(cells: Array, level: int) -> Array:
    """Return a 64-bit hash of the cell and level of each bin, the same in every collection."""
    name = np.full(len(cells), level, dtype=np.uint64)
    for column in (np.zeros(len(cells), dtype=np.int64), *cells.T):
        # Mixer of the splitmix64 generator, applied to each coordinate in turn.
        name = (name ^ column.astype(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            name = (name ^ (name >> np.uint64(shift))) * np.uint64(factor)
        name ^= name >> np.uint64(31)
    return name.view(np.int64)
