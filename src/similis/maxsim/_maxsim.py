"""MaxSim: the class with the largest summed similarity. [bernal2003] sec. 3.3."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from similis.base import choice, validated
from similis.maxsim._base import ClassSimilarity

__all__ = ["MaxSim"]


class MaxSim(ClassSimilarity):
    """Classify by the largest summed similarity to a class.

    The decision function that Parzen windows, the kernel perceptron and support vector machines tend to as the
    similarity becomes tighter. Nothing is fitted, and the cost does not depend on the number of classes.

    Parameters
    ----------
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of proximity in the matrix; for dissimilarities the class with the smallest sum is predicted.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels.
    alpha_ : ndarray of shape (n,)
        Weight of every training object: ones.
    n_features_in_ : int
        Number of training objects.

    See Also
    --------
    SBC : The smallest weights that classify the training objects.

    Notes
    -----
    Sums favor large classes: balance them, or see :class:`SBC`.

    References
    ----------
    [bernal2003] Eq. (6).

    Examples
    --------
    >>> from similis import MaxSim
    >>> MaxSim().fit([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 2.0]], ["a", "a", "b"]).predict([[1.0, 1.0, 1.5]])
    array(['a'], dtype='<U1')
    """

    _parameter_constraints = {"kind": [choice("similarity", "dissimilarity")]}

    def __init__(self, *, kind: str = "similarity") -> None:
        self.kind = kind

    @validated
    def fit(self, X: ArrayLike, y: Any) -> Self:
        """Store the labels.

        Parameters
        ----------
        X : array-like of shape (n, n)
            Training proximities.
        y : array-like of shape (n,)
            Class labels.

        Returns
        -------
        self
        """
        S, codes = self.check_training_labels(X, y)
        self._set_weights(np.ones(len(S)), codes)
        return self

    def class_similarity(self, X: ArrayLike) -> NDArray[Any]:
        """Summed similarity of new objects to each class; with a minus sign for dissimilarities.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Proximities of new objects to the training objects.

        Returns
        -------
        ndarray of shape (m, G)
            Columns in the order of ``classes_``.
        """
        return self.sign * super().class_similarity(X)
