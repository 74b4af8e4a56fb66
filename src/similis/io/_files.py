"""Files of proximity matrices: the registry of formats, how each is recognized, and reading and writing of all."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from scipy import sparse

from similis._utils.disk import is_stored
from similis._utils.files import atomic_write, is_stream, short_path
from similis._utils.messages import warn_user
from similis.base import Kind, SparseRows
from similis.exceptions import InputWarning, ProximityError
from similis.io._checks import PairOptions, ReadOptions, as_column, check_finite, decide_kind, quote_short
from similis.io._containers import read_excel, read_graphml, read_hdf5, read_mat, read_mtx, read_rds, write_h5ad
from similis.io._numpy import first_rows, read_npy, read_npz, read_parquet, sidecar, write_npy, write_npz, write_parquet
from similis.io._objects import align_labels, labels_beside, write_labels
from similis.io._pair_lines import are_pairs, is_pair_list
from similis.io._pairs import HITS_ENDINGS, read_list, write_pairs
from similis.io._phylip import is_named_triangle, is_phylip, read_named_triangle, read_phylip, write_lsmat, write_phylip
from similis.io._proximity import (
    Proximity,
    as_proximity,
    labels_in_column,
    mirror_triangle,
    proximity_in_file,
    with_own_entries,
)
from similis.io._text import PACKED, TEXT_PACKERS, is_number, open_text, read_csv, write_csv
from similis.io._zarr import read_zarr, write_zarr


@dataclass(frozen=True)
class Format:
    """A file format of proximity matrices; packages add their own by the entry point group ``similis.formats``.

    Parameters
    ----------
    name, about : str
        Name, for ``--format`` and messages, and a description in one line.
    endings : tuple of str
        Endings of file names, such as ``(".phy", ".phylip")``.
    read, write : callable, optional
        ``read(path, options)``, with :class:`ReadOptions`, returns a :class:`similis.Proximity`; ``write(file,
        proximity)`` writes to a binary file.
    is_text, holds_sparse : bool, default=False
        Whether the file is text, perhaps compressed, with labels beside it; whether `write` takes a sparse matrix.
    magic : bytes, optional
        First bytes of every file of this format.
    kind : {"similarity", "dissimilarity"}, optional
        Kind of the values of every such file.
    """

    name: str
    about: str
    endings: tuple[str, ...]
    read: Callable[[Path, ReadOptions], Proximity] | None = None
    write: Callable[[IO[bytes], Proximity], None] | None = None
    is_text: bool = False
    magic: bytes | None = None
    kind: Kind | None = None
    holds_sparse: bool = False


_EDGES, _TRIANGLES = (".edges", ".edgelist", *HITS_ENDINGS), (".distmat", ".meg", ".pim")
_BUILT_IN = (
    Format("npz", "NumPy archive", (".npz",), read_npz, write_npz, holds_sparse=True),
    Format("npy", "NumPy array", (".npy",), read_npy, magic=b"\x93NUMPY"),
    Format("zarr", "zarr store", (".zarr",), read_zarr),
    Format("csv", "table of numbers in text", (".csv", ".txt"), read_csv, partial(write_csv, delimiter=","), True),
    Format("tsv", "table of numbers in text", (".tsv", ".tab"), read_csv, partial(write_csv, delimiter="\t"), True),
    Format("parquet", "parquet table", (".parquet", ".pq"), read_parquet, write_parquet, magic=b"PAR1"),
    Format(
        "pairs", "list of pairs: alignment hits, Mash, edges", _EDGES, read_list, write_pairs, True, holds_sparse=True
    ),
    Format("phylip", "PHYLIP distance matrix", (".phy", ".phylip", ".dist"), read_phylip, write_phylip, True),
    Format("triangle", "matrix of EMBOSS, MEGA, Clustal", _TRIANGLES, read_named_triangle, is_text=True),
    Format("lsmat", "scikit-bio distance matrix", (".lsmat",), read_csv, write_lsmat, True, kind="dissimilarity"),
    Format("feather", "Feather table", (".feather", ".arrow"), read_parquet, magic=b"ARROW1"),
    Format("hdf5", "HDF5 file", (".h5", ".hdf5"), read_hdf5, magic=b"\x89HDF\r\n\x1a\n"),
    Format("h5ad", "AnnData file", (".h5ad",), read_hdf5, write_h5ad, holds_sparse=True),
    Format("mat", "MATLAB file", (".mat",), read_mat, magic=b"MATLAB"),
    Format("rds", "file of R", (".rds", ".rdata", ".rda"), read_rds),
    Format("xlsx", "Excel workbook", (".xlsx",), read_excel),
    Format("graphml", "GraphML graph", (".graphml",), read_graphml, is_text=True),
    Format("mtx", "Matrix Market file", (".mtx",), read_mtx, is_text=True, magic=b"%%MatrixMarket"),
    Format("qza", "QIIME 2 artifact", (".qza",), read_csv, kind="dissimilarity"),
)


@cache
def formats() -> dict[str, Format]:
    """Return the known formats by name: those of similis, then those of other packages."""
    found = {form.name: form for form in _BUILT_IN}
    for entry in sorted(entry_points(group="similis.formats"), key=lambda entry: (entry.name, entry.value)):
        try:
            form = entry.load()
            if not isinstance(form, Format):
                raise TypeError("it must be a similis.io.Format")
        except Exception as error:  # a broken package must not keep others from working
            reason = str(error) or type(error).__name__
            warn_user(f"The format {entry.name!r} of another package cannot be loaded: {reason}.", InputWarning)
            continue
        found.setdefault(form.name, form)
    return found


def format_of_name(path: Path) -> Format | None:
    *rest, ending = [suffix.lower() for suffix in path.suffixes] or [""]
    packed = ending in TEXT_PACKERS and bool(rest)
    ending = rest[-1] if packed else ending
    fitting = (form for form in formats().values() if ending in form.endings and (form.is_text or not packed))
    return next(fitting, None)


def find_format(path: Path, name: str | None, options: ReadOptions) -> Format:
    """Return the format of a file: the named one, else by its ending, else by its contents."""
    known = formats()
    if name is not None:
        if not isinstance(name, str) or name not in known:
            raise ProximityError(f"There is no format {quote_short(name)}. There are {', '.join(known)}.")
        return known[name]
    form = format_of_name(path) or _format_of_contents(path)
    if form.name == "mat" and path.is_file():  # Clustal Omega calls its text so
        start = _start(path)
        form = known["phylip"] if start.split(b"\n")[0].strip().isdigit() and b"\0" not in start else form
    is_table = form.name in ("parquet", "feather")
    is_list = form.name in ("csv", "tsv", "pairs", "phylip")  # or may be one
    pairs = options.pairs
    if (pairs.columns is not None or pairs.score is not None) and (is_table or is_list or form.name == "lsmat"):
        return known["pairs"]
    if not path.is_file() or not (is_table or is_list):
        return form
    if is_list:
        form = known[_name_of_text(path, form.name, options)]
    elif are_pairs(first_rows(path), square=options.square):
        form = known["pairs"]
    if pairs.any and form.name != "pairs":
        rule = "absent and aggregate are for lists of pairs (format='pairs')."
        raise ProximityError(f"{short_path(path)} is a matrix; {rule}")
    return form


def _name_of_text(path: Path, name: str, options: ReadOptions) -> str:
    _reject_binary(path)
    lines: list[str] = []  # the first complete ones, up to 60 or about a million characters
    left = 2**20
    with open_text(path, options.max_bytes) as text:
        while len(lines) < 60 and left > 0 and 0 < len(line := text.readline(left + 1)) <= left:
            left -= len(line)
            lines.append(line.rstrip("\r\n"))
    head = "\n".join(lines).strip()
    for pattern, what in _OTHER_TEXT.items():
        if re.match(pattern, head, re.I | re.M):
            raise ProximityError(f"{short_path(path)} is {what}.")
    if is_named_triangle(lines):
        return "triangle"
    if is_phylip(lines) and not (options.square and name == "pairs"):
        return "phylip"
    if is_pair_list(lines, square=options.square):
        return "pairs"
    if name == "phylip" and all(is_number(cell) for line in lines[:3] for cell in line.split()):
        return "csv"  # of PLINK
    return name


_DISTANCES = "write the distances of all pairs as a matrix or a list"
_OTHER_TEXT = {  # kinds of text that are recognized to tell what to write instead
    r"T?BLAST[NPX] \d": "a report of BLAST for people; write the hits with -outfmt 6",
    r"Blast4-archive": "an archive of BLAST; write the hits with blast_formatter -outfmt 6",
    r"# \w+ :: ": "a report of HMMER for people; write the hits with --tblout",
    r"(#.*\n|\n)*a score=": "an alignment of LAST; write the hits with -f BlastTab",
    r"@(HD|SQ|PG)\t": "a SAM file; write the hits in a tabular format, such as -outfmt 6 of BLAST",
    r"[SHNC]\t[\d*]+\t[\d*]+\t[\d.*]+\t[-+.*]\t": "a UC file; write the pairs with --blast6out or --userout",
    r">Cluster \d+\n": "a list of the clusters of CD-HIT, which has no similarities of all pairs",
    r">.*\n[A-Z*.\n-]+(\n>|$)": "a FASTA file; compare its sequences, for example with BLAST, and read the hits, or "
    "write a table of the sequences and name a --measure",
    r"CLUSTAL.*sequence alignment|# STOCKHOLM": f"an alignment; {_DISTANCES}",
    r"#NEXUS": f"a NEXUS file; {_DISTANCES}",
    r"\(\s*\n|\(.*\)[^()]*;\s*$": f"a tree; {_DISTANCES}",
    r"Table of similarity between sequences": "a similarity table of PHYLIP; write its distances instead",
    r"<(?!na>)[?!]?[a-z]": "an XML or HTML file, of which only GraphML is read; write hits of BLAST with -outfmt 6, "
    "graphs as GraphML or as a list of edges, and matrices as csv",
    r'[\[{]\s*["{\[]': "a JSON file; write graphs as GraphML or as a list of edges, and matrices as csv",
    r"(di)?graph\s+(\w+\s*)?\{": "a DOT file; write the graph as GraphML or as a list of edges",
    r"(graph|Creator .*)\s*\[?$": "a GML file; write the graph as GraphML or as a list of edges",
    r"\*vertices\b": "a Pajek file; write the graph as GraphML or as a list of edges",
}


_BINARY = {  # first bytes of files that are not read
    b"%PDF": "a PDF document",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"\x80[\x02-\x05]": "a pickle, which could run code and is never read; write it again, for example with to_csv",
    b"\xd0\xcf\x11\xe0": "an Excel workbook of the old format; save it as .xlsx",
    b"<stata_dta>": "a file of Stata; write it again, for example with to_csv",
    b"CDF[\x01\x02\x05]": "a netCDF 3 file; write it as netCDF 4",
}


def _start(path: Path) -> bytes:
    with open(path, "rb") as file:
        return file.read(4096)


def _reject_binary(path: Path) -> None:
    start = _start(path)
    for pattern, what in _BINARY.items():
        if re.match(pattern, start):
            raise ProximityError(f"{short_path(path)} is {what}.")
    for form in formats().values():
        if form.magic is not None and not form.is_text and start.startswith(form.magic):
            remedy = f"let its name end in {form.endings[0]}."
            raise ProximityError(f"{short_path(path)} is a file of the format {form.name}; {remedy}")


def _format_of_contents(path: Path) -> Format:
    path.stat()  # raises an error if there is no such file
    if path.is_dir():
        remedy = "name a file, or a zarr store, the name of which ends in .zarr."
        raise ProximityError(f"{short_path(path)} is a folder; {remedy}")
    if not path.is_file() or path.suffix == ".part":  # the unfinished file of a measurement is not a matrix yet
        raise unknown_ending(path)
    start = _start(path)
    for form in formats().values():
        if form.magic is not None and start.startswith(form.magic):
            return form
    if b"<graphml" in start:
        return formats()["graphml"]
    _reject_binary(path)
    if b"\0" in start and not start.startswith((*PACKED, b"\xff\xfe", b"\xfe\xff")):
        raise unknown_ending(path)
    return formats()["csv"]


def unknown_ending(path: Path) -> ProximityError:
    endings = ", ".join(form.endings[0] for form in formats().values() if form.endings)
    packed = f"text also in {', '.join(TEXT_PACKERS)}."
    return ProximityError(f"{short_path(path)} must end in {endings}, which names its format; {packed}")


_WRITTEN_BY_PATH = ("npy", "zarr")  # their writers make several files


def read_proximity(
    path: str | os.PathLike[str],
    *,
    labels: str | os.PathLike[str] | ArrayLike | None = None,
    label_column: str | int | None = None,
    id_column: str | int | None = None,
    na: Sequence[str] | None = None,
    kind: Kind | None = None,
    square: bool = True,
    directed: bool = False,
    mmap: bool = False,
    dtype: DTypeLike | None = None,
    key: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    format: str | None = None,
    columns: Sequence[str | int] | str | None = None,
    score: str | int | None = None,
    aggregate: str | None = None,
    absent: str | float | None = None,
    max_bytes: int = 2**31,
) -> Proximity:
    """Read a proximity matrix, with its ids, kind and labels.

    Nothing in a file is ever executed: pickled objects are rejected.

    Parameters
    ----------
    path : str or path-like
        The ending names the format; text is recognized by its contents. ``.npz``: any archive with one matrix.
        ``.npy``: a matrix, with ids, kind and labels in a ``.npy.json`` file beside it, if there is one. ``.zarr``: a
        store of one array. ``.csv``, ``.tsv``, ``.txt``, also compressed: ids in the first row, the first column or
        both, or a bare table of numbers; or a list of pairs (see :func:`similis.io.read_pairs`), or a PHYLIP matrix.
        ``.parquet``: one column per object, row ids in a column of text; or a list of pairs.
    labels : str, path-like or array-like of shape (m,), optional
        The labels, or a file of lines ``id,label`` (see :func:`align_labels`: objects without a label are left out,
        with a warning), or of one label per line. By default those stored with the matrix, or for text files in
        ``<name>.labels.csv`` beside it.
    label_column, id_column : str or int, optional
        Columns of the label file, or of labels in the matrix file, by name or number from 1 on; by default recognized.
    na : sequence of str, optional
        Spellings of a missing label, beside an empty cell; NA, N/A, NaN, null and similar ones by default.
    kind : {"similarity", "dissimilarity"}, optional
        Kind of the values, with a warning where the file states another one. By default what the file states.
    square : bool, default=True
        Whether rows and columns must be the same objects in the same order; False for blocks of new rows.
    directed : bool, default=False
        Whether the two directions of a pair are different. By default a square matrix of which one triangle is empty
        (missing, or zero) is filled in from the other one, with a warning.
    mmap : bool, default=False
        Leave the values of an npy file or a zarr store on disk. They are not checked for infinities.
    dtype : dtype, optional
        float32 or float64. By default that of the file; float64 for text. A memory map keeps the file's.
    key : str, optional
        Name of the array or sheet that is the matrix, in a file that holds several.
    delimiter : str, optional
        Character between the cells of a text file; by default recognized by the first line.
    header : bool, optional
        Whether the first line of a table of numbers names the columns. By default if it makes one line too many.
    format : str, optional
        Name of the format, if the ending and the contents do not show it: csv, pairs, phylip, lsmat, ...
    columns, score, aggregate, absent : optional
        For lists of pairs, as in :func:`similis.io.read_pairs`. One of them makes a text file a list of pairs.
    max_bytes : int, default=2**31
        Largest size that a compressed file may unpack to.

    Returns
    -------
    Proximity
        Empty cells, ``NA``, ``nan`` and nulls are NaN: missing.

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
    where = short_path(path)
    if dtype not in (None, np.dtype(np.float32), np.dtype(np.float64)) and not mmap:
        raise ProximityError(f"dtype must be float32 or float64. Got {quote_short(dtype)}.")
    pairs = PairOptions(columns, score, aggregate, absent)
    column = as_column(label_column, "label_column") if labels is None else None  # of the file itself
    options = ReadOptions(square, directed, mmap, kind, key, delimiter, header, max_bytes, column, pairs)
    form = find_format(path, format, options)
    if mmap and form.name not in ("npy", "zarr"):
        rule = "only npy files and zarr stores can stay on disk"
        raise ProximityError(f"{where}: {rule}. Convert it, or use mmap=False.")
    if form.read is None:
        raise ProximityError(f"{where}: the format {form.name} is written, not read.")
    P = form.read(path, options)
    reason = {"reason": "by its format"} if P.kind is None and form.kind is not None else {}
    P = replace(P, kind=P.kind or form.kind, about={"format": form.about, **(P.about or {}), **reason})
    if form.is_text and labels is None and (beside := labels_beside(path)).exists():
        labels = beside
    if square:
        P = labels_in_column(P, where)
        _check_square(P, where)
    values = given = P.values if mmap or dtype is None else P.values.astype(dtype, copy=False)
    if square and not directed and form.name not in ("pairs", "graphml", "h5ad") and not sparse.issparse(values):
        values = mirror_triangle(values, where)
    kind = decide_kind(values, given=kind, stated=P.kind, where=where)
    if values is not given and kind == "dissimilarity" and np.isnan(np.diagonal(values)).all():
        np.fill_diagonal(values, 0.0)
        warn_user(f"{where}: the empty diagonal is read as zero.", InputWarning)
    if values is not P.values or kind != P.kind:
        P = proximity_in_file(where, values, P.ids, kind, P.labels, P.column_ids, P.about)
    if labels is None:
        return P
    if isinstance(labels, str | os.PathLike):
        by: dict[str, Any] = {"column": label_column, "id_column": id_column, "na": na}
        rows, labels = align_labels(labels, P.ids, P.n, max_bytes=max_bytes, **by)
        P = P if len(rows) == P.n else P.take(rows)
    return proximity_in_file(where, P.values, P.ids, P.kind, labels, P.column_ids, P.about)


