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
from itertools import chain
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
    where = short_path(path)
    rows = read_rows(path, delimiter=delimiter, max_bytes=max_bytes)
    first = next(rows, None)
    if first is None:
        raise ProximityError(f"{where} is empty; it must hold a matrix with one line per object.")
    header_line, header = first
    bare = bool(header[0].strip()) and all(map(_is_number, header))  # numbers only, also in the corner
    skip = 0 if bare else 1  # the first cell of a row is its id
    ids: list[str] = []
    lines: list[int] = []
    numbers: list[NDArray[np.float64]] = []
    width = 0
    for line, cells in chain([first], rows) if bare else rows:
        width = width or len(cells)
        if len(cells) != width:
            raise ProximityError(
                f"{where}, line {line}: every line must have the same number of cells. Got {len(cells)}, while line "
                f"{lines[0]} has {width}."
            )
        ids += cells[:skip]
        lines.append(line)
        numbers.append(_parse_numbers(cells[skip:], where, line, skip))
    if bare:
        return proximity_in_file(where, np.stack(numbers))
    if not lines:
        raise ProximityError(f"{where} has ids in line {header_line} but no rows of numbers below them.")
    if len(header) == width - 1:  # no corner cell
        return proximity_in_file(where, np.stack(numbers), ids=ids, column_ids=header)
    if len(header) != width:
        raise ProximityError(
            f"{where}, line {header_line}: it must name every column. Got {len(header)} cells, while line {lines[0]} "
            f"has {width}."
        )
    if square and len(lines) == width and all(map(_is_number, ids)):  # only the columns have ids
        column = [_parse_numbers([cell], where, line, 0) for cell, line in zip(ids, lines)]
        return proximity_in_file(where, np.hstack([np.stack(column), np.stack(numbers)]), ids=header)
    kind = header[0].strip().lower()
    return proximity_in_file(
        where, np.stack(numbers), ids=ids, kind=kind if kind in KINDS else None, column_ids=header[1:]
    )


def write_csv(file: IO[bytes], P: Proximity, *, delimiter: str) -> None:
    """Write a matrix as text that reads back to the same values."""
    if P.values.ndim != 2:
        raise ProximityError(f"A text file holds one matrix. Got a stack of shape {P.shape}; write it as npz or npy.")
    spell = repr if P.values.dtype.itemsize > 4 else "{:.9g}".format  # as many digits as float32 needs
    columns = P.columns
    if (P.ids is None) != (columns is None):
        raise ProximityError("A text file has ids for both its rows and its columns, or for neither. Got only one.")
    if columns is not None:
        file.write((delimiter.join([P.kind or "id", *map(quote, columns)]) + "\n").encode())
    for i, row in enumerate(P.values):
        start = "" if P.ids is None else quote(P.ids[i]) + delimiter
        file.write((start + delimiter.join(map(spell, row.tolist())) + "\n").encode())


def quote(text: str) -> str:
    """Quote a cell so that every text reads back unchanged."""
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
            lines = chain([head], text) if head else iter(())
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


def _parse_numbers(cells: list[str], where: str, line: int, skip: int) -> NDArray[np.float64]:
    """Parse one line of numbers; slow only for a line with a bad cell."""
    try:
        row = np.array(list(map(float, cells)))
    except ValueError:
        try:
            row = np.array([float(_UNKNOWN.get(cell, cell)) for cell in cells])
        except ValueError:
            row = np.array([_parse_number(cell, where, line, skip + j) for j, cell in enumerate(cells)])
    # float() also accepts 1_000, digits of other scripts, and infinity, which csv readers do not
    text = " ".join(cells)
    if "_" in text or not text.isascii() or "i" in text or "I" in text:
        for j, cell in enumerate(cells):
            _parse_number(cell, where, line, skip + j)
    elif np.isinf(row).any():
        j = int(np.argmax(np.isinf(row)))
        raise ProximityError(f"{_cell(where, line, skip + j)}: {quote_short(cells[j])} is too large for a number.")
    return row


