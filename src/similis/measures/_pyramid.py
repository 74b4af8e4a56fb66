"""The pyramid match of point sets: histograms of ever wider bins, intersected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from similis import _kernels
from similis._utils.params import Integral, Number
from similis.measures._base import Tick, mirror_upper, over_rows
from similis.measures._point_sets import PointSetMeasure, PointSets

__all__ = ["PyramidMatch"]


class PyramidMatch(PointSetMeasure):
    """Pyramid match: how many points find a partner, counted less the wider the bin in which they meet.

    s(x, z) = sum_l 2^-l (I_l - I_(l-1)), where I_l is how many points of x and z share a bin of side 2^l times the
    finest side, l = 0, 1, ..., and I_(-1) = 0.

    Parameters
    ----------
    n_levels : int, default=8
        The number of histograms. The widest bin holds all training points, the finest is 2^(n_levels - 1) times
        narrower.
    normalize : bool, default=True
        Whether to divide by the geometric mean of the self-similarities, so that large sets have no advantage.

    Attributes
    ----------
    low_ : ndarray of shape (d,)
        The corner of the grid: the least coordinates of the training points.
    side_ : float
        The side of the finest bins.
    domain_ : tuple
        ``(0, 1)`` if normalised, else ``(0, inf)``.

    See Also
    --------
    Wasserstein : the best matching, which this one approximates in linear time.

    Notes
    -----
    A positive semi-definite similarity; [chen2010] sec. 4.2 has the images of Caltech-101 compared by it. Objects are
    arrays of k points of d numbers, or pairs ``(points, weights)`` in which a point counts as its weight. The grid is
    learnt from the training points; points of new objects beyond it count as lying on its edge.

    References
    ----------
    K. Grauman and T. Darrell (2007). The pyramid match kernel: efficient learning with sets of features. Journal of
    Machine Learning Research 8, 725-760.

    Examples
    --------
    >>> from similis import PyramidMatch
    >>> sets = [[[0.0, 0.0], [7.9, 7.9]], [[0.5, 0.5], [7.9, 7.9]], [[4.0, 4.0]]]
    >>> PyramidMatch(n_levels=4).fit(sets).matrix(sets).round(2)
    array([[1.  , 1.  , 0.18],
           [1.  , 1.  , 0.18],
           [0.18, 0.18, 1.  ]])
    """

    _only_remembers = False
    # Beyond 53 halvings coordinates have no more digits.
    _parameter_constraints = {"n_levels": [Number(Integral, 1, 53, closed="both")], "normalize": ["boolean"]}

    def __init__(self, *, n_levels: int = 8, normalize: bool = True) -> None:
        self.n_levels = n_levels
        self.normalize = normalize

    @property
    def domain_(self) -> tuple[float, float]:  # type: ignore[override]
        """Zero to one, or to no limit."""
        return (0.0, 1.0 if self.normalize else np.inf)

    def _learn(self, objects: list[Any], y: Any) -> None:
        super()._learn(objects, y)
        points = np.concatenate([points for points, _ in objects]).astype(np.float64)
        self.low_ = points.min(axis=0)
        span = float((points.max(axis=0) - self.low_).max()) or 1.0
        self.side_ = span / 2 ** (self.n_levels - 1)

    def _encode(self, objects: list[Any]) -> _Pyramids:
        return self._encode_all([objects])[0]

    def _encode_all(self, collections: Sequence[list[Any]]) -> list[_Pyramids]:
        check_is_fitted(self, "side_")
        laid = [PointSets.of(objects, self._dimension, mass=False) for objects in collections]
        return [self._histograms(sets) for sets in laid]

    def _histograms(self, sets: PointSets) -> _Pyramids:
        """All bins that hold a point, set by set, each level weighted by 2^-l - 2^-(l+1) (the last one by 2^-l)."""
        most = 2 ** (self.n_levels - 1) - 1
        finest = np.clip((sets.points - self.low_) // self.side_, 0, most).astype(np.int64)
        owner = np.repeat(np.arange(*sets.shape), np.diff(sets.starts))
        keys, values, owners = [], [], []
        for level in range(self.n_levels):
            # sum_l w_l (I_l - I_(l-1)) = sum_l (w_l - w_(l+1)) I_l with w_l = 2^-l, and nothing after the last
            weight = 2.0**-level if level == self.n_levels - 1 else 2.0 ** -(level + 1)
            keys.append(_bin_names(finest >> level, level))
            values.append(weight * sets.weights)
            owners.append(owner)
        bins, counts, of = np.concatenate(keys), np.concatenate(values), np.concatenate(owners)
        order = np.lexsort((bins, of))
        bins, counts, of = bins[order], counts[order], of[order]
        first = np.flatnonzero(np.r_[True, (bins[1:] != bins[:-1]) | (of[1:] != of[:-1])])
        starts = np.searchsorted(of[first], np.arange(sets.shape[0] + 1)).astype(np.int64)
        total = np.add.reduceat(sets.weights, sets.starts[:-1])
        return _Pyramids(bins[first], np.add.reduceat(counts, first), starts, total, sets.dtype)

    def _matrix(self, A: _Pyramids, B: _Pyramids, n_jobs: int | None = None, tick: Tick | None = None) -> NDArray[Any]:
        mirror, out = B is A, np.zeros((len(A.total), len(B.total)))

        def work(rows: slice) -> None:
            _kernels.shared_counts(
                A.bins, A.counts, A.starts, B.bins, B.counts, B.starts, rows.start, rows.stop, mirror, out
            )
            if self.normalize:
                # The similarity of a set with itself is its total weight: the sum telescopes.
                out[rows] /= np.sqrt(np.outer(A.total[rows], B.total))
                np.minimum(out[rows], 1.0, out=out[rows])

        over_rows(work, len(out), n_jobs, tick, step=32)
        if mirror:
            mirror_upper(out)
        return out.astype(self._dtype(A, B), copy=False)


@dataclass
class _Pyramids:
    """The bins of each set in increasing order, what they count, and the total weight of the set."""

    bins: NDArray[np.int64]
    counts: NDArray[np.float64]
    starts: NDArray[np.int64]
    total: NDArray[np.float64]
    dtype: np.dtype[Any]


def _bin_names(cells: NDArray[np.int64], level: int) -> NDArray[np.int64]:
    """One number for each bin, the same in every collection: a hash of its cell and level, 64 bits wide."""
    name = np.full(len(cells), level, dtype=np.uint64)
    for column in (np.zeros(len(cells), dtype=np.int64), *cells.T):
        # Each coordinate goes through the mixer of the splitmix64 generator, so that near cells have far names.
        name = (name ^ column.astype(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            name = (name ^ (name >> np.uint64(shift))) * np.uint64(factor)
        name ^= name >> np.uint64(31)
    return name.view(np.int64)
