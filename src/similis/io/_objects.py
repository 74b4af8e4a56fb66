"""Read objects to be measured: a table of features, a column of text, or a JSON list."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.files import short_path
from similis.exceptions import ProximityError
from similis.io._labels import ID_HEADERS, LABEL_HEADERS, decode_labels, read_labels
from similis.io._proximity import as_ids, quote_short
from similis.io._text import MISSING, read_rows

__all__ = ["read_json_objects", "Objects", "read_objects"]


def read_json_objects(
    path: Path, id_column: str | None, label_column: str | None, max_bytes: int
) -> tuple[NDArray[Any], list[str] | None, NDArray[Any] | None]:
    """Read objects, and their ids and labels if every entry has one.

    An entry is the object itself, or a JSON object with id, label and the object under ``"object"``; without that key
    the entry is the object, such as ``"edges"`` and ``"node_labels"`` of a graph.
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
    ids = _texts_under(entries, id_column, ID_HEADERS - {"object"}, where)
    labels = _texts_under(entries, label_column, LABEL_HEADERS, where)
    objects = np.empty(len(entries), dtype=object)
    for i, entry in enumerate(entries):  # one by one: NumPy would make a table of lists of equal length
        objects[i] = entry["object"] if isinstance(entry, dict) and "object" in entry else entry
    return objects, ids, None if labels is None else decode_labels(labels)


def _texts_under(entries: list[Any], asked: str | None, usual: set[str], where: str) -> list[str] | None:
    """Texts under one key of every entry; None if no entry has one of the usual keys."""
    keys = {asked} if asked is not None else usual
    found = [
        next((entry[k] for k in entry if k in keys), None) if isinstance(entry, dict) else None for entry in entries
    ]
    missing = [i for i, value in enumerate(found) if value is None]
    if len(missing) == len(found) and asked is None:
        return None
    if missing:
        name = asked if asked is not None else "/".join(sorted(keys))[:40]
        raise ProximityError(f"{where}: every object needs a {name!r}, or none. Object {missing[0]} has none.")
    return [str(value) for value in found]


@dataclass(frozen=True, eq=False, repr=False)
class Objects:
    """Objects to be measured, with their ids and labels.

    Attributes
    ----------
    values : ndarray of shape (n, d), or (n,) for one column of text or the objects of a JSON file
        Numbers (float64, NaN for empty cells) if every column holds numbers, otherwise text.
    columns : tuple of str
        Names of the features.
    ids : tuple of str or None
        One name per object.
    labels : ndarray of shape (n,) or None
        One class label per object.
    """

    values: NDArray[Any]
    columns: tuple[str, ...]
    ids: tuple[str, ...] | None = None
    labels: NDArray[Any] | None = None

    @property
    def n(self) -> int:
        """Number of objects."""
        return len(self.values)

    def __repr__(self) -> str:
        what = "numbers" if self.values.dtype.kind == "f" else "text"
        return f"Objects({self.n} objects, {len(self.columns)} columns of {what})"


def read_objects(
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    label_column: str | None = None,
    labels: str | os.PathLike[str] | None = None,
    columns: Sequence[str] | None = None,
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
    delimiter : str, optional
        Character between the cells. By default a comma, or a tab or semicolon if the first line has no comma.
    max_bytes : int, default=2**31
        Largest size that a compressed file may unpack to.

    Returns
    -------
    Objects

    Raises
    ------
    ProximityError
        If the file is malformed; the message names file and line or column.
    FileNotFoundError
        If there is no such file.

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
    id_place = _place(header, id_column, ID_HEADERS, where)
    label_place = _place(header, label_column, LABEL_HEADERS - {"y"}, where)  # y is also a coordinate
    features = _features(header, columns, (id_place, label_place), where)
    ids = None if id_place is None else _ids([row[id_place] for row in cells], where)
    found: NDArray[Any] | None = None
    if labels is not None:
        found = read_labels(Path(labels), ids, len(cells), max_bytes=max_bytes)
    elif label_place is not None:
        found = _labels(cells, label_place, where)
    return Objects(_values(cells, features), tuple(header[j] for j in features), ids, found)


def _json_objects(path: Path, id_column: str | None, label_column: str | None, labels: Any, max_bytes: int) -> Objects:
    values, names, found = read_json_objects(path, id_column, label_column, max_bytes)
    ids = None if names is None else _ids(names, short_path(path))
    if labels is not None:
        found = read_labels(Path(labels), ids, len(values), max_bytes=max_bytes)
    return Objects(values, ("object",), ids, found)


def _cells(path: Path, where: str, delimiter: str | None, max_bytes: int) -> tuple[list[str], list[list[str]]]:
    """Read the names of the columns, and the cells of every line below."""
    rows = list(read_rows(path, delimiter=delimiter, max_bytes=max_bytes))
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
    if all(map(_is_number, header)):
        raise ProximityError(f"{where}: the first line must name the columns. Got only numbers; put names above them.")
    return header, [[cell.strip() for cell in cells] for _, cells in rows[1:]]


def _place(header: list[str], asked: str | None, usual: set[str], where: str) -> int | None:
    """Position of the named column, or of the one with a usual name; None if there is none."""
    if asked is not None:
        if asked not in header:
            raise ProximityError(
                f"{where} has no column {quote_short(asked)}. It has {quote_short(', '.join(header), 120)}."
            )
        return header.index(asked)
    found = [j for j, name in enumerate(header) if name.lower() in usual]
    if len(found) > 1:
        names = " and ".join(quote_short(header[j]) for j in found[:2])
        raise ProximityError(
            f"{where}: the columns {names} could both hold ids or both labels. Name one with id_column or label_column."
        )
    return found[0] if found else None


def _features(header: list[str], columns: Sequence[str] | None, taken: tuple[int | None, ...], where: str) -> list[int]:
    if columns is not None:
        places = [_place(header, name, set(), where) for name in columns]
        features = [place for place in places if place is not None]
    else:
        features = [j for j in range(len(header)) if j not in taken]
    if not features:
        raise ProximityError(f"{where} has no column that describes the objects, beside ids and labels.")
    return features


def _ids(names: list[str], where: str) -> tuple[str, ...]:
    try:
        return as_ids(names, len(names), "row")
    except ProximityError as error:
        raise ProximityError(f"{where}: {error}") from None


def _labels(cells: list[list[str]], place: int, where: str) -> NDArray[Any]:
    labels = [row[place] for row in cells]
    if "" in labels:
        raise ProximityError(f"{where}: object {labels.index('') + 1} has no label. Give one, or leave the object out.")
    return decode_labels(labels)


def _values(cells: list[list[str]], features: list[int]) -> NDArray[Any]:
    """Numbers if all cells are numbers or empty, and not all empty; else text. One column of text is a vector."""
    text = [[row[j] for j in features] for row in cells]
    flat = [cell for row in text for cell in row]
    if all(cell.lower() in MISSING or _is_number(cell) for cell in flat) and any(map(_is_number, flat)):
        return np.array([[np.nan if cell.lower() in MISSING else float(cell) for cell in row] for row in text])
    return np.array([row[0] for row in text]) if len(features) == 1 else np.array(text)


def _is_number(cell: str) -> bool:
    try:
        return bool(np.isfinite(float(cell))) and "_" not in cell and cell.isascii()
    except ValueError:
        return False
