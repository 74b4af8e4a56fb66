"""Mixture HLM: one component per cluster of each class. [qiao2013] sec. 3.1."""

from functools import cached_property
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform
from sklearn.utils import check_random_state

from similis._utils.arrays import Array, Indices
from similis._utils.disk import take_block
from similis.base import Points, at_least, check_per_class, choice, estimator, param
from similis.mixture import _base as hlm
from similis.solvers import RandomStarts, farthest_first, k_medoids


class Clustering:
    """Centroids and clusters by one of the methods of MixtureHLM; `weights` w of the objects give R = H D.

    Starts for fewer clusters are prefixes of those for more.
    """

    def __init__(self, D: Array, method: Any, n_init: Any, seed: int, weights: Array | None = None) -> None:
        self.D = np.ascontiguousarray(D)
        self.method, self.n_init, self.seed, self.weights = method, n_init, seed, weights
        self._found: dict[int, Any] = {}
        self._order: Indices = np.empty(0, np.intp)

    def __call__(self, k: int) -> Any:
        """Centroids, ascending, and the cluster of each object; at most as many clusters as objects."""
        k = min(k, len(self.D))
        if k not in self._found:
            self._found[k] = self._cluster(k)
        return self._found[k]

    def _cluster(self, k: int) -> Any:
        if k == len(self.D):
            return np.arange(k), np.arange(k)
        if self.method == "ward":
            labels = self._cut(k)
            weights = np.ones(len(self.D)) if self.weights is None else self.weights
            medoids = []  # the object with the least total distance of the others to it, the first on a tie
            for members in (np.flatnonzero(labels == j) for j in range(k)):
                totals = weights[members] @ self.D[np.ix_(members, members)].astype(np.float64)
                medoids.append(members[int(totals.argmin())])
            return self._sorted(medoids, labels)
        if self.method == "vsh":
            start = self._random_starts(k)
        else:
            if len(self._order) < k:
                self._order = farthest_first(self.D, k)
            start = self._order[:k]
        medoids, labels, total = self._descend(k, start)
        while True:
            # In a cluster of two, either object may be the centroid and round-off would decide: take the first one.
            # From there an exchange may lower the total.
            first = self._first_of_pairs(medoids, labels)
            if np.array_equal(first, medoids):
                return medoids, labels
            again = self._descend(len(first), first)
            if not again[2] < total * (1 - 1e-12):
                return self._sorted(first, labels)
            medoids, labels, total = again

    @cached_property
    def _random_starts(self) -> Any:
        return RandomStarts(self.D, self.n_init, self.seed)

    def _descend(self, k: int, start: Any) -> Any:
        """Medoids, clusters and their total distance, from one or several starts."""
        method: Any = "vsh" if self.method == "vsh" else "alternating"
        found = k_medoids(self.D, k, sign=-1, method=method, weights=self.weights, init=start).with_members()
        return found.medoids, found.labels, found.total

    def _first_of_pairs(self, medoids: Indices, labels: Indices) -> Any:
        found, D = medoids.copy(), self.D
        for j in np.flatnonzero(np.bincount(labels) == 2):
            a, b = np.flatnonzero(labels == j)
            alike = self.weights is None or self.weights[a] == self.weights[b]
            # Among duplicates a centroid may be assigned to another cluster.
            if found[j] == b and a not in medoids and alike and D[a, b] == D[b, a] and D[a, a] == D[b, b]:
                found[j] = a
        return found

    def _sorted(self, medoids: Any, labels: Indices) -> Any:
        order = np.argsort(medoids)
        return np.asarray(medoids)[order], np.argsort(order)[labels]

    @cached_property
    def _tree(self) -> Any:
        R = self.D if self.weights is None else self.weights[:, None] * self.D
        # R is not symmetric: both directions count alike. Lance-Williams reads squares of what it is given.
        return linkage(squareform((R + R.T) / 2, checks=False), "ward")[:, :2].astype(np.intp)

    def _cut(self, k: int) -> Any:
        """Clusters left when the last k - 1 of the n - 1 merges of Ward's tree are undone, also among equal heights."""
        n = len(self.D)
        cluster = np.arange(2 * n - 1)
        for node in range(2 * n - 1 - k, n - 1, -1):  # top down: both children belong where their parent does
            cluster[self._tree[node - n]] = cluster[node]
        return np.unique(cluster[:n], return_inverse=True)[1]


