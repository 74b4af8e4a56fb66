"""Order of the work in a study: rounds of a race, or fair shares of a time budget."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
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
    """Methods to drop, given the results so far: t > 1.28 and at least one point worse than the leader.

    A point is 0.01 of the metric; for costs, 0.01 of the mean of the costs that are not zero.
    """
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
    _running: dict[tuple[str, int], float] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._checkpoints = checkpoints(len(self.result.splits)) if self.race else []

    def name(self) -> str:
        """Fingerprint of budget, methods, splits and checkpoints: decisions of another plan do not apply."""
        tasks = [(*task.key, task.spec) for task in self.tasks]
        return blake2b(repr((self.budget, self._checkpoints, tasks)).encode(), digest_size=8).hexdigest()

    def add(self, entry: Entry) -> None:
        """Add a finished entry."""
        self.entries[entry.key] = entry
        self._running.pop(entry.key, None)

    def apply(self, decisions: Iterable[dict[str, Any]]) -> None:
        """Repeat the decisions of an earlier run of the same plan."""
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
        end = {**self.skipped, **self.dropped}
        entries = {}
        for task in self.tasks:
            name, split = task.key
            if task.key in self.entries and split < min(len(splits), end.get(name, len(splits))):
                entries[task.key] = self.entries[task.key]
        dropped, skipped = dict(self.dropped), dict(self.skipped)
        return replace(self.result, splits=splits, entries=entries, dropped=dropped, skipped=skipped)

    def rounds(self) -> Iterator[list[Task]]:
        """Yield the open tasks up to each checkpoint; after each round, which must be finished, drop methods.

        Decisions depend on the entries alone: not on the number of processes, nor on interruptions.
        """
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
        before = sum(_seconds(entry) for entry in self.entries.values())
        rest = self.budget - min(self.preparation, self.budget / 2)
        deadline = time.monotonic() + rest - before / n_jobs
        while True:
            used: dict[str, float] = dict.fromkeys((task.method.name for task in self.tasks), 0.0)
            times = {key: _seconds(entry) for key, entry in list(self.entries.items())} | self._running
            for key, seconds in times.items():
                used[key[0]] += seconds
            next_tasks: dict[str, Task] = {}
            for task in self.open_tasks():
                if task.key not in self._running:
                    next_tasks.setdefault(task.method.name, task)
            if not next_tasks:
                return
            costs = {name: self.expected_seconds(name) for name in next_tasks}
            name = min(next_tasks, key=lambda name: (used[name], costs[name]))
            if costs[name] > deadline - time.monotonic():
                self._decide("skipped", name, next_tasks[name].key[1], expected=round(costs[name], 3))
                continue
            self._running[next_tasks[name].key] = costs[name]
            yield next_tasks[name]

    def release(self, key: tuple[str, int]) -> None:
        """Return a task that another process has claimed."""
        self._running.pop(key, None)

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
        """Time of the next split of a method: the median of its own, else the estimate, corrected by the others'.

        The first fits of a process also import and compile: a correction needs three methods expected to take long.
        """
        times: dict[str, list[float]] = {}
        for (name, _), entry in list(self.entries.items()):
            times.setdefault(name, []).append(_seconds(entry))
        if method in times:
            return median(times[method])
        if method in self.expected:
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
