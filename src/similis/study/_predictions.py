"""Predictions of a study, grouped by object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from similis.study._result import StudyResult

__all__ = ["Answers", "collect_answers", "display_names"]


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers of the methods without failure, baselines apart, the lowest error first.

    Attributes
    ----------
    methods : tuple of str
        Their names.
    tested, wrong : ndarray of shape (n_methods, n_objects)
        How often an object was held out, and how often the answer was wrong.
    usual : ndarray of shape (n_methods, n_objects)
        The class most often answered, the lower code of equally frequent ones; -1 where never tested.
    differ : ndarray of shape (n_methods, n_methods)
        Share of the tests both took part in on which two methods gave different answers.
    """

    methods: tuple[str, ...]
    tested: NDArray[np.intp]
    wrong: NDArray[np.intp]
    usual: NDArray[np.intp]
    differ: NDArray[np.float64]

    def share_wrong(self) -> NDArray[np.float64]:
        """Share of all answers about each object that were wrong; NaN where it was never tested."""
        tested = self.tested.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(tested > 0, self.wrong.sum(axis=0) / tested, np.nan)

    def hardest(self) -> NDArray[np.intp]:
        """Objects some answer was wrong about, the hardest first."""
        share = np.nan_to_num(self.share_wrong())
        order = np.argsort(-np.round(share, 12), kind="stable")
        return order[share[order] > 0]


def collect_answers(result: StudyResult) -> Answers:
    """Turn the entries of a study round; what was found is kept with the result."""
    size, found = result._answers
    if found is None or size != len(result.entries):
        found = _collect(result)
        result._answers = len(result.entries), found
    return found


def _collect(result: StudyResult) -> Answers:
    rows = [row for row in result.table() if row.error == row.error]
    rows = [row for row in rows if not row.baseline] or rows
    methods = tuple(row.method for row in rows)
    n, G, M = len(result.codes), len(result.classes), len(methods)
    counts = np.zeros((M, n, G), dtype=np.int32)
    begin = np.cumsum([0, *(len(split.test) for split in result.splits)])
    said = np.full((M, begin[-1]), -1)  # answers to all tests, one after the other
    for split, start in zip(result.splits, begin):
        for k, method in enumerate(methods):
            entry = result.entries.get((method, split.number))
            if entry is not None and entry.predictions is not None:
                said[k, start : start + len(split.test)] = entry.predictions
                np.add.at(counts[k], (split.test, entry.predictions), 1)
    there = (said >= 0).astype(np.float64)
    both, same = there @ there.T, np.zeros((M, M))
    for g in range(G):
        hit = (said == g).astype(np.float64)
        same += hit @ hit.T
    tested = counts.sum(axis=2)
    right = counts[:, np.arange(n), result.codes]
    with np.errstate(invalid="ignore", divide="ignore"):
        differ = np.where(both > 0, 1 - same / both, np.nan)
    usual = np.where(tested > 0, counts.argmax(axis=2), -1)
    return Answers(methods, tested.astype(np.intp), (tested - right).astype(np.intp), usual, differ)


def display_names(result: StudyResult, most: int = 60) -> list[str]:
    """A name for each object, cut where it is very long."""
    if result.ids is None:
        return [f"object {i + 1}" for i in range(len(result.codes))]
    return [name if len(name) <= most else name[: most - 1] + "\N{HORIZONTAL ELLIPSIS}" for name in result.ids]
