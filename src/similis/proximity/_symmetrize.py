"""Both directions of a similarity as one: the average of a matrix with its transpose ([qiao2013] sec. 5.2)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from similis._utils.linalg import asymmetry, symmetric_part
from similis._utils.params import validated
from similis._utils.validation import check_proximity
from similis.proximity._base import Elementwise

__all__ = ["Symmetrize", "symmetrize"]


def symmetrize(S: ArrayLike) -> NDArray[Any]:
    """Average a matrix with its transpose, before any splitting.

    Parameters
    ----------
    S : array-like of shape (n, n)
        Similarities or dissimilarities. NaN marks an unknown entry: a pair known in one direction only takes the value
        of that direction.

    Returns
    -------
    ndarray of shape (n, n)
        (S + S') / 2, exactly symmetric; a new array.

    See Also
    --------
    Symmetrize : the same inside a pipeline, where the reverse direction of new rows is not known.

    Examples
    --------
    >>> from similis.proximity import symmetrize
    >>> symmetrize([[1.0, 4.0], [2.0, 1.0]])
    array([[1., 3.],
           [3., 1.]])
    """
    S = check_proximity(S, allow_missing=True)
    mean = (S + S.T) / 2
    unknown = np.isnan(mean)
    if unknown.any():
        mean[unknown] = np.where(np.isnan(S), S.T, S)[unknown]
    return mean


class Symmetrize(Elementwise):
    """Average the training matrix with its transpose; pass new rows through.

    A new row holds s(x, z) for every training object z but not s(z, x), so only the training matrix can be averaged:
    ``fit_transform(S)`` differs from ``fit(S).transform(S)`` wherever S is asymmetric. Where both directions can be
    had, ``Pairwise(..., symmetrize=True)`` averages new rows too.

    Attributes
    ----------
    asymmetry_ : float
        ||S - S'|| / (2 ||S||) in the Frobenius norm: 0 for a symmetric matrix, 1 for an antisymmetric one.
    n_features_in_ : int
        Number of training objects.

    References
    ----------
    [qiao2013] sec. 5.2; [chen2010] sec. 2.1.1.

    Examples
    --------
    >>> from similis.proximity import Symmetrize
    >>> S = [[1.0, 4.0], [2.0, 1.0]]
    >>> Symmetrize().fit_transform(S)
    array([[1., 3.],
           [3., 1.]])
    >>> Symmetrize().fit(S).transform([[1.0, 4.0]])
    array([[1., 4.]])
    """

    _parameter_constraints: dict[str, list[Any]] = {}

    @validated
    def fit(self, X: ArrayLike, y: Any = None) -> Symmetrize:
        """Measure the asymmetry.

        Parameters
        ----------
        X : array-like of shape (n, n)
            Training proximities.
        y : ignored
            Not used.

        Returns
        -------
        self
        """
        self.asymmetry_ = asymmetry(self._check_fit(X))
        return self

    @validated
    def fit_transform(self, X: ArrayLike, y: Any = None) -> NDArray[Any]:
        """Average the training matrix with its transpose.

        Parameters
        ----------
        X : array-like of shape (n, n)
            Training proximities.
        y : ignored
            Not used.

        Returns
        -------
        ndarray of shape (n, n)
        """
        S = self._check_fit(X)
        self.asymmetry_ = asymmetry(S)
        A = symmetric_part(S)
        return A.copy() if A is S else A

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Pass new rows through.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Proximities of new objects to the training objects.

        Returns
        -------
        ndarray of shape (m, n)
        """
        return self._check_query(X).copy()
