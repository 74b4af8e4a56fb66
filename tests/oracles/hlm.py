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
