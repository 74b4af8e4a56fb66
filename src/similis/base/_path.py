"""The hooks by which ``PathSearchCV`` shares work, written once.

A classifier says in ``_path_params`` which of its parameters one sweep can serve and writes
:meth:`PathMixin._path_scores`; the grouping of the grid, the checks and the responses are common.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from similis.base._decision import check_costs, least_cost
from similis.base._validation import check_labels
from similis.exceptions import ProximityError

__all__ = ["MarginPathMixin", "PathMixin"]


class PathMixin:
    """``predict_path`` and ``predict_path_cv`` on top of one method that scores all points of a grid."""

    _path_params: ClassVar[tuple[str, ...]] = ()

    def _path_scores(
        self,
        S: NDArray[Any],
        codes: NDArray[np.intp],
        Q: NDArray[Any] | None,
        test_fold: NDArray[np.intp] | None,
        points: list[dict[str, Any]],
    ) -> list[NDArray[Any]]:
        """Class scores of shape (m, G) for each point of a grid over ``_path_params``.

        Either `Q` holds new rows (m, n), or `test_fold` says from which objects of `S` each row may be answered.
        """
        raise NotImplementedError

    def _path_codes(
        self,
        S: NDArray[Any],
        codes: NDArray[np.intp],
        Q: NDArray[Any] | None,
        test_fold: NDArray[np.intp] | None,
        points: list[dict[str, Any]],
    ) -> list[NDArray[np.intp]]:
        """Class codes of shape (m,) for each point; a subclass may know a way that forms no scores."""
        costs = check_costs(getattr(self, "costs", None), int(codes.max()) + 1)
        return [least_cost(scores, costs) for scores in self._path_scores(S, codes, Q, test_fold, points)]

    def _scores_to_response(self, scores: NDArray[Any], response: str) -> NDArray[Any]:
        """Turn class scores into what `response` names; scores are probabilities unless a subclass says otherwise."""
        if response == "predict_proba":
            return scores
        raise ProximityError(f"{type(self).__name__} has no {response} for these parameters.")

    def predict_path(
        self,
        S_train: ArrayLike,
        y_train: Any,
        S_test: ArrayLike,
        grid: list[dict[str, Any]],
        *,
        response: str = "predict",
    ) -> list[NDArray[Any]]:
        """Answer every point of a grid for new rows.

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
            What to return for each.

        Returns
        -------
        list of ndarray
            One response per grid point.
        """
        return self._answer(S_train, y_train, S_test, None, grid, response)

    def predict_path_cv(
        self, S: ArrayLike, y: Any, test_fold: ArrayLike, grid: list[dict[str, Any]], *, response: str = "predict"
    ) -> list[NDArray[Any]]:
        """Answer every point of a grid for every object, from the objects outside its fold.

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
        return self._answer(S, y, None, np.ascontiguousarray(test_fold, dtype=np.intp), grid, response)

    def _answer(
        self, X: Any, y: Any, Q: Any, test_fold: NDArray[np.intp] | None, grid: list[dict[str, Any]], response: str
    ) -> list[NDArray[Any]]:
        answers: list[Any] = [None] * len(grid)
        for model, positions, points in self._path_groups(grid):
            S = model._check_fit(X)
            rows = None if Q is None else model._check_query(Q)
            model.classes_, codes = check_labels(y, S.shape[0], who=type(self).__name__)
            data = (S, codes, rows, test_fold, points)
            if response == "predict":
                found = [model.classes_[predicted] for predicted in model._path_codes(*data)]
            else:
                found = [model._scores_to_response(scores, response) for scores in model._path_scores(*data)]
            for position, answer in zip(positions, found):
                answers[position] = answer
        return answers

    def _path_groups(self, grid: list[dict[str, Any]]) -> Iterator[tuple[Any, list[int], list[dict[str, Any]]]]:
        """Group grid points that differ only in ``_path_params``; each point's values are validated."""
        groups: dict[str, tuple[Any, list[int], list[dict[str, Any]]]] = {}
        given = self.get_params(deep=False)  # type: ignore[attr-defined]
        for position, point in enumerate(grid):
            if given.keys() >= point.keys():
                model, params = copy.copy(self), given | point
                vars(model).update(point)
            else:  # of a nested estimator, or an error
                model = clone(self).set_params(**point)
                params = model.get_params(deep=False)
            model._validate_params()  # type: ignore[attr-defined]
            key = repr([(k, repr(v)) for k, v in sorted(params.items()) if k not in self._path_params])
            if key not in groups:
                groups[key] = (clone(model), [], [])
            _, positions, points = groups[key]
            positions.append(position)
            points.append({k: params[k] for k in self._path_params})
        yield from groups.values()


class MarginPathMixin(PathMixin):
    """The same where scores are how far a row is on each class's side; for two classes the second one's counts."""

    def _scores_to_response(self, scores: NDArray[Any], response: str) -> NDArray[Any]:
        if response == "decision_function":
            return scores[:, 1] if scores.shape[1] == 2 else scores
        return super()._scores_to_response(scores, response)
