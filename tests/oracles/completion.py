"""Incomplete kernels from the page: losses, steps, optimality conditions of [chen2010] ch. 6, by explicit inverses."""

from math import lgamma, log, pi

import numpy as np


def stein_loss(K, M):
    """L_S(K, M) = tr(K M^-1) - log|K M^-1| - n."""
    R = K @ np.linalg.inv(M)
    return float(np.trace(R) - np.linalg.slogdet(R)[1] - len(K))


def e_step(K11, known, M):
    """argmin over K with this known block of L_S(K, M)."""
    i, j = np.flatnonzero(known), np.flatnonzero(~known)
    inverse = np.linalg.inv(M[np.ix_(i, i)])
    M12, M22 = M[np.ix_(i, j)], M[np.ix_(j, j)]
    K = np.empty_like(M)
    K[np.ix_(i, i)] = K11
    K[np.ix_(i, j)] = K11 @ inverse @ M12
    K[np.ix_(j, i)] = K[np.ix_(i, j)].T
    K[np.ix_(j, j)] = M22 - M12.T @ inverse @ M12 + M12.T @ inverse @ K11 @ inverse @ M12
    return K


def m_step(K, V):
    """argmin over M = sum_i w_i v_i v_i' of L_S(K, M): its weights and M."""
    w = np.array([v @ K @ v for v in V.T])
    return w, sum(wi * np.outer(v, v) for wi, v in zip(w, V.T))


def em(K11, known, K_aux, start, steps):
    """So many em steps from M = `start`; Stein's losses after each e-step, the last K and the last weights."""
    V, M, losses = np.linalg.eigh(K_aux)[1], start, []
    for _ in range(steps):
        K = e_step(K11, known, M)
        losses.append(stein_loss(K, M))
        w, M = m_step(K, V)
    return np.array(losses), K, w


def wishart_em(K11, known, K_aux, eta, r, steps=20000):
    """EM of the Wishart model, step by step."""
    n, Sigma = len(K_aux), K_aux
    for _ in range(steps):
        K = e_step(K11, known, Sigma)
        Sigma = r * (K + eta * K_aux) / (r * (1 + eta) + 2 * n + 2)
    return K, Sigma


def log_posterior(K11, known, Sigma, K_aux, eta, r):
    """log p(K11 | Sigma, r) + log p(Sigma | r) by definitions C.1 and C.7."""
    i, n = np.flatnonzero(known), len(K_aux)
    V = Sigma[np.ix_(i, i)] / r
    p, nu, Psi = len(i), eta * r + n + 1, eta * r * K_aux
    wishart = (
        (r - p - 1) / 2 * _logdet(K11)
        - r * p / 2 * log(2)
        - _multigamma(r / 2, p)
        - r / 2 * _logdet(V)
        - np.trace(np.linalg.inv(V) @ K11) / 2
    )
    inverse = (
        nu / 2 * _logdet(Psi)
        - nu * n / 2 * log(2)
        - _multigamma(nu / 2, n)
        - (nu + n + 1) / 2 * _logdet(Sigma)
        - np.trace(np.linalg.inv(Sigma) @ Psi) / 2
    )
    return wishart + inverse


def nearest_kernel_conditions(X, S, known):
    """Of (6.1): X >= 0, G >= 0 and <G, X> = 0 for the half gradient G; how far each is violated, scaled."""
    G = np.where(known, X - np.where(known, S, 0), 0.0)
    size = np.linalg.norm(X) or 1.0
    return (
        -min(np.linalg.eigvalsh(X)[0], 0) / size,
        -min(np.linalg.eigvalsh(G)[0], 0) / size,
        abs((G * X).sum()) / size**2,
    )


def noisy_nuclear_violation(X, S, known, mu, psd):
    """Of sum (X - S)^2 + mu ||X||_*: distance of -gradient / mu from the subdifferential of the norm at X."""
    G = np.where(known, 2 * (np.where(known, S, 0) - X), 0.0) / mu
    values, U = np.linalg.eigh(X)
    on = np.abs(values) > 1e-9 * np.abs(values).max()
    signs = np.sign(values[on])
    inside = np.abs(U[:, on].T @ G @ U[:, on] - np.diag(signs)).max(initial=0)
    across = np.abs(U[:, on].T @ G @ U[:, ~on]).max(initial=0)
    rest = np.linalg.eigvalsh(U[:, ~on].T @ G @ U[:, ~on]) if (~on).any() else np.zeros(1)
    outside = max(rest.max() - 1, 0) if psd else max(np.abs(rest).max() - 1, 0)
    return max(inside, across, outside)


def frobenius_objective(K, V):
    """min over w >= 0 of ||K - sum_i w_i v_i v_i'||_F, and K - sum_i w_i v_i v_i'."""
    w = np.maximum([v @ K @ v for v in V.T], 0)
    rest = K - sum(wi * np.outer(v, v) for wi, v in zip(w, V.T))
    return float(np.linalg.norm(rest)), rest


def machine_objective(K, c, b, y, V, eta, gamma):
    """(6.6) and (6.9): y = 0 for objects without label, whose c is zero."""
    on = y != 0
    f = K @ c + b
    hinge = np.mean(np.maximum(0, 1 - y[on] * f[on]))
    return hinge + eta * c @ K @ c + gamma * frobenius_objective(K, V)[0]


def _logdet(A):
    return np.linalg.slogdet(A)[1]


def _multigamma(x, p):
    return p * (p - 1) / 4 * log(pi) + sum(lgamma(x - i / 2) for i in range(p))
