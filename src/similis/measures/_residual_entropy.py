"""The residual entropy similarity of [cazzanti2007] Eq. (2.5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from similis import _kernels
from similis._utils.storable import storable
from similis.exceptions import ProximityError
from similis.measures._base import Measure, Tick, mirror_upper, over_rows
from similis.measures._described import as_sets, check_form, is_binary, read_described, sparse_codes

__all__ = ["ResidualEntropy"]


class ResidualEntropy(Measure):
    """Residual entropy: how well the common features single out an object, less what each has alone.

    s(x, z) = -H(R | x and z in R) + H(R | x without z in R) / 2 + H(R | z without x in R) / 2, where R is a training
    object drawn at random and H its entropy once it is known to have the features.

    Attributes
    ----------
    domain_ : tuple
        Known after fit: ``(-log m, log m)``, m the number of different training objects.
    n_features_in_ : int
        The number of columns, if the objects are rows.

    See Also
    --------
    Lin : takes features as independent.
    TverskyContrast : the model behind it, [cazzanti2007] Eq. (2.1).

    Notes
    -----
    Objects are Python sets of tokens, binary rows (a feature is a column that holds 1), a sparse binary matrix, or
    rows of other values (a feature is a value in its column). Whether numbers are binary is decided at fit.

    The distribution of R is the empirical one, so entropies are sums over the training objects that have the features,
    found by intersecting one set of bits per feature; the 2^d possible objects are never listed. Features that no
    training object has together leave nothing to be uncertain about: entropy 0, the paper being silent. An object need
    not be most similar to itself, since knowing a feature can raise an entropy.

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

    def _objects(self, X: Any) -> Any:
        return read_described(X, self)

    def _learn(self, objects: Any, y: Any) -> None:
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

    def _encode(self, objects: Any) -> _Coded:
        check_is_fitted(self, "_context")
        return self._context.encode([objects], self._context.vocabulary)[0]

    def _encode_all(self, collections: Sequence[Any]) -> list[_Coded]:
        check_is_fitted(self, "_context")
        # Two new objects may share a feature that no training object has.
        vocabulary = dict(self._context.vocabulary)
        for objects in collections:
            for tokens in self._context.sets(objects):
                for token in tokens:
                    vocabulary.setdefault(token, len(vocabulary))
        return self._context.encode(collections, vocabulary)

    def _matrix(self, A: _Coded, B: _Coded, n_jobs: int | None = None, tick: Tick | None = None) -> NDArray[Any]:
        mirror, out = B is A, np.zeros((len(A.starts) - 1, len(B.starts) - 1))
        counts = self._context.counts
        products, plain = counts * np.log(counts), bool((counts == 1).all())
        everyone = _pack(np.ones((1, len(counts)), dtype=bool))[0]
        having = A.having if len(A.having) >= len(B.having) else B.having

        def work(rows: slice) -> None:
            # [cazzanti2007] Eq. (2.5) -> -H(R | x and z) + H(R | x \ z) / 2 + H(R | z \ x) / 2
            bits = (having, everyone, counts, products, plain)
            _kernels.residual_entropies(A.codes, A.starts, B.codes, B.starts, *bits, rows.start, rows.stop, mirror, out)

        over_rows(work, len(out), n_jobs, tick, step=32)
        if mirror:
            mirror_upper(out)
        return out


@storable
@dataclass
class _Context:
    """The training objects: which features there are, who has them, how often each object occurs."""

    vocabulary: dict[Any, int]
    having: NDArray[np.bool_]
    counts: NDArray[np.float64]
    of_sets: bool
    presence: bool

    def sets(self, objects: Any) -> list[frozenset[Any]]:
        """Objects as sets, read as the training objects were."""
        check_form(objects, self.of_sets, "ResidualEntropy")
        if self.presence and not is_binary(objects):
            raise ProximityError("ResidualEntropy was fitted on binary rows, and these rows hold more than 0 and 1.")
        return as_sets(objects, self.presence)

    def encode(self, collections: Sequence[Any], vocabulary: dict[Any, int]) -> list[_Coded]:
        """Objects as codes; codes beyond the training features belong to no training object."""
        strangers = len(vocabulary) - len(self.vocabulary) + 1
        having = _pack(np.vstack([self.having, np.zeros((strangers, len(self.counts)), dtype=bool)]))
        return [_Coded(*sparse_codes(self.sets(objects), vocabulary), having) for objects in collections]


@dataclass
class _Coded:
    codes: NDArray[np.int32]
    starts: NDArray[np.int64]
    having: NDArray[np.uint64]


def _pack(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Rows of bits as words, bit k of word w standing for column 64 w + k."""
    octets = np.packbits(bits, axis=1, bitorder="little")
    return np.ascontiguousarray(np.pad(octets, ((0, 0), (0, -octets.shape[1] % 8)))).view("<u8").astype(np.uint64)
