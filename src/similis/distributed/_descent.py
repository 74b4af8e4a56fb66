"""Neighbours of many objects under any measure, from a small share of the pairs.

A forest of pivots gives each object its first neighbours: a node draws two of its objects, and every object goes with
the one it is more like, until few are together; these are all compared. Then neighbours of neighbours are introduced
to each other until hardly any list changes. Only proximities of index pairs are asked for, and they are counted.

References
----------
W. Dong, C. Moses and K. Li (2011). Efficient k-nearest neighbor graph construction for generic similarity measures.
WWW 2011.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis import _kernels

__all__ = ["Lists", "PivotTree", "descend", "grow_tree", "search"]

Pairs = Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[Any]]  # scores of pairs, larger is nearer
_CHUNK = 2**13  # objects whose introductions are measured at a time
_DEEPEST = 60


@dataclass
class Lists:
    """The best K found so far for each of m objects, the best first."""

    indices: NDArray[np.int32]
    best: NDArray[np.float32]
    fresh: NDArray[np.bool_]

    @classmethod
    def empty(cls, m: int, K: int) -> Lists:
        """Nothing found."""
        return cls(np.full((m, K), -1, np.int32), np.full((m, K), -np.inf, np.float32), np.zeros((m, K), bool))

    def push(self, rows: NDArray[Any], columns: NDArray[Any], scores: NDArray[Any]) -> int:
        """Let columns join the lists of rows where they are better; how many did."""
        r, c = (np.ascontiguousarray(a, dtype=np.int32) for a in (rows, columns))
        s = np.ascontiguousarray(scores, dtype=np.float32)
        return int(_kernels.push_pairs(r, c, s, self.indices, self.best, self.fresh))


@dataclass
class PivotTree:
    """Inner nodes with two pivots and two children; leaf -1 - c is objects ``order[start[c]:start[c + 1]]``."""

    pivots: NDArray[np.intp]
    children: NDArray[np.intp]
    order: NDArray[np.intp]
    start: NDArray[np.intp]

    def leaf_pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """All pairs that are together in a leaf."""
        leaf = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        found = []
        for step in range(1, int(np.diff(self.start).max(initial=1))):
            together = np.flatnonzero(leaf[step:] == leaf[:-step])
            found.append((self.order[together], self.order[together + step]))
        empty = np.empty(0, np.intp)
        left, right = (np.concatenate([empty, *side]) for side in (zip(*found) if found else ((), ())))
        return left, right

    def route(self, m: int, pairs: Pairs) -> NDArray[np.intp]:
        """The leaf that each of m new objects comes to."""
        node = np.zeros(m, np.intp) if len(self.pivots) else np.full(m, -1)
        while (node >= 0).any():
            here = np.flatnonzero(node >= 0)
            a, b = self.pivots[node[here]].T
            second = pairs(here, b) > pairs(here, a)
            node[here] = self.children[node[here], second.astype(np.intp)]
        return -1 - node


def grow_tree(n: int, pairs: Pairs, leaf_size: int, rng: np.random.RandomState) -> PivotTree:
    """Part n objects by pairs of pivots until at most `leaf_size` are together; ties are parted at random."""
    pivots: list[NDArray[np.intp]] = []
    children: list[list[int]] = []
    leaves: list[NDArray[np.intp]] = []
    groups = [(np.arange(n), -1, 0)]  # objects, parent, side
    n_nodes = 0
    for depth in range(_DEEPEST + 1):
        inner = [g for g in groups if len(g[0]) > leaf_size and depth < _DEEPEST]
        for objects, parent, side in (g for g in groups if len(g[0]) <= leaf_size or depth == _DEEPEST):
            if parent >= 0:
                children[parent][side] = -1 - len(leaves)
            leaves.append(objects)
        if not inner:
            break
        drawn = np.array([objects[rng.choice(len(objects), 2, replace=False)] for objects, _, _ in inner])
        node = np.repeat(np.arange(len(inner)), [len(objects) for objects, _, _ in inner])
        everyone = np.concatenate([objects for objects, _, _ in inner])
        a, b = pairs(everyone, drawn[node, 0]), pairs(everyone, drawn[node, 1])
        second = (b > a) | ((b == a) & (rng.random_sample(len(everyone)) < 0.5))
        groups, at = [], 0
        for t, (objects, parent, side) in enumerate(inner):
            goes = second[at : at + len(objects)]
            at += len(objects)
            if parent >= 0:
                children[parent][side] = n_nodes
            pivots.append(drawn[t])
            children.append([0, 0])
            groups += [(objects[~goes], n_nodes, 0), (objects[goes], n_nodes, 1)]
            n_nodes += 1
    start = np.concatenate([[0], np.cumsum([len(leaf) for leaf in leaves])])
    inner_nodes = [np.array(part, np.intp).reshape(-1, 2) for part in (pivots, children)]
    return PivotTree(inner_nodes[0], inner_nodes[1], np.concatenate(leaves), start)


def descend(
    lists: Lists, both: Callable[[Any, Any], Any], *, max_iter: int, tol: float, rng: np.random.RandomState
) -> int:
    """Introduce neighbours of neighbours until fewer than the share `tol` of all places change; rounds made.

    ``both(i, j)`` gives the scores of j for i and of i for j.
    """
    n, K = lists.indices.shape
    c = min(K, 10)
    for rounds in range(1, max_iter + 1):
        new, old = np.full((n, c), -1, np.int32), np.full((n, c), -1, np.int32)
        draws = rng.random_sample((n, K, 2)).astype(np.float32)
        _kernels.sample_candidates(lists.indices, lists.fresh, draws, new, old, np.zeros((n, 2), np.int32))
        room = min(n, _CHUNK) * 2 * c * c
        left, right = np.empty(room, np.int32), np.empty(room, np.int32)
        joined = 0
        for first in range(0, n, _CHUNK):
            m = _kernels.candidate_pairs(new, old, first, min(first + _CHUNK, n), lists.indices, left, right)
            key = np.sort(left[:m].astype(np.int64) * n + right[:m])  # np.unique hashes, which takes ten times as long
            key = key[np.r_[True, key[1:] != key[:-1]]] if m else key
            i, j = key // n, key % n
            there, back = both(i, j)
            joined += lists.push(i, j, there) + lists.push(j, i, back)
        if joined <= tol * n * K:
            return rounds
    return max_iter


def search(pool: Lists, near: NDArray[np.int32], pairs: Pairs, *, max_rounds: int) -> None:
    """Walk the graph `near` from each pool's entries: look at the neighbours of the best not yet looked at."""
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
