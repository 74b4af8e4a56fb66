"""Texts and other sequences: their door, and how any sequence is spelled as a text.

A sequence is a text, bytes, or a list of symbols (anything hashable). Compared are code points: a text is its own
spelling, other sequences are spelled with a vocabulary, one code point for each symbol.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.storable import storable
from similis.exceptions import ProximityError
from similis.measures._base import Measure, plain_rows
from similis.measures._codes import is_missing

__all__ = ["SequenceMeasure", "Spelling", "code_points", "read_sequences"]

# What stands for a symbol that no training sequence has: no text may hold it, it is no character.
UNKNOWN = "\U0010ffff"


class SequenceMeasure(Measure):
    """A measure on sequences of symbols; new sequences may have symbols that training has not seen."""

    _only_remembers = True

    def _objects(self, X: Any) -> list[Any]:
        return read_sequences(X, type(self).__name__)

    def _learn(self, objects: list[Any], y: Any) -> None:
        self._spelling = Spelling.of(objects, also=self._alphabet())

    def _encode(self, objects: list[Any]) -> Any:
        return self._encode_text(self._spelling.spell(objects), self._spelling)

    def _encode_all(self, collections: Sequence[list[Any]]) -> list[Any]:
        spelling = Spelling.of(*collections, also=self._alphabet())
        return [self._encode_text(spelling.spell(objects), spelling) for objects in collections]

    def _alphabet(self) -> Iterable[Any]:
        """Symbols that the parameters name, whether or not they occur."""
        return ()

    def _encode_text(self, texts: list[str], spelling: Spelling) -> Any:
        """Bring spelled sequences into the form in which they are compared."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


@storable
@dataclass
class Spelling:
    """One code point for each symbol; `symbols` is None where texts spell themselves."""

    symbols: dict[Any, str] | None

    @classmethod
    def of(cls, *collections: list[Any], also: Iterable[Any] = ()) -> Spelling:
        """The spelling of every symbol in the collections, and of some that need not be there."""
        if all(isinstance(sequence, str) for objects in collections for sequence in objects):
            return cls(None)
        found = dict.fromkeys(also)
        found.update(dict.fromkeys(symbol for objects in collections for sequence in objects for symbol in sequence))
        return cls({symbol: chr(code) for code, symbol in enumerate(found)})

    def spell(self, objects: list[Any]) -> list[str]:
        """Each sequence as a text of as many code points as it has symbols."""
        if self.symbols is None:
            return [s if isinstance(s, str) else "".join(map(_character, s)) for s in objects]
        return ["".join(self.symbols.get(symbol, UNKNOWN) for symbol in sequence) for sequence in objects]

    def letter(self, symbol: Any) -> str | None:
        """How a symbol is spelled; None where it occurs in no sequence."""
        return _character(symbol) if self.symbols is None else self.symbols.get(symbol)


def read_sequences(X: Any, who: str) -> list[Any]:
    """Sequences as a list of texts where symbols are characters, else of tuples of symbols."""
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    if getattr(X, "ndim", 1) == 2 and X.shape[1] == 1:
        X = [row[0] if isinstance(row[0], (str, bytes)) else row for row in X]
    sequences = [_as_sequence(x, i, who) for i, x in enumerate(plain_rows(X, who))]
    if all(isinstance(s, str) or all(isinstance(a, str) and len(a) == 1 for a in s) for s in sequences):
        return [s if isinstance(s, str) else "".join(s) for s in sequences]
    return sequences


def code_points(texts: list[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """All texts one after another as numbers, and where each begins; text i is ``flat[start[i]:start[i + 1]]``."""
    flat = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype=np.int32)
    return flat.copy(), np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int64)


def _character(symbol: Any) -> str:
    return symbol if isinstance(symbol, str) and len(symbol) == 1 else UNKNOWN


def _as_sequence(x: Any, i: int, who: str) -> str | tuple[Any, ...]:
    if isinstance(x, str):
        return str(x)
    if not isinstance(x, Iterable) or isinstance(x, (set, frozenset, dict)):
        what = "missing" if is_missing(x) else f"a {type(x).__name__}, {str(x)[:40]!r}"
        raise ProximityError(f"{who} compares texts or sequences of symbols. Object {i} is {what}.")
    symbols = tuple(x.tolist() if isinstance(x, np.ndarray) else x)
    try:
        hash(symbols)
    except TypeError:
        raise ProximityError(f"The symbols of a sequence must be hashable. Those of object {i} are not.") from None
    return symbols
