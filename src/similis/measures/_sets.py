"""Measures on sets and binary rows: functions of f(x and z), f(x) and f(z), f the number or weight of features."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from similis import _kernels, base
from similis._utils.arrays import Array, Floats, is_missing
from similis.exceptions import ProximityError
from similis.measures._categorical import read_table
from similis.measures._vectors import TwoWayArray, both_layouts, run_kernel

SPARSE = 8  # 64-bit words per present feature above which a sparse product is faster than counting packed bits
DENSE = 2**25  # largest number of entries of a dense right-hand side of a sparse product


class SetMeasure(base.Measure):
    """Base of set similarities, functions of the common features and of the features of each set."""

    alpha = beta = 0.5

    def _combine(self, fx: Array, fz: Array, rows: slice, common: Array) -> None:
        """Replace ``common[rows]``, the saliences f(x and z), by similarities."""
        # [cazzanti2007] Eq. (2.2) -> f(x and z) / (f(x and z) + alpha f(x \ z) + beta f(z \ x))
        _kernels.ratio_model(fx, fz, float(self.alpha), float(self.beta), rows.start, rows.stop, common)

    def validate_objects(self, X: Any) -> Any:
        return read_sets(X, self)

    def learn(self, objects: Any, y: Any) -> None:
        self._features = _Features.of([objects], getattr(self, "salience", None))

    def encode(self, objects: Any) -> _Sets:
        return self._features.encode(objects, type(self).__name__)

    def encode_together(self, collections: Sequence[Any]) -> list[_Sets]:
        # Two new sets may share a feature that no training set has, so use the features of the given sets.
        features = _Features.of(collections, getattr(self, "salience", None))
        return [features.encode(objects, type(self).__name__) for objects in collections]

    def block(self, A: _Sets, B: _Sets, n_jobs: int | None = None, tick: base.Tick = None) -> Array:
        out = common_salience(A, B, n_jobs)
        mirror = B is A and self.symmetric and A.bits is None  # weighted sums round differently in the two halves
        work = partial(self._combine, A.salience, B.salience, common=out)
        return base.fill_strips(out, work, n_jobs, tick, mirror=mirror)


@dataclass
class _Sets:
    salience: Floats  # f of each set
    bits: TwoWayArray | None = None  # packed; else:
    rows: Any = None  # sparse
    weighted: Any = None


@base.storable
@dataclass
class _Features(base.FittedArrays):
    """Features of sets in a fixed order."""

    fitted_arrays = {"n_features": base.fitted_count(), "weights": base.fitted_reals(None, optional=True)}

    n_features: int
    vocabulary: dict[Any, int] | None  # number of each token; None for binary rows
    weights: Floats | None  # None if each feature counts one
    salience: Any
    bits: bool  # packed, else sparse

    def verify_fitted(self) -> None:
        super().verify_fitted()
        if self.vocabulary is not None:
            base.verify_numbering(self.vocabulary, self.n_features, "vocabulary of sets")
        if self.weights is not None and len(self.weights) != self.n_features:
            raise ProximityError("Sets must have one weight per feature.")

    @classmethod
    def of(cls, collections: Sequence[Any], salience: Any) -> _Features:
        vocabulary = None
        tokens = [isinstance(objects, list) for objects in collections]
        if all(tokens):
            union: set[Any] = set().union(*chain(*collections))
            # Sorted by repr, which any value has, so that sums run in the same order in every process.
            vocabulary = {token: k for k, token in enumerate(sorted(union, key=repr))}
            n_features, present = len(vocabulary), sum(map(len, chain(*collections)))
        elif any(tokens):
            raise ProximityError("X and Z must both be sets of tokens, or both binary rows.")
        else:
            widths = [objects.shape[1] for objects in collections]
            if len(set(widths)) > 1:
                raise ProximityError(f"X and Z must have the same number of columns. Got {widths}.")
            n_features = widths[0]
            present = sum(int(np.count_nonzero(o)) if isinstance(o, np.ndarray) else o.nnz for o in collections)
        weights = None if salience is None else _weights(salience, vocabulary, n_features)
        words = n_features / 64 * sum(map(base.count_objects, collections))
        return cls(n_features, vocabulary, weights, salience, weights is None and words <= SPARSE * max(present, 1))

    def encode(self, objects: Any, who: str) -> _Sets:
        """Encode sets by these features; other features of a set count only in its salience f(x)."""
        if isinstance(objects, np.ndarray) and objects.dtype == np.uint64:
            return _Sets(np.bitwise_count(objects).sum(axis=1, dtype=np.float64), bits=both_layouts(objects))
        check_form(objects, self.vocabulary is not None, who, ("sets of tokens", "binary rows"))
        extra: Any = 0.0
        if isinstance(objects, list):
            rows, extra = self._rows_of_tokens(objects)
        elif self.bits and isinstance(objects, np.ndarray):
            return _Sets(objects.sum(axis=1, dtype=np.float64), bits=both_layouts(words(np.packbits(objects, axis=1))))
        else:
            rows = sparse.csr_array(objects, dtype=np.float64)
        weighted = rows
        if self.weights is not None:
            weighted = rows.copy()
            weighted.data = self.weights[rows.indices]
        salience = weighted @ np.ones(self.n_features) + extra
        return _Sets(salience, both_layouts(_pack_sparse(rows))) if self.bits else _Sets(salience, None, rows, weighted)

    def _rows_of_tokens(self, objects: list[frozenset[Any]]) -> tuple[Any, Floats]:
        numbers = self.vocabulary or {}
        known = [sorted(numbers[token] for token in tokens if token in numbers) for tokens in objects]
        extra = np.zeros(len(objects))
        for i, tokens in enumerate(objects):
            if len(known[i]) < len(tokens):
                unseen = {token: 0 for token in sorted(tokens - numbers.keys(), key=repr)}
                extra[i] = len(unseen) if self.salience is None else _weights(self.salience, unseen, 0).sum()
        indices, starts = concatenated(known)
        return sparse.csr_array((np.ones(len(indices)), indices, starts), (len(objects), self.n_features)), extra


def common_salience(A: _Sets, B: _Sets, n_jobs: int | None) -> Floats:
    if A.bits is None or B.bits is None:
        n, d = B.rows.shape
        common = A.weighted @ B.rows.T.toarray() if n * d <= DENSE else (A.weighted @ B.rows.T).toarray()
        # Rounding must not raise f(x and z) above f(x) or f(z).
        return np.minimum(common, np.minimum(A.salience[:, None], B.salience[None, :]), out=common)
    out = np.empty((len(A.salience), len(B.salience)))
    return run_kernel(_kernels.common_bits, (A.bits.rows, B.bits.columns), out, B is A, n_jobs)


def _weights(salience: Any, vocabulary: Mapping[Any, int] | None, n_features: int) -> Floats:
    named = isinstance(salience, Mapping)
    try:
        values = [salience[name] for name in (vocabulary or range(n_features))] if named else salience
        weights = np.asarray(values, dtype=np.float64)
    except KeyError as error:
        hint = f"Feature {error.args[0]!r} has none; add it, or pass a collections.defaultdict."
        raise ProximityError(f"salience must hold a weight for every feature. {hint}") from None
    except (TypeError, ValueError):
        wrong = "a number for every feature. Got other values" if named else f"numbers. Got {str(salience)[:60]!r}"
        raise ProximityError(f"salience must hold {wrong}.") from None
    if not named and (vocabulary is not None or weights.shape != (n_features,)):
        wanted = f"a dict for sets of tokens, or one weight per column for binary rows, {n_features}"
        raise ProximityError(f"salience must be {wanted}. Got shape {weights.shape}.")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ProximityError("salience must hold finite, non-negative weights.")
    return weights


def read_sets(X: Any, measure: base.Measure) -> Any:
    """Validate sets: return token sets as a list of frozensets, binary rows as booleans, words of bits, or CSR."""
    who, X = type(measure).__name__, _list_or_array(X)
    if getattr(measure, "packed", False):
        A = base.check_table(X, who, dtype=None, order="C")
        if A.dtype not in (np.uint8, np.uint64):
            wanted = "rows of uint8 or uint64 words, as made by numpy.packbits"
            raise ProximityError(f"{who} with packed=True needs {wanted}. Got {A.dtype}.")
        return A if A.dtype == np.uint64 else words(A)
    if isinstance(X, (list, tuple)):
        if not len(X):
            raise ProximityError(f"{who} needs at least one object. Found array with 0 sample(s).")
        if not all(isinstance(x, np.ndarray) and x.dtype != object for x in X):
            return [_as_set(x, i, who) for i, x in enumerate(X)]
    wanted = f"{who} needs sets of tokens, or binary rows of 0 and 1."
    if isinstance(X, np.ndarray) and X.dtype.kind in "US":
        text = str(X.flat[0])[:40] if X.size else ""
        raise ProximityError(f"{wanted} Got text, {text!r}; pass sets, as in [set(x.split()) for x in X].")
    A = base.check_table(X, who, accept_sparse="csr", dtype="numeric")
    values = A
    if sparse.issparse(A):
        A = sparse.csr_array(A, dtype=np.float64, copy=True)
        A.sum_duplicates()
        A.eliminate_zeros()
        values = A.data
    strange = (values != 0) & (values != 1)
    if strange.any():
        got = f"{values[strange][0]} at {base.first_position(strange) if values is A else 'a stored entry'}"
        raise ProximityError(f"{wanted} Got {got}. Threshold the rows first, as in X > 0.")
    return A.astype(bool) if values is A else A


def _list_or_array(X: Any) -> Any:
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    return X.tolist() if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype == object else X


def _as_set(x: Any, i: int, who: str) -> frozenset[Any]:
    if isinstance(x, (str, bytes)) or not isinstance(x, Iterable):
        got = f"Object {i} is a {type(x).__name__}, {str(x)[:40]!r}"
        raise ProximityError(f"{who} needs sets of tokens. {got}; pass set(x) or x.split().")
    try:
        return frozenset(x)
    except TypeError as error:
        raise ProximityError(f"The tokens of a set must be hashable. Object {i}: {error}.") from None


def words(octets: Array) -> Array:
    """View bytes as 64-bit words, the lowest bits first, padded with zero bits."""
    padded = np.ascontiguousarray(np.pad(octets, ((0, 0), (0, -octets.shape[1] % 8))))
    return padded.view("<u8").astype(np.uint64, copy=False)


def _pack_sparse(rows: Any) -> Array:
    octets = np.zeros((rows.shape[0], -(-rows.shape[1] // 8)), dtype=np.uint8)
    of_entry = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    np.bitwise_or.at(octets, (of_entry, rows.indices // 8), np.uint8(128) >> (rows.indices % 8).astype(np.uint8))
    return words(octets)


def read_described(X: Any, measure: base.Measure) -> Any:
    """Validate sets or rows of values: return a list of frozensets, or a table."""
    X = _list_or_array(X)
    some = isinstance(X, (list, tuple)) and any(isinstance(x, (set, frozenset)) for x in X)
    if sparse.issparse(X):
        X = read_sets(X, measure)
        return [frozenset(X.indices[a:b].tolist()) for a, b in zip(X.indptr, X.indptr[1:])]
    return read_sets(X, measure) if some else read_table(X, type(measure).__name__)


def check_form(objects: Any, of_sets: bool, who: str, names: tuple[str, str] = ("sets", "rows")) -> None:
    """Raise an error for rows after a fit on sets, and for sets after a fit on rows."""
    if isinstance(objects, list) != of_sets:
        before, now = names if of_sets else names[::-1]
        raise ProximityError(f"{who} was fitted on {before} and got {now}. Pass {before}.")


def is_binary(table: Any) -> bool:
    if isinstance(table, np.ndarray) and table.dtype == object:  # of booleans and numbers, as a frame may be
        return all(isinstance(x, (int, float, np.number, np.bool_)) and x in (0, 1) for x in table.flat)
    return isinstance(table, np.ndarray) and table.dtype.kind in "biuf" and bool(((table == 0) | (table == 1)).all())


def as_sets(objects: Any, presence: bool = False) -> list[frozenset[Any]]:
    """Convert rows to sets of features: (column, value), or with `presence` the columns that hold a 1."""
    if isinstance(objects, list):
        return objects
    if presence:
        return [frozenset(np.flatnonzero(row == 1).tolist()) for row in objects]
    if objects.dtype.kind in "biuSU":  # no value is missing
        return [frozenset(enumerate(row)) for row in objects.tolist()]
    return [frozenset((k, None if is_missing(x) else x) for k, x in enumerate(row)) for row in objects.tolist()]


def concatenated(numbers: list[list[int]]) -> tuple[Array, Array]:
    starts = np.concatenate([[0], np.cumsum([len(row) for row in numbers])]).astype(np.int64)
    return np.array([number for row in numbers for number in row], dtype=np.int32), starts


@base.estimator
class Jaccard(SetMeasure):
    """Common features divided by all features, s(x, z) = |x and z| / |x or z|; Tanimoto similarity of fingerprints.

    Objects are sets (or lists) of tokens, binary rows given as an array, a sparse binary matrix, or packed bits. Two
    empty sets have similarity 1.

    Parameters
    ----------
    packed : bool, default=False
        Set to True for bit fingerprints packed into rows of bytes (``numpy.packbits``) or 64-bit words.

    Examples
    --------
    >>> from similis import Jaccard
    >>> Jaccard()({"a", "b", "c"}, {"b", "c", "d"})
    0.5
    """

    packed: bool = base.param(False, "boolean")

    domain_ = (0.0, 1.0)
    alpha = beta = 1.0


class Dice(SetMeasure):
    """Twice the common features divided by the sum of both, s(x, z) = 2 |x and z| / (|x| + |z|).

    Equal to :class:`TverskyRatio` with alpha = beta = 0.5 ([cazzanti2007] Eq. (2.2)), with the same objects.

    Examples
    --------
    >>> from similis import Dice
    >>> Dice()({"a", "b"}, {"b", "c"})
    0.5
    """

    domain_ = (0.0, 1.0)


class Overlap(SetMeasure):
    """Common features divided by the smaller set, s(x, z) = |x and z| / min(|x|, |z|).

    Objects are those of :class:`TverskyRatio`. Two empty sets have similarity 1, an empty and any other set 0.

    Examples
    --------
    >>> from similis import Overlap
    >>> Overlap()({"a", "b"}, {"a", "b", "c", "d"})
    1.0
    """

    domain_ = (0.0, 1.0)

    def _combine(self, fx: Array, fz: Array, rows: slice, common: Array) -> None:
        _kernels.overlap_model(fx, fz, rows.start, rows.stop, common)


@base.estimator
class _Tversky(SetMeasure):
    alpha: float = base.param(0.5, base.between(0, None, "left"))
    beta: float = base.param(0.5, base.between(0, None, "left"))
    salience: Any = base.param(None, "array-like", dict, None)

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """True if alpha equals beta."""
        return self.alpha == self.beta


class TverskyContrast(_Tversky):
    """Tversky's linear contrast model, s(x, z) = f(x and z) - alpha f(x without z) - beta f(z without x).

    Objects are sets (or lists) of tokens, binary rows given as an array, or a sparse binary matrix.

    Parameters
    ----------
    alpha, beta : float, default=0.5
        Weights of the features of x alone and of z alone. Different weights make the similarity asymmetric.
    salience : dict or array of shape (d,), optional
        Weight of each feature, a dict for sets of tokens; f sums them. By default f counts the features.

    Attributes
    ----------
    domain_ : tuple or None
        The interval of possible values for binary rows, known after fit; None for sets of tokens.

    Examples
    --------
    >>> from similis import TverskyContrast
    >>> TverskyContrast(alpha=1.0, beta=0.0)({"eyes"}, {"eyes", "nose"})
    1.0
    """

    def learn(self, objects: Any, y: Any) -> None:
        super().learn(objects, y)
        self.domain_ = None
        if self._features.vocabulary is None:
            weights = self._features.weights
            most = float(self._features.n_features if weights is None else weights.sum())
            self.domain_ = (-max(self.alpha, self.beta) * most, most)

    def _combine(self, fx: Array, fz: Array, rows: slice, common: Array) -> None:
        # [cazzanti2007] Eq. (2.1) -> f(x and z) - alpha f(x \ z) - beta f(z \ x)
        _kernels.contrast_model(fx, fz, float(self.alpha), float(self.beta), rows.start, rows.stop, common)


class TverskyRatio(_Tversky):
    """Tversky's ratio model, s(x, z) = f(x and z) / (f(x and z) + alpha f(x without z) + beta f(z without x)).

    Objects and parameters are those of :class:`TverskyContrast`. alpha = beta = 1 is :class:`Jaccard`, alpha = beta =
    0.5 :class:`Dice`. 0/0 is 1 if neither object has a (salient) feature, else 0.

    Parameters
    ----------
    alpha, beta, salience
        As in :class:`TverskyContrast`.

    Examples
    --------
    >>> from similis import TverskyRatio
    >>> TverskyRatio(alpha=1.0, beta=0.0).matrix([{"eyes", "nose"}, {"eyes"}])
    array([[1. , 0.5],
           [1. , 1. ]])
    """

    domain_ = (0.0, 1.0)
