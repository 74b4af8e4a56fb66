"""Elementwise conversions: kind, symmetrization, unit diagonal, scale, Box-Cox, and tighter similarities."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar

from similis._utils.arrays import Array
from similis._utils.linalg import asymmetry, symmetric_part
from similis.base import (
    SparseRows,
    between,
    check_proximity,
    check_stack_width,
    choice,
    estimator,
    first_position,
    fitted_reals,
    param,
    positive,
)
from similis.exceptions import ProximityError
from similis.proximity._base import Elementwise, ToRows, warn_if_self_differs


@estimator
class ToDissimilarity(Elementwise):
    """Turn similarities into dissimilarities ([qiao2013] sec. 5.2).

    ==============  =======================  ============================================
    method          d(x, z)                  use for
    ==============  =======================  ============================================
    ``max-minus``   upper - s(x, z)          a similarity with an upper bound
    ``root``        sqrt(upper - s(x, z))    the same; Euclidean when S is a kernel with a constant diagonal
    ``reciprocal``  1 / s(x, z)              a positive similarity without a bound
    ==============  =======================  ============================================

    Parameters
    ----------
    method : {"max-minus", "reciprocal", "root"}, default="max-minus"
        The rule. ``reciprocal`` rejects similarities that are not positive.
    upper : float, default=None
        Upper bound of the similarity, for ``max-minus`` and ``root``. None means the largest training similarity; a new
        similarity above the bound gives 0. A bound below a training similarity is an error.

    Attributes
    ----------
    upper_ : float
        The bound in use; NaN for ``reciprocal``.

    Notes
    -----
    The diagonal is converted like any other entry: an object whose self-similarity is below the bound gets a non-zero
    dissimilarity to itself.

    Examples
    --------
    >>> from similis.proximity import ToDissimilarity
    >>> convert = ToDissimilarity().fit([[1.0, 0.25], [0.25, 1.0]])
    >>> convert.transform([[0.5, 2.0]])
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

    ===============  =========================  ============================================
    method           s(x, z)                    note
    ===============  =========================  ============================================
    ``linear``       1 - d(x, z) / d_max        d_max is the largest training dissimilarity
    ``reciprocal``   1 / d(x, z)                the largest finite value where d = 0 and on the training diagonal
    ``rbf``          exp(-gamma d(x, z)^2)      depends on the unit of d
    ``exponential``  exp(-gamma d(x, z) / d_m)  d_m is the median training dissimilarity of two objects
    ===============  =========================  ============================================

    Parameters
    ----------
    method : {"linear", "reciprocal", "rbf", "exponential"}, default="linear"
        The rule.
    gamma : float, default=1.0
        Tightness of ``rbf`` and ``exponential``, above zero.

    Attributes
    ----------
    scale_ : float
        ``linear``: d_max (1 if every training dissimilarity is zero). ``reciprocal``: the largest finite 1/d of the
        training matrix without its diagonal (1 if there is none). ``rbf``: gamma. ``exponential``: d_m / gamma, with
        the median of the positive dissimilarities if more than half are zero.

    Notes
    -----
    ``linear`` ([chen2010] p. 35) gives a new object farther than d_max the similarity 0. ``reciprocal`` ([qiao2013]
    sec. 5.2) maps d = 0 in a new row to ``scale_``, or to the largest finite 1/d of the row if that is larger, so that
    no similarity exceeds that of identical objects. The training diagonal is set to ``scale_`` for any diagonal of D,
    so that there ``fit_transform(D)`` may differ from ``fit(D).transform(D)``. A non-zero diagonal causes a
    :class:`~similis.exceptions.DiagonalWarning`.

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
            # [qiao2013] sec. 5.2 -> an upper bound of all similarities is the self-similarity
            np.fill_diagonal(converted, self.scale_)
        return converted

    def transform_rows(self, Q: Array) -> Array:
        if self.method == "linear":
            # [chen2010] p. 35 -> 1 - d, d scaled to [0, 1]
            return np.maximum(1 - Q / Q.dtype.type(self.scale_), 0)
        if self.method == "rbf":
            return np.exp(-Q.dtype.type(self.scale_) * Q**2)
        if self.method == "exponential":
            return np.exp(-Q / Q.dtype.type(self.scale_))
        S = _reciprocal(Q)
        finite = np.isfinite(S)
        top = S.max(axis=1, keepdims=True, where=finite, initial=self.scale_)
        return np.where(finite, S, top)


@np.errstate(divide="ignore", over="ignore")
def _reciprocal(D: Array) -> Array:
    """Compute 1 / d, infinite where d is zero or too small ([qiao2013] sec. 5.2)."""
    return 1 / D


