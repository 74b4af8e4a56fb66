"""Objects measured inside the splits, once per training part for all methods.

A measure that learns from labels, such as VDM, must be fitted on the training part alone, also inside the folds that
choose parameters. Every method needs the same training parts, so each process caches the blocks it measured last.
"""

from __future__ import annotations

from collections import OrderedDict
from secrets import token_hex
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import _safe_indexing, get_tags

from similis.exceptions import ProximityError

__all__ = ["MeasuredObjects", "learns"]

_CACHE_BYTES = 512 * 2**20  # measured blocks kept by a process

Learns = Literal["nothing", "objects", "labels"]


def learns(measure: Any) -> Learns:
    """Return what a measure learns from when it is fitted: "labels", unless its tags exclude that."""
    from similis.measures import Measure

    if not isinstance(measure, Measure):
        raise ProximityError(
            f"measure must be a similis measure, such as Counting() or FromFunction(f). Got {type(measure).__name__}."
        )
    cls = type(measure)
    if cls.fit is Measure.fit and (cls._learn is Measure._learn or measure._only_remembers):
        return "nothing"
    return "labels" if get_tags(measure).target_tags.required else "objects"


class MeasuredObjects:
    """Objects and an unfitted measure; shared by clones, never copied.

    Parameters
    ----------
    objects : sequence
        Anything that can be indexed row by row.
    measure : measure
        Fitted anew on each training part.
    """

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
        found = _blocks.get(key)
        if found is None:
            from similis.measures import Pairwise

            fitted = Pairwise(clone(self.measure), symmetrize=symmetrize)
            square = fitted.fit_transform(_safe_indexing(self.objects, train), y)
            found = _blocks.put(key, (fitted, square), square.nbytes)
        return found

    def rows(self, train: NDArray[np.intp], y: Any, symmetrize: bool, test: NDArray[np.intp]) -> NDArray[Any]:
        """Proximities of other objects to a training part."""
        key = (self.token, symmetrize, _bytes(train), _bytes(y), _bytes(test))
        found = _blocks.get(key)
        if found is None:
            block = self.pairwise(train, y, symmetrize)[0].transform(_safe_indexing(self.objects, test))
            found = _blocks.put(key, block, block.nbytes)
        return found

    def __deepcopy__(self, memo: dict[int, Any]) -> MeasuredObjects:
        return self  # cloning a pipeline shares the objects


class MeasureStep(TransformerMixin, BaseEstimator):
    """Transform indices of objects to proximity rows, as ``Pairwise`` does with the objects."""

    def __init__(self, source: MeasuredObjects, *, symmetrize: bool = False) -> None:
        self.source = source
        self.symmetrize = symmetrize

    def fit(self, X: NDArray[np.intp], y: Any = None) -> MeasureStep:
        """Store the training part."""
        self.train_, self.labels_ = np.asarray(X), np.asarray(y)
        return self

    def fit_transform(self, X: NDArray[np.intp], y: Any = None, **params: Any) -> NDArray[Any]:
        """Measure the training part."""
        self.fit(X, y)
        square: NDArray[Any] = self.source.pairwise(self.train_, self.labels_, self.symmetrize)[1]
        return square

    def transform(self, X: NDArray[np.intp]) -> NDArray[Any]:
        """Measure other objects against it."""
        return self.source.rows(self.train_, self.labels_, self.symmetrize, np.asarray(X))


class _BlockCache:
    """Least recently used cache, limited in bytes."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._items: OrderedDict[Any, tuple[Any, int]] = OrderedDict()

    def get(self, key: Any) -> Any:
        if key not in self._items:
            return None
        self._items.move_to_end(key)
        return self._items[key][0]

    def put(self, key: Any, value: Any, size: int) -> Any:
        self._items[key] = (value, size)
        while len(self._items) > 1 and sum(size for _, size in self._items.values()) > self.max_bytes:
            self._items.popitem(last=False)
        return value


_blocks = _BlockCache(_CACHE_BYTES)


def _bytes(A: Any) -> bytes:
    return np.ascontiguousarray(A).tobytes()
