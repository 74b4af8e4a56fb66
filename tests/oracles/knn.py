"""Weighted nearest neighbors from their definitions, in plain loops."""

import numpy as np


def ranked(row, k, sign=1.0):
    """The k best known columns of a row: value first, then the lower index."""
    known = [j for j in range(len(row)) if not np.isnan(row[j])]
    return sorted(known, key=lambda j: (-sign * row[j], j))[:k]


def class_weights(S, codes, row, k, weight, n_classes, sign=1.0):
    """Summed weight of each class among the k nearest; `weight(S_k, s_k)` gives the neighbors' weights."""
    near = ranked(row, k, sign)
    w = weight(S[np.ix_(near, near)], row[near])
    return np.array([sum(w[i] for i, j in enumerate(near) if codes[j] == g) for g in range(n_classes)])


def uniform(block, s):
    return np.full(len(s), 1 / len(s))


def affinity(block, s):
    return s / s.sum() if s.sum() > 0 else uniform(block, s)


def projected(block, s, spectrum):
    """The neighbors' block made PSD and the query treated alike: P S and P s for clip and flip."""
    values, U = np.linalg.eigh((block + block.T) / 2)
    if spectrum == "shift":
        return U @ np.diag(values - min(values.min(), 0.0)) @ U.T, s
    keep = np.sign(values) if spectrum == "flip" else (values > 0).astype(float)
    keep[np.abs(values) < 1e-12 * np.abs(values).max()] = 0.0
    P = U @ np.diag(keep) @ U.T
    return P @ (U @ np.diag(values) @ U.T), P @ s


def krr(ridge, spectrum="pinv"):
    def weight(block, s):
        if spectrum != "pinv":
            block, s = projected(block, s, spectrum)
        block = (block + block.T) / 2
        return np.linalg.pinv(block + ridge * np.eye(len(s)), hermitian=True) @ s

    return weight
