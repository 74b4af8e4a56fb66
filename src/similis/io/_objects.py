"""Labels and groups in files of their own; objects to be measured: a table of features, a column of text, or JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from similis._utils.arrays import Array, Floats, Indices
from similis._utils.files import is_float, short_path
from similis._utils.messages import warn_user
from similis.exceptions import InputWarning, ProximityError
from similis.io._checks import ANY_ID_HEADERS, ID_HEADERS, LABEL_HEADERS, as_column, as_ids, decode_labels, quote_short
from similis.io._containers import excel_rows
from similis.io._proximity import Proximity
from similis.io._text import MISSING, decimal_point, may_hold_decimal_commas, quote, read_rows

_GROUP_HEADERS = {"group", "groups"}
_LABEL_WORDS = """annotation annotations categories category cluster clusters condition diagnosis family genre genus
    labels outcome phenotype population response species status subtype taxon treatment type types""".split()
NA = ("NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "<NA>", "#N/A")  # spellings of a missing label


def align_labels(
    path: str | os.PathLike[str],
    ids: Sequence[str] | None,
    n: int,
    *,
    column: str | int | None = None,
    id_column: str | int | None = None,
    na: Sequence[str] | None = None,
    what: str = "label",
    max_bytes: int = 2**31,
) -> tuple[Indices, Array]:
    r"""Read labels, or other values of objects such as groups, and find the object of each.

    Parameters
    ----------
    path : str or path-like
        A text file or Excel workbook: one label per line, in the order of the objects, or a table with a column of ids.
    ids : sequence of str or None
        Ids of the objects. Without them, those in the file must be row numbers: 0 to n - 1, or 1 to n.
    n : int
        Number of objects.
    column, id_column : str or int, optional
        Name or number (from 1 on) of the column of labels and of ids, by default recognized by names and contents.
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
        warning counts objects without a label and unknown ids, and names chosen columns.

    Examples
    --------
    >>> import os, tempfile
    >>> from similis.io import align_labels
    >>> path = os.path.join(tempfile.mkdtemp(), "labels.csv")
    >>> _ = open(path, "w").write("id,family\nc,x\na,y\n")
    >>> align_labels(path, ["a", "c"], 2)
    (array([0, 1]), array(['y', 'x'], dtype='<U1'))
    """
    ids = None if ids is None else as_ids(ids, n, "object")
    table = _LabelFile(Path(path), what, ids, n, {"", *(NA if na is None else na)}, max_bytes)
    names = as_column(column, f"{what}_column"), as_column(id_column, "id_column")
    is_list = not table.rows or (table.width == 1 and id_column is None)
    found = table.by_position() if is_list else table.by_id(*names)
    rows = np.array(sorted(found), dtype=np.intp)
    if not len(rows):
        raise ProximityError(f"{table.where} has no {what} for any of the {n} objects.")
    if len(rows) < n:
        absent = n - len(rows) - table.n_empty
        some = f" ({absent} not in the file)" if 0 < absent < n - len(rows) else ""
        table.remarks.insert(0, f"{n - len(rows)} of {n} objects have no {what} and are left out{some}")
    if table.remarks:
        warn_user(f"{table.where}: {'; '.join(table.remarks)}.", InputWarning)
    return rows, _decode([found[i] for i in rows.tolist()], table.has_commas)


class _LabelFile:
    """Cells of a label file, stripped, with the rules by which its header and columns are recognized."""

    def __init__(self, path: Path, what: str, ids: Sequence[str] | None, n: int, na: set[str], max_bytes: int) -> None:
        self.where, self.what, self.ids, self.n, self.na = short_path(path), what, ids, n, na
        self.known = {*(ids or ()), *(name.strip() for name in ids or ())}
        self.remarks: list[str] = []
        self.n_empty = 0  # objects with an empty cell
        self.header: list[str] | None = None
        is_excel = path.suffix.lower() == ".xlsx"
        self.has_commas = not is_excel and may_hold_decimal_commas(path, max_bytes)
        text = [] if is_excel else read_rows(path, max_bytes, comments=[], keep_blank=True)
        rows = excel_rows(path, None, max_bytes)[0] if is_excel else list(text)
        while rows and not any(map(str.strip, rows[-1][1])):
            rows.pop()
        self.width = max((len(cells) for _, cells in rows), default=1)
        rows = [row for row in rows if self.width == 1 or any(map(str.strip, row[1]))]
        self.lines, self.raw = [line for line, _ in rows], [cells or [""] for _, cells in rows]
        for line, cells in zip(self.lines, self.raw):
            if len(cells) != self.width:
                rule = f"every line must be a {what}, or an id and a {what}, with as many cells as the others"
                counts = f"Got {len(cells)}, while another line has {self.width}."
                raise ProximityError(f"{self.where}, line {line}: {rule}. {counts}")
        words = [cells[0].split() for cells in self.raw]
        if self.width == 1 and words and all(len(parts) == 2 for parts in words):
            known = set(map(str, range(n + 1)) if ids is None else ids)
            if 2 * sum(name in known for name, _ in words) > len(words):  # `id label` without a comma or tab
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
        rest_is_numeric = not is_float(values[0]) and len(values) > 1 and all(map(is_float, values[1:]))
        if rest_is_numeric or values[0].lower() in {*LABEL_HEADERS, *_GROUP_HEADERS, *_LABEL_WORDS} - {"y"}:
            return True
        if len(values) == self.n > 2 and len(set(values)) < self.n:
            first = f"line {self.lines[0]}, {quote_short(values[0])}"
            self.remarks.append(f"{first}, is read as the {self.what} of one object")
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
            given = [label for label in labels if label not in self.na]
            if len(labels) != self.n or len(given) < self.n:
                rule = f"has no column of ids and must hold one {self.what} per object"
                raise ProximityError(f"{self.where} {rule}. Got {len(given)} {self.what}s for {self.n} objects.")
            return dict(enumerate(labels))
        names = [row[place] for row in self.rows]
        position = self._row_numbers(names) if self.ids is None else {}
        position |= {name.strip(): i for i, name in enumerate(self.ids or ())}
        position |= {name: i for i, name in enumerate(self.ids or ())}
        found, seen, extra = dict[int, str](), dict[str, int](), 0
        for line, cells, name, label in zip(self.lines, self.raw, names, labels):
            i = position.get(cells[place], position.get(name))
            if seen.setdefault(cells[place], line) != line or i in found:
                twice = f"the id {quote_short(name)} has a {self.what} already."
                raise ProximityError(f"{self.where}, line {line}: {twice}")
            if i is None:
                extra += 1
            elif label in self.na:
                self.n_empty += 1
            else:
                found[i] = label
        if names and extra == len(names):
            first = quote_short(self.ids[0] if self.ids else 0)
            got = f"Got {quote_short(names[0])}, while the first object is {first}."
            raise ProximityError(f"{self.where}: none of its {extra} ids is an id of the objects. {got}")
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
        elif any(self._are_row_numbers([row[j] for row in self.rows]) for j in range(self.width)):
            return False
        is_number = list(map(is_float, first))
        numeric_below = [all(is_float(row[j]) for row in rest) for j in range(self.width)] if rest else []
        if any(below and not above for above, below in zip(is_number, numeric_below)):
            return True
        words = {*ANY_ID_HEADERS, *LABEL_HEADERS, *_GROUP_HEADERS, *_LABEL_WORDS} - {""}
        return not any(is_number) and bool({name.lower() for name in first} & words)

    def _are_row_numbers(self, cells: list[str]) -> bool:
        """Tell whether the cells, with that of the first line, are different numbers of objects."""
        return len(set(cells)) == len(cells) and all(cell.isdecimal() and int(cell) <= self.n for cell in cells)

    def _named(self, name: str, option: str) -> int:
        for key in (str, str.lower):
            found = [j for j, cell in enumerate(self.header or ()) if key(cell) == key(name)]
            if len(found) == 1:
                return found[0]
        if name.isdecimal() and 1 <= int(name) <= self.width:
            return int(name) - 1
        columns = quote_short(", ".join(self.header), 120) if self.header else f"{self.width} columns without names"
        raise ProximityError(f"{self.where} has no column {quote_short(name)}, given as {option}. It has {columns}.")

    def _places_named(self, names: Collection[str], places: list[int]) -> list[int]:
        return [j for j in places if self.header is not None and self.header[j].lower() in names]

    def _id_place(self, id_column: str | None, column: str | None) -> int | None:
        """Position of the column of ids; None if there is none and the labels are taken by position."""
        if id_column is not None:
            return self._named(id_column, "id_column")
        label = None if column is None else self._named(column, f"{self.what}_column")
        places = [j for j in range(self.width) if j != label]
        named = self._places_named(ANY_ID_HEADERS, places)
        if self.ids is not None:
            matches = {j: sum(row[j] in self.known for row in self.rows) for j in places}
            best = max(matches, key=lambda j: (matches[j] > 0 and j in named, matches[j], -j))
            if matches[best]:
                return best
            if label is not None and any(row[label] in self.known for row in self.rows):
                wrong = f"the column {quote_short(str(column))} holds the ids of the objects"
                raise ProximityError(f"{self.where}: {wrong}; name that of the {self.what}s with {self.what}_column.")
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
            which = f"{', '.join(names)[:100]}. Name one with {option}={names[0]}."
            raise ProximityError(f"{self.where} has several columns that could hold the {self.what}s: {which}")
        if not named:
            self.remarks.append(f"the column {names[0]} is read as the {self.what}")
        return found[0]

    def _row_numbers(self, names: list[str]) -> dict[str, int]:
        """Positions of objects without ids, which are named by their row numbers."""
        n = self.n
        numbers = {int(name) if name.isdecimal() and len(name) < 12 else -1 for name in names}
        by_zero, by_one = numbers <= set(range(n)), numbers <= set(range(1, n + 1))
        if by_zero and by_one and len(numbers) < n:
            remedy = f"Give ids to the matrix, or a {self.what} to every object."
            raise ProximityError(f"{self.where} has row numbers as ids that may count from 0 or from 1. {remedy}")
        if not by_zero and not by_one:
            raise ProximityError(
                f"{self.where} has ids, such as {quote_short(names[0])}, but the objects have none. Give ids to the "
                f"objects too, or use row numbers (0 to {n - 1}) as ids, or one {self.what} per line in their order."
            )
        if by_one:
            self.remarks.append(f"the ids count the objects from 1 to {n}")
        return {str(i + by_one): i for i in range(n)}


def _decode(labels: list[str], has_commas: bool) -> Array:
    """Decode labels; if all are numbers, they may have decimal commas."""
    points = list(map(decimal_point, labels)) if has_commas else labels
    return decode_labels(points if all(map(_is_number, points)) else labels)


def _looks_like_labels(cells: list[str]) -> bool:
    """Tell whether values repeat, and are not measurements."""
    whole = not all(map(is_float, cells)) or all(cell.lstrip("+-").isdecimal() for cell in cells)
    return whole and 1 < len(set(cells)) < len(cells)


def read_labels(
    path: str | os.PathLike[str], ids: Sequence[str] | None, n: int, *, max_bytes: int = 2**31, what: str = "label"
) -> Array:
    """Read one label per object, as :func:`align_labels` does; an object without one is an error.

    Parameters
    ----------
    path, ids, n, max_bytes, what
        As for :func:`align_labels`.
    """
    rows, labels = align_labels(path, ids, n, what=what, max_bytes=max_bytes)
    if len(rows) < n:
        first = int(np.setdiff1d(np.arange(n), rows)[0])
        name = quote_short(ids[first]) if ids is not None else f"object {first}"
        raise ProximityError(f"{short_path(path)} has no {what} for {name}, one of {n - len(rows)} without.")
    return labels


def check_classes(labels: Array, where: str) -> None:
    """Reject labels that are all different, which are names or measurements rather than classes.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Labels.
    where : str
        Name of their file, for the message.
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
            remedy = "would not be read back from a text file; rename it, or write an npz file."
            raise ProximityError(f"The label {quote_short(label)} {remedy}")
    cells = list(map(quote, labels))
    lines = ["label", *cells] if P.ids is None else ["id,label", *map(",".join, zip(map(quote, P.ids), cells))]
    file.write(("\n".join(lines) + "\n").encode())


