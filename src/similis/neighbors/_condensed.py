"""Condensed nearest neighbors, [cazzanti2007] sec. 2.2.2, and regression from the nearest of a few medoids."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from similis._utils.arrays import Array, Floats, Indices
from similis._utils.fitted import fitted_indices, fitted_reals
from similis.base import ProximityClassifier, ProximityRegressor, at_least, check_per_class, choice, estimator, param
from similis.solvers import k_medoids


@estimator
class CondensedNN(ProximityClassifier):
    """Classify by the most similar prototype, a medoid of its class. See [cazzanti2007] Eq. (2.7)-(2.8).

    Parameters
    ----------
    n_prototypes : int or array-like of shape (G,), default=1
        Prototypes per class; a class with fewer distinct objects gets as many as it has.
    clustering : {"kmedoids", "vsh"}, default="kmedoids"
        Alternating assignment and update, eq. (2.8), or vertex substitution, which exchanges one medoid at a time while
        that helps and ends in a better optimum.
    n_init : int, default=10
        Random starts with distinct medoids; the one with the largest total similarity is kept.
    max_iter : int, default=100
        Largest number of updates, or exchanges, from one start.
    random_state : int, RandomState instance or None
        For the starts.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of proximity in the matrix.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels.
    prototypes_, prototype_classes_, cluster_sizes_ : ndarray of shape (p,)
        Training indices of the prototypes, class by class, their class codes, and the sizes of their clusters.
    n_iter_ : int
        Largest number of iterations in any class.
    columns_ : ndarray
        Training objects whose columns ``predict`` reads: the prototypes.

    Notes
    -----
    Ties go to the prototype of the larger cluster, then to the earlier class; the paper does not say, and this rule
    comes closest to its tables for few features.

    Examples
    --------
    >>> from similis import CondensedNN
    >>> S = [[4.0, 3, 1, 0], [3, 4, 0, 1], [1, 0, 4, 2], [0, 1, 2, 4]]
    >>> CondensedNN(n_prototypes=2).fit(S, [0, 0, 1, 1]).predict([[2, 2, 3, 1]])
    array([1])
    """

    n_prototypes: Any = param(1, at_least(1), "array-like")
    clustering: str = param("kmedoids", choice("kmedoids", "vsh"))
    n_init: int = param(10, at_least(1))
    max_iter: int = param(100, at_least(1))
    random_state: Any = param(None, "random_state")
    kind: str = param("similarity", choice("similarity", "dissimilarity"))

    fitted_arrays = {
        "prototypes_": fitted_indices("p"),
        "prototype_classes_": fitted_indices("p", below="G"),
        "cluster_sizes_": fitted_indices("p"),
    }

    def learn(self, S: Array, codes: Indices) -> None:
        rng = check_random_state(self.random_state)
        prototypes, sizes, self.n_iter_ = [], [], 1
        for h, number in enumerate(check_per_class(self.n_prototypes, len(self.classes_), "n_prototypes")):
            members = np.flatnonzero(codes == h)
            # [cazzanti2007] Eq. (2.8) -> mu_hl = argmax_{mu in X_hl} sum_{z in X_hl} s(z, mu)
            found = k_medoids(
                S[np.ix_(members, members)],
                min(number, len(members)),
                sign=self.sign,
                method="vsh" if self.clustering == "vsh" else "alternating",
                n_init=self.n_init,
                max_iter=self.max_iter,
                random_state=rng,
            )
            prototypes.append(members[found.medoids])
            sizes.append(np.bincount(found.labels, minlength=len(found.medoids)))
            self.n_iter_ = max(self.n_iter_, found.n_iter)
        self.prototypes_, self.cluster_sizes_ = np.concatenate(prototypes), np.concatenate(sizes)
        self.prototype_classes_ = np.repeat(np.arange(len(self.classes_)), [len(p) for p in prototypes])
        self.keep_columns(self.prototypes_)

    def predict(self, X: ArrayLike) -> Array:
        # [cazzanti2007] Eq. (2.7) -> argmax_h max_l s(x, mu_hl)
        s = self.sign * self.kept_columns(self.check_rows(X))
        tied = s == s.max(axis=1, keepdims=True)
        return self.classes_[self.prototype_classes_[np.where(tied, self.cluster_sizes_, -1).argmax(axis=1)]]


@estimator
class MedoidRegressor(ProximityRegressor):
    """Predict the mean or median target of the objects around the nearest medoid, a baseline for regression.

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
    medoid_indices_, values_ : ndarray of shape (k,)
        Training objects that are medoids, ascending, and the statistic of the target in their clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import MedoidRegressor
    >>> x = np.array([0.0, 1.0, 2.0, 10.0, 11.0, 12.0])
    >>> model = MedoidRegressor(n_medoids=2, kind="dissimilarity", random_state=0).fit(np.abs(x[:, None] - x), 2 * x)
    >>> model.medoid_indices_, model.predict(np.abs(np.array([[3.0], [9.0]]) - x))
    (array([1, 4]), array([ 2., 22.]))
    """

    n_medoids: int = param(8, at_least(1))
    statistic: str = param("mean", choice("mean", "median"))
    n_init: int = param(10, at_least(1))
    kind: str = param("similarity", choice("similarity", "dissimilarity"))
    random_state: Any = param(None, "random_state")

    fitted_arrays = {"medoid_indices_": fitted_indices("kept"), "values_": fitted_reals("kept")}

    def learn(self, S: Array, target: Floats) -> None:
        k, rng = min(self.n_medoids, len(target)), check_random_state(self.random_state)
        found = k_medoids(S, k, sign=self.sign, n_init=self.n_init, random_state=rng).with_members()
        self.medoid_indices_ = found.medoids
        statistic = np.mean if self.statistic == "mean" else np.median
        self.values_ = np.array([statistic(target[found.labels == j]) for j in range(len(found.medoids))])
        self.keep_columns(self.medoid_indices_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # a baseline
        return tags

    def row_values(self, Q: Array) -> Floats:  # the first medoid wins a tie
        return self.values_[(self.sign * self.kept_columns(Q)).argmax(axis=1)]
