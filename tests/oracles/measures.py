"""Measures from their definitions: plain loops over features, sets as Python sets, probabilities by counting."""

import math

import numpy as np


def same(a, b):
    """Equality of categorical values; missing (None, NaN) equals missing."""
    return (missing(a) and missing(b)) or (not missing(a) and not missing(b) and a == b)


def missing(a):
    return a is None or (isinstance(a, float) and math.isnan(a))


def double_loop(measure, X, Z):
    return np.array([[measure(x, z) for z in Z] for x in X], dtype=float)


def counting(x, z, missing_matches=True):
    return sum(same(a, b) and (missing_matches or not missing(a)) for a, b in zip(x, z))


def vdm(X, y, q=2.0, smoothing=0.0, unseen="zero"):
    """d(x, z) = sum_i sum_g |P(g | x[i]) - P(g | z[i])|^q with P counted in the training table."""
    classes = sorted(set(y))
    prior = [sum(label == g for label in y) / len(y) for g in classes]

    def probabilities(i, value):
        labels = [label for row, label in zip(X, y) if same(row[i], value)]
        if not labels:
            return None if unseen == "zero" else prior
        total = len(labels) + smoothing * len(classes)
        return [(sum(label == g for label in labels) + smoothing) / total for g in classes]

    def d(x, z):
        total = 0.0
        for i in range(len(x)):
            p, r = probabilities(i, x[i]), probabilities(i, z[i])
            if p is not None and r is not None:
                total += sum(abs(a - b) ** q for a, b in zip(p, r))
        return total

    return d


def hvdm(X, y, categorical, smoothing=0.0, unseen="zero"):
    """sqrt of VDM^2 on categorical columns plus ((x - z) / 4 sigma)^2 on numeric ones; see the class for missing."""
    keep = [i for i, c in enumerate(categorical) if c]
    part = vdm([[row[i] for i in keep] for row in X], y, 2.0, smoothing, unseen)
    sigma = {}
    for i, c in enumerate(categorical):
        if not c:
            values = [float(row[i]) for row in X if not missing(row[i])]
            mean = sum(values) / len(values) if values else 0.0
            sigma[i] = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values)) if values else 0.0

    def d(x, z):
        total = part([x[i] for i in keep], [z[i] for i in keep]) if keep else 0.0
        for i, s in sigma.items():
            if s == 0 or (missing(x[i]) and missing(z[i])):
                continue
            if missing(x[i]) or missing(z[i]):
                total += 1.0
            else:
                total += ((x[i] - z[i]) / (4 * s)) ** 2
        return math.sqrt(total)

    return d


def salience(s, weights=None):
    return float(len(s)) if weights is None else math.fsum(weights[t] for t in s)


def contrast(x, z, alpha=0.5, beta=0.5, weights=None):
    x, z = set(x), set(z)
    return salience(x & z, weights) - alpha * salience(x - z, weights) - beta * salience(z - x, weights)


def ratio(x, z, alpha=0.5, beta=0.5, weights=None):
    x, z = set(x), set(z)
    common = salience(x & z, weights)
    whole = common + alpha * salience(x - z, weights) + beta * salience(z - x, weights)
    if whole == 0:
        return 1.0 if salience(x, weights) == salience(z, weights) == 0 else 0.0
    return common / whole


def jaccard(x, z):
    x, z = set(x), set(z)
    return len(x & z) / len(x | z) if x | z else 1.0


def dice(x, z):
    x, z = set(x), set(z)
    return 2 * len(x & z) / (len(x) + len(z)) if x or z else 1.0


def overlap(x, z):
    x, z = set(x), set(z)
    if not x or not z:
        return 1.0 if x == z else 0.0
    return len(x & z) / min(len(x), len(z))


def minkowski(x, z, p):
    if p == math.inf:
        return max(abs(a - b) for a, b in zip(x, z))
    return math.fsum(abs(a - b) ** p for a, b in zip(x, z)) ** (1 / p)


def rbf(x, z, gamma):
    return math.exp(-gamma * math.fsum((a - b) ** 2 for a, b in zip(x, z)))


def cosine(x, z):
    length = math.sqrt(math.fsum(a * a for a in x)) * math.sqrt(math.fsum(b * b for b in z))
    return math.fsum(a * b for a, b in zip(x, z)) / length if length else 0.0


def sigmoid(x, z, gamma, coef0):
    return math.tanh(gamma * math.fsum(a * b for a, b in zip(x, z)) + coef0)


def polynomial(x, z, degree, coef0=0.0, lift=None):
    if lift is None:
        return (math.fsum(a * b for a, b in zip(x, z)) + coef0) ** degree
    return (cosine([*x, lift], [*z, lift]) + coef0) ** degree
