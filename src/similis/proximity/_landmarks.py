"""Selection of prototypes, and the Nystrom method."""

from __future__ import annotations

import copy
from dataclasses import field
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from similis._utils.arrays import Array, Indices
from similis._utils.linalg import nystrom_axes, take_symmetric_part
from similis._utils.threads import row_chunks
from similis.base import at_least, choice, estimator, fitted_indices, fitted_reals, param
from similis.proximity._base import ToFeatures
from similis.solvers import farthest_first, k_medoids


def choose_prototypes(D: Array, k: int, selection: str, rng: Any, codes: Any = None) -> Indices:
    """Return the indices of k prototypes, ascending or in the order of selection; ``"forward"`` needs class `codes`."""
    if selection == "random":
        return np.sort(rng.permutation(len(D))[:k])
    if selection == "kcenter":
        return farthest_first(D, k)
    if selection == "medoids":
        # Start from the k-centers, so that the result does not depend on random numbers.
        return k_medoids(D, k, sign=-1, method="eager", init=farthest_first(D, k)).medoids
    return _forward_selection(D, k, codes)


def _forward_selection(D: Array, k: int, codes: Indices) -> Indices:
    """Add prototypes one at a time, each with the fewest leave-one-out errors of the nearest-prototype rule.

    Ties are decided by the number of objects without a prototype of their class, the sum of distances, the lower index.
    """
    n = len(D)
    own, other = np.full((2, n), np.inf)  # distance to the nearest prototype of the own, of another class
    chosen: list[int] = []
    for _ in range(k):
        blocks = row_chunks(n, 1 + n * n // 2**22)
        j = min(_best_candidate(D, codes, columns, own, other, chosen) for columns in blocks)[-1]
        chosen.append(j)
        d = D[:, j].astype(np.float64)
        d[j] = np.inf
        same = codes == codes[j]
        own[same] = np.minimum(own, d)[same]
        other[~same] = np.minimum(other, d)[~same]
    return np.array(chosen)


def _best_candidate(
    D: Array, codes: Indices, columns: slice, own: Array, other: Array, chosen: list[int]
) -> tuple[int, int, float, int]:
    """Return (errors, objects without a prototype, sum of distances, index) of the best candidate among `columns`."""
    index = np.arange(columns.start, columns.stop)
    d = D[:, columns].astype(np.float64)  # (n, candidates)
    d[index, index - columns.start] = np.inf
    same = codes[:, None] == codes[index]
    a = np.where(same, np.minimum(own[:, None], d), own[:, None])
    b = np.where(same, other[:, None], np.minimum(other[:, None], d))
    wrong = np.where(np.isin(index, chosen), len(D) + 1, np.count_nonzero(~(a < b), axis=0))
    missing = np.count_nonzero(np.isinf(a), axis=0)
    spread = a.sum(axis=0, where=np.isfinite(a))
    c = np.lexsort((spread, missing, wrong))[0]
    return int(wrong[c]), int(missing[c]), float(spread[c]), int(index[c])


@estimator
class Landmarks(ToFeatures):
    """Coordinates from the similarities to a few landmarks (Nystrom method), for a linear classifier.

    With W = U diag(l) U' the similarities among the landmarks, and s those of an object to them, the coordinates are
    z = s U |l|^(-1/2). Z Z' approximates the clipped or flipped matrix of [chen2010] sec. 2.1, and Z diag(signature) Z'
    the matrix itself; both are exact if every object is a landmark. Without eigenvalues the result is one zero column.

    Parameters
    ----------
    n_landmarks : int, default=200
        Number of landmarks, at most the number of objects.
    selection : {"random", "kcenter", "medoids"}, default="random"
        Random objects; repeatedly the object least similar to those selected; or medoids of clusters.
    spectrum : {"clip", "flip"}, default="clip"
        Omit the axes with a negative eigenvalue, or keep them.
    output : {"nystrom", "features"}, default="nystrom"
        ``features`` returns s, the similarities to the landmarks.
    random_state : int, RandomState or None, default=None
        Random seed of ``random``.

    Attributes
    ----------
    landmark_indices_, columns_ : ndarray of int
        Training objects that are landmarks: the columns of a new row that are used.
    signature_, components_ : ndarray of shape (n_components,), (n_components, n_landmarks)
        Sign of the eigenvalue of each output column, and |l|^(-1/2) U'; without eigenvalues that are zero.
    asymmetry_ : float
        ||W - W'|| / (2 ||W||); the symmetric part of W is used, with a warning if W is asymmetric.

    Examples
    --------
    >>> from similis.proximity import Landmarks
    >>> Z = Landmarks(2).fit_transform([[2.0, 1.0], [1.0, 2.0]])
    >>> (Z @ Z.T).round(12)
    array([[2., 1.],
           [1., 2.]])
    """

    n_landmarks: int = field(default=200, kw_only=False, metadata={"constraints": [at_least(1)]})
    selection: str = param("random", choice("random", "kcenter", "medoids"))
    spectrum: str = param("clip", choice("clip", "flip"))
    output: str = param("nystrom", choice("nystrom", "features"))
    random_state: Any = param(None, "random_state")

    fitted_arrays = {
        "landmark_indices_": fitted_indices("p", below="n"),
        "components_": fitted_reals("c", None),
        "signature_": fitted_reals("c"),
    }
    reads = "similarity"
    accept_sparse = True

    def learn(self, S: Array, y: Any) -> None:
        k = min(len(S), self.n_landmarks)
        D = S if self.selection == "random" else S.max() - S
        self.landmark_indices_ = choose_prototypes(D, k, self.selection, check_random_state(self.random_state))
        W = take_symmetric_part(S[np.ix_(self.landmark_indices_, self.landmark_indices_)], self)
        if self.output == "features":
            self.components_, self.signature_ = np.eye(k, dtype=S.dtype), np.ones(k, dtype=S.dtype)
        else:
            self.components_, self.signature_ = nystrom_axes(W, self.spectrum)

    def transform_rows(self, Q: Array) -> Array:
        s = Q[:, self.landmark_indices_]
        return s if self.output == "features" else s @ self.components_.T  # z = s U |l|^(-1/2)

    def select_columns(self, columns: Indices) -> tuple[Landmarks, Indices]:
        small = copy.copy(self)
        needed = columns if self.output == "features" else np.arange(len(self.landmark_indices_))
        small.components_ = self.components_[np.ix_(columns, needed)]
        small.signature_ = self.signature_[columns]
        small.landmark_indices_ = np.arange(len(needed))
        small.n_features_in_ = len(needed)
        small.__dict__.pop("feature_names_in_", None)
        return small, self.landmark_indices_[needed]

    @property
    def columns_(self) -> Indices:
        return self.landmark_indices_