def file_format(path: Path, *, writing: bool = False) -> str:
    """Return the name of the format that a file's ending stands for: "npz", "csv" (also for tsv), "pairs", ...

    Parameters
    ----------
    path : Path
        The file, which need not exist.
    writing : bool, default=False
        Raise an error for a format that is read but not written.
    """
    path = Path(path)
    form = _written_format(path) if writing else format_of_name(path)
    if form is None:
        raise unknown_ending(path)
    return "csv" if form.name == "tsv" else form.name


def _written_format(path: Path) -> Format:
    form, where = format_of_name(path), short_path(path)
    written = [f for f in formats().values() if f.write is not None or f.name in _WRITTEN_BY_PATH]
    if set(HITS_ENDINGS) & {suffix.lower() for suffix in path.suffixes}:
        raise ProximityError(f"{where}: alignment hits are read, but not written. Let a list of pairs end in .edges.")
    if form in written:
        return form
    endings = ", ".join(f.endings[0] for f in written)
    if form is None:
        raise ProximityError(f"{where} must end in {endings}, which names its format.")
    raise ProximityError(f"{where}: files of the format {form.name} are read, but not written. Use {endings}.")


def files_beside(path: str | os.PathLike[str]) -> list[Path]:
    """Return the files that belong to a matrix file and lie beside it: labels of a text file, card of an npy file.

    Parameters
    ----------
    path : str or path-like
        The matrix, which need not exist.
    """
    path = Path(path)
    if (form := format_of_name(path)) is not None and form.is_text:
        return [labels_beside(path)]
    return [sidecar(path)] if form is not None and form.name == "npy" else []


