"""Plain versions of the tests of group differences: loops over pairs, and regression on coordinates."""

import math
from itertools import combinations

import numpy as np
from scipy.optimize import minimize
from scipy.stats import f_oneway, rankdata


def orders(n, permutations, seed):
    """The observed order and random ones, by exchanging each entry, last first, with a random one not after it."""
    uniform = np.random.RandomState(seed).random_sample((permutations, n))
    found = [np.arange(n)]
    for draws in uniform:
        order = list(range(n))
        for i in reversed(range(1, n)):
            k = int(draws[i] * (i + 1))
            order[i], order[k] = order[k], order[i]
        found.append(np.array(order))
    return found


def product_orders(n, permutations, seed):
    """The observed order, then random ones that first undo an order of one list and then apply one of another list."""
    n_right = math.isqrt(permutations) + 1
    n_left = math.ceil((permutations + 1) / n_right)
    drawn = orders(n, n_left + n_right - 2, seed)
    left, right = drawn[:n_left], [drawn[0], *drawn[n_left:]]
    rng = np.random.RandomState(seed)
    rng.random_sample((n_left + n_right - 2, n))
    used = rng.permutation(n_left * n_right - 1)[:permutations] + 1
    return [right[k % n_right][np.argsort(left[k // n_right])] for k in [0, *used]]


def permanova_f(D, y):
    """Pseudo-F from sums over pairs."""
    n, groups = len(D), sorted(set(y))
    total = sum(D[i][j] ** 2 for i, j in combinations(range(n), 2)) / n
    within = 0.0
    for g in groups:
        own = [i for i in range(n) if y[i] == g]
        within += sum(D[i][j] ** 2 for i, j in combinations(own, 2)) / len(own)
    return ((total - within) / (len(groups) - 1)) / (within / (n - len(groups)))


def regression_f(Y, reduced, full):
    """F of the columns that `full` adds to `reduced`, by least squares on coordinates Y; both contain a constant."""

    def residual(X):
        return ((Y - X @ np.linalg.lstsq(X, Y, rcond=None)[0]) ** 2).sum()

    df = np.linalg.matrix_rank(full) - np.linalg.matrix_rank(reduced)
    rest = residual(full)
    return ((residual(reduced) - rest) / df) / (rest / (len(Y) - np.linalg.matrix_rank(full)))


def anosim_r(D, y):
    """R from the ranks of all known pairs."""
    pairs = [(i, j) for i, j in combinations(range(len(D)), 2) if not np.isnan(D[i][j])]
    ranks = rankdata([D[i][j] for i, j in pairs])
    same = np.array([y[i] == y[j] for i, j in pairs])
    return (ranks[~same].mean() - ranks[same].mean()) / (len(pairs) / 2)


def dispersion_f(X, y, center):
    """F of the distances to group centers, for points X in Euclidean space."""
    distances = []
    for g in sorted(set(y)):
        own = X[np.asarray(y) == g]
        middle = own.mean(axis=0)
        if center == "median":
            middle = minimize(
                lambda m, own=own: np.sqrt(((own - m) ** 2).sum(axis=1)).sum(), middle, method="BFGS", tol=1e-12
            ).x
        distances.append(np.sqrt(((own - middle) ** 2).sum(axis=1)))
    return f_oneway(*distances).statistic, [d.mean() for d in distances]
