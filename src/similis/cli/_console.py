"""What goes where: results on standard output, everything else on standard error, one sentence for what went wrong."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from similis._utils.files import atomic_write
from similis.exceptions import ProximityError

__all__ = [
    "BAD_INPUT",
    "INTERRUPTED",
    "echo",
    "guarded",
    "harmless",
    "note",
    "print_json",
    "print_table",
    "show_progress",
    "check_output",
    "readable",
    "writable",
    "write_table",
]

BAD_INPUT = 2
INTERRUPTED = 130
# Control characters but tab and line feed; marks that turn the direction of text; lone surrogates, which no file holds.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


@contextmanager
def guarded() -> Iterator[None]:
    """Run a command: bad input ends with one sentence and status 2, Ctrl-C with 130; a bug keeps its traceback.

    With SIMILIS_DEBUG set, the traceback of bad input is shown too.
    """
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *rest, **more: note(str(message))
        try:
            yield
        except KeyboardInterrupt:
            note("interrupted; what was finished is kept where a journal or a cache was given.")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # Whoever read our output has seen enough; keep Python from complaining when it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except (ValueError, OSError, ImportError, MemoryError) as error:
            if os.environ.get("SIMILIS_DEBUG"):
                raise
            note(_sentence(error))
            raise typer.Exit(BAD_INPUT) from None


def note(text: str) -> None:
    """Say something on standard error, in one line."""
    typer.echo(f"similis: {harmless(' '.join(text.split()))}", err=True)


def harmless(text: str) -> str:
    """Text that a terminal prints and does not obey: control and direction marks by their numbers."""
    return _CONTROL.sub(lambda mark: repr(mark[0])[1:-1] if mark[0] > "~" else f"\\x{ord(mark[0]):02x}", text)


def show_progress(quiet: bool) -> bool:
    """Whether a progress bar makes sense: someone looks, and has not asked for silence."""
    return not quiet and sys.stderr.isatty()


def echo(text: str = "") -> None:
    """A line of the result."""
    typer.echo(harmless(text))


def print_json(value: Any) -> None:
    """The result for machines: strict JSON, in which what is not a number is null."""
    typer.echo(json.dumps(_plain(value), indent=1, allow_nan=False))


def print_table(head: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None) -> None:
    """The result for people; plain text where the output is no terminal."""
    table = Table(
        *head,
        title=None if title is None else escape(harmless(title)),
        title_justify="left",
        box=None,
        pad_edge=False,
        header_style="bold",
    )
    for row in rows:
        table.add_row(*(escape(harmless(cell if isinstance(cell, str) else _short(cell))) for cell in row))
    console = Console(file=sys.stdout, soft_wrap=not sys.stdout.isatty(), highlight=False)
    if not sys.stdout.isatty():
        console.width = 10_000
    console.print(table)


def _sentence(error: BaseException) -> str:
    """What went wrong, in one sentence."""
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"There is no file {error.filename!r}."
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename!r} cannot be used: {error.strerror}."
    if isinstance(error, MemoryError):
        return "There is not enough memory for this; try fewer objects or fewer jobs."
    return str(error) or type(error).__name__


def _short(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    """As JSON can hold it: numpy's numbers and arrays unwrapped, NaN and infinity as null."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


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
