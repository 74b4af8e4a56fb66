"""Types of arrays in annotations, and missing values among objects."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]


def is_missing(value: Any) -> bool:
    """Return True for None, for values that do not equal themselves (NaN, NaT), and for NA of pandas."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True


def all_numbers(column: Array) -> bool:
    """Return True if a column holds only numbers, booleans excluded, and missing values."""
    return all(is_missing(v) or (isinstance(v, Real) and not isinstance(v, (bool, np.bool_))) for v in column.tolist())
