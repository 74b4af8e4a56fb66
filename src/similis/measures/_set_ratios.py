"""Named ratios of common features: Jaccard (Tanimoto), Dice, overlap."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from similis import _kernels
from similis.measures._sets import SetMeasure

__all__ = ["Dice", "Jaccard", "Overlap"]


class Jaccard(SetMeasure):
    """Common features over all features, s(x, z) = |x and z| / |x or z|; Tanimoto on bit fingerprints.

    Parameters
    ----------
    packed : bool, default=False
        Whether the objects are bit fingerprints packed into rows of bytes (``numpy.packbits``) or 64-bit words.

    Attributes
    ----------
    domain_ : tuple
        ``(0, 1)``.

    See Also
    --------
    TverskyRatio : alpha = beta = 1 gives this measure ([cazzanti2007] Eq. (2.2)).

    Notes
    -----
    Objects are sets (or lists) of tokens, binary rows given as an array, a sparse binary matrix, or packed bits. Two
    empty sets are equal: similarity 1.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import Jaccard
    >>> Jaccard()({"a", "b", "c"}, {"b", "c", "d"})
    0.5
    >>> bits = np.packbits([[1, 1, 1, 0], [0, 1, 1, 1]], axis=1)
    >>> Jaccard(packed=True).matrix(bits)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    domain_ = (0.0, 1.0)
    _parameter_constraints = {"packed": ["boolean"]}

    def __init__(self, *, packed: bool = False) -> None:
        self.packed = packed

    @property
    def _reads_packed(self) -> bool:  # type: ignore[override]
        return self.packed

    def _combine(self, fx: NDArray[Any], fz: NDArray[Any], rows: slice, common: NDArray[Any]) -> None:
        _kernels.ratio_model(fx, fz, 1.0, 1.0, rows.start, rows.stop, common)


class Dice(SetMeasure):
    """Twice the common features over the sum of both, s(x, z) = 2 |x and z| / (|x| + |z|).

    Attributes
    ----------
    domain_ : tuple
        ``(0, 1)``.

    See Also
    --------
    TverskyRatio : alpha = beta = 0.5 gives this measure ([cazzanti2007] Eq. (2.2)).

    Notes
    -----
    Objects are sets (or lists) of tokens, binary rows given as an array, or a sparse binary matrix. Two empty sets
    are equal: similarity 1.

    Examples
    --------
    >>> from similis import Dice
    >>> Dice()({"a", "b"}, {"b", "c"})
    0.5
    """

    domain_ = (0.0, 1.0)

    def _combine(self, fx: NDArray[Any], fz: NDArray[Any], rows: slice, common: NDArray[Any]) -> None:
        _kernels.ratio_model(fx, fz, 0.5, 0.5, rows.start, rows.stop, common)


class Overlap(SetMeasure):
    """Common features over the smaller set, s(x, z) = |x and z| / min(|x|, |z|).

    Attributes
    ----------
    domain_ : tuple
        ``(0, 1)``.

    See Also
    --------
    Jaccard : over the union.

    Notes
    -----
    Not a case of Tversky's ratio model. Objects are sets (or lists) of tokens, binary rows given as an array, or a
    sparse binary matrix. Two empty sets are equal: similarity 1; an empty set and any other have similarity 0.

    Examples
    --------
    >>> from similis import Overlap
    >>> Overlap()({"a", "b"}, {"a", "b", "c", "d"})
    1.0
    """

    domain_ = (0.0, 1.0)

    def _combine(self, fx: NDArray[Any], fz: NDArray[Any], rows: slice, common: NDArray[Any]) -> None:
        _kernels.overlap_model(fx, fz, rows.start, rows.stop, common)
