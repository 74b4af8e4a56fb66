"""Small quadratic programs with bounds and one balance of signs, the steps of SimSVM, by sequential minimization."""

import numpy as np

from similis._kernels._jit import kernel


@kernel
def balanced_sweeps(H, y, low, high, d, slope, most: int, tol: float) -> float:
    """Minimize a quadratic on low <= d <= high with y'd constant, by up to `most` steps of two variables.

    H is the Hessian, positive semi-definite, and y is 1 or -1. d and its gradient `slope` are updated. Returns the
    violation of the optimality conditions that is left.
    """
    m = d.shape[0]
    violation = 0.0
    for _ in range(most):
        # The most violating pair moves, its second variable chosen by the decrease that the step promises, as in
        # libsvm.
        i, top = -1, -np.inf
        for k in range(m):
            if (d[k] < high[k] if y[k] > 0 else d[k] > low[k]) and -y[k] * slope[k] > top:
                i, top = k, -y[k] * slope[k]
        j, best, bottom = -1, 0.0, np.inf
        if i < 0:
            return 0.0
        for k in range(m):
            if d[k] > low[k] if y[k] > 0 else d[k] < high[k]:
                bottom = min(bottom, -y[k] * slope[k])
                gain = top + y[k] * slope[k]
                if gain > 0:
                    curvature = max(H[i, i] + H[k, k] - 2.0 * y[i] * y[k] * H[i, k], 1e-12)
                    if gain * gain / curvature > best:
                        j, best = k, gain * gain / curvature
        violation = top - bottom
        if j < 0 or violation <= tol:
            break
        curvature = max(H[i, i] + H[j, j] - 2.0 * y[i] * y[j] * H[i, j], 1e-12)
        t = (top + y[j] * slope[j]) / curvature  # y_i d_i grows by t, y_j d_j falls by t
        room_i = high[i] - d[i] if y[i] > 0 else d[i] - low[i]
        room_j = d[j] - low[j] if y[j] > 0 else high[j] - d[j]
        t = min(t, room_i, room_j)
        di, dj = y[i] * t, -y[j] * t
        # Exactly at the bound where the step ends there.
        d[i] = (high[i] if y[i] > 0 else low[i]) if t == room_i else d[i] + di
        d[j] = (low[j] if y[j] > 0 else high[j]) if t == room_j else d[j] + dj
        for k in range(m):
            slope[k] += di * H[i, k] + dj * H[j, k]
    return violation
