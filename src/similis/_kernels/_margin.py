"""Steps of SBC, on similarities whose columns are sorted by class, and of the dual perceptron ([bernal2003]).

Constraint (i, k) has the coefficients f_ik s_ij for columns j of the class of row i, and -f_ik s_ij for all others
(``each`` False, k = 0) or for those of class k (``each`` True). Class g has the columns starts[g] to starts[g + 1].
"""

import numpy as np

from similis._kernels._jit import kernel


@kernel
def margin_sums(T, weights, starts, sums) -> None:
    """Write the weighted sums over the rows of T (the columns of S) of each class: ``sums[g]``."""
    for g in range(starts.shape[0] - 1):
        row = sums[g]
        row[:] = 0.0
        for j in range(starts[g], starts[g + 1]):
            weight = weights[j]
            if weight != 0.0:
                for i in range(T.shape[1]):
                    row[i] += weight * T[j, i]


@kernel
def margin_pull(S, V, starts, pull) -> None:
    """Write pull_j = sum_i V_ig s_ij for the columns j of each class g."""
    pull[:] = 0.0
    for i in range(S.shape[0]):
        for g in range(starts.shape[0] - 1):
            v = V[i, g]
            if v != 0.0:
                for j in range(starts[g], starts[g + 1]):
                    pull[j] += v * S[i, j]


@kernel
def _slope(s, pull, first: int, last: int):
    """Sums of s max(pull, 0) / 2 and of s^2 / 2 where pull > 0, over some columns."""
    slope = curvature = 0.0
    for j in range(first, last):
        active = s[j] if pull[j] > 0.0 else 0.0
        slope += active * pull[j]
        curvature += active * active
    return slope / 2, curvature / 2


@kernel
def _slope_of(s, pull, own_first: int, own_last: int, first: int, last: int):
    """Slope and curvature of the own class minus those of the others."""
    slope, curvature = _slope(s, pull, own_first, own_last)
    if first <= own_first and own_last <= last:  # all columns
        left, right = _slope(s, pull, first, own_first), _slope(s, pull, own_last, last)
        return slope - left[0] - right[0], curvature + left[1] + right[1]
    other = _slope(s, pull, first, last)
    return slope - other[0], curvature + other[1]


@kernel
def _move(s, pull, step: float, own_first: int, own_last: int, first: int, last: int) -> None:
    for j in range(own_first, own_last):
        pull[j] += step * s[j]
    if first <= own_first and own_last <= last:
        for j in range(first, own_first):
            pull[j] -= step * s[j]
        for j in range(own_last, last):
            pull[j] -= step * s[j]
    else:
        for j in range(first, last):
            pull[j] -= step * s[j]


@kernel
def margin_sweep(S, codes, starts, each: bool, factor, rows, others, C: float, u, pull) -> None:
    """Minimize |max(A'u, 0)|^2 / 4 - 1'u on 0 <= u <= C over one given multiplier after the other; `pull` is A'u."""
    # Piecewise quadratic along one multiplier: a Newton step that passes the minimum is followed by a secant step back.
    n = S.shape[1]
    for p in range(rows.shape[0]):
        i, k = rows[p], others[p]
        f, s = factor[i, k], S[i]
        own_first, own_last = starts[codes[i]], starts[codes[i] + 1]
        first, last = (starts[k], starts[k + 1]) if each else (0, n)
        slope, curvature = _slope_of(s, pull, own_first, own_last, first, last)
        slope, curvature = f * slope - 1.0, f * f * curvature
        if (slope >= 0.0 and u[i, k] <= 0.0) or (slope <= 0.0 and u[i, k] >= C):
            continue
        new = u[i, k] - slope / curvature if curvature > 1e-300 else (C if slope < 0.0 else 0.0)
        new = min(max(new, 0.0), C)
        step = new - u[i, k]
        _move(s, pull, f * step, own_first, own_last, first, last)
        after = f * _slope_of(s, pull, own_first, own_last, first, last)[0] - 1.0
        if after * slope < 0.0:
            back = -step * after / (after - slope)
            _move(s, pull, f * back, own_first, own_last, first, last)
            new += back
        u[i, k] = min(max(new, 0.0), C)


