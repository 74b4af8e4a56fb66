"""Kernels of proximity rows used as feature vectors ([chen2010] sec. 2.1.6, p. 35)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from similis._utils.arrays import Array
from similis._utils.linalg import row_distances
from similis.base import fitted_reals, positive
from similis.proximity._base import ToRows


class SpectrumSquare(ToRows):
    """Square the spectrum: S S', a kernel for any S, symmetric or not.

    For a symmetric S this squares the spectrum; it is also the linear kernel on the rows of S as features. A new row
    s becomes s S'.

    Attributes
    ----------
    similarities_ : ndarray of shape (n, n)
        The training matrix.

    See Also
    --------
    SimilarityFeatures : the rows themselves.

    References
    ----------
    [chen2010] sec. 2.1.6; the kernel of SVC-D in [pekalska2000] sec. 2.2.

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
        """Return coefficients for untransformed rows: (s S') c = s (S' c), for the rows of `coef`."""
        return coef @ self.similarities_


class RowRBF(ToRows):
    """RBF-like similarity of rows, exp(-gamma ||s(x) - s(z)||), with the norm not squared.

    Two objects are similar if they are similar to the same objects. s(x) is the row of x over the n training objects.

    Parameters
    ----------
    gamma : float, default=1.0
        Width, above zero; the paper uses 1.

    Attributes
    ----------
    rows_ : ndarray of shape (n, n)
        The training rows.

    See Also
    --------
    SimilarityFeatures : the rows themselves, for any classifier of feature vectors.

    References
    ----------
    [chen2010] p. 35, the similarity RBF-sim.

    Examples
    --------
    >>> from similis.proximity import RowRBF
    >>> RowRBF().fit_transform([[5.0, 1.0], [2.0, 5.0]]).round(4)
    array([[1.    , 0.0067],
           [0.0067, 1.    ]])
    """

    fitted_arrays = {"rows_": fitted_reals(None, None)}

    gives = "similarity"
    _parameter_constraints = {"gamma": [positive()]}

    def __init__(self, *, gamma: float = 1.0) -> None:
        self.gamma = gamma

    def learn(self, S: Array, y: Any) -> None:
        self.rows_ = S

    def transform_rows(self, Q: Array) -> Array:
        return _decay(row_distances(Q, self.rows_), self.gamma)

    path_params = ("gamma",)

    def fit_transform_path(
        self, X: ArrayLike, y: Any, Z: ArrayLike, points: list[dict[str, Any]]
    ) -> Iterator[tuple[Array, Array]]:
        """Yield what ``fit_transform(X)`` and ``transform(Z)`` return for each of several values of gamma.

        `points` holds the values by name, one dict each; `y` is ignored.
        """
        models = [clone(self).set_params(**point).fit(X, y) for point in points]
        distances = [row_distances(Q, models[0].rows_) for Q in (models[0].rows_, models[0].check_rows(Z))]
        for model in models:
            train, test = (_decay(D, model.gamma) for D in distances)
            yield train, test


def _decay(distances: Array, gamma: float) -> Array:
    # [chen2010] p. 35 -> exp(-||s(x) - s(x')||_2)
    return np.asarray(np.exp(distances.dtype.type(-gamma) * distances))
