"""Weights of ranked neighbors from their own similarity block, [chen2010] ch. 3.

KRR, Eq. (3.8), by one growing Cholesky factor per ridge; KRI, Eq. (3.5), by block principal pivoting ([portugal1994]);
LIME, Eq. (3.3), by Newton steps on the dual.
"""

from collections import namedtuple
from typing import Any

import numpy as np

from similis._kernels._jit import kernel


@kernel
def grow_cholesky(B, ridge: float, floor: float, lift: bool, order, start: int, stop: int, L, inverse) -> int:
    """Append rows start to stop - 1 to the factor L of ``B[order][:, order] + ridge I``; return the completed rows."""
    # `inverse` holds 1 / L[p, p]. A pivot that does not exceed `floor` ends it, or with `lift` is raised to the floor.
    for p in range(start, stop):
        i = order[p]
        row = L[p]
        pivot = B[i, i] + ridge
        for q in range(p):
            other = L[q]
            t = 0.0
            for r in range(q):
                t += row[r] * other[r]
            t = (B[i, order[q]] - t) * inverse[q]
            row[q] = t
            pivot -= t * t
        if not pivot > floor:
            if not lift:
                return p
            pivot = floor
        row[p] = pivot**0.5
        inverse[p] = 1.0 / row[p]
    return stop


@kernel
def forward_substitute(L, inverse, size: int, x) -> None:
    """Solve L x = x in place for the leading `size` rows."""
    for p in range(size):
        row, t = L[p], x[p]
        for q in range(p):
            t -= row[q] * x[q]
        x[p] = t * inverse[p]


@kernel
def back_substitute(L, inverse, size: int, x) -> None:
    """Solve L' x = x in place for the leading `size` rows."""
    for p in range(size - 1, -1, -1):
        x[p] *= inverse[p]
        row, t = L[p], x[p]
        for q in range(p):
            x[q] -= t * row[q]


@kernel
def gather_blocks(S, indices, blocks) -> None:
    """Write the symmetric part of S among the neighbors of each query, zero where an index is -1."""
    n_queries, k = indices.shape
    for c in range(n_queries):
        for a in range(k):
            i = indices[c, a]
            for b in range(a + 1):
                j = indices[c, b]
                known = i >= 0 and j >= 0
                value = 0.5 * (np.float64(S[i, j]) + np.float64(S[j, i])) if known else 0.0
                blocks[c, a, b] = blocks[c, b, a] = value


@kernel
def psd_prefix(blocks, s, known, prefix) -> None:
    """Write the size of the largest leading block that is certainly positive semi-definite, with s in its range."""
    # A Cholesky factor of the linearly independent rows is extended row by row; the first row that is neither
    # independent nor dependent up to rounding ends the block.
    n_queries, K = s.shape
    L, inverse, a = np.zeros((K, K)), np.empty(K), np.empty(K)
    independent, dependent = np.empty(K, np.intp), np.empty(K, np.intp)
    for c in range(n_queries):
        scale = size = 0.0
        for i in range(known[c]):
            scale, size = max(scale, abs(blocks[c, i, i])), max(size, abs(s[c, i]))
        rank = idle = 0
        prefix[c] = known[c]
        for p in range(known[c]):
            row, pivot, x = L[p], blocks[c, p, p], s[c, p]
            for q in range(rank):
                other, t = L[independent[q]], 0.0
                for r in range(q):
                    t += row[r] * other[r]
                row[q] = (blocks[c, p, independent[q]] - t) * inverse[q]
                pivot -= row[q] * row[q]
                x -= row[q] * a[q]
            # Residual of this row against the dependent rows, which the factor does not contain.
            worst = 0.0
            for e in range(idle):
                other, t = L[dependent[e]], blocks[c, p, dependent[e]]
                for q in range(rank):
                    t -= row[q] * other[q]
                worst = max(worst, abs(t))
            if pivot > 1e-9 * scale and worst <= 1e-12 * scale:
                row[rank] = pivot**0.5
                inverse[rank] = 1.0 / row[rank]
                a[rank] = x * inverse[rank]
                independent[rank] = p
                rank += 1
            elif max(abs(pivot), worst) <= 1e-12 * scale and abs(x) <= 1e-12 * size:
                row[rank:] = 0.0
                dependent[idle] = p
                idle += 1
            else:
                prefix[c] = p
                break


