"""The width of a Gaussian window by leave-one-out maximum likelihood, and the dimension it needs."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from similis.solvers import gamma_shape

__all__ = ["distance_dimension", "likely_bandwidth"]


def distance_dimension(D, codes):
    """Dimension of the space in which distances are those of Gaussian classes: 2s of a gamma fit, at most n - 1.

    In d dimensions the squared distance between two objects of a spherical Gaussian class has a gamma distribution of
    shape s = d / 2. Classes have scales of their own; zero distances are left out. Without any distance it is 1.
    """
    squares = [_others(D, codes, g).ravel() for g in range(codes.max() + 1)]
    squares = [u[(u > 0) & np.isfinite(u)] for u in squares]
    squares = [u for u in squares if u.size]
    if not squares:
        return 1.0
    N = sum(u.size for u in squares)
    # [qiao2013] Eq. (3) -> log s - psi(s) = sum_g (N_g / N) log mean u_g - mean log u
    excess = sum(u.size * np.log(u.mean()) - np.log(u).sum() for u in squares) / N
    return min(2 * float(gamma_shape(excess)), len(D) - 1.0)


def likely_bandwidth(D, codes, dimension):
    """The h that maximises sum_i log of the density of i estimated from the other objects of its class.

    [pekalska2000] sec. 2.2 with the exponent of h a dimension d:
    L(h) = sum_i log sum_j exp(-d_ij^2 / 2h^2) - N d log h. Setting L' = 0 gives h^2 = (1/Nd) sum_i E_i[d_ij^2] with the
    expectation over the weights of i's window, which lies between the squared distances to the nearest and the mean of
    the others: the bracket of the search. An object without others in its class is left out.
    """
    blocks = [u for u in (_others(D, codes, g) for g in range(codes.max() + 1)) if len(u) > 1]
    if blocks and not any(u.min(axis=1).any() for u in blocks):
        # Each object has a copy: L grows without bound as h -> 0. Copies say nothing about distances.
        blocks = [np.where(u > 0, u, np.inf) for u in blocks]
        blocks = [u[np.isfinite(u).any(axis=1)] for u in blocks]
        blocks = [u for u in blocks if len(u)]
    if not blocks:
        return _overall_bandwidth(D, dimension)
    nearest = [u.min(axis=1) for u in blocks]
    N = sum(map(len, blocks))
    low = sum(u.sum() for u in nearest) / (N * dimension)
    high = sum(np.mean(u, axis=1, where=np.isfinite(u)).sum() for u in blocks) / (N * dimension)
    excess = [u - v[:, None] for u, v in zip(blocks, nearest)]

    def loss(log_h2):
        beta = 0.5 * np.exp(-log_h2)
        fit = sum(np.log(np.exp(-beta * e).sum(axis=1)).sum() - beta * v.sum() for e, v in zip(excess, nearest))
        return 0.5 * N * dimension * log_h2 - fit

    # L may have several maxima: eight looks per decade of h^2, then the best one is refined.
    looks = np.linspace(np.log(low), np.log(high), 2 + int(8 * np.log10(high / low)))
    best = int(np.argmin([loss(t) for t in looks]))
    left, right = looks[max(best - 1, 0)], looks[min(best + 1, len(looks) - 1)]
    if right - left < 1e-12:
        return float(np.exp(left / 2))
    found = minimize_scalar(loss, bounds=(left, right), method="bounded", options={"xatol": 1e-10})
    return float(np.exp(found.x / 2))


def _others(D, codes, g):
    """Squared distances within class g, infinite from an object to itself."""
    members = np.flatnonzero(codes == g)
    u = np.square(D[np.ix_(members, members)], dtype=np.float64)
    np.fill_diagonal(u, np.inf)
    return u


def _overall_bandwidth(D, dimension):
    """For classes without two different objects: as if all objects were of one class with even weights."""
    u = np.square(D[~np.eye(len(D), dtype=bool)], dtype=np.float64)
    mean = u[u > 0].mean() if (u > 0).any() else dimension
    return float(np.sqrt(mean / dimension))