# [qiao2013] sec. 5.1; the number of objects, for Kernel HLM, joins them.
CANDIDATES = (*range(1, 11), 12, 14, 16)
N_FOLDS = 10


@estimator
class MixtureHLM(hlm.HLMClassifier):
    """Classify by a mixture model estimated from distances.

    The objects of each class are clustered. Each cluster is assumed to be mapped into a Euclidean space of dimension 2s
    with preserved distances, where it is an isotropic Gaussian of variance b_j/2 around its centroid:

        phi(z | k) = sum over clusters j of class k of w_j (pi b_j)^-s exp(-D(z, centroid j)^2 / b_j).

    The mapping is never computed: squared distances to the centroid have a gamma distribution of shape s and scale b_j,
    both estimated by maximum likelihood. See [qiao2013] sec. 2-3, Eq. (3), (5), (6).

    Parameters
    ----------
    n_components : int, array-like of shape (G,) or "auto", default=4
        Number of clusters of every class, or of each class, at most the number of objects, which gives Kernel HLM.
        "auto" chooses among 1 to 10, 12, 14, 16 and Kernel HLM by 10-fold cross-validation: HLM (kernel-vsh).
    clustering : {"vsh", "kmedoids", "ward"}, default="vsh"
        Vertex substitution; k-medoids by alternating assignment and update from a k-center start; Ward's agglomerative
        clustering with the medoid of each cluster for its centroid.
    shared_shape : bool, default=True
        Use the same s for all classes, or one per class.
    n_init : int, default=20
        Random starts of vertex substitution; the one with the least total distance is kept.
    priors, costs
        As in :class:`KernelHLM`.
    random_state : int, RandomState instance or None
        Random seed of the starts and of the folds of "auto".

    Attributes
    ----------
    n_components_ : int or list of int
        Number of clusters per class; the number of training objects if Kernel HLM was chosen.
    cv_scores_ : ndarray of shape (14,)
        Cross-validated accuracy of each candidate, for "auto" only.
    classes_, columns_, shape_, shape_estimate_, scales_, centroids_, component_classes_, component_priors_, priors_
        As in :class:`KernelHLM`; the components are the clusters, w_j their shares of the objects of the class.

    Notes
    -----
    The scale of a small cluster is drawn towards the common one, b_j = [c u_j + (1 - c) u] / s with c = n_j / (n_j +
    1), u_j the mean squared distance of the n_j objects other than the centroid and u that over all clusters (of the
    class, without a shared shape); s is the estimate that is not rounded. Centroids, distances of zero and clusters of
    fewer than three objects stay out of the estimation of s and u. Where that leaves nothing, clusters of two are
    taken, all as one, then the distances to nearest neighbors as in :class:`KernelHLM`, whose limits apply. Where all
    distances to centroids are equal, as for distances with few values, s is estimated with one cluster per class.

    Examples
    --------
    >>> from similis import Minkowski, MixtureHLM, load_sonar
    >>> X, y = load_sonar(return_X_y=True)
    >>> D = Minkowski().fit(X).matrix(X)
    >>> model = MixtureHLM(n_components=16, random_state=0).fit(D[::2, ::2], y[::2])
    >>> len(model.columns_), model.shape_, round(model.score(D[1::2, ::2], y[1::2]), 2)
    (32, 3.5, 0.84)
    """

    n_components: Any = param(4, at_least(1), choice("auto"), "array-like")
    clustering: str = param("vsh", choice("vsh", "kmedoids", "ward"))
    shared_shape: bool = param(True, "boolean")
    n_init: int = param(20, at_least(1))
    priors: Any = param(None, "array-like", choice("laplace"), None)
    costs: Any = param(None, "array-like", None)
    random_state: Any = param(None, "random_state")

    path_params = ("n_components", "clustering", "shared_shape")

    def learn(self, S: Array, codes: Indices) -> None:
        hlm.check_symmetric(S, type(self).__name__)
        data = _Classes(self, S, codes)
        point = {name: getattr(self, name) for name in self.path_params}
        self.__dict__.pop("cv_scores_", None)
        self.n_components_, scores = data.choose_n_components(point)
        if scores is not None:
            self.cv_scores_ = scores
        mixture, estimates = data.mix(point | {"n_components": self.n_components_})
        self._set_mixture(mixture, estimates, self.shared_shape)

    def path_scores(self, S: Array, codes: Indices, Q: Array, points: Points) -> list[Array]:
        hlm.check_symmetric(S, type(self).__name__)
        data = _Classes(self, S, codes)
        chosen = (point | {"n_components": data.choose_n_components(point)[0]} for point in points)
        return [data.mix(point)[0].discriminants(Q) for point in chosen]


