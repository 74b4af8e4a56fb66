"""Proximity rows as feature vectors, and kernels of rows ([chen2010] sec. 2.1.6, 2.2; [pekalska2000] sec. 2)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import check_random_state

from similis._utils.arrays import Array, Indices
from similis._utils.linalg import row_distances
from similis.base import at_least, check_labels, choice, estimator, fitted_indices, fitted_reals, param, positive
from similis.exceptions import ProximityError
from similis.proximity._base import ToRows
from similis.proximity._landmarks import choose_prototypes


class SimilarityFeatures(ToRows):
    """Use the row of an object as its feature vector ([chen2010] sec. 2.2; SVC-D of [pekalska2000] sec. 2.2).

    The rows are unchanged. As the first step of a pipeline with any classifier of feature vectors, this transformer
    declares the matrix as pairwise: cross-validation removes held-out objects from the columns too.

    Examples
    --------
    >>> from similis.proximity import SimilarityFeatures
    >>> SimilarityFeatures().fit([[2.0, 0.0], [0.0, 2.0]]).transform([[1.0, 0.5]])
    array([[1. , 0.5]])
    """

    def learn(self, S: Array, y: Any) -> None:
        """Do nothing: rows stay as they are."""

    def transform_rows(self, Q: Array) -> Array:
        return Q.copy()

    def fold_coefficients(self, coef: Array) -> Array:
        return coef


@estimator
class DissimilaritySpace(ToRows):
    """Describe an object by its dissimilarities to a few prototypes ([pekalska2000] sec. 2).

    Parameters
    ----------
    n_prototypes : int, default=None
        Number of prototypes, at most the number of objects. None means the square root of the number of objects,
        rounded up (all of them with ``selection="all"``).
    selection : {"all", "random", "kcenter", "medoids", "forward"}, default="all"
        Every object; random objects; repeatedly the object farthest from those selected; medoids of clusters; or, with
        labels, repeatedly the prototype with the smallest leave-one-out error of the nearest-prototype rule.
    random_state : int, RandomState or None, default=None
        Random seed of ``random``.

    Attributes
    ----------
    prototype_indices_, columns_ : ndarray of int
        Training objects that are prototypes: the columns of a new row that are used, in the order of the output.

    Examples
    --------
    >>> from similis.proximity import DissimilaritySpace
    >>> space = DissimilaritySpace(n_prototypes=2, selection="kcenter")
    >>> space.fit([[0.0, 1.0, 8.0], [1.0, 0.0, 7.0], [8.0, 7.0, 0.0]]).transform([[3.0, 2.0, 5.0]])
    array([[2., 5.]])
    """

    n_prototypes: int | None = param(None, at_least(1), None)
    selection: str = param("all", choice("all", "random", "kcenter", "medoids", "forward"))
    random_state: Any = param(None, "random_state")

    fitted_arrays = {"prototype_indices_": fitted_indices("p", below="n")}
    reads = "dissimilarity"

    def learn(self, S: Array, y: Any) -> None:
        n = len(S)
        if self.selection == "all":
            if self.n_prototypes is not None:
                raise ProximityError(
                    f"n_prototypes={self.n_prototypes} cannot be combined with selection='all'. Use 'random', "
                    "'kcenter', 'medoids' or 'forward'."
                )
            self.prototype_indices_ = np.arange(n)
            return
        k = min(n, self.n_prototypes or math.isqrt(n - 1) + 1)
        forward, rng = self.selection == "forward", check_random_state(self.random_state)
        codes = check_labels(y, n, who="DissimilaritySpace(selection='forward')")[1] if forward else None
        self.prototype_indices_ = choose_prototypes(S, k, self.selection, rng, codes)

    def transform_rows(self, Q: Array) -> Array:
        return Q[:, self.prototype_indices_]

    @property
    def columns_(self) -> Indices:
        return self.prototype_indices_

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns of the prototypes: those seen in `fit`, `input_features`, or x0, x1, ..."""
        return super().get_feature_names_out(input_features)[self.prototype_indices_]

    def select_columns(self, columns: Indices) -> tuple[Any, Indices]:
        small = SimilarityFeatures()
        small.n_features_in_ = len(columns)
        return small, self.prototype_indices_[columns]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.selection == "forward"
        return tags


class SpectrumSquare(ToRows):
    """Square the spectrum: S S', a kernel for any S, symmetric or not ([chen2010] sec. 2.1.6).

    It is the linear kernel on the rows of S as features. A new row s becomes s S'.

    Attributes
    ----------
    similarities_ : ndarray of shape (n, n)
        The training matrix.

    Examples
    --------
    >>> from similis.proximity import SpectrumSquare
    >>> SpectrumSquare().fit_transform([[0.0, 2.0], [1.0, 3.0]])
    array([[ 4.,  6.],
           [ 6., 10.]])
    """

    fitted_arrays = {"similarities_": fitted_reals(None, None)}
    gives = "similarity"

    def learn(self, S: Array, y: Any) -> None:
        self.similarities_ = S

    def transform_rows(self, Q: Array) -> Array:
        return Q @ self.similarities_.T  # [chen2010] sec. 2.1.6 -> S S'

    def fold_coefficients(self, coef: Array) -> Array:
        return coef @ self.similarities_  # (s S') c = s (S' c)


@estimator
class RowRBF(ToRows):
    """RBF-like similarity of rows, exp(-gamma ||s(x) - s(z)||), with the norm not squared: RBF-sim of [chen2010].

    Parameters
    ----------
    gamma : float, default=1.0
        Width, above zero; the paper uses 1.

    Attributes
    ----------
    rows_ : ndarray of shape (n, n)
        The training rows.

    Examples
    --------
    >>> from similis.proximity import RowRBF
    >>> RowRBF().fit_transform([[5.0, 1.0], [2.0, 5.0]]).round(4)
    array([[1.    , 0.0067],
           [0.0067, 1.    ]])
    """

    gamma: float = param(1.0, positive())

    fitted_arrays = {"rows_": fitted_reals(None, None)}
    gives = "similarity"
    path_params = ("gamma",)

    def learn(self, S: Array, y: Any) -> None:
        self.rows_ = S

    def transform_rows(self, Q: Array) -> Array:
        return _decay(row_distances(Q, self.rows_), self.gamma)

    def fit_transform_path(
        self, X: ArrayLike, y: Any, Z: ArrayLike, points: list[dict[str, Any]]
    ) -> Iterator[tuple[Array, Array]]:
        """Yield what ``fit_transform(X)`` and ``transform(Z)`` return for the gamma of each dict in `points`."""
        models = [clone(self).set_params(**point).fit(X, y) for point in points]
        distances = [row_distances(Q, models[0].rows_) for Q in (models[0].rows_, models[0].check_rows(Z))]
        for model in models:
            yield _decay(distances[0], model.gamma), _decay(distances[1], model.gamma)


def _decay(distances: Array, gamma: float) -> Array:
    # [chen2010] p. 35 -> exp(-||s(x) - s(x')||_2)
    return np.asarray(np.exp(distances.dtype.type(-gamma) * distances))
