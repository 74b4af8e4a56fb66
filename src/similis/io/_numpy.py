"""NumPy files: npz, and npy with a JSON sidecar, without pickled objects; parquet tables with one column per object."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from numbers import Integral
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from similis._utils.arrays import Array
from similis._utils.environment import require_package
from similis._utils.files import atomic_write, is_stream, parse_errors, short_path
from similis._utils.threads import row_blocks
from similis.base import Kind
from similis.exceptions import ProximityError
from similis.io._checks import LABEL_HEADERS, ReadOptions, as_ids, as_labels, check_finite, kind_of_array, quote_short
from similis.io._pairs import sparse_values
from similis.io._proximity import Proximity, is_condensed, proximity_in_file, square_of_condensed

_HEADERS = {b"\1\0": npy.read_array_header_1_0, b"\2\0": npy.read_array_header_2_0}
_LONGEST = 10_000  # bytes of a header; NumPy has the same limit
_SPARSE = ("indices", "indptr", "row", "col", "format", "shape")
_KEY = b"similis"  # of the card in a parquet file
_CARD = {"format": "similis proximity", "version": 1}


def read_npz(path: Path, options: ReadOptions) -> Proximity:
    """Read npz files, also those of other programs if only one of their arrays can be the matrix."""
    where, max_bytes = short_path(path), options.max_bytes
    with parse_errors(where, "npz archive"), zipfile.ZipFile(path) as archive:
        on_disk = os.path.getsize(path)
        if any(info.compress_size > on_disk for info in archive.infolist()):
            raise ProximityError(f"{where} declares more bytes than it has; the file is truncated or damaged.")
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        headers = {}
        for name, info in members.items():
            with archive.open(info) as file:
                headers[name] = read_header(file, f"{where}, array {quote_short(name)}", pickles=True)
        is_sparse = {"data", "format", "shape"} <= set(members)
        key = "data" if is_sparse else choose_array(headers, options.key, where, options.square)
        labels = "labels" if "labels" in members else "y"
        parts: dict[str, Array] = {}
        wanted = (key, "kind", labels, "ids", "column_ids", *(_SPARSE if is_sparse else ()))
        for name in filter(members.__contains__, wanted):
            parts[name] = _read_member(archive, members[name], f"{where}, array {quote_short(name)}", max_bytes)
            if parts[name].dtype.kind == "S":
                parts[name] = np.strings.decode(parts[name], "utf-8")
            if parts[name].dtype.kind == "U":
                parts[name].tolist()  # raises for characters that Python cannot represent
        ids, column_ids = (parts[name].tolist() if name in parts else None for name in ("ids", "column_ids"))
    parts[key], kind, about = named_array(where, key, parts[key], options.square and not is_sparse)
    if "kind" in parts:
        kind, about = str(parts["kind"][()] if parts["kind"].ndim == 0 else parts["kind"]) or None, {}
    if is_sparse:
        parts[key], about = _sparse_part(parts, options.kind or kind, options, where)
    return proximity_in_file(where, parts[key], ids, kind, parts.get(labels), column_ids, about)


def named_array(where: str, name: str, values: Any, square: bool) -> tuple[Any, Any, dict[str, Any]]:
    """Values, the kind that the name stands for, and why; a condensed vector becomes a matrix if `square`."""
    kind = kind_of_array(name)
    about = {"reason": f"by the name of the array, {quote_short(name)}"} if kind else {}
    if square and is_condensed(values.shape):
        return square_of_condensed(values.ravel(), where), kind or "dissimilarity", about
    return values, kind, about


def _sparse_part(parts: dict[str, Any], kind: Kind | None, options: ReadOptions, where: str) -> tuple[Any, Any]:
    """Values of a matrix in the layout of ``scipy.sparse.save_npz``."""
    with parse_errors(where, "sparse matrix"):
        form = str(parts["format"].item())
        data, shape = parts["data"], tuple(parts["shape"].tolist())
        if form not in ("coo", "csr", "csc"):
            raise ProximityError(f"{where} holds a sparse matrix of the format {quote_short(form)}; convert it to csr.")
        if form == "coo":
            matrix = sparse.coo_array((data, (parts["row"], parts["col"])), shape=shape).tocsr()
        else:
            make = sparse.csr_array if form == "csr" else sparse.csc_array
            matrix = make((data, parts["indices"], parts["indptr"]), shape=shape)
        matrix.check_format(full_check=True)
    return sparse_values(matrix, kind, options.pairs.absent, where, options.max_bytes)


def write_npz(file: IO[bytes], P: Proximity) -> None:
    """Write every part as an array of its own, readable by ``numpy.load`` without pickles."""
    parts: dict[str, Any] = {"kind": np.array(P.kind or "")}
    if sparse.issparse(P.values):  # the layout of scipy.sparse.save_npz
        parts |= {"format": np.array(b"csr"), "shape": np.array(P.shape)}
        parts |= {name: getattr(P.values, name) for name in ("data", "indices", "indptr")}
    else:
        parts["values"] = P.values
    others = {"ids": P.ids, "column_ids": P.column_ids, "labels": P.labels}
    parts |= {name: np.array(part) for name, part in others.items() if part is not None}
    np.savez(file, **parts, allow_pickle=False)


def read_npy(path: Path, options: ReadOptions) -> Proximity:
    """Read an npy file, with ids, kind and labels from the JSON file beside it, if there is one."""
    where = short_path(path)
    with parse_errors(where, "npy file"), open(path, "rb") as file:
        shape, fortran, dtype = read_header(file, where, os.path.getsize(path))
        order: Any = "F" if fortran else "C"
        if options.mmap:
            values: Array = np.memmap(path, dtype, mode="r", offset=file.tell(), shape=shape, order=order)
        else:
            values = _data(file)
    beside, names = sidecar(path), path.with_name(path.name + ".labels.txt")
    about: dict[str, Any] = {}
    if beside.exists():
        about = parts_of_card(_card_beside(path), values.shape, short_path(beside))
    elif values.ndim == 1:
        values, about = square_of_condensed(values, where), {"kind": "dissimilarity"}
    if names.exists() and not beside.exists():  # written by `sourmash compare`
        with parse_errors(short_path(names), "text file"):
            about["ids"] = names.read_text(encoding="utf-8-sig").splitlines()
    return proximity_in_file(where, values, **about)


def write_npy(path: Path, P: Proximity) -> None:
    """Write the matrix, and everything else to the sidecar."""
    # Two files cannot be renamed at once: if there is an older pair, the sidecar describes both matrices until the new
    # one is renamed, with a digest by which a reader recognizes it.
    old = None
    if path.exists() and sidecar(path).exists():
        with suppress(ProximityError):  # damaged: there is no card to keep
            old = _card_beside(path)
    with atomic_write(path) as file:
        npy.write_array_header_1_0(file, {"descr": P.values.dtype.str, "fortran_order": False, "shape": P.shape})
        for rows in row_blocks(P.shape[0], math.prod(P.shape[1:])):
            block = P.values[rows]
            check_finite(block, f"values from row {rows.start} on")
            file.write(np.ascontiguousarray(block).data)
        if is_stream(path):  # nothing can lie beside it
            return
        file.seek(0)
        write_card(path, card(P) if old is None else {**card(P), "digest": _digest(file), "before": old})
    if old is not None:
        write_card(path, card(P))


def write_card(path: Path, found: dict[str, Any]) -> None:
    with atomic_write(sidecar(path)) as file:
        file.write(json.dumps(found, ensure_ascii=False, indent=1).encode())


def sidecar(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def card(P: Proximity) -> dict[str, Any]:
    return matrix_card(P.shape, kind=P.kind, ids=P.ids, column_ids=P.column_ids, labels=P.labels)


def matrix_card(
    shape: tuple[int, ...], *, kind: str | None = None, ids: Any = None, column_ids: Any = None, labels: Any = None
) -> dict[str, Any]:
    """Make the card that npy and zarr files store beside the values: everything else about a matrix, as JSON.

    Parameters
    ----------
    shape, kind, ids, column_ids, labels : optional
        Shape of the matrix, and its parts as in :class:`Proximity`. Those that do not fit the shape are an error.
    """
    is_shape = isinstance(shape, tuple | list) and all(isinstance(extent, Integral) for extent in shape)
    if not is_shape or len(shape) < 2:
        raise ProximityError(f"shape must hold two whole numbers or more. Got {str(shape)[:60]!r}.")
    return {
        **_CARD,
        "shape": list(shape),
        "kind": kind,
        "ids": None if ids is None else as_ids(ids, shape[0], "row"),
        "column_ids": None if column_ids is None else as_ids(column_ids, shape[1], "column"),
        "labels": None if labels is None else as_labels(labels, shape[0]).tolist(),
    }


def parts_of_card(found: Any, shape: tuple[int, ...], where: str) -> dict[str, Any]:
    if not isinstance(found, dict) or any(found.get(name) != value for name, value in _CARD.items()):
        raise ProximityError(f"{where} must be a sidecar written by similis (version 1); remove it or write it again.")
    if found.get("shape") != list(shape):
        other = f"but the one beside it has shape {tuple(shape)}; write both again."
        raise ProximityError(f"{where} belongs to a matrix of shape {quote_short(found.get('shape'))}, {other}")
    for name in ("ids", "column_ids", "labels"):
        if not isinstance(found.get(name), list | None):
            raise ProximityError(f"{where}: {name!r} must be a list. Got {quote_short(found[name])}.")
    return {name: found.get(name) for name in ("kind", "ids", "column_ids", "labels")}


def choose_array(headers: dict[str, Any], key: str | None, where: str, square: bool) -> str:
    names = ", ".join(map(quote_short, headers))[:120] or "nothing"
    if key is not None:
        if key not in headers:
            raise ProximityError(f"{where} has no array {quote_short(key)}. It holds {names}.")
        return key
    if "values" in headers:
        return "values"

    kinds = {name: dtype.kind for name, (_, _, dtype) in headers.items()}
    shapes = {name: shape for name, (shape, _, _) in headers.items()}
    found = [name for name, shape in shapes.items() if len(shape) in (2, 3) and (shape[0] == shape[1] or not square)]
    found = [k for k in found if kinds[k] == "f"] or [k for k in found if kinds[k] in "iub"]
    if square and not found:
        found = [name for name, shape in shapes.items() if kinds[name] in "fiu" and is_condensed(shape)]
    if len(found) == 1:
        return found[0]
    if any(dtype.hasobject for _, _, dtype in headers.values()):
        raise ProximityError(f"{where} holds pickled Python objects, which are never read; write plain numbers.")
    if not found:
        raise ProximityError(f"{where} must hold a {'square ' if square else ''}matrix of numbers. Got {names}.")
    got = f"{len(found)} that could be it among {names}"
    raise ProximityError(f"{where} must hold one matrix. Got {got}; say which with key=...")


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, where: str, max_bytes: int) -> Array:
    size = info.file_size
    if info.compress_type == zipfile.ZIP_STORED and size != info.compress_size:
        raise ProximityError(f"{where} declares other sizes than it has; the file is truncated or damaged.")
    if info.compress_type != zipfile.ZIP_STORED:
        check_size(where, size, max_bytes)
    with archive.open(info) as file:
        read_header(file, where, size)
        array = _data(file)
        if file.read(1):
            raise ProximityError(f"{where} has more bytes than it declares; the file is damaged.")
    return array


def check_size(where: str, size: int, max_bytes: int) -> None:
    if size > max_bytes:
        rule = f"more than max_bytes={max_bytes}; raise it if you trust it."
        raise ProximityError(f"{where} unpacks to {size} bytes, {rule}")


def read_header(
    file: IO[bytes], where: str, size: int | None = None, *, pickles: bool = False
) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read shape, Fortran order and type of an npy stream; reject one of `size` bytes that declares another size."""
    if file.read(6) != npy.MAGIC_PREFIX:
        raise ProximityError(f"{where} does not start as an npy array does; the file is damaged or of another format.")
    version = file.read(2)
    if version not in _HEADERS:
        raise ProximityError(f"{where} is an npy array of version {tuple(version)}, which is not read.")
    length = file.read(2 if version == b"\1\0" else 4)
    if int.from_bytes(length, "little") > _LONGEST:  # checked before it is read: it may be compressed
        raise ProximityError(f"{where} has a header of more than {_LONGEST} bytes; the file is damaged.")
    head = io.BytesIO(length + file.read(int.from_bytes(length, "little")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the age of the file
        shape, fortran, dtype = _HEADERS[version](head)
    if dtype.hasobject and not pickles:
        raise ProximityError(f"{where} holds pickled Python objects, which are never read; write plain numbers.")
    if size is not None:
        n_bytes = size - file.tell()
        if any(extent < 0 for extent in shape) or math.prod(shape) * dtype.itemsize != n_bytes:
            wrong = f"Got {n_bytes} bytes: the file is truncated or damaged."
            raise ProximityError(f"{where} must hold {quote_short(shape)} values of type {dtype.str[:20]}. {wrong}")
    return shape, fortran, dtype


def _data(file: IO[bytes]) -> Array:
    """Read an array, the header of which was checked."""
    file.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the age of the file
        return npy.read_array(file, allow_pickle=False)


def _card_beside(path: Path) -> Any:
    """Read the card of the matrix that is there; a killed writer may have left a sidecar that describes two."""
    beside = sidecar(path)
    with parse_errors(short_path(beside), "JSON file"):
        found = json.loads(beside.read_bytes())
    if isinstance(found, dict) and "before" in found:
        with open(path, "rb") as file:
            return found if _digest(file) == found.get("digest") else found["before"]
    return found


def _digest(file: IO[bytes]) -> str:
    return hashlib.file_digest(file, "blake2b").hexdigest()  # type: ignore[arg-type]


def read_parquet(path: Path, options: ReadOptions) -> Proximity:
    """Read our own parquet files, and others' whose columns are numbers but for one of ids."""
    where = short_path(path)
    with parse_errors(where, "parquet file"), _open_table(path, options.max_bytes) as (schema, _, read):
        table = read()
        found = json.loads((schema.metadata or {}).get(_KEY, b"null"))
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
    table = pa.Table.from_arrays(arrays, names, metadata={_KEY: json.dumps(about).encode()})
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
