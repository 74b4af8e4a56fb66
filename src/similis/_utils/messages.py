"""Warnings that point at the user's line, progress bars, and text without control characters."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
_LAYERS = ("similis", "sklearn", "joblib")
_SEEN: ContextVar[set[tuple[type[Warning], str]] | None] = ContextVar("_SEEN", default=None)
# Control characters except tab and line feed, marks that change the direction of text, and lone surrogates.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escape_controls(text: str) -> str:
    """Replace control characters and direction marks by their numbers, so that a terminal or a page shows them."""
    return _CONTROL.sub(lambda mark: repr(mark[0])[1:-1] if mark[0] > "~" else f"\\x{ord(mark[0]):02x}", text)


@contextmanager
def warn_once() -> Iterator[None]:
    """Let :func:`warn_user` give each warning once; messages that differ only in a decimal number count as one."""
    # The filters of the warnings module start anew after each ``warnings.catch_warnings``.
    seen = _SEEN.get()
    token = _SEEN.set(set() if seen is None else seen)
    try:
        yield
    finally:
        _SEEN.reset(token)


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the nearest frame outside similis, scikit-learn and joblib."""
    seen = _SEEN.get()
    if seen is not None:
        key = category, re.sub(r"\d+\.\d+(e[+-]?\d+)?|\d+e[+-]?\d+", "#", message)
        if key in seen:
            return
        seen.add(key)
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _LAYERS:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def progress_bar(total: int, description: str, *, transient: bool = False) -> Iterator[Callable[[int], object]]:
    """Draw a progress bar; yields a function that advances it. A `transient` bar disappears at the end."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=transient) as bar:
        task = bar.add_task(description, total=total)
        yield lambda n: bar.advance(task, n)


def track(items: Iterable[T], *, total: int, description: str, enabled: bool = True) -> Iterator[T]:
    """Yield `items` and, if `enabled`, draw a progress bar with the remaining time."""
    if not enabled:
        yield from items
        return
    with progress_bar(total, description, transient=True) as advance:
        for item in items:
            yield item
            advance(1)
