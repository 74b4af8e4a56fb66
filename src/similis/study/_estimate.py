"""Estimate of the time that a study takes, before anything runs."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import median
from typing import Any

import numpy as np

from similis._utils.threads import thread_pools
from similis.study._methods import Method
from similis.study._progress import clock

__all__ = ["Estimate", "expect_seconds", "machine_seconds"]

LONG = 600.0  # seconds from which a study is called long
_FOLDS = 10  # of the parameter search, when the times were measured


@dataclass(frozen=True)
class Estimate:
    """Expected time of a study.

    Attributes
    ----------
    seconds : float
        Time of all methods on all splits, divided by the processes. A race stops most methods early and takes about
        half of it; a time budget limits it.
    per_split : dict of str to float
        Time of one split by method, in one process.
    n_splits : int
        Number of splits.
    n_train : int
        Number of training objects in a split.
    n_jobs : int
        Number of processes.
    unknown : tuple of str
        Methods without measured times, such as your own, for which the median of all methods is assumed.
    """

    seconds: float
    per_split: dict[str, float]
    n_splits: int
    n_train: int
    n_jobs: int
    unknown: tuple[str, ...] = ()

    @property
    def is_long(self) -> bool:
        """True above ten minutes."""
        return self.seconds > LONG

    def __str__(self) -> str:
        methods = f"{len(self.per_split)} method{'s' if len(self.per_split) > 1 else ''}"
        splits = f"{self.n_splits} split{'s' if self.n_splits > 1 else ''}"
        jobs = f"{self.n_jobs} process{'es' if self.n_jobs > 1 else ''}"
        expected = clock(max(self.seconds, 1.0))
        return f"about {expected} for {methods} on {splits} of {self.n_train} training objects in {jobs}"


def expect_seconds(methods: list[Method], n_train: int, folds: int) -> tuple[dict[str, float], tuple[str, ...]]:
    """Expected seconds of one split by method on this machine, and the methods whose times were never measured.

    The time of a method is a + b n + c n^2 + d n^3 seconds for n training objects, with coefficients that are not
    negative, times the speed of this machine.
    """
    record = _measured()
    speed = machine_seconds() / record["machine_seconds"]
    powers = (n_train / 1000) ** np.arange(4)
    known = {}
    for method in methods:
        if method.base_name in record["methods"] and method.cv is None:
            seconds = float(np.dot(record["methods"][method.base_name], powers))
            known[method.name] = speed * seconds * (1.0 if not method.grid else (folds + 1) / (_FOLDS + 1))
    unknown = tuple(method.name for method in methods if method.name not in known)
    usual = speed * median(float(np.dot(coefficients, powers)) for coefficients in record["methods"].values())
    return {method.name: known.get(method.name, usual) for method in methods}, unknown


@cache
def _measured() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files("similis.study").joinpath("times.json").read_text())
    return found


@cache
def machine_seconds() -> float:
    """Time of a fixed computation on this machine, in one thread: matrix products, eigenvalues, and calls of NumPy."""
    A = np.cos(np.arange(150 * 150.0).reshape(150, 150))
    A = A + A.T
    with thread_pools().limit(limits=1):
        times = []
        for _ in range(3):
            start = time.process_time()
            for _ in range(3):
                np.linalg.eigh(A @ A)
            for row in np.tile(A, (10, 1)):
                np.argsort(row)[:5].sum()
            times.append(time.process_time() - start)
    return min(times)
