"""Minkowski distances for any p > 0, and their limit, the largest difference."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis import _kernels
from similis._utils.params import positive
from similis.measures._base import Tick, over_rows
from similis.measures._vectors import Laid, VectorMeasure, lay

__all__ = ["Chebyshev", "Minkowski", "power_distances"]

_FAR = 20.0  # powers beyond this one are taken of shares


class Minkowski(VectorMeasure):
    """The L_p distance between vectors, d(x, z) = (sum_i |x_i - z_i|^p)^(1/p).

    Parameters
    ----------
    p : float, default=2.0
        Any number above zero: 2 is Euclidean, 1 city-block, infinity :class:`Chebyshev`; below 1 the triangle
        inequality fails, as for the L_0.5 of [pekalska2000] sec. 4.5.

    Attributes
    ----------
    domain_ : tuple
        ``(0, inf)``.

    See Also
    --------
    Chebyshev : the limit p to infinity.

    Notes
    -----
    Differences are taken before they are raised, so equal vectors are at distance zero exactly and nearby vectors
    far from the origin lose no digits. p = 0.5, 1, 2 and infinity are fast.

    Examples
    --------
    >>> from similis import Minkowski
    >>> Minkowski(p=0.5)([0, 0], [1, 4])
    9.0
    """

    kind = "dissimilarity"
    domain_ = (0.0, np.inf)
    _parameter_constraints = {"p": [positive()]}

    def __init__(self, *, p: float = 2.0) -> None:
        self.p = p

    def _encode(self, objects: NDArray[Any]) -> Laid:
        return lay(objects)

    def _matrix(self, A: Laid, B: Laid, n_jobs: int | None = None, tick: Tick | None = None) -> NDArray[Any]:
        # [pekalska2000] sec. 4.5 -> (sum sqrt |x_i - y_i|)^2 for p = 0.5
        return power_distances(A, B, self.p, True, n_jobs, tick)


class Chebyshev(VectorMeasure):
    """The largest difference, d(x, z) = max_i |x_i - z_i| ([pekalska2000]'s max-norm).

    Attributes
    ----------
    domain_ : tuple
        ``(0, inf)``.

    See Also
    --------
    Minkowski : the L_p distances of which this is the limit.

    Examples
    --------
    >>> from similis import Chebyshev
    >>> Chebyshev().matrix([[0, 0], [3, 1]])
    array([[0., 3.],
           [3., 0.]])
    """

    kind = "dissimilarity"
    domain_ = (0.0, np.inf)

    def _encode(self, objects: NDArray[Any]) -> Laid:
        return lay(objects)

    def _matrix(self, A: Laid, B: Laid, n_jobs: int | None = None, tick: Tick | None = None) -> NDArray[Any]:
        return power_distances(A, B, np.inf, True, n_jobs, tick)


def power_distances(
    A: Laid, B: Laid, p: float, root: bool, n_jobs: int | None = None, tick: Tick | None = None
) -> NDArray[Any]:
    """The p-th powers of Minkowski distances or, with `root`, the distances; half of them when `B is A`."""
    mirror = B is A
    dtype = np.result_type(A.dtype, B.dtype)
    A, B = A.astype(dtype), B.astype(dtype)
    out = np.empty((A.shape[0], B.shape[0]), dtype)

    if root and _FAR < p < np.inf:
        for i, x in enumerate(A.rows):  # over the largest difference: high powers over- and underflow
            apart = np.abs(B.rows - x)
            largest = apart.max(axis=1)
            shares = apart / np.where(largest > 0, largest, 1)[:, None]
            out[i] = largest * (shares**p).sum(axis=1) ** (1 / p)
        return out

    def work(rows: slice) -> None:
        _kernels.minkowski(A.rows, B.columns, float(p), root, rows.start, rows.stop, mirror, out)

    over_rows(work, A.shape[0], n_jobs, tick)
    return out
