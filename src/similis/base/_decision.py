"""Priors, costs, decisions of least expected cost, and numbers of neighbors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _check_sample_weight

from similis._utils.arrays import Array, Floats, Indices
from similis._utils.messages import warn_user
from similis.base._params import at_least
from similis.base._validation import quote
from similis.exceptions import ProximityError


def class_priors(priors: Any, class_counts: ArrayLike) -> Floats:
    """Turn the `priors` parameter into one probability per class.

    Parameters
    ----------
    priors : None, "laplace" or array-like of shape (G,)
        None gives the training frequencies, "laplace" adds one to each count, an array is used as it is.
    class_counts : array-like of shape (G,)
        Training objects of each class.

    Examples
    --------
    >>> from similis.base import class_priors
    >>> class_priors("laplace", [1, 2])
    array([0.4, 0.6])
    """
    counts = np.asarray(class_counts, dtype=np.float64)
    if isinstance(priors, str) and priors != "laplace":
        raise ProximityError(f"priors must be None, 'laplace' or one probability per class. Got {priors!r}.")
    if priors is None or isinstance(priors, str):
        smoothed = counts if priors is None else counts + 1
        return smoothed / smoothed.sum()
    given = as_float_array(priors, "priors")
    if given.shape != counts.shape:
        raise ProximityError(f"priors must hold one probability per class, {counts.size}. Got shape {given.shape}.")
    if not (np.isfinite(given).all() and (given >= 0).all() and given.sum() > 0):
        raise ProximityError("priors must be finite, not negative and not all zero.")
    if not np.isclose(given.sum(), 1.0):
        raise ProximityError(f"priors must sum to 1. Got a sum of {given.sum():.6g}.")
    return given / given.sum()


def check_costs(costs: Any, n_classes: int) -> Floats | None:
    """Validate the `costs` parameter.

    Parameters
    ----------
    costs : array-like of shape (G, G) or None
        ``costs[f, g]`` is the cost of predicting f when g is true. None is returned as None.
    n_classes : int
        Number of classes G.
    """
    if costs is None:
        return None
    C, G = as_float_array(costs, "costs"), n_classes
    if C.shape != (G, G):
        raise ProximityError(f"costs must be a {G} x {G} matrix, one row per predicted class. Got {C.shape}.")
    if not np.isfinite(C).all():
        raise ProximityError("costs must be finite numbers.")
    return C


def least_cost(proba: Array, costs: Floats | None) -> Indices:
    """Choose the class with the least expected cost; the earlier class wins a tie."""
    if costs is None:
        return np.argmax(proba, axis=1)
    # [cazzanti2007] Eq. (3.2) -> argmin_f sum_g C(f, g) P(g | x); the paper prints arg max in places.
    return np.argmin(proba @ costs.T, axis=1)


def as_float_array(values: Any, name: str) -> Floats:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ProximityError(f"{name} must hold numbers, in rows of equal length. Got {str(values)[:60]!r}.") from None


def check_class_weights(sample_weight: Any, S: Array, codes: Indices, classes: Array) -> Floats:
    if sample_weight is None:
        return np.ones(len(codes))
    given = as_float_array(sample_weight, "sample_weight")
    weight = _check_sample_weight(given, S, dtype=np.float64, ensure_non_negative=True)
    empty = np.bincount(codes, weights=weight, minlength=len(classes)) == 0
    if empty.any():
        raise ProximityError(f"sample_weight must not be all zero in a class; it is in {quote(classes[empty][0])}.")
    return np.asarray(weight)


def as_integer_k(n_neighbors: Any) -> int:
    if not at_least(1).is_satisfied_by(n_neighbors):
        raise ProximityError(f"n_neighbors must be an integer of at least 1. Got {quote(n_neighbors)[:60]}.")
    return int(n_neighbors)


def clip_n_neighbors(n: int, n_neighbors: int) -> int:
    """Clip the number of neighbors to the number of training objects, with a warning."""
    if n_neighbors > n:
        message = "n_neighbors exceeds the number of training objects and is clipped to it (see n_neighbors_)."
        warn_user(message, UserWarning)
    return min(int(n_neighbors), n)


def max_neighbors(n: int, test_fold: Indices | None) -> int:
    """Count the candidates for neighbors: all objects, or those outside the smallest fold."""
    return n if test_fold is None else n - int(np.bincount(test_fold).min())
