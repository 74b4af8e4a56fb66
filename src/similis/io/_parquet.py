"""Parquet tables: one column per object, the row ids in a text column in front (extra: pyarrow)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from similis._utils.environment import require_package
from similis._utils.files import parse_errors, short_path
from similis.exceptions import ProximityError
from similis.io._numpy import card, parts_of_card
from similis.io._options import ReadOptions
from similis.io._proximity import LABEL_HEADERS, Proximity, proximity_in_file, quote_short

__all__ = ["first_rows", "iter_batches", "read_parquet", "write_parquet"]

_CARD = b"similis"
_FEATHER = b"ARROW1"


def read_parquet(path: Path, options: ReadOptions) -> Proximity:
    """Read our own parquet files, and others' whose columns are numbers but for one of ids."""
    pa, pq = _pyarrow()
    where = short_path(path)
    with parse_errors(where, "parquet file"), open(path, "rb") as file:
        if file.read(6) == _FEATHER:
            file.seek(0)
            table = pa.ipc.open_file(file).read_all()
            schema = table.schema
        else:
            parquet = pq.ParquetFile(file)
            _check_size(parquet.metadata, os.path.getsize(path), where, options.max_bytes)
            schema = parquet.schema_arrow
            table = parquet.read()
        found = json.loads((schema.metadata or {}).get(_CARD, b"null"))
    names = list(table.column_names)
    is_id = [_holds_ids(pa, field) for field in schema]
    labels = [i for i, name in enumerate(names) if is_id[i] and name.strip().lower() in LABEL_HEADERS]
    if sum(is_id) == 2 and len(labels) == 1:
        is_id[labels[0]] = False
    else:
        labels = []
    if sum(is_id) > 1:
        first, last = (quote_short(names[i]) for i in (is_id.index(True), len(names) - 1 - is_id[::-1].index(True)))
        raise ProximityError(
            f"{where} must hold numbers beside one column of ids. Got text in the columns {first} and {last}."
        )
    numeric = [i for i in range(len(names)) if not is_id[i] and i not in labels]
    if not numeric or not table.num_rows:
        raise ProximityError(f"{where} holds no matrix: {table.num_rows} rows, {len(numeric)} columns of numbers.")
    values = np.empty((table.num_rows, len(numeric)), order="F")
    for j, i in enumerate(numeric):
        values[:, j] = _column(pa, table.column(i), names[i], where)
    values = np.ascontiguousarray(values)
    if all(pa.types.is_float32(schema.field(i).type) for i in numeric):
        values = values.astype(np.float32)
    about = {} if found is None else parts_of_card(found, values.shape, where)
    if labels:
        about["labels"] = table.column(labels[0]).to_pylist()
    columns: list[str] | None = [names[i] for i in numeric]
    ids: list[str] | None
    if any(is_id):
        ids = _ids(table.column(is_id.index(True)), where)
    else:  # rows come in the order of the columns, if there is one per column
        columns = None if columns == [str(j) for j in range(len(numeric))] else columns
        ids = columns if options.square and len(values) == len(numeric) else None
    return proximity_in_file(where, values, **{**about, "ids": ids, "column_ids": columns})


def first_rows(path: Path) -> list[list[str]]:
    """Names of the columns and up to 60 rows of a parquet or Feather file, as text."""
    pa, pq = _pyarrow()
    with parse_errors(short_path(path), "parquet file"), open(path, "rb") as file:
        is_feather = file.read(6) == _FEATHER
        file.seek(0)
        if is_feather:
            feather = pa.ipc.open_file(file)
            schema, batches = feather.schema, map(feather.get_batch, range(feather.num_record_batches))
        else:
            parquet = pq.ParquetFile(file)
            schema, batches = parquet.schema_arrow, parquet.iter_batches(batch_size=60)
        first = next(iter(batches), None)
        columns = [] if first is None else [column.to_pylist() for column in first.slice(0, 60).columns]
    return [list(schema.names), *(["" if cell is None else str(cell) for cell in row] for row in zip(*columns))]


def iter_batches(path: Path, max_bytes: int) -> Iterator[Any]:
    """Yield the record batches of a parquet or Feather file."""
    pa, pq = _pyarrow()
    with open(path, "rb") as file:
        if file.read(4) == b"PAR1":
            file.seek(0)
            parquet = pq.ParquetFile(file)
            _check_size(parquet.metadata, os.path.getsize(path), short_path(path), max_bytes)
            yield from parquet.iter_batches()
        else:
            file.seek(0)
            yield from pa.ipc.open_file(file).read_all().to_batches()


def write_parquet(file: IO[bytes], P: Proximity) -> None:
    """Write one column per object, with kind and labels in the file's own metadata."""
    pa, pq = _pyarrow()
    if P.values.ndim != 2:
        raise ProximityError(f"A parquet file holds one matrix. Got a stack of shape {P.shape}; write npz or npy.")
    columns = P.columns
    names = [str(j) for j in range(P.shape[1])] if columns is None else list(columns)
    arrays = [pa.array(np.ascontiguousarray(P.values[:, j])) for j in range(P.shape[1])]
    if P.ids is not None:
        names.insert(0, "id" if "id" not in names else "row id")
        arrays.insert(0, pa.array(P.ids, pa.string()))
    about = card(P) | {"ids": None, "column_ids": None}  # those are in the table
    schema = pa.schema(
        [pa.field(name, array.type) for name, array in zip(names, arrays)], metadata={_CARD: json.dumps(about).encode()}
    )
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), file, use_dictionary=False)


def _pyarrow() -> tuple[Any, Any]:
    pyarrow = require_package("pyarrow", extra="parquet", who="A parquet file")
    return pyarrow, require_package("pyarrow.parquet", extra="parquet", who="A parquet file")


def _check_size(metadata: Any, on_disk: int, where: str, max_bytes: int) -> None:
    """Reject a table that unpacks to more than `max_bytes` and to more than twice its size on disk."""
    declared = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    needed = max(declared, 8 * metadata.num_rows * metadata.num_columns)
    if needed > max(max_bytes, 2 * on_disk):
        raise ProximityError(
            f"{where} unpacks to {needed} bytes, more than max_bytes={max_bytes}; raise it if you trust it."
        )


def _holds_ids(pa: Any, field: Any) -> bool:
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_dictionary)
    return field.name == "__index_level_0__" or any(is_kind(field.type) for is_kind in kinds)


def _ids(column: Any, where: str) -> list[str]:
    ids = column.to_pylist()
    if None in ids:
        raise ProximityError(f"{where}: row {ids.index(None)} has no id; give every row one, or leave the column out.")
    return list(map(str, ids))


def _column(pa: Any, column: Any, name: str, where: str) -> Any:
    kind = column.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
        raise ProximityError(
            f"{where}, column {quote_short(name)}: it must hold numbers. Got {quote_short(str(kind))}."
        )
    return column.cast(pa.float64(), safe=False).to_numpy()
