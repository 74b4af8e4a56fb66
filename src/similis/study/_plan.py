"""Order of the work in a study, by rounds of a race or fair shares of a time budget, and its progress."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import KW_ONLY, dataclass, field, replace
from hashlib import blake2b
from statistics import median
from typing import TYPE_CHECKING, Any

from similis.study._entry import Entry
from similis.study._evaluate import Task

if TYPE_CHECKING:
    from similis.study._result import StudyResult

_STATISTIC = 1.28  # one-sided 10 % of one comparison: dropping a good method costs less than running a poor one
_MARGIN = 0.01  # one point of error
_FIRST = 5  # splits before the first decision
_LONG = 0.2  # seconds of a split from which a method shows how fast the machine is


def checkpoints(n_splits: int) -> list[int]:
    """Numbers of splits after which methods may be dropped: 5, 7, 10, 14, 20, 28, ..., below the number of splits."""
    return sorted(r for k in range(30) for r in (_FIRST << k, 7 << k) if r < n_splits)


def find_losers(result: StudyResult) -> list[str]:
    """Methods to drop: t > 1.28 and at least one point, 0.01 of the metric or of the mean cost, behind the leader."""
    margin, costs = _MARGIN, result.expected_costs
    if result.metric == "cost" and costs is not None and (costs > 0).any():
        margin *= float(costs[costs > 0].mean())
    tested = [d for d in result.differences().values() if d.verdict not in ("best", "too few objects")]
    behind = [d.method for d in tested if d.statistic > _STATISTIC and d.difference > margin - 1e-12]
    return [method for method in behind if method not in result.dropped]


@dataclass(eq=False, repr=False)
class Plan:
    """Tasks of a study, the entries so far, and the decisions which methods run on."""

    tasks: list[Task]  # by split, then by method
    result: StudyResult  # without entries
    _: KW_ONLY
    race: bool  # whether methods are dropped
    budget: float | None = None  # seconds of wall time for preparation and all tasks
    expected: dict[str, float] = field(default_factory=dict)  # estimated seconds of a split by method
    preparation: float = 0.0  # seconds of reading and checking the data; at most half of the budget counts

    entries: dict[tuple[str, int], Entry] = field(default_factory=dict, init=False)
    dropped: dict[str, int] = field(default_factory=dict, init=False)
    skipped: dict[str, int] = field(default_factory=dict, init=False)
    _decisions: list[dict[str, Any]] = field(default_factory=list, init=False)
    _tested: dict[str, int] = field(default_factory=dict, init=False)  # last checkpoint at which a method was tested
    running: dict[tuple[str, int], float] = field(default_factory=dict, init=False)  # expected seconds
    _deadline: float | None = field(default=None, init=False)  # of the budget, on the monotonic clock

    def __post_init__(self) -> None:
        self._checkpoints = checkpoints(len(self.result.splits)) if self.race else []

    def name(self) -> str:
        """Fingerprint of budget, methods, splits and checkpoints: decisions of another plan do not apply."""
        tasks = [(*task.key, task.spec) for task in self.tasks]
        return blake2b(repr((self.budget, self._checkpoints, tasks)).encode(), digest_size=8).hexdigest()

    def add(self, entry: Entry) -> None:
        self.entries[entry.key] = entry
        self.running.pop(entry.key, None)

    def apply(self, decisions: Iterable[dict[str, Any]]) -> None:
        for found in decisions:
            {"dropped": self.dropped, "skipped": self.skipped}[found["what"]][found["method"]] = int(found["after"])

    def new_decisions(self) -> list[dict[str, Any]]:
        """Decisions made by the clock since the last call."""
        new, self._decisions = self._decisions, []
        return new

    def open_tasks(self) -> list[Task]:
        """Tasks without an entry whose method runs on."""
        ended = self.dropped.keys() | self.skipped.keys()
        return [task for task in self.tasks if task.key not in self.entries and task.method.name not in ended]

    def snapshot(self, n_splits: int | None = None) -> StudyResult:
        """Results so far, on the first `n_splits` splits."""
        splits = self.result.splits[:n_splits]
        n, end = len(splits), self.skipped | self.dropped
        keys = [task.key for task in self.tasks if task.key in self.entries]
        entries = {(name, r): self.entries[name, r] for name, r in keys if r < min(n, end.get(name, n))}
        dropped, skipped = dict(self.dropped), dict(self.skipped)
        return replace(self.result, splits=splits, entries=entries, dropped=dropped, skipped=skipped)

    def rounds(self) -> Iterator[list[Task]]:
        """Yield the open tasks up to each checkpoint; after each round, which must be finished, drop methods."""
        n_splits = len(self.result.splits)
        for end in [*self._checkpoints, n_splits]:
            batch = [task for task in self.open_tasks() if task.split.number < end]
            if batch:
                yield batch
            if end < n_splits:
                self.dropped |= dict.fromkeys(find_losers(self.snapshot(end)), end)

    def fair_share(self, n_jobs: int) -> Iterator[Task]:
        """Yield the next split of the method with the least time while the budget lasts; skip those that do not fit."""
        assert self.budget is not None
        if self._deadline is None:  # else a worker was killed, and this goes on
            before = sum(_seconds(entry) for entry in self.entries.values())
            rest = self.budget - min(self.preparation, self.budget / 2)
            self._deadline = time.monotonic() + rest - before / n_jobs
        while True:
            used: dict[str, float] = dict.fromkeys((task.method.name for task in self.tasks), 0.0)
            times = {key: _seconds(entry) for key, entry in list(self.entries.items())} | self.running
            for key, seconds in times.items():
                used[key[0]] += seconds
            next_tasks: dict[str, Task] = {}
            for task in self.open_tasks():
                if task.key not in self.running:
                    next_tasks.setdefault(task.method.name, task)
            if not next_tasks:
                return
            costs = {name: self.expected_seconds(name) for name in next_tasks}
            name = min(next_tasks, key=lambda name: (used[name], costs[name]))
            if costs[name] > self._deadline - time.monotonic():
                self._decide("skipped", name, next_tasks[name].key[1], expected=round(costs[name], 3))
                continue
            self.running[next_tasks[name].key] = costs[name]
            yield next_tasks[name]

    def drop_losers(self) -> None:
        """Under a time budget: drop methods that share a new checkpoint with the leader and have lost."""
        result = self.snapshot()
        leader = result.leader() if self._checkpoints else None
        if leader is None:
            return
        reached = {}
        for name in {method for method, _ in result.entries} - self.dropped.keys() - self.skipped.keys():
            shared = min(self._n_done(name), self._n_done(leader))
            reached[name] = max((r for r in self._checkpoints if r <= shared), default=0)
        new = {name for name, r in reached.items() if r > self._tested.get(name, 0)}
        self._tested |= reached
        for name in find_losers(result) if new else []:
            if name in new and self._n_done(name) < len(result.splits):
                self._decide("dropped", name, self._n_done(name))

    def expected_seconds(self, method: str) -> float:
        """Time of the next split of a method: the median of its own, or the estimate, corrected by the others'."""
        times: dict[str, list[float]] = {}
        for (name, _), entry in list(self.entries.items()):
            times.setdefault(name, []).append(_seconds(entry))
        if method in times:
            return median(times[method])
        if method in self.expected:
            # The first fits of a process also import and compile.
            long = [name for name in times if self.expected.get(name, 0.0) > _LONG]
            ratios = [median(times[name]) / self.expected[name] for name in long]
            return self.expected[method] * (median(ratios) if len(ratios) > 2 else 1.0)
        return median([seconds for found in times.values() for seconds in found]) if times else 0.0

    def _n_done(self, method: str) -> int:
        """Number of finished splits of a method, without those after a gap."""
        numbers = {split for name, split in list(self.entries) if name == method}
        return next(r for r in range(len(numbers) + 1) if r not in numbers)

    def _decide(self, what: str, method: str, after: int, **facts: Any) -> None:
        decision = {"what": what, "method": method, "after": after, **facts}
        self.apply([decision])
        self._decisions.append(decision)


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
    entry : Entry
        Entry that was finished last.
    leader : str or None
        Leading method so far; None before the first complete split.
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


