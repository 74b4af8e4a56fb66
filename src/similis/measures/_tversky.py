"""Tversky's two models of similarity, [cazzanti2007] Eq. (2.1) and (2.2)."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from similis import _kernels
from similis._utils.params import between
from similis.measures._base import Tick, mirror_upper
from similis.measures._sets import SetMeasure

__all__ = ["TverskyContrast", "TverskyRatio"]


class _Tversky(SetMeasure):
    _parameter_constraints = {
        "alpha": [between(0, None, "left")],
        "beta": [between(0, None, "left")],
        "salience": ["array-like", dict, None],
    }

    def __init__(self, *, alpha: float = 0.5, beta: float = 0.5, salience: Any = None) -> None:
        self.alpha = alpha
        self.beta = beta
        self.salience = salience

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        """Whether what only x has and what only z has weigh the same."""
        return self.alpha == self.beta

    def _matrix(self, A: Any, B: Any, n_jobs: int | None = None, tick: Tick | None = None) -> NDArray[Any]:
        out = super()._matrix(A, B, n_jobs, tick)
        if B is A and self.symmetric:
            mirror_upper(out)  # weights round differently from the two sides
        return out


class TverskyContrast(_Tversky):
    """Tversky's linear contrast model, s(x, z) = f(x and z) - alpha f(x without z) - beta f(z without x).

    Parameters
    ----------
    alpha, beta : float, default=0.5
        What the features of x alone, and of z alone, take away. Different weights make the similarity asymmetric.
    salience : dict or array of shape (d,), optional
        The weight of each feature: f of a set is the sum of its features' weights. A dict for sets of tokens, one
        weight per column for binary rows. Without it f counts.

    Attributes
    ----------
    symmetric : bool
        Whether alpha equals beta.
    domain_ : tuple or None
        The interval of possible values for binary rows, known after fit; None for sets of tokens.

    See Also
    --------
    TverskyRatio : the ratio of the same quantities.
    Counting : agreement of categorical features.

    Notes
    -----
    Objects are sets (or lists) of tokens, binary rows given as an array, or a sparse binary matrix. A list of lists
    is read as sets of tokens. Two empty sets have similarity 0.

    Examples
    --------
    >>> from similis import TverskyContrast
    >>> s = TverskyContrast(alpha=1.0, beta=0.0)
    >>> s({"eyes", "nose"}, {"eyes"}), s({"eyes"}, {"eyes", "nose"})
    (0.0, 1.0)
    """

    def _learn(self, objects: Any, y: Any) -> None:
        super()._learn(objects, y)
        self.domain_ = None
        if self._features.vocabulary is None:
            weights = self._features.weights
            most = float(self._features.n_features if weights is None else weights.sum())
            self.domain_ = (-max(self.alpha, self.beta) * most, most)

    def _combine(self, fx: NDArray[Any], fz: NDArray[Any], rows: slice, common: NDArray[Any]) -> None:
        # [cazzanti2007] Eq. (2.1) -> f(x and z) - alpha f(x \ z) - beta f(z \ x)
        _kernels.contrast_model(fx, fz, float(self.alpha), float(self.beta), rows.start, rows.stop, common)


class TverskyRatio(_Tversky):
    """Tversky's ratio model, s(x, z) = f(x and z) / (f(x and z) + alpha f(x without z) + beta f(z without x)).

    Parameters
    ----------
    alpha, beta : float, default=0.5
        What the features of x alone, and of z alone, weigh. Different weights make the similarity asymmetric.
    salience : dict or array of shape (d,), optional
        The weight of each feature: f of a set is the sum of its features' weights. A dict for sets of tokens, one
        weight per column for binary rows. Without it f counts.

    Attributes
    ----------
    symmetric : bool
        Whether alpha equals beta.
    domain_ : tuple
        ``(0, 1)``.

    See Also
    --------
    Jaccard : alpha = beta = 1.
    Dice : alpha = beta = 0.5.
    TverskyContrast : the linear model.

    Notes
    -----
    Objects are sets (or lists) of tokens, binary rows given as an array, or a sparse binary matrix. A list of lists
    is read as sets of tokens. 0/0 is 1 if neither object has a (salient) feature, else 0.

    Examples
    --------
    >>> from similis import TverskyRatio
    >>> TverskyRatio(alpha=1.0, beta=0.0).matrix([{"eyes", "nose"}, {"eyes"}])
    array([[1. , 0.5],
           [1. , 1. ]])
    """

    domain_ = (0.0, 1.0)

    def _combine(self, fx: NDArray[Any], fz: NDArray[Any], rows: slice, common: NDArray[Any]) -> None:
        # [cazzanti2007] Eq. (2.2) -> f(x and z) / (f(x and z) + alpha f(x \ z) + beta f(z \ x))
        _kernels.ratio_model(fx, fz, float(self.alpha), float(self.beta), rows.start, rows.stop, common)
