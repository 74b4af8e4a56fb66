"""The regularized normal-based quadratic classifier."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similis._utils.arrays import Array, Indices
from similis.base import Points, between, estimator, fitted_indices, fitted_part, fitted_reals, param
from similis.normal._covariance import ClassRows, ShrinkageParams, ShrunkCovariance


@estimator
class NormalQuadratic(ShrinkageParams):
    """Classify rows as features that are normal in each class, with a covariance of its own: RNQC.

    The discriminant of class g with mean m_g, probability P(g) and n_g training objects is ([pekalska2000] sec. 2.2)

        log P(g) - 1/2 log |S_g| - 1/2 (x - m_g)' S_g^-1 (x - m_g),    S_g = (1 - r) C_g + r T_g,

    where C_g is the covariance of its rows, of rank below n_g, and T_g its diagonal or a multiple of the identity.

    Parameters
    ----------
    regularization : float in [0, 1], default=0.001
        r; smaller values than for :class:`NormalLinear` are best.
    shrinkage_target, priors, costs, shrinkage
        As in :class:`NormalLinear`, with T_g for T.

    Attributes
    ----------
    classes_, means_, priors_
        As in :class:`NormalLinear`.
    covariances_ : list of ndarray of shape (n, n)
        S_g of each class, computed on access; zero in constant columns, which are left out.

    Notes
    -----
    The paper prints + log(|S_1|/|S_2|) in its rule for class one against two; Bayes' rule has the minus sign. C_g
    divides by n_g. ``shrinkage_target="trace"`` is scikit-learn's QDA(solver="eigen", shrinkage=r).

    In a column in which a class is constant it has the pooled variance of the column, or the total one where no class
    varies. In the directions in which no row of a class varies its variance is r T_g. Where there are many, as for a
    similarity of low rank, the determinants decide: use :class:`NormalLinear` there. r = 0 is the limit from above:
    numerically 1e-10, unless C_g has full rank.

    Examples
    --------
    >>> from similis import NormalQuadratic
    >>> D = [[0.0, 2.0, 6.0, 9.0], [2.0, 0.0, 4.0, 7.0], [6.0, 4.0, 0.0, 3.0], [9.0, 7.0, 3.0, 0.0]]
    >>> NormalQuadratic().fit(D, ["a", "a", "b", "b"]).predict([[5.0, 3.0, 1.0, 4.0]])
    array(['b'], dtype='<U1')
    """

    regularization: float = param(0.001, between(0, 1))

    fitted_arrays = {
        "_columns": fitted_indices("v", below="n"),
        "means_": fitted_reals("G", "n"),
        "priors_": fitted_reals("G", low=0),
        "_class_covariances": fitted_part(ShrunkCovariance, many=True, length="G", v="v"),
    }

    def learn(self, S: Array, codes: Indices) -> None:
        self.set_priors(codes)
        rows = ClassRows(S, codes)
        self._columns, self._class_covariances = rows.varying, self._covariances(rows, codes)
        self.means_ = rows.means_of_all_columns(S)

    @property
    def covariances_(self) -> list[Array]:
        """Regularized covariances, computed on access."""
        check_is_fitted(self)
        r, n = self.regularization, self.n_features_in_
        return [covariance.matrix(r, self._columns, n) for covariance in self._class_covariances]

    def _covariances(self, rows: Any, codes: Indices) -> Any:
        pooled = (rows.W**2).mean(axis=0)
        target, fallback = self._renamed_param("shrinkage"), np.where(pooled > 0, pooled, rows.total)
        return [ShrunkCovariance(rows.W[codes == g], target, fallback) for g in range(len(rows.means))]

    def class_scores(self, Q: Array) -> Array:
        means = self.means_[:, self._columns]
        return self._log_joint(Q[:, self._columns], means, self._class_covariances, [self.regularization])[0]

    def path_scores(self, S: Array, codes: Indices, Q: Array, points: Points) -> list[Array]:
        self.set_priors(codes)
        rows = ClassRows(S, codes)
        r = [point["regularization"] for point in points]
        return list(self._log_joint(Q[:, rows.varying], rows.means, self._covariances(rows, codes), r))

    def _log_joint(self, Q: Array, means: Array, covariances: Any, regularization: Any) -> Any:
        """Bayes -> log P(g) + log N(x; m_g, S_g), shape (len(regularization), m, G)."""
        densities = [C.log_density(Q - mean, regularization) for mean, C in zip(means, covariances)]
        return np.stack(densities, axis=2) + self.log_priors
