"""What the measures on real vectors share: their door, and rows laid out for the kernels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.entries import first_place
from similis._utils.validation import check_table
from similis.exceptions import ProximityError
from similis.measures._base import Measure

__all__ = ["Laid", "VectorMeasure", "lay", "normalized"]


class VectorMeasure(Measure):
    """A measure on rows of finite numbers; float32 stays float32."""

    _keeps_float32 = True

    def _objects(self, X: Any) -> NDArray[Any]:
        who = type(self).__name__
        A = check_table(X, who, dtype=(np.float64, np.float32), order="C")
        strange = ~np.isfinite(A)
        if strange.any():
            where = first_place(strange)
            what = "NaN" if np.isnan(A).any() else "infinity (inf)"
            raise ProximityError(f"{who} needs finite numbers. Got {what} at {where}. Impute or drop it first.")
        return A

    def _encode_all(self, collections: Any) -> list[Any]:
        widths = {objects.shape[1] for objects in collections}
        if len(widths) > 1:
            raise ProximityError(f"X and Z must have the same number of columns. Got {sorted(widths)}.")
        return super()._encode_all(collections)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.no_validation = False
        return tags


@dataclass
class Laid:
    """Objects twice: a row each for the left side of a kernel, a column each for the right side."""

    rows: NDArray[Any]
    columns: NDArray[Any] = field(repr=False)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.rows.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.rows.dtype

    def astype(self, dtype: Any) -> Laid:
        return self if self.dtype == dtype else Laid(self.rows.astype(dtype), self.columns.astype(dtype))


def lay(rows: NDArray[Any]) -> Laid:
    """Lay rows out for the kernels: both copies contiguous and writeable, so that one compiled form serves all."""
    return Laid(np.require(rows, requirements=["C", "W"]), np.array(rows.T, order="C"))


def normalized(A: NDArray[Any]) -> NDArray[Any]:
    """Rows of length one; a zero row stays zero."""
    # Scaling by the largest entry first keeps tiny and huge rows from under- and overflowing.
    largest = np.abs(A).max(axis=1, keepdims=True)
    A = A / np.where(largest > 0, largest, 1)
    length = np.sqrt(np.einsum("ij,ij->i", A, A))[:, None]
    return A / np.where(length > 0, length, 1)
