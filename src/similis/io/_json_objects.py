"""Objects that no table holds, such as graphs and point sets, in a JSON file: a list with one entry per object."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.files import short_path
from similis.exceptions import ProximityError
from similis.io._labels import ID_HEADERS, LABEL_HEADERS, decode_labels

__all__ = ["read_json_objects"]


def read_json_objects(
    path: Path, id_column: str | None, label_column: str | None, max_bytes: int
) -> tuple[NDArray[Any], list[str] | None, NDArray[Any] | None]:
    """Objects, and their ids and labels where every entry has one.

    An entry is the object itself, or a JSON object with id, label and the object under ``"object"``; without that key
    the object is what is left, such as ``"edges"`` and ``"node_labels"`` of a graph.
    """
    where = short_path(path)
    if path.stat().st_size > max_bytes:
        raise ProximityError(f"{where} is larger than {max_bytes} bytes; say max_bytes if it is meant to be.")
    try:
        entries = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ProximityError(f"{where} is not a JSON file: {str(error)[:80]}.") from None
    if not isinstance(entries, list) or not entries:
        raise ProximityError(f"{where} must hold a list of objects, at least one.")
    ids = _taken(entries, id_column, ID_HEADERS - {"object"}, where)
    labels = _taken(entries, label_column, LABEL_HEADERS, where)
    objects = np.empty(len(entries), dtype=object)
    for i, entry in enumerate(entries):  # one by one: a list of equal lists would be taken for a table
        objects[i] = entry["object"] if isinstance(entry, dict) and "object" in entry else entry
    return objects, ids, None if labels is None else decode_labels(labels)


def _taken(entries: list[Any], asked: str | None, usual: set[str], where: str) -> list[str] | None:
    """The texts under one key of every entry; None where no entry has one of the usual keys."""
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
