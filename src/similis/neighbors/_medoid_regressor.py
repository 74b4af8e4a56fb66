"""Regression from the nearest of a few medoids: a baseline. [qiao2013] sec. 2.2 for the medoids."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from similis._utils.arrays import Array, Floats
from similis.base import ProximityRegressor, at_least, choice, fitted_indices, fitted_reals
from similis.solvers import k_medoids


class MedoidRegressor(ProximityRegressor):
    """Predict the mean or median target of the objects around the nearest medoid.

    A baseline without weights or kernels, whose predictions need the columns of the medoids only.

    Parameters
    ----------
    n_medoids : int, default=8
        Number of medoids; clipped to the number of training objects.
    statistic : {"mean", "median"}, default="mean"
        Statistic of the target in each cluster.
    n_init : int, default=10
        Number of random starts of the clustering.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of proximity in the matrix.
    random_state : int, RandomState instance or None, default=None
        Random seed of the starts.

    Attributes
    ----------
    medoid_indices_ : ndarray of shape (k,)
        Training objects that are medoids, ascending.
    values_ : ndarray of shape (k,)
        Statistic of the target in the cluster of each medoid.

    See Also
    --------
    similis.KMedoids : The clustering.
    SimilarityKNNRegressor : Weighted neighbors.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import MedoidRegressor
    >>> x = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.0])
    >>> model = MedoidRegressor(n_medoids=2, kind="dissimilarity", random_state=0).fit(np.abs(x[:, None] - x), 2 * x)
    >>> model.medoid_indices_, model.predict(np.abs(np.array([[3.0], [9.0]]) - x))
    (array([1, 4]), array([ 2., 22.]))
    """

    fitted_arrays = {
        "medoid_indices_": fitted_indices("kept"),
        "values_": fitted_reals("kept"),
    }

    _parameter_constraints = {
        "n_medoids": [at_least(1)],
        "statistic": [choice("mean", "median")],
        "n_init": [at_least(1)],
        "kind": [choice("similarity", "dissimilarity")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        n_medoids: int = 8,
        statistic: str = "mean",
        n_init: int = 10,
        kind: str = "similarity",
        random_state: Any = None,
    ) -> None:
        self.n_medoids = n_medoids
        self.statistic = statistic
        self.n_init = n_init
        self.kind = kind
        self.random_state = random_state

    def learn(self, S: Array, target: Floats) -> None:
        k = min(self.n_medoids, len(target))
        rng = check_random_state(self.random_state)
        found = k_medoids(S, k, sign=self.sign, n_init=self.n_init, random_state=rng).with_members()
        self.medoid_indices_ = found.medoids
        statistic = np.mean if self.statistic == "mean" else np.median
        self.values_ = np.array([statistic(target[found.labels == j]) for j in range(len(found.medoids))])
        self.keep_columns(self.medoid_indices_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # a baseline
        return tags

    def row_values(self, Q: Array) -> Floats:
        """Predicted values of validated rows; the first medoid wins a tie."""
        return self.values_[(self.sign * self.kept_columns(Q)).argmax(axis=1)]
