"""Similarities made of inner products: polynomial and cosine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.params import at_least, between
from similis.exceptions import ProximityError
from similis.measures._vectors import VectorMeasure, normalized

__all__ = ["Cosine", "Polynomial"]


class Polynomial(VectorMeasure):
    """A power of the inner product, s(x, z) = (<x, z> + coef0)^degree.

    Parameters
    ----------
    degree : int, default=2
        The power.
    coef0 : float, default=0.0
        Added before the power; 1 gives [cazzanti2007] Eq. (2.14).
    lift : float, optional
        If given, each vector gets one more coordinate of this value and is brought to length one, as [bernal2003]
        sec. 2 does: points then lie on a sphere, and a sphere of large radius approximates the plane. 0 only
        normalises.

    Attributes
    ----------
    domain_ : tuple or None
        The interval the power maps [-1, 1] to, with `lift`; None without.

    See Also
    --------
    Cosine : degree 1 of normalised vectors.

    Examples
    --------
    >>> from similis import Polynomial
    >>> Polynomial(degree=2, coef0=1.0)([1, 2], [3, 0])
    16.0
    """

    _parameter_constraints = {
        "degree": [at_least(1)],
        "coef0": [between(None, None, "neither")],
        "lift": [between(0, None, "left"), None],
    }

    def __init__(self, *, degree: int = 2, coef0: float = 0.0, lift: float | None = None) -> None:
        self.degree = degree
        self.coef0 = coef0
        self.lift = lift

    @property
    def domain_(self) -> tuple[float, float] | None:
        """Interval of possible values, known for vectors of length one."""
        if self.lift is None:
            return None
        inner = [-1.0, 1.0] + ([-self.coef0] if abs(self.coef0) < 1 else [])
        ends = [(u + self.coef0) ** self.degree for u in inner]
        return min(ends), max(ends)

    def _encode(self, objects: NDArray[Any]) -> NDArray[Any]:
        if self.lift is None:
            return objects
        lifted = np.full((objects.shape[0], 1), self.lift, objects.dtype)
        # [bernal2003] sec. 2 -> add the radius as a coordinate and normalise
        return normalized(np.hstack([objects, lifted]))

    def _compare(self, A: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
        with np.errstate(over="ignore", invalid="ignore"):
            inner = A @ B.T  # (m, n)
            if self.lift is not None:
                np.clip(inner, -1, 1, out=inner)
            inner += self.coef0
            np.power(inner, self.degree, out=inner)
        if not np.isfinite(inner).all():
            raise ProximityError(
                f"Polynomial(degree={self.degree}) of these vectors is beyond the largest number; scale them down, or "
                "give them length one with lift=0."
            )
        return inner


class Cosine(VectorMeasure):
    """The cosine of the angle between vectors, s(x, z) = <x, z> / (||x|| ||z||).

    Attributes
    ----------
    domain_ : tuple
        ``(-1, 1)``.

    See Also
    --------
    Polynomial : powers of it, with ``lift=0``.

    Notes
    -----
    The zero vector has no direction: its cosine with anything, itself included, is 0.

    Examples
    --------
    >>> from similis import Cosine
    >>> Cosine().matrix([[1, 0], [3, 4]]).round(1)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    domain_ = (-1.0, 1.0)

    def _encode(self, objects: NDArray[Any]) -> NDArray[Any]:
        return normalized(objects)

    def _compare(self, A: NDArray[Any], B: NDArray[Any]) -> NDArray[Any]:
        return np.clip(A @ B.T, -1, 1)