def _parse_number(cell: str, where: str, line: int, j: int) -> float:
    """Parse one cell, or raise an error that names it."""
    text = cell.strip()
    if text.lower() in MISSING:
        return np.nan
    if text.lower().lstrip("+-") in _INFINITE:
        raise ProximityError(
            f"{_cell(where, line, j)}: infinity is not a proximity; leave the cell empty if it is missing."
        )
    try:
        if "_" in text or not text.isascii():
            raise ValueError
        return float(text)
    except ValueError:
        comma = " Decimal commas are not read." if "," in text else ""
        raise ProximityError(
            f"{_cell(where, line, j)}: {quote_short(cell)} is not a number.{comma} "
            "Leave the cell empty if it is missing."
        ) from None


def _cell(where: str, line: int, j: int) -> str:
    return f"{where}, line {line}, column {j + 1}"


def _is_number(cell: str) -> bool:
    text = cell.strip()
    if text.lower() in MISSING:
        return True
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text and text.isascii()


def _sniff(head: str) -> str:
    """Comma, unless the first line has none outside quotes but has tabs or semicolons."""
    bare = re.sub(r'"[^"]*"?', "", head)
    return next((mark for mark in ",\t;" if mark in bare), ",")


class _Limited(io.RawIOBase):
    """Decompressed stream that raises after `limit` bytes."""

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
    """Read one label per object, in the order of `ids` if they are given.

    Parameters
    ----------
    path : Path
        A text file: one label per line, or ``id,label``; a header is recognized.
    ids : sequence of str or None
        Ids of the objects, in the order of the result.
    n : int
        Number of objects.
    max_bytes : int, default=2**31
        Largest size of the unpacked file.
    what : str, default="label"
        Name of the values in messages, for example "group".

    Returns
    -------
    ndarray of shape (n,)
    """
    path = Path(path)
    where = short_path(path)
    rows = list(read_rows(path, delimiter=None, max_bytes=max_bytes))
    if len(rows) == n + 1:
        names = [cell.strip().lower() for cell in rows[0][1]]
        if names[-1] in _HEADERS and (len(names) == 1 or names[0] in ID_HEADERS):
            rows = rows[1:]
    width = len(rows[0][1]) if rows else 1
    for line, cells in rows:
        if len(cells) != width or width > 2:
            raise ProximityError(
                f"{where}, line {line}: every line must be a {what}, or an id and a {what}. Got {len(cells)} cells."
            )
        if not cells[-1].strip():
            raise ProximityError(f"{where}, line {line}: the {what} is missing. Give one, or leave the object out.")
    if width == 2 and ids is not None:
        return decode_labels(_by_id(rows, ids, where, what))
    if len(rows) != n:
        raise ProximityError(f"{where} must hold one {what} per object. Got {len(rows)} {what}s for {n} objects.")
    return decode_labels([cells[-1] for _, cells in rows])


def write_labels(file: IO[bytes], P: Proximity) -> None:
    """Write ``id,label`` lines, or labels alone if there are no ids."""
    assert P.labels is not None
    labels = [quote(str(label)) for label in P.labels.tolist()]
    lines = ["label", *labels] if P.ids is None else ["id,label", *map(",".join, zip(map(quote, P.ids), labels))]
    file.write(("\n".join(lines) + "\n").encode())


def labels_beside(path: Path) -> Path:
    """Path of the labels that belong to a text file: ``votes.labels.csv`` for ``votes.csv``."""
    stem = path.name
    for suffix in _TEXT_SUFFIXES:
        stem = stem.removesuffix(suffix)
    return path.with_name(stem + ".labels.csv")


def decode_labels(labels: list[str]) -> NDArray[Any]:
    """Convert labels to integers or booleans if all are spelled like one; else keep text."""
    if set(labels) <= {"True", "False"}:
        return np.array([label == "True" for label in labels])
    if all(len(label) <= 20 and label.lstrip("-").isdecimal() and label.isascii() for label in labels):
        numbers = [int(label) if label.count("-") < 2 else 0 for label in labels]
        if list(map(str, numbers)) == labels and -(2**63) <= min(numbers) and max(numbers) < 2**63:
            return np.array(numbers)
    return np.array(labels)


def _by_id(rows: list[tuple[int, list[str]]], ids: Sequence[str], where: str, what: str) -> list[str]:
    """Values in the order of `ids`; every id must appear once, and no other."""
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
