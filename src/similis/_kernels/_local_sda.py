"""Local similarity discriminant analysis ([cazzanti2007] sec. 4.1) of many queries for all neighborhoods of a grid."""

import math

import numpy as np

from similis._kernels._jit import kernel
from similis._kernels._maxent import POINT, solve_rate
from similis._kernels._neighbors import _nearest


@kernel
def local_sda(S, sign: float, codes, indices, values, weights, ends, omega, options, out, counts, winners) -> None:
    """Fit a maximum-entropy model per class to the first ends[i, t] neighbors of query i; ends ascend along t."""
    # out, (3, m, t, G): slope, power and value of log P(s(x, mu_1), .., s(x, mu_G) | g), see :func:`_term`. omega:
    # (form, nodes, weights, center, table, low, high, width). options: (smallest class size, smoothing, log of the size
    # of Omega, 1 to model rows that fall back too). winners: the class of the most similar local centroid where a class
    # has too few neighbors for a model, else -1. weights without columns mean equal weights.
    # Neighborhoods are nested: above[g, q] sums the distances of s(z, q) from the lower end of Omega over the members z
    # of g so far.
    n_rows, n_ranks = indices.shape
    n_classes, low, high = counts.shape[2], omega[5], omega[6]
    above, below = np.empty((n_classes, n_ranks)), np.empty((n_classes, n_ranks))
    size, centroid, weight = np.empty(n_classes, np.intp), np.empty(n_classes, np.intp), np.empty(n_classes)
    for i in range(n_rows):
        size[:], weight[:], above[:], below[:] = 0, 0.0, 0.0, 0.0
        r = stop = 0
        while stop < min(ends[i, -1], n_ranks) and indices[i, stop] >= 0:
            stop += 1
        for t in range(ends.shape[1]):
            while r < min(ends[i, t], stop):
                c, w = codes[indices[i, r]], weights[i, r] if weights.shape[1] > 0 else 1.0
                source, up, down = S[indices[i, r]], above[c], below[c]
                for q in range(stop):
                    value = source[indices[i, q]]
                    up[q] += w * (value - low)
                    down[q] += w * (high - value)
                size[c] += 1
                weight[c] += w
                r += 1
            _central(sign, codes, indices[i], r, above, weight, low, omega[7], centroid)
            counts[i, t] = size
            few = ((size > 0) & (size < options[0])).any()
            winners[i, t] = _nearest(values[i], sign, centroid, size) if few else -1
            if not few or options[3] > 0.0:
                _score(values[i], centroid, weight, above, below, omega, options, out[:, i, t])


@kernel
def _central(sign: float, codes, row, r: int, above, weight, low: float, width: float, centroid) -> None:
    """Find the rank of each class centroid, [cazzanti2007] Eq. (2.10): the nearer one among equals; -1 if absent."""
    centroid[:] = -1
    for q in range(r):
        c = codes[row[q]]
        best = centroid[c]
        mean = sign * (low + above[c, q] / weight[c])
        if best < 0 or mean - 1e-12 * (abs(low) + width) > sign * (low + above[c, best] / weight[c]):
            centroid[c] = q


@kernel
def _score(values, centroid, weight, above, below, omega, options, out) -> None:
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
                total = weight[g] * width
                up, down = above[g, centroid[h]] / total, below[g, centroid[h]] / total
                rate, log_z = solve_rate(form, nodes, node_weights, center, table, up, down)
                s = values[centroid[h]]
                offset = (high - s if rate > 0.0 else s - low) / width
                term = _term(form, rate, log_z, offset, math.log(width), options)
                slope, power, value = slope + term[0], power + term[1], value + term[2]
        out[0, g], out[1, g], out[2, g] = slope, power, value


@kernel
def _term(form: int, rate: float, log_z: float, offset: float, log_width: float, options) -> tuple[float, float, float]:
    """Compute slope, power and value of log((1 - e) P + e / |Omega|) for an exponential P at an offset from its end."""
    # A point mass is the limit of a common rate x -> inf, where the logarithm is value + power log x - slope x. Classes
    # are compared by slope first, then by power, then by value.
    smoothing, log_size, density = options[1], options[2], form > 1
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
def lost_values(order, starts, fold, lost) -> None:
    """Write to ``lost[:, v]`` the folds whose removal deletes every entry of value v, at most two, padded with -1."""
    # `order` sorts the entries of a square matrix by value; those of the v-th distinct value start at starts[v].
    n = fold.shape[0]
    for v in range(starts.shape[0]):
        stop = starts[v + 1] if v + 1 < starts.shape[0] else order.shape[0]
        entry = order[starts[v]]
        first, second = fold[entry // n], fold[entry % n]
        for e in range(starts[v] + 1, stop):
            if first < 0 and second < 0:
                break
            pair = fold[order[e] // n], fold[order[e] % n]
            first = first if first in pair else -1
            second = second if second in pair else -1
        lost[0, v], lost[1, v] = first, second
