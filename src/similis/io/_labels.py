"""Class labels in a file of their own: ``id,label`` lines matched by id, or one label a line in the matrix's order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.files import short_path
from similis.exceptions import ProximityError
from similis.io._csv import quote, read_rows
from similis.io._proximity import Proximity, quote_short

__all__ = ["labels_beside", "read_labels", "write_labels"]

_TEXT_SUFFIXES = (".gz", ".csv", ".tsv", ".txt")
ID_HEADERS = {"", "id", "ids", "name", "object", "index", "key"}
LABEL_HEADERS = {"label", "labels", "class", "classes", "y", "target"}
_HEADERS = LABEL_HEADERS | {"group", "groups"}


def read_labels(
    path: Path, ids: Sequence[str] | None, n: int, *, max_bytes: int = 2**31, what: str = "label"
) -> NDArray[Any]:
    """Read the labels, or another word per object, of `n` objects, in the order of `ids` where there are any.

    Parameters
    ----------
    path : Path
        A text file: a label a line, or ``id,label``; a header is recognised.
    ids : sequence of str or None
        Objects in the order wanted.
    n : int
        Number of objects.
    max_bytes : int, default=2**31
        A larger file is refused.
    what : str, default="label"
        What the words are called in messages.

    Returns
    -------
    ndarray of shape (n,)
    """
    path = Path(path)
    where = short_path(path)
    rows = list(read_rows(path, delimiter=None, max_bytes=max_bytes))
    if len(rows) == n + 1 and _is_header(rows[0][1]):
        rows = rows[1:]
    width = len(rows[0][1]) if rows else 1
    for line, cells in rows:
        if len(cells) != width or width > 2:
            raise ProximityError(
                f"{where}, line {line}: every line must be a {what}, or an id and a {what}. Got {len(cells)} cells."
            )
        if not cells[-1].strip():
            raise ProximityError(f"{where}, line {line}: there is no {what}. Give one, or leave the object out.")
    if width == 2 and ids is not None:
        return decode_labels(_by_id(rows, ids, where, what))
    if len(rows) != n:
        raise ProximityError(f"{where} must hold one {what} per object. Got {len(rows)} {what}s for {n} objects.")
    return decode_labels([cells[-1] for _, cells in rows])


def write_labels(file: IO[bytes], P: Proximity) -> None:
    """Write ``id,label`` lines, or labels alone where there are no ids."""
    assert P.labels is not None
    labels = [quote(str(label)) for label in P.labels.tolist()]
    lines = ["label", *labels] if P.ids is None else ["id,label", *map(",".join, zip(map(quote, P.ids), labels))]
    file.write(("\n".join(lines) + "\n").encode())


def labels_beside(path: Path) -> Path:
    """Where the labels of a text file of proximities are: ``votes.csv`` has ``votes.labels.csv``."""
    stem = path.name
    for suffix in _TEXT_SUFFIXES:
        stem = stem.removesuffix(suffix)
    return path.with_name(stem + ".labels.csv")


def decode_labels(labels: list[str]) -> NDArray[Any]:
    """Integers or booleans where every label is spelled like one, else text."""
    if set(labels) <= {"True", "False"}:
        return np.array([label == "True" for label in labels])
    if all(len(label) <= 20 and label.lstrip("-").isdecimal() and label.isascii() for label in labels):
        numbers = [int(label) if label.count("-") < 2 else 0 for label in labels]
        if list(map(str, numbers)) == labels and -(2**63) <= min(numbers) and max(numbers) < 2**63:
            return np.array(numbers)
    return np.array(labels)


def _is_header(cells: list[str]) -> bool:
    names = [cell.strip().lower() for cell in cells]
    return names[-1] in _HEADERS and (len(names) == 1 or names[0] in ID_HEADERS)


def _by_id(rows: list[tuple[int, list[str]]], ids: Sequence[str], where: str, what: str) -> list[str]:
    """Words in the order of `ids`; every id once, no other."""
    known, found = set(ids), dict[str, str]()
    for line, (name, label) in rows:
        if name in found:
            raise ProximityError(f"{where}, line {line}: the id {quote_short(name)} has a {what} already.")
        if name not in known:
            raise ProximityError(f"{where}, line {line}: the id {quote_short(name)} is not in the matrix.")
        found[name] = label
    missing = [name for name in ids if name not in found]
    if missing:
        raise ProximityError(f"{where} has no {what} for {quote_short(missing[0])}, one of {len(missing)} without.")
    return [found[name] for name in ids]
