"""Which training objects are neighbours: five answers, each for a grid of sizes. [cazzanti2007] sec. 4.1, 7.2.2.

Every answer is a list of ranked neighbours and, for each point of the grid, how many of them count, so that larger
neighbourhoods contain smaller ones and one sweep serves them all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from similis import _kernels
from similis._utils.neighbors import cut_to, n_candidates
from similis.solvers import kri_weights, local_psd, top_k

__all__ = ["Neighborhoods", "Query", "neighborhoods"]

_BLOCK_NUMBERS = 2**21


class Neighborhoods(NamedTuple):
    """Ranked neighbours (m, K), -1 at the end of short lists, their proximities, and how many count, (m, T)."""

    indices: NDArray[np.intp]
    values: NDArray[Any]
    ends: NDArray[np.intp]

    def point(self, t: int) -> Neighborhoods:
        """The neighbourhoods of one point of the grid, cut to their length."""
        ends = self.ends[:, t]
        inside = np.arange(ends.max(initial=1)) < ends[:, None]
        indices = np.where(inside, self.indices[:, : inside.shape[1]], -1)
        return Neighborhoods(indices, np.ascontiguousarray(self.values[:, : inside.shape[1]]), ends[:, None])


class Query(NamedTuple):
    """New rows, or the rows of the training matrix itself with the fold of each."""

    S: NDArray[Any]
    codes: NDArray[np.intp]
    rows: NDArray[Any]
    fold: NDArray[np.intp] | None
    width: NDArray[np.float64]  # of Omega, for each row
    sign: int
    n_jobs: int | None

    def ranked(self, k: int, rows: NDArray[Any] | None = None, columns: Any = None) -> Any:
        """The k nearest of each row, among some `columns` if told; objects of the row's own fold are left out."""
        rows = self.rows if rows is None else rows
        folds: Any = self.fold
        if columns is not None:
            rows = rows[:, columns]
            folds = None if folds is None else (folds, folds[columns])
        indices, values = top_k(rows, k, sign=self.sign, folds=folds, n_jobs=self.n_jobs)
        return (indices if columns is None else np.where(indices < 0, -1, columns[indices])), values

    @property
    def n_candidates(self) -> int:
        """The largest number of training objects that a row can see."""
        return n_candidates(len(self.S), self.fold)


def neighborhoods(name: str, query: Query, ks: NDArray[np.intp], radii: NDArray[np.float64]) -> list[Neighborhoods]:
    """Neighbourhoods for an ascending grid: of k for "knn", "per-class" and "enclosing", of the radius for "radius".

    One element holds the whole grid, except for "enclosing", which has one element per k.
    """
    if name == "knn":
        indices, values = query.ranked(cut_to(query.n_candidates, int(ks.max())))
        ends = np.broadcast_to(np.minimum(ks, indices.shape[1]), (len(indices), len(ks)))
        return [Neighborhoods(indices, values, np.ascontiguousarray(ends))]
    if name == "per-class":
        return [_per_class(query, ks)]
    if name == "radius":
        return [_within_radius(query, radii)]
    if name == "reciprocal":
        return [_reciprocal(query)]
    return [_enclosing(query, min(int(k), query.n_candidates)) for k in ks]


def _per_class(query: Query, ks: NDArray[np.intp]) -> Neighborhoods:
    """The k nearest of every class, rank by rank: first each class's nearest, then each class's second, ..."""
    n_classes, k = int(query.codes.max()) + 1, int(ks.max())
    found = [query.ranked(k, columns=np.flatnonzero(query.codes == h)) for h in range(n_classes)]
    indices = np.stack([i for i, _ in found], axis=2)  # (m, k, G)
    values = np.stack([v for _, v in found], axis=2)
    known = (indices >= 0).sum(axis=2).cumsum(axis=1)
    m = len(indices)
    order = np.argsort(indices.reshape(m, -1) < 0, axis=1, kind="stable")
    indices, values = (np.take_along_axis(a.reshape(m, -1), order, axis=1) for a in (indices, values))
    return Neighborhoods(indices, values, np.ascontiguousarray(known[:, ks - 1]))


def _within_radius(query: Query, radii: NDArray[np.float64]) -> Neighborhoods:
    """All objects whose similarity is at least the best minus the radius, in widths of Omega."""
    best = query.sign * query.ranked(1)[1].astype(np.float64)
    least = best - radii * query.width[:, None] - 1e-12 * query.width[:, None]  # (m, T)
    indices, values = query.ranked(len(query.S))
    reach = query.sign * np.where(indices < 0, np.nan, values)
    ends = np.stack([(reach >= least[:, t, None]).sum(axis=1) for t in range(len(radii))], axis=1)
    indices, values = (np.ascontiguousarray(a[:, : ends.max()]) for a in (indices, values))
    return Neighborhoods(indices, values, ends)


def _reciprocal(query: Query) -> Neighborhoods:
    """[cazzanti2007] sec. 7.2.2 (Nock) -> the nearest neighbour, and all objects whose nearest neighbour x would be."""
    nearest = query.ranked(1)[0]
    others = query.sign * query.S.astype(np.float64)
    np.fill_diagonal(others, -np.inf)
    fold = np.zeros(len(others), np.intp) if query.fold is None else query.fold
    best = others.argmax(axis=1)
    rival = np.where(fold == fold[best][:, None], -np.inf, others).max(axis=1)  # best outside the best one's fold
    bar = others.max(axis=1)[None, :]
    if query.fold is not None:
        bar = np.where(fold[:, None] == fold[best][None, :], rival[None, :], bar)
    member = query.sign * query.rows >= bar
    np.put_along_axis(member, nearest, True, axis=1)
    if query.fold is not None:
        member &= fold[:, None] != fold[None, :]
    longest = int(member.sum(axis=1).max())
    indices, values = query.ranked(longest, rows=np.where(member, query.rows, np.nan))
    return Neighborhoods(indices, values, (indices >= 0).sum(axis=1, keepdims=True))


def _enclosing(query: Query, k: int) -> Neighborhoods:
    """[cazzanti2007] sec. 7.2.2 -> the fewest neighbours after which one more brings the query no nearer to their hull.

    Near is meant in the space where similarities are inner products: the objective of [chen2010] Eq. (3.5) without
    ridge, on the block of the k nearest made positive semi-definite.
    """
    indices, values = query.ranked(k)
    ends = np.empty((len(indices), 1), np.intp)
    at_a_time = max(1, _BLOCK_NUMBERS // k**2)
    for rows in (slice(a, a + at_a_time) for a in range(0, len(indices), at_a_time)):
        known = (indices[rows] >= 0).sum(axis=1)
        blocks = np.empty((len(known), k, k))
        _kernels.gather_blocks(query.S, indices[rows], blocks)
        blocks, s = local_psd(blocks, np.where(indices[rows] < 0, 0.0, values[rows]).astype(np.float64), "clip")
        w = kri_weights(blocks, s, 0.0, ks=np.arange(1, k + 1), known=known).weights[:, :, 0]  # (rows, k, k)
        objective = 0.5 * np.einsum("cta,cta->ct", w @ blocks, w) - np.einsum("cta,ca->ct", w, s)
        stalls = np.diff(objective, axis=1, append=np.inf) >= -1e-9 * (1 + np.abs(objective[:, :1]))
        ends[rows, 0] = np.minimum(stalls.argmax(axis=1) + 1, known)
    return Neighborhoods(indices, values, ends)
