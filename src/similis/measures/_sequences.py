"""Measures on sequences of symbols (text, bytes or lists of hashable symbols) and on time series."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from similis import _kernels
from similis._utils.arrays import Array, is_missing
from similis._utils.environment import require_package
from similis.base import Measure, Tick, as_collection, at_least, choice, estimator, fill_strips, param, storable
from similis.exceptions import ProximityError
from similis.measures._point_sets import PointSetMeasure, PointSets, as_points, read_point_sets

UNKNOWN = "\U0010ffff"  # code point of symbols not seen in training; it is no character and occurs in no text


class SequenceMeasure(Measure):
    """Base of measures on sequences of symbols."""

    fit_only_indexes = True
    cells = "text"

    def validate_objects(self, X: Any) -> list[Any]:
        """Validate sequences; return a list of texts if all symbols are characters, else of tuples of symbols."""
        who, X = type(self).__name__, X.to_numpy() if hasattr(X, "to_numpy") else X
        if getattr(X, "ndim", 1) == 2 and X.shape[1] == 1:
            X = [row[0] if isinstance(row[0], (str, bytes)) else row for row in X]
        sequences = [_as_sequence(x, i, who) for i, x in enumerate(as_collection(X, who))]
        if all(isinstance(s, str) or UNKNOWN not in map(_character, s) for s in sequences):
            return ["".join(s) for s in sequences]
        return sequences

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


@storable
@dataclass
class Spelling:
    """Code point of each symbol; `symbols` is None if all sequences are texts."""

    symbols: dict[Any, str] | None

    @classmethod
    def of(cls, collections: Sequence[list[Any]], also: Iterable[Any]) -> Spelling:
        """Assign a code point to every symbol in the collections and in `also`."""
        sequences = list(chain(*collections))
        if all(isinstance(sequence, str) for sequence in sequences):
            return cls(None)
        return cls({symbol: chr(code) for code, symbol in enumerate(dict.fromkeys(chain(also, *sequences)))})

    def spell(self, objects: list[Any]) -> list[str]:
        if self.symbols is None:
            return [s if isinstance(s, str) else "".join(map(_character, s)) for s in objects]
        return ["".join(self.symbols.get(symbol, UNKNOWN) for symbol in sequence) for sequence in objects]


def _character(symbol: Any) -> str:
    return symbol if isinstance(symbol, str) and len(symbol) == 1 else UNKNOWN


def _as_sequence(x: Any, i: int, who: str) -> str | tuple[Any, ...]:
    if isinstance(x, str):
        return str(x)
    if not isinstance(x, Iterable) or isinstance(x, (set, frozenset, dict)):
        value = "missing" if is_missing(x) else f"a {type(x).__name__}, {str(x)[:40]!r}"
        raise ProximityError(f"{who} needs texts or sequences of symbols. Object {i} is {value}.")
    symbols = tuple(x.tolist() if isinstance(x, np.ndarray) else x)
    try:
        hash(symbols)
    except TypeError:
        message = f"The symbols of a sequence must be hashable. Object {i} has an unhashable symbol."
        raise ProximityError(message) from None
    return symbols


STRIP = 64  # rows per strip; small, because the corner of a strip below the diagonal is computed needlessly
WORD = 64  # symbols that rapidfuzz packs into one machine word


@estimator
class Edit(SequenceMeasure):
    """Edit distance: the smallest cost of turning x into z by inserting, deleting and substituting symbols.

    Objects are texts, bytes, lists of hashable symbols, or the rows of a table of symbols. Characters are code points:
    normalize texts first (``unicodedata.normalize``). Symmetric if each edit and its reverse have equal costs. Integer
    weights need rapidfuzz (``pip install 'similis[strings]'``). :class:`Alignment` has affine costs of gaps.

    Parameters
    ----------
    weights : tuple of three numbers, default=(1, 1, 1)
        Costs of an insertion, a deletion and a substitution; (1, 1, 1) is the Levenshtein distance.
    normalize : bool or "metric", default=False
        True divides by the largest possible distance of sequences of these lengths. "metric" is
        2 d / (a (|x| + |z|) + d), a the largest cost of an insertion or deletion ([yujian2007]), a metric if d is.
    substitution, gaps : dict, optional
        Costs ``substitution[a][b]`` of a in x by b in z, and ``gaps[a]`` of inserting or deleting a.

    Examples
    --------
    >>> from similis import Edit
    >>> transitions = {"a": {"g": 0.5}, "g": {"a": 0.5}, "c": {"t": 0.5}, "t": {"c": 0.5}}
    >>> Edit(substitution=transitions).matrix(["acgt"], ["acgt", "gcgt", "cgt"])
    array([[0. , 0.5, 1. ]])
    """

    weights: tuple[float, float, float] = param((1, 1, 1), tuple, list)
    normalize: bool | str = param(False, "boolean", choice("metric"))
    substitution: dict[Any, dict[Any, float]] | None = param(None, dict, None)
    gaps: dict[Any, float] | None = param(None, dict, None)

    kind = "dissimilarity"

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """True if each edit and its reverse have equal costs."""
        insert, delete, substitute = self.weights
        table = self.substitution or {}
        back = ((table.get(b, {}).get(a, substitute), w) for a, row in table.items() for b, w in row.items())
        return insert == delete and all(there == here for there, here in back)

    @property
    def domain_(self) -> tuple[float, float]:
        return (0.0, 1.0 if self.normalize else np.inf)

    def _validate_params(self) -> None:
        super()._validate_params()
        if len(self.weights) != 3 or not all(map(_is_weight, self.weights)):
            wanted = "three finite, non-negative numbers: insert, delete, substitute"
            raise ProximityError(f"The 'weights' parameter of Edit must be {wanted}. Got {str(self.weights)[:60]}.")
        for name, costs in (("gaps", self.gaps or {}), *(("substitution", row) for row in self._rows())):
            for symbol, cost in costs.items():
                if not _is_weight(cost):
                    what = f"The {name!r} parameter of Edit must hold finite, non-negative numbers."
                    raise ProximityError(f"{what} Got {cost!r} for {symbol!r}.")

    def _rows(self) -> list[Any]:
        rows = list((self.substitution or {}).values())
        if not all(isinstance(row, Mapping) for row in rows):
            raise ProximityError("The 'substitution' parameter of Edit must be a dict of dicts: costs[a][b].")
        return rows

    def validate_objects(self, X: Any) -> list[Any]:
        objects = super().validate_objects(X)
        words = [a for a in self._alphabet() if _character(a) == UNKNOWN]
        if words and isinstance(X, (list, tuple, np.ndarray)) and any(isinstance(x, str) and x for x in X):
            wrong = f"{str(words[0])[:40]!r} in 'gaps' or 'substitution' is not a character"
            hint = "Pass lists of symbols, as text.split()."
            raise ProximityError(f"Edit compares texts by characters, but {wrong}. {hint}")
        return objects

    def _alphabet(self) -> list[Any]:
        return list(dict.fromkeys(chain(self.gaps or {}, self.substitution or {}, *self._rows())))

    def learn(self, objects: list[Any], y: Any) -> None:
        self._spelling = Spelling.of([objects], self._alphabet())

    def encode(self, objects: list[Any]) -> _Spelled:
        return self._encode_with(self._spelling, objects)

    def encode_together(self, collections: Sequence[list[Any]]) -> list[_Spelled]:
        # Two new sequences may share a symbol that no training sequence has, so use the symbols of the given ones.
        spelling = Spelling.of(collections, self._alphabet())
        return [self._encode_with(spelling, objects) for objects in collections]

    def _encode_with(self, spelling: Spelling, objects: list[Any]) -> _Spelled:
        texts = spelling.spell(objects)
        lengths = np.array([len(text) for text in texts], dtype=np.int64)
        if not (self.gaps or self.substitution) and all(w < 2**31 and w == int(w) for w in self.weights):
            return _Spelled(texts, lengths)
        numbers = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.int32).copy()
        # Class 0 has the default weights; every symbol with particular costs is a class.
        classes = np.zeros(len(numbers), dtype=np.int32)
        for k, symbol in enumerate(self._alphabet(), start=1):
            letter = _character(symbol) if spelling.symbols is None else spelling.symbols.get(symbol)
            if letter is not None:  # a symbol of the training sequences
                classes[numbers == ord(letter)] = k
        return _Spelled(texts, lengths, (numbers, classes, np.append(0, np.cumsum(lengths))))

    def _costs(self) -> tuple[Array, Array, Array]:
        """Return the costs of insertion, deletion and substitution by classes of symbols."""
        gaps, table, symbols = self.gaps or {}, self.substitution or {}, self._alphabet()
        insert, delete = (np.array([w, *(gaps.get(a, w) for a in symbols)], dtype=float) for w in self.weights[:2])
        substitute = np.full((len(symbols) + 1, len(symbols) + 1), float(self.weights[2]))
        for a, row in table.items():
            for b, cost in row.items():
                substitute[symbols.index(a) + 1, symbols.index(b) + 1] = cost
        return insert, delete, substitute

    def block(self, A: _Spelled, B: _Spelled, n_jobs: int | None = None, tick: Tick = None) -> Array:
        mirror = B is A and self.symmetric
        out = np.zeros((len(A.texts), len(B.texts)))
        costs = self._costs()
        # rapidfuzz computes half of a list with itself; for texts of one machine word two lists are faster.
        halves = mirror and A.lengths.max() > WORD

        def work(rows: slice) -> None:
            first = rows.start if mirror else 0
            if A.classes is not None and B.classes is not None:
                _kernels.edit_distances(*A.classes, *B.classes, *costs, rows.start, rows.stop, mirror, out)
            elif halves:
                out[rows, rows] = self._by_rapidfuzz(A.texts[rows], A.texts[rows])
                out[rows, rows.stop :] = self._by_rapidfuzz(A.texts[rows], B.texts[rows.stop :])
            else:
                out[rows, first:] = self._by_rapidfuzz(A.texts[rows], B.texts[first:])
            if self.normalize:
                self._scale(out[rows, first:], A.lengths[rows], B.lengths[first:], costs)

        return fill_strips(out, work, n_jobs, tick, step=STRIP, mirror=mirror)

    def _by_rapidfuzz(self, left: list[str], right: list[str]) -> Array:
        cdist = require_package("rapidfuzz.process", extra="strings", who="Edit").cdist
        distance = require_package("rapidfuzz.distance", extra="strings", who="Edit").Levenshtein.distance
        weights = tuple(map(int, self.weights))
        return np.asarray(cdist(left, right, scorer=distance, scorer_kwargs={"weights": weights}, dtype=np.int64))

    def _scale(self, block: Array, m: Array, n: Array, costs: Any) -> None:
        """Divide distances in place by the largest possible value for these lengths; two empty sequences keep 0."""
        insert, delete, substitute = (float(np.max(cost)) for cost in costs)
        m, n = m[:, None], n[None, :]
        if self.normalize == "metric":
            # [yujian2007] Definition 3 -> 2 d / (a (|x| + |z|) + d)
            whole = (max(insert, delete) * (m + n) + block) / 2
        else:
            common = np.minimum(m, n)
            with_substitutions = substitute * common + delete * (m - common) + insert * (n - common)
            whole = np.minimum(delete * m + insert * n, with_substitutions)
        np.divide(block, whole, out=block, where=whole > 0)
        np.minimum(block, 1.0, out=block)


@dataclass
class _Spelled:
    texts: list[str]
    lengths: Array
    # If symbols have particular costs: code points, classes, and starts of the sequences.
    classes: tuple[Array, Array, Array] | None = None


def _is_weight(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and bool(0 <= value < np.inf)


@estimator
class DTW(PointSetMeasure):
    """Dynamic time warping: the distance of two series after an optimal stretching of time.

    d(x, z) is the root of the smallest sum of |x_a - z_b|^2 over all paths through both series from start to end, with
    one step forward in x, in z or in both at a time ([sakoe1978]). It is not a metric.

    Objects are series of numbers of any length, or of rows of d numbers; a two-dimensional array is one series per row.

    Parameters
    ----------
    window : int, optional
        Half-width of the Sakoe-Chiba band: |a - b| is at most this, or the difference of the lengths if that is larger.

    Examples
    --------
    >>> from similis import DTW
    >>> DTW().matrix([[0, 1, 2, 2]], [[0, 0, 1, 2], [0, 3]]).round(1)
    array([[0. , 1.7]])
    """

    window: int | None = param(None, at_least(0), None)

    kind = "dissimilarity"
    domain_ = (0.0, np.inf)

    def validate_objects(self, X: Any) -> list[Any]:
        wanted = "series of numbers, or of rows of numbers"
        series = [as_points(x, i, "DTW", wanted) for i, x in enumerate(as_collection(X, "DTW"))]
        return [(x, np.ones(len(x))) for x in series]

    def verify_objects(self, objects: Any) -> None:
        read_point_sets(objects, "DTW")

    def block(self, A: PointSets, B: PointSets, n_jobs: int | None = None, tick: Tick = None) -> Array:
        mirror, out = B is A, np.zeros((*A.shape, *B.shape), self.result_dtype(A, B))
        operands = A.points, A.starts, B.points, B.starts, -1 if self.window is None else self.window

        def work(rows: slice) -> None:
            _kernels.warping_distances(*operands, rows.start, rows.stop, mirror, out)

        return fill_strips(out, work, n_jobs, tick, step=16, mirror=mirror)
