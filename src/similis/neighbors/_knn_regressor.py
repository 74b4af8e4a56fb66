"""Regression by k nearest neighbors, uniform or weighted. [chen2010] ch. 3."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from similis._utils.arrays import Array, Floats, Indices
from similis.base import Points, ProximityRegressor, RegressorPathMixin, fitted_count, fitted_reals
from similis.neighbors._weights import NeighborWeights, simple_weights
from similis.solvers import local_means, neighbor_means


class SimilarityKNNRegressor(NeighborWeights, RegressorPathMixin, ProximityRegressor):
    """Predict the weighted mean of the target of the k most similar training objects.

    Weights and rules for ties and missing entries are those of :class:`SimilarityKNN`, [chen2010] Eq. (3.1), (3.3),
    (3.5), (3.8).

    Parameters
    ----------
    n_neighbors : int, default=5
        Number k of neighbors; clipped to the number n of training objects (``n_neighbors_``).
    weights : {"uniform", "affinity", "kri", "krr", "lime"} or callable, default="uniform"
        As in :class:`SimilarityKNN`; "krr" has the neighbors' mean as intercept and may leave the range of targets.
    spectrum : {"auto", "clip", "flip", "shift", "pinv"} or None, default="auto"
        As in :class:`SimilarityKNN`, but "auto" is "clip": weights by "pinv" can be arbitrarily large.
    regularization, kind, n_jobs
        As in :class:`SimilarityKNN`.

    Attributes
    ----------
    mean_ : float
        Mean of the training target, predicted for a row without known entries.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import SimilarityKNNRegressor
    >>> x = np.linspace(0, 6, 40)
    >>> S = np.exp(-(x[:, None] - x) ** 2)
    >>> model = SimilarityKNNRegressor(n_neighbors=6, weights="krr", regularization=0.01).fit(S, np.sin(x))
    >>> model.predict(np.exp(-(np.array([[1.5], [4.5]]) - x) ** 2)).round(3)
    array([ 0.992, -0.971])
    """

    fitted_arrays = {
        "_target": fitted_reals("n"),
        "_S": fitted_reals("n", "n", optional=True),
        "n_neighbors_": fitted_count(1, "n"),
    }
    _auto_krr = "clip"

    def learn(self, S: Array, target: Floats) -> None:
        self._check_training(S)
        self._target, self.mean_ = target, float(target.mean())

    def neighbor_weights(self, X: ArrayLike) -> tuple[Indices, Floats]:
        """Neighbors of each row, nearest first, -1 for none, and their weights of sum one in the prediction.

        The intercept of KRR is spread evenly over the neighbors.
        """
        indices, weights = super().neighbor_weights(X)
        if self.weights == "krr":
            known = indices >= 0
            weights = weights + known * ((1 - weights.sum(axis=1)) / known.sum(axis=1))[:, None]
        return indices, weights

    def row_values(self, Q: Array) -> Floats:
        points = [{"n_neighbors": self.n_neighbors_, "regularization": self.regularization}]
        return self._means(self._S, self._target, Q, points)[0]

    def path_values(self, S: Array, target: Floats, Q: Array, points: Points) -> list[Floats]:
        self._check_parameters(S)
        return self._means(S, target, Q, points)

    def path_values_cv(self, S: Array, target: Floats, test_fold: Indices, points: Points) -> list[Floats]:
        self._check_parameters(S)
        return self._means(S, target, S, points, test_fold)

    def _means(self, S: Any, target: Floats, Q: Array, points: Points, test_fold: Indices | None = None) -> Any:
        """Weighted means (m,) for each point; with `test_fold`, over neighbors outside each row's fold."""
        ks, lambdas = ([point[name] for point in points] for name in self.path_params)
        indices, values = self._ranked(Q, test_fold, ks)
        grid, places = np.unique(np.minimum(ks, indices.shape[1]), return_inverse=True)
        if self._is_local:
            ridges, at = np.unique(lambdas, return_inverse=True)
            table = local_means(S, indices, values, target, grid, ridges, **self._local_options)
            return [table[t, r] for t, r in zip(places, at)]
        means = neighbor_means(indices, target, grid, weights=simple_weights(self.weights, indices, values))
        if (lost := indices[:, 0] < 0).any():
            outside = target.mean()
            if test_fold is not None:
                counts, sums = np.bincount(test_fold), np.bincount(test_fold, weights=target)
                outside = ((target.sum() - sums) / np.maximum(len(target) - counts, 1))[test_fold[lost]]
            means[:, lost] = outside
        return [means[t] for t in places]
