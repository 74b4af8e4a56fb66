"""Measures on real vectors, and array helpers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.extmath import safe_sparse_dot

from similis import _kernels, base
from similis._utils.arrays import Array, Floats
from similis.exceptions import ProximityError


class VectorMeasure(base.Measure):
    """Base of measures on rows of finite numbers; float32 stays float32."""

    keeps_float32 = True

    def validate_objects(self, X: Any) -> Array:
        who = type(self).__name__
        A = base.check_table(X, who, dtype=(np.float64, np.float32), order="C")
        strange = ~np.isfinite(A)
        if strange.any():
            got = f"{'NaN' if np.isnan(A).any() else 'infinity (inf)'} at {base.first_position(strange)}"
            raise ProximityError(f"{who} needs finite numbers. Got {got}. Impute or drop it first.")
        return A

    def encode_together(self, collections: Any) -> list[Any]:
        widths = {objects.shape[1] for objects in collections}
        if len(widths) > 1:
            raise ProximityError(f"X and Z must have the same number of columns. Got {sorted(widths)}.")
        return super().encode_together(collections)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.no_validation = False
        return tags


@dataclass
class TwoWayArray:
    """Objects stored by rows for the left side of a kernel and by columns for the right side."""

    rows: Array
    columns: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.rows.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.rows.dtype

    def __getitem__(self, some: slice) -> TwoWayArray:
        # Both copies, since the left code of a value may differ from the right one.
        rows = np.require(self.rows[some], requirements=["C", "W"])
        return TwoWayArray(rows, np.array(self.columns[:, some], order="C"))

    def astype(self, dtype: Any) -> TwoWayArray:
        return self if self.dtype == dtype else TwoWayArray(self.rows.astype(dtype), self.columns.astype(dtype))


def both_layouts(rows: Array) -> TwoWayArray:
    """Store rows for the kernels: both copies contiguous and writeable, so that one compiled form serves all."""
    return TwoWayArray(np.require(rows, requirements=["C", "W"]), np.array(rows.T, order="C"))


def run_kernel(
    kernel: Any, operands: Any, out: Array, mirror: bool, n_jobs: int | None, tick: base.Tick = None, **options: Any
) -> Array:
    """Fill a matrix by ``kernel(*operands, first, stop, mirror, out)`` for strips of rows, on several threads."""
    base.for_each_strip(lambda r: kernel(*operands, r.start, r.stop, mirror, out), len(out), n_jobs, tick, **options)
    return out


def normalized(A: Array) -> Array:
    """Scale rows to length one; a zero row stays zero."""
    # Scaling by the largest entry first avoids underflow and overflow.
    largest = np.abs(A).max(axis=1, keepdims=True)
    A = A / np.where(largest > 0, largest, 1)
    length = np.sqrt(np.einsum("ij,ij->i", A, A))[:, None]
    return A / np.where(length > 0, length, 1)


ROWS = 1024  # rows per strip


def sparse_products(A: Any, B: Any, n_jobs: int | None = None, tick: base.Tick = None) -> Floats:
    """Compute all inner products of rows of A and rows of B, dense; exactly symmetric for A with itself."""
    out = np.empty((A.shape[0], B.shape[0]))

    def work(rows: slice) -> None:
        out[rows] = safe_sparse_dot(A[rows], B.T, dense_output=True)

    return base.fill_strips(out, work, n_jobs, tick, step=ROWS, mirror=B is A)


@base.estimator
class Polynomial(VectorMeasure):
    """Power of the inner product, s(x, z) = (<x, z> + coef0)^degree.

    Parameters
    ----------
    degree : int, default=2
        The power.
    coef0 : float, default=0.0
        Added before the power; 1 gives [cazzanti2007] Eq. (2.14).
    lift : float, optional
        Add a coordinate of this value to each vector and scale it to length one, as in [bernal2003] sec. 2.

    Examples
    --------
    >>> from similis import Polynomial
    >>> Polynomial(degree=2, coef0=1.0)([1, 2], [3, 0])
    16.0
    """

    degree: int = base.param(2, base.at_least(1))
    coef0: float = base.param(0.0, base.between(None, None, "neither"))
    lift: float | None = base.param(None, base.between(0, None, "left"), None)

    @property
    def domain_(self) -> tuple[float, float] | None:
        if self.lift is None:
            return None
        inner = [-1.0, 1.0] + ([-self.coef0] if abs(self.coef0) < 1 else [])
        ends = [(u + self.coef0) ** self.degree for u in inner]
        return min(ends), max(ends)

    def encode(self, objects: Array) -> Array:
        if self.lift is None:
            return objects
        # [bernal2003] sec. 2 -> add the radius as a coordinate and normalize
        return normalized(np.hstack([objects, np.full((len(objects), 1), self.lift, objects.dtype)]))

    def compare(self, A: Array, B: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            inner = A @ B.T  # (m, n)
            if self.lift is not None:
                np.clip(inner, -1, 1, out=inner)
            inner += self.coef0
            np.power(inner, self.degree, out=inner)
        if not np.isfinite(inner).all():
            hint = "Scale them down, or normalize them with lift=0."
            raise ProximityError(f"Polynomial(degree={self.degree}) of these vectors overflows. {hint}")
        return inner


@base.estimator
class Sigmoid(VectorMeasure):
    """Sigmoid of the inner product, s(x, z) = tanh(gamma <x, z> + coef0); indefinite in general.

    Parameters
    ----------
    gamma, coef0 : float, default=1.0 and 0.0
        kappa_1 (above zero) and kappa_2 of [cazzanti2007] Eq. (2.14).

    Examples
    --------
    >>> from similis import Sigmoid
    >>> round(Sigmoid(gamma=0.5, coef0=-1.0)([1, 2], [3, 0]), 4)
    0.4621
    """

    gamma: float = base.param(1.0, base.positive())
    coef0: float = base.param(0.0, base.between(None, None, "neither"))

    domain_ = (-1.0, 1.0)

    def compare(self, A: Array, B: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            inner = A @ B.T  # (m, n)
            inner *= self.gamma
            inner += self.coef0
        if np.isnan(inner).any():
            raise ProximityError("The inner products of these vectors overflow. Scale them down.")
        return np.tanh(inner, out=inner)


class Cosine(VectorMeasure):
    """Cosine of the angle between vectors, s(x, z) = <x, z> / (||x|| ||z||).

    It is 0 for the zero vector. Powers of the cosine are :class:`Polynomial` with ``lift=0``.

    Examples
    --------
    >>> from similis import Cosine
    >>> Cosine()([1, 0], [3, 4])
    0.6
    """

    domain_ = (-1.0, 1.0)

    def encode(self, objects: Array) -> Array:
        return normalized(objects)

    def compare(self, A: Array, B: Array) -> Array:
        return np.clip(A @ B.T, -1, 1)


class DistanceMeasure(VectorMeasure):
    """Base of measures that are functions of the L_p distance; by default the distance of order `p`."""

    kind: base.Kind = "dissimilarity"
    domain_ = (0.0, np.inf)
    p: float

    def encode(self, objects: Array) -> TwoWayArray:
        return both_layouts(objects)

    def block(self, A: TwoWayArray, B: TwoWayArray, n_jobs: int | None = None, tick: base.Tick = None) -> Array:
        # [pekalska2000] sec. 4.5 -> (sum sqrt |x_i - y_i|)^2 for p = 0.5
        return power_distances(A, B, self.p, True, n_jobs, tick)


@base.estimator
class RBF(DistanceMeasure):
    """Radial basis function, s(x, z) = exp(-gamma ||x - z||^2).

    Parameters
    ----------
    gamma : float, default=1.0
        1 / sigma of [cazzanti2007] Eq. (2.14), 1 / (2 sigma^2) of [bernal2003] sec. 2 (printed without minus sign).

    Examples
    --------
    >>> from similis import RBF
    >>> round(RBF(gamma=0.5)([0, 0], [1, 1]), 4)
    0.3679
    """

    gamma: float = base.param(1.0, base.positive())

    kind = "similarity"
    domain_ = (0.0, 1.0)
    path_params = ("gamma",)

    def block(self, A: TwoWayArray, B: TwoWayArray, n_jobs: int | None = None, tick: base.Tick = None) -> Array:
        S = power_distances(A, B, 2.0, False, n_jobs, tick)  # (m, n)
        return self._from_squares(S, self.gamma, n_jobs, out=S)

    def block_path(self, A: Any, B: Any, points: list[dict[str, Any]], n_jobs: int | None) -> Iterator[Array]:
        """Yield the matrix for each value of gamma, from distances that are computed once."""
        squares = power_distances(A, B, 2.0, False, n_jobs)
        for point in points:
            yield self._from_squares(squares, point.get("gamma", self.gamma), n_jobs, out=np.empty_like(squares))

    def _from_squares(self, squares: Array, gamma: float, n_jobs: int | None, out: Array) -> Array:
        def work(rows: slice) -> None:
            # [bernal2003] sec. 2, [cazzanti2007] Eq. (2.14) -> exp(-gamma ||x - z||^2)
            np.multiply(squares[rows], -gamma, out=out[rows])
            np.exp(out[rows], out=out[rows])

        base.for_each_strip(work, len(out), n_jobs)
        return out


_FAR = 20.0  # larger powers are computed from differences divided by the largest one


@base.estimator
class Minkowski(DistanceMeasure):
    """L_p distance between vectors, d(x, z) = (sum_i |x_i - z_i|^p)^(1/p).

    Computed from differences, so that nearby vectors far from the origin lose no digits.

    Parameters
    ----------
    p : float, default=2.0
        Order, above 0 and finite; 0.5 (of [pekalska2000] sec. 4.5), 1 and 2 are fast. Below 1 it is not a metric.

    Examples
    --------
    >>> from similis import Minkowski
    >>> Minkowski(p=0.5)([0, 0], [1, 4])
    9.0
    """

    p: float = base.param(2.0, base.positive())


class Chebyshev(DistanceMeasure):
    """Largest difference, d(x, z) = max_i |x_i - z_i| (max-norm in [pekalska2000]).

    Examples
    --------
    >>> from similis import Chebyshev
    >>> Chebyshev()([0, 0], [3, 1])
    3.0
    """

    p = np.inf


def power_distances(
    A: TwoWayArray, B: TwoWayArray, p: float, root: bool, n_jobs: int | None = None, tick: base.Tick = None
) -> Array:
    """Compute p-th powers of Minkowski distances or, with `root`, the distances; only half of them if `B is A`."""
    mirror = B is A
    dtype = np.result_type(A.dtype, B.dtype)
    A, B = A.astype(dtype), B.astype(dtype)
    out = np.empty((A.shape[0], B.shape[0]), dtype)
    if root and _FAR < p < np.inf:
        for i, x in enumerate(A.rows):  # divide by the largest difference: high powers overflow and underflow
            apart = np.abs(B.rows - x)
            largest = apart.max(axis=1)
            shares = apart / np.where(largest > 0, largest, 1)[:, None]
            out[i] = largest * (shares**p).sum(axis=1) ** (1 / p)
        return out
    return run_kernel(_kernels.minkowski, (A.rows, B.columns, float(p), root), out, mirror, n_jobs, tick)
