"""Shared fixtures. SIMILIS_TEST_SEED=all sweeps the seed fixture over 0-99; a number picks one."""

import os

import numpy as np
import pytest

pytest.register_assert_rewrite("formats", "reports")


def _seeds():
    wanted = os.environ.get("SIMILIS_TEST_SEED", "0")
    return range(100) if wanted == "all" else [int(wanted)]


@pytest.fixture(params=_seeds())
def seed(request):
    return request.param


@pytest.fixture
def rng(seed):
    return np.random.default_rng(seed)
