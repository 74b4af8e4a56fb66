"""Euclidean distances between rows, by a matrix product, accurate also where rows nearly coincide."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from similis._utils.threads import row_chunks

__all__ = ["row_distances"]

_CHUNK = 2**22  # entries of the float64 work arrays
_CLOSE = 1e-6  # below this share of ||x||^2 + ||y||^2, cancellation leaves fewer than 10 digits of ||x - y||


def row_distances(X: NDArray[Any], Y: NDArray[Any]) -> NDArray[Any]:
    """||x - y|| for every row of X and of Y, in the wider of their types.

    ||x||^2 + ||y||^2 - 2 x'y is a matrix product, but it cancels where rows nearly coincide; those pairs, usually
    few, are computed from their differences. A row's result does not depend on the other rows of X.
    """
    out = np.empty((len(X), len(Y)), dtype=np.result_type(X, Y))
    centre = Y.mean(axis=0, dtype=np.float64)
    B = Y - centre
    bb = np.einsum("ij,ij->i", B, B)
    for rows in row_chunks(len(X), 1 + out.size // _CHUNK):
        A = X[rows] - centre
        size = np.einsum("ij,ij->i", A, A)[:, None] + bb
        squared = size - 2 * (A @ B.T)
        close = squared <= _CLOSE * size
        if np.count_nonzero(close) > 0.1 * close.size:
            out[rows] = cdist(A, B)
            continue
        out[rows] = np.sqrt(np.where(close, 0, squared))
        i, j = np.nonzero(close)
        for part in row_chunks(len(i), 1 + len(i) * X.shape[1] // _CHUNK):
            out[rows][i[part], j[part]] = np.linalg.norm(A[i[part]] - B[j[part]], axis=1)
    return out
