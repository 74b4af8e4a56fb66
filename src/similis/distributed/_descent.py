"""Approximate nearest neighbors under any measure, from a small fraction of the pairs (NN-descent, [dong2011]).

The first neighbors come from trees of pivots: all pairs of a leaf are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from similis import _kernels
from similis._utils.arrays import Array, Indices, Mask
from similis._utils.fitted import FittedArrays, fitted_indices
from similis._utils.storable import storable
from similis.exceptions import ProximityError

Pairs = Callable[[Indices, Indices], Array]  # scores of pairs, larger is nearer
_CHUNK = 2**13  # objects whose candidate pairs are measured at a time
_DEEPEST = 60


@dataclass
class Lists:
    """Best K neighbors found so far of each of m objects, the best first."""

    indices: Array
    best: Array
    fresh: Mask

    @classmethod
    def empty(cls, m: int, K: int) -> Lists:
        return cls(np.full((m, K), -1, np.int32), np.full((m, K), -np.inf, np.float32), np.zeros((m, K), bool))

    def push(self, rows: Array, columns: Array, scores: Array) -> int:
        """Insert columns into the lists of rows if they are better; return the number of insertions."""
        r, c = (np.ascontiguousarray(a, dtype=np.int32) for a in (rows, columns))
        s = np.ascontiguousarray(scores, dtype=np.float32)
        return int(_kernels.push_pairs(r, c, s, self.indices, self.best, self.fresh))


@storable
@dataclass
class PivotTree(FittedArrays):
    """Tree of inner nodes with two pivots and two children; leaf -1 - c holds ``order[start[c]:start[c + 1]]``."""

    fitted_arrays = {
        "order": fitted_indices("N", below="N"),
        "pivots": fitted_indices("T", 2, below="N"),
        "children": fitted_indices("T", 2, below="T", low=-(2**31)),
        "start": fitted_indices(None),
    }
    pivots: Indices
    children: Indices
    order: Indices
    start: Indices

    def verify_fitted(self) -> None:
        super().verify_fitted()
        above = np.arange(len(self.children))[:, None]
        if ((self.children >= 0) & (self.children <= above)).any() or self.children.min(initial=-1) < 1 - len(
            self.start
        ):
            raise ProximityError("children of PivotTree must be later nodes, or leaves.")
        if (
            len(self.start) < 2
            or self.start[[0, -1]].tolist() != [0, len(self.order)]
            or (np.diff(self.start) < 0).any()
        ):
            raise ProximityError("start of PivotTree must rise from 0 to the number of objects.")

    def leaf_pairs(self) -> tuple[Indices, Indices]:
        """All pairs of objects in the same leaf."""
        leaf = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        found = []
        for step in range(1, int(np.diff(self.start).max(initial=1))):
            together = np.flatnonzero(leaf[step:] == leaf[:-step])
            found.append((self.order[together], self.order[together + step]))
        found = found or [(np.empty(0, np.intp),) * 2]
        left, right = map(np.concatenate, zip(*found))
        return left, right

    def route(self, m: int, pairs: Pairs) -> Indices:
        """Leaf of each of m new objects."""
        node = np.zeros(m, np.intp) if len(self.pivots) else np.full(m, -1)
        while (node >= 0).any():
            here = np.flatnonzero(node >= 0)
            a, b = self.pivots[node[here]].T
            second = pairs(here, b) > pairs(here, a)
            node[here] = self.children[node[here], second.astype(np.intp)]
        return -1 - node


def grow_tree(n: int, pairs: Pairs, leaf_size: int, rng: np.random.RandomState) -> PivotTree:
    """Divide n objects by pairs of pivots until a leaf has at most `leaf_size`; ties are divided at random."""
    pivots: list[Indices] = []
    children: list[list[int]] = []
    leaves: list[Indices] = []
    groups = [(np.arange(n), -1, 0)]  # objects, parent, side
    for depth in range(_DEEPEST + 1):
        inner = [g for g in groups if len(g[0]) > leaf_size and depth < _DEEPEST]
        for objects, parent, side in (g for g in groups if len(g[0]) <= leaf_size or depth == _DEEPEST):
            if parent >= 0:
                children[parent][side] = -1 - len(leaves)
            leaves.append(objects)
        if not inner:
            break
        drawn = np.array([objects[rng.choice(len(objects), 2, replace=False)] for objects, _, _ in inner])
        pivots += list(drawn)
        node = np.repeat(np.arange(len(inner)), [len(objects) for objects, _, _ in inner])
        members = np.concatenate([objects for objects, _, _ in inner])
        a, b = pairs(members, drawn[node, 0]), pairs(members, drawn[node, 1])
        second = (b > a) | ((b == a) & (rng.random_sample(len(members)) < 0.5))
        groups, at = [], 0
        for objects, parent, side in inner:
            to_second = second[at : at + len(objects)]
            at += len(objects)
            if parent >= 0:
                children[parent][side] = len(children)
            groups += [(objects[~to_second], len(children), 0), (objects[to_second], len(children), 1)]
            children.append([0, 0])
    start = np.concatenate([[0], np.cumsum([len(leaf) for leaf in leaves])])
    first, second = (np.array(part, np.intp).reshape(-1, 2) for part in (pivots, children))
    return PivotTree(first, second, np.concatenate(leaves), start)


def descend(
    lists: Lists, compare: Callable[[Any, Any], int], *, max_iter: int, tol: float, rng: np.random.RandomState
) -> int:
    """Compare neighbors of neighbors until fewer than the fraction `tol` of all entries change; return the rounds.

    ``compare(i, j)`` enters objects i and j into each other's lists and returns the number of insertions.
    """
    n, K = lists.indices.shape
    c = min(K, 10)
    for rounds in range(1, max_iter + 1):
        new, old = np.full((n, c), -1, np.int32), np.full((n, c), -1, np.int32)
        draws = rng.random_sample((n, K, 2)).astype(np.float32)
        _kernels.sample_candidates(lists.indices, lists.fresh, draws, new, old, np.zeros((n, 2), np.int32))
        most_pairs = min(n, _CHUNK) * 2 * c * c
        left, right = np.empty(most_pairs, np.int32), np.empty(most_pairs, np.int32)
        n_changed = 0
        for first in range(0, n, _CHUNK):
            m = _kernels.candidate_pairs(new, old, first, min(first + _CHUNK, n), lists.indices, left, right)
            key = np.sort(left[:m].astype(np.int64) * n + right[:m])  # np.unique hashes, which takes ten times as long
            key = key[np.r_[True, key[1:] != key[:-1]]] if m else key
            n_changed += compare(key // n, key % n)
        if n_changed <= tol * n * K:
            return rounds
    return max_iter


def search(pool: Lists, near: Array, pairs: Pairs, *, max_rounds: int) -> None:
    """Walk the graph `near` from each pool's entries: visit the neighbors of the best entry not yet visited."""
    for _ in range(max_rounds):
        waiting = pool.fresh & (pool.indices >= 0)
        rows = np.flatnonzero(waiting.any(axis=1))
        if not len(rows):
            return
        place = waiting[rows].argmax(axis=1)
        pool.fresh[rows, place] = False
        candidates = near[pool.indices[rows, place]]  # (rows, degree)
        known = (candidates[:, :, None] == pool.indices[rows][:, None, :]).any(axis=2) | (candidates < 0)
        r, t = np.nonzero(~known)
        pool.push(rows[r], candidates[r, t], pairs(rows[r], candidates[r, t]))
