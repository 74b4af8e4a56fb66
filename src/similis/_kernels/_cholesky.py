"""The growing Cholesky factor that kernel ridge interpolation and regression share."""

from __future__ import annotations

from typing import Any

from similis._kernels._jit import kernel

__all__ = ["back_substitute", "forward_substitute", "grow_cholesky"]


@kernel
def grow_cholesky(
    B: Any, ridge: float, floor: float, lift: bool, order: Any, start: int, stop: int, L: Any, inverse: Any
) -> int:
    """Append rows start..stop-1 to the factor L of ``B[order][:, order] + ridge I``; `inverse` holds 1 / L[p, p].

    At a pivot not above `floor` it stops and returns how many rows stand; or, with `lift`, raises the pivot to the
    floor and goes on: a change of the diagonal of the size of round-off when B is PSD.
    """
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
        root = pivot**0.5
        row[p] = root
        inverse[p] = 1.0 / root
    return stop


@kernel
def forward_substitute(L: Any, inverse: Any, size: int, x: Any) -> None:
    """Solve L x = x in place for the leading `size` rows."""
    for p in range(size):
        row, t = L[p], x[p]
        for q in range(p):
            t -= row[q] * x[q]
        x[p] = t * inverse[p]


@kernel
def back_substitute(L: Any, inverse: Any, size: int, x: Any) -> None:
    """Solve L' x = x in place for the leading `size` rows."""
    for p in range(size - 1, -1, -1):
        x[p] *= inverse[p]
        t = x[p]
        row = L[p]
        for q in range(p):
            x[q] -= t * row[q]
