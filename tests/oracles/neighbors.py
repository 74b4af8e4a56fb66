"""Ranked neighbors and votes, written as they are said."""

import numpy as np


def top_k(S, k, sign=1, row_fold=None, col_fold=None):
    """Stable order: value descending, then index ascending; NaN and the row's own fold left out; -1 pads."""
    m, n = S.shape
    indices = np.full((m, k), -1)
    for i in range(m):
        allowed = [j for j in range(n) if not np.isnan(S[i, j]) and (row_fold is None or col_fold[j] != row_fold[i])]
        ranked = sorted(allowed, key=lambda j, i=i: (-sign * S[i, j], j))[:k]
        indices[i, : len(ranked)] = ranked
    return indices


def class_sums(indices, codes, k, n_classes, weights=None):
    """Summed weight of each class among the first k of every row."""
    sums = np.zeros((len(indices), n_classes))
    for i, row in enumerate(indices):
        for r, j in enumerate(row[:k]):
            if j >= 0:
                sums[i, codes[j]] += 1.0 if weights is None else weights[i, r]
    return sums
