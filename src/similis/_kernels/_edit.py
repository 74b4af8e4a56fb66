"""Weighted edit distance of sequences that lie one after another in one array."""

from __future__ import annotations

from typing import Any

import numpy as np

from similis._kernels._jit import kernel

__all__ = ["edit_distances"]


@kernel
def edit_distances(
    x: Any,
    x_class: Any,
    x_start: Any,
    z: Any,
    z_class: Any,
    z_start: Any,
    insert: Any,
    delete: Any,
    substitute: Any,
    start: int,
    stop: int,
    mirror: bool,
    out: Any,
) -> None:
    """Fill ``out[i, j]``, j from i on with `mirror`, with the least cost of turning sequence i into sequence j.

    Symbols are equal when their numbers are; what an edit costs depends on the symbols' classes:
    ``D[a, b] = min(D[a-1, b] + delete[x_a], D[a, b-1] + insert[z_b], D[a-1, b-1] + change)``, where `change` is
    ``substitute[x_a, z_b]``, and 0 where x_a equals z_b.
    """
    n = z_start.shape[0] - 1
    longest = 0
    for j in range(n):
        longest = max(longest, z_start[j + 1] - z_start[j])
    D = np.empty(longest + 1)
    for i in range(start, stop):
        for j in range(i if mirror else 0, n):
            b0, width = z_start[j], z_start[j + 1] - z_start[j]
            D[0] = 0.0
            for b in range(width):
                D[b + 1] = D[b] + insert[z_class[b0 + b]]
            for a in range(x_start[i], x_start[i + 1]):
                diagonal, gone = D[0], delete[x_class[a]]
                D[0] = left = diagonal + gone
                for b in range(width):
                    above = D[b + 1]
                    change = diagonal
                    if x[a] != z[b0 + b]:
                        change += substitute[x_class[a], z_class[b0 + b]]
                    left = min(min(above + gone, left + insert[z_class[b0 + b]]), change)
                    D[b + 1] = left
                    diagonal = above
            out[i, j] = D[width]
