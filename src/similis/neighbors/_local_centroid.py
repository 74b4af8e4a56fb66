"""Local nearest centroid: centroids among the neighbors of each row. [cazzanti2007] sec. 2.2.3, 4.1."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from similis import _kernels, base
from similis._utils.arrays import Array, Indices
from similis._utils.fitted import fitted_count, fitted_indices, fitted_reals
from similis._utils.threads import map_row_chunks
from similis.base import Integral, Points, at_least, choice, estimator, param
from similis.solvers import top_k


@estimator
class LocalNearestCentroid(base.PathMixin, base.ProximityClassifier):
    """Classify by the most similar class centroid, with each class restricted to the k nearest neighbors.

    See [cazzanti2007] Eq. (2.9)-(2.10).

    Parameters
    ----------
    n_neighbors : int, default=5
        Number k of neighbors; clipped to the number n of training objects (``n_neighbors_``).
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of proximity in the matrix.
    n_jobs : int or None
        Number of threads over the rows; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels.

    Notes
    -----
    Ties go to the larger class count in the neighborhood, then to the earlier class: ch. 6 of the paper can use
    "priors" in no other way. Among equally central neighbors the one nearer to the query is the centroid. Missing
    entries (NaN) are left out of the means.

    Examples
    --------
    >>> from similis import LocalNearestCentroid
    >>> S = [[4.0, 3, 1, 0], [3, 4, 0, 1], [1, 0, 4, 2], [0, 1, 2, 4]]
    >>> LocalNearestCentroid(n_neighbors=3).fit(S, [0, 0, 1, 1]).predict([[2, 2, 3, 1]])
    array([1])
    """

    n_neighbors: int = param(5, at_least(1))
    kind: str = param("similarity", choice("similarity", "dissimilarity"))
    n_jobs: int | None = param(None, Integral, None)

    fitted_arrays = {
        "_codes": fitted_indices("n", below="G"),
        "_S": fitted_reals("n", "n"),
        "n_neighbors_": fitted_count(1, "n"),
    }
    path_params = ("n_neighbors",)
    allow_missing = True
    accept_sparse = keep_sparse = True

    def learn(self, S: Array, codes: Indices) -> None:
        self._S, self._codes = S, codes
        self.n_neighbors_ = base.clip_n_neighbors(len(codes), self.n_neighbors)

    def predict(self, X: ArrayLike) -> Array:
        winners, _ = self._local(X, chosen=False)
        return self.classes_[winners]

    def local_centroids(self, X: ArrayLike) -> Array:
        """Training index, (m, G), of each class's centroid among a row's neighbors; -1 for a class without any."""
        _, centroids = self._local(X, chosen=True)
        return centroids

    def _local(self, X: ArrayLike, chosen: bool) -> Any:
        """Winning class of each row and, if `chosen`, the local centroids."""

        def sweep(Q: Array) -> Any:
            indices, values = top_k(Q, self.n_neighbors_, sign=self.sign, n_jobs=self.n_jobs)
            n_columns = len(self.classes_) if chosen else 0
            return self._sweep(self._S, self._codes, indices, values, [self.n_neighbors_], n_columns)

        return (found[:, 0] for found in self.map_rows(sweep, X))

    def _sweep(
        self, S: Array | base.SparseRows, codes: Indices, indices: Indices, values: Array, ks: Any, n_columns: int = 0
    ) -> Any:
        if isinstance(S, base.SparseRows):
            found = []
            for rows, objects, block, local in S.neighborhoods(indices):
                won, chosen = self._sweep(block, codes[objects], local, values[rows], ks, n_columns)
                found.append((won, np.where(chosen < 0, -1, objects[chosen])))
            return tuple(map(np.concatenate, zip(*found)))
        m, ks = len(indices), np.asarray(ks, dtype=np.intp)
        winners, chosen = np.empty((m, len(ks)), np.intp), np.empty((m, len(ks), n_columns), np.intp)
        values = np.ascontiguousarray(values, dtype=S.dtype)

        def work(rows: Any) -> None:
            given = indices[rows], values[rows], ks, len(self.classes_)
            _kernels.local_centroids(S, float(self.sign), codes, *given, winners[rows], chosen[rows])

        map_row_chunks(work, m, self.n_jobs)
        return winners, chosen

    def path_scores(
        self, S: Array, codes: Indices, Q: Array, points: Points, test_fold: Indices | None = None
    ) -> Iterator[Array]:
        ks = [point["n_neighbors"] for point in points]
        k = base.clip_n_neighbors(base.max_neighbors(len(codes), test_fold), max(ks))
        indices, values = top_k(Q, k, sign=self.sign, folds=test_fold, n_jobs=self.n_jobs)
        grid = np.unique(ks)
        winners, _ = self._sweep(S, codes, indices, values, grid)
        one_hot = np.eye(len(self.classes_))
        return (one_hot[winners[:, t]] for t in np.searchsorted(grid, ks))

    def path_scores_cv(self, S: Array, codes: Indices, test_fold: Indices, points: Points) -> Iterator[Array]:
        return self.path_scores(S, codes, S, points, test_fold)
