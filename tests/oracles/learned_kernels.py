"""Objectives of machines that learn their kernel, recomputed from their definitions. NumPy only."""

import numpy as np


def hinge(y, f):
    return np.maximum(0.0, 1.0 - y * f)


def positive_part(M):
    values, U = np.linalg.eigh((M + M.T) / 2)
    return (U * np.maximum(values, 0.0)) @ U.T


def anchor_of(values, name, tolerance=1e-12):
    small = np.abs(values) <= tolerance * np.abs(values).max(initial=0.0)
    sign = np.where(small, 0.0, np.sign(values))
    return {"clip": (sign >= 0).astype(float), "flip": sign, "identity": np.ones_like(values)}[name]


def penalty(values, alpha, anchor, norm):
    """h(alpha) of [chen2010] sec. 5.2.1."""
    if anchor == "identity":
        return np.linalg.norm(values * (alpha - 1))
    return np.linalg.norm(alpha - anchor_of(values, anchor), norm)


def simsvm(S, y, alpha, c, b, eta, gamma, anchor="clip", norm=2):
    """[chen2010] Eq. (5.20), alpha in the order of numpy's eigenvalues of S; infinite where a constraint is broken."""
    values, U = np.linalg.eigh(S)
    if (values * alpha < -1e-8 * np.abs(values).max(initial=1e-300)).any():
        return np.inf
    K = (U * (values * alpha)) @ U.T
    return hinge(y, K @ c + b).mean() + eta * c @ K @ c + gamma * penalty(values, alpha, anchor, norm)


def simmkl(similarities, kernels, y, alphas, w, c, b, eta, gamma, trace, anchor="clip"):
    """[chen2010] Eq. (5.35) with several similarities."""
    if (w < 0).any() or sum(wj * np.trace(K) for wj, K in zip(w, kernels)) > trace * (1 + 1e-9):
        return np.inf
    total, K = 0.0, np.zeros((len(y), len(y)))
    for S, alpha in zip(similarities, alphas):
        values, U = np.linalg.eigh(S)
        K += (U * (values * alpha)) @ U.T
        total += gamma * penalty(values, alpha, anchor, 2)
    for wj, Kj in zip(w, kernels):
        K = K + wj * Kj
    return total + hinge(y, K @ c + b).mean() + eta * c @ K @ c


def indefinite(S, y, alpha, rho):
    """The value of [chen2010] Eq. (5.8) at alpha: the inner minimum is at K of Eq. (5.9)."""
    v = y * alpha
    K = positive_part(S + np.outer(v, v) / (4 * rho))
    return alpha.sum() - v @ K @ v / 2 + rho * np.linalg.norm(K - S) ** 2, K


def full_kernel(S, y, K, c, b, eta, weight, square=False):
    """[chen2010] Eq. (5.2), or (5.12) with the square; infinite where K has a negative eigenvalue."""
    if np.linalg.eigvalsh(K)[0] < -1e-9 * max(np.abs(K).max(), 1e-300):
        return np.inf
    n = len(y)
    distance = np.linalg.norm(K - S)
    f = K[:n, :n] @ c + b
    return hinge(y, f).mean() + eta * c @ K[:n, :n] @ c + weight * (distance**2 if square else distance)


def augmented(K, r, t):
    """The matrix that a new object's row makes of a kernel."""
    return np.block([[K, r[:, None]], [r[None], np.full((1, 1), t)]])
