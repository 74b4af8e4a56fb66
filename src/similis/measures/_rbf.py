"""The radial basis function as a similarity."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.params import positive
from similis.measures._base import Tick, over_rows
from similis.measures._minkowski import power_distances
from similis.measures._vectors import Laid, VectorMeasure, lay

__all__ = ["RBF"]


class RBF(VectorMeasure):
    """The radial basis function, s(x, z) = exp(-gamma ||x - z||^2).

    Parameters
    ----------
    gamma : float, default=1.0
        Tightness: 1 / sigma of [cazzanti2007] Eq. (2.14), 1 / (2 sigma^2) of [bernal2003] sec. 2 (which prints the
        exponent without its minus sign).

    Attributes
    ----------
    domain_ : tuple
        ``(0, 1)``.

    See Also
    --------
    Minkowski : the distance inside.

    Examples
    --------
    >>> from similis import RBF
    >>> round(RBF(gamma=0.5)([0, 0], [1, 1]), 4)
    0.3679
    """

    domain_ = (0.0, 1.0)
    _parameter_constraints = {"gamma": [positive()]}

    def __init__(self, *, gamma: float = 1.0) -> None:
        self.gamma = gamma

    def _encode(self, objects: NDArray[Any]) -> Laid:
        return lay(objects)

    def _matrix(self, A: Laid, B: Laid, n_jobs: int | None = None, tick: Tick | None = None) -> NDArray[Any]:
        S = power_distances(A, B, 2.0, False, n_jobs, tick)  # (m, n)

        def work(rows: slice) -> None:
            # [bernal2003] sec. 2, [cazzanti2007] Eq. (2.14) -> exp(-gamma ||x - z||^2)
            S[rows] *= -self.gamma
            np.exp(S[rows], out=S[rows])

        over_rows(work, S.shape[0], n_jobs)
        return S
