"""Tables of value differences, [cazzanti2007] Eq. (2.3)-(2.4), in the form the kernel looks them up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis import _kernels
from similis._utils.storable import storable
from similis.measures._base import STRIP, Tick, over_rows
from similis.measures._codes import Codebook
from similis.measures._vectors import Laid, lay

__all__ = ["ValueTables"]

# Codes of a group of features fit into a byte.
GROUP = 256


@storable
@dataclass
class ValueTables:
    """What the training labels say about every value: looked up, never recomputed.

    Values of a feature with the same class probabilities are one *kind* of value; a few neighbouring features with few
    kinds form a *group*, whose table holds their summed differences for every combination of kinds. Fewer look-ups give
    the same sums.
    """

    codebook: Codebook
    kinds: list[NDArray[np.intp]]  # per feature: kind of each code
    groups: list[tuple[int, int]]  # first feature and the one after the last
    weights: NDArray[np.intp]  # per feature: what its kind counts in the group's code
    table: NDArray[np.float64]
    offsets: NDArray[np.int64]
    widths: NDArray[np.int64]

    @classmethod
    def learn(
        cls, objects: NDArray[Any], y: NDArray[np.intp], n_classes: int, q: float, smoothing: float, unseen: str
    ) -> ValueTables:
        """Estimate P(Y = g | x[i] = a) from training objects and class codes, and tabulate the differences."""
        codebook = Codebook.learn(objects)
        codes = codebook.encode(objects)
        prior = np.bincount(y, minlength=n_classes) / len(y)
        kinds, tables = [], []
        for k in range(objects.shape[1]):
            P, seen = class_probabilities(codes[:, k], y, int(codebook.size[k]), n_classes, smoothing, prior)
            P = np.vstack([P, prior])  # the last row is for values without a code
            known = np.append(seen, False) if unseen == "zero" else np.ones(len(P), dtype=bool)
            distinct, kind = np.unique(P[known], axis=0, return_inverse=True)
            # [cazzanti2007] Eq. (2.3)-(2.4) -> sum_g |P(g | a) - P(g | b)|^q; an unknown value adds nothing
            T = (np.abs(distinct[:, None, :] - distinct[None, :, :]) ** q).sum(axis=2)
            kind_of_code = np.full(len(P), len(T))
            kind_of_code[known] = kind.ravel()
            kinds.append(kind_of_code)
            tables.append(T if known.all() else np.pad(T, (0, 1)))
        return cls(codebook, kinds, *_grouped(tables))

    def largest_between(self, A: Laid) -> float:
        """The largest dissimilarity of two of the encoded objects; a strip of the matrix at a time."""
        rows = np.unique(A.rows, axis=0)
        strips = range(0, len(rows), STRIP)
        return max(float(self.compare(lay(rows[i : i + STRIP]), lay(rows[i:])).max()) for i in strips)

    @property
    def largest(self) -> float:
        """An upper bound of the dissimilarity of any two objects."""
        ends = np.append(self.offsets[1:], len(self.table))
        return float(sum(self.table[a:b].max() for a, b in zip(self.offsets, ends)))

    def encode(self, objects: NDArray[Any]) -> Laid:
        """One code per object and group."""
        codes = self.codebook.encode(objects)
        dtype = np.uint8 if self.widths.max() <= GROUP else np.uint32
        grouped = np.empty((len(codes), len(self.groups)), dtype)
        for g, (first, stop) in enumerate(self.groups):
            parts = (self.weights[k] * self.kinds[k][codes[:, k]] for k in range(first, stop))
            grouped[:, g] = sum(parts)
        return lay(grouped)

    def compare(self, A: Laid, B: Laid, n_jobs: int | None = None, tick: Tick | None = None) -> NDArray[np.float64]:
        """Summed value differences of encoded objects."""
        out = np.empty((A.shape[0], B.shape[0]))
        mirror = B is A

        def work(rows: slice) -> None:
            _kernels.value_difference(
                A.rows, B.columns, self.table, self.offsets, self.widths, rows.start, rows.stop, mirror, out
            )

        over_rows(work, A.shape[0], n_jobs, tick)
        return out


def class_probabilities(
    codes: NDArray[Any], y: NDArray[np.intp], n_values: int, n_classes: int, smoothing: float, prior: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """P(Y = g | value) as (n_values, n_classes), and which values occur; one that does not gets the prior."""
    pairs = codes.astype(np.intp) * n_classes + y
    counts = np.bincount(pairs, minlength=n_values * n_classes).reshape(n_values, n_classes)
    seen = counts.sum(axis=1) > 0
    smoothed = counts + smoothing
    total = smoothed.sum(axis=1, keepdims=True)
    P = np.where(seen[:, None], smoothed / np.where(total > 0, total, 1), prior)
    return P, seen


def _grouped(tables: list[NDArray[Any]]) -> tuple[Any, ...]:
    """Join neighbouring features while their combined kinds fit into a byte."""
    groups: list[tuple[int, int]] = []
    weights = np.ones(len(tables), dtype=np.intp)
    joined: list[NDArray[Any]] = []
    for k, T in enumerate(tables):
        if groups and len(joined[-1]) * len(T) <= GROUP:
            weights[k] = len(joined[-1])
            # The sum over features enters the table: T[(b, a), (b', a')] = T_k[b, b'] + T_before[a, a'].
            size = len(joined[-1]) * len(T)
            joined[-1] = (T[:, None, :, None] + joined[-1][None, :, None, :]).reshape(size, size)
            groups[-1] = (groups[-1][0], k + 1)
        else:
            joined.append(T)
            groups.append((k, k + 1))
    widths = np.array([len(T) for T in joined], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum(widths**2)[:-1]]).astype(np.int64)
    return groups, weights, np.concatenate([T.ravel() for T in joined]), offsets, widths
