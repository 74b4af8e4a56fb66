"""Box-Cox: bring the distribution of dissimilarities nearer to a normal one ([pekalska2000] sec. 4.4)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar

from similis._utils.params import between, choice, validated
from similis.proximity._base import Elementwise

__all__ = ["BoxCox"]

_LEAST = 0.01  # p = 0 is the logarithm, which has no value for identical objects


class BoxCox(Elementwise):
    """Transform each dissimilarity by (d^p - 1) / p.

    Classifiers that take the rows for normally distributed features (``NormalLinear``, ``NormalQuadratic``) gain
    when skewed dissimilarities are made more symmetric; the order of the dissimilarities, and so every rank-based rule,
    stays.

    Parameters
    ----------
    p : float in (0, 1] or "ml", default=0.25
        The power. ``"ml"`` chooses it by maximum likelihood: the p for which the transformed off-diagonal
        dissimilarities are most likely under one normal distribution.

    Attributes
    ----------
    p_ : float
        The power in use.
    n_features_in_ : int
        Number of training objects.

    Notes
    -----
    The result is below zero for d < 1, so it is a feature row rather than a dissimilarity. The likelihood leaves out
    the diagonal and dissimilarities of zero, whose logarithm it would need, and looks for p between 0.01 and 1. With
    z = d / (geometric mean), the profile log-likelihood is -N/2 log Var((z^p - 1) / p), a concave function of p. Fewer
    than two distinct values say nothing about p: then p = 1.

    References
    ----------
    [pekalska2000] sec. 4.4.

    Examples
    --------
    >>> from similis.proximity import BoxCox
    >>> BoxCox(p=0.5).fit_transform([[0.0, 4.0], [4.0, 0.0]])
    array([[-2.,  2.],
           [ 2., -2.]])
    """

    _reads = "dissimilarity"
    _parameter_constraints: dict[str, list[Any]] = {"p": [between(0, 1, closed="right"), choice("ml")]}

    def __init__(self, *, p: float | str = 0.25) -> None:
        self.p = p

    @validated
    def fit(self, X: ArrayLike, y: Any = None) -> BoxCox:
        """Choose the power.

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
        D = self._check_fit(X)
        self.p_ = _most_likely_power(D) if self.p == "ml" else float(self.p)
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Transform rows.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Dissimilarities of new objects to the training objects.

        Returns
        -------
        ndarray of shape (m, n)
        """
        D = self._check_query(X)
        p = D.dtype.type(self.p_)
        return (D**p - 1) / p  # [pekalska2000] sec. 4.4 -> (d^p - 1) / p


def _most_likely_power(D: NDArray[Any]) -> float:
    """The p in [0.01, 1] that maximises the Box-Cox profile likelihood of the off-diagonal entries above zero."""
    d = D[~np.eye(len(D), dtype=bool)]
    log_z = np.log(d[d > 0], dtype=np.float64)
    if not log_z.size or np.ptp(log_z) == 0:
        return 1.0
    log_z -= log_z.mean()

    def loss(p: float) -> float:
        return float(np.log(np.var(np.expm1(p * log_z) / p)))

    return float(minimize_scalar(loss, bounds=(_LEAST, 1.0), method="bounded", options={"xatol": 1e-6}).x)
