"""Suspicious entries: pairs whose value disagrees with everything else in the matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from similis import _kernels
from similis._utils.threads import map_row_chunks
from similis.base import Kind, check_proximity, choice, quote, validated_function
from similis.exceptions import ProximityError

__all__ = ["Verdict", "judge", "Suspects", "find_suspects", "suspects"]

Array = NDArray[np.float64]

WIDTHS = (28, 14, 7)  # neighbours of either object that vote: wide first, as narrow ones are outvoted by local damage
MAX_ROUNDS = 12  # of each width, should the verdicts not settle before
REACH = 0.2  # the widest neighbourhood holds at most this share of the objects
WITNESSES = 256  # objects through whose eyes rows are compared; all of them in smaller matrices
FLOOR = 0.23  # a local standard deviation counts as at least this share of the spread of the matrix
CUT = 3.7  # least deviation to be suspect, in local standard deviations; with the floor, 0.85 of the spread
TYPICAL = 0.1  # differences of the outer tenths of the pairs at a distance are not typical of it
LEVEL_SHARE, TRIANGLE_SHARE, KNOTS = 0.1, 0.05, 64  # windows (share of the pairs) and knots of running quantiles
MEETINGS = 8  # each neighbour of one object meets so many of the other's: no worse than all of them, and faster
WORK = 200_000_000  # values looked at in a round; beyond, they meet fewer
CURVE_PAIRS = 200_000  # pairs behind curves and quantiles, evenly spaced among all
SIGMA = 1.4826  # a median absolute deviation in standard deviations of a normal


@dataclass(frozen=True)
class Verdict:
    """Numbers of the suspicious pairs, how many local standard deviations they are off, and the values expected."""

    suspects: NDArray[np.intp]
    deviations: Array
    expected: Array


@dataclass(frozen=True)
class _Round:
    """What one round found: pairs to replace before the next, and those it would name; `expected` of every pair."""

    rejected: NDArray[np.bool_]
    suspects: NDArray[np.intp]
    deviations: Array
    expected: Array
    stretch: Callable[[Array], Array]


def judge(d: Array, n: int, rng: Any) -> Verdict | None:
    """Judge every pair of a matrix given by its upper triangle; None where over half of the entries are equal."""
    known = np.isfinite(d)
    if spread(d[known]) <= 1e-12 * np.abs(d[known]).max(initial=0.0):  # equal but for round-off
        return None
    t = _dither(d, known, rng)
    witnesses = np.arange(n) if n <= WITNESSES else np.sort(rng.choice(n, WITNESSES, replace=False))
    filled, rejected, found = t, np.zeros(len(t), dtype=bool), None
    for width in WIDTHS:
        for _ in range(MAX_ROUNDS):
            last = found
            found = _vote(t, filled, known & ~rejected, n, witnesses, width)
            settled = np.array_equal(found.rejected, rejected)
            rejected = found.rejected
            if last is None:  # from here on distances are counted in local standard deviations
                t, expected = found.stretch(t), found.stretch(found.expected)
            else:
                expected = found.expected
            filled = np.where(rejected, expected, t)
            if settled:
                break
    assert found is not None
    if not len(found.suspects):
        return Verdict(found.suspects, found.deviations, np.empty(0))
    order = np.argsort(t[known])  # back to the scale of d
    expected = np.interp(found.expected[found.suspects], t[known][order], d[known][order])
    return Verdict(found.suspects, found.deviations, expected)


def spread(values: Array) -> float:
    """Standard deviation of the bulk: unmoved by anything that happens to fewer than half of the values."""
    return SIGMA * float(np.median(np.abs(values - np.median(values)))) if values.size else 0.0


def _vote(t: Array, filled: Array, good: NDArray[np.bool_], n: int, witnesses: NDArray[Any], width: int) -> _Round:
    """One round: expectations from `filled`, deviations of `t` from them, and who is beyond the cut."""
    narrow = width == WIDTHS[-1]
    T = _square(filled, n)
    scale = spread(t[good])
    R = _differences(T, witnesses, scale)
    N = _neighbors(R, T if narrow else None, min(width, max(WIDTHS[-1], int(REACH * n))))
    level, slope = _expectations(T, N, narrow)
    some = np.flatnonzero(good)
    some = some[:: max(1, len(some) // CURVE_PAIRS)]
    knots, (sigma,) = _running(slope[some], np.abs(t - slope)[some], [0.5], LEVEL_SHARE)
    sigma = np.maximum(SIGMA * sigma, FLOOR * scale)
    stretch = _stretch(knots, sigma)
    # The nearest value that either expectation allows, the flat or the sloping one.
    nearest = np.clip(t, np.minimum(level, slope), np.maximum(level, slope))
    # Only what is far off, and the sample it is held against, need a second look.
    ask = np.union1d(some, np.flatnonzero(np.abs(t - nearest) > CUT * sigma.min()))
    local, gap = _doubts(T, N, narrow, ask, slope)
    t_a, slope_a, nearest_a, sampled = t[ask], slope[ask], nearest[ask], np.isin(ask, some, assume_unique=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        far = np.fmin(np.abs(stretch(t_a) - stretch(nearest_a)), np.abs(t_a - nearest_a) / (SIGMA * local))
        usual = np.fmin(np.abs(stretch(t_a) - stretch(slope_a)), np.abs(t_a - slope_a) / (SIGMA * local))
    contradicted = _contradicted(t_a, nearest_a, gap, sampled)
    contradicted &= _contradicted(t_a, nearest_a, _condensed(R)[ask], sampled)
    cut = max(CUT, _tail(usual[sampled & contradicted & np.isfinite(usual)], len(t)))
    rejected = np.zeros(len(t), dtype=bool)
    rejected[ask] = contradicted & (far > CUT)
    suspect = contradicted & (far > cut)
    return _Round(rejected, ask[suspect], far[suspect], slope, stretch)


def _contradicted(t: Array, expected: Array, x: Array, some: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether the differences x that triangles allow go with the value expected rather than with the pair's own.

    They do when they are typical of the value expected, or larger than a pair so short ever has (smaller than one so
    long), or nearer, by ratio, to what is usual at the value expected.
    """
    knots, curves = _running(t[some], x[some], [TYPICAL, 0.5, 1 - TYPICAL], TRIANGLE_SHARE)
    (low_e, usual_e, high_e), (low_t, usual_t, high_t) = _along(knots, curves, expected), _along(knots, curves, t)
    with np.errstate(invalid="ignore"):
        nearer = _log_ratio(x, usual_e) < _log_ratio(x, usual_t)
        short = (t < expected) & ((x >= low_e) | (x > high_t) | (nearer & (x > usual_t)))
        long = (t > expected) & ((x <= high_e) | (x < low_t) | (nearer & (x < usual_t)))
        return short | long


