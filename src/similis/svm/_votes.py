"""Several classes from machines for two: pairs of classes and their votes."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["class_pairs", "vote_scores"]


def class_pairs(n_classes: int) -> NDArray[np.intp]:
    """Pairs g < h of class codes, (G (G - 1) / 2, 2); the machine of a pair is positive for h."""
    return np.array(list(combinations(range(n_classes), 2)), dtype=np.intp).reshape(-1, 2)


def vote_scores(f: NDArray[Any], n_classes: int) -> NDArray[np.float64]:
    """Class scores (m, G) from the pairs' decision values f, (m, number of pairs).

    Two classes: -f and f. More: the number of pairs won, plus the sum of margins squeezed into (-1/3, 1/3), which
    decides between classes that won alike. The earlier class wins a pair at f = 0.
    """
    if n_classes == 2:
        return np.hstack([-f, f])
    votes, margins = np.zeros((2, len(f), n_classes))
    for (g, h), value in zip(class_pairs(n_classes), f.T):
        votes[:, h] += value > 0
        votes[:, g] += value <= 0
        margins[:, h] += value
        margins[:, g] -= value
    return votes + margins / (3.0 * (np.abs(margins) + 1.0))
