"""Shared fixtures. SIMILIS_TEST_SEED=all sweeps the seed fixture over 0-99; a number picks one."""

import os

import numpy as np
import pytest

pytest.register_assert_rewrite("formats", "reports")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Make all but n evenly spaced parameter sets of a test with ``quick_cases(n)`` slow."""
    cases = {}
    for item in items:
        if item.get_closest_marker("quick_cases"):
            cases.setdefault((item.path, item.cls, item.originalname), []).append(item)
    for group in cases.values():
        (n,) = group[0].get_closest_marker("quick_cases").args
        quick = {round(i * (len(group) - 1) / max(n - 1, 1)) for i in range(n)}
        for i, item in enumerate(group):
            if i not in quick:
                item.add_marker(pytest.mark.slow)


def _seeds():
    wanted = os.environ.get("SIMILIS_TEST_SEED", "0")
    return range(100) if wanted == "all" else [int(wanted)]


@pytest.fixture(params=_seeds())
def seed(request):
    return request.param


@pytest.fixture
def rng(seed):
    return np.random.default_rng(seed)