def _log_ratio(x: Array, y: Array) -> Array:
    tiny = np.finfo(float).tiny
    return np.abs(np.log(np.maximum(x, tiny)) - np.log(np.maximum(y, tiny)))


def _along(knots: Array, curves: Array, at: Array) -> list[Array]:
    """Each curve read at `at`; above the knots it goes on with its average slope, below it stays what it was."""
    beyond = np.maximum(at - knots[-1], 0.0)
    slopes = (curves[:, -1] - curves[:, 0]) / max(knots[-1] - knots[0], np.finfo(float).tiny)
    return [np.interp(at, knots, y) + slope * beyond for y, slope in zip(curves, slopes)]


def _tail(usual: Array, n_pairs: int) -> float:
    """Where an exponential tail through the 90 % and 99 % points would leave half a pair of the whole matrix."""
    if not usual.size:
        return 0.0
    q90, q99 = np.quantile(usual, [0.9, 0.99])
    return float(q99 + (q99 - q90) * np.log10(max(0.02 * n_pairs, 1.0)))


def _dither(d: Array, known: NDArray[np.bool_], rng: Any) -> Array:
    """Put the rounding of a discrete scale back: uniform noise of one step. Nothing to a continuous scale."""
    values, counts = np.unique(d[known], return_counts=True)
    gaps = np.diff(values)
    nearest = np.minimum(np.r_[np.inf, gaps], np.r_[gaps, np.inf])
    order = np.argsort(nearest)
    step = nearest[order][np.searchsorted(np.cumsum(counts[order]), known.sum() / 2)]
    return d + step * (rng.random(len(d)) - 0.5)


def _differences(T: Array, witnesses: NDArray[Any], cap: float) -> Array:
    """How differently two objects see the witnesses; a difference counts up to the spread of the matrix."""
    n = len(T)
    R = np.full((n, n), np.inf)
    seen = np.ascontiguousarray(T[:, witnesses])
    rows = _balanced(n)
    map_row_chunks(lambda part: _kernels.row_differences(seen, cap, rows[part], R), n, n_jobs=-1)
    return np.minimum(R, R.T)


