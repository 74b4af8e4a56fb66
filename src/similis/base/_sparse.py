"""Sparse training matrices, of which only blocks are dense."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from similis._utils.arrays import Array, Indices
from similis._utils.fitted import FittedArrays, fitted_indices, fitted_reals
from similis._utils.storable import storable
from similis._utils.threads import row_blocks
from similis.exceptions import ProximityError

_AMONG = 1024  # neighbors whose block is dense at a time


@storable
class SparseRows(FittedArrays):
    """Sparse proximities that are indexed like a dense matrix; entries that appear more than once are added up.

    With `missing` an absent entry is missing (NaN), else zero; with `own_zero` an absent entry of the diagonal is zero.
    """

    fitted_arrays = {"indptr": fitted_indices(None), "indices": fitted_indices("e"), "data": fitted_reals("e")}

    def __init__(self, matrix: Any, *, missing: bool, own_zero: bool = False) -> None:
        entries = sparse.coo_array(matrix, copy=True)
        entries.sum_duplicates()
        rows, columns = (np.asarray(x, dtype=np.intp) for x in entries.coords)
        data = entries.data
        if own_zero:
            absent = np.setdiff1d(np.arange(min(entries.shape)), rows[rows == columns])
            rows, columns = np.r_[rows, absent], np.r_[columns, absent]
            data = np.r_[data, np.zeros(len(absent), data.dtype)]
        order = np.lexsort((columns, rows))
        self.shape = tuple(map(int, entries.shape))
        self.indptr = np.searchsorted(rows[order], np.arange(self.shape[0] + 1)).astype(np.intp)
        self.indices, self.data = columns[order], data[order]
        self.missing = bool(missing)

    ndim = 2

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def size(self) -> int:
        return self.shape[0] * self.shape[1]

    @property
    def is_full(self) -> bool:
        return len(self.data) == self.size

    def __len__(self) -> int:
        return self.shape[0]

    def to_csr(self) -> Any:
        return sparse.csr_array((self.data, self.indices, self.indptr), shape=self.shape, copy=False)

    def __getitem__(self, key: Any) -> Array:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        if isinstance(rows, np.ndarray) and isinstance(columns, np.ndarray):
            if rows.ndim == 1:  # one entry per pair of indices
                parts = list(row_blocks(len(rows), self.shape[1]))
                return np.concatenate([self[rows[a]][np.arange(len(rows[a])), columns[a]] for a in parts])
            rows, columns = rows.ravel(), columns.ravel()  # of np.ix_
        part = self.to_csr()[rows]
        entries = (part if isinstance(columns, slice) and columns == slice(None) else part[:, columns]).tocoo()
        dense = np.full(entries.shape, np.nan if self.missing else 0.0, dtype=self.dtype)
        dense[entries.coords] = entries.data
        return dense

    def __matmul__(self, other: Array) -> Array:
        """Multiply by a dense matrix; absent entries count as zero."""
        return np.asarray(self.to_csr() @ other)

    def min(self) -> Any:
        return self.data.min(initial=np.inf if self.missing or self.is_full else 0.0)

    def max(self) -> Any:
        return self.data.max(initial=-np.inf if self.missing or self.is_full else 0.0)

    def among(self, indices: Indices) -> tuple[Array, Indices]:
        """Return the dense block among the objects in `indices` (-1 for none), and `indices` within that block."""
        objects = np.unique(indices[indices >= 0])
        local = np.where(indices >= 0, np.searchsorted(objects, indices), -1)
        return np.ascontiguousarray(self[np.ix_(objects, objects)]), local

    def neighborhoods(self, indices: Indices) -> Iterator[tuple[Any, ...]]:
        """Yield some rows of `indices`, (m, k), at a time: the rows, their distinct objects, :meth:`among` of them."""
        step = max(1, _AMONG // max(indices.shape[1], 1))
        for start in range(0, max(len(indices), 1), step):
            rows = slice(start, start + step)
            near = indices[rows]
            yield rows, np.unique(near[near >= 0]), *self.among(near)

    def verify_fitted(self) -> None:
        super().verify_fitted()
        shape, ends = self.shape, self.indptr
        if not (isinstance(shape, tuple) and len(shape) == 2 and all(type(x) is int and x > 0 for x in shape)):
            raise ProximityError("The shape of a sparse matrix must be two positive integers.")
        if len(ends) != shape[0] + 1 or ends[0] or (np.diff(ends) < 0).any() or ends[-1] != len(self.indices):
            raise ProximityError("The rows of a sparse matrix must be in order and cover all its entries.")
        if len(self.indices) and self.indices.max() >= shape[1]:
            raise ProximityError(f"The columns of a sparse matrix must be below {shape[1]}.")
