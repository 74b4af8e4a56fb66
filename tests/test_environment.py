"""Installations that cannot be written to, damaged caches, full disks: one message, and nothing wrong is kept."""

import errno
import importlib.util
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import similis
from similis import SimilarityKNN, Study
from similis.cli._app import app
from similis.exceptions import CompilationCacheWarning

SOURCE = "from similis._kernels._jit import kernel\n@kernel\ndef double(x):\n    return 2 * x\n"


@pytest.fixture
def _cache_on(monkeypatch):
    monkeypatch.delenv("SIMILIS_KERNEL_CACHE", raising=False)


def load(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def largest_file(n_bytes):
    """Let every write beyond so many bytes fail, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("_cache_on")
def test_a_kernel_without_a_place_for_its_cache_is_compiled_with_one_warning():
    namespaces = [{}, {}]
    with pytest.warns(CompilationCacheWarning, match="Set NUMBA_CACHE_DIR"):
        exec(SOURCE, namespaces[0])  # a function without a file has no place beside it
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(SOURCE, namespaces[1])
    assert [space["double"](21) for space in namespaces] == [42, 42]


@pytest.mark.usefixtures("_cache_on")
def test_a_damaged_cache_is_not_used(tmp_path):
    (tmp_path / "twice.py").write_text(SOURCE)
    assert load(tmp_path / "twice.py", "twice_1").double(3) == 6
    cached = list((tmp_path / "__pycache__").glob("*.nb[ic]"))
    assert len(cached) == 2
    for file in cached:
        file.write_bytes(file.read_bytes()[:40] + b"damaged")
    assert load(tmp_path / "twice.py", "twice_2").double(3) == 6


FIT_SDA = """
import numpy as np
from similis import SDA
X = np.random.default_rng(0).normal(size=(60, 4))
S = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
print(SDA().fit(S, X[:, 0] > 0).predict_proba(S).tobytes().hex())
"""


def test_compiling_and_loading_kernels_give_the_same_bits(tmp_path):
    """A kernel that calls another must not use that one's own machine code in the process that compiled both."""
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "OMP_NUM_THREADS": "1"}
    env.pop("SIMILIS_KERNEL_CACHE", None)
    compiled, loaded = (
        subprocess.run([sys.executable, "-c", FIT_SDA], env=env, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert compiled == loaded


@pytest.mark.usefixtures("_cache_on")
def test_a_full_disk_does_not_stop_a_kernel(tmp_path):
    (tmp_path / "twice.py").write_text(SOURCE)
    module = load(tmp_path / "twice.py", "twice_3")
    with largest_file(500), pytest.warns(CompilationCacheWarning, match="cannot be cached"):
        assert module.double(3) == 6


@pytest.fixture(scope="module")
def matrix(tmp_path_factory):
    path = tmp_path_factory.mktemp("environment") / "S.npz"
    y = np.arange(24) % 2
    S = np.where(y[:, None] == y, 0.8, 0.2) + np.random.default_rng(0).uniform(0, 0.1, (24, 24))
    similis.write_proximity(path, (S + S.T) / 2, kind="similarity", labels=y)
    return path


@pytest.mark.parametrize(
    "error, kept",
    [
        (OSError(errno.ENOSPC, "No space left on device"), 0),
        (PermissionError(errno.EACCES, "Permission denied"), 0),
        (ImportError("no module"), 0),
        (similis.exceptions.MissingExtraError("X needs Y. Install it with: pip install 'similis[y]'"), 0),
        (RuntimeError("does not converge"), 2),
        (ValueError("needs positive numbers"), 2),
    ],
)
def test_failures_of_the_environment_are_not_stored_and_a_study_of_failures_fails(
    matrix, tmp_path, monkeypatch, error, kept
):
    journal = tmp_path / "a.journal"
    words = ["study", str(matrix), "--method", "knn", "--splits", "2", "-q", "--journal", str(journal)]

    def fail(self, X, y, **options):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(SimilarityKNN, "fit", fail)
        failed = CliRunner().invoke(app, words)
    assert failed.exit_code == 1, failed.output
    assert "every method failed" in failed.stderr
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    assert sum("method" in line for line in lines) == kept
    assert CliRunner().invoke(app, words).exit_code == (1 if kept else 0)


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("setpriv") or os.geteuid() != 0, reason="needs root to become another user")
def test_a_read_only_installation_without_a_home(matrix, tmp_path):
    """The package belongs to root; the user has no home and may write to one folder only."""
    installed = tmp_path / "installed"
    package = Path(similis.__file__).parent
    shutil.copytree(package, installed / "similis", ignore=shutil.ignore_patterns("__pycache__"))
    work = tmp_path / "work"
    work.mkdir()
    shutil.copy(matrix, work / "S.npz")
    os.chmod(work, 0o777)
    # The capability lets the user reach folders of root on the way, but write to none of them.
    as_nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    as_nobody += ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"]
    env = {key: value for key, value in os.environ.items() if key not in ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR")}
    env.pop("SIMILIS_KERNEL_CACHE", None)
    for jobs in (1, 2):
        words = ["study", "S.npz", "--method", "knn", "--method", "nc", "--splits", "2", "--jobs", str(jobs), "-q"]
        done = subprocess.run(
            [*as_nobody, sys.executable, "-m", "similis", *words, "--journal", f"{jobs}.journal"],
            cwd=work,
            env={**env, "PYTHONPATH": str(installed)},
            capture_output=True,
            text=True,
            timeout=280,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("Compiled code cannot be cached") == 1
        assert "failed" not in done.stdout
        assert "CompilationCacheWarning" not in (work / f"{jobs}.journal").read_text()
    assert not list(installed.rglob("*.nbi"))


# a full disk: the message names the file


def test_a_full_disk_is_named_by_every_writer(matrix, tmp_path):
    P = similis.read_proximity(matrix)
    result = Study("nc", n_splits=2, cv=3).run(P)
    writers = {
        "S.npz": lambda path: similis.write_proximity(path, P),
        "S.npy": lambda path: similis.write_proximity(path, P),
        "S.csv": lambda path: similis.write_proximity(path, P),
        "S.zarr": lambda path: similis.write_proximity(path, P),
        "r.json": result.save,
        "r.html": result.to_html,
        "m.skops": lambda path: similis.save(SimilarityKNN().fit(P.values, P.labels), path),
        "a.journal": lambda path: Study("nc", n_splits=20, cv=3, journal=path).run(P),
    }
    for name, write in writers.items():
        with largest_file(1000), pytest.raises((OSError, ValueError)) as caught:
            write(tmp_path / name)
        error = caught.value
        assert name in (os.fspath(error.filename or "") if isinstance(error, OSError) else str(error)), (name, error)


def test_a_full_disk_is_one_sentence_on_the_command_line(matrix, tmp_path):
    out = tmp_path / "out.csv"
    with largest_file(1000):
        result = CliRunner().invoke(app, ["complete", str(matrix), "-o", str(out)])
    assert result.exit_code == 2
    assert "out.csv" in result.stderr
    assert "Traceback" not in result.stderr
    assert not out.exists()
    assert not list(tmp_path.iterdir())