def _check_square(P: Proximity, where: str) -> None:
    for i, (row, column) in enumerate(zip(P.ids or (), P.column_ids or ())):
        if row != column:
            raise ProximityError(
                f"{where}: row and column ids must be the same, in the same order. Number {i + 1} is "
                f"{quote_short(row)} among the rows and {quote_short(column)} among the columns. For a block of "
                "new rows use square=False."
            )
    rows, columns = P.shape[:2]
    if rows != columns:
        counts = f"Got {rows} rows and {columns} columns. For a block of new rows use square=False."
        raise ProximityError(f"{where} must hold a square matrix, one row and one column per object. {counts}")


def write_proximity(
    path: str | os.PathLike[str],
    proximity: Proximity | ArrayLike,
    *,
    ids: Sequence[Any] | None = None,
    kind: Kind | None = None,
    labels: ArrayLike | None = None,
    column_ids: Sequence[Any] | None = None,
) -> None:
    """Write a proximity matrix, with its ids, kind and labels.

    The file is renamed when it is complete: a reader finds the old file or the new one.

    Parameters
    ----------
    path : str or path-like
        Its ending names the format: ``.npz``; ``.npy``, with all but the values in a ``.npy.json`` file beside it;
        ``.zarr``; ``.csv``, ``.tsv``, also with ``.gz``, with labels in ``<name>.labels.csv`` beside it; ``.parquet``.
    proximity : Proximity, frame or array-like of shape (m, n)
        The matrix. A pandas or polars frame brings its ids.
    ids, kind, labels, column_ids : optional
        As in :class:`Proximity`, in place of those of `proximity`.

    Examples
    --------
    >>> import os, tempfile
    >>> from similis import read_proximity, write_proximity
    >>> path = os.path.join(tempfile.mkdtemp(), "two.npz")
    >>> write_proximity(path, [[0, 4], [4, 0]], ids=["a", "b"], kind="dissimilarity")
    >>> read_proximity(path).values[0]
    array([0., 4.])
    """
    path = Path(path)
    form = _written_format(path)
    if path.suffix.lower() in TEXT_PACKERS[1:]:
        raise ProximityError(f"{short_path(path)}: text is written as it is or with .gz.")
    P = as_proximity(proximity, ids=ids, kind=kind, labels=labels, column_ids=column_ids)
    if form.name in ("npy", "zarr") and sparse.issparse(P.values):  # written block by block
        object.__setattr__(P := replace(P), "values", SparseRows(P.values, missing=P.kind == "dissimilarity"))
    elif sparse.issparse(P.values):
        P = replace(P, values=with_own_entries(P) if form.holds_sparse else P.to_dense())
    if form.name in _WRITTEN_BY_PATH:
        (write_zarr if form.name == "zarr" else write_npy)(path, P)
        return
    if is_stored(P.values):
        P = replace(P, values=P.values[...])
    if not sparse.issparse(P.values):
        check_finite(P.values)
    assert form.write is not None
    with ExitStack() as files:
        has_labels_beside, beside = form.is_text and not is_stream(path), labels_beside(path)
        if has_labels_beside and P.labels is not None:
            write_labels(files.enter_context(atomic_write(beside)), P)
        elif has_labels_beside and beside.exists():
            remedy = "exists and would be read as the labels of this matrix; remove it, or pass labels."
            raise ProximityError(f"{short_path(beside)} {remedy}")
        file: Any = files.enter_context(atomic_write(path))
        if has_labels_beside:
            # Between the two renames a reader may find a matrix without labels, never one with the labels of another.
            files.push(lambda failed, *_: None if failed else beside.unlink(missing_ok=True))
        if form.is_text and path.suffix.lower() == ".gz":
            file = files.enter_context(gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0))
        form.write(file, P)
