"""Measures on categorical tables: input validation, integer codes of values, and the Counting measure.

Values are hashable and compared with ``==``, so that 1, 1.0 and True are one value and "1" is another. A missing value
(None, NaN, NA and NaT of pandas) is a separate value that equals any other missing value of its column. Marks such as
"?" are ordinary values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis import _kernels
from similis._utils.arrays import Array, Floats, Indices
from similis.base import (
    FittedArrays,
    Measure,
    Tick,
    check_table,
    choice,
    fitted_indices,
    fitted_part,
    for_each_strip,
    storable,
    verify_numbering,
)
from similis.exceptions import ProximityError
from similis.measures._vectors import TwoWayArray, both_layouts


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
    if table.dtype == object:
        for place, value in np.ndenumerate(table):
            if type(value).__hash__ is None:
                kind, (i, j) = type(value).__name__, place
                raise ProximityError(f"{who} needs rows of hashable values. Got a {kind} at row {i}, column {j}.")
    return table


def _rows_to_array(rows: Sequence[Any], who: str) -> Array:
    """Convert rows of mixed values to an array without turning numbers into text, as np.asarray would."""
    for i, row in enumerate(rows):
        if isinstance(row, (str, bytes)) or not hasattr(row, "__len__"):
            raise ProximityError(
                f"{who} needs rows of features. Expected 2D array, got 1D array instead: object {i} is "
                f"{str(row)[:40]!r}. Reshape your data, or pass [list(text) for text in X] for text."
            )
        if len(row) != len(rows[0]):
            raise ProximityError(
                f"Rows must have the same length. Row 0 has {len(rows[0])} values, row {i} has {len(row)}."
            )
    table = np.empty((len(rows), len(rows[0]) if rows else 0), dtype=object)
    for i, row in enumerate(rows):
        table[i] = list(row)
    if table.size and all(type(value) in (int, bool) for value in table.flat):
        return np.array(table.tolist())
    return table


def is_missing(value: Any) -> bool:
    """Return True for None, for values that do not equal themselves (NaN, NaT), and for NA of pandas."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):
        return True


def all_numbers(column: Array) -> bool:
    """Return True if a column holds only numbers, booleans excluded, and missing values."""
    return all(
        is_missing(value) or (isinstance(value, Real) and not isinstance(value, (bool, np.bool_)))
        for value in column.tolist()
    )