@kernel
def margin_exchange(S, codes, starts, factor, rows, C: float, u, pull) -> None:
    """Move weight between two multipliers of the same object, up to three times for each of the given objects."""
    # For tight similarities these constraints differ little, so that a multiplier can hardly change alone. u_a / f_a
    # more and u_b / f_b less leaves the columns of the own class as they are.
    n_classes = starts.shape[0] - 1
    cost, curvature = np.empty(n_classes), np.empty(n_classes)
    for p in range(rows.shape[0]):
        i = rows[p]
        s, f = S[i], factor[i]
        for g in range(n_classes):
            cost[g], curvature[g] = _slope(s, pull, starts[g], starts[g + 1])
            cost[g] += 1.0 / f[g]
        for _ in range(3):
            a, b = -1, -1  # class whose constraint is violated most, and least among those with a multiplier
            for g in range(n_classes):
                if g != codes[i] and u[i, g] < C and (a < 0 or cost[g] > cost[a]):
                    a = g
                if g != codes[i] and u[i, g] > 0.0 and (b < 0 or cost[g] < cost[b]):
                    b = g
            if a < 0 or b < 0 or cost[a] - cost[b] <= 1e-15 * abs(cost[a]):
                break
            gain, both = cost[a] - cost[b], curvature[a] + curvature[b]
            step = min((C - u[i, a]) * f[a], u[i, b] * f[b])
            if both > 1e-300:
                step = min(step, gain / both)
            moved = 0.0
            for _ in range(2):  # a Newton step that passes the minimum is followed by a secant step back
                moved += step
                for j in range(starts[a], starts[a + 1]):
                    pull[j] -= step * s[j]
                for j in range(starts[b], starts[b + 1]):
                    pull[j] += step * s[j]
                for g in (a, b):
                    cost[g], curvature[g] = _slope(s, pull, starts[g], starts[g + 1])
                    cost[g] += 1.0 / f[g]
                after = cost[a] - cost[b]
                if after >= 0.0:
                    break
                step = moved * after / (gain - after)
            u[i, a] = min(u[i, a] + moved / f[a], C)
            u[i, b] = max(u[i, b] - moved / f[b], 0.0)


@kernel
def box_sweeps(H, g, low, high, d, max_sweeps: int, tol: float) -> None:
    """Minimize g'd + d'Hd / 2 on low <= d <= high by coordinates, from d = 0."""
    n, slope = len(g), g.copy()
    for _ in range(max_sweeps):
        largest = 0.0
        for i in range(n):
            if H[i, i] <= 0.0:
                continue
            new = min(max(d[i] - slope[i] / H[i, i], low[i]), high[i])
            step = new - d[i]
            if step != 0.0:
                largest = max(largest, abs(step) * H[i, i])
                d[i] = new
                for j in range(n):
                    slope[j] += H[i, j] * step
        if largest <= tol:
            break


@kernel
def perceptron(columns, max_iter: int, alpha, total):
    """Sweep over the objects: where (Sigma alpha)_i <= 0, add 1 to alpha_i; ``columns[i]`` is a column of Sigma."""
    # `total` receives the mean of alpha over all steps ([freund1999]). Returns the number of sweeps, and True if the
    # last one changed nothing.
    n, step, sweeps, clean = len(alpha), 0.0, 0, False
    margin, born = np.zeros(n), np.zeros(n)  # Sigma alpha; sum of the step numbers at which alpha_i was raised
    while sweeps < max_iter and not clean:
        sweeps += 1
        clean = True
        for i in range(n):
            step += 1.0
            if margin[i] <= 0.0:
                clean = False
                alpha[i] += 1.0
                born[i] += step - 1.0
                for j in range(n):
                    margin[j] += columns[i, j]
    # An update at step t is part of the iterates t..step: it contributes 1 - (t - 1) / step to the mean.
    total[:] = alpha - born / step
    return sweeps, clean
