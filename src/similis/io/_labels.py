"""Labels and groups in files of their own, aligned with the objects of a matrix or a table."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.files import short_path
from similis._utils.messages import warn_user
from similis.exceptions import InputWarning, ProximityError
from similis.io._checks import LABEL_HEADERS, decode_labels, quote_short
from similis.io._containers import excel_rows
from similis.io._proximity import Proximity
from similis.io._text import quote, read_rows

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
    rows, labels : ndarray
        Objects that have a label, ascending, and their labels; integers or booleans if all are spelled like one. A
        warning names the number of objects without a label, of unknown ids, and the columns that were chosen.

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
    table = _LabelFile(Path(path), what, ids, n, {"", *(NA if na is None else na)}, max_bytes)
    if not table.rows or (table.width == 1 and id_column is None):
        found = table.by_position()
    else:
        found = table.by_id(column, id_column)
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

    def __init__(self, path: Path, what: str, ids: Sequence[str] | None, n: int, na: set[str], max_bytes: int) -> None:
        self.where, self.what, self.ids, self.n, self.na = short_path(path), what, ids, n, na
        self.known = {*(ids or ()), *(name.strip() for name in ids or ())}
        self.remarks: list[str] = []
        self.n_empty = 0  # objects with an empty cell
        self.header: list[str] | None = None
        if path.suffix.lower() == ".xlsx":
            rows = excel_rows(path, None, max_bytes)[0]
        else:
            rows = list(read_rows(path, max_bytes, comments=[], keep_blank=True))
        while rows and not any(cell.strip() for cell in rows[-1][1]):
            rows.pop()
        self.width = max((len(cells) for _, cells in rows), default=1)
        if self.width > 1:
            rows = [row for row in rows if any(cell.strip() for cell in row[1])]
        self.lines = [line for line, _ in rows]
        self.raw = [cells or [""] for _, cells in rows]
        for line, cells in zip(self.lines, self.raw):
            if len(cells) != self.width:
                raise ProximityError(
                    f"{self.where}, line {line}: every line must be a {what}, or an id and a {what}, with as many "
                    f"cells as the others. Got {len(cells)}, while another line has {self.width}."
                )
        words = [cells[0].split() for cells in self.raw]
        if self.width == 1 and words and all(len(parts) == 2 for parts in words):
            known = set(ids) if ids is not None else set(map(str, range(n + 1)))
            if 2 * sum(parts[0] in known for parts in words) > len(words):  # `id label` without a comma or tab
                self.raw, self.width = words, 2
        self.rows = [[cell.strip() for cell in cells] for cells in self.raw]

    def by_position(self) -> dict[int, str]:
        """One label per line, in the order of the objects."""
        values = [row[0] for row in self.rows]
        header = self._is_header(values)
        body, lines = values[header:], self.lines[header:]
        gaps = [line for line, value in zip(lines, body) if value in self.na]
        if len(body) != self.n or gaps:
            below = f" below the header {quote_short(values[0])}" if header else ""
            gap = f" Line {gaps[0]} has none ({quote_short(body[lines.index(gaps[0])])})." if gaps else ""
            raise ProximityError(
                f"{self.where} must hold one {self.what} per object. Got {len(body) - len(gaps)} {self.what}s{below} "
                f"for {self.n} objects.{gap} To leave objects out, write lines `id,{self.what}`."
            )
        if header and values[0].lower() not in LABEL_HEADERS | _GROUP_HEADERS:
            self.remarks.append(f"line {self.lines[0]}, {quote_short(values[0])}, is read as a header")
        return dict(enumerate(body))

    def _is_header(self, values: list[str]) -> bool:
        """Tell whether the first of the labels is a header: it names labels, and is not a label itself."""
        if not values or values[0] in values[1:] or values[0] in self.na:
            return False
        if len(values) == self.n + 1:
            return True
        rest_is_numeric = not _is_numeric([values[0]]) and len(values) > 1 and _is_numeric(values[1:])
        if rest_is_numeric or values[0].lower() in {*LABEL_HEADERS, *_GROUP_HEADERS, *_LABEL_WORDS} - {"y"}:
            return True
        if len(values) == self.n > 2 and len(set(values)) < self.n:
            self.remarks.append(
                f"line {self.lines[0]}, {quote_short(values[0])}, is read as the {self.what} of one object"
            )
        return False

    def by_id(self, column: str | None, id_column: str | None) -> dict[int, str]:
        """Labels by the position of the object that the line names."""
        if self._has_header(column, id_column):
            self.header = self.rows[0]
            self.lines, self.raw, self.rows = self.lines[1:], self.raw[1:], self.rows[1:]
        place = self._id_place(id_column, column)
        label_place = self._label_place(place, column)
        labels = [row[label_place] for row in self.rows]
        if place is None:
            if len(labels) != self.n or any(label in self.na for label in labels):
                raise ProximityError(
                    f"{self.where} has no column of ids and must hold one {self.what} per object. Got "
                    f"{sum(label not in self.na for label in labels)} {self.what}s for {self.n} objects."
                )
            return dict(enumerate(labels))
        names = [row[place] for row in self.rows]
        if self.ids is None:
            position = self._row_numbers(names)
        else:
            position = {name.strip(): i for i, name in enumerate(self.ids)}
            position |= {name: i for i, name in enumerate(self.ids)}
        found: dict[int, str] = {}
        seen: dict[str, int] = {}
        extra = 0
        for line, cells, name, label in zip(self.lines, self.raw, names, labels):
            i = position.get(cells[place], position.get(name))
            if seen.setdefault(cells[place], line) != line or i in found:
                raise ProximityError(
                    f"{self.where}, line {line}: the id {quote_short(name)} has a {self.what} already."
                )
            if i is None:
                extra += 1
            elif label in self.na:
                self.n_empty += 1
            else:
                found[i] = label
        if names and extra == len(names):
            raise ProximityError(
                f"{self.where}: none of its {extra} ids is an id of the objects. Got {quote_short(names[0])}, while "
                f"the first object is {quote_short(self.ids[0] if self.ids else 0)}."
            )
        if extra:
            self.remarks.append(f"{extra} ids are not among the objects and are ignored")
        return found

    def _has_header(self, column: str | None, id_column: str | None) -> bool:
        first, rest = self.rows[0], self.rows[1:]
        if {column, id_column} & set(first) - {None}:
            return True
        if self.ids is not None:
            if not rest or self.known & set(first):
                return False
            if any(cell in self.known for row in rest for cell in row):
                return True
        is_number = [_is_numeric([cell]) for cell in first]
        numeric_below = [_is_numeric([row[j] for row in rest]) for j in range(self.width)] if rest else []
        if any(below and not above for above, below in zip(is_number, numeric_below)):
            return True
        words = {*ID_HEADERS, *LABEL_HEADERS, *_GROUP_HEADERS, *_MORE_HEADERS, *_LABEL_WORDS} - {""}
        return not any(is_number) and bool({name.lower() for name in first} & words)

    def _named(self, name: str, option: str) -> int:
        """Position of a column that the user named, by its name or its number."""
        for key in (str, str.lower):
            found = [j for j, cell in enumerate(self.header or ()) if key(cell) == key(name)]
            if len(found) == 1:
                return found[0]
        if name.isdecimal() and 1 <= int(name) <= self.width:
            return int(name) - 1
        columns = quote_short(", ".join(self.header), 120) if self.header else f"{self.width} columns without names"
        raise ProximityError(f"{self.where} has no column {quote_short(name)}, given as {option}. It has {columns}.")

    def _places_named(self, names: Collection[str], places: list[int]) -> list[int]:
        """Those of the columns whose header is one of the names."""
        return [j for j in places if self.header is not None and self.header[j].lower() in names]

    def _id_place(self, id_column: str | None, column: str | None) -> int | None:
        """Position of the column of ids; None if there is none and the labels are taken by position."""
        if id_column is not None:
            return self._named(id_column, "id_column")
        label = None if column is None else self._named(column, f"{self.what}_column")
        places = [j for j in range(self.width) if j != label]
        named = self._places_named(ID_HEADERS | _MORE_HEADERS, places)
        if self.ids is not None:
            matches = {j: sum(row[j] in self.known for row in self.rows) for j in places}
            best = max(matches, key=lambda j: (matches[j] > 0 and j in named, matches[j], -j))
            if matches[best]:
                return best
            if label is not None and any(row[label] in self.known for row in self.rows):
                raise ProximityError(
                    f"{self.where}: the column {quote_short(str(column))} holds the ids of the objects; name that of "
                    f"the {self.what}s with {self.what}_column."
                )
            return (named or places)[0]  # its ids are reported as unknown
        distinct = [j for j in places if len({row[j] for row in self.rows}) == len(self.rows)]
        return next(iter(named + distinct), None if label is not None else places[0])

    def _label_place(self, id_place: int | None, column: str | None) -> int:
        option = f"{self.what}_column"
        if column is not None:
            return self._named(column, option)
        places = [j for j in range(self.width) if j != id_place]
        if not places:
            raise ProximityError(f"{self.where} has no column of {self.what}s beside its ids.")
        if len(places) == 1:
            return places[0]
        named = self._places_named(_GROUP_HEADERS if self.what == "group" else LABEL_HEADERS, places)
        known = {j: [row[j] for row in self.rows if row[j] not in self.na] for j in places}
        found = named or [j for j in places if _looks_like_labels(known[j])] or self._places_named(_LABEL_WORDS, places)
        names = [quote_short(self.header[j] if self.header else str(j + 1)) for j in found or places]
        if len(found) != 1:
            raise ProximityError(
                f"{self.where} has several columns that could hold the {self.what}s: {', '.join(names)[:100]}. Name "
                f"one with {option}={names[0]}."
            )
        if not named:
            self.remarks.append(f"the column {names[0]} is read as the {self.what}")
        return found[0]

    def _row_numbers(self, names: list[str]) -> dict[str, int]:
        """Positions of objects without ids, which are named by their row numbers."""
        n = self.n
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
    """Read one label per object; an object without one is an error.

    Parameters
    ----------
    path, ids, n, max_bytes, what
        As for :func:`align_labels`, which leaves objects without a label out.
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
    labels, where : ndarray of shape (n,), str
        Labels, and the name of their file for the message.
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
    labels = list(map(str, P.labels.tolist()))
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
    """Path of the labels of a text file: ``votes.labels.csv`` for ``votes.csv``."""
    stem = path.name
    for suffix in (".gz", ".csv", ".tsv", ".txt"):
        stem = stem.removesuffix(suffix)
    return path.with_name(stem + ".labels.csv")