@kernel
def krr_path(blocks, s, known, ks, ridges, weights, sound) -> None:
    """Solve [chen2010] Eq. (3.8), (S + ridge I) w = s, for leading blocks of all sizes ks and all ridges."""
    # ``sound[c, r]`` is the largest block that is numerically positive definite; larger k get its weights.
    n_queries, K = s.shape
    L, inverse, order, z, w = np.empty((K, K)), np.empty(K), np.arange(K), np.empty(K), np.empty(K)
    for c in range(n_queries):
        scale = 0.0
        for i in range(known[c]):
            scale = max(scale, abs(blocks[c, i, i]))
        for r in range(ridges.shape[0]):
            floor = 1e-10 * (scale + ridges[r])
            rows = grow_cholesky(blocks[c], ridges[r], floor, False, order, np.intp(0), known[c], L, inverse)
            sound[c, r] = rows
            z[:rows] = s[c, :rows]
            forward_substitute(L, inverse, rows, z)
            for t in range(ks.shape[0]):
                k = min(ks[t], rows)
                w[:k] = z[:k]
                back_substitute(L, inverse, k, w)
                weights[c, t, r, :k], weights[c, t, r, k:] = w[:k], 0.0


@kernel
def sum_by_class(weights, codes, sums) -> None:
    """Write ``sums[c, q, g]``, the sum of ``weights[c, q, p]`` over the neighbors p of class g; code -1 is padding."""
    n_queries, n_sets, K = weights.shape
    sums[:] = 0.0
    for c in range(n_queries):
        for q in range(n_sets):
            for p in range(K):
                if codes[c, p] >= 0:
                    sums[c, q, codes[c, p]] += weights[c, q, p]


EPS = float(np.finfo(np.float64).eps)
# Work arrays of the support P = order[:size], by position: LL' = H_PP, inverse = 1 / diag(L), a = L^-1 s_P,
# b = L^-1 1, weights w; by index: whether it is inside the support, and the gradient H w - s.
_Work = namedtuple("_Work", "order inside L inverse a b w gradient spare")


@kernel
def simplex_path(blocks, s, known, ks, ridges, weights, gaps) -> None:
    """Minimize w'Sw / 2 - s'w + ridges[r] w'w / 2 on the simplex, [chen2010] Eq. (3.5), with bounds of the error."""
    # S is blocks[c, :k, :k] for each k in ks (ascending).
    n_queries, K = s.shape
    order, inside, L = np.empty(K, np.intp), np.empty(K, np.bool_), np.empty((K, K))
    work = _Work(order, inside, L, np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(K))
    for c in range(n_queries):
        B, scale = blocks[c], 0.0
        for i in range(known[c]):
            scale = max(scale, abs(B[i, i]), abs(s[c, i]))
        for r in range(ridges.shape[0]):
            floor = K * EPS * (scale + ridges[r])
            size: Any = np.intp(0)  # typed, so that the search compiles once
            k: Any = np.intp(0)
            inside[:] = False
            for t in range(ks.shape[0]):
                target = min(ks[t], known[c])
                while k < target:
                    # Warm start: neighbors come in order of similarity, so the support changes little with k.
                    k = min(max(2 * k, 8), target)
                    size = _pivot(B, s[c], k, ridges[r], floor, size, work)
                gaps[c, t, r] = _write(weights[c, t, r], k, size, work)


@kernel
def _pivot(B, s, k: int, ridge: float, floor: float, size: int, work) -> int:
    """Pivot from a factored support of `size` to the optimal support among the first k; return its size."""
    order, inside, w, gradient = work.order, work.inside, work.w, work.gradient
    factored = size
    if size == 0:
        for i in range(k):
            order[i], inside[i] = i, True
        size = k
    # All violated indices change sides at once as long as their number falls at least once in five steps; otherwise
    # only the largest one does, which terminates ([murty1974]): on the simplex s'w = w'(s1' + 1s')w / 2, so that for
    # large c this is a multiple of the linear complementarity problem with the positive definite matrix S + ridge I -
    # s1' - 1s' + c 11'.
    fewest, grace = k + 1, 5
    for _ in range(100 * k):
        nu = _solve(B, s, k, ridge, floor, size, factored, work)
        # Violated: a negative weight inside the support, a negative multiplier outside it.
        violated, largest = 0, -1
        for p in range(size):
            if w[p] < -1e-14:
                violated += 1
                largest = max(largest, order[p])
        for i in range(k):
            if not inside[i] and gradient[i] + nu < -8.0 * floor:
                violated += 1
                largest = max(largest, i)
        if violated == 0:
            break
        grace -= 1
        if violated < fewest:
            fewest, grace = violated, 5
        factored, kept = size, 0
        for p in range(size):
            i = order[p]
            if w[p] < -1e-14 and (grace >= 0 or i == largest):
                inside[i] = False
                gradient[i] = np.inf  # an index that just left must not return in the same step
                factored = min(factored, kept)
            else:
                order[kept] = i
                kept += 1
        for i in range(k):
            if not inside[i] and gradient[i] + nu < -8.0 * floor and (grace >= 0 or i == largest):
                inside[i] = True
                order[kept] = i
                kept += 1
        size = kept
    return size


