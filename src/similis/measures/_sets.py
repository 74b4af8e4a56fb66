"""What the measures on sets share: their door, and sets as packed bits or sparse rows.

Every set measure is a function of three numbers: f(x and z), what two sets have in common, f(x) and f(z). The
salience f is the number of features, or the sum of their weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from similis import _kernels
from similis._utils.entries import first_place
from similis._utils.objects import count
from similis._utils.storable import storable
from similis._utils.validation import check_table
from similis.exceptions import ProximityError
from similis.measures._base import Measure, Tick, over_rows
from similis.measures._vectors import Laid, lay

__all__ = ["SetMeasure"]

# Beyond this many words of 64 bits per feature present, a sparse product does less work than counting packed bits.
SPARSE = 8
# A dense right-hand side of a sparse product may have this many entries.
DENSE = 2**25
_ONES = np.array([bin(byte).count("1") for byte in range(256)], dtype=np.uint8)


class SetMeasure(Measure):
    """A similarity of sets: of what they have in common and what each of them has."""

    _reads_packed = False

    def _combine(self, fx: NDArray[Any], fz: NDArray[Any], rows: slice, common: NDArray[Any]) -> None:
        """Replace ``common[rows]``, the saliences f(x and z), by similarities."""
        raise NotImplementedError

    def _objects(self, X: Any) -> Any:
        return read_packed(X, self) if self._reads_packed else read_sets(X, self)

    def _learn(self, objects: Any, y: Any) -> None:
        self._features = _Features.of([objects], getattr(self, "salience", None))

    def _encode(self, objects: Any) -> _Sets:
        return self._features.encode(objects, type(self).__name__)

    def _encode_all(self, collections: Sequence[Any]) -> list[_Sets]:
        # Two new sets may share a feature that no training set has: the features of the sets at hand include it.
        features = _Features.of(collections, getattr(self, "salience", None))
        return [features.encode(objects, type(self).__name__) for objects in collections]

    def _matrix(self, A: _Sets, B: _Sets, n_jobs: int | None = None, tick: Tick | None = None) -> NDArray[Any]:
        out = _common(A, B, n_jobs)

        def work(rows: slice) -> None:
            self._combine(A.salience, B.salience, rows, out)

        over_rows(work, len(out), n_jobs, tick)
        return out


@dataclass
class _Sets:
    """Encoded sets: packed bits, or sparse rows (plain and weighted), and the salience f of each set."""

    salience: NDArray[np.float64]
    bits: Laid | None = None
    rows: Any = None
    weighted: Any = None


@storable
@dataclass
class _Features:
    """The features that sets are compared on, in a fixed order.

    `vocabulary` numbers the features of token sets and is None for binary rows; `weights` is None where each
    feature counts one; `bits` says whether sets are packed or sparse.
    """

    n_features: int
    vocabulary: dict[Any, int] | None
    weights: NDArray[np.float64] | None
    salience: Any
    bits: bool

    @classmethod
    def of(cls, collections: Sequence[Any], salience: Any) -> _Features:
        """The features that occur in the collections."""
        vocabulary = None
        tokens = [isinstance(objects, list) for objects in collections]
        if all(tokens):
            union: set[Any] = set().union(*(s for objects in collections for s in objects))
            # Sorted, so that sums run in the same order in every process; values of any type have a repr.
            vocabulary = {token: k for k, token in enumerate(sorted(union, key=repr))}
            n_features, present = len(vocabulary), sum(len(s) for objects in collections for s in objects)
        elif any(tokens):
            raise ProximityError("X and Z must both be sets of tokens, or both binary rows.")
        else:
            widths = [objects.shape[1] for objects in collections]
            if len(set(widths)) > 1:
                raise ProximityError(f"X and Z must have the same number of columns. Got {widths}.")
            n_features = widths[0]
            present = sum(int(np.count_nonzero(o)) if isinstance(o, np.ndarray) else o.nnz for o in collections)
        weights = None if salience is None else _weights(salience, vocabulary, n_features)
        words = n_features / 64 * sum(map(count, collections))
        return cls(n_features, vocabulary, weights, salience, weights is None and words <= SPARSE * max(present, 1))

    def encode(self, objects: Any, who: str) -> _Sets:
        """Sets in these features; what is none of them counts in f(x) alone."""
        if isinstance(objects, np.ndarray) and objects.dtype == np.uint64:
            return _Sets(_ONES[objects.view(np.uint8)].sum(axis=1, dtype=np.float64), bits=lay(objects))
        if isinstance(objects, list) != (self.vocabulary is not None):
            before, now = ("binary rows", "sets of tokens")[:: -1 if self.vocabulary is not None else 1]
            raise ProximityError(f"{who} was fitted on {before} and cannot compare them with {now}.")
        extra: Any = 0.0
        if isinstance(objects, list):
            rows, extra = self._rows_of_tokens(objects)
        elif self.bits and isinstance(objects, np.ndarray):
            return _Sets(objects.sum(axis=1, dtype=np.float64), bits=lay(_pack_dense(objects)))
        else:
            rows = sparse.csr_array(objects, dtype=np.float64)
        if self.weights is None:
            salience = np.diff(rows.indptr) + extra
            return _Sets(salience, bits=lay(_pack_sparse(rows))) if self.bits else _Sets(salience, None, rows, rows)
        weighted = rows.copy()
        weighted.data = self.weights[rows.indices]
        return _Sets(weighted @ np.ones(self.n_features) + extra, None, rows, weighted)

    def _rows_of_tokens(self, objects: list[frozenset[Any]]) -> tuple[Any, NDArray[np.float64]]:
        """Sparse rows of the known tokens, and the salience of the unknown ones."""
        assert self.vocabulary is not None
        indices: list[int] = []
        indptr = [0]
        extra = np.zeros(len(objects))
        for i, tokens in enumerate(objects):
            known = sorted(self.vocabulary[token] for token in tokens if token in self.vocabulary)
            indices += known
            indptr.append(len(indices))
            if len(known) < len(tokens):
                strangers = {token: 0 for token in sorted(tokens - self.vocabulary.keys(), key=repr)}
                extra[i] = len(strangers) if self.salience is None else _weights(self.salience, strangers, 0).sum()
        return sparse.csr_array(
            (np.ones(len(indices)), np.array(indices, dtype=np.int32), indptr), (len(objects), self.n_features)
        ), extra


def _common(A: _Sets, B: _Sets, n_jobs: int | None) -> NDArray[np.float64]:
    """f(x and z) of every pair."""
    if A.bits is None or B.bits is None:
        n, d = B.rows.shape
        common = A.weighted @ B.rows.T.toarray() if n * d <= DENSE else (A.weighted @ B.rows.T).toarray()
        # Rounding must not lift f(x and z) above f(x) or f(z).
        return np.minimum(common, np.minimum(A.salience[:, None], B.salience[None, :]), out=common)
    left, right = A.bits.rows, B.bits.columns
    out = np.empty((left.shape[0], right.shape[1]))
    mirror = B is A

    def work(rows: slice) -> None:
        _kernels.common_bits(left, right, rows.start, rows.stop, mirror, out)

    over_rows(work, len(out), n_jobs)
    return out


def _weights(salience: Any, vocabulary: Mapping[Any, int] | None, n_features: int) -> NDArray[np.float64]:
    """The weight of each feature, in order."""
    if isinstance(salience, Mapping):
        try:
            weights = np.array([salience[name] for name in (vocabulary or range(n_features))], dtype=np.float64)
        except KeyError as error:
            raise ProximityError(
                f"salience must hold a weight for every feature. Feature {error.args[0]!r} has none: add it, or pass "
                "a collections.defaultdict."
            ) from None
        except (TypeError, ValueError):
            raise ProximityError("salience must hold a number for every feature. Got something else.") from None
    else:
        try:
            weights = np.asarray(salience, dtype=np.float64)
        except (TypeError, ValueError):
            raise ProximityError(f"salience must hold numbers. Got {str(salience)[:60]!r}.") from None
        if vocabulary is not None or weights.shape != (n_features,):
            raise ProximityError(
                f"salience must be a dict for sets of tokens, or one weight per column for binary rows, {n_features}. "
                f"Got shape {weights.shape}."
            )
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise ProximityError("salience must hold finite weights, none below zero.")
    return weights


def read_sets(X: Any, measure: Measure) -> Any:
    """Sets as a list of frozensets, binary rows as a boolean array, a sparse binary matrix as CSR."""
    who = type(measure).__name__
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype == object:
        X = X.tolist()
    if isinstance(X, (list, tuple)) and not (
        len(X) and all(isinstance(x, np.ndarray) and x.dtype != object for x in X)
    ):
        if not len(X):
            raise ProximityError(f"{who} needs at least one object. Found array with 0 sample(s).")
        return [_as_set(x, i, who) for i, x in enumerate(X)]
    if isinstance(X, np.ndarray) and X.dtype.kind in "US":
        text = str(X.flat[0])[:40] if X.size else ""
        raise ProximityError(
            f"{who} reads sets of tokens, or binary rows of 0 and 1. Got text, {text!r}; pass sets, as in "
            "[set(x.split()) for x in X]."
        )
    A = check_table(X, who, accept_sparse="csr", dtype="numeric")
    if sparse.issparse(A):
        A = sparse.csr_array(A, dtype=np.float64, copy=True)
        A.sum_duplicates()
        A.eliminate_zeros()
    values = A.data if sparse.issparse(A) else A
    strange = (values != 0) & (values != 1)
    if strange.any():
        where = "a stored entry" if sparse.issparse(A) else first_place(strange)
        raise ProximityError(
            f"{who} reads sets of tokens, or binary rows of 0 and 1. Got {values[strange][0]} at {where}. "
            "Threshold the rows first, as in X > 0."
        )
    return A if sparse.issparse(A) else A.astype(bool)


def _as_set(x: Any, i: int, who: str) -> frozenset[Any]:
    if isinstance(x, (str, bytes)) or not isinstance(x, Iterable):
        raise ProximityError(
            f"{who} compares sets of tokens. Object {i} is a {type(x).__name__}, {str(x)[:40]!r}; pass set(x) or "
            "x.split()."
        )
    try:
        return frozenset(x)
    except TypeError as error:
        raise ProximityError(f"The tokens of a set must be hashable. In object {i}: {error}.") from None


def read_packed(X: Any, measure: Measure) -> NDArray[np.uint64]:
    """Bit fingerprints packed into bytes (as by numpy.packbits) or words, as rows of words."""
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    A = check_table(X, type(measure).__name__, dtype=None, order="C")
    if A.dtype not in (np.uint8, np.uint64):
        raise ProximityError(
            f"{type(measure).__name__} with packed=True reads rows of uint8 or uint64 words, as numpy.packbits makes "
            f"them. Got {A.dtype}."
        )
    return A if A.dtype == np.uint64 else _words(A)


def _words(octets: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Bytes as words of eight, padded with empty bits."""
    return np.ascontiguousarray(np.pad(octets, ((0, 0), (0, -octets.shape[1] % 8)))).view(np.uint64)


def _pack_dense(rows: NDArray[np.bool_]) -> NDArray[np.uint64]:
    return _words(np.packbits(rows, axis=1))


def _pack_sparse(rows: Any) -> NDArray[np.uint64]:
    octets = np.zeros((rows.shape[0], -(-rows.shape[1] // 8)), dtype=np.uint8)
    of_entry = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    np.bitwise_or.at(octets, (of_entry, rows.indices // 8), np.uint8(128) >> (rows.indices % 8).astype(np.uint8))
    return _words(octets)
