"""Hypothetical local mapping from the formulae of [qiao2013], with plain loops."""

import math

import numpy as np


def left_side(s, terms=3000):
    """Log s - psi(s) by its recurrence f(s) = f(s + 1) + 1/s - log(1 + 1/s), all terms positive."""
    s = np.asarray(s, dtype=float)
    total = np.zeros_like(s)
    for k in range(terms):
        t = 1 / (s + k)
        total += _term(t)
    end = 1 / (s + terms)
    return total + end / 2 + end**2 / 12 - end**4 / 120


def _term(t):
    small = np.minimum(t, 1e-3)
    series = small * small * (1 / 2 - small * (1 / 3 - small * (1 / 4 - small / 5)))
    return np.where(t < 1e-3, series, t - np.log1p(t))


def gamma_log_likelihood(u, s, b):
    """Sum of log f(u) with f(u) = (u/b)^(s-1) e^(-u/b) / (b Gamma(s))."""
    return sum((s - 1) * math.log(x / b) - x / b - math.log(b) - math.lgamma(s) for x in u)


def solve_shape(r):
    """The s with log s - psi(s) = r by bisection of log s."""
    low, high = -40.0, 40.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _left_side_of_one(math.exp(middle)) > r else (low, middle)
    return math.exp((low + high) / 2)


def _left_side_of_one(s):
    total = 0.0
    while s < 30:
        total += 1 / s - math.log1p(1 / s)
        s += 1
    return total + 1 / (2 * s) + 1 / (12 * s**2) - 1 / (120 * s**4) + 1 / (252 * s**6)


def estimate(clusters, weights=None):
    """Eq. (3), or (4) with weights, for clusters given as lists of (members, [u of the others]): s and all b_j."""
    weights = weights or [[1.0] * len(us) for _, us in clusters]
    kept = [
        [(u, w) for u, w in zip(us, ws) if u > 0] if members >= 3 else []
        for (members, us), ws in zip(clusters, weights)
    ]
    total = sum(w for us in kept for _, w in us)
    r, mean = 0.0, 0.0
    for us in kept:
        if us:
            share = sum(w for _, w in us)
            own = sum(w * u for u, w in us) / share
            r += share / total * math.log(own) - sum(w / total * math.log(u) for u, w in us)
            mean += share / total * own
    s = solve_shape(r)
    scales = []
    for (_, us), ws in zip(clusters, weights):
        pairs = [(u, w) for u, w in zip(us, ws) if u > 0]
        own = sum(w * u for u, w in pairs) / sum(w for _, w in pairs) if pairs else 0.0
        c = len(pairs) / (len(pairs) + 1)
        scales.append((c * own + (1 - c) * mean) / s)
    return s, scales


def rounded(s):
    return max(0.5, math.floor(2 * s + 0.5) / 2)


def clusters_of(D, members, centroids):
    """(number of members, squared distances of the others) of each centroid's cluster, by nearest centroid."""
    found = [[0, []] for _ in centroids]
    for i in members:
        j = min(range(len(centroids)), key=lambda j: (D[i, centroids[j]], j))
        found[j][0] += 1
        if i != centroids[j]:
            found[j][1].append(D[i, centroids[j]] ** 2)
    return [tuple(cluster) for cluster in found]


def log_density(row, centroids, shares, s, scales):
    """Log of sum_j w_j (1 / sqrt(pi b_j))^(2s) exp(-D^2 / b_j)."""
    terms = [
        w * (1 / math.sqrt(math.pi * b)) ** (2 * s) * math.exp(-(row[c] ** 2) / b)
        for c, w, b in zip(centroids, shares, scales)
    ]
    return math.log(sum(terms))
