"""Grid-path protocol: predictions for all points of a parameter grid, for new rows or for the folds of a partition."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import clone

from similis._utils.arrays import Array, Floats, Indices
from similis._utils.disk import take_block
from similis._utils.threads import row_blocks
from similis.exceptions import ProximityError

Points = list[dict[str, Any]]
FoldOptions = Iterable[dict[str, Any]]


def params_key(params: dict[str, Any]) -> str:
    """Text by which parameters are compared: numbers and text by value, others, whose text may be cut, by identity."""

    def of(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value), [of(item) for item in value]
        return repr(value) if value is None or isinstance(value, str | int | float | np.generic) else id(value)

    return repr([(name, of(value)) for name, value in sorted(params.items())])


class _GridPath:
    """Methods that :class:`PathMixin` and :class:`RegressorPathMixin` share."""

    path_params: ClassVar[tuple[str, ...]] = ()

    def path_columns(self, S: Array, train: Indices) -> Indices:
        """Columns of the training part of a fold: the training objects `train`, or all where they are features."""
        return train

    def _folds(self, S: Array, test_fold: Indices) -> Iterator[tuple[Indices, Indices, Array, Array]]:
        """Test and training objects of each fold, ascending, and their rows of the fold's columns."""
        for fold in np.unique(test_fold):
            test, train = np.flatnonzero(test_fold == fold), np.flatnonzero(test_fold != fold)
            columns = self.path_columns(S, train)
            yield test, train, take_block(S, train, columns), take_block(S, test, columns)

    def predict_path(
        self, S_train: ArrayLike, y_train: Any, S_test: ArrayLike, grid: Points, *, response: str = "predict"
    ) -> list[Array]:
        """Predict new rows for every point of a grid; one response per point.

        Parameters
        ----------
        S_train, y_train : array-like of shape (n, n) and (n,)
            Training proximities, and class labels or the target of a regression.
        S_test : array-like of shape (m, n)
            Proximities of new objects to the training objects.
        grid : list of dict
            Parameter settings.
        response : {"predict", "predict_proba", "decision_function"}
            Prediction method; a regressor has ``predict`` only.
        """
        return self._predict_grid(S_train, y_train, S_test, None, grid, response)

    def predict_path_cv(
        self, S: ArrayLike, y: Any, test_fold: ArrayLike, grid: Points, *, response: str = "predict"
    ) -> list[Array]:
        """Predict every object for every point of a grid, from the objects outside its fold.

        Parameters
        ----------
        S, y : array-like of shape (n, n) and (n,)
            Proximities of all objects, and their class labels or target.
        test_fold : array-like of shape (n,)
            Number of the fold in which each object is tested; n different numbers are leave-one-out.
        grid, response
            As in :meth:`predict_path`.
        """
        return self._predict_grid(S, y, None, np.ascontiguousarray(test_fold, dtype=np.intp), grid, response)

    def _predict_grid(
        self, X: Any, y: Any, rows: Any, test_fold: Indices | None, grid: Points, response: str
    ) -> list[Array]:
        responses: list[Any] = [None] * len(grid)
        for model, positions, points in self._path_groups(grid):
            in_blocks = sparse.issparse(X) and sparse.issparse(rows) and model.keep_sparse
            S, target = model._check_pair(X, y, keep_sparse=in_blocks)
            n = S.shape[0]
            if test_fold is not None and (test_fold.shape != (n,) or (test_fold == test_fold[0]).all()):
                must = f"test_fold must hold a fold number for each of the {n} objects, at least two different ones."
                raise ProximityError(f"{must} Got shape {test_fold.shape}, {len(np.unique(test_fold))} different.")
            parts = [rows.tocsr()[part] for part in row_blocks(*rows.shape)] if in_blocks else [rows]
            found = []
            for part in parts:
                Q = None if part is None else model.check_rows(part)
                found.append(list(model._group_responses(S, target, Q, test_fold, points, response)))
            for position, *predicted in zip(positions, *found):
                responses[position] = predicted[0] if len(predicted) == 1 else np.concatenate(predicted)
        return responses

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
            key = params_key({k: v for k, v in (given | point).items() if k not in self.path_params})
            if key not in groups:
                groups[key] = (clone(model), [], [])
            _, positions, points = groups[key]
            positions.append(position)
            points.append({k: params[k] for k in self.path_params})
        yield from groups.values()


