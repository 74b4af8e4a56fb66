"""The counting similarity of [cazzanti2007] sec. 2.1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis import _kernels
from similis._utils.params import choice
from similis.exceptions import ProximityError
from similis.measures._base import Tick, over_rows
from similis.measures._codes import CategoricalMeasure, Codebook
from similis.measures._vectors import Laid, lay

__all__ = ["Counting"]

# Below this many features, filling both halves of the matrix in one sweep costs less than mirroring one.
FEW_FEATURES = 32


@dataclass
class _Coded:
    """Codes laid out for the kernel and, where it matters, which of them stand for missing values."""

    codes: Laid
    missing: NDArray[np.float32] | None


class Counting(CategoricalMeasure):
    """The number of features on which two objects agree, s(x, z) = #{i : x[i] = z[i]}.

    Parameters
    ----------
    missing : {"match", "mismatch"}, default="match"
        Whether two missing values of a feature agree. Missing are None, NaN and pandas' NA; a mark such as "?" is
        a value as any other, and agrees with itself.

    Attributes
    ----------
    domain_ : ndarray of shape (d + 1,)
        0, 1, ..., d.
    n_features_in_ : int
        The number d of features.

    See Also
    --------
    VDM : weighs each disagreement by what the labels say about it.
    TverskyContrast : the same idea for sets; with alpha = beta = 0 it counts common features.

    Notes
    -----
    Also called Hamming similarity ([cazzanti2007] sec. 2.1): d minus the Hamming distance. Values are strings,
    numbers or anything hashable; a value not seen at fit equals no training value.

    Examples
    --------
    >>> from similis import Counting
    >>> Counting().matrix([["y", "n", "?"], ["y", "y", "?"]])
    array([[3., 2.],
           [2., 3.]])
    """

    _parameter_constraints = {"missing": [choice("match", "mismatch")]}

    def __init__(self, *, missing: str = "match") -> None:
        self.missing = missing

    def _learn(self, objects: NDArray[Any], y: Any) -> None:
        self._codebook = Codebook.learn(objects)
        self.domain_ = np.arange(objects.shape[1] + 1, dtype=np.float64)

    def _encode(self, objects: NDArray[Any]) -> _Coded:
        return self._encode_with(self._codebook, objects)

    def _encode_all(self, collections: Sequence[NDArray[Any]]) -> list[_Coded]:
        if collections[0].shape[1] != collections[-1].shape[1]:
            widths = [table.shape[1] for table in collections]
            raise ProximityError(f"X and Z must have the same number of columns. Got {widths}.")
        # Two new objects may share a value that no training object has: the codebook of the objects at hand knows it.
        codebook = Codebook.learn(*collections)
        return [self._encode_with(codebook, table) for table in collections]

    def _encode_with(self, codebook: Codebook, table: NDArray[Any]) -> _Coded:
        codes = codebook.encode(table)
        missing = None
        if self.missing == "mismatch" and (codebook.missing_code() >= 0).any():
            missing = (codes == codebook.missing_code()).astype(np.float32)
        return _Coded(lay(codes), missing)

    def _pairs(self, left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
        if left.dtype.kind not in "biu" or right.dtype.kind not in "biu":
            return super()._pairs(left, right)
        out = np.empty(len(left))
        for i in range(0, len(left), 2**16):
            out[i : i + 2**16] = np.count_nonzero(left[i : i + 2**16] == right[i : i + 2**16], axis=1)
        return out

    def _matrix(self, A: _Coded, B: _Coded, n_jobs: int | None = None, tick: Tick | None = None) -> NDArray[Any]:
        left, right = A.codes.rows, B.codes.columns
        out = np.empty((left.shape[0], right.shape[1]))
        mirror = B is A and right.shape[0] > FEW_FEATURES

        def work(rows: slice) -> None:
            # [cazzanti2007] Eq. (2.1) with alpha = beta = 0 -> f(x and z), the number of equal features
            _kernels.count_equal(left, right, rows.start, rows.stop, mirror, out)

        over_rows(work, left.shape[0], n_jobs, tick)
        if A.missing is not None and B.missing is not None:
            out -= A.missing @ B.missing.T
        return out
