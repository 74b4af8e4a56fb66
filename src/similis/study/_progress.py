"""Progress of a running study: a bar on standard error, or calls of a function."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from similis.study._entry import Entry

__all__ = ["Progress", "Reporter", "Watcher"]


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


class Reporter:
    """Count entries, estimate the time left, and show both.

    Parameters
    ----------
    show : bool or callable
        True draws a bar on standard error; a function is called with a :class:`Progress` after each entry.
    done : list of Entry
        Entries finished by earlier runs.
    open_tasks : list of str
        Method of each open task.
    n_workers : int
        Number of processes that share them.
    """

    def __init__(
        self, show: bool | Callable[[Progress], None], done: list[Entry], open_tasks: list[str], n_workers: int
    ) -> None:
        self._show = show
        self._done, self._total = len(done), len(done) + len(open_tasks)
        self._workers = max(1, min(n_workers, len(open_tasks)))
        self._times: dict[str, list[float]] = {}
        self._open: dict[str, int] = {}
        self._bar: Any = None
        self._task: Any = None
        for entry in done:
            self._times.setdefault(entry.method, []).append(entry.fit_seconds + entry.predict_seconds)
        for name in open_tasks:
            self._open[name] = self._open.get(name, 0) + 1

    def __enter__(self) -> Reporter:
        if self._show is True:
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
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("", total=self._total, completed=self._done)
        return self

    def __exit__(self, *args: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, entry: Entry) -> None:
        """Count a finished entry."""
        self._done += 1
        self._open[entry.method] -= 1
        self._times.setdefault(entry.method, []).append(entry.fit_seconds + entry.predict_seconds)
        left = self.seconds_left()
        if self._bar is not None:
            words = f"about {clock(left)} left, {entry.method} on split {entry.split + 1} done"
            self._bar.update(self._task, completed=self._done, description=words)
        elif callable(self._show):
            self._show(Progress(self._done, self._total, left, entry))

    def seconds_left(self) -> float:
        """Estimate the time for the open tasks."""
        known = [t for times in self._times.values() for t in times]
        if not known:
            return 0.0
        typical = sum(known) / len(known)
        work = 0.0
        for name, count in self._open.items():
            times = self._times.get(name)
            work += count * (sum(times) / len(times) if times else typical)
        return work / self._workers


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
