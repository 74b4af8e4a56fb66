"""Plain versions of the methods after 2010, in NumPy."""

import math

import numpy as np

__all__ = ["fisher_direction", "forest_split", "glvq_distances", "krein_ridge", "label_spreading", "pcvm"]


def krein_ridge(K, y, positive, negative):
    """Fitted values and coefficients on the centered kernel, by the normal equations of the penalized problem."""
    n = len(y)
    J = np.eye(n) - 1 / n
    A = J @ K @ J
    values, U = np.linalg.eigh(A)
    plus = (U * np.maximum(values, 0)) @ U.T
    minus = (U * np.maximum(-values, 0)) @ U.T
    # |y - A c|^2 + positive c'K_+ c + negative c'K_- c
    c = np.linalg.pinv(A @ A + positive * plus + negative * minus, rcond=1e-11) @ A @ (y - y.mean())
    return A @ c + y.mean(), J @ c


def fisher_direction(K, y, beta):
    """Coefficients of the kernel Fisher discriminant of two classes: (N + beta I)^-1 (m_1 - m_0)."""
    means, N = [], np.zeros_like(K)
    for g in (0, 1):
        rows = K[y == g]
        means.append(rows.mean(axis=0))
        for row in rows:
            N += np.outer(row - means[g], row - means[g])
    return np.linalg.solve(N + beta * np.eye(len(y)), means[1] - means[0]), means


def pcvm(S, y, n_iter):
    """Weights and intercept after some iterations of [chen2009pcvm], by normal equations."""
    n = len(y)
    w, b, size, f = np.full(n, 0.7), 0.0, 1.0, 5.0 * y
    for _ in range(n_iter):
        h = np.zeros(n)
        for i in range(n):
            density = math.exp(-0.5 * f[i] ** 2) / math.sqrt(2 * math.pi)
            h[i] = f[i] + y[i] * density / (0.5 * math.erfc(-y[i] * f[i] / math.sqrt(2)))
        used = [i for i in range(n) if w[i] > 0]
        B = np.column_stack([S[:, i] * y[i] for i in used])
        precision = np.diag([1 / (2 * w[i] ** 2) for i in used])
        w = np.zeros(n)
        w[used] = np.linalg.solve(B.T @ B + precision, B.T @ (h - b))
        w[w < 1e-3] = 0.0
        # n b + b / (2 size^2) = sum(h - B w)
        b = float(np.sum(h - S @ (y * w))) / (n + 1 / (2 * size**2))
        size = abs(b)
        f = S @ (y * w) + b
    return y * w, b


def glvq_distances(X, Z, weights):
    """Squared distances of new vectors Z to prototypes that are weighted means of the vectors X."""
    prototypes = weights @ X
    return ((Z[:, None] - prototypes) ** 2).sum(axis=2)


def label_spreading(W, Y, alpha, n_iter=2000):
    """The iteration F <- alpha P F + (1 - alpha) Y."""
    degree = W.sum(axis=1)
    P = W / np.sqrt(np.outer(degree, degree))
    F = Y.copy()
    for _ in range(n_iter):
        F = alpha * P @ F + (1 - alpha) * Y
    return F


def forest_split(values, codes):
    """Smallest weighted Gini impurity over all cuts of the known values."""
    known = ~np.isnan(values)
    v, c = values[known], codes[known]
    best = np.inf
    for cut in np.unique(v)[:-1]:
        total = 0.0
        for side in (v <= cut, v > cut):
            shares = np.bincount(c[side]) / side.sum()
            total += side.sum() * (1 - (shares**2).sum())
        best = min(best, total)
    return best
