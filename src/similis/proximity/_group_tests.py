"""Permutation tests of group differences and of the correlation of two matrices; p-values are those of exact sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from html import escape
from math import isqrt, lgamma, log
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import squareform
from sklearn.utils import check_random_state

from similis import _kernels, base
from similis._utils.arrays import Array, Floats, Indices, all_numbers
from similis._utils.linalg import eigen_symmetric, is_symmetric, roundoff, symmetric_part
from similis._utils.threads import map_row_chunks, row_blocks, single_blas_thread
from similis.base import Kind, at_least, check_labels, check_proximity, choice, first_position, validated_function
from similis.exceptions import ProximityError

PERMUTATIONS_PER_PASS = 256  # permutations that read a row of a matrix while it is in the cache
N_PARTS, GATHERED = 64, 2**18  # of a Mantel test: sums over rows, and entries of permuted matrices at a time
SUMMANDS = 512  # entries that the kernels add in the precision of a matrix
SINGLE = (SUMMANDS + 4) * 2.0**-24  # relative error of sums by the kernels in single precision
ROUNDING = 1e-10  # relative difference up to which a permuted statistic counts as equal to the observed one
_MEDIAN_STEPS, _MEDIAN_TOLERANCE = 1000, 1e-9  # Weiszfeld's iteration for a spatial median

Codes = np.ndarray[Any, np.dtype[np.unsignedinteger[Any]]]

_PARAMS: dict[str, Any] = {"permutations": [at_least(0)], "random_state": ["random_state"]}


@dataclass(frozen=True)
class Term:
    """One line of an analysis of variance: degrees of freedom, sum of squares, its share, pseudo-F and p-value."""

    name: str
    df: int
    sum_of_squares: float
    r2: float
    statistic: float | None = None
    p_value: float | None = None


@dataclass(frozen=True)
class PermutationTest:
    """Result of a permutation test; print it, display it in a notebook, or convert it with ``to_dict()``.

    Attributes
    ----------
    name, statistic_name : str
        Names of the test and of its statistic: pseudo-F, F, R or r.
    statistic : float
        Observed statistic.
    p_value : float
        Fraction of all permutations, the observed order included, with a statistic at least as extreme; NaN without
        permutations.
    permutations, n_objects : int
        Numbers of random permutations and of objects.
    n_groups : int or None
        Number of groups; None for the Mantel test.
    r2 : float or None
        Share of the sum of squared dissimilarities that the groups explain (PERMANOVA).
    terms : tuple of Term
        Analysis-of-variance table (PERMANOVA).
    dispersions : dict of str to float
        Mean distance to the center of each group (PERMDISP).
    remarks : tuple of str
        How objects were permuted where that is not free, and other limits of the test.
    """

    name: str
    statistic_name: str
    statistic: float
    p_value: float
    permutations: int
    n_objects: int
    n_groups: int | None = None
    r2: float | None = None
    terms: tuple[Term, ...] = ()
    dispersions: Mapping[str, float] | None = None
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as numbers, strings, lists and dictionaries, ready for JSON; NaN becomes None."""
        return asdict(self) | {"p_value": None if np.isnan(self.p_value) else self.p_value}

    def _lines(self) -> Iterator[tuple[str, str]]:
        yield self.statistic_name, f"{self.statistic:.4g}"
        yield "p-value", f"{self.p_value:.3g} ({self.permutations:,} permutations)"
        if self.r2 is not None:
            yield "explained", f"{self.r2:.1%} of the squared dissimilarity (R2 = {self.r2:.4f})"
        yield "objects", f"{self.n_objects:,}" + (f" in {self.n_groups} groups" if self.n_groups else "")
        for name, value in (self.dispersions or {}).items():
            yield f"dispersion of {name}", f"{value:.4g}"
        if len(self.terms) > 3:
            for term in self.terms:
                tested = "" if term.statistic is None else f", pseudo-F {term.statistic:.4g}, p {term.p_value:.3g}"
                yield f"term {term.name}", f"df {term.df}, R2 {term.r2:.4f}{tested}"
        for remark in self.remarks:
            yield "remark", remark

    def __str__(self) -> str:
        lines = list(self._lines())
        width = max(len(name) for name, _ in lines)
        return "\n".join([self.name, *(f"  {name:<{width}}  {text}" for name, text in lines)])

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in self._lines())
        return f"<table><caption>{escape(self.name)}</caption>{rows}</table>"


