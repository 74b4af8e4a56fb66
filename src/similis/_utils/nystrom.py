"""Coordinates from the similarities to a few landmarks, which may be indefinite: Nystrom's method with a signature."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.linalg import asymmetry, eigen_symmetric, symmetric_part
from similis._utils.warn import warn_user
from similis.exceptions import AsymmetryWarning

__all__ = ["fix_signs", "nystrom_axes", "symmetric_part_of", "take_symmetric_part"]


def nystrom_axes(W: NDArray[Any], spectrum: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Axes |l|^(-1/2) U' of W = U diag(l) U', the largest |l| first, and the sign of each l.

    "clip" leaves out the axes with a negative eigenvalue, "flip" keeps them; those that are zero up to round-off go in
    any case. One axis of zeros stands for the origin where none is left.
    """
    system = eigen_symmetric(W)
    l, zero = system.values, system.tolerance  # noqa: E741
    order = np.argsort(-np.abs(l), kind="stable")
    order = order[l[order] > zero if spectrum == "clip" else np.abs(l[order]) > zero]
    if not order.size:
        return np.zeros((1, len(W)), dtype=W.dtype), np.ones(1, dtype=W.dtype)
    return (fix_signs(system.vectors[:, order]) / np.sqrt(np.abs(l[order]))).T, np.sign(l[order])


def fix_signs(U: NDArray[Any]) -> NDArray[Any]:
    """Columns with their largest entry positive: the same axes whatever LAPACK chose."""
    if not U.size:
        return U
    largest = U[np.abs(U).argmax(axis=0), np.arange(U.shape[1])]
    return U * np.where(largest < 0, -1, 1).astype(U.dtype)


def symmetric_part_of(S: NDArray[Any], who: str, ratio: float | None = None) -> NDArray[Any]:
    """(S + S') / 2, with one warning when that changes S beyond round-off."""
    ratio = asymmetry(S) if ratio is None else ratio
    if ratio > 100 * np.finfo(S.dtype).eps:
        warn_user(
            f"{who} uses the symmetric part of an asymmetric matrix (asymmetry {ratio:.2g} of 1). Symmetrise it first "
            "to say that this is meant: Symmetrize in a pipeline, or symmetrize(S).",
            AsymmetryWarning,
        )
    return symmetric_part(S)


def take_symmetric_part(S: NDArray[Any], estimator: Any) -> NDArray[Any]:
    """:func:`symmetric_part_of` S, with ``estimator.asymmetry_``."""
    estimator.asymmetry_ = asymmetry(S)
    return symmetric_part_of(S, type(estimator).__name__, estimator.asymmetry_)
