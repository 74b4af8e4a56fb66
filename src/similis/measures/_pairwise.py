"""Transformers from objects to proximity rows: against all training objects, or against landmarks."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from similis import base
from similis._utils.arrays import Array, Indices
from similis._utils.linalg import nystrom_axes, take_symmetric_part
from similis._utils.messages import progress_bar
from similis.exceptions import ProximityError
from similis.measures._stored import FromMatrix
from similis.solvers import k_medoids


class MeasuringTransformer(base.FittedArrays, TransformerMixin, BaseEstimator):
    """Base of transformers that compare objects with stored ``objects_`` by a fitted measure, ``measure_``."""

    fitted_arrays = {"measure_": base.fitted_part(base.Measure)}

    measure: base.Measure
    objects_: Any

    @property
    def gives(self) -> base.Kind:
        """Kind of the returned rows."""
        return self.measure.kind

    def _fit_measure(self, X: Any, y: Any) -> Any:
        """Fit the measure, copy its feature attributes, and return the training objects."""
        self.measure_ = clone(self.measure).fit(X, y)
        self.__dict__.pop("_columns", None)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.measure_, name):
                setattr(self, name, getattr(self.measure_, name))
        return self.measure_.validate_objects(X)

    def _encoded_objects(self) -> Any:
        """Return the stored objects encoded for comparison; computed on demand and not saved with the model."""
        if not hasattr(self, "_columns"):
            self._columns = self.measure_.encode(self.objects_)
        return self._columns

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_columns"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.measure, base.Measure):
            inner = get_tags(self.measure)
            tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
            tags.no_validation = inner.no_validation
        return tags


STRIP = 16  # objects per block in self_similarity, which computes whole blocks and uses their diagonals


@base.estimator
class Pairwise(MeasuringTransformer):
    """Compare objects with the training objects: the first step of a pipeline that starts from objects.

    The measure is fitted on the training objects and labels only. A pipeline that starts with this step is sliced by
    objects, not by matrix entries, so that every scikit-learn meta-estimator works on it.

    Parameters
    ----------
    measure : Measure
        Measure of two objects; its parameters are ``measure__name`` in a grid.
    symmetrize : bool, default=False
        Average both directions, (s(x, z) + s(z, x)) / 2; else a row is of the new or left object.
    n_jobs : int, optional
        Number of threads (processes, for a measure written in Python); the result does not depend on it.
    progress : bool, default=False
        Show a progress bar on the standard error stream.

    Attributes
    ----------
    measure_ : Measure
        The fitted measure.
    objects_ : array or list
        The training objects, in the order of the columns.

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

    measure: base.Measure = field(kw_only=False, metadata={"constraints": [base.Measure]})
    symmetrize: bool = base.param(False, "boolean")
    n_jobs: int | None = base.param(None, base.Integral, None)
    progress: bool = base.param(False, "boolean")

    def _validate_params(self) -> None:
        if callable(self.measure) and not isinstance(self.measure, base.Measure):
            raise ProximityError("measure must be a Measure. Got a function or a class; wrap it in FromFunction(f).")
        super()._validate_params()

    @base.validated_outer
    def fit(self, X: Any, y: Any = None) -> Pairwise:
        """Fit the measure and store the objects.

        Parameters
        ----------
        X : collection of n objects
            Objects of the type that the measure expects: a list, an array, a pandas or polars frame, row numbers.
        y : array-like of shape (n,), optional
            Labels, for measures that learn from them.
        """
        self.objects_ = self._fit_measure(X, y)
        # Names of the objects: ids of a stored matrix, the index of a frame, else 0, 1, 2, ...
        names: Any = getattr(X, "index", None) if hasattr(X, "iloc") else None
        if isinstance(self.measure_, FromMatrix):
            names = self.objects_.ravel()
        distinct = names is not None and len(set(names)) == len(names)
        self._ids = list(names if distinct else range(self._n_features_out))
        self._encoded_objects()
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Equal to ``fit(X, y).transform(X)``, at half the cost if the measure is symmetric."""
        columns = self.fit(X, y)._encoded_objects()
        return self._measure(columns, columns, self._n_features_out)

    def transform(self, X: Any) -> Array:
        """Compare m new objects with the n training objects: one row per new object, shape (m, n)."""
        check_is_fitted(self)
        objects = self.measure_.check_objects(X)
        return self._measure(self.measure_.encode(objects), self._encoded_objects(), base.count_objects(objects))

    @property
    def path_params(self) -> tuple[str, ...]:
        """Parameters of which :meth:`fit_transform_path` takes several values: those that the measure names."""
        names = () if self.symmetrize else getattr(self.measure, "path_params", ())
        return tuple(f"measure__{name}" for name in names)

    def fit_transform_path(self, X: Any, y: Any, Z: Any, points: list[dict[str, Any]]) -> Iterator[tuple[Array, Array]]:
        """Yield what ``fit_transform(X)`` and ``transform(Z)`` return for each point, values of `path_params`."""
        for point in points:
            clone(self).set_params(**point).measure._validate_params()
        measure = self.fit(X, y).measure_
        columns, rows = self._encoded_objects(), measure.encode(measure.check_objects(Z))
        values = [{name.removeprefix("measure__"): value for name, value in point.items()} for point in points]
        yield from zip(*(measure.block_path(A, columns, values, self.n_jobs) for A in (columns, rows)))

    def self_similarity(self, X: Any) -> Array:
        """Compute s(x, x), or d(x, x), of new objects, which their rows do not contain."""
        check_is_fitted(self)
        objects, found = self.measure_.check_objects(X), []
        for i in range(0, base.count_objects(objects), STRIP):
            (A,) = self.measure_.encode_together([objects[i : i + STRIP]])
            found.append(np.diagonal(self.measure_.block(A, A)))
        return np.concatenate(found)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns: the ids of the training objects, or their numbers."""
        check_is_fitted(self)
        return np.array([str(name) for name in self._ids], dtype=object)

    @property
    def _n_features_out(self) -> int:
        return base.count_objects(self.objects_)

    def _measure(self, A: Any, B: Any, n_rows: int) -> Array:
        measure = self.measure_
        with progress_bar(n_rows, "measuring") if self.progress else nullcontext() as tick:
            S = measure.block(A, B, self.n_jobs, tick)
            if self.symmetrize and not measure.symmetric:
                reverse = S if B is A else measure.block(B, A, self.n_jobs)
                S = (S + np.swapaxes(reverse, 0, 1)) / 2
        return S

    def select_columns(self, columns: Indices) -> tuple[Pairwise, None]:
        """Restrict the training objects to these; the input is objects, so that no columns need be selected."""
        small = copy.copy(self)
        small.objects_ = base.take_objects(self.objects_, columns)
        small._ids = [self._ids[i] for i in columns]
        small.__dict__.pop("_columns", None)
        small._encoded_objects()
        return small, None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.measure, base.Measure) and self.measure.keeps_float32:
            tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


