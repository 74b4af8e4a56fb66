"""Weights that need nothing but a neighbour's own proximity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis.exceptions import ProximityError

__all__ = ["LOCAL_WEIGHTS", "simple_weights"]

# These read the neighbours' own block as well: similis.solvers.local_weights.
LOCAL_WEIGHTS = ("kri", "krr", "lime")


def simple_weights(
    weights: str | Callable[..., Any], indices: NDArray[np.intp], values: NDArray[Any]
) -> NDArray[np.float64] | None:
    """Weights of ranked neighbours up to a factor, zero where there is no neighbour; None where all are equal."""
    if weights == "uniform":
        return None
    known = indices >= 0
    # [chen2010] ch. 4 -> w_i = a s(x, x_i). Where a row's affinities are all zero their limit is even weights.
    found = np.where(known, _call(weights, values) if callable(weights) else values, 0.0).astype(np.float64)
    silent = ~found.any(axis=1)
    found[silent] = known[silent]
    return found


def _call(function: Callable[..., Any], values: NDArray[Any]) -> NDArray[np.float64]:
    """Apply the user's weight function and check what comes back."""
    found = np.asarray(function(values), dtype=np.float64)
    if found.shape != values.shape:
        raise ProximityError(
            f"The weights function must return one weight per neighbour, shape {values.shape}. Got {found.shape}."
        )
    bad = ~((found >= 0) & np.isfinite(found)) & ~np.isnan(values)
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise ProximityError(
            f"The weights function must return finite weights that are not negative. Got {found[i, j]} for a proximity "
            f"of {values[i, j]:.4g}."
        )
    return found
