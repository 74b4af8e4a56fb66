"""Omega, the set of possible values: as the user gives it, or as the training values show it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from similis import _kernels
from similis._utils.threads import row_blocks
from similis._utils.validation import show
from similis.exceptions import ProximityError
from similis.solvers import Omega

__all__ = [
    "Distinct",
    "check_domain",
    "check_inside",
    "fold_values",
    "omega_of",
    "public_domain",
    "training_values",
    "with_products",
]

MOST_VALUES = 2**21  # of an empirical domain; a set of more is represented by a share of it


def check_domain(domain: Any) -> Any:
    """Check the `domain` parameter; return a name, a tuple of two ends, or an array of values."""
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
        raise ProximityError(f"domain must hold at least two values. Got only {show(values[0])}.")
    return np.unique(values)


def omega_of(domain: Any, values: Distinct | NDArray[Any]) -> Omega:
    """Omega for a checked `domain`; "empirical" and "continuous" take it from the distinct training `values`."""
    values, share = values if isinstance(values, Distinct) else (values, 1.0)
    if isinstance(domain, str):
        ends = float(values[0]), float(values[-1])
        if domain == "continuous" and ends[0] < ends[1]:
            return Omega(ends)
        return Omega(values, share=share)
    if isinstance(domain, tuple) and np.isinf(domain).any():
        end = domain[0] if np.isfinite(domain[0]) else domain[1]
        return Omega(domain, width=float(np.max(np.abs(values - end))) or None)
    return Omega(domain)


def training_values(domain: Any, S: NDArray[Any]) -> Distinct:
    """The distinct values of a matrix as far as a checked `domain` asks for them: all, or the least and the largest.

    Rows are read a block at a time. Memory holds a block and what is distinct; of more than `MOST_VALUES` a share.
    """
    if not (isinstance(domain, str) and domain == "empirical"):
        return Distinct(np.unique(np.array([S.min(), S.max()])), 1.0)
    found: list[NDArray[Any]] = []
    low, high, halvings = np.inf, -np.inf, 0
    for rows in row_blocks(S.shape[0], S.shape[1]):
        block = S[rows].ravel()
        low, high = min(low, block.min()), max(high, block.max())
        found.append(np.unique(_drawn(block, halvings)))
        while len(found) > 1 and len(found[-1]) >= len(found[-2]) // 2:  # each value is merged a few times only
            found.append(np.union1d(found.pop(), found.pop()))
        if sum(map(len, found)) > MOST_VALUES:
            values, halvings = _thinned(reduce(np.union1d, found[::-1]), halvings)
            found = [values]
    return _with_ends(reduce(np.union1d, found[::-1]), low, high, halvings)


class Distinct(NamedTuple):
    """Distinct values, ascending, the least and the largest among them, and which share of all they are."""

    values: NDArray[Any]
    share: float


def _drawn(values: NDArray[Any], halvings: int) -> NDArray[Any]:
    """The values whose hash ends in so many zeros: the same share of all distinct values, however often they occur."""
    if not halvings:
        return values
    bits = (values.astype(np.float64) + 0.0).view(np.uint64)  # -0.0 is 0.0
    # The finaliser of SplitMix64.
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits ^= bits >> np.uint64(31)
    return values[(bits & np.uint64((1 << halvings) - 1)) == 0]


def _thinned(values: NDArray[Any], halvings: int = 0) -> tuple[NDArray[Any], int]:
    """Halve a set until it is no larger than `MOST_VALUES`: which are left depends on the set alone."""
    while len(values) > MOST_VALUES:
        halvings += 1
        values = _drawn(values, halvings)
    return values, halvings


def _with_ends(values: NDArray[Any], low: Any, high: Any, halvings: int) -> Distinct:
    """The least and the largest value belong to every share."""
    return Distinct(np.union1d(values, [low, high]).astype(values.dtype) if halvings else values, 0.5**halvings)


def with_products(domain: Any, *, same: bool) -> Any:
    """The possible squares (`same`) or products of two values of a given domain; a name stays what it is."""
    if isinstance(domain, str):
        return domain
    with np.errstate(invalid="ignore"):
        products = np.square(domain) if same else np.outer(domain, domain).ravel()
    if not isinstance(domain, tuple):
        return np.unique(products)
    products = np.where(np.isnan(products), 0.0, products)  # 0 times the infinite end
    crosses = same and domain[0] <= 0 <= domain[1]
    return check_domain((0.0 if crosses else products.min(), products.max()))


def check_inside(omega: Omega, values: NDArray[Any], where: Any) -> None:
    """Refuse training `values` outside a given Omega; `where(position)` says in words where the first one stands."""
    slack = 1e-9 * omega.width
    if omega.values is None:
        outside = (values < omega.low - slack) | (values > omega.high + slack)
    else:
        place = np.clip(np.searchsorted(omega.values, values), 1, len(omega.values) - 1)
        nearer = np.minimum(np.abs(omega.values[place - 1] - values), np.abs(omega.values[place] - values))
        outside = nearer > slack
    if outside.any():
        first = np.unravel_index(int(np.argmax(outside)), outside.shape)
        raise ProximityError(
            f"domain must contain every training value. {where(first)} is {show(values[first])}, outside the given "
            "domain. Widen it, or use domain='empirical'."
        )


def fold_values(S: NDArray[Any], test_fold: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.bool_], Distinct]]:
    """For each fold: which objects are tested in it, and the distinct values of `S` among the other objects.

    The entries are sorted once. An entry is lost to a fold that holds its row or its column, so a value is lost to at
    most two folds, whatever their number.
    """
    flat = S.ravel()
    order = np.argsort(flat)
    ranked = flat[order]
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
    lost = np.empty((2, len(starts)), np.intp)
    _kernels.lost_values(order, starts, np.ascontiguousarray(test_fold, dtype=np.intp), lost)
    values = ranked[starts]
    for fold in np.unique(test_fold):
        left = values[(lost[0] != fold) & (lost[1] != fold)]
        some, halvings = _thinned(left)
        yield test_fold == fold, _with_ends(some, left[0], left[-1], halvings)


def public_domain(omegas: list[Omega]) -> Any:
    """What ``domain_`` shows: the values or the two ends; a list of these where statistics differ."""
    shown = {id(omega): omega.values if omega.values is not None else (omega.low, omega.high) for omega in omegas}
    return next(iter(shown.values())) if len(shown) == 1 else [shown[id(omega)] for omega in omegas]
