"""Progress of a running study: a bar on standard error, or calls of a function."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import fmean

from similis.study._entry import Entry

__all__ = ["Progress", "Watcher", "show_progress"]


@dataclass(frozen=True)
class Progress:
    """State of a running study, passed to a callback.

    Attributes
    ----------
    done, total : int
        Number of finished entries, and of all entries.
    seconds_left : float
        Estimated time left: mean time of each method's finished entries for its open ones, divided by the workers.
    entry : Entry
        Entry that was finished last.
    """

    done: int
    total: int
    seconds_left: float
    entry: Entry


def show_progress(
    entries: Iterable[Entry],
    show: bool | Callable[[Progress], None],
    known: list[Entry],
    open_tasks: list[str],
    n_workers: int,
) -> Iterator[Entry]:
    """Yield entries as they are finished; after each, show the number of entries and the time left.

    Parameters
    ----------
    entries : iterable of Entry
        Entries of the open tasks.
    show : bool or callable
        True draws a bar on standard error; a function is called with a :class:`Progress`.
    known : list of Entry
        Entries finished by earlier runs.
    open_tasks : list of str
        Method of each open task.
    n_workers : int
        Number of processes that share them.
    """
    n_done, total = len(known), len(known) + len(open_tasks)
    n_workers = max(1, min(n_workers, len(open_tasks)))
    n_open = Counter(open_tasks)
    times: dict[str, list[float]] = {}
    for entry in known:
        times.setdefault(entry.method, []).append(entry.fit_seconds + entry.predict_seconds)
    with ExitStack() as stack:
        if show is True:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            columns = (
                TextColumn("study"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.description}"),
            )
            bar = stack.enter_context(Bar(*columns, console=Console(stderr=True), transient=True))
            task = bar.add_task("", total=total, completed=n_done)
        for entry in entries:
            yield entry
            n_done += 1
            n_open[entry.method] -= 1
            times.setdefault(entry.method, []).append(entry.fit_seconds + entry.predict_seconds)
            every = [seconds for found in times.values() for seconds in found]
            left = sum(n * fmean(times.get(method, every)) for method, n in n_open.items()) / n_workers
            if show is True:
                words = f"about {clock(left)} left, {entry.method} on split {entry.split + 1} done"
                bar.update(task, completed=n_done, description=words)
            elif callable(show):
                show(Progress(n_done, total, left, entry))


class Watcher:
    """Call a function at once, then after a pause, and for at most a tenth of the time.

    Parameters
    ----------
    call : callable
        Called without arguments.
    pause : float, default=5.0
        Least number of seconds between two calls.
    """

    def __init__(self, call: Callable[[], None], pause: float = 5.0) -> None:
        self._call = call
        self._pause = pause
        self._next = 0.0

    def __call__(self) -> None:
        """Call the function if the pause is over."""
        begin = time.monotonic()
        if begin < self._next:
            return
        self._call()
        end = time.monotonic()
        self._next = end + max(self._pause, 9 * (end - begin))


def clock(seconds: float) -> str:
    """Format a duration: 45 s, 3 min, 2 h 10 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
