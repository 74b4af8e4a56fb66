"""Files that are replaced: whole or not at all, with their own labels, and nothing left by writers that were killed."""

import os
import signal

import numpy as np
import pytest

from similis import read_proximity, write_proximity
from similis._utils.files import atomic_write, draft_folder

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
