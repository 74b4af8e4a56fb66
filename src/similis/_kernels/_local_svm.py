"""Support vector machines on many small blocks for all C of a grid, by decomposition and Newton steps in turn.

An SVM minimizes c'Kc / 2 - y'c, sum c = 0, c_i between 0 and C y_i: [chen2010] Eq. (2.4) with c = y . alpha. A sweep of
two-variable steps ([fan2005]) finds the active bounds; a Newton step then solves for the free coefficients. K and its
factor L are stored in the leading parts of their arrays, vectors in the rows of V.
"""

from typing import Any

import numpy as np

from similis._kernels._jit import kernel
from similis._kernels._local_weights import back_substitute, grow_cholesky

EPS = float(np.finfo(np.float64).eps)
# Rows of V: labels y, coefficients c, v = y - K c, bounds, 1 / diag(L); direction d, L^-1 1 and K d of a Newton step.
Y, COEF, SLACK, LOW, HIGH, INVERSE, STEP, ONES, CHANGE = range(9)


@kernel
def svm_path(K, y, Cs, coef, intercept, violation) -> None:
    """Solve for every C (ascending): coefficients, intercepts, and violations of the optimality conditions."""
    n, V = y.shape[0], np.empty((9, y.shape[0]))
    V[Y], violation[:] = y, 0.0
    _path(n, Cs, K, np.empty((n, n)), V, np.empty(n, np.intp), coef, intercept, violation)


@kernel
def local_svm(blocks, s, codes, Cs, scores, violation) -> None:
    """Classify query i by SVMs on ``blocks[i]``, one per pair of classes, for every C (ascending)."""
    # ``scores[i, r]`` are -f and f for two classes, else votes plus a bounded sum of margins.
    n_queries, k = s.shape
    R, G = scores.shape[1], scores.shape[2]
    K, L, V, free = np.empty((k, k)), np.empty((k, k)), np.empty((9, k)), np.empty(k, np.intp)
    query, coef, f, counts = np.empty(k), np.empty((R, k)), np.empty(R), np.empty(G, np.intp)
    margins, votes = np.empty((R, G)), np.empty((R, G))
    for i in range(n_queries):
        counts[:], violation[i], margins[:], votes[:] = 0, 0.0, 0.0, 0.0
        for p in range(k):
            counts[codes[i, p]] += 1
        for g in range(G):
            for h in range(g + 1, G):
                if counts[g] > 0 and counts[h] > 0:
                    n = _gather(blocks[i], s[i], codes[i], g, h, K, V[Y], free, query)
                    _path(n, Cs, K, L, V, free, coef, f, violation[i])
                    for r in range(R):
                        for p in range(n):
                            f[r] += coef[r, p] * query[p]
                elif counts[g] + counts[h] > 0:
                    f[:] = 1.0 if counts[h] > 0 else -1.0
                else:
                    continue
                for r in range(R):
                    margins[r, h] += f[r]
                    margins[r, g] -= f[r]
                    votes[r, h if f[r] > 0 else g] += 1.0
        for r in range(R):
            for g in range(G):
                m = margins[r, g]
                scores[i, r, g] = m if G == 2 else votes[r, g] + m / (3.0 * (abs(m) + 1.0))


@kernel
def _gather(B, s, codes, g: int, h: int, K, y, members, query) -> int:
    """Copy the rows of classes g (y = -1) and h (y = 1) to K, y and `query`; return the number of their members."""
    n = 0
    for p in range(codes.shape[0]):
        if codes[p] == g or codes[p] == h:
            members[n], y[n], query[n] = p, 1.0 if codes[p] == h else -1.0, s[p]
            n += 1
    for a in range(n):
        for b in range(n):
            K[a, b] = B[members[a], members[b]]
    return n


