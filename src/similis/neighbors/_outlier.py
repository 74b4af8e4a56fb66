"""Outliers from a proximity matrix, with calibrated p-values."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp
from sklearn.base import OutlierMixin

from similis._utils.arrays import Floats, Indices
from similis._utils.fitted import fitted_count, fitted_reals
from similis.base import ProximityEstimator, at_least, between, choice, estimator, param, validated
from similis.exceptions import ProximityError
from similis.solvers import gamma_shape, top_k


@estimator
class ProximityOutlier(OutlierMixin, ProximityEstimator):
    """Detect objects unlike the training objects, by neighbors or density.

    Parameters
    ----------
    method : {"lof", "knn", "hlm"}, default="lof"
        Score of an object:

        - "lof": local outlier factor, its local density relative to that of its neighbors; for clusters of different
          densities [breunig2000];
        - "knn": mean proximity to the k nearest objects;
        - "hlm": logarithm of the kernel density of hypothetical local mapping, [qiao2013] Eq. (6); no parameter.
    n_neighbors : int, default=20
        Number k of neighbors of "lof" and "knn"; clipped to n - 1 (``n_neighbors_``).
    alpha : float, default=0.05
        Objects with a p-value of at most `alpha` are outliers: that share of objects like the training objects.
    kind : {"similarity", "dissimilarity"}, default="dissimilarity"
        Kind of proximity in the matrix; "lof" and "hlm" read dissimilarities only.

    Attributes
    ----------
    training_scores_ : ndarray of shape (n,)
        Score of each training object, by the other ones.

    Notes
    -----
    The p-value of an object that is exchangeable with the training objects is at most alpha with probability alpha, up
    to the effect of one object on the scores of the others. The smallest p-value is 1 / (n + 1); outliers among the
    training objects make it larger. Distances of zero to all k neighbors have an infinite density; the factor of two
    infinite densities is one.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import ProximityOutlier
    >>> x = np.linspace(0, 1, 50)
    >>> model = ProximityOutlier(n_neighbors=5).fit(np.abs(x[:, None] - x))
    >>> rows = np.abs(np.array([[0.51], [3.0]]) - x)
    >>> model.p_values(rows).round(2), model.predict(rows)
    (array([0.8 , 0.02]), array([ 1, -1]))
    """

    method: str = param("lof", choice("lof", "knn", "hlm"))
    n_neighbors: int = param(20, at_least(1))
    alpha: float = param(0.05, between(0, 1))
    kind: str = param("dissimilarity", choice("similarity", "dissimilarity"))

    fitted_arrays = {
        "training_scores_": fitted_reals("n"),
        "_reach": fitted_reals("n"),
        "_density": fitted_reals("n"),
        "n_neighbors_": fitted_count(1, "n"),
    }

    @validated
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Compute the scores of at least two training objects from their proximities, (n, n); `y` is ignored."""
        if self.kind == "similarity" and self.method != "knn":
            raise ProximityError(
                f"method={self.method!r} reads dissimilarities. Convert by ToDissimilarity() and set "
                "kind='dissimilarity', or use method='knn'."
            )
        D = self.check_training(X)
        n = len(D)
        if n < 2:
            raise ProximityError("ProximityOutlier needs at least two objects. Got n_samples = 1.")
        self.n_neighbors_ = min(self.n_neighbors, n - 1)
        others = np.array(D, dtype=np.float64)
        np.fill_diagonal(others, -np.inf if self.kind == "similarity" else np.inf)  # never its own neighbor
        self._reach = self._density = np.zeros(n)
        self._width = 1.0
        if self.method == "lof":
            nearest, distances = top_k(others, self.n_neighbors_, sign=self.sign)
            self._reach = distances[:, -1].copy()  # distance of the k-th neighbor
            self._density = self._local_density(nearest, distances)
        elif self.method == "hlm":
            # [qiao2013] sec. 3.2 -> u, squared distance of the nearest neighbor, is gamma: log s - psi(s) = log(mean u
            # / geometric mean u), b = mean u / s
            u = others.min(axis=1) ** 2
            u = u[u > 0]
            if len(u):
                s = gamma_shape(max(float(np.log(u.mean()) - np.log(u).mean()), 0.0))
                self._width = float(u.mean() / min(float(s), 1e3))  # equal distances would make s infinite
        self.training_scores_ = self._scores(others)
        return self

    def score_samples(self, X: ArrayLike) -> Floats:
        """Score new objects, (m,), low for objects unlike the training objects.

        Minus the local outlier factor or mean dissimilarity, the mean similarity, or a log density up to a constant.
        """
        return self._scores(self.check_rows(X).astype(np.float64))

    def p_values(self, X: ArrayLike) -> Floats:
        """Compute the p-values, (m,), of new objects: (1 + number of training scores up to their own) / (n + 1)."""
        scores = self.score_samples(X)
        below = np.searchsorted(np.sort(self.training_scores_), scores, side="right")
        return np.asarray((1 + below) / (len(self.training_scores_) + 1))

    def predict(self, X: ArrayLike) -> Indices:
        """Predict -1 for outliers, whose p-value is at most `alpha`, and 1 for others."""
        return np.where(self.p_values(X) <= self.alpha, -1, 1)

    def fit_predict(self, X: ArrayLike, y: Any = None) -> Indices:
        """Fit, and predict -1 for the training objects that are outliers among the others, 1 for the rest, (n,)."""
        scores = self.fit(X).training_scores_
        rank = np.searchsorted(np.sort(scores), scores, side="right")  # the object itself is counted
        return np.where(rank <= self.alpha * len(scores), -1, 1)

    def _local_density(self, nearest: Indices, distances: Floats) -> Floats:
        """Inverse of the mean reachability distance max(k-distance of the neighbor, distance)."""
        mean = np.maximum(distances, self._reach[nearest]).mean(axis=1)
        return 1 / np.maximum(mean, np.finfo(np.float64).tiny * 1e8)

    def _scores(self, Q: Floats) -> Floats:
        """Scores of rows; infinite dissimilarities are ignored."""
        if self.method == "hlm":
            return np.asarray(logsumexp(-(Q**2) / self._width, axis=1) - np.log(np.isfinite(Q).sum(axis=1)))
        nearest, values = top_k(Q, self.n_neighbors_, sign=self.sign)
        if self.method == "knn":
            return np.asarray(self.sign * values.mean(axis=1))
        return -self._density[nearest].mean(axis=1) / self._local_density(nearest, values)
