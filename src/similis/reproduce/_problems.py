"""The papers' protocols. A problem is one data set under one protocol; it can be run any number of times.

Run r of a problem draws its random numbers from the problem's name and r alone, so that the result does not depend
on which runs, methods or tables are asked for, nor on the number of workers.
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import ParameterGrid

from similis.datasets import make_perturbed_centroids
from similis.measures import VDM, Counting
from similis.reproduce._data import load_part, obstacle
from similis.reproduce._method import Method, Part

__all__ = [
    "DataProblem",
    "LeaveOneOutRuns",
    "PerturbedCentroids",
    "ProbabilityRuns",
    "Problem",
    "SplitRuns",
    "part_of",
    "percent_wrong",
]

Outcome = dict[str, Any]  # {"values": {quantity: number}, "chosen": parameters, "seconds": time}


@dataclass(frozen=True)
class Problem:
    """What all protocols share: a stable name, seeds, and one outcome per method and run."""

    name: str

    @property
    def paper_runs(self) -> int:
        """How many runs stand behind the paper's figure."""
        return 20

    @property
    def most_runs(self) -> int | None:
        """At most so many runs, for a problem too slow for more."""
        return None

    @property
    def in_order(self) -> bool:
        """Whether run 0 is the experiment itself, and the others only show what another order of the objects does."""
        return False

    @property
    def resolution(self) -> float:
        """The smallest difference in error that can exist: one object, in percent; 0 where runs are averaged."""
        return 0.0

    def obstacle(self) -> str:
        """Why it cannot be run here; empty if it can."""
        return ""

    def generator(self, run: int, purpose: int = 0) -> np.random.Generator:
        """Random numbers of one run, for the data (0) or for the methods (1)."""
        return np.random.default_rng([zlib.crc32(self.name.encode()), run, purpose])

    def outcomes(self, methods: Mapping[str, Method], run: int) -> Iterator[tuple[str, Outcome]]:
        """Solve one run by every method, named as the caller likes; one that fails gives its reason, not values."""
        seed = int(self.generator(run, 1).integers(2**31))
        solve = self.prepare(run)
        for name, method in methods.items():
            start = perf_counter()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    values, chosen = solve(method, seed)
            except Exception as error:  # a failure is a row with a reason, never a gap
                yield name, {"failed": f"{type(error).__name__}: {error}"[:300]}
            else:
                yield name, {"values": values, "chosen": _plain(chosen), "seconds": round(perf_counter() - start, 4)}

    def prepare(self, run: int) -> Callable[[Method, int], tuple[dict[str, float], Any]]:
        """Draw or load the data of a run; return what solves it by a method."""
        raise NotImplementedError


@dataclass(frozen=True)
class PerturbedCentroids(Problem):
    """[cazzanti2007] sec. 6.1: noisy copies of random binary centroids, 100 to learn from and 1,000 to classify.

    Beside the error there is the error with the floor simulated. The published tables carry 1.3 to 2 points that
    the data as described cannot produce; a candidate cause, inferred and not stated by the paper, is that test
    labels were assigned by exact halves to samples drawn class by class in random numbers.
    """

    similarity: str
    p: tuple[str, str]
    centroids: int
    d: int

    def prepare(self, run: int) -> Callable[[Method, int], tuple[dict[str, float], Any]]:
        """Draw centroids and samples, and measure them."""
        p = tuple((float(Fraction(share)),) * self.centroids for share in self.p)
        seed = int(self.generator(run).integers(2**31))
        data = make_perturbed_centroids(self.d, p, n_train=100, n_test=1000, random_state=seed)
        measure = (Counting() if self.similarity == "counting" else VDM()).fit(data.X_train, data.y_train)
        train = Part(measure.matrix(data.X_train), data.y_train, measure.kind, data.X_train)
        test = Part(measure.matrix(data.X_test, data.X_train), data.y_test, measure.kind, data.X_test)
        by_class = np.argsort(data.y_test, kind="stable")
        halves = np.repeat([0, 1], 500)

        def solve(method: Method, seed: int) -> tuple[dict[str, float], Any]:
            model, chosen = method.fit(train, seed)
            predicted = method.predict(model, test)
            return {
                "error": percent_wrong(predicted, data.y_test),
                "error with floor": percent_wrong(predicted[by_class], halves),
            }, chosen

        return solve


@dataclass(frozen=True)
class DataProblem(Problem):
    """A protocol on one of the papers' data sets; `seeds` names the problem whose random numbers it shares."""

    dataset: str
    similarity: str = ""
    seeds: str = field(default="", kw_only=True)

    def generator(self, run: int, purpose: int = 0) -> np.random.Generator:
        """Random numbers of one run, from the name or from `seeds`."""
        return Problem(self.seeds).generator(run, purpose) if self.seeds else super().generator(run, purpose)

    def obstacle(self) -> str:
        """Why the data cannot be had."""
        return obstacle(self.dataset, self.similarity)

    def whole(self) -> Part:
        """All objects."""
        return load_part(self.dataset, self.similarity)


