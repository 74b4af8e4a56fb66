"""Read a matrix of proximities from a file, whatever its format, and check it in one place."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from similis._utils.files import short_path
from similis.base import Kind
from similis.exceptions import ProximityError
from similis.io._csv import read_csv
from similis.io._labels import labels_beside, read_labels
from similis.io._numpy import read_npy, read_npz
from similis.io._parquet import read_parquet
from similis.io._proximity import KINDS, Proximity, quote_short
from similis.io._raw import Raw
from similis.io._zarr import read_zarr

__all__ = ["file_format", "read_proximity"]

_DELIMITERS = (",", ";", "\t", " ", "|")

_SUFFIXES = {
    ".npz": "npz",
    ".npy": "npy",
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".zarr": "zarr",
}


def read_proximity(
    path: str | os.PathLike[str],
    *,
    labels: str | os.PathLike[str] | ArrayLike | None = None,
    kind: Kind | None = None,
    square: bool = True,
    mmap: bool = False,
    dtype: DTypeLike | None = None,
    key: str | None = None,
    delimiter: str | None = None,
    max_bytes: int = 2**31,
) -> Proximity:
    """Read a matrix of proximities, with its ids, kind and labels.

    Parameters
    ----------
    path : str or path-like
        The format follows from the ending. ``.npz``: our own, or any archive with one matrix in it. ``.npy``: a
        matrix, with ids, kind and labels in a ``.npy.json`` file beside it, if there is one. ``.zarr``: a store of one
        array. ``.csv``, ``.tsv``,
        ``.txt``, also gzipped: ids in the first row and the first column, or a bare table of numbers whose first
        cell is not empty. ``.parquet``: one column per object, row ids in a column of text.
    labels : str, path-like or array-like of shape (m,), optional
        A file of labels, or the labels. A file holds lines ``id,label``, matched by id, or one label a line in the
        order of the rows; a header is optional. Labels spelled as integers become integers. By default those
        stored with the matrix; for text files those in ``<name>.labels.csv`` beside it, if there is one.
    kind : {"similarity", "dissimilarity"}, optional
        What the numbers are, where the file does not say. It must not contradict the file.
    square : bool, default=True
        Whether rows and columns must be the same objects in the same order, as in a training matrix. False reads
        blocks of new rows x training columns too.
    mmap : bool, default=False
        Leave the values of an npy file or a zarr store on disk and read what is used. They are not looked through for
        infinities.
    dtype : dtype, optional
        float32 or float64. By default that of the file; float64 for text. A memory map keeps the file's.
    key : str, optional
        Which array of an npz file is the matrix.
    delimiter : str, optional
        What stands between the cells of a text file. By default a comma, or a tab or semicolon if the first line
        has no comma.
    max_bytes : int, default=2**31
        How much a compressed file may unpack to. Uncompressed data are bounded by the file itself.

    Returns
    -------
    Proximity
        With ``values``, ``ids``, ``kind``, ``labels`` and, for blocks, ``column_ids``. Empty cells, ``NA``, ``nan``
        and nulls are NaN: missing.

    Raises
    ------
    ProximityError
        If the file breaks a rule: one sentence that names file and line, cell, array or id.
    FileNotFoundError
        If there is no such file.
    ImportError
        If parquet or zarr is asked for and pyarrow or zarr is not installed.

    Notes
    -----
    Nothing in a file is ever executed: pickled objects are refused, sizes are compared with what the file declares
    before memory is taken.

    Examples
    --------
    >>> import os, tempfile
    >>> from similis import read_proximity, write_proximity
    >>> path = os.path.join(tempfile.mkdtemp(), "pair.csv")
    >>> write_proximity(path, [[1.0, 0.2], [0.2, 1.0]], ids=["a", "b"], kind="similarity", labels=[0, 1])
    >>> read_proximity(path)
    Proximity(2 x 2 similarity, float64, ids 'a' ... 'b', 2 classes)
    """
    path = Path(path)
    form = file_format(path)
    _check_options(kind, dtype if not mmap else None, delimiter)
    if mmap and form not in ("npy", "zarr"):
        raise ProximityError(
            f"{short_path(path)}: only npy files and zarr stores can stay on disk. Write it as one, or use mmap=False."
        )
    if form == "npz":
        raw = read_npz(path, square=square, key=key, max_bytes=max_bytes)
    elif form == "npy":
        raw = read_npy(path, mmap=mmap)
    elif form == "zarr":
        raw = read_zarr(path, mmap=mmap, max_bytes=max_bytes)
    elif form == "parquet":
        raw = read_parquet(path, square=square, max_bytes=max_bytes)
    else:
        raw = read_csv(path, square=square, delimiter=delimiter, max_bytes=max_bytes)
        beside = labels_beside(path)
        if labels is None and beside.exists():
            labels = beside
    if square:
        _check_square(raw, short_path(path))
    raw.kind = _agree_on_kind(raw.kind, kind, short_path(path))
    raw.labels = _labels(labels, raw, max_bytes)
    return _finish(raw, dtype, mmap, short_path(path))


def file_format(path: Path) -> str:
    """The format that a file's ending names.

    Parameters
    ----------
    path : Path
        Need not exist.

    Returns
    -------
    str
        "npz", "npy", "zarr", "csv" or "parquet".
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    last = suffixes[-2] if len(suffixes) > 1 and suffixes[-1] == ".gz" else "".join(suffixes[-1:])
    if last not in _SUFFIXES or (suffixes[-1] == ".gz" and _SUFFIXES[last] != "csv"):
        raise ProximityError(
            f"{short_path(path)} must end in .npz, .npy, .zarr, .csv, .tsv, .txt, .csv.gz or .parquet, which names its "
            "format."
        )
    return _SUFFIXES[last]


