"""Rank tests by their definitions, in plain loops."""

import itertools
import math


def midranks(values):
    """Rank of each value from 1; equal values share the mean of their ranks."""
    return [sum(v < x for v in values) + (sum(v == x for v in values) + 1) / 2 for x in values]


def signed_rank_p(differences):
    """P(sum of positive ranks >= the one seen) over all sign patterns, zeros left out."""
    d = [x for x in differences if x != 0]
    if not d:
        return 1.0
    ranks = midranks([abs(x) for x in d])
    seen = sum(r for r, x in zip(ranks, d) if x > 0)
    patterns = list(itertools.product((0, 1), repeat=len(d)))
    return sum(sum(r for r, s in zip(ranks, signs) if s) >= seen - 1e-9 for signs in patterns) / len(patterns)


def holm(p_values):
    """Adjusted p-values: the smallest level at which the step-down procedure rejects each hypothesis."""
    m = len(p_values)
    order = sorted(range(m), key=lambda i: p_values[i])
    adjusted = [0.0] * m
    for place, i in enumerate(order):
        steps = [(m - j) * p_values[order[j]] for j in range(place + 1)]
        adjusted[i] = min(1.0, max(steps))
    return adjusted


def friedman(table):
    """Friedman's statistic without ties: 12 N / (k (k + 1)) * (sum of squared mean ranks - k (k + 1)^2 / 4)."""
    N, k = len(table), len(table[0])
    means = [sum(column) / N for column in zip(*map(midranks, table))]
    return 12 * N / (k * (k + 1)) * (sum(r * r for r in means) - k * (k + 1) ** 2 / 4)


def log_loss(truth, proba, e):
    """Mean of -log of the smoothed probability of the true class."""
    total = 0.0
    for y, row in zip(truth, proba):
        total -= math.log((row[y] + e) / (sum(row) + e * len(row)))
    return total / len(truth)


def calibration_error(truth, proba, n_bins):
    """Sum over bins of |accuracy - mean confidence| times the share of the objects."""
    bins = {}
    for y, row in zip(truth, proba):
        top = max(row)
        place = min(int(top * n_bins), n_bins - 1)
        bins.setdefault(place, []).append((list(row).index(top) == y, top))
    gaps = [abs(sum(hit for hit, _ in b) / len(b) - sum(c for _, c in b) / len(b)) * len(b) for b in bins.values()]
    return sum(gaps) / len(truth)
