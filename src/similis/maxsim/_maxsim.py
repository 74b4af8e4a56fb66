"""MaxSim: the class with the largest summed similarity. [bernal2003] sec. 3.3."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from similis.base import Kind, choice, validated
from similis.maxsim._base import ClassSimilarity, class_sums

__all__ = ["MaxSim"]


class MaxSim(ClassSimilarity):
    """Classify by the largest summed similarity to a class.

    The decision function that Parzen windows, the kernel perceptron and support vector machines tend to as the
    similarity becomes tighter. Nothing is fitted, and the cost does not depend on the number of classes.

    Parameters
    ----------
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of proximity in the matrix. Dissimilarities are converted to s = exp(-8 d / d_m), where d_m is the median
        training dissimilarity of two objects; the result does not depend on the unit.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels.
    alpha_ : ndarray of shape (n,)
        Weight of every training object: ones.
    tight_ : bool
        Whether the similarity is tight fitting on the training objects ([bernal2003] sec. 3.3): each is more similar to
        its class than to all others together, S 1 > 0 with the signed matrix S of eq. (4). A larger `q` of
        :class:`~similis.Tighten` makes it so, unless objects of different classes are identical.
    scale_ : float
        For dissimilarities, d_m / 8: s = exp(-d / ``scale_``).
    n_features_in_ : int
        Number of training objects.

    See Also
    --------
    SBC : The smallest weights that classify the training objects.
    Tighten : Makes a similarity tighter.

    Notes
    -----
    Sums favor large classes where the similarity is not tight: put :class:`~similis.Tighten` in front and search its
    `q`, balance the classes, or see :class:`SBC`. To choose the conversion of dissimilarities yourself, put
    :class:`~similis.ToSimilarity` in front.

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
    accept_sparse = True

    def __init__(self, *, kind: Kind = "similarity") -> None:
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
        S, codes = self.check_training_labels(X, y, keep_sparse=self.kind == "similarity")
        self._set_weights(np.ones(len(S)), codes)
        # [bernal2003] sec. 3.3 -> alpha = 1 solves the no underfitting condition (5)
        sums = class_sums(S, self.alpha_, codes)
        own = sums[np.arange(len(codes)), codes]
        self.tight_ = bool((2 * own > sums.sum(axis=1)).all())
        return self
