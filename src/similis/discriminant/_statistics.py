"""Descriptive statistics T(x) of an object, read from its row of proximities. [cazzanti2007] sec. 3.2.1, 3.3."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature
from itertools import combinations, permutations
from typing import Any, NamedTuple

import numpy as np

from similis import _kernels
from similis._utils.arrays import Array, Floats, Indices, Mask
from similis._utils.threads import row_blocks
from similis.base import FittedArrays, first_position, fitted_indices, fitted_reals, quote, storable
from similis.exceptions import ProximityError
from similis.solvers import Omega

MOST_VALUES = 2**21  # of an empirical domain; a larger set is represented by a sample


def check_domain(domain: Any) -> Any:
    """Validate the `domain` parameter; return a name, a tuple of two ends, or an array of values."""
    if isinstance(domain, str):
        return domain
    try:
        values = np.asarray(domain, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        values = np.array([np.nan])
    if np.isnan(values).any() or values.size == 0:
        raise ProximityError("domain must be 'empirical', 'continuous', an array of numbers or a tuple (low, high).")
    if isinstance(domain, tuple):
        if values.size != 2 or not values[0] < values[1] or np.isinf(values).all():
            raise ProximityError(
                f"domain as a tuple must be (low, high) with low < high, at most one of them infinite. Got {domain}. "
                "A finite set of values is a list or an array."
            )
        return float(values[0]), float(values[1])
    if np.isinf(values).any():
        raise ProximityError("domain as an array must hold finite values; a half-line is a tuple such as (0, inf).")
    if len(np.unique(values)) == 1:
        raise ProximityError(f"domain must hold at least two values. Got only {quote(values[0])}.")
    return np.unique(values)


def omega_of(domain: Any, values: Distinct | Array) -> Omega:
    """Omega for a validated `domain`; "empirical" and "continuous" take it from the distinct training `values`."""
    values, share = values if isinstance(values, Distinct) else (values, 1.0)
    if isinstance(domain, str):
        interval = domain == "continuous" and values[0] < values[-1]
        return Omega((float(values[0]), float(values[-1]))) if interval else Omega(values, share=share)
    if isinstance(domain, tuple) and np.isinf(domain).any():
        end = domain[0] if np.isfinite(domain[0]) else domain[1]
        return Omega(domain, width=float(np.max(np.abs(values - end))) or None)
    return Omega(domain)


def training_values(domain: Any, S: Array) -> Distinct:
    """Distinct values of a matrix that a validated `domain` needs: all, or the least and the largest."""
    if not isinstance(domain, str) or domain != "empirical":
        return Distinct(np.unique(np.array([S.min(), S.max()])), 1.0)
    values, low, high, halvings = np.empty(0, S.dtype), np.inf, -np.inf, 0
    for rows in row_blocks(*S.shape):
        block = S[rows].ravel()
        low, high = min(low, block.min()), max(high, block.max())
        values, halvings = _halve(np.union1d(values, _sample(block, halvings)), halvings)
    return _with_ends(values, halvings, low, high)


class Distinct(NamedTuple):
    """Distinct values, ascending, including the least and the largest, and their fraction of all values."""

    values: Array
    share: float


def _sample(values: Array, halvings: int) -> Array:
    """Values whose hash ends in `halvings` zero bits: a sample that does not depend on their frequency."""
    if not halvings:
        return values
    bits = (values.astype(np.float64) + 0.0).view(np.uint64)  # -0.0 is 0.0
    # The finalizer of SplitMix64.
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return values[(bits & np.uint64((1 << halvings) - 1)) == 0]


def _halve(values: Array, halvings: int = 0) -> tuple[Array, int]:
    """Halve a set until it has at most `MOST_VALUES` values; the result depends on the set only."""
    while len(values) > MOST_VALUES:
        halvings += 1
        values = _sample(values, halvings)
    return values, halvings


def _with_ends(values: Array, halvings: int, low: Any, high: Any) -> Distinct:
    """Add the least and the largest value."""
    return Distinct(np.union1d(values, [low, high]).astype(values.dtype) if halvings else values, 0.5**halvings)


def with_products(domain: Any, *, same: bool) -> Any:
    """Possible squares (`same`) or products of two values of a given domain; a name is returned unchanged."""
    if isinstance(domain, str):
        return domain
    with np.errstate(invalid="ignore"):
        products = np.square(domain) if same else np.outer(domain, domain).ravel()
    if not isinstance(domain, tuple):
        return np.unique(products)
    products = np.where(np.isnan(products), 0.0, products)  # 0 times the infinite end
    crosses = same and domain[0] <= 0 <= domain[1]
    return check_domain((0.0 if crosses else products.min(), products.max()))


def check_inside(omega: Omega, values: Array, where: Any) -> None:
    """Raise an error for training `values` outside a given Omega; `where(position)` describes the first one."""
    slack = 1e-9 * omega.width
    if omega.values is None:
        outside = (values < omega.low - slack) | (values > omega.high + slack)
    else:
        place = np.clip(np.searchsorted(omega.values, values), 1, len(omega.values) - 1)
        outside = np.abs(omega.values[[place - 1, place]] - values).min(axis=0) > slack
    if outside.any():
        first = np.unravel_index(int(np.argmax(outside)), outside.shape)
        raise ProximityError(
            f"domain must contain every training value. {where(first)} is {quote(values[first])}, outside the given "
            "domain. Widen it, or use domain='empirical'."
        )


def fold_values(S: Array, test_fold: Indices) -> Iterator[tuple[Mask, Distinct]]:
    """Mask of the test objects of each fold, and the distinct values of `S` among the other objects."""
    # An entry is missing from the training part of the folds of its row and its column, so that a value can be absent
    # from at most two training parts.
    order = np.argsort(S, axis=None)
    ranked = S.ravel()[order]
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
    lost = np.empty((2, len(starts)), np.intp)
    _kernels.lost_values(order, starts, np.ascontiguousarray(test_fold, dtype=np.intp), lost)
    values = ranked[starts]
    for fold in np.unique(test_fold):
        left = values[(lost[0] != fold) & (lost[1] != fold)]
        yield test_fold == fold, _with_ends(*_halve(left), left[0], left[-1])


def fold_options(S: Array, test_fold: Indices) -> Iterator[dict[str, Any]]:
    """Distinct values outside each fold, of each slice of `S`, as the option ``values`` of ``path_scores``."""
    for folds in zip(*(fold_values(block, test_fold) for block in slices(S))):
        yield {"values": [values for _, values in folds]}


def slices(S: Array) -> list[Array]:
    """The matrices of a stack, or the only one."""
    return [S] if S.ndim == 2 else [S[:, :, q] for q in range(S.shape[2])]


def public_domain(omegas: list[Omega]) -> Any:
    """Value of ``domain_``: the values or the two ends of Omega; a list of these if statistics differ."""
    shown = {id(omega): omega.values if omega.values is not None else (omega.low, omega.high) for omega in omegas}
    return next(iter(shown.values())) if len(shown) == 1 else [shown[id(omega)] for omega in omegas]


NAMES = ("centroid", "nearest", "total", "rows", "quadratic", "centered-squares", "cross-squares")
_OF_CENTROIDS = ("centroid", "quadratic", "centered-squares", "cross-squares")


def as_list(statistic: Any) -> list[Any]:
    """The `statistic` parameter as a list of names and functions."""
    chosen = list(statistic) if isinstance(statistic, list | tuple) else [statistic]
    if not chosen:
        raise ProximityError("statistic must name at least one statistic. Got an empty list.")
    for one in chosen:
        if not callable(one) and one not in NAMES:
            raise ProximityError(f"statistic must be one of {NAMES}, a function, or a list of these. Got {quote(one)}.")
    return chosen


@storable
@dataclass(eq=False)
class Statistics(FittedArrays):
    """Statistics of a row, `chosen` names and functions, with what they need of the training objects."""

    fitted_arrays = {
        "centroids": fitted_indices("q", "G"),
        "codes": fitted_indices("N", below="G"),
        "means": fitted_reals("q", "G", optional=True),  # models of 1.0 have none
    }

    chosen: list[Any]
    centroids: Indices  # (q, G), of each class under each of the q proximities, as the means
    labels: Array
    codes: Indices
    sign: int
    means: Floats

    @property
    def few(self) -> bool:
        """True if all statistics depend on the columns of the centroids only."""
        return all(isinstance(one, str) and one in _OF_CENTROIDS for one in self.chosen)

    def sources(self, widths: list[int]) -> list[tuple[str, int]]:
        """Type of each column of T, "value" (of the matrix), "product", "square" or "own", and its slice."""
        n_slices, G = self.centroids.shape
        found: list[tuple[str, int]] = []
        for one, width in zip(self.chosen, widths):
            n_columns = width // n_slices
            kinds = ["value" if one in ("centroid", "nearest", "rows") else "own"] * n_columns
            if one == "quadratic":
                kinds = ["value"] * G + ["product"] * (n_columns - 2 * G) + ["square"] * G
            found += [("own", 0)] * width if callable(one) else [(kind, q) for q in range(n_slices) for kind in kinds]
        return found

    def names(self, widths: list[int], classes: Array) -> list[str]:
        """Axis label of each column of T."""
        found: list[str] = []
        of_slice = [""] if len(self.centroids) == 1 else [f", slice {q}" for q in range(len(self.centroids))]
        pairs = [f"s(x, {a}) s(x, {b})" for a, b in combinations(classes, 2)]
        named = {
            "centroid": [f"s(x, centroid of {g})" for g in classes],
            "nearest": [f"s(x, nearest of {g})" for g in classes],
            "total": [f"summed s(x, z) over {g}" for g in classes],
            "rows": [f"s(x, object {i})" for i in range(len(self.codes))],
            "centered-squares": [f"(s(x, {g}) - mean of {g})²" for g in classes],
            "cross-squares": [f"(s(x, {h}) - mean of {g})²" for h, g in permutations(classes, 2)],
            "quadratic": [f"s(x, {g})" for g in classes] + pairs + [f"s(x, {g})²" for g in classes],
        }
        for one, width in zip(self.chosen, widths):
            if isinstance(one, str):
                found += [name + where for where in of_slice for name in named[one]]
            else:
                found += [f"{getattr(one, '__name__', 'statistic')} {i}" for i in range(width)]
        return found

    def __call__(self, rows: Array, *, training: bool = False) -> tuple[Floats, list[int]]:
        """T of each row, (m, M), and the number of columns of each statistic; NaN where there is no other neighbor."""

        def of_slice(one: str, block: Array, q: int) -> Floats:  # in blocks of rows, so that it can stay on disk
            return np.vstack([self._of_block(one, block[r], q, training, r.start) for r in row_blocks(*block.shape)])

        parts = [
            self._users(one, rows)
            if callable(one)
            else np.hstack([of_slice(one, block, q) for q, block in enumerate(slices(rows))])
            for one in self.chosen
        ]
        return np.hstack(parts), [part.shape[1] for part in parts]

    def _of_block(self, one: str, block: Array, q: int, training: bool, first: int) -> Floats:
        """One statistic of some rows, `first` the number of the first one, under proximity q."""
        G = self.centroids.shape[1]
        if one == "rows":  # [cazzanti2007] Eq. (3.31) -> s(x, z_i) for every training object
            return block.astype(np.float64)
        if one == "total":  # [cazzanti2007] sec. 3.2.1 -> sum_{z in X_h} s(x, z)
            return block.astype(np.float64) @ (self.codes[:, None] == np.arange(G))
        if one == "nearest":
            # [cazzanti2007] Eq. (3.12)-(3.13) -> max_{z in X_h} s(x, z), without the object itself in training
            ranked = self.sign * block.astype(np.float64)
            if training:
                np.fill_diagonal(ranked[:, first:], -np.inf)
            best = np.stack([ranked[:, self.codes == h].max(axis=1) for h in range(G)], axis=1)
            return np.where(np.isneginf(best), np.nan, self.sign * best)
        places = self.centroids[q]
        if self.few and not training:  # the rows hold the columns of the centroids only
            places = q * G + np.arange(G)
        s = block[:, places].astype(np.float64)  # [cazzanti2007] sec. 3.1 -> s(x, mu_h)
        if one == "centroid":
            return s
        if one == "centered-squares":  # [cazzanti2007] sec. 3.2.1 -> (s(x, mu_h) - E[s(X, mu_h)])^2, X of class h
            return np.square(s - self.means[q])
        pairs = (permutations if one == "cross-squares" else combinations)(range(G), 2)
        h, g = np.array(list(pairs), dtype=np.intp).reshape(-1, 2).T
        if one == "cross-squares":  # [cazzanti2007] sec. 3.2.1 -> (s(x, mu_h) - E[s(X, mu_g)])^2, X of another class g
            return np.square(s[:, h] - self.means[q][g])
        return np.hstack([s, s[:, h] * s[:, g], s**2])  # [cazzanti2007] Eq. (3.27) -> s_h, s_h s_g, s_h^2

    def _users(self, function: Any, rows: Array) -> Floats:
        name = getattr(function, "__name__", type(function).__name__)
        try:
            found = np.asarray(function(rows, self.labels) if _takes_labels(function) else function(rows))
        except Exception as error:
            raise ProximityError(f"The statistic {name} failed: {' '.join(str(error).split())[:150]}.") from error
        answer = found[:, None] if found.ndim == 1 else found
        if answer.ndim != 2 or len(answer) != len(rows) or answer.shape[1] == 0 or answer.dtype.kind not in "buif":
            raise ProximityError(
                f"statistic {name} must return numbers, one row per object: shape ({len(rows)},) or ({len(rows)}, M). "
                f"Got {found.dtype} of shape {found.shape}."
            )
        wrong = ~np.isfinite(answer)
        if wrong.any():
            where = f"{quote(answer[wrong][0])} in {first_position(wrong)}"
            raise ProximityError(f"statistic {name} must return finite numbers. Got {where}.")
        return answer.astype(np.float64)


def _takes_labels(function: Any) -> bool:
    """True if a user's function takes a second argument."""
    try:
        signature(function).bind(None, None)
    except (TypeError, ValueError):  # it does not, or has no signature
        return False
    return True
