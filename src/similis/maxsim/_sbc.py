"""SBC: the smallest weights under which every training object is most similar to its own class. [bernal2003] sec. 5."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from similis._utils.linalg import row_distances
from similis._utils.messages import warn_user
from similis.base import Kind, choice, positive, quote, validated
from similis.exceptions import ProximityError
from similis.maxsim._base import ClassSimilarity, signed_similarities
from similis.solvers import nonnegative_margin

__all__ = ["SBC"]


class SBC(ClassSimilarity):
    """Similarity based classifier: weights of least norm that classify the training objects with a margin.

    min |alpha|^2 subject to Sigma alpha >= 1, alpha >= 0, where Sigma holds the similarities with a minus sign between
    classes. It handles any number of classes.

    Parameters
    ----------
    C : float or None, default=None
        Cost of violating a constraint, for noisy data: |alpha|^2 + C sum xi. None allows no violation.
    strong : bool, default=True
        Require each object to be more similar to its class than to all others together, as in the paper. False requires
        it for each other class separately, which is weaker.
    normalize : bool, default=False
        Scale the rows of Sigma to length one, as the paper assumes for its argument. It changes the solution.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of proximity in the matrix. Dissimilarities are converted to s = exp(-8 d / d_m), where d_m is the median
        training dissimilarity of two objects; the result does not depend on the unit.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels.
    alpha_ : ndarray of shape (n,)
        Weight of each training object, not negative.
    scale_ : float
        For dissimilarities, d_m / 8: s = exp(-d / ``scale_``).
    objective_ : float
        |alpha|^2 + C sum xi.
    gap_ : float
        Relative duality gap: an upper bound of the distance to the minimum.
    fits_ : bool
        True if the no-underfitting condition holds at ``alpha_``: every training object is more similar to its class
        than to all others together (Sigma alpha > 0), with ``strong=False`` than to each other class.
    tight_ : bool
        True if the vector of ones gives Sigma alpha > 0, so that :class:`MaxSim` classifies the training objects
        correctly too; the same condition for both values of `strong`.
    n_iter_ : int
        Steps of the solver.
    columns_ : ndarray
        Training objects of positive weight.
    n_features_in_ : int
        Number of training objects.

    See Also
    --------
    MaxSim : All weights one.

    Notes
    -----
    The paper's strict inequalities are read as weak ones. Without C the constraints may have no solution: two
    identical objects of different classes suffice, or a similarity that is not tight enough; the error says so. Most
    weights are positive: this is not a sparse method. (The paper prints its RBF without the minus sign.)

    References
    ----------
    [bernal2003] Eq. (1)-(5), sec. 5.

    Examples
    --------
    >>> from similis import SBC
    >>> S = [[1.0, 0.5, 0.1], [0.5, 1.0, 0.2], [0.1, 0.2, 1.0]]
    >>> SBC().fit(S, [0, 0, 1]).alpha_.round(3)
    array([0.667, 0.917, 1.25 ])
    """

    _parameter_constraints = {
        "C": [positive(), None],
        "strong": ["boolean"],
        "normalize": ["boolean"],
        "kind": [choice("similarity", "dissimilarity")],
    }
    _added_params = ("kind",)  # since 1.0

    def __init__(
        self, *, C: float | None = None, strong: bool = True, normalize: bool = False, kind: Kind = "similarity"
    ) -> None:
        self.C = C
        self.strong = strong
        self.normalize = normalize
        self.kind = kind

    @validated
    def fit(self, X: ArrayLike, y: Any) -> Self:
        """Find the weights.

        Parameters
        ----------
        X : array-like of shape (n, n)
            Training proximities.
        y : array-like of shape (n,)
            Class labels.

        Returns
        -------
        self
        """
        S, codes = self.check_training_labels(X, y)
        Sigma = signed_similarities(S, codes)
        A = Sigma if self.strong else _each_other_class(S, codes, len(self.classes_))
        if self.normalize:
            length = np.linalg.norm(A, axis=1, keepdims=True)
            A = np.divide(A, length, out=np.zeros_like(A), where=length > 0)
        found = nonnegative_margin(A, self.C)
        if not found.feasible:
            raise ProximityError(self._why_infeasible(S, codes))
        if found.gap > 1e-6:
            warn_user(
                f"SBC stopped at a relative gap of {found.gap:.1g}: the constraints are nearly infeasible. Set C to "
                "allow violations, or use a tighter similarity.",
                ConvergenceWarning,
            )
        self.objective_, self.gap_, self.n_iter_ = found.objective, found.gap, found.n_iter
        self.fits_ = bool((A @ found.alpha > 0).all())
        self.tight_ = bool((Sigma.sum(axis=1) > 0).all())
        self._set_weights(found.alpha, codes)
        return self

    def _why_infeasible(self, S: NDArray[Any], codes: NDArray[np.intp]) -> Any:
        equal = row_distances(S, S) <= 1e-9 * np.abs(S).max()
        pairs = np.argwhere(equal & (codes[:, None] < codes))
        if pairs.size:
            i, j = sorted(pairs[0])
            a, b = (quote(self.classes_[codes[k]]) for k in (i, j))
            return (
                f"SBC without C has no solution: objects {i} (class {a}) and {j} (class {b}) have equal rows but "
                "different classes. Set C to allow violations, or remove one."
            )
        return (
            "SBC without C has no solution: no weights make every training object most similar to its own class. Set "
            "C to allow violations, or use a tighter similarity (a smaller RBF width)."
        )


def _each_other_class(S: NDArray[Any], codes: NDArray[np.intp], n_classes: int) -> Any:
    """One row per object and other class: similarity to its own class minus that to the other."""
    own = codes[:, None] == codes[None, :]
    blocks = []
    for g in range(n_classes):
        rows = codes != g
        other = np.broadcast_to(codes == g, S.shape)
        blocks.append((np.where(own, S, 0.0) - np.where(other, S, 0.0))[rows])
    return np.concatenate(blocks)
