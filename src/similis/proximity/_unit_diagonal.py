"""Self-similarities of one: S_ij / sqrt(S_ii S_jj)."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from similis._utils.params import choice, positive, validated
from similis.exceptions import ProximityError
from similis.proximity._base import ToRows

__all__ = ["UnitDiagonal"]


class UnitDiagonal(ToRows):
    """Scale similarities so that every object has similarity 1 to itself.

    s(x, z) / sqrt(s(x, x) s(z, z)): the cosine when S is a kernel. The self-similarities of the training objects
    stand on the diagonal; those of new objects are not in their rows, so something must be said about them.

    Parameters
    ----------
    self_similarity : "constant" or float, default="constant"
        Self-similarity of new objects. ``"constant"`` takes the value of the training diagonal if that is one value;
        if it is not, ``transform`` needs ``self_similarity=`` and says so. A number above zero is used for every new
        object.

    Attributes
    ----------
    self_similarities_ : ndarray of shape (n,)
        Diagonal of the training matrix.
    n_features_in_ : int
        Number of training objects.

    Notes
    -----
    An object without any similarity, its own included, keeps a row and column of zeros. A negative self-similarity,
    or a zero one beside non-zero similarities, has no such scaling and is refused.

    Examples
    --------
    >>> from similis.proximity import UnitDiagonal
    >>> unit = UnitDiagonal()
    >>> unit.fit_transform([[4.0, 3.0], [3.0, 9.0]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    >>> unit.transform([[2.0, 3.0]], self_similarity=[1.0])
    array([[1., 1.]])
    """

    _reads = "similarity"
    _accept_sparse = True
    _parameter_constraints: dict[str, list[Any]] = {"self_similarity": [choice("constant"), positive()]}

    def __init__(self, *, self_similarity: str | float = "constant") -> None:
        self.self_similarity = self_similarity

    @validated
    def fit(self, X: ArrayLike, y: Any = None) -> UnitDiagonal:
        """Keep the self-similarities of the training objects.

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
        self._fit(X)
        return self

    @validated
    def fit_transform(self, X: ArrayLike, y: Any = None) -> NDArray[Any]:
        """Scale the training matrix by its own diagonal.

        Parameters
        ----------
        X : array-like of shape (n, n)
            Training similarities.
        y : ignored
            Not used.

        Returns
        -------
        ndarray of shape (n, n)
            With ones on the diagonal.
        """
        S = self._fit(X)
        return self._scale(S, self.self_similarities_)

    def transform(self, X: ArrayLike, self_similarity: ArrayLike | None = None) -> NDArray[Any]:
        """Scale new rows.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Similarities of new objects to the training objects.
        self_similarity : float or array-like of shape (m,), default=None
            s(x, x) of each new object; None follows the constructor.

        Returns
        -------
        ndarray of shape (m, n)
        """
        S = self._check_query(X)
        given = self.self_similarity if self_similarity is None else self_similarity
        return self._scale(S, self._row_self(given, len(S)).astype(S.dtype))

    def _fit(self, X: ArrayLike) -> NDArray[Any]:
        S = self._check_fit(X)
        self.self_similarities_ = np.diagonal(S).copy()
        if self.self_similarities_.min() < 0:
            i = int(self.self_similarities_.argmin())
            raise ProximityError(
                f"UnitDiagonal needs self-similarities that are not negative. Got {S[i, i]:.6g} at row {i}, column "
                f"{i}. Make S positive semi-definite first, for example with SpectrumClip."
            )
        return S

    def _row_self(self, given: Any, m: int) -> NDArray[Any]:
        """One self-similarity per new row."""
        if isinstance(given, str):
            low, high = float(self.self_similarities_.min()), float(self.self_similarities_.max())
            if high - low > 100 * np.finfo(self.self_similarities_.dtype).eps * high:
                raise ProximityError(
                    "UnitDiagonal cannot know the self-similarities of new rows: on the training diagonal they run "
                    f"from {low:.6g} to {high:.6g}. Pass transform(X, self_similarity=...), or set a number."
                )
            given = high
        if isinstance(given, Real):
            return np.full(m, float(given))
        s = np.asarray(given, dtype=np.float64)
        if s.shape != (m,):
            raise ProximityError(f"self_similarity must hold one number per row, {m}. Got shape {s.shape}.")
        if not (np.isfinite(s).all() and (s >= 0).all()):
            i = int(np.argmax(~(s >= 0) | np.isinf(s)))
            raise ProximityError(f"self_similarity must be finite and not negative. Got {s[i]} at position {i}.")
        return s

    def _scale(self, S: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
        """S_ij / sqrt(rows_i self_j), where 0 / 0 is 0."""
        size = np.sqrt(rows)[:, None] * np.sqrt(self.self_similarities_)
        nothing = size == 0
        if (wrong := nothing & (S != 0)).any():
            i, j = np.argwhere(wrong)[0]
            raise ProximityError(
                f"UnitDiagonal cannot scale the similarity {S[i, j]:.6g} at row {i}, column {j}: the self-similarity "
                "of one of the two objects is zero."
            )
        return S / np.where(nothing, 1, size)
