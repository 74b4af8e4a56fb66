"""Read objects to be measured: a table of features, a column of text, or a JSON list."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from similis._utils.files import short_path
from similis.exceptions import ProximityError
from similis.io._checks import LABEL_HEADERS, as_ids, decode_labels, quote_short
from similis.io._labels import ID_HEADERS, read_labels
from similis.io._text import MISSING, read_rows

ColumnType = Literal["number", "text", "category"]
ColumnTypes = Mapping[str, ColumnType] | Literal["number", "text", "category", "mixed", "binary"]
_TYPES = ("number", "text", "category")


@dataclass(frozen=True, eq=False, repr=False)
class Objects:
    """Objects to be measured, with their ids and labels.

    Attributes
    ----------
    values : ndarray of shape (n, d), or (n,) for one column of text or the objects of a JSON file
        Numbers (float64, NaN for empty cells) if every column holds numbers, text if none does, otherwise both (dtype
        object).
    columns : tuple of str
        Names of the features.
    ids, labels : tuple of str or None, ndarray of shape (n,) or None
        One name and one class label per object.
    types : dict or None
        For each column of a table ``"number"``, ``"text"`` (as written) or ``"category"`` (as written, None for empty
        cells); by default inferred from the values. None for other objects.
    """

    values: NDArray[Any]
    columns: tuple[str, ...]
    ids: tuple[str, ...] | None = None
    labels: NDArray[Any] | None = None
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
    max_bytes: int = 2**31,
) -> Objects:
    r"""Read objects from a csv or tsv file whose first line names the columns, or from a JSON list.

    Parameters
    ----------
    path : str or path-like
        The file, perhaps gzipped. A ``.json`` file holds objects that no table can, such as graphs: a list with one
        entry per object, the object itself or a dict with id, label and ``"object"``; without that key the dict is
        the object (``{"id": ..., "label": ..., "edges": [...], "node_labels": [...]}``).
    id_column : str, optional
        Column with the objects' names. By default one called ``id``, ``name``, ``object``, ``index`` or ``key``.
    label_column : str, optional
        Column with the class labels. By default one called ``label``, ``class`` or ``target``.
    labels : str or path-like, optional
        A file of labels, used instead of a label column: lines ``id,label``, or one label per line.
    columns : sequence of str, optional
        The columns that describe the objects, in this order; by default all others, in the order of the file.
    types : {"number", "text", "category", "mixed", "binary"} or mapping of column to one of the first three, optional
        How cells are read: numbers; text as written, so that ``001``, ``1`` and ``1.0`` differ; or the same with None
        for empty cells. "mixed" reads each column as numbers if all its cells are numbers or missing, else as
        categories; "binary" reads numbers if every cell is 0 or 1, else categories. By default all columns are numbers
        if all cells are, else text. Columns that a mapping names are neither ids nor labels; the others are read as
        with "mixed". The types of a trained model are ``trained.card.types``.
    delimiter : str, optional
        Character between the cells. By default a comma, or a tab or semicolon if the first line has no comma.
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
    if columns is not None:
        features = [_named(header, name, where) for name in columns]
    else:
        features = [j for j in range(len(header)) if j not in (id_place, label_place)]
    if not features:
        raise ProximityError(f"{where} has no column that describes the objects, beside ids and labels.")
    ids = None
    if id_place is not None:
        name = header[id_place]
        counts = name.lower() == "index" and columns is not None and labels is None  # perhaps within groups
        try:
            ids = _ids([row[id_place] for row in cells], where)
        except ProximityError as error:
            if id_column is not None:
                raise
            if not counts:
                other = ", or name the columns that describe the objects" if name.lower() == "index" else ""
                raise ProximityError(
                    f"{error} The column {quote_short(name)} is taken for the ids because of its name; name another "
                    f"one with id_column{other}."
                ) from None
    found: NDArray[Any] | None = None
    if labels is not None:
        found = read_labels(Path(labels), ids, len(cells), max_bytes=max_bytes)
    elif label_place is not None:
        stated = [row[label_place] for row in cells]
        if any(stated) and "" in stated:
            place = stated.index("") + 1
            raise ProximityError(f"{where}: object {place} has no label. Give one, or leave the object out.")
        found = decode_labels(stated) if any(stated) else None  # objects to be predicted
    names = tuple(header[j] for j in features)
    text = np.array([[row[j] for j in features] for row in cells])
    chosen = _choose_types(types, names, text)
    return Objects(_values(text, names, chosen, ids, where), names, ids, found, chosen)


def _json_objects(path: Path, id_column: str | None, label_column: str | None, labels: Any, max_bytes: int) -> Objects:
    """Read a list of entries: an object itself, or a dict with id, label and the object under ``"object"``.

    Without that key the dict is the object, such as ``"edges"`` and ``"node_labels"`` of a graph.
    """
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
    found = None if stated is None else decode_labels(stated)
    if labels is not None:
        found = read_labels(Path(labels), ids, len(values), max_bytes=max_bytes)
    return Objects(values, ("object",), ids, found)


