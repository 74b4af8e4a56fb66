"""The nearest class mean in pseudo-Euclidean space, without the embedding. [pekalska2000] sec. 2."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from similis.base import ProximityClassifier, fitted_reals, validated

__all__ = ["PseudoNearestMean"]


class PseudoNearestMean(ProximityClassifier):
    """Classify by the nearest class mean in the space where the dissimilarities are distances.

    The squared distance from x to the mean of class g is, in Euclidean space as in the pseudo-Euclidean one of
    :class:`similis.PseudoEuclidean`,

        mean over i in g of d(x, i)^2 - 1/2 mean over i, j in g of d(i, j)^2,

    so that nothing need be embedded. It is negative where the negative axes prevail.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels.
    spread_ : ndarray of shape (G,)
        1/2 mean of d(i, j)^2 within each class: the mean squared distance to the class mean.
    n_features_in_ : int
        Number of training objects.

    See Also
    --------
    similis.NearestCentroid : The nearest class medoid, an object.

    Notes
    -----
    The paper leaves classifiers in the embedding space to future work. Equal to the embedding's for a symmetric D; else
    a new row is read in its own direction.

    References
    ----------
    [pekalska2000] sec. 2.

    Examples
    --------
    >>> from similis import PseudoNearestMean
    >>> D = [[0.0, 2.0, 6.0, 9.0], [2.0, 0.0, 4.0, 7.0], [6.0, 4.0, 0.0, 3.0], [9.0, 7.0, 3.0, 0.0]]
    >>> model = PseudoNearestMean().fit(D, ["a", "a", "b", "b"])  # points 0, 2, 6, 9 on a line
    >>> model.decision_function([[5.0, 3.0, 1.0, 4.0]])  # point 5: 4^2 - 2.5^2
    array([9.75])
    """

    fitted_arrays = {
        "_weights": fitted_reals("n", "G"),
        "spread_": fitted_reals("G"),
    }

    reads = "dissimilarity"
    _parameter_constraints: dict[str, list[Any]] = {}

    @validated
    def fit(self, X: ArrayLike, y: Any) -> Self:
        """Find the spread of each class.

        Parameters
        ----------
        X : array-like of shape (n, n)
            Training dissimilarities.
        y : array-like of shape (n,)
            Class labels.

        Returns
        -------
        self
        """
        D, codes = self.check_training_labels(X, y)
        members = codes[:, None] == np.arange(len(self.classes_))
        self._weights = members / members.sum(axis=0)  # (n, G), averages a row over each class
        to_class = self._mean_squares(D)
        self.spread_ = np.einsum("ig,ig->g", self._weights, to_class) / 2
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[Any]:
        """Minus the squared distance to each class mean; for two classes the first's distance minus the second's.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Dissimilarities of new objects to the training objects.

        Returns
        -------
        ndarray of shape (m, G), or (m,) for two classes
        """
        return self.respond(X, "decision_function")

    def class_scores(self, Q: NDArray[Any]) -> NDArray[Any]:
        """Minus the squared distance to each class mean, up to a common term."""
        return self.spread_ - self._mean_squares(Q)

    def _mean_squares(self, D: NDArray[Any]) -> Any:
        return np.square(D, dtype=np.float64) @ self._weights
