"""A diagonal matrix plus a rank-one matrix, its positive part applied to the vector of the update, in O(r^2).

The eigenvalues of diag(poles) + sigma z z' interlace the poles: one in each interval between them, and one beyond the
last. Each is stored as a pole and the offset from it, so that differences to all poles are accurate. Differences of
poles are put into memory first: sums may be reordered, and P - (base + offset) would lose the offset.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from similis._kernels._jit import kernel

__all__ = ["ascend", "rank_one_positive"]

EPS = float(np.finfo(np.float64).eps)


@kernel
def rank_one_positive(poles: Any, weight: Any, sigma: float, project: bool, factor: Any, work: Any) -> float:
    """Set `factor` so that M_+ z = factor . z for M = diag(poles) + sigma z z'; return ||M_+||^2 - ||diag(poles)_+||^2.

    Poles ascend, no two alike; ``weight`` is z^2. A pole that z hardly touches is deflated. With `project`, the factors
    are those of the projection on the eigenvectors whose eigenvalue is positive, instead of M_+. `work` is (3, r).
    """
    P, W, D = work[0], work[1], work[2]
    total = 0.0
    for i in range(poles.shape[0]):
        total += weight[i]
        factor[i] = max(poles[i], 0.0) if not project else (1.0 if poles[i] > 0.0 else 0.0)
    if not total > 1e-300:
        return 0.0
    r, below, linear = 0, 0, 0.0
    for i in range(poles.shape[0]):
        if weight[i] > EPS * EPS * total:
            P[r], W[r] = poles[i], weight[i]
            linear += weight[i] * poles[i]
            below += 1 if poles[i] < 0.0 else 0
            r += 1
    by_negative = below <= r - below + 1
    first, last = (0, below) if by_negative else (below - 1, r)
    whole = 2.0 * sigma * linear + sigma * sigma * total * total
    value = whole if by_negative else 0.0
    for i in range(poles.shape[0]):
        if weight[i] > EPS * EPS * total:
            factor[i] = 0.0 if not by_negative else (1.0 if project else poles[i] + sigma * total)
    for j in range(first, last):
        near, offset, slope = _root(P, W, D, r, j, 1.0 / sigma, sigma * total)
        mu = P[near] + offset
        if by_negative:
            grown = (P[near] - P[j]) + offset if mu < 0.0 else -P[j]
            value -= grown * (min(mu, 0.0) + P[j])
            used = min(mu, 0.0)
        else:
            grown = (P[near] - P[j]) + offset if P[j] >= 0.0 else max(mu, 0.0)
            value += grown * (max(mu, 0.0) + max(P[j], 0.0))
            used = -max(mu, 0.0)
        if used != 0.0 and project:
            used = 1.0 if by_negative else -1.0
        if used != 0.0:
            share = used / (sigma * slope)
            for i in range(r):
                D[i] = share / (D[i] - offset)
            if r == poles.shape[0]:
                for i in range(r):
                    factor[i] += D[i]
            else:
                k = 0
                for i in range(poles.shape[0]):
                    if weight[i] > EPS * EPS * total:
                        factor[i] += D[k]
                        k += 1
    return value


@kernel
def _root(P: Any, W: Any, D: Any, r: int, j: int, level: float, most: float) -> tuple[int, float, float]:
    """The root of level + sum_i W_i / (P_i - mu) above pole j: nearest pole, offset, and sum_i W_i / (P_i - mu)^2.

    D becomes the poles' differences to the nearest one. The sums over the poles up to j and beyond it are each
    interpolated by a pole of their own (the middle way); a step out of the bracket is replaced by its middle.
    """
    near, low, high = j, 0.0, most
    if j + 1 < r:
        middle, f = 0.5 * (P[j + 1] - P[j]), level
        for i in range(r):
            f += W[i] / (P[i] - P[j] - middle)
        if f >= 0.0:
            high = middle
        else:
            near, low, high = j + 1, -middle, 0.0
    for i in range(r):
        D[i] = P[i] - P[near]
    gap_low = D[j]
    gap_high = D[j + 1] if j + 1 < r else 2.0 * most
    offset = 0.5 * (low + high)
    slope = 1.0
    for _ in range(100):
        psi = phi = dpsi = dphi = size = 0.0
        for i in range(j + 1):
            inverse = 1.0 / (D[i] - offset)
            t = W[i] * inverse
            psi += t
            dpsi += t * inverse
        for i in range(j + 1, r):
            inverse = 1.0 / (D[i] - offset)
            t = W[i] * inverse
            phi += t
            dphi += t * inverse
        f, slope = level + psi + phi, dpsi + dphi
        size = level - psi + phi
        if abs(f) <= 2.0 * EPS * size:
            break
        if f < 0.0:
            low = offset
        else:
            high = offset
        if high - low <= 2.0 * EPS * max(abs(low), abs(high)):
            break
        left, right = gap_low - offset, gap_high - offset
        a = (left + right) * f - left * right * slope
        b = left * right * f
        c = f - left * dpsi - right * dphi
        root = np.sqrt(max(a * a - 4.0 * b * c, 0.0))
        step = (a - root) / (2.0 * c) if a <= 0.0 else 2.0 * b / (a + root)
        target = offset + step
        if not (low < target < high):
            target = 0.5 * (low + high)
        if target == offset:
            break
        offset = target
    return near, offset, slope


@kernel
def ascend(
    U: Any, poles: Any, group: Any, y: Any, C: float, rho: float, steps: int, V: Any, Z: Any, work: Any, state: Any
) -> None:
    """Go up on y'v - rho ||(S + v v' / (4 rho))_+||^2 over v_i between 0 and C y_i, sum v = 0: FISTA with restarts.

    U holds the eigenvectors of S and `group` the pole of each. ``V`` rows: v, the last v, the extrapolated v, the
    gradient, the trial; ``Z`` rows: U'v of the first three, of the trial, and what is multiplied. ``work`` is
    (5, r); ``state`` holds the inverse step, the momentum and the value at v.
    """
    v, last, ahead, gradient, trial = V[0], V[1], V[2], V[3], V[4]
    z, z_last, z_ahead, z_trial, pulled = Z[0], Z[1], Z[2], Z[3], Z[4]
    n = y.shape[0]
    sigma = 0.25 / rho
    for _ in range(steps):
        e = -rho * _oracle(poles, group, sigma, z_ahead, work)
        for k in range(n):
            pulled[k] = work[0, group[k]] * z_ahead[k]
        for i in range(n):
            row, t = U[i], 0.0
            for k in range(n):
                t += row[k] * pulled[k]
            gradient[i] = y[i] - t
            e += y[i] * ahead[i]
        quiet, noise, f = False, 0.0, e
        for _ in range(60):
            for i in range(n):
                trial[i] = ahead[i] + gradient[i] / state[0]
            _project(trial, y, C)
            z_trial[:] = 0.0
            linear = square = f = 0.0
            for i in range(n):
                row, t = U[i], trial[i]
                for k in range(n):
                    z_trial[k] += t * row[k]
                linear += gradient[i] * (t - ahead[i])
                square += (t - ahead[i]) ** 2
                f += y[i] * t
            f -= rho * _oracle(poles, group, sigma, z_trial, work)
            noise = 1e-11 * (abs(e) + abs(f))
            quiet = linear <= noise  # what is gained cannot be told from round-off: trust the step length
            if quiet or f >= e + linear - 0.5 * state[0] * square:
                break
            state[0] *= 2.0
        turned = 0.0
        for i in range(n):
            turned += (ahead[i] - trial[i]) * (trial[i] - v[i])
        momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * state[1] * state[1]))
        beta = (state[1] - 1.0) / momentum
        if turned > 0.0 or f < state[2] - noise:  # momentum leads astray: start anew
            momentum, beta = 1.0, 0.0
            if f < state[2] - noise:
                trial[:], z_trial[:], f = v, z, state[2]
        for i in range(n):
            last[i], z_last[i] = v[i], z[i]
            v[i], z[i] = trial[i], z_trial[i]
            ahead[i] = v[i] + beta * (v[i] - last[i])
            z_ahead[i] = z[i] + beta * (z[i] - z_last[i])
        state[0] *= 1.0 if quiet else 0.9
        state[1], state[2] = momentum, f


@kernel
def _oracle(poles: Any, group: Any, sigma: float, z: Any, work: Any) -> float:
    """Weights of the poles from z, then :func:`rank_one_positive`; the factors are in ``work[0]``."""
    work[1, :] = 0.0
    for k in range(z.shape[0]):
        work[1, group[k]] += z[k] * z[k]
    return rank_one_positive(poles, work[1], sigma, False, work[0], work[2:5])


@kernel
def _project(v: Any, y: Any, C: float) -> None:
    """Nearest point with v_i between 0 and C y_i and sum v = 0: clip(v - t), t by Newton's method in a bracket."""
    n = v.shape[0]
    low, high = np.inf, -np.inf
    for i in range(n):
        low = min(low, v[i] - max(C * y[i], 0.0))
        high = max(high, v[i] - min(C * y[i], 0.0))
    t = 0.0 if low < 0.0 < high else 0.5 * (low + high)
    for _ in range(200):
        total, free = 0.0, 0
        for i in range(n):
            bottom, top = min(C * y[i], 0.0), max(C * y[i], 0.0)
            u = v[i] - t
            if bottom < u < top:
                free += 1
            total += min(max(u, bottom), top)
        if abs(total) <= 1e-15 * C:
            break
        if total > 0.0:
            low = t
        else:
            high = t
        step = t + total / free if free > 0 else 0.5 * (low + high)
        if not (low < step < high):
            step = 0.5 * (low + high)
        if step == t:
            break
        t = step
    for i in range(n):
        v[i] = min(max(v[i] - t, min(C * y[i], 0.0)), max(C * y[i], 0.0))
