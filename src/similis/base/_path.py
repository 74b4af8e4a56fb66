"""Grid-path protocol: predictions for all points of a parameter grid, for new rows or for the folds of a partition.

A classifier lists in ``path_params`` the parameters that one pass can vary and writes :meth:`PathMixin.path_scores`.
This module groups the grid, validates input, loops over folds and converts scores to responses.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from similis._utils.disk import take_block
from similis.base._validation import check_labels

__all__ = ["PathMixin", "Points"]

Points = list[dict[str, Any]]


class PathMixin:
    """Mixin for a :class:`ProximityClassifier` that evaluates a grid of parameters in one pass.

    :class:`~similis.model_selection.PathSearchCV` calls :meth:`predict_path_cv` and :meth:`predict_path` instead of
    fitting every grid point. A subclass sets ``path_params`` and writes one method, :meth:`path_scores`.

    Attributes
    ----------
    path_params : tuple of str
        Class attribute: parameters whose values may differ between the points of one call of :meth:`path_scores`.
        Points that differ in other parameters are evaluated in separate calls.

    Notes
    -----
    A class that occurs in a single fold is missing from the training part of that fold. The base class calls
    :meth:`path_scores` with the classes that are present and scores the others as minus infinity.

    Two methods may be overridden for speed. :meth:`path_scores_cv` evaluates all folds, for a method that can share
    work between them, such as a ranking of neighbors. :meth:`path_codes` finds class codes without computing scores.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.base import PathMixin, ProximityClassifier, at_least, validated
    >>> class MeanOfNearest(PathMixin, ProximityClassifier):
    ...     _parameter_constraints = {"k": [at_least(1)]}
    ...     path_params = ("k",)
    ...     def __init__(self, *, k=1):
    ...         self.k = k
    ...     @validated
    ...     def fit(self, X, y):
    ...         self._S, self._codes = self.check_training_labels(X, y)
    ...         return self
    ...     def class_scores(self, Q):
    ...         return self.path_scores(self._S, self._codes, Q, [{"k": self.k}])[0]
    ...     def path_scores(self, S, codes, Q, points):
    ...         ranked = [-np.sort(-Q[:, codes == g], axis=1) for g in range(len(self.classes_))]
    ...         return [np.stack([r[:, : p["k"]].mean(axis=1) for r in ranked], axis=1) for p in points]
    >>> S = np.array([[4.0, 3, 1, 0], [3, 4, 0, 1], [1, 0, 4, 2], [0, 1, 2, 4]])
    >>> MeanOfNearest().predict_path_cv(S, [0, 0, 1, 1], [0, 1, 0, 1], [{"k": 1}, {"k": 2}])
    [array([0, 0, 1, 1]), array([0, 0, 1, 1])]
    """

    path_params: ClassVar[tuple[str, ...]] = ()
    classes_: NDArray[Any]

    def path_scores(
        self, S: NDArray[Any], codes: NDArray[np.intp], Q: NDArray[Any], points: Points
    ) -> Iterable[NDArray[Any]]:
        """Score new rows for every point of a grid over ``path_params``: the hook of the protocol.

        Parameters
        ----------
        S : ndarray of shape (n, n)
            Validated training matrix.
        codes : ndarray of shape (n,)
            Position of each training label in ``classes_``, which is set; every class occurs.
        Q : ndarray of shape (m, n)
            Validated rows of new objects.
        points : list of dict
            Value of every parameter in ``path_params``, one dict per grid point.

        Returns
        -------
        iterable of ndarray of shape (m, G)
            For each point the scores that ``class_scores(Q)`` returns after a fit with its parameters.
        """
        raise NotImplementedError(f"{type(self).__name__} must define path_scores(S, codes, Q, points).")

    def path_scores_cv(
        self, S: NDArray[Any], codes: NDArray[np.intp], test_fold: NDArray[np.intp], points: Points
    ) -> Iterable[NDArray[Any]]:
        """Score every object for every grid point, each from the objects outside its fold.

        Parameters
        ----------
        S : ndarray of shape (n, n)
            Validated matrix of all objects.
        codes : ndarray of shape (n,)
            Position of each label in ``classes_``.
        test_fold : ndarray of shape (n,)
            Fold in which each object is tested.
        points : list of dict
            As in :meth:`path_scores`.

        Returns
        -------
        iterable of ndarray of shape (n, G)
            Scores; minus infinity for a class without objects outside the fold.
        """
        return self.score_folds(S, codes, test_fold, points)

    def score_folds(
        self,
        S: NDArray[Any],
        codes: NDArray[np.intp],
        test_fold: NDArray[np.intp],
        points: Points,
        options: Iterable[dict[str, Any]] | None = None,
    ) -> list[NDArray[Any]]:
        """Call :meth:`path_scores` on the training and test part of each fold.

        Parameters
        ----------
        S, codes, test_fold, points
            As in :meth:`path_scores_cv`.
        options : iterable of dict, optional
            Additional keyword arguments of ``path_scores``, one dict per fold in ascending order of fold numbers:
            results that an overridden :meth:`path_scores_cv` has computed for all folds at once.

        Returns
        -------
        list of ndarray of shape (n, G)
            As in :meth:`path_scores_cv`.
        """
        scores = [np.full((len(codes), len(self.classes_)), -np.inf) for _ in points]
        for fold, extra in zip(np.unique(test_fold), repeat({}) if options is None else options):
            test, train = np.flatnonzero(test_fold == fold), np.flatnonzero(test_fold != fold)
            columns = self.path_columns(S, train)
            # A class that occurs in this fold only is absent from the training part.
            present, inner = np.unique(codes[train], return_inverse=True)
            model: Any = copy.copy(self)
            model.classes_ = self.classes_[present]
            found = model.path_scores(
                take_block(S, train, columns), inner, take_block(S, test, columns), points, **extra
            )
            for table, part in zip(scores, found):
                table[np.ix_(test, present)] = part
        return scores

    def path_columns(self, S: NDArray[Any], train: NDArray[np.intp]) -> NDArray[np.intp]:
        """Columns of the training part of a fold: the training objects.

        Parameters
        ----------
        S : ndarray of shape (n, n)
            Validated matrix of all objects.
        train : ndarray of int
            Training objects of the fold.

        Returns
        -------
        ndarray of int
            `train`. A classifier whose columns are features returns all columns.
        """
        return train

    def path_codes(
        self,
        S: NDArray[Any],
        codes: NDArray[np.intp],
        Q: NDArray[Any] | None,
        test_fold: NDArray[np.intp] | None,
        points: Points,
    ) -> list[NDArray[np.intp]]:
        """Predict class codes for every grid point, for new rows or for the folds of a partition.

        Parameters
        ----------
        S, codes, points
            As in :meth:`path_scores`.
        Q : ndarray of shape (m, n) or None
            New rows; None to predict every object from the objects outside its fold.
        test_fold : ndarray of shape (n,) or None
            Fold of each object where `Q` is None.

        Returns
        -------
        list of ndarray of shape (m,)
            Positions in ``classes_``.
        """
        model: Any = self
        return [model.scores_to_codes(scores) for scores in self._grid_scores(S, codes, Q, test_fold, points)]

    def predict_path(
        self, S_train: ArrayLike, y_train: Any, S_test: ArrayLike, grid: Points, *, response: str = "predict"
    ) -> list[NDArray[Any]]:
        """Predict new rows for every point of a grid.

        Parameters
        ----------
        S_train : array-like of shape (n, n)
            Training proximities.
        y_train : array-like of shape (n,)
            Class labels.
        S_test : array-like of shape (m, n)
            Proximities of new objects to the training objects.
        grid : list of dict
            Parameter settings.
        response : {"predict", "predict_proba", "decision_function"}
            Prediction method.

        Returns
        -------
        list of ndarray
            One response per grid point.
        """
        return self._predict_grid(S_train, y_train, S_test, None, grid, response)

    def predict_path_cv(
        self, S: ArrayLike, y: Any, test_fold: ArrayLike, grid: Points, *, response: str = "predict"
    ) -> list[NDArray[Any]]:
        """Predict every object for every point of a grid, from the objects outside its fold.

        Parameters
        ----------
        S : array-like of shape (n, n)
            Proximities of all objects.
        y : array-like of shape (n,)
            Class labels.
        test_fold : array-like of shape (n,)
            Number of the fold in which each object is tested; n different numbers are leave-one-out.
        grid, response
            As in :meth:`predict_path`.

        Returns
        -------
        list of ndarray
            One response per grid point, row i for object i.
        """
        return self._predict_grid(S, y, None, np.ascontiguousarray(test_fold, dtype=np.intp), grid, response)

    def _predict_grid(
        self, X: Any, y: Any, rows: Any, test_fold: NDArray[np.intp] | None, grid: Points, response: str
    ) -> list[NDArray[Any]]:
        responses: list[Any] = [None] * len(grid)
        for model, positions, points in self._path_groups(grid):
            S = model.check_training(X)
            Q = None if rows is None else model.check_rows(rows)
            model.classes_, codes = check_labels(y, S.shape[0], who=type(self).__name__, of=X)
            if response == "predict":
                found = (model.classes_[predicted] for predicted in model.path_codes(S, codes, Q, test_fold, points))
            else:
                scores = model._grid_scores(S, codes, Q, test_fold, points)
                found = (model.scores_to_response(one, response) for one in scores)
            for position, predicted in zip(positions, found):
                responses[position] = predicted
        return responses

    def _grid_scores(
        self, S: NDArray[Any], codes: NDArray[np.intp], Q: Any, test_fold: Any, points: Points
    ) -> Iterable[NDArray[Any]]:
        return self.path_scores_cv(S, codes, test_fold, points) if Q is None else self.path_scores(S, codes, Q, points)

    def _path_groups(self, grid: Points) -> Iterator[tuple[Any, list[int], Points]]:
        """Group grid points that differ only in ``path_params``; each point's values are validated."""
        groups: dict[str, tuple[Any, list[int], Points]] = {}
        given = self.get_params(deep=False)  # type: ignore[attr-defined]
        for position, point in enumerate(grid):
            if given.keys() >= point.keys():
                model, params = copy.copy(self), given | point
                vars(model).update(point)
            else:  # a parameter of a nested estimator, or an error
                model = clone(self).set_params(**point)
                params = model.get_params(deep=False)
            model._validate_params()  # type: ignore[attr-defined]
            key = repr([(k, repr(v)) for k, v in sorted(params.items()) if k not in self.path_params])
            if key not in groups:
                groups[key] = (clone(model), [], [])
            _, positions, points = groups[key]
            positions.append(position)
            points.append({k: params[k] for k in self.path_params})
        yield from groups.values()
