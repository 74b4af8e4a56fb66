"""Several proximity matrices over the same objects as one array n x n x q."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from similis._utils.validation import check_table
from similis.exceptions import ProximityError

__all__ = ["make_stack"]


class Stack(np.ndarray):
    """A plain array m x n x q whose slices have ``names``; cutting rows and columns keeps them."""

    names: tuple[str, ...] | None = None

    def __array_finalize__(self, source: Any) -> None:
        names = getattr(source, "names", None)
        if names is not None and self.ndim == 3 and self.shape[2] == len(names):
            self.names = names


def make_stack(matrices: Sequence[ArrayLike], *, names: Sequence[str] | None = None) -> NDArray[Any]:
    """Stack several matrices over the same objects.

    scikit-learn's pairwise slicing cuts rows and columns of the result and leaves the third axis alone.

    Parameters
    ----------
    matrices : sequence of array-like of shape (m, n)
        One or more proximity matrices with the same rows and columns: square for training, a block for new objects. NaN
        marks an unknown entry.
    names : sequence of str, default=None
        One name per matrix, no two the same; used in messages and kept in the attribute ``names`` of the result.

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
        raise ProximityError("make_stack needs a list of matrices, and a list of names or none.")
    matrices = list(matrices)
    if not matrices:
        raise ProximityError("make_stack needs at least one matrix. Got none.")
    if names is not None:
        names = tuple(str(name) for name in names)
        if len(names) != len(matrices) or len(set(names)) != len(names):
            raise ProximityError(
                f"names must hold one name per matrix, {len(matrices)}, no two the same. Got {len(names)}: "
                f"{', '.join(names)[:100]}."
            )
    called = [repr(name) for name in names] if names else [str(i) for i in range(len(matrices))]
    slices: list[NDArray[Any]] = []
    for matrix, name in zip(matrices, called):
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
