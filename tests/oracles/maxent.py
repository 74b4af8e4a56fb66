"""The maximum-entropy exponent by bisection, in plain high precision: slow, and without the tricks it checks."""

from fractions import Fraction
from math import exp, expm1, fsum, inf, log


def moment(values, exponent):
    """Mean of the distribution proportional to exp(exponent * v) on `values`; point masses at infinite exponents."""
    if exponent in (inf, -inf):
        return max(values) if exponent > 0 else min(values)
    top = max(exponent * v for v in values)
    weights = [exp(exponent * v - top) for v in values]
    return fsum(w * v for w, v in zip(weights, values)) / fsum(weights)


def log_normalizer(values, exponent):
    top = max(exponent * v for v in values)
    return -top - log(fsum(exp(exponent * v - top) for v in values))


def exponent(values, mean):
    """Root of moment(values, .) = mean by bisection on exact offsets from the nearer end."""
    low, high = min(values), max(values)
    if mean <= low or mean >= high:
        return -inf if mean <= low else inf
    if mean < sum(map(Fraction, values)) / len(values):
        return -_rate([float(Fraction(v) - Fraction(low)) for v in values], float(Fraction(mean) - Fraction(low)))
    return _rate([float(Fraction(high) - Fraction(v)) for v in values], float(Fraction(high) - Fraction(mean)))


def _rate(offsets, target):
    """x >= 0 with E_x[d] = target for weights exp(-x d)."""

    def mean(x):
        weights = [exp(-min(x * d, 745.0)) for d in offsets]
        return fsum(w * d for w, d in zip(weights, offsets)) / fsum(weights)

    low, high = 0.0, 1.0 / max(offsets)
    while mean(high) > target:
        low, high = high, 2.0 * high
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if mean(middle) > target else (low, middle)
    return 0.5 * (low + high)


def interval_moment(low, high, exponent):
    """Mean of the density proportional to exp(exponent * v) on [low, high], by its defining integrals' closed form."""
    x = exponent * (high - low)
    if abs(x) < 1e-3:
        share = 0.5 + x / 12 - x**3 / 720
    elif x > 0:
        share = 1 - (1 / x - 1 / expm1(x) if x < 700 else 1 / x)
    else:
        share = 1 / -x - 1 / expm1(-x) if -x < 700 else 1 / -x
    return low + share * (high - low)