def to_floats(column: Array, problem: str, hint: str = "") -> Floats:
    """Return a column as floats, NaN where missing; `problem` and `hint` surround the message about other values."""
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
    """Integer codes of the values of each column.

    ``columns[k]`` maps the values of column k to codes 0, 1, ...; None is the key of missing values. A value without a
    code gets ``size[k]``, one more than the last code. If all values are integers of a small range, codes are offsets
    from the smallest value `low`, the same in every column.
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
        """Smallest type that holds every code and the code of unseen values."""
        most = int(self.size.max())
        return np.uint8 if most < 2**8 else np.uint16 if most < 2**16 else np.uint32

    def encode(self, table: Array) -> Array:
        if self.columns is None and table.dtype.kind in ("b", "i", "u"):
            high = self.low + int(self.size[0]) - 1
            known = (table >= self.low) & (table <= high)
            # The difference may wrap around where `known` is False; it is not used there.
            offsets = np.subtract(table, self.low, dtype=np.int64, casting="unsafe")
            return np.where(known, offsets, self.size[0]).astype(self.dtype)
        codes = np.empty(table.shape, self.dtype)
        for k, values in enumerate(self.columns or repeat(self._range(), table.shape[1])):
            codes[:, k] = _look_up(table[:, k].tolist(), values, int(self.size[k]), k)
        return codes

    def missing_code(self) -> Indices:
        """Return the code of the missing value in each column, -1 if none was seen."""
        if self.columns is None:
            return np.full(len(self.size), -1, dtype=np.intp)
        return np.array([values.get(None, -1) for values in self.columns], dtype=np.intp)

    def _range(self) -> dict[Any, int]:
        return {self.low + code: code for code in range(int(self.size[0]))}


def _distinct(column: list[Any], k: int) -> list[Any]:
    """Return the distinct values in order of appearance."""
    try:
        return list(dict.fromkeys(column))
    except TypeError:
        raise _unhashable(column, k) from None


def _look_up(column: list[Any], values: dict[Any, int], unseen: int, k: int) -> Indices:
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


FEW_FEATURES = 32  # up to this number, filling both halves of the matrix is faster than mirroring one


@dataclass
class _Coded:
    """Codes stored for the kernel and, if needed, a mask of the missing values."""

    codes: TwoWayArray
    missing: NDArray[np.float32] | None


class Counting(CategoricalMeasure):
    """Number of features with equal values, s(x, z) = #{i : x[i] = z[i]}; for sets, number of common elements.

    Parameters
    ----------
    missing : {"match", "mismatch"}, default="match"
        Count two missing values of a feature as equal or not. None, NaN and NA of pandas are missing; a mark such as
        "?" is an ordinary value.
    sets : bool, default=False
        Read objects as sets of features: lists of tokens of any length, or binary rows, in which only common ones
        count. Python sets are read as sets in any case.

    Attributes
    ----------
    domain_ : ndarray of shape (d + 1,)
        0, 1, ..., d; for sets d is the size of the largest training set.
    n_features_in_ : int
        The number d of features; not set for Python sets and lists of tokens.

    See Also
    --------
    VDM : weights differences of values by their class distributions.
    TverskyContrast : common features minus weighted differences; with alpha = beta = 0 it counts common features.
    Jaccard, Dice, Overlap : common features relative to the sizes of the sets.

    Notes
    -----
    Also called Hamming similarity ([cazzanti2007] sec. 2.1, fig. 2.1): d minus the Hamming distance. Values are
    strings, numbers or any hashable objects; a value not seen in `fit` equals no training value. The similarity of a
    set to itself is its size, so that it differs between objects; normalized similarities of sets are
    :class:`Jaccard`, :class:`Dice` and :class:`Overlap`.

    Examples
    --------
    >>> from similis import Counting
    >>> Counting().matrix([["y", "n", "?"], ["y", "y", "?"]])
    array([[3., 2.],
           [2., 3.]])
    >>> Counting()({"eyes", "nose", "mouth", "hair"}, {"hair", "mouth"})
    2.0
    """

    fitted_arrays = {
        "_codebook": fitted_part(Codebook, optional=True, n="n"),  # none for sets
    }

    _parameter_constraints = {"missing": [choice("match", "mismatch")], "sets": ["boolean"]}
    _added_params = ("sets",)  # since 1.0
    sets = False

    def __init__(self, *, missing: str = "match", sets: bool = False) -> None:
        self.missing = missing
        self.sets = sets

    def validate_objects(self, X: Any) -> Any:
        from similis.measures._sets import read_sets

        objects = X.to_numpy() if hasattr(X, "to_numpy") and not hasattr(X, "columns") else X
        listed = isinstance(objects, (list, tuple)) or (getattr(objects, "ndim", 0) == 1 and objects.dtype == object)
        if self.sets or (listed and any(isinstance(x, (set, frozenset)) for x in objects)):
            return read_sets(objects, self)
        try:
            return super().validate_objects(X)
        except ProximityError as error:
            if "same length" in str(error):
                raise ProximityError(f"{error} Pass Python sets, or sets=True, to count common elements.") from None
            raise

    def learn(self, objects: Any, y: Any) -> None:
        from similis.measures._sets import _Features

        self._features = _Features.of([objects], None) if self._are_sets(objects) else None
        if self._features is not None:
            largest = int(self._features.encode(objects, "Counting").salience.max(initial=0.0))
        else:
            self._codebook, largest = Codebook.learn(objects), objects.shape[1]
        self.domain_ = np.arange(largest + 1, dtype=np.float64)

    def verify_fitted(self) -> None:
        from similis.measures._sets import _Features

        super().verify_fitted()
        features = getattr(self, "_features", None)
        if features is not None:
            if not isinstance(features, _Features):
                raise ProximityError("Counting must have features of sets.")
            features.verify_fitted()

    def _are_sets(self, objects: Any) -> bool:
        return self.sets or isinstance(objects, list)

    def encode(self, objects: Any) -> Any:
        from similis.measures._sets import check_form

        features = getattr(self, "_features", None)  # models of 1.0 have none
        if not self.sets:
            check_form(objects, features is not None, "Counting")
        return self._encode_with(self._codebook, objects) if features is None else features.encode(objects, "Counting")

    def encode_together(self, collections: Sequence[Any]) -> list[Any]:
        # Two new objects may share a value that no training object has, so use the values of the given objects.
        if any(map(self._are_sets, collections)):
            from similis.measures._sets import _Features

            features = _Features.of(collections, None)
            return [features.encode(objects, "Counting") for objects in collections]
        if collections[0].shape[1] != collections[-1].shape[1]:
            widths = [table.shape[1] for table in collections]
            raise ProximityError(f"X and Z must have the same number of columns. Got {widths}.")
        codebook = Codebook.learn(*collections)
        return [self._encode_with(codebook, table) for table in collections]

    def _encode_with(self, codebook: Codebook, table: Array) -> _Coded:
        codes = codebook.encode(table)
        missing = None
        if self.missing == "mismatch" and (codebook.missing_code() >= 0).any():
            missing = (codes == codebook.missing_code()).astype(np.float32)
        return _Coded(both_layouts(codes), missing)

    def pairs(self, left: Any, right: Any) -> Array:
        if any(self._are_sets(side) or side.dtype.kind not in "biu" for side in (left, right)):
            return super().pairs(left, right)
        out = np.empty(len(left))
        for i in range(0, len(left), 2**16):
            out[i : i + 2**16] = np.count_nonzero(left[i : i + 2**16] == right[i : i + 2**16], axis=1)
        return out

    def block(self, A: Any, B: Any, n_jobs: int | None = None, tick: Tick = None) -> Array:
        if not isinstance(A, _Coded):
            from similis.measures._sets import _common

            out = _common(A, B, n_jobs)
            for_each_strip(lambda rows: None, len(out), n_jobs, tick)
            return out
        left, right = A.codes.rows, B.codes.columns
        out = np.empty((left.shape[0], right.shape[1]))
        mirror = B is A and right.shape[0] > FEW_FEATURES

        def work(rows: slice) -> None:
            # [cazzanti2007] Eq. (2.1) with alpha = beta = 0 -> f(x and z), the number of equal features
            _kernels.count_equal(left, right, rows.start, rows.stop, mirror, out)

        for_each_strip(work, left.shape[0], n_jobs, tick)
        if A.missing is not None and B.missing is not None:
            out -= A.missing @ B.missing.T
        return out
