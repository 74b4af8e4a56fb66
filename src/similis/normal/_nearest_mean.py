"""The nearest class mean in pseudo-Euclidean space, without the embedding."""

from typing import Any

import numpy as np

from similis._utils.arrays import Array, Indices
from similis.base import DecisionMixin, ProximityClassifier, fitted_reals


class PseudoNearestMean(DecisionMixin, ProximityClassifier):
    """Classify by the nearest class mean in the space where the dissimilarities are distances.

    The squared distance from x to the mean of class g, in the space of :class:`similis.PseudoEuclidean`, is

        mean over i in g of d(x, i)^2 - 1/2 mean over i, j in g of d(i, j)^2,

    negative where the negative axes prevail, so that nothing need be embedded. [pekalska2000] sec. 2 leaves such
    classifiers to future work. Equal to the embedding's for a symmetric D; else a new row is read in its own direction.

    Attributes
    ----------
    classes_, spread_ : ndarray of shape (G,)
        Class labels, and 1/2 mean of d(i, j)^2 within each class: the mean squared distance to the class mean.

    Examples
    --------
    >>> from similis import PseudoNearestMean
    >>> D = [[0.0, 2.0, 6.0, 9.0], [2.0, 0.0, 4.0, 7.0], [6.0, 4.0, 0.0, 3.0], [9.0, 7.0, 3.0, 0.0]]
    >>> model = PseudoNearestMean().fit(D, ["a", "a", "b", "b"])  # points 0, 2, 6, 9 on a line
    >>> model.decision_function([[5.0, 3.0, 1.0, 4.0]])  # point 5: 4^2 - 2.5^2
    array([9.75])
    """

    fitted_arrays = {"_weights": fitted_reals("n", "G"), "spread_": fitted_reals("G")}

    reads = "dissimilarity"

    def learn(self, S: Array, codes: Indices) -> None:
        members = codes[:, None] == np.arange(len(self.classes_))
        self._weights = members / members.sum(axis=0)  # (n, G), averages a row over each class
        to_class = self._mean_squares(S)
        self.spread_ = np.einsum("ig,ig->g", self._weights, to_class) / 2

    def class_scores(self, Q: Array) -> Array:
        return self.spread_ - self._mean_squares(Q)

    def _mean_squares(self, D: Array) -> Any:
        return np.square(D, dtype=np.float64) @ self._weights
