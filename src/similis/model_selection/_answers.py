"""Answers of a whole grid at once, handed to scorers as if each grid point were a fitted estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import _safe_indexing, get_tags

from similis.model_selection._paths import RESPONSES
from similis.model_selection._plan import Group

__all__ = ["Answers", "StandIn", "fold_answers", "partition_answers", "split_data"]


class Answers:
    """The responses of all points of a group on one test part, computed when first asked for."""

    def __init__(self, compute: Callable[[str], list[np.ndarray]], classes: np.ndarray, template: Any) -> None:
        self._compute = compute
        self._known: dict[str, list[np.ndarray]] = {}
        self.classes = classes
        self.template = template

    def __call__(self, response: str) -> list[np.ndarray]:
        if response not in self._known:
            self._known[response] = self._compute(response)
        return self._known[response]

    def rows(self, index: np.ndarray) -> Answers:
        """The same answers for some of the rows."""
        return Answers(lambda response: [a[index] for a in self(response)], self.classes, self.template)


class StandIn(ClassifierMixin, BaseEstimator):
    """What a scorer sees in place of a fitted estimator: the responses of one grid point on the test part."""

    def __init__(self, answers: Answers, position: int) -> None:
        self.answers = answers
        self.position = position
        self.classes_ = answers.classes

    def __getattr__(self, name: str) -> Any:
        # Only what the estimator itself offers, so that a scorer chooses the response it would have chosen.
        if name in RESPONSES and hasattr(self.answers.template, name):
            return lambda X: self.answers(name)[self.position]
        raise AttributeError(name)

    def predict(self, X: Any) -> np.ndarray:
        """Labels found for the test part, whatever `X`."""
        return self.answers("predict")[self.position]


def split_data(estimator: Any, X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> tuple[Any, ...]:
    """Training and test part as scikit-learn cuts them: rows, and for pairwise input the training columns."""
    if get_tags(estimator).input_tags.pairwise:
        return X[np.ix_(train, train)], y[train], X[np.ix_(test, train)]
    return _safe_indexing(X, train), y[train], _safe_indexing(X, test)


def fold_answers(estimator: Any, group: Group, X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Answers:
    """Fit the group's transformers on one training part and let the last step answer all its points."""
    X_train, y_train, X_test = split_data(estimator, X, y, train, test)
    if group.transformers is not None:
        front = clone(group.transformers)
        X_train = front.fit_transform(X_train, y_train)
        X_test = front.transform(X_test)

    def compute(response: str) -> list[np.ndarray]:
        return group.last.predict_path(X_train, y_train, X_test, group.grid, response=response)

    return Answers(compute, np.unique(y_train), group.last)


def partition_answers(group: Group, X: Any, y: np.ndarray, test_fold: np.ndarray) -> Answers:
    """Let the last step answer all its points for every object, each from the folds it is not in."""

    def compute(response: str) -> list[np.ndarray]:
        return group.last.predict_path_cv(X, y, test_fold, group.grid, response=response)

    return Answers(compute, np.unique(y), group.last)
