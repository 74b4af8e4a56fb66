"""The k largest of every row in one pass, in the order (value descending, index ascending)."""

from __future__ import annotations

from typing import Any

import numpy as np

from similis._kernels._jit import kernel

__all__ = ["top_k"]


@kernel
def top_k(S: Any, sign: Any, row_fold: Any, col_fold: Any, indices: Any, values: Any) -> None:
    """Rank the k largest ``sign * S[i, j]`` of each row i among the columns j with ``col_fold[j] != row_fold[i]``.

    NaN is never selected; a row with fewer candidates than k ends in index -1 and value NaN. Columns are read once,
    in chunks: those above a running threshold join a buffer without a branch, and a buffer of 4 k or more is cut to
    its k best, which raises the threshold. Everything keeps the column order, so ties need no second key.
    """
    n_rows, n_columns = S.shape
    k = indices.shape[1]
    chunk = max(k, 64)
    best, where = np.empty(4 * k + chunk, S.dtype), np.empty(4 * k + chunk, np.intp)
    scratch, scratch_index = np.empty(4 * k + chunk, S.dtype), np.empty(k, np.intp)
    for i in range(n_rows):
        fold = row_fold[i]
        m, best[0] = np.intp(0), -np.inf
        threshold = best[0]
        for start in range(0, n_columns, chunk):
            for j in range(start, min(start + chunk, n_columns)):
                value = sign * S[i, j]
                best[m] = value
                where[m] = j
                m += (value > threshold) & (col_fold[j] != fold)
            if m >= 4 * k:
                m, threshold = _keep_largest(best, where, m, k, scratch)
        if m > k:
            m, threshold = _keep_largest(best, where, m, k, scratch)
        _sort_descending(best, where, m, scratch, scratch_index)
        for r in range(k):
            indices[i, r] = where[r] if r < m else -1
            values[i, r] = sign * best[r] if r < m else np.nan


@kernel
def _keep_largest(best: Any, where: Any, m: int, k: int, scratch: Any) -> Any:
    """Cut the first m pairs to the k largest, the earlier of equals first, in unchanged order; also the k-th value."""
    for a in range(m):
        scratch[a] = best[a]
    threshold = _kth_largest(scratch, m, k)
    above = 0
    for a in range(m):
        above += best[a] > threshold
    ties = k - above
    kept = 0
    for a in range(m):
        value = best[a]
        tied = value == threshold
        take = (value > threshold) | (tied & (ties > 0))
        best[kept] = value
        where[kept] = where[a]
        kept += take
        ties -= tied
    return k, threshold


@kernel
def _kth_largest(x: Any, m: int, k: int) -> Any:
    """Select the k-th largest of the first m numbers (Hoare's FIND, median of three); x is reordered."""
    low, high = 0, m - 1
    while low < high:
        a, b, c = x[low], x[(low + high) // 2], x[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while x[i] > pivot:
                i += 1
            while x[j] < pivot:
                j -= 1
            if i <= j:
                x[i], x[j] = x[j], x[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            break
    return x[k - 1]


@kernel
def _sort_descending(x: Any, where: Any, m: int, scratch: Any, scratch_index: Any) -> None:
    """Sort the first m pairs by value, largest first, equals in unchanged order: runs of 8, then merges."""
    for start in range(0, m, 8):
        for a in range(start + 1, min(start + 8, m)):
            value, index = x[a], where[a]
            b = a - 1
            while b >= start and x[b] < value:
                x[b + 1], where[b + 1] = x[b], where[b]
                b -= 1
            x[b + 1], where[b + 1] = value, index
    width = 8
    while width < m:
        for start in range(0, m - width, 2 * width):
            for a in range(start, start + width):
                scratch[a - start], scratch_index[a - start] = x[a], where[a]
            left, right, end = 0, start + width, min(start + 2 * width, m)
            out = start
            while left < width and right < end:
                if x[right] > scratch[left]:
                    x[out], where[out] = x[right], where[right]
                    right += 1
                else:
                    x[out], where[out] = scratch[left], scratch_index[left]
                    left += 1
                out += 1
            while left < width:
                x[out], where[out] = scratch[left], scratch_index[left]
                left += 1
                out += 1
        width *= 2
