"""A candidate for the rule of suspicious entries, not adopted: a pair is suspect when three sorts of witnesses agree.

It finds somewhat more damage than the rule in use and draws nothing at random, but it raises alarms in more clean
matrices than ``benchmarks/suspects_protocol.md`` allows; ``suspects_candidates.py`` compares the two.

Rows. The row of i is foretold, entry by entry, from the other rows by ridge regression, the entry and its column left
out; so is the row of j. The two foretell d(i, j) apart, and each is held against how well it foretells the rest of its
row: an object without neighbours is foretold badly everywhere and is suspect only for gross contradictions.

Neighbours. Objects that see everybody else alike are neighbours, whatever their own entry says. What the neighbours of
i and of j have between them leads one to expect a value for (i, j) as well.

Triangles. |d(i, k) - d(j, k)| <= d(i, j) for every witness k. On a scale where that need not hold exactly (a sum of
squares, a similarity turned round, a human judgement) these differences still belong to a distance: the matrix itself
shows which differences go with which distance. A pair is suspect only if its differences go with the value foretold
rather than with its own. So twins and copies, unlike their neighbours for a reason, are left alone.

Nothing depends on the unit or on the shape of the scale: deviations are counted in local standard deviations, read off
the matrix at each level. Nothing is drawn at random. Whole blocks of damage foretell each other, so the first look uses
differences alone; what is rejected is replaced by what is foretold, and rows are foretold anew.

The cut is the matrix's own: the least at which no more than VALLEY times as many pairs lie between half of it and it as
beyond it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis import _kernels
from similis._utils.threads import map_row_chunks

__all__ = ["Verdict", "judge"]

Array = NDArray[np.float64]

RIDGE = 0.3  # in mean variances of a row: enough that a matrix of pure noise is not foretold by chance
CUT = 5.0  # least deviation to be suspect, in local standard deviations: beyond normal noise in ten million pairs
VALLEY = 1.0  # pairs between half of the cut and the cut, for each one beyond it
FIRST_CUT = 4.0  # the first look's: it may reject too much, what is sound comes back
FLOOR = 0.2  # a local standard deviation counts as at least this share of the spread of the matrix
LEAST_ROW = 0.3  # and that of a row as at least this share of what is usual at its level
ROUNDS = 5  # by then verdicts have settled
ROWS = 500  # rows that foretell a row, at most
WITNESSES = 256  # objects through whose eyes rows are compared; all of them in smaller matrices
NEIGHBORS = 7  # neighbours of either object that vote
WORK = 200_000_000  # votes counted; beyond, each neighbour of one object meets fewer of the other's
LEVEL_SHARE, TRIANGLE_SHARE, KNOTS = 0.1, 0.05, 64  # windows (share of the pairs) and knots of running quantiles
CURVE_PAIRS = 200_000  # pairs behind curves, evenly spaced among all
SIGMA = 1.4826  # a median absolute deviation in standard deviations of a normal
UPPER, QUARTER = 1.1503, 0.6745  # 75 % points of a normal: of its absolute value, and one-sided
STEP = 0.3  # the standard deviation of rounding, 1 / sqrt(12) steps


@dataclass(frozen=True)
class Verdict:
    """Numbers of the suspicious pairs, how many local standard deviations they are off, and the values expected."""

    suspects: NDArray[np.intp]
    deviations: Array
    expected: Array


def judge(d: Array, n: int) -> Verdict | None:
    """Judge every pair of a matrix given by its upper triangle; None where over half of the entries are equal."""
    known = np.isfinite(d)
    if spread(d[known]) <= 1e-12 * np.abs(d[known]).max(initial=0.0):  # equal but for round-off
        return None
    good, filled = _first_look(d, known, n)
    F = _square(filled, n)
    np.fill_diagonal(F, np.nanquantile(F, 0.05, axis=1))  # to itself an object is at most what near ones are
    stretch = _stretch(d, _foretold(F), good)
    t, F = stretch(d), stretch(F)  # from here on distances are counted in local standard deviations
    for _ in range(ROUNDS - 1):
        E = _foretold(F)
        z, sigma = _deviations(t, E, good)
        expected = _condensed((E + E.T) / 2)
        last, good = F, known & (np.abs(z) <= CUT)
        F = _square(np.where(good, t, expected), n)
        np.fill_diagonal(F, np.diagonal(E))
    z = _nearer_zero(z, _beyond_neighbors(t, _square(_condensed(last), n), sigma, spread(t[known])))
    seen = _differences(_square(np.where(good, t, np.nan), n), spread(t[known]))  # through sound entries only
    deviations = np.where(_contradicted(t, expected, _condensed(seen), good), np.abs(z), 0.0)
    found = np.flatnonzero(deviations >= _cut(deviations))
    order = np.argsort(t[known], kind="stable")  # back to the scale of d
    return Verdict(found, deviations[found], np.interp(expected[found], t[known][order], d[known][order]))


def spread(values: Array) -> float:
    """Standard deviation of the bulk: unmoved by anything that happens to fewer than half of the values."""
    return SIGMA * float(np.median(np.abs(values - np.median(values)))) if values.size else 0.0


def _first_look(d: Array, known: NDArray[np.bool_], n: int) -> tuple[NDArray[np.bool_], Array]:
    """Which pairs are near what goes with the differences between their rows; that value for all others."""
    scale = spread(d[known])
    x = _condensed(_differences(_square(d, n), scale))
    knots, (low, usual, high) = _running(x[known], d[known], [0.25, 0.5, 0.75], LEVEL_SHARE)
    sigma = np.maximum(np.maximum(high - usual, usual - low) / QUARTER, FLOOR * scale)
    guess = np.interp(x, knots, usual)
    good = known & (np.abs(np.where(known, d, 0.0) - guess) <= FIRST_CUT * np.interp(x, knots, sigma))
    return good, np.where(good, d, guess)


def _foretold(F: Array) -> Array:
    """E[i, j]: the entry (i, j) foretold from the other rows by ridge regression, entry and column left out.

    With B the doubly centred matrix, P the inverse of B B' / n + ridge and G = P B, the residual of row i given all
    other rows is G[i, j] / P[i, i]. Column j has leverage h = B[:, j]' G[:, j] / n - G[i, j]^2 / (n P[i, i]) in that
    regression; dividing by 1 - h leaves it out.
    """
    n = len(F)
    means = F.mean(axis=0)
    E = np.empty((n, n))
    parts = -(-n // ROWS)
    for part in range(parts):
        rows = np.arange(part, n, parts)
        B = F[rows] - means - means[rows, None] + means.mean()  # (m, n)
        C = B @ B.T / n
        ridge = RIDGE * np.trace(C) / len(rows)
        P = np.linalg.inv(C + max(ridge, np.finfo(float).tiny) * np.eye(len(rows)))
        G, p = P @ B, np.diagonal(P)[:, None]
        leverage = np.einsum("ij,ij->j", B, G) / n - G**2 / (n * p)
        E[rows] = F[rows] - G / (p * (1 - leverage))
    return E


def _stretch(d: Array, E: Array, good: NDArray[np.bool_]) -> Callable[[Array], Array]:
    """The scale whose unit is the local standard deviation: the integral of 1 / sigma, straight beyond the knots."""
    expected = _condensed((E + E.T) / 2)
    some = _some(good)
    knots, (sigma,) = _running(expected[some], np.abs(d - expected)[some], [0.75], LEVEL_SHARE)
    sigma = np.maximum(sigma / UPPER, np.hypot(FLOOR * spread(d[np.isfinite(d)]), STEP * _step(d)))
    inside = np.concatenate([[0.0], np.cumsum(np.diff(knots) * (1 / sigma[1:] + 1 / sigma[:-1]) / 2)])

    def f(x: Array) -> Array:
        below, above = np.minimum(x - knots[0], 0.0), np.maximum(x - knots[-1], 0.0)
        return np.interp(x, knots, inside) + below / sigma[0] + above / sigma[-1]

    return f


def _deviations(t: Array, E: Array, good: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Deviation of each pair from what its rows foretell, the lesser of the two; the standard deviation it is in."""
    n = len(E)
    e = _square(t, n) - E  # the diagonal is unknown
    sound = _square(np.where(good, 1.0, np.nan), n)
    least = max(FLOOR * spread(t[np.isfinite(t)]), LEAST_ROW)
    rows = np.full(n, least)
    some = np.isfinite(sound).any(axis=1)
    rows[some] = np.maximum(np.nanquantile(np.abs(e[some]) * sound[some], 0.75, axis=1) / UPPER, least)
    # Two objects that are foretold badly are foretold worse together.
    sigma = np.maximum(rows, rows[:, None]) * np.maximum(np.minimum(rows, rows[:, None]) / np.median(rows), 1.0)
    return np.nan_to_num(_nearer_zero(_condensed(e / sigma), _condensed(e.T / sigma))), _condensed(sigma)


