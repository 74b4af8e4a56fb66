"""The pseudo-Fisher linear discriminant, PFLD. [pekalska2000] sec. 2.2."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from similis._utils.linalg import roundoff
from similis._utils.params import choice
from similis.normal._base import LinearRule

__all__ = ["PseudoFisher"]


class PseudoFisher(LinearRule):
    """Fisher's linear discriminant on rows as features, with the pseudo-inverse of the pooled covariance: PFLD.

    The discriminant of class g is log P(g) - 1/2 (x - m_g)' C^+ (x - m_g): the classifier lives in the space that the
    training rows span around their class means. There is nothing to tune; it is the reference for
    :class:`NormalLinear`, and can be bad where the spectrum of C fades out slowly.

    Parameters
    ----------
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
    coef_ : ndarray of shape (G, n)
        C^+ (m_g - m), m the mean of all rows.
    rank_ : int
        Rank of C.
    n_features_in_ : int
        Number of training objects.

    See Also
    --------
    NormalLinear : A regularised inverse.

    Notes
    -----
    Eigenvalues of C below 10 sqrt(n) times the machine precision, relative to the largest, count as zero; they come
    from the singular values of the rows, which are more accurate than those of C. Where no class varies C^+ = 0, and
    the most frequent class is the answer.

    References
    ----------
    [pekalska2000] sec. 2.2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics import pairwise_distances
    >>> from similis import PseudoFisher
    >>> X, y = load_iris(return_X_y=True)
    >>> D = pairwise_distances(X)
    >>> model = PseudoFisher().fit(D[::2, ::2], y[::2])
    >>> round(model.score(D[1::2, ::2], y[1::2]), 2)
    0.97
    """

    _parameter_constraints = {"priors": ["array-like", choice("laplace"), None], "costs": ["array-like", None]}

    def __init__(self, *, priors=None, costs=None):
        self.priors = priors
        self.costs = costs

    def _solve(self, rows, points):
        _, s, Ut = linalg.svd(rows.W, full_matrices=False, check_finite=False)
        l = s**2 / len(rows.W)  # noqa: E741
        self.rank_ = int(np.count_nonzero(l > roundoff(len(l), l.max(initial=0.0), l.dtype)))
        U, l = Ut[: self.rank_].T, l[: self.rank_]  # noqa: E741
        B = U @ ((U.T @ (rows.means - rows.centre).T) / l[:, None])  # C^+ = U diag(1/l) U'
        return np.broadcast_to(B, (len(points), *B.shape))
