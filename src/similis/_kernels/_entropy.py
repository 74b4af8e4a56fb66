"""Residual entropy: how uncertain a random training object stays once some of its features are known."""

from __future__ import annotations

from typing import Any

import numpy as np

from similis._kernels._jit import kernel
from similis._kernels._sets import population

__all__ = ["residual_entropies"]


@kernel
def entropy_of(chosen: Any, counts: Any, products: Any, plain: bool) -> float:
    """Entropy of the objects whose bits are set: log N - sum c log c / N, N = sum c; no object, no entropy."""
    total, spread = 0.0, 0.0
    for w in range(chosen.shape[0]):
        word = chosen[w]
        if plain:
            total += population(word)
            continue
        while word != np.uint64(0):
            rest = word & (word - np.uint64(1))
            k = 64 * w + population((word ^ rest) - np.uint64(1))
            total += counts[k]
            spread += products[k]
            word = rest
    if total == 0:
        return 0.0
    return max(np.log(total) - spread / total, 0.0)


@kernel
def residual_entropies(
    x: Any,
    x_start: Any,
    z: Any,
    z_start: Any,
    having: Any,
    everyone: Any,
    counts: Any,
    products: Any,
    plain: bool,
    start: int,
    stop: int,
    mirror: bool,
    out: Any,
) -> None:
    """Fill ``out[i, j]`` with -H(R | x and z) + (H(R | x without z) + H(R | z without x)) / 2.

    ``having[f]`` are the training objects with feature f as bits; an object of ``x`` or ``z`` is a sorted run of
    features.
    """
    n_words = having.shape[1]
    common = np.empty(n_words, np.uint64)
    left, right = np.empty(n_words, np.uint64), np.empty(n_words, np.uint64)
    for i in range(start, stop):
        for j in range(i if mirror else 0, z_start.shape[0] - 1):
            common[:] = everyone
            left[:] = everyone
            right[:] = everyone
            a, b = x_start[i], z_start[j]
            while a < x_start[i + 1] or b < z_start[j + 1]:
                if b == z_start[j + 1] or (a < x_start[i + 1] and x[a] < z[b]):
                    for w in range(n_words):
                        left[w] &= having[x[a], w]
                    a += 1
                elif a == x_start[i + 1] or z[b] < x[a]:
                    for w in range(n_words):
                        right[w] &= having[z[b], w]
                    b += 1
                else:
                    for w in range(n_words):
                        common[w] &= having[x[a], w]
                    a += 1
                    b += 1
            alone = entropy_of(left, counts, products, plain) + entropy_of(right, counts, products, plain)
            out[i, j] = alone / 2 - entropy_of(common, counts, products, plain)
