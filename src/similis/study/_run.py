"""Run a study: every method on every split, with a journal of finished entries."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import KW_ONLY, dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from secrets import token_hex
from typing import Any, Literal

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from joblib.externals.loky import get_reusable_executor
from joblib.externals.loky.process_executor import BrokenProcessPool
from joblib.parallel import get_active_backend
from numpy.typing import ArrayLike
from sklearn.dummy import DummyClassifier, DummyRegressor

from similis import _kernels
from similis._utils.cache import CACHE
from similis._utils.environment import machine, peak_memory, versions
from similis._utils.messages import warn_user
from similis.base import Kind, SparseRows
from similis.exceptions import InputWarning, ProximityError
from similis.study._assemble import Goal, MatrixFacts, assemble, make_goal
from similis.study._differences import OF_LABELS, choose_metric
from similis.study._entry import Entry, MethodInfo
from similis.study._estimate import Estimate, expect_seconds, put_on_landmarks
from similis.study._evaluate import Context, Task, evaluate, is_environment_failure
from similis.study._journal import Journal, JournalWarning
from similis.study._methods import Method, MethodIdentity, expand_methods, find_methods
from similis.study._methods import Task as TaskName
from similis.study._metrics import OF_VALUES
from similis.study._plan import Plan, Progress, Watcher, as_seconds, show_progress
from similis.study._problem import Problem, choose_task, make_problem
from similis.study._protocol import Protocol, Scheme, Split, given_splits
from similis.study._result import StudyResult

_MAX_PAUSE = 2.0  # seconds between checks of entries that another study is computing
_LONGEST = 60.0  # seconds of a split from which a method runs on landmarks
_SHORT = 15.0  # seconds of work for which one process is enough: starting others would take longer
_ONLY_LABELS = DummyClassifier, DummyRegressor  # do not read the matrix
_LANDMARKS = "landmarks"  # key of these decisions in a journal
_KILLED = "MemoryError: its worker process was killed, probably for lack of memory; use fewer jobs, or leave it out."


def run_plan(plan: Plan, context: Context, n_jobs: int) -> Generator[Entry, None, None]:
    """Run the tasks of a plan, in rounds or within its time budget; yield each entry after it was added to the plan."""
    if plan.budget is None:
        for batch in plan.rounds():
            pause = 0.05
            while waiting := [task for task in batch if task.key not in plan.entries]:
                with closing(_evaluate_all(waiting, context, n_jobs)) as finished:  # closing stops the workers
                    for _, entry in finished:
                        if entry is not None:
                            plan.add(entry)
                            yield entry
                n_left = sum(task.key not in plan.entries for task in waiting)
                if n_left:  # another study has claimed the rest: check until it has finished or released them
                    pause = 0.05 if n_left < len(waiting) else min(2 * pause, _MAX_PAUSE)
                    time.sleep(pause)
        return
    found, lost = True, set[tuple[str, int]]()
    while found:  # again after a worker was killed
        found = False
        with closing(_evaluate_all(plan.fair_share(n_jobs), context, n_jobs, "n_jobs", lost)) as finished:
            for key, entry in finished:
                found = True
                if entry is None:  # another study is computing it, or its worker was killed
                    plan.running.pop(key, None)
                    time.sleep(0.2)
                else:
                    plan.add(entry)
                    plan.drop_losers()
                    yield entry


Done = tuple[tuple[str, int], Entry | None]  # key of a task and its entry; None if another process has claimed it


def _evaluate_all(
    tasks: Iterable[Task],
    context: Context,
    n_jobs: int,
    pre_dispatch: str = "2*n_jobs",
    lost: set[tuple[str, int]] | None = None,
) -> Generator[Done, None, None]:
    """Evaluate each task once, here or in worker processes; yield its key with the entry, or None if not claimed.

    If a worker is killed, its tasks and those of the others are run again, each alone. With `lost` (keys of tasks), a
    task that is not yet among them is added and not run again: its key is yielded with None.
    """
    if n_jobs == 1 or (isinstance(tasks, list) and len(tasks) == 1):
        for task in tasks:
            yield _evaluate_unless_done(task, context)
        return
    started: dict[tuple[str, int], Task] = {}

    def calls() -> Iterator[Any]:
        for task in tasks:
            started[task.key] = task
            yield delayed(_evaluate_unless_done)(task, context)

    # loky replaces a worker that was idle for long or whose memory has grown (by the cache); nothing is lost.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
    # Workers are processes of this machine, or the cluster that the caller has chosen.
    settings: dict[str, Any] = {} if _on_cluster() else {"backend": "loky", "inner_max_num_threads": 1}
    with parallel_config(n_jobs=n_jobs, **settings):
        pool = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch=pre_dispatch)
        finished: Generator[Done, None, None] = pool(calls())
        try:
            for done in finished:
                del started[done[0]]
                yield done
        except BrokenProcessPool:  # a worker was killed by one of these tasks
            _stop_workers()
            for task in started.values():
                first = lost is not None and task.key not in lost
                yield (task.key, None) if first else _evaluate_alone(task, context)
            if lost is not None:
                lost.update(started)
        finally:
            # Interrupted here or by the caller: joblib stops dispatching and kills the workers. Shutting down loky's
            # executor instead would wait for a thread that waits to dispatch the next task.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about tasks that are not finished
                finished.close()


def _evaluate_alone(task: Task, context: Context) -> Done:
    """Evaluate a task in its own worker process; if that is killed too, return a failed entry."""
    try:
        done: list[Done] = Parallel(n_jobs=2, batch_size=1)([delayed(_evaluate_unless_done)(task, context)])
        return done[0]
    except (BrokenProcessPool, KeyboardInterrupt) as error:
        _stop_workers()
        if isinstance(error, KeyboardInterrupt):
            raise
    now, session = datetime.now(UTC).isoformat(timespec="milliseconds"), context.session
    return task.key, Entry(*task.journal_key, status="failed", reason=_KILLED, finished=now, session=session)


def _evaluate_unless_done(task: Task, context: Context) -> Done:
    """Evaluate a task unless it is finished; return None where another process has claimed it."""
    if os.getpid() != context.owner:  # in a worker process
        _exit_with_owner(context.owner)
        CACHE.start_session(context.session)
    if context.journal is None:
        return task.key, evaluate(task, context)
    journal = open_journal(context.journal, context)
    with journal.claim(*task.journal_key) as mine:
        if not mine:
            return task.key, None
        journal.refresh()
        entry = journal.entries.get(task.journal_key)
        if entry is None or (context.retry_failed and not entry.ok and entry.session != context.session):
            entry = evaluate(task, context)
            if not is_environment_failure(entry):  # the next run may have more memory, space or packages
                journal.append(entry)
    return task.key, entry


def _on_cluster() -> bool:
    return type(get_active_backend()[0]).__name__ == "DaskDistributedBackend"


_watched_owners: set[int] = set()


def _exit_with_owner(owner: int) -> None:
    """End a worker process when the process that started it has ended or was killed."""
    if owner in _watched_owners or os.getppid() != owner:
        return
    _watched_owners.add(owner)

    def watch() -> None:
        while os.getppid() == owner:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


_open_journals: dict[str, Journal] = {}


def open_journal(path: str, context: Context | None = None) -> Journal:
    """Return the handle of a journal, one per process; a worker joins the study of its `context`."""
    # Closing a second handle would release the locks of the first. One of an earlier run is given up.
    journal = _open_journals.get(path)
    ours = context is not None and journal is not None and journal.session in ("", context.session)
    if journal is not None and not ours and not journal.is_at(path):
        close_journal(path)
        journal = None
    if journal is None:
        journal = _open_journals[path] = Journal(path)
    if context is not None and journal.session != context.session:
        journal.join(context.header)
        journal.session = context.session
    return journal


def close_journal(path: str) -> None:
    journal = _open_journals.pop(path, None)
    if journal is not None:
        journal.close()


def _stop_workers() -> None:
    """Kill the worker processes; the next run starts new ones."""
    get_reusable_executor().shutdown(wait=True, kill_workers=True)


@dataclass(eq=False, repr=False)
class Study:
    """Compare methods on a matrix of proximities by repeated splits, and test the differences.

    The protocol is that of [chen2010] sec. 4.3: in each of 20 random splits a fifth of the objects is held out, every
    method chooses its parameters by 10-fold cross-validation on the rest, is fitted there and predicts the held-out
    objects. Conversions, spectra and measures that learn are fitted inside the split.

    Parameters
    ----------
    methods : {"all", "quick"}, str, Method or sequence of these, default="all"
        Names from :func:`list_methods`, or methods of your own. For several matrices "all" are the methods that
        combine them, and on each matrix and on their mean those of "quick".
    protocol : {"random", "stratified", "kfold", "loo"}, default="random"
        Random splits; stratified random splits; k folds with k = 1 / `test_size`, repeated until there are `n_splits`;
        leave one out. With groups, whole groups are held out.
    n_splits : int, default=20
        Number of splits; not used by "loo".
    test_size : float, default=0.2
        Fraction of the objects that is held out.
    cv : int or "loo", default=10
        Stratified folds that choose the parameters inside each training part.
    random_state : int, default=0
        Seed of splits, folds and methods.
    n_jobs : int or None, default=None
        Number of worker processes, each with BLAS in one thread. None: what ``joblib.parallel_config`` sets, or else
        all cores, but one for a study of less than 15 seconds. Results do not depend on it, except under a time budget.
    journal : str or path-like, optional
        File to which every finished (split, method) is appended at once. A run on the same journal resumes, also
        after a crash; several runs at the same time share the work.
    retry_failed : bool, default=False
        Compute the failed entries of the journal again, for example after a package was updated.
    to_similarity : {"linear", "reciprocal", "rbf", "exponential"}, default="linear"
        How dissimilarities are converted for methods that read similarities.
    to_dissimilarity : {"max-minus", "reciprocal", "root"}, default="max-minus"
        How similarities are converted for methods that read dissimilarities.
    probabilities : bool, default=True
        False computes and keeps labels only, which saves time and a large part of the journal.
    metric : str, optional
        Metric that ranks the methods and chooses parameters: "error", "balanced_error", "cost", "log_loss",
        "perplexity" or "nce", the normalized cross entropy; in a regression "rmse" (the default), "mae", "r2", or
        "pinball(q)" with q one of 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95. None: the cost if there are costs or priors,
        else the error, or the balanced error if the smallest of G classes holds fewer than 0.4 n / G of n objects.
    race : bool, default=True
        Drop methods after 5, 7, 10, 14, 20, 28, ... splits that are at least one point and 1.28 standard errors worse
        than the leader, by the test over objects. There is no race with your own splits, leave-one-out, or fewer than 6
        splits.
    time_budget : float or str, optional
        Time for reading the data and all splits, in seconds or as "90s", "5m", "2h". The method that has used the least
        time gets the next split; one whose next split does not fit into the time left is skipped from then on.
    landmarks : int, "auto" or None, default="auto"
        Methods whose split is expected to take more than a minute, or a third of their share of a time budget, are
        fitted on so many training objects (:class:`~similis.distributed.OnLandmarks`); "auto": as many as the time
        allows, 500 to half of them. None runs every method on all objects, if the matrix fits into memory.
    task : {"classification", "regression"}, optional
        What is predicted; None: what :func:`choose_task` returns for `y`.

    Notes
    -----
    Split i depends on `random_state` and i alone: a journal of ten splits can be continued to twenty. A method that
    fails becomes a row with the reason. Ctrl-C ends a run with the results so far (``StudyResult.partial``).

    Examples
    --------
    >>> from similis import Study, make_similarity
    >>> S, y = make_similarity(60, separation=1.0, random_state=0)
    >>> result = Study(methods=["nc", "majority"], n_splits=4).run(S, y)
    >>> [(row.method, round(row.error, 3)) for row in result.table()]
    [('nc', 0.104), ('majority', 0.646)]
    """

    methods: str | Method | Sequence[str | Method] = "all"
    _: KW_ONLY
    protocol: Scheme = "random"
    n_splits: int = 20
    test_size: float = 0.2
    cv: int | Literal["loo"] = 10
    random_state: int = 0
    n_jobs: int | None = None
    journal: str | os.PathLike[str] | None = None
    retry_failed: bool = False
    to_similarity: str = "linear"
    to_dissimilarity: str = "max-minus"
    probabilities: bool = True
    metric: str | None = None
    race: bool = True
    time_budget: float | str | None = None
    landmarks: int | Literal["auto"] | None = "auto"
    task: TaskName | None = None

    def run(
        self,
        S: Any = None,
        y: Any = None,
        *,
        kind: Kind | Sequence[Kind] | None = None,
        ids: Sequence[Any] | None = None,
        groups: ArrayLike | None = None,
        costs: ArrayLike | str | None = None,
        priors: ArrayLike | str | None = None,
        measure: Any = None,
        objects: Any = None,
        splits: Iterable[Any] | None = None,
        progress: bool | Callable[[Progress], None] = False,
        watch: Callable[[StudyResult], None] | None = None,
        note: Mapping[str, Any] | None = None,
        announce: Callable[[Estimate], None] | None = None,
    ) -> StudyResult:
        """Run the study, or resume it from its journal.

        Parameters
        ----------
        S : array-like of shape (n, n) or (n, n, q), Proximity, or objects
            Proximities; with `measure`, the objects; None if every method reads the `objects`. On a stack of matrices
            methods run on each, ``knn[s1]``, and on the mean, ``knn[mean]``; ``sda`` and ``simmkl`` on all together.
        y : array-like of shape (n,)
            Class labels, or numbers to predict; those of a :class:`~similis.Proximity` need not be given again.
        kind : {"similarity", "dissimilarity"}, optional
            Kind of each matrix. None: that of the Proximity or the measure, else similarity.
        ids, groups : array-like of shape (n,), optional
            Names of the objects; objects of one group are never on both sides of a split or fold.
        costs : array-like of shape (G, G) or "balanced", optional
            ``costs[f, g]`` is the cost of predicting f when g is true (classes in sorted order), by which parameters
            are chosen and methods with probabilities decide. "balanced": an error costs n / (G n_g) for an object of a
            class with n_g of the n objects, so that the mean cost is the balanced error.
        priors : array-like of shape (G,) or "equal", optional
            Class probabilities of the objects to be predicted, where they differ from the class shares of the data.
        measure : measure, optional
            Turns objects into proximities. One that learns is fitted on each training part.
        objects : sequence of n objects, optional
            The objects behind the matrix, for methods with ``reads="objects"``.
        splits : iterable of (train, test) or (train, test, seed), optional
            Your own splits, indices or masks, in place of the protocol's; the seed, if any, is that of all methods in
            the split. A test part may be empty if every method has `details`: then methods are only fitted.
        progress : bool or callable, default=False
            Show a progress bar with the estimated time on standard error, or call a function after each entry.
        watch : callable, optional
            Called with the results so far, at intervals while the study runs.
        note : mapping, optional
            Facts to keep with this session in journal and results, such as the commit of your own code.
        announce : callable, optional
            Called before anything is computed with the :class:`Estimate` of the time that the open splits will take.
        """
        start = time.monotonic()
        protocol = self._protocol()
        given = {"kind": kind, "ids": ids, "groups": groups, "costs": costs, "priors": priors, "measure": measure}
        n_jobs = -1 if self.n_jobs is None else self.n_jobs
        problem = make_problem(S, y, **given, objects=objects, n_jobs=n_jobs, task=self.task)
        methods = self._expand(find_methods(self.methods, problem.task), problem.names)
        metric = self.metric
        if metric is None and problem.task == "classification":
            metric = choose_metric(problem.codes, weighted=problem.costs is not None or problem.priors is not None)
        goal = replace(make_goal(problem.task, metric, problem.costs, problem.priors, problem.codes), classes=None)
        if goal.metric not in (*OF_LABELS, *OF_VALUES) and not self.probabilities:
            raise ValueError(f"metric={self.metric!r} needs probabilities=True.")
        only_fitted = all(method.details is not None for method in methods)
        own = None if splits is None else given_splits(splits, problem.n, allow_empty_test=only_fitted)
        parts = protocol.splits(problem.codes, problem.groups) if own is None else own
        rules = self.to_similarity, self.to_dissimilarity
        facts = MatrixFacts(problem.kind, problem.symmetric, *rules, problem.is_missing(), problem.names, problem.kinds)
        if isinstance(problem.matrix, SparseRows):
            methods = _sparse_methods(methods, facts)
        budget = None if self.time_budget is None else as_seconds(self.time_budget)
        n_train = min(split.n_train for split in parts)
        n_classes = len(problem.classes) if problem.target is None else None
        header = _header(problem, protocol, facts, goal, bool(self.probabilities), own)
        path = None if self.journal is None else os.path.realpath(self.journal)
        n_jobs = self._n_workers(methods, n_train, n_classes, len(parts))
        known = []
        if path is not None and budget is not None and os.path.exists(path):
            known = open_journal(path).decisions(_LANDMARKS, header)
        methods, reduced = self._reduce(methods, n_train, n_classes, n_jobs, known, whole=problem.fits_in_memory)
        sizes = {method.name: protocol.inner_train_size(n_train, method.cv) for method in methods}
        identities = {method.name: method.identify(sizes[method.name]) for method in methods}
        infos = [_info(method, sizes[method.name], identities[method.name].spec, facts) for method in methods]
        tasks = [Task(method, info.grid, info.spec, split) for split in parts for method, info in zip(methods, infos)]
        session: dict[str, Any] = {"id": token_hex(6), "started": datetime.now(UTC).isoformat(timespec="seconds")}
        session |= {"versions": versions(), "machine": machine(), **(note or {})}
        settings = session["id"], path, self.retry_failed, bool(self.probabilities)
        context = Context(problem, protocol, facts, goal, *settings)
        same = ("classes", "codes", "ids", "groups", "costs", "priors", "measure", "target")
        result = StudyResult(
            splits=parts,
            methods=infos,
            entries={},
            protocol=protocol,
            situation=facts,
            partial=True,
            metric=goal.metric,
            sessions=[session],
            fingerprint=header,
            custom={method.name: method for method in methods},
            source=None if problem.matrix is None and problem.objects is None else problem,
            time_budget=budget,
            **{name: getattr(problem, name) for name in same},
        )
        race = bool(self.race) and splits is None and protocol.scheme != "loo"
        expected: dict[str, float] = {}
        unknown: tuple[str, ...] = ()
        if progress or announce is not None or budget is not None:
            expected, unknown = expect_seconds(methods, n_train, n_classes, protocol.n_inner(n_train))
        preparation = time.monotonic() - start
        plan = Plan(tasks, result, race=race, budget=budget, expected=expected, preparation=preparation)

        def tell() -> None:
            left = plan.open_tasks()
            if announce is not None and left:
                seconds = sum(plan.expected_seconds(task.method.name) for task in left) / n_jobs
                n_splits = len({task.split.number for task in left})
                announce(Estimate(seconds, expected, n_splits, n_train, n_jobs, unknown))

        return self._add_entries(plan, identities, context, n_jobs, progress, watch, tell, reduced)

    def _protocol(self) -> Protocol:
        return Protocol(self.protocol, self.n_splits, self.test_size, self.cv, self.random_state)

    def _expand(self, methods: list[Method], names: Sequence[str]) -> list[Method]:
        """Methods of a study of several matrices, of which "all" are the quick ones and those that combine matrices."""
        if not (names and isinstance(self.methods, str) and self.methods == "all"):
            return expand_methods(methods, names)
        combining = [m for m in methods if not m.quick and (m.reads == "objects" or m.reads_stack())]
        if methods[0].task == "classification":
            combining += find_methods("simmkl")
        return [*expand_methods([m for m in methods if m.quick], names), *combining]

    def estimate(self, S: Any = None, y: Any = None) -> Estimate:
        """Estimate how long the study will take, without running it; `S` and `y` as for :meth:`run`.

        It is computed from stored times of the methods and the speed of this machine, without the time that a measure
        takes. `S` is not read where `y` is given.
        """
        labels = getattr(S, "labels", None) if y is None else y
        n = len(S) if labels is None else len(labels)
        protocol = self._protocol()
        held_out = 1 if protocol.scheme == "loo" else max(1, round(n * self.test_size))
        n_train = max(1, n - held_out)
        n_splits = n if protocol.scheme == "loo" else protocol.n_splits
        values = getattr(S, "values", S)
        shape: tuple[int, ...] = getattr(values, "shape", ())
        names = (getattr(values, "names", None) or tuple(map(str, range(shape[2])))) if len(shape) == 3 else ()
        task = self.task or (None if labels is None else choose_task(labels))
        methods = self._expand(find_methods(self.methods, task), names)
        of_classes = labels is not None and task == "classification"
        n_classes = len(set(np.asarray(labels).ravel().tolist())) if of_classes else None
        n_jobs = self._n_workers(methods, n_train, n_classes, n_splits)
        methods, _ = self._reduce(methods, n_train, n_classes, n_jobs)
        per_split, unknown = expect_seconds(methods, n_train, n_classes, protocol.n_inner(n_train))
        seconds = n_splits * sum(per_split.values()) / n_jobs
        return Estimate(seconds, per_split, n_splits, n_train, n_jobs, unknown)

    def _n_workers(self, methods: list[Method], n_train: int, n_classes: int | None, n_splits: int) -> int:
        """Number of worker processes: by default all cores, and all workers of a cluster."""
        if self.n_jobs is not None or effective_n_jobs(None) > 1:
            return int(effective_n_jobs(self.n_jobs))
        backend, _ = get_active_backend()
        if backend.nesting_level or type(backend).__name__ != "LokyBackend":
            return int(effective_n_jobs(-1 if _on_cluster() else None))
        seconds, _ = expect_seconds(methods, n_train, n_classes, self._protocol().n_inner(n_train), speed=1.0)
        return 1 if n_splits * sum(seconds.values()) < _SHORT else int(effective_n_jobs(-1))

    def _reduce(
        self,
        methods: list[Method],
        n_train: int,
        n_classes: int | None,
        n_jobs: int,
        known: Any = (),
        whole: bool = True,
    ) -> tuple[list[Method], list[dict[str, Any]]]:
        """Put methods that are too slow on landmarks, as a `known` decision of a journal; return also new decisions."""
        budget = None if self.time_budget is None else as_seconds(self.time_budget)
        number = int(self.landmarks) if str(self.landmarks).isdecimal() else None  # type: ignore[arg-type]
        if number == 0 or (number is None and self.landmarks not in ("auto", None)):
            raise ValueError(f"landmarks must be 'auto', None, or a number of at least 1. Got {self.landmarks!r}.")
        if self.landmarks is None and whole:
            return methods, []
        for found in known:
            if found["budget"] == budget and list(found["sizes"]) == [method.name for method in methods]:
                sizes = found["sizes"].values()
                return [m if size is None else m.on_landmarks(size) for m, size in zip(methods, sizes)], []
        limit = _LONGEST if budget is None else budget * n_jobs / (3 * len(methods))
        speed = 1.0 if budget is None else None
        folds = self._protocol().n_inner(n_train)
        chosen = put_on_landmarks(methods, n_train, n_classes, folds, number, limit=limit, whole=whole, speed=speed)
        if budget is None:
            return chosen, []
        sizes = {old.name: new.landmarks if new is not old else None for old, new in zip(methods, chosen)}
        return chosen, [{"budget": budget, "sizes": sizes}]

    def _add_entries(
        self,
        plan: Plan,
        identities: dict[str, MethodIdentity],
        context: Context,
        n_jobs: int,
        progress: bool | Callable[[Progress], None],
        watch: Callable[[StudyResult], None] | None,
        tell: Callable[[], None],
        reduced: list[dict[str, Any]],
    ) -> StudyResult:
        """Take the entries of a plan from the journal or compute them; return the result with its entries."""
        path, result = context.journal, plan.snapshot()
        sessions = result.sessions
        with ExitStack() as stack:
            stack.enter_context(CACHE.release_new())
            if path is not None:
                journal = open_journal(path)
                stack.callback(close_journal, path)
                journal.start(result.fingerprint, sessions[0], identities)
                context = replace(context, header=journal.header)
                journal.check_specs({task.method.name: task.spec for task in plan.tasks})
                for task in plan.tasks:
                    entry = journal.entries.get(task.journal_key)
                    if entry is not None and (entry.ok or not self.retry_failed):
                        plan.add(entry)
                journal.append_decisions(_LANDMARKS, reduced)
                if plan.budget is not None:
                    stack.callback(lambda: journal.append_decisions(plan.name(), plan.new_decisions()))
                    plan.apply(journal.decisions(plan.name()))
                sessions = journal.sessions
            if plan.open_tasks():
                _kernels.check_cache()
                tell()
            watcher = None if watch is None else Watcher(lambda: watch(plan.snapshot()))
            try:
                with closing(run_plan(plan, context, n_jobs)) as new:
                    for _ in show_progress(new, progress, plan, n_jobs):
                        if path is not None:
                            journal.append_decisions(plan.name(), plan.new_decisions())
                        if watcher is not None:
                            watcher()
            except KeyboardInterrupt:
                if path is not None:  # journaled, but not returned before the interruption
                    journal.refresh()
                    known = journal.entries
                    for task in plan.open_tasks():
                        if task.journal_key in known:
                            plan.add(known[task.journal_key])
            if path is not None:
                try:
                    journal.refresh()  # restores the file if it was removed
                except (ProximityError, OSError) as error:  # the results are complete
                    warn_user(str(error), JournalWarning)
        this = next(i for i, session in enumerate(sessions) if session["id"] == context.session)
        sessions[this] = {**sessions[this], "peak_memory": peak_memory()}
        return replace(plan.snapshot(), sessions=sessions, partial=bool(plan.open_tasks()))


def _header(
    problem: Problem, protocol: Protocol, facts: MatrixFacts, goal: Goal, probabilities: bool, given: list[Split] | None
) -> dict[str, Any]:
    fixed = protocol.fixed_part()
    header = problem.header()
    if given is not None:
        train = [split.train.tobytes() for split in given]
        fixed = {"cv": protocol.cv, "random_state": protocol.random_state, "given": [s.test.tolist() for s in given]}
        if any(split.seed is not None for split in given):
            fixed["seeds"] = [split.seed for split in given]
            fixed["train"] = blake2b(b"".join(train), digest_size=8).hexdigest()
        header["exact"]["train"] = blake2b(b"|".join(train), digest_size=8).hexdigest()
    # Entries depend on the metric by the choice of parameters. 1.0 had no metric: it chose by cost, else by error.
    chosen_by = goal.metric if goal.metric in (*OF_LABELS, *OF_VALUES) else "log_loss"
    usual = "error" if problem.costs is None else "cost"
    settings: dict[str, Any] = {"to_similarity": facts.to_similarity, "to_dissimilarity": facts.to_dissimilarity}
    return {
        **header,
        **({} if chosen_by == usual else {"metric": chosen_by}),
        "protocol": fixed,
        "settings": settings | ({} if probabilities else {"probabilities": False}),
        "versions": versions(),
    }


def _sparse_methods(methods: list[Method], facts: MatrixFacts) -> list[Method]:
    """Methods that never make a sparse matrix dense; the others are named in a warning."""
    usable = []
    for method in methods:
        model = assemble(method, facts).estimator
        steps = [step for _, step in getattr(model, "steps", [("", model)])]
        if all(isinstance(s, _ONLY_LABELS) or (getattr(s, "keep_sparse", False) and s.accept_sparse) for s in steps):
            usable.append(method)
    others = [method.name for method in methods if method not in usable]
    if all(method.baseline for method in usable):
        advice = "Use k-NN, nearest centroids, local SDA or MaxSim, or give a smaller matrix."
        raise ProximityError(f"The matrix is sparse and large, and {', '.join(others)[:120]} need all of it. {advice}")
    if others:
        words = "The matrix is sparse and large. Skipped, because they need all of it"
        warn_user(f"{words}: {', '.join(others)}.", InputWarning)
    return usable


def _info(method: Method, n: int, spec: str, facts: MatrixFacts) -> MethodInfo:
    """Describe a method for a result; `n` is the size of the inner training parts, which limits the grid."""
    conversion = ""
    with suppress(Exception):  # the reason is in the entries of the method
        conversion = assemble(method, facts).conversion
    same = ("name", "family", "paper", "summary", "needs", "baseline", "matrix")
    about = {key: getattr(method, key) for key in same}
    return MethodInfo(**about, conversion=conversion, grid=method.grid_for(n), spec=spec)
