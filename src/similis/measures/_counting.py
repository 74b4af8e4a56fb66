"""Counting measure: the number of equal features or of common elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from similis import _kernels
from similis._utils.arrays import Array
from similis.base import Tick, choice, estimator, fitted_part, for_each_strip, param
from similis.exceptions import ProximityError
from similis.measures._categorical import CategoricalMeasure, Codebook
from similis.measures._sets import _Features, check_form, common_salience, read_sets
from similis.measures._vectors import TwoWayArray, both_layouts, run_kernel

FEW_FEATURES = 32  # up to this number, filling both halves of the matrix is faster than mirroring one


@estimator
class Counting(CategoricalMeasure):
    """Number of features with equal values, s(x, z) = #{i : x[i] = z[i]}; for sets, number of common elements.

    Also called Hamming similarity ([cazzanti2007] sec. 2.1, fig. 2.1): d minus the Hamming distance. Values are any
    hashable objects. Normalized similarities of sets are :class:`Jaccard`, :class:`Dice` and :class:`Overlap`.

    Parameters
    ----------
    missing : {"match", "mismatch"}, default="match"
        Count two missing values (None, NaN, NA) of a feature as equal or not; "?" is an ordinary value.
    sets : bool, default=False
        Read lists of tokens of any length, or binary rows, as sets, as Python sets are in any case.

    Attributes
    ----------
    domain_ : ndarray of shape (d + 1,)
        0, 1, ..., d for d features; for sets d is the size of the largest training set.

    Examples
    --------
    >>> from similis import Counting
    >>> Counting().matrix([["y", "n", "?"], ["y", "y", "?"]])
    array([[3., 2.],
           [2., 3.]])
    >>> Counting()({"eyes", "nose", "mouth", "hair"}, {"hair", "mouth"})
    2.0
    """

    missing: str = param("match", choice("match", "mismatch"))
    sets: bool = param(False, "boolean")

    fitted_arrays = {  # one of the two
        "_codebook": fitted_part(Codebook, optional=True, n="n"),
        "_features": fitted_part(_Features, optional=True),
    }
    _added_params = ("sets",)  # since 1.0

    def validate_objects(self, X: Any) -> Any:
        objects = X.to_numpy() if hasattr(X, "to_numpy") and not hasattr(X, "columns") else X
        listed = isinstance(objects, (list, tuple)) or (getattr(objects, "ndim", 0) == 1 and objects.dtype == object)
        if self.sets or (listed and any(isinstance(x, (set, frozenset)) for x in objects)):
            return read_sets(objects, self)
        try:
            return super().validate_objects(X)
        except ProximityError as error:
            hint = " Pass Python sets, or sets=True, to count common elements." if "same length" in str(error) else ""
            raise ProximityError(f"{error}{hint}") from None

    def learn(self, objects: Any, y: Any) -> None:
        self._features = _Features.of([objects], None) if self._are_sets(objects) else None
        if self._features is not None:
            largest = int(self._features.encode(objects, "Counting").salience.max(initial=0.0))
        else:
            self._codebook, largest = Codebook.learn(objects), objects.shape[1]
        self.domain_ = np.arange(largest + 1, dtype=np.float64)

    def _are_sets(self, objects: Any) -> bool:
        return self.sets or isinstance(objects, list)

    def encode(self, objects: Any) -> Any:
        features = getattr(self, "_features", None)  # models of 1.0 have none
        if not self.sets:
            check_form(objects, features is not None, "Counting")
        return self._encode_with(self._codebook, objects) if features is None else features.encode(objects, "Counting")

    def encode_together(self, collections: Sequence[Any]) -> list[Any]:
        # Two new objects may share a value that no training object has, so use the values of the given objects.
        if any(map(self._are_sets, collections)):
            features = _Features.of(collections, None)
            return [features.encode(objects, "Counting") for objects in collections]
        if collections[0].shape[1] != collections[-1].shape[1]:
            widths = [table.shape[1] for table in collections]
            raise ProximityError(f"X and Z must have the same number of columns. Got {widths}.")
        codebook = Codebook.learn(*collections)
        return [self._encode_with(codebook, table) for table in collections]

    def _encode_with(self, codebook: Codebook, table: Array) -> TwoWayArray:
        codes = codebook.encode(table)
        if self.missing == "match":
            return both_layouts(codes)
        # A missing value has another code on the left than on the right, so that it equals nothing.
        left = np.where(codes == codebook.missing_code(), codebook.size + 1, codes)
        dtype = np.min_scalar_type(int(codebook.size.max()) + 1)
        return TwoWayArray(left.astype(dtype), np.array(codes.T, dtype, order="C"))

    def pairs(self, left: Any, right: Any) -> Array:
        if any(map(self._are_sets, (left, right))) or getattr(self, "_features", None) is not None:
            return super().pairs(left, right)
        out = np.empty(len(left))
        integers = left.dtype.kind in "biu" and right.dtype.kind in "biu"
        for i in range(0, len(left), 2**16):
            A, B = left[i : i + 2**16], right[i : i + 2**16]
            a, b, codebook = A, B, self._codebook
            if not integers:
                a, b = codebook.encode(A), codebook.encode(B)
                if ((a == codebook.size) & (b == codebook.size)).any():  # values that no training object has
                    codebook = Codebook.learn(A, B)
                    a, b = codebook.encode(A), codebook.encode(B)
            equal: Any = a == b
            if self.missing == "mismatch" and not integers:
                equal &= a != codebook.missing_code()
            out[i : i + 2**16] = np.count_nonzero(equal, axis=1)
        return out

    def block(self, A: Any, B: Any, n_jobs: int | None = None, tick: Tick = None) -> Array:
        if not isinstance(A, TwoWayArray):
            out = common_salience(A, B, n_jobs)
            for_each_strip(lambda rows: None, len(out), n_jobs, tick)
            return out
        out = np.empty((A.shape[0], B.shape[0]))
        # [cazzanti2007] Eq. (2.1) with alpha = beta = 0 -> f(x and z), the number of equal features
        mirror = B is A and A.shape[1] > FEW_FEATURES
        return run_kernel(_kernels.count_equal, (A.rows, B.columns), out, mirror, n_jobs, tick)
