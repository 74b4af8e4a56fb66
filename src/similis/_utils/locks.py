"""Locks on single bytes of a file, seen by every process and gone when their holder is: no stale locks to clean up."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["byte_lock"]

if sys.platform == "win32":  # pragma: no cover
    import msvcrt
    import os

    def _try(descriptor: int, place: int) -> bool:
        os.lseek(descriptor, place, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _free(descriptor: int, place: int) -> None:
        os.lseek(descriptor, place, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try(descriptor: int, place: int) -> bool:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except OSError:
            return False
        return True

    def _free(descriptor: int, place: int) -> None:
        fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, place)


@contextmanager
def byte_lock(descriptor: int, place: int, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock on one byte of an open file, which need not reach that far.

    Parameters
    ----------
    descriptor : int
        Of a file open for writing. Keep one descriptor per file and process: closing another gives up the locks.
    place : int
        The byte. Processes that name the same byte exclude each other; threads of one process do not.
    wait : bool, default=True
        Wait for the lock; False gives up at once when another process holds it.

    Yields
    ------
    bool
        Whether the lock is held.
    """
    held = _try(descriptor, place)
    pause = 0.001
    while wait and not held:
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
        held = _try(descriptor, place)
    try:
        yield held
    finally:
        if held:
            _free(descriptor, place)