@kernel
def _path(n: int, Cs, K, L, V, free, coef, intercept, violation) -> None:
    """Solve for every C (ascending), each from the previous solution; raise `violation` where the new one is larger."""
    y, c = V[Y], V[COEF]
    before, inside, b, bad = 0.0, False, 0.0, 0.0
    for r in range(Cs.shape[0]):
        C = Cs[r]
        if not inside:  # a solution with no coefficient at the bound C is optimal for every larger C
            bad, b = _solve(n, C, before, K, L, V, free)
            inside, before = True, C
            for i in range(n):
                inside = inside and c[i] * y[i] < C
        intercept[r] = b
        violation[r] = max(violation[r], bad)
        coef[r, :n] = c[:n]


@kernel
def _solve(n: int, C: float, before: float, K, L, V, free) -> tuple[float, float]:
    """Solve for C, starting from the solution for `before` (0: none); return the violation and the intercept."""
    y, c, v, low, high = V[Y], V[COEF], V[SLACK], V[LOW], V[HIGH]
    top = 1e-300
    for i in range(n):
        top = max(top, abs(K[i, i]))
        low[i], high[i] = min(C * y[i], 0.0), max(C * y[i], 0.0)
    _start(n, C, before, K, V)
    bad, b, ridge = np.inf, 0.0, 1e-14 * top
    for _ in range(1000):
        # Without this limit a pair of copies (no curvature) with a violation of 1e-10 would hide larger ones.
        if not pair_steps(K, low, high, c, v, n, n, 1e-9):
            _newton(n, ridge, K, L, V, free)
            ridge = min(10.0 * ridge, 1e-9 * top)  # a singular K needs a larger ridge
        size = 0.0
        for i in range(n):
            # A coefficient that differs from its bound by rounding would count as free and determine the intercept.
            if abs(c[i]) < 1e-13 * C:
                c[i] = 0.0
            elif abs(c[i] - C * y[i]) < 1e-13 * C:
                c[i] = C * y[i]
            size += abs(c[i])
        _refresh(n, K, V)
        # Optimality ([fan2005]): the largest v of a coefficient that may grow does not exceed the smallest v of
        # one that may fall. The intercept lies between the two.
        up, down = -np.inf, np.inf
        for i in range(n):
            if c[i] < high[i]:
                up = max(up, v[i])
            if c[i] > low[i]:
                down = min(down, v[i])
        bad, b = up - down, 0.5 * (up + down)
        if bad <= 1e-9 + 16.0 * EPS * top * size:
            break
    return max(bad, 0.0), b


@kernel
def _start(n: int, C: float, before: float, K, V) -> None:
    """Set c and v to the best feasible multiple of the last solution, or of the difference of the class means."""
    y, c, v = V[Y], V[COEF], V[SLACK]
    most = 1.0
    if before > 0.0:
        most = C / before
    else:
        plus = 0
        for i in range(n):
            plus += y[i] > 0
        less = min(plus, n - plus)
        for i in range(n):
            c[i] = C * y[i] * less / (plus if y[i] > 0 else n - plus)
        _refresh(n, K, V)
    linear = quadratic = 0.0
    for i in range(n):
        linear += y[i] * c[i]
        quadratic += c[i] * (y[i] - v[i])
    step = most if linear >= most * quadratic else linear / quadratic
    for i in range(n):
        c[i] *= step
        if abs(c[i] - C * y[i]) < 1e-13 * C:
            c[i] = C * y[i]
    _refresh(n, K, V)


@kernel
def _refresh(n: int, K, V) -> None:
    """Compute v = y - K c."""
    y, c, v = V[Y], V[COEF], V[SLACK]
    for i in range(n):
        row, t = K[i], 0.0
        for j in range(n):
            t += row[j] * c[j]
        v[i] = y[i] - t


