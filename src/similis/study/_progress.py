"""Progress of a running study: a bar on standard error, or calls of a function."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from similis.study._entry import Entry

if TYPE_CHECKING:
    from similis.study._evaluate import Task
    from similis.study._plan import Plan


@dataclass(frozen=True)
class Progress:
    """State of a running study, passed to a callback.

    Attributes
    ----------
    done, total, splits_done, dropped : int
        Number of finished entries, of all entries of the methods that have not been dropped or skipped, of splits that
        all methods in the race have finished, and of methods dropped.
    seconds_left : float
        Estimated time left, at most the rest of the time budget.
    entry, leader : Entry, str or None
        Entry that was finished last; leading method so far, None before the first complete split.
    """

    done: int
    total: int
    seconds_left: float
    entry: Entry
    leader: str | None = None
    splits_done: int = 0
    dropped: int = 0


def show_progress(
    entries: Iterable[Entry], show: bool | Callable[[Progress], None], plan: Plan, n_workers: int
) -> Iterator[Entry]:
    """Yield entries as they are finished; after each, draw a bar on standard error, or call a function."""
    if not show:
        yield from entries
        return
    start = time.monotonic()
    leader: str | None = None
    find_leader = Watcher(lambda: plan.snapshot().leader(), pause=1.0)

    def seconds_left(open_tasks: list[Task]) -> float:
        n_open = Counter(task.method.name for task in open_tasks)
        workers = max(1, min(n_workers, len(open_tasks)))
        left = sum(n * plan.expected_seconds(method) for method, n in n_open.items()) / workers
        return left if plan.budget is None else min(left, max(0.0, plan.budget - (time.monotonic() - start)))

    with ExitStack() as stack:
        if show is True:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            description = TextColumn("{task.description}")
            columns = TextColumn("study"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), description
            bar = stack.enter_context(Bar(*columns, console=Console(stderr=True), transient=True))
            words = f"about {clock(seconds_left(plan.open_tasks()))} left"
            task = bar.add_task(words, total=len(plan.tasks), completed=len(plan.entries))
        for entry in entries:
            yield entry
            open_tasks = plan.open_tasks()
            left = seconds_left(open_tasks)
            n_splits = min((task.split.number for task in open_tasks), default=entry.split + 1)
            if n_splits:
                leader = find_leader()
            done = len(plan.entries)
            state = Progress(done, done + len(open_tasks), left, entry, leader, n_splits, len(plan.dropped))
            if callable(show):
                show(state)
            else:
                words = f"{leader} leads after {n_splits} split{'s'[: n_splits - 1]}, " if leader else ""
                words += f"{state.dropped} dropped, " if state.dropped else ""
                words += f"about {clock(left)} left"
                bar.update(task, completed=done, total=state.total, description=words)


class Watcher:
    """Call a function at once, then after a pause in seconds, and for at most a tenth of the time."""

    def __init__(self, call: Callable[[], Any], pause: float = 5.0) -> None:
        self._call = call
        self._pause = pause
        self._next = 0.0
        self._result: Any = None

    def __call__(self) -> Any:
        """Call the function if the pause is over; return its last result."""
        begin = time.monotonic()
        if begin >= self._next:
            self._result = self._call()
            end = time.monotonic()
            self._next = end + max(self._pause, 9 * (end - begin))
        return self._result


def clock(seconds: float) -> str:
    """Format a duration: 45 s, 3 min, 2 h 10 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
