"""The measurements behind a diagnosis, each a small dataclass of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from similis._utils.linalg import asymmetry, eigen_symmetric, symmetric_part
from similis._utils.validation import Kind
from similis.solvers import top_k

__all__ = [
    "ClassFacts",
    "DistanceFacts",
    "EntryFacts",
    "SpectrumFacts",
    "TriangleFacts",
    "class_facts",
    "distance_facts",
    "entry_facts",
    "spectrum_facts",
    "to_dissimilarities",
    "triangle_facts",
]

ALL_TRIANGLES = 500
SAMPLED_TRIANGLES = 4_000_000
DISCRETE = 0.05  # a matrix with fewer distinct values than this share of its entries holds a discrete scale


@dataclass(frozen=True)
class EntryFacts:
    """What the entries are like one by one.

    `asymmetry` is ||S - S'|| / (2 ||S||). `self_maximal` is the share of objects at least as similar to themselves as
    to any other. `n_duplicates` counts objects whose row and column equal an earlier object's.
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

    `negative_mass` is the sum of the magnitudes of the negative eigenvalues over that of all. `definite` says whether
    there are none beyond round-off: a kernel, or a Euclidean distance.
    """

    definite: bool
    n_negative: int
    negative_mass: float
    smallest: float
    largest: float
    rank: int


@dataclass(frozen=True)
class TriangleFacts:
    """Triples with d(i, j) > d(i, k) + d(k, j), among all or so many sampled ones; the worst excess, relatively."""

    n_triples: int
    violated: float
    worst: float
    sampled: bool


@dataclass(frozen=True)
class DistanceFacts:
    """Skewness and excess kurtosis of the dissimilarities, after the best Box-Cox power too; hubness.

    `hubness` is the skewness of how often an object is among another's nearest neighbours: above 1, a few objects are
    everybody's neighbours.
    """

    skewness: float
    kurtosis: float
    power: float
    skewness_after: float
    hubness: float


@dataclass(frozen=True)
class ClassFacts:
    """Sizes, and the mean proximity within and between classes."""

    names: tuple[str, ...]
    counts: tuple[int, ...]
    within: float
    between: float
    neighbour_error: float


def to_dissimilarities(A: NDArray[Any], kind: Kind) -> NDArray[np.float64]:
    """Dissimilarities with a zero diagonal: as given, or the largest similarity minus s."""
    D = np.array(A, dtype=np.float64)
    if kind == "similarity" and np.isfinite(D).any():
        D = np.nanmax(D) - D
    np.fill_diagonal(D, 0.0)
    return D


def entry_facts(A: NDArray[Any], kind: Kind) -> EntryFacts:
    """Count and compare the entries."""
    n = len(A)
    missing = np.isnan(A)
    off = ~np.eye(n, dtype=bool)
    known = A[off & ~missing]
    if missing.any():
        both = ~(missing | missing.T)
        ratio = asymmetry(np.where(both, A, 0.0))
    else:
        ratio = asymmetry(A)
    distinct = len(np.unique(known))
    sign = 1.0 if kind == "similarity" else -1.0
    signed = np.where(missing, -np.inf, sign * A)
    own = np.einsum("ii->i", signed)
    return EntryFacts(
        n_missing=int(missing.sum()),
        missing=float(missing.mean()) if n else 0.0,
        symmetric=ratio <= 100 * float(np.finfo(A.dtype).eps),
        asymmetry=ratio,
        zeros=float((known == 0).mean()) if known.size else 0.0,
        n_distinct=distinct,
        discrete=known.size > 0 and distinct < max(2, DISCRETE * known.size),
        self_maximal=float((own >= signed.max(axis=1)).mean()) if n else 1.0,
        n_duplicates=_duplicates(A),
        low=float(known.min()) if known.size else float("nan"),
        high=float(known.max()) if known.size else float("nan"),
    )


def spectrum_facts(A: NDArray[Any], kind: Kind) -> SpectrumFacts:
    """Eigenvalues of the symmetric part, or of the doubly centred squares of dissimilarities."""
    B = symmetric_part(A).astype(np.float64)
    if kind == "dissimilarity":
        B = B**2
        B = -0.5 * (B - B.mean(axis=0) - B.mean(axis=1)[:, None] + B.mean())
        B = (B + B.T) / 2
    system = eigen_symmetric(B)
    values, zero = system.values, system.tolerance
    total = float(np.abs(values).sum())
    negative = values[values < -zero]
    return SpectrumFacts(
        definite=negative.size == 0,
        n_negative=int(negative.size),
        negative_mass=float(-negative.sum()) / total if total > 0 else 0.0,
        smallest=float(values[0]),
        largest=float(values[-1]),
        rank=int((np.abs(values) > zero).sum()),
    )


def triangle_facts(D: NDArray[np.float64], rng: Any) -> TriangleFacts:
    """Count violated triangles; triples with a missing side do not count."""
    n = len(D)
    if n < 3:
        return TriangleFacts(0, 0.0, 0.0, False)
    if n <= ALL_TRIANGLES:
        found = [_violations(D, D[:, k][:, None] + D[k]) for k in range(n)]
        total = n * (n - 1) * (n - 2)
    else:
        i, j, k = rng.randint(n, size=(3, SAMPLED_TRIANGLES))
        keep = (i != j) & (j != k) & (i != k)
        i, j, k = i[keep], j[keep], k[keep]
        found = [_violations(D[i, j], D[i, k] + D[k, j])]
        total = len(i)
    violated, worst = sum(f[0] for f in found), max(f[1] for f in found)
    return TriangleFacts(int(total), violated / total, worst, n > ALL_TRIANGLES)


def distance_facts(D: NDArray[np.float64]) -> DistanceFacts:
    """Shape of the distribution of the off-diagonal dissimilarities, and hubness."""
    n = len(D)
    d = D[~np.eye(n, dtype=bool)]
    d = d[np.isfinite(d)]
    if d.size < 3 or np.ptp(d) <= 1e-12 * max(1.0, float(np.abs(d).max())):
        return DistanceFacts(0.0, 0.0, 1.0, 0.0, 0.0)
    sample = d[d > 0][:: max(1, d.size // 200_000)]
    power, after = 1.0, float(stats.skew(d))
    if sample.size > 2 and np.ptp(sample) > 0:
        grid = np.linspace(0.05, 1.0, 20)
        power = float(grid[int(np.argmax([stats.boxcox_llf(p, sample / sample.mean()) for p in grid]))])
        after = float(stats.skew(sample**power))
    k = min(10, n - 1)
    indices, _ = top_k(D, k, sign=-1, folds=np.arange(n))
    hits = np.bincount(indices[indices >= 0], minlength=n)
    return DistanceFacts(
        skewness=float(stats.skew(d)),
        kurtosis=float(stats.kurtosis(d)),
        power=power,
        skewness_after=after,
        hubness=float(stats.skew(hits)) if np.ptp(hits) else 0.0,
    )


def class_facts(A: NDArray[Any], codes: NDArray[np.intp], names: list[str], kind: Kind) -> ClassFacts:
    """Balance, separation, and how often the nearest neighbour is of another class."""
    same = codes[:, None] == codes[None, :]
    off = ~np.eye(len(A), dtype=bool)
    counts = np.bincount(codes, minlength=len(names))
    indices, _ = top_k(A, 1, sign=1 if kind == "similarity" else -1, folds=np.arange(len(A)))
    near = indices[:, 0]
    wrong = codes[near] != codes
    return ClassFacts(
        names=tuple(names),
        counts=tuple(int(c) for c in counts),
        within=_mean(A[same & off]),
        between=_mean(A[~same]),
        neighbour_error=float(wrong[near >= 0].mean()) if (near >= 0).any() else float("nan"),
    )


def _mean(values: NDArray[Any]) -> float:
    values = values[~np.isnan(values)]
    return float(values.mean()) if values.size else float("nan")


def _duplicates(A: NDArray[Any]) -> int:
    """Objects that cannot be told from an earlier one: equal rows and equal columns."""

    def content(i: int) -> bytes:
        both = np.concatenate([A[i], A[:, i]]) + 0.0  # one zero, one NaN
        both[np.isnan(both)] = np.nan
        return blake2b(both.tobytes(), digest_size=16).digest()

    return len(A) - len({content(i) for i in range(len(A))})


def _violations(direct: NDArray[Any], detour: NDArray[Any]) -> tuple[int, float]:
    """How many sides are longer than the detour beyond round-off, and the largest relative excess."""
    excess = direct - detour
    bad = excess > 1e-9 * np.maximum(direct, 1e-300)
    worst = float(np.max(excess[bad] / direct[bad])) if bad.any() else 0.0
    return int(bad.sum()), worst
