"""A method as a paper used it: estimator, grid, and how the grid was searched."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut

from similis.model_selection import PathSearchCV

__all__ = ["Method", "Part", "powers"]


@dataclass(frozen=True)
class Part:
    """Objects to learn from, or to be asked about.

    Attributes
    ----------
    proximities : ndarray of shape (m, n)
        To the training objects; square for the training part itself.
    labels : ndarray of shape (m,)
        True classes.
    kind : {"similarity", "dissimilarity"}
        What the proximities are.
    objects : ndarray of shape (m, d) or None
        The feature rows behind them, where there are any.
    distances : ndarray of shape (m, n) or None
        Dissimilarities in place of similarities, for methods that read those.
    """

    proximities: NDArray[Any]
    labels: NDArray[Any]
    kind: str
    objects: NDArray[Any] | None = None
    distances: NDArray[Any] | None = None


@dataclass(frozen=True)
class Method:
    """One entry of a table of methods.

    Attributes
    ----------
    estimator : estimator
        Unfitted. Its `kind` and `random_state` parameters are set by the experiment.
    grid : mapping of str to tuple
        Values to choose from; empty for none. Neighbourhood sizes larger than the training set are left out.
    cv : int or "loo"
        Folds of the choice.
    reads : {"proximities", "distances", "objects"}
        What the estimator is given.
    runs : int or None
        At most so many runs, for a method too slow for more.
    """

    estimator: Any
    grid: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    cv: int | Literal["loo"] = "loo"
    reads: Literal["proximities", "distances", "objects"] = "proximities"
    runs: int | None = None

    @property
    def fingerprint(self) -> str:
        """Changes with every parameter, grid value and fold, so that a cached result is never another method's."""
        parameters = sorted((key, repr(value)) for key, value in self.estimator.get_params().items())
        grid = sorted((key, repr(values)) for key, values in self.grid.items())
        text = repr((type(self.estimator).__qualname__, parameters, grid, self.cv, self.reads))
        return f"{zlib.crc32(text.encode()):08x}"

    def configured(self, kind: str, seed: int) -> Any:
        """The estimator, told what it reads and where its random numbers start."""
        model = clone(self.estimator)
        given = {"kind": kind, "random_state": seed}
        names = {
            name: given[name.rpartition("__")[2]] for name in model.get_params() if name.rpartition("__")[2] in given
        }
        return model.set_params(**names)

    def points(self, n_train: int) -> dict[str, tuple[Any, ...]]:
        """The grid for `n_train` objects, of which a fold is left out in turn."""
        left_out = 1 if self.cv == "loo" else -(-n_train // self.cv)
        return {
            name: tuple(v for v in values if v <= n_train - left_out) if name.endswith("n_neighbors") else values
            for name, values in self.grid.items()
        }

    def fit(self, part: Part, seed: int) -> tuple[Any, dict[str, Any]]:
        """Train on `part`; return the fitted model and what the search chose."""
        X = getattr(part, self.reads)
        model = self.configured("dissimilarity" if self.reads == "distances" else part.kind, seed)
        if not self.grid:
            return model.fit(X, part.labels), {}
        cv = LeaveOneOut() if self.cv == "loo" else self.cv
        search = PathSearchCV(model, self.points(len(part.labels)), cv=cv).fit(X, part.labels)
        return search, search.best_params_

    def predict(self, model: Any, part: Part) -> NDArray[Any]:
        """Labels of new objects."""
        return np.asarray(model.predict(getattr(part, self.reads)))


def powers(low: int, high: int) -> tuple[float, ...]:
    """10^low, ..., 10^high: the values of many a grid."""
    return tuple(10.0**power for power in range(low, high + 1))
