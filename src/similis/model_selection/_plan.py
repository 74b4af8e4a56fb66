"""What can be shared: the grid taken apart into what is fitted anew and what one sweep answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import LeaveOneOut
from sklearn.pipeline import Pipeline

from similis.exceptions import ProximityError
from similis.model_selection._paths import path_of

__all__ = ["Folds", "Group", "make_groups"]


@dataclass
class Group:
    """Grid points that share everything but the parameters of the last step.

    Attributes
    ----------
    transformers : Pipeline or None
        What is fitted on the training part of each fold, in front of the last step.
    last : estimator
        The last step, with its ``predict_path`` hook; its parameters in `grid` are still to be set.
    grid : list of dict
        The last step's own parameters, one point each.
    positions : list of int
        Where each point stands in the whole grid.
    """

    transformers: Pipeline | None
    last: Any
    grid: list[dict[str, Any]] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)


def make_groups(estimator: BaseEstimator, points: Iterable[dict[str, Any]]) -> list[Group] | None:
    """Group grid points by everything but the last step's parameters; None where there is nothing to share."""
    groups: dict[str, Group] = {}
    prefix = f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""
    for position, point in enumerate(points):
        inner = {key.removeprefix(prefix): value for key, value in point.items() if key.startswith(prefix)}
        outer = {key: value for key, value in point.items() if not key.startswith(prefix)}
        name = repr(sorted((key, repr(value)) for key, value in outer.items()))
        if name not in groups:
            configured = clone(estimator).set_params(**clone(outer, safe=False))
            groups[name] = _take_apart(configured)
        if groups[name].transformers is None and not getattr(groups[name].last, "shares", True):
            return None
        groups[name].grid.append(inner)
        groups[name].positions.append(position)
    return list(groups.values())


def _take_apart(estimator: BaseEstimator) -> Group:
    if not isinstance(estimator, Pipeline):
        return Group(None, path_of(estimator))
    front = [step for step in estimator.steps[:-1] if step[1] not in (None, "passthrough")]
    return Group(Pipeline(front) if front else None, path_of(estimator.steps[-1][1]))


class Folds:
    """The splits, and the fold of each object where they are a partition with everything else as training part.

    Leave-one-out is never written out: its n splits of n - 1 indices would be larger than the matrix.
    """

    def __init__(self, cv: Any, X: Any, y: np.ndarray, groups: Any) -> None:
        self._n = len(y)
        self._splits = None if isinstance(cv, LeaveOneOut) else list(cv.split(X, y, groups))
        if self._n < 2:
            raise ProximityError("Cross-validation needs at least two objects.")
        self.partition: Any = np.arange(self._n) if self._splits is None else self._as_partition(self._splits)

    def __len__(self) -> int:
        return self._n if self._splits is None else len(self._splits)

    def __getitem__(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        if self._splits is None:
            return np.delete(np.arange(self._n), number), np.array([number])
        return self._splits[number]

    def _as_partition(self, splits: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray | None:
        fold = np.full(self._n, -1)
        for number, (_, test) in enumerate(splits):
            if (fold[test] != -1).any():
                return None
            fold[test] = number
        complete = all(len(train) + len(test) == self._n for train, test in splits)
        disjoint = not any((fold[train] == number).any() for number, (train, _) in enumerate(splits))
        return fold if complete and disjoint and (fold >= 0).all() else None
