"""Files written whole or not at all, and how messages name them."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from similis.exceptions import ProximityError

__all__ = ["atomic_write", "damaged", "short_path"]


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a binary file that takes the name `path` only once it is complete and on disk.

    The bytes go to a temporary name in the same directory, are flushed to the disk and then renamed. Whatever
    interrupts the body, an older file at `path` stays as it was and the temporary one is removed. A symbolic link
    is followed, not replaced.

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
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
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
    _sync_directory(target.parent)


@contextmanager
def damaged(where: str, what: str) -> Iterator[None]:
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


def _sync_directory(directory: Path) -> None:
    """Make the rename itself durable, where the system lets a directory be opened."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
