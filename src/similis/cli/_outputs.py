"""Outputs of the commands: checks before anything is computed, and writing to files, streams and terminals."""

from __future__ import annotations

import csv
import gzip
import io
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import similis
from similis._utils.files import atomic_write, is_float, is_stream
from similis._utils.messages import escape_controls
from similis.cli._console import note, print_json
from similis.exceptions import ProximityError

if TYPE_CHECKING:
    from similis.io import Proximity


def check_outputs(inputs: Iterable[str | None], *, overwrite: bool = False, **outputs: str | None) -> None:
    """Reject output paths, by their kind (a key of `_KINDS`), before anything is computed.

    An output must not be an input or another output, under any name. An existing file must be of the same kind.
    """
    given = [(kind, Path(path)) for kind, path in outputs.items() if path is not None and path != "-"]
    for kind, path in given:
        if not path.parent.is_dir():
            folder = os.fspath(path.parent)
            raise ProximityError(f"There is no folder {folder!r} to write {path.name} to; create it first.")
        if path.is_dir() and not (kind == "matrix" and path.suffix.lower() == ".zarr"):
            raise ProximityError(f"{os.fspath(path)!r} is a folder; name a file to write to.")
        if kind == "matrix" and not is_stream(path):
            similis.io.file_format(path, writing=True)
    given = [(kind, path) for kind, path in given if not is_stream(path)]
    written = [(kind, file) for kind, path in given for file in _with_files_beside(path, kind)]
    read = [Path(path) for path in inputs if path is not None and path != "-"]
    kinds = ["model" if path.suffix.lower() == ".skops" else "matrix" for path in read]
    read += [file for path, kind in zip(read, kinds) for file in _with_files_beside(path, kind)[1:] if file.exists()]
    for i, (kind, path) in enumerate(written):
        if any(_is_same(path, other) for other in read):
            raise ProximityError(f"{os.fspath(path)!r} is read by this command as well; name another file.")
        for other_kind, other in written[:i]:
            if _is_same(path, other):
                both = f"The {other_kind} and the {kind}"
                raise ProximityError(f"{both} are the same file {os.fspath(path)!r}; name two files.")
    for kind, path in written:
        if kind in ("predictions", "objects") and path.suffix.lower() in (".xlsx", ".parquet", ".npz", ".gz", ".zip"):
            raise ProximityError(f"{os.fspath(path)!r} must end in .csv or .tsv, the formats of a table.")
        what, is_kind = _KINDS["card" if kind == "model" and path.name.endswith(".card.json") else kind]
        if overwrite or path.is_dir() or not path.exists() or not path.stat().st_size or is_kind(path):
            continue
        raise ProximityError(
            f"{os.fspath(path)!r} exists and is not {what}; name another file, or give --overwrite to replace it."
        )


def _with_files_beside(path: Path, kind: str) -> list[Path]:
    """A file, and those that are read or written with it if it is a matrix or a model."""
    if kind == "model":
        return [path, similis.io.card_path(path)]
    return [path, *similis.io.files_beside(path)] if kind == "matrix" else [path]


def _is_same(a: Path, b: Path) -> bool:
    """Tell whether two paths are one file, by symbolic links, hard links or another spelling too."""
    if a.exists() and b.exists():
        return os.path.samefile(a, b)
    return os.path.realpath(a) == os.path.realpath(b)


def _head(path: Path, size: int = 4096) -> bytes:
    """First bytes of a file, unpacked."""
    with open(path, "rb") as file:
        data = file.read(size)
    if data[:2] != b"\x1f\x8b":
        return data
    with suppress(OSError, EOFError), gzip.open(path) as unpacked:
        return unpacked.read(size)
    return b""


def _is_matrix(path: Path) -> bool:
    """Tell whether a file looks like a matrix of its ending, or like the labels or the card beside one."""
    head = _head(path)
    if path.name.endswith(".labels.csv") or path.name.endswith(".npy.json"):
        return True
    form = similis.io.formats()[similis.io.file_format(path)]
    if form.name != "csv":
        start = form.magic or {"npz": b"PK", "h5ad": b"\x89HDF"}.get(form.name, b"")
        return head.startswith(start)
    line = head.decode("utf-8", "replace").lstrip("\ufeff").partition("\n")[0]
    delimiter = next((mark for mark in ",\t;" if mark in line), ",")
    corner, _, rest = line.partition(delimiter)
    is_title = corner.strip("# \r") in ("", '""', "similarity", "dissimilarity") or (corner, rest[:1]) == ("id", '"')
    return is_title or corner.strip("-+").partition(".")[0].isdecimal()