@validated_function({**_PARAMS, "sums": [choice("sequential", "marginal")]})
def permanova(
    D: ArrayLike,
    y: Any,
    *,
    permutations: int = 999,
    strata: Any = None,
    covariates: Any = None,
    sums: Literal["sequential", "marginal"] = "sequential",
    random_state: Any = None,
) -> PermutationTest:
    """Test whether groups differ in location: permutational analysis of variance of a dissimilarity matrix.

    Parameters
    ----------
    D : array-like of shape (n, n)
        Dissimilarities of all pairs. They need not be metric or Euclidean.
    y : array-like of shape (n,)
        Group of each object.
    permutations : int, default=999
        Number of random permutations; the smallest possible p-value is 1 / (permutations + 1).
    strata : array-like of shape (n,), optional
        Blocks such as donors or batches: objects are permuted within their block only. If the group is constant within
        every block, the groups of whole blocks are permuted instead, and a remark says so.
    covariates : array-like of shape (n,) or (n, p), or DataFrame, optional
        Variables whose effect is removed before the groups are tested; categories unless numeric.
    sums : {"sequential", "marginal"}, default="sequential"
        Sums of squares of each covariate given the terms before it, or given all others. The groups come last.
    random_state : int, RandomState instance or None, default=None
        Random seed of the permutations.

    Notes
    -----
    With SS_T = sum_{i<j} d_ij^2 / n and SS_W = sum_g sum_{i<j in g} d_ij^2 / n_g, the statistic is
    F = ((SS_T - SS_W) / (G - 1)) / (SS_W / (n - G)) [anderson2001]. It also reacts to differences in dispersion. With
    covariates the sums of squares are traces tr(H A) of projections of the Gower matrix A = -1/2 J D^2 J [mcardle2001],
    and the residuals of the model without the tested term are permuted [freedman1983], or the groups of whole blocks.
    For an asymmetric matrix d_ij^2 is the mean of both directions.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.proximity import permanova
    >>> x = np.r_[np.arange(10.0), 4 + np.arange(10.0)]
    >>> result = permanova(abs(x[:, None] - x), ["a"] * 10 + ["b"] * 10, random_state=0)
    >>> round(result.statistic, 3), round(result.r2, 3), result.p_value < 0.05
    (8.727, 0.327, True)
    """
    A, classes, codes = _check_groups(D, "permanova", y=y, strata=strata, covariates=covariates)
    rng = check_random_state(random_state)
    if covariates is None:
        terms, remarks = _one_way(A, codes, len(classes), permutations, strata, rng)
    else:
        blocks = _covariate_blocks(covariates, len(A))
        blocks["groups"] = np.eye(len(classes))[codes]
        terms, remarks = _several_terms(A, codes, blocks, permutations, strata, sums, rng)
    groups: Any = terms[-3]
    found = groups.statistic, groups.p_value, permutations, len(A), len(classes)
    return PermutationTest("PERMANOVA", "pseudo-F", *found, r2=groups.r2, terms=terms, remarks=remarks)


@validated_function(_PARAMS)
def anosim(
    D: ArrayLike, y: Any, *, permutations: int = 999, strata: Any = None, random_state: Any = None
) -> PermutationTest:
    """Test whether dissimilarities between groups rank higher than those within groups (analysis of similarities).

    R = (mean rank between - mean rank within) / (M / 2), where M is the number of pairs [clarke1993].

    Parameters
    ----------
    D, y, permutations, strata, random_state
        As in :func:`permanova`; NaN is a missing pair, which is left out.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.proximity import anosim
    >>> x = np.r_[np.arange(5.0), 20 + np.arange(5.0)]
    >>> float(anosim(abs(x[:, None] - x), ["a"] * 5 + ["b"] * 5, random_state=0).statistic)
    1.0
    """
    A, classes, codes = _check_groups(D, "anosim", allow_missing=True, y=y, strata=strata)
    ranks, known = map(symmetric_part, _known_entries(_rank(A)))
    n_pairs, total = known.sum() / 2, ranks.sum() / 2
    perms, remarks = _permuted_codes(codes, strata, permutations, check_random_state(random_state))

    def evaluate(ranks: Floats, perms: Codes) -> tuple[Floats, Floats]:
        within = _within_sums(ranks, perms, len(classes)).sum(axis=1)
        if n_pairs < len(A) * (len(A) - 1) / 2:
            count = _within_sums(known, perms, len(classes)).sum(axis=1)
        else:
            sizes = _group_sizes(perms, len(classes), strata)
            count = (sizes * (sizes - 1)).sum(axis=1) / 2
        with np.errstate(invalid="ignore", divide="ignore"):
            R = ((total - within) / (n_pairs - count) - within / count) / (n_pairs / 2)
            return R, SINGLE * within * (1 / (n_pairs - count) + 1 / count) / (n_pairs / 2)

    R = _all_statistics(evaluate, ranks, perms)
    if np.isnan(R[0]):
        raise ProximityError("anosim needs a known pair within a group and one between groups.")
    return PermutationTest("ANOSIM", "R", float(R[0]), _p_value(R), permutations, len(A), len(classes), remarks=remarks)


