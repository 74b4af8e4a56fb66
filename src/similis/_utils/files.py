"""Files written whole or not at all, and how messages name them."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from similis.exceptions import ProximityError

__all__ = [
    "atomic_write",
    "readable_or_error",
    "draft_folder",
    "short_path",
    "sweep",
    "sync",
    "sync_directory",
]


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a binary file that takes the name `path` only once it is complete and on disk.

    The bytes go to a temporary name in the same directory, are flushed to the disk and then renamed. Whatever
    interrupts the body, an older file at `path` stays as it was and the temporary one is removed; one that a killed
    process left is removed by the next writer. A symbolic link is followed, not replaced.

    Parameters
    ----------
    path : str or path-like
        Where the file shall be.

    Yields
    ------
    file object
        Open for reading and writing bytes.
    """
    target = Path(os.path.realpath(path))
    sweep(target)
    temporary = _draft(target)
    file = open(temporary, "x+b")
    while _held(file.fileno()) is False or not temporary.exists():  # swept between its making and its lock
        file.close()
        temporary = _draft(target)
        file = open(temporary, "x+b")
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_directory(target.parent)


@contextmanager
def draft_folder(target: Path) -> Iterator[Path]:
    """An empty folder beside `target` under a temporary name, removed with its contents unless the body renames it."""
    sweep(target)
    temporary = _draft(target)
    temporary.mkdir()
    with _holding(temporary):
        try:
            yield temporary
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


def sweep(target: Path) -> None:
    """Remove what killed processes left beside `target`: drafts whose lock nobody holds."""
    mine = re.compile(rf"\.{re.escape(target.name[:100])}\.[0-9a-f]{{12}}\.tmp")
    with suppress(OSError):
        for left in [Path(entry.path) for entry in os.scandir(target.parent) if mine.fullmatch(entry.name)]:
            with suppress(OSError), _holding(left) as held:
                if held:
                    shutil.rmtree(left) if left.is_dir() else left.unlink()


@contextmanager
def readable_or_error(where: str, what: str) -> Iterator[None]:
    """Turn whatever a parser says of hostile or damaged bytes into one sentence; missing files keep their error."""
    try:
        yield
    except (ProximityError, FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception as error:  # parsers of foreign bytes raise nearly anything: zlib, struct, recursion, overflow
        reason = " ".join(str(error).split())[:80] or type(error).__name__
        raise ProximityError(f"{where} is not a readable {what}: {reason}.") from None


def short_path(path: str | os.PathLike[str], width: int = 80) -> str:
    """The path for a message: as given, its beginning cut off where it is long."""
    text = os.fspath(path).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= width else "..." + text[3 - width :]


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _draft(target: Path) -> Path:
    return target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")


@contextmanager
def _holding(path: Path) -> Iterator[bool | None]:
    """Hold the lock of a file or folder, see :func:`_held`."""
    if sys.platform == "win32":  # pragma: no cover
        yield None
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield _held(descriptor)
    finally:
        os.close(descriptor)


def _held(descriptor: int) -> bool | None:
    """Try to lock an open file until it is closed: False if another one holds it, None where there are no locks."""
    if sys.platform == "win32":  # pragma: no cover
        return None
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def sync_directory(directory: Path) -> None:
    """Make the rename itself durable, where the system lets a directory be opened."""
    with suppress(OSError):
        sync(directory)
