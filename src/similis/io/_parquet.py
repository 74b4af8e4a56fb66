"""Parquet tables: one column per object, the row ids in a text column in front (extra: pyarrow)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from similis._utils.environment import require_package
from similis._utils.files import parse_errors, short_path
from similis.exceptions import ProximityError
from similis.io._checks import LABEL_HEADERS, ReadOptions, quote_short
from similis.io._numpy import card, check_size, parts_of_card
from similis.io._proximity import Proximity, proximity_in_file

_CARD = b"similis"


def read_parquet(path: Path, options: ReadOptions) -> Proximity:
    """Read our own parquet files, and others' whose columns are numbers but for one of ids."""
    where = short_path(path)
    with parse_errors(where, "parquet file"), _open_table(path, options.max_bytes) as (schema, _, read):
        table = read()
        found = json.loads((schema.metadata or {}).get(_CARD, b"null"))
    names = list(table.column_names)
    types = require_package("pyarrow", extra="parquet", who="A parquet file").types
    texts = (types.is_string, types.is_large_string, types.is_string_view, types.is_dictionary)
    other = [field.name == "__index_level_0__" or any(is_text(field.type) for is_text in texts) for field in schema]
    numeric, text = ([i for i in range(len(names)) if other[i] == side] for side in (False, True))
    labels = [i for i in text if names[i].strip().lower() in LABEL_HEADERS]
    labels = labels if len(text) == 2 and len(labels) == 1 else []
    text = [i for i in text if i not in labels]
    if len(text) > 1:
        first, last = quote_short(names[text[0]]), quote_short(names[text[-1]])
        rule = "must hold numbers beside one column of ids"
        raise ProximityError(f"{where} {rule}. Got text in the columns {first} and {last}.")
    if not numeric or not table.num_rows:
        raise ProximityError(f"{where} holds no matrix: {table.num_rows} rows, {len(numeric)} columns of numbers.")
    values = np.empty((table.num_rows, len(numeric)), order="F")
    for j, i in enumerate(numeric):
        kind = schema.field(i).type
        if not (types.is_floating(kind) or types.is_integer(kind) or types.is_boolean(kind)):
            got = f"Got {quote_short(str(kind))}."
            raise ProximityError(f"{where}, column {quote_short(names[i])}: it must hold numbers. {got}")
        values[:, j] = table.column(i).cast("float64", safe=False).to_numpy()
    is_single = all(types.is_float32(schema.field(i).type) for i in numeric)
    values = np.ascontiguousarray(values, dtype=np.float32 if is_single else np.float64)
    about = {} if found is None else parts_of_card(found, values.shape, where)
    if labels:
        about["labels"] = table.column(labels[0]).to_pylist()
    columns: list[str] | None = [names[i] for i in numeric]
    if not text:  # rows come in the order of the columns, if there is one per column
        columns = None if columns == [str(j) for j in range(len(numeric))] else columns
        ids = columns if options.square and len(values) == len(numeric) else None
        return proximity_in_file(where, values, **{**about, "ids": ids, "column_ids": columns})
    cells = table.column(text[0]).to_pylist()
    if None in cells:
        remedy = "give every row one, or leave the column out."
        raise ProximityError(f"{where}: row {cells.index(None)} has no id; {remedy}")
    return proximity_in_file(where, values, **{**about, "ids": map(str, cells), "column_ids": columns})


def first_rows(path: Path) -> list[list[str]]:
    """Names of the columns and up to 60 rows of a parquet or Feather file, as text."""
    with parse_errors(short_path(path), "parquet file"), _open_table(path, None) as (schema, batches, _):
        first = next(iter(batches(60)), None)
        columns = [] if first is None else [column.to_pylist() for column in first.slice(0, 60).columns]
    return [list(schema.names), *(["" if cell is None else str(cell) for cell in row] for row in zip(*columns))]


def iter_batches(path: Path, max_bytes: int) -> Iterator[Any]:
    with _open_table(path, max_bytes) as (_, batches, _):
        yield from batches(2**16)


def write_parquet(file: IO[bytes], P: Proximity) -> None:
    """Write one column per object, with kind and labels in the file's own metadata."""
    pa, pq = (require_package(name, extra="parquet", who="A parquet file") for name in ("pyarrow", "pyarrow.parquet"))
    if P.values.ndim != 2:
        raise ProximityError(f"A parquet file holds one matrix. Got a stack of shape {P.shape}; write npz or npy.")
    columns = P.columns
    names = [str(j) for j in range(P.shape[1])] if columns is None else list(columns)
    arrays = [pa.array(np.ascontiguousarray(P.values[:, j])) for j in range(P.shape[1])]
    if P.ids is not None:
        names.insert(0, "id" if "id" not in names else "row id")
        arrays.insert(0, pa.array(P.ids, pa.string()))
    about = card(P) | {"ids": None, "column_ids": None}  # those are in the table
    table = pa.Table.from_arrays(arrays, names, metadata={_CARD: json.dumps(about).encode()})
    pq.write_table(table, file, use_dictionary=False)


@contextmanager
def _open_table(path: Path, max_bytes: int | None) -> Iterator[tuple[Any, Any, Any]]:
    """Open a parquet or Feather file: its schema, and functions that give its batches and the whole table."""
    pa, pq = (require_package(name, extra="parquet", who="A parquet file") for name in ("pyarrow", "pyarrow.parquet"))
    with open(path, "rb") as file:
        is_feather = file.read(6) == b"ARROW1"
        file.seek(0)
        if is_feather:
            feather = pa.ipc.open_file(file)
            yield feather.schema, lambda n: map(feather.get_batch, range(feather.num_record_batches)), feather.read_all
            return
        parquet = pq.ParquetFile(file)
        about = parquet.metadata
        declared = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
        needed = max(declared, 8 * about.num_rows * about.num_columns)
        if max_bytes is not None and needed > 2 * os.path.getsize(path):
            check_size(short_path(path), needed, max_bytes)
        yield parquet.schema_arrow, lambda n: parquet.iter_batches(batch_size=n), parquet.read
