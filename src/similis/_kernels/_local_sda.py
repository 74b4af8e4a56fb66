"""Local similarity discriminant analysis of many queries for all neighbourhoods of a grid in one pass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from similis._kernels._jit import kernel
from similis._kernels._local_centroid import _nearest
from similis._kernels._maxent import POINT, solve_rate

__all__ = ["local_sda"]


@kernel
def local_sda(
    S: Any,
    sign: float,
    codes: Any,
    indices: Any,
    values: Any,
    weights: Any,
    ends: Any,
    omega: Any,
    options: Any,
    out: Any,
    counts: Any,
    winners: Any,
) -> None:
    """Model each class among the first ends[i, t] ranked neighbours of query i; ends ascend along t.

    ``omega`` is (form, nodes, weights, centre, table, low, high, width); ``options`` is (smallest class, smoothing, log
    of the size of Omega, whether rows that fall back are modelled too). Writes ``out[:, i, t, g]``, the slope, power
    and value of log P(s(x, mu_1), .., s(x, mu_G) | g), ``counts[i, t, g]``, and ``winners[i, t]``: the class of
    the most similar local centroid where some class has too few neighbours to be modelled, else -1.

    Neighbourhoods are nested: sums grow by the new members, and start afresh only for a class whose centroid moved.
    Without weights `weights` has no columns.
    """
    n_rows, n_ranks = indices.shape
    n_classes = counts.shape[2]
    total, mass = np.empty(n_ranks), np.empty(n_ranks)
    size = np.empty(n_classes, np.intp)
    weight = np.empty(n_classes)
    centroid, before = np.empty(n_classes, np.intp), np.empty(n_classes, np.intp)
    above, below = np.empty((n_classes, n_classes)), np.empty((n_classes, n_classes))
    for i in range(n_rows):
        size[:], weight[:], before[:] = 0, 0.0, -1
        r = 0
        for t in range(ends.shape[1]):
            start = r
            while r < ends[i, t] and indices[i, r] >= 0:
                c, w = codes[indices[i, r]], weights[i, r] if weights.shape[1] > 0 else 1.0
                _join_class(S, codes, indices[i], weights[i], r, total, mass)
                size[c] += 1
                weight[c] += w
                r += 1
            _central(sign, codes, indices[i], total, mass, r, centroid)
            few = False
            for c in range(n_classes):
                counts[i, t, c] = size[c]
                few = few or 0 < size[c] < options[0]
            winners[i, t] = _nearest(values[i], sign, centroid, size) if few else -1
            if few and options[3] == 0.0:
                before[:] = -1
                continue
            _grow_sums(S, codes, indices[i], weights[i], start, r, centroid, before, omega, above, below)
            _score(values[i], centroid, weight, above, below, omega, options, out[:, i, t])


@kernel
def _join_class(S: Any, codes: Any, row: Any, weights: Any, r: int, total: Any, mass: Any) -> None:
    """Let the r-th neighbour join its class: it adds to the others' sums of s(z, mu) and they to its own."""
    j = row[r]
    w_new = weights[r] if weights.shape[0] > 0 else 1.0
    total[r], mass[r] = 0.0, 0.0
    for q in range(r + 1):
        z = row[q]
        if codes[z] == codes[j]:
            w_old = weights[q] if weights.shape[0] > 0 else 1.0
            total[r] += w_old * S[z, j]
            mass[r] += w_old
            if q < r:
                total[q] += w_new * S[j, z]
                mass[q] += w_new


@kernel
def _central(sign: float, codes: Any, row: Any, total: Any, mass: Any, r: int, centroid: Any) -> None:
    """[cazzanti2007] Eq. (2.10) -> rank of each class's centroid, the nearer one among equals; -1 if absent."""
    centroid[:] = -1
    for q in range(r):
        c = codes[row[q]]
        best = centroid[c]
        mean = sign * total[q] / mass[q]
        if best < 0 or mean - 1e-12 * max(1.0, abs(mean)) > sign * total[best] / mass[best]:
            centroid[c] = q


@kernel
def _grow_sums(
    S: Any,
    codes: Any,
    row: Any,
    weights: Any,
    start: int,
    stop: int,
    centroid: Any,
    before: Any,
    omega: Any,
    above: Any,
    below: Any,
) -> None:
    """Sum over the members z of each class g the distances of s(z, mu_h) from both ends of Omega."""
    low, high = omega[5], omega[6]
    for h in range(centroid.shape[0]):
        first = start
        if centroid[h] != before[h]:
            above[:, h], below[:, h] = 0.0, 0.0
            first = 0
        before[h] = centroid[h]
        if centroid[h] < 0:
            continue
        mu = row[centroid[h]]
        for q in range(first, stop):
            z = row[q]
            w = weights[q] if weights.shape[0] > 0 else 1.0
            above[codes[z], h] += w * (S[z, mu] - low)
            below[codes[z], h] += w * (high - S[z, mu])


@kernel
def _score(values: Any, centroid: Any, weight: Any, above: Any, below: Any, omega: Any, options: Any, out: Any) -> None:
    """[cazzanti2007] Eq. (3.6) -> log of prod_h gamma_gh exp(lambda_gh s(x, mu_h)), point masses in limit form."""
    form, nodes, node_weights, center, table, low, high, width = omega
    for g in range(centroid.shape[0]):
        slope = power = value = 0.0
        if centroid[g] < 0:
            value = -np.inf
        else:
            for h in range(centroid.shape[0]):
                if centroid[h] < 0:
                    continue
                rate, log_z = solve_rate(
                    form,
                    nodes,
                    node_weights,
                    center,
                    table,
                    above[g, h] / (weight[g] * width),
                    below[g, h] / (weight[g] * width),
                )
                s = values[centroid[h]]
                offset = (high - s if rate > 0.0 else s - low) / width
                d_slope, d_power, d_value = _term(form, rate, log_z, offset, math.log(width), options)
                slope += d_slope
                power += d_power
                value += d_value
        out[0, g], out[1, g], out[2, g] = slope, power, value


@kernel
def _term(
    form: int, rate: float, log_z: float, offset: float, log_width: float, options: Any
) -> tuple[float, float, float]:
    """Slope, power and value of log((1 - e) P + e / |Omega|) for one exponential P at one offset from its end."""
    smoothing, log_size = options[1], options[2]
    density = form > 1
    if density:
        log_z += log_width
    if form == POINT or not np.isinf(rate):
        value = -abs(rate) * offset - log_z if rate != 0.0 else -log_z
        if smoothing > 0.0:
            value = math.log((1.0 - smoothing) * math.exp(min(value, 700.0)) + smoothing * math.exp(-log_size))
        return 0.0, 0.0, value
    if smoothing == 0.0:
        return offset, 1.0 if density else 0.0, -log_z
    if offset > 1e-12:
        return 0.0, 0.0, math.log(smoothing) - log_size
    if density or offset < -1e-12:
        return min(offset, 0.0), 1.0 if density else 0.0, math.log(1.0 - smoothing) - log_z
    return 0.0, 0.0, math.log(1.0 - smoothing + smoothing * math.exp(-log_size))