def labels_beside(path: Path) -> Path:
    """Path of the labels of a text file: ``votes.labels.csv`` for ``votes.csv``."""
    stem = path.name
    for suffix in (".gz", ".csv", ".tsv", ".txt"):
        stem = stem.removesuffix(suffix)
    return path.with_name(stem + ".labels.csv")


ColumnType = Literal["number", "text", "category"]
ColumnTypes = Mapping[str, ColumnType] | Literal["number", "text", "category", "mixed", "binary"]
_TYPES = ("number", "text", "category")


@dataclass(frozen=True, eq=False, repr=False)
class Objects:
    """Objects to be measured, with their ids and labels.

    Attributes
    ----------
    values : ndarray of shape (n, d), or (n,) for one column of text or the objects of a JSON file
        Numbers (NaN for empty cells) if every column holds numbers, text if none does, otherwise both (dtype object).
    columns : tuple of str
        Names of the features.
    ids : tuple of str or None
        One name per object.
    labels : ndarray of shape (n,) or None
        One class label per object.
    types : dict or None
        How each column is read, see :func:`read_objects`; by default inferred. None for objects that are no table.
    """

    values: Array
    columns: tuple[str, ...]
    ids: tuple[str, ...] | None = None
    labels: Array | None = None
    types: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        if self.types is None:
            object.__setattr__(self, "types", infer_types(self.values, self.columns))

    @property
    def n(self) -> int:
        """Number of objects."""
        return len(self.values)

    def __repr__(self) -> str:
        kinds = set((self.types or {}).values())
        what = "numbers" if self.values.dtype.kind == "f" else "numbers and text" if "number" in kinds else "text"
        return f"Objects({self.n} objects, {len(self.columns)} columns of {what})"