@kernel
def _solve(B, s, k: int, ridge: float, floor: float, size: int, factored: int, work) -> float:
    """Find the weights on the support with H w + nu 1 = s and 1'w = 1, and the gradient H w - s; return nu."""
    order, _inside, L, inverse, a, b, w, gradient, spare = work
    grow_cholesky(B, ridge, floor, True, order, factored, size, L, inverse)
    for p in range(factored, size):
        row, x, y = L[p], s[order[p]], 1.0
        for q in range(p):
            x -= row[q] * a[q]
            y -= row[q] * b[q]
        a[p], b[p] = x * inverse[p], y * inverse[p]
    # w = L^-T (a - nu b) sums to one if b'a - nu b'b = 1.
    ab = bb = 0.0
    for p in range(size):
        ab += a[p] * b[p]
        bb += b[p] * b[p]
    nu = (ab - 1.0) / bb
    for p in range(size):
        w[p] = a[p] - nu * b[p]
    back_substitute(L, inverse, size, w)
    if _residual(B, s, k, ridge, floor, nu, size, work) > 4.0 * floor:
        # One step of iterative refinement: the same bordered system with the residuals as right-hand sides.
        for p in range(size):
            spare[p] = -gradient[order[p]] - nu
        forward_substitute(L, inverse, size, spare)
        ab, missing = 0.0, 1.0
        for p in range(size):
            ab += spare[p] * b[p]
            missing -= w[p]
        change = (ab - missing) / bb
        for p in range(size):
            spare[p] -= change * b[p]
        back_substitute(L, inverse, size, spare)
        for p in range(size):
            w[p] += spare[p]
        nu += change
        _residual(B, s, k, ridge, floor, nu, size, work)
    return nu


@kernel
def _residual(B, s, k: int, ridge: float, floor: float, nu: float, size: int, work) -> float:
    """Compute the gradient for the first k indices; return the residual of H w + nu 1 = s and 1'w = 1."""
    order, w, gradient, missing = work.order, work.w, work.gradient, 1.0
    for i in range(k):
        gradient[i] = -s[i]
    for p in range(size):
        row, weight = B[order[p]], w[p]
        for i in range(k):
            gradient[i] += weight * row[i]
        gradient[order[p]] += ridge * weight
        missing -= weight
    worst = abs(missing) * floor / (w.shape[0] * EPS)
    for p in range(size):
        worst = max(worst, abs(gradient[order[p]] + nu))
    return worst


@kernel
def _write(out, k: int, size: int, work) -> float:
    """Write non-negative weights of sum one; return the duality gap w'g - min g, g the gradient of the objective."""
    total, mean, least = 0.0, 0.0, np.inf
    out[:] = 0.0
    for p in range(size):
        out[work.order[p]] = max(work.w[p], 0.0)
        total += out[work.order[p]]
    for i in range(k):
        out[i] /= total
        mean += out[i] * work.gradient[i]
        least = min(least, work.gradient[i])
    return max(mean - least, 0.0) if k > 0 else 0.0


# Work arrays: dual point v, primal point p = softmax(2 (s - Sv) / t), difference d = p - v, and a step in v.
_EntropyWork = namedtuple("_EntropyWork", "v Sv p d Sd Sp step Sstep M L inverse order")


@kernel
def lime_path(blocks, s, known, ks, temperatures, weights, gaps) -> None:
    """Minimize [chen2010] Eq. (3.3), w'Sw - 2 s'w + t sum w log w, on the simplex; temperatures t descend."""
    # `gaps` receives the duality gap (p - v)'S(p - v) between the softmax p and the dual point v.
    n_queries, K = s.shape
    # The dual value at v is -v'Sv - t log sum exp(2 (s - Sv) / t). The temperature falls at most tenfold per stage.
    work = _EntropyWork(
        np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(K), np.empty(K),
        np.empty((K, K)), np.empty((K, K)), np.empty(K), np.arange(K),
    )  # fmt: skip
    for c in range(n_queries):
        for n in range(ks.shape[0]):
            k, scale = min(ks[n], known[c]), 0.0
            for i in range(k):
                work.v[i] = 1.0 / k
                scale = max(scale, abs(blocks[c, i, i]), abs(s[c, i]))
            _multiply(blocks[c], work.v, k, work.Sv)
            t = np.inf
            for r in range(temperatures.shape[0]):
                target = max(temperatures[r], 1e-7 * scale)  # below, the weights are determined by rounding
                while k > 0 and t != target:
                    t = max(target, min(0.1 * t, scale))
                    noise = EPS * scale * max(8.0 * k, scale / t)
                    _maximize(blocks[c], s[c], k, t, noise if t == target else max(noise, 0.05 * t), work)
                gap = 0.0
                for i in range(k):
                    gap += work.d[i] * work.Sd[i]
                gaps[c, n, r] = max(gap, 0.0)
                weights[c, n, r, :k] = work.p[:k]
                weights[c, n, r, k:] = 0.0


