"""What the papers say of their data sets, asked of the files in use: sizes, classes, symmetry, the spectrum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh

from similis.reproduce._method import Method
from similis.reproduce._problems import DataProblem, Problem
from similis.reproduce._published import PublishedCell, distance_of

__all__ = ["FACTS", "SIZES", "WORDS", "facts_problem"]


@dataclass(frozen=True)
class Facts(Method):
    """In the place of a method: nothing is learnt."""

    estimator: Any = None

    @property
    def fingerprint(self) -> str:
        """There is only one."""
        return "facts"


FACTS = {"": Facts()}
# Facts that are yes or no.
WORDS = ("symmetric", "psd", "sparse", "vector")
SIZES = ("samples", "classes", "dimensions", "samples-per-class", "training-size", *WORDS)


@dataclass(frozen=True)
class FactRuns(DataProblem):
    """A data set described. Nothing is random: two runs, which agree."""

    @property
    def most_runs(self) -> int | None:
        """Two."""
        return 2

    @property
    def in_order(self) -> bool:
        """The file itself."""
        return True

    def prepare(self, run: int) -> Callable[[Method, int], tuple[dict[str, float], Any]]:
        """Load the data."""
        whole = self.whole()
        S = whole.proximities
        sizes = np.unique(whole.labels, return_counts=True)[1]
        spectrum = eigvalsh((S + S.T) / 2)
        values = {
            "samples": len(S),
            "classes": len(sizes),
            "samples-per-class": float(sizes.mean()),
            "training-size": float((-(-sizes // 2)).sum()),  # [pekalska2000] sec. 3: half of each class
            "dimensions": 0 if whole.objects is None else whole.objects.shape[1],
            "vector": self.dataset == "Voting" or whole.objects is not None,  # the votes stand in another file
            "symmetric": np.array_equal(S, S.T),
            "psd": spectrum[0] >= -1e-9 * spectrum[-1],
            "sparse": np.mean(S == 0) > 0.5,
        }
        return lambda method, seed: ({name: float(value) for name, value in values.items()}, {})


def facts_problem(cell: PublishedCell) -> Problem:
    """The data set of a cell; of [pekalska2000] by its distance."""
    distance = distance_of(cell) if cell.paper == "pekalska2000" else ""
    if cell.dataset.startswith("Digits"):
        distance = "Contour"
    return FactRuns(f"facts {cell.dataset} {distance}".strip(), cell.dataset, distance)