def read_objects(
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    labels: str | os.PathLike[str] | None = None,
    columns: Sequence[str] | None = None,
    types: ColumnTypes | None = None,
    delimiter: str | None = None,
    na: Sequence[str] | None = None,
    unlabeled: str | None = None,
    max_bytes: int = 2**31,
) -> Objects:
    r"""Read objects from a csv or tsv file whose first line names the columns, or from a JSON list.

    Parameters
    ----------
    path : str or path-like
        The file, perhaps gzipped. A ``.json`` file holds objects that no table can, such as graphs: a list of the
        objects, or of dicts with id, label and ``"object"``; without that key the dict is the object (``{"id": ...,
        "label": ..., "edges": [...], "node_labels": [...]}``).
    id_column, label_column : str, optional
        Columns with the objects' names and class labels; by default one called such as ``id``, and ``label``.
    labels : str or path-like, optional
        A file of labels, used instead of a label column: lines ``id,label``, or one label per line.
    columns : sequence of str, optional
        The columns that describe the objects, in this order; by default all others, in the order of the file.
    types : {"number", "text", "category", "mixed", "binary"} or mapping of column to one of the first three, optional
        How cells are read: numbers; text as written; or the same with None for empty cells. "mixed" reads each column
        as numbers if all its cells are numbers or missing, else as categories; "binary" reads numbers if every cell is
        0 or 1, else categories. By default all columns are numbers if all cells are, else text. Columns that a mapping
        names are neither ids nor labels; the others are read as with "mixed".
    delimiter : str, optional
        Character between the cells. By default a comma, or a tab or semicolon if the first line has no comma.
    na : sequence of str, optional
        Spellings of a missing label in the label column, as in :func:`align_labels`.
    unlabeled : str, optional
        Label of an object whose own is missing; by default an error. If all are missing, there are no labels.
    max_bytes : int, default=2**31
        Largest size that a compressed file may unpack to.

    Examples
    --------
    >>> import os, tempfile
    >>> from similis.io import read_objects
    >>> path = os.path.join(tempfile.mkdtemp(), "words.csv")
    >>> _ = open(path, "w").write("id,class,word\na,x,tree\nb,y,three\n")
    >>> read_objects(path).values, read_objects(path).labels
    (array(['tree', 'three'], dtype='<U5'), array(['x', 'y'], dtype='<U1'))
    """
    if delimiter is not None and not (isinstance(delimiter, str) and len(delimiter) == 1):
        raise ProximityError(f"delimiter must be one character. Got {quote_short(delimiter)}.")
    path = Path(path)
    where = short_path(path)
    if path.suffix.lower() == ".json":
        return _json_objects(path, id_column, label_column, labels, max_bytes)
    header, cells = _cells(path, where, delimiter, max_bytes)
    own = {*(columns or ()), *(types if isinstance(types, Mapping) else ())}  # neither ids nor labels
    if all(map(_is_number, header)) and not own & set(header):
        raise ProximityError(f"{where}: the first line must name the columns. Got only numbers; put names above them.")
    id_place = _place(header, id_column, ID_HEADERS, where, own)
    label_place = _place(header, label_column, LABEL_HEADERS - {"y"}, where, own)  # y is also a coordinate
    features = [j for j in range(len(header)) if j not in (id_place, label_place)]
    features = features if columns is None else [_named(header, name, where) for name in columns]
    if not features:
        raise ProximityError(f"{where} has no column that describes the objects, beside ids and labels.")
    ids = None
    if id_place is not None:
        name = header[id_place]
        is_index = name.lower() == "index"
        try:
            ids = _ids([row[id_place] for row in cells], where)
        except ProximityError as error:
            if id_column is not None:
                raise
            if not (is_index and columns is not None and labels is None):  # an index may count within groups
                other = ", or name the columns that describe the objects" if is_index else ""
                reason = f"The column {quote_short(name)} is taken for the ids because of its name"
                raise ProximityError(f"{error} {reason}; name another one with id_column{other}.") from None
    found: Array | None = None
    has_commas = may_hold_decimal_commas(path, max_bytes, delimiter)
    if labels is not None:
        found = read_labels(Path(labels), ids, len(cells), max_bytes=max_bytes)
    elif label_place is not None:
        missing = {"", *(NA if na is None else na)}
        stated = [None if row[label_place] in missing else row[label_place] for row in cells]
        if unlabeled is None and None in stated and any(stated):
            place = stated.index(None) + 1
            raise ProximityError(f"{where}: object {place} has no label. Give one, or leave the object out.")
        if any(stated):  # else to be predicted
            found = _decode([label or str(unlabeled) for label in stated], has_commas)
    names = tuple(header[j] for j in features)
    text = np.array([[row[j] for j in features] for row in cells])
    plain = np.array([list(map(decimal_point, row)) for row in text.tolist()]) if has_commas else text
    chosen = _choose_types(types, names, plain, where)
    return Objects(_values(text, plain, names, chosen, ids, where), names, ids, found, chosen)


