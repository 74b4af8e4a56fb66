"""Proximity: a matrix with the ids, kind and labels that belong to it, validated in one place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from similis._utils.arrays import Array, Indices
from similis._utils.disk import is_stored, load_stored, take_block
from similis._utils.environment import require_package
from similis._utils.messages import warn_user
from similis.base import Kind, check_label_order
from similis.exceptions import InputWarning, ProximityError
from similis.io._checks import LABEL_HEADERS, as_ids, as_labels, as_values, check_kind, decode_labels, quote_short


@dataclass(frozen=True, eq=False, repr=False)
class Proximity:
    """A matrix of proximities with the names of its rows and columns.

    Parameters
    ----------
    values : array-like of shape (n, n), (m, n) or (n, n, q)
        Proximities: row = the new or left object, column = the training object. NaN is a missing entry. float32,
        float64, memory maps and zarr arrays are kept as they are, everything else becomes float64. A sparse matrix
        becomes a CSR array: an absent similarity is zero, an absent dissimilarity is missing.
    ids, column_ids : sequence of str, optional
        One name per row, all distinct; one name per column, if columns and rows are different objects.
    kind : {"similarity", "dissimilarity"}, optional
        Whether a large value means alike or different; None if that is not known.
    labels : array-like of shape (m,), optional
        One class label per row: text, integers or booleans.
    about : dict, optional
        How the matrix was read from a file: its format and, for a list of pairs, what was counted and filled in.

    Examples
    --------
    >>> from similis import Proximity
    >>> Proximity([[1.0, 0.2], [0.2, 1.0]], ids=["a", "b"], kind="similarity", labels=["x", "y"])
    Proximity(2 x 2 similarity, float64, ids 'a' ... 'b', 2 classes)
    """

    values: Array
    ids: tuple[str, ...] | None = None
    kind: Kind | None = None
    labels: Array | None = None
    column_ids: tuple[str, ...] | None = None
    about: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        check_label_order(self.values, self.labels)
        values = as_values(self.values)
        rows, columns = values.shape[:2]
        ids = None if self.ids is None else as_ids(self.ids, rows, "row")
        column_ids = None if self.column_ids is None else as_ids(self.column_ids, columns, "column")
        check_kind(self.kind)
        labels = None if self.labels is None else as_labels(self.labels, rows)
        column_ids = None if column_ids == ids else column_ids
        vars(self).update(values=values, ids=ids, column_ids=column_ids, labels=labels)

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.values.shape[0])

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the values."""
        return tuple(self.values.shape)

    @property
    def square(self) -> bool:
        """True if rows and columns are the same objects."""
        return self.values.shape[0] == self.values.shape[1] and self.column_ids is None

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Ids of the columns: those of the rows where they are the same objects."""
        return self.ids if self.square else self.column_ids

    def take(self, objects: Sequence[int] | Indices) -> Proximity:
        """Return the proximities of some of the objects, in this order: rows, and columns of a square matrix."""
        rows = np.asarray(objects, dtype=np.intp)
        values = load_stored(self.values) if is_stored(self.values) else self.values
        columns = rows if self.square else np.arange(values.shape[1])
        ids = None if self.ids is None else tuple(self.ids[i] for i in rows)
        labels = None if self.labels is None else self.labels[rows]
        values = values[rows][:, columns] if sparse.issparse(values) else take_block(values, rows, columns)
        return replace(self, values=values, ids=ids, labels=labels)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with the ids as index and columns."""
        pd = require_package("pandas", extra="frame", who="to_frame")
        if self.values.ndim != 2:
            raise ProximityError(f"A frame holds one matrix. Got a stack of shape {self.shape}; take one slice.")
        index, columns = (None if names is None else list(names) for names in (self.ids, self.columns))
        return pd.DataFrame(self.to_dense(), index=index, columns=columns)

    def to_dense(self) -> Array:
        """Return the values as an array; absent entries of a sparse dissimilarity become NaN."""
        values: Any = self.values
        if not sparse.issparse(values):
            return values
        if self.kind != "dissimilarity":
            return values.toarray()
        dense, entries = np.full(values.shape, np.nan, dtype=values.dtype), values.tocoo()
        dense[entries.coords] = entries.data
        return dense

    def __repr__(self) -> str:
        parts = [" x ".join(map(str, self.shape)) + f" {self.kind or 'proximity'}", str(self.values.dtype)]
        if self.ids:
            parts.append(f"ids {quote_short(self.ids[0])} ... {quote_short(self.ids[-1])}")
        if self.labels is not None:
            parts.append(f"{len(np.unique(self.labels))} classes")
        return f"Proximity({', '.join(parts)})"


def proximity_in_file(where: str, *parts: Any, **named: Any) -> Proximity:
    """Make a Proximity of the contents of a file; an error message names the file."""
    try:
        return Proximity(*parts, **named)
    except ProximityError as error:
        raise ProximityError(f"{where}: {error}") from None


def as_proximity(data: Any, *, column_ids: Any = None, **parts: Any) -> Proximity:
    """Convert a Proximity, a frame with its ids, or an array; given ids, kind and labels replace those that it has."""
    if not isinstance(data, Proximity):
        check_label_order(data, parts.get("labels"))
        rows = columns = None
        if getattr(data, "columns", None) is not None and len(getattr(data, "shape", ())) == 2:  # of pandas or polars
            index = getattr(data, "index", None)
            rows = None if index is None or callable(index) else _unless_default(list(index))
            columns = _unless_default(list(data.columns))
            if data.shape[0] == data.shape[1]:  # named on one side only: rows and columns are in the same order
                rows, columns = rows or columns, columns or rows
        data = Proximity(data, ids=rows, column_ids=columns)  # type: ignore[arg-type]
    changes = {name: part for name, part in {**parts, "column_ids": column_ids}.items() if part is not None}
    if "ids" in changes and data.square:
        changes.setdefault("column_ids", None)
    return replace(data, **changes) if changes else data


