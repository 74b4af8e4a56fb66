"""Dask clusters: connection, blocks and rows as tasks, and joblib calls.

No input of a task lives on one worker only: objects, measure and model are results of tasks, which the scheduler
recomputes when the worker that held them is lost. A block that was being measured there is started again.
"""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from similis._utils.environment import require_package
from similis.base import take_objects
from similis.distributed._tiles import Plan, Rejection, Tile, TileJob
from similis.exceptions import ProximityError
from similis.measures import Measure

__all__ = ["cluster_jobs", "connect", "hold", "run_tiles", "run_unordered", "FEW_PAIRS", "ClusterPairs"]

T = TypeVar("T")
_AHEAD = 3  # tasks submitted in advance for each thread of the cluster


def connect(address: str | None = None, *, n_workers: int | None = None, timeout: float = 5.0) -> Any:
    """Connect to a Dask cluster, or start worker processes on this machine.

    Parameters
    ----------
    address : str, optional
        Address of a scheduler, such as ``tcp://10.0.0.1:8786``. Without it a local cluster is started, which ends with
        the client.
    n_workers : int, optional
        Worker processes of a local cluster, one thread each; the number of cores by default.
    timeout : float, default=5.0
        Seconds to wait for the scheduler.

    Returns
    -------
    distributed.Client
        A context manager.

    Raises
    ------
    ProximityError
        If no scheduler answers.

    Examples
    --------
    >>> from similis.distributed import connect
    >>> connect("tcp://127.0.0.1:1", timeout=1)  # doctest: +SKIP
    Traceback (most recent call last):
    ...
    similis.exceptions.ProximityError: There is no Dask scheduler at tcp://127.0.0.1:1. Start one ...
    """
    distributed = require_package("distributed", extra="dask", who="A cluster")
    if address is None:
        workers = n_workers or os.cpu_count() or 1
        return distributed.Client(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=None, set_as_default=False
        )
    quiet = logging.getLogger("distributed")
    level = quiet.level
    quiet.setLevel(logging.CRITICAL)
    try:
        return distributed.Client(address, timeout=timeout, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = "" if isinstance(error, OSError) else f" ({' '.join(str(error).split())[:60]})"
        raise ProximityError(
            f"There is no Dask scheduler at {str(address)[:80]}{reason}. Start one with 'dask scheduler', or leave the "
            "address out for worker processes on this machine."
        ) from None
    finally:
        quiet.setLevel(level)


@contextmanager
def cluster_jobs(client: Any) -> Iterator[None]:
    """Run joblib's process tasks on a cluster: studies, searches, cross-validation.

    Parameters
    ----------
    client : distributed.Client
        From :func:`connect`.

    Examples
    --------
    >>> from similis import Study
    >>> from similis.distributed import cluster_jobs, connect
    >>> with connect(n_workers=2) as client, cluster_jobs(client):  # doctest: +SKIP
    ...     Study(n_jobs=-1).run(S, y)
    """
    from joblib import parallel_config

    with parallel_config(backend="dask", client=client):
        yield


def hold(value: Any, client: Any) -> Any:
    """Send a value that many tasks need to the cluster once; return its future."""
    return client.submit(_identity, value, pure=False)


def run_tiles(
    job: TileJob, todo: list[Tile], plan: Plan, objects: Any, client: Any
) -> Iterator[tuple[Tile, Rejection | None]]:
    """Measure and write blocks on a cluster; yields them in the order in which they are finished."""
    parts: dict[int, Any] = {}
    shared = hold(job, client)

    def part(number: int) -> Any:
        if number not in parts:
            parts[number] = hold(objects[plan.parts[number]], client)
        return parts[number]

    def submit(tile: Tile) -> Any:
        row, column = plan.parts_of(tile)
        right = None if tile.diagonal else part(column)
        return client.submit(TileJob.run, shared, tile, part(row), right, pure=False, retries=2)

    return run_unordered(submit, todo, client)


def run_unordered(submit: Callable[[T], Any], items: Iterable[T], client: Any) -> Iterator[tuple[T, Any]]:
    """Run tasks on a cluster, a few per thread at a time, and yield results as they are finished.

    Parameters
    ----------
    submit : callable
        Submits the task of an item and returns its future.
    items : iterable
        Items to process.
    client : distributed.Client
        The cluster.

    Yields
    ------
    item, result
    """
    from distributed import as_completed

    waiting = deque(items)
    under_way: dict[str, T] = {}
    finished = as_completed(loop=client.loop)
    ahead = _AHEAD * max(1, sum(client.nthreads().values()))
    try:
        while waiting or under_way:
            while waiting and len(under_way) < ahead:
                item = waiting.popleft()
                future = submit(item)
                under_way[future.key] = item
                finished.add(future)
            future = next(finished)
            yield under_way.pop(future.key), future.result()
    finally:
        finished.clear()


def _identity(value: T) -> T:
    return value


FEW_PAIRS = 2**10  # fewer pairs are measured locally
_MOST = 2**18  # pairs per task: two megabytes of indices


class ClusterPairs:
    """Measure index pairs on the workers of a Dask cluster, to which the objects are sent once."""

    def __init__(self, measure: Measure, objects: Any, client: Any) -> None:
        self._client = client
        self._measure, self._objects = hold(measure, client), hold(objects, client)
        self._threads = max(1, sum(client.nthreads().values()))

    def __call__(self, i: NDArray[Any], j: NDArray[Any]) -> NDArray[Any]:
        """Proximities of objects i to objects j, in their order."""
        tasks = max(-(-len(i) // _MOST), min(2 * self._threads, len(i) // FEW_PAIRS))
        parts = zip(*(np.array_split(np.asarray(side, np.int32), tasks) for side in (i, j)))
        futures = [
            self._client.submit(_measure_pairs, self._measure, self._objects, *part, pure=False, retries=2)
            for part in parts
        ]
        return np.concatenate(self._client.gather(futures))


def _measure_pairs(measure: Measure, objects: Any, i: NDArray[np.int32], j: NDArray[np.int32]) -> NDArray[Any]:
    return measure.pairs(take_objects(objects, i), take_objects(objects, j))
