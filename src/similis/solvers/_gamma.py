"""Maximum-likelihood shape of a gamma distribution, [qiao2013] Eq. (3)."""

from __future__ import annotations

import numpy as np
from numpy.polynomial.polynomial import polyval
from numpy.typing import ArrayLike
from scipy.special import digamma, zeta

from similis._utils.arrays import Floats

# log s - psi(s) = t/2 + t^2/12 - t^4/120 + ... in t = 1/s, and its derivative, for large s, where differences cancel.
_LARGE = 20.0
_SERIES = np.array([0, 1 / 2, 1 / 12, 0, -1 / 120, 0, 1 / 252, 0, -1 / 240, 0, 1 / 132])
_SLOPES = _SERIES * np.arange(len(_SERIES))


def gamma_shape(excess: ArrayLike) -> Floats:
    """Solve log s - psi(s) = r for the shape s of a gamma distribution, [qiao2013] Eq. (3).

    Parameters
    ----------
    excess : array-like
        r, the logarithm of the ratio of arithmetic and geometric mean; for clusters, its mean over all objects.

    Returns
    -------
    ndarray of the same shape
        s, to 1e-13: infinite where r <= 0 (all values equal), zero where r is infinite (a value is zero). The scale of
        a sample or cluster with mean m is m / s.
    """
    r = np.asarray(excess, dtype=np.float64)
    shape = np.where(r == np.inf, 0.0, np.where(np.isnan(r), np.nan, np.inf))
    inside = (r > 0) & (r < np.inf)
    r = r[inside]
    # The left side, about 1/s for small and 1/(2s) for large s, is nearly linear in t = 1/s: Newton's method in t, from
    # [(r - 3) + sqrt((r - 3)^2 + 24 r)] / 2, without cancellation for r < 3.
    root = np.hypot(r - 3, np.sqrt(24 * r))
    t = np.where(r < 3, 12 * r / (np.abs(r - 3) + root), (r - 3 + root) / 2)
    with np.errstate(over="ignore"):
        for _ in range(6):
            # log s - psi(s) at s = 1/t and its derivative with respect to t; psi'(s) = zeta(2, s)
            large = t * _LARGE <= 1
            value, slope = polyval(t, _SERIES), polyval(t, _SLOPES[1:])
            if not large.all():
                s = 1 / t[~large]
                value[~large], slope[~large] = np.log(s) - digamma(s), s * (s * zeta(2.0, s) - 1)
            step = (value - r) / slope
            t = t - step
            if np.all(np.abs(step) <= 1e-9 * t):  # quadratic convergence: the next step would be rounding
                break
        shape[inside] = 1 / t
    return shape