@kernel
def pair_steps(K, low, high, c, v, n: int, most: int, tol: float) -> bool:
    """Reduce a quadratic, low <= c <= high, sum c constant, by up to `most` two-variable steps ([fan2005])."""
    # K is its Hessian and v its negative gradient. Returns True if no pair violates the optimality conditions by `tol`.
    for _ in range(most):
        i, up = -1, -np.inf
        for p in range(n):
            if c[p] < high[p] and v[p] > up:
                i, up = p, v[p]
        # i has the largest v of those that may grow, j the largest decrease (v_i - v_j)^2 / (K_ii + K_jj - 2 K_ij).
        j, best, curve, row = -1, 0.0, 1.0, K[i]
        for p in range(n):
            if c[p] > low[p] and up - v[p] > tol:
                bend = max(row[i] + K[p, p] - 2.0 * row[p], 1e-12 * (row[i] + K[p, p]) + 1e-300)
                gain = (up - v[p]) * (up - v[p]) / bend
                if gain > best:
                    j, best, curve = p, gain, bend
        if j < 0:
            return True
        rise, depth = high[i] - c[i], c[j] - low[j]
        step = min((up - v[j]) / curve, rise, depth)
        c[i] = high[i] if step == rise else c[i] + step
        c[j] = low[j] if step == depth else c[j] - step
        other = K[j]
        for p in range(n):
            v[p] -= step * (row[p] - other[p])
    return False


@kernel
def _newton(n: int, ridge: float, K, L, V, free) -> None:
    """Move to the optimum of the free coefficients; one that reaches its bound is fixed there and leaves the factor."""
    c, v, low, high, d, change = V[COEF], V[SLACK], V[LOW], V[HIGH], V[STEP], V[CHANGE]
    size: Any = np.intp(0)  # typed, so that the callees compile once
    factored: Any = np.intp(0)
    for i in range(n):
        if low[i] < c[i] < high[i]:
            free[size] = i
            size += 1
    # The ridge makes steps along directions without curvature long, so that they end at a bound.
    while size > 1:
        grow_cholesky(K, ridge, EPS * ridge, True, free, factored, size, L, V[INVERSE])
        linear, quadratic = _direction(n, size, K, L, V, free)
        if not (0.0 < linear < np.inf and quadratic < np.inf):  # the factor of a singular K may overflow
            break
        longest, stop, goal = np.inf, 0, 0.0
        for p in range(size):
            i = free[p]
            bound = high[i] if d[p] > 0 else low[i]
            if d[p] != 0.0 and (bound - c[i]) / d[p] < longest:
                longest, stop, goal = (bound - c[i]) / d[p], p, bound
        blocked = linear >= longest * quadratic
        step = longest if blocked else linear / quadratic
        for p in range(size):
            c[free[p]] += step * d[p]
        for i in range(n):
            v[i] -= step * change[i]
        if not blocked:
            break
        c[free[stop]] = goal
        size -= 1
        for p in range(stop, size):
            free[p] = free[p + 1]
        factored = stop


@kernel
def _direction(n: int, size: int, K, L, V, free) -> tuple[float, float]:
    """Solve LL'd + nu 1 = v, 1'd = 0 on the free coefficients; set the change K d; return v'd and d'Kd."""
    v, inverse, d, e, change = V[SLACK], V[INVERSE], V[STEP], V[ONES], V[CHANGE]
    ab = bb = 0.0
    for p in range(size):
        row, a, b = L[p], v[free[p]], 1.0
        for q in range(p):
            a -= row[q] * d[q]
            b -= row[q] * e[q]
        d[p], e[p] = a * inverse[p], b * inverse[p]
        ab += d[p] * e[p]
        bb += e[p] * e[p]
    for p in range(size):
        d[p] -= ab / bb * e[p]
    back_substitute(L, inverse, size, d)
    total = linear = quadratic = 0.0
    for p in range(size):
        total += d[p]
    for p in range(size):
        d[p] -= total / size  # keep sum d = 0 in spite of rounding
        linear += d[p] * v[free[p]]
    for i in range(n):
        row, t = K[i], 0.0
        for p in range(size):
            t += row[free[p]] * d[p]
        change[i] = t
    for p in range(size):
        quadratic += d[p] * change[free[p]]
    return linear, quadratic
