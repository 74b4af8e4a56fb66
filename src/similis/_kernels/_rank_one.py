"""Positive part of a diagonal plus rank-one matrix, and the accelerated ascent of the indefinite SVM that needs it.

In the eigenbasis of S the matrix of [chen2010] Eq. (5.9), S + v v' / (4 rho) with v = y . alpha, is M = diag(poles) +
sigma z z' with sigma = 1 / (4 rho) and z = U'v: value and gradient of Eq. (5.8) cost O(r^2) for r distinct eigenvalues.
The eigenvalues mu of M interlace the poles, one in each interval between neighboring poles and one beyond the last,
and are the roots of the secular equation ([bunch1978]) 1 / sigma + sum_i z_i^2 / (pole_i - mu) = 0.

Each root is stored as its nearest pole plus an offset, so that the differences to all poles keep their relative
accuracy ([li1993]). These differences are written to memory before they are used: the compiler may reorder sums, and P
- (base + offset) would lose the digits of the offset.
"""

import numpy as np

from similis._kernels._jit import kernel

EPS = float(np.finfo(np.float64).eps)


@kernel
def rank_one_positive(poles, weight, sigma: float, project: bool, factor, work) -> float:
    """Set `factor` so that M_+ z = factor . z for M = diag(poles) + sigma z z'; return ||M_+||^2 - ||poles_+||^2."""
    # `weight` is z^2, summed over equal poles. With `project`, M_+ is the projection on the positive eigenvectors.
    P, W, D = work[0], work[1], work[2]  # the remaining poles, their weights, and the differences to the nearest pole
    total = 0.0
    # Deflated poles keep this value: max(pole, 0), or its indicator for the projection.
    for i in range(poles.shape[0]):
        total += weight[i]
        factor[i] = max(poles[i], 0.0) if not project else (1.0 if poles[i] > 0.0 else 0.0)
    if not total > 1e-300:
        return 0.0
    # Collect the poles that take part; `below` of them are negative.
    r, below, linear = 0, 0, 0.0
    for i in range(poles.shape[0]):
        if weight[i] > EPS * EPS * total:
            P[r], W[r] = poles[i], weight[i]
            linear += weight[i] * poles[i]
            below += 1 if poles[i] < 0.0 else 0
            r += 1
    # The root above pole j can be negative only for j < below, and positive only for j >= below - 1 (interlacing).
    # Visit the smaller group: M_+ = M - M_-, with M z = (pole_i + sigma ||z||^2) z_i entry by entry.
    by_negative = below <= r - below + 1
    first, last = (0, below) if by_negative else (below - 1, r)
    # ||M||^2 - ||diag(poles)||^2 = 2 sigma sum pole_i z_i^2 + sigma^2 ||z||^4
    whole = 2.0 * sigma * linear + sigma * sigma * total * total
    value = whole if by_negative else 0.0
    for i in range(poles.shape[0]):
        if weight[i] > EPS * EPS * total:
            factor[i] = 0.0 if not by_negative else (1.0 if project else poles[i] + sigma * total)
    for j in range(first, last):
        near, offset, slope = _root(P, W, D, r, j, 1.0 / sigma, sigma * total)
        mu = P[near] + offset
        # `value` changes by mu^2 - P_j^2 = (mu - P_j)(mu + P_j); the first factor is known accurately from the offset.
        # Each of mu and P_j counts only where it has the sign of the group.
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
            # The unit eigenvector of the root mu has the entries z_i / (pole_i - mu) over sqrt(q), q = sum_i z_i^2 /
            # (pole_i - mu)^2, and the inner product -1 / (sigma sqrt(q)) with z: its part of M_+ z is -(mu / (sigma q))
            # / (pole_i - mu) z_i, where D_i - offset = P_i - mu; `used` has the sign of the correction.
            share, k = used / (sigma * slope), 0
            for i in range(r):
                D[i] = share / (D[i] - offset)
            for i in range(poles.shape[0]):
                if r == poles.shape[0] or weight[i] > EPS * EPS * total:
                    factor[i] += D[k]
                    k += 1
    return value


