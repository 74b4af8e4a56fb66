"""Progress bars on standard error; Rich is imported only when one is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

__all__ = ["progress_bar", "track"]

T = TypeVar("T")


@contextmanager
def progress_bar(total: int, description: str, *, transient: bool = False) -> Iterator[Callable[[int], object]]:
    """A bar, moved on by calling what it gives with a number; a `transient` one vanishes in the end."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=transient) as bar:
        task = bar.add_task(description, total=total)
        yield lambda n: bar.advance(task, n)


def track(items: Iterable[T], *, total: int, description: str, enabled: bool = True) -> Iterator[T]:
    """Yield `items` and, if `enabled`, draw how many of `total` are done and how long the rest will take."""
    if not enabled:
        yield from items
        return
    with progress_bar(total, description, transient=True) as advance:
        for item in items:
            yield item
            advance(1)