@dataclass(frozen=True)
class SplitRuns(DataProblem):
    """[chen2010] sec. 4.3: a random fifth held out, parameters chosen on the rest, the error on the fifth."""

    def split(self, run: int) -> tuple[Part, Part, NDArray[np.intp]]:
        """The objects to learn from, those to be asked about, and which these are."""
        whole = self.whole()
        order = self.generator(run).permutation(len(whole.labels))
        n_test = round(0.2 * len(order))
        test, train = order[:n_test], order[n_test:]
        return part_of(whole, train, train), part_of(whole, test, train), test

    def prepare(self, run: int) -> Callable[[Method, int], tuple[dict[str, float], Any]]:
        """Draw the split."""
        known, new, _ = self.split(run)

        def solve(method: Method, seed: int) -> tuple[dict[str, float], Any]:
            model, chosen = method.fit(known, seed)
            return {"error": percent_wrong(method.predict(model, new), new.labels)}, chosen

        return solve


@dataclass(frozen=True)
class LeaveOneOutRuns(DataProblem):
    """[cazzanti2007] sec. 6.2: leave-one-out, the parameters chosen by leave-one-out on the others.

    Nothing is random here, but the order of the objects decides ties. Run 0 takes them as the file has them and is
    the experiment; the others are shuffled and show how much ties can matter.
    """

    @property
    def in_order(self) -> bool:
        """Run 0 is the experiment."""
        return True

    @property
    def resolution(self) -> float:
        """One object in percent."""
        return 100.0 / len(self.whole().labels)

    def prepare(self, run: int) -> Callable[[Method, int], tuple[dict[str, float], Any]]:
        """Put the objects in the run's order."""
        whole = _shuffled(self.whole(), self.generator(run), run)
        n = len(whole.labels)

        def solve(method: Method, seed: int) -> tuple[dict[str, float], Any]:
            predicted, chosen = np.empty_like(whole.labels), []
            if not method.grid and hasattr(method.estimator, "predict_path_cv"):
                model = method.configured(whole.kind, seed)
                left_out = model.predict_path_cv(getattr(whole, method.reads), whole.labels, np.arange(n), [{}])
                return {"error": percent_wrong(next(iter(left_out)), whole.labels)}, {}
            for i in range(n):
                others = np.delete(np.arange(n), i)
                model, choice = method.fit(part_of(whole, others, others), seed)
                predicted[i] = method.predict(model, part_of(whole, np.array([i]), others))[0]
                chosen.append(choice)
            return {"error": percent_wrong(predicted, whole.labels)}, _most_frequent(chosen)

        return solve


@dataclass(frozen=True)
class ProbabilityRuns(DataProblem):
    """[chen2010] sec. 4.6: cross entropy of leave-one-out probabilities, the best over the grid.

    As in the paper this is no held-out figure. Again run 0 is the experiment, and the others shuffle the objects.
    """

    @property
    def in_order(self) -> bool:
        """Run 0 is the experiment."""
        return True

    def prepare(self, run: int) -> Callable[[Method, int], tuple[dict[str, float], Any]]:
        """Put the objects in the run's order; find the cross entropy of the class frequencies."""
        whole = _shuffled(self.whole(), self.generator(run), run)
        n = len(whole.labels)
        codes = np.unique(whole.labels, return_inverse=True)[1]
        baseline = -np.log((np.bincount(codes)[codes] - 1) / (n - 1)).mean()

        def solve(method: Method, seed: int) -> tuple[dict[str, float], Any]:
            points = list(ParameterGrid(method.points(n)))
            model = method.configured(whole.kind, seed)
            answers = model.predict_path_cv(
                whole.proximities, whole.labels, np.arange(n), points, response="predict_proba"
            )
            # [chen2010] sec. 4.6.1 -> zeta = -1/n sum_i log P(y_i | x_i), perplexity e^zeta, NCE 1 - zeta / zeta_0
            entropies = [-np.log(proba[np.arange(n), codes]).mean() for proba in answers]
            best = int(np.argmin(entropies))
            zeta = float(entropies[best])
            return {"perplexity": float(np.exp(zeta)), "nce": float(1 - zeta / baseline)}, points[best]

        return solve


def percent_wrong(predicted: NDArray[Any], truth: NDArray[Any]) -> float:
    """Share of wrong labels."""
    return float(100 * np.mean(predicted != truth))


def part_of(whole: Part, rows: NDArray[Any], columns: NDArray[Any]) -> Part:
    """Some objects, with their proximities to some others."""
    block = np.ix_(rows, columns)
    objects = None if whole.objects is None else whole.objects[rows]
    distances = None if whole.distances is None else whole.distances[block]
    return Part(whole.proximities[block], whole.labels[rows], whole.kind, objects, distances)


def _shuffled(whole: Part, generator: np.random.Generator, run: int) -> Part:
    n = len(whole.labels)
    order = np.arange(n) if run == 0 else generator.permutation(n)
    return part_of(whole, order, order)


def _most_frequent(choices: list[dict[str, Any]]) -> dict[str, Any]:
    return max(choices, key=choices.count)


def _plain(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers that JSON can hold."""
    return {key: value.item() if isinstance(value, np.generic) else value for key, value in chosen.items()}
