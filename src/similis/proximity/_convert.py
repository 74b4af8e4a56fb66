"""Similarities to dissimilarities and back, entry by entry ([qiao2013] sec. 5.2; [chen2010] p. 35)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from similis._utils.params import between, choice, positive, validated
from similis.exceptions import ProximityError
from similis.proximity._base import Elementwise, warn_if_self_differs

__all__ = ["ToDissimilarity", "ToSimilarity"]


class ToDissimilarity(Elementwise):
    """Turn similarities into dissimilarities.

    ==============  =======================  ============================================
    method          d(x, z)                  for
    ==============  =======================  ============================================
    ``max-minus``   upper - s(x, z)          a similarity with an upper bound
    ``root``        sqrt(upper - s(x, z))    the same; Euclidean when S is a kernel with a constant diagonal
    ``reciprocal``  1 / s(x, z)              a positive similarity without a bound
    ==============  =======================  ============================================

    Parameters
    ----------
    method : {"max-minus", "reciprocal", "root"}, default="max-minus"
        The rule.
    upper : float, default=None
        Upper bound of the similarity, for ``max-minus`` and ``root``. None takes the largest training similarity; a
        new similarity above the bound gives 0. A given bound below a training similarity is an error.

    Attributes
    ----------
    upper_ : float
        The bound in use; NaN for ``reciprocal``.
    n_features_in_ : int
        Number of training objects.

    See Also
    --------
    ToSimilarity : the way back.

    Notes
    -----
    The diagonal follows the rule like any other entry: an object whose self-similarity is not the largest keeps a
    non-zero dissimilarity to itself. ``reciprocal`` refuses similarities that are not above zero: 1/0 is no number.

    References
    ----------
    [qiao2013] sec. 5.2.

    Examples
    --------
    >>> from similis.proximity import ToDissimilarity
    >>> convert = ToDissimilarity().fit([[1.0, 0.25], [0.25, 1.0]])
    >>> convert.transform([[0.5, 2.0]])
    array([[0.5, 0. ]])
    """

    _reads = "similarity"
    _parameter_constraints: dict[str, list[Any]] = {
        "method": [choice("max-minus", "reciprocal", "root")],
        "upper": [between(None, None, "neither"), None],
    }

    def __init__(self, *, method: str = "max-minus", upper: float | None = None) -> None:
        self.method = method
        self.upper = upper

    @validated
    def fit(self, X: ArrayLike, y: Any = None) -> ToDissimilarity:
        """Find the upper bound.

        Parameters
        ----------
        X : array-like of shape (n, n)
            Training similarities.
        y : ignored
            Not used.

        Returns
        -------
        self
        """
        S = self._check_fit(X)
        if self.method == "reciprocal":
            self._check_above_zero(S)
            self.upper_ = np.nan
            return self
        largest = float(S.max())
        self.upper_ = largest if self.upper is None else float(self.upper)
        if self.upper_ < largest:
            row, column = np.unravel_index(int(S.argmax()), S.shape)
            raise ProximityError(
                f"upper must not be below any training similarity. Got upper={self.upper_:.6g} and {largest:.6g} at "
                f"row {row}, column {column}. Raise it, or leave upper=None to use the largest."
            )
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Convert rows.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Similarities of new objects to the training objects.

        Returns
        -------
        ndarray of shape (m, n)
            Their dissimilarities.
        """
        S = self._check_query(X)
        if self.method == "reciprocal":
            self._check_above_zero(S)
            return 1 / S  # [qiao2013] sec. 5.2 -> 1 / S
        D = np.maximum(S.dtype.type(self.upper_) - S, 0)  # [qiao2013] sec. 5.2 -> upper - S
        return np.sqrt(D) if self.method == "root" else D

    @property
    def _accept_sparse(self) -> bool:  # type: ignore[override]
        return self.method != "reciprocal"

    def _check_above_zero(self, S: NDArray[Any]) -> None:
        if S.min() >= np.finfo(S.dtype).tiny:
            return
        row, column = np.unravel_index(int(S.argmin()), S.shape)
        raise ProximityError(
            "Negative values in data or zeros passed to ToDissimilarity: method='reciprocal' needs similarities above "
            f"zero. Got {S[row, column]:.6g} at row {row}, column {column}. Use method='max-minus'."
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.method == "reciprocal"
        return tags


class ToSimilarity(Elementwise):
    """Turn dissimilarities into similarities.

    ==============  =======================  ============================================
    method          s(x, z)                  note
    ==============  =======================  ============================================
    ``linear``      1 - d(x, z) / d_max      d_max is the largest training dissimilarity
    ``reciprocal``  1 / d(x, z)              the largest finite value where d = 0 and on the training diagonal
    ``rbf``         exp(-gamma d(x, z)^2)
    ==============  =======================  ============================================

    Parameters
    ----------
    method : {"linear", "reciprocal", "rbf"}, default="linear"
        The rule.
    gamma : float, default=1.0
        Width of ``rbf``, above zero.

    Attributes
    ----------
    scale_ : float
        ``linear``: d_max (1 when every training dissimilarity is zero). ``reciprocal``: the largest finite 1/d of the
        training matrix, its diagonal apart (1 when there is none). ``rbf``: gamma.
    n_features_in_ : int
        Number of training objects.

    See Also
    --------
    ToDissimilarity : the way back.

    Notes
    -----
    ``linear`` gives a new object farther than d_max the similarity 0, the end of the scale. ``reciprocal`` gives d = 0
    in a new row the value ``scale_``, or the row's own largest finite 1/d where that is larger: nothing is more alike
    than the same object. On the training diagonal it stands whatever the diagonal of D, so there ``fit_transform(D)``
    may differ from ``fit(D).transform(D)``. A non-zero diagonal draws a :class:`~similis.exceptions.DiagonalWarning`.

    References
    ----------
    [qiao2013] sec. 5.2 (reciprocal); [chen2010] p. 35 (linear).

    Examples
    --------
    >>> from similis.proximity import ToSimilarity
    >>> D = [[0.0, 2.0, 4.0], [2.0, 0.0, 1.0], [4.0, 1.0, 0.0]]
    >>> ToSimilarity(method="reciprocal").fit_transform(D)
    array([[1.  , 0.5 , 0.25],
           [0.5 , 1.  , 1.  ],
           [0.25, 1.  , 1.  ]])
    """

    _reads = "dissimilarity"
    _parameter_constraints: dict[str, list[Any]] = {
        "method": [choice("linear", "reciprocal", "rbf")],
        "gamma": [positive()],
    }

    def __init__(self, *, method: str = "linear", gamma: float = 1.0) -> None:
        self.method = method
        self.gamma = gamma

    @validated
    def fit(self, X: ArrayLike, y: Any = None) -> ToSimilarity:
        """Find the scale.

        Parameters
        ----------
        X : array-like of shape (n, n)
            Training dissimilarities.
        y : ignored
            Not used.

        Returns
        -------
        self
        """
        self._fit(X)
        return self

    @validated
    def fit_transform(self, X: ArrayLike, y: Any = None) -> NDArray[Any]:
        """Convert the training matrix.

        Parameters
        ----------
        X : array-like of shape (n, n)
            Training dissimilarities.
        y : ignored
            Not used.

        Returns
        -------
        ndarray of shape (n, n)
            Their similarities.
        """
        S = self._convert(self._fit(X))
        if self.method == "reciprocal":
            # [qiao2013] sec. 5.2 -> an upper bound of all similarities is the self-similarity
            np.fill_diagonal(S, self.scale_)
        return S

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Convert rows.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Dissimilarities of new objects to the training objects.

        Returns
        -------
        ndarray of shape (m, n)
            Their similarities.
        """
        return self._convert(self._check_query(X))

    def _fit(self, X: ArrayLike) -> NDArray[Any]:
        D = self._check_fit(X)
        warn_if_self_differs(D, self)
        if self.method == "linear":
            self.scale_ = float(D.max()) or 1.0
        elif self.method == "reciprocal":
            S = _reciprocal(D)
            np.fill_diagonal(S, np.inf)
            self.scale_ = float(S.max(where=np.isfinite(S), initial=0.0)) or 1.0
        else:
            self.scale_ = float(self.gamma)
        return D

    def _convert(self, D: NDArray[Any]) -> NDArray[Any]:
        if self.method == "linear":
            # [chen2010] p. 35 -> 1 - d, d scaled to [0, 1]
            return np.maximum(1 - D / D.dtype.type(self.scale_), 0)
        if self.method == "rbf":
            return np.exp(-D.dtype.type(self.scale_) * D**2)
        S = _reciprocal(D)
        finite = np.isfinite(S)
        top = S.max(axis=1, keepdims=True, where=finite, initial=self.scale_)
        return np.where(finite, S, top)


def _reciprocal(D: NDArray[Any]) -> NDArray[Any]:
    """1 / d, infinite where d is zero or too small ([qiao2013] sec. 5.2)."""
    with np.errstate(divide="ignore", over="ignore"):
        return 1 / D
