"""Clusterings of one class by distances alone, for any number of clusters. [qiao2013] sec. 2.2, 4.2."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from similis.solvers import RandomStarts, farthest_first, k_medoids

__all__ = ["Clustering"]


class Clustering:
    """Centroids and clusters of some objects; what several numbers of clusters share is computed once.

    Parameters
    ----------
    D : ndarray of shape (n, n)
        Distances.
    method : {"vsh", "kmedoids", "ward"}
        Vertex substitution; assignment and update from a k-centre start; Ward's tree with the medoid of each cluster.
    n_init : int
        Starts of vertex substitution.
    seed : int
        For them; the starts of fewer clusters are the beginnings of those of more.
    weights : ndarray of shape (n,) or None
        How much each object counts: row i of R = H D is w_i times row i of D.
    """

    def __init__(self, D, method, n_init, seed, weights=None):
        self.D = np.ascontiguousarray(D)
        self.method, self.n_init, self.seed, self.weights = method, n_init, seed, weights
        self._found = {}
        self._tree = self._order = self._starts = None

    def __call__(self, k):
        """Centroids, ascending, and the number of each object's cluster; as many clusters as objects at most."""
        k = min(k, len(self.D))
        if k not in self._found:
            self._found[k] = self._cluster(k)
        return self._found[k]

    def _cluster(self, k):
        everyone = np.arange(len(self.D))
        if k == len(self.D):
            return everyone, everyone
        if self.method == "ward":
            labels = self._cut(k)
            return self._sorted([self._medoid(np.flatnonzero(labels == j)) for j in range(k)], labels)
        medoids, labels, total = self._descend(k, self._start(k))
        while True:
            # Either of two objects may stand for both: the first one, where round-off would choose. From there
            # an exchange may have become worth while.
            first = self._first_of_pairs(medoids, labels)
            if np.array_equal(first, medoids):
                return medoids, labels
            again = self._descend(len(first), first)
            if not again[2] < total * (1 - 1e-12):
                return self._sorted(first, labels)
            medoids, labels, total = again

    def _start(self, k):
        """One start, or for vertex substitution several."""
        if self.method == "vsh":
            if self._starts is None:
                self._starts = RandomStarts(self.D, self.n_init, self.seed)
            return self._starts(k)
        if self._order is None or len(self._order) < k:
            self._order = farthest_first(self.D, k)
        return self._order[:k]

    def _descend(self, k, start):
        """Medoids, clusters and their total distance, from one or several starts."""
        found = k_medoids(
            self.D,
            k,
            sign=-1,
            method="vsh" if self.method == "vsh" else "alternating",
            weights=self.weights,
            init=start,
        )
        # Among copies a centroid may serve nobody.
        used = np.bincount(found.labels, minlength=len(found.medoids)) > 0
        return found.medoids[used], (np.cumsum(used) - 1)[found.labels], found.total

    def _first_of_pairs(self, medoids, labels):
        found, D = medoids.copy(), self.D
        for j in np.flatnonzero(np.bincount(labels) == 2):
            a, b = np.flatnonzero(labels == j)
            alike = self.weights is None or self.weights[a] == self.weights[b]
            # Among copies a centroid may be served by another one, and not belong to its own cluster.
            if found[j] == b and a not in medoids and alike and D[a, b] == D[b, a] and D[a, a] == D[b, b]:
                found[j] = a
        return found

    def _medoid(self, members):
        """The object with the least total distance of the others to it, the first among equals."""
        block = self.D[np.ix_(members, members)].astype(np.float64)
        w = np.ones(len(members)) if self.weights is None else self.weights[members]
        return members[int((w @ block).argmin())]

    def _sorted(self, medoids, labels):
        order = np.argsort(medoids)
        return np.asarray(medoids)[order], np.argsort(order)[labels]

    def _cut(self, k):
        """Clusters left when the last k - 1 of the n - 1 merges of Ward's tree are undone."""
        n = len(self.D)
        if self._tree is None:
            R = self.D if self.weights is None else self.weights[:, None] * self.D
            # R is not symmetric: both directions count alike. Lance-Williams reads squares of what it is given.
            self._tree = linkage(squareform((R + R.T) / 2, checks=False), "ward")[:, :2].astype(np.intp)
        cluster = np.arange(2 * n - 1)
        for node in range(2 * n - 1 - k, n - 1, -1):  # top down: both children belong where their parent does
            cluster[self._tree[node - n]] = cluster[node]
        return np.unique(cluster[:n], return_inverse=True)[1]