@validated_function({**_PARAMS, "center": [choice("median", "centroid")]})
def permdisp(
    D: ArrayLike,
    y: Any,
    *,
    center: Literal["median", "centroid"] = "median",
    permutations: int = 999,
    strata: Any = None,
    random_state: Any = None,
) -> PermutationTest:
    """Test whether groups differ in dispersion: compare the distances of the objects to the center of their group.

    The statistic is the F ratio of a one-way analysis of variance of the distances, whose residuals are permuted
    [anderson2006]. Axes with negative eigenvalues count negatively: the distance is sqrt(|a^2 - b^2|), a in the
    positive and b in the negative subspace, each with its own center.

    Parameters
    ----------
    D, y, permutations, strata, random_state
        As in :func:`permanova`.
    center : {"median", "centroid"}, default="median"
        Center of a group: spatial median or mean, in the space of all principal coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.proximity import permdisp
    >>> x = np.r_[np.arange(10.0), 5 * np.arange(10.0)]
    >>> found = permdisp(abs(x[:, None] - x), ["a"] * 10 + ["b"] * 10, random_state=0)
    >>> {name: round(value, 2) for name, value in found.dispersions.items()}
    {'a': 2.5, 'b': 12.5}
    """
    A, classes, codes = _check_groups(D, "permdisp", y=y, strata=strata)
    n, n_groups = len(A), len(classes)
    z = _distances_to_centers(symmetric_part(A**2), codes, center)
    means = np.bincount(codes, z) / np.bincount(codes)
    perms, remarks = _permuted_codes(codes, strata, permutations, check_random_state(random_state))
    # Permuting the residuals keeps differences of the group means out of the reference distribution.
    residuals = z - means[codes]
    between = np.zeros(len(perms))
    for g in range(n_groups):
        members = perms == g
        between += (members @ residuals) ** 2 / members.sum(axis=1)
    between[0] = np.sum((means[codes] - z.mean()) ** 2)
    total = np.full(len(perms), np.sum(residuals**2))
    total[0] += between[0]
    F = _f_ratio(between, total - between, n_groups - 1, n - n_groups)
    widths = {str(name): float(value) for name, value in zip(classes, means, strict=True)}
    counts = permutations, n, n_groups
    return PermutationTest("PERMDISP", "F", float(F[0]), _p_value(F), *counts, dispersions=widths, remarks=remarks)


