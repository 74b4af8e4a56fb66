"""Weighted point sets: their door, and all points of a collection in one array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.entries import first_place
from similis.exceptions import ProximityError
from similis.measures._base import Measure, plain_rows

__all__ = ["METRICS", "PointSetMeasure", "PointSets", "as_points", "read_point_sets"]

# Distances between two points that the measures on point sets offer, by scipy's names.
METRICS = ("euclidean", "sqeuclidean", "cityblock", "chebyshev")


class PointSetMeasure(Measure):
    """A measure on sets of points, perhaps weighted, all of the same dimension."""

    _keeps_float32 = True
    _only_remembers = True
    _needs_mass = False

    def _objects(self, X: Any) -> list[tuple[NDArray[Any], NDArray[np.float64]]]:
        return read_point_sets(X, type(self).__name__)

    def _learn(self, objects: list[Any], y: Any) -> None:
        self._dimension = _dimension([objects])

    def _encode(self, objects: list[Any]) -> Any:
        return PointSets.of(objects, getattr(self, "_dimension", None), mass=self._needs_mass)

    def _encode_all(self, collections: Sequence[list[Any]]) -> list[Any]:
        dimension = _dimension(collections)
        return [PointSets.of(objects, dimension, mass=self._needs_mass) for objects in collections]


@dataclass
class PointSets:
    """Points and weights of all sets one after another; set i is ``points[starts[i]:starts[i + 1]]``."""

    points: NDArray[Any]
    weights: NDArray[np.float64]
    starts: NDArray[np.int64]
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, objects: list[Any], dimension: int | None, *, mass: bool) -> PointSets:
        """Lay sets out; with `mass`, points without weight are left out and weights sum to one in each set."""
        if dimension is not None and _dimension([objects]) != dimension:
            raise ProximityError(
                f"Point sets must have the dimension of the training sets, {dimension}. Got {_dimension([objects])}."
            )
        dtype = np.result_type(*(points.dtype for points, _ in objects))
        if mass:
            objects = [(points[weights > 0], weights[weights > 0] / weights.sum()) for points, weights in objects]
        starts = np.concatenate([[0], np.cumsum([len(points) for points, _ in objects])]).astype(np.int64)
        points = np.concatenate([points for points, _ in objects]).astype(np.float64)
        return cls(points, np.concatenate([weights for _, weights in objects]), starts, dtype)

    @property
    def shape(self) -> tuple[int]:
        return (len(self.starts) - 1,)

    def place(self, i: int) -> slice:
        """Where the points of set i are."""
        return slice(int(self.starts[i]), int(self.starts[i + 1]))


def read_point_sets(X: Any, who: str) -> list[tuple[NDArray[Any], NDArray[np.float64]]]:
    """Point sets as pairs of points (k, d) and weights (k,); numbers alone are points on a line."""
    sets = [_as_set(x, i, who) for i, x in enumerate(plain_rows(X, who))]
    _dimension([sets])
    return sets


def _as_set(x: Any, i: int, who: str) -> tuple[NDArray[Any], NDArray[np.float64]]:
    weights = None
    if isinstance(x, (tuple, list)) and len(x) == 2 and _depth(x[0]) == 2 and _depth(x[1]) == 1:
        x, weights = x
    points = as_points(x, i, who, "sets of points: k rows of d numbers, or pairs (points, weights)")
    return points, np.ones(len(points)) if weights is None else _as_weights(weights, len(points), i, who)


def as_points(x: Any, i: int, who: str, wanted: str) -> NDArray[Any]:
    """Rows of finite numbers, at least one; float32 stays float32."""
    try:
        points = np.asarray(x)
        if points.dtype.kind == "c":
            raise TypeError
        points = points if points.dtype == np.float32 else points.astype(np.float64)
    except (TypeError, ValueError):
        points = np.empty((0, 0, 0))
    if points.ndim == 1:
        points = points[:, None]
    if points.ndim != 2:
        raise ProximityError(f"{who} compares {wanted}. Object {i} is none of this.")
    if not points.size:
        raise ProximityError(f"{who} needs objects with at least one point. Object {i} is empty.")
    if not np.isfinite(points).all():
        raise ProximityError(f"{who} needs finite numbers. Object {i} has none at {first_place(~np.isfinite(points))}.")
    return points


def _as_weights(weights: Any, n_points: int, i: int, who: str) -> NDArray[np.float64]:
    try:
        weights = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.full(n_points, np.nan)
    if len(weights) != n_points:
        raise ProximityError(
            f"{who} needs one weight per point. Object {i} has {n_points} points, {len(weights)} weights."
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.sum() > 0):
        raise ProximityError(f"{who} needs finite weights, none below zero and not all zero. Object {i} breaks this.")
    return weights


def _depth(x: Any) -> int:
    """How deeply numbers are nested: 2 for rows of numbers."""
    if hasattr(x, "ndim"):
        return int(x.ndim)
    return 1 + max(map(_depth, x), default=0) if isinstance(x, (list, tuple)) else 0


def _dimension(collections: Sequence[list[Any]]) -> int:
    """The dimension that all sets share."""
    dimensions = [[points.shape[1] for points, _ in objects] for objects in collections]
    first = dimensions[0][0]
    for objects in dimensions:
        for i, d in enumerate(objects):
            if d != first:
                raise ProximityError(
                    f"Points must all have the same dimension. Object 0 has {first}, object {i} has {d}."
                )
    return first