def _texts_under(entries: list[Any], asked: str | None, usual: set[str], where: str) -> list[str] | None:
    """Texts under one key of every entry; None if no entry has one of the usual keys."""
    keys = {asked} if asked is not None else usual
    dicts = [entry if isinstance(entry, dict) else {} for entry in entries]
    found = [next((entry[k] for k in entry if k in keys), None) for entry in dicts]
    missing = [i for i, value in enumerate(found) if value is None]
    if len(missing) == len(found) and asked is None:
        return None
    if missing:
        name = asked if asked is not None else "/".join(sorted(keys))[:40]
        raise ProximityError(f"{where}: every object needs a {name!r}, or none. Object {missing[0]} has none.")
    return list(map(str, found))


def _cells(path: Path, where: str, delimiter: str | None, max_bytes: int) -> tuple[list[str], list[list[str]]]:
    """Read the names of the columns, and the cells of every line below."""
    rows = list(read_rows(path, max_bytes, delimiter))
    if len(rows) < 2:
        raise ProximityError(f"{where} must name its columns in the first line and hold one object per line below.")
    header = [name.strip() for name in rows[0][1]]
    for line, cells in rows[1:]:
        if len(cells) != len(header):
            raise ProximityError(
                f"{where}, line {line}: every line must have {len(header)} cells, as many as the first line names. "
                f"Got {len(cells)}."
            )
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise ProximityError(
            f"{where}: columns must have different names in line 1. {quote_short(twice)} appears twice."
        )
    return header, [[cell.strip() for cell in cells] for _, cells in rows[1:]]


def _named(header: list[str], name: str, where: str) -> int:
    if name not in header:
        raise ProximityError(
            f"{where} has no column {quote_short(name)}. It has {quote_short(', '.join(header), 120)}."
        )
    return header.index(name)


def _place(header: list[str], asked: str | None, usual: set[str], where: str, features: Collection[str]) -> int | None:
    """Position of the named column, or of the one with a usual name; None if there is none."""
    if asked is not None:
        return _named(header, asked, where)
    found = [j for j, name in enumerate(header) if name.lower() in usual and name not in features]
    if len(found) > 1:
        names = " and ".join(quote_short(header[j]) for j in found[:2])
        raise ProximityError(
            f"{where}: the columns {names} could both hold ids or both labels. Name one with id_column or label_column."
        )
    return found[0] if found else None


def _ids(names: list[str], where: str) -> tuple[str, ...]:
    try:
        return as_ids(names, len(names), "row")
    except ProximityError as error:
        raise ProximityError(f"{where}: {error}") from None


def _choose_types(types: ColumnTypes | None, names: tuple[str, ...], text: NDArray[Any]) -> dict[str, str]:
    """Return the type of each column."""
    if types in _TYPES:
        return dict.fromkeys(names, str(types))
    if types == "binary":
        return dict.fromkeys(names, "number" if np.isin(text, ["0", "1"]).all() else "category")
    if types is None:
        return dict.fromkeys(names, "number" if _all_numbers(text) else "text")
    if types != "mixed" and not (isinstance(types, Mapping) and set(types.values()) <= set(_TYPES)):
        raise ProximityError(
            "types must be 'number', 'text', 'category', 'mixed', 'binary', or a mapping of columns to one of the "
            f"first three. Got {str(types)[:60]!r}."
        )
    given = dict(types) if isinstance(types, Mapping) else {}
    if len(given) == len(names) == 1:  # one column, perhaps of another name
        given = dict.fromkeys(names, *given.values())
    inferred = ["number" if _all_numbers(column) else "category" for column in text.T]
    return {name: given.get(name, kind) for name, kind in zip(names, inferred)}


def _all_numbers(text: NDArray[Any]) -> bool:
    """Tell whether all cells are numbers or missing, and not all missing."""
    cells = set(text.ravel().tolist())
    return all(cell.lower() in MISSING or _is_number(cell) for cell in cells) and any(map(_is_number, cells))


def _values(
    text: NDArray[Any], names: tuple[str, ...], types: Mapping[str, str], ids: tuple[str, ...] | None, where: str
) -> NDArray[Any]:
    """Convert the cells of each column to its type. One column of text is a vector."""
    kinds = [types[name] for name in names]
    if set(kinds) == {"number"}:
        return np.stack([_numbers(text[:, j], names[j], ids, where) for j in range(len(names))], axis=1)
    if "number" not in kinds and not ("category" in kinds and (text == "").any()):
        return text[:, 0] if len(names) == 1 else text
    values = text.astype(object)
    for j, kind in enumerate(kinds):
        if kind == "number":
            values[:, j] = _numbers(text[:, j], names[j], ids, where)
        elif kind == "category":
            values[text[:, j] == "", j] = None
    return values[:, 0] if kinds == ["text"] else values


def _numbers(text: NDArray[Any], name: str, ids: tuple[str, ...] | None, where: str) -> NDArray[np.float64]:
    numbers = np.full(len(text), np.nan)
    for i, cell in enumerate(text.tolist()):
        if cell.lower() in MISSING:
            continue
        if not _is_number(cell):
            of = "" if ids is None else f" ({quote_short(ids[i])})"
            raise ProximityError(
                f"{where}, object {i + 1}{of}: column {quote_short(name)} must hold numbers. Got {quote_short(cell)}; "
                "leave the cell empty if it is missing."
            )
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
    return {
        name: "number" if all(isinstance(value, Real) for value in column) else "text"
        for name, column in zip(columns, known)
    }


def _is_number(cell: str) -> bool:
    try:
        return bool(np.isfinite(float(cell))) and "_" not in cell and cell.isascii()
    except ValueError:
        return False
