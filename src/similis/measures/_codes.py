"""Categorical tables: their door, and the codes that stand for values.

A value is anything that can be hashed; values are the same when Python says they are equal, so 1, 1.0 and True are
one value and "1" is another. A missing value (None, NaN, pandas' NA and NaT) is a value of its own and equals any other
missing value of its column. "?" and the like are values as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.storable import storable
from similis._utils.validation import check_table
from similis.exceptions import ProximityError
from similis.measures._base import Measure

__all__ = ["CategoricalMeasure", "Codebook", "is_missing", "read_table"]


class CategoricalMeasure(Measure):
    """A measure on rows of categorical values."""

    def _objects(self, X: Any) -> NDArray[Any]:
        return read_table(X, type(self).__name__)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.no_validation = False
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags


def read_table(X: Any, who: str) -> NDArray[Any]:
    """Rows of values as a two-dimensional array: of its own type if that is one type, else of objects."""
    if hasattr(X, "to_numpy") and hasattr(X, "columns"):
        X = X.to_numpy()
    elif isinstance(X, (list, tuple)):
        X = _rows_to_array(X, who)
    table: NDArray[Any] = check_table(X, who, dtype=None)
    if table.dtype == object:
        for place, value in np.ndenumerate(table):
            if type(value).__hash__ is None:
                kind, (i, j) = type(value).__name__, place
                raise ProximityError(f"{who} reads rows of hashable values. Got a {kind} at row {i}, column {j}.")
    return table


def _rows_to_array(rows: Sequence[Any], who: str) -> NDArray[Any]:
    """Rows of mixed values without numpy's turning numbers into text; numbers stay numbers."""
    for i, row in enumerate(rows):
        if isinstance(row, (str, bytes)) or not hasattr(row, "__len__"):
            raise ProximityError(
                f"{who} reads rows of features. Expected 2D array, got 1D array instead: object {i} is "
                f"{str(row)[:40]!r}. Reshape your data, or pass [list(text) for text in X] for text."
            )
        if len(row) != len(rows[0]):
            raise ProximityError(f"Rows must be equally long. Row 0 has {len(rows[0])} values, row {i} has {len(row)}.")
    table = np.empty((len(rows), len(rows[0]) if rows else 0), dtype=object)
    for i, row in enumerate(rows):
        table[i] = list(row)
    if table.size and all(type(value) in (int, bool) for value in table.flat):
        return np.array(table.tolist())
    return table


def is_missing(value: Any) -> bool:
    """None, or a value that does not equal itself (NaN, NaT), or does not know whether it does (NA)."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True


@storable
@dataclass
class Codebook:
    """The code of each value of each column.

    ``columns[k]`` maps the values of column k to codes 0, 1, ..., `None` standing for missing; a value without a code
    gets `size` ``[k]``, one more than the last. Where all values are integers of a small range, `low` is the smallest
    and codes are plain offsets, the same in every column.
    """

    size: NDArray[np.intp]
    columns: list[dict[Any, int]] | None = None
    low: int = 0

    @classmethod
    def learn(cls, *tables: NDArray[Any]) -> Codebook:
        """The codebook of every value that occurs in the tables."""
        d = tables[0].shape[1]
        if all(table.dtype.kind in ("b", "i", "u") for table in tables):
            low = min(int(table.min()) for table in tables)
            high = max(int(table.max()) for table in tables)
            if high - low < 255:
                return cls(np.full(d, high - low + 1, dtype=np.intp), None, low)
        columns = []
        for k in range(d):
            values: dict[Any, int] = {}
            for table in tables:
                for value in _distinct(table[:, k].tolist(), k):
                    values.setdefault(None if is_missing(value) else value, len(values))
            columns.append(values)
        return cls(np.array([len(values) for values in columns], dtype=np.intp), columns)

    @property
    def dtype(self) -> type[np.unsignedinteger[Any]]:
        """The smallest type that holds every code and the one for unseen values."""
        most = int(self.size.max())
        return np.uint8 if most < 2**8 else np.uint16 if most < 2**16 else np.uint32

    def encode(self, table: NDArray[Any]) -> NDArray[Any]:
        """Codes of a table, (n, d)."""
        if self.columns is None and table.dtype.kind in ("b", "i", "u"):
            high = self.low + int(self.size[0]) - 1
            known = (table >= self.low) & (table <= high)
            # Where `known` fails the difference may wrap around; it is not used.
            offsets = np.subtract(table, self.low, dtype=np.int64, casting="unsafe")
            return np.where(known, offsets, self.size[0]).astype(self.dtype)
        codes = np.empty(table.shape, self.dtype)
        for k, values in enumerate(self.columns or repeat(self._range(), table.shape[1])):
            codes[:, k] = _look_up(table[:, k].tolist(), values, int(self.size[k]), k)
        return codes

    def missing_code(self) -> NDArray[np.intp]:
        """Code of the missing value in each column, -1 where none was seen."""
        if self.columns is None:
            return np.full(len(self.size), -1, dtype=np.intp)
        return np.array([values.get(None, -1) for values in self.columns], dtype=np.intp)

    def _range(self) -> dict[Any, int]:
        return {self.low + code: code for code in range(int(self.size[0]))}


def _distinct(column: list[Any], k: int) -> list[Any]:
    """Distinct values in order of appearance."""
    try:
        return list(dict.fromkeys(column))
    except TypeError:
        raise _unhashable(column, k) from None


def _look_up(column: list[Any], values: dict[Any, int], unseen: int, k: int) -> NDArray[np.intp]:
    try:
        codes = np.fromiter(map(values.get, column, repeat(-1)), dtype=np.intp, count=len(column))
    except TypeError:
        raise _unhashable(column, k) from None
    for i in np.flatnonzero(codes < 0):
        codes[i] = values.get(None, unseen) if is_missing(column[i]) else unseen
    return codes


def _unhashable(column: list[Any], k: int) -> ProximityError:
    row = next(i for i, value in enumerate(column) if type(value).__hash__ is None)
    return ProximityError(
        f"Categorical values must be hashable. Got a {type(column[row]).__name__} at row {row}, column {k}: argument "
        "must be a string or a number."
    )
