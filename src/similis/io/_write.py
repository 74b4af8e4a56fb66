"""Write a matrix of proximities to a file, whole or not at all."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from similis._utils.disk import is_stored
from similis._utils.files import atomic_write, short_path
from similis.base import Kind
from similis.exceptions import ProximityError
from similis.io._csv import write_csv
from similis.io._labels import labels_beside, write_labels
from similis.io._numpy import write_npy, write_npz
from similis.io._parquet import write_parquet
from similis.io._proximity import Proximity, as_proximity, refuse_infinite
from similis.io._read import file_format
from similis.io._zarr import write_zarr

__all__ = ["write_proximity"]


def write_proximity(
    path: str | os.PathLike[str],
    proximity: Proximity | ArrayLike,
    *,
    ids: Sequence[Any] | None = None,
    kind: Kind | None = None,
    labels: ArrayLike | None = None,
) -> None:
    """Write a matrix of proximities, with its ids, kind and labels.

    Parameters
    ----------
    path : str or path-like
        Its ending names the format: ``.npz``; ``.npy``, with ids, kind and labels in a ``.npy.json`` file beside it;
        ``.zarr``, a folder of uncompressed chunks; ``.csv``, ``.tsv``, also with ``.gz``, with labels in
        ``<name>.labels.csv`` beside it; ``.parquet``.
    proximity : Proximity, frame or array-like of shape (m, n)
        What to write. A pandas or polars frame brings its ids.
    ids : sequence, optional
        One name per row, and per column of a square matrix, instead of those that `proximity` has.
    kind : {"similarity", "dissimilarity"}, optional
        What the numbers are, instead of what `proximity` says.
    labels : array-like of shape (m,), optional
        One class label per row, instead of those that `proximity` has.

    Raises
    ------
    ProximityError
        If the matrix cannot be written so that it reads back as it is.

    Notes
    -----
    The bytes go to a temporary name in the same directory and are renamed once they are on disk: whatever happens, a
    reader finds the old file or the new one. A text file without ids is a bare table and does not remember its kind.

    Examples
    --------
    >>> import os, tempfile
    >>> from similis import read_proximity, write_proximity
    >>> path = os.path.join(tempfile.mkdtemp(), "three.npz")
    >>> write_proximity(path, [[0, 1, 4], [1, 0, 3], [4, 3, 0]], ids=list("abc"), kind="dissimilarity")
    >>> read_proximity(path).values[0]
    array([0., 1., 4.])
    """
    path = Path(path)
    form = file_format(path)
    P = as_proximity(proximity, ids=ids, kind=kind, labels=labels)
    if form == "zarr":
        write_zarr(path, P)
        return
    if is_stored(P.values):
        P = replace(P, values=P.values[...])
    refuse_infinite(P.values)
    if form == "npy":
        write_npy(path, P)
        return
    with ExitStack() as files:
        if form == "npz":
            write_npz(files.enter_context(atomic_write(path)), P)
        elif form == "parquet":
            write_parquet(files.enter_context(atomic_write(path)), P)
        else:
            _write_text(path, P, files)


def _write_text(path: Path, P: Proximity, files: ExitStack) -> None:
    """The matrix, packed if its name says so, and its labels beside it."""
    beside = labels_beside(path)
    if P.labels is not None:
        write_labels(files.enter_context(atomic_write(beside)), P)
    elif beside.exists():
        raise ProximityError(
            f"{short_path(beside)} exists and would be read as the labels of this matrix; remove it, or give labels."
        )
    file: Any = files.enter_context(atomic_write(path))
    # Between the two renames a reader may find a matrix without labels, never one with those of another.
    files.push(lambda failed, *_: None if failed else beside.unlink(missing_ok=True))
    if path.suffix.lower() == ".gz":
        file = files.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0))
    write_csv(file, P, delimiter="\t" if ".tsv" in (suffix.lower() for suffix in path.suffixes[-2:]) else ",")
