"""Which objects represent the others: random, k-centre, medoids, forward selection.

Everywhere D[i, j] is the dissimilarity of object i to prototype j, so an asymmetric D is read in one direction.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.threads import row_chunks
from similis.solvers import farthest_first, k_medoids

__all__ = ["choose_prototypes", "forward_selection"]


def choose_prototypes(
    D: NDArray[Any], k: int, selection: str, rng: np.random.RandomState, codes: NDArray[np.intp] | None = None
) -> NDArray[np.intp]:
    """Indices of k prototypes: ascending, or in the order chosen; `codes` are class codes for ``"forward"``."""
    if selection == "random":
        return np.sort(rng.permutation(len(D))[:k])
    if selection == "kcenter":
        return farthest_first(D, k)
    if selection == "medoids":
        # from the k-centres, by exchanges until none improves: the result depends on nothing drawn
        return k_medoids(D, k, sign=-1, method="eager", init=farthest_first(D, k)).medoids
    assert codes is not None
    return forward_selection(D, k, codes)


def forward_selection(D: NDArray[Any], k: int, codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Add, one at a time, the prototype that leaves the fewest objects wrong by the nearest-prototype rule.

    An object does not count as its own prototype (leave-one-out). Among equals, the one that leaves fewest objects
    without a prototype of their class, then the one that brings them nearest to it, then the lower index.
    """
    n = len(D)
    own, other = np.full((2, n), np.inf)  # distance to the nearest prototype of the own, of another class
    chosen: list[int] = []
    for _ in range(k):
        blocks = row_chunks(n, 1 + n * n // 2**22)
        j = min(_best_candidate(D, codes, columns, own, other, chosen) for columns in blocks)[-1]
        chosen.append(j)
        d = D[:, j].astype(np.float64)
        d[j] = np.inf
        same = codes == codes[j]
        own[same] = np.minimum(own, d)[same]
        other[~same] = np.minimum(other, d)[~same]
    return np.array(chosen)


def _best_candidate(
    D: NDArray[Any],
    codes: NDArray[np.intp],
    columns: slice,
    own: NDArray[Any],
    other: NDArray[Any],
    chosen: list[int],
) -> tuple[int, int, float, int]:
    """(objects wrong, objects without a prototype, distance to it, index) of the best candidate among `columns`."""
    index = np.arange(columns.start, columns.stop)
    d = D[:, columns].astype(np.float64)  # (n, candidates)
    d[index, index - columns.start] = np.inf
    same = codes[:, None] == codes[index]
    a = np.where(same, np.minimum(own[:, None], d), own[:, None])
    b = np.where(same, other[:, None], np.minimum(other[:, None], d))
    wrong = np.count_nonzero(~(a < b), axis=0)
    wrong[np.isin(index, chosen)] = len(D) + 1
    covered = np.isfinite(a)
    missing = np.count_nonzero(~covered, axis=0)
    spread = a.sum(axis=0, where=covered)
    c = np.lexsort((spread, missing, wrong))[0]
    return int(wrong[c]), int(missing[c]), float(spread[c]), int(index[c])