def _check_options(kind: Any, dtype: Any, delimiter: Any) -> None:
    if kind is not None and kind not in KINDS:
        raise ProximityError(f"kind must be 'similarity', 'dissimilarity' or None. Got {quote_short(kind)}.")
    if dtype is not None and np.dtype(dtype) not in (np.float32, np.float64):
        raise ProximityError(f"dtype must be float32 or float64. Got {np.dtype(dtype)}.")
    if delimiter is not None and delimiter not in _DELIMITERS:
        raise ProximityError(f"delimiter must be a comma, semicolon, tab, blank or bar. Got {quote_short(delimiter)}.")


def _check_square(raw: Raw, where: str) -> None:
    """Rows and columns must be the same objects in the same order."""
    if raw.values.ndim < 2:
        return  # Proximity says so
    rows, columns = raw.values.shape[:2]
    if raw.ids is not None and raw.column_ids is not None:
        for i, (row, column) in enumerate(zip(raw.ids, raw.column_ids)):
            if row != column:
                raise ProximityError(
                    f"{where}: row and column ids must be the same, in the same order. Number {i + 1} is "
                    f"{quote_short(row)} among the rows and {quote_short(column)} among the columns. For a block of "
                    "new rows say square=False."
                )
    if rows != columns:
        raise ProximityError(
            f"{where} must hold a square matrix, one row and one column per object. Got {rows} rows and {columns} "
            "columns. For a block of new rows say square=False."
        )


def _agree_on_kind(found: Any, given: Any, where: str) -> Any:
    if found is not None and found not in KINDS:
        raise ProximityError(f"{where}: kind must be 'similarity' or 'dissimilarity'. Got {quote_short(found)}.")
    if found is not None and given is not None and found != given:
        raise ProximityError(
            f"{where} holds values of kind {found!r}. Got kind={given!r}; leave it out, or convert them."
        )
    return given or found


def _labels(labels: Any, raw: Raw, max_bytes: int) -> Any:
    """The labels asked for, else those that came with the matrix."""
    if labels is None:
        return raw.labels
    if isinstance(labels, str | os.PathLike):
        return read_labels(Path(labels), raw.ids, raw.values.shape[0], max_bytes=max_bytes)
    return labels


def _finish(raw: Raw, dtype: DTypeLike | None, mmap: bool, where: str) -> Proximity:
    try:
        values = raw.values
        if not mmap and dtype is not None and values.dtype.kind in "fiub":
            values = values.astype(dtype, copy=False)
        return Proximity(values, raw.ids, raw.kind, raw.labels, raw.column_ids)  # type: ignore[arg-type]
    except ProximityError as error:
        raise ProximityError(f"{where}: {error}") from None