@validated_function(
    {**_PARAMS, "method": [choice("pearson", "spearman")], "alternative": [choice("two-sided", "greater", "less")]}
)
def mantel(
    A: ArrayLike,
    B: ArrayLike,
    *,
    method: Literal["pearson", "spearman"] = "pearson",
    alternative: Literal["two-sided", "greater", "less"] = "two-sided",
    permutations: int = 999,
    strata: Any = None,
    random_state: Any = None,
) -> PermutationTest:
    """Test the correlation of two matrices over the same objects.

    Parameters
    ----------
    A, B : array-like of shape (n, n)
        Proximity matrices of any kind, objects in the same order; pairs that are NaN in either matrix are left out.
    method : {"pearson", "spearman"}, default="pearson"
        Correlation of the values, or of their ranks.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        Direction of the test.
    permutations, strata, random_state
        As in :func:`permanova`.

    Notes
    -----
    The test of [mantel1967]. The diagonal is left out. Asymmetric matrices are compared over ordered pairs.

    About sqrt(`permutations`) random orders of each matrix are drawn, and all pairs of them are compared, by one matrix
    product. Each pair is a uniform random permutation, any two are independent, and the observed pair takes each place
    among them with equal probability if the matrices are unrelated: the test is exact, and p varies as much as with
    independent permutations.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.proximity import mantel
    >>> D = abs(np.subtract.outer(np.arange(12.0), np.arange(12.0)))
    >>> result = mantel(D, D**2, random_state=0)
    >>> round(result.statistic, 3), result.p_value
    (0.966, 0.001)
    """
    first, second = _check_matrix(A, "mantel", allow_missing=True), _check_matrix(B, "mantel", allow_missing=True)
    if first.shape != second.shape:
        raise ProximityError(f"mantel needs two matrices over the same objects. Got {len(first)} and {len(second)}.")
    n = len(first)
    base.check_label_order(A, B, "B", "A")
    base.check_label_order(A, strata, "strata", "A")
    if method == "spearman":
        first, second = _rank(first), _rank(second)
    orders, pairs, remarks = _product_orders(n, strata, permutations, check_random_state(random_state))
    symmetric = is_symmetric(first) and is_symmetric(second)
    correlate = _known_correlations if np.isnan([first.sum(), second.sum()]).any() else _correlations
    r = np.clip(correlate(first, second, orders, symmetric).ravel()[pairs], -1.0, 1.0)
    if np.isnan(r[0]):
        raise ProximityError("mantel needs two matrices whose values off the diagonal are not all equal.")
    p = _p_value({"two-sided": np.abs(r), "greater": r, "less": -r}[alternative])
    return PermutationTest("Mantel test", "r", float(r[0]), p, permutations, n, remarks=remarks)


def _check_matrix(D: ArrayLike, who: str, *, kind: Kind | None = None, allow_missing: bool = False) -> Floats:
    """Validate a matrix of pairs; the diagonal is not used."""
    A = np.array(check_proximity(D, kind=kind, allow_missing=True), dtype=np.float64)
    np.fill_diagonal(A, 0.0)
    if len(A) < 3:
        raise ProximityError(f"{who} needs at least three objects. Got {len(A)}.")
    if not allow_missing and (missing := np.isnan(A)).any():
        raise ProximityError(
            f"{who} needs the dissimilarities of all pairs. {missing.sum():,} entries are missing, the first at "
            f"{first_position(missing)}. Complete the matrix first (similis.complete_kernel), or leave out objects."
        )
    return A


def _check_groups(D: ArrayLike, who: str, allow_missing: bool = False, **given: Any) -> tuple[Floats, Array, Indices]:
    A = _check_matrix(D, who, kind="dissimilarity", allow_missing=allow_missing)
    for name, values in given.items():
        base.check_label_order(D, values, name, "D")
    classes, codes = check_labels(given["y"], len(A), who=who)
    if len(classes) == len(A):
        raise ProximityError(f"{who} needs a group with at least two objects. Got {len(A)} groups of one object.")
    return A, classes, codes


def _known_entries(A: Floats) -> tuple[Floats, Floats]:
    """Return the entries off the diagonal, with 0 for missing ones, and a matrix that is 1 where they are known."""
    known = (~np.isnan(A)).astype(np.float64)
    np.fill_diagonal(known, 0.0)
    return np.where(known > 0, A, 0.0), known


def _rank(A: Floats) -> Floats:
    """Return the ranks of the known pairs, counted as unordered pairs; missing ones stay NaN."""
    if not np.isnan(A).any() and is_symmetric(A):
        return squareform(_average_ranks(squareform(A, checks=False)))
    ranks, off = A.copy(), ~(np.isnan(A) | np.eye(len(A), dtype=bool))
    ranks[off] = _average_ranks(A[off]) / 2 + 0.25  # each unordered pair occurs twice
    return ranks


def _average_ranks(values: Floats) -> Floats:
    """Return ranks from 1, the mean rank for equal values; the unstable sort is four times as fast as SciPy's."""
    order = np.argsort(values)
    starts = np.flatnonzero(np.diff(values[order], prepend=-np.inf))
    counts = np.diff(starts, append=len(values))
    ranks = np.empty(len(values))
    ranks[order] = np.repeat(starts + (counts + 1) / 2, counts)
    return ranks


