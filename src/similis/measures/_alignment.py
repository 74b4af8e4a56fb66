"""Alignment scores of sequences with affine gaps ([gotoh1982]): Smith-Waterman and Needleman-Wunsch, by parasail."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similis._utils.arrays import Array, Floats
from similis._utils.environment import require_package
from similis.base import Tick, at_least, choice, fill_rows
from similis.exceptions import ProximityError
from similis.measures._sequences import SequenceMeasure

# Letters by which any alphabet is passed to parasail, where the asterisk is reserved for unknown letters.
_ASCII = [chr(code) for code in range(33, 127) if chr(code) != "*"]


@dataclass(frozen=True, eq=False)
class Scores:
    place: dict[Any, int]  # row of a letter, in either case unless cases differ
    table: Array

    def spell(self, sequences: list[Any]) -> list[str]:
        for i, sequence in enumerate(sequences):
            for at, letter in enumerate(sequence):
                if letter not in self.place:
                    raise ProximityError(
                        f"Alignment needs letters of its matrix, {''.join(map(str, self.place))[:40]!r}. Object {i} "
                        f"has {str(letter)[:20]!r} at position {at}; replace it, or pass a matrix that scores it."
                    )
        return ["".join(_ASCII[self.place[letter]] for letter in sequence) for sequence in sequences]


def _named(name: str) -> Scores:
    parasail = require_package("parasail", extra="strings", who="Alignment")
    known = getattr(parasail, name.lower(), None)
    if not isinstance(known, parasail.Matrix):
        known_names = "blosum62, pam250, dnafull or others of these families"
        raise ProximityError(f"Unknown matrix {name[:40]!r}. Use {known_names}, or pass a dict of dicts.")
    # The last row of parasail is for unknown letters and for the asterisk.
    letters = {chr(code): int(place) for code, place in enumerate(known.mapper[:128]) if place < known.size - 1}
    return Scores(letters, np.array(known.matrix[:-1, :-1], dtype=np.int64))


def _given(matrix: dict[Any, Any]) -> Scores:
    """Validate a dict of dicts."""
    place = {letter: i for i, letter in enumerate(matrix)}
    if not 0 < len(place) <= len(_ASCII):
        raise ProximityError(f"The matrix of Alignment must have 1 to {len(_ASCII)} letters. Got {len(place)}.")
    table = np.zeros((len(place), len(place)), dtype=np.int64)
    for (a, i), (b, j) in product(place.items(), repeat=2):
        value = matrix[a].get(b) if isinstance(matrix[a], Mapping) else None
        number = float(value) if isinstance(value, (int, float, np.number)) else math.nan
        if not (number.is_integer() and abs(number) <= 10_000):
            got = f"Got {value!r} for {a!r} and {b!r}."
            raise ProximityError(
                f"The matrix of Alignment must hold an integer matrix[a][b] for all its letters. {got}"
            )
        table[i, j] = number
    either = {other: i for a, i in place.items() if isinstance(a, str) for other in (a.lower(), a.upper())}
    distinguishes = any(place.get(a, i) != i for a, i in either.items())
    return Scores(place if distinguishes else {**place, **either}, table)


SHORT = 16_000  # scores with a smaller upper bound are computed with 16 bits, all others with 32
N_RANDOM, LONGEST = 1000, 300  # random pairs for the distribution of chance scores, and their largest length


class Alignment(SequenceMeasure):
    """Score of the best alignment of two sequences: aligned letters score by a matrix, gaps have a cost.

    Parameters
    ----------
    matrix : str or dict, default="blosum62"
        Score of two letters: the name of a matrix of parasail ("blosum62", "pam250", "dnafull", ...), or integers
        ``matrix[a][b]`` for all letters a (of x) and b (of z).
    mode : {"local", "global"}, default="local"
        Align the best part of each sequence (Smith-Waterman, [smith1981]) or both from end to end (Needleman-Wunsch,
        [needleman1970]), with affine costs of gaps ([gotoh1982]).
    gap_open, gap_extend : int, default=11 and 1
        Cost of the first letter of a gap, not below that of each further letter.
    score : {"raw", "normalized", "evalue"}, default="raw"
        "normalized" divides by the geometric mean of the two self-scores. "evalue" is -log10 E, where
        E = K |x| |z| exp(-lambda score) is the expected number of such scores of random sequences of these lengths.

    Attributes
    ----------
    domain_ : tuple or None
        Interval of the values; None without bounds. (0, 1) needs letters that score most with themselves.
    lambda_, K_ : float
        Constants of the distribution of chance scores, with ``score="evalue"`` only.

    Notes
    -----
    Needs parasail: ``pip install 'similis[strings]'``. "Existence 11, extension 1" of BLAST is gap_open=12. Letters
    match in either case unless the matrix distinguishes cases. An empty sequence scores 0 locally and its gap globally;
    with "evalue" it is an error. Two sequences with self-scores of zero have the normalized score 1. [chen2010] sec.
    5.3.2 uses E-values, which are small for similar sequences; `fit` estimates lambda and K, by moments, from random
    sequences with the training frequencies of the letters.

    Examples
    --------
    >>> from similis import Alignment
    >>> Alignment(matrix="dnafull", gap_open=10).matrix(["acgtacgt"], ["acgtacgt", "cgtac", "ggg"])
    array([[40., 25.,  5.]])
    """

    _parameter_constraints = {
        "matrix": [str, dict],
        "mode": [choice("local", "global")],
        "gap_open": [at_least(0)],
        "gap_extend": [at_least(0)],
        "score": [choice("raw", "normalized", "evalue")],
    }

    def __init__(
        self,
        *,
        matrix: str | dict[Any, dict[Any, int]] = "blosum62",
        mode: str = "local",
        gap_open: int = 11,
        gap_extend: int = 1,
        score: str = "raw",
    ) -> None:
        # `matrix` is also a method of every measure, so the parameter is stored under another name: see get_params.
        self.substitution = matrix
        self.mode, self.gap_open, self.gap_extend, self.score = mode, gap_open, gap_extend, score

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        names = [name for name in self._get_param_names() if name != "matrix"]
        return {"matrix": self.substitution, **{name: getattr(self, name) for name in names}}

    def set_params(self, **params: Any) -> Alignment:
        if "matrix" in params:
            self.substitution = params.pop("matrix")
        return super().set_params(**params)

    @property
    def fit_only_indexes(self) -> bool:  # type: ignore[override]
        return self.score != "evalue"

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        table = self._scores.table
        return bool(np.array_equal(table, table.T))

    @property
    def domain_(self) -> tuple[float, float] | None:
        if self.mode == "global" or self.score == "evalue":
            return None
        table = self._scores.table
        bounded = self.score == "normalized" and (table <= np.minimum.outer(np.diag(table), np.diag(table))).all()
        return (0.0, 1.0 if bounded else np.inf)

    @property
    def _scores(self) -> Scores:
        return _named(self.substitution) if isinstance(self.substitution, str) else _given(self.substitution)

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.gap_open < self.gap_extend:
            got = f"Got gap_open={self.gap_open} and gap_extend={self.gap_extend}."
            raise ProximityError(f"gap_open must not be below gap_extend. {got}")
        if self.score == "evalue" and self.mode == "global":
            raise ProximityError("score='evalue' needs local scores. Use mode='local', or another score.")

    def encode(self, objects: list[Any]) -> _Letters:
        scores = self._scores
        texts = scores.spell(objects)
        own = np.zeros(len(texts))
        if self.score == "normalized":
            own = _Aligner(self, scores, texts, texts).pairs(texts, texts)
            if (own < 0).any():
                i = int(np.argmax(own < 0))
                got = f"Object {i} has the self-score {own[i]:g}."
                raise ProximityError(f"score='normalized' needs non-negative self-scores. {got}")
        elif self.score == "evalue":
            check_is_fitted(self, "lambda_")
            if "" in texts:
                raise ProximityError(f"An empty sequence has no E-value. Object {texts.index('')} is empty; drop it.")
        return _Letters(texts, scores, own)

    def block(self, A: _Letters, B: _Letters, n_jobs: int | None = None, tick: Tick = None) -> Array:
        aligner = _Aligner(self, A.scores, A.texts, B.texts)
        log_n = np.log([max(len(text), 1) for text in B.texts])

        def row(i: int, first: int) -> Floats:
            scores = aligner.row(A.texts[i], B.texts[first:])
            if self.score == "normalized":
                mean = np.sqrt(A.own[i] * B.own[first:])
                both_zero = np.where(A.own[i] + B.own[first:] == 0, 1.0, 0.0)  # the value of 0/0
                return np.divide(scores, mean, out=both_zero, where=mean > 0)
            if self.score == "evalue":
                # -log10 E with E = K |x| |z| exp(-lambda score)
                scores = self.lambda_ * scores - math.log(self.K_ * len(A.texts[i])) - log_n[first:]
                scores /= math.log(10)
            return scores

        out = np.empty((len(A.texts), len(B.texts)))
        return fill_rows(out, row, n_jobs, tick, 16, mirror=B is A and self.symmetric)

    def learn(self, objects: list[Any], y: Any) -> None:
        if self.score != "evalue":
            return
        scores = self._scores
        letters = "".join(scores.spell(objects))
        if not letters:
            raise ProximityError("score='evalue' needs training sequences with letters. All sequences are empty.")
        alphabet, counts = np.unique(list(letters), return_counts=True)
        p = counts / counts.sum()
        places = [_ASCII.index(letter) for letter in alphabet]
        table = scores.table[np.ix_(places, places)]
        if p @ table @ p >= 0 or table.max() <= 0:
            found = f"the mean is {p @ table @ p:.3g} and the largest score {table.max()}"
            needed = "a matrix with a negative mean and some positive score"
            raise ProximityError(f"score='evalue' needs {needed}. For these letters {found}.")
        length = int(np.clip(len(letters) / len(objects), 30, LONGEST))
        draws = np.random.RandomState(0).choice(alphabet, p=p, size=(N_RANDOM, 2, length))
        left, right = (["".join(x) for x in draws[:, side]] for side in (0, 1))
        best = _Aligner(self, scores, left, right).pairs(left, right)
        # A Gumbel variable has the mean u + gamma / lambda and the variance pi^2 / (6 lambda^2); u = ln(K m n) / lambda
        self.lambda_ = math.pi / (max(best.std(), 1e-9) * math.sqrt(6))
        self.K_ = math.exp(self.lambda_ * best.mean() - np.euler_gamma) / length**2


class _Aligner:
    """Function of parasail for one matrix and pair of gap costs, with enough bits for every score."""

    def __init__(self, measure: Alignment, scores: Scores, left: list[str], right: list[str]) -> None:
        parasail = require_package("parasail", extra="strings", who="Alignment")
        m, n = (max((len(text) for text in texts), default=0) for texts in (left, right))
        largest = int(np.abs(scores.table).max()) * min(m, n) + 2 * measure.gap_open + measure.gap_extend * (m + n)
        width = 16 if largest < SHORT else 32
        self.gaps, self.is_global = (measure.gap_open, measure.gap_extend), measure.mode == "global"
        self.matrix = parasail.matrix_create("".join(_ASCII[: len(scores.table)]), 0, 0, True)
        for (i, j), value in np.ndenumerate(scores.table):
            self.matrix.set_value(j, i, int(value))  # rows in parasail are the letters of the second sequence
        self.make_profile = getattr(parasail, f"profile_create_{width}")
        # The striped loop is faster, but wrong if gap_open equals gap_extend.
        loop = "striped" if measure.gap_open > measure.gap_extend else "scan"
        self.align = getattr(parasail, f"{'nw' if self.is_global else 'sw'}_{loop}_profile_{width}")

    def row(self, x: str, others: list[str]) -> Floats:
        if not x:
            return np.array([self._gap(len(z)) for z in others], dtype=float)
        profile, align, gaps = self.make_profile(x, self.matrix), self.align, self.gaps
        return np.array([align(profile, z, *gaps).score if z else self._gap(len(x)) for z in others], dtype=float)

    def pairs(self, left: list[str], right: list[str]) -> Floats:
        return np.array([self.row(x, [z])[0] for x, z in zip(left, right)])

    def _gap(self, length: int) -> int:
        """Return the score of a sequence aligned with an empty one."""
        return -self.gaps[0] - (length - 1) * self.gaps[1] if self.is_global and length else 0


@dataclass
class _Letters:
    texts: list[str]
    scores: Scores
    own: Floats
