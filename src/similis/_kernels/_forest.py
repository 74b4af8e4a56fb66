"""Trees of a similarity forest: splits by differences of similarities to two objects ([sathe2017], [czekalski2021])."""

import numpy as np

from similis._kernels._jit import kernel


@kernel
def grow_tree(S, codes, objects, draws, max_depth: int, children, pairs, thresholds, missing, values) -> int:
    """Write the nodes of one tree, root first, and return their number; a leaf is its own child."""
    # The sample `objects` is reordered. ``draws[node, direction]`` are two uniform numbers that choose a pair.
    G, n_directions = values.shape[1], draws.shape[1]
    n_nodes = values.shape[0]
    start, stop, depth = np.zeros(n_nodes, np.intp), np.zeros(n_nodes, np.intp), np.zeros(n_nodes, np.intp)
    stop[0] = objects.shape[0]
    counts, left, right = np.zeros(G), np.zeros(G), np.zeros(G)
    v, known = np.zeros(objects.shape[0]), np.zeros(objects.shape[0], np.intp)  # differences and their classes
    n_nodes, node = 1, 0
    while node < n_nodes:
        members = objects[start[node] : stop[node]]
        size = members.shape[0]
        counts[:] = 0.0
        for i in members:
            counts[codes[i]] += 1.0
        values[node] = counts / size
        children[node, 0] = children[node, 1] = node
        best, best_p, best_q, best_side, best_cut = 0.0, -1, -1, 0, 0.0
        if counts.max() < size and depth[node] != max_depth:
            for direction in range(n_directions):
                # p is any object; q is one of the objects of other classes.
                p = members[int(draws[node, direction, 0] * size)]
                rest = int(draws[node, direction, 1] * (size - counts[codes[p]]))
                q = p
                for i in members:
                    if codes[i] != codes[p]:
                        q = i
                        rest -= 1
                        if rest < 0:
                            break
                n_known = 0
                left[:], right[:] = 0.0, 0.0
                for i in members:
                    value = S[i, q] - S[i, p]
                    if not np.isnan(value):
                        v[n_known], known[n_known] = value, codes[i]
                        right[codes[i]] += 1.0
                        n_known += 1
                order = np.argsort(v[:n_known])
                squares_left, squares_right = 0.0, (right * right).sum()
                before = squares_right / max(n_known, 1)
                for a in range(n_known - 1):
                    c = known[order[a]]
                    squares_left += 2.0 * left[c] + 1.0
                    squares_right -= 2.0 * right[c] - 1.0
                    left[c] += 1.0
                    right[c] -= 1.0
                    low, high = v[order[a]], v[order[a + 1]]
                    # The Gini impurity falls by this gain; objects with missing values contribute none.
                    gain = squares_left / (a + 1) + squares_right / (n_known - a - 1) - before
                    if low < high and (best_p < 0 or gain > best):
                        middle = low + (high - low) / 2
                        best_cut = middle if middle < high else low
                        best, best_p, best_q, best_side = gain, p, q, int(n_known - a - 1 > a + 1)
        if best_p >= 0:
            pairs[node, 0], pairs[node, 1], thresholds[node], missing[node] = best_p, best_q, best_cut, best_side
            a, b = 0, size - 1  # move the objects that go right to the end
            while a <= b:
                value = S[members[a], best_q] - S[members[a], best_p]
                if (best_side == 1) if np.isnan(value) else (value > best_cut):
                    members[a], members[b] = members[b], members[a]
                    b -= 1
                else:
                    a += 1
            for side in range(2):
                children[node, side] = n_nodes
                start[n_nodes] = start[node] + side * a
                stop[n_nodes] = stop[node] if side else start[node] + a
                depth[n_nodes] = depth[node] + 1
                n_nodes += 1
        node += 1
    return n_nodes
