"""Information-theoretic similarities of sets of features. [cazzanti2007] sec. 2.1."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from similis import _kernels
from similis._utils.arrays import Array, Floats, Mask
from similis.base import (
    FittedArrays,
    Measure,
    ProgressCallback,
    fitted_reals,
    for_each_strip,
    mirror_upper,
    storable,
    verify_numbering,
)
from similis.exceptions import ProximityError
from similis.measures._sets import (
    SetMeasure,
    _Features,
    _Sets,
    as_sets,
    check_form,
    is_binary,
    read_described,
    sparse_codes,
)

__all__ = ["Lin", "ResidualEntropy"]


class Lin(SetMeasure):
    """Lin similarity: twice the information of common features divided by that of both objects.

    s(x, z) = 2 I(common) / (I(x) + I(z)), where the information I of a set of features is the sum of -log P over them
    and P the relative frequency of a feature among the training objects. Rare common features have larger weights.

    Attributes
    ----------
    domain_ : tuple
        ``(0, 1)``.
    n_features_in_ : int
        The number of columns, if the objects are rows.

    See Also
    --------
    TverskyRatio : equal to this measure with alpha = beta = 0.5 and the same information as salience.
    ResidualEntropy : does not assume independent features.
    Counting : all equal features have the same weight.

    Notes
    -----
    Objects are rows of categories (a feature is a value in its column), Python sets of tokens, or a sparse binary
    matrix. Features are assumed to be independent. A feature that no training object has gets -log(1 / (n + 1)), as if
    it had occurred once in one more object; the paper does not define this case, and an infinite value would make every
    object with a new feature dissimilar to all others. If neither object has any information, the similarity is 1.

    Examples
    --------
    >>> from similis import Lin
    >>> birds = [["flies", "brown"], ["flies", "brown"], ["flies", "red"], ["walks", "red"]]
    >>> Lin().fit(birds).matrix(birds).round(2)
    array([[1.  , 1.  , 0.29, 0.  ],
           [1.  , 1.  , 0.29, 0.  ],
           [0.29, 0.29, 1.  , 0.45],
           [0.  , 0.  , 0.45, 1.  ]])
    """

    domain_ = (0.0, 1.0)
    cells = "category"

    def validate_objects(self, X: Any) -> Any:
        return read_described(X, self)

    def learn(self, objects: Any, y: Any) -> None:
        sets = as_sets(objects)
        counts = Counter(token for tokens in sets for token in tokens)
        # [cazzanti2007] sec. 2.1 -> I(x[i]) = -log P(x[i])
        information = {token: -math.log(count / len(sets)) for token, count in counts.items()}
        self._information = _Information(information, math.log(len(sets) + 1), isinstance(objects, list))

    def encode(self, objects: Any) -> _Sets:
        return self._encode_with([self._tokens(objects)], known=True)[0]

    def encode_together(self, collections: Sequence[Any]) -> list[_Sets]:
        return self._encode_with([self._tokens(objects) for objects in collections], known=False)

    def _tokens(self, objects: Any) -> list[frozenset[Any]]:
        check_is_fitted(self, "_information")
        check_form(objects, self._information.of_sets, "Lin")
        return as_sets(objects)

    def _encode_with(self, collections: list[list[frozenset[Any]]], known: bool) -> list[_Sets]:
        """Encode sets by the training features (`known`), or by those of the given sets."""
        salience = dict(self._information.values)
        tokens_seen: set[Any] = set().union(*(tokens for sets in collections for tokens in sets))
        salience.update(dict.fromkeys(tokens_seen - salience.keys(), self._information.unseen))
        chosen = self._information.values if known else tokens_seen
        vocabulary = {token: k for k, token in enumerate(sorted(chosen, key=repr))}
        weights = np.array([salience[token] for token in vocabulary])
        features = _Features(len(vocabulary), vocabulary, weights, salience, False)
        return [features.encode(sets, "Lin") for sets in collections]

    def block(self, A: _Sets, B: _Sets, n_jobs: int | None = None, tick: ProgressCallback | None = None) -> Array:
        out = super().block(A, B, n_jobs, tick)
        if B is A:
            mirror_upper(out)  # weighted sums round differently in the two halves
        return out

    def _combine(self, fx: Array, fz: Array, rows: slice, common: Array) -> None:
        # [cazzanti2007] sec. 2.1 -> 2 I(common) / I(description), Eq. (2.2) with f = I and alpha = beta = 0.5
        _kernels.ratio_model(fx, fz, 0.5, 0.5, rows.start, rows.stop, common)


@storable
@dataclass
class _Information:
    """Information -log P of every training feature, and of unseen features."""

    values: dict[Any, float]
    unseen: float
    of_sets: bool


class ResidualEntropy(Measure):
    """Residual entropy: information in the common features minus the information in those of one object only.

    s(x, z) = -H(R | x and z in R) + H(R | x without z in R) / 2 + H(R | z without x in R) / 2, where R is a random
    training object and H its entropy given that it has the features.

    Attributes
    ----------
    domain_ : tuple
        ``(-log m, log m)`` after fit, m the number of distinct training objects.
    n_features_in_ : int
        The number of columns, if the objects are rows.

    See Also
    --------
    Lin : assumes independent features.
    TverskyContrast : the underlying model, [cazzanti2007] Eq. (2.1).

    Notes
    -----
    Objects are Python sets of tokens, binary rows (a feature is a column that holds 1), a sparse binary matrix, or rows
    of other values (a feature is a value in its column). `fit` determines whether rows are binary.

    The distribution of R is the empirical one, so that entropies are sums over the training objects with the features,
    found by intersecting bit sets instead of listing the 2^d possible objects. If no training object has all the
    features, the entropy is 0; the paper does not define this case. An object need not be most similar to itself, since
    a condition can raise an entropy.

    Examples
    --------
    >>> from similis import ResidualEntropy
    >>> animals = [{"fur", "purrs"}, {"fur", "purrs"}, {"fur", "barks"}, {"barks"}]
    >>> ResidualEntropy().fit(animals).matrix(animals).round(2)
    array([[ 1.04,  1.04, -0.29, -0.69],
           [ 1.04,  1.04, -0.29, -0.69],
           [-0.29, -0.29,  1.04,  0.14],
           [-0.69, -0.69,  0.14,  0.35]])
    """

    cells = "binary"

    def validate_objects(self, X: Any) -> Any:
        return read_described(X, self)

    def learn(self, objects: Any, y: Any) -> None:
        of_sets, presence = isinstance(objects, list), is_binary(objects)
        distinct = Counter(as_sets(objects, presence))
        vocabulary: dict[Any, int] = {}
        for tokens in distinct:
            for token in sorted(tokens, key=repr):
                vocabulary.setdefault(token, len(vocabulary))
        having = np.zeros((len(vocabulary), len(distinct)), dtype=bool)
        for k, tokens in enumerate(distinct):
            having[[vocabulary[token] for token in tokens], k] = True
        counts = np.array(list(distinct.values()), dtype=np.float64)
        self._context = _Context(vocabulary, having, counts, of_sets, presence)
        most = float(np.log(len(counts)))
        self.domain_ = (-most, most)

    def encode(self, objects: Any) -> _CodedSubsets:
        check_is_fitted(self, "_context")
        return self._context.encode([objects], self._context.vocabulary)[0]

    def encode_together(self, collections: Sequence[Any]) -> list[_CodedSubsets]:
        check_is_fitted(self, "_context")
        # Two new objects may share a feature that no training object has, so extend the vocabulary.
        vocabulary = dict(self._context.vocabulary)
        for objects in collections:
            for tokens in self._context.sets(objects):
                for token in tokens:
                    vocabulary.setdefault(token, len(vocabulary))
        return self._context.encode(collections, vocabulary)

    def block(
        self, A: _CodedSubsets, B: _CodedSubsets, n_jobs: int | None = None, tick: ProgressCallback | None = None
    ) -> Array:
        mirror, out = B is A, np.zeros((len(A.starts) - 1, len(B.starts) - 1))
        counts = self._context.counts
        products, plain = counts * np.log(counts), bool((counts == 1).all())
        all_objects = _pack(np.ones((1, len(counts)), dtype=bool))[0]
        having = A.having if len(A.having) >= len(B.having) else B.having

        def work(rows: slice) -> None:
            # [cazzanti2007] Eq. (2.5) -> -H(R | x and z) + H(R | x \ z) / 2 + H(R | z \ x) / 2
            bits = (having, all_objects, counts, products, plain)
            _kernels.residual_entropies(A.codes, A.starts, B.codes, B.starts, *bits, rows.start, rows.stop, mirror, out)

        for_each_strip(work, len(out), n_jobs, tick, step=32)
        if mirror:
            mirror_upper(out)
        return out


@storable
@dataclass
class _Context(FittedArrays):
    """Training objects: their features, the objects that have each feature, and the count of each object."""

    fitted_arrays = {
        "counts": fitted_reals("objects", low=1),
    }

    vocabulary: dict[Any, int]
    having: Mask
    counts: Floats
    of_sets: bool
    presence: bool

    def verify_fitted(self) -> None:
        super().verify_fitted()
        shape = len(self.vocabulary), len(self.counts)
        if not isinstance(self.having, np.ndarray) or self.having.dtype != bool or self.having.shape != shape:
            raise ProximityError("having of ResidualEntropy must be a table of bits, features x objects.")
        verify_numbering(self.vocabulary, len(self.vocabulary), "vocabulary of ResidualEntropy")

    def sets(self, objects: Any) -> list[frozenset[Any]]:
        """Convert objects to sets in the same way as the training objects."""
        check_form(objects, self.of_sets, "ResidualEntropy")
        if self.presence and not is_binary(objects):
            raise ProximityError("ResidualEntropy was fitted on binary rows. Got rows with other values than 0 and 1.")
        return as_sets(objects, self.presence)

    def encode(self, collections: Sequence[Any], vocabulary: dict[Any, int]) -> list[_CodedSubsets]:
        """Encode objects; codes beyond the training features belong to no training object."""
        n_unseen = len(vocabulary) - len(self.vocabulary) + 1
        having = _pack(np.vstack([self.having, np.zeros((n_unseen, len(self.counts)), dtype=bool)]))
        return [_CodedSubsets(*sparse_codes(self.sets(objects), vocabulary), having) for objects in collections]


@dataclass
class _CodedSubsets:
    codes: NDArray[np.int32]
    starts: NDArray[np.int64]
    having: NDArray[np.uint64]


def _pack(bits: Mask) -> NDArray[np.uint64]:
    """Pack rows of bits into words; bit k of word w is column 64 w + k."""
    octets = np.packbits(bits, axis=1, bitorder="little")
    return np.ascontiguousarray(np.pad(octets, ((0, 0), (0, -octets.shape[1] % 8)))).view("<u8").astype(np.uint64)
