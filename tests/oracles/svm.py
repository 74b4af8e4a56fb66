"""Optimality of support vector problems, recomputed from their definitions. NumPy only."""

from itertools import product

import numpy as np


def box_lasso_objective(S, y, a, epsilon):
    residual = y - S @ a
    return residual @ residual / 2 + epsilon * np.abs(a).sum()


def box_lasso_bound(S, y, a, epsilon, C):
    """A lower bound of min ||y - S a||^2 / 2 + epsilon ||a||_1, |a| <= C, by the best multiple of the residual.

    max_u y'u - u'u / 2 - sum_i C max(|S'u|_i - epsilon, 0) is the dual problem; every u gives a bound.
    """
    u = y - S @ a
    pull = np.abs(S.T @ u)
    multiples = [1.0, epsilon / pull.max() if pull.max() > epsilon else 1.0]
    return max(t * (y @ u) - t * t * (u @ u) / 2 - (C * np.maximum(t * pull - epsilon, 0)).sum() for t in multiples)


def box_lasso_violation(S, y, a, epsilon, C):
    """Largest violation of the optimality conditions: with v = S'(y - S a),

    |v_i| <= epsilon where a_i = 0; v_i = epsilon sign(a_i) where 0 < |a_i| < C; v_i sign(a_i) >= epsilon where
    |a_i| = C.
    """
    v = S.T @ (y - S @ a)
    worst = 0.0
    for a_i, v_i in zip(a, v):
        if a_i == 0:
            bad = abs(v_i) - epsilon
        elif abs(a_i) >= C:
            bad = epsilon - v_i * np.sign(a_i)
        else:
            bad = abs(v_i - epsilon * np.sign(a_i))
        worst = max(worst, bad)
    return worst


def svm_violation(K, y, c, C):
    """Largest violation of the conditions of max 1'alpha - alpha'YKY alpha / 2, 0 <= alpha <= C, y'alpha = 0.

    c = y . alpha. Optimal iff no pair of coefficients can gain: y_i - (Kc)_i <= y_j - (Kc)_j wherever c_i can grow and
    c_j can fall. Infeasibility is counted too.
    """
    alpha = y * c
    v = y - K @ c
    grow = np.where(y > 0, alpha < C, alpha > 0)
    fall = np.where(y > 0, alpha > 0, alpha < C)
    bad = v[grow].max() - v[fall].min() if grow.any() and fall.any() else 0.0
    return max(bad, abs(c.sum()), -alpha.min(), alpha.max() - C)


def svm_by_enumeration(K, y, C):
    """c and b of a tiny SVM: every way of putting each alpha at 0, at C or between them."""
    n = len(y)
    best = None
    for place in product((0, 1, 2), repeat=n):
        place = np.array(place)
        free = place == 2
        c = np.where(place == 1, C * y, 0.0)
        if free.any():
            # K_FF c_F + b = y_F - K_FB c_B and sum c = 0
            m = int(free.sum())
            A = np.zeros((m + 1, m + 1))
            A[:m, :m] = K[np.ix_(free, free)]
            A[:m, m] = A[m, :m] = 1.0
            rhs = np.append(y[free] - K[free] @ c, -c.sum())
            c[free] = np.linalg.lstsq(A, rhs, rcond=None)[0][:m]
        if svm_violation(K, y, c, C) < 1e-9:
            value = c @ y - c @ K @ c / 2
            if best is None or value > best[0] + 1e-12:
                best = value, c
    value, c = best
    alpha, v = y * c, y - K @ c
    grow = np.where(y > 0, alpha < C - 1e-12, alpha > 1e-12)
    fall = np.where(y > 0, alpha > 1e-12, alpha < C - 1e-12)
    return c, (v[grow].max() + v[fall].min()) / 2


def clip(S):
    """Clipped block and the projection for new rows."""
    values, U = np.linalg.eigh(S)
    P = (U * (values > 1e-12 * np.abs(values).max())) @ U.T
    return P @ S, P


def svm_knn(S, y, s, k, C):
    """Decision value of one query by the SVM on its k nearest neighbors, two classes 1 and -1."""
    near = np.argsort(-s, kind="stable")[:k]
    if len(set(y[near])) == 1:
        return y[near[0]]
    K, P = clip(S[np.ix_(near, near)])
    c, b = svm_by_enumeration(K, y[near], C)
    return (P @ s[near]) @ c + b


def votes(f, n_classes):
    """Pairs won plus their margins squeezed into a third."""
    won, margin = np.zeros(n_classes), np.zeros(n_classes)
    pair = 0
    for g in range(n_classes):
        for h in range(g + 1, n_classes):
            won[h if f[pair] > 0 else g] += 1
            margin[h] += f[pair]
            margin[g] -= f[pair]
            pair += 1
    return won + margin / (3 * (abs(margin) + 1))
