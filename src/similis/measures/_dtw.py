"""Dynamic time warping of time series."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis import _kernels
from similis._utils.params import at_least
from similis.measures._base import Tick, mirror_upper, over_rows, plain_rows
from similis.measures._point_sets import PointSetMeasure, PointSets, as_points

__all__ = ["DTW"]


class DTW(PointSetMeasure):
    """Dynamic time warping: the distance of two series once time may be stretched.

    d(x, z) is the root of the least sum of |x_a - z_b|^2 over all ways to walk through both series from start to end,
    one moment forward in x, in z or in both at every step.

    Parameters
    ----------
    window : int, optional
        How far the two clocks may be apart (the Sakoe-Chiba band): |a - b| is at most this, or the difference of the
        lengths where that is larger. 0 gives the Euclidean distance of series of equal length. Without it, any way.

    Attributes
    ----------
    domain_ : tuple
        ``(0, inf)``.

    See Also
    --------
    Edit : for sequences of symbols.
    Minkowski : the distance without stretching.

    Notes
    -----
    Objects are series of numbers of any length, or of rows of d numbers; a two-dimensional array is read as one series
    per row. Not a metric: the triangle inequality may fail, so the matrix is in general not Euclidean.

    Examples
    --------
    >>> from similis import DTW
    >>> DTW().matrix([[0, 1, 2, 2], [0, 0, 1, 2], [0, 3]]).round(1)
    array([[0. , 0. , 1.7],
           [0. , 0. , 1.4],
           [1.7, 1.4, 0. ]])
    """

    kind = "dissimilarity"
    domain_ = (0.0, np.inf)
    _parameter_constraints = {"window": [at_least(0), None]}

    def __init__(self, *, window: int | None = None) -> None:
        self.window = window

    def _objects(self, X: Any) -> list[Any]:
        series = [
            as_points(x, i, "DTW", "series of numbers, or of rows of numbers")
            for i, x in enumerate(plain_rows(X, "DTW"))
        ]
        return [(x, np.ones(len(x))) for x in series]

    def _matrix(self, A: PointSets, B: PointSets, n_jobs: int | None = None, tick: Tick | None = None) -> NDArray[Any]:
        mirror, out = B is A, np.zeros((*A.shape, *B.shape), self._dtype(A, B))
        window = -1 if self.window is None else self.window

        def work(rows: slice) -> None:
            _kernels.warping_distances(
                A.points, A.starts, B.points, B.starts, window, rows.start, rows.stop, mirror, out
            )

        over_rows(work, len(out), n_jobs, tick, step=16)
        if mirror:
            mirror_upper(out)
        return out
