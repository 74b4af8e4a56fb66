"""Dask clusters: connection, tasks, and joblib calls."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np

from similis._utils.arrays import Array
from similis._utils.environment import require_package
from similis._utils.messages import warn_user
from similis.base import take_objects
from similis.exceptions import ClusterError, ProximityError
from similis.measures import Measure

T = TypeVar("T")
_AHEAD = 3  # tasks submitted in advance for each thread of the cluster
NO_WORKERS = 60.0  # seconds to wait for a worker on a cluster without any
_INTERVAL = 5.0  # seconds between two looks at the workers
_ANSWER = 30.0  # seconds to wait for an answer of the scheduler
FEW_PAIRS = 2**10  # fewer pairs are measured locally
_MOST = 2**18  # pairs per task: two megabytes of indices


def connect(address: str | None = None, *, n_workers: int | None = None, timeout: float = 5.0) -> Any:
    """Connect to a Dask cluster, or start worker processes on this machine; the client is a context manager.

    Parameters
    ----------
    address : str, optional
        Scheduler, such as ``tcp://10.0.0.1:8786``; by default a local cluster is started, which ends with the client.
    n_workers : int, optional
        Worker processes of a local cluster, one thread each; the number of cores by default.
    timeout : float, default=5.0
        Seconds to wait for the scheduler.
    """
    distributed = require_package("distributed", extra="dask", who="A cluster")
    if address is None:
        local = {"n_workers": n_workers or os.cpu_count() or 1, "threads_per_worker": 1, "processes": True}
        return distributed.Client(**local, dashboard_address=None, set_as_default=False)
    with _quiet_log():
        try:
            return distributed.Client(address, timeout=timeout, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            reason = "" if isinstance(error, OSError) else f" ({' '.join(str(error).split())[:60]})"
            raise ProximityError(
                f"There is no Dask scheduler at {str(address)[:80]}{reason}. Start one with 'dask scheduler', or leave "
                "the address out for worker processes on this machine."
            ) from None


@contextmanager
def _quiet_log() -> Iterator[None]:
    """Keep the tracebacks that Dask logs off the terminal; what they mean is raised as an exception."""
    log = logging.getLogger("distributed")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(level)


@contextmanager
def _cluster_errors() -> Iterator[None]:
    """Raise a ClusterError for the exceptions of Dask about a lost scheduler or lost workers."""
    from distributed.comm.core import CommClosedError
    from distributed.scheduler import KilledWorker

    with _quiet_log():
        try:
            yield
        except KilledWorker:
            raise ClusterError(
                "Workers of the cluster died several times at the same task, perhaps for lack of memory. Use smaller "
                "blocks, or workers with more memory; then run the same again: it resumes."
            ) from None
        except (CommClosedError, CancelledError, TimeoutError) as error:
            if isinstance(error, OSError) and error.filename is not None:
                raise
            raise ClusterError(
                "The connection to the scheduler of the cluster is lost, or that of the scheduler to a worker. See "
                "that they run and reach each other; then run the same again: it resumes."
            ) from error


class _Workers:
    """Counter of a cluster's threads; raises an error when there have been none for `NO_WORKERS` seconds."""

    def __init__(self, client: Any) -> None:
        self._client, self._seen, self._warned = client, time.monotonic(), False

    def count(self) -> int:
        threads = sum(self._client.sync(self._client.scheduler.ncores, callback_timeout=_ANSWER).values())
        now = time.monotonic()
        if threads:
            self._seen, self._warned = now, False
        elif not self._warned:
            self._warned = True
            warn_user(f"The cluster has no workers; waiting for one, {NO_WORKERS:.0f} seconds at most.", UserWarning)
        elif now - self._seen > NO_WORKERS:
            raise ClusterError(
                f"The cluster has had no workers for {NO_WORKERS:.0f} seconds. Start some with 'dask worker ADDRESS' "
                "and run the same again: it resumes."
            )
        return threads


@contextmanager
def cluster_jobs(client: Any) -> Iterator[None]:
    """Run joblib's process tasks on a cluster: studies, searches, cross-validation.

    For example ``with connect(n_workers=2) as client, cluster_jobs(client): Study(n_jobs=-1).run(S, y)``.
    Raises a :class:`~similis.exceptions.ClusterError` if the scheduler is lost or there are no workers for a minute.

    Parameters
    ----------
    client : distributed.Client
        From :func:`connect`. It is closed if the cluster is left without workers.
    """
    from joblib import parallel_config
    from joblib.parallel import get_active_backend

    workers, ended = _Workers(client), threading.Event()
    gone: list[Exception] = []

    def watch() -> None:
        while not ended.wait(min(_INTERVAL, NO_WORKERS)):
            try:
                workers.count()
            except Exception as error:  # joblib would wait for ever
                gone.append(error)
                client.close(timeout=1)
                return

    threading.Thread(target=watch, daemon=True).start()
    with _cluster_errors():
        try:
            with parallel_config(backend="dask", client=client):
                backend, _ = get_active_backend()
                count = backend.effective_n_jobs
                # joblib would run the tasks of a cluster with one thread in this process.
                backend.effective_n_jobs = lambda n_jobs: max(2, count(n_jobs))
                yield
        except Exception:
            if gone:
                raise gone[0] from None
            raise
        finally:
            ended.set()


def hold(value: Any, client: Any) -> Any:
    """Send a value that many tasks need to the cluster, if there is one, once; return its future."""
    # As the result of a task it is computed again when the worker that held it is lost.
    return value if client is None else client.submit(lambda: value, pure=False)


def run_unordered(task: Callable[[T], Any], items: Iterable[T], client: Any) -> Iterator[tuple[T, Any]]:
    """Run tasks, on a cluster if there is one, and yield each item with its result, as they are finished.

    `task` returns the function to call for an item, and its arguments.
    """
    if client is None:
        for item in items:
            function, *arguments = task(item)
            yield item, function(*arguments)
        return
    from distributed import wait

    waiting = deque(items)
    under_way: dict[Any, T] = {}
    with _cluster_errors():
        workers = _Workers(client)
        ahead = _AHEAD * max(1, workers.count())
        while waiting or under_way:
            while waiting and len(under_way) < ahead:
                item = waiting.popleft()
                under_way[client.submit(*task(item), pure=False, retries=2)] = item
            try:
                with client.as_current():
                    done = wait(list(under_way), timeout=min(_INTERVAL, NO_WORKERS), return_when="FIRST_COMPLETED").done
            except TimeoutError:
                workers.count()
                continue
            for future in done:
                # The result lies on a worker, which may have become unreachable since.
                yield under_way.pop(future), future.result(timeout=2 * _ANSWER)


def pairs_on_cluster(measure: Measure, objects: Any, client: Any) -> Callable[[Any, Any], Array]:
    """Return a function that measures index pairs on the workers, to which the objects are sent once."""
    shared = _measure_pairs, hold(measure, client), hold(objects, client)
    with _cluster_errors():
        threads = max(1, _Workers(client).count())

    def pairs(i: Array, j: Array) -> Array:
        tasks = max(-(-len(i) // _MOST), min(2 * threads, len(i) // FEW_PAIRS))
        parts = list(zip(*(np.array_split(np.asarray(side, np.int32), tasks) for side in (i, j))))
        found = dict(run_unordered(lambda number: (*shared, *parts[number]), range(tasks), client))
        return np.concatenate([found[number] for number in range(tasks)])

    return pairs


def _measure_pairs(measure: Measure, objects: Any, i: Array, j: Array) -> Array:
    return measure.pairs(take_objects(objects, i), take_objects(objects, j))
