"""Objects described by features, as sets: Python sets as they are, rows of a table as sets of (column, value)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from similis.exceptions import ProximityError
from similis.measures._base import Measure
from similis.measures._codes import is_missing, read_table
from similis.measures._sets import read_sets

__all__ = ["as_sets", "check_form", "is_binary", "read_described", "sparse_codes"]


def read_described(X: Any, measure: Measure) -> Any:
    """A list of frozensets, or a table of values."""
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype == object:
        X = X.tolist()
    some = isinstance(X, (list, tuple)) and any(isinstance(x, (set, frozenset)) for x in X)
    if sparse.issparse(X):
        X = read_sets(X, measure)
        return [frozenset(X.indices[a:b].tolist()) for a, b in zip(X.indptr, X.indptr[1:])]
    return read_sets(X, measure) if some else read_table(X, type(measure).__name__)


def check_form(objects: Any, of_sets: bool, who: str) -> None:
    """Refuse rows after a fit on sets, and sets after a fit on rows."""
    if isinstance(objects, list) != of_sets:
        before, now = ("sets", "rows") if of_sets else ("rows", "sets")
        raise ProximityError(f"{who} was fitted on {before} and cannot compare them with {now}.")


def is_binary(table: Any) -> bool:
    """Whether a table holds nothing but the numbers 0 and 1."""
    return isinstance(table, np.ndarray) and table.dtype.kind in "biuf" and bool(((table == 0) | (table == 1)).all())


def as_sets(objects: Any, presence: bool = False) -> list[frozenset[Any]]:
    """Sets of features: (column, value), or with `presence` the columns that hold a 1."""
    if isinstance(objects, list):
        return objects
    if presence:
        return [frozenset(np.flatnonzero(row == 1).tolist()) for row in objects]
    return [frozenset(_features(row.tolist())) for row in np.asarray(objects)]


def _features(row: list[Any]) -> list[tuple[int, Any]]:
    return [(k, None if is_missing(value) else value) for k, value in enumerate(row)]


def sparse_codes(sets: list[frozenset[Any]], vocabulary: dict[Any, int]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sorted codes of every set one after another, and where each begins; what has no code is one code beyond."""
    codes = [sorted({vocabulary.get(token, len(vocabulary)) for token in tokens}) for tokens in sets]
    starts = np.concatenate([[0], np.cumsum([len(c) for c in codes])]).astype(np.int64)
    return np.array([code for row in codes for code in row], dtype=np.int32), starts
