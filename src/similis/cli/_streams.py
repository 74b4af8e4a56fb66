"""``-`` for standard input and output: files that exist as long as they are read or written."""

from __future__ import annotations

import csv
import io
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from similis._utils.files import atomic_write
from similis.exceptions import ProximityError

__all__ = ["check_output", "readable", "writable", "write_table"]


def check_output(*paths: str | None, matrix: bool = False) -> None:
    """Refuse what cannot be written before anything is computed: no folder, or a format that is none."""
    for path in paths:
        if path in (None, "-"):
            continue
        target = Path(str(path))
        if not target.parent.is_dir():
            raise ProximityError(
                f"There is no folder {os.fspath(target.parent)!r} to write {target.name} to; make it first."
            )
        if target.is_dir() and not (matrix and target.suffix.lower() == ".zarr"):
            raise ProximityError(f"{os.fspath(target)!r} is a folder; name a file to write to.")
        if matrix:
            from similis.io import file_format

            file_format(target)


@contextmanager
def readable(path: str, *, suffix: str = ".csv") -> Iterator[Path]:
    """A path to read from; ``-`` is what comes in on standard input, taken for a file with this ending."""
    if path != "-":
        yield Path(path)
        return
    if sys.stdin.isatty():
        raise ProximityError("Standard input is a terminal; name a file, or send one in with '<' or a pipe.")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / f"stdin{suffix}"
        with open(copy, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        try:
            yield copy
        except ValueError as error:  # the sentence shall name what the user gave
            raise type(error)(str(error).replace(os.fspath(copy), "standard input")) from None


@contextmanager
def writable(path: str, *, suffix: str = ".csv") -> Iterator[Path]:
    """A path to write to; what is written to ``-`` goes to standard output once it is complete."""
    if path != "-":
        yield Path(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / f"stdout{suffix}"
        yield copy
        sys.stdout.flush()
        with open(copy, "rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def write_table(path: str, rows: Iterable[Sequence[Any]]) -> None:
    """Write a csv file, or to standard output, whole or not at all."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    with writable(path) as target, atomic_write(target) as file:
        file.write(text.getvalue().encode())
