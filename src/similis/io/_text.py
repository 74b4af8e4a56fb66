"""Text files: matrices as csv or tsv, and class labels in a separate file.

A matrix has ids in its first row and first column, or is a bare table of numbers. The corner cell, which names neither
a row nor a column, holds the kind: ``similarity``, ``dissimilarity``, or anything else for unknown. A row is parsed by
two C loops (the csv reader, ``map(float, ...)``); only a row that fails is parsed cell by cell, so that the message can
name line and column.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.files import short_path
from similis.exceptions import ProximityError
from similis.io._proximity import KINDS, Proximity, proximity_in_file, quote_short

__all__ = ["read_csv", "read_rows", "write_csv", "labels_beside", "read_labels", "write_labels"]

MISSING = frozenset({"", "na", "nan", "n/a", "null", "none"})
_UNKNOWN = dict.fromkeys(("", "NA", "NaN", "nan", "N/A", "null"), "nan")  # the usual spellings, in the fast loop
_INFINITE = ("inf", "infinity")


def read_csv(path: Path, *, square: bool, delimiter: str | None, max_bytes: int) -> Proximity:
    """Read a csv, tsv or gzipped file of proximities."""
    rows = read_rows(path, delimiter=delimiter, max_bytes=max_bytes)
    first = next(rows, None)
    if first is None:
        raise ProximityError(f"{short_path(path)} is empty; it must hold a matrix with one line per object.")
    body, bare = _Body(path), _is_bare(first[1])
    if bare:
        body.add(*first, skip=0)
    for line, cells in rows:
        body.add(line, cells, skip=0 if bare else 1)
    return proximity_in_file(short_path(path), body.matrix()) if bare else _with_ids(path, first, body, square)


def write_csv(file: IO[bytes], P: Proximity, *, delimiter: str) -> None:
    """Write a matrix as text that reads back to the same numbers."""
    if P.values.ndim != 2:
        raise ProximityError(f"A text file holds one matrix. Got a stack of shape {P.shape}; write it as npz or npy.")
    spell = repr if P.values.dtype.itemsize > 4 else "{:.9g}".format  # the digits that tell neighbours apart
    columns = P.columns
    if (P.ids is None) != (columns is None):
        raise ProximityError("A text file has ids for both its rows and its columns, or for neither. Got only one.")
    if columns is not None:
        file.write((delimiter.join([P.kind or "id", *map(quote, columns)]) + "\n").encode())
    for i, row in enumerate(P.values):
        start = "" if P.ids is None else quote(P.ids[i]) + delimiter
        file.write((start + delimiter.join(map(spell, row.tolist())) + "\n").encode())


def quote(text: str) -> str:
    """A cell that holds this text and nothing else, whatever characters are in it."""
    return '"' + text.replace('"', '""') + '"'


def read_rows(path: Path, *, delimiter: str | None, max_bytes: int) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of every line that is not blank."""
    where = short_path(path)
    if delimiter is None and ".tsv" in (suffix.lower() for suffix in path.suffixes[-2:]):
        delimiter = "\t"
    with open(path, "rb") as raw:
        is_gzip = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        source: Any = _Limited(gzip.GzipFile(fileobj=raw), max_bytes, where) if is_gzip else raw
        text = io.TextIOWrapper(io.BufferedReader(source) if is_gzip else source, encoding="utf-8-sig", newline="")
        reader = None
        try:
            head = text.readline()
            if "\0" in head:
                raise ProximityError(f"{where} is not a text file: it has NUL characters in line 1.")
            lines = _chain(head, text)
            reader = csv.reader(lines, delimiter=delimiter or _sniff(head), skipinitialspace=True, strict=True)
            for cells in reader:
                if cells and (len(cells) > 1 or cells[0].strip()):
                    yield reader.line_num, cells
        except UnicodeDecodeError:
            line = 1 if reader is None else reader.line_num + 1
            raise ProximityError(
                f"{where} is not UTF-8 text from about line {line} on; save it again with the encoding UTF-8."
            ) from None
        except csv.Error as error:
            raise ProximityError(f"{where}, line {reader.line_num if reader else 1}: {error}.") from None
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise ProximityError(f"{where} is damaged: its gzip data end early or are corrupt.") from None


