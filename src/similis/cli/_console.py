"""Terminal input and output: results on standard output, everything else on standard error, one message per error."""

from __future__ import annotations

import errno
import json
import math
import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from similis._utils.messages import escape_controls, warn_once
from similis.exceptions import ClusterError, ProximityError

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130  # exit codes
JSON_SCHEMA = 2  # raised when the layout of the output of --json changes

# Advice of the Python functions, in the words of the command line.
_IN_CLI_WORDS = [
    (r"kind must be 'similarity', 'dissimilarity' or None", "--kind must be similarity or dissimilarity"),
    (r"kind must be 'similarity' or 'dissimilarity'", "--kind must be similarity or dissimilarity"),
    (r"\b(set|as) kind='(\w+)'", r"\1 --kind \2"),
    (r"\bkind='(\w+)'", r"--kind \1"),
    (r" or convert with To(?:Dis)?[Ss]imilarity", ""),
    (
        r"For a block of new rows use square=False\.",
        "Rows of new objects are for `similis predict`, tables of objects for `similis measure` or --measure.",
    ),
    (r"set directed=True", "use --directed"),
    (r"\bgiven as value_column", "given in --subset"),
    (r"\b(label|id|group)_column=('[^']*')", r"--\1-column \2"),
    (r"\b(label|id|group)_column\b", r"--\1-column"),
    (r"; absent and aggregate are for lists", "; --absent and --aggregate are for lists"),
    (r"\(format='pairs'\)", "(--format pairs)"),
    (r"\b(absent|aggregate|score)=('[^']*')", r"--\1 \2"),
    (r"\b(absent|aggregate|score)=\.\.\.", r"--\1"),
    (r"^(absent|aggregate|landmarks|priors|protocol) must", r"--\1 must"),
    (r"name them with columns=\.\.\.", "name them with --columns"),
    (r": columns must name all", ": --columns must name all"),
    (r"say which with key=\.\.\.", "name one as FILE::NAME"),
    (r"max_bytes=(\d+); raise it(?: if you trust it)?(?:, or use mmap=True)?", r"\1; unpack it first"),
    (r"larger than max_bytes=(\d+); raise max_bytes to read it", r"larger than \1 bytes"),
    (r"; if you trust it, raise max_bytes", "; unpack it first"),
    (r"\bsymmetrize\([SD]\)(?:, or put Symmetrize\(\) in front)?", "--symmetrize"),
    (r"Symmetrize it first (if this is intended): .*--symmetrize\.", r"Average both directions with --symmetrize \1."),
    (r"Fill them with complete_kernel, or use an estimator", "Fill them in with `similis complete`, or use a method"),
    (r"\bsuch as SimilarityKNN\b", "such as knn"),
    (r"\bSimilarityKNN or NearestCentroid\b", "knn or nc"),
    (r"or complete the matrix", "or complete the matrix with `similis complete`"),
    (r"To start from features or other objects, .*FromMatrix\(S\)\)\.", "To start from objects, name a --measure."),
    (r"\bn_splits\b", "--splits"),
    (r"\btest_size\b", "--test-size"),
    (r'(?<=")random_state(?=": )|^random_state(?= must)', "--seed"),
    (r"^n_jobs == 0 in Parallel has no meaning", "--jobs must be a number of processes, or -1 for all cores. Got 0."),
    (r'^cv(?= must be)|(?<=")cv(?=": )', "--folds"),
    (r"^time_budget must be a number of seconds, or a text such as", "--budget must be a time such as"),
    (r"\bneeds method='nuclear' and psd=False\b", "needs --method nuclear without --psd"),
]
COPIES: dict[str, str] = {}  # temporary files and what the user gave, which messages must name


def in_cli_words(text: str) -> str:
    """Replace Python parameters in a message by options of the command line."""
    for pattern, words in _IN_CLI_WORDS:
        text = re.sub(pattern, words, text)
    for copy, given in COPIES.items():
        text = text.replace(copy, given)
    return text


@contextmanager
def report_errors() -> Iterator[None]:
    """Run a command: bad input ends with one message and status 2 (a traceback with SIMILIS_DEBUG), Ctrl-C with 130."""
    note_once = cache(note)
    with warnings.catch_warnings(action="always", category=UserWarning), warn_once():
        warnings.showwarning = lambda message, *rest, **more: note_once(in_cli_words(str(message)))
        try:
            yield
        except KeyboardInterrupt:
            note("interrupted; the same command resumes a study with --journal, or a measurement to npy or zarr.")
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
            note(in_cli_words(_error_message(error)))
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


def print_json(value: Mapping[str, Any]) -> None:
    """Print the result as strict JSON with the version of its layout, with null for NaN and infinity."""
    typer.echo(json.dumps({"schema_version": JSON_SCHEMA, **_to_json(value)}, indent=1, allow_nan=False))


def print_table(head: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None) -> None:
    """Print the result as a table; as plain text if standard output is not a terminal."""
    title = None if title is None else escape(escape_controls(title))
    table = Table(*head, title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(escape(escape_controls(_format_cell(cell))) for cell in row))
    is_file = not sys.stdout.isatty()
    Console(file=sys.stdout, soft_wrap=is_file, highlight=False, width=10_000 if is_file else None).print(table)


@contextmanager
def input_path(path: str) -> Iterator[Path]:
    """Yield a path to read from; for ``-`` a copy of standard input, as a csv file."""
    if path != "-":
        yield Path(path)
        return
    is_closed = sys.stdin is None or sys.stdin.closed
    if is_closed or sys.stdin.isatty():
        state = "closed" if is_closed else "a terminal"
        raise ProximityError(f"Standard input is {state}; name a file, or send one in with '<' or a pipe.")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "stdin.csv"
        with open(copy, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        COPIES[os.fspath(copy)] = "standard input"
        yield copy


def _error_message(error: BaseException) -> str:
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"There is no file {error.filename!r}."
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
        return f"There is not enough disk space for {error.filename or 'a file'!r}; free some, or use another disk."
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
    """Convert to types of JSON; NaN and infinity become None."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_to_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
