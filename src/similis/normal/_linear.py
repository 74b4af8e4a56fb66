"""The normal-based linear classifier and Fisher's discriminant."""

from typing import Any

import numpy as np
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from similis._utils.arrays import Array, Indices
from similis._utils.linalg import roundoff
from similis.base import BayesClassifier, Points, choice, estimator, fitted_indices, fitted_reals, param
from similis.normal._covariance import ClassRows, ShrinkageParams, ShrunkCovariance


class LinearRule(BayesClassifier):
    """Normal classes with one covariance S; ``_solve(rows, points)`` gives S^-1 (m_g - m), (len(points), p, G)."""

    fitted_arrays = {
        "_codes": fitted_indices("n", below="G"),
        "_S": fitted_reals("n", "n"),
        "means_": fitted_reals("G", "n"),
        "coef_": fitted_reals("G", "n"),
        "_columns": fitted_indices("v", below="n"),
        "_centre": fitted_reals("v"),
        "_constants": fitted_reals("G", infinite=True),
        "priors_": fitted_reals("G", low=0),
    }

    def learn(self, S: Array, codes: Indices) -> None:
        self._S, self._codes = S, codes
        point = {name: getattr(self, name) for name in self.path_params}
        rows, coefficients, constants = self._linear(S, codes, [point])
        self.means_ = rows.means_of_all_columns(S)
        self.coef_ = np.zeros_like(self.means_)
        self.coef_[:, rows.varying] = coefficients[0].T
        # The name _centre is part of model files.
        self._columns, self._centre, self._constants = rows.varying, rows.center, constants[0]

    def class_scores(self, Q: Array) -> Array:
        return (Q[:, self._columns] - self._centre) @ self.coef_[:, self._columns].T + self._constants

    def _linear(self, S: Array, codes: Indices, points: Points) -> Any:
        """Training rows, coefficients, (len(points), p, G), of x - m, and constants, (len(points), G)."""
        self.set_priors(codes)
        rows = ClassRows(S, codes)
        B = self._solve(rows, points)
        # [pekalska2000] sec. 2.2 -> log P(g) + (x - m)' S^-1 (m_g - m) - 1/2 (m_g - m)' S^-1 (m_g - m)
        return rows, B, self.log_priors - 0.5 * np.einsum("gp,tpg->tg", rows.means - rows.center, B)

    def path_scores(self, S: Array, codes: Indices, Q: Array, points: Points) -> list[Array]:
        rows, B, constants = self._linear(S, codes, points)
        t, p, G = B.shape
        products = (Q[:, rows.varying] - rows.center) @ B.transpose(1, 0, 2).reshape(p, t * G)
        return list(products.reshape(len(Q), t, G).transpose(1, 0, 2) + constants[:, None, :])


