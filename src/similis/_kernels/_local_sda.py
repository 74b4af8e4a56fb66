"""Local similarity discriminant analysis ([cazzanti2007] sec. 4.1) of many queries for all neighborhoods of a grid."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from similis._kernels._jit import kernel
from similis._kernels._maxent import POINT, solve_rate
from similis._kernels._neighbors import _nearest


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
    """Fit a maximum-entropy model per class to the first ends[i, t] ranked neighbors of query i; ends ascend along t.

    Neighborhoods are nested, so sums are updated instead of recomputed: ``above[g, q]`` is the sum over the members z
    of class g of the distance of s(z, q) from the lower end of Omega, for every neighbor q. The mean similarity of a
    class to any neighbor is therefore available, whichever neighbors become centroids.

    Parameters
    ----------
    weights : ndarray of shape (m, k) or (m, 0)
        Weights of the neighbors; no columns mean equal weights.
    omega : tuple
        (form, nodes, weights, center, table, low, high, width) of Omega.
    options : tuple
        (smallest class size, smoothing, log of the size of Omega, 1 to model rows that fall back too).
    out : ndarray of shape (3, m, len(ends), G)
        Output: slope, power and value of log P(s(x, mu_1), .., s(x, mu_G) | g) as a point-mass limit, see
        :func:`_term`.
    counts : ndarray of shape (m, len(ends), G)
        Output: neighbors per class.
    winners : ndarray of shape (m, len(ends))
        Output: class of the most similar local centroid where a class has too few neighbors for a model, else -1.
    """
    n_rows, n_ranks = indices.shape
    n_classes = counts.shape[2]
    above, below = np.empty((n_classes, n_ranks)), np.empty((n_classes, n_ranks))
    size, centroid = np.empty(n_classes, np.intp), np.empty(n_classes, np.intp)
    weight = np.empty(n_classes)
    for i in range(n_rows):
        size[:], weight[:] = 0, 0.0
        above[:], below[:] = 0.0, 0.0
        r, stop = 0, _known(indices[i], ends[i, -1])
        for t in range(ends.shape[1]):
            while r < min(ends[i, t], stop):
                c, w = codes[indices[i, r]], weights[i, r] if weights.shape[1] > 0 else 1.0
                _join(S[indices[i, r]], indices[i], stop, w, omega[5], omega[6], above[c], below[c])
                size[c] += 1
                weight[c] += w
                r += 1
            _central(sign, codes, indices[i], r, above, weight, omega[5], centroid)
            few = False
            for c in range(n_classes):
                counts[i, t, c] = size[c]
                few = few or 0 < size[c] < options[0]
            winners[i, t] = _nearest(values[i], sign, centroid, size) if few else -1
            if not few or options[3] > 0.0:
                _score(values[i], centroid, weight, above, below, omega, options, out[:, i, t])


@kernel
def _known(row: Any, stop: int) -> int:
    """Count the leading valid neighbors among the first `stop`; -1 pads a row."""
    n = 0
    while n < min(stop, row.shape[0]) and row[n] >= 0:
        n += 1
    return n


@kernel
def _join(source: Any, row: Any, stop: int, w: float, low: float, high: float, above: Any, below: Any) -> None:
    """Add the similarities s(z, q) of a neighbor z to all neighbors q to the sums of the class of z."""
    for q in range(stop):
        value = source[row[q]]
        above[q] += w * (value - low)
        below[q] += w * (high - value)


@kernel
def _central(sign: float, codes: Any, row: Any, r: int, above: Any, weight: Any, low: float, centroid: Any) -> None:
    """Find the rank of each class centroid, [cazzanti2007] Eq. (2.10): the nearer one among equals; -1 if absent."""
    centroid[:] = -1
    for q in range(r):
        c = codes[row[q]]
        best = centroid[c]
        mean = sign * (low + above[c, q] / weight[c])
        if best < 0 or mean - 1e-12 * max(1.0, abs(mean)) > sign * (low + above[c, best] / weight[c]):
            centroid[c] = q


@kernel
def _score(values: Any, centroid: Any, weight: Any, above: Any, below: Any, omega: Any, options: Any, out: Any) -> None:
    """Compute the log of prod_h gamma_gh exp(lambda_gh s(x, mu_h)) for each class g, [cazzanti2007] Eq. (3.6)."""
    form, nodes, node_weights, center, table, low, high, width = omega
    for g in range(centroid.shape[0]):
        slope = power = value = 0.0
        if centroid[g] < 0:
            value = -np.inf
        else:
            for h in range(centroid.shape[0]):
                if centroid[h] < 0:
                    continue
                # lambda_gh from the mean similarity of class g to the centroid of class h, [cazzanti2007] Eq. (3.4).
                rate, log_z = solve_rate(
                    form,
                    nodes,
                    node_weights,
                    center,
                    table,
                    above[g, centroid[h]] / (weight[g] * width),
                    below[g, centroid[h]] / (weight[g] * width),
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
    """Compute slope, power and value of log((1 - e) P + e / |Omega|) for one exponential P at one offset from its end.

    A point mass is the limit of a common rate x -> inf. There the logarithm is value + power log x - slope x; a finite
    rate has slope and power zero. Classes are compared by slope first, then by power, then by value.
    """
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


@kernel
def lost_values(order: Any, starts: Any, fold: Any, lost: Any) -> None:
    """Write to ``lost[:, v]`` the folds (at most two, padded with -1) whose removal deletes every entry of value v.

    `order` sorts the entries of a square matrix, numbered row by row, by their values; those of the v-th distinct value
    start at starts[v]. Removing a fold deletes the entries whose row or column belongs to it. The empirical Omega of
    the remaining objects then lacks the value.
    """
    n = fold.shape[0]
    for v in range(starts.shape[0]):
        stop = starts[v + 1] if v + 1 < starts.shape[0] else order.shape[0]
        entry = order[starts[v]]
        first, second = fold[entry // n], fold[entry % n]
        for e in range(starts[v] + 1, stop):
            if first < 0 and second < 0:
                break
            entry = order[e]
            a, b = fold[entry // n], fold[entry % n]
            if first not in (a, b):
                first = -1
            if second not in (a, b):
                second = -1
        lost[0, v], lost[1, v] = first, second
