"""The neighbours' own k x k block made positive semi-definite, and the query's k-vector with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from similis import _kernels

__all__ = ["local_psd", "psd_prefix", "spectral_filter"]


def psd_prefix(
    blocks: NDArray[np.float64], known: NDArray[np.intp], s: NDArray[np.float64] | None = None
) -> NDArray[np.intp]:
    """Find, for each block, the size of its largest leading block that clip, flip and shift leave as it is.

    It is positive semi-definite and, if `s` is given, s is in its range, so that the treatment of s changes nothing
    either. By interlacing no larger leading block qualifies: one Cholesky attempt answers for all k. A block whose
    pivots are neither clear of round-off nor within it does not count; it needs its spectrum.

    Parameters
    ----------
    blocks : ndarray of shape (c, k, k)
        Symmetric blocks of ranked neighbours.
    known : ndarray of shape (c,)
        How many of a block's objects there are; the rest is filling.
    s : ndarray of shape (c, k), optional
        Similarities of the queries to them.

    Returns
    -------
    ndarray of shape (c,)

    Examples
    --------
    >>> import numpy as np
    >>> from similis.solvers import psd_prefix
    >>> psd_prefix(np.array([[[1.0, 0.5, 0.0], [0.5, 1.0, 2.0], [0.0, 2.0, 1.0]]]), np.array([3]))
    array([2])
    """
    prefix = np.empty(len(blocks), np.intp)
    _kernels.psd_prefix(blocks, np.zeros(blocks.shape[:2]) if s is None else s, known, prefix)
    return prefix


def local_psd(
    blocks: NDArray[np.float64], s: NDArray[np.float64], spectrum: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Make symmetric blocks positive semi-definite, treating the queries' vectors consistently.

    Parameters
    ----------
    blocks : ndarray of shape (c, k, k)
        Symmetric similarities among the k neighbours of each query.
    s : ndarray of shape (c, k)
        Similarities of the queries to their neighbours.
    spectrum : {"clip", "flip", "shift"}
        What happens to negative eigenvalues: set to zero, made positive, or all raised until none is left.

    Returns
    -------
    blocks, s : ndarrays of the given shapes
        For clip and flip the transformation P with S~ = P S acts on s too; shift leaves s as it is.

    Notes
    -----
    [chen2010] sec. 4.1: P_clip = U diag(1 if lambda_i > 0) U', P_flip = U diag(sgn lambda_i) U'. An eigenvalue
    within k eps of the largest magnitude counts as zero.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.solvers import local_psd
    >>> local_psd(np.array([[[0.0, 1.0], [1.0, 0.0]]]), np.array([[2.0, 0.0]]), "clip")
    (array([[[0.5, 0.5],
            [0.5, 0.5]]]), array([[1., 1.]]))
    """
    values, U = np.linalg.eigh(blocks)
    if spectrum == "shift":
        shift = np.maximum(-values[:, :1], 0.0)
        return blocks + shift[..., None] * np.eye(blocks.shape[1]), s
    sign = _signs(values)
    if spectrum == "clip":
        sign = np.maximum(sign, 0.0)
    elif spectrum != "flip":
        raise ValueError(f"spectrum must be clip, flip or shift to make a block positive. Got {spectrum!r}.")
    P = (U * sign[:, None, :]) @ U.swapaxes(1, 2)
    return _symmetric((U * (sign * values)[:, None, :]) @ U.swapaxes(1, 2)), np.matmul(P, s[..., None])[..., 0]


def spectral_filter(
    blocks: NDArray[np.float64], s: NDArray[np.float64], ridges: NDArray[np.float64], spectrum: str
) -> NDArray[np.float64]:
    """Solve (S~ + ridge I) w = s~ for all ridges from one decomposition of each block S.

    `spectrum` says how S~ and s~ come from S and s: "clip", "flip", "shift" as in :func:`local_psd`, or "pinv",
    where nothing is changed and [chen2010] sec. 3.2.1 w = (S + ridge I)^+ s holds for an indefinite S.

    Parameters
    ----------
    blocks, s
        As in :func:`local_psd`.
    ridges : ndarray of shape (R,)
        Non-negative.
    spectrum : {"clip", "flip", "shift", "pinv"}
        Treatment of negative eigenvalues.

    Returns
    -------
    ndarray of shape (c, R, k)

    Examples
    --------
    >>> import numpy as np
    >>> from similis.solvers import spectral_filter
    >>> spectral_filter(np.array([[[0.0, 1.0], [1.0, 0.0]]]), np.array([[2.0, 0.0]]), np.array([1.0]), "pinv")
    array([[[0.5, 0.5]]])
    """
    values, U = np.linalg.eigh(blocks)
    gain = np.ones_like(values)
    if spectrum == "shift":
        values = values + np.maximum(-values[:, :1], 0.0)
    elif spectrum in ("clip", "flip"):
        gain = _signs(values)
        if spectrum == "clip":
            gain = np.maximum(gain, 0.0)
        values = gain * values
    shifted = values[:, None, :] + ridges[:, None]  # (c, R, k)
    shifted[_signs(shifted) == 0] = np.inf
    coefficients = gain * np.matmul(s[:, None, :], U)[:, 0]  # (c, k)
    return np.matmul(coefficients[:, None, :] / shifted, U.swapaxes(1, 2))


def _signs(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Signs of eigenvalues (last axis), those of the size of round-off being zero."""
    tolerance = values.shape[-1] * np.finfo(np.float64).eps * np.abs(values).max(axis=-1, keepdims=True)
    return np.sign(values) * (np.abs(values) > tolerance)


def _symmetric(blocks: NDArray[np.float64]) -> NDArray[np.float64]:
    return (blocks + blocks.swapaxes(1, 2)) / 2
