"""Label spreading on the graph of a similarity matrix, with a rule for new objects. [zhou2004], [delalleau2005]."""

from typing import Any

import numpy as np
from scipy import linalg

from similis._utils.arrays import Array, Floats, Indices
from similis._utils.linalg import take_symmetric_part
from similis._utils.threads import single_blas_thread
from similis.base import ProbabilityMixin, ProximityClassifier, at_least, between, estimator, fitted_reals, param


@estimator
class SimilarityLabelSpreading(ProbabilityMixin, ProximityClassifier):
    """Spread labels over the graph of similarities, from few labeled objects to the others and to new ones.

    With W the similarities without the diagonal and P = D^-1/2 W D^-1/2, where D holds the row sums, the scores of the
    training objects are F = (1 - alpha) (I - alpha P)^-1 Y for indicators Y of the known labels. A new object has the
    scores sum_i w(x, i) F_i / sum_i w(x, i). See [zhou2004], and [delalleau2005] for new objects.

    Parameters
    ----------
    alpha : float in [0, 1), default=0.5
        Part of an object's score that comes from its neighbors; the rest is its own label.
    n_neighbors : int, optional
        Keep the largest similarities of each object only, made symmetric by the larger of both. None keeps all.
    unlabeled : object, default=-1
        Label that stands for an unknown one, as in scikit-learn. None: all objects are labeled.

    Attributes
    ----------
    classes_, priors_ : ndarray of shape (G,)
        Class labels, without `unlabeled`, and their frequencies among the labeled objects.
    scores_, transduction_ : ndarray of shape (n, G), (n,)
        F, with rows that sum to one, zero for an object without a path to a label; label of each training object.
    asymmetry_ : float
        ||S - S'|| / (2 ||S||); the symmetric part of S is used, with a warning if S is asymmetric.

    Notes
    -----
    Negative similarities are no edges. Class frequencies are used where a new object has no edge.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import SimilarityLabelSpreading
    >>> x = np.array([0.0, 1, 2, 3, 6, 7, 8, 9])
    >>> S = np.exp(-np.abs(x[:, None] - x))
    >>> model = SimilarityLabelSpreading().fit(S, [0, -1, -1, -1, -1, -1, -1, 1])
    >>> model.transduction_, model.predict(np.exp(-np.abs(np.array([[4.0], [5.0]]) - x)))
    (array([0, 0, 0, 0, 1, 1, 1, 1]), array([0, 1]))
    """

    alpha: float = param(0.5, between(0, 1, closed="left"))
    n_neighbors: int | None = param(None, at_least(1), None)
    unlabeled: Any = param(-1)

    reads = "similarity"
    accept_sparse = True
    fitted_arrays = {"scores_": fitted_reals("n", "G", low=0), "priors_": fitted_reals("G", low=0)}

    @single_blas_thread()
    def learn(self, S: Array, codes: Indices) -> None:
        known, labels = np.ones(len(codes), dtype=bool), self.classes_.tolist()
        if self.unlabeled is not None and self.unlabeled in labels:
            hidden = labels.index(self.unlabeled)
            known = codes != hidden
            codes = np.where(known, codes - (codes > hidden), 0)
            self.classes_ = np.delete(self.classes_, hidden)
        W = np.maximum(take_symmetric_part(np.asarray(S, dtype=np.float64), self), 0.0)
        np.fill_diagonal(W, 0.0)
        self._keep_nearest(W)
        W = np.maximum(W, W.T)
        degree = W.sum(axis=1)
        root = np.sqrt(np.where(degree > 0, degree, 1.0))
        Y = np.eye(len(self.classes_))[codes] * known[:, None]
        # [zhou2004] -> F = (1 - alpha) (I - alpha P)^-1 Y
        F = linalg.solve(np.eye(len(W)) - self.alpha * W / root / root[:, None], Y, assume_a="pos")
        self.scores_, self.priors_ = _normalize(np.maximum(F, 0.0)), Y.sum(axis=0) / Y.sum()
        self.transduction_ = self.classes_[self._or_priors(self.scores_).argmax(axis=1)]

    def _keep_nearest(self, W: Floats) -> None:
        """Set all but the `n_neighbors` largest weights of each row to zero; ties with the last are kept."""
        k = self.n_neighbors
        if k is not None and k < W.shape[1]:
            least = np.partition(W, W.shape[1] - k, axis=1)[:, W.shape[1] - k]
            W[W < least[:, None]] = 0.0

    def class_scores(self, Q: Array) -> Array:
        W = np.maximum(np.asarray(Q, dtype=np.float64), 0.0)
        self._keep_nearest(W)
        return self._or_priors(_normalize(W @ self.scores_))  # [delalleau2005]

    def _or_priors(self, scores: Floats) -> Array:
        return np.where(scores.any(axis=1, keepdims=True), scores, self.priors_)


def _normalize(F: Floats) -> Floats:
    total = F.sum(axis=1, keepdims=True)
    return np.divide(F, total, out=np.zeros_like(F), where=total > 0)
