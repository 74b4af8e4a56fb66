"""Diagnosis of a proximity matrix: findings about entries, spectrum, triangles, distances and classes, and advice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from hashlib import blake2b
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.utils import check_random_state

from similis._utils.arrays import Array, Floats, Indices
from similis._utils.linalg import asymmetry, eigen_symmetric, symmetric_part
from similis.base import Kind, check_label_order, check_labels, check_proximity, choice, quote, validated_function
from similis.exceptions import ProximityError
from similis.proximity._group_tests import PermutationTest, anosim, gower, permanova, permdisp
from similis.proximity._suspects import Suspects, find_suspects
from similis.solvers import top_k

ALL_TRIANGLES = 500  # largest number of objects for which all triangles are checked
SAMPLED_TRIANGLES = 4_000_000  # triangles sampled from larger matrices
DISCRETE = 0.05  # a scale is discrete if it has fewer distinct values than this fraction of the entries
SPARSE = 0.5  # fraction of zeros above which a matrix counts as sparse
SMALL_MASS = 0.02  # fraction of the spectrum up to which negative eigenvalues count as noise
# Largest skewness and excess kurtosis of nearly normal distances. L_0.5 distances between sonar returns, which
# [pekalska2000] sec. 4.5 finds not normal enough, have a skewness of 0.47, Euclidean ones of 0.12.
NEAR_NORMAL = 0.25, 1.0
SAMPLING = 10.0, 20.0  # divided by n they are two standard deviations of these moments of n objects
FEWEST = 8  # objects of a class for the moments of its columns
SAMPLE = 3000  # larger matrices are diagnosed on a random sample of this many objects
SUSPECT_SAMPLE = 600  # suspicious pairs are searched among this many objects; suspects(S) searches all


@dataclass(frozen=True)
class EntryFacts:
    """Findings about single entries; `asymmetry` is ||S - S'|| / (2 ||S||).

    `self_maximal` is the fraction of objects at least as similar to themselves as to any other, and `n_duplicates` the
    number of those whose row and column equal those of an earlier object.
    """

    n_missing: int
    missing: float
    symmetric: bool
    asymmetry: float
    zeros: float
    n_distinct: int
    discrete: bool
    self_maximal: float
    n_duplicates: int
    low: float
    high: float


@dataclass(frozen=True)
class SpectrumFacts:
    """Eigenvalues of the similarities, or of the Gram matrix -1/2 J D^2 J of dissimilarities.

    `negative_mass` is the share of the negative ones in the sum of magnitudes; `definite` is True if there are none.
    """

    definite: bool
    n_negative: int
    negative_mass: float
    smallest: float
    largest: float
    rank: int


@dataclass(frozen=True)
class TriangleFacts:
    """Fraction of violated triangles, d(i, j) > d(i, k) + d(k, j), among all or sampled triples; worst excess."""

    n_triples: int
    violated: float
    worst: float
    sampled: bool


@dataclass(frozen=True)
class DistanceFacts:
    """Shape of the distribution, skewness after the best Box-Cox power, and skewness of neighbor counts (hubness)."""

    skewness: float
    kurtosis: float
    power: float
    skewness_after: float
    hubness: float


@dataclass(frozen=True)
class ClassFacts:
    """Class sizes, mean proximities within and between classes, leave-one-out error of the nearest neighbor, and tests.

    `location` (:func:`~similis.proximity.permanova`; :func:`~similis.proximity.anosim` if entries are missing) and
    `dispersion` (:func:`~similis.proximity.permdisp` around centroids) test whether the classes differ; None where that
    is not possible. `skewness` and `kurtosis` of a class are medians over the columns, the dissimilarities to one
    object (bias-corrected; NaN for fewer than 8 objects). Values near zero make `near_normal` True, the assumption of
    the normal-based classifiers on rows, [pekalska2000] sec. 2.1.
    """

    names: tuple[str, ...]
    counts: tuple[int, ...]
    within: float
    between: float
    neighbour_error: float
    location: PermutationTest | None = None
    dispersion: PermutationTest | None = None
    skewness: tuple[float, ...] = ()
    kurtosis: tuple[float, ...] = ()

    @property
    def near_normal(self) -> bool | None:
        """Near-normal columns in every class; None if no class is large enough."""
        found = [m for m in zip(self.counts, self.skewness, self.kurtosis) if m[1] == m[1]]
        return all(_is_near_normal(s, k, n) for n, s, k in found) if found else None


@dataclass(frozen=True)
class Advice:
    """Recommended action, the finding that supports it with its number, and its source, as ``[key] place`` or empty."""

    text: str
    reason: str
    paper: str = ""

    def __str__(self) -> str:
        return f"{self.text} ({self.reason}). {self.paper}".rstrip()


@dataclass(frozen=True)
class Diagnosis:
    """Findings about one matrix; print it, display it in a notebook, or convert it with ``to_dict()``.

    Attributes
    ----------
    n, n_sampled : int
        Number of objects, and of those sampled if n is large.
    kind : {"similarity", "dissimilarity"}
        Kind of the proximities.
    entries : EntryFacts
        Missing entries, symmetry, zeros, distinct values, duplicates, self-similarity.
    spectrum : SpectrumFacts or None
        Eigenvalues; None if entries are missing.
    triangles : TriangleFacts
        Violations of the triangle inequality.
    distances : DistanceFacts
        Shape of the distribution of the dissimilarities, hubness.
    classes : ClassFacts or None
        Balance and separation; None without labels.
    suspects : Suspects
        Pairs whose value is inconsistent with the rest of the matrix.
    advice : tuple of Advice
        Recommendations, each with its reason and source.
    """

    n: int
    kind: Kind
    n_sampled: int
    entries: EntryFacts
    spectrum: SpectrumFacts | None
    triangles: TriangleFacts
    distances: DistanceFacts
    classes: ClassFacts | None
    suspects: Suspects
    advice: tuple[Advice, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all findings as numbers, strings, lists and dictionaries, ready for JSON."""
        return _to_builtin(asdict(self))

    def rows(self) -> list[tuple[str, str]]:
        """Return the findings as pairs of name and text."""
        return list(self._rows())

    def _rows(self) -> Iterator[tuple[str, str]]:
        e, t, d = self.entries, self.triangles, self.distances
        sample = "" if self.n_sampled == self.n else f"; findings from a random sample of {self.n_sampled}"
        yield "objects", f"{self.n}{sample}"
        scale = "a discrete scale" if e.discrete else "a continuous scale"
        yield self.kind, f"{e.low:.4g} to {e.high:.4g}, {e.n_distinct} distinct values ({scale})"
        if e.n_missing:
            yield "missing", f"{e.n_missing} entries ({e.missing:.1%})"
        yield "symmetric", "yes" if e.symmetric else f"no, asymmetry {e.asymmetry:.3g} of 1"
        yield "zero entries", f"{e.zeros:.1%}"
        yield "itself nearest", f"{e.self_maximal:.1%} of the objects"
        yield "duplicates", str(e.n_duplicates)
        if (s := self.spectrum) is not None:
            share = f"{s.negative_mass:.1%} of the spectrum ({s.smallest:.4g} to {s.largest:.4g})"
            text = f"yes, rank {s.rank}" if s.definite else f"no, {s.n_negative} negative eigenvalues with {share}"
            yield "positive definite" if self.kind == "similarity" else "Euclidean", text
        sampled = f" of {t.n_triples:,} sampled" if t.sampled else ""
        yield "triangles broken", f"{t.violated:.2%}{sampled}" + (f", worst by {t.worst:.0%}" if t.violated else "")
        yield "distances", f"skewness {d.skewness:.2f}, excess kurtosis {d.kurtosis:.2f}; hubness {d.hubness:.2f}"
        if self.classes is not None:
            yield from _class_rows(self.classes)
        n_checked = self.suspects.n_objects
        some = f" (among {n_checked} of the objects)" if n_checked < self.n else ""
        yield "suspicious pairs", f"{self.suspects.summary()}{some}"

    def __str__(self) -> str:
        rows = self.rows()
        width = max(len(name) for name, _ in rows)
        lines = [f"{name:<{width}}  {text}" for name, text in rows]
        if self.advice:
            lines += ["", "What to try", *(f"{number}. {advice}" for number, advice in enumerate(self.advice, 1))]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th><td style='text-align:left'>{escape(text)}</td></tr>"
            for name, text in self.rows()
        )
        advice = "".join(f"<li>{escape(str(advice))}</li>" for advice in self.advice)
        return f"<table>{cells}</table>" + (f"<p>What to try</p><ol>{advice}</ol>" if advice else "")


