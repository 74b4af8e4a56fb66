"""Mixture model of the hypothetical local mapping classifiers, and its estimation. [qiao2013] sec. 2.1, 3."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from similis._utils.arrays import Array, Indices
from similis._utils.fitted import FittedArrays, fitted_indices, fitted_part, fitted_reals
from similis._utils.storable import storable
from similis._utils.threads import row_blocks
from similis.base import BayesClassifier, class_priors
from similis.exceptions import ProximityError
from similis.solvers import gamma_shape

# Equal distances make the shape infinite; from this value on, the differences of distances are round-off.
LARGEST_SHAPE = 1e10


@storable
@dataclass(eq=False)
class Clusters(FittedArrays):
    """Statistics of clusters, one entry each, as used in Eq. (3) and Eq. (4)."""

    members: Array  # numbers of objects, centroid included
    numbers: Array  # n_j, of squared distances u_i above zero without the centroid's
    counts: Array  # sum of their weights
    means: Array  # their weighted mean, 0 if there are none
    excess: Array  # weighted sum of log(mean / u_i)

    NAMES = ("members", "numbers", "counts", "means", "excess")
    fitted_arrays = dict.fromkeys(NAMES, fitted_reals("k", nan=True, infinite=True))

    @classmethod
    def of(cls, u: Array, labels: Indices, k: int, *, weights: Array | None = None, mass: Any = None) -> Any:
        """Statistics of clusters 0 to k - 1 from the squared distance of each object to its centroid."""
        w = np.where(u > 0, 1.0 if weights is None else weights, 0.0)
        counts = np.bincount(labels, w, k)
        means = np.divide(np.bincount(labels, w * u, k), counts, out=np.zeros(k), where=counts > 0)
        there = w > 0
        mean, some = means[labels[there]], u[there]
        x = (some - mean) / mean
        near = np.abs(x) < 0.5  # log1p is accurate also where the two are nearly equal
        logs = -np.where(near, np.log1p(np.where(near, x, 0.0)), np.log(some) - np.log(mean))
        excess = np.bincount(labels[there], w[there] * logs, k)
        members, numbers = np.bincount(labels, mass, k), np.bincount(labels, there, k)
        return cls(members.astype(np.float64), numbers, counts, means, np.maximum(excess, 0.0))

    @classmethod
    def empty(cls, members: Any) -> Any:
        """Clusters with these numbers of members and no distances."""
        zeros = np.zeros(len(members))
        return cls(np.asarray(members, dtype=np.float64), zeros, zeros, zeros, zeros)

    def take(self, index: Any) -> Any:
        return Clusters(*(getattr(self, name)[index] for name in self.NAMES))

    @staticmethod
    def join(parts: Any) -> Any:
        return Clusters(*(np.concatenate([getattr(part, name) for part in parts]) for name in Clusters.NAMES))

    def pooled(self) -> Any:
        """Merge all clusters into one."""
        some = self.take(self.counts > 0)
        n = some.counts.sum(keepdims=True)
        mean = some.counts @ some.means / n if n else np.zeros(1)
        excess = some.excess.sum(keepdims=True) + some.counts @ np.log(mean / some.means) if n else np.zeros(1)
        members, numbers = (values.sum(keepdims=True) for values in (self.members, self.numbers))
        return Clusters(members, numbers, n, mean, np.maximum(excess, 0.0))


def estimate(clusters: Any, codes: Indices, n_classes: int, shared: Any, neighbors: Any, whole_classes: Any) -> Any:
    """Estimate shapes s, (n_classes,), not rounded, and scales b_j, one per cluster, by maximum likelihood.

    ``neighbors()`` returns :func:`neighbor_statistics`, used where clusters have no distances; ``whole_classes()``
    returns each class as one cluster, used where all distances of the clusters are equal.
    """
    shape, mean = _common(clusters, slice(None), neighbors, whole_classes) or (0.5, neighbors()[1] or 1.0)
    shapes, means = np.full(n_classes, shape), np.full(n_classes, mean)
    if not shared:
        for g in range(n_classes):
            own = _common(clusters.take(codes == g), [g], neighbors, whole_classes)
            if own is not None:
                shapes[g], means[g] = shape if own[0] == LARGEST_SHAPE else own[0], own[1]
    # [qiao2013] sec. 2.1 -> b_j = [c u_j + (1 - c) u] / s, c = n_j / (n_j + 1)
    c = clusters.numbers / (clusters.numbers + 1)
    return shapes, (c * clusters.means + (1 - c) * means[codes]) / shapes[codes]


def _common(clusters: Any, classes: Any, neighbors: Any, whole_classes: Any) -> Any:
    """Shape and mean square of clusters or, if they have no distance above zero, of nearest neighbors."""
    # Equal distances do not determine a shape. It then comes from each class as one cluster, for nearest neighbors with
    # the mean, as in [qiao2013] sec. 5.2: "from the range of estimated values based upon HLM (vsh)".
    own = _shape_and_mean(clusters)
    found = own or _shape_and_mean(neighbors()[0].take(classes).pooled())  # every object a centroid: Kernel HLM
    if found is not None and found[0] == LARGEST_SHAPE:
        shape, mean = _shape_and_mean(whole_classes().take(classes)) or found
        if shape < LARGEST_SHAPE:
            return shape, mean if own is None else own[1]
    return found


def _shape_and_mean(clusters: Any) -> Any:
    """Shape and mean square of clusters: those of three objects or more, else of two; None without a distance."""
    there = clusters.counts > 0
    if not there.any():
        return None
    # [qiao2013] sec. 5.1: "we exclude clusters containing fewer than three data points"
    used = there & (clusters.members >= 3)
    some = clusters.take(used if used.any() else there)
    # Clusters with a single distance each do not determine a shape and are merged into one.
    some = some if (some.numbers > 1).any() else some.pooled()
    n = some.counts.sum()
    # [qiao2013] Eq. (3), [qiao2013] Eq. (4) with weights -> log s - psi(s) = r
    return min(float(gamma_shape(some.excess.sum() / n)), LARGEST_SHAPE), some.counts @ some.means / n


def round_shape(shapes: Any) -> Any:
    """[qiao2013] sec. 2.1 -> s* = floor(2 s + 1/2) / 2, at least one dimension."""
    return np.maximum(np.floor(2 * shapes + 0.5) / 2, 0.5)


def squares_to(D: Array, medoids: Indices, labels: Indices) -> Any:
    """u: squared distance of each object to its centroid; 0 for a centroid itself."""
    u = np.square(D[np.arange(len(D)), medoids[labels]], dtype=np.float64)
    u[medoids] = 0.0
    return u


def nearest_squares(*parts: Any, among: Any = None, positive: bool = False) -> Any:
    """Squared distance of each row's object, at column i for row i, to its nearest other object; 0 without others.

    `parts` are blocks side by side, or one square matrix, which `among` restricts to some objects. With `positive`,
    objects at distance zero are ignored.
    """
    m, n = (len(parts[0]), sum(part.shape[1] for part in parts)) if among is None else (len(among), len(among))
    nearest = np.empty(m)
    for rows in row_blocks(m, n):
        some = [part[rows] for part in parts] if among is None else [parts[0][np.ix_(among[rows], among)]]
        block = np.hstack(some, dtype=np.float64)
        np.fill_diagonal(block[:, rows], np.inf)
        if positive:
            block[block == 0] = np.inf
        nearest[rows] = block.min(axis=1, initial=np.inf)
    return np.square(np.where(np.isfinite(nearest), nearest, 0.0))


def neighbor_statistics(D: Array, codes: Indices, n_classes: int) -> Any:
    """Squared distances to the nearest neighbor in the class, one cluster per class; their mean across classes or 0."""
    # An object whose nearest neighbor is a duplicate is left out or, if nothing remains, gets its nearest neighbor at a
    # positive distance. If no class has one, the mean across classes serves.
    members = [np.flatnonzero(codes == g) for g in range(n_classes)]
    u, between = np.zeros(len(codes)), 0.0
    for positive in (False, True):
        for g in members:
            u[g] = nearest_squares(D, among=g, positive=positive)
        if u.any():
            break
    else:
        apart = nearest_squares(D, positive=True)
        between = apart[apart > 0].mean() if apart.any() else 0.0
    return Clusters.of(u, codes, n_classes), between


def whole_class(D: Any, among: Indices, mass: Any = None) -> Any:
    """Statistics of some objects as one cluster around their medoid."""
    m = len(among)
    totals = [D[np.ix_(among[rows], among)].sum(axis=1, dtype=np.float64) for rows in row_blocks(m, m)]
    medoid = np.concatenate(totals).argmin()
    u = np.square(D[among, among[medoid]], dtype=np.float64)
    u[medoid] = 0.0
    return Clusters.of(u, np.zeros(m, dtype=np.intp), 1, mass=mass)


def whole_classes(D: Any, codes: Indices) -> Any:
    """Each class as one cluster around its medoid."""
    return Clusters.join([whole_class(D, np.flatnonzero(codes == g)) for g in range(int(codes.max()) + 1)])


@storable
class Mixture(FittedArrays):
    """Mixture components at some objects, class by class: one scale per component, one shape per class."""

    fitted_arrays = {
        "shapes": fitted_reals("G"),
        "centroids": fitted_indices("k"),
        "codes": fitted_indices("k", below="G"),
        "scales": fitted_reals("k"),
        "first": fitted_indices("G", below="k"),
        "weights": fitted_reals("k"),
        "sizes": fitted_reals("G"),
        "priors": fitted_reals("G", low=0),
        "log_priors": fitted_reals("G", infinite=True),
    }

    def __init__(self, centroids: Any, codes: Any, members: Any, shapes: Any, scales: Any, priors: Any) -> None:
        self.centroids, self.codes, self.scales, self.shapes = centroids, codes, scales, shapes
        self.first = np.searchsorted(codes, np.arange(len(shapes)))
        self.sizes = np.add.reduceat(members, self.first)  # objects of each class
        self.weights = members / self.sizes[codes]
        self.priors = class_priors(priors, self.sizes)
        with np.errstate(divide="ignore"):
            self.log_priors = np.log(self.priors)

    def log_density(self, Q: Array, columns: Any) -> Any:
        """Finite parts of log phi(z | M_k), (m,) common to all classes and (m, G); `columns` are those of centroids."""
        common, rest = np.empty(len(Q)), np.empty((len(Q), len(self.shapes)))
        for rows in row_blocks(len(Q), len(columns)):
            common[rows], rest[rows] = self._log_density(Q[rows][:, columns])
        return common, rest

    def _log_density(self, D: Array) -> Any:
        x = np.asarray(D, dtype=np.float64) / np.sqrt(self.scales)  # (m, components)
        nearest = x.min(axis=1, keepdims=True)
        # [qiao2013] Eq. (5) -> phi(z | M_k) = sum_j w_j (pi b_j)^-s exp(-D^2(z, eta_j) / b_j)
        # relative to (pi b_1)^-s_1, whose size would otherwise cause cancellation
        s, unit = self.shapes[self.codes], self.scales[0]
        common = -s[0] * np.log(np.pi * unit)
        height = np.log(self.weights) - s * np.log(self.scales / unit) - (s - s[0]) * np.log(np.pi * unit)
        with np.errstate(over="ignore", divide="ignore"):
            E = height - (x - nearest) * (x + nearest)
            peak = np.maximum.reduceat(E, self.first, axis=1)
            peak = np.where(np.isfinite(peak), peak, 0.0)
            E -= peak[:, self.codes]
            rest = np.log(np.add.reduceat(np.exp(E, out=E), self.first, axis=1)) + peak
            return common - np.square(nearest[:, 0]), rest

    def discriminants(self, Q: Array, columns: Any = None) -> Any:
        """[qiao2013] Eq. (6) -> log pi_k phi(z | M_k), up to a term common to all classes."""
        return self.log_priors + self.log_density(Q, self.centroids if columns is None else columns)[1]


class HLMClassifier(BayesClassifier):
    """Base class of classifiers by mixtures on distances to centroids; ``fit`` calls :meth:`_set_mixture`."""

    fitted_arrays = {
        "_mixture": fitted_part(Mixture, G="G", k="k"),
        "centroids_": fitted_indices("k"),
        "component_classes_": fitted_indices("k", below="G"),
        "component_priors_": fitted_reals("k"),
        "scales_": fitted_reals("k"),
        "priors_": fitted_reals("G", low=0),
    }
    reads = "dissimilarity"

    def _set_mixture(self, mixture: Any, shape_estimates: Any, shared: Any) -> None:
        self._mixture = mixture
        self.centroids_, self.component_classes_ = mixture.centroids, mixture.codes
        self.component_priors_, self.scales_, self.priors_ = mixture.weights, mixture.scales, mixture.priors
        self.shape_ = float(mixture.shapes[0]) if shared else mixture.shapes
        self.shape_estimate_ = float(shape_estimates[0]) if shared else shape_estimates
        self.keep_columns(mixture.centroids)

    def log_density(self, X: ArrayLike) -> Array:
        """Log pseudo-density, (m, G), of new objects in each class, log phi(z | M_k)."""
        common, rest = self._mixture.log_density(self.check_rows(X), self._kept_places)
        return common[:, None] + rest

    def score_samples(self, X: ArrayLike) -> Array:
        """Log pseudo-density, (m,), of new objects under all classes, log sum_k pi_k phi(z | M_k); low is abnormal."""
        common, rest = self._mixture.log_density(self.check_rows(X), self._kept_places)
        return common + logsumexp(self._mixture.log_priors + rest, axis=1)

    def class_scores(self, Q: Array) -> Array:
        return self._mixture.discriminants(Q, self._kept_places)


def check_symmetric(D: Array, who: str) -> None:
    """Raise an error for distances that are asymmetric beyond round-off."""
    largest, i, j = 0.0, 0, 0
    for rows in row_blocks(*D.shape):
        if np.array_equal(D[rows, rows.start :], D[rows.start :, rows].T):
            continue
        gap = np.abs(D[rows, rows.start :] - D[rows.start :, rows].T)
        a, b = divmod(int(gap.argmax()), gap.shape[1])
        if gap[a, b] > largest:
            largest, i, j = float(gap[a, b]), rows.start + a, rows.start + b
    if largest > (1e-4 if D.dtype == np.float32 else 1e-6) * D.max():
        raise ProximityError(
            f"{who} needs symmetric distances. Got {D[i, j]:.6g} at row {i}, column {j} and {D[j, i]:.6g} in the "
            "other direction. Average both directions with symmetrize(D), or put Symmetrize() in front."
        )