@kernel
def _maximize(B, s, k: int, t: float, enough: float, work) -> None:
    """Take Newton steps in v at temperature t until max |S(p - v)| is `enough`."""
    v, Sv, p, d, Sd, step, Sstep = work.v, work.Sv, work.p, work.d, work.Sd, work.step, work.Sstep
    last = np.inf
    for _ in range(60):
        log_sum = _softmax(s, Sv, Sv, 0.0, k, t, p)
        for i in range(k):
            d[i] = p[i] - v[i]
        worst = _multiply(B, d, k, Sd)
        # The softmax amplifies rounding by 1/t: below that level the residual stops falling.
        if worst <= enough or (worst < 1e-4 * t and worst > 0.5 * last):
            return
        last = worst
        _newton_step(B, k, t, work)
        _multiply(B, step, k, Sstep)
        vSv = vSx = xSx = slope = 0.0
        for i in range(k):
            vSv += v[i] * Sv[i]
            vSx += v[i] * Sstep[i]
            xSx += step[i] * Sstep[i]
            slope += 2.0 * d[i] * Sstep[i]
        # Backtracking line search (Armijo) on the dual value, with an allowance for rounding.
        length, allowance = 1.0, 16.0 * EPS * (abs(log_sum) + abs(vSv))
        for _ in range(40):
            gain = log_sum - _softmax(s, Sv, Sstep, length, k, t, p) - 2.0 * length * vSx - length * length * xSx
            if gain >= 1e-4 * length * slope - allowance:
                break
            length *= 0.5
        for i in range(k):
            v[i] += length * step[i]
            Sv[i] += length * Sstep[i]


@kernel
def _newton_step(B, k: int, t: float, work) -> None:
    """Write the Newton step d - W (t/2 I + P W S W P)^-1 P W S d, where W = diag(p)^(1/2) and P = I - W 1 1'W."""
    p, d, Sd, Sp, step = work.p, work.d, work.Sd, work.Sp, work.step
    M, L, inverse = work.M, work.L, work.inverse
    # The dual gradient is 2 S d, the Hessian -2 S - (4 / t) S (diag(p) - p p') S with diag(p) - p p' = W P W. The inner
    # matrix avoids the inverse of a singular S; (P W S W P)_ij = sqrt(p_i p_j) (S_ij - (Sp)_i - (Sp)_j + p'Sp).
    pSp = pSd = 0.0
    for i in range(k):
        Sp[i] = work.Sv[i] + Sd[i]
        pSp += p[i] * Sp[i]
        pSd += p[i] * Sd[i]
    for i in range(k):
        root = p[i] ** 0.5
        for j in range(i + 1):
            M[i, j] = root * p[j] ** 0.5 * (B[i, j] - Sp[i] - Sp[j] + pSp)
        step[i] = root * (Sd[i] - pSd)
    grow_cholesky(M, 0.5 * t, EPS * t, True, work.order, np.intp(0), k, L, inverse)
    forward_substitute(L, inverse, k, step)
    back_substitute(L, inverse, k, step)
    for i in range(k):
        step[i] = d[i] - p[i] ** 0.5 * step[i]


@kernel
def _multiply(B, x, k: int, y) -> float:
    """Write y = B x for the leading k rows; return the largest absolute value of y."""
    largest = 0.0
    for i in range(k):
        row, total = B[i], 0.0
        for j in range(k):
            total += row[j] * x[j]
        y[i] = total
        largest = max(largest, abs(total))
    return largest


@kernel
def _softmax(s, Sv, Sx, length: float, k: int, t: float, p) -> float:
    """Write p proportional to exp(2 (s - Sv - length Sx) / t); return t times the log of the sum."""
    top = -np.inf
    for i in range(k):
        p[i] = 2.0 * (s[i] - Sv[i] - length * Sx[i]) / t
        top = max(top, p[i])
    total = 0.0
    for i in range(k):
        p[i] = np.exp(p[i] - top)
        total += p[i]
    for i in range(k):
        p[i] /= total
    return t * (top + np.log(total))