@dataclass(eq=False)
class Watcher:
    """Call a function at once, then after a pause in seconds, and for at most a tenth of the time."""

    call: Callable[[], Any]
    pause: float = 5.0
    next: float = field(default=0.0, init=False)
    result: Any = field(default=None, init=False)

    def __call__(self) -> Any:
        """Call the function if the pause is over; return its last result."""
        begin = time.monotonic()
        if begin >= self.next:
            self.result = self.call()
            end = time.monotonic()
            self.next = end + max(self.pause, 9 * (end - begin))
        return self.result


def clock(seconds: float) -> str:
    """Format a duration: 45 s, 3 min, 2 h 10 min."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def format_seconds(value: float) -> str:
    return f"{value:.2g}" if value < 10 else f"{value:,.0f}"


def as_seconds(value: Any) -> float:
    """Convert a duration to seconds: a number of seconds, or a text such as "90s", "5m", "1.5h" or "1h30m"."""
    words = re.fullmatch(r"(?:(\d+\.?\d*)h)?(?:(\d+\.?\d*)m(?:in)?)?(?:(\d+\.?\d*)s?)?", str(value).replace(" ", ""))
    numbers = () if isinstance(value, bool) or words is None else words.groups()
    seconds = sum(float(number or 0) * unit for number, unit in zip(numbers, (3600, 60, 1)))
    if seconds <= 0:
        usage = "time_budget must be a number of seconds, or a text such as '90s', '5m' or '2h'."
        raise ValueError(f"{usage} Got {str(value)[:40]!r}.")
    return seconds


def _seconds(entry: Entry) -> float:
    return entry.fit_seconds + entry.predict_seconds
