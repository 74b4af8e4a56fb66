"""Rows chunked over threads: the kernels are serial and release the GIL, so a thread per chunk is all it takes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from threading import Lock

from joblib import effective_n_jobs
from threadpoolctl import OpenBLASController, threadpool_limits

__all__ = ["map_row_chunks", "row_blocks", "row_chunks", "single_blas_thread"]

_BLOCK = 2**21  # entries: 16 MB in double precision


def row_chunks(n_rows: int, n_chunks: int) -> Iterator[slice]:
    """Cut `n_rows` into at most `n_chunks` slices of nearly equal length."""
    n_chunks = max(1, min(n_chunks, n_rows))
    edges = [n_rows * i // n_chunks for i in range(n_chunks + 1)]
    return (slice(a, b) for a, b in pairwise(edges))


def row_blocks(n_rows: int, n_columns: int, n_entries: int = _BLOCK) -> Iterator[slice]:
    """Cut a matrix into blocks of rows of about `n_entries`: what a method holds of a matrix that stays on disk."""
    return row_chunks(n_rows, -(-n_rows * n_columns // n_entries))


def map_row_chunks(work: Callable[[slice], object], n_rows: int, n_jobs: int | None = None) -> None:
    """Call `work(rows)` for slices that cover all rows, on `n_jobs` threads.

    `work` writes into arrays it closes over, each row into its own place, so the result does not depend on the
    number of threads.
    """
    workers = effective_n_jobs(n_jobs)
    if workers == 1 or n_rows < 2:
        work(slice(0, n_rows))
        return
    with ThreadPoolExecutor(workers) as pool:
        for done in [pool.submit(work, rows) for rows in row_chunks(n_rows, workers)]:
            done.result()


@contextmanager
def single_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread while many small matrices are factorised; restores what it found.

    The number belongs to the process: among threads that hold it at the same time the first sets it and the last
    restores it, so that it neither changes under one of them nor stays at one.
    """
    with _holders.lock:
        if not _holders.count:
            _holders.limits = threadpool_limits(limits=1, user_api="blas")
        _holders.count += 1
    try:
        yield
    finally:
        with _holders.lock:
            _holders.count -= 1
            if not _holders.count:
                _holders.restore()


class _Holders:
    """How many threads hold BLAS to one thread; a forked child starts with none."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.count = 0
        self.limits: threadpool_limits | None = None

    def restore(self) -> None:
        """Undo the limit, from whichever thread: since 3.8 threadpoolctl listens to the one that set it alone."""
        disown = getattr(OpenBLASController, "clear_controlling_thread", None)
        if disown is not None:
            disown(force=True)
        if self.limits is not None:
            self.limits.restore_original_limits()
        if disown is not None:
            disown(force=True)


_holders = _Holders()
if hasattr(os, "register_at_fork"):  # the threads that hold it, and perhaps the lock, do not exist in the child
    os.register_at_fork(after_in_child=_holders.__init__)  # type: ignore[misc]
