"""Comparison of weighted point sets: greedy matching, histogram intersection, optimal transport ([rubner2000]).

The network simplex method, [ahuja1993] ch. 11, keeps a spanning tree of the bipartite graph of rows and columns, with
the flow of the arc to the parent, depth and dual price per node.
"""

import numpy as np

from similis._kernels._jit import kernel


@kernel
def greedy_matches(M, p, q, starts, flips, out) -> None:
    """Match one set with many, nearest pairs first ([li2000]): ``out[j] = sum s_ab M[a, b]``, s_ab the weight left."""
    # Equal distances are taken in the order of a, then b; of b, then a where ``flips[j]``.
    k = p.shape[0]
    for j in range(starts.shape[0] - 1):
        s, n = starts[j], starts[j + 1] - starts[j]
        block = np.empty(k * n)
        for a in range(k):
            for b in range(n):
                block[b * k + a if flips[j] else a * n + b] = M[a, s + b]
        left, right, total = p.copy(), q[s : s + n].copy(), 0.0
        for place in np.argsort(block, kind="mergesort"):
            a, b = (place % k, place // k) if flips[j] else (place // n, place % n)
            moved = min(left[a], right[b])
            if moved > 0:
                total += moved * block[place]
                left[a] -= moved
                right[b] -= moved
        out[j] = total


@kernel
def shared_counts(x, x_count, x_start, z, z_count, z_start, start: int, stop: int, mirror: bool, out) -> None:
    """Fill ``out[i, j]`` with the sum of the smaller counts of common bins, which are sorted ([grauman2005])."""
    for i in range(start, stop):
        for j in range(i if mirror else 0, z_start.shape[0] - 1):
            a, b, total = x_start[i], z_start[j], 0.0
            while a < x_start[i + 1] and b < z_start[j + 1]:
                if x[a] == z[b]:
                    total += min(x_count[a], z_count[b])
                    a += 1
                    b += 1
                elif x[a] < z[b]:
                    a += 1
                else:
                    b += 1
            out[i, j] = total


# Rows of `tree`: parent, first child, next and previous sibling (-1: none), depth.
PARENT, CHILD, NEXT, BEFORE, DEPTH = range(5)


@kernel
def transport_costs(M, a, b, starts, out) -> None:
    """Write ``out[j] = min <F, M_j>`` over F >= 0 with row sums a and column sums b_j; NaN beyond the pivot limit."""
    # M_j and b_j are columns ``starts[j]`` to ``starts[j + 1]``.
    for j in range(out.shape[0]):
        C, demand = M[:, starts[j] : starts[j + 1]].copy(), b[starts[j] : starts[j + 1]]
        size = C.shape[0] + C.shape[1]
        tree, flow, price = np.full((5, size), -1), np.zeros(size), np.zeros(size)
        _first_tree(C, a, demand, tree, flow, price)
        out[j] = _improve(C, tree, flow, price)


@kernel
def _first_tree(C, a, b, tree, flow, price) -> None:
    """Build a feasible spanning tree: serve each row by its cheapest columns, one row or column completed per step."""
    m, n = C.shape
    supply, demand, waiting = a.copy(), b.copy(), np.ones(n, np.bool_)
    rows, columns, sent = np.empty(m + n - 1, np.intp), np.empty(m + n - 1, np.intp), np.empty(m + n - 1)
    n_waiting, i = n, 0
    for arc in range(m + n - 1):
        best, k = np.inf, 0
        for candidate in range(n):
            if waiting[candidate] and C[i, candidate] < best:
                best, k = C[i, candidate], candidate
        rows[arc], columns[arc], sent[arc] = i, m + k, min(supply[i], demand[k])
        supply[i] -= sent[arc]
        demand[k] -= sent[arc]
        if i < m - 1 and (n_waiting == 1 or supply[i] <= 0.0):
            i += 1
        else:
            waiting[k] = False
            n_waiting -= 1
    depth, left = tree[DEPTH], m + n - 1
    depth[0] = 0
    while left > 0:  # attach the arcs that touch the tree and keep the others for the next round
        kept = 0
        for arc in range(left):
            i, k = rows[arc], columns[arc]
            if depth[i] < 0 and depth[k] < 0:
                rows[kept], columns[kept], sent[kept] = i, k, sent[arc]
                kept += 1
            else:
                v, above = (k, i) if depth[k] < 0 else (i, k)
                _attach(tree, v, above)
                flow[v], depth[v], price[v] = sent[arc], depth[above] + 1, C[i, k - m] - price[above]
        left = kept


@kernel
def _attach(tree, v: int, above: int) -> None:
    """Make v the first child of `above`."""
    after = tree[CHILD, above]
    tree[PARENT, v], tree[NEXT, v], tree[BEFORE, v], tree[CHILD, above] = above, after, -1, v
    if after >= 0:
        tree[BEFORE, after] = v


@kernel
def _detach(tree, v: int) -> None:
    """Remove v from the children of its parent."""
    before, after = tree[BEFORE, v], tree[NEXT, v]
    if before >= 0:
        tree[NEXT, before] = after
    else:
        tree[CHILD, tree[PARENT, v]] = after
    if after >= 0:
        tree[BEFORE, after] = before


@kernel
def _improve(C, tree, flow, price) -> float:
    """Pivot until no arc has a negative reduced cost; return the cost of the flow. Rows are visited cyclically."""
    m, n = C.shape
    tolerance, limit = 1e-13 * np.abs(C).max(), 1000 + 100 * (m + n)
    i = idle = pivots = 0
    while idle < m:
        best, at = -tolerance, -1
        for k in range(n):
            reduced = C[i, k] - price[i] - price[m + k]
            if reduced < best:
                best, at = reduced, k
        idle += 1
        if at >= 0:
            idle, pivots = 0, pivots + 1
            if pivots > limit:
                return np.nan
            _update_subtree(C, _exchange(i, m + at, m, tree, flow), tree, price)
        i = (i + 1) % m
    total = 0.0
    for v in range(1, m + n):
        total += flow[v] * _cost(C, v, tree[PARENT, v])
    return total


@kernel
def _exchange(row: int, column: int, m: int, tree, flow) -> int:
    """Send as much flow as possible around the cycle of the entering arc; return its end that is now a child."""
    # The first arc that is emptied leaves.
    parent, depth = tree[PARENT], tree[DEPTH]
    x, y, least, leaving, start = row, column, np.inf, -1, row
    # Walk up from both ends to their common ancestor. On the row's side flow falls on arcs above rows, on the column's
    # side on arcs above columns.
    while x != y:
        if depth[x] >= depth[y]:
            if x < m and flow[x] < least:
                least, leaving, start = flow[x], x, row
            x = parent[x]
        else:
            if y >= m and flow[y] < least:
                least, leaving, start = flow[y], y, column
            y = parent[y]
    top, x, y = x, row, column
    while x != top:
        flow[x] += -least if x < m else least
        x = parent[x]
    while y != top:
        flow[y] += -least if y >= m else least
        y = parent[y]
    # Reverse the path from the entering arc to the leaving arc: each node becomes the child of its former child.
    v, above, carried = start, column if start == row else row, least
    while True:
        old_parent, old_flow = parent[v], flow[v]
        _detach(tree, v)
        _attach(tree, v, above)
        flow[v] = carried
        if v == leaving:
            return start
        v, above, carried = old_parent, v, old_flow


@kernel
def _update_subtree(C, start: int, tree, price) -> None:
    """Recompute depths and prices of `start` and all nodes below it, in preorder."""
    parent, child, after, depth = tree[PARENT], tree[CHILD], tree[NEXT], tree[DEPTH]
    v = start
    while True:
        above = parent[v]
        depth[v], price[v] = depth[above] + 1, _cost(C, v, above) - price[above]
        if child[v] >= 0:
            v = child[v]
            continue
        while v != start and after[v] < 0:
            v = parent[v]
        if v == start:
            return
        v = after[v]


@kernel
def _cost(C, v: int, w: int) -> float:
    """Return the cost of the arc between a row and a column, given in either order."""
    return C[v, w - C.shape[0]] if v < C.shape[0] else C[w, v - C.shape[0]]
