"""Methods fitted on some of the training objects, the landmarks."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import Tags, check_random_state, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, column_or_1d

from similis.base import (
    FittedArrays,
    HasMethods,
    at_least,
    check_labels,
    check_proximity,
    check_query,
    compact,
    count_objects,
    fitted_indices,
    take_objects,
    validated_function,
    validated_outer,
)
from similis.exceptions import ProximityError


@validated_function({"y": ["array-like"], "n_landmarks": [at_least(1)], "random_state": ["random_state"]})
def choose_landmarks(y: ArrayLike, n_landmarks: int, random_state: Any = None) -> NDArray[np.intp]:
    """Draw objects at random, classes in proportion, and each class with at least one object where possible.

    Returns sorted indices.

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
    >>> y = ["a"] * 8 + ["b"] * 2
    >>> sum(choose_landmarks(y, 5, 0) < 8)
    np.int64(4)
    """
    n = count_objects(y)
    if np.asarray(y).dtype.kind in "iuf":
        labels = np.unique(column_or_1d(y), return_inverse=True)[1]  # a target may have as many values as objects
    else:
        labels = check_labels(y, n, who="choose_landmarks", min_classes=1)[1]
    if n <= n_landmarks:
        return np.arange(n)
    order = check_random_state(random_state).permutation(n)
    counts = np.bincount(labels)
    depth = np.empty(n)  # the first object of each class at 0, the others at equal steps below 1
    for g in np.flatnonzero(counts):
        depth[labels[order] == g] = np.arange(counts[g]) / counts[g]
    return np.sort(order[np.argsort(depth, kind="stable")[:n_landmarks]])


class OnLandmarks(FittedArrays, MetaEstimatorMixin, BaseEstimator):
    """Fit a method on some of the training objects; new objects are compared with these landmarks only.

    For a method whose time or memory grows too fast with the number of objects. Landmarks are drawn at random, classes
    in proportion.

    Parameters
    ----------
    estimator : estimator
        A classifier, a regressor, a pipeline, or a search such as ``PathSearchCV``, of rows of proximities or, if it
        starts with ``Pairwise``, of objects.
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

    See Also
    --------
    similis.Landmarks : features from landmarks, for a linear classifier on all objects.
    OnNeighbors : local methods on all objects, by a neighbor index.

    Examples
    --------
    >>> from similis import SimilarityKNN
    >>> from similis.datasets import make_similarity
    >>> from similis.distributed import OnLandmarks
    >>> S, y = make_similarity(300, 3, random_state=0)
    >>> model = OnLandmarks(SimilarityKNN(n_neighbors=5), n_landmarks=60, random_state=0).fit(S, y)
    >>> len(model.landmark_indices_), model.predict(S[:2]).shape
    (60, (2,))
    """

    fitted_arrays = {"landmark_indices_": fitted_indices("landmarks", below="n")}

    _parameter_constraints = {
        "estimator": [HasMethods(["fit", "predict"])],
        "n_landmarks": [at_least(1)],
        "random_state": ["random_state"],
    }

    def __init__(self, estimator: Any, *, n_landmarks: int = 1000, random_state: Any = None) -> None:
        self.estimator = estimator
        self.n_landmarks = n_landmarks
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        return copy.deepcopy(get_tags(self.estimator))

    @validated_outer
    def fit(self, X: Any, y: Any, *, groups: ArrayLike | None = None) -> OnLandmarks:
        """Choose the landmarks and fit the method on them.

        Parameters
        ----------
        X : array-like of shape (n, n), or collection of n objects
            What the method reads.
        y : array-like of shape (n,)
            Labels or values.
        groups : array-like of shape (n,), optional
            Passed to the method, for a search that keeps groups together.
        """
        values = np.asarray(y)
        if get_tags(self.estimator).input_tags.pairwise:
            X = check_proximity(X, allow_missing=True, allow_stack=True, accept_sparse=True, estimator=self)
        n = count_objects(X)
        if values.shape[:1] != (n,):
            raise ProximityError(f"y must have one value per object. Got shape {values.shape} for {n} objects.")
        chosen = self.landmark_indices_ = choose_landmarks(values, self.n_landmarks, self.random_state)
        part = X[np.ix_(chosen, chosen)] if hasattr(self, "n_features_in_") else take_objects(X, chosen)
        more = {} if groups is None else {"groups": np.asarray(groups)[chosen]}
        fitted = clone(self.estimator).fit(part, values[chosen], **more)
        if hasattr(fitted, "best_params_"):
            self.best_params_ = fitted.best_params_
        self.estimator_ = getattr(fitted, "best_estimator_", fitted)
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        """Class labels."""
        return np.asarray(self.estimator_.classes_)

    def without_search(self) -> OnLandmarks:
        """Return the same fitted model without the search, for saving."""
        model = copy.copy(self)
        model.estimator = clone(self.estimator_)
        return model

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the labels or values of new objects.

        `X` holds the objects or, of shape (m, n), their proximities to all training objects, of which those to the
        landmarks are read.
        """
        return np.asarray(self.estimator_.predict(self._rows(X)))

    @available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), "predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class, shape (m, G), in the order of ``classes_``; `X` as for :meth:`predict`."""
        return np.asarray(self.estimator_.predict_proba(self._rows(X)))

    def score(self, X: Any, y: Any) -> float:
        """Accuracy of a classifier or R^2 of a regressor; `X` as for :meth:`predict`, `y` the true labels or values."""
        return float(self.estimator_.score(self._rows(X), y))

    def select_columns(self) -> tuple[Any, NDArray[np.intp] | None]:
        """Return the fitted method, reduced, and the columns that it reads; see :func:`similis.compact`."""
        check_is_fitted(self)
        small, columns = compact(self.estimator_, return_columns=True)
        if not hasattr(self, "n_features_in_"):
            return small, None
        return small, self.landmark_indices_ if columns is None else self.landmark_indices_[columns]

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        if not hasattr(self, "n_features_in_"):
            return X
        stack = getattr(X, "ndim", 2) == 3
        rows = check_query(X, self, allow_missing=True, allow_stack=stack, accept_sparse=True)
        return rows[:, self.landmark_indices_]
