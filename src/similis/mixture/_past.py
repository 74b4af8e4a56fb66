"""What an incremental model remembers of one class. [qiao2013] sec. 4."""

from __future__ import annotations

import numpy as np

from similis._utils.storable import storable
from similis._utils.stored import block_of, on_disk, room_for
from similis._utils.threads import row_blocks
from similis.mixture._clustering import Clustering
from similis.mixture._statistics import Beside, Clusters, nearest_squares, squares_to

__all__ = ["Past"]


@storable
class Past:
    """Components of one class, and for scheme II objects with their distances, clusters, samples and weights.

    Attributes
    ----------
    centroids : ndarray
        Numbers of the centroids in order of arrival.
    clusters : Clusters
        Statistics of their clusters.
    near : Clusters
        Squared distances of objects to their nearest neighbours, as one cluster: for degenerate data.
    rounds : int
        Batches with objects of the class so far.
    objects : ndarray
        Numbers of the objects that are remembered.
    D : ndarray
        Distances between them.
    mass : ndarray
        How many objects each stands for.
    sample, weights : ndarray
        Places of those that take part in the next clustering, ascending, and what they weigh there.
    """

    def __init__(self):
        self.centroids, self.rounds = np.empty(0, dtype=np.intp), 0
        self.clusters, self.near = Clusters.empty([]), Clusters.empty([0])
        self.objects, self.D, self.mass = np.empty(0, dtype=np.intp), np.empty((0, 0)), np.empty(0)
        self.sample, self.weights = np.empty(0, dtype=np.intp), np.empty(0)

    def learn(self, model, past, rows, known, new, arrived, seed, draw):
        """Take in new objects.

        Parameters
        ----------
        model : IncrementalHLM
            For its parameters.
        past : ndarray of shape (M, len(known)) or (M, 0)
            Distances of all new objects to earlier ones.
        rows : ndarray of shape (m,)
            Which of the new objects are of this class.
        known : ndarray
            Numbers of those.
        new : ndarray of shape (m, m)
            Distances among these.
        arrived : ndarray of shape (m,)
            Their numbers.
        seed : int
            For the clustering.
        draw : numpy.random.Generator
            For the samples.
        """
        if model.scheme == "append":
            self._append(model, new, arrived, seed)
        else:
            earlier = block_of(past, rows, np.searchsorted(known, self.objects))
            self._resample(model, earlier, new, arrived, seed, draw)
        self.rounds += 1

    def _append(self, model, new, arrived, seed):
        """Scheme I, sec. 4.1: the clusters of the batch join the earlier ones."""
        medoids, labels = self._cluster(model, new, None, model.n_components, seed)
        u = squares_to(new, medoids, labels)
        latest = slice(None if model.max_components is None else -model.max_components, None)
        self.clusters = Clusters.join([self.clusters, Clusters.of(u, labels, len(medoids))]).take(latest)
        self.centroids = np.concatenate([self.centroids, arrived[medoids]])[latest]
        self._remember_near(new)

    def _resample(self, model, past, new, arrived, seed, draw):
        """Scheme II, sec. 4.2: cluster the batch with weighted samples of the past, assign the others."""
        n, m = len(self.objects), len(arrived)
        self._remember_near(Beside(new, past))
        self.D = _joined(self.D, past, new)
        self.objects = np.concatenate([self.objects, arrived])
        self.mass = np.concatenate([self.mass, np.ones(m)])
        taking_part = np.concatenate([self.sample, n + np.arange(m)])
        w = np.concatenate([self.weights, np.ones(m)])
        k = model.n_components + model.growth * self.rounds
        k = k if model.max_components is None else min(k, model.max_components)
        # [qiao2013] sec. 4.2 -> R = H D
        block = block_of(self.D, taking_part, taking_part)
        medoids, own = self._cluster(model, block, w if (w != 1).any() else None, k, seed)
        medoids = taking_part[medoids]
        labels = self.D[:, medoids].argmin(axis=1)
        labels[taking_part] = own
        u = squares_to(self.D, medoids, labels)
        # Eq. (3) for all objects; bounded, where all that are left take part, Eq. (4)
        weights = w if model.bounded else None
        self.clusters = Clusters.of(u, labels, len(medoids), weights=weights, mass=self.mass)
        self.centroids = self.objects[medoids]
        self._draw(model, medoids, labels, draw)

    def _cluster(self, model, D, weights, k, seed):
        return Clustering(D, model.clustering, model.n_init, seed, weights)(k)

    def _draw(self, model, medoids, labels, draw):
        """Choose who takes part next time; a bounded model forgets the others."""
        places, mass = [], self.mass.copy()
        for j, medoid in enumerate(medoids):
            members = np.flatnonzero(labels == j)
            others = members[members != medoid]
            drawn = members
            if len(others) > model.sample_size:
                drawn = np.append(draw.permutation(others)[: model.sample_size], medoid)
                mass[drawn] = mass[members].sum() / len(drawn)
            places.append(drawn)
        self.sample = np.sort(np.concatenate(places))
        # [qiao2013] sec. 4.2 -> w_i = sqrt((|I_j| + 1) / (v + 1)), 1 where all are kept
        self.weights = np.sqrt(mass[self.sample])
        if model.bounded:
            self.objects, self.D = self.objects[self.sample], self.D[np.ix_(self.sample, self.sample)]
            self.mass, self.sample = mass[self.sample], np.arange(len(self.sample))

    def _remember_near(self, around):
        u = nearest_squares(around)
        u = u if u.any() else nearest_squares(around, positive=True)
        found = Clusters.of(u, np.zeros(len(u), dtype=np.intp), 1)
        self.near = Clusters.join([self.near, found]).pooled()


def _joined(D, past, new):
    """[[D, past'], [past, new]]; on disk, if it is large and a part of it is there."""
    n, m = len(D), len(new)
    shape = n + m, n + m
    stored = on_disk(D) or on_disk(new)
    out = np.asarray(room_for(shape, new.dtype, part=True)) if stored else np.empty(shape, new.dtype)
    for rows in row_blocks(n, n + m):
        out[rows, :n], out[rows, n:] = D[rows], past[:, rows].T
    for rows in row_blocks(m, n + m):
        out[n:, :n][rows], out[n:, n:][rows] = past[rows], new[rows]
    return out
