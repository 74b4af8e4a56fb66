"""Objects measured inside the splits, once per training part for all methods.

A measure that learns from labels, such as VDM, must be fitted on the training part alone, also inside the folds that
choose parameters. Every method needs the same training parts, so each process caches the blocks it measured last.
"""

from __future__ import annotations

from secrets import token_hex
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import _safe_indexing, get_tags

from similis._utils.cache import CACHE
from similis.exceptions import ProximityError

__all__ = ["MeasuredObjects", "learns"]

Learns = Literal["nothing", "objects", "labels"]


def learns(measure: Any) -> Learns:
    """Return what a measure learns from when it is fitted: "labels", unless its tags exclude that."""
    from similis.measures import Measure

    if not isinstance(measure, Measure):
        raise ProximityError(
            f"measure must be a similis measure, such as Counting() or FromFunction(f). Got {type(measure).__name__}."
        )
    cls = type(measure)
    if cls.fit is Measure.fit and (cls.learn is Measure.learn or measure.fit_only_indexes):
        return "nothing"
    return "labels" if get_tags(measure).target_tags.required else "objects"


class MeasuredObjects:
    """Objects, which are indexed row by row, and an unfitted measure; shared by clones, never copied."""

    def __init__(self, objects: Any, measure: Any) -> None:
        self.objects = objects
        self.measure = measure
        self.learns = learns(measure)
        self.token = token_hex(8)

    def step(self, *, symmetrize: bool) -> MeasureStep:
        """Make the first step of a pipeline that reads indices of objects."""
        return MeasureStep(self, symmetrize=symmetrize)

    def pairwise(self, train: NDArray[np.intp], y: Any, symmetrize: bool) -> tuple[Any, NDArray[Any]]:
        """Return a ``Pairwise`` fitted on a training part, and the square block."""
        key = (self.token, symmetrize, _bytes(train), _bytes(y))
        found: tuple[Any, NDArray[Any]] | None = CACHE.get(key)
        if found is None:
            from similis.measures import Pairwise

            fitted = Pairwise(clone(self.measure), symmetrize=symmetrize)
            found = fitted, fitted.fit_transform(_safe_indexing(self.objects, train), y)
            CACHE.put(key, found, found[1].nbytes)
        return found

    def rows(self, step: MeasureStep, test: NDArray[np.intp]) -> NDArray[Any]:
        """Proximities of other objects to the training part of a fitted step."""
        key = (self.token, step.symmetrize, _bytes(step.train_), _bytes(step.labels_), _bytes(test))
        block: NDArray[Any] | None = CACHE.get(key)
        if block is None:
            block = step.pairwise_.transform(_safe_indexing(self.objects, test))
            CACHE.put(key, block, block.nbytes)
        return block

    def __deepcopy__(self, memo: dict[int, Any]) -> MeasuredObjects:
        return self  # cloning a pipeline shares the objects


class MeasureStep(TransformerMixin, BaseEstimator):
    """Transform indices of objects to proximity rows, as ``Pairwise`` does with the objects."""

    def __init__(self, source: MeasuredObjects, *, symmetrize: bool = False) -> None:
        self.source = source
        self.symmetrize = symmetrize

    def fit(self, X: NDArray[np.intp], y: Any = None) -> MeasureStep:
        """Measure the training part."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: NDArray[np.intp], y: Any = None, **params: Any) -> NDArray[Any]:
        """Measure the training part and return its square block."""
        self.train_, self.labels_ = np.asarray(X), np.asarray(y)
        self.pairwise_, square = self.source.pairwise(self.train_, self.labels_, self.symmetrize)
        return square

    def transform(self, X: NDArray[np.intp]) -> NDArray[Any]:
        """Measure other objects against it."""
        return self.source.rows(self, np.asarray(X))


def _bytes(A: Any) -> bytes:
    return np.ascontiguousarray(A).tobytes()
