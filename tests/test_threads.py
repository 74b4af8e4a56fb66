"""BLAS is held to one thread while anybody needs it, and comes back as it was."""

import os
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from similis._utils.threads import single_blas_thread

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
