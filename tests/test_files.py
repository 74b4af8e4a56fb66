"""Files that are replaced: whole or not at all, with their own labels, and nothing left by writers that were killed."""

import io
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest

from similis import RBF, ProximityError, read_proximity, write_proximity
from similis._utils.files import atomic_write, draft_folder
from similis.distributed import measure_to_disk

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def write(folder, name, i):
    write_proximity(folder / name, np.full((3, 3), float(i)), labels=np.full(3, i), ids=list("abc"), kind="similarity")


def kill_at_rename(number, work):
    """Do the work in a process that is killed before its rename of this number; whether it was."""
    child = os.fork()
    if not child:
        replace, count = os.replace, [0]

        def dying(*arguments):
            count[0] += 1
            if count[0] == number:
                os.kill(os.getpid(), signal.SIGKILL)
            replace(*arguments)

        os.replace = dying
        try:
            work()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@pytest.mark.parametrize("name", ["S.npy", "S.npz", "S.csv", "S.csv.gz"])
def test_old_or_new_with_its_own_labels(tmp_path, name):
    number = 0
    while True:
        number += 1
        write(tmp_path, name, 0)
        clean = sorted(os.listdir(tmp_path))
        if not kill_at_rename(number, lambda: write(tmp_path, name, 1)):
            break
        P = read_proximity(tmp_path / name)
        assert P.labels is None or (P.values[0] == P.labels).all()
        assert P.labels is not None or "csv" in name  # of a text file labels may be gone, never another's
        write(tmp_path, name, 1)
        assert read_proximity(tmp_path / name).labels.tolist() == [1, 1, 1]
        assert sorted(os.listdir(tmp_path)) == clean
    assert number > 1


def test_drafts_at_work_are_left_alone(tmp_path):
    target = tmp_path / "a.bin"
    (tmp_path / ".a.bin.0123456789ab.tmp").write_bytes(b"killed")
    (tmp_path / ".a.bin.mine.tmp").write_bytes(b"somebody's")
    with atomic_write(target) as first:
        first.write(b"first")
        with atomic_write(target) as second:
            second.write(b"second")
        assert target.read_bytes() == b"second"
    assert target.read_bytes() == b"first"
    assert sorted(os.listdir(tmp_path)) == [".a.bin.mine.tmp", "a.bin"]


def test_draft_folders_are_swept_too(tmp_path):
    target = tmp_path / "a.zarr"
    left = tmp_path / ".a.zarr.0123456789ab.tmp"
    left.mkdir()
    (left / "chunk").write_bytes(b"killed")
    with draft_folder(target) as first, draft_folder(target) as second:
        assert not left.exists()
        assert first.exists()
        os.replace(second, target)
        first.rmdir()
    assert os.listdir(tmp_path) == ["a.zarr"]


# Outputs that are not new files


def read_fifo(path, work):
    """Do the work while another thread reads the FIFO; the bytes that it read."""
    found = []
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()), daemon=True)
    reader.start()
    work()
    reader.join(timeout=20)
    return found[0]


def save_bytes(path, content=b"content"):
    with atomic_write(path) as file:
        file.write(content)


