"""The regularised normal-based linear classifier, RNLC. [pekalska2000] sec. 2.2."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from similis._utils.params import between, choice
from similis.normal._base import LinearRule
from similis.normal._covariance import ClassRows, ShrunkCovariance

__all__ = ["NormalLinear"]


class NormalLinear(LinearRule):
    """Classify rows as features that are normal in each class, with one covariance for all: RNLC.

    The discriminant of class g with mean m_g and probability P(g) is

        log P(g) - 1/2 (x - m_g)' S^-1 (x - m_g),    S = (1 - r) C + r T,

    where C is the pooled covariance of the training rows, singular because there are as many columns as rows, and T its
    diagonal or a multiple of the identity.

    Parameters
    ----------
    regularization : float in [0, 1], default=0.1
        r. At 1 the columns count as uncorrelated.
    shrinkage : {"diagonal", "trace"}, default="diagonal"
        T = diag(C), or (tr C / p) I with p the number of columns that vary.
    priors : array-like of shape (G,), "laplace" or None
        Class probabilities; None takes the training frequencies, "laplace" adds one to each count.
    costs : array-like of shape (G, G) or None
        ``costs[f, g]`` is the cost of saying f when g is true.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels.
    means_ : ndarray of shape (G, n)
        Mean row of each class.
    priors_ : ndarray of shape (G,)
        Class probabilities.
    covariance_ : ndarray of shape (n, n)
        S, computed when asked for; zero in the columns that never vary, which are left out.
    coef_ : ndarray of shape (G, n)
        S^-1 (m_g - m), m the mean of all rows: what each training object contributes to each discriminant.
    n_features_in_ : int
        Number of training objects.

    See Also
    --------
    NormalQuadratic : A covariance for each class.
    PseudoFisher : The pseudo-inverse of C instead of S^-1.
    similis.PathSearchCV : All r from one decomposition.

    Notes
    -----
    Works best where distances are sums over many comparable parts, which are nearly normal; see
    :func:`similis.diagnose`, and :class:`similis.BoxCox` to bring others nearer to it. Similarities do as well.

    The paper prints 2 log(P1/P2) in its linear rule, which belongs to twice that rule; Bayes' rule is used. C divides
    by n. scikit-learn's LDA(solver="lsqr", shrinkage=r) is the case ``shrinkage="trace"`` when priors are the training
    frequencies (others weigh its covariance too).

    In units of T^(1/2) the covariance is (1 - r) R + r I. One eigen-decomposition of the n x n Gram matrix of the
    scaled rows gives S^-1 (m_g - m) for every r; no covariance is formed or inverted. r = 0 is the limit from above:
    numerically 1e-10, unless C has full rank. A column that varies between classes only is scaled by its total
    variance.

    References
    ----------
    [pekalska2000] sec. 2.2.

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

    _parameter_constraints = {
        "regularization": [between(0, 1)],
        "shrinkage": [choice("diagonal", "trace")],
        "priors": ["array-like", choice("laplace"), None],
        "costs": ["array-like", None],
    }
    _path_params = ("regularization",)

    def __init__(self, *, regularization=0.1, shrinkage="diagonal", priors=None, costs=None):
        self.regularization = regularization
        self.shrinkage = shrinkage
        self.priors = priors
        self.costs = costs

    @property
    def covariance_(self):
        """The regularised covariance, computed when asked for."""
        check_is_fitted(self)
        rows = ClassRows(self._S, self._codes)
        S = np.zeros((self.n_features_in_, self.n_features_in_))
        S[np.ix_(rows.varying, rows.varying)] = self._covariance(rows).matrix(self.regularization)
        return S

    def _covariance(self, rows):
        return ShrunkCovariance(rows.W, self.shrinkage, rows.total)

    def _solve(self, rows, points):
        D = (rows.means - rows.centre).T  # (p, G)
        return self._covariance(rows).solve(D, [point["regularization"] for point in points])