def _json_objects(path: Path, id_column: str | None, label_column: str | None, labels: Any, max_bytes: int) -> Objects:
    where = short_path(path)
    if path.stat().st_size > max_bytes:
        raise ProximityError(f"{where} is larger than max_bytes={max_bytes}; raise max_bytes to read it.")
    try:
        entries = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ProximityError(f"{where} is not a JSON file: {str(error)[:80]}.") from None
    if not isinstance(entries, list) or not entries:
        raise ProximityError(f"{where} must hold a list of objects, at least one.")
    names = _texts_under(entries, id_column, ID_HEADERS - {"object"}, where)
    stated = _texts_under(entries, label_column, LABEL_HEADERS, where)
    values = np.empty(len(entries), dtype=object)
    for i, entry in enumerate(entries):  # one by one: NumPy would make a table of lists of equal length
        values[i] = entry["object"] if isinstance(entry, dict) and "object" in entry else entry
    ids = None if names is None else _ids(names, where)
    if labels is not None:
        return Objects(values, ("object",), ids, read_labels(Path(labels), ids, len(values), max_bytes=max_bytes))
    return Objects(values, ("object",), ids, None if stated is None else decode_labels(stated))


def _texts_under(entries: list[Any], asked: str | None, usual: set[str], where: str) -> list[str] | None:
    """Texts under one key of every entry; None if no entry has one of the usual keys."""
    keys = {asked} if asked is not None else usual
    dicts = [entry if isinstance(entry, dict) else {} for entry in entries]
    found = [next((entry[k] for k in entry if k in keys), None) for entry in dicts]
    if asked is None and all(value is None for value in found):
        return None
    if None in found:
        name = asked if asked is not None else "/".join(sorted(keys))[:40]
        raise ProximityError(f"{where}: every object needs a {name!r}, or none. Object {found.index(None)} has none.")
    return list(map(str, found))


