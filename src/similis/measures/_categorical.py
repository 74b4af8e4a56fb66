"""Measures on categorical tables: input validation, and integer codes of values.

Values are compared with ``==``, so that 1, 1.0 and True are one value. None, NaN, NA and NaT are one missing value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

import numpy as np

from similis._utils.arrays import Array, Floats, Indices, is_missing
from similis.base import FittedArrays, Measure, check_table, fitted_indices, storable, verify_numbering
from similis.exceptions import ProximityError


class CategoricalMeasure(Measure):
    """Base of measures on rows of categorical values."""

    cells = "category"

    def validate_objects(self, X: Any) -> Array:
        return read_table(X, type(self).__name__)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.no_validation = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def read_table(X: Any, who: str) -> Array:
    """Validate rows of values; return a two-dimensional array, of dtype object if the values have several types."""
    if hasattr(X, "to_numpy") and hasattr(X, "columns"):
        X = X.to_numpy()
    elif isinstance(X, (list, tuple)):
        X = _rows_to_array(X, who)
    table: Array = check_table(X, who, dtype=None)
    for (i, j), value in np.ndenumerate(table) if table.dtype == object else ():
        try:
            hash(value)
        except TypeError:
            kind = type(value).__name__
            raise ProximityError(f"{who} needs rows of hashable values. Got a {kind} at row {i}, column {j}.") from None
    return table


def _rows_to_array(rows: Sequence[Any], who: str) -> Array:
    """Convert rows of mixed values to an array without turning numbers into text, as np.asarray would."""
    for i, row in enumerate(rows):
        if isinstance(row, (str, bytes)) or not hasattr(row, "__len__"):
            got = f"Expected 2D array, got 1D array instead: object {i} is {str(row)[:40]!r}."
            hint = "Reshape your data, or pass [list(text) for text in X] for text."
            raise ProximityError(f"{who} needs rows of features. {got} {hint}")
        if len(row) != len(rows[0]):
            got = f"Row 0 has {len(rows[0])} values, row {i} has {len(row)}."
            raise ProximityError(f"Rows must have the same length. {got}")
    table = np.empty((len(rows), len(rows[0]) if rows else 0), dtype=object)
    for i, row in enumerate(rows):
        table[i] = row.tolist() if isinstance(row, np.ndarray) else list(row)
    # NumPy would convert larger integers to floats, and booleans beside integers to integers.
    integers = set(map(type, table.flat)) in ({int}, {bool}) and -(2**63) <= table.min() <= table.max() < 2**63
    return np.array(table.tolist()) if integers else table


def to_floats(column: Array, problem: str, hint: str = "") -> Floats:
    """Return a column as floats, NaN where missing; `problem` and `hint` surround the message about other values."""
    if column.dtype.kind in "iuf":
        return column.astype(np.float64)
    numbers = np.empty(len(column))
    for i, value in enumerate(column.tolist()):
        try:
            numbers[i] = np.nan if is_missing(value) else float(value)
        except (TypeError, ValueError):
            got = f"Got {str(value)[:40]!r} at row {i}: argument must be a string or a number."
            raise ProximityError(f"{problem} {got} {hint}".rstrip()) from None
    return numbers


@storable
@dataclass
class Codebook(FittedArrays):
    """Integer codes of the values of each column; those without a code get ``size[k]``, one more than the last code.

    ``columns[k]`` maps the values of column k (None if missing) to codes. If all values are integers of a small range,
    it is None, and codes are offsets from the smallest value `low`.
    """

    fitted_arrays = {"size": fitted_indices("n")}

    size: Indices
    columns: list[dict[Any, int]] | None = None
    low: int = 0

    def verify_fitted(self) -> None:
        super().verify_fitted()
        if self.columns is None:
            if type(self.low) is not int or not self.size.size or (self.size != self.size[0]).any():
                raise ProximityError("low and size of Codebook must describe one range of integers.")
            return
        if not isinstance(self.columns, list) or len(self.columns) != len(self.size):
            raise ProximityError("columns of Codebook must be a list with one dictionary per feature.")
        for column, size in zip(self.columns, self.size.tolist()):
            verify_numbering(column, size, "columns of Codebook")

    @classmethod
    def learn(cls, *tables: Array) -> Codebook:
        d = tables[0].shape[1]
        if all(table.dtype.kind in ("b", "i", "u") for table in tables):
            low = min(int(table.min()) for table in tables)
            high = max(int(table.max()) for table in tables)
            if high - low < 255 and high < 2**63:
                return cls(np.full(d, high - low + 1, dtype=np.intp), None, low)
        columns: list[dict[Any, int]] = [{} for _ in range(d)]
        for k, values in enumerate(columns):
            for value in dict.fromkeys(chain(*(table[:, k].tolist() for table in tables))):
                values.setdefault(None if is_missing(value) else value, len(values))
        return cls(np.array([len(values) for values in columns], dtype=np.intp), columns)

    def encode(self, table: Array) -> Array:
        dtype = np.min_scalar_type(int(self.size.max()))
        if self.columns is None and table.dtype.kind in ("b", "i", "u"):
            high = self.low + int(self.size[0]) - 1
            known = (table >= self.low) & (table <= high)
            # The difference may wrap around where `known` is False; it is not used there.
            offsets = np.subtract(table, self.low, dtype=np.int64, casting="unsafe")
            return np.where(known, offsets, self.size[0]).astype(dtype)
        codes = np.empty(table.shape, dtype)
        integers = {self.low + code: code for code in range(int(self.size[0]))}
        for k, values in enumerate(self.columns or repeat(integers, table.shape[1])):
            column, unseen = table[:, k].tolist(), int(self.size[k])
            found = np.fromiter(map(values.get, column, repeat(-1)), dtype=np.intp, count=len(column))
            for i in np.flatnonzero(found < 0):
                found[i] = values.get(None, unseen) if is_missing(column[i]) else unseen
            codes[:, k] = found
        return codes

    def missing_code(self) -> Indices:
        """Return the code of the missing value in each column, -1 if none was seen."""
        columns = self.columns or [{}] * len(self.size)
        return np.array([values.get(None, -1) for values in columns], dtype=np.intp)
