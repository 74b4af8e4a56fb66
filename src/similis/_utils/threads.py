"""Distribution of rows over threads, and a limit of the BLAS threads.

NumPy and SciPy each bring a BLAS whose threads wait by spinning: a loop that alternates between them, or runs beside
another process, is up to a hundred times slower with several BLAS threads than with one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

from joblib import effective_n_jobs
from threadpoolctl import OpenBLASController, ThreadpoolController

_BLOCK = 2**21  # entries: 16 MB in double precision


def row_chunks(n_rows: int, n_chunks: int) -> Iterator[slice]:
    """Divide `n_rows` into at most `n_chunks` slices of nearly equal length."""
    n_chunks = max(1, min(n_chunks, n_rows))
    return (slice(n_rows * i // n_chunks, n_rows * (i + 1) // n_chunks) for i in range(n_chunks))


def row_blocks(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Divide a matrix into blocks of rows of about 16 MB, which bounds the memory for a matrix on disk."""
    return row_chunks(n_rows, -(-n_rows * n_columns // _BLOCK))


def map_row_chunks(work: Callable[[slice], object], n_rows: int, n_jobs: int | None = None) -> None:
    """Call `work(rows)` for slices that cover all rows, on `n_jobs` threads; each row writes to its own place."""
    workers = effective_n_jobs(n_jobs)
    if workers == 1 or n_rows < 2:
        work(slice(0, n_rows))
        return
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, row_chunks(n_rows, workers)))  # raises the errors of the threads


@contextmanager
def single_blas_thread() -> Iterator[None]:
    """Limit BLAS, a setting of the process, to one thread for many small factorizations; also a decorator."""
    _holders.add(1)
    try:
        yield
    finally:
        _holders.add(-1)


@contextmanager
def all_blas_threads() -> Iterator[None]:
    """Lift the limit of :func:`single_blas_thread` for one large decomposition, unless other threads need the limit."""
    lift = _holders.add(-1, only_holder=True)
    try:
        yield
    finally:
        if lift:
            _holders.add(1)


def thread_pools() -> ThreadpoolController:
    """Return the thread pools of all libraries, found anew (some milliseconds) only after further imports."""
    return _thread_pools(len(sys.modules))


@lru_cache(maxsize=1)
def _thread_pools(n_modules: int) -> ThreadpoolController:
    return ThreadpoolController()


class _Holders:
    """Number of threads inside :func:`single_blas_thread`; zero in a forked child."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.count = 0
        self.limits: Any = None

    def add(self, step: int, *, only_holder: bool = False) -> bool:
        """Count a thread in or out, unless others hold the limit too; the first sets the limit, the last lifts it."""
        with self.lock:
            if only_holder and self.count != 1:
                return False
            if not self.count:
                self.limit()
            self.count += step
            if not self.count:
                self.restore()
            return True

    def limit(self) -> None:
        """Set one thread; :meth:`restore` undoes it."""
        self.limits = thread_pools().limit(limits=1, user_api="blas")

    def restore(self) -> None:
        """Undo the limit from any thread; threadpoolctl since 3.8 accepts it only from the thread that set it."""
        disown = getattr(OpenBLASController, "clear_controlling_thread", lambda *, force: None)
        disown(force=True)
        if self.limits is not None:
            self.limits.restore_original_limits()
        disown(force=True)


_holders = _Holders()
if hasattr(os, "register_at_fork"):  # the threads of the parent, which may hold the lock, do not exist in the child
    os.register_at_fork(after_in_child=_holders.__init__)  # type: ignore[misc]