def symmetrize(S: ArrayLike) -> Array:
    """Average a matrix with its transpose, before any splitting: (S + S') / 2, a new array.

    :class:`Symmetrize` is the transformer for a pipeline, where the reverse direction of new rows is missing.

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
    S = check_proximity(S, allow_missing=True)
    known = np.where(np.isnan(S), S.T, S)
    return (known + known.T) / 2


class Symmetrize(Elementwise):
    """Average the training matrix with its transpose; pass new rows through ([qiao2013] sec. 5.2).

    A new row holds s(x, z) for every training object z but not s(z, x), so that only the training matrix can be
    averaged: ``fit_transform(S)`` differs from ``fit(S).transform(S)`` where S is asymmetric. If both directions can be
    computed, use ``Pairwise(..., symmetrize=True)``, which averages new rows too.

    Attributes
    ----------
    asymmetry_ : float
        ||S - S'|| / (2 ||S||) in the Frobenius norm: 0 for a symmetric matrix, 1 for an antisymmetric one.

    Examples
    --------
    >>> from similis.proximity import Symmetrize
    >>> S = [[1.0, 4.0], [2.0, 1.0]]
    >>> Symmetrize().fit_transform(S)
    array([[1., 3.],
           [3., 1.]])
    >>> Symmetrize().fit(S).transform([[1.0, 4.0]])
    array([[1., 4.]])
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

    This is the cosine if S is a kernel. The self-similarities of the training objects are the diagonal; those of new
    objects are not part of their rows and must be given or assumed constant.

    Parameters
    ----------
    self_similarity : "constant" or float, default="constant"
        Self-similarity of new objects. ``"constant"`` means the value of the training diagonal if it is constant;
        otherwise ``transform`` requires ``self_similarity=``. A positive number is used for every new object.

    Attributes
    ----------
    self_similarities_ : ndarray of shape (n,)
        Diagonal of the training matrix.

    Notes
    -----
    An object whose similarities, including its own, are all zero keeps a row and column of zeros. A negative
    self-similarity, or a zero one with non-zero similarities, is an error.

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

    fitted_arrays = {"self_similarities_": fitted_reals(None, nan=True)}

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
        """Scale rows of new objects, shape (m, n).

        `self_similarity` holds s(x, x), a number or one per row; None uses the value of the constructor.
        """
        S = self.check_rows(X)
        given = self.self_similarity if self_similarity is None else self_similarity
        return self._scale(S, self._row_self(given, len(S)).astype(S.dtype))

    def _row_self(self, given: Any, m: int) -> Array:
        """Return one self-similarity per new row."""
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
        if not (np.isfinite(s).all() and (s >= 0).all()):
            i = int(np.argmax(~(s >= 0) | np.isinf(s)))
            raise ProximityError(f"self_similarity must be finite and not negative. Got {s[i]} at position {i}.")
        return s

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

    Put it in front of a classifier with a parameter in the unit of the proximities: the C of a support vector machine,
    a ridge, the width of a Gaussian.

    Parameters
    ----------
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of the matrix. It decides what an absent entry of a sparse matrix means: a similarity of zero, or a missing
        dissimilarity.

    Attributes
    ----------
    scale_ : float or ndarray of shape (q,)
        Largest minus smallest training proximity, of each matrix of a stack. The largest absolute value if that
        difference is rounding error; 1 if all are zero or missing.

    Notes
    -----
    Multiplying all proximities by a constant leaves the output unchanged; adding one shifts the output. Similarities
    from 0 to 1 keep their values. Missing entries stay missing.

    Examples
    --------
    >>> from similis.proximity import Rescale
    >>> scale = Rescale().fit([[57.0, 17.0], [17.0, 57.0]])
    >>> scale.transform([[20.0, 40.0]])
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
        check_stack_width(Q, np.size(self.scale_), self)
        return Q / np.asarray(self.scale_, dtype=Q.dtype)


@estimator
class BoxCox(Elementwise):
    """Transform each dissimilarity by (d^p - 1) / p ([pekalska2000] sec. 4.4).

    Classifiers that model the rows by normal distributions (``NormalLinear``, ``NormalQuadratic``) benefit when skewed
    dissimilarities become more symmetric. The order of the dissimilarities, and so every rank-based rule, is unchanged.

    Parameters
    ----------
    p : float in (0, 1] or "ml", default=0.25
        The power. ``"ml"`` chooses it by maximum likelihood: the p for which the transformed off-diagonal
        dissimilarities are most likely under one normal distribution.

    Attributes
    ----------
    p_ : float
        The power in use.

    Notes
    -----
    The result is negative for d < 1, so that it is a feature row rather than a dissimilarity. The likelihood excludes
    the diagonal and dissimilarities of zero, whose logarithm is infinite, and is maximized over p between 0.01 and 1.
    With fewer than two distinct values p = 1.

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
        ``exponential``: s_max - s_m with s_m the median training similarity of two objects, one instead of zero.
        ``power``: `largest_`.

    Notes
    -----
    [bernal2003] sec. 3.2 and 3.3, propositions 2 to 5, describes the limit of tight similarities. ``power`` keeps the
    sign of negative similarities, ``exponential`` gives positive numbers only. A new similarity above s_max is
    transformed by the same formula; results are limited to the square root of the largest floating-point number.

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