def _cells(path: Path, where: str, delimiter: str | None, max_bytes: int) -> tuple[list[str], list[list[str]]]:
    rows = list(read_rows(path, max_bytes, delimiter))
    if len(rows) < 2:
        raise ProximityError(f"{where} must name its columns in the first line and hold one object per line below.")
    header = [name.strip() for name in rows[0][1]]
    for line, cells in rows[1:]:
        if len(cells) != len(header):
            rule = f"every line must have {len(header)} cells, as many as the first line names"
            raise ProximityError(f"{where}, line {line}: {rule}. Got {len(cells)}.")
    if len(set(header)) < len(header):
        twice = quote_short(next(name for name in header if header.count(name) > 1))
        raise ProximityError(f"{where}: columns must have different names in line 1. {twice} appears twice.")
    return header, [[cell.strip() for cell in cells] for _, cells in rows[1:]]


def _named(header: list[str], name: str, where: str) -> int:
    if name not in header:
        found = quote_short(", ".join(header), 120)
        raise ProximityError(f"{where} has no column {quote_short(name)}. It has {found}.")
    return header.index(name)


def _place(header: list[str], asked: str | None, usual: set[str], where: str, features: Collection[str]) -> int | None:
    if asked is not None:
        return _named(header, asked, where)
    found = [j for j, name in enumerate(header) if name.lower() in usual and name not in features]
    if len(found) > 1:
        names = " and ".join(quote_short(header[j]) for j in found[:2])
        remedy = "Name one with id_column or label_column."
        raise ProximityError(f"{where}: the columns {names} could both hold ids or both labels. {remedy}")
    return found[0] if found else None


