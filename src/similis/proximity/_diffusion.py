"""The diffusion kernel of a graph ([chen2010] sec. 5.4.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from similis._utils.linalg import eigen_symmetric, symmetric_part_of
from similis._utils.params import positive, validated_function
from similis._utils.validation import check_proximity
from similis.exceptions import ProximityError

__all__ = ["diffusion_kernel"]


@validated_function({"sigma2": [positive()]})
def diffusion_kernel(A: ArrayLike, sigma2: float = 1.0) -> NDArray[Any]:
    """Turn the adjacency matrix of a weighted graph into a kernel: K = expm(-sigma2/2 L).

    L = I - G^(-1/2) A G^(-1/2) is the normalised graph Laplacian and G the diagonal matrix of degrees. K(i, j) is how
    much of a quantity put on vertex i has spread to vertex j. The objects must all be known: there is no rule for
    new ones.

    Parameters
    ----------
    A : array-like or sparse matrix of shape (n, n)
        Weights of the edges, not negative; sparse similarities may serve. The diagonal is not an edge and is left
        out. The symmetric part of an asymmetric A is used, with a warning.
    sigma2 : float, default=1.0
        How far it spreads, above zero.

    Returns
    -------
    ndarray of shape (n, n)
        Positive definite; a vertex without edges has 1 on the diagonal and 0 elsewhere.

    References
    ----------
    [chen2010] sec. 5.4.3, with sigma2 = 20.

    Examples
    --------
    >>> from similis.proximity import diffusion_kernel
    >>> diffusion_kernel([[0, 1], [1, 0]], sigma2=2.0).round(4)
    array([[0.5677, 0.4323],
           [0.4323, 0.5677]])
    """
    A = check_proximity(A, accept_sparse=True)
    if A.min(initial=0.0) < 0:
        i, j = np.unravel_index(int(A.argmin()), A.shape)
        raise ProximityError(
            f"diffusion_kernel needs weights that are not negative. Got {A[i, j]:.6g} at row {i}, column {j}."
        )
    W = symmetric_part_of(A, "diffusion_kernel").copy()
    np.fill_diagonal(W, 0)
    degree = W.sum(axis=1)
    g = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    L = -(g[:, None] * g) * W
    np.fill_diagonal(L, degree > 0)
    system = eigen_symmetric(L)
    # [chen2010] sec. 5.4.3 -> expm(-sigma^2/2 L) = B B' with B = U exp(-sigma^2/4 l)
    B = system.vectors * np.exp(-sigma2 / 4 * np.maximum(system.values, 0)).astype(L.dtype)
    return B @ B.T
