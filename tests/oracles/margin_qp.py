"""Optimality of min |a|^2 + C sum xi, A a >= 1 - xi, a >= 0, checked from the multipliers."""

import numpy as np


def kkt_violation(A, a, u, C=None):
    """Largest violation of stationarity, feasibility, bounds and complementarity; zero exactly at the optimum."""
    pull = A.T @ u
    v = 2 * a - pull  # multiplier of a >= 0
    slack = A @ a - 1
    worst = [(-a).max(), (-v).max(), (-u).max(), np.abs(v * a).max()]
    if C is None:
        worst += [(-slack).max(), np.abs(u * slack).max()]
    else:
        xi = np.maximum(-slack, 0)
        worst += [(u - C).max(), np.abs(u * (slack + xi)).max(), np.abs((C - u) * xi).max()]
    return max(worst)
