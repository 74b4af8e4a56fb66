"""Predictions of a study, grouped by object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from similis._utils.arrays import Floats, Indices
from similis.exceptions import ProximityError

if TYPE_CHECKING:
    from similis.study._result import StudyResult

_CONFIDENT = 0.8  # mean probability of the suggested class
_ROUND_OFF = 1e-9  # probabilities that differ by less are equal


@dataclass(frozen=True, eq=False)
class ObjectPredictions:
    """Predictions of the methods without failure, lowest error first, by object; arrays have a row per method."""

    methods: tuple[str, ...]
    tested: Indices  # number of times an object was held out
    wrong: Indices  # number of times it was misclassified
    usual: Indices  # class predicted most often, the lower code of equally frequent ones; -1 if never held out
    differ: Floats  # (n_methods, n_methods): fraction of the tests of both on which their predictions differ

    def share_wrong(self) -> Floats:
        """Error rate of each object over all methods; NaN for objects never held out."""
        tested = self.tested.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(tested > 0, self.wrong.sum(axis=0) / tested, np.nan)

    def hardest(self) -> Indices:
        """Objects misclassified at least once, by decreasing error rate."""
        share = np.nan_to_num(self.share_wrong())
        order = np.argsort(-np.round(share, 12), kind="stable")
        return order[share[order] > 0]


def count_predictions(result: StudyResult) -> ObjectPredictions:
    """Count the predictions of a study per object; use :meth:`StudyResult.predictions_by_object`, which keeps them."""
    if result.target is not None:
        raise ProximityError("Predictions are counted per class; a regression has none. See ValuesDisplay.")
    rows = [row for row in result.table() if row.error == row.error]
    rows = [row for row in rows if not row.baseline] or rows
    methods = tuple(row.method for row in rows)
    n, G, M = len(result.codes), len(result.classes), len(methods)
    counts = np.zeros((M, n, G), dtype=np.int32)
    begin = np.cumsum([0, *(len(split.test) for split in result.splits)])
    predicted = np.full((M, begin[-1]), -1)  # over the test parts of all splits, one after the other
    for k, method in enumerate(methods):
        for split, entry in result._finished(method):
            predicted[k, begin[split.number] : begin[split.number + 1]] = entry.predictions
            np.add.at(counts[k], (split.test, entry.predictions), 1)
    present = (predicted >= 0).astype(np.float64)
    both, same = present @ present.T, np.zeros((M, M))
    for g in range(G):
        is_g = (predicted == g).astype(np.float64)
        same += is_g @ is_g.T
    tested = counts.sum(axis=2)
    right = counts[:, np.arange(n), result.codes]
    with np.errstate(invalid="ignore", divide="ignore"):
        differ = np.where(both > 0, 1 - same / both, np.nan)
    usual = np.where(tested > 0, counts.argmax(axis=2), -1)
    return ObjectPredictions(methods, tested.astype(np.intp), (tested - right).astype(np.intp), usual, differ)


@dataclass(frozen=True)
class Relabeling:
    """Object whose label the good methods contradict."""

    object: int  # its index
    name: str
    label: str
    suggested: str  # class that the methods predict
    probability: float  # mean, of the suggested class; NaN if no method predicts probabilities
    n_tests: int  # number of predictions, all of the suggested class


def find_relabelings(result: StudyResult) -> list[Relabeling]:
    """See :meth:`StudyResult.relabeling_candidates`; an object needs two predictions or more."""
    good = [row.method for row in result.table() if row.leading and not row.baseline]
    n, G = len(result.codes), len(result.classes)
    if result.target is not None or not good:
        return []
    votes, mass, weighed = np.zeros((n, G), np.intp), np.zeros((n, G)), np.zeros(n, np.intp)
    for method in good:
        for split, entry in result._finished(method):
            votes[split.test, entry.predictions] += 1
            if entry.proba is not None:
                mass[split.test] += entry.proba
                weighed[split.test] += 1
    objects, suggested, tests = np.arange(n), votes.argmax(axis=1), votes.sum(axis=1)
    with np.errstate(invalid="ignore"):
        probability = mass[objects, suggested] / weighed
    found = (suggested != result.codes) & (tests > 1) & (votes.max(axis=1) == tests) & ~(probability < _CONFIDENT)
    names, labels = result.object_names(), [str(label) for label in result.classes]
    candidates = [
        Relabeling(i, names[i], labels[result.codes[i]], labels[suggested[i]], float(probability[i]), int(tests[i]))
        for i in np.flatnonzero(found).tolist()
    ]
    return sorted(candidates, key=lambda c: (-np.nan_to_num(c.probability), -c.n_tests))


def held_out_probabilities(result: StudyResult, method: str) -> tuple[Indices, Floats] | None:
    """Test objects of all splits, and the probabilities that a method predicted; None if it predicts none."""
    found = result._finished(method)
    if not found or any(entry.proba is None for _, entry in found):
        return None
    return np.concatenate([split.test for split, _ in found]), np.concatenate([entry.proba for _, entry in found])


@dataclass(frozen=True)
class ClassSets:
    """Prediction sets of the held-out objects of one class."""

    label: str
    n_objects: int  # that were held out
    coverage: float  # share of their sets that contain the class
    size: float  # mean number of classes in their sets
    single: float  # share of their sets with one class
    empty: float  # share of their sets with none


def measure_sets(result: StudyResult, method: str, level: float) -> list[ClassSets]:
    """Measure prediction sets that are calibrated on held-out probabilities; see ``StudyResult.prediction_sets``."""
    found = held_out_probabilities(result, method)
    if found is None:
        raise ProximityError(f"{method} predicts no probabilities, which prediction sets need.")
    objects, P = found
    codes = result.codes[objects]
    p_values = np.empty_like(P)
    for g, scores in enumerate(P.T):
        own = codes == g
        n_objects = np.full(len(P), len(np.unique(objects[own])))
        total = np.full(len(P), own.sum())
        below = np.searchsorted(np.sort(scores[own]), scores + _ROUND_OFF, side="right")
        # An object is compared with the other objects of the class. Its own predictions are those with keys between
        # its number and the number plus one.
        keys = np.sort(objects[own] + scores[own] / 2)
        first = np.searchsorted(keys, objects[own])
        below[own] -= np.searchsorted(keys, objects[own] + scores[own] / 2 + _ROUND_OFF, side="right") - first
        total[own] -= np.searchsorted(keys, objects[own] + 0.75) - first
        n_objects[own] -= 1
        p_values[:, g] = (1 + n_objects * below / np.maximum(total, 1)) / (1 + n_objects)
    sets = p_values > 1 - level + _ROUND_OFF
    sizes = sets.sum(axis=1)
    rows = []
    for g, label in enumerate(result.classes):
        own = codes == g
        if own.any():
            size = sizes[own]
            shares = (sets[own, g].mean(), size.mean(), (size == 1).mean(), (size == 0).mean())
            rows.append(ClassSets(str(label), len(np.unique(objects[own])), *map(float, shares)))
    return rows