SAMPLE = 2000  # number of objects among which medoids are searched


@base.estimator
class PairwiseLandmarks(ClassNamePrefixFeaturesOutMixin, MeasuringTransformer):
    """Compare objects with a few landmarks among the training objects: features for any linear classifier.

    n objects and k landmarks need n k comparisons. Features are the proximities s to the landmarks, or Nystrom
    coordinates z = s U |l|^(-1/2) with W = U diag(l) U' the similarities among the landmarks. Then Z Z' approximates
    the clipped or flipped matrix ([chen2010] sec. 2.1), and Z diag(signature) Z' the matrix itself.

    Parameters
    ----------
    measure : Measure
        Measure of two objects; fitted on all training objects.
    n_landmarks, spectrum, random_state
        As in :class:`similis.Landmarks`, which does the same for a precomputed matrix.
    selection : {"random", "kcenter", "medoids"}, default="random"
        Random objects; a random one, then repeatedly the one least similar to those selected; or medoids of clusters
        among 2,000 random objects.
    output : {"features", "nystrom"}, default="features"
        Proximities to the landmarks, or coordinates. Coordinates need similarities.
    n_jobs : int, optional
        As in :class:`Pairwise`.

    Attributes
    ----------
    measure_ : Measure
        The fitted measure.
    objects_ : array or list
        The landmarks, the only objects that are stored.
    landmark_indices_ : ndarray of int
        Their positions among the training objects.
    components_, signature_, asymmetry_
        As in :class:`similis.Landmarks`; the identity, ones and 0 for ``features``.

    Examples
    --------
    >>> from similis import Counting, PairwiseLandmarks
    >>> from similis.datasets import load_votes
    >>> X, y = load_votes(return_X_y=True)
    >>> PairwiseLandmarks(Counting(), n_landmarks=20, random_state=0).fit_transform(X, y).shape
    (435, 20)
    """

    fitted_arrays = {
        "landmark_indices_": base.fitted_indices("k"),
        "components_": base.fitted_reals("c", "k"),
        "signature_": base.fitted_reals("c"),
    }

    measure: base.Measure = field(kw_only=False, metadata={"constraints": [base.Measure]})
    n_landmarks: int = base.param(200, base.at_least(1))
    selection: str = base.param("random", base.choice("random", "kcenter", "medoids"))
    output: str = base.param("features", base.choice("features", "nystrom"))
    spectrum: str = base.param("clip", base.choice("clip", "flip"))
    random_state: Any = base.param(None, "random_state")
    n_jobs: int | None = base.param(None, base.Integral, None)

    @base.validated_outer
    def fit(self, X: Any, y: Any = None) -> PairwiseLandmarks:
        """Fit the measure, choose the landmarks and find the axes; parameters as in :meth:`Pairwise.fit`."""
        if self.output == "nystrom" and self.measure.kind == "dissimilarity":
            wrong = f"{type(self.measure).__name__} returns dissimilarities"
            hint = "Use output='features', or a measure of similarity."
            raise ProximityError(f"output='nystrom' needs similarities, but {wrong}. {hint}")
        objects = self._fit_measure(X, y)
        self.landmark_indices_ = self._choose(objects)
        self.objects_ = base.take_objects(objects, self.landmark_indices_)
        k, self.asymmetry_ = len(self.landmark_indices_), 0.0
        if self.output == "features":
            self.components_, self.signature_ = np.eye(k), np.ones(k)
        else:
            columns = self._encoded_objects()
            W = take_symmetric_part(self.measure_.block(columns, columns, self.n_jobs), self)
            self.components_, self.signature_ = nystrom_axes(W, self.spectrum)
        return self

    def transform(self, X: Any) -> Array:
        """Compute the features, (m, n_components), of m objects."""
        check_is_fitted(self)
        rows = self.measure_.encode(self.measure_.check_objects(X))
        s = self.measure_.block(rows, self._encoded_objects(), self.n_jobs)  # (m, n_landmarks)
        return s if self.output == "features" else s @ self.components_.T  # z = s U |l|^(-1/2)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _choose(self, objects: Any) -> Indices:
        n, measure = base.count_objects(objects), self.measure_
        k = min(n, self.n_landmarks)
        rng = check_random_state(self.random_state)
        sign = -1 if measure.kind == "dissimilarity" else 1
        if self.selection == "random" or k == n:
            return np.sort(rng.permutation(n)[:k])
        if self.selection == "medoids":
            sample = np.sort(rng.permutation(n)[: max(SAMPLE, k)])
            encoded = measure.encode(base.take_objects(objects, sample))
            S = measure.block(encoded, encoded, self.n_jobs)
            return np.sort(sample[k_medoids(S, k, sign=sign, n_init=1, random_state=rng).medoids])
        # Farthest first, one column of the matrix at a time, so that memory holds n numbers.
        encoded = measure.encode(objects)
        chosen, nearest = [int(rng.randint(n))], np.full(n, -np.inf)
        while len(chosen) < k:
            landmark = measure.encode(base.take_objects(objects, np.array(chosen[-1:])))
            nearest = np.maximum(nearest, sign * measure.block(encoded, landmark, self.n_jobs)[:, 0])
            nearest[chosen[-1]] = np.inf
            chosen.append(int(np.argmin(nearest)))
        return np.array(chosen)

    def select_columns(self, columns: Indices) -> tuple[PairwiseLandmarks, None]:
        """Restrict the output to some columns; features need only their landmarks, coordinates need all of them."""
        small = copy.copy(self)
        small.__dict__.pop("_columns", None)
        small.components_, small.signature_ = self.components_[columns], self.signature_[columns]
        if self.output == "features":
            small.landmark_indices_ = self.landmark_indices_[columns]
            small.objects_ = base.take_objects(self.objects_, columns)
            small.components_ = np.eye(len(columns))
        return small, None
