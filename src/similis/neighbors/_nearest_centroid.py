"""Nearest centroid: one object represents each class. [cazzanti2007] sec. 2.2.3, 3.1, 3.2.1."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from similis import base
from similis._utils.arrays import Array, Indices
from similis._utils.fitted import fitted_indices, fitted_reals
from similis.base import DecisionMixin, PathMixin, Points, ProximityClassifier, choice, estimator, param, validated
from similis.exceptions import ProximityError
from similis.solvers import centroids_by_fold, class_centroids


@estimator
class NearestCentroid(DecisionMixin, PathMixin, ProximityClassifier):
    """Classify by the most similar class centroid.

    The centroid of a class is a training object, so that predictions read one column per class. See [cazzanti2007] Eq.
    (2.9)-(2.10), (3.1), (3.10)-(3.11).

    Parameters
    ----------
    adjusted : bool, default=False
        Divide the similarity to a centroid by its class's mean, eq. (3.1), which favors classes of large spread.
    centroid : {"max-sum", "popular", "any-class"}, default="max-sum"
        The member with the largest total similarity to its class, eq. (2.10), the one that is most often a nearest
        neighbor, eq. (3.11), or the object of any class with the largest total similarity to the class, eq. (3.10).
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of proximity in the matrix.

    Attributes
    ----------
    classes_, centroids_ : ndarray of shape (G,)
        Class labels, and the training index of each class's centroid.
    columns_ : ndarray
        Training objects whose columns ``predict`` reads: the different centroids, ascending.
    mean_proximity_, class_count_ : ndarray of shape (G,)
        Mean proximity of each class to its centroid, itself included, and number (or total weight) of its objects.

    Notes
    -----
    A tie between centroids goes to the earlier class, a tie in the choice of a centroid to the lower index; sums that
    differ by round-off count as tied. The paper defines popularity by the nearest neighbors of all training objects and
    describes it by those of the class; the definition is used. Missing entries (NaN) are left out of the means; a class
    with a missing similarity to its centroid is predicted only if all are missing.

    With ``adjusted=True`` a class whose mean distance is zero, as that of a class with one member, is predicted for
    objects at distance zero, and objects are compared with several such classes by plain distances.

    Examples
    --------
    >>> from similis import NearestCentroid
    >>> S = [[4.0, 3, 1, 0], [3, 4, 0, 1], [1, 0, 4, 2], [0, 1, 2, 4]]
    >>> NearestCentroid().fit(S, [0, 0, 1, 1]).predict([[2, 2, 3, 1]])
    array([1])
    """

    adjusted: bool = param(False, "boolean")
    centroid: Literal["max-sum", "popular", "any-class"] = param("max-sum", choice("max-sum", "popular", "any-class"))
    kind: str = param("similarity", choice("similarity", "dissimilarity"))

    fitted_arrays = {
        "centroids_": fitted_indices("G"),
        "class_count_": fitted_reals("G", low=0),
        "mean_proximity_": fitted_reals("G", nan=True, infinite=True),
    }
    allow_missing = True
    accept_sparse = keep_sparse = True

    @validated
    def fit(self, X: ArrayLike, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Choose the centroids from the proximities (n, n) and the labels.

        An object's `sample_weight` is equivalent to repeating it so often, or the weight of its vote for "popular".
        """
        S, codes = self.check_training_labels(X, y, keep_sparse=True)
        self._fit(S, codes, base.check_class_weights(sample_weight, S, codes, self.classes_))
        return self

    def _fit(self, S: Array, codes: Indices, weight: Array | None = None) -> Self:
        weight = np.ones(len(codes)) if weight is None else weight
        G = len(self.classes_)
        self.class_count_ = np.bincount(codes, weights=weight, minlength=G)
        self.centroids_ = class_centroids(S, codes, G, rule=self.centroid, sign=self.sign, sample_weight=weight)
        self.mean_proximity_ = self._mean_to_centroid(S, codes, self.centroids_, weight)
        self.keep_columns(self.centroids_)
        return self

    def class_scores(self, Q: Array) -> Array:
        return self._score(self.kept_columns(Q), self.mean_proximity_, self.class_count_)

    def _score(self, to_centroids: Array, mean: Any, class_count: Any) -> Any:
        """[cazzanti2007] Eq. (2.9) -> s(x, mu_h), or [cazzanti2007] Eq. (3.1) -> s(x, mu_h) / mean s(., mu_h)."""
        scores = np.asarray(to_centroids, dtype=np.float64)
        if self.adjusted:
            # A mean of zero (a single member at distance zero): the limit of a common small mean.
            scores = scores / np.maximum(mean, np.finfo(np.float64).eps * mean.max() if mean.any() else 1.0)
        scores = self.sign * scores
        unknown = np.isnan(scores)
        if unknown.any():
            scores = np.where(unknown, -np.inf, scores)
            scores[unknown.all(axis=1)] = class_count
        return scores

    def _mean_to_centroid(self, S: Array, codes: Indices, centroids: Indices, weight: Array) -> Any:
        """Weighted mean over each class of its proximity to its centroid; 0 for a class without members."""
        to_centroid = S[np.arange(len(codes)), centroids[codes]].astype(np.float64)
        known = ~np.isnan(to_centroid)
        total = np.bincount(codes, weights=weight * np.where(known, to_centroid, 0.0), minlength=len(centroids))
        mass = np.bincount(codes, weights=weight * known, minlength=len(centroids))
        mean = np.divide(total, mass, out=np.zeros(len(centroids)), where=mass > 0)
        if self.adjusted and (mean < 0).any():
            raise ProximityError(
                f"adjusted=True divides by the mean similarity of a class to its centroid, which must not be negative. "
                f"Class {base.quote(self.classes_[np.argmin(mean)])} has {mean.min():.4g}. "
                "Shift the similarities, or use adjusted=False."
            )
        return mean

    def path_scores(self, S: Array, codes: Indices, Q: Array, points: Points) -> list[Array]:
        return [self._fit(S, codes).class_scores(Q)] * len(points)

    def path_scores_cv(self, S: Array, codes: Indices, test_fold: Indices, points: Points) -> list[Array]:
        G = len(self.classes_)
        scores = np.empty((len(codes), G))
        for test, centroids in centroids_by_fold(S, codes, G, test_fold, rule=self.centroid, sign=self.sign):
            weight = (~test).astype(float)
            mean = self._mean_to_centroid(S, codes, centroids, weight) if self.adjusted else None
            scores[test] = self._score(S[np.ix_(test, centroids)], mean, np.bincount(codes, weight, minlength=G))
            scores[np.ix_(test, centroids < 0)] = -np.inf
        return [scores] * len(points)