def _unless_default(names: list[Any]) -> list[Any] | None:
    """Ids of a frame, None if they are 0, 1, 2, ..."""
    return None if names == list(range(len(names))) else names


def with_own_entries(P: Proximity) -> Any:
    """Values of a sparse matrix; of similarities with a stored diagonal, since a reader fills in an absent one."""
    if P.kind != "similarity" or not P.square:
        return P.values
    entries, own = sparse.coo_array(P.values), np.arange(P.n)
    data = np.concatenate([entries.data, np.zeros(P.n, entries.data.dtype)])  # added to entries that are there
    return sparse.coo_array((data, tuple(np.concatenate([places, own]) for places in entries.coords)), shape=P.shape)


def mirror_triangle(values: Array, where: str) -> Array:
    """Fill in a triangle that is missing, or zero while most of the other one is not, from that one, with a warning."""
    if values.ndim != 2 or values.shape[0] != values.shape[1] or values.shape[0] < 3:
        return values
    ends = np.asarray(values[0, 1:]), np.asarray(values[-1, :-1])  # empty below the diagonal: so is the last row
    empty_ends = [bool(np.isnan(end).all() or not end.any()) for end in ends]
    if not any(empty_ends):
        return values
    if all(empty_ends) and (is_stored(values) or isinstance(values, np.memmap)):
        return values  # a file that stays on disk is read whole only where one end alone is empty
    A = np.asarray(values)
    n_pairs = len(A) * (len(A) - 1) // 2
    missing = np.isnan(A)
    upper = [np.count_nonzero(np.triu(entries, 1)) for entries in (missing, A)]  # missing ones; others than zero
    lower = [np.count_nonzero(np.tril(entries, -1)) for entries in (missing, A)]
    for empty, full, here, there in (("upper", "lower", upper, lower), ("lower", "upper", lower, upper)):
        is_missing, is_zero = here[0] == n_pairs > there[0], here[1] == 0 and 2 * (there[1] - there[0]) > n_pairs
        if is_missing or is_zero:
            remark = f"{'empty' if is_missing else 'zero'} and was filled in from the {full} one"
            remedy = "If the directions differ, set directed=True."
            warn_user(f"{where}: the {empty} triangle is {remark}. {remedy}", InputWarning)
            triangle = np.tri(len(A), dtype=bool)
            return np.where(triangle if full == "lower" else triangle.T, A, A.T)
    return values


def is_condensed(shape: tuple[int, ...]) -> bool:
    """Tell whether an array is a vector with one number for each pair of three or more objects."""
    size = math.prod(shape)
    return max(shape, default=0) == size > 2 and math.isqrt(1 + 8 * size) ** 2 == 1 + 8 * size


def square_of_condensed(values: Array, where: str, *, stated: bool = False) -> Array:
    """Make the matrix of distances as SciPy's pdist returns them, with a warning unless the file has `stated` so."""
    n = round((1 + math.sqrt(1 + 8 * len(values))) / 2)
    if values.ndim != 1 or n * (n - 1) // 2 != len(values) or not len(values):
        rule = "a vector must hold the n (n - 1) / 2 distances of all pairs of n objects"
        raise ProximityError(f"{where}: {rule}. Got {len(values)}.")
    if values.dtype.kind not in "fiu":
        raise ProximityError(f"{where} must hold numbers. Got dtype {values.dtype}.")
    if not stated:
        remark = f"its {len(values)} numbers are read as the dissimilarities of all pairs of {n} objects."
        warn_user(f"{where}: {remark}", InputWarning)
    square = np.zeros((n, n), dtype=values.dtype if values.dtype in (np.float32, np.float64) else np.float64)
    square[np.triu_indices(n, 1)] = values
    return square + square.T


def labels_in_column(P: Proximity, where: str) -> Proximity:
    """Take the numbers of a column called class or label as labels, if the matrix has one column too many."""
    named = [j for j, name in enumerate(P.column_ids or ()) if name.strip().lower() in LABEL_HEADERS]
    if len(named) != 1 or P.shape != (P.n, P.n + 1) or P.labels is not None:
        return P
    labels = [None if np.isnan(label) else f"{label:.15g}" for label in P.values[:, named[0]].tolist()]
    columns = np.delete(P.column_ids or (), named[0]).tolist()
    rest = np.delete(P.values, named[0], axis=1)
    return with_labels(proximity_in_file(where, rest, P.ids, P.kind, None, columns, P.about), labels, where, texts=True)


def with_labels(P: Proximity, labels: Sequence[Any], where: str, *, texts: bool = False) -> Proximity:
    """Add labels, None where there is none, and leave objects without a label out; `texts` may spell integers."""
    labeled = [i for i, label in enumerate(labels) if label is not None]
    if not labeled:
        return P
    if len(labeled) < P.n:
        warn_user(f"{where}: {P.n - len(labeled)} of {P.n} objects have no label and are left out.", InputWarning)
        P = P.take(labeled)
    known: Any = [labels[i] for i in labeled]
    known = decode_labels(known) if texts else known
    return proximity_in_file(where, P.values, P.ids, P.kind, known, P.column_ids, P.about)
