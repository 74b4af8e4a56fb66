"""From objects to features by way of a few landmarks: the matrix of all pairs is never formed."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from similis._utils.linalg import take_symmetric_part
from similis._utils.nystrom import nystrom_axes
from similis._utils.objects import count, take
from similis._utils.params import Integral, at_least, choice, validated_outer
from similis.exceptions import ProximityError
from similis.measures._base import Measure
from similis.measures._measuring import MeasuringTransformer
from similis.solvers import k_medoids

__all__ = ["PairwiseLandmarks"]

SAMPLE = 2000  # objects among which medoids are looked for


class PairwiseLandmarks(ClassNamePrefixFeaturesOutMixin, MeasuringTransformer):
    """Measure objects against a few of the training objects: features for any linear classifier.

    n objects and k landmarks cost n k comparisons instead of n^2 / 2. Features are the proximities s to the landmarks,
    or, with W = U diag(l) U' the similarities among the landmarks, Nystrom's coordinates z = s U |l|^(-1/2): then
    Z Z' approximates the clipped or flipped matrix, and Z diag(signature) Z' the matrix itself.

    Parameters
    ----------
    measure : Measure
        How to compare two objects; fitted on all training objects.
    n_landmarks : int, default=200
        How many; more than there are objects means all.
    selection : {"random", "kcenter", "medoids"}, default="random"
        How they are chosen: drawn; after a drawn one, one after the other the object least like those taken (n more
        comparisons for each); centres of clusters among 2,000 drawn objects.
    output : {"features", "nystrom"}, default="features"
        Proximities to the landmarks, or coordinates. Coordinates need similarities.
    spectrum : {"clip", "flip"}, default="clip"
        Of coordinates, leave out the axes with a negative eigenvalue, or keep them.
    random_state : int, RandomState or None, default=None
        For what is drawn.
    n_jobs : int, optional
        How many threads (processes, for a measure written in Python) share the rows; the result is the same.

    Attributes
    ----------
    measure_ : Measure
        The fitted measure.
    objects_ : array or list
        The landmarks, the only objects that are kept.
    landmark_indices_ : ndarray of int
        Their places among the training objects.
    components_ : ndarray of shape (n_components, n_landmarks)
        |l|^(-1/2) U', or the identity for ``features``.
    signature_ : ndarray of shape (n_components,)
        Sign of the eigenvalue of each output column.
    asymmetry_ : float
        Of W, whose symmetric part is decomposed, with a warning where the two differ.

    See Also
    --------
    similis.Landmarks : the same from a matrix that is already there.
    Pairwise : against all training objects.

    Notes
    -----
    Keeping |l| and its sign carries Nystrom's method to the spectra of [chen2010] sec. 2.1. ``fit_transform(X)`` equals
    ``fit(X).transform(X)``.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from similis import Counting, PairwiseLandmarks
    >>> from similis.datasets import load_votes
    >>> X, y = load_votes(return_X_y=True)
    >>> landmarks = PairwiseLandmarks(Counting(), n_landmarks=20, random_state=0)
    >>> model = make_pipeline(landmarks, LogisticRegression(max_iter=1000))
    >>> bool(model.fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.9)
    True
    """

    _parameter_constraints = {
        "measure": [Measure],
        "n_landmarks": [at_least(1)],
        "selection": [choice("random", "kcenter", "medoids")],
        "output": [choice("features", "nystrom")],
        "spectrum": [choice("clip", "flip")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        measure: Measure,
        *,
        n_landmarks: int = 200,
        selection: str = "random",
        output: str = "features",
        spectrum: str = "clip",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.measure = measure
        self.n_landmarks = n_landmarks
        self.selection = selection
        self.output = output
        self.spectrum = spectrum
        self.random_state = random_state
        self.n_jobs = n_jobs

    @validated_outer
    def fit(self, X: Any, y: Any = None) -> PairwiseLandmarks:
        """Fit the measure, choose the landmarks and find the axes.

        Parameters
        ----------
        X : collection of n objects
            Whatever the measure reads.
        y : array-like of shape (n,), optional
            Labels, for measures that learn from them.

        Returns
        -------
        PairwiseLandmarks
            Itself.
        """
        if self.output == "nystrom" and self.measure.kind == "dissimilarity":
            raise ProximityError(
                f"output='nystrom' needs similarities, and {type(self.measure).__name__} gives dissimilarities. Use "
                "output='features', or a measure of similarity."
            )
        objects = self._fit_measure(X, y)
        self.landmark_indices_ = self._choose(objects)
        self.objects_ = take(objects, self.landmark_indices_)
        k = len(self.landmark_indices_)
        self.asymmetry_ = 0.0
        if self.output == "features":
            self.components_, self.signature_ = np.eye(k), np.ones(k)
            return self
        columns = self._encoded_objects()
        W = take_symmetric_part(self.measure_._matrix(columns, columns, self.n_jobs), self)
        self.components_, self.signature_ = nystrom_axes(W, self.spectrum)
        return self

    def transform(self, X: Any) -> NDArray[Any]:
        """Give the features of objects.

        Parameters
        ----------
        X : collection of m objects
            New objects.

        Returns
        -------
        ndarray of shape (m, n_components)
        """
        check_is_fitted(self)
        rows = self.measure_._encode(self.measure_._door(X))
        s = self.measure_._matrix(rows, self._encoded_objects(), self.n_jobs)  # (m, n_landmarks)
        return s if self.output == "features" else s @ self.components_.T  # z = s U |l|^(-1/2)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _choose(self, objects: Any) -> NDArray[np.intp]:
        n = count(objects)
        k = min(n, self.n_landmarks)
        rng = check_random_state(self.random_state)
        if self.selection == "random" or k == n:
            return np.sort(rng.permutation(n)[:k])
        if self.selection == "kcenter":
            return self._spread(objects, int(rng.randint(n)), n, k)
        sample = np.sort(rng.permutation(n)[: max(SAMPLE, k)])
        encoded = self.measure_._encode(take(objects, sample))
        sign = -1 if self.measure_.kind == "dissimilarity" else 1
        S = self.measure_._matrix(encoded, encoded, self.n_jobs)
        return np.sort(sample[k_medoids(S, k, sign=sign, n_init=1, random_state=rng).medoids])

    def _spread(self, objects: Any, first: int, n: int, k: int) -> NDArray[np.intp]:
        """Farthest first: a column of the matrix at a time, so memory holds n numbers."""
        sign = -1 if self.measure_.kind == "dissimilarity" else 1
        everyone = self.measure_._encode(objects)
        chosen, nearest = [first], np.full(n, -np.inf)
        while len(chosen) < k:
            landmark = self.measure_._encode(take(objects, np.array(chosen[-1:])))
            nearest = np.maximum(nearest, sign * self.measure_._matrix(everyone, landmark, self.n_jobs)[:, 0])
            nearest[chosen[-1]] = np.inf
            chosen.append(int(np.argmin(nearest)))
        return np.array(chosen)

    def _compact(self, columns: NDArray[np.intp]) -> tuple[PairwiseLandmarks, None]:
        """The same with some of its columns: as features, other landmarks are forgotten; coordinates need them all."""
        small = copy.copy(self)
        small.__dict__.pop("_columns", None)
        small.components_, small.signature_ = self.components_[columns], self.signature_[columns]
        if self.output == "features":
            small.landmark_indices_ = self.landmark_indices_[columns]
            small.objects_ = take(self.objects_, columns)
            small.components_ = np.eye(len(columns))
        return small, None
