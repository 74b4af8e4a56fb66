"""Votes of ranked neighbours for all k of a grid in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from similis._kernels._jit import kernel

__all__ = ["class_sums", "vote_winners"]


@kernel
def vote_winners(indices: Any, weights: Any, codes: Any, ks: Any, n_classes: int, winners: Any) -> None:
    """Write ``winners[i, t]``, the class with the largest summed weight among the first ks[t] neighbours of row i.

    Weights are non-negative, so a running sum only grows and the arg max is kept up to date: a class takes the lead
    when it passes the leader, or equals it with a smaller code. Without weights (no columns) every vote counts 1. A
    row without neighbours goes to class 0.
    """
    n_rows, n_ranks = indices.shape
    weighted = weights.shape[1] > 0
    sums = np.empty(n_classes)
    for i in range(n_rows):
        for c in range(n_classes):
            sums[c] = 0.0
        leader, t = 0, 0
        for r in range(n_ranks):
            j = indices[i, r]
            if j < 0:
                break
            c = codes[j]
            sums[c] += weights[i, r] if weighted else 1.0
            if sums[c] > sums[leader] or (sums[c] == sums[leader] and c < leader):
                leader = c
            while t < ks.shape[0] and ks[t] == r + 1:
                winners[i, t] = leader
                t += 1
        for rest in range(t, ks.shape[0]):
            winners[i, rest] = leader


@kernel
def class_sums(indices: Any, weights: Any, codes: Any, ks: Any, sums: Any) -> None:
    """Write ``sums[i, t, c]``, the summed weight of class c among the first ks[t] neighbours of row i.

    [chen2010] Eq. (3.2) before normalisation. Without weights (no columns) every neighbour counts 1.
    """
    n_rows, n_ranks = indices.shape
    n_classes = sums.shape[2]
    weighted = weights.shape[1] > 0
    running = np.empty(n_classes)
    for i in range(n_rows):
        for c in range(n_classes):
            running[c] = 0.0
        r = 0
        for t in range(ks.shape[0]):
            while r < min(ks[t], n_ranks) and indices[i, r] >= 0:
                running[codes[indices[i, r]]] += weights[i, r] if weighted else 1.0
                r += 1
            for c in range(n_classes):
                sums[i, t, c] = running[c]
