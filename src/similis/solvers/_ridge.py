"""Kernel ridge regression with an unpenalized intercept: all regularizers and leave-one-out from one decomposition."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from similis._utils.arrays import Array, Floats


@dataclass(frozen=True)
class RidgePath:
    """Solutions of kernel ridge regression for A regularizers.

    Attributes
    ----------
    alphas, intercepts : ndarrays of shape (A,)
        The regularizers, and the intercepts b.
    dual_coef, loo : ndarrays of shape (A, n)
        c of f(x) = sum_i c_i k(x, x_i) + b, with sum zero; leave-one-out predictions, NaN for a single object.
    """

    alphas: Floats
    dual_coef: Floats
    intercepts: Floats
    loo: Floats


def ridge_path(values: Array, vectors: Array, target: ArrayLike, alphas: ArrayLike) -> RidgePath:
    """Solve kernel ridge regression for all regularizers, with exact leave-one-out predictions.

    Minimizes ||y - K c - b||^2 + alpha c'K c over c and b for the kernel K = U diag(l) U'.

    Parameters
    ----------
    values, vectors, target : ndarrays of shape (n,), (n, n) and (n,)
        Eigenvalues l of the kernel, not negative, eigenvectors U, as columns, and target y.
    alphas : array-like of shape (A,)
        Regularizers, positive.
    """
    # With G = (K + alpha I)^-1 the solution is b = 1'G y / 1'G 1 and c = G (y - b 1). The leave-one-out residual of
    # object i is c_i divided by the diagonal entry G_ii - (G 1)_i^2 / 1'G 1 of [[K + alpha I, 1], [1', 0]]^-1.
    y = np.asarray(target, dtype=np.float64)
    grid = np.atleast_1d(np.asarray(alphas, dtype=np.float64))
    l, U = np.asarray(values, dtype=np.float64), np.asarray(vectors, dtype=np.float64)  # noqa: E741
    mean = y.mean()
    gain = 1.0 / (l + grid[:, None])  # (A, n): spectrum of G
    Gy = (gain * ((y - mean) @ U)) @ U.T  # centered, so that a large mean costs no digits
    G1 = (gain * U.sum(axis=0)) @ U.T
    total = G1.sum(axis=1)
    b = Gy.sum(axis=1) / total
    c = Gy - b[:, None] * G1
    diagonal = gain @ (U**2).T - G1 / total[:, None] * G1
    residuals = np.divide(c, diagonal, out=np.full_like(c, np.nan), where=diagonal > 0)  # NaN for a single object
    return RidgePath(grid, c, b + mean, y - residuals)
