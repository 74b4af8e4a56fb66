"""An extension of similis that imports public names only."""

import numpy as np
from sklearn.base import OneToOneFeatureMixin

from similis import Proximity
from similis.base import (
    Measure,
    PathMixin,
    ProximityClassifier,
    ProximityTransformer,
    at_least,
    choice,
    fitted_indices,
    fitted_reals,
    positive,
    validated,
)
from similis.io import Format
from similis.study import AtMost, Method

__all__ = ["METHODS", "LetterOverlap", "MeanOfNearest", "Power"]


class LetterOverlap(Measure):
    """Number of letters that two words have in common, counted with multiplicity."""

    def encode(self, objects):
        return np.array([[word.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for word in objects])

    def compare(self, A, B):
        return np.minimum(A[:, None], B[None]).sum(axis=2)


class Power(OneToOneFeatureMixin, ProximityTransformer):
    """Raise proximities, scaled to at most one, to a power; the sign is kept.

    Parameters
    ----------
    power : float, default=2.0
        Exponent.
    """

    _parameter_constraints = {"power": [positive()]}

    def __init__(self, *, power=2.0):
        self.power = power

    @validated
    def fit(self, X, y=None):
        self.scale_ = np.abs(self.check_training(X)).max() or 1.0
        return self

    def transform(self, X):
        S = self.check_rows(X) / self.scale_
        return np.sign(S) * np.abs(S) ** self.power


class MeanOfNearest(PathMixin, ProximityClassifier):
    """Classify by the mean proximity to the k nearest members of each class.

    Parameters
    ----------
    k : int, default=3
        Number of members; all members of a smaller class.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of proximity in the matrix.
    """

    _parameter_constraints = {"k": [at_least(1)], "kind": [choice("similarity", "dissimilarity")]}
    fitted_arrays = {"_S": fitted_reals("n", "n"), "_codes": fitted_indices("n", below="G")}
    path_params = ("k",)

    def __init__(self, *, k=3, kind="similarity"):
        self.k = k
        self.kind = kind

    @validated
    def fit(self, X, y):
        self._S, self._codes = self.check_training_labels(X, y)
        return self

    def class_scores(self, Q):
        return self.path_scores(self._S, self._codes, Q, [{"k": self.k}])[0]

    def decision_function(self, X):
        return self.respond(X, "decision_function")

    def path_scores(self, S, codes, Q, points):
        """Scores for every k from one sort of the rows."""
        scores = np.empty((len(points), len(Q), len(self.classes_)))
        for g in range(len(self.classes_)):
            nearest = -np.sort(-self.sign * Q[:, codes == g].astype(np.float64), axis=1)
            means = np.cumsum(nearest, axis=1) / np.arange(1, nearest.shape[1] + 1)
            for t, point in enumerate(points):
                scores[t, :, g] = means[:, min(point["k"], means.shape[1]) - 1]
        return list(scores)


METHODS = [
    Method(
        "mean-of-nearest",
        MeanOfNearest,
        grid={"k": AtMost((1, 3, 5, 10))},
        reads="either",
        family="neighbors",
        summary="mean proximity to the nearest members of each class",
    )
]


def read_upper(path, options):
    """Read the rows of an upper triangle, diagonal included, one per line."""
    rows = [list(map(float, line.split())) for line in path.read_text().splitlines()]
    values = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        values[i, i:] = values[i:, i] = row
    return Proximity(values, kind="dissimilarity")


FORMAT = Format("upper", "upper triangle of a distance matrix", (".upper",), read_upper)
