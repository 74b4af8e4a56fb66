"""Predictions of a study, grouped by object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from similis.exceptions import ProximityError

if TYPE_CHECKING:
    from similis.study._result import StudyResult

__all__ = ["ObjectPredictions", "count_predictions"]


@dataclass(frozen=True, eq=False)
class ObjectPredictions:
    """Predictions of the methods without failure, counted per object; baselines left out, lowest error first.

    Attributes
    ----------
    methods : tuple of str
        Names of the methods.
    tested, wrong : ndarray of shape (n_methods, n_objects)
        Number of times an object was held out, and was misclassified.
    usual : ndarray of shape (n_methods, n_objects)
        Class predicted most often, the lower code of equally frequent ones; -1 for objects never held out.
    differ : ndarray of shape (n_methods, n_methods)
        Fraction of the tests of both methods on which their predictions differ.
    """

    methods: tuple[str, ...]
    tested: NDArray[np.intp]
    wrong: NDArray[np.intp]
    usual: NDArray[np.intp]
    differ: NDArray[np.float64]

    def share_wrong(self) -> NDArray[np.float64]:
        """Error rate of each object over all methods; NaN for objects never held out."""
        tested = self.tested.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(tested > 0, self.wrong.sum(axis=0) / tested, np.nan)

    def hardest(self) -> NDArray[np.intp]:
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
    for split, start in zip(result.splits, begin):
        for k, method in enumerate(methods):
            entry = result.entries.get((method, split.number))
            if entry is not None and entry.predictions is not None:
                predicted[k, start : start + len(split.test)] = entry.predictions
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
