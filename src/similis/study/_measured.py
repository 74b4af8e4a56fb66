"""Objects measured inside the splits: each process caches the blocks of the training parts, which methods share."""

from __future__ import annotations

from secrets import token_hex
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import _safe_indexing, get_tags

from similis._utils.arrays import Array, Indices
from similis._utils.cache import CACHE
from similis.exceptions import ProximityError

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

    def __deepcopy__(self, memo: dict[int, Any]) -> MeasuredObjects:
        return self  # cloning a pipeline shares the objects


class MeasureStep(TransformerMixin, BaseEstimator):
    """First step of a pipeline that reads indices of objects; transforms them as ``Pairwise`` does the objects."""

    def __init__(self, source: MeasuredObjects, *, symmetrize: bool = False) -> None:
        self.source = source
        self.symmetrize = symmetrize

    def fit(self, X: Indices, y: Any = None) -> MeasureStep:
        """Measure the training part."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Indices, y: Any = None, **params: Any) -> Array:
        """Measure the training part and return its square block."""
        self.key_ = self.source.token, self.symmetrize, _bytes(X), _bytes(y)
        found: tuple[Any, Array] | None = CACHE.get(self.key_)
        if found is None:
            from similis.measures import Pairwise

            fitted = Pairwise(clone(self.source.measure), symmetrize=self.symmetrize)
            found = fitted, fitted.fit_transform(_safe_indexing(self.source.objects, np.asarray(X)), np.asarray(y))
            CACHE.put(self.key_, found, found[1].nbytes)
        self.pairwise_ = found[0]
        return found[1]

    def transform(self, X: Indices) -> Array:
        """Measure other objects against it."""
        key = (*self.key_, _bytes(X))
        block: Array | None = CACHE.get(key)
        if block is None:
            block = self.pairwise_.transform(_safe_indexing(self.source.objects, np.asarray(X)))
            CACHE.put(key, block, block.nbytes)
        return block


def _bytes(A: Any) -> bytes:
    return np.ascontiguousarray(A).tobytes()
