"""What two letters score: parasail's matrices by name, or the user's own, as one alphabet and one table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.extras import need
from similis.exceptions import ProximityError

__all__ = ["Scores", "read_scores"]

# Letters that spell any alphabet for parasail, in which the asterisk stands for a letter it does not know.
_ASCII = [chr(code) for code in range(33, 127) if chr(code) != "*"]


@dataclass(frozen=True, eq=False)
class Scores:
    """An alphabet and its table; `place` finds a letter in it, in either case unless it tells cases apart."""

    place: dict[Any, int]
    table: NDArray[np.int64]

    @property
    def symmetric(self) -> bool:
        return bool(np.array_equal(self.table, self.table.T))

    @property
    def prefers_itself(self) -> bool:
        """Whether no letter scores more with another one than either does with itself."""
        own = np.diag(self.table)
        return bool((self.table <= np.minimum.outer(own, own)).all())

    def spell(self, sequence: Any, i: int, who: str) -> str:
        """A sequence in parasail's letters."""
        try:
            return "".join(_ASCII[self.place[letter]] for letter in sequence)
        except KeyError:
            at, letter = next((at, a) for at, a in enumerate(sequence) if a not in self.place)
            raise ProximityError(
                f"{who} reads letters of its matrix, {''.join(map(str, self.place))[:40]!r}. Object {i} has "
                f"{str(letter)[:20]!r} at position {at}; replace it, or give a matrix that scores it."
            ) from None

    def places(self, spelled: Any) -> list[int]:
        """Where letters of parasail's stand in the table."""
        return [_ASCII.index(letter) for letter in spelled]

    def for_parasail(self, parasail: Any) -> Any:
        """The table as parasail holds it."""
        built = parasail.matrix_create("".join(_ASCII[: len(self.table)]), 0, 0, True)
        for i, row in enumerate(self.table.tolist()):
            for j, value in enumerate(row):
                built.set_value(j, i, value)  # its rows are the letters of the second sequence
        return built


def read_scores(matrix: Any, who: str) -> Scores:
    """Look a matrix up by its name, or check and arrange the user's own."""
    if isinstance(matrix, str):
        return _named(matrix, who)
    letters = list(matrix)
    if not 0 < len(letters) <= len(_ASCII):
        raise ProximityError(f"The matrix of {who} must have 1 to {len(_ASCII)} letters. Got {len(letters)}.")
    table = np.zeros((len(letters), len(letters)))
    for i, a in enumerate(letters):
        row = matrix[a] if isinstance(matrix[a], Mapping) else {}
        for j, b in enumerate(letters):
            value = row.get(b)
            if not _is_whole(value):
                raise ProximityError(
                    f"The matrix of {who} must hold a whole number matrix[a][b] for all its letters. Got {value!r} for "
                    f"{a!r} and {b!r}."
                )
            table[i, j] = value
    place = {letter: i for i, letter in enumerate(letters)}
    return Scores(_either_case(place), table.astype(np.int64))


def _named(name: str, who: str) -> Scores:
    parasail = need("parasail", extra="strings", who=who)
    found = getattr(parasail, name.lower(), None)
    if not isinstance(found, parasail.Matrix):
        raise ProximityError(
            f"There is no matrix {name[:40]!r}. There are blosum62, pam250, dnafull and others of these families; or "
            "give a dict of dicts."
        )
    # Letters that parasail does not know are its last row; so is the asterisk, which stands for them.
    letters = {chr(code): int(place) for code, place in enumerate(found.mapper[:128]) if place < found.size - 1}
    return Scores(letters, np.array(found.matrix[:-1, :-1], dtype=np.int64))


def _either_case(place: dict[Any, int]) -> dict[Any, int]:
    folded = {other: i for a, i in place.items() if isinstance(a, str) for other in (a.lower(), a.upper())}
    return place if any(place.get(a, i) != i for a, i in folded.items()) else {**place, **folded}


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and abs(float(value)) <= 10_000 and float(value).is_integer()
