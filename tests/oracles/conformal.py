"""Conformal p-values by their definition: one loop per new object and candidate class."""

import numpy as np


def knn_votes(S, codes, i, k):
    """Neighbors of object i that share its class, among all others; the lower index first among equals."""
    others = np.delete(np.arange(len(S)), i)
    nearest = others[np.argsort(-S[i, others], kind="stable")][:k]
    return (codes[nearest] == codes[i]).sum()


def full_p_values(S, codes, Q, k, n_classes, class_conditional):
    """Full conformal k-NN: every training object and the new one are predicted from all others."""
    n = len(S)
    p = np.empty((len(Q), n_classes))
    for x, row in enumerate(Q):
        augmented = np.block([[S, row[:, None]], [row[None], np.array([[0.0]])]])
        for g in range(n_classes):
            labels = np.append(codes, g)
            votes = np.array([knn_votes(augmented, labels, i, min(k, n)) for i in range(n + 1)])
            same = labels == g if class_conditional else np.full(n + 1, True)
            p[x, g] = (votes[same] <= votes[n]).mean()
    return p


def cross_p_values(score, S, y, fold, Q, classes, class_conditional):
    """Cross-conformal p-values; ``score(S_train, y_train, rows)`` returns the scores of the sorted classes."""
    p = np.empty((len(Q), len(classes)))
    for x, row in enumerate(Q):
        for g, label in enumerate(classes):
            worse, total = 1, 1
            for k in np.unique(fold[fold >= 0]):
                train = fold != k
                columns = list(np.unique(y[train]))
                new = score(S[np.ix_(train, train)], y[train], row[None, train])[0][columns.index(label)]
                for i in np.flatnonzero(fold == k):
                    if y[i] == label or not class_conditional:
                        known = score(S[np.ix_(train, train)], y[train], S[i : i + 1, train])[0][columns.index(y[i])]
                        worse += known <= new + 1e-9
                        total += 1
            p[x, g] = worse / total
    return p


def jackknife_plus(fit_predict, S, y, Q, level):
    """Jackknife+ intervals by n fits; ``fit_predict(S_train, y_train, rows)`` returns predictions."""
    n = len(y)
    low, high = np.empty((len(Q), n)), np.empty((len(Q), n))
    for i in range(n):
        rest = np.delete(np.arange(n), i)
        residual = abs(y[i] - fit_predict(S[np.ix_(rest, rest)], y[rest], S[i : i + 1, rest])[0])
        new = fit_predict(S[np.ix_(rest, rest)], y[rest], Q[:, rest])
        low[:, i], high[:, i] = new - residual, new + residual
    rank = int(np.ceil((n + 1) * level - 1e-9))
    return np.column_stack([np.sort(low, axis=1)[:, n - rank], np.sort(high, axis=1)[:, rank - 1]])
