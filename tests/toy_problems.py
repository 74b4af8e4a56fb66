"""Problems that several test files share."""

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances


def hidden_rows(rng, n=20, noise=0.4, hidden=0.3, width=4.0):
    """A kernel, the same with whole rows hidden, which are known, and an auxiliary kernel from noisy features."""
    X = rng.normal(size=(n, 4))
    K = np.exp(-((X[:, None] - X) ** 2).sum(-1) / width)
    X = X + noise * rng.normal(size=X.shape)
    aux = np.exp(-((X[:, None] - X) ** 2).sum(-1) / width)
    known = rng.random(n) >= hidden
    known[:2] = True, False
    partial = K.copy()
    partial[~known] = partial[:, ~known] = np.nan
    return K, partial, known, aux


def missing_entries(rng, n=16, rank=2, share=0.3, diagonal=True):
    """A kernel of low rank and the same with entries missing here and there."""
    F = rng.normal(size=(n, rank))
    K = F @ F.T
    hole = np.triu(rng.random((n, n)) < share, 1)
    hole = hole | hole.T
    if not diagonal:
        np.fill_diagonal(hole, rng.random(n) < share)
    return K, np.where(hole, np.nan, K)


def least_eigenvalue(K):
    return np.linalg.eigvalsh(K)[0] / max(np.abs(K).max(), 1e-300)


def noisy_similarities(rng, n=40, n_classes=2, noise=0.3, m=15):
    y = np.arange(n) % n_classes
    centers = 1.2 * rng.normal(size=(n_classes, 4))
    Z = np.vstack([centers[y] + rng.normal(size=(n, 4)), 1.5 * rng.normal(size=(m, 4))])
    D = np.sqrt(((Z[:, None] - Z) ** 2).sum(-1))
    E = noise * rng.normal(size=D.shape)
    S = np.exp(-D / np.median(D)) + (E + E.T) / 2
    return S[:n, :n], np.array(["a", "b", "c", "d"])[y], S[n:, :n], np.diag(S)[n:]


def signs(y):
    return np.where(y == "b", 1.0, -1.0)


def gaussian_distances(rng, n=27, n_classes=3, d=4, m=12):
    """Distances of Gaussian classes, the first as large as the others together."""
    y = np.arange(n) % (2 * (n_classes - 1))
    y = np.where(y < n_classes, y, 0)
    centers = 2 * rng.normal(size=(n_classes, d))
    Z, new = centers[y] + rng.normal(size=(n, d)), centers[rng.integers(n_classes, size=m)] + rng.normal(size=(m, d))
    return euclidean_distances(Z), y, euclidean_distances(new, Z)


def random_similarities(rng, n=40, m=25, n_classes=3, levels=None):
    """Random asymmetric similarities; with few `levels` nearly everything is tied and ends of Omega are met."""
    S, Q = rng.random((n, n)), rng.random((m, n))
    if levels:
        S, Q = np.floor(levels * S), np.floor(levels * Q)
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    return S, y, Q
