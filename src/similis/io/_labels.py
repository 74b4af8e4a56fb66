"""Labels and groups in files of their own, aligned with the objects of a matrix or a table.

:func:`align_labels` is the one place where the lines of such a file meet the objects: by id where the file has ids,
else by position. Whatever it leaves out or ignores is reported in one warning with its count.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.files import short_path
from similis._utils.messages import warn_user
from similis.exceptions import InputWarning, ProximityError
from similis.io._containers import excel_rows
from similis.io._proximity import LABEL_HEADERS, Proximity, decode_labels, quote_short
from similis.io._text import quote, read_rows

__all__ = ["align_labels", "labels_beside", "read_labels", "write_labels"]

_TEXT_SUFFIXES = (".gz", ".csv", ".tsv", ".txt")
ID_HEADERS = {"", "id", "ids", "name", "object", "index", "key"}
_GROUP_HEADERS = {"group", "groups"}
_LABEL_WORDS = (  # further names of a column of labels
    "annotation annotations categories category cluster clusters condition diagnosis family genre genus labels outcome "
    "phenotype population response species status subtype taxon treatment type types"
).split()
_MORE_HEADERS = {"#", "sample", "sample_id", "sampleid", "sample-id", "sample id", "objects", "names"}
NA = ("NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "<NA>", "#N/A")  # spellings of a missing label


def align_labels(
    path: str | os.PathLike[str],
    ids: Sequence[str] | None,
    n: int,
    *,
    column: str | None = None,
    id_column: str | None = None,
    na: Sequence[str] | None = None,
    what: str = "label",
    max_bytes: int = 2**31,
) -> tuple[NDArray[np.intp], NDArray[Any]]:
    r"""Read labels, or other values of objects such as groups, and find the object of each.

    Parameters
    ----------
    path : str or path-like
        A text file or Excel workbook: one label per line, in the order of the objects, or a table with a column of ids,
        in any order and perhaps with more columns, objects and a header.
    ids : sequence of str or None
        Ids of the objects. Without them, ids in the file must be row numbers: 0 to n - 1, or 1 to n.
    n : int
        Number of objects.
    column, id_column : str, optional
        Name of the column of the labels and of the ids, or its number from 1 on. By default the columns are recognized
        by their names and contents.
    na : sequence of str, optional
        Spellings of a missing label, beside an empty cell. By default NA, N/A, NaN, null and similar ones.
    what : str, default="label"
        Name of the values in messages, for example "group".
    max_bytes : int, default=2**31
        Largest size of the unpacked file.

    Returns
    -------
    rows : ndarray of int
        Objects that have a label, ascending.
    labels : ndarray
        Their labels; integers or booleans if all are spelled like one.

    Raises
    ------
    ProximityError
        If the file is malformed or ambiguous, if labels are missing in a file without ids, or if no id is known.

    Warns
    -----
    InputWarning
        With the number of objects without a label, of ids that are not known, and the columns that were chosen.

    Examples
    --------
    >>> import os, tempfile, warnings
    >>> from similis.io import align_labels
    >>> path = os.path.join(tempfile.mkdtemp(), "labels.csv")
    >>> _ = open(path, "w").write("id,family\nc,x\na,y\n")
    >>> with warnings.catch_warnings(record=True):
    ...     align_labels(path, ["a", "b", "c"], 3)
    (array([0, 2]), array(['y', 'x'], dtype='<U1'))
    """
    path = Path(path)
    table = _LabelFile(path, what, NA if na is None else tuple(na), max_bytes)
    table.split_blanks(ids, n)
    if table.width == 1 and id_column is None:
        found = table.by_position(n)
    else:
        found = table.by_id(ids, n, column, id_column)
    rows = np.array(sorted(found), dtype=np.intp)
    if not len(rows):
        raise ProximityError(f"{table.where} has no {what} for any of the {n} objects.")
    if len(rows) < n:
        absent = n - len(rows) - table.n_empty
        some = f" ({absent} not in the file)" if 0 < absent < n - len(rows) else ""
        table.remarks.insert(0, f"{n - len(rows)} of {n} objects have no {what} and are left out{some}")
    if table.remarks:
        warn_user(f"{table.where}: {'; '.join(table.remarks)}.", InputWarning)
    return rows, decode_labels([found[i] for i in rows.tolist()])


class _LabelFile:
    """Cells of a label file, stripped, with the rules by which its header and columns are recognized."""

    def __init__(self, path: Path, what: str, na: tuple[str, ...], max_bytes: int) -> None:
        self.where, self.what, self.na = short_path(path), what, {"", *na}
        self.remarks: list[str] = []
        self.n_empty = 0  # objects with an empty cell
        comments: list[str] = []
        if path.suffix.lower() == ".xlsx":
            rows = excel_rows(path, None, max_bytes)[0]
        else:
            rows = list(read_rows(path, delimiter=None, max_bytes=max_bytes, comments=comments, keep_blank=True))
        while rows and not any(cell.strip() for cell in rows[-1][1]):
            rows.pop()
        self.width = max((len(cells) for _, cells in rows), default=1)
        if self.width > 1:
            rows = [row for row in rows if any(cell.strip() for cell in row[1])]
        self.lines = [line for line, _ in rows]
        self.raw = [cells or [""] for _, cells in rows]
        self.rows = [[cell.strip() for cell in cells] for cells in self.raw]
        for line, cells in zip(self.lines, self.rows):
            if len(cells) != self.width:
                raise ProximityError(
                    f"{self.where}, line {line}: every line must be a {what}, or an id and a {what}, with as many "
                    f"cells as the others. Got {len(cells)}, while another line has {self.width}."
                )

    def split_blanks(self, ids: Sequence[str] | None, n: int) -> None:
        """Split ``id label`` lines without a comma or tab, if the first words are ids."""
        words = [row[0].split() for row in self.rows]
        if self.width > 1 or not words or any(len(parts) != 2 for parts in words):
            return
        known = set(ids) if ids is not None else {str(i) for i in range(n + 1)}
        if 2 * sum(parts[0] in known for parts in words) > len(words):
            self.raw = self.rows = words
            self.width = 2

    def by_position(self, n: int) -> dict[int, str]:
        """One label per line, in the order of the objects."""
        values = [row[0] for row in self.rows]
        header = self._is_header(values, n)
        body, lines = values[header:], self.lines[header:]
        gaps = [line for line, value in zip(lines, body) if value in self.na]
        if len(body) != n or gaps:
            below = f" below the header {quote_short(values[0])}" if header else ""
            gap = f" Line {gaps[0]} has none ({quote_short(body[lines.index(gaps[0])])})." if gaps else ""
            raise ProximityError(
                f"{self.where} must hold one {self.what} per object. Got {len(body) - len(gaps)} {self.what}s{below} "
                f"for {n} objects.{gap} To leave objects out, write lines `id,{self.what}`."
            )
        if header and values[0].lower() not in LABEL_HEADERS | _GROUP_HEADERS:
            self.remarks.append(f"line {self.lines[0]}, {quote_short(values[0])}, is read as a header")
        return dict(enumerate(body))

    def _is_header(self, values: list[str], n: int) -> bool:
        """Tell whether the first of the labels is a header: it names labels, and is not a label itself."""
        if not values or values[0] in values[1:] or values[0] in self.na:
            return False
        word = values[0].lower()
        if len(values) == n + 1:
            return True
        rest_is_numeric = not _is_numeric([values[0]]) and len(values) > 1 and _is_numeric(values[1:])
        if rest_is_numeric or word in {*LABEL_HEADERS, *_GROUP_HEADERS, *_LABEL_WORDS} - {"y"}:
            return True
        if len(values) == n > 2 and len(set(values)) < n:
            self.remarks.append(
                f"line {self.lines[0]}, {quote_short(values[0])}, is read as the {self.what} of one object"
            )
        return False

    def by_id(self, ids: Sequence[str] | None, n: int, column: str | None, id_column: str | None) -> dict[int, str]:
        """Labels by the position of the object that the line names."""
        header = self._header(ids, column, id_column)
        place = self._id_place(header, ids, id_column, column)
        label_place = self._label_place(header, place, column)
        first = 0 if header is None else 1
        if place is None:
            values = [row[label_place] for row in self.rows[first:]]
            if len(values) != n or any(value in self.na for value in values):
                raise ProximityError(
                    f"{self.where} has no column of ids and must hold one {self.what} per object. Got "
                    f"{sum(value not in self.na for value in values)} {self.what}s for {n} objects."
                )
            return dict(enumerate(values))
        names = [(raw[place], row[place]) for raw, row in zip(self.raw[first:], self.rows[first:])]
        if ids is None:
            position = self._row_numbers([name for _, name in names], n)
        else:
            position = {name.strip(): i for i, name in enumerate(ids)} | {name: i for i, name in enumerate(ids)}
        found: dict[int, str] = {}
        seen: dict[str, int] = {}
        extra = 0
        for line, (raw, name), row in zip(self.lines[first:], names, self.rows[first:]):
            i = position.get(raw, position.get(name))
            if seen.setdefault(raw, line) != line or i in found:
                raise ProximityError(
                    f"{self.where}, line {line}: the id {quote_short(name)} has a {self.what} already."
                )
            if i is None:
                extra += 1
            elif row[label_place] in self.na:
                self.n_empty += 1
            else:
                found[i] = row[label_place]
        if extra == len(names):
            raise ProximityError(
                f"{self.where}: none of its {extra} ids is an id of the objects. Got {quote_short(names[0][1])}, while "
                f"the first object is {quote_short(ids[0] if ids else 0)}."
            )
        if extra:
            self.remarks.append(f"{extra} ids are not among the objects and are ignored")
        return found

    def _header(self, ids: Sequence[str] | None, column: str | None, id_column: str | None) -> list[str] | None:
        first, rest = self.rows[0], self.rows[1:]
        names = {name.lower() for name in first}
        if {column, id_column} & set(first) - {None}:
            return first
        if ids is not None:
            known = {*ids, *(name.strip() for name in ids)}
            if not rest or any(cell in known for cell in first):
                return None
            if any(cell in known for row in rest for cell in row):
                return first
        words = {*ID_HEADERS, *LABEL_HEADERS, *_GROUP_HEADERS, *_MORE_HEADERS, *_LABEL_WORDS}
        is_number = [_is_numeric([cell]) for cell in first]
        numeric_below = [_is_numeric([row[j] for row in rest]) for j in range(self.width)] if rest else []
        if any(below and not above for above, below in zip(is_number, numeric_below)):
            return first
        return first if names & words - {""} and not any(is_number) else None

    def _named(self, header: list[str] | None, name: str, option: str) -> int:
        """Position of a column that the user named, by its name or its number."""
        if header is not None:
            for key in (str, str.lower):
                found = [j for j, cell in enumerate(header) if key(cell) == key(name)]
                if len(found) == 1:
                    return found[0]
        if name.isdecimal() and 1 <= int(name) <= self.width:
            return int(name) - 1
        has = (
            f"It has {quote_short(', '.join(header), 120)}" if header else f"It has {self.width} columns without names"
        )
        raise ProximityError(f"{self.where} has no column {quote_short(name)}, given as {option}. {has}.")

    def _id_place(
        self, header: list[str] | None, ids: Sequence[str] | None, id_column: str | None, column: str | None
    ) -> int | None:
        """Position of the column of ids; None if there is none and the labels are taken by position."""
        if id_column is not None:
            return self._named(header, id_column, "id_column")
        label = None if column is None else self._named(header, column, f"{self.what}_column")
        rows = self.rows if header is None else self.rows[1:]
        places = [j for j in range(self.width) if j != label]
        named = [j for j in places if header is not None and header[j].lower() in ID_HEADERS | _MORE_HEADERS]
        if ids is not None:
            known = {*ids, *(name.strip() for name in ids)}
            matches = {j: sum(row[j] in known for row in rows) for j in places}
            best = max(matches, key=lambda j: (matches[j] > 0 and j in named, matches[j], -j))
            if matches[best]:
                return best
            if label is not None and any(row[label] in known for row in rows):
                raise ProximityError(
                    f"{self.where}: the column {quote_short(str(column))} holds the ids of the objects; name that of "
                    f"the {self.what}s with {self.what}_column."
                )
            return named[0] if named else places[0]  # its ids are reported as unknown
        if named:
            return named[0]
        distinct = [j for j in places if len({row[j] for row in rows}) == len(rows)]
        if distinct:
            return distinct[0]
        return None if label is not None else places[0]

    def _label_place(self, header: list[str] | None, id_place: int | None, column: str | None) -> int:
        option = f"{self.what}_column"
        if column is not None:
            return self._named(header, column, option)
        places = [j for j in range(self.width) if j != id_place]
        if not places:
            raise ProximityError(f"{self.where} has no column of {self.what}s beside its ids.")
        if len(places) == 1:
            return places[0]
        words = _GROUP_HEADERS if self.what == "group" else LABEL_HEADERS
        named = [j for j in places if header is not None and header[j].lower() in words]
        rows = self.rows if header is None else self.rows[1:]
        found = named or [j for j in places if _looks_like_labels([row[j] for row in rows if row[j] not in self.na])]
        found = found or [j for j in places if header is not None and header[j].lower() in _LABEL_WORDS]
        names = [quote_short(header[j] if header else str(j + 1)) for j in found or places]
        if len(found) != 1:
            raise ProximityError(
                f"{self.where} has several columns that could hold the {self.what}s: {', '.join(names)[:100]}. Name "
                f"one with {option}={names[0]}."
            )
        if not named:
            self.remarks.append(f"the column {names[0]} is read as the {self.what}")
        return found[0]

    def _row_numbers(self, names: list[str], n: int) -> dict[str, int]:
        """Positions of objects without ids, which are named by their row numbers."""
        numbers = {int(name) if name.isdecimal() and len(name) < 12 else -1 for name in names}
        by_zero, by_one = numbers <= set(range(n)), numbers <= set(range(1, n + 1))
        if by_zero and by_one and len(numbers) < n:
            raise ProximityError(
                f"{self.where} has row numbers as ids that may count from 0 or from 1. Give ids to the matrix, or a "
                f"{self.what} to every object."
            )
        if not by_zero and not by_one:
            raise ProximityError(
                f"{self.where} has ids, such as {quote_short(names[0])}, but the objects have none. Give ids to the "
                f"objects too, or use row numbers (0 to {n - 1}) as ids, or one {self.what} per line in their order."
            )
        if by_one:
            self.remarks.append(f"the ids count the objects from 1 to {n}")
        return {str(i + by_one): i for i in range(n)}


def _is_numeric(cells: list[str]) -> bool:
    try:
        return all(float(cell) is not None for cell in cells)
    except ValueError:
        return False


def _looks_like_labels(cells: list[str]) -> bool:
    """Tell whether values repeat, and are not measurements."""
    counts = Counter(cells)
    whole = not _is_numeric(cells) or all(cell.lstrip("+-").isdecimal() for cell in cells)
    return whole and 1 < len(counts) < len(cells)


def read_labels(
    path: Path, ids: Sequence[str] | None, n: int, *, max_bytes: int = 2**31, what: str = "label"
) -> NDArray[Any]:
    """Read one label per object, in the order of `ids` if they are given.

    Parameters
    ----------
    path : Path
        A text file, as for :func:`align_labels`.
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

    Raises
    ------
    ProximityError
        If some object has no label; :func:`align_labels` leaves such objects out.
    """
    rows, labels = align_labels(path, ids, n, what=what, max_bytes=max_bytes)
    if len(rows) < n:
        first = int(np.setdiff1d(np.arange(n), rows)[0])
        name = quote_short(ids[first]) if ids is not None else f"object {first}"
        raise ProximityError(f"{short_path(path)} has no {what} for {name}, one of {n - len(rows)} without.")
    return labels


def check_classes(labels: NDArray[Any], where: str) -> None:
    """Reject labels that are all different, which are names or measurements rather than classes.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels.
    where : str
        Their file, for the message.
    """
    if len(labels) > 2 and len(np.unique(labels)) == len(labels):
        raise ProximityError(
            f"{where}: every one of the {len(labels)} objects has a label of its own, such as "
            f"{quote_short(labels[0].item())}, so there is nothing to learn. Name the column of the labels with "
            "label_column, or check the delimiter."
        )


def write_labels(file: IO[bytes], P: Proximity) -> None:
    """Write ``id,label`` lines, or labels alone if there are no ids."""
    assert P.labels is not None
    labels = [str(label) for label in P.labels.tolist()]
    for label in labels:
        if label.strip() != label or label in NA:
            raise ProximityError(
                f"The label {quote_short(label)} would not be read back from a text file; rename it, or write an npz "
                "file."
            )
    cells = list(map(quote, labels))
    lines = ["label", *cells] if P.ids is None else ["id,label", *map(",".join, zip(map(quote, P.ids), cells))]
    file.write(("\n".join(lines) + "\n").encode())


def labels_beside(path: Path) -> Path:
    """Path of the labels that belong to a text file: ``votes.labels.csv`` for ``votes.csv``."""
    stem = path.name
    for suffix in _TEXT_SUFFIXES:
        stem = stem.removesuffix(suffix)
    return path.with_name(stem + ".labels.csv")
