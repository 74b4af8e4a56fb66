"""Coordinates from proximities: the pseudo-Euclidean embedding and whitening ([pekalska2000] sec. 2)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from similis._utils.arrays import Array
from similis._utils.linalg import asymmetry, eigen_symmetric, fix_signs, roundoff, symmetric_part, take_symmetric_part
from similis.base import at_least, estimator, fitted_reals, param
from similis.proximity._base import ToFeatures, warn_if_self_differs


@estimator
class PseudoEuclidean(ToFeatures):
    """Embed dissimilarities in a pseudo-Euclidean space, where they are reproduced exactly.

    With J = I - 11'/n and D^2 the squared dissimilarities, the embedding of [goldfarb1984] is

        B = -1/2 J D^2 J = Q diag(l) Q',    coordinates X = Q |l|^(1/2),    signature sign(l).

    d(i, j)^2 is the sum over the axes of sign(l_k) (x_ik - x_jk)^2. A non-Euclidean D has negative axes.

    Parameters
    ----------
    n_components : int, default=None
        Number of axes, in descending order of |l|. None, or a larger number, means all axes with l beyond rounding.
    positive_only : bool, default=False
        Omit the negative axes: classical multidimensional scaling.

    Attributes
    ----------
    signature_, eigenvalues_ : ndarray of shape (n_components_,)
        Sign and value of l of each output column.
    components_ : ndarray of shape (n_components_, n)
        The eigenvectors, as rows.
    column_means_ : ndarray of shape (n,)
        Mean of each column of D^2.
    n_components_ : int
        Number of axes.
    asymmetry_ : float
        ||D - D'|| / (2 ||D||); the symmetric part of D is used, with a warning if D is asymmetric.

    Notes
    -----
    A new row d is embedded by z = b Q |l|^(-1/2) sign(l) with b = -1/2 (d^2 - column means of D^2) J. A non-zero
    diagonal of D causes a :class:`~similis.exceptions.DiagonalWarning`; then d(i, j)^2 - (d(i, i)^2 + d(j, j)^2) / 2 is
    reproduced. If all objects coincide, the result is one axis with all objects at its origin.

    Examples
    --------
    >>> from similis.proximity import PseudoEuclidean
    >>> X = PseudoEuclidean().fit_transform([[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]])
    >>> (((X[1] - X[2]) ** 2).sum() ** 0.5).round(12)
    np.float64(5.0)
    """

    n_components: int | None = param(None, at_least(1), None)
    positive_only: bool = param(False, "boolean")

    fitted_arrays = {
        "column_means_": fitted_reals(None),
        "components_": fitted_reals("c", None),
        "eigenvalues_": fitted_reals("c"),
        "signature_": fitted_reals("c"),
    }
    reads = "dissimilarity"

    def learn(self, S: Array, y: Any) -> None:
        warn_if_self_differs(S, self)
        B = take_symmetric_part(S, self) ** 2
        self.column_means_ = B.mean(axis=0, dtype=np.float64).astype(B.dtype)
        # B = -1/2 J D^2 J, with row means equal to column means
        B -= self.column_means_
        B -= self.column_means_[:, None]
        B += self.column_means_.mean(dtype=np.float64).astype(B.dtype)
        B /= -2
        system = eigen_symmetric(B)
        l = system.values  # noqa: E741
        order = np.argsort(-np.abs(l), kind="stable")
        order = order[(l if self.positive_only else np.abs(l))[order] > system.tolerance][: self.n_components]
        if order.size:
            self.eigenvalues_, self.components_ = l[order], fix_signs(system.vectors[:, order]).T
        else:
            self.eigenvalues_, self.components_ = np.zeros(1, B.dtype), np.zeros((1, len(B)), B.dtype)
        self.signature_ = np.where(self.eigenvalues_ < 0, -1, 1).astype(B.dtype)
        self.n_components_ = len(self.signature_)

    def transform_training(self, S: Array) -> Array:
        return self.components_.T * np.sqrt(np.abs(self.eigenvalues_))  # X = Q |l|^(1/2)

    def transform_rows(self, Q: Array) -> Array:
        b = -(Q**2 - self.column_means_) / 2  # (m, n)
        b -= b.mean(axis=1, keepdims=True)
        size = np.sqrt(np.abs(self.eigenvalues_))
        scale = np.divide(self.signature_, size, out=np.zeros_like(size), where=size > 0)
        return (b @ self.components_.T) * scale  # z = b Q |l|^(-1/2) sign(l)


class Whiten(ToFeatures):
    """Decorrelate and rescale the columns of a proximity matrix; with a linear SVM it is SVC-D2 of [pekalska2000].

    With the singular value decomposition D = U L V', a row d becomes z = d U L^(-1/2), so that the inner products of
    the training rows are Z Z' = D U L^-1 U' D'. For a symmetric D this is D with a flipped spectrum; for an asymmetric
    one U is used, not V, as in the paper.

    Attributes
    ----------
    components_, singular_values_ : ndarray of shape (rank, n), (rank,)
        L^(-1/2) U', and the non-zero singular values, descending. A zero matrix gives one column of zeros.

    Examples
    --------
    >>> from similis.proximity import Whiten
    >>> Z = Whiten().fit_transform([[0.0, 4.0], [4.0, 0.0]])
    >>> (Z @ Z.T).round(12)
    array([[4., 0.],
           [0., 4.]])
    """

    fitted_arrays = {"components_": fitted_reals(None, None), "singular_values_": fitted_reals(None)}

    def learn(self, S: Array, y: Any) -> None:
        if asymmetry(S) <= 100 * np.finfo(S.dtype).eps:
            system = eigen_symmetric(symmetric_part(S))
            L = np.abs(system.values)
            order = np.argsort(-L, kind="stable")
            U, L = system.vectors[:, order], L[order]
        else:
            U, L, _ = linalg.svd(S, check_finite=False)
        rank = max(1, int(np.count_nonzero(L > roundoff(len(S), float(L[0]), S.dtype))))
        U, self.singular_values_ = fix_signs(U[:, :rank]), L[:rank]
        scale = np.sqrt(self.singular_values_)
        # [pekalska2000] sec. 2.2 -> W = L^(-1/2) U'
        self.components_ = (U * np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)).T

    def transform_rows(self, Q: Array) -> Array:
        return Q @ self.components_.T
