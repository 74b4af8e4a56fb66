"""Base class of measures, and collections of objects: arrays, sparse matrices or lists."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from similis._utils.arrays import Array
from similis._utils.fitted import FittedArrays
from similis._utils.threads import row_chunks
from similis.base._params import validated
from similis.base._validation import Kind
from similis.exceptions import ProximityError


def count_objects(objects: Any) -> int:
    return int(objects.shape[0]) if hasattr(objects, "shape") else len(objects)


def take_objects(objects: Any, places: Array) -> Any:
    return [objects[i] for i in places] if isinstance(objects, list) else objects[places]


Tick = Callable[[int], object] | None  # called with a number of finished rows
Work = Callable[[slice], object]  # computes a strip of rows
STRIP = 256
_FEW = 8  # pairs per block of which only the diagonal is used
_MANY = 2**13  # pairs whose objects are encoded together

# Methods that a measure written for 1.0 may define.
_RENAMED = {"_objects": "validate_objects", "_encode_all": "encode_together", "_matrix": "block"}
_RENAMED |= {f"_{name}": name for name in ("learn", "encode", "compare", "pairs")}


class Measure(FittedArrays, BaseEstimator):
    """Base class of measures: the similarity or dissimilarity of two objects.

    A subclass writes ``__call__(x, z)``, or :meth:`compare` for whole blocks, and sets `kind` and `symmetric` where the
    defaults do not hold. Objects pass through four stages, each a method that it may override: :meth:`validate_objects`
    (once per call), :meth:`learn` (in ``fit``), :meth:`encode` (once per object) and :meth:`compare` (once per block).

    Attributes
    ----------
    kind : {"similarity", "dissimilarity"}
        Class attribute: the meaning of a large value.
    symmetric : bool
        Class attribute: m(x, z) equals m(z, x) for all objects, so that half of a square matrix is computed.
    domain_ : ndarray, tuple (low, high) or None
        The values that the measure can take, the interval that contains them, or None if neither is known.
    keeps_float32 : bool
        Class attribute: two float32 collections give a float32 matrix.
    fit_only_indexes : bool
        Class attribute: :meth:`learn` stores lookup tables only, on which no value depends.
    cells : {"number", "text", "category", "mixed", "binary"} or None
        Class attribute: how :func:`similis.io.read_objects` reads cells; None: numbers if all are numbers, else text.

    Examples
    --------
    >>> from similis.measures import Measure
    >>> class SharedPrefix(Measure):
    ...     def __call__(self, x, z):
    ...         return next((i for i, (a, b) in enumerate(zip(x, z)) if a != b), min(len(x), len(z)))
    >>> SharedPrefix().matrix(["spam", "spot"])
    array([[4., 2.],
           [2., 4.]])
    """

    kind: Kind = "similarity"
    symmetric: bool = True
    domain_: Any = None
    _parameter_constraints: dict[str, list[Any]] = {}
    keeps_float32 = False
    cells: str | None = None
    fit_only_indexes = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for old, new in _RENAMED.items():
            if callable(vars(cls).get(old)) and new not in vars(cls):
                message = f"{cls.__name__}.{old} is called {new} since similis 2.0; the old name works until 3.0."
                warnings.warn(message, FutureWarning, stacklevel=2)
                setattr(cls, new, vars(cls)[old])

    @validated
    def fit(self, X: Any, y: Any = None) -> Measure:
        """Fit the measure to the training objects and, for a measure that learns from them, their labels."""
        self.learn(self.check_objects(X, reset=True), y)
        return self

    def __call__(self, x: Any, z: Any) -> float:
        """Similarity or dissimilarity of the objects x and z."""
        if type(self).compare is Measure.compare and type(self).block is Measure.block:
            raise NotImplementedError(f"{type(self).__name__} must define __call__(x, z) or compare(A, B).")
        collections = [self.validate_objects([x]), self.validate_objects([z])]
        for objects in collections:
            self._check_width(objects)
        return float(self.block(*self.encode_together(collections))[0, 0])

    def matrix(self, X: Any, Z: Any = None, *, n_jobs: int | None = None) -> Array:
        """Measure every pair of `X` and `Z` (of `X` against itself without `Z`): entry (i, j) is m(X[i], Z[j]).

        `n_jobs` is the number of threads (processes, for a measure that defines ``__call__``); the result is the same.
        """
        self._validate_params()
        collections = [self.check_objects(X)] if Z is None else [self.check_objects(X), self.check_objects(Z)]
        names = [list(objects.columns) for objects in (X, Z) if hasattr(objects, "columns")]
        if len(names) == 2 and names[0] != names[1] and set(names[0]) == set(names[1]):
            raise ProximityError(f"X and Z must have their columns in the same order. Got {names[0]} and {names[1]}.")
        encoded = self.encode_together(collections)
        return self.block(encoded[0], encoded[-1], n_jobs)

    # The protocol that a subclass may override.

    def validate_objects(self, X: Any) -> Any:
        """Convert the objects that the user passed to an array, sparse matrix or list, or raise an error."""
        return as_collection(X, type(self).__name__)

    def learn(self, objects: Any, y: Any) -> None:
        """Learn from validated training objects and their labels, or None; called by ``fit``."""

    def encode(self, objects: Any) -> Any:
        """Convert validated objects to the form that :meth:`compare` reads, with a ``shape`` and sliced by rows."""
        return objects if type(self).compare is Measure.compare else np.asarray(objects)

    def encode_together(self, collections: Sequence[Any]) -> list[Any]:
        """Encode collections that are compared with one another and not only with the training objects."""
        return [self.encode(objects) for objects in collections]

    def compare(self, A: Any, B: Any) -> Array:
        """Compute the block m(A[i], B[j]) between two encoded collections."""
        raise NotImplementedError

    def block(self, A: Any, B: Any, n_jobs: int | None = None, tick: Tick = None) -> Array:
        """Compute the matrix m(A[i], B[j]) between two encoded collections; ``B is A`` for one against itself.

        The result does not depend on `n_jobs`; `tick` is called with the number of rows after each strip.
        """
        mirror = B is A and self.symmetric
        if type(self).compare is Measure.compare:
            return self._matrix_of_calls(A, B, n_jobs, tick, mirror)
        out = np.empty((A.shape[0], B.shape[0]), self.result_dtype(A, B))

        def work(rows: slice) -> None:
            first = rows.start if mirror else 0
            out[rows, first:] = self.compare(A[rows], B[first:])

        return fill_strips(out, work, n_jobs, tick, mirror=mirror)  # the strips, and so the last bits, are fixed

    def pairs(self, left: Any, right: Any) -> Array:
        """Compute the proximities of left[0] to right[0], of left[1] to right[1], and so on, of validated objects."""
        n = count_objects(left)
        if type(self).__call__ is not Measure.__call__:
            return np.fromiter((self(left[i], right[i]) for i in range(n)), dtype=np.float64, count=n)
        out = np.empty(n)
        step = _MANY if n and hasattr(self.encode(left[:1]), "__getitem__") else _FEW
        for first in range(0, n, step):
            A, B = self.encode_together([left[first : first + step], right[first : first + step]])
            for i in range(first, min(first + step, n), _FEW):  # the diagonal of small blocks
                some = slice(i - first, i - first + _FEW)
                block = self.block(A, B) if step == _FEW else self.block(A[some], B[some])
                out[i : i + _FEW] = np.diagonal(block)
        return out

    def _matrix_of_calls(self, A: Any, B: Any, n_jobs: int | None, tick: Tick, mirror: bool) -> Array:
        """Call the measure on every pair, or with `mirror` on every unordered pair; strips run in processes."""
        n, workers = len(A), effective_n_jobs(n_jobs)
        strips = list(row_chunks(n, 4 * workers if workers > 1 else 1 if tick is None else 100))
        tasks = (delayed(_strip_of_calls)(self, A[r], B, r.start, mirror) for r in strips)
        out = np.empty((n, len(B)))
        for rows, strip in zip(strips, Parallel(n_jobs=n_jobs, return_as="generator")(tasks)):
            out[rows] = strip
            if tick is not None:
                tick(rows.stop - rows.start)
        if mirror:
            mirror_upper(out)
        return out

    def result_dtype(self, A: Any, B: Any) -> np.dtype[Any]:
        """Data type of a matrix: float32 if both collections and the measure keep it, else float64."""
        if self.keeps_float32 and A.dtype == B.dtype == np.float32:
            return np.dtype(np.float32)
        return np.dtype(np.float64)

    def check_objects(self, X: Any, reset: bool = False) -> Any:
        """Validate objects by :meth:`validate_objects`, and the number and names of columns, which `reset` stores."""
        objects = self.validate_objects(X)
        if getattr(objects, "ndim", 1) == 2 and (reset or hasattr(self, "n_features_in_")):
            validate_data(self, X if hasattr(X, "columns") else objects, reset=reset, skip_check_array=True)
        elif reset:
            for name in ("n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)
        return objects

    def verify_objects(self, objects: Any) -> None:
        """Raise an error unless objects from a model file are what :meth:`validate_objects` returns.

        A measure whose :meth:`validate_objects` does not accept its own results overrides it.
        """
        self._check_width(self.validate_objects(objects))

    def _check_width(self, objects: Any) -> None:
        n = getattr(self, "n_features_in_", None)
        if n is not None and getattr(objects, "ndim", 1) == 2 and objects.shape[1] != n:
            who, got = type(self).__name__, objects.shape[1]
            raise ProximityError(f"X has {got} features, but {who} is expecting {n} features as input.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.no_validation = True  # objects of any type
        return tags


def for_each_strip(work: Work, n_rows: int, n_jobs: int | None = None, tick: Tick = None, step: int = STRIP) -> None:
    """Call a function on strips of rows, on several threads."""
    strips = [slice(first, min(first + step, n_rows)) for first in range(0, n_rows, step)]

    def one(rows: slice) -> None:
        work(rows)
        if tick is not None:
            tick(rows.stop - rows.start)

    workers = min(effective_n_jobs(n_jobs), len(strips))
    if workers <= 1:
        list(map(one, strips))
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, strips))


def fill_strips(
    out: Array, work: Work, n_jobs: int | None, tick: Tick = None, step: int = STRIP, *, mirror: bool
) -> Array:
    """Fill a matrix by a function of strips of rows, on several threads; `mirror` copies its upper triangle."""
    for_each_strip(work, len(out), n_jobs, tick, step)
    if mirror:
        mirror_upper(out)
    return out


def fill_rows(
    out: Array, row: Callable[[int, int], Any], n_jobs: int | None, tick: Tick, step: int, *, mirror: bool
) -> Array:
    """Fill a matrix row by row; ``row(i, first)`` computes row i from column `first` on, 0 or with `mirror` i."""

    def work(rows: slice) -> None:
        for i in range(rows.start, rows.stop):
            first = i if mirror else 0
            out[i, first:] = row(i, first)

    return fill_strips(out, work, n_jobs, tick, step, mirror=mirror)


def mirror_upper(out: Array) -> None:
    """Copy the upper triangle of a square matrix to the lower triangle, in place."""
    n = out.shape[0]
    for first in range(0, n, STRIP):
        stop = min(first + STRIP, n)
        out[stop:, first:stop] = out[first:stop, stop:].T
        corner = out[first:stop, first:stop]
        np.copyto(corner, corner.T.copy(), where=np.tri(stop - first, k=-1, dtype=bool))


def as_collection(X: Any, who: str) -> Any:
    """Convert a collection of arbitrary objects to an array or a list."""
    if isinstance(X, (str, bytes)) or not (hasattr(X, "__len__") or hasattr(X, "__array__")):
        raise ProximityError(f"{who} needs a collection of objects. Got {type(X).__name__}; put it into a list.")
    if sparse.issparse(X):
        raise ProximityError(f"{who} does not read a sparse matrix. Pass X.toarray(), or a list of objects.")
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    elif not isinstance(X, (list, tuple, np.ndarray)):
        X = np.asarray(X)
    if getattr(X, "ndim", 1) == 0 or not len(X):
        raise ProximityError(f"{who} needs at least one object. Found array with 0 sample(s).")
    return list(X) if isinstance(X, tuple) else X


def _strip_of_calls(measure: Measure, left: Any, right: Any, first: int, triangle: bool) -> Array:
    """Compute rows first, first + 1, ... by single calls; with `triangle`, zeros before the diagonal."""
    out = np.zeros((len(left), len(right)))
    for i, x in enumerate(left, start=first):
        for j in range(i if triangle else 0, len(right)):
            value = measure(x, right[j])
            try:
                out[i - first, j] = float(value)
            except (TypeError, ValueError):
                who, got = type(measure).__name__, f"Got {type(value).__name__} for objects {i} and {j}."
                raise ProximityError(f"{who} must return a number for every pair. {got}") from None
    return out
