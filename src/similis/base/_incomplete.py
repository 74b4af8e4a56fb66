"""Validation of kernels, and of kernels with missing entries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from similis._utils.arrays import Array, Floats, Mask
from similis._utils.linalg import roundoff, symmetric_part_of
from similis.base._validation import check_proximity
from similis.exceptions import ProximityError


def check_kernel(A: Floats, must: str, dtype: Any = np.float64) -> None:
    """Raise an error for a matrix that is indefinite beyond round-off."""
    values = np.linalg.eigvalsh(A)
    size = float(np.abs(values).max(initial=0.0))
    if values[0] < -max(roundoff(len(A), size, dtype), 1e-7 * size):
        raise ProximityError(
            f"{must}: positive semi-definite. Got a smallest eigenvalue of {values[0]:.3g}. Clip it first, for "
            "example with SpectrumClip."
        )


def check_partial_kernel(K: ArrayLike, who: str) -> tuple[Array, Mask]:
    """Validate a matrix with missing entries and symmetrize it."""
    S = check_proximity(K, allow_missing=True)
    both = ~np.isnan(S) & ~np.isnan(S.T)
    symmetric_part_of(np.where(both, S, 0.0).astype(S.dtype), who)  # warns if the directions differ
    mean = (S + S.T) / 2
    mean = np.where(np.isnan(mean), np.where(np.isnan(S), S.T, S), mean)
    known = ~np.isnan(mean)
    if not known.any():
        raise ProximityError(f"{who} needs at least one known entry. Got a matrix of NaN only.")
    return mean, known


def measured_objects(known: Mask, who: str, instead: str) -> Mask:
    """Find the objects with known entries; raise an error unless all entries between them are known."""
    rows: Mask = np.asarray(known.any(axis=1))
    scattered = rows[:, None] & rows & ~known
    if scattered.any():
        i, j = np.argwhere(scattered)[0]
        raise ProximityError(
            f"{who} needs whole rows missing. Got NaN at row {i}, column {j}, though both objects have known entries. "
            f"Use {instead} for scattered entries, or hide one of the objects altogether."
        )
    return rows