@validated_function({"kind": [choice("similarity", "dissimilarity")], "random_state": ["random_state"]})
def diagnose(
    S: ArrayLike,
    y: Any = None,
    kind: Kind = "similarity",
    *,
    ids: Any = None,
    groups: Any = None,
    random_state: Any = 0,
) -> Diagnosis:
    """Check a proximity matrix for common problems and recommend methods.

    Parameters
    ----------
    S : array-like of shape (n, n)
        Proximities; NaN is a missing entry.
    y : array-like of shape (n,), optional
        Class labels; they add findings about balance and separation.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of the proximities. Findings about distances use the largest similarity minus s.
    ids : sequence of n names, optional
        Names shown instead of row numbers.
    groups : array-like of shape (n,), optional
        Objects that belong together, such as samples of one donor: the blocks (`strata`) of the tests of the classes.
    random_state : int, RandomState instance or None, default=0
        Random seed of the tests and the samples: of objects beyond 3,000 (600 for :func:`similis.proximity.suspects`),
        of triangles beyond 500 objects.

    Examples
    --------
    >>> from similis import diagnose
    >>> found = diagnose([[1.0, 0.9, 0.1], [0.9, 1.0, 0.9], [0.1, 0.9, 1.0]])
    >>> found.entries.symmetric, found.spectrum.n_negative
    (True, 1)
    """
    A = check_proximity(S, kind=kind, allow_missing=True, accept_sparse=True)
    n = len(A)
    check_label_order(S, groups, "groups", "S")
    names, codes = (None, None) if y is None else check_labels(y, n, who="diagnose", min_classes=1, of=S)
    blocks = None if groups is None else check_labels(groups, n, who="diagnose", min_classes=1)[1]
    part = np.arange(n)
    if n > SAMPLE:
        part = np.sort(check_random_state(random_state).choice(n, SAMPLE, replace=False))
        A = A[np.ix_(part, part)]
        codes, blocks = (None if x is None else x[part] for x in (codes, blocks))
    rng = check_random_state(random_state)
    D = to_dissimilarities(A, kind)
    entries, triangles, distances = entry_facts(A, kind), triangle_facts(D, rng), distance_facts(D)
    spectrum = None if entries.n_missing else spectrum_facts(A, kind)
    classes = None
    if names is not None and codes is not None:
        classes = class_facts(A, D, codes, plain_names(names), kind, _class_tests(D, codes, blocks, random_state))
    objects = part
    if len(A) > SUSPECT_SAMPLE:
        some = np.sort(rng.choice(len(A), SUSPECT_SAMPLE, replace=False))
        A, objects = A[np.ix_(some, some)], part[some]
    generator = np.random.default_rng(check_random_state(0).randint(2**31))  # as in suspects()
    found = find_suspects(A, kind, objects, ids, generator)
    advice = tuple(advise(kind, len(part), entries, spectrum, distances, classes, found))
    return Diagnosis(n, kind, len(part), entries, spectrum, triangles, distances, classes, found, advice)