def _ids(names: list[str], where: str) -> tuple[str, ...]:
    try:
        return as_ids(names, len(names), "row")
    except ProximityError as error:
        raise ProximityError(f"{where}: {error}") from None


def _choose_types(types: ColumnTypes | None, names: tuple[str, ...], text: Array, where: str) -> dict[str, str]:
    if types in _TYPES:
        return dict.fromkeys(names, str(types))
    if types == "binary":
        return dict.fromkeys(names, "number" if np.isin(text, ["0", "1"]).all() else "category")
    if types is None:
        return dict.fromkeys(names, "number" if _all_numbers(text) else "text")
    if types != "mixed" and not (isinstance(types, Mapping) and set(types.values()) <= set(_TYPES)):
        rule = "'number', 'text', 'category', 'mixed', 'binary', or a mapping of columns to one of the first three"
        raise ProximityError(f"types must be {rule}. Got {str(types)[:60]!r}.")
    given = dict(types) if isinstance(types, Mapping) else {}
    if len(given) == len(names) == 1 and names[0] not in given:  # one column of another name
        name = f"the name of the column {quote_short(next(iter(given)))}, not as an object"
        warn_user(f"{where}: the first line, {quote_short(names[0])}, is read as {name}.", InputWarning)
        given = dict.fromkeys(names, *given.values())
    inferred = ["number" if _all_numbers(column) else "category" for column in text.T]
    for name, cells in zip(names, text.T.tolist()):
        words = [cell for cell in cells if cell.lower() not in MISSING and not _is_number(cell)]
        if types == "mixed" and 0 < len(words) < sum(map(_is_number, cells)):
            why = f"because {quote_short(words[0])} is not a number; leave the cell empty if it is missing."
            warn_user(f"{where}: the column {quote_short(name)} is read as categories, {why}", InputWarning)
    return {name: given.get(name, kind) for name, kind in zip(names, inferred)}


