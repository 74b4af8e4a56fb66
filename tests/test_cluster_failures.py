"""A real Dask cluster that fails: its scheduler is killed, its workers are killed, its network is split."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from contextlib import suppress

import numpy as np
import pytest

from similis import Edit, FromFunction, Pairwise, SimilarityKNN, Study, make_similarity, read_proximity
from similis.distributed import _cluster, cluster_jobs, connect, measure_to_disk, predict_blocks
from similis.exceptions import ClusterError

pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are killed by their id"),
]
WORDS = ["".join("abcd"[(i * k) % 4] for k in range(1, 3 + i % 9)) for i in range(120)]


def start(*command, prefix=()):
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen([*prefix, sys.executable, "-m", *map(str, command)], **options)


def wait_until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)


class Cluster:
    """A scheduler and a worker in processes of their own."""

    def __init__(self, folder):
        self.folder, self.processes = folder, []
        about = folder / "scheduler.json"
        self.scheduler = start(
            "distributed.cli.dask_scheduler", "--port", 0, "--no-dashboard", "--scheduler-file", about
        )
        self.processes.append(self.scheduler)
        wait_until(lambda: about.exists() and about.read_text().endswith("}"))
        self.address = json.loads(about.read_text())["address"]
        self.worker = self.add_worker()

    def add_worker(self, prefix=(), address=None, host=()):
        options = ("--nthreads", 1, "--no-nanny", "--no-dashboard", "--local-directory", self.folder, *host)
        worker = start("distributed.cli.dask_worker", address or self.address, *options, prefix=prefix)
        self.processes.append(worker)
        return worker

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path):
    cluster = Cluster(tmp_path)
    yield cluster
    cluster.end()


@pytest.fixture
def soon(monkeypatch):
    monkeypatch.setattr(_cluster, "NO_WORKERS", 3.0)
    monkeypatch.setattr(_cluster, "_INTERVAL", 0.5)


def kill_when(process, condition, seconds=60):
    """Kill a process as soon as the condition holds, in a thread."""

    def work():
        wait_until(condition, seconds)
        process.kill()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def n_done(journal):
    return journal.read_text().count('"time"') if journal.exists() else 0


def slowly(x, z):
    import time

    time.sleep(0.01)
    return float(abs(x - z))


def slow_measure():
    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    return FromFunction(slowly, kind="dissimilarity", symmetric=True)


def test_a_killed_scheduler_is_one_message_and_the_command_resumes(tmp_path, cluster):
    (tmp_path / "words.csv").write_text("word\n" + "\n".join(WORDS) + "\n")
    command = ["measure", "words.csv", "--measure", "edit", "-o", "S.npy", "--block-size", "2"]
    similis = [sys.executable, "-m", "similis"]
    killer = kill_when(cluster.scheduler, lambda: n_done(tmp_path / "S.npy.part.jsonl") >= 2)
    done = subprocess.run(
        [*similis, *command, "--cluster", cluster.address], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    killer.join()
    assert done.returncode == 1, done.stderr
    assert "The connection to the scheduler of the cluster is lost" in done.stderr
    assert "run the same again: it resumes. " in done.stderr
    assert "of 1830 blocks are kept" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1
    before = n_done(tmp_path / "S.npy.part.jsonl")
    assert before >= 2
    subprocess.run([*similis, *command], cwd=tmp_path, check=True, capture_output=True)
    np.testing.assert_array_equal(read_proximity(tmp_path / "S.npy").values, Pairwise(Edit()).fit_transform(WORDS))


def test_no_workers_left_is_an_error_after_a_while(tmp_path, cluster, soon):
    journal = tmp_path / "S.npy.part.jsonl"
    with connect(cluster.address) as client:
        client.wait_for_workers(1, timeout=60)
        killer = kill_when(cluster.worker, lambda: n_done(journal) >= 1)
        options = {"measure": slow_measure(), "block_size": 5, "client": client}
        with (
            pytest.warns(UserWarning, match="The cluster has no workers; waiting for one"),
            pytest.raises(ClusterError, match=r"no workers for 3 seconds\. Start some .* \d+ of 78 blocks are kept"),
        ):
            measure_to_disk(tmp_path / "S.npy", list(range(60)), **options)
        killer.join()
        cluster.add_worker()
        P = measure_to_disk(tmp_path / "S.npy", list(range(60)), **options)  # the same again resumes
    np.testing.assert_array_equal(P.values[:], abs(np.subtract.outer(np.arange(60), np.arange(60))))


def test_a_cluster_that_never_has_workers(tmp_path, cluster, soon):
    model = SimilarityKNN(n_neighbors=1).fit(np.eye(4), [0, 1, 0, 1])
    cluster.worker.kill()
    cluster.worker.wait()
    with connect(cluster.address) as client:
        wait_until(lambda: not client.nthreads())
        for call in (
            lambda: measure_to_disk(tmp_path / "S.npy", WORDS, measure=Edit(), client=client),
            lambda: predict_blocks(model, np.eye(4), client=client, block_size=2),
        ):
            with pytest.warns(UserWarning, match="no workers"), pytest.raises(ClusterError, match="no workers for 3"):
                call()


@pytest.mark.parametrize("victim", ["scheduler", "worker"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_study_on_a_lost_cluster_ends_and_resumes(tmp_path, cluster, soon, victim):
    S, y = make_similarity(60, 2, random_state=0)[:2]
    journal = tmp_path / "study.journal"
    options = {"methods": ["knn", "nc", "svm-kernel(clip)"], "n_splits": 40, "cv": 3, "random_state": 0}
    began = threading.Event()

    def broken():
        with connect(cluster.address) as client:
            client.wait_for_workers(1, timeout=60)
            killer = kill_when(getattr(cluster, victim), began.is_set)
            with cluster_jobs(client):
                began.set()
                Study(**options, n_jobs=2, journal=journal).run(S, y)
            killer.join()

    with pytest.raises(ClusterError, match=r"no workers for 3|connection to the scheduler"):
        broken()
    here, resumed = Study(**options).run(S, y), Study(**options, journal=journal).run(S, y)
    assert [(row.method, row.error) for row in here.table()] == [(row.method, row.error) for row in resumed.table()]


def test_the_study_command_on_a_cluster_resumes_after_a_killed_scheduler(tmp_path, cluster):
    S, y = make_similarity(60, 2, random_state=0)[:2]
    np.save(tmp_path / "S.npy", S)
    (tmp_path / "y.csv").write_text("\n".join(map(str, y)) + "\n")
    command = [sys.executable, "-m", "similis", "study", "S.npy", "--labels", "y.csv", "--method", "knn", "--full"]
    command += ["--splits", "400", "--folds", "3", "--journal", "j", "--quiet"]
    journal = tmp_path / "j"
    killer = kill_when(cluster.scheduler, lambda: journal.exists() and len(journal.read_text().splitlines()) >= 6, 200)
    options = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 240}
    done = subprocess.run([*command, "--cluster", cluster.address], **options)
    killer.join()
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert "run the same again: it resumes" in done.stderr
    kept = len(journal.read_text().splitlines())
    resumed = subprocess.run(command, **options)
    assert resumed.returncode == 0, resumed.stderr
    assert kept >= 6
    assert "failed" not in resumed.stdout
    assert len(journal.read_text().splitlines()) == 400 + 3  # header and two sessions: nothing was computed twice


def ip(*words):
    return subprocess.run(["ip", *map(str, words)], capture_output=True, text=True)


@pytest.fixture
def split_network(tmp_path):
    """A network namespace joined to this one by a cable; the name, both addresses, and a function that cuts it."""
    name, number = f"sim{os.getpid()}", os.getpid() % 250
    here, there = f"10.213.{number}.1", f"10.213.{number}.2"
    if shutil.which("ip") is None or ip("netns", "add", name).returncode:
        pytest.skip("network namespaces need root")
    try:
        ip("link", "add", f"{name}a", "type", "veth", "peer", "name", f"{name}b")
        ip("link", "set", f"{name}b", "netns", name)
        ip("addr", "add", f"{here}/24", "dev", f"{name}a")
        ip("link", "set", f"{name}a", "up")
        for words in (("addr", "add", f"{there}/24", "dev", f"{name}b"), ("link", "set", f"{name}b", "up")):
            ip("netns", "exec", name, "ip", *words)
        if ip("netns", "exec", name, "ip", "link", "set", "lo", "up").returncode:
            pytest.skip("network namespaces cannot be configured here")
        yield name, here, there, lambda state: ip("link", "set", f"{name}a", state)
    finally:
        ip("netns", "del", name)
        ip("link", "del", f"{name}a")


@pytest.mark.filterwarnings("ignore:The cluster has no workers")
@pytest.mark.parametrize("seconds", [5, None])
def test_a_split_network_loses_nothing(tmp_path, cluster, split_network, soon, monkeypatch, seconds):
    """A worker is cut off for a while or for good: the matrix is finished, or an error tells how to resume."""
    monkeypatch.setattr(_cluster, "_ANSWER", 10.0)
    name, here, there, cable = split_network
    port = cluster.address.rpartition(":")[2]
    cluster.worker.kill()  # its address cannot be reached from the namespace
    cluster.add_worker((), f"tcp://{here}:{port}", ("--host", here))
    cluster.add_worker(("ip", "netns", "exec", name), f"tcp://{here}:{port}", ("--host", there))
    journal, measure, states = tmp_path / "S.npy.part.jsonl", slow_measure(), []

    def split():
        wait_until(lambda: n_done(journal) >= 1, 120)
        states.append(cable("down").returncode)
        if seconds is not None:
            time.sleep(seconds)
            states.append(cable("up").returncode)

    options = {"measure": measure, "block_size": 5}
    with connect(cluster.address) as client:
        wait_until(lambda: len([worker for worker in client.nthreads() if "10.213" in worker]) == 2)
        splitter = threading.Thread(target=split, daemon=True)
        splitter.start()
        with suppress(ClusterError):
            measure_to_disk(tmp_path / "S.npy", list(range(60)), **options, client=client)
        splitter.join(timeout=60)
    assert set(states) == {0}
    P = measure_to_disk(tmp_path / "S.npy", list(range(60)), **options)  # resumes here what is left
    np.testing.assert_array_equal(P.values[:], abs(np.subtract.outer(np.arange(60), np.arange(60))))
