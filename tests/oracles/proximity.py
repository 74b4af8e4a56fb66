"""Plain versions of the proximity transformers, written from the papers with loops and textbook formulas."""

import numpy as np


def clip(S):
    """[chen2010] sec. 2.1.3."""
    values, U = np.linalg.eigh((S + S.T) / 2)
    return sum(max(v, 0) * np.outer(u, u) for v, u in zip(values, U.T))


def flip(S):
    """[chen2010] sec. 2.1.4, by singular values: U L V' has flipped matrix V L V'."""
    _, L, Vt = np.linalg.svd((S + S.T) / 2)
    return Vt.T @ np.diag(L) @ Vt


def projection(S, kind):
    """P of [chen2010] sec. 4.1 for an S without zero eigenvalues."""
    values, U = np.linalg.eigh((S + S.T) / 2)
    d = (values >= 0).astype(float) if kind == "clip" else np.sign(values)
    return U @ np.diag(d) @ U.T


def row_rbf(rows, training, gamma):
    """[chen2010] p. 35, pair by pair."""
    return np.array([[np.exp(-gamma * np.sqrt(np.sum((a - b) ** 2))) for b in training] for a in rows])


def pseudo_distance2(X, Y, signature):
    """Squared pseudo-Euclidean distance, pair by pair."""
    return np.array([[np.sum(signature * (a - b) ** 2) for b in Y] for a in X])


def farthest_first(D, k):
    """Greedy k-center from the 1-center."""
    chosen = [min(range(len(D)), key=lambda j: (max(D[:, j]), j))]
    while len(chosen) < k:
        left = [i for i in range(len(D)) if i not in chosen]
        chosen.append(max(left, key=lambda i: (min(D[i, c] for c in chosen), -i)))
    return chosen


def forward(D, y, k):
    """Forward selection of prototypes by the leave-one-out errors of the nearest-prototype rule."""
    n, chosen = len(D), []

    def score(prototypes):
        wrong = missing = 0
        spread = 0.0
        for i in range(n):
            own = [D[i, p] for p in prototypes if p != i and y[p] == y[i]]
            other = [D[i, p] for p in prototypes if p != i and y[p] != y[i]]
            wrong += not (min(own, default=np.inf) < min(other, default=np.inf))
            missing += not own
            spread += min(own, default=0.0)
        return wrong, missing, spread

    while len(chosen) < k:
        left = [j for j in range(n) if j not in chosen]
        chosen.append(min(left, key=lambda j: (*score([*chosen, j]), j)))
    return chosen
