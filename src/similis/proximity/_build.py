"""Functions that build matrices: stacks of several proximity matrices, and the diffusion kernel of a graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from similis._utils.linalg import eigen_symmetric, symmetric_part_of
from similis.base import check_frame_order, check_proximity, check_table, positive, validated_function
from similis.exceptions import ProximityError

__all__ = ["make_stack", "diffusion_kernel"]


class Stack(np.ndarray):
    """Array m x n x q whose slices have ``names``; slicing rows and columns keeps them."""

    names: tuple[str, ...] | None = None

    def __array_finalize__(self, source: Any) -> None:
        names = getattr(source, "names", None)
        if names is not None and self.ndim == 3 and self.shape[2] == len(names):
            self.names = names


def make_stack(matrices: Sequence[ArrayLike], *, names: Sequence[str] | None = None) -> NDArray[Any]:
    """Stack several matrices over the same objects.

    Pairwise slicing by scikit-learn selects rows and columns of the result and keeps the third axis.

    Parameters
    ----------
    matrices : sequence of array-like of shape (m, n)
        One or more proximity matrices with the same rows and columns: square for training, a block for new objects. NaN
        marks a missing entry.
    names : sequence of str, default=None
        Distinct names, one per matrix; used in messages and stored in the attribute ``names`` of the result.

    Returns
    -------
    ndarray of shape (m, n, q)
        float32 if every matrix is, else float64.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.proximity import make_stack
    >>> stack = make_stack([np.eye(2), np.ones((2, 2))], names=["same", "all"])
    >>> stack.shape, stack.names
    ((2, 2, 2), ('same', 'all'))
    """
    if isinstance(matrices, str) or not isinstance(matrices, Iterable) or not isinstance(names, Iterable | None):
        raise ProximityError(
            "make_stack needs a list of matrices and an optional list of names. Got "
            f"{type(matrices).__name__} and {type(names).__name__}."
        )
    matrices = list(matrices)
    if not matrices:
        raise ProximityError("make_stack needs at least one matrix. Got none.")
    if names is not None:
        names = tuple(str(name) for name in names)
        if len(names) != len(matrices) or len(set(names)) != len(names):
            raise ProximityError(
                f"names must hold distinct names, one name per matrix, {len(matrices)}. Got {len(names)}: "
                f"{', '.join(names)[:100]}."
            )
    called = [repr(name) for name in names] if names else [str(i) for i in range(len(matrices))]
    slices: list[NDArray[Any]] = []
    for matrix, name in zip(matrices, called):
        check_frame_order(matrix)
        A = check_table(matrix, f"Matrix {name} of a stack", dtype=(np.float64, np.float32))
        if slices and A.shape != slices[0].shape:
            raise ProximityError(
                f"Every matrix of a stack must have the same shape. Matrix {name} has {A.shape}, matrix {called[0]} "
                f"has {slices[0].shape}."
            )
        slices.append(A)
    stack = np.stack(slices, axis=2).view(Stack)
    stack.names = names
    return stack


@validated_function({"sigma2": [positive()]})
def diffusion_kernel(A: ArrayLike, sigma2: float = 1.0) -> NDArray[Any]:
    """Turn the adjacency matrix of a weighted graph into a kernel: K = expm(-sigma2/2 L).

    L = I - G^(-1/2) A G^(-1/2) is the normalized graph Laplacian and G the diagonal matrix of degrees. K(i, j) is the
    part of a quantity placed on vertex i that has diffused to vertex j. There is no rule for new objects: the graph
    must contain them all.

    Parameters
    ----------
    A : array-like or sparse matrix of shape (n, n)
        Non-negative weights of the edges, for example sparse similarities. The diagonal is ignored. The symmetric part
        of an asymmetric A is used, with a warning.
    sigma2 : float, default=1.0
        Diffusion time, above zero.

    Returns
    -------
    ndarray of shape (n, n)
        Positive definite; a vertex without edges has 1 on the diagonal and 0 elsewhere.

    References
    ----------
    [chen2010] sec. 5.4.3, with sigma2 = 20; [kondor2002].

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
        raise ProximityError(f"diffusion_kernel needs non-negative weights. Got {A[i, j]:.6g} at row {i}, column {j}.")
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
