"""Proximity rows as feature vectors ([chen2010] sec. 2.2; [pekalska2000] sec. 2)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from similis.base import at_least, check_labels, choice, validated
from similis.exceptions import ProximityError
from similis.proximity._base import ToRows
from similis.proximity._landmarks import choose_prototypes

__all__ = ["DissimilaritySpace", "SimilarityFeatures"]


class SimilarityFeatures(ToRows):
    """Take the row of an object for its feature vector.

    The rows pass unchanged; what changes is how they are cut. As the first step of a pipeline this one says that
    the matrix is pairwise, so that cross-validation removes held-out objects from the columns as well; then any
    classifier of feature vectors may follow.

    Attributes
    ----------
    n_features_in_ : int
        Number of training objects.

    See Also
    --------
    DissimilaritySpace : only some columns.
    RowRBF : a similarity of rows.

    References
    ----------
    [chen2010] sec. 2.2; on dissimilarities, SVC-D of [pekalska2000] sec. 2.2.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import LinearSVC
    >>> from similis.proximity import SimilarityFeatures
    >>> model = make_pipeline(SimilarityFeatures(), LinearSVC())
    >>> model.fit([[2.0, 0.0], [0.0, 2.0]], ["a", "b"]).predict([[1.0, 0.5]])
    array(['a'], dtype='<U1')
    """

    _parameter_constraints: dict[str, list[Any]] = {}

    @validated
    def fit(self, X: ArrayLike, y: Any = None) -> SimilarityFeatures:
        """Check the matrix.

        Parameters
        ----------
        X : array-like of shape (n, n)
            Training similarities or dissimilarities.
        y : ignored
            Not used.

        Returns
        -------
        self
        """
        self._check_fit(X)
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Give the rows as features.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Proximities of new objects to the training objects.

        Returns
        -------
        ndarray of shape (m, n)
        """
        return self._check_query(X).copy()

    def _fold(self, coef: NDArray[Any]) -> NDArray[Any]:
        """New rows pass as they are, and so do coefficients."""
        return coef


class DissimilaritySpace(ToRows):
    """Describe an object by its dissimilarities to a few prototypes.

    Parameters
    ----------
    n_prototypes : int, default=None
        How many; more than there are objects means all. None: the square root of the number of objects, rounded up
        (all of them with ``selection="all"``).
    selection : {"all", "random", "kcenter", "medoids", "forward"}, default="all"
        ``all`` keeps every object. ``random`` draws. ``kcenter`` takes, one after the other, the object farthest from
        those taken. ``medoids`` takes the centers of k-medoids clusters. ``forward`` uses the labels: it adds, one
        after the other, the prototype that leaves the fewest training objects wrong by the nearest-prototype rule, an
        object not counting as its own prototype.
    random_state : int, RandomState or None, default=None
        For ``random``.

    Attributes
    ----------
    prototype_indices_ : ndarray of int
        Training objects that are prototypes, in the order of the output columns.
    columns_ : ndarray of int
        The same: the columns of a new row that are read.
    n_features_in_ : int
        Number of training objects.

    See Also
    --------
    SimilarityFeatures : every column, of either kind.
    Landmarks : few objects for a similarity, by Nystrom's method.

    References
    ----------
    [pekalska2000] sec. 2.

    Examples
    --------
    >>> from similis.proximity import DissimilaritySpace
    >>> D = [[0.0, 1.0, 8.0], [1.0, 0.0, 7.0], [8.0, 7.0, 0.0]]
    >>> space = DissimilaritySpace(n_prototypes=2, selection="kcenter").fit(D)
    >>> space.prototype_indices_
    array([1, 2])
    >>> space.transform([[3.0, 2.0, 5.0]])
    array([[2., 5.]])
    """

    _reads = "dissimilarity"
    _parameter_constraints: dict[str, list[Any]] = {
        "n_prototypes": [at_least(1), None],
        "selection": [choice("all", "random", "kcenter", "medoids", "forward")],
        "random_state": ["random_state"],
    }

    def __init__(self, *, n_prototypes: int | None = None, selection: str = "all", random_state: Any = None) -> None:
        self.n_prototypes = n_prototypes
        self.selection = selection
        self.random_state = random_state

    @validated
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> DissimilaritySpace:
        """Choose the prototypes.

        Parameters
        ----------
        X : array-like of shape (n, n)
            Training dissimilarities.
        y : array-like of shape (n,), default=None
            Class labels; needed by ``selection="forward"``, not used otherwise.

        Returns
        -------
        self
        """
        D = self._check_fit(X)
        n = len(D)
        if self.selection == "all":
            if self.n_prototypes is not None:
                raise ProximityError(
                    f"n_prototypes={self.n_prototypes} needs a way to choose them. Got selection='all'; use 'random', "
                    "'kcenter', 'medoids' or 'forward'."
                )
            self.prototype_indices_ = np.arange(n)
            return self
        k = min(n, self.n_prototypes or math.isqrt(n - 1) + 1)
        codes = None
        if self.selection == "forward":
            codes = check_labels(y, n, who="DissimilaritySpace(selection='forward')")[1]
        self.prototype_indices_ = choose_prototypes(D, k, self.selection, check_random_state(self.random_state), codes)
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Give the columns of the prototypes.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Dissimilarities of new objects to the training objects.

        Returns
        -------
        ndarray of shape (m, n_prototypes)
        """
        return self._check_query(X)[:, self.prototype_indices_]

    @property
    def columns_(self) -> NDArray[np.intp]:
        """Columns of a new row that are read."""
        return self.prototype_indices_

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the prototypes' columns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the training objects; None takes those seen at fit, else x0, x1, ...

        Returns
        -------
        ndarray of str
        """
        return super().get_feature_names_out(input_features)[self.prototype_indices_]

    def _compact(self, columns: NDArray[np.intp]) -> tuple[Any, NDArray[np.intp]]:
        """The space of some of its prototypes, which reads their columns only."""
        small = SimilarityFeatures()
        small.n_features_in_ = len(columns)
        return small, self.prototype_indices_[columns]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.selection == "forward"
        return tags
