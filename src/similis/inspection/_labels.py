"""Influence of training objects, and labels that contradict the labels of similar objects."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from similis._utils.arrays import Floats
from similis.base import Kind, at_least, check_labels, check_proximity, choice, validated_function
from similis.exceptions import ProximityError
from similis.neighbors import SimilarityKNN
from similis.solvers import class_sums, top_k
from similis.svm import ProximityRidge


@dataclass(frozen=True)
class SuspiciousLabel:
    """An object whose neighbors mostly have another label.

    Attributes
    ----------
    object, label, suggested : int, object, object
        Position of the object, its label, and the label of most of its neighbors.
    p_value, p_suggested : float
        Share of the objects of its class that have as few neighbors of their own class, or fewer; the same for the
        suggested class: high if the object would be a typical member.
    """

    object: int
    label: Any
    suggested: Any
    p_value: float
    p_suggested: float


@validated_function({"n_neighbors": [at_least(1)], "kind": [choice("similarity", "dissimilarity")]})
def suspicious_labels(
    S: ArrayLike, y: Any, *, n_neighbors: int = 5, kind: Kind = "similarity"
) -> list[SuspiciousLabel]:
    """Find objects whose nearest neighbors outvote their label, the least p-value first.

    In a class without wrong labels, a share p of the objects has a p-value of p or less.

    Parameters
    ----------
    S, y : array-like of shape (n, n) and (n,)
        Proximities, NaN is missing; class labels.
    n_neighbors : int, default=5
        Number of neighbors that vote.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of proximity.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import suspicious_labels
    >>> S = np.kron(np.eye(2), np.ones((10, 10)))
    >>> y = ["a"] * 3 + ["b"] + ["a"] * 6 + ["b"] * 10
    >>> [(found.object, str(found.suggested), round(found.p_value, 2)) for found in suspicious_labels(S, y)]
    [(3, 'a', 0.09)]
    """
    matrix = check_proximity(S, kind=kind, allow_missing=True)
    n = len(matrix)
    classes, codes = check_labels(y, n, who="suspicious_labels", of=S)
    sign = -1 if kind == "dissimilarity" else 1
    indices, _ = top_k(matrix, min(n_neighbors, max(n - 1, 1)), sign=sign, folds=np.arange(n))
    votes = class_sums(indices, codes, [indices.shape[1]], len(classes))[0]
    own, winner = votes[np.arange(n), codes], votes.argmax(axis=1)
    found = []
    for i in np.flatnonzero(votes[np.arange(n), winner] > own):
        g, h = codes[i], winner[i]
        low = np.mean(own[codes == g] <= own[i])
        high = np.mean(np.append(own[codes == h] <= votes[i, h], True))  # the object is one of them
        found.append(SuspiciousLabel(int(i), classes[g], classes[h], float(low), float(high)))
    return sorted(found, key=lambda one: (one.p_value, -one.p_suggested, one.object))


def influence(model: Any, S: ArrayLike, y: Any) -> Floats:
    """Measure what each training object does to the predictions of the others, by leaving it out.

    For k-NN: how much the leave-one-out probabilities of the true classes, summed over all others, drop without the
    object. For ridge regression: the root mean square of the change of all fitted values. Both are exact; ridge keeps
    its regularizer and repaired kernel.

    Parameters
    ----------
    model : SimilarityKNN with uniform weights, or ProximityRidge
        Fitted on `S` and `y`.
    S, y : array-like of shape (n, n) and (n,)
        Training proximities; class labels, or the target.

    Examples
    --------
    >>> from similis import SimilarityKNN, influence
    >>> S, y = [[4, 3, 1, 0], [3, 4, 0, 1], [1, 0, 4, 2], [0, 1, 2, 4]], ["a", "a", "b", "b"]
    >>> influence(SimilarityKNN(n_neighbors=1).fit(S, y), S, y)
    array([1., 1., 1., 1.])
    """
    if isinstance(model, ProximityRidge):
        coef, intercept = model.target_weights(S)
        H = model.row_entries(S) @ coef.T + intercept  # fitted values are H y
        # Leaving out j is to replace its target by its leave-one-out prediction.
        residuals = np.asarray(y, dtype=np.float64) - model.loo_predictions_
        return np.sqrt((H**2).mean(axis=0)) * np.abs(residuals)
    if not isinstance(model, SimilarityKNN) or model.weights != "uniform":
        raise ProximityError(
            f"influence is exact for SimilarityKNN with uniform weights and ProximityRidge. Got {type(model).__name__}."
        )
    matrix, k = model.check_training(S), model.n_neighbors_
    n = len(matrix)
    codes = check_labels(y, n, who="influence", of=S)[1]
    indices, _ = top_k(matrix, k + 1, sign=model.sign, folds=np.arange(n))
    known = indices >= 0
    own = (codes[indices] == codes[:, None]) & known
    counts, votes = known[:, :k].sum(axis=1), own[:, :k].sum(axis=1)
    # Without neighbor j of object i, the neighbor k + 1 takes its place; where there is none, fewer neighbors vote.
    left = votes[:, None] - own[:, :k] + own[:, k:]
    voters = np.maximum((counts - 1)[:, None] + known[:, k:], 1)
    drop = (votes / np.maximum(counts, 1))[:, None] - left / voters
    near = known[:, :k]
    return np.bincount(indices[:, :k][near], drop[near], n).astype(np.float64)
