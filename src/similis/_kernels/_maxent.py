"""Maximum-entropy exponents on an interval or a finite set, and mixtures of such distributions.

A class-conditional model of similarity discriminant analysis is p(v) proportional to exp(lambda v) on Omega with a
given mean, [cazzanti2007] Eq. (3.4)-(3.6). With Omega scaled to [0, 1] and values replaced by their offsets d from the
end with the larger probability (0 = d_0 < d_1 < ... <= 1), every problem is to find the rate x >= 0, lambda or -lambda
times the width of Omega, with

    E_x[d] = sum_j w_j d_j exp(-x d_j) / sum_j w_j exp(-x d_j) = mu.

No exponent is positive and no digits cancel. Side 0 measures offsets from the lower end, side 1 from the upper end.
Omega is a pair of node arrays of shape (2, N): offsets and weights.
"""

import math

import numpy as np

from similis._kernels._jit import kernel

POINT, DISCRETE, INTERVAL, RAY = 0, 1, 2, 3
_LOG2E, _LN2_HIGH, _LN2_LOW = 1.4426950408889634, 0.693145751953125, 1.42860682030941723e-6
_TAYLOR = tuple(1.0 / math.factorial(n) for n in range(13, -1, -1))  # of exp


@kernel
def maxent_rates(form: int, nodes, weights, center, table, above, below, rates, log_z) -> None:
    """Solve for many means; ``rates`` is positive where the upper end is more probable, infinite for a point mass."""
    for i in range(above.shape[0]):
        rates[i], log_z[i] = solve_rate(form, nodes, weights, center, table, above[i], below[i])


@kernel
def solve_rate(form: int, nodes, weights, center, table, above: float, below: float) -> tuple[float, float]:
    """Return the signed rate and log sum_j w_j exp(-x d_j) for the mean at distance `above` the lower end."""
    # `below` is its distance from the upper end, passed separately because 1 - above would lose digits.
    if form == POINT:
        return 0.0, 0.0
    side = 0 if above < center[0] or form == RAY else 1
    mu, nu = (above, below) if side == 0 else (below, above)
    if mu <= 0.0:
        x, log_z = np.inf, 0.0
    elif form == RAY:
        x, log_z = 1.0 / mu, math.log(mu)
    elif form == INTERVAL:
        x, log_z = _interval(mu, nu)
    elif table.shape[1] > 0 and mu >= -table[side, table.shape[1] - 1, 2]:
        x, log_z = _lookup(table[side], mu)
    else:
        x, log_z = _newton(nodes[side], weights[side], mu, nu)
    return (-x if side == 0 else x), log_z


@kernel
def _newton(d, w, mu: float, nu: float) -> tuple[float, float]:
    """Solve for the rate by safeguarded Newton steps on the logit of the mean, nearly linear near both ends."""
    x = _uniform_guess(mu, nu) if mu < nu else 1e-3
    gap = d[1]
    if mu < 1e-200 * gap:
        return math.log(gap / mu) / gap, 0.0  # only the two values nearest to the end have any probability
    if mu < 0.5 * gap:
        x = min(x, (math.log(gap / mu) + 1.0) / gap)
    low, high, log_z = 0.0, np.inf, 0.0
    for _ in range(200):
        z0 = z1 = z2 = 0.0
        for j in range(d.shape[0]):
            e = w[j] * _exp(-x * d[j])
            z0 += e
            z1 += e * d[j]
            z2 += e * d[j] * d[j]
        mean = z1 / z0
        log_z = math.log(z0)
        excess = math.log(mean / mu) - math.log((1.0 - mean) / nu)
        if excess > 0.0:
            low = x
        else:
            high = x
        step = excess * mean * (1.0 - mean) / (z2 / z0 - mean * mean)
        # Before the bracket: at the root a step rounds to zero and lies on its edge.
        if abs(excess) <= 4e-15 or abs(step) <= 1e-15 * x:
            break
        moved = x + step
        if not low < moved < high:
            moved = 2.0 * x + 1.0 if high == np.inf else 0.5 * (low + high)
            if moved in (low, high):
                break
        x = moved
    return x, log_z


@kernel
def _uniform_guess(mu: float, nu: float) -> float:
    """Approximate the rate on [0, 1] within a fraction of a percent: the inverse Langevin function by [kroger2015]."""
    u, v = nu - mu, (nu - mu) ** 2
    return u * (3.0 - v * (6.0 + v - 2.0 * v * v) / 5.0) / (mu * (1.0 + u))


@kernel
def _exp(x: float) -> float:
    """Compute exp(x) for x <= 0 by range reduction and a Taylor polynomial, which vectorizes unlike the library's."""
    # x = n log 2 + r with |r| <= log(2) / 2; log 2 is split in two parts so that n log 2 is subtracted exactly.
    x = max(x, -500.0)  # exp(-500) is negligible, and its products are no denormal numbers, which are slow
    n = np.floor(x * _LOG2E + 0.5)
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    p = 0.0
    for coefficient in _TAYLOR:
        p = p * r + coefficient
    return p * np.int64((np.int64(n) + 1023) << 52).view(np.float64)  # times 2^n, made from its exponent bits


