"""Hooks for estimators that have none: plain fits, and for scikit-learn's SVC as few of them as its C need."""

from __future__ import annotations

from copy import copy
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.svm import SVC

__all__ = ["RESPONSES", "PlainPath", "path_of"]

RESPONSES = ("predict", "predict_proba", "decision_function")


class PlainPath:
    """A last step without a hook: a plain fit for each point, on rows that the transformers made once for all."""

    shares: ClassVar[bool] = False  # whether it saves work where there are no transformers

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def __getattr__(self, name: str) -> Any:
        if name in RESPONSES:  # for scorers that ask what there is
            return getattr(self.estimator, name)
        raise AttributeError(name)

    def predict_path(
        self, S_train: Any, y_train: Any, S_test: Any, grid: list[dict[str, Any]], *, response: str = "predict"
    ) -> list[np.ndarray]:
        """Responses of a plain fit for each point."""
        models = (clone(self.estimator).set_params(**clone(point, safe=False)) for point in grid)
        return [getattr(model.fit(S_train, y_train), response)(S_test) for model in models]


class SVCPath(PlainPath):
    """scikit-learn's SVC: a solution with every dual variable below the bound C is that for all larger C.

    libsvm finds it up to its ``tol``, from another side for each C. Labels are taken over only where decision values
    off by ten times that would not change them, and decision values never, so that scores are those of plain fits.
    """

    shares = True

    def predict_path(
        self, S_train: Any, y_train: Any, S_test: Any, grid: list[dict[str, Any]], *, response: str = "predict"
    ) -> list[np.ndarray]:
        """Responses for each point, in order of C."""
        models = [clone(self.estimator).set_params(**clone(point, safe=False)) for point in grid]
        answers: list[Any] = [None] * len(grid)
        settled: dict[str, np.ndarray] = {}
        for position in np.argsort([model.C for model in models], kind="stable"):
            model = models[position]
            others = repr(sorted((k, repr(v)) for k, v in model.get_params(deep=False).items() if k != "C"))
            if others not in settled:
                answers[position] = getattr(model.fit(S_train, y_train), response)(S_test)
                if response == "predict" and _is_settled(model, S_test):
                    settled[others] = answers[position]
            else:
                answers[position] = settled[others]
        return answers


def _is_settled(model: SVC, S_test: Any) -> bool:
    """Whether a larger C leaves the solution as it is, and the test rows are clear of the boundary."""
    if model.fit_status_ != 0 or model.class_weight is not None or model.break_ties:
        return False
    if not (np.abs(model.dual_coef_) < model.C).all():
        return False
    f = copy(model).set_params(decision_function_shape="ovo").decision_function(S_test)
    return _are_clear(f, len(model.classes_), 10 * model.tol)


def _are_clear(f: np.ndarray, n_classes: int, doubt: float) -> bool:
    """Whether every row's label stands, however the machines whose value is within `doubt` of zero decide."""
    if n_classes == 2:
        return bool((np.abs(f) > doubt).all())
    fewest, most = np.zeros((2, len(f), n_classes), dtype=int)
    for value, (g, h) in zip(f.T, combinations(range(n_classes), 2)):  # positive for g
        fewest[:, g] += value > doubt
        fewest[:, h] += value < -doubt
        most[:, g] += value >= -doubt
        most[:, h] += value <= doubt
    rows, winner = np.arange(len(f)), fewest.argmax(axis=1)
    # The earlier class wins tied votes, so a later one must be beaten only by not being overtaken.
    needed = most + (np.arange(n_classes) < winner[:, None])
    needed[rows, winner] = 0
    return bool((fewest[rows, winner] >= needed.max(axis=1)).all())


def path_of(estimator: Any) -> Any:
    """The estimator itself where it has the hook, else one that fits for it."""
    if hasattr(estimator, "predict_path"):
        return estimator
    return SVCPath(estimator) if type(estimator) is SVC else PlainPath(estimator)
