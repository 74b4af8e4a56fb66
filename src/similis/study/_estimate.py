"""Estimate of the time that a study takes, before anything runs."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.polynomial.polynomial import polyval

from similis._utils.threads import thread_pools
from similis.study._methods import Method
from similis.study._plan import clock

LONG = 600.0  # seconds from which a study is called long
_FOLDS, _CLASSES = 10, 5  # of the parameter search and of the labels to which the stored times refer
_MOST_MEASURED = 2000  # landmarks where every split measures its objects
_NAME = re.compile(r"(, )?\w+=[^,)]*")  # parameters in the name of a method


@dataclass(frozen=True)
class Estimate:
    """Expected time of a study.

    Attributes
    ----------
    seconds : float
        Time of all methods on all splits, divided by the processes, of which a race takes about half.
    per_split : dict of str to float
        Time of one split by method, in one process.
    n_splits, n_train, n_jobs : int
        Numbers of splits, of training objects in a split, and of processes.
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
        splits = f"{self.n_splits} split{'s' if self.n_splits > 1 else ''} of {self.n_train} training objects"
        jobs = f"{self.n_jobs} process{'es' if self.n_jobs > 1 else ''}"
        small = sum("landmarks=" in name for name in self.per_split)
        methods += f", {small} of them on landmarks," if small else ""
        return f"about {clock(max(self.seconds, 1.0))} for {methods} on {splits} in {jobs}"


def expect_seconds(
    methods: list[Method], n_train: int, n_classes: int | None, folds: int, speed: float | None = None
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Expected seconds of one split by method on this machine, and the methods that take the median of all."""
    # For n thousand training objects or landmarks and five classes a method takes p(n) = a + b n + c n^2 + d n^3
    # seconds with coefficients that are not negative, and for g times as many classes g^e p(n / g^f) with
    # f = min(e / 2, 1): e is about 2 for methods that fit every pair of classes, with 2 n / G objects of G classes
    # each, and zero where the number of classes does not matter.
    record = _measured()
    speed = machine_seconds() / record["machine_seconds"] if speed is None else speed
    growth = (n_classes or _CLASSES) / _CLASSES
    found, unknown = {}, []
    for method in methods:
        n = min(n_train, method.landmarks or n_train) / 1000
        known = [record["methods"].get(base_name(method.base_name))]
        if known == [None] or method.cv is not None:
            unknown.append(method.name)
            known = list(record["methods"].values())
        *table, e = np.array(known).T
        seconds = growth**e * polyval(n / growth ** np.minimum(e / 2, 1), table, tensor=False)
        share = (folds + 1) / (_FOLDS + 1) if method.grid else 1.0
        found[method.name] = speed * share * float(np.median(seconds))
    return found, tuple(unknown)


def put_on_landmarks(
    methods: list[Method],
    n_train: int,
    n_classes: int | None,
    folds: int,
    n_landmarks: int | None = None,
    *,
    limit: float,
    whole: bool = True,
    speed: float | None = None,
) -> list[Method]:
    """Put methods whose split is expected to take longer than `limit` seconds on landmarks.

    The default number is the largest of 500, 1,000, 2,000, ..., up to half of the training objects, for which a split
    takes at most `limit`, or else 500. If the `whole` matrix does not fit into memory, all run on at most 2,000.
    """
    most = n_train // 2 if whole else min(n_train // 2, _MOST_MEASURED)
    sizes = [500 * 2**k for k in range(20) if 500 * 2**k <= most] if n_landmarks is None else [n_landmarks]
    seconds, _ = expect_seconds(methods, n_train, n_classes, folds, speed)
    found = []
    for method in methods:
        short = seconds[method.name] <= limit
        if sizes and method.landmarks is None and method.reads != "objects" and not (whole and short):
            forms = [method.on_landmarks(size) for size in sizes]
            times, _ = expect_seconds(forms, n_train, n_classes, folds, speed)
            fit = [form for form in forms if times[form.name] <= limit]
            method = fit[-1] if fit else forms[0]
        found.append(method)
    return found


def base_name(name: str) -> str:
    """Name of a method without its parameters, under which its times are stored."""
    return _NAME.sub("", name).replace("()", "")


@cache
def _measured() -> Any:
    return json.loads(files("similis.study").joinpath("times.json").read_text())


@cache
def machine_seconds() -> float:
    """Time of a fixed computation on this machine, in one thread: matrix products, eigenvalues, and calls of NumPy."""
    A = np.cos(np.arange(150 * 150.0).reshape(150, 150))
    A = A + A.T
    with thread_pools().limit(limits=1):
        times = []
        for _ in range(10):  # the least of fewer is up to a third larger on a busy core
            start = time.process_time()
            for _ in range(3):
                np.linalg.eigh(A @ A)
            for row in np.tile(A, (10, 1)):
                np.argsort(row)[:5].sum()
            times.append(time.process_time() - start)
    return min(times)