def _neighbors(R: Array, T: Array | None, width: int) -> NDArray[np.int64]:
    """The nearest by R; with T the nearest by the worse of two ranks, that of R and that of the entry itself."""
    score = R
    if T is not None:
        a, b = _ranks(R), _ranks(np.where(np.isnan(T), np.inf, T))
        score = np.maximum(a, b) + np.minimum(a, b) / (2.0 * len(R))
        np.fill_diagonal(score, np.inf)
    order = np.argsort(score, axis=1, kind="stable")
    return np.ascontiguousarray(order[:, :width])


def _ranks(A: Array) -> Array:
    order = np.argsort(A, axis=1, kind="stable")
    ranks = np.empty(A.shape)
    np.put_along_axis(ranks, order, np.arange(A.shape[1], dtype=float)[None], axis=1)
    return ranks


def _expectations(T: Array, N: NDArray[np.int64], additive: bool) -> tuple[Array, Array]:
    n = len(T)
    level, slope = np.empty((2, n * (n - 1) // 2))
    turns, rows = _meetings(N), _balanced(n)
    map_row_chunks(
        lambda part: _kernels.expected_from_neighbors(T, N, turns, additive, rows[part], level, slope), n, n_jobs=-1
    )
    return level, slope


def _doubts(T: Array, N: NDArray[np.int64], additive: bool, ask: NDArray[Any], slope: Array) -> tuple[Array, Array]:
    """Spread of the expectation and gap of the triangles, for the pairs numbered in `ask`."""
    n, turns = len(T), _meetings(N)
    first = np.arange(n) * n - np.arange(n) * (np.arange(n) + 1) // 2  # number of the first pair of each row
    i = np.searchsorted(first, ask, side="right") - 1
    i = np.minimum(i, n - 2)
    pairs = np.stack([i, ask - first[i] + i + 1], axis=1)
    center = slope[ask]
    local, gap = np.empty((2, len(ask)))

    def work(part: slice) -> None:
        _kernels.pair_doubts(T, N, turns, WIDTHS[-1], additive, pairs[part], center[part], local[part], gap[part])

    map_row_chunks(work, len(ask), n_jobs=-1)
    return local, gap


def _meetings(N: NDArray[np.int64]) -> int:
    n, k = N.shape
    return int(np.clip(WORK // (k * (n * (n - 1) // 2)), 2, min(k, MEETINGS)))


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


def _stretch(knots: Array, sigma: Array) -> Callable[[Array], Array]:
    """The scale whose unit is the local standard deviation: the integral of 1 / sigma, straight beyond the knots."""
    inside = np.concatenate([[0.0], np.cumsum(np.diff(knots) * (1 / sigma[1:] + 1 / sigma[:-1]) / 2)])

    def f(x: Array) -> Array:
        below, above = np.minimum(x - knots[0], 0.0), np.maximum(x - knots[-1], 0.0)
        return np.interp(x, knots, inside) + below / sigma[0] + above / sigma[-1]

    return f


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


MIN_OBJECTS = 30  # fewer have no neighbourhoods to speak of
MAX_OBJECTS = 3000  # more are sampled


@dataclass(frozen=True, eq=False)
class Suspects:
    """Pairs whose value disagrees with everything else in the matrix, the worst first.

    Attributes
    ----------
    pairs : ndarray of shape (m, 2)
        Row numbers i < j of the suspicious pairs.
    values : ndarray of shape (m,)
        What the matrix says, the mean of both directions.
    expected : ndarray of shape (m,)
        What the neighbours of i and j lead one to expect.
    scores : ndarray of shape (m,)
        How far apart the two are, in local standard deviations.
    n_pairs : int
        Pairs looked at.
    n_objects : int
        Objects looked at: a random part of large matrices.
    ids : tuple
        Names of the objects in `pairs`, pair by pair; empty without names.
    skipped : str
        Why nothing was looked for; empty where it was.
    """

    pairs: NDArray[np.intp]
    values: NDArray[np.float64]
    expected: NDArray[np.float64]
    scores: NDArray[np.float64]
    n_pairs: int
    n_objects: int
    ids: tuple[tuple[Any, Any], ...] = ()
    skipped: str = ""

    def __len__(self) -> int:
        return len(self.pairs)

    def mask(self, n: int) -> NDArray[np.bool_]:
        """An n x n symmetric matrix that is True at the suspicious pairs."""
        found = np.zeros((n, n), dtype=bool)
        found[self.pairs[:, 0], self.pairs[:, 1]] = found[self.pairs[:, 1], self.pairs[:, 0]] = True
        return found

    def summary(self) -> str:
        """One line."""
        if self.skipped:
            return f"not looked for: {self.skipped}"
        if not len(self):
            return f"none of {self.n_pairs:,}"
        a, b = self.ids[0] if self.ids else self.pairs[0]
        return (
            f"{len(self):,} of {self.n_pairs:,} ({len(self) / self.n_pairs:.2%}); the worst, {quote(a)} and "
            f"{quote(b)}, says {self.values[0]:.4g} where {self.expected[0]:.4g} is expected"
        )

    def __str__(self) -> str:
        return f"suspicious pairs: {self.summary()}"


@validated_function({"kind": [choice("similarity", "dissimilarity")], "random_state": ["random_state"]})
def suspects(S: ArrayLike, kind: Kind = "similarity", *, ids: Any = None, random_state: Any = 0) -> Suspects:
    """Find pairs whose value disagrees with everything else in the matrix.

    A lost digit, a swapped pair, a wrong unit: such an entry looks like any other number, but the rest of the matrix
    contradicts it. A pair is suspect when the neighbours of its two objects lead one to expect quite another value, far
    beyond what is usual in this matrix, and the triangles over it go with the value expected.

    Parameters
    ----------
    S : array-like of shape (n, n)
        Proximities; NaN is a missing entry and is not judged. Of an asymmetric matrix the mean of both directions is.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        What the numbers are.
    ids : sequence of n names, optional
        Named in the result.
    random_state : int, RandomState instance or None, default=0
        For what is sampled: 256 witnesses, and 3,000 objects of larger matrices.

    Returns
    -------
    Suspects
        The pairs, their values and the values expected. Nothing is changed.

    Notes
    -----
    The rule and its constants are in the user guide, with precision and recall on simulated damage. It finds single
    wrong entries and whole groups of them. It does not find changes that are small against the scatter of the matrix,
    and says nothing of matrices with fewer than 30 objects or with more than half of their entries equal.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.proximity import suspects
    >>> x = np.random.default_rng(0).normal(size=(60, 2))
    >>> D = np.linalg.norm(x[:, None] - x[None], axis=2)
    >>> D[3, 8] = D[8, 3] = 10 * D[3, 8]
    >>> suspects(D, kind="dissimilarity").pairs
    array([[3, 8]])
    """
    A = check_proximity(S, kind=kind, allow_missing=True, accept_sparse=True)
    rng = _generator(random_state)
    objects = np.arange(len(A))
    if len(A) > MAX_OBJECTS:
        objects = np.sort(rng.choice(len(A), MAX_OBJECTS, replace=False))
        A = A[np.ix_(objects, objects)]
    return find_suspects(A, kind, objects=objects, ids=ids, random_state=rng)


def find_suspects(
    A: NDArray[Any], kind: Kind, *, objects: NDArray[Any], ids: Sequence[Any] | None = None, random_state: Any = 0
) -> Suspects:
    """The same for a checked matrix over the `objects` of a larger one; `ids` names all objects of that one."""
    n = len(A)
    if not hasattr(ids, "__len__") and ids is not None:
        raise ProximityError(f"ids must hold one name per object. Got {str(ids)[:40]!r}.")
    if ids is not None and len(ids) <= int(objects.max(initial=-1)):
        raise ProximityError(f"ids must hold one name per object. Got {len(ids)} for {int(objects.max()) + 1} objects.")
    i, j = np.triu_indices(n, 1)
    s = _both_directions(A, i, j)
    empty = np.empty(0)
    nothing = Suspects(np.empty((0, 2), dtype=np.intp), empty, empty, empty, int(np.isfinite(s).sum()), n)
    if n < MIN_OBJECTS:
        return replace(nothing, skipped=f"{n} objects are too few, {MIN_OBJECTS} are needed")
    sign = 1.0 if kind == "dissimilarity" else -1.0
    verdict = judge(sign * s, n, _generator(random_state))
    if verdict is None:
        return replace(nothing, skipped="more than half of the entries are equal or missing")
    order = np.argsort(-verdict.deviations, kind="stable")
    found = verdict.suspects[order]
    pairs = np.stack([objects[i[found]], objects[j[found]]], axis=1)
    return replace(
        nothing,
        pairs=pairs,
        values=s[found],
        expected=sign * verdict.expected[order],
        scores=verdict.deviations[order],
        ids=() if ids is None else tuple((ids[a], ids[b]) for a, b in pairs),
    )


def _both_directions(A: NDArray[Any], i: NDArray[Any], j: NDArray[Any]) -> NDArray[np.float64]:
    """The mean of both directions of each pair, or the one that is known."""
    there, back = A[i, j].astype(np.float64), A[j, i].astype(np.float64)
    mean = (there + back) / 2
    return np.where(np.isnan(mean), np.where(np.isnan(there), back, there), mean)


def _generator(random_state: Any) -> np.random.Generator:
    """NumPy's generator, whatever was given."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31))
