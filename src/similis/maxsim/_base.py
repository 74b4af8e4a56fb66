"""Base class of MaxSim, SBC and the perceptron: S_C(x), the weighted similarity of an object to a class."""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from similis._utils.arrays import Array, Indices
from similis._utils.threads import row_blocks
from similis.base import DecisionMixin, ProximityClassifier, choice, estimator, fitted_indices, fitted_reals, param
from similis.proximity import ToSimilarity


@estimator
class ClassSimilarity(DecisionMixin, ProximityClassifier):
    """Classify by the largest S_C(x) = sum over k in C of alpha_k s(x, x_k), [bernal2003] Eq. (1)-(2)."""

    kind: str = param("similarity", choice("similarity", "dissimilarity"))

    fitted_arrays = {
        "alpha_": fitted_reals(None),
        "_weights": fitted_reals("k"),
        "_weighted_classes": fitted_indices("g", below="G"),
        "_starts": fitted_indices("g", below="k"),
    }

    def _fit_conversion(self, S: Array) -> Array:
        """Find the scale of training dissimilarities, whose sums would favor small classes, and convert them."""
        if self.kind == "dissimilarity":
            self.scale_ = ToSimilarity(method="exponential", gamma=8.0).fit(S).scale_
        return self._as_similarities(S)

    def _as_similarities(self, Q: Array) -> Array:
        if self.kind == "similarity":
            return Q
        if not hasattr(self, "scale_"):  # fitted by 1.0, which took the smallest sum
            return -Q
        return np.exp(np.multiply(Q, -1 / self.scale_, dtype=np.float64))  # float32 reaches 1e-38 only

    def _set_weights(self, alpha: Any, codes: Indices) -> None:
        """Set the weights; objects of weight zero are not needed for predictions."""
        self.alpha_ = alpha
        needed = np.flatnonzero(alpha) if alpha.any() else np.zeros(1, np.intp)  # a block needs a column
        needed = needed[np.argsort(codes[needed], kind="stable")]  # class by class, for reduceat
        self._weights = alpha[needed]
        self._weighted_classes, self._starts = np.unique(codes[needed], return_index=True)
        self.keep_columns(needed)

    def class_similarity(self, X: ArrayLike) -> Array:
        """Similarity S_C(x), (m, G), of new objects to each class."""
        return self.map_rows(self.class_scores, X)

    def class_scores(self, Q: Array) -> Array:
        sums = np.zeros((len(Q), len(self.classes_)))
        if self._weights.size:
            weighted = self._as_similarities(self.kept_columns(Q)) * self._weights
            sums[:, self._weighted_classes] = np.add.reduceat(weighted, self._starts, axis=1)
        return sums

    def is_strong(self, X: ArrayLike) -> Array:
        """Find new objects that are more similar to the predicted class than to all others together, Eq. (3)."""
        scores = self.class_similarity(X)
        best = scores.max(axis=1)
        return best > scores.sum(axis=1) - best


MANY = 32  # classes, above which a product with one column per class is slower than sums over sorted columns


def class_sums(S: Any, alpha: Array, codes: Indices) -> Any:
    """[bernal2003] Eq. (1) -> the weighted similarity of each row to each class."""
    n_classes = int(codes.max()) + 1
    blocks = (S[rows] for rows in row_blocks(*S.shape))  # of a matrix on disk, a block at a time is in memory
    if n_classes > MANY and isinstance(S, np.ndarray):
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(n_classes))
        return np.concatenate([np.add.reduceat(block[:, order] * alpha[order], starts, axis=1) for block in blocks])
    weights = np.eye(n_classes)[codes] * alpha[:, None]
    return np.concatenate([block @ weights for block in blocks]) if isinstance(S, np.ndarray) else S @ weights


def fits(S: Array, alpha: Array, codes: Indices, *, strong: bool = True) -> bool:
    """[bernal2003] Eq. (3)-(5) -> Sigma alpha > 0; without `strong` each other class is compared separately."""
    if strong and isinstance(S, np.ndarray) and codes.max() >= MANY:  # the sums to single classes are not needed
        own, order = np.empty(len(codes)), np.argsort(codes, kind="stable")
        for start, end in pairwise([0, *np.cumsum(np.bincount(codes)).tolist()]):
            members = order[start:end]
            own[members] = S[members[:, None], members] @ alpha[members]
        others = np.concatenate([S[some] @ alpha for some in row_blocks(*S.shape)]) - own
    else:
        sums, rows = class_sums(S, alpha, codes), np.arange(len(codes))
        own = sums[rows, codes]
        sums[rows, codes] = 0.0 if strong else -np.inf
        others = sums.sum(axis=1) if strong else sums.max(axis=1)
    return bool((own > others).all())


def signed_similarities(S: Array, codes: Indices) -> Any:
    """[bernal2003] Eq. (4) -> Sigma_ij = s_ij for objects of the same class, -s_ij for others."""
    return np.where(codes[:, None] == codes[None, :], S, -S)
