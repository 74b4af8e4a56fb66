"""Optimality conditions of the local weight problems, recomputed from the problem data alone."""

import numpy as np


def kri_objective(S, s, ridge, w):
    return 0.5 * w @ S @ w - s @ w + 0.5 * ridge * w @ w


def kri_kkt(S, s, ridge, w):
    """Largest violation of the KKT conditions of eq. (3.5) for given weights, relative to the size of the data.

    On the simplex the multiplier of 1'w = 1 that fits best is minus the least gradient; then every multiplier of
    w >= 0 is non-negative, and what is left is feasibility and complementarity.
    """
    scale = np.abs(S).max() + np.abs(s).max() + ridge
    gradient = S @ w - s + ridge * w
    multipliers = gradient - gradient.min()
    return max(abs(w.sum() - 1), -w.min(), (w * multipliers).sum() / max(scale, 1e-300))


def kri_by_enumeration(S, s, ridge):
    """Try every support: solve the equality-constrained problem on it, keep the best feasible one."""
    k = len(s)
    best, best_value = None, np.inf
    for mask in range(1, 2**k):
        P = [i for i in range(k) if mask >> i & 1]
        H = S[np.ix_(P, P)] + ridge * np.eye(len(P))
        bordered = np.block([[H, np.ones((len(P), 1))], [np.ones((1, len(P))), np.zeros((1, 1))]])
        w = np.zeros(k)
        w[P] = np.linalg.solve(bordered, np.append(s[P], 1.0))[:-1]
        if w.min() >= -1e-12 and kri_objective(S, s, ridge, w) < best_value:
            best, best_value = w, kri_objective(S, s, ridge, w)
    return best


def lime_objective(S, s, ridge, w):
    positive = w[w > 0]
    return w @ S @ w - 2 * s @ w + ridge * (positive * np.log(positive)).sum()


def lime_kkt(S, s, ridge, w):
    """Spread of the gradient over the positive weights, relative to the data; stationarity makes it constant."""
    scale = np.abs(S).max() + np.abs(s).max() + ridge
    shown = w > 1e-250
    gradient = (2 * S @ w - 2 * s)[shown] + ridge * (np.log(w[shown]) + 1)
    return max(abs(w.sum() - 1), -w.min(), np.ptp(gradient) / scale)


def clip(S, s):
    values, U = np.linalg.eigh(S)
    positive = values > len(S) * np.finfo(float).eps * np.abs(values).max()
    return (U[:, positive] * values[positive]) @ U[:, positive].T, U[:, positive] @ (U[:, positive].T @ s)


def flip(S, s):
    values, U = np.linalg.eigh(S)
    sign = np.sign(values) * (np.abs(values) > len(S) * np.finfo(float).eps * np.abs(values).max())
    return (U * np.abs(values)) @ U.T, (U * sign) @ (U.T @ s)


def shift(S, s):
    return S - min(np.linalg.eigvalsh(S)[0], 0.0) * np.eye(len(S)), s


TREATMENTS = {"clip": clip, "flip": flip, "shift": shift}


def adversarial_blocks(rng, k):
    """Named pairs (S PSD, s): what breaks a pivoting method."""
    X = rng.standard_normal((k, 3))
    A = rng.standard_normal((k, k))
    duplicated = X[rng.integers(0, max(1, k // 3), k)]
    u = rng.standard_normal(k)
    indefinite = (A + A.T) / 2
    s = np.sort(rng.standard_normal(k))[::-1].copy()
    yield "full rank", A @ A.T / k, s
    yield "low rank", X @ X.T, X @ rng.standard_normal(3)
    yield "duplicates", duplicated @ duplicated.T, duplicated @ rng.standard_normal(3)
    yield "duplicates, s at odds", duplicated @ duplicated.T, s
    yield "zero", np.zeros((k, k)), s
    yield "zero and zero", np.zeros((k, k)), np.zeros(k)
    yield "rank one", np.outer(u, u), s
    yield "all ones", np.ones((k, k)), np.ones(k)
    yield "identity, ties", np.eye(k), np.ones(k)
    yield "clipped", *clip(indefinite, s)
    yield "flipped", *flip(indefinite, s)
    yield "shifted", *shift(indefinite, s)
    yield "rounded", np.round(np.exp(-((X[:, None] - X[None]) ** 2).sum(-1)), 1) + np.eye(k) * k, np.round(s, 1)
    yield "tiny", 1e-9 * A @ A.T, 1e-9 * s
    yield "huge", 1e9 * A @ A.T, 1e9 * s
    yield "bad scales", np.outer(10.0 ** np.linspace(-4, 4, k), 10.0 ** np.linspace(-4, 4, k)) * np.eye(k), s
