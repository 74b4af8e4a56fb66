"""From objects to proximity rows: the transformer that remembers the training objects."""

from __future__ import annotations

import copy
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from similis._utils.objects import count, take
from similis._utils.params import Integral, validated_outer
from similis._utils.progress import progress_bar
from similis.exceptions import ProximityError
from similis.measures._base import Measure
from similis.measures._from_matrix import FromMatrix
from similis.measures._measuring import MeasuringTransformer

__all__ = ["Pairwise"]

# Objects that are measured against themselves, a few at a time, since the others of the strip are measured too.
STRIP = 16


class Pairwise(MeasuringTransformer):
    """Measure objects against the training objects: the first step of a pipeline that starts from objects.

    ``fit_transform`` returns the square matrix of the training objects, ``transform`` one row per new object and one
    column per training object. The measure is fitted here, on the training objects and labels alone.

    Parameters
    ----------
    measure : Measure
        How to compare two objects; its parameters are reached as ``measure__name`` in a grid.
    symmetrize : bool, default=False
        Whether to average both directions, (s(x, z) + s(z, x)) / 2. Without it an asymmetric measure stays as it
        is: row = the new or left object, column = the training object.
    n_jobs : int, optional
        How many threads (processes, for a measure written in Python) share the rows; the result is the same.
    progress : bool, default=False
        Whether to show a progress bar on the standard error stream.

    Attributes
    ----------
    measure_ : Measure
        The fitted measure.
    objects_ : array or list
        The training objects, in the order of the columns.
    n_features_in_ : int
        The number of columns, if the objects are rows of a table.
    feature_names_in_ : ndarray of str
        Their names, if the table has them.

    See Also
    --------
    FromMatrix : objects are positions in a stored matrix.

    Notes
    -----
    A pipeline that starts with this step is sliced by objects, not by matrix entries: every scikit-learn
    meta-estimator works on it, also those that fail or go wrong on a bare matrix.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> from similis import Jaccard, Pairwise
    >>> X = [{"fur", "purrs"}, {"fur", "barks"}, {"purrs"}, {"barks", "growls"}]
    >>> model = make_pipeline(Pairwise(Jaccard()), SVC(kernel="precomputed")).fit(X, ["cat", "dog", "cat", "dog"])
    >>> model.predict([{"purrs", "sleeps"}])
    array(['cat'], dtype='<U3')
    """

    _parameter_constraints = {
        "measure": [Measure],
        "symmetrize": ["boolean"],
        "n_jobs": [Integral, None],
        "progress": ["boolean"],
    }

    def __init__(
        self, measure: Measure, *, symmetrize: bool = False, n_jobs: int | None = None, progress: bool = False
    ) -> None:
        self.measure = measure
        self.symmetrize = symmetrize
        self.n_jobs = n_jobs
        self.progress = progress

    def fit(self, X: Any, y: Any = None) -> Pairwise:
        """Fit the measure and remember the objects.

        Parameters
        ----------
        X : collection of n objects
            Whatever the measure reads: a list, an array, a pandas or polars frame, row numbers.
        y : array-like of shape (n,), optional
            Labels, for measures that learn from them.

        Returns
        -------
        Pairwise
            Itself.
        """
        if callable(self.measure) and not isinstance(self.measure, Measure):
            raise ProximityError("measure must be a Measure. Got a function or a class; wrap it as FromFunction(f).")
        return self._fit(X, y)

    @validated_outer
    def _fit(self, X: Any, y: Any) -> Pairwise:
        self.objects_ = self._fit_measure(X, y)
        self._ids = _ids(X, self.objects_, self.measure_)
        self._encoded_objects()
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[Any]:
        """Fit, and measure the training objects against themselves.

        Parameters
        ----------
        X : collection of n objects
            Training objects.
        y : array-like of shape (n,), optional
            Labels, for measures that learn from them.

        Returns
        -------
        ndarray of shape (n, n)
            Equal to ``fit(X, y).transform(X)``, at half the price if the measure is symmetric.
        """
        self.fit(X, y)
        columns = self._encoded_objects()
        return self._measure(columns, columns, self._n_features_out)

    def transform(self, X: Any) -> NDArray[Any]:
        """Measure new objects against the training objects.

        Parameters
        ----------
        X : collection of m objects
            New objects.

        Returns
        -------
        ndarray of shape (m, n)
            Row = new object, column = training object.
        """
        check_is_fitted(self)
        objects = self.measure_._door(X)
        return self._measure(self.measure_._encode(objects), self._encoded_objects(), count(objects))

    def self_similarity(self, X: Any) -> NDArray[Any]:
        """Measure new objects against themselves: what their rows do not hold.

        Parameters
        ----------
        X : collection of m objects
            New objects.

        Returns
        -------
        ndarray of shape (m,)
            s(x, x) of each, or d(x, x) where the measure is a dissimilarity.
        """
        check_is_fitted(self)
        objects = self.measure_._door(X)
        strips = (objects[i : i + STRIP] for i in range(0, count(objects), STRIP))
        encoded = (self.measure_._encode_all([strip])[0] for strip in strips)
        return np.concatenate([np.diagonal(self.measure_._matrix(A, A)) for A in encoded])

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns: the ids of the training objects, or their numbers where they have none.

        Parameters
        ----------
        input_features : ignored
            Present for API consistency.

        Returns
        -------
        ndarray of str
            One name per training object.
        """
        check_is_fitted(self)
        return np.array([str(name) for name in self._ids], dtype=object)

    @property
    def _n_features_out(self) -> int:
        return count(self.objects_)

    def _measure(self, A: Any, B: Any, n_rows: int) -> NDArray[Any]:
        measure = self.measure_
        with progress_bar(n_rows, "measuring") if self.progress else nullcontext() as tick:
            S = measure._matrix(A, B, self.n_jobs, tick)
            if self.symmetrize and not measure.symmetric:
                reverse = S if B is A else measure._matrix(B, A, self.n_jobs)
                S = (S + np.swapaxes(reverse, 0, 1)) / 2
        return S

    def _compact(self, columns: NDArray[np.intp]) -> tuple[Pairwise, None]:
        """The same transformer with these training objects only; it reads objects, so any may come."""
        small = copy.copy(self)
        small.objects_ = take(self.objects_, columns)
        small._ids = [self._ids[i] for i in columns]
        small.__dict__.pop("_columns", None)
        small._encoded_objects()
        return small, None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.measure, Measure) and self.measure._keeps_float32:
            tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _ids(X: Any, objects: Any, measure: Measure) -> list[Any]:
    """What the training objects are called: ids of a stored matrix, the index of a frame, else 0, 1, 2, ..."""
    names = getattr(X, "index", None) if hasattr(X, "iloc") else None
    if isinstance(measure, FromMatrix):
        names = objects.ravel()
    if names is None or len(set(names)) < len(names):
        return list(range(count(objects)))
    return list(names)