@kernel
def _interval(mu: float, nu: float) -> tuple[float, float]:
    """Solve [cazzanti2007] Eq. (3.18), 1/x - 1/(e^x - 1) = mu on [0, 1], by Newton steps on the inverse of the mean."""
    u = nu - mu
    if u <= 0.0:
        return 0.0, 0.0
    if mu < 1e-3:
        return 1.0 / mu, math.log(mu)  # exp(-1000) is zero: an exponential distribution
    x = _uniform_guess(mu, nu)
    for _ in range(50):
        lack, slope = _interval_lack(x, mu, u)
        mean = mu + lack
        # 1 / mean is nearly linear in x: d(1/mean)/dx = -slope / mean^2.
        step = -lack * mean / (mu * slope)
        x = max(x + step, 0.5 * x)
        if abs(step) <= 4e-16 * x:
            break
    return x, math.log(-math.expm1(-x) / x) if x > 1e-4 else -0.5 * x + x * x / 24.0


@kernel
def _interval_lack(x: float, mu: float, u: float) -> tuple[float, float]:
    """Return the mean at rate x minus mu, and the derivative of the mean; u = 1 - 2 mu keeps digits near the middle."""
    if x < 0.5:  # the closed form cancels near zero: Bernoulli series of 1/2 - (1/x - 1/(e^x - 1))
        y = x * x
        series = 1.0 / 47900160.0 - y * 5.284190138687493e-10
        series = 1.0 / 12.0 - y * (1.0 / 720.0 - y * (1.0 / 30240.0 - y * (1.0 / 1209600.0 - y * series)))
        slope = 1.0 / 5322240.0 - y * 5.812609152556242e-09
        slope = 1.0 / 12.0 - y * (1.0 / 240.0 - y * (1.0 / 6048.0 - y * (1.0 / 172800.0 - y * slope)))
        return 0.5 * u - x * series, -slope
    tail = 1.0 / math.expm1(x) if x < 700.0 else 0.0
    return (1.0 / x - tail) - mu, tail * (1.0 + tail) - 1.0 / (x * x)


@kernel
def _lookup(table, mu: float) -> tuple[float, float]:
    """Return the rate with mean mu and the log sum from the eight-term Taylor expansion at the nearest grid point."""
    left, right = 0, table.shape[0] - 1
    while right - left > 1:
        middle = (left + right) // 2
        if -table[middle, 2] >= mu:
            left = middle
        else:
            right = middle
    # Nearest in ratio: the geometric mean of the two means decides.
    a = table[right] if mu * mu < table[left, 2] * table[right, 2] else table[left]
    t = -0.5 * (a[2] + mu) / a[3]
    for _ in range(8):
        slope = curve = 0.0
        for n in range(8, 0, -1):
            curve = curve * t + slope
            slope = slope * t + n * a[n + 1]
        # Newton step on the derivative of the log sum: slope = -E[d], curve = Var[d].
        step = -(slope + mu) / curve
        t += step
        if abs(step) <= 1e-15 * (a[0] + t):
            break
    change = 0.0
    for n in range(8, 0, -1):
        change = (change + a[n + 1]) * t
    return max(a[0] + t, 0.0), a[1] + change


@kernel
def mixture_em(above, below, pooled, pseudocount: float, omega, tol: float, share, weights, rates, log_z, path) -> int:
    """Fit the mixture sum_l w_l gamma_l exp(lambda_l s_l) by EM, [cazzanti2007] sec. 5.2-5.3; return the iterations."""
    # above, below, share: (n, c); pooled, (2, c): location of the pseudo-objects; path: log-likelihood after each step.
    (n, c), (form, nodes, node_weights, center, table) = above.shape, omega
    log_p = np.empty(c)
    for step in range(path.shape[0]):
        total = 0.0
        for h in range(c):  # [cazzanti2007] Eq. (5.10)-(5.12)
            mass, up, down = pseudocount, pseudocount * pooled[0, h], pseudocount * pooled[1, h]
            for i in range(n):
                mass += share[i, h]
                up += share[i, h] * above[i, h]
                down += share[i, h] * below[i, h]
            weights[h] = (mass - pseudocount) / n
            rates[h], log_z[h] = 0.0, 0.0
            if mass > 0.0:
                rates[h], log_z[h] = solve_rate(form, nodes, node_weights, center, table, up / mass, down / mass)
            if pseudocount > 0.0:
                offset = pooled[0, h] if rates[h] < 0.0 else pooled[1, h]
                total += pseudocount * _log_p(form > 1, rates[h], log_z[h], offset)
        for i in range(n):
            best = -np.inf
            for h in range(c):
                log_p[h] = -np.inf
                if weights[h] > 0.0:
                    offset = above[i, h] if rates[h] < 0.0 else below[i, h]
                    log_p[h] = math.log(weights[h]) + _log_p(form > 1, rates[h], log_z[h], offset)
                best = max(best, log_p[h])
            # [cazzanti2007] Eq. (5.9); a component with an infinite density gets the whole responsibility.
            mass = 0.0
            for h in range(c):
                share[i, h] = math.exp(log_p[h] - best) if log_p[h] < best else 1.0
                mass += share[i, h]
            for h in range(c):
                share[i, h] /= mass
            total += best + math.log(mass)
        path[step] = total
        if total == np.inf or (step > 0 and total - path[step - 1] <= tol * (1.0 + abs(total))):
            return step + 1
    return path.shape[0]


@kernel
def _log_p(density: bool, rate: float, log_z: float, offset: float) -> float:
    """Compute log(gamma exp(lambda s)) on Omega of width one; a point mass has all its probability at offset 0."""
    if not np.isinf(rate):
        return -abs(rate) * offset - log_z
    if offset > 1e-12:
        return -np.inf
    return np.inf if density else 0.0
