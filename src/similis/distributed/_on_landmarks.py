"""Methods fitted on some of the training objects, the landmarks."""

from __future__ import annotations

import copy
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import Tags, _safe_indexing, check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from similis import base
from similis._utils.arrays import Array, Floats, Indices
from similis.exceptions import ProximityError


@base.validated_function({"y": ["array-like"], "n_landmarks": [base.at_least(1)], "random_state": ["random_state"]})
def choose_landmarks(y: ArrayLike, n_landmarks: int, random_state: Any = None) -> Indices:
    """Draw objects at random, classes in proportion, each with at least one object where possible; sorted indices.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels. Values that are all different, as those of a regression, give a simple random sample.
    n_landmarks : int
        Number of objects; all of them if there are not more.
    random_state : int, RandomState or None, default=None
        Random seed.

    Examples
    --------
    >>> from similis.distributed import choose_landmarks
    >>> sum(choose_landmarks(["a"] * 8 + ["b"] * 2, 5, 0) < 8)
    np.int64(4)
    """
    n = base.count_objects(y)
    if np.asarray(y).dtype.kind in "iuf":
        labels = np.unique(column_or_1d(y), return_inverse=True)[1]  # a target may have as many values as objects
    else:
        labels = base.check_labels(y, n, who="choose_landmarks", min_classes=1)[1]
    if n <= n_landmarks:
        return np.arange(n)
    order = check_random_state(random_state).permutation(n)
    counts = np.bincount(labels)
    depth = np.empty(n)  # the first object of each class at 0, the others at equal steps below 1
    for g in np.flatnonzero(counts):
        depth[labels[order] == g] = np.arange(counts[g]) / counts[g]
    return np.sort(order[np.argsort(depth, kind="stable")[:n_landmarks]])


@base.estimator
class OnLandmarks(base.FittedArrays, MetaEstimatorMixin, BaseEstimator):
    """Fit a method on some of the training objects; new objects are compared with these landmarks only.

    For a method whose time or memory grows too fast with the number of objects.

    Parameters
    ----------
    estimator : estimator
        A classifier, regressor, pipeline or search that reads rows of proximities or, with ``Pairwise`` first, objects.
    n_landmarks : int, default=1000
        Number of landmarks; all objects if there are not more.
    random_state : int, RandomState or None, default=None
        Random seed of the choice.

    Attributes
    ----------
    landmark_indices_ : ndarray of int
        Training objects that are landmarks.
    estimator_ : estimator
        The method, fitted on the landmarks; of a search, the best one.
    best_params_ : dict
        Parameters that a search has chosen.

    Examples
    --------
    >>> from similis import SimilarityKNN
    >>> from similis.datasets import make_similarity
    >>> from similis.distributed import OnLandmarks
    >>> S, y = make_similarity(300, 3, random_state=0)
    >>> model = OnLandmarks(SimilarityKNN(), n_landmarks=60, random_state=0).fit(S, y)
    >>> model.predict(S[:2]).shape
    (2,)
    """

    fitted_arrays = {"landmark_indices_": base.fitted_indices("landmarks")}

    estimator: Any = field(kw_only=False, metadata={"constraints": [base.HasMethods(["fit", "predict"])]})
    n_landmarks: int = base.param(1000, base.at_least(1))
    random_state: Any = base.param(None, "random_state")

    def __sklearn_tags__(self) -> Tags:
        return copy.deepcopy(get_tags(self.estimator))

    @base.validated_outer
    def fit(self, X: Any, y: Any, *, groups: ArrayLike | None = None) -> OnLandmarks:
        """Choose landmarks among the n objects of X, with labels or values y, and fit the method on them.

        `groups` are passed to the method, for a search that keeps groups together.
        """
        values = np.asarray(y)
        if get_tags(self.estimator).input_tags.pairwise:
            X = base.check_proximity(X, allow_missing=True, allow_stack=True, accept_sparse=True, estimator=self)
        n = base.count_objects(X)
        if values.shape[:1] != (n,):
            raise ProximityError(f"y must have one value per object. Got shape {values.shape} for {n} objects.")
        chosen = self.landmark_indices_ = choose_landmarks(values, self.n_landmarks, self.random_state)
        part = X[np.ix_(chosen, chosen)] if hasattr(self, "n_features_in_") else _safe_indexing(X, chosen)
        more = {} if groups is None else {"groups": np.asarray(groups)[chosen]}
        fitted = clone(self.estimator).fit(part, values[chosen], **more)
        if hasattr(fitted, "best_params_"):
            self.best_params_ = fitted.best_params_
        self.estimator_ = getattr(fitted, "best_estimator_", fitted)
        return self

    def verify_fitted(self) -> None:
        super().verify_fitted()
        if hasattr(self, "n_features_in_"):  # of rows; objects have no columns
            columns = base.fitted_indices(None, below=self.n_features_in_)
            columns.verify(self.landmark_indices_, {}, "landmark_indices_ of OnLandmarks")

    @property
    def classes_(self) -> Array:
        """Class labels."""
        return np.asarray(self.estimator_.classes_)

    def without_search(self) -> OnLandmarks:
        """Return the same fitted model without the search, for saving."""
        model = copy.copy(self)
        model.estimator = clone(self.estimator_)
        return model

    def predict(self, X: Any) -> Array:
        """Predict labels or values of objects, or of rows of proximities to all training objects, of shape (m, n)."""
        return np.asarray(self.estimator_.predict(self._rows(X)))

    @available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), "predict_proba"))
    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, shape (m, G), in the order of ``classes_``; `X` as for :meth:`predict`."""
        return np.asarray(self.estimator_.predict_proba(self._rows(X)))

    def score(self, X: Any, y: Any) -> float:
        """Accuracy of a classifier or R^2 of a regressor; `X` as for :meth:`predict`, `y` the true labels or values."""
        return float(self.estimator_.score(self._rows(X), y))

    def select_columns(self) -> tuple[Any, Indices | None]:
        """Return the fitted method, reduced, and the columns that it reads; see :func:`similis.compact`."""
        check_is_fitted(self)
        small, columns = base.compact(self.estimator_, return_columns=True)
        if not hasattr(self, "n_features_in_"):
            return small, None
        return small, self.landmark_indices_ if columns is None else self.landmark_indices_[columns]

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        if not hasattr(self, "n_features_in_"):
            return X
        stack = getattr(X, "ndim", 2) == 3
        rows = base.check_query(X, self, allow_missing=True, allow_stack=stack, accept_sparse=True)
        return rows[:, self.landmark_indices_]
