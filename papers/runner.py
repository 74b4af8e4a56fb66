"""Run experiments: one study per problem and run, with a journal of finished entries."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track

import similis
from papers.experiments import Experiment, find_experiments
from papers.problems import Problem
from papers.published import PublishedCell
from papers.verdict import ReproducedCell, judge
from similis.study import Method, Study

QUICK_RUNS = 4
Outcome = dict[str, Any]  # {"values", "chosen", "seconds", "when", "commit"}, or {"failed": reason}


@dataclass(frozen=True)
class Reproduction:
    """Published and reproduced figures of some tables.

    Attributes
    ----------
    cells : list of ReproducedCell
        Misses first, the largest at the top.
    runs : dict of str to int
        Number of runs by table.
    without : dict of str to dict
        Methods and data sets of each table that are not available.
    seconds : float
        Wall time of this call.
    methods : tuple of str or None
        The methods asked for; None for all.
    """

    cells: list[ReproducedCell]
    runs: dict[str, int]
    without: dict[str, dict[str, list[str]]]
    seconds: float = 0.0
    methods: tuple[str, ...] | None = None

    @property
    def misses(self) -> list[ReproducedCell]:
        """Cells that disagree or have no figure of ours."""
        return [cell for cell in self.cells if cell.is_miss]

    def table(self, key: str) -> list[ReproducedCell]:
        """Cells of one table, named like ``cazzanti2007:6.1``."""
        return [cell for cell in self.cells if f"{cell.paper}:{cell.table}" == key]


def default_cache() -> Path:
    """Folder of the journals unless another is given: in the user's cache, by version of similis."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "similis" / "papers" / similis.__version__


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
        At most four runs: a first look.
    n_jobs : int, optional
        Number of processes. The figures do not depend on it.
    cache : path-like, optional
        Folder of journals, created if needed. A run that was stopped resumes from it. None: no journals.
    progress : bool, default=False
        Show a progress bar on standard error.

    Returns
    -------
    Reproduction

    Notes
    -----
    Benchmark-only data are found through ``SIMILIS_DATA``; cells that need missing data are listed with that reason.

    Examples
    --------
    >>> from papers import reproduce_tables
    >>> result = reproduce_tables(["cazzanti2007:6.1"], methods=["naive-bayes"], runs=2)
    >>> len(result.cells), result.runs
    (26, {'cazzanti2007:6.1': 2})
    """
    start = time.perf_counter()
    experiments = find_experiments(tables)
    n_runs = {e.key: min(runs or e.runs, QUICK_RUNS) if quick else runs or e.runs for e in experiments}
    plan = [
        (experiment, cell, experiment.problem(cell))
        for experiment in experiments
        for cell in experiment.cells()
        if methods is None or cell.method in methods
    ]
    obstacles = {problem: problem.obstacle() for problem in dict.fromkeys(problem for *_, problem in plan)}
    # The methods of each problem and run; a problem that two tables share is solved once.
    tasks: dict[tuple[Problem, int], dict[str, Method]] = {}
    for experiment, cell, problem in plan:
        if not obstacles[problem]:
            for run in experiment.run_numbers(problem, cell.method, n_runs[experiment.key]):
                tasks.setdefault((problem, run), {})[cell.method] = experiment.methods[cell.method]
    finished = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(run_once)(problem, run, list(some.values()), cache) for (problem, run), some in tasks.items()
    )
    bar = track(finished, "runs", len(tasks), console=Console(stderr=True), transient=True, disable=not progress)
    outcomes = dict(zip(tasks, bar))
    cells = [
        judged
        for experiment, cell, problem in plan
        for judged in _judge(experiment, cell, problem, obstacles[problem], outcomes, n_runs[experiment.key])
    ]
    return Reproduction(
        cells=sorted(cells, key=lambda cell: cell.urgency),
        runs=n_runs,
        without={e.key: e.without() for e in experiments},
        seconds=round(time.perf_counter() - start, 2),
        methods=None if methods is None else tuple(methods),
    )


def run_once(
    problem: Problem, run: int, methods: list[Method], cache: str | os.PathLike[str] | None = None
) -> dict[str, Outcome]:
    """Run the study of one run of a problem; return an outcome by method."""
    data = problem.data(run)
    seed = int(problem.generator(run, 1).integers(2**31))
    splits = problem.splits(run, data)
    journal = None
    if cache is not None:
        journal = Path(cache) / problem.file_name() / f"{run}.jsonl"
        journal.parent.mkdir(parents=True, exist_ok=True)
    study = Study(
        [problem.adapt(method, run, data) for method in methods],
        n_jobs=1,  # repetitions run in parallel
        journal=journal,
        retry_failed=True,
        probabilities=False,
        metric="error",  # the papers choose parameters by plain error
        race=False,
        landmarks=None,
    )
    start, processor = time.perf_counter(), time.process_time()
    result = study.run(
        data.matrix,
        data.labels,
        kind=data.kind,
        objects=data.objects,
        splits=[(train, test, seed) for train, test in splits],
        note={"commit": source_commit()},
    )
    if result.partial:
        raise KeyboardInterrupt
    # Part of the time that this process had a core: what others take is not counted.
    share = min(1.0, (time.process_time() - processor) / (time.perf_counter() - start))
    session = result.sessions[-1]["id"]
    truth = result.codes[np.concatenate([test for _, test in splits])]
    commits = {session["id"]: session.get("commit", "") for session in result.sessions}
    outcomes: dict[str, Outcome] = {}
    for method in methods:
        entries = [result.entries[method.name, split.number] for split in result.splits]
        failed = [entry.reason for entry in entries if not entry.ok]
        if failed:
            outcomes[method.name] = {"failed": failed[0]}
            continue
        chosen = [entry.params for entry in entries]
        outcomes[method.name] = {
            "values": problem.values(entries, truth),
            "chosen": max(chosen, key=chosen.count),  # over the folds of leave-one-out, the most frequent
            "seconds": round(
                sum((e.fit_seconds + e.predict_seconds) * (share if e.session == session else 1) for e in entries), 4
            ),
            "when": max(entry.finished for entry in entries),
            "commit": ", ".join(dict.fromkeys(commits.get(entry.session, "") for entry in entries)),
        }
    return outcomes


def _judge(
    experiment: Experiment,
    cell: PublishedCell,
    problem: Problem,
    obstacle: str,
    outcomes: dict[tuple[Problem, int], dict[str, Outcome]],
    runs: int,
) -> Iterator[ReproducedCell]:
    """Compare a published cell, in all its variants, with the outcomes of our runs."""
    numbers = [] if obstacle else experiment.run_numbers(problem, cell.method, runs)
    for variant in experiment.variants:
        yield judge(
            cell,
            variant,
            [outcomes[problem, run][cell.method] for run in numbers],
            paper_runs=problem.paper_runs,
            in_order=problem.in_order,
            resolution=0.0 if obstacle else problem.resolution,
            stand_in=not experiment.is_printed(cell),
            reason=obstacle,
        )


@cache
def source_commit() -> str:
    """Commit of the sources, marked ``+`` where a source file differs from it; empty outside a repository."""
    root = Path(__file__).parents[1]
    queries = (
        ("rev-parse", "--short=10", "HEAD"),
        (
            "status",
            "--porcelain",
            "--untracked-files=no",
            "--",
            str(Path(similis.__file__).parent),
            str(root / "papers"),
        ),
    )
    try:
        head, changed = (
            subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True).stdout.strip()
            for words in queries
        )
    except (OSError, subprocess.CalledProcessError):
        return ""
    return head + ("+" if changed else "")