def test_a_fifo_is_written_to_not_replaced(tmp_path):
    fifo, link = tmp_path / "fifo.npy", tmp_path / "link.npy"
    os.mkfifo(fifo, 0o640)
    link.symlink_to(fifo)
    before = os.stat(fifo)
    assert read_fifo(fifo, lambda: save_bytes(fifo)) == b"content"
    assert read_fifo(fifo, lambda: save_bytes(link)) == b"content"
    matrix = read_fifo(fifo, lambda: write_proximity(fifo, np.eye(3)))  # np.save cannot write to a pipe by itself
    np.testing.assert_array_equal(np.load(io.BytesIO(matrix)), np.eye(3))
    assert os.stat(fifo).st_ino == before.st_ino
    assert stat.S_ISFIFO(os.stat(fifo).st_mode)
    assert sorted(os.listdir(tmp_path)) == ["fifo.npy", "link.npy"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root makes devices")
def test_a_device_is_written_to_not_replaced(tmp_path):
    for name, minor in (("null", 3), ("full", 7)):
        device = tmp_path / name
        try:
            os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
            device.read_bytes() if name == "null" else None
        except OSError as error:
            pytest.skip(f"devices cannot be made here: {error}")
        if name == "null":
            save_bytes(device)
        else:
            with pytest.raises(OSError, match="No space left"):
                save_bytes(device)
        assert stat.S_ISCHR(os.stat(device).st_mode)
    assert sorted(os.listdir(tmp_path)) == ["full", "null"]


def test_nothing_reaches_a_fifo_if_the_body_fails(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with pytest.raises(TypeError), atomic_write(fifo) as file:
        file.write(b"half") and file.write("not bytes")
    assert stat.S_ISFIFO(os.stat(fifo).st_mode)


@pytest.mark.parametrize("redirected", ["file", "appended", "pipe"])
@pytest.mark.parametrize("name", ["/dev/stdout", "/proc/self/fd/1", "/dev/fd/1"])
def test_standard_output_by_its_path(tmp_path, redirected, name):
    if not os.path.exists(name):
        pytest.skip(f"there is no {name}")
    code = f"from similis._utils.files import atomic_write\nwith atomic_write({name!r}) as f: f.write(b'content')"
    command, log = [sys.executable, "-c", code], tmp_path / "log"
    log.write_bytes(b"before ")
    if redirected == "pipe":
        done = subprocess.run(command, capture_output=True)
        assert (done.stdout, done.returncode) == (b"content", 0), done.stderr
        return
    inode = log.stat().st_ino
    with open(log, "ab" if redirected == "appended" else "wb") as out:
        subprocess.run(command, stdout=out, check=True)
    assert log.read_bytes() == (b"before content" if redirected == "appended" else b"content")
    assert log.stat().st_ino == inode
    assert os.listdir(tmp_path) == ["log"]


@pytest.mark.parametrize("name", ["S.npy", "S.npz", "S.csv", "S.zarr"])
@pytest.mark.parametrize("mode", [0o600, 0o664, 0o2755])
def test_mode_and_owner_are_kept(tmp_path, name, mode):
    write(tmp_path, name, 0)
    owner = (1234, 2345) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    os.chown(tmp_path / name, *owner)
    os.chmod(tmp_path / name, mode)
    write(tmp_path, name, 1)
    found = os.stat(tmp_path / name)
    assert (found.st_uid, found.st_gid) == owner
    assert stat.S_IMODE(found.st_mode) == mode
    assert read_proximity(tmp_path / name).values[0, 0] == 1


def test_new_files_follow_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        save_bytes(tmp_path / "a")
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat(tmp_path / "a").st_mode) == 0o640


def test_links_are_followed(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there/file")
    save_bytes(tmp_path / "link")  # dangling: the file is made
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "there" / "file").read_bytes() == b"content"
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="symbolic links"):
        save_bytes(tmp_path / "loop")


def test_protected_files_are_not_replaced():
    """In a folder that may be written, a rename could replace a file that may not."""
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to other users
        os.chmod(folder, 0o777)
        target = Path(folder) / "a"
        target.write_bytes(b"mine")
        os.chmod(target, 0o444)
        child = os.fork()
        if not child:
            if os.geteuid() == 0:
                os.setuid(65534)
            try:
                save_bytes(target)
            except PermissionError:
                os._exit(7)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert target.read_bytes() == b"mine"


@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_blocks_are_not_written_over_something_else(tmp_path, ending):
    target = tmp_path / f"S.{ending}"
    os.mkfifo(target)
    for overwrite in (False, True):
        with pytest.raises(ProximityError, match=r"is not a (regular file|folder)"):
            measure_to_disk(target, np.eye(4), measure=RBF(), overwrite=overwrite)
    assert stat.S_ISFIFO(os.stat(target).st_mode)
    assert os.listdir(tmp_path) == [target.name]
    if ending == "zarr":
        with pytest.raises(ProximityError, match="is not a folder"):
            write_proximity(target, np.eye(3))
        assert stat.S_ISFIFO(os.stat(target).st_mode)