class PathMixin(_GridPath):
    """Mixin for a :class:`ProximityClassifier` that evaluates a grid of parameters in one pass.

    :class:`~similis.model_selection.PathSearchCV` then does not fit every grid point. A subclass sets ``path_params``
    and writes :meth:`path_scores`. For speed, it may override :meth:`path_scores_cv`, to share work between folds, and
    :meth:`path_codes`, to predict without scores.

    Attributes
    ----------
    path_params : tuple of str
        Class attribute: parameters whose values may differ between the points of one call of :meth:`path_scores`.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.base import PathMixin, ProximityClassifier
    >>> class MeanOfNearest(PathMixin, ProximityClassifier):
    ...     path_params = ("k",)
    ...     def __init__(self, *, k=1):
    ...         self.k = k
    ...     def learn(self, S, codes):
    ...         self._S, self._codes = S, codes
    ...     def class_scores(self, Q):
    ...         return self.path_scores(self._S, self._codes, Q, [{"k": self.k}])[0]
    ...     def path_scores(self, S, codes, Q, points):
    ...         ranked = [-np.sort(-Q[:, codes == g], axis=1) for g in range(len(self.classes_))]
    ...         return [np.stack([r[:, : p["k"]].mean(axis=1) for r in ranked], axis=1) for p in points]
    >>> S = np.array([[4.0, 3, 1, 0], [3, 4, 0, 1], [1, 0, 4, 2], [0, 1, 2, 4]])
    >>> MeanOfNearest().predict_path_cv(S, [0, 0, 1, 1], [0, 1, 0, 1], [{"k": 1}, {"k": 2}])
    [array([0, 0, 1, 1]), array([0, 0, 1, 1])]
    """

    classes_: Array

    def path_scores(self, S: Array, codes: Indices, Q: Array, points: Points) -> Iterable[Array]:
        """Score new rows for each grid point: what ``class_scores(Q)`` returns after a fit with its parameters.

        Parameters
        ----------
        S, Q : ndarray of shape (n, n) and (m, n)
            Validated training matrix and rows of new objects.
        codes : ndarray of shape (n,)
            Position of each training label in ``classes_``, which is set; every class occurs.
        points : list of dict
            Value of every parameter in ``path_params``, one dict per grid point.
        """
        raise NotImplementedError(f"{type(self).__name__} must define path_scores(S, codes, Q, points).")

    def path_scores_cv(self, S: Array, codes: Indices, test_fold: Indices, points: Points) -> Iterable[Array]:
        """Score every object, (n, G), for every grid point, each from the objects outside its fold in `test_fold`.

        A class without objects outside the fold has the score minus infinity.
        """
        return self.score_folds(S, codes, test_fold, points)

    def score_folds(
        self, S: Array, codes: Indices, test_fold: Indices, points: Points, options: FoldOptions | None = None
    ) -> list[Array]:
        """Call :meth:`path_scores` on the training and test part of each fold; see :meth:`path_scores_cv`.

        `options` are additional keyword arguments of ``path_scores``, one dict per fold in ascending order.
        """
        scores = [np.full((len(codes), len(self.classes_)), -np.inf) for _ in points]
        for (test, train, S_train, S_test), extra in zip(self._folds(S, test_fold), options or repeat({})):
            # A class that occurs in this fold only is absent from the training part.
            present, inner = np.unique(codes[train], return_inverse=True)
            model: Any = copy.copy(self)
            model.classes_ = self.classes_[present]
            for table, part in zip(scores, model.path_scores(S_train, inner, S_test, points, **extra)):
                table[np.ix_(test, present)] = part
        return scores

    def path_codes(
        self: Any, S: Array, codes: Indices, Q: Array | None, test_fold: Indices | None, points: Points
    ) -> list[Indices]:
        """Predict class codes for every grid point: of new rows `Q`, or if it is None of the folds of a partition."""
        return [self.scores_to_codes(scores) for scores in self._grid_scores(S, codes, Q, test_fold, points)]

    def _group_responses(self: Any, S: Array, y: Array, Q: Any, test_fold: Any, points: Points, response: str) -> Any:
        if response == "predict":
            return (self.classes_[predicted] for predicted in self.path_codes(S, y, Q, test_fold, points))
        return (self.scores_to_response(one, response) for one in self._grid_scores(S, y, Q, test_fold, points))

    def _grid_scores(self, S: Array, codes: Indices, Q: Any, test_fold: Any, points: Points) -> Iterable[Array]:
        return self.path_scores_cv(S, codes, test_fold, points) if Q is None else self.path_scores(S, codes, Q, points)


class RegressorPathMixin(_GridPath):
    """Mixin for a :class:`ProximityRegressor` that evaluates a grid of parameters in one pass.

    The counterpart of :class:`PathMixin`, with the methods :meth:`path_values` and :meth:`path_values_cv`.

    Attributes
    ----------
    path_params : tuple of str
        Class attribute: parameters whose values may differ between the points of one call of :meth:`path_values`.

    Examples
    --------
    >>> from similis.base import ProximityRegressor, RegressorPathMixin
    >>> class PowerMean(RegressorPathMixin, ProximityRegressor):
    ...     path_params = ("power",)
    ...     def __init__(self, *, power=1.0):
    ...         self.power = power
    ...     def path_values(self, S, target, Q, points):
    ...         weights = [Q ** point["power"] for point in points]
    ...         return [w @ target / w.sum(axis=1) for w in weights]
    >>> PowerMean().predict_path([[1, 0], [0, 1]], [1.0, 5.0], [[1.0, 3.0]], [{"power": 1.0}, {"power": 2.0}])
    [array([4.]), array([4.6])]
    """

    def path_values(self, S: Array, target: Floats, Q: Array, points: Points) -> Iterable[Floats]:
        """Predict new rows for each grid point: what ``row_values(Q)`` returns after a fit with its parameters.

        Parameters are those of :meth:`PathMixin.path_scores`, with the target instead of class codes.
        """
        raise NotImplementedError(f"{type(self).__name__} must define path_values(S, target, Q, points).")

    def path_values_cv(self, S: Array, target: Floats, test_fold: Indices, points: Points) -> Iterable[Floats]:
        """Predict every object for every grid point, each from the objects outside its fold."""
        values = np.empty((len(points), len(target)))
        for test, train, S_train, S_test in self._folds(S, test_fold):
            for row, part in zip(values, self.path_values(S_train, target[train], S_test, points)):
                row[test] = part
        return values

    def _group_responses(self, S: Array, y: Array, Q: Any, test_fold: Any, points: Points, response: str) -> Any:
        if response != "predict":
            raise ProximityError(f"{type(self).__name__} has no {response}.")
        return self.path_values_cv(S, y, test_fold, points) if Q is None else self.path_values(S, y, Q, points)