def _one_way(
    A: Floats, codes: Indices, n_groups: int, permutations: int, strata: Any, rng: Any
) -> tuple[tuple[Term, ...], tuple[str, ...]]:
    """Test the groups alone [anderson2001]."""
    n, A2 = len(A), symmetric_part(A**2)
    total = A2.sum() / (2 * n)
    unit = 1.0 if 1e-10 < total < 1e30 else total or 1.0  # within the range of single precision
    perms, remarks = _permuted_codes(codes, strata, permutations, rng)

    def evaluate(A2: Floats, perms: Codes) -> tuple[Floats, Floats]:
        within = unit * (_within_sums(A2, perms, n_groups) / _group_sizes(perms, n_groups, strata)).sum(axis=1)
        return within, SINGLE * (within + 1e-20 * total)  # the last: entries below the range of float32

    within = _all_statistics(evaluate, A2 if unit == 1 else A2 / unit, perms)
    F = _f_ratio(total - within, within, n_groups - 1, n - n_groups)
    return (
        _term("groups", n_groups - 1, total - within[0], total, F),
        _term("residual", n - n_groups, within[0], total),
        _term("total", n - 1, total, total),
    ), remarks


def _several_terms(
    A: Floats, codes: Indices, blocks: dict[str, Floats], permutations: int, strata: Any, sums: str, rng: Any
) -> tuple[tuple[Term, ...], tuple[str, ...]]:
    """Test each block of design columns given the blocks before it, or all others [mcardle2001]."""
    n = len(A)
    G = gower(symmetric_part(A**2))
    total = float(np.trace(G))
    constant = np.ones((n, 1)) / np.sqrt(n)
    names, full = list(blocks), _extend(constant, np.hstack(list(blocks.values())))
    df_residual = n - full.shape[1]
    if df_residual < 1:
        raise ProximityError(f"permanova needs more objects than model terms. Got {n} objects, {full.shape[1]} terms.")
    orders, remarks = _permuted(np.arange(n, dtype=np.uint32), strata, permutations, rng)
    terms = []
    for at, name in enumerate(names):
        others = names[:at] if sums == "sequential" else names[:at] + names[at + 1 :]
        reduced = _extend(constant, np.hstack([blocks[o] for o in others])) if others else constant
        own = _extend(reduced, blocks[name])[:, reduced.shape[1] :]
        if not own.shape[1]:
            raise ProximityError(f"permanova cannot test {name!r}: the other terms determine it.")
        if name == "groups" and _whole_blocks(codes, strata) is not None:
            # The covariates of the reduced model stay.
            perms, remarks = _permuted_codes(codes, strata, permutations, rng)
            designs = (_extend(reduced, np.eye(codes.max() + 1)[p])[:, reduced.shape[1] :] for p in perms)
            explained = np.array([np.sum(X * (G @ X)) for X in designs])
            residual = float(np.trace(G) - np.sum(reduced * (G @ reduced))) - explained
        else:
            # [freedman1983]: permute the residuals of the reduced model. Its fitted part is orthogonal to both
            # projections below and drops out.
            M = G - reduced @ (reduced.T @ G)
            M -= (M @ reduced) @ reduced.T
            explained = _traces(M, own, orders)
            residual = float(np.trace(M)) - _traces(M, full, orders)
        F = _f_ratio(explained, residual, own.shape[1], df_residual)
        terms.append(_term(name, own.shape[1], explained[0], total, F))
    terms += [_term("residual", df_residual, residual[0], total), _term("total", n - 1, total, total)]
    return tuple(terms), remarks


def _term(name: str, df: int, square: float, total: float, F: Floats | None = None) -> Term:
    """Make one line of the analysis of variance; F holds the observed statistic first, then the permuted ones."""
    tested: tuple[Any, ...] = () if F is None else (float(F[0]), _p_value(F))
    return Term(name, df, float(square), float(square / total) if total > 0 else 0.0, *tested)


