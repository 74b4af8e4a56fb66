"""The k largest of every row in one pass, in the order (value descending, index ascending)."""

from __future__ import annotations

from typing import Any

import numpy as np

from similis._kernels._jit import kernel

__all__ = ["top_k"]


@kernel
def top_k(S: Any, sign: Any, row_fold: Any, col_fold: Any, indices: Any, values: Any) -> None:
    """Rank the k largest ``sign * S[i, j]`` of each row i among the columns j with ``col_fold[j] != row_fold[i]``.

    NaN is never selected; a row with fewer candidates than k ends in index -1 and value NaN. Columns are read in runs
    of 64: those above a running threshold, if a run has any, join a buffer, and a buffer of 4 k or more is cut to its
    k best, which raises the threshold. Everything keeps the column order, so ties need no second key.
    """
    n_rows, n_columns = S.shape
    k = indices.shape[1]
    room = 4 * k + 64
    best, where = np.empty(room, S.dtype), np.empty(room, np.intp)
    spare, spare_index = np.empty(room, S.dtype), np.empty(room, np.intp)
    for i in range(n_rows):
        fold = row_fold[i]
        m: Any = np.intp(0)  # typed, so that the helpers compile once
        best[0] = -np.inf
        threshold = best[0]
        for start in range(0, n_columns, 64):
            run = S[i, start : min(start + 64, n_columns)]
            above = 0
            for a in range(run.shape[0]):  # counts vectorise; mostly there is none
                above += sign * run[a] > threshold
            if above == 0:
                continue
            for a in range(run.shape[0]):
                value = sign * run[a]
                if value > threshold and col_fold[start + a] != fold:
                    best[m] = value
                    where[m] = start + a
                    m += 1
            if m >= 4 * k:
                m, threshold = _keep_largest(best, where, m, k, spare)
        if m > k:
            m, threshold = _keep_largest(best, where, m, k, spare)
        _sort_descending(best, where, m, spare, spare_index)
        for r in range(k):
            indices[i, r] = where[r] if r < m else -1
            values[i, r] = sign * best[r] if r < m else np.nan


@kernel
def _keep_largest(best: Any, where: Any, m: int, k: int, spare: Any) -> Any:
    """Cut the first m pairs to the k largest, the earlier of equals first, in unchanged order; also the k-th value."""
    threshold, above = _kth_largest(best, m, k, spare)
    ties, kept = k - above, 0
    for a in range(m):
        value = best[a]
        tied = value == threshold
        best[kept] = value
        where[kept] = where[a]
        kept += (value > threshold) | (tied & (ties > 0))
        ties -= tied
    return k, threshold


@kernel
def _kth_largest(best: Any, m: int, k: int, x: Any) -> Any:
    """Find the k-th largest of the first m numbers, and how many are larger; x is scratch.

    Quickselect with a median of three: count, then compact one side without a branch.
    """
    for a in range(m):
        x[a] = best[a]
    above, size = 0, m
    while True:
        a, b, c = x[0], x[size // 2], x[size - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        larger = equal = 0
        for q in range(size):
            larger += x[q] > pivot
            equal += x[q] == pivot
        if above + larger < k <= above + larger + equal:
            return pivot, above + larger
        kept = 0
        if k <= above + larger:
            for q in range(size):
                value = x[q]
                x[kept] = value
                kept += value > pivot
        else:
            above += larger + equal
            for q in range(size):
                value = x[q]
                x[kept] = value
                kept += value < pivot
        size = kept


@kernel
def _sort_descending(x: Any, where: Any, m: int, y: Any, y_index: Any) -> None:
    """Sort the first m pairs by value, largest first, equals in unchanged order: runs of 32 by rank, then merges."""
    for start in range(0, m, 32):
        stop = min(start + 32, m)
        run = x[start:stop]
        for a in range(stop - start):
            value, rank = run[a], start
            for b in range(a):
                rank += run[b] == value
            for b in range(stop - start):
                rank += run[b] > value
            y[rank], y_index[rank] = value, where[start + a]
        for a in range(start, stop):
            x[a], where[a] = y[a], y_index[a]
    width = 32
    while width < m:
        for start in range(0, m - width, 2 * width):
            middle, end = start + width, min(start + 2 * width, m)
            for a in range(start, middle):
                y[a], y_index[a] = x[a], where[a]
            left, right, out = start, middle, start
            while left < middle and right < end:
                later = x[right] > y[left]
                x[out] = x[right] if later else y[left]
                where[out] = where[right] if later else y_index[left]
                right += later
                left += not later
                out += 1
            while left < middle:
                x[out], where[out] = y[left], y_index[left]
                left += 1
                out += 1
        width *= 2
