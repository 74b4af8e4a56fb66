"""Information-theoretic similarities of sets of features and of concepts, [cazzanti2007] sec. 2.1."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similis import _kernels, base
from similis._utils.arrays import Array, Floats, Mask, all_numbers
from similis.exceptions import ProximityError
from similis.measures import _sets
from similis.measures._categorical import to_floats


class Lin(_sets.SetMeasure):
    """Lin similarity: twice the information of common features divided by that of both objects.

    s(x, z) = 2 I(common) / (I(x) + I(z)), the ratio model with alpha = beta = 0.5, where the information I of a set of
    features is the sum of -log P over them and P the relative frequency of a feature among the training objects;
    1 / (n + 1) for a feature of none, which the paper does not define. Without any information the similarity is 1.

    Objects are rows of categories (a feature is a value in its column), Python sets of tokens, or a sparse binary
    matrix. Features are assumed to be independent; :class:`ResidualEntropy` does not assume this.

    Examples
    --------
    >>> from similis import Lin
    >>> birds = [["flies", "brown"], ["flies", "brown"], ["flies", "red"], ["walks", "red"]]
    >>> Lin().fit(birds).matrix(birds[:1], birds).round(2)
    array([[1.  , 1.  , 0.29, 0.  ]])
    """

    domain_ = (0.0, 1.0)
    cells = "category"

    def validate_objects(self, X: Any) -> Any:
        return _sets.read_described(X, self)

    def learn(self, objects: Any, y: Any) -> None:
        sets = _sets.as_sets(objects)
        counts = Counter(chain.from_iterable(sets))
        # [cazzanti2007] sec. 2.1 -> I(x[i]) = -log P(x[i])
        information = {token: -math.log(count / len(sets)) for token, count in counts.items()}
        self._information = _Information(information, math.log(len(sets) + 1), isinstance(objects, list))

    def encode(self, objects: Any) -> _sets._Sets:
        return self._encode([objects], known=True)[0]

    def encode_together(self, collections: Sequence[Any]) -> list[_sets._Sets]:
        return self._encode(collections, known=False)

    def _encode(self, collections: Sequence[Any], known: bool) -> list[_sets._Sets]:
        """Encode sets by the training features (`known`), or by those of the given sets."""
        check_is_fitted(self, "_information")
        for objects in collections:
            _sets.check_form(objects, self._information.of_sets, "Lin")
        sets = [_sets.as_sets(objects) for objects in collections]
        seen: set[Any] = set().union(*chain(*sets))
        salience = dict.fromkeys(seen, self._information.unseen) | self._information.values
        chosen = sorted(self._information.values if known else seen, key=repr)
        weights = np.array([salience[token] for token in chosen])
        features = _sets._Features(len(chosen), {token: k for k, token in enumerate(chosen)}, weights, salience, False)
        return [features.encode(some, "Lin") for some in sets]


@base.storable
@dataclass
class _Information:
    values: dict[Any, float]  # -log P of every training feature
    unseen: float
    of_sets: bool


@base.estimator
class Resnik(base.Measure):
    """Resnik similarity: information content of the most specific concept above both objects in a taxonomy.

    s(x, z) = max -log P(c) over the concepts c above (or equal to) both, where P(c) is the frequency of c or any
    concept below it ([resnik1995], cited in [cazzanti2007] sec. 2.1), for N counts 1 / (N + 1) if none occurs.

    An object is a concept (a text) or a set of concepts, such as the senses of a word; the similarity of two sets is
    that of their most similar concepts, 0 if none is above both.

    Parameters
    ----------
    taxonomy : dict
        Parent of each concept, or a list of its parents. A root needs no entry.
    counts : dict, optional
        Frequency of each concept in some corpus, by default among the training objects; 0 for one that is left out.

    Examples
    --------
    >>> from similis import Resnik
    >>> taxonomy = {"cat": "mammal", "dog": "mammal", "eagle": "bird", "mammal": "animal", "bird": "animal"}
    >>> animals = ["cat", "dog", "eagle", "eagle"]
    >>> Resnik(taxonomy=taxonomy).fit(animals).matrix(["cat"], animals).round(2)
    array([[1.39, 0.69, 0.  , 0.  ]])
    """

    taxonomy: Any = base.param(None, Mapping, None)
    counts: Any = base.param(None, Mapping, None)

    cells = "text"

    def validate_objects(self, X: Any) -> list[frozenset[Any]]:
        if self.taxonomy is None:
            raise ProximityError('Resnik needs a taxonomy, such as {"cat": "mammal", "dog": ["mammal", "pet"]}.')
        X = base.as_collection(X, "Resnik")
        if getattr(X, "ndim", 1) == 2 and X.shape[1] == 1:
            X = X.ravel()
        X = [x.tolist() if isinstance(x, np.ndarray) else x for x in X]  # concepts, not rows of 0 and 1
        objects = _sets.read_sets([x if isinstance(x, set | frozenset | list | tuple) else [x] for x in X], self)
        concepts = set(self.taxonomy).union(*map(_as_list, self.taxonomy.values()))
        for i, x in enumerate(objects):
            if not x <= concepts:
                unknown = min(map(repr, x - concepts))
                raise ProximityError(f"Resnik needs concepts of its taxonomy. Object {i} holds {unknown[:40]}.")
        return objects

    def learn(self, objects: list[frozenset[Any]], y: Any) -> None:
        occurrences: list[tuple[frozenset[Any], Any]] = [(concepts, 1) for concepts in objects]
        if self.counts is not None:
            occurrences = [(frozenset([concept]), count) for concept, count in self.counts.items()]
            counts = self.counts.values()
            if not all(isinstance(n, (int, float, np.number)) and 0 <= n < math.inf for n in counts) or not any(counts):
                raise ProximityError("counts must hold finite numbers of at least zero, not all of them zero.")
        below: Counter[Any] = Counter()
        for concepts, count in occurrences:
            below.update(dict.fromkeys(self._above(concepts), count))
        # [cazzanti2007] sec. 2.1 -> I = -log P; an occurrence of a concept counts for all concepts above it
        total = sum(count for _, count in occurrences)
        information = {concept: math.log(total / count) for concept, count in below.items() if count > 0}
        self._information = _Information(information, math.log(total + 1), True)
        self.domain_ = (0.0, max([self._information.unseen, *information.values()]))

    def encode(self, objects: list[frozenset[Any]]) -> _Concepts:
        check_is_fitted(self, "_information")
        members: dict[Any, list[int]] = {}
        for i, concepts in enumerate(objects):
            for concept in self._above(concepts):
                members.setdefault(concept, []).append(i)
        return _Concepts(len(objects), members)

    def block(self, A: _Concepts, B: _Concepts, n_jobs: int | None = None, tick: base.Tick = None) -> Array:
        out = np.zeros((A.n, B.n))
        known, unseen = self._information.values, self._information.unseen
        # In ascending order, so that the information of the most specific common concept is written last.
        for concept in sorted(A.members.keys() & B.members.keys(), key=lambda c: known.get(c, unseen)):
            out[np.ix_(A.members[concept], B.members[concept])] = known.get(concept, unseen)
        base.for_each_strip(lambda rows: None, A.n, n_jobs, tick)
        return out

    def _above(self, concepts: frozenset[Any]) -> set[Any]:
        """The given concepts and all above them."""
        found: set[Any] = set()
        ahead = list(concepts)
        while ahead:
            concept = ahead.pop()
            if concept not in found:
                found.add(concept)
                ahead += _as_list(self.taxonomy.get(concept, ()))
        return found


def _as_list(parents: Any) -> list[Any]:
    return list(parents) if isinstance(parents, (set, frozenset, list, tuple)) else [parents]


@dataclass
class _Concepts:
    n: int  # number of objects
    members: dict[Any, list[int]]  # objects below each concept


@base.estimator
class ResidualEntropy(base.Measure):
    """Residual entropy: information in the common features minus the information in those of one object only.

    s(x, z) = -H(R | x and z in R) + H(R | x without z in R) / 2 + H(R | z without x in R) / 2, where R is a random
    training object and H its entropy given that it has the features, 0 if no training object has them all (a case that
    the paper does not define). An object need not be most similar to itself. :class:`Lin` assumes independent features.

    Objects are Python sets of tokens, binary rows (a feature is a column that holds 1), a sparse binary matrix, or rows
    of other values (a feature is a value in its column). `fit` determines whether rows are binary.

    Parameters
    ----------
    n_bins : int or None, default=None
        Number of intervals, with equal numbers of distinct training values, that are the features of a numeric column
        with more values ([cazzanti2007] sec. 3.4). By default every number is a feature.

    Attributes
    ----------
    bin_edges_ : list of ndarray
        Inner limits of the intervals of each column, which belong to the upper interval; empty for a column without.
    domain_ : tuple
        ``(-log m, log m)`` after fit, m the number of distinct training objects.

    Examples
    --------
    >>> from similis import ResidualEntropy
    >>> animals = [{"fur", "purrs"}, {"fur", "purrs"}, {"fur", "barks"}, {"barks"}]
    >>> ResidualEntropy().fit(animals).matrix(animals[:1], animals).round(2)
    array([[ 1.04,  1.04, -0.29, -0.69]])
    """

    n_bins: int | None = base.param(None, base.at_least(2), None)
    _added_params = ("n_bins",)  # since 1.0

    @property
    def cells(self) -> str:  # type: ignore[override]
        """Columns of a text file are numbers if all are 0 or 1, or with `n_bins` wherever possible."""
        return "binary" if self.n_bins is None else "mixed"

    def validate_objects(self, X: Any) -> Any:
        return _sets.read_described(X, self)

    def learn(self, objects: Any, y: Any) -> None:
        of_sets, presence = isinstance(objects, list), _sets.is_binary(objects)
        self.bin_edges_ = [] if of_sets or presence or self.n_bins is None else _bin_edges(objects, self.n_bins)
        distinct = Counter(_sets.as_sets(self._in_bins(objects), presence))
        ordered = dict.fromkeys(token for tokens in distinct for token in sorted(tokens, key=repr))
        vocabulary = {token: k for k, token in enumerate(ordered)}
        having = np.zeros((len(vocabulary), len(distinct)), dtype=bool)
        for k, tokens in enumerate(distinct):
            having[[vocabulary[token] for token in tokens], k] = True
        counts = np.array(list(distinct.values()), dtype=np.float64)
        self._context = _Context(vocabulary, having, counts, of_sets, presence)
        most = float(np.log(len(counts)))
        self.domain_ = (-most, most)

    def encode(self, objects: Any) -> _CodedSubsets:
        check_is_fitted(self, "_context")
        return self._context.encode([self._in_bins(objects)], self._context.vocabulary)[0]

    def encode_together(self, collections: Sequence[Any]) -> list[_CodedSubsets]:
        check_is_fitted(self, "_context")
        # Two new objects may share a feature that no training object has, so extend the vocabulary.
        vocabulary = dict(self._context.vocabulary)
        collections = [self._in_bins(objects) for objects in collections]
        for token in chain(*chain(*map(self._context.sets, collections))):
            vocabulary.setdefault(token, len(vocabulary))
        return self._context.encode(collections, vocabulary)

    def _in_bins(self, objects: Any) -> Any:
        """Replace the numbers of each column with intervals by the number of the interval, missing ones by None."""
        edges = getattr(self, "bin_edges_", [])  # models of 1.0 have none
        if isinstance(objects, list) or not any(map(len, edges)):
            return objects
        table = objects.astype(object)
        for k, limits in enumerate(edges):
            if len(limits):
                numbers = to_floats(objects[:, k], f"ResidualEntropy was fitted on numbers in column {k}.")
                table[:, k] = np.searchsorted(limits, numbers, side="right")
                table[np.isnan(numbers), k] = None
        return table

    def block(self, A: _CodedSubsets, B: _CodedSubsets, n_jobs: int | None = None, tick: base.Tick = None) -> Array:
        mirror, out = B is A, np.zeros((len(A.starts) - 1, len(B.starts) - 1))
        counts = self._context.counts
        all_objects = _bits(np.ones((1, len(counts)), dtype=bool))[0]
        having = A.having if len(A.having) >= len(B.having) else B.having
        bits = having, all_objects, counts, counts * np.log(counts), bool((counts == 1).all())

        def work(rows: slice) -> None:
            # [cazzanti2007] Eq. (2.5) -> -H(R | x and z) + H(R | x \ z) / 2 + H(R | z \ x) / 2
            _kernels.residual_entropies(A.codes, A.starts, B.codes, B.starts, *bits, rows.start, rows.stop, mirror, out)

        return base.fill_strips(out, work, n_jobs, tick, step=32, mirror=mirror)


def _bin_edges(objects: Array, n_bins: int) -> list[Floats]:
    edges = []
    for column in objects.T:
        numbers = to_floats(column, "") if all_numbers(column) else np.empty(0)
        distinct = np.unique(numbers[~np.isnan(numbers)])
        starts = np.arange(1, n_bins) * len(distinct) // n_bins
        edges.append(distinct[starts] if len(distinct) > n_bins else distinct[:0])
    return edges


@base.storable
@dataclass
class _Context(base.FittedArrays):
    """Training objects: their features, the objects that have each feature, and the count of each object."""

    fitted_arrays = {"counts": base.fitted_reals("objects", low=1)}

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
        base.verify_numbering(self.vocabulary, len(self.vocabulary), "vocabulary of ResidualEntropy")

    def sets(self, objects: Any) -> list[frozenset[Any]]:
        _sets.check_form(objects, self.of_sets, "ResidualEntropy")
        if self.presence and not _sets.is_binary(objects):
            raise ProximityError("ResidualEntropy was fitted on binary rows. Got rows with other values than 0 and 1.")
        return _sets.as_sets(objects, self.presence)

    def encode(self, collections: Sequence[Any], vocabulary: dict[Any, int]) -> list[_CodedSubsets]:
        """Encode objects; codes beyond the training features belong to no training object."""
        n_unseen = len(vocabulary) - len(self.vocabulary) + 1
        having = _bits(np.vstack([self.having, np.zeros((n_unseen, len(self.counts)), dtype=bool)]))
        encoded = []
        for objects in collections:
            codes = [sorted({vocabulary.get(t, len(vocabulary)) for t in tokens}) for tokens in self.sets(objects)]
            encoded.append(_CodedSubsets(*_sets.concatenated(codes), having))
        return encoded


@dataclass
class _CodedSubsets:
    codes: Array
    starts: Array
    having: Array


def _bits(mask: Mask) -> Array:
    """Pack rows of a mask into words; bit k of word w is column 64 w + k."""
    return _sets.words(np.packbits(mask, axis=1, bitorder="little"))
