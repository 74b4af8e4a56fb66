"""Priors, costs and the decision that minimises expected cost: shared by every probabilistic classifier."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis.exceptions import ProximityError

__all__ = ["check_costs", "class_priors", "least_cost", "numbers"]


def class_priors(priors: Any, class_counts: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
    """Turn the `priors` parameter into one probability per class.

    None gives the training frequencies, ``"laplace"`` adds one to each count, an array is taken as given.
    """
    counts = np.asarray(class_counts, dtype=np.float64)
    if priors is None:
        return counts / counts.sum()
    if isinstance(priors, str):
        if priors != "laplace":
            raise ProximityError(f"priors must be None, 'laplace' or one probability per class. Got {priors!r}.")
        return (counts + 1) / (counts + 1).sum()
    given = numbers(priors, "priors")
    if given.shape != counts.shape:
        raise ProximityError(f"priors must hold one probability per class, {counts.size}. Got shape {given.shape}.")
    if not (np.isfinite(given).all() and (given >= 0).all() and given.sum() > 0):
        raise ProximityError("priors must be finite, not negative and not all zero.")
    if not np.isclose(given.sum(), 1.0):
        raise ProximityError(f"priors must sum to 1. Got a sum of {given.sum():.6g}.")
    return given / given.sum()


def check_costs(costs: Any, n_classes: int) -> NDArray[np.float64] | None:
    """Check the `costs` parameter: ``costs[f, g]`` is the cost of saying f when g is true."""
    if costs is None:
        return None
    C = numbers(costs, "costs")
    if C.shape != (n_classes, n_classes):
        raise ProximityError(f"costs must be a {n_classes} x {n_classes} matrix, one row per answer. Got {C.shape}.")
    if not np.isfinite(C).all():
        raise ProximityError("costs must be finite numbers.")
    return C


def least_cost(proba: NDArray[Any], costs: NDArray[np.float64] | None) -> NDArray[np.intp]:
    """Class code with the least expected cost; the earlier class wins a tie."""
    if costs is None:
        return np.argmax(proba, axis=1)
    # [cazzanti2007] Eq. (3.2) -> argmin_f sum_g C(f, g) P(g | x); the paper prints arg max in places.
    return np.argmin(proba @ costs.T, axis=1)


def numbers(values: Any, name: str) -> NDArray[np.float64]:
    """The numbers that the parameter `name` holds."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ProximityError(f"{name} must hold numbers, in rows of equal length. Got {str(values)[:60]!r}.") from None
