"""Elementwise conversions: kind, symmetrization, unit diagonal, scale, Box-Cox, and tighter similarities."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from similis import base
from similis._utils.arrays import Array
from similis._utils.linalg import asymmetry, symmetric_part
from similis.base import SparseRows, between, choice, estimator, first_position, param, positive
from similis.exceptions import ProximityError
from similis.proximity._base import Elementwise, ToRows, warn_if_self_differs


@estimator
class ToDissimilarity(Elementwise):
    """Turn similarities, those of the diagonal too, into dissimilarities ([qiao2013] sec. 5.2).

    Parameters
    ----------
    method : {"max-minus", "reciprocal", "root"}, default="max-minus"
        upper - s; 1 / s, for positive similarities only; or sqrt(upper - s), which is Euclidean when S is a kernel with
        a constant diagonal.
    upper : float, default=None
        Upper bound of the training similarities, by default the largest. A new similarity above the bound gives 0.

    Attributes
    ----------
    upper_ : float
        The bound in use; NaN for ``reciprocal``.

    Examples
    --------
    >>> from similis.proximity import ToDissimilarity
    >>> ToDissimilarity().fit([[1.0, 0.25], [0.25, 1.0]]).transform([[0.5, 2.0]])
    array([[0.5, 0. ]])
    """

    method: str = param("max-minus", choice("max-minus", "reciprocal", "root"))
    upper: float | None = param(None, between(None, None, "neither"), None)

    reads = "similarity"
    gives = "dissimilarity"

    def learn(self, S: Array, y: Any) -> None:
        if self.method == "reciprocal":
            self._check_above_zero(S)
            self.upper_ = np.nan
            return
        largest = float(S.max())
        self.upper_ = largest if self.upper is None else float(self.upper)
        if self.upper_ < largest:
            raise ProximityError(
                f"upper must not be below any training similarity. Got upper={self.upper_:.6g} and {largest:.6g} at "
                f"{first_position(S == S.max())}. Raise it, or leave upper=None to use the largest."
            )

    def transform_rows(self, Q: Array) -> Array:
        if self.method == "reciprocal":
            self._check_above_zero(Q)
            return 1 / Q  # [qiao2013] sec. 5.2 -> 1 / S
        D = np.maximum(Q.dtype.type(self.upper_) - Q, 0)  # [qiao2013] sec. 5.2 -> upper - S
        return np.sqrt(D) if self.method == "root" else D

    @property
    def accept_sparse(self) -> bool:  # type: ignore[override]
        return self.method != "reciprocal"

    def _check_above_zero(self, S: Array) -> None:
        least = S.min()
        if least < np.finfo(S.dtype).tiny:
            raise ProximityError(
                "Negative values in data or zeros passed to ToDissimilarity: method='reciprocal' needs positive "
                f"similarities. Got {least:.6g} at {first_position(S == least)}. Use method='max-minus'."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.method == "reciprocal"
        return tags


@estimator
class ToSimilarity(Elementwise):
    """Turn dissimilarities into similarities.

    Parameters
    ----------
    method : {"linear", "reciprocal", "rbf", "exponential"}, default="linear"
        1 - d / d_max, d_max the largest training dissimilarity; 1 / d; exp(-gamma d^2); or exp(-gamma d / d_m), d_m the
        median training dissimilarity of two objects.
    gamma : float, default=1.0
        Tightness of ``rbf`` and ``exponential``, above zero.

    Attributes
    ----------
    scale_ : float
        ``linear``: d_max. ``reciprocal``: the largest finite 1/d of the training matrix without its diagonal. ``rbf``:
        gamma. ``exponential``: d_m / gamma, with the median of the positive dissimilarities if more than half are zero.

    Notes
    -----
    ``linear`` ([chen2010] p. 35) gives a new object farther than d_max the similarity 0. ``reciprocal`` ([qiao2013]
    sec. 5.2) maps d = 0 in a new row to ``scale_``, or to the largest finite 1/d of the row if that is larger. The
    training diagonal is set to ``scale_``, so that ``fit_transform(D)`` may differ from ``fit(D).transform(D)``. A
    non-zero diagonal causes a :class:`~similis.exceptions.DiagonalWarning`.

    Examples
    --------
    >>> from similis.proximity import ToSimilarity
    >>> D = [[0.0, 2.0, 4.0], [2.0, 0.0, 1.0], [4.0, 1.0, 0.0]]
    >>> ToSimilarity(method="reciprocal").fit_transform(D)
    array([[1.  , 0.5 , 0.25],
           [0.5 , 1.  , 1.  ],
           [0.25, 1.  , 1.  ]])
    """

    method: str = param("linear", choice("linear", "reciprocal", "rbf", "exponential"))
    gamma: float = param(1.0, positive())

    reads = "dissimilarity"
    gives = "similarity"

    def learn(self, S: Array, y: Any) -> None:
        warn_if_self_differs(S, self)
        if self.method == "linear":
            self.scale_ = float(S.max()) or 1.0
        elif self.method == "reciprocal":
            R = _reciprocal(S)
            np.fill_diagonal(R, np.inf)
            self.scale_ = float(R.max(where=np.isfinite(R), initial=0.0)) or 1.0
        elif self.method == "rbf":
            self.scale_ = float(self.gamma)
        else:
            d = S[~np.eye(len(S), dtype=bool)]
            median = float(np.median(d)) if d.size else 0.0
            if not median and d.any():
                median = float(np.median(d[d > 0]))
            self.scale_ = (median or 1.0) / self.gamma

    def transform_training(self, S: Array) -> Array:
        converted = self.transform_rows(S)
        if self.method == "reciprocal":
            np.fill_diagonal(converted, self.scale_)  # [qiao2013] sec. 5.2 -> the upper bound is the self-similarity
        return converted

    def transform_rows(self, Q: Array) -> Array:
        scale = Q.dtype.type(self.scale_)
        if self.method == "linear":
            return np.maximum(1 - Q / scale, 0)  # [chen2010] p. 35 -> 1 - d, d scaled to [0, 1]
        if self.method == "rbf":
            return np.exp(-scale * Q**2)
        if self.method == "exponential":
            return np.exp(-Q / scale)
        S = _reciprocal(Q)
        finite = np.isfinite(S)
        return np.where(finite, S, S.max(axis=1, keepdims=True, where=finite, initial=self.scale_))


@np.errstate(divide="ignore", over="ignore")
def _reciprocal(D: Array) -> Array:
    """Compute 1 / d, infinite where d is zero or too small ([qiao2013] sec. 5.2)."""
    return 1 / D


def symmetrize(S: ArrayLike) -> Array:
    """Average a matrix with its transpose, before any splitting: (S + S') / 2, a new array.

    Parameters
    ----------
    S : array-like of shape (n, n)
        Similarities or dissimilarities. NaN marks a missing entry: a pair known in one direction gets the value of that
        direction.

    Examples
    --------
    >>> from similis.proximity import symmetrize
    >>> symmetrize([[1.0, 4.0], [2.0, 1.0]])
    array([[1., 3.],
           [3., 1.]])
    """
    S = base.check_proximity(S, allow_missing=True)
    known = np.where(np.isnan(S), S.T, S)
    return (known + known.T) / 2


class Symmetrize(Elementwise):
    """Average the training matrix with its transpose; pass new rows through ([qiao2013] sec. 5.2).

    A new row lacks the reverse direction, so that ``fit_transform(S)`` differs from ``fit(S).transform(S)`` for an
    asymmetric S. ``Pairwise(..., symmetrize=True)`` averages new rows too.

    Attributes
    ----------
    asymmetry_ : float
        ||S - S'|| / (2 ||S||) in the Frobenius norm: 0 for a symmetric matrix, 1 for an antisymmetric one.

    Examples
    --------
    >>> from similis.proximity import Symmetrize
    >>> Symmetrize().fit_transform([[1.0, 4.0], [2.0, 1.0]])
    array([[1., 3.],
           [3., 1.]])
    """

    def learn(self, S: Array, y: Any) -> None:
        self.asymmetry_ = asymmetry(S)

    def transform_training(self, S: Array) -> Array:
        A = symmetric_part(S)
        return A.copy() if A is S else A

    def transform_rows(self, Q: Array) -> Array:
        return Q.copy()


@estimator
class UnitDiagonal(ToRows):
    """Scale similarities so that every object has similarity 1 to itself: s(x, z) / sqrt(s(x, x) s(z, z)).

    This is the cosine if S is a kernel. Objects whose similarities are all zero keep zeros.

    Parameters
    ----------
    self_similarity : "constant" or float, default="constant"
        Self-similarity of all new objects; "constant" means that of the training objects, if it is constant. Otherwise
        ``transform`` requires ``self_similarity=``.

    Attributes
    ----------
    self_similarities_ : ndarray of shape (n,)
        Diagonal of the training matrix.

    Examples
    --------
    >>> from similis.proximity import UnitDiagonal
    >>> unit = UnitDiagonal()
    >>> unit.fit_transform([[4.0, 3.0], [3.0, 9.0]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    >>> unit.transform([[2.0, 3.0]], self_similarity=[1.0])
    array([[1., 1.]])
    """

    self_similarity: str | float = param("constant", choice("constant"), positive())

    fitted_arrays = {"self_similarities_": base.fitted_reals(None, nan=True)}
    reads = "similarity"
    accept_sparse = True

    def learn(self, S: Array, y: Any) -> None:
        self.self_similarities_ = np.diagonal(S).copy()
        if self.self_similarities_.min() < 0:
            i = int(self.self_similarities_.argmin())
            raise ProximityError(
                f"UnitDiagonal needs non-negative self-similarities. Got {S[i, i]:.6g} at row {i}, column "
                f"{i}. Make S positive semi-definite first, for example with SpectrumClip."
            )

    def transform_training(self, S: Array) -> Array:
        return self._scale(S, self.self_similarities_)

    def transform(self, X: ArrayLike, self_similarity: ArrayLike | None = None) -> Array:
        """Scale rows of new objects, (m, n); `self_similarity` is s(x, x), one number or one per row."""
        S = self.check_rows(X)
        m, given = len(S), self.self_similarity if self_similarity is None else self_similarity
        if isinstance(given, str):
            low, high = float(self.self_similarities_.min()), float(self.self_similarities_.max())
            if high - low > 100 * np.finfo(self.self_similarities_.dtype).eps * high:
                raise ProximityError(
                    "UnitDiagonal needs the self-similarities of new rows, because those of the training objects range "
                    f"from {low:.6g} to {high:.6g}. Pass transform(X, self_similarity=...), or set a number."
                )
            given = high
        s = np.full(m, float(given)) if isinstance(given, Real) else np.asarray(given, dtype=np.float64)
        if s.shape != (m,):
            raise ProximityError(f"self_similarity must hold one number per row, {m}. Got shape {s.shape}.")
        if (wrong := ~(s >= 0) | np.isinf(s)).any():
            i = int(np.argmax(wrong))
            raise ProximityError(f"self_similarity must be finite and not negative. Got {s[i]} at position {i}.")
        return self._scale(S, s.astype(S.dtype))

    def _scale(self, S: Array, rows: Array) -> Array:
        """Compute S_ij / sqrt(rows_i self_j) with 0 / 0 = 0."""
        size = np.sqrt(rows)[:, None] * np.sqrt(self.self_similarities_)
        nothing = size == 0
        if (wrong := nothing & (S != 0)).any():
            raise ProximityError(
                f"UnitDiagonal cannot scale the similarity {S[wrong][0]:.6g} at {first_position(wrong)}: the "
                "self-similarity of one of the two objects is zero."
            )
        return S / np.where(nothing, 1, size)


def value_range(S: Array | SparseRows) -> float:
    """Largest minus smallest known entry; the largest absolute value if that is rounding error, 1 if all are zero."""
    known = S if isinstance(S, SparseRows) or not np.isnan(S).any() else S[~np.isnan(S)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    largest = max(abs(low), abs(high))
    is_range = 100 * np.finfo(S.dtype).eps * largest < high - low < np.inf
    return (high - low if is_range else largest) or 1.0


@estimator
class Rescale(Elementwise):
    """Divide proximities by their range in the training matrix, so that results do not depend on their unit.

    Put it in front of a classifier with a parameter in the unit of the proximities, such as the C of an SVM.

    Parameters
    ----------
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of the matrix; an absent entry of a sparse one is a similarity of zero, or a missing dissimilarity.

    Attributes
    ----------
    scale_ : float or ndarray of shape (q,)
        Largest minus smallest training proximity, of each matrix of a stack. The largest absolute value if that
        difference is rounding error; 1 if all are zero or missing.

    Examples
    --------
    >>> from similis.proximity import Rescale
    >>> Rescale().fit([[57.0, 17.0], [17.0, 57.0]]).transform([[20.0, 40.0]])
    array([[0.5, 1. ]])
    """

    kind: str = param("similarity", choice("similarity", "dissimilarity"))

    allow_missing = True
    allow_stack = True
    accept_sparse = True

    @property
    def keep_sparse(self) -> bool:  # type: ignore[override]
        return self.kind == "similarity"

    def learn(self, S: Array, y: Any) -> None:
        self.scale_ = value_range(S) if S.ndim == 2 else np.array([value_range(part) for part in np.moveaxis(S, 2, 0)])

    def transform_rows(self, Q: Array) -> Array:
        base.check_stack_width(Q, np.size(self.scale_), self)
        return Q / np.asarray(self.scale_, dtype=Q.dtype)


@estimator
class BoxCox(Elementwise):
    """Transform each dissimilarity by (d^p - 1) / p ([pekalska2000] sec. 4.4).

    Skewed dissimilarities become more symmetric, as :class:`NormalLinear` and :class:`NormalQuadratic` assume. The
    result is negative for d < 1: a feature row rather than a dissimilarity.

    Parameters
    ----------
    p : float in (0, 1] or "ml", default=0.25
        The power. "ml": the one from 0.01 to 1 under which the positive off-diagonal dissimilarities are most likely
        normal; 1 if they are all equal.

    Attributes
    ----------
    p_ : float
        The power in use.

    Examples
    --------
    >>> from similis.proximity import BoxCox
    >>> BoxCox(p=0.5).fit_transform([[0.0, 4.0], [4.0, 0.0]])
    array([[-2.,  2.],
           [ 2., -2.]])
    """

    p: float | str = param(0.25, between(0, 1, closed="right"), choice("ml"))

    reads = "dissimilarity"

    def learn(self, S: Array, y: Any) -> None:
        self.p_ = _most_likely_power(S) if self.p == "ml" else float(self.p)

    def transform_rows(self, Q: Array) -> Array:
        p = Q.dtype.type(self.p_)
        return (Q**p - 1) / p  # [pekalska2000] sec. 4.4 -> (d^p - 1) / p


def _most_likely_power(D: Array) -> float:
    """Maximize the profile log-likelihood -N/2 log Var((z^p - 1) / p), z = d / (geometric mean), over [0.01, 1]."""
    d = D[~np.eye(len(D), dtype=bool)]
    log_z = np.log(d[d > 0], dtype=np.float64)
    if not log_z.size or np.ptp(log_z) == 0:
        return 1.0
    log_z -= log_z.mean()

    def loss(p: float) -> float:
        return float(np.log(np.var(np.expm1(p * log_z) / p)))

    # p = 0 is the logarithm, which is infinite for identical objects.
    return float(minimize_scalar(loss, bounds=(0.01, 1.0), method="bounded", options={"xatol": 1e-6}).x)


@estimator
class Tighten(Elementwise):
    """Make a similarity tighter: similar objects count more, all others less.

    A sum over a class, as in :class:`~similis.MaxSim`, :class:`~similis.SBC` and
    :class:`~similis.SimilarityPerceptron`, depends on the whole class where the similarity is flat, and on the nearest
    objects where it is tight: [bernal2003] sec. 3.2 and 3.3, propositions 2 to 5. Results are limited to the square
    root of the largest floating-point number.

    Parameters
    ----------
    q : float, default=4.0
        Tightness, above zero. A grid of powers of two, from 1 to 64, covers most data.
    method : {"power", "exponential"}, default="power"
        sign(s) (|s| / s_max)^q, with the same predictions for c S, c > 0; or exp(-q (s_max - s) / (s_max - s_m)), with
        the same predictions for c S + b.

    Attributes
    ----------
    largest_, spread_ : float
        ``power``: both s_max, the largest absolute training similarity. ``exponential``: s_max, the largest training
        similarity, and s_max - s_m with s_m the median similarity of two objects, one instead of zero.

    Examples
    --------
    >>> from similis.proximity import Tighten
    >>> Tighten(q=2).fit_transform([[2.0, 1.0], [-1.0, 2.0]])
    array([[ 1.  ,  0.25],
           [-0.25,  1.  ]])
    """

    q: float = param(4.0, positive())
    method: str = param("power", choice("power", "exponential"))

    reads = "similarity"

    @property
    def accept_sparse(self) -> bool:  # type: ignore[override]
        return self.method == "power"

    keep_sparse = accept_sparse

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
        number, limit = Q.dtype.type, np.sqrt(np.finfo(Q.dtype).max)
        with np.errstate(over="ignore"):
            if self.method == "exponential":
                return np.minimum(np.exp((Q - number(self.largest_)) * number(self.q / self.spread_)), limit)
            ratio = Q / number(self.spread_)
            return np.copysign(np.minimum(_power(np.abs(ratio), self.q), limit), ratio)


def _power(T: Array, q: float) -> Any:
    """Compute T ** q in place; a power of two by squaring, which is many times faster."""
    exponent = np.log2(q)
    if exponent.is_integer() and exponent >= 0:
        for _ in range(int(exponent)):
            np.multiply(T, T, out=T)
        return T
    return np.power(T, T.dtype.type(q), out=T)
