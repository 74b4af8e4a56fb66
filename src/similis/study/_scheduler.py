"""Tasks over processes: whoever is free takes the next one, claims it in the journal, and writes down what came out."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.externals.loky.process_executor import BrokenProcessPool
from joblib.parallel import get_active_backend

from similis.study._assemble import Situation
from similis.study._entry import Entry
from similis.study._evaluate import Task, evaluate
from similis.study._journal import Journal
from similis.study._problem import Problem
from similis.study._protocol import Protocol

__all__ = ["Context", "run_tasks"]

_PATIENCE = 2.0  # seconds between looks at entries that another study is computing
_KILLED = "MemoryError: its worker process was killed, probably for lack of memory; use fewer jobs, or leave it out."


@dataclass(frozen=True, eq=False)
class Context:
    """What all tasks of a run share."""

    problem: Problem
    protocol: Protocol
    situation: Situation
    session: str
    journal: str | None = None
    retry_failed: bool = False
    owner: int = field(default_factory=os.getpid)


def run_tasks(tasks: list[Task], context: Context, *, n_jobs: int | None, on_done: Callable[[Entry], None]) -> bool:
    """Run tasks until all have an entry; True, or False if the user interrupted.

    `on_done` is called in this process with each entry as it is finished, in any order.
    """
    waiting = {task.key: task for task in tasks}
    pause = 0.05
    try:
        while waiting:
            before = len(waiting)
            for key, entry in _stream(list(waiting.values()), context, effective_n_jobs(n_jobs)):
                if entry is not None:
                    del waiting[key]
                    on_done(entry)
            if waiting:  # another study has claimed the rest: look again until it has finished them or given up
                pause = 0.05 if len(waiting) < before else min(2 * pause, _PATIENCE)
                time.sleep(pause)
    except KeyboardInterrupt:
        return False
    return True


Done = tuple[tuple[str, int], Entry | None]


def _stream(tasks: list[Task], context: Context, n_jobs: int) -> Iterator[Done]:
    if n_jobs == 1 or len(tasks) == 1:
        for task in tasks:
            yield _work(task, context)
        return
    at_work: dict[tuple[str, int], Task] = {}

    def calls() -> Iterator[Any]:
        for task in tasks:
            at_work[task.key] = task
            yield delayed(_work)(task, context)

    with _backend(n_jobs):
        pool = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")
        answers: Iterable[Done] = pool(calls())
        try:
            for done in answers:
                del at_work[done[0]]
                yield done
        except BrokenProcessPool:  # a worker was killed: one of these tasks was too much, each gets a chance alone
            _stop_workers()
            yield from (_work_alone(task, context) for task in at_work.values())
        except BaseException:
            _stop_workers()
            raise


def _backend(n_jobs: int) -> parallel_config:
    """Processes of this machine, or the cluster that the caller has chosen."""
    active, _ = get_active_backend()
    if type(active).__name__ == "DaskDistributedBackend":
        return parallel_config(n_jobs=n_jobs)
    return parallel_config(backend="loky", n_jobs=n_jobs, inner_max_num_threads=1)


def _work_alone(task: Task, context: Context) -> Done:
    """Evaluate a task in a worker process of its own; an entry with the reason if that is killed, too."""
    try:
        done: list[Done] = Parallel(n_jobs=2, batch_size=1)([delayed(_work)(task, context)])
    except BrokenProcessPool:
        _stop_workers()
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        name, split = task.key
        killed = Entry(name, split, task.spec, status="failed", reason=_KILLED, finished=now, session=context.session)
        return task.key, killed
    except KeyboardInterrupt:
        _stop_workers()
        raise
    return done[0]


def _work(task: Task, context: Context) -> Done:
    """Evaluate a task unless it is finished already; None where another process is at it."""
    _end_with(context.owner)
    if context.journal is None:
        return task.key, evaluate(task, context.problem, context.protocol, context.situation, context.session)
    journal = journal_here(context.journal)
    with journal.claim(*task.journal_key) as mine:
        if not mine:
            return task.key, None
        journal.refresh()
        entry = journal.find(*task.journal_key)
        if entry is None or (context.retry_failed and not entry.ok and entry.session != context.session):
            entry = evaluate(task, context.problem, context.protocol, context.situation, context.session)
            if not entry.reason.startswith("MemoryError"):  # there may be more memory next time
                journal.append(entry)
    return task.key, entry


_watched: set[int] = set()


def _end_with(owner: int) -> None:
    """Let a worker process end when its owner is gone, so that nothing goes on computing after a kill."""
    if owner in _watched or os.getppid() != owner:
        return
    _watched.add(owner)

    def watch() -> None:
        while os.getppid() == owner:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


_open: dict[str, Journal] = {}


def journal_here(path: str) -> Journal:
    """The one handle of a journal in this process; two would give up each other's locks."""
    journal = _open.get(path)
    if journal is not None and not _same_file(journal, path):
        journal.close()
        journal = None
    if journal is None:
        journal = _open[path] = Journal(path)
    return journal


def forget_journal(path: str) -> None:
    """Close the handle in this process."""
    journal = _open.pop(path, None)
    if journal is not None:
        journal.close()


def _same_file(journal: Journal, path: str) -> bool:
    try:
        return journal.is_file(os.stat(path))
    except FileNotFoundError:
        return False


def _stop_workers() -> None:
    """End the worker processes at once, whatever they are computing; the next run starts new ones."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True, kill_workers=True)