@kernel
def _root(P, W, D, r: int, j: int, level: float, most: float) -> tuple[int, float, float]:
    """Find the root of f(mu) = level + sum_i W_i / (P_i - mu) above pole j: nearest pole, offset from it, f'(mu)."""
    # D receives the differences of the poles to the nearest one.
    near, low, high, start = j, 0.0, most, 0.5 * most
    # f increases from -inf to inf between two poles: its sign in the middle tells which of them is nearer to the root.
    # Beyond the last pole the root lies within sigma ||z||^2 = most.
    if j + 1 < r:
        gap = P[j + 1] - P[j]
        middle, f = 0.5 * gap, level
        for i in range(r):
            f += W[i] / (P[i] - P[j] - middle)
        # Start at the root of c + W_j / (P_j - mu) + W_j+1 / (P_j+1 - mu), where c are the other terms in the middle:
        # a quadratic equation for the offset, c x^2 - a x + b = 0.
        c, both = f + (W[j] - W[j + 1]) / middle, W[j] + W[j + 1]
        if f >= 0.0:
            high = middle
            a, b = both + c * gap, W[j] * gap
        else:
            near, low, high = j + 1, -middle, 0.0
            a, b = both - c * gap, -W[j + 1] * gap
        root = np.sqrt(max(a * a - 4.0 * b * c, 0.0))
        if a > 0.0:
            start = 2.0 * b / (a + root)
        else:
            start = (a - root) / (2.0 * c) if c != 0.0 else high
    for i in range(r):
        D[i] = P[i] - P[near]
    gap_low = D[j]
    gap_high = D[j + 1] if j + 1 < r else 2.0 * most
    offset = start if low < start < high else 0.5 * (low + high)
    slope = 1.0
    for _ in range(100):
        # The middle way of [li1993]: psi, the sum over the poles up to j, and phi, over those beyond, are interpolated
        # by one pole each, which gives a quadratic equation. A step that leaves the bracket is replaced by bisection.
        psi = phi = dpsi = dphi = size = 0.0
        for i in range(j + 1):
            inverse = 1.0 / (D[i] - offset)
            psi += W[i] * inverse
            dpsi += W[i] * inverse * inverse
        for i in range(j + 1, r):
            inverse = 1.0 / (D[i] - offset)
            phi += W[i] * inverse
            dphi += W[i] * inverse * inverse
        f, slope = level + psi + phi, dpsi + dphi
        size = level - psi + phi  # sum of absolute terms: psi <= 0 <= phi
        if abs(f) <= 2.0 * EPS * size:  # f is zero to rounding
            break
        if f < 0.0:
            low = offset
        else:
            high = offset
        if high - low <= 2.0 * EPS * max(abs(low), abs(high)):
            break
        # c eta^2 - a eta + b = 0 for the step eta, solved without cancellation.
        left, right = gap_low - offset, gap_high - offset
        a, b, c = (left + right) * f - left * right * slope, left * right * f, f - left * dpsi - right * dphi
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
def ascend(U, poles, group, y, C: float, rho: float, steps: int, V, Z, work, state) -> None:
    """Maximize y'v - rho ||(S + v v' / (4 rho))_+||^2 over v_i between 0 and C y_i, sum v = 0, [chen2010] Eq. (5.8)."""
    # FISTA ([beck2009]) with adaptive restarts ([odonoghue2015]). `state`: inverse step length, momentum parameter t,
    # value at v. `group` is the index of the pole of each eigenvector.
    # z, z_last, z_ahead, z_trial = U' of v, last, ahead, trial; `pulled` is the gradient in the eigenbasis.
    v, last, ahead, gradient, trial = V[0], V[1], V[2], V[3], V[4]
    z, z_last, z_ahead, z_trial, pulled = Z[0], Z[1], Z[2], Z[3], Z[4]
    n, sigma = y.shape[0], 0.25 / rho
    for _ in range(steps):
        # Value e and gradient y - (S + v v' / (4 rho))_+ v at the extrapolated point; the product is U (factor . U'v).
        e = -rho * _oracle(poles, group, sigma, z_ahead, work)
        for k in range(n):
            pulled[k] = work[0, group[k]] * z_ahead[k]
        for i in range(n):
            row, t = U[i], 0.0
            for k in range(n):
                t += row[k] * pulled[k]
            gradient[i] = y[i] - t
            e += y[i] * ahead[i]
        # Backtracking: double the inverse step L until f >= e + g'd - L/2 ||d||^2 ([beck2009]).
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
            quiet = linear <= noise  # the gain is below rounding, so the test would be arbitrary: keep the step length
            if quiet or f >= e + linear - 0.5 * state[0] * square:
                break
            state[0] *= 2.0
        # Restart when the step opposes the last move (gradient scheme of [odonoghue2015]) or the value falls; in the
        # latter case the trial point is discarded too.
        turned = 0.0
        for i in range(n):
            turned += (ahead[i] - trial[i]) * (trial[i] - v[i])
        momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * state[1] * state[1]))
        beta = (state[1] - 1.0) / momentum
        if turned > 0.0 or f < state[2] - noise:
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
def _oracle(poles, group, sigma: float, z, work) -> float:
    """Sum z^2 over equal poles and call :func:`rank_one_positive`; the factors are left in ``work[0]``."""
    work[1, :] = 0.0
    for k in range(z.shape[0]):
        work[1, group[k]] += z[k] * z[k]
    return rank_one_positive(poles, work[1], sigma, False, work[0], work[2:5])


@kernel
def _project(v, y, C: float) -> None:
    """Project v in place on v_i between 0 and C y_i, sum v = 0: clip(v - t) with the t at which it sums to zero."""
    n = v.shape[0]
    low, high = np.inf, -np.inf
    for i in range(n):
        low = min(low, v[i] - max(C * y[i], 0.0))
        high = max(high, v[i] - min(C * y[i], 0.0))
    t = 0.0 if low < 0.0 < high else 0.5 * (low + high)
    # The sum is piecewise linear and falls with t: Newton's method, kept in a bracket by bisection.
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
