"""Tighter similarities: powers and exponentials of the entries. [bernal2003] sec. 3.2."""

from __future__ import annotations

from typing import Any

import numpy as np

from similis._utils.arrays import Array
from similis.base import choice, positive
from similis.proximity._base import Elementwise


class Tighten(Elementwise):
    """Make a similarity tighter: similar objects count more, all others less.

    ===============  =============================================  ======================================
    method           t(x, z)                                        unchanged predictions for
    ===============  =============================================  ======================================
    ``power``        sign(s) (abs(s) / s_max)^q, s = s(x, z)        c S, c > 0
    ``exponential``  exp(-q (s_max - s(x, z)) / (s_max - s_m))      c S + b, c > 0
    ===============  =============================================  ======================================

    A sum over a class, as in :class:`~similis.MaxSim`, :class:`~similis.SBC` and
    :class:`~similis.SimilarityPerceptron`, depends on the whole class where the similarity is flat, and on the nearest
    objects where it is tight. `q` plays the part of the inverse width of an RBF for a matrix that is given.

    Parameters
    ----------
    q : float, default=4.0
        Tightness, above zero. ``power`` with q = 1 only divides by a constant. A grid of powers of two, from 1 to 64,
        covers most data.
    method : {"power", "exponential"}, default="power"
        The rule.

    Attributes
    ----------
    largest_ : float
        s_max, the largest absolute training similarity for ``power``, the largest similarity for ``exponential``.
    spread_ : float
        ``exponential``: s_max - s_m with s_m the median training similarity of two objects. ``power``: `largest_`. A
        spread of zero is replaced by one.

    See Also
    --------
    ToSimilarity : with ``method="exponential"`` a tight similarity from dissimilarities.

    Notes
    -----
    ``power`` keeps the sign of negative similarities: a dissimilar pair still counts against a class, by less as q
    grows. ``exponential`` gives positive numbers only. A new similarity above s_max is transformed by the same formula;
    results are limited to the square root of the largest floating-point number.

    References
    ----------
    [bernal2003] sec. 3.2 and 3.3, propositions 2 to 5: the limit of tight similarities.

    Examples
    --------
    >>> from similis.proximity import Tighten
    >>> Tighten(q=2).fit_transform([[2.0, 1.0], [-1.0, 2.0]])
    array([[ 1.  ,  0.25],
           [-0.25,  1.  ]])
    """

    reads = "similarity"
    _parameter_constraints = {
        "q": [positive()],
        "method": [choice("power", "exponential")],
    }

    @property
    def accept_sparse(self) -> bool:  # type: ignore[override]
        return self.method == "power"

    keep_sparse = accept_sparse

    def __init__(self, *, q: float = 4.0, method: str = "power") -> None:
        self.q = q
        self.method = method

    def learn(self, S: Array, y: Any) -> None:
        if self.method == "power":
            self.largest_ = self.spread_ = float(max(S.max(), -S.min())) or 1.0
            return
        self.largest_ = float(S.max())
        others = S[~np.eye(len(S), dtype=bool)]
        # More than half of the pairs may have the largest similarity; then the mean is the scale.
        distance = self.largest_ - (float(np.median(others)) if others.size else self.largest_)
        self.spread_ = distance or self.largest_ - float(S.mean(dtype=np.float64)) or 1.0

    def transform_rows(self, Q: Array) -> Array:
        limit = np.sqrt(np.finfo(Q.dtype).max)
        with np.errstate(over="ignore"):
            if self.method == "exponential":
                rate = Q.dtype.type(self.q / self.spread_)
                return np.minimum(np.exp((Q - Q.dtype.type(self.largest_)) * rate), limit)
            ratio = Q / Q.dtype.type(self.spread_)
            return np.copysign(np.minimum(_power(np.abs(ratio), self.q), limit), ratio)


def _power(T: Array, q: float) -> Any:
    """Compute T ** q in place; a power of two by squaring, which is many times faster."""
    exponent = np.log2(q)
    if exponent.is_integer() and exponent >= 0:
        for _ in range(int(exponent)):
            np.multiply(T, T, out=T)
        return T
    return np.power(T, T.dtype.type(q), out=T)