class _Classes:
    """Training objects by class, with the clusterings computed so far."""

    def __init__(self, model: Any, D: Array, codes: Indices) -> None:
        self.model, self.D, self.codes = model, D, codes
        self.members = [np.flatnonzero(codes == g) for g in range(len(model.classes_))]
        rng = check_random_state(model.random_state)
        self.seeds = rng.randint(2**31 - 1, size=len(self.members))
        self.folds_seed = int(rng.randint(2**31 - 1))
        self._clusterings: dict[tuple[int, str], Clustering] = {}

    def mix(self, point: dict[str, Any]) -> Any:
        """Mixture for one grid point, and the shapes before rounding."""
        numbers = check_per_class(point["n_components"], len(self.members), "n_components")
        parts = [self._cluster(g, k, point["clustering"]) for g, k in enumerate(numbers)]
        sizes = [len(centroids) for centroids, _, _ in parts]
        codes = np.repeat(np.arange(len(parts)), sizes)
        labels = [labels + before for (_, labels, _), before in zip(parts, np.cumsum(sizes) - sizes)]
        centroids, u = (np.concatenate([part[i] for part in parts]) for i in (0, 2))
        clusters = hlm.Clusters.of(u, np.concatenate(labels), len(codes))
        shapes, scales = hlm.estimate(
            clusters,
            codes,
            len(parts),
            point["shared_shape"],
            lambda: self._nearest,
            lambda: hlm.whole_classes(self.D, self.codes),
        )
        mixture = hlm.Mixture(centroids, codes, clusters.members, hlm.round_shape(shapes), scales, self.model.priors)
        return mixture, shapes

    def choose_n_components(self, point: dict[str, Any]) -> Any:
        """Number of components of a grid point; for "auto" also the scores of the candidates."""
        given = point["n_components"]
        if not isinstance(given, str):
            return int(given) if np.ndim(given) == 0 else list(given), None
        n = len(self.codes)
        points = [point | {"n_components": k} for k in (*CANDIDATES, n)]
        rng = np.random.RandomState(self.folds_seed)
        order = np.concatenate([rng.permutation(g) for g in self.members])
        test_fold = np.empty(n, dtype=np.intp)
        test_fold[order] = np.arange(n) % N_FOLDS  # stratified by class
        found = self.model.path_codes(self.D, self.codes, None, test_fold, points)
        scores = np.array([np.mean(predicted == self.codes) for predicted in found])
        return points[int(scores.argmax())]["n_components"], scores

    def _cluster(self, g: Any, k: int, method: Any) -> Any:
        """Centroids of class g among the training objects; its objects' clusters and squared distances to them."""
        members = self.members[g]
        if (g, method) not in self._clusterings:
            block = take_block(self.D, members, members)
            self._clusterings[g, method] = Clustering(block, method, self.model.n_init, self.seeds[g])
        clustering = self._clusterings[g, method]
        medoids, labels = clustering(k)
        return members[medoids], labels, hlm.squares_to(clustering.D, medoids, labels)

    @cached_property
    def _nearest(self) -> Any:
        return hlm.neighbor_statistics(self.D, self.codes, len(self.members))
