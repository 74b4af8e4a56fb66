"""Earth mover's distance between weighted point sets, and its greedy variant."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from similis import _kernels
from similis._utils.extras import need
from similis._utils.params import between, choice
from similis.exceptions import ProximityError
from similis.measures._base import Tick, mirror_upper, over_rows
from similis.measures._point_sets import METRICS, PointSetMeasure, PointSets

__all__ = ["IRM", "Wasserstein"]


class Wasserstein(PointSetMeasure):
    """Earth mover's distance: the least work that moves the weight of one point set to the other.

    d(x, z) = (min sum_ij f_ij m(x_i, z_j)^p)^(1/p) over flows f >= 0 that take from x_i its weight and bring z_j its
    weight, where weights sum to one in each set.

    Parameters
    ----------
    metric : {"euclidean", "sqeuclidean", "cityblock", "chebyshev"}, default="euclidean"
        The distance m between two points.
    p : float, default=1.0
        The order, 1 or more; 2 is also called Mallows distance.

    Attributes
    ----------
    domain_ : tuple
        ``(0, inf)``.

    See Also
    --------
    IRM : matches the nearest points first.
    PyramidMatch : a similarity in linear time.

    Notes
    -----
    Objects are arrays of k points of d numbers, or pairs ``(points, weights)`` ("signatures"); k may differ, a list of
    numbers is points on a line. Weights are scaled to sum to one; points of weight zero do not matter. The simplex
    method on a spanning tree solves the transport problems, to 1e-13 of the largest cost; should it ever go round in
    circles, POT takes over (``pip install 'similis[transport]'``). [qiao2013] sec. 5.2 compares colour signatures of
    images so.

    Examples
    --------
    >>> from similis import Wasserstein
    >>> x, z = ([[0, 0], [4, 0]], [0.5, 0.5]), ([[0, 3]], [1.0])
    >>> Wasserstein()(x, z)
    4.0
    """

    kind = "dissimilarity"
    domain_ = (0.0, np.inf)
    _needs_mass = True
    _parameter_constraints = {"metric": [choice(*METRICS)], "p": [between(1, None, "left")]}

    def __init__(self, *, metric: str = "euclidean", p: float = 1.0) -> None:
        self.metric = metric
        self.p = p

    def _matrix(self, A: PointSets, B: PointSets, n_jobs: int | None = None, tick: Tick | None = None) -> NDArray[Any]:
        mirror, out = B is A, np.empty((*A.shape, *B.shape), self._dtype(A, B))

        def work(rows: slice) -> None:
            for i in range(rows.start, rows.stop):
                first = i if mirror else 0
                a, begin = A.weights[A.place(i)], int(B.starts[first])
                b, starts = B.weights[begin:], B.starts[first:] - begin
                M = _costs(A.points[A.place(i)], B.points[begin:], self.metric, self.p)
                row = np.empty(len(starts) - 1)
                _kernels.transport_costs(M, a, b, starts, row)
                for j in np.flatnonzero(np.isnan(row)):  # the simplex method went round in circles
                    there = slice(int(starts[j]), int(starts[j + 1]))
                    row[j] = _by_pot(a, b[there], np.ascontiguousarray(M[:, there]))
                out[i, first:] = np.maximum(row, 0.0) ** (1 / self.p)

        over_rows(work, len(out), n_jobs, tick, step=4)
        if mirror:
            mirror_upper(out)
        return out


class IRM(PointSetMeasure):
    """Integrated region matching: the nearest points of two weighted sets are matched first.

    Pairs of points are taken by increasing distance; each pair is given as much weight as both of its points have left.
    d(x, z) is the sum of the distances times these weights.

    Parameters
    ----------
    metric : {"euclidean", "sqeuclidean", "cityblock", "chebyshev"}, default="euclidean"
        The distance between two points.

    Attributes
    ----------
    domain_ : tuple
        ``(0, inf)``.

    See Also
    --------
    Wasserstein : the best matching, never above this one.

    Notes
    -----
    Objects are arrays of k points of d numbers, or pairs ``(points, weights)``; weights are scaled to sum to one.
    [qiao2013] sec. 5.2 compares photographs so, "a greedy variant of the Wasserstein distance". Pairs at equal distance
    are taken in an order that depends neither on which set comes first nor on the order of a set's points, so that
    the distance is symmetric.

    References
    ----------
    J. Li, J. Z. Wang and G. Wiederhold (2000). IRM: integrated region matching for image retrieval. Proc. ACM
    Multimedia, 147-156.

    Examples
    --------
    >>> from similis import IRM
    >>> IRM()(([[0.0], [10.0]], [0.5, 0.5]), ([[9.0], [30.0]], [0.5, 0.5]))
    15.5
    """

    kind = "dissimilarity"
    domain_ = (0.0, np.inf)
    _needs_mass = True
    _parameter_constraints = {"metric": [choice(*METRICS)]}

    def __init__(self, *, metric: str = "euclidean") -> None:
        self.metric = metric

    def _objects(self, X: Any) -> list[tuple[NDArray[Any], NDArray[np.float64]]]:
        return [_sorted_set(points, weights) for points, weights in super()._objects(X)]

    def _matrix(self, A: PointSets, B: PointSets, n_jobs: int | None = None, tick: Tick | None = None) -> NDArray[Any]:
        mirror, out = B is A, np.empty((*A.shape, *B.shape), self._dtype(A, B))
        rank_a, rank_b = _ranks(A, B)

        def work(rows: slice) -> None:
            for i in range(rows.start, rows.stop):
                first = i if mirror else 0
                M = _costs(A.points[A.place(i)], B.points[int(B.starts[first]) :], self.metric)
                flips = rank_b[first:] < rank_a[i]
                row = np.empty(len(flips))
                starts = B.starts[first:] - B.starts[first]
                _kernels.greedy_matches(M, A.weights[A.place(i)], B.weights[B.starts[first] :], starts, flips, row)
                out[i, first:] = row

        over_rows(work, len(out), n_jobs, tick, step=4)
        if mirror:
            mirror_upper(out)
        return out


def _costs(x: NDArray[Any], z: NDArray[Any], metric: str, p: float = 1.0) -> NDArray[np.float64]:
    """What it costs to move each point to each; refused where that is beyond the largest number."""
    with np.errstate(over="ignore"):
        M = cdist(x, z, metric) ** p
    if not np.isfinite(M).all():
        raise ProximityError("Points must not be so far apart that their distance is infinite; scale them down.")
    return np.asarray(M)


def _by_pot(a: NDArray[Any], b: NDArray[Any], M: NDArray[Any]) -> float:
    """The same least cost by another solver."""
    ot = need("ot", extra="transport", who="Wasserstein, for a transport problem with many equal costs,")
    return float(ot.emd2(a, b * (a.sum() / b.sum()), M, numItermax=10_000_000))


def _sorted_set(points: NDArray[Any], weights: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same set with its points in lexicographic order."""
    order = np.lexsort((weights, *points.T[::-1]))
    return points[order], weights[order]


def _ranks(A: PointSets, B: PointSets) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Numbers that put the sets of both collections into one order; equal sets have equal numbers."""
    keys = [
        [(*S.points[S.place(i)].ravel().tolist(), *S.weights[S.place(i)].tolist()) for i in range(*S.shape)]
        for S in (A, B)
    ]
    rank = {key: k for k, key in enumerate(sorted({*keys[0], *keys[1]}))}
    return np.array([rank[key] for key in keys[0]]), np.array([rank[key] for key in keys[1]])
