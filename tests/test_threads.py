"""BLAS is limited to one thread in solvers and searches, and the number of threads is restored."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from similis import PathSearchCV, SimilarityKNN, complete_kernel, make_similarity, solvers
from similis._utils import threads
from similis._utils.threads import all_blas_threads, single_blas_thread

pytestmark = pytest.mark.skipif(
    not [info for info in threadpool_info() if info["user_api"] == "blas"], reason="no BLAS whose threads can be set"
)


def blas_threads():
    """By library: other tests load some of their own, and one may be built for a single thread."""
    return {info["filepath"]: info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


def test_the_first_sets_it_and_the_last_restores_it():
    np.dot(np.eye(3), np.eye(3))
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with single_blas_thread():
            inside.set()
            leave.wait(10)

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with single_blas_thread():
            second = threading.Thread(target=hold)
            second.start()
            inside.wait(10)
        assert set(blas_threads().values()) == {1}  # the other one is still at work
        leave.set()
        second.join()
        assert blas_threads() == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_is_held_by_nobody():
    with single_blas_thread():
        child = os.fork()
        if not child:
            with single_blas_thread():
                pass
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def test_a_large_decomposition_lifts_the_limit_unless_others_need_it():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with single_blas_thread():
            with all_blas_threads():
                assert blas_threads() == before
            assert set(blas_threads().values()) == {1}
            with single_blas_thread(), all_blas_threads():
                assert set(blas_threads().values()) == {1}
        assert blas_threads() == before


S, Y = make_similarity(60, 2, indefinite=0.2, random_state=0)
SIGNS = np.where(Y == Y[0], 1.0, -1.0)
SYSTEM = np.linalg.eigh((S + S.T) / 2)
KERNEL = S[:20] @ S[:20].T
KERNEL[3, 4] = KERNEL[4, 3] = np.nan
SPECTRUM = solvers.LearntSpectrum(*SYSTEM, SYSTEM[0].clip(0))
SOLVERS = {
    "SimSVM": lambda: solvers.SpectralMachine(SIGNS, [solvers.LearntSpectrum(*SYSTEM, SYSTEM[0].clip(0))]).solve(
        0.1, 0.1
    ),
    "P-SVM": lambda: solvers.BoxLasso(S, SIGNS).solve(0.1, 1.0),
    "Indefinite SVM": lambda: solvers.IndefiniteMachine(*SYSTEM, SIGNS).solve(1.0, 1.0),
    "SBC": lambda: solvers.nonnegative_margin(S, 1.0),
    "completion": lambda: complete_kernel(KERNEL, method="nuclear"),
    "search": lambda: PathSearchCV(SimilarityKNN(), {"n_neighbors": [1, 3]}, cv=3).fit(S, Y),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_and_searches_use_one_blas_thread(name, monkeypatch):
    limits = []
    original = threads._Holders.limit
    monkeypatch.setattr(threads._Holders, "limit", lambda self: (limits.append(1), original(self)))
    before = blas_threads()
    SOLVERS[name]()
    assert limits
    assert blas_threads() == before


BUSY = "import time; end = time.time() + 120\nwhile time.time() < end: pass"
RATIO = """
import os, sys, time
import numpy as np
from threadpoolctl import threadpool_limits
from similis import make_similarity
from similis.svm import SimMKL
from similis.proximity import make_stack

S, y = make_similarity(160, 2, indefinite=0.2, random_state=0)
stack = make_stack([S, S @ S.T / 60])
def seconds(limit):
    start = time.perf_counter()
    with threadpool_limits(limit, user_api="blas"):
        SimMKL().fit(stack, y)
    return time.perf_counter() - start
seconds(1)
turns = [(seconds(os.cpu_count()), seconds(1)) for _ in range(5)]
print(min(many for many, _ in turns) / min(one for _, one in turns))
"""


@pytest.mark.slow
@pytest.mark.parametrize("busy", [False, True])
def test_default_threads_cost_no_more_than_one(busy):
    """NumPy's and SciPy's thread pools spin against each other: without a limit the ratio is 10 and more."""
    environment = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    other = subprocess.Popen([sys.executable, "-c", BUSY]) if busy else None
    try:
        ratio = subprocess.check_output([sys.executable, "-c", RATIO], env=environment, text=True)
    finally:
        if other is not None:
            other.kill()
            other.wait()
    assert float(ratio) < 1.5
