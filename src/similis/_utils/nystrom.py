"""Coordinates from the similarities to a few landmarks, which may be indefinite: Nystrom's method with a signature."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.linalg import eigen_symmetric, fix_signs

__all__ = ["nystrom_axes"]


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