def _f_ratio(between: Floats, within: Floats, df_between: int, df_within: int) -> Floats:
    """Return F; identical objects within all groups give inf, and a matrix of zeros gives 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        F = (between / df_between) / (np.maximum(within, 0.0) / df_within)
    return np.where(np.isnan(F), 0.0, F)


def _p_value(statistics: Floats) -> float:
    """Return the fraction of statistics at least as large as the first, the observed one; NaN for one alone."""
    observed = statistics[0]
    bound = observed - ROUNDING * abs(observed) if np.isfinite(observed) else observed
    return float((statistics >= bound).mean()) if len(statistics) > 1 else float("nan")


def _all_statistics(evaluate: Callable[[Floats, Codes], tuple[Floats, Floats]], A: Floats, perms: Codes) -> Floats:
    """Return the statistics of all permutations; ``evaluate(A, perms)`` gives them and bounds of their errors."""
    # In single precision, and again in double where they may equal the observed one.
    statistics, error = evaluate(A.astype(np.float32), perms)
    observed = abs(statistics[0])
    with np.errstate(invalid="ignore"):
        # Of a two-sided test the absolute values are compared. A statistic that is not defined is evaluated again.
        near = ~(np.abs(np.abs(statistics) - observed) > error + error[0] + ROUNDING * observed)
    statistics[near] = evaluate(A, perms[near])[0]
    return statistics


def _group_sizes(perms: Codes, n_groups: int, strata: Any) -> Indices:
    """Return the number of objects per group for each row of codes, which may differ where blocks are permuted."""
    some = perms[:1] if strata is None else perms
    return np.stack([np.count_nonzero(some == g, axis=1) for g in range(n_groups)], axis=1)


def _within_sums(A: Floats, perms: Codes, n_groups: int) -> Floats:
    """Return the sum of the entries of the symmetric A within each group, for each row of codes; a pair counts once."""
    W = np.empty((len(perms), n_groups))

    def work(rows: slice) -> None:
        for first in range(rows.start, rows.stop, PERMUTATIONS_PER_PASS):
            some = slice(first, min(first + PERMUTATIONS_PER_PASS, rows.stop))
            codes = np.ascontiguousarray(perms[some].T)
            _kernels.group_sums(A, codes, np.empty(codes.shape[1], A.dtype), W[some])

    map_row_chunks(work, len(perms), n_jobs=-1)
    return W


def _traces(M: Floats, Q: Floats, orders: Codes) -> Floats:
    """Return tr(Q' P M P' Q) for the permutation P of each row of `orders`."""
    n, k = Q.shape
    traces = np.empty(len(orders))
    for rows in row_blocks(len(orders), n * k):
        X = Q[orders[rows]].transpose(1, 0, 2).reshape(n, -1)
        traces[rows] = (X * (M @ X)).sum(axis=0).reshape(-1, k).sum(axis=1)
    return traces


def _correlations(A: Floats, B: Floats, orders: tuple[Codes, Codes], symmetric: bool) -> Floats:
    """Return the correlations off the diagonal of A in each of the first orders with B in each of the others."""
    A, B = _standardized(A), _standardized(B)
    if not (A.any() and B.any()):
        return np.full([len(some) for some in orders], np.nan)
    return _products(A, B, orders, symmetric)


def _known_correlations(A: Floats, B: Floats, orders: tuple[Codes, Codes], symmetric: bool) -> Floats:
    """Return the correlations over the pairs known in both matrices, which differ between the orders."""
    (A, in_A), (B, in_B) = (_centered(*_known_entries(X)) for X in (A, B))
    count, a, b, aa, bb, ab = (
        _products(X, Y, orders, symmetric)
        for X, Y in [(in_A, in_B), (A, in_B), (in_A, B), (A**2, in_B), (in_A, B**2), (A, B)]
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        variances = [
            np.where(square > 1e-14 * count, square, np.nan) for square in (aa - a**2 / count, bb - b**2 / count)
        ]
        return (ab - a * b / count) / np.sqrt(variances[0] * variances[1])


def _centered(A: Floats, known: Floats) -> tuple[Floats, Floats]:
    """Subtract the mean of the known entries and divide by the largest, so that sums of squares keep their digits."""
    A = (A - A.sum() / known.sum()) * known if known.any() else A
    return A / (np.abs(A).max() or 1.0), known


def _standardized(A: Floats) -> Floats:
    """Return A with mean 0 off the diagonal and norm 1; zeros where all entries are equal."""
    n, mean = len(A), A.sum() / (len(A) * (len(A) - 1))
    centered = A - mean
    np.fill_diagonal(centered, 0.0)
    norm = float(np.linalg.norm(centered))
    centered *= 1 / norm if norm > 1e-12 * n * abs(mean) else 0.0
    return centered


def _products(A: Floats, B: Floats, orders: tuple[Codes, Codes], symmetric: bool) -> Floats:
    """Return the sums of products of A in each of the first orders and B in each of the others; diagonals are zero."""
    (u, v), n = map(len, orders), len(A)
    edges = (n * np.linspace(0, 1, N_PARTS + 1) ** (1 / (1 + symmetric))).astype(int)  # parts of equal work
    parts = np.zeros((N_PARTS, u, v))

    def work(some: slice) -> None:
        rows = max(1, GATHERED // (n * (u + v)))
        left, right = (np.empty((len(kind), rows * n)) for kind in orders)
        for at in range(some.start, some.stop):
            for first in range(edges[at], edges[at + 1], rows):
                ends = first, min(first + rows, edges[at + 1]), symmetric
                m = _kernels.permuted_rows(A, orders[0], *ends, left)
                _kernels.permuted_rows(B, orders[1], *ends, right)
                parts[at] += left[:, :m] @ right[:, :m].T

    with single_blas_thread():
        map_row_chunks(work, N_PARTS, n_jobs=-1)
    return (1 + symmetric) * parts.sum(axis=0)


def _product_orders(
    n: int, strata: Any, permutations: int, rng: Any
) -> tuple[tuple[Codes, Codes], Indices, tuple[str, ...]]:
    """Return orders of two matrices, the pairs of them (flat indices) that make the permutations, and remarks.

    The first pair is the observed one. The others are a random choice where there are more than needed.
    """
    v = isqrt(permutations) + 1
    u = -(-(permutations + 1) // v)
    drawn, remarks = _permuted(np.arange(n, dtype=np.uint32), strata, permutations, rng, n_drawn=u + v - 2)
    pairs = np.append(0, 1 + rng.permutation(u * v - 1)[:permutations])
    return (drawn[:u], np.concatenate([drawn[:1], drawn[u:]])), pairs, remarks


def _permuted_codes(codes: Indices, strata: Any, permutations: int, rng: Any) -> tuple[Codes, tuple[str, ...]]:
    """Return the codes in observed order, then in random orders, and remarks about the permutations."""
    short = codes.astype(np.min_scalar_type(codes.max()))
    blocks = _whole_blocks(codes, strata)
    if blocks is None:
        return _permuted(short, strata, permutations, rng)
    _, first = np.unique(blocks, return_index=True)
    perms, few = _permuted(short[first], None, permutations, rng)
    how = f"groups are constant within the {len(first)} blocks, so whole blocks were permuted"
    return perms[:, blocks], (how, *few)


def _block_codes(strata: Any, n: int) -> Indices:
    """Return codes of the blocks of objects; one block without strata."""
    return np.zeros(n, np.intp) if strata is None else check_labels(strata, n, who="strata", min_classes=1)[1]


def _whole_blocks(codes: Indices, strata: Any) -> Indices | None:
    """Return codes of the blocks if groups are constant within all of several blocks, else None."""
    blocks = _block_codes(strata, len(codes))
    n_blocks = blocks.max() + 1
    return blocks if n_blocks > 1 and np.unique([blocks, codes], axis=1).shape[1] == n_blocks else None


def _permuted(
    values: Codes, strata: Any, permutations: int, rng: Any, n_drawn: int | None = None
) -> tuple[Codes, tuple[str, ...]]:
    """Return the values in observed order, then in random orders, within blocks if given, and remarks about them."""
    n_drawn = permutations if n_drawn is None else n_drawn
    blocks = _block_codes(strata, len(values))
    members = [np.flatnonzero(blocks == b) for b in range(blocks.max() + 1)]
    perms = np.tile(values, (n_drawn + 1, 1))
    for rows in row_blocks(n_drawn, len(values)):
        for block in members:
            uniform = rng.random_sample((rows.stop - rows.start, len(block)))
            _kernels.shuffle_rows(perms[1:][rows], block, uniform)
    log_count = sum(lgamma(len(block) + 1) - sum(map(lgamma, np.bincount(values[block]) + 1)) for block in members)
    remarks = [f"objects were permuted within {len(members)} blocks"] if len(members) > 1 else []
    if permutations and log_count < log(permutations + 1) - 1e-9:
        count = round(np.exp(log_count))
        remarks.append(f"only {count} different permutations exist, so p cannot be below {1 / count:.2g}")
    return perms, tuple(remarks)


def gower(A2: Floats) -> Floats:
    """Return the doubly centered matrix -1/2 J A2 J."""
    G = A2 - A2.mean(axis=0) - A2.mean(axis=1)[:, None] + A2.mean()
    return -G / 2


def _extend(Q: Floats, X: Floats) -> Floats:
    """Extend the orthonormal columns Q by an orthonormal basis of what X adds to their span."""
    X = X - X.mean(axis=0)
    scale = np.linalg.norm(X, axis=0)
    X = X[:, scale > 0] / scale[scale > 0]
    for _ in range(2):  # twice is enough for orthogonality in floating point
        X = X - Q @ (Q.T @ X)
    if not X.shape[1]:
        return Q
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    return np.hstack([Q, U[:, s > 1e-8]])


def _covariate_blocks(covariates: Any, n: int) -> dict[str, Floats]:
    """Return the design columns of each covariate: its values, or one indicator per category."""
    if hasattr(covariates, "columns"):
        columns = {str(name): covariates[name] for name in covariates.columns}
    else:
        table: Array = np.asanyarray(covariates, dtype=None if hasattr(covariates, "dtype") else object)
        if table.ndim not in (1, 2):
            raise ProximityError(f"covariates must have one or two dimensions. Got shape {table.shape}.")
        columns = {f"covariate {j}": column for j, column in enumerate(np.atleast_2d(table.T))}
    blocks: dict[str, Floats] = {}
    for name, column in columns.items():
        values = np.asarray(column)
        if len(values) != n:
            raise ProximityError(f"covariates must have one row per object. Got {len(values)} rows for {n} objects.")
        missing = base.missing_entries(column).any()
        if values.dtype == object:
            values = values.astype(np.float64 if all_numbers(values) and not missing else str)
        if missing or (values.dtype.kind == "f" and not np.isfinite(values).all()):
            raise ProximityError(f"covariates must be known for every object. {name!r} has missing values.")
        if values.dtype.kind in "iuf":
            blocks[name] = values.astype(np.float64)[:, None]
        else:
            labels, codes = check_labels(values, n, who=name, min_classes=1)
            blocks[name] = np.eye(len(labels))[codes]
    if "groups" in blocks:
        raise ProximityError("covariates has a column named 'groups', which is the name of the tested term; rename it.")
    return blocks


def _distances_to_centers(A2: Floats, codes: Indices, center: str) -> Floats:
    """Return the distance of each object to the center of its group [anderson2006]."""
    z2 = np.empty(len(A2))
    groups = [np.flatnonzero(codes == g) for g in range(codes.max() + 1)]
    if center == "centroid":
        for own in groups:
            block = A2[np.ix_(own, own)]
            z2[own] = block.mean(axis=1) - block.mean() / 2
    else:
        system = eigen_symmetric(gower(A2))
        keep = np.abs(system.values) > system.tolerance
        X = system.vectors[:, keep] * np.sqrt(np.abs(system.values[keep]))
        positive = system.values[keep] > 0
        for own in groups:
            z2[own] = _squares_to_median(X[own][:, positive]) - _squares_to_median(X[own][:, ~positive])
    z2[np.abs(z2) <= roundoff(len(A2), A2.max(), np.float64)] = 0.0
    return np.sqrt(np.abs(z2))


def _squares_to_median(X: Floats) -> Floats:
    """Squared distances k_ii - 2 (K w)_i + w'K w of the rows of X to their spatial median w'X, by Weiszfeld."""
    X = X - X.mean(axis=0)
    K = X @ X.T
    squares = own = np.diag(K)
    size = np.sqrt(own.mean())
    w = np.full(len(X), 1 / len(X))
    for _ in range(_MEDIAN_STEPS if len(X) > 2 and size > 0 else 0):
        new = 1 / np.maximum(np.sqrt(squares), 1e-9 * size)
        new /= new.sum()
        step, w = new - w, new
        Kw = K @ w
        squares = np.maximum(own - 2 * Kw + w @ Kw, 0.0)
        if step @ K @ step <= (_MEDIAN_TOLERANCE * size) ** 2:
            break
    return squares
