"""Validation of kernels, and of kernels with missing entries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from similis._utils.linalg import roundoff, symmetric_part_of
from similis.base._validation import check_proximity
from similis.exceptions import ProximityError

__all__ = ["check_kernel", "check_partial_kernel", "measured_objects"]


def check_kernel(A: NDArray[np.float64], must: str, dtype: Any = np.float64) -> None:
    """Raise an error for a matrix that is indefinite beyond round-off.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        Symmetric matrix.
    must : str
        Beginning of the message, such as "The auxiliary kernel must be a kernel".
    dtype : data type, default=float64
        Precision in which the entries were given.

    Raises
    ------
    ProximityError
        If an eigenvalue is negative beyond round-off.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.base import check_kernel
    >>> check_kernel(np.eye(2), "The matrix must be a kernel")
    """
    values = np.linalg.eigvalsh(A)
    size = float(np.abs(values).max(initial=0.0))
    if values[0] < -max(roundoff(len(A), size, dtype), 1e-7 * size):
        raise ProximityError(
            f"{must}: positive semi-definite. Got a smallest eigenvalue of {values[0]:.3g}. Clip it first, for "
            "example with SpectrumClip."
        )


def check_partial_kernel(K: ArrayLike, who: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Validate a matrix with missing entries and symmetrize it.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Matrix with NaN for missing entries. A pair with one known direction takes that value.
    who : str
        Name used in messages.

    Returns
    -------
    K : ndarray of shape (n, n)
        Symmetric matrix, NaN where neither direction is known.
    known : ndarray of bool, shape (n, n)
        Entries that are not NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.base import check_partial_kernel
    >>> check_partial_kernel([[1.0, np.nan], [0.5, 1.0]], "example")[0]
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    S = check_proximity(K, allow_missing=True)
    both = ~np.isnan(S) & ~np.isnan(S.T)
    symmetric_part_of(np.where(both, S, 0.0).astype(S.dtype), who)  # warns if the directions differ
    mean = (S + S.T) / 2
    mean = np.where(np.isnan(mean), np.where(np.isnan(S), S.T, S), mean)
    known = ~np.isnan(mean)
    if not known.any():
        raise ProximityError(f"{who} needs at least one known entry. Got a matrix of NaN only.")
    return mean, known


def measured_objects(known: NDArray[np.bool_], who: str, instead: str) -> NDArray[np.bool_]:
    """Find the objects with known entries; raise an error unless all entries between them are known.

    Parameters
    ----------
    known : ndarray of bool, shape (n, n)
        Known entries of a symmetric matrix.
    who : str
        Name used in messages.
    instead : str
        What to use for scattered missing entries, named in the message.

    Returns
    -------
    ndarray of bool, shape (n,)
        Objects with known entries.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.base import measured_objects
    >>> measured_objects(np.array([[True, False], [False, False]]), "example", "CompleteKernel")
    array([ True, False])
    """
    rows: NDArray[np.bool_] = np.asarray(known.any(axis=1))
    scattered = rows[:, None] & rows & ~known
    if scattered.any():
        i, j = np.argwhere(scattered)[0]
        raise ProximityError(
            f"{who} needs whole rows missing. Got NaN at row {i}, column {j}, though both objects have known entries. "
            f"Use {instead} for scattered entries, or hide one of the objects altogether."
        )
    return rows