def plain_names(classes: Array) -> list[str]:
    return [quote(c).strip("'") for c in classes]


def _to_builtin(value: Any) -> Any:
    """Convert NumPy numbers and arrays to Python numbers and lists, and NaN to None."""
    if isinstance(value, dict):
        return {str(key): _to_builtin(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_to_builtin(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def to_dissimilarities(A: Array, kind: Kind) -> Floats:
    """Return dissimilarities with a zero diagonal: as given, or the largest similarity minus s."""
    D = np.array(A, dtype=np.float64)
    if kind == "similarity" and np.isfinite(D).any():
        D = np.nanmax(D) - D
    np.fill_diagonal(D, 0.0)
    return D


def entry_facts(A: Array, kind: Kind) -> EntryFacts:
    n = len(A)
    missing = np.isnan(A)
    known = A[~np.eye(n, dtype=bool) & ~missing]
    ratio = asymmetry(np.where(missing | missing.T, 0.0, A) if missing.any() else A)
    distinct = len(np.unique(known))
    signed = np.where(missing, -np.inf, A if kind == "similarity" else -A)
    some = known if known.size else np.full(1, np.nan)

    def content(i: int) -> bytes:
        both = np.concatenate([A[i], A[:, i]]) + 0.0  # one bit pattern for zero, and below one for NaN
        both[np.isnan(both)] = np.nan
        return blake2b(both.tobytes(), digest_size=16).digest()

    return EntryFacts(
        n_missing=int(missing.sum()),
        missing=float(missing.mean()),
        symmetric=ratio <= 100 * float(np.finfo(A.dtype).eps),
        asymmetry=ratio,
        zeros=float((some == 0).mean()),
        n_distinct=distinct,
        discrete=known.size > 0 and distinct < max(2, DISCRETE * known.size),
        self_maximal=float((np.diagonal(signed) >= signed.max(axis=1)).mean()),
        n_duplicates=n - len({content(i) for i in range(n)}),
        low=float(some.min()),
        high=float(some.max()),
    )


def spectrum_facts(A: Array, kind: Kind) -> SpectrumFacts:
    """Compute the eigenvalues of the symmetric part, or of the doubly centered squares of dissimilarities."""
    B = symmetric_part(A).astype(np.float64)
    if kind == "dissimilarity":
        B = symmetric_part(gower(B**2))
    system = eigen_symmetric(B)
    values, size = system.values, np.abs(system.values)
    negative = values[values < -system.tolerance]
    mass = abs(float(negative.sum())) / (float(size.sum()) or 1.0)
    rank = int((size > system.tolerance).sum())
    return SpectrumFacts(not negative.size, negative.size, mass, float(values[0]), float(values[-1]), rank)


def triangle_facts(D: Floats, rng: Any) -> TriangleFacts:
    """Count violated triangles; triples with a missing side count as not violated."""
    n = len(D)
    if n < 3:
        return TriangleFacts(0, 0.0, 0.0, False)
    if n <= ALL_TRIANGLES:
        counts = [_violations(D, D[:, k][:, None] + D[k]) for k in range(n)]
        total = n * (n - 1) * (n - 2)
    else:
        triples = rng.randint(n, size=(3, SAMPLED_TRIANGLES))
        i, j, k = triples[:, (triples != np.roll(triples, 1, axis=0)).all(axis=0)]
        counts = [_violations(D[i, j], D[i, k] + D[k, j])]
        total = len(i)
    violated, worst = zip(*counts)
    return TriangleFacts(total, sum(violated) / total, max(worst), n > ALL_TRIANGLES)


def _violations(direct: Array, detour: Array) -> tuple[int, float]:
    """Count the sides that are longer than the detour beyond rounding; return the largest relative excess too."""
    excess = direct - detour
    bad = excess > 1e-9 * np.maximum(direct, 1e-300)
    worst = float(np.max(excess[bad] / direct[bad])) if bad.any() else 0.0
    return int(bad.sum()), worst


def distance_facts(D: Floats) -> DistanceFacts:
    n = len(D)
    d = D[~np.eye(n, dtype=bool)]
    d = d[np.isfinite(d)]
    if d.size < 3 or np.ptp(d) <= 1e-12 * np.abs(d).max():
        return DistanceFacts(0.0, 0.0, 1.0, 0.0, 0.0)
    sample = d[d > 0][:: max(1, d.size // 200_000)]
    power, after = 1.0, float(stats.skew(d))
    if sample.size > 2 and np.ptp(sample) > 0:
        grid = np.linspace(0.05, 1.0, 20)
        power = float(grid[int(np.argmax([stats.boxcox_llf(p, sample / sample.mean()) for p in grid]))])
        after = float(stats.skew(sample**power))
    indices, _ = top_k(D, min(10, n - 1), sign=-1, folds=np.arange(n))
    hits = np.bincount(indices[indices >= 0], minlength=n)
    hubness = float(stats.skew(hits)) if np.ptp(hits) else 0.0
    return DistanceFacts(float(stats.skew(d)), float(stats.kurtosis(d)), power, after, hubness)


def class_facts(
    A: Array, D: Floats, codes: Indices, names: list[str], kind: Kind, tests: dict[str, PermutationTest]
) -> ClassFacts:
    """Compute balance, separation, the error of the nearest neighbor, and the moments of the columns."""
    same, known = codes[:, None] == codes, ~np.isnan(A)
    within, between = A[same & known & ~np.eye(len(A), dtype=bool)], A[~same & known]
    near = top_k(A, 1, sign=1 if kind == "similarity" else -1, folds=np.arange(len(A)))[0][:, 0]
    wrong = (codes[near] != codes)[near >= 0]
    skewness, kurtosis = zip(*(_column_moments(D, np.flatnonzero(codes == g)) for g in range(len(names))))
    return ClassFacts(
        names=tuple(names),
        counts=tuple(np.bincount(codes, minlength=len(names)).tolist()),
        within=float(within.mean()) if within.size else np.nan,
        between=float(between.mean()) if between.size else np.nan,
        neighbour_error=float(wrong.mean()) if wrong.size else np.nan,
        skewness=skewness,
        kurtosis=kurtosis,
        **tests,
    )


def class_columns(D: Floats, members: Indices) -> Floats:
    """Dissimilarities of the members to every object, one column each; those to themselves are NaN."""
    B = D[members].copy()
    B[np.arange(len(members)), members] = np.nan
    return B


def _column_moments(D: Floats, members: Indices) -> tuple[float, float]:
    """Medians over the columns of the skewness and the excess kurtosis of a class, NaN for a small class."""
    B = class_columns(D, members)
    count = np.isfinite(B).sum(axis=0)
    B, count = B[:, count >= FEWEST - 1], count[count >= FEWEST - 1]
    if len(members) < FEWEST or not B.size:
        return float("nan"), float("nan")
    centered = B - np.nanmean(B, axis=0)
    variance = np.nanmean(centered**2, axis=0)
    varies = variance > 1e-24 * np.nanmax(np.abs(B)) ** 2
    if not varies.any():
        return float("nan"), float("nan")
    k, centered, variance = count[varies], centered[:, varies], variance[varies]
    # Sample moments g1 and g2, corrected for their bias.
    g1 = np.nanmean(centered**3, axis=0) / variance**1.5
    g2 = np.nanmean(centered**4, axis=0) / variance**2 - 3
    skewness = g1 * np.sqrt(k * (k - 1)) / (k - 2)
    kurtosis = (k - 1) / ((k - 2) * (k - 3)) * ((k + 1) * g2 + 6)
    return float(np.median(skewness)), float(np.median(kurtosis))


def _is_near_normal(skewness: float, kurtosis: float, n: int) -> bool:
    """Compare with the largest skewness and kurtosis of nearly normal dissimilarities of n objects."""
    skew_limit, kurtosis_limit = (limit + slack / n for limit, slack in zip(NEAR_NORMAL, SAMPLING))
    return abs(skewness) <= skew_limit and kurtosis <= kurtosis_limit


def _class_tests(D: Array, codes: Indices, blocks: Any, random_state: Any) -> dict[str, PermutationTest]:
    counts = np.bincount(codes)
    if len(D) < 3 or (counts > 0).sum() < 2 or counts.max() < 2:
        return {}
    options = {"strata": blocks, "random_state": random_state}
    if np.isnan(D).any():
        try:
            return {"location": anosim(D, codes, **options)}
        except ProximityError:  # no pair within the classes, or none between them, is known
            return {}
    return {"location": permanova(D, codes, **options), "dispersion": permdisp(D, codes, center="centroid", **options)}


def advise(
    kind: Kind, n: int, entries: EntryFacts, spectrum: Any, distances: DistanceFacts, classes: Any, suspects: Suspects
) -> Iterator[Advice]:
    """Yield recommendations in the order in which to follow them: repairs, then the spectrum, then methods."""
    if pairs := len(suspects):
        yield Advice("Check the suspicious pairs first", f"{pairs} pairs are inconsistent with the rest of the matrix")
    if entries.n_missing:
        yield Advice(
            "Use SimilarityKNN or NearestCentroid, which skip missing entries, or complete the matrix",
            f"{entries.missing:.1%} of the entries are missing",
            "[chen2010] ch. 6",
        )
    if not entries.symmetric:
        yield Advice(
            "Decide whether the direction has a meaning; if not, average both directions with symmetrize(S)",
            f"asymmetry {entries.asymmetry:.2g} of 1",
            "[chen2010] sec. 4.3",
        )
    if spectrum is not None:
        yield _advise_spectrum(kind, spectrum)
    if kind == "similarity" and entries.zeros > SPARSE and entries.self_maximal < 1:
        yield Advice(
            "Prefer local methods: k-NN, KRI, KRR, local SDA",
            f"{entries.zeros:.0%} of the entries are zero and {1 - entries.self_maximal:.0%} of the objects are more "
            "similar to another object than to themselves",
            "[chen2010] sec. 4.4",
        )
    if entries.n_duplicates:
        reason = f"{entries.n_duplicates} objects duplicate another"
        yield Advice("Use diversity-promoting weights for duplicates: KRI or KRR", reason, "[chen2010] sec. 3.1")
    by_class = None if classes is None else classes.near_normal
    near_normal = _is_near_normal(distances.skewness, distances.kurtosis, n) and by_class is not False
    skewness = f"skewness {distances.skewness:.2f}"
    if near_normal and not entries.discrete:
        also = "" if by_class is None else "; the columns of each class are nearly normal"
        reason = f"{skewness}, excess kurtosis {distances.kurtosis:.2f}{also}"
        yield Advice("Use normal-based classifiers on the rows", reason, "[pekalska2000] sec. 2.1, 5")
    elif abs(distances.skewness_after) < abs(distances.skewness) - 0.25:
        yield Advice(
            f"Use BoxCox(p={distances.power:.2g}) before methods that assume normal distances",
            f"{skewness}, afterwards {distances.skewness_after:.2f}",
            "[pekalska2000] sec. 4.4",
        )
    if classes is not None and min(classes.counts) * 5 < max(classes.counts):
        sizes = f"the smallest class has {min(classes.counts)} objects, the largest {max(classes.counts)}"
        yield Advice("Compare methods by balanced error, and set priors or costs", sizes)


def _advise_spectrum(kind: Kind, spectrum: SpectrumFacts) -> Advice:
    if spectrum.definite and kind == "similarity":
        reason = "the similarities are positive semi-definite"
        return Advice("Use kernel methods without repair", reason, "[chen2010] sec. 2.1")
    if spectrum.definite:
        reason = "the distances are Euclidean, their Gram matrix is positive semi-definite"
        return Advice("Every embedding is exact", reason, "[chen2010] sec. 2.1")
    mass = f"{spectrum.n_negative} negative eigenvalues hold {spectrum.negative_mass:.1%} of the spectrum"
    if kind == "dissimilarity":
        return Advice("Embed with PseudoEuclidean, which keeps the negative axes, or use rows as features", mass)
    if spectrum.negative_mass <= SMALL_MASS:
        return Advice("Clip: the negative part looks like noise", mass, "[chen2010] sec. 2.1.3, 4.5")
    return Advice(
        "Try flip and similarities as features in addition to clip: the negative part may carry information",
        mass,
        "[chen2010] sec. 4.4-4.5",
    )


def _class_rows(classes: ClassFacts) -> Iterator[tuple[str, str]]:
    """Yield sizes, separation, tests of the classes, and the evidence for or against normal columns."""
    n_classes, location, dispersion = len(classes.counts), classes.location, classes.dispersion
    sizes = ", ".join(f"{name} {count}" for name, count in list(zip(classes.names, classes.counts))[:8])
    yield "classes", f"{n_classes}: {sizes}" + (", ..." if n_classes > 8 else "")
    yield "within, between", f"mean {classes.within:.4g} within classes, {classes.between:.4g} between"
    if location is not None:
        if location.r2 is None:
            how = f"ranks between and within classes differ by R = {location.statistic:.2g} of 1"
            test = "ANOSIM; missing pairs are left out"
        else:
            how, test = f"the labels explain {location.r2:.1%} of the dissimilarity", "PERMANOVA"
        yield "class differences", f"{how}, p = {location.p_value:.2g} ({'; '.join([test, *location.remarks])})"
    if dispersion is not None and dispersion.p_value <= 0.05:
        widths = (dispersion.dispersions or {}).values()
        how = f"mean distance to the center {min(widths):.3g} to {max(widths):.3g}, p = {dispersion.p_value:.2g}"
        yield "class dispersion", f"{how} (PERMDISP); PERMANOVA reacts to it too"
    if classes.near_normal is not None:
        low, high = np.nanmin(classes.skewness), np.nanmax(classes.skewness)
        text = f"skewness {low:.2f} to {high:.2f}, excess kurtosis up to {np.nanmax(classes.kurtosis):.2f}"
        verdict = "not normal enough for normal-based classifiers on rows ([pekalska2000] sec. 4.3-4.5)"
        verdict = "nearly normal, as sums of many variables are" if classes.near_normal else verdict
        yield "columns by class", f"{text}: {verdict}"
    yield "nearest neighbor", f"of another class for {classes.neighbour_error:.1%} of the objects"
