"""Sample weights of a classifier: as if an object occurred so often."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_sample_weight

from similis._utils.decision import numbers
from similis._utils.validation import show
from similis.exceptions import ProximityError

__all__ = ["check_class_weights"]


def check_class_weights(
    sample_weight: Any, S: NDArray[Any], codes: NDArray[np.intp], classes: NDArray[Any]
) -> NDArray[np.float64]:
    """One weight per object, not negative and not all zero in any class; ones for None."""
    if sample_weight is None:
        return np.ones(len(codes))
    given = numbers(sample_weight, "sample_weight")
    weight = _check_sample_weight(given, S, dtype=np.float64, ensure_non_negative=True)
    empty = np.bincount(codes, weights=weight, minlength=len(classes)) == 0
    if empty.any():
        raise ProximityError(f"sample_weight must not be all zero in a class; it is in {show(classes[empty][0])}.")
    return np.asarray(weight)
