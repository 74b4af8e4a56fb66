"""Atomic writing of files and folders, file names in messages, and numbers in text."""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from similis.exceptions import ProximityError


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a binary file that takes the name `path`, or that of the file it links to, once it is complete and on disk.

    An interrupted body leaves an older file unchanged and removes the draft; that of a killed process is removed by the
    next writer. A FIFO, a device or the standard output is not replaced: the collected bytes are copied to it.
    """
    if is_stream(path):
        with tempfile.TemporaryFile() as file:
            yield file
            file.seek(0)
            # A redirected standard output is written through its descriptor: opening it by its name would truncate it.
            descriptor = _descriptor_of(os.stat(path))
            if descriptor is not None:
                (sys.stdout, sys.stderr)[descriptor - 1].flush()
            with open(path, "wb") if descriptor is None else os.fdopen(os.dup(descriptor), "wb") as stream:
                shutil.copyfileobj(file, stream)
        return
    target = Path(os.path.realpath(path))
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is write-protected", os.fspath(path))
    while True:
        temporary = _draft_path(target)
        file = open(temporary, "x+b")
        if _try_lock(file.fileno()) is not False and temporary.exists():
            break
        file.close()  # another writer has removed the draft before it was locked
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        copy_owner(target, temporary)
        os.replace(temporary, target)
    except BaseException as error:
        name_file(error, path)
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_directory(target.parent)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Tell whether `path` is written to directly: a FIFO, a device, or standard output, to a file too."""
    with suppress(FileNotFoundError):
        found = os.stat(path)
        is_regular = stat.S_ISREG(found.st_mode) and _descriptor_of(found) is None
        return not is_regular and not stat.S_ISDIR(found.st_mode)
    return False


def _descriptor_of(found: os.stat_result) -> int | None:
    """Descriptor of standard output or standard error if it is this file."""
    for descriptor in (1, 2):
        with suppress(OSError):
            if os.path.samestat(os.fstat(descriptor), found):
                return descriptor
    return None


def copy_owner(source: Path, target: Path) -> None:
    """Give `target` the mode of `source` and, where the system allows it, its owner, if there is a `source`."""
    with suppress(FileNotFoundError):
        found = os.stat(source)
        for owner in ((found.st_uid, -1), (-1, found.st_gid)) if hasattr(os, "chown") else ():
            with suppress(OSError):
                os.chown(target, *owner)
        with suppress(OSError):
            os.chmod(target, stat.S_IMODE(found.st_mode))


@contextmanager
def draft_folder(target: Path) -> Iterator[Path]:
    """Create an empty folder beside `target` under a temporary name; it is removed if the body raises."""
    temporary = _draft_path(target)
    temporary.mkdir()
    with _locked(temporary):
        try:
            yield temporary
        except BaseException as error:
            name_file(error, target)
            shutil.rmtree(temporary, ignore_errors=True)
            raise


def _draft_path(target: Path) -> Path:
    """Name for a new draft of `target`; removes the drafts that killed processes left: those that none has locked."""
    is_draft = re.compile(rf"\.{re.escape(target.name[:100])}\.[0-9a-f]{{12}}\.tmp")
    with suppress(OSError):
        for left in [Path(entry.path) for entry in os.scandir(target.parent) if is_draft.fullmatch(entry.name)]:
            with suppress(OSError), _locked(left) as is_locked:
                if is_locked:
                    shutil.rmtree(left) if left.is_dir() else left.unlink()
    return target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")


@contextmanager
def parse_errors(where: str, what: str) -> Iterator[None]:
    """Turn every exception of a parser into one error message; errors about missing files pass."""
    try:
        yield
    except (ProximityError, FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception as error:  # parsers of damaged bytes raise many types: zlib, struct, recursion, overflow
        reason = " ".join(str(error).split())[:80] or type(error).__name__
        raise ProximityError(f"{where} is not a readable {what}: {reason}.") from None


def name_file(error: BaseException, path: str | os.PathLike[str]) -> None:
    """Add the name of the file to an error of the system that has none, such as that of a full disk."""
    if isinstance(error, OSError) and error.errno is not None and error.filename is None:
        error.filename = os.fspath(path)


def is_float(text: str) -> bool:
    """Tell whether Python reads a text as a number; "nan", "inf" and "1_000" are such texts too."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def short_path(path: str | os.PathLike[str], width: int = 80) -> str:
    """Path for a message: as given, its beginning cut off if it is long."""
    text = os.fspath(path).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= width else "..." + text[3 - width :]


def sync(path: Path) -> None:
    """Sync a file, or the names in a folder, to disk."""
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _locked(path: Path) -> Iterator[bool | None]:
    """Lock a file or folder; yields the result of :func:`_try_lock`."""
    if sys.platform == "win32":  # pragma: no cover
        yield None
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield _try_lock(descriptor)
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool | None:
    """Lock an open file until it is closed: False if another process has locked it, None if locks are not supported."""
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
    """Sync a directory to disk, which makes a rename durable, if the system allows it."""
    with suppress(OSError):
        sync(directory)
