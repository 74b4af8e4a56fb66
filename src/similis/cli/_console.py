"""Terminal input and output: results on standard output, everything else on standard error, one message per error."""

from __future__ import annotations

import json
import math
import os
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

from similis._utils.messages import escape_controls
from similis.exceptions import ClusterError, ProximityError

__all__ = [
    "BAD_INPUT",
    "INTERRUPTED",
    "echo",
    "input_path",
    "note",
    "print_json",
    "print_table",
    "report_errors",
    "show_progress",
]

FAILED = 1
BAD_INPUT = 2
INTERRUPTED = 130


@contextmanager
def report_errors() -> Iterator[None]:
    """Run a command: bad input ends with one message and status 2, a lost cluster with 1, Ctrl-C with 130.

    A bug keeps its traceback.

    With SIMILIS_DEBUG set, bad input shows its traceback too.
    """
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *rest, **more: note(str(message))
        try:
            yield
        except KeyboardInterrupt:
            note("interrupted; finished work is kept if a journal was given.")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # The reader of the output has closed it. Python flushes standard output at exit and would complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except ClusterError as error:
            note(str(error))
            raise typer.Exit(FAILED) from None
        except (ValueError, OSError, ImportError, MemoryError) as error:
            if os.environ.get("SIMILIS_DEBUG"):
                raise
            note(_error_message(error))
            raise typer.Exit(BAD_INPUT) from None


def note(text: str) -> None:
    """Print one line to standard error."""
    typer.echo(f"similis: {escape_controls(' '.join(text.split()))}", err=True)


def show_progress(quiet: bool) -> bool:
    """Tell whether to draw a progress bar: standard error is a terminal, and --quiet is not given."""
    return not quiet and sys.stderr.isatty()


def echo(text: str = "") -> None:
    """Print a line of the result to standard output."""
    typer.echo(escape_controls(text))


def print_json(value: Any) -> None:
    """Print the result as strict JSON, with null for NaN and infinity."""
    typer.echo(json.dumps(_to_json(value), indent=1, allow_nan=False))


def print_table(head: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None) -> None:
    """Print the result as a table; as plain text if standard output is not a terminal."""
    table = Table(
        *head,
        title=None if title is None else escape(escape_controls(title)),
        title_justify="left",
        box=None,
        pad_edge=False,
        header_style="bold",
    )
    for row in rows:
        table.add_row(*(escape(escape_controls(cell if isinstance(cell, str) else _format_cell(cell))) for cell in row))
    console = Console(file=sys.stdout, soft_wrap=not sys.stdout.isatty(), highlight=False)
    if not sys.stdout.isatty():
        console.width = 10_000
    console.print(table)


@contextmanager
def input_path(path: str, *, suffix: str = ".csv") -> Iterator[Path]:
    """Yield a path to read from; for ``-`` a copy of standard input with this suffix."""
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
        except ValueError as error:  # the message must name what the user gave
            raise type(error)(str(error).replace(os.fspath(copy), "standard input")) from None


def _error_message(error: BaseException) -> str:
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"There is no file {error.filename!r}."
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename!r} cannot be used: {error.strerror}."
    if isinstance(error, MemoryError):
        return "There is not enough memory for this; try fewer objects or fewer jobs."
    return str(error) or type(error).__name__


def _format_cell(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _to_json(value: Any) -> Any:
    """Convert to types of JSON: NumPy numbers and arrays unwrapped, NaN and infinity as None."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_to_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
