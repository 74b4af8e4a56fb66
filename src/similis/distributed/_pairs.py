"""Pairs of objects measured on a cluster: what an index of neighbours asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.objects import take
from similis.distributed._cluster import hold
from similis.measures import Measure

__all__ = ["FEW_PAIRS", "PairsThere"]

FEW_PAIRS = 2**10  # fewer are not worth the way
_MOST = 2**18  # pairs in a task: two megabytes of indices


class PairsThere:
    """Measures index pairs on the workers of a Dask cluster, to which the objects are sent once."""

    def __init__(self, measure: Measure, objects: Any, client: Any) -> None:
        self._client = client
        self._measure, self._objects = hold(measure, client), hold(objects, client)
        self._threads = max(1, sum(client.nthreads().values()))

    def __call__(self, i: NDArray[Any], j: NDArray[Any]) -> NDArray[Any]:
        """Proximities of objects i to objects j, in their order."""
        tasks = max(-(-len(i) // _MOST), min(2 * self._threads, len(i) // FEW_PAIRS))
        parts = zip(*(np.array_split(np.asarray(side, np.int32), tasks) for side in (i, j)))
        futures = [
            self._client.submit(_measured, self._measure, self._objects, *part, pure=False, retries=2) for part in parts
        ]
        return np.concatenate(self._client.gather(futures))


def _measured(measure: Measure, objects: Any, i: NDArray[np.int32], j: NDArray[np.int32]) -> NDArray[Any]:
    return measure._pairs(take(objects, i), take(objects, j))