class _Body:
    """The rows below the header: first cells as text, the others as numbers."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.names: list[str] = []
        self.rows: list[NDArray[np.float64]] = []
        self.lines: list[int] = []
        self.width = -1

    def add(self, line: int, cells: list[str], *, skip: int) -> None:
        """Take one line; `skip` cells in front are ids."""
        if self.width < 0:
            self.width = len(cells)
        elif len(cells) != self.width:
            raise ProximityError(
                f"{short_path(self.path)}, line {line}: every line must have as many cells. Got {len(cells)}, "
                f"while line {self.lines[0]} has {self.width}."
            )
        self.names += cells[:skip]
        self.lines.append(line)
        self.rows.append(_numbers(cells[skip:], self.path, line, skip))

    def matrix(self, first_column: bool = False) -> NDArray[np.float64]:
        """The numbers; `first_column` says that what was kept as names are numbers too."""
        A = np.stack(self.rows)
        if first_column:
            column = [_numbers([name], self.path, line, 0) for name, line in zip(self.names, self.lines)]
            A = np.hstack([np.stack(column), A])
        return A


def _with_ids(path: Path, header: tuple[int, list[str]], body: _Body, square: bool) -> Proximity:
    """Find out which cells are ids: corner and columns, columns without a corner, or columns only."""
    line, cells = header
    where = short_path(path)
    if not body.rows:
        raise ProximityError(f"{where} has ids in line {line} but no rows of numbers below them.")
    if len(cells) == body.width - 1:
        return proximity_in_file(where, body.matrix(), ids=body.names, column_ids=cells)
    if len(cells) != body.width:
        raise ProximityError(
            f"{where}, line {line}: it must name every column. Got {len(cells)} cells, while line {body.lines[0]} has "
            f"{body.width}."
        )
    if square and len(body.rows) == body.width and all(map(_is_number, body.names)):
        return proximity_in_file(where, body.matrix(first_column=True), ids=cells)
    kind = cells[0].strip().lower()
    return proximity_in_file(
        where, body.matrix(), ids=body.names, kind=kind if kind in KINDS else None, column_ids=cells[1:]
    )


def _numbers(cells: list[str], path: Path, line: int, skip: int) -> NDArray[np.float64]:
    """Parse one line of numbers, fast when all is well."""
    try:
        row = np.array(list(map(float, cells)))
    except ValueError:
        try:
            row = np.array([float(_UNKNOWN.get(cell, cell)) for cell in cells])
        except ValueError:
            row = np.array([_number(cell, path, line, skip + j) for j, cell in enumerate(cells)])
    # float() also reads 1_000 and digits of other scripts, which no one else's reader does; and infinity
    text = " ".join(cells)
    if "_" in text or not text.isascii() or "i" in text or "I" in text:
        for j, cell in enumerate(cells):
            _number(cell, path, line, skip + j)
    elif np.isinf(row).any():
        j = int(np.argmax(np.isinf(row)))
        raise ProximityError(f"{_cell(path, line, skip + j)}: {quote_short(cells[j])} is too large for a number.")
    return row


def _number(cell: str, path: Path, line: int, j: int) -> float:
    """Parse one cell, or say what is wrong with it."""
    text = cell.strip()
    if text.lower() in MISSING:
        return np.nan
    if text.lower().lstrip("+-") in _INFINITE:
        raise ProximityError(
            f"{_cell(path, line, j)}: infinity is not a proximity; leave the cell empty if it is unknown."
        )
    try:
        if "_" in text or not text.isascii():
            raise ValueError
        return float(text)
    except ValueError:
        comma = " Decimal commas are not read." if "," in text else ""
        raise ProximityError(
            f"{_cell(path, line, j)}: {quote_short(cell)} is not a number.{comma} "
            "Leave the cell empty if it is unknown."
        ) from None


def _cell(path: Path, line: int, j: int) -> str:
    return f"{short_path(path)}, line {line}, column {j + 1}"


def _is_number(cell: str) -> bool:
    text = cell.strip()
    if text.lower() in MISSING:
        return True
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text and text.isascii()


def _is_bare(cells: list[str]) -> bool:
    """Whether the first line is already numbers: all of them are, and the corner is not empty."""
    return bool(cells[0].strip()) and all(map(_is_number, cells))


def _sniff(head: str) -> str:
    """Comma, unless the first line has none outside quotes but has tabs or semicolons."""
    bare = re.sub(r'"[^"]*"?', "", head)
    return next((mark for mark in ",\t;" if mark in bare), ",")


def _chain(head: str, rest: IO[str]) -> Iterator[str]:
    if head:
        yield head
        yield from rest


class _Limited(io.RawIOBase):
    """A decompressed stream that refuses to unpack to more than `limit` bytes."""

    def __init__(self, source: gzip.GzipFile, limit: int, where: str) -> None:
        self.source, self.left, self.limit, self.where = source, limit, limit, where

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.source.read(min(len(buffer), 1 << 20))
        self.left -= len(data)
        if self.left < 0:
            raise ProximityError(
                f"{self.where} unpacks to more than {self.limit} bytes; if you trust it, raise max_bytes."
            )
        buffer[: len(data)] = data
        return len(data)


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
