"""Normal-based and density classifiers by their formulae: explicit covariances, inverses and determinants."""

import numpy as np


def shrunk(C, r, shrinkage):
    target = np.diag(np.diag(C)) if shrinkage == "diagonal" else np.trace(C) / len(C) * np.eye(len(C))
    return (1 - r) * C + r * target


def class_means(X, y):
    return np.array([X[y == g].mean(axis=0) for g in np.unique(y)])


def pooled_covariance(X, y):
    C = np.zeros((X.shape[1], X.shape[1]))
    means = class_means(X, y)
    for x, g in zip(X, y):
        C += np.outer(x - means[g], x - means[g]) / len(y)
    return C


def class_covariance(X, y, g):
    members = X[y == g]
    mean = members.mean(axis=0)
    return sum(np.outer(x - mean, x - mean) for x in members) / len(members)


def log_normal(x, mean, C):
    """Log-density of N(mean, C) at x."""
    sign, log_det = np.linalg.slogdet(C)
    assert sign > 0
    return -0.5 * ((x - mean) @ np.linalg.inv(C) @ (x - mean) + log_det + len(x) * np.log(2 * np.pi))


def posterior(log_joint):
    p = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def linear_log_joint(X, y, Q, r, shrinkage, priors=None):
    C = shrunk(pooled_covariance(X, y), r, shrinkage)
    return _log_joint(y, Q, class_means(X, y), [C] * (y.max() + 1), priors)


def quadratic_log_joint(X, y, Q, r, shrinkage, priors=None):
    covariances = [shrunk(class_covariance(X, y, g), r, shrinkage) for g in np.unique(y)]
    return _log_joint(y, Q, class_means(X, y), covariances, priors)


def _log_joint(y, Q, means, covariances, priors):
    priors = np.bincount(y) / len(y) if priors is None else np.asarray(priors)
    return np.array([[np.log(p) + log_normal(x, m, C) for p, m, C in zip(priors, means, covariances)] for x in Q])


def pseudo_fisher_scores(X, y, Q, rcond):
    inverse = np.linalg.pinv(pooled_covariance(X, y), rcond=rcond, hermitian=True)
    means, priors = class_means(X, y), np.bincount(y) / len(y)
    return np.array([[np.log(p) - 0.5 * (x - m) @ inverse @ (x - m) for p, m in zip(priors, means)] for x in Q])


def parzen_log_density(D, y, h, d):
    """log p(x | g) of the rows of D."""
    return np.array(
        [
            [
                np.log(np.mean([np.exp(-(D[i, j] ** 2) / (2 * h**2)) for j in np.flatnonzero(y == g)]))
                - d * np.log(np.sqrt(2 * np.pi) * h)
                for g in np.unique(y)
            ]
            for i in range(len(D))
        ]
    )


def left_out_log_likelihood(D, y, h, d):
    """Sum over objects of their log-density in their class, estimated from the others of it."""
    total = 0.0
    for i in range(len(D)):
        others = [j for j in range(len(D)) if j != i and y[j] == y[i]]
        if others:
            total += np.log(np.mean([np.exp(-(D[i, j] ** 2) / (2 * h**2)) for j in others])) - d * np.log(h)
    return total


def embedded_mean_distances(D, y, E):
    """Squared pseudo-Euclidean distances of new rows E to the class means, by the embedding."""
    n = len(D)
    J = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * J @ D**2 @ J)
    keep = np.abs(values) > 1e-10 * np.abs(values).max()
    values, vectors = values[keep], vectors[:, keep]
    X = vectors * np.sqrt(np.abs(values))
    Z = -0.5 * (E**2 - (D**2).mean(axis=0)) @ J @ vectors / np.sqrt(np.abs(values)) * np.sign(values)
    differences = Z[:, None, :] - class_means(X, y)[None, :, :]
    # What a new object has outside the span of the training objects is the same for all classes.
    outside = (E**2).mean(axis=1) - (D**2).mean() / 2 - (np.sign(values) * Z**2).sum(axis=1)
    return (np.sign(values) * differences**2).sum(axis=2) + outside[:, None]