def _beyond_neighbors(t: Array, T: Array, sigma: Array, cap: float) -> Array:
    """Deviation from the nearest value that the neighbours allow, level or sloping."""
    n = len(T)
    N = np.argsort(_differences(T, cap), axis=1, kind="stable")[:, :NEIGHBORS].copy()
    turns = int(np.clip(WORK // (NEIGHBORS * len(t)), 2, NEIGHBORS))
    level, slope = np.empty((2, len(t)))
    order = _balanced(n)
    map_row_chunks(
        lambda part: _kernels.expected_from_neighbors(T, N, turns, True, order[part], level, slope), n, n_jobs=-1
    )
    nearest = np.clip(t, np.fmin(level, slope), np.fmax(level, slope))
    return np.nan_to_num((t - nearest) / sigma)


def _contradicted(t: Array, expected: Array, x: Array, good: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether the differences x between rows are, by ratio, nearer to those usual at `expected` than at t."""
    some = _some(good)
    knots, (usual,) = _running(t[some], x[some], [0.5], TRIANGLE_SHARE)
    slope = (usual[-1] - usual[0]) / max(knots[-1] - knots[0], np.finfo(float).tiny)

    def along(at: Array) -> Array:  # beyond the knots it goes on with its average slope
        return np.maximum(np.interp(at, knots, usual) + slope * np.maximum(at - knots[-1], 0.0), 0.0)

    middle = np.sqrt(along(expected) * along(t))
    return np.isfinite(x) & np.where(t < expected, x > middle, (t > expected) & (x < middle))


def _cut(deviations: Array) -> float:
    """The least value from CUT on that has at most VALLEY times as many between its half and itself as beyond."""
    w = np.sort(deviations)
    c = w[np.searchsorted(w, CUT) :]
    at = np.searchsorted(w, c)
    valleys = c[at - np.searchsorted(w, c / 2) <= VALLEY * (len(w) - at)]
    return float(valleys[0]) if len(valleys) else np.inf


def _nearer_zero(a: Array, b: Array) -> Array:
    """The lesser of two deviations; zero where they point in different directions."""
    return np.where(a * b > 0, np.sign(a) * np.minimum(np.abs(a), np.abs(b)), 0.0)


def _step(d: Array) -> float:
    """The step of a discrete scale, next to nothing of a continuous one: the median gap to the nearest other value."""
    values, counts = np.unique(d[np.isfinite(d)], return_counts=True)
    gaps = np.diff(values)
    nearest = np.minimum(np.r_[np.inf, gaps], np.r_[gaps, np.inf])
    order = np.argsort(nearest)
    return float(nearest[order][np.searchsorted(np.cumsum(counts[order]), counts.sum() / 2)])


def _differences(T: Array, cap: float) -> Array:
    """How differently two objects see the witnesses; a difference counts up to the spread of the matrix."""
    n = len(T)
    R = np.full((n, n), np.inf)
    seen = np.ascontiguousarray(T[:, :: -(-n // WITNESSES)])
    rows = _balanced(n)
    map_row_chunks(lambda part: _kernels.row_differences(seen, cap, rows[part], R), n, n_jobs=-1)
    return np.minimum(R, R.T)


def _running(x: Array, y: Array, quantiles: list[float], share: float) -> tuple[Array, Array]:
    """Quantiles of y in windows along x: knots, increasing, and one row of values per quantile."""
    keep = np.isfinite(x) & np.isfinite(y)
    x, y = x[keep], y[keep]
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    window = min(len(x), max(50, int(share * len(x))))
    at = np.unique(np.linspace(0, len(x) - 1, KNOTS).astype(int))
    start = np.clip(at - window // 2, 0, len(x) - window)
    table = np.quantile(np.stack([y[s : s + window] for s in start]), quantiles, axis=1)
    knots, which = np.unique(x[at], return_inverse=True)
    return knots, np.stack([np.bincount(which, row) / np.bincount(which) for row in table])


def _some(good: NDArray[np.bool_]) -> NDArray[Any]:
    """Numbers of sound pairs, thinned evenly where there are very many."""
    some = np.flatnonzero(good)
    return some[:: max(1, len(some) // CURVE_PAIRS)]


def _balanced(n: int) -> NDArray[np.int64]:
    """Rows in an order in which any slice has its share of long and short ones."""
    rows = np.arange(n)
    return np.stack([rows, rows[::-1]], axis=1).ravel()[:n].copy()


def _square(d: Array, n: int) -> Array:
    T = np.full((n, n), np.nan)
    T[np.triu_indices(n, 1)] = d
    return np.where(np.isnan(T), T.T, T)


def _condensed(A: Array) -> Array:
    return A[np.triu_indices(len(A), 1)]
