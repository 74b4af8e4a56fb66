"""k-medoids: clusters around objects, from any proximity. [qiao2013] sec. 2.2."""

from dataclasses import field
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.cluster.hierarchy import cut_tree, linkage
from scipy.spatial.distance import squareform
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from similis._utils.arrays import Array, Floats, Indices
from similis._utils.messages import warn_user
from similis.base import (
    ColumnsMixin,
    Kind,
    ProximityEstimator,
    at_least,
    check_labels,
    check_proximity,
    choice,
    estimator,
    param,
    validated,
    validated_function,
)
from similis.exceptions import InputWarning, ProximityError
from similis.solvers import Medoids, k_medoids


@estimator
class KMedoids(ColumnsMixin, ClusterMixin, ProximityEstimator):
    """Cluster objects around medoids: objects with the smallest total dissimilarity to their cluster.

    See [qiao2013] sec. 2.2, and for "eager" [schubert2021].

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters. "auto" chooses between 2 and `max_clusters` by the largest mean silhouette.
    method : {"vsh", "eager", "alternate", "ward"}, default="vsh"
        "vsh", vertex substitution: make the best exchange of a medoid and an object until none improves. "eager": make
        any exchange that improves; the same kind of optimum, faster for large n. "alternate": assign objects and update
        medoids in turn; faster and worse. "ward": cut Ward's tree, and take the medoid of each cluster.
    n_init : int, default=10
        Number of random starts; the best result is kept. Not used by "ward".
    kind : {"similarity", "dissimilarity"}, default="dissimilarity"
        Kind of the proximities.
    max_clusters : int, default=10
        Largest number of clusters tried by "auto".
    max_iter : int, default=300
        Largest number of sweeps per start.
    random_state : int, RandomState instance or None, default=None
        Random seed of the starts.
    n_jobs : int or None, default=None
        Threads over the starts; the result does not depend on it.

    Attributes
    ----------
    medoid_indices_ : ndarray of shape (k,)
        Training objects that are medoids, ascending. Fewer than `n_clusters` if there are fewer distinct objects.
    labels_ : ndarray of shape (n,)
        Cluster of each training object: position of its medoid in ``medoid_indices_``.
    inertia_, n_iter_ : float, int
        Sum of the proximities of the objects to their medoids, and sweeps of the best start, 0 for "ward".
    silhouette_samples_ : ndarray of shape (n,)
        Silhouette of each training object; the mean is ``silhouette_``.
    silhouettes_ : dict of int to float
        Mean silhouette for each number of clusters that "auto" tried.

    See Also
    --------
    similis.solvers.k_medoids : The algorithms on arrays, with weights and given starts.

    Notes
    -----
    A matrix on disk (memory map) is read row by row by "eager" and "alternate". An object is assigned by its own row.
    "ward" uses the mean of both directions, similarities subtracted from the largest one; an object may be nearer to
    the medoid of another cluster, so that ``predict`` of the training rows may differ from ``labels_``.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.cluster import KMedoids
    >>> x = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.0])
    >>> model = KMedoids(2, random_state=0).fit(np.abs(x[:, None] - x))
    >>> model.medoid_indices_, model.labels_, model.inertia_
    (array([1, 4]), array([0, 0, 0, 1, 1, 1]), 4.0)
    >>> model.predict(np.abs(np.array([[3.0], [9.0]]) - x))
    array([0, 1])
    """

    n_clusters: Any = field(default=8, kw_only=False, metadata={"constraints": [at_least(1), choice("auto")]})
    method: Literal["vsh", "eager", "alternate", "ward"] = param("vsh", choice("vsh", "eager", "alternate", "ward"))
    n_init: int = param(10, at_least(1))
    kind: Kind = param("dissimilarity", choice("similarity", "dissimilarity"))
    max_clusters: int = param(10, at_least(2))
    max_iter: int = param(300, at_least(1))
    random_state: Any = param(None, "random_state")
    n_jobs: int | None = param(None, at_least(1), at_least(-1), None)

    @validated
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Find the medoids from the proximities of all pairs, (n, n); `y` is ignored."""
        D = self.check_training(X)
        n, k = len(D), self.n_clusters
        if k != "auto" and k > n:
            raise ProximityError(f"n_clusters={k} must not exceed the number of objects, {n}.")
        if k == "auto" and n < 3:
            raise ProximityError(f"n_clusters='auto' needs at least three objects. Got {n}.")
        tree = self._ward_tree(D) if self.method == "ward" else None
        counts = range(2, min(self.max_clusters, n - 1) + 1) if k == "auto" else [k]
        tried = [self._cluster(D, count, tree) for count in counts]
        silhouettes = [_silhouettes(D, found.labels, self.kind) for found in tried]
        means = [float(values.mean()) for values in silhouettes]
        chosen = int(np.argmax(means))
        self.silhouettes_ = dict(zip(counts, means)) if k == "auto" else {}
        best, self.silhouette_samples_ = tried[chosen], silhouettes[chosen]
        self.medoid_indices_, self.labels_ = best.medoids, best.labels
        self.inertia_, self.n_iter_ = best.total, best.n_iter
        self.keep_columns(self.medoid_indices_)
        if k != "auto" and (found := len(self.medoid_indices_)) < k:
            warn_user(f"Found {found} clusters instead of {k}: there are fewer distinct objects.", InputWarning)
        return self

    @property
    def silhouette_(self) -> float:
        """Mean silhouette of the training objects."""
        check_is_fitted(self)
        return float(self.silhouette_samples_.mean())

    def predict(self, X: ArrayLike) -> Indices:
        """Assign new objects, by their proximities (m, n), to the cluster of the nearest medoid, the first on a tie."""
        check_is_fitted(self)
        return (self.sign * self.kept_columns(self.check_rows(X))).argmax(axis=1)

    def _cluster(self, D: Array, k: int, tree: Any) -> Medoids:
        if tree is None:
            method: Any = "alternating" if self.method == "alternate" else self.method
            names = ("sign", "n_init", "max_iter", "random_state", "n_jobs")
            return k_medoids(D, k, method=method, **{name: getattr(self, name) for name in names}).with_members()
        cluster = cut_tree(tree, n_clusters=k)[:, 0]
        groups = [np.flatnonzero(cluster == j) for j in range(k)]
        medoids = np.array([own[(self.sign * D[np.ix_(own, own)]).sum(axis=0).argmax()] for own in groups])
        order = np.argsort(medoids)
        labels = np.argsort(order)[cluster]
        total = float(D[np.arange(len(D)), medoids[order][labels]].sum(dtype=np.float64))
        return Medoids(medoids[order], labels, total, 0, 0, True)

    def _ward_tree(self, D: Array) -> Any:
        A = np.array(D, dtype=np.float64)
        if self.kind == "similarity":
            A = A.max() - A
        np.fill_diagonal(A, 0.0)
        if len(A) == 1:
            raise ProximityError("method='ward' needs at least two objects. Got one.")
        return linkage(squareform((A + A.T) / 2, checks=False), "ward")


@validated_function({"kind": [choice("similarity", "dissimilarity")]})
def silhouette_samples(D: ArrayLike, labels: Any, kind: Kind = "dissimilarity") -> Floats:
    """Compute the silhouette of each object, (n,), from a proximity matrix.

    It is (b - a) / max(a, b), where a is the mean dissimilarity to the other objects of the own cluster and b the
    smallest mean dissimilarity to another cluster; 0 for an object alone in its cluster.

    Parameters
    ----------
    D : array-like of shape (n, n)
        Proximities of all pairs; they need not be symmetric or metric.
    labels : array-like of shape (n,)
        Cluster of each object.
    kind : {"similarity", "dissimilarity"}, default="dissimilarity"
        Kind of the proximities. Similarities are subtracted from the largest one.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.cluster import silhouette_samples
    >>> x = np.array([0.0, 1.0, 10.0, 11.0])
    >>> silhouette_samples(np.abs(x[:, None] - x), [0, 0, 1, 1]).round(3)
    array([0.905, 0.895, 0.895, 0.905])
    """
    A = check_proximity(D, kind=kind)
    _, codes = check_labels(labels, len(A), who="silhouette_samples", of=D)
    return _silhouettes(A, codes, kind)


def _silhouettes(D: Array, codes: Indices, kind: Kind) -> Floats:
    """Compute silhouettes; zeros for a single cluster."""
    n, sizes = len(D), np.bincount(codes)
    if (sizes > 0).sum() < 2:
        return np.zeros(n)
    sums = np.asarray(D @ np.eye(len(sizes), dtype=D.dtype)[codes], dtype=np.float64)
    own = np.arange(n), codes
    sums[own] -= np.einsum("ii->i", D)  # an object is not compared with itself
    counts = np.broadcast_to(sizes, sums.shape).astype(np.float64)
    counts[own] -= 1
    with np.errstate(divide="ignore", invalid="ignore"):
        means = sums / counts
    if kind == "similarity":
        means = float(D.max()) - means
    a = means[own].copy()
    means[own] = np.inf
    means[:, sizes == 0] = np.inf
    b = means.min(axis=1)
    larger = np.maximum(a, b)
    return np.divide(b - a, larger, out=np.zeros(n), where=(sizes[codes] > 1) & (larger > 0))
