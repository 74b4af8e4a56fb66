"""Maximum-entropy distributions with given means on a set of numbers, [cazzanti2007] sec. 3.1, 3.2.3; gamma shapes.

The distribution of largest entropy with mean t on Omega, a finite set, interval or half-line, is gamma exp(lambda v).
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.polynomial import polyval
from numpy.typing import ArrayLike
from scipy.special import digamma, zeta

from similis import _kernels
from similis._utils.arrays import Floats, Mask
from similis._utils.fitted import FittedArrays, fitted_reals
from similis._utils.storable import storable

_POINT, _DISCRETE, _INTERVAL, _RAY = range(4)
_EXACT_VALUES = 400  # larger sets are summed over Chebyshev nodes
_KEPT_VALUES = 64  # values next to the end of a larger set that are summed exactly
_PANEL_NODES = 24
_GRID_STEP = 1 / 48
_TAYLOR_TERMS = 8
# log s - psi(s) = t/2 + t^2/12 - t^4/120 + ... in t = 1/s, and its derivative, for large s, where differences cancel.
_LARGE = 20.0
_SERIES = np.array([0, 1 / 2, 1 / 12, 0, -1 / 120, 0, 1 / 252, 0, -1 / 240, 0, 1 / 132])
_SLOPES = _SERIES * np.arange(len(_SERIES))


class Exponentials(NamedTuple):
    """Fitted exponentials, one entry per problem.

    Attributes
    ----------
    exponents, rates : ndarray
        lambda, infinite for a mean at an end of Omega, a point mass; and lambda times the width of Omega.
    log_normalizers : ndarray
        log gamma: minus the logarithm of the sum (integral) of exp(lambda v) over Omega; its limit for a point mass.
    log_partitions : ndarray
        The same logarithm of exp(lambda (v - e)), e the end with the larger probability: log gamma without
        cancellation. For a point mass its finite part (an integral also falls as 1 / abs(rates)).
    """

    exponents: Floats
    log_normalizers: Floats
    rates: Floats
    log_partitions: Floats

    def made_uniform(self, omega: Omega, where: Mask) -> Exponentials:
        """Replace the entries `where` by the uniform distribution; a half-line has none and is returned unchanged."""
        if omega.form == _RAY:
            return self
        log_size = np.log(omega.width if omega.values is None else len(omega.values) / omega.share)
        log_gamma = np.where(where, -log_size, self.log_normalizers)
        exponents, rates = (np.where(where, 0.0, part) for part in (self.exponents, self.rates))
        return Exponentials(exponents, log_gamma, rates, np.where(where, log_size, self.log_partitions))


@storable
class Omega(FittedArrays):
    """A set of possible values, prepared for many maximum-entropy fits.

    Parameters
    ----------
    domain : array-like of numbers, or tuple (low, high)
        A finite set of values, or an interval; one end of an interval may be infinite.
    width, share : float, optional
        Unit of length on a half-line, and fraction of a finite set that the given values are, both 1 by default.

    Attributes
    ----------
    low, high, width : float
        The ends, and ``high - low``, or the given unit for a half-line.
    values, continuous : ndarray or None, bool
        The values of a finite set, ascending; True for an interval or a half-line.

    Examples
    --------
    >>> from similis.solvers import Omega, maxent_exponents
    >>> omega = Omega([0, 1, 2, 3, 4])
    >>> maxent_exponents(omega, *omega.offsets([3.2, 1.2, 4.0])).exponents.round(4)
    array([ 0.7271, -0.4313,     inf])
    """

    fitted_arrays = {"values": fitted_reals(None, optional=True)}
    no_table = np.empty((2, 0, _TAYLOR_TERMS + 2))
    share = 1.0

    def __init__(
        self, domain: ArrayLike | tuple[float, float], *, width: float | None = None, share: float = 1.0
    ) -> None:
        self.share = share
        self.values: Floats | None = None
        if isinstance(domain, tuple):
            self.low, self.high = (float(end) for end in domain)
            self.form = _INTERVAL if np.isfinite(self.high - self.low) else _RAY
        else:
            self.values = np.unique(np.asarray(domain, dtype=np.float64))
            self.low, self.high = float(self.values[0]), float(self.values[-1])
            self.form = _DISCRETE
        self.width = self.high - self.low if self.form != _RAY else (1.0 if width is None else float(width))
        if self.low == self.high:
            self.form, self.width = _POINT, 1.0
        self.continuous = self.form in (_INTERVAL, _RAY)

    def offsets(self, values: ArrayLike) -> tuple[Floats, Floats]:
        """Return the distances from the lower and from the upper end, on a half-line twice from the finite end."""
        v = np.asarray(values, dtype=np.float64)
        above = v - self.low if np.isfinite(self.low) else self.high - v
        return above, (self.high - v if np.isfinite(self.high) else above)

    @cached_property
    def nodes(self) -> tuple[Floats, Floats]:
        """Offsets from the lower and from the upper end, over the width, and their weights: two (2, N) arrays."""
        if self.form != _DISCRETE:
            return np.zeros((2, 2)), np.zeros((2, 2))
        assert self.values is not None
        sides = [(self.values - self.low) / self.width, ((self.high - self.values) / self.width)[::-1]]
        thin = [_thin_out(np.ascontiguousarray(d)) for d in sides]
        size = max(len(d) for d, _ in thin)
        nodes, weights = np.ones((2, size)), np.zeros((2, size))
        for side, (d, w) in enumerate(thin):
            nodes[side, : len(d)], weights[side, : len(w)] = d, w / self.share
        return nodes, weights

    @cached_property
    def center(self) -> Floats:
        """Mean offset from each end under the uniform distribution."""
        if self.form != _DISCRETE:
            return np.full(2, 0.5)
        nodes, weights = self.nodes
        return (nodes * weights).sum(axis=1) / weights.sum(axis=1)

    @cached_property
    def table(self) -> Floats:
        """Taylor expansions of the log partition function on a grid of rates, for many problems on one set."""
        if self.form != _DISCRETE:
            return self.no_table
        nodes, weights = self.nodes
        reach = np.arcsinh(40.0 / max(nodes[:, 1].min(), 1e-30))  # means beyond it are solved one by one
        grid = np.sinh(_GRID_STEP * np.arange(int(reach / _GRID_STEP) + 2))
        table = np.empty((2, len(grid), _TAYLOR_TERMS + 2))
        for d, w, a in zip(nodes, weights, table):
            p = w * np.exp(-grid[:, None] * d)
            total = p.sum(axis=1)
            p /= total[:, None]
            mean = p @ d
            # With b_r = E[(M - d)^r] / r!, M the mean, the logarithm of the series sum_r b_r t^r has the coefficients
            # n a_n = n b_n - sum_{k<n} k a_k b_{n-k}, the recursion from moments to cumulants.
            b = np.empty((_TAYLOR_TERMS + 1, len(grid)))
            for r in range(1, _TAYLOR_TERMS + 1):
                p *= (mean[:, None] - d) / r
                b[r] = p.sum(axis=1)
            a[:, 0], a[:, 1], a[:, 2] = grid, np.log(total), -mean
            for n in range(2, _TAYLOR_TERMS + 1):
                a[:, n + 1] = b[n] - sum(k * a[:, k + 1] * b[n - k] for k in range(2, n)) / n
        return table

    def exponentials(self, rates: Floats, log_z: Floats) -> Exponentials:
        """Convert the results of the kernels, which are for width one, to the units of the values."""
        rates = -rates if self.form == _RAY and not np.isfinite(self.low) else rates
        log_z = log_z + np.log(self.width) if self.continuous else log_z
        with np.errstate(over="ignore"):
            exponents = rates / self.width
        end = np.where(rates == 0, 0.0, np.where(rates > 0, self.high, self.low))
        point = np.isinf(rates)
        # Limit of -lambda e - log Z; the Z of an integral vanishes as 1 / |lambda|.
        limit = np.where(end == 0, np.inf if self.continuous else 0.0, np.copysign(np.inf, -np.sign(rates) * end))
        log_gamma = np.where(point, limit, -np.where(point, 0.0, exponents) * end - log_z)
        return Exponentials(exponents, log_gamma, rates, log_z)

    def moment_errors(self, fitted: Exponentials, above: ArrayLike, below: ArrayLike) -> Floats:
        """Recompute the mean of each fitted exponential and return its error, in widths of Omega: the certificate."""
        side, x = fitted.rates > 0, np.abs(fitted.rates)
        wanted, mean = np.where(side, below, above) / self.width, np.zeros(x.shape)
        for place in zip(*np.nonzero(np.isfinite(x))):
            if self.values is not None:
                d = (self.high - self.values if side[place] else self.values - self.low) / self.width
                w = np.exp(-x[place] * d)
                mean[place] = (w @ d) / w.sum()
            elif self.form == _RAY:
                mean[place] = 1 / x[place]
            elif x[place] > 1e-4:
                mean[place] = 1 / x[place] - 1 / np.expm1(min(x[place], 700.0))
            else:
                mean[place] = 0.5 - x[place] / 12
        return np.abs(mean - wanted)

    def arrays(self, n_problems: int) -> tuple[Any, ...]:
        """Return the arguments of the kernels: form, nodes, weights, center, and the table if `n_problems` is large."""
        use_table = "table" in self.__dict__ or n_problems > 3000
        return self.form, *self.nodes, self.center, self.table if use_table else self.no_table


def maxent_exponents(omega: Omega, above: ArrayLike, below: ArrayLike) -> Exponentials:
    """Fit the exponential of largest entropy to each mean; moments equal the means up to 1e-12 of the width.

    Parameters
    ----------
    omega, above, below : Omega, array-likes of the same shape
        The possible values, and mean distances from the ends: means of :meth:`Omega.offsets`, which are more accurate
        than the offsets of means. Zero, or less by rounding, is the end itself.
    """
    above, below = (np.ascontiguousarray(a, dtype=np.float64) / omega.width for a in (above, below))
    rates, log_z = np.empty(above.shape), np.empty(above.shape)
    arrays = omega.arrays(above.size)
    _kernels.maxent_rates(*arrays, above.ravel(), below.ravel(), rates.reshape(-1), log_z.reshape(-1))
    return omega.exponentials(rates, log_z)


def _thin_out(d: Floats) -> tuple[Floats, Floats]:
    """Return nodes and weights whose sums of exp(-x d) equal those over all offsets `d`, ascending from 0 to 1."""
    # The offsets nearest to the end are kept; the others are divided into panels that double in length, of which those
    # with many offsets are replaced by Chebyshev nodes.
    if len(d) <= _EXACT_VALUES:
        return d, np.ones(len(d))
    octave = np.frexp(d[_KEPT_VALUES:])[1]
    edges = _KEPT_VALUES + np.flatnonzero(np.diff(octave, prepend=np.nan, append=np.nan) != 0)
    angles = (np.arange(_PANEL_NODES) + 0.5) * np.pi / _PANEL_NODES
    cosines = np.cos(np.outer(angles, np.arange(_PANEL_NODES)))
    nodes, weights = [d[:_KEPT_VALUES]], [np.ones(_KEPT_VALUES)]
    for a, b in pairwise(edges):
        panel, ones = d[a:b], np.ones(b - a)
        if b - a > _PANEL_NODES:
            # Chebyshev interpolation reproduces exp(-x d) on a panel to rounding for every x at which it has weight:
            # w_c = (2/p) sum'_r cos(r theta_c) sum_j T_r(t_j), where the prime halves the term r = 0.
            middle, half = (panel[0] + panel[-1]) / 2, (panel[-1] - panel[0]) / 2
            t = (panel - middle) / (half or 1.0)  # 0 where the offsets of tiny values are equal
            before, now, moments = np.ones(b - a), t, [(b - a) / 2]
            for _ in range(1, _PANEL_NODES):
                moments.append(now.sum())
                before, now = now, 2 * t * now - before
            panel, ones = middle + half * cosines[:, 1], cosines @ moments * (2 / _PANEL_NODES)
        nodes.append(panel)
        weights.append(ones)
    return np.concatenate(nodes), np.concatenate(weights)


def gamma_shape(excess: ArrayLike) -> Floats:
    """Solve log s - psi(s) = r for the shape s of a gamma distribution, [qiao2013] Eq. (3).

    Parameters
    ----------
    excess : array-like
        r, the logarithm of the ratio of arithmetic and geometric mean; for clusters, its mean over all objects.

    Returns
    -------
    ndarray of the same shape
        s, to 1e-13: infinite where r <= 0, zero where r is infinite. The scale of a sample with mean m is m / s.
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
            s = 1 / t[~large]
            value[~large], slope[~large] = np.log(s) - digamma(s), s * (s * zeta(2.0, s) - 1)
            step = (value - r) / slope
            t = t - step
            if np.all(np.abs(step) <= 1e-9 * t):  # quadratic convergence: the next step would be rounding
                break
        shape[inside] = 1 / t
    return shape