def _is_report(path: Path) -> bool:
    page = path.read_bytes() if _head(path, 40).lower().startswith(b"<!doctype html") else b""
    return b"similis study" in page or b"similis comparison" in page


def _is_model(path: Path) -> bool:
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return "schema.json" in archive.namelist()


_KINDS: dict[str, tuple[str, Callable[[Path], bool]]] = {
    "matrix": ("a matrix", _is_matrix),
    "predictions": ("a table of predictions", lambda path: _head(path).startswith(b"id,label")),
    "objects": ("a table of objects with classes", lambda path: _head(path).partition(b"\n")[0].endswith(b",class")),
    "report": ("a report of similis", _is_report),
    "results": ("a results file of a study", lambda path: _head(path).startswith(b'{"similis-study')),
    "model": ("a model file", _is_model),
    "card": ("the card of a model", lambda path: b'"similis-model-card"' in _head(path, 100)),
    "journal": ("a journal", lambda path: True),  # a study appends to it and checks it
}


@contextmanager
def output_path(path: str) -> Iterator[Path]:
    """Yield a path to write to: for ``-``, a FIFO or a device a temporary file that is copied there once complete."""
    if path != "-" and not is_stream(path):
        yield Path(path)
        return
    ending = Path(path).suffix.lower()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / f"output{ending if ending in ('.npz', '.npy', '.parquet', '.tsv') else '.csv'}"
        yield copy
        sys.stdout.flush()
        target: Any = nullcontext(sys.stdout.buffer) if path == "-" else atomic_write(path)
        with open(copy, "rb") as file, target as stream:
            if _is_terminal(path):  # shows control characters by their numbers
                stream.writelines(escape_controls(line.decode("utf-8", "backslashreplace")).encode() for line in file)
            else:
                shutil.copyfileobj(file, stream)
            stream.flush()


def _is_terminal(path: str) -> bool:
    if path == "-":
        return sys.stdout.isatty()
    if not Path(path).is_char_device():
        return False
    descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_NOCTTY", 0))
    try:
        return os.isatty(descriptor)
    finally:
        os.close(descriptor)


def write_result(
    path: str, matrix: Proximity, json: bool, message: str, *, written: bool = False, **facts: Any
) -> None:
    """Write a matrix unless it is written already, and print the message, or with `json` the facts."""
    facts = {"n": matrix.n, "kind": matrix.kind, **facts}
    if json and path == "-":
        names = {"ids": matrix.ids, "columns": matrix.columns, "labels": matrix.labels}
        print_json({**facts, **names, "values": matrix.to_dense()})
        return
    if not written:
        with output_path(path) as target:
            similis.write_proximity(target, matrix)
    tell_written(path, json, message, **facts)


def tell_written(path: str, json: bool, message: str, **facts: Any) -> None:
    """Print that a file was written, or with `json` the facts; nothing about standard output."""
    if json:
        print_json({"output": path, **facts})
    elif path != "-":
        note(message)


def write_table(path: str, rows: Iterable[Sequence[Any]], *, escape_formulas: bool = False) -> None:
    """Write a csv file, or a tsv file if its name ends so, atomically, or csv to standard output for ``-``."""
    text = io.StringIO()
    if escape_formulas:
        rows = ([_escape_formula(cell) for cell in row] for row in rows)
    delimiter = "\t" if path.lower().endswith((".tsv", ".tab")) else ","
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    with output_path(path) as target, atomic_write(target) as file:
        file.write(text.getvalue().encode())


def _escape_formula(cell: Any) -> Any:
    """Put an apostrophe before text that a spreadsheet would evaluate; numbers stay numbers."""
    is_formula = isinstance(cell, str) and cell.startswith(("=", "+", "-", "@", "\t", "\r")) and not is_float(cell)
    return f"'{cell}" if is_formula else cell
