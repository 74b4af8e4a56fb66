"""Collections of objects as measures give them: arrays, sparse matrices or lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from similis._utils.threads import row_chunks
from similis.base._params import validated
from similis.base._validation import Kind
from similis.exceptions import ProximityError

__all__ = [
    "count_objects",
    "take_objects",
    "STRIP",
    "Measure",
    "ProgressCallback",
    "mirror_upper",
    "for_each_strip",
    "as_collection",
]


def count_objects(objects: Any) -> int:
    """How many objects a collection holds; a sparse matrix has no len."""
    return int(objects.shape[0]) if hasattr(objects, "shape") else len(objects)


def take_objects(objects: Any, places: NDArray[Any]) -> Any:
    """The objects at some places, in their order."""
    return [objects[i] for i in places] if isinstance(objects, list) else objects[places]


ProgressCallback = Callable[[int], object]
STRIP = 256
_FEW = 8  # pairs measured as a block where only its diagonal is wanted


class Measure(BaseEstimator):
    """How alike, or how different, two objects are.

    Subclass it and write ``__call__(x, z)``, or ``_compare(A, B)`` for whole blocks; set `kind` and `symmetric`
    where the defaults do not hold. Nothing else is needed for `matrix`, :class:`Pairwise`, grid search and clone.

    Attributes
    ----------
    kind : {"similarity", "dissimilarity"}
        What a large value means: alike, or different.
    symmetric : bool
        Whether m(x, z) equals m(z, x) for all objects. False promises nothing, and nothing is mirrored.
    domain_ : ndarray, tuple (low, high) or None
        The values the measure can take, the interval they lie in, or None where neither is known.

    See Also
    --------
    Pairwise : the transformer that remembers training objects.
    FromFunction : makes a measure of a function.

    Examples
    --------
    >>> from similis.measures import Measure
    >>> class SharedPrefix(Measure):
    ...     def __call__(self, x, z):
    ...         return next((i for i, (a, b) in enumerate(zip(x, z)) if a != b), min(len(x), len(z)))
    >>> SharedPrefix().matrix(["spam", "spot", "eggs"])
    array([[4., 2., 0.],
           [2., 4., 0.],
           [0., 0., 4.]])
    """

    kind: Kind = "similarity"
    symmetric: bool = True
    domain_: Any = None
    _doc_link_module = "similis"
    _parameter_constraints: dict[str, list[Any]] = {}
    _keeps_float32 = False
    _only_remembers = False  # whether fit keeps an order of symbols and the like, on which no value depends

    @validated
    def fit(self, X: Any, y: Any = None) -> Measure:
        """Learn from the training objects what the measure needs to know; most need nothing.

        Parameters
        ----------
        X : collection of n objects
            Training objects.
        y : array-like of shape (n,), optional
            Their labels, for measures that learn from labels.

        Returns
        -------
        Measure
            Itself.
        """
        self._learn(self._door(X, reset=True), y)
        return self

    def __call__(self, x: Any, z: Any) -> float:
        """How alike or different the objects x and z are."""
        if type(self)._compare is Measure._compare and type(self)._matrix is Measure._matrix:
            raise NotImplementedError(f"{type(self).__name__} must define __call__(x, z) or _compare(A, B).")
        left, right = self._objects([x]), self._objects([z])
        self._check_width(left)
        self._check_width(right)
        A, B = self._encode_all([left, right])
        return float(self._matrix(A, B)[0, 0])

    def matrix(self, X: Any, Z: Any = None, *, n_jobs: int | None = None) -> NDArray[Any]:
        """Measure every pair.

        Parameters
        ----------
        X : collection of m objects
            The left objects, one row each.
        Z : collection of n objects, optional
            The right objects, one column each; without it, X against itself.
        n_jobs : int, optional
            How many threads (processes, for a measure written in Python) share the rows; the result is the same.

        Returns
        -------
        ndarray of shape (m, n)
            ``matrix(X, Z)[i, j] == m(X[i], Z[j])``.
        """
        self._validate_params()
        collections = [self._door(X)] if Z is None else [self._door(X), self._door(Z)]
        encoded = self._encode_all(collections)
        return self._matrix(encoded[0], encoded[-1], n_jobs)

    # What a subclass may replace.

    def _objects(self, X: Any) -> Any:
        """Turn what the user passed into a collection that can be indexed, or refuse it."""
        return as_collection(X, type(self).__name__)

    def _learn(self, objects: Any, y: Any) -> None:
        """Learn from the training objects, as `_objects` returned them."""

    def _encode(self, objects: Any) -> Any:
        """Bring objects into the form in which they are compared, once; uses what fit has learned."""
        return objects if type(self)._compare is Measure._compare else np.asarray(objects)

    def _encode_all(self, collections: Sequence[Any]) -> list[Any]:
        """Encode collections that will be compared with one another, not only with the training objects."""
        return [self._encode(objects) for objects in collections]

    def _compare(self, A: Any, B: Any) -> NDArray[Any]:
        """The block between two encoded collections, row = left."""
        raise NotImplementedError

    def _matrix(self, A: Any, B: Any, n_jobs: int | None = None, tick: ProgressCallback | None = None) -> NDArray[Any]:
        """The matrix between encoded collections; `B is A` means X against itself. `tick(n)`: n rows are done."""
        if type(self)._compare is Measure._compare:
            return self._matrix_of_calls(A, B, n_jobs, tick)
        return self._matrix_of_blocks(A, B, n_jobs, tick)

    def _pairs(self, left: Any, right: Any) -> NDArray[Any]:
        """The proximity of left[0] to right[0], of left[1] to right[1], ...: collections from `_objects`."""
        n = count_objects(left)
        if type(self).__call__ is not Measure.__call__:
            return np.fromiter((self(left[i], right[i]) for i in range(n)), dtype=np.float64, count=n)
        out = np.empty(n)
        for i in range(0, n, _FEW):  # the diagonal of small blocks
            A, B = self._encode(left[i : i + _FEW]), self._encode(right[i : i + _FEW])
            out[i : i + _FEW] = np.diagonal(self._matrix(A, B))
        return out

    # The two plain ways to fill a matrix.

    def _matrix_of_calls(self, A: Any, B: Any, n_jobs: int | None, tick: ProgressCallback | None) -> NDArray[Any]:
        """Call the measure on every pair (on every unordered pair if that is enough), strips over processes."""
        mirror = B is A and self.symmetric
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

    def _matrix_of_blocks(self, A: Any, B: Any, n_jobs: int | None, tick: ProgressCallback | None) -> NDArray[Any]:
        """Compare strips of rows on threads; the strips, and so the last bits, do not depend on `n_jobs`."""
        mirror = B is A and self.symmetric
        out = np.empty((A.shape[0], B.shape[0]), self._dtype(A, B))

        def work(rows: slice) -> None:
            first = rows.start if mirror else 0
            block = self._compare(A[rows], B[first:])
            out[rows, first:] = block

        for_each_strip(work, A.shape[0], n_jobs, tick)
        if mirror:
            mirror_upper(out)
        return out

    def _dtype(self, A: Any, B: Any) -> np.dtype[Any]:
        """Type of the matrix: float32 only if both sides and the measure keep it."""
        if self._keeps_float32 and A.dtype == B.dtype == np.float32:
            return np.dtype(np.float32)
        return np.dtype(np.float64)

    # The door.

    def _door(self, X: Any, reset: bool = False) -> Any:
        """Pass objects through the measure's own check; note, or compare, the number and names of columns."""
        objects = self._objects(X)
        if getattr(objects, "ndim", 1) == 2 and (reset or hasattr(self, "n_features_in_")):
            validate_data(self, X if hasattr(X, "columns") else objects, reset=reset, skip_check_array=True)
        elif reset:
            for name in ("n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)
        return objects

    def _check_width(self, objects: Any) -> None:
        expected = getattr(self, "n_features_in_", None)
        if expected is not None and getattr(objects, "ndim", 1) == 2 and objects.shape[1] != expected:
            raise ProximityError(
                f"X has {objects.shape[1]} features, but {type(self).__name__} is expecting {expected} features as "
                "input."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.no_validation = True  # any object may come
        return tags


def for_each_strip(
    work: Callable[[slice], object],
    n_rows: int,
    n_jobs: int | None = None,
    tick: ProgressCallback | None = None,
    step: int = STRIP,
) -> None:
    """Call `work` on strips of `step` rows, on `n_jobs` threads; `work` writes each row into its own place."""
    strips = [slice(first, min(first + step, n_rows)) for first in range(0, n_rows, step)]

    def one(rows: slice) -> None:
        work(rows)
        if tick is not None:
            tick(rows.stop - rows.start)

    workers = min(effective_n_jobs(n_jobs), len(strips))
    if workers <= 1:
        for rows in strips:
            one(rows)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(one, strips))


def mirror_upper(out: NDArray[Any]) -> None:
    """Copy the upper half of a square matrix to the lower half, in place."""
    n = out.shape[0]
    for first in range(0, n, STRIP):
        stop = min(first + STRIP, n)
        out[stop:, first:stop] = out[first:stop, stop:].T
        corner = out[first:stop, first:stop]
        np.copyto(corner, corner.T.copy(), where=np.tri(stop - first, k=-1, dtype=bool))


def as_collection(X: Any, who: str) -> Any:
    """A collection of arbitrary objects as an array or a list: frames give their rows, sparse matrices stay out."""
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


def _strip_of_calls(measure: Measure, left: Any, right: Any, first: int, triangle: bool) -> NDArray[Any]:
    """Rows first, first + 1, ... by single calls; with `triangle` only from the diagonal on, zeros before it."""
    out = np.zeros((len(left), len(right)))
    for i, x in enumerate(left):
        for j in range(first + i if triangle else 0, len(right)):
            value = measure(x, right[j])
            try:
                out[i, j] = float(value)
            except (TypeError, ValueError):
                raise ProximityError(
                    f"{type(measure).__name__} must return a number for every pair. Got {type(value).__name__} "
                    f"for objects {first + i} and {j}."
                ) from None
    return out