def _all_numbers(text: Array) -> bool:
    """Tell whether all cells are numbers or missing, and not all missing."""
    cells = set(text.ravel().tolist())
    return all(cell.lower() in MISSING or _is_number(cell) for cell in cells) and any(map(_is_number, cells))


def _values(
    text: Array, plain: Array, names: tuple[str, ...], types: Mapping[str, str], ids: Sequence[str] | None, where: str
) -> Array:
    """Values of the cells as written, and of numbers from the cells with decimal points."""
    kinds = [types[name] for name in names]
    if set(kinds) == {"number"}:
        return np.stack([_numbers(plain[:, j], names[j], ids, where) for j in range(len(names))], axis=1)
    if "number" not in kinds and not ("category" in kinds and (text == "").any()):
        return text[:, 0] if len(names) == 1 else text
    values = text.astype(object)
    for j, kind in enumerate(kinds):
        if kind == "number":
            values[:, j] = _numbers(plain[:, j], names[j], ids, where)
        elif kind == "category":
            values[text[:, j] == "", j] = None
    return values[:, 0] if kinds == ["text"] else values


def _numbers(text: Array, name: str, ids: Sequence[str] | None, where: str) -> Floats:
    numbers = np.full(len(text), np.nan)
    for i, cell in enumerate(text.tolist()):
        if cell.lower() in MISSING:
            continue
        if not _is_number(cell):
            of = "" if ids is None else f" ({quote_short(ids[i])})"
            got = f"Got {quote_short(cell)}; leave the cell empty if it is missing."
            raise ProximityError(f"{where}, object {i + 1}{of}: column {quote_short(name)} must hold numbers. {got}")
        numbers[i] = float(cell)
    return numbers


def infer_types(values: Any, columns: Sequence[str] | None) -> dict[str, str] | None:
    """Types of the columns of a table, numbers (perhaps missing) or text; None for objects that are no table."""
    if columns is None or not len(values):
        return None
    if getattr(values, "dtype", None) is not None and values.dtype.kind in "biuf":
        return dict.fromkeys(columns, "number")
    rows = values.tolist() if hasattr(values, "tolist") else list(values)
    if all(isinstance(row, str) for row in rows):
        return dict.fromkeys(columns, "text") if len(columns) == 1 else None
    if not all(isinstance(row, list | tuple) and len(row) == len(columns) for row in rows):
        return None
    known = [[value for value in column if value is not None and value == value] for column in zip(*rows)]
    kinds = ["number" if all(isinstance(value, Real) for value in column) else "text" for column in known]
    return dict(zip(columns, kinds))


def _is_number(cell: str) -> bool:
    return is_float(cell) and bool(np.isfinite(float(cell))) and "_" not in cell and cell.isascii()
