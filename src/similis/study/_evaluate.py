"""Evaluate one method on one split: choose parameters on the training part, fit, predict the test part."""

from __future__ import annotations

import builtins
import os
import re
import time
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from zlib import crc32

import numpy as np

from similis._utils.threads import thread_pools
from similis.base import predict_responses
from similis.exceptions import CompilationCacheWarning
from similis.study._assemble import Goal, MatrixFacts, assemble, with_search
from similis.study._entry import Entry
from similis.study._methods import Method
from similis.study._problem import Problem
from similis.study._protocol import Protocol, Split

_MAX_LENGTH = 300  # characters of a reason or note


@dataclass(frozen=True, eq=False)
class Context:
    """Data shared by all tasks of a run."""

    problem: Problem
    protocol: Protocol
    facts: MatrixFacts
    goal: Goal
    session: str
    journal: str | None = None
    retry_failed: bool = False
    probabilities: bool = True
    header: dict[str, Any] = field(default_factory=dict)  # of the journal
    owner: int = field(default_factory=os.getpid)


@dataclass(frozen=True, eq=False)
class Task:
    """One method on one split, with everything needed to evaluate it in another process."""

    method: Method
    grid: dict[str, list[Any]]  # limited to the size of the training parts
    spec: str  # fingerprint of method and grid
    split: Split

    @property
    def key(self) -> tuple[str, int]:
        return self.method.name, self.split.number

    @property
    def journal_key(self) -> tuple[str, int, str]:
        return *self.key, self.spec


def evaluate(task: Task, context: Context) -> Entry:
    """Evaluate a method on a split; an exception becomes an entry with a reason."""
    start = time.perf_counter()
    # BLAS runs on one thread, so that the numbers do not depend on how many workers there are.
    with warnings.catch_warnings(record=True) as caught, thread_pools().limit(limits=1):
        warnings.simplefilter("always")
        try:
            found = _fit_and_predict(task, context)
        except Exception as error:  # estimators may raise anything; a failure becomes a row with a reason
            found = {"status": "failed", "reason": _reason(error), "fit_seconds": time.perf_counter() - start}
    notes = Counter(
        f"{warning.category.__name__}: {' '.join(str(warning.message).split())}"[:_MAX_LENGTH]
        for warning in caught
        if not issubclass(warning.category, CompilationCacheWarning)  # about the machine; the study warns once
    )
    texts = tuple(text if count == 1 else f"{text} ({count} times)" for text, count in notes.items())
    finished = datetime.now(UTC).isoformat(timespec="milliseconds")
    return Entry(*task.journal_key, notes=texts, finished=finished, session=context.session, **found)


def _fit_and_predict(task: Task, context: Context) -> dict[str, Any]:
    """Return the fields of the entry that the method determines."""
    method, problem, protocol, facts = task.method, context.problem, context.protocol, context.facts
    split = task.split.on_landmarks(problem.codes, method.landmarks, protocol.random_state)
    start = time.perf_counter()
    symmetrize = method.symmetric and not facts.symmetric
    if method.reads == "objects" and problem.given_objects is None:
        raise ValueError("This method reads the objects themselves: give them by objects=, or with a measure.")
    if method.reads != "objects" and problem.matrix is None and problem.objects is None:
        raise ValueError("This method reads a matrix of proximities, and none was given.")
    X_train, X_test, first = problem.parts(split, symmetrize=symmetrize, objects=method.reads == "objects")
    if problem.matrix is None and symmetrize:
        facts = replace(facts, symmetric=True)  # both directions were measured
    y = problem.y[split.train]
    seed = split.seed
    if seed is None:
        words = [protocol.random_state, 2, split.number, crc32(method.name.encode())]
        seed = int(np.random.default_rng(words).integers(2**31))
    present = np.unique(y) if problem.target is None else None
    parts = assemble(method, facts, first=first, seed=seed, **context.goal.decision(present))
    cv = protocol.inner(split.number, grouped=problem.groups is not None) if method.cv is None else method.cv
    model = with_search(parts, task.grid, cv=cv, goal=context.goal)
    if problem.groups is not None and hasattr(model, "param_grid"):
        model.fit(X_train, y, groups=problem.groups[split.train])
    else:
        model.fit(X_train, y)
    fitted = time.perf_counter()
    predicted: Any = []
    proba = None
    if len(split.test) and context.probabilities and hasattr(model, "predict_proba"):
        predicted, found = predict_responses(model, X_test, ["predict", "predict_proba"])
        if not np.isfinite(found).all():
            raise ValueError("The method gave probabilities that are not finite.")
        # One column for every class of the study, also those that the training part lacks.
        proba = np.zeros((len(found), len(problem.classes)))
        proba[:, model.classes_] = found
    elif len(split.test):
        predicted = model.predict(X_test)
    predicted = np.asarray(predicted, dtype=problem.y.dtype)
    if not np.isfinite(predicted).all():
        raise ValueError("The method gave predictions that are not finite.")
    details = {} if method.details is None else method.details(model, X_train, y, X_test, problem.y[split.test])
    chosen = getattr(model, "best_params_", {})
    return {
        "predictions": predicted,
        "proba": proba,
        "details": {name: float(value) for name, value in details.items()},
        "params": {key.removeprefix(parts.prefix): value for key, value in chosen.items()},
        "fit_seconds": fitted - start,
        "predict_seconds": time.perf_counter() - fitted,
    }


# Failures that depend on the machine, not on method and data: the names of OSError, its subclasses, and others.
_ENVIRONMENT = {
    *(cls.__name__ for cls in vars(builtins).values() if isinstance(cls, type) and issubclass(cls, OSError)),
    *("MemoryError", "ImportError", "ModuleNotFoundError", "MissingExtraError", "BrokenProcessPool"),
    *("CommClosedError", "CancelledError"),  # of a Dask worker that has lost its scheduler
}


def is_environment_failure(entry: Entry) -> bool:
    """Tell whether an entry failed for a reason that lies in the environment, such as a full disk."""
    is_missing_extra = "Install it with: pip install" in entry.reason  # a ValueError, whose type is not in the reason
    return not entry.ok and (is_missing_extra or entry.reason.partition(":")[0] in _ENVIRONMENT)


def _reason(error: Exception) -> str:
    """Format an exception as one sentence. Where scikit-learn reports that all fits failed, take its last line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if lines and "fits failed" in lines[0]:
        lines = lines[-1:]
    text = " ".join(lines) or type(error).__name__
    text = re.sub(r"^Negative values in data passed to \w+: ", "", text)  # scikit-learn's words for such estimators
    if not isinstance(error, ValueError):
        text = f"{type(error).__name__}: {text}"
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 3] + "..."