@estimator
class NormalLinear(ShrinkageParams, LinearRule):
    """Classify rows as features that are normal in each class, with one covariance for all: RNLC.

    The discriminant of class g with mean m_g and probability P(g) is ([pekalska2000] sec. 2.2)

        log P(g) - 1/2 (x - m_g)' S^-1 (x - m_g),    S = (1 - r) C + r T,

    where C is the pooled covariance of the training rows and T its diagonal or a multiple of the identity.

    Parameters
    ----------
    regularization : float in [0, 1], default=0.1
        r. With 1 the columns are uncorrelated.
    shrinkage_target : {"diagonal", "trace"}, default="diagonal"
        T = diag(C), or (tr C / p) I with p the number of columns that vary.
    priors : array-like of shape (G,), "laplace" or None
        Class probabilities; None takes the training frequencies, "laplace" adds one to each count.
    costs : array-like of shape (G, G) or None
        ``costs[f, g]`` is the cost of predicting f when g is true.
    shrinkage : {"diagonal", "trace"}
        Former name of `shrinkage_target`.

        .. deprecated:: 2.0
            Use `shrinkage_target`. The parameter will be removed in 3.0.

    Attributes
    ----------
    classes_, priors_ : ndarray of shape (G,)
        Class labels and probabilities.
    means_, coef_ : ndarray of shape (G, n)
        Mean row m_g of each class, and S^-1 (m_g - m), the contribution of each object; m is the mean of all rows.
    covariance_ : ndarray of shape (n, n)
        S, computed on access; zero in constant columns, which are left out.

    Notes
    -----
    Works best for distances that are sums over many comparable parts and therefore nearly normal, see
    :func:`similis.diagnose`; :class:`similis.BoxCox` transforms others.

    The paper prints 2 log(P1/P2) in its linear rule, which belongs to twice that rule; Bayes' rule is used. C divides
    by n. ``shrinkage_target="trace"`` with training frequencies as priors is scikit-learn's LDA(solver="lsqr",
    shrinkage=r), on similarities the indefinite kernel Fisher discriminant [haasdonk2008], ``ikfd`` in the study.

    r = 0 is the limit from above: numerically 1e-10, unless C has full rank. A column that varies between classes only
    is scaled by its total variance.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics import pairwise_distances
    >>> from similis import NormalLinear
    >>> X, y = load_iris(return_X_y=True)
    >>> D = pairwise_distances(X)
    >>> model = NormalLinear().fit(D[::2, ::2], y[::2])
    >>> round(model.score(D[1::2, ::2], y[1::2]), 2)
    0.99
    """

    @property
    def covariance_(self) -> Array:
        """Regularized covariance, computed on access."""
        check_is_fitted(self)
        rows = ClassRows(self._S, self._codes)
        return self._covariance(rows).matrix(self.regularization, rows.varying, self.n_features_in_)

    def _covariance(self, rows: Any) -> Any:
        return ShrunkCovariance(rows.W, self._renamed_param("shrinkage"), rows.total, decompose=False)

    def _solve(self, rows: Any, points: Points) -> Any:
        D = (rows.means - rows.center).T  # (p, G)
        return self._covariance(rows).solve(D, [point["regularization"] for point in points])


@estimator
class PseudoFisher(LinearRule):
    """Fisher's linear discriminant on rows as features, with the pseudo-inverse of the pooled covariance: PFLD.

    The discriminant of class g is log P(g) - 1/2 (x - m_g)' C^+ (x - m_g). It is the reference for
    :class:`NormalLinear` in [pekalska2000] sec. 2.2, and can fail if the spectrum of C decays slowly.

    Parameters
    ----------
    priors, costs
        As in :class:`NormalLinear`.

    Attributes
    ----------
    classes_, means_, priors_
        As in :class:`NormalLinear`.
    coef_ : ndarray of shape (G, n)
        C^+ (m_g - m), m the mean of all rows.
    rank_ : int
        Rank of C.

    Notes
    -----
    Eigenvalues of C below 10 sqrt(n) times the machine precision, relative to the largest, count as zero. Where no
    class varies C^+ = 0, and the most frequent class is the answer.

    Examples
    --------
    >>> from similis import PseudoFisher
    >>> D = [[0.0, 2.0, 6.0, 9.0], [2.0, 0.0, 4.0, 7.0], [6.0, 4.0, 0.0, 3.0], [9.0, 7.0, 3.0, 0.0]]
    >>> PseudoFisher().fit(D, ["a", "a", "b", "b"]).predict([[5.0, 3.0, 1.0, 4.0]])
    array(['b'], dtype='<U1')
    """

    priors: Any = param(None, "array-like", choice("laplace"), None)
    costs: Any = param(None, "array-like", None)

    def _solve(self, rows: Any, points: Points) -> Any:
        _, s, Ut = linalg.svd(rows.W, full_matrices=False, check_finite=False)
        # More accurate than the eigenvalues of C.
        l = s**2 / len(rows.W)  # noqa: E741
        self.rank_ = int(np.count_nonzero(l > roundoff(len(l), l.max(initial=0.0), l.dtype)))
        U, l = Ut[: self.rank_].T, l[: self.rank_]  # noqa: E741
        B = U @ ((U.T @ (rows.means - rows.center).T) / l[:, None])  # C^+ = U diag(1/l) U'
        return np.broadcast_to(B, (len(points), *B.shape))
