"""A table of mixed columns, whatever brought it: a frame, an array, a list of rows."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from similis._utils.entries import LARGEST
from similis._utils.validation import show
from similis.exceptions import ProximityError

__all__ = ["Table"]


class Table:
    """Columns of a table, checked against those an estimator was fitted on."""

    def __init__(self, X: Any, estimator: Any, *, reset: bool) -> None:
        self._who = type(estimator).__name__
        if sparse.issparse(X):
            raise ProximityError(f"{self._who} reads a table of columns; sparse input is not supported. Use toarray().")
        if hasattr(X, "columns") and not callable(X.columns):
            self.names: list[Any] = list(X.columns)
            self.columns = [np.asarray(X[name]) for name in self.names]
        else:
            X = np.asarray(X) if hasattr(X, "dtype") else np.asarray(X, dtype=object)
            if X.ndim != 2:
                raise ProximityError(
                    f"{self._who} reads tables: Expected 2D array, got {X.ndim}D array instead. Reshape your data: one "
                    "row per object."
                )
            self.names, self.columns = list(range(X.shape[1])), list(X.T)
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        if 0 in X.shape:
            raise ProximityError(
                f"{self._who} needs rows and columns. Found array with {X.shape[0]} sample(s) and {X.shape[1]} "
                f"feature(s) (shape={X.shape}) while a minimum of 1 is required."
            )

    def __len__(self) -> int:
        return len(self.columns[0])

    def split(self, numeric: Any, categorical: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Numbers of the numeric and of the categorical columns."""
        if numeric is None and categorical is None:
            is_number = [_holds_numbers(column) for column in self.columns]
            return np.flatnonzero(is_number), np.flatnonzero(~np.array(is_number))
        everything = np.arange(len(self.columns))
        if numeric is None:
            return np.setdiff1d(everything, self._places(categorical)), self._places(categorical)
        if categorical is None:
            return self._places(numeric), np.setdiff1d(everything, self._places(numeric))
        return self._places(numeric), self._places(categorical)

    def part(self, columns: NDArray[np.intp]) -> NDArray[Any]:
        """Some columns as an array of objects."""
        objects = np.empty((len(self), len(columns)), dtype=object)
        for i, column in enumerate(columns):
            objects[:, i] = self.columns[column]
        return objects

    def numbers(self, columns: NDArray[np.intp]) -> NDArray[np.float64]:
        """Some columns as finite numbers."""
        out = np.empty((len(self), len(columns)))
        for i, column in enumerate(columns):
            try:
                if np.iscomplexobj(self.columns[column]):
                    raise TypeError
                out[:, i] = self.columns[column].astype(np.float64)
            except (TypeError, ValueError):
                raise ProximityError(
                    f"{self._who} needs numbers in column {show(self.names[column])}, which is numeric: argument must "
                    "be a string or a number. List it in `categorical` if it is not."
                ) from None
            self._refuse(
                out[:, i], ~np.isfinite(out[:, i]), column, "finite numbers, neither NaN nor inf", "Fill or drop"
            )
            wide = np.abs(out[:, i]) > LARGEST[8]
            self._refuse(out[:, i], wide, column, f"numbers of at most {LARGEST[8]:g}", "Divide")
        return out

    def _refuse(self, values: NDArray[Any], wrong: NDArray[np.bool_], column: int, needed: str, advice: str) -> None:
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ProximityError(
                f"{self._who} needs {needed}; column {show(self.names[column])} holds {values[row]} in row {row}. "
                f"{advice} them first."
            )

    def _places(self, told: Any) -> NDArray[np.intp]:
        places = []
        for name in told:
            if name in self.names:
                places.append(self.names.index(name))
            elif isinstance(name, int | np.integer) and 0 <= name < len(self.names):
                places.append(int(name))
            else:
                raise ProximityError(f"{self._who} found no column {show(name)}. There are {len(self.names)} columns.")
        return np.array(places, dtype=np.intp)


def _holds_numbers(column: NDArray[Any]) -> bool:
    if column.dtype.kind in "iuf":
        return True
    return column.dtype.kind == "O" and all(isinstance(v, Real) and not isinstance(v, bool | np.bool_) for v in column)
