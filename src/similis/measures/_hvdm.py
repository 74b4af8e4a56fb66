"""The heterogeneous value difference metric for tables of categorical and numeric columns."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from similis._utils.params import between, choice, validated
from similis._utils.validation import check_labels
from similis.exceptions import ProximityError
from similis.measures._base import Tick
from similis.measures._codes import CategoricalMeasure, is_missing
from similis.measures._minkowski import power_distances
from similis.measures._value_difference import ValueTables
from similis.measures._vectors import Laid, lay

__all__ = ["HVDM"]


@dataclass
class _Mixed:
    """Encoded rows: codes of the categorical part, scaled numbers with 0 for missing, and which are missing."""

    codes: Laid | None
    numbers: Laid
    missing: NDArray[np.bool_]


class HVDM(CategoricalMeasure):
    """Heterogeneous value difference metric: VDM on categorical columns, scaled differences on numeric ones.

    d(x, z)^2 = sum over categorical i of sum_g |P(Y = g | x[i]) - P(Y = g | z[i])|^2
    + sum over numeric i of ((x[i] - z[i]) / (4 sigma_i))^2, sigma_i the standard deviation in training.

    Parameters
    ----------
    categorical : array-like of column numbers, column names or booleans, optional
        The categorical columns. Without it, those that hold anything but numbers; in a frame, those whose type is
        not numeric (text, category, bool).
    smoothing : float, default=0.0
        Added to each count of (value, class).
    unseen : {"zero", "prior"}, default="zero"
        What a categorical value that did not occur in training adds, as in :class:`VDM`.

    Attributes
    ----------
    categorical_ : ndarray of bool
        Which columns are categorical.
    mean_, scale_ : ndarray
        Mean and 4 sigma_i of each numeric column.
    classes_ : ndarray
        The labels seen; only if there are categorical columns, which need them.
    domain_ : tuple
        An interval that holds all values.
    n_features_in_ : int
        The number of columns.

    See Also
    --------
    VDM : for categorical columns only.

    Notes
    -----
    The heterogeneous metrics that [cazzanti2007] sec. 2.1 mentions, in the form of Wilson and Martinez (1997), with
    two departures that keep equal rows at distance zero: a missing number differs from a number by 1 (the length
    of four standard deviations) but not from another missing number, and a missing category is a category of its own.
    A numeric column that is constant in training adds nothing.

    Examples
    --------
    >>> from similis import HVDM
    >>> rows, y = [["red", 1.0], ["red", 3.0], ["blue", 1.0]], [0, 0, 1]
    >>> HVDM().fit(rows, y).matrix(rows).round(3)
    array([[0.   , 0.53 , 1.414],
           [0.53 , 0.   , 1.51 ],
           [1.414, 1.51 , 0.   ]])
    """

    kind = "dissimilarity"
    _parameter_constraints = {
        "categorical": ["array-like", None],
        "smoothing": [between(0, None, "left")],
        "unseen": [choice("zero", "prior")],
    }

    def __init__(self, *, categorical: Any = None, smoothing: float = 0.0, unseen: str = "zero") -> None:
        self.categorical = categorical
        self.smoothing = smoothing
        self.unseen = unseen

    @validated
    def fit(self, X: Any, y: Any = None) -> HVDM:
        """Learn the value differences and the scales.

        Parameters
        ----------
        X : table of n rows
            Training objects.
        y : array-like of shape (n,)
            Their labels; needed if any column is categorical.

        Returns
        -------
        HVDM
            Itself.
        """
        objects = self._door(X, reset=True)
        self.categorical_ = self._which_categorical(X, objects)
        if self.categorical_.any():
            self.classes_, codes = check_labels(
                y, len(objects), who="HVDM with categorical columns learns from class labels and", min_classes=1
            )
            self._tables = ValueTables.learn(
                objects[:, self.categorical_], codes, len(self.classes_), 2.0, self.smoothing, self.unseen
            )
        numbers = np.ma.masked_invalid(self._numbers(objects))
        if np.ma.filled(np.abs(numbers), 0.0).max(initial=0.0) > 1e140:
            raise ProximityError("HVDM needs numbers whose squares can be added up. Divide them by a constant.")
        self.mean_ = np.ma.filled(numbers.mean(axis=0), 0.0)
        self.scale_ = 4 * np.ma.filled(numbers.std(axis=0), 0.0)
        highest = np.sqrt(self._tables.largest) if self.categorical_.all() else np.inf
        self.domain_ = (0.0, float(highest))
        return self

    def _encode(self, objects: NDArray[Any]) -> _Mixed:
        check_is_fitted(self)
        codes = self._tables.encode(objects[:, self.categorical_]) if self.categorical_.any() else None
        informative = self.scale_ > 0
        numbers = (self._numbers(objects) - self.mean_)[:, informative] / self.scale_[informative]
        missing = np.isnan(numbers)
        return _Mixed(codes, lay(np.where(missing, 0.0, numbers)), missing)

    def _matrix(self, A: _Mixed, B: _Mixed, n_jobs: int | None = None, tick: Tick | None = None) -> NDArray[Any]:
        squares = power_distances(A.numbers, B.numbers, 2.0, False, n_jobs, None if A.codes else tick)
        if A.missing.any() or B.missing.any():
            squares += _one_side_missing(A, B)
        if A.codes is not None and B.codes is not None:
            squares += self._tables.compare(A.codes, B.codes, n_jobs, tick)
        return np.sqrt(squares, out=squares)

    def _which_categorical(self, X: Any, objects: NDArray[Any]) -> NDArray[np.bool_]:
        """The categorical columns as a mask."""
        d = objects.shape[1]
        if self.categorical is None:
            if hasattr(X, "select_dtypes"):
                return ~np.isin(np.asarray(X.columns), np.asarray(X.select_dtypes("number").columns))
            if objects.dtype.kind in "iuf":
                return np.zeros(d, dtype=bool)
            return np.array([not _all_numbers(objects[:, k]) for k in range(d)])
        chosen = np.asarray(self.categorical)
        if chosen.dtype.kind == "b" and chosen.shape == (d,):
            return chosen.copy()
        if chosen.dtype.kind in "UO" and hasattr(self, "feature_names_in_"):
            chosen = np.flatnonzero(np.isin(self.feature_names_in_, chosen))
            if len(chosen) != len(np.unique(np.asarray(self.categorical))):
                unknown = set(np.asarray(self.categorical).tolist()) - set(self.feature_names_in_)
                raise ProximityError(f"categorical names columns that X does not have: {sorted(unknown)}.")
        if chosen.size and (chosen.dtype.kind not in "iu" or chosen.min() < -d or chosen.max() >= d):
            raise ProximityError(
                f"categorical must hold column numbers below {d}, {d} booleans, or column names of a frame. "
                f"Got {self.categorical!r}."
            )
        mask = np.zeros(d, dtype=bool)
        mask[chosen.astype(np.intp)] = True
        return mask

    def _numbers(self, objects: NDArray[Any]) -> NDArray[np.float64]:
        """The numeric columns as floats, NaN where missing."""
        columns = np.flatnonzero(~self.categorical_)
        numbers = np.empty((len(objects), len(columns)))
        if objects.dtype.kind in "iuf":
            numbers[:] = objects[:, columns]
        else:
            for place, k in enumerate(columns):
                numbers[:, place] = _to_floats(objects[:, k].tolist(), int(k))
        if np.isinf(numbers).any():
            row, place = np.argwhere(np.isinf(numbers))[0]
            raise ProximityError(f"HVDM needs finite numbers. Got inf at row {row}, column {columns[place]}.")
        return numbers


def _all_numbers(column: NDArray[Any]) -> bool:
    return all(
        is_missing(value) or (isinstance(value, Real) and not isinstance(value, (bool, np.bool_)))
        for value in column.tolist()
    )


def _to_floats(column: list[Any], k: int) -> list[float]:
    numbers = []
    for i, value in enumerate(column):
        try:
            numbers.append(np.nan if is_missing(value) else float(value))
        except (TypeError, ValueError):
            raise ProximityError(
                f"HVDM reads column {k} as numbers. Got {str(value)[:40]!r} at row {i}: argument must be a string or a "
                "number. Name the categorical columns with categorical=..."
            ) from None
    return numbers


def _one_side_missing(A: _Mixed, B: _Mixed) -> NDArray[np.float64]:
    """What to add to squares taken with 0 in place of missing numbers, so that missing against number makes 1."""
    rest_of_A = (1 - A.numbers.rows**2) * ~A.missing  # (m, d)
    right_missing = rest_of_A @ B.missing.T  # (m, n)
    if B is A:
        return right_missing + right_missing.T  # exactly symmetric
    rest_of_B = (1 - B.numbers.rows**2) * ~B.missing  # (n, d)
    return right_missing + A.missing @ rest_of_B.T
