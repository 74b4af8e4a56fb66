"""Pairs whose value is inconsistent with the rest of the matrix: far from what the neighbors of its objects predict.

Rejected values are replaced by their predictions and the others predicted again, until the rejected pairs are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import squareform
from scipy.stats import rankdata
from sklearn.utils import check_random_state

from similis import _kernels
from similis._utils.arrays import Array, Floats, Indices, Mask
from similis._utils.threads import map_row_chunks
from similis.base import Kind, check_proximity, choice, quote, validated_function
from similis.exceptions import ProximityError

MIN_OBJECTS = 30  # smaller matrices have no meaningful neighborhoods
MAX_OBJECTS = 3000  # larger matrices are sampled
WIDTHS = (28, 14, 7)  # neighbors per object; wide first, since clusters of wrong values dominate narrow ones
MAX_ROUNDS = 12  # largest number of rounds per width
REACH = 0.2  # largest fraction of the objects in a neighborhood
REFERENCES = 256  # columns by which rows are compared; all columns of a smaller matrix
FLOOR = 0.23  # smallest local standard deviation, as a fraction of the spread of the matrix
CUT = 3.7  # smallest deviation of a suspicious pair in local standard deviations; with the floor, 0.85 of the spread
TYPICAL = 0.1  # differences in the outer tenths at a distance are not typical of it
LEVEL_SHARE, TRIANGLE_SHARE, KNOTS = 0.1, 0.05, 64  # windows (fraction of the pairs) and knots of running quantiles
MATCHES = 8  # neighbors of one object matched with each neighbor of the other; as accurate as all, and faster
WORK = 200_000_000  # values used in a round; larger matrices use fewer matches
CURVE_PAIRS = 200_000  # evenly spaced pairs behind curves and quantiles
# Values outside the range of the others: how many times as far from the median, at most this fraction of the pairs and
# of the pairs of an object, odds of such a gap under a power law fitted to this fraction of the others
OUTSIDE, OUTSIDE_PAIRS, OUTSIDE_ROW, OUTSIDE_ODDS, OUTSIDE_TAIL = 2.5, 0.05, 0.2, 1e-4, 0.05
SIGMA = 1.4826  # ratio of standard deviation and median absolute deviation of a normal distribution


@dataclass(frozen=True, eq=False)
class Suspects:
    """Pairs whose value is inconsistent with the rest of the matrix, in descending order of the score.

    Attributes
    ----------
    pairs : ndarray of shape (m, 2)
        Row numbers i < j of the suspicious pairs.
    values, expected, scores : ndarray of shape (m,)
        Values in the matrix, the mean of both directions, values predicted from the neighbors of i and j, and
        differences of the two in local standard deviations.
    n_pairs, n_objects : int
        Numbers of pairs and of objects that were checked: a random part of a large matrix.
    ids : tuple
        Names of the objects in `pairs`, pair by pair; empty without names.
    skipped : str
        Reason if the matrix was not checked; else empty.
    """

    pairs: Indices
    values: Floats
    expected: Floats
    scores: Floats
    n_pairs: int
    n_objects: int
    ids: tuple[tuple[Any, Any], ...] = ()
    skipped: str = ""

    def __len__(self) -> int:
        return len(self.pairs)

    def mask(self, n: int) -> Mask:
        """Return a symmetric n x n matrix that is True at the suspicious pairs."""
        mask = np.zeros((n, n), dtype=bool)
        mask[self.pairs[:, 0], self.pairs[:, 1]] = mask[self.pairs[:, 1], self.pairs[:, 0]] = True
        return mask

    def summary(self) -> str:
        """Return a one-line summary."""
        if self.skipped:
            return f"not checked: {self.skipped}"
        if not len(self):
            return f"none of {self.n_pairs:,}"
        a, b = self.ids[0] if self.ids else self.pairs[0]
        return (
            f"{len(self):,} of {self.n_pairs:,} ({len(self) / self.n_pairs:.2%}); the worst, {quote(a)} and "
            f"{quote(b)}, has {self.values[0]:.4g} where {self.expected[0]:.4g} is expected"
        )

    def __str__(self) -> str:
        return f"suspicious pairs: {self.summary()}"


@validated_function({"kind": [choice("similarity", "dissimilarity")], "random_state": ["random_state"]})
def suspects(S: ArrayLike, kind: Kind = "similarity", *, ids: Any = None, random_state: Any = 0) -> Suspects:
    """Find pairs whose value is inconsistent with the rest of the matrix, such as a lost digit or a swapped pair.

    A value is suspicious if it is far from the one predicted from the neighbors of the two objects, compared with what
    is usual in this matrix, and if the triangles over the pair agree with the predicted value; or if it lies far
    outside the range of all others. The user guide describes the rule, with precision and recall on simulated errors.

    Parameters
    ----------
    S : array-like of shape (n, n)
        Proximities of at least 30 objects, at most half of them equal. NaN is not checked; of an asymmetric matrix the
        mean of both directions is.
    kind, ids
        As in :func:`diagnose`.
    random_state : int, RandomState instance or None, default=0
        Random seed of the samples: 256 columns, and 3,000 objects of larger matrices.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.proximity import suspects
    >>> x = np.random.default_rng(0).normal(size=60)
    >>> D = np.abs(x[:, None] - x)
    >>> D[3, 8] = D[8, 3] = 10 * D[3, 8]
    >>> suspects(D, kind="dissimilarity").pairs
    array([[3, 8]])
    """
    A = check_proximity(S, kind=kind, allow_missing=True, accept_sparse=True)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    objects = np.arange(len(A))
    if len(A) > MAX_OBJECTS:
        objects = np.sort(rng.choice(len(A), MAX_OBJECTS, replace=False))
        A = A[np.ix_(objects, objects)]
    return find_suspects(A, kind, objects, ids, rng)


def find_suspects(A: Array, kind: Kind, objects: Array, ids: Sequence[Any] | None, rng: Any) -> Suspects:
    """Find suspicious pairs of a validated matrix over the `objects` of a larger one, whose names are `ids`."""
    n = len(A)
    if ids is not None and not (hasattr(ids, "__len__") and len(ids) > objects.max()):
        given = f"{len(ids)} for {objects.max() + 1} objects" if hasattr(ids, "__len__") else repr(str(ids)[:40])
        raise ProximityError(f"ids must hold one name per object. Got {given}.")
    i, j = np.triu_indices(n, 1)
    there, back = A[i, j].astype(np.float64), A[j, i].astype(np.float64)
    s = (np.where(np.isnan(there), back, there) + np.where(np.isnan(back), there, back)) / 2  # or the known direction
    empty = np.empty(0)
    nothing = Suspects(np.empty((0, 2), dtype=np.intp), empty, empty, empty, int(np.isfinite(s).sum()), n)
    if n < MIN_OBJECTS:
        return replace(nothing, skipped=f"at least {MIN_OBJECTS} objects are needed, got {n}")
    sign = 1.0 if kind == "dissimilarity" else -1.0
    outside = _far_outside(sign * s, i, j, sign * np.diagonal(A).astype(np.float64))
    judged = judge(sign * s, n, rng, outside)
    if judged is None:
        return replace(nothing, skipped="more than half of the entries are equal or missing")
    pair, scores, expected = judged
    order = np.argsort(-scores, kind="stable")
    pair, scores, expected = pair[order], scores[order], sign * expected[order]
    pairs = np.stack([objects[i[pair]], objects[j[pair]]], axis=1)
    names = () if ids is None else tuple((ids[a], ids[b]) for a, b in pairs)
    return replace(nothing, pairs=pairs, values=s[pair], expected=expected, scores=scores, ids=names)


def judge(d: Floats, n: int, rng: Any, outside: Mask) -> tuple[Indices, Floats, Floats] | None:
    """Check all pairs of an upper triangle, `outside` being suspicious; None if over half of the entries are equal.

    Return the numbers of the suspicious pairs, their deviations in local standard deviations, and expected values.
    """
    known = np.isfinite(d) & ~outside
    if spread(d[known]) <= 1e-12 * np.abs(d[known]).max(initial=0.0):  # equal up to rounding
        return None
    t = _dither(d, known, rng)
    columns = np.arange(n) if n <= REFERENCES else np.sort(rng.choice(n, REFERENCES, replace=False))
    filled, rejected, first = np.where(outside, np.nan, t), outside, True
    for width in WIDTHS:
        for _ in range(MAX_ROUNDS):
            before, good = rejected, known & ~rejected
            rejected, pairs, deviations, predicted, stretch = _run_round(t, filled, good, n, columns, width)
            rejected, expected = rejected | outside, predicted
            if first:  # from here on distances are measured in local standard deviations
                t, expected, first = stretch(t), stretch(expected), False
            filled = np.where(rejected, expected, t)
            if np.array_equal(rejected, before):
                break
    expected = np.where(np.isnan(predicted), np.median(t[known]), predicted)
    scores = np.abs(stretch(t) - stretch(expected))
    inside = ~outside[pairs]
    pairs = np.concatenate([pairs[inside], np.flatnonzero(outside)])
    deviations = np.concatenate([deviations[inside], scores[outside]])
    order = np.argsort(t[known])  # interpolate back to the scale of d
    return pairs, deviations, np.interp(expected[pairs], t[known][order], d[known][order])


def _far_outside(d: Floats, i: Array, j: Array, own: Floats) -> Mask:
    """Return True for scattered pairs whose distance lies far outside the range of all other distances.

    On the near side, where close pairs may be few, the range includes `own`, the distances of objects to themselves;
    values of this side are outside only if, without them, most objects are nearest to themselves.
    """
    n, ends = len(own), np.r_[i, j]
    outside = _beyond_gap(d, -np.inf)
    near = _beyond_gap(-d, float(np.max(-own[np.isfinite(own)], initial=-np.inf)))
    if near.any():
        nearest = np.full(n, np.inf)
        np.fmin.at(nearest, ends, np.tile(np.where(near, np.nan, d), 2))
        outside |= near & bool(np.mean(own <= nearest) > 1 / 2)
    # An object with many such pairs is an unusual object.
    known = np.bincount(ends, np.tile(np.isfinite(d), 2), n)
    share = np.bincount(ends, np.tile(outside, 2), n) / np.maximum(known, 1)
    return outside & (np.maximum(share[i], share[j]) <= OUTSIDE_ROW)


def _beyond_gap(x: Floats, largest: float) -> Mask:
    """Return True for values above `largest` and a gap in x that a power law for the next values does not explain."""
    values = np.sort(x[np.isfinite(x)])[::-1]
    most, tail = int(OUTSIDE_PAIRS * len(values)), int(OUTSIDE_TAIL * len(values))
    excess = values - np.median(values) if len(values) else values
    below = np.maximum(excess[1 : most + 1], largest - np.median(values)) if most else excess[:0]
    for m in np.flatnonzero((below > 0) & (excess[:most] >= OUTSIDE * below))[::-1] + 1:
        others = excess[m : m + tail + 1]
        # Logarithms of neighboring order statistics of a power law: exponential with mean (Hill's estimate) / m.
        hill = np.mean(np.log(others / others[-1])) if others[-1] > 0 else np.inf
        if m * np.log(excess[m - 1] / below[m - 1]) >= -np.log(OUTSIDE_ODDS) * hill:
            return np.asarray(x >= values[m - 1])
    return np.zeros(len(x), dtype=bool)


def spread(values: Floats) -> float:
    """Compute a robust standard deviation, the scaled median absolute deviation."""
    return SIGMA * float(np.median(np.abs(values - np.median(values)))) if values.size else 0.0


def _run_round(
    t: Floats, filled: Floats, good: Mask, n: int, columns: Array, width: int
) -> tuple[Mask, Indices, Floats, Floats, Callable[[Floats], Floats]]:
    """Predict from `filled`, and compare `t` with the predictions.

    Returns pairs to replace before the next round, numbers and deviations of the suspicious ones, the predictions, and
    the transformation to local standard deviations.
    """
    narrow = width == WIDTHS[-1]
    T = squareform(filled, checks=False)
    np.fill_diagonal(T, np.nan)
    scale = spread(t[good])
    R = _differences(T, columns, scale)
    N = _neighbors(R, T if narrow else None, min(width, max(WIDTHS[-1], int(REACH * n))))
    level, slope = _expectations(T, N, narrow)
    some = np.flatnonzero(good)
    some = some[:: max(1, len(some) // CURVE_PAIRS)]
    knots, (sigma,) = _running(slope[some], np.abs(t - slope)[some], [0.5], LEVEL_SHARE)
    sigma = np.maximum(SIGMA * sigma, FLOOR * scale)
    stretch = _stretch(knots, sigma)
    # The value between the two predictions, the constant and the additive one, that is nearest to t.
    nearest = np.clip(t, np.minimum(level, slope), np.maximum(level, slope))
    # Only the deviating pairs, and the sample they are compared with, are examined further.
    candidates = np.union1d(some, np.flatnonzero(np.abs(t - nearest) > CUT * sigma.min()))
    t_a, slope_a, nearest_a = (values[candidates] for values in (t, slope, nearest))
    i, j = (side[candidates] for side in np.triu_indices(n, 1))
    local, gap = _spreads_and_gaps(T, N, narrow, np.stack([i, j], axis=1), slope_a)
    sampled = np.isin(candidates, some, assume_unique=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        far = np.fmin(np.abs(stretch(t_a) - stretch(nearest_a)), np.abs(t_a - nearest_a) / (SIGMA * local))
        usual = np.fmin(np.abs(stretch(t_a) - stretch(slope_a)), np.abs(t_a - slope_a) / (SIGMA * local))
    contradicted = _contradicted(t_a, nearest_a, gap, sampled)
    contradicted &= _contradicted(t_a, nearest_a, R[i, j], sampled)
    cut = max(CUT, _tail(usual[sampled & contradicted & np.isfinite(usual)], len(t)))
    rejected = np.zeros(len(t), dtype=bool)
    rejected[candidates] = contradicted & (far > CUT)
    suspect = contradicted & (far > cut)
    return rejected, candidates[suspect], far[suspect], slope, stretch


def _contradicted(t: Floats, expected: Floats, x: Floats, some: Mask) -> Mask:
    """Return True where the triangle differences x agree with the expected value rather than with the value t.

    They do if x is typical of the expected value, or larger than usual for a pair as short as t (smaller for one as
    long as t), or nearer, by ratio, to the median at the expected value.
    """
    knots, curves = _running(t[some], x[some], [TYPICAL, 0.5, 1 - TYPICAL], TRIANGLE_SHARE)
    low_e, usual_e, high_e = _evaluate_curves(knots, curves, expected)
    low_t, usual_t, high_t = _evaluate_curves(knots, curves, t)
    with np.errstate(invalid="ignore"):
        log_x, log_e, log_t = (np.log(np.maximum(v, np.finfo(float).tiny)) for v in (x, usual_e, usual_t))
        nearer = np.abs(log_x - log_e) < np.abs(log_x - log_t)
        short = (t < expected) & ((x >= low_e) | (x > high_t) | (nearer & (x > usual_t)))
        long = (t > expected) & ((x <= high_e) | (x < low_t) | (nearer & (x < usual_t)))
        return short | long


def _evaluate_curves(knots: Floats, curves: Floats, at: Floats) -> list[Floats]:
    """Evaluate each curve at `at`: beyond the last knot with its average slope, before the first knot as a constant."""
    beyond = np.maximum(at - knots[-1], 0.0)
    slopes = (curves[:, -1] - curves[:, 0]) / max(knots[-1] - knots[0], np.finfo(float).tiny)
    return [np.interp(at, knots, y) + slope * beyond for y, slope in zip(curves, slopes)]


def _tail(usual: Floats, n_pairs: int) -> float:
    """Return the cut that an exponential tail through the 90 % and 99 % points exceeds for half a pair."""
    if not usual.size:
        return 0.0
    q90, q99 = np.quantile(usual, [0.9, 0.99])
    return float(q99 + (q99 - q90) * np.log10(max(0.02 * n_pairs, 1.0)))


def _dither(d: Floats, known: Mask, rng: Any) -> Floats:
    """Add uniform noise of one step to a discrete scale, which undoes its rounding."""
    values, counts = np.unique(d[known], return_counts=True)
    gaps = np.diff(values)
    nearest = np.minimum(np.r_[np.inf, gaps], np.r_[gaps, np.inf])
    order = np.argsort(nearest)
    step = nearest[order][np.searchsorted(np.cumsum(counts[order]), known.sum() / 2)]
    return d + step * (rng.random(len(d)) - 0.5)


def _differences(T: Floats, columns: Array, cap: float) -> Floats:
    """Compute the mean difference of two rows over the columns, single differences limited to the spread `cap`."""
    n = len(T)
    R = np.full((n, n), np.inf)
    seen = np.ascontiguousarray(T[:, columns])
    rows = _balanced(n)
    map_row_chunks(lambda part: _kernels.row_differences(seen, cap, rows[part], R), n, n_jobs=-1)
    return np.minimum(R, R.T)


def _neighbors(R: Floats, T: Floats | None, width: int) -> NDArray[np.int64]:
    """Return the nearest objects by R; with T by the larger of two ranks, that of R and that of the entry itself."""
    if T is not None:
        a, b = (rankdata(A, method="ordinal", axis=1) for A in (R, np.where(np.isnan(T), np.inf, T)))
        R = np.maximum(a, b) + np.minimum(a, b) / (2.0 * len(R))
        np.fill_diagonal(R, np.inf)
    return np.ascontiguousarray(np.argsort(R, axis=1, kind="stable")[:, :width])


def _expectations(T: Floats, N: NDArray[np.int64], additive: bool) -> tuple[Floats, Floats]:
    n, turns, rows = len(T), _n_matches(N), _balanced(len(T))
    level, slope = np.empty((2, n * (n - 1) // 2))

    def work(part: slice) -> None:
        _kernels.expected_from_neighbors(T, N, turns, additive, rows[part], level, slope)

    map_row_chunks(work, n, n_jobs=-1)
    return level, slope


def _spreads_and_gaps(
    T: Floats, N: NDArray[np.int64], additive: bool, pairs: NDArray[np.int64], center: Floats
) -> tuple[Floats, Floats]:
    """Compute the spread of the predictions around `center` and the gap of the triangles for some pairs."""
    turns, (local, gap) = _n_matches(N), np.empty((2, len(pairs)))

    def work(part: slice) -> None:
        _kernels.pair_spreads(T, N, turns, WIDTHS[-1], additive, pairs[part], center[part], local[part], gap[part])

    map_row_chunks(work, len(pairs), n_jobs=-1)
    return local, gap


def _n_matches(N: NDArray[np.int64]) -> int:
    n, k = N.shape
    return int(np.clip(WORK // (k * (n * (n - 1) // 2)), 2, min(k, MATCHES)))


def _running(x: Floats, y: Floats, quantiles: list[float], share: float) -> tuple[Floats, Floats]:
    """Compute quantiles of y in windows along x: increasing knots, and one row of values per quantile."""
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


def _stretch(knots: Floats, sigma: Floats) -> Callable[[Floats], Floats]:
    """Return the transformation to local standard deviations, the integral of 1 / sigma; linear beyond the knots."""
    inside = np.concatenate([[0.0], np.cumsum(np.diff(knots) * (1 / sigma[1:] + 1 / sigma[:-1]) / 2)])

    def f(x: Floats) -> Floats:
        below, above = np.minimum(x - knots[0], 0.0), np.maximum(x - knots[-1], 0.0)
        return np.interp(x, knots, inside) + below / sigma[0] + above / sigma[-1]

    return f


def _balanced(n: int) -> NDArray[np.int64]:
    """Order rows so that long and short ones alternate, which balances the work of slices."""
    return np.stack([np.arange(n), np.arange(n)[::-1]], axis=1).ravel()[:n].copy()
