"""Child processes that are killed: forked with similis imported, so that a kill costs little, or started anew."""

import os
import random
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

SIMILIS = [sys.executable, "-m", "similis"]


class Child:
    """A process group of its own that runs a call (forked) or the `similis` command (a new process)."""

    def __init__(self, work, *, fresh=False):
        if fresh:
            self._process = subprocess.Popen(
                [*SIMILIS, *work], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            self.pid = self._process.pid
        else:
            self._process = None
            self.pid = fork(command(work) if isinstance(work, list) else work)
        self._status = None

    def ended(self):
        """Whether it has ended by itself."""
        if self._status is None and self._process is not None:
            self._status = self._process.poll()
        elif self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._status = os.waitstatus_to_exitcode(status) if pid else None
        return self._status is not None

    def wait(self, timeout=600):
        """Let it finish; its exit code."""
        end = time.monotonic() + timeout
        while not self.ended():
            if time.monotonic() > end:
                self.kill()
                raise RuntimeError(f"a child did not end within {timeout} s")
            time.sleep(0.005)
        return self._status

    def kill(self):
        """SIGKILL to the whole group; whether it was alive."""
        alive = not self.ended()
        if alive:
            os.killpg(self.pid, signal.SIGKILL)
            while not self.ended():
                time.sleep(0.001)
        return alive


def fork(work):
    """Run `work()` in a forked process with a group of its own; its id."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.environ["SIMILIS_CHILD"] = "1"
        work()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def command(arguments):
    """The `similis` command as a call."""

    def run():
        from similis.cli import main

        sys.argv = ["similis", *map(str, arguments)]
        main()

    return run


def answer(work):
    """What `work()` returns, computed in a forked process: what it starts (threads of zarr, say) does not stay here."""
    import pickle
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "answer"

        def keep():
            place.write_bytes(pickle.dumps(work()))

        status = Child(keep).wait()
        if status:
            raise RuntimeError(f"a checking process ended with {status}")
        return pickle.loads(place.read_bytes())


def wait_until(ready, child, moments: random.Random, *, most=0.2, timeout=120):
    """Wait for `ready()` or the child's end, and a random moment longer."""
    end = time.monotonic() + timeout
    while not ready() and not child.ended() and time.monotonic() < end:
        time.sleep(0.002)
    time.sleep(moments.random() * most)
