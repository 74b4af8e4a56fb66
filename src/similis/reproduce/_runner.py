"""Runs experiments: what is cached is not computed again, what is finished is cached at once."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from similis._utils.messages import track
from similis.reproduce._cache import RunCache
from similis.reproduce._experiments import Experiment, find_experiments
from similis.reproduce._method import Method
from similis.reproduce._problems import Problem
from similis.reproduce._verdict import Comparison, compare

__all__ = ["QUICK_RUNS", "Reproduction", "reproduce_tables"]

QUICK_RUNS = 4


@dataclass(frozen=True)
class Reproduction:
    """What came of it.

    Attributes
    ----------
    comparisons : list of Comparison
        Misses first, the largest at the top.
    runs : dict of str to int
        Runs behind our figures, by table.
    without : dict of str to dict
        Methods and data sets of each table that are not available.
    seconds : float
        Time this call took; cached runs take none.
    methods : tuple of str or None
        The methods asked for; None for all.
    """

    comparisons: list[Comparison]
    runs: dict[str, int]
    without: dict[str, dict[str, list[str]]]
    seconds: float = 0.0
    methods: tuple[str, ...] | None = None

    @property
    def misses(self) -> list[Comparison]:
        """Comparisons that disagree or have no figure of ours."""
        return [comparison for comparison in self.comparisons if comparison.is_miss]

    def table(self, key: str) -> list[Comparison]:
        """Comparisons of one table, named like ``cazzanti2007:6.1``."""
        return [comparison for comparison in self.comparisons if f"{comparison.paper}:{comparison.table}" == key]


@dataclass
class _Task:
    """One run of one problem, with the methods that are still to be done, by their keys in the cache."""

    problem: Problem
    run: int
    methods: dict[str, Method] = field(default_factory=dict)

    def work(self) -> list[tuple[str, dict[str, Any]]]:
        with threadpool_limits(1):
            return list(self.problem.outcomes(self.methods, self.run))


def reproduce_tables(
    tables: list[str] | tuple[str, ...] | None = None,
    *,
    methods: list[str] | tuple[str, ...] | None = None,
    runs: int | None = None,
    quick: bool = False,
    n_jobs: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Reproduction:
    """Run the papers' experiments and compare with the published figures.

    Parameters
    ----------
    tables : list of str, optional
        Papers (``"chen2010"``) or tables (``"cazzanti2007:6.1"``); all by default, or by ``["all"]``.
    methods : list of str, optional
        Only these methods, by their names in the published files.
    runs : int, optional
        Number of runs instead of the papers'.
    quick : bool, default=False
        Four runs at most: a look, not a verdict to rely on.
    n_jobs : int, optional
        Number of processes. The figures do not depend on it.
    cache : path-like, optional
        File of finished runs; made if need be. None keeps nothing.
    progress : bool, default=False
        Show a bar on standard error.

    Returns
    -------
    Reproduction
        Comparisons, misses first.

    Notes
    -----
    Benchmark-only data are found through ``SIMILIS_DATA``; tables that need what is not there are listed with that
    reason. A run interrupted and started again with the same `cache` computes nothing twice.

    Examples
    --------
    >>> from similis.reproduce import reproduce_tables
    >>> result = reproduce_tables(["cazzanti2007:6.1"], methods=["naive-bayes"], runs=2)
    >>> len(result.comparisons), result.runs
    (26, {'cazzanti2007:6.1': 2})
    """
    start = time.perf_counter()
    store = RunCache(cache)
    experiments = find_experiments(tables)
    n_runs = {e.key: min(runs or e.runs, QUICK_RUNS) if quick else runs or e.runs for e in experiments}
    plan = [_Planned(e, n_runs[e.key], methods) for e in experiments]
    tasks = _tasks(plan, store)
    done = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(delayed(task.work)() for task in tasks)
    for outcomes in track(done, total=len(tasks), description="runs", enabled=progress):
        store.put(outcomes)
    comparisons = [comparison for planned in plan for comparison in planned.comparisons(store)]
    return Reproduction(
        comparisons=sorted(comparisons, key=lambda comparison: comparison.urgency),
        runs=n_runs,
        without={e.key: e.without() for e in experiments},
        seconds=round(time.perf_counter() - start, 2),
        methods=None if methods is None else tuple(methods),
    )


class _Planned:
    """An experiment with its number of runs and, per problem, the reason why it cannot be run, if there is one."""

    def __init__(self, experiment: Experiment, runs: int, methods: Any) -> None:
        self.experiment = experiment
        self.runs = runs
        self.cells = [cell for cell in experiment.cells() if methods is None or cell.method in methods]
        self.problems = [experiment.problem(cell) for cell in self.cells]
        self.obstacles = {problem: problem.obstacle() for problem in dict.fromkeys(self.problems)}

    def wanted(self) -> Iterator[tuple[Problem, str, Method]]:
        """Problem and method of every cell that can be run."""
        for cell, problem in zip(self.cells, self.problems):
            if not self.obstacles[problem]:
                yield problem, cell.method, self.experiment.methods[cell.method]

    def numbers(self, problem: Problem, method: Method) -> range:
        """Numbers of the runs that a method takes part in."""
        return range(min(self.runs, method.runs or self.runs, problem.most_runs or self.runs))

    def comparisons(self, store: RunCache) -> Iterator[Comparison]:
        """Compare every cell with what the store holds."""
        for cell, problem in zip(self.cells, self.problems):
            reason, method = self.obstacles[problem], self.experiment.methods[cell.method]
            keys = [] if reason else [_key(problem, run, cell.method, method) for run in self.numbers(problem, method)]
            outcomes = [outcome for outcome in map(store.get, keys) if outcome is not None]
            for variant in self.experiment.variants:
                yield compare(
                    cell,
                    variant,
                    outcomes,
                    paper_runs=problem.paper_runs,
                    in_order=problem.in_order,
                    resolution=0.0 if reason else problem.resolution,
                    beside=cell.dataset in self.experiment.beside.values(),
                    reason=reason,
                )


def _tasks(plan: list[_Planned], store: RunCache) -> list[_Task]:
    """What is not in the store, a task for every problem and run; the same problem of two tables is solved once."""
    tasks: dict[tuple[Problem, int], _Task] = {}
    for planned in plan:
        for problem, name, method in planned.wanted():
            for run in planned.numbers(problem, method):
                key = _key(problem, run, name, method)
                if store.get(key) is None:
                    tasks.setdefault((problem, run), _Task(problem, run)).methods[key] = method
    return list(tasks.values())


def _key(problem: Problem, run: int, name: str, method: Method) -> str:
    return f"{problem.name} | {name} {method.fingerprint} | {run}"
