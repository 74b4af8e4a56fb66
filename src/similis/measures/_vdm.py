"""The value difference metric of [cazzanti2007] Eq. (2.3)-(2.4)."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from similis._utils.params import between, choice, positive
from similis._utils.validation import Kind, check_labels
from similis.measures._base import Tick
from similis.measures._codes import CategoricalMeasure
from similis.measures._value_difference import ValueTables
from similis.measures._vectors import Laid

__all__ = ["VDM"]


class VDM(CategoricalMeasure):
    """Value difference metric: values differ as much as the labels they go with.

    d(x, z) = sum_i sum_g |P(Y = g | x[i]) - P(Y = g | z[i])|^q over features i and classes g, the probabilities
    estimated from the training objects.

    Parameters
    ----------
    q : float, default=2.0
        The exponent, above 0.
    smoothing : float, default=0.0
        Added to each count of (value, class); 1 is Laplace's rule.
    unseen : {"zero", "prior"}, default="zero"
        What a value that did not occur in training adds to the sum: nothing, or its difference as if its class
        probabilities were the training frequencies of the classes.
    similarity : bool, default=False
        If True the measure is the similarity 1 - d(x, z) / d_max, d_max the largest dissimilarity of two training
        objects ([chen2010] p. 35). A new object farther away than that has a negative similarity.

    Attributes
    ----------
    classes_ : ndarray
        The labels seen.
    max_ : float
        d_max; only with `similarity`.
    domain_ : tuple
        An interval that holds all values.
    n_features_in_ : int
        The number of features.

    See Also
    --------
    Counting : counts equal features, without labels.
    HVDM : for rows of categorical and numeric features.

    Notes
    -----
    Within a pipeline the labels are those of the training fold: ``make_pipeline(Pairwise(VDM()), classifier)`` never
    shows the measure a test label. Eq. (2.3) is printed for one class g; summing over all doubles it for two
    classes and changes no decision. A missing value (None, NaN, NA) is a value with probabilities of its own.

    Examples
    --------
    >>> from similis import VDM
    >>> votes, party = [["y", "n"], ["y", "y"], ["n", "y"]], ["dem", "dem", "rep"]
    >>> VDM().fit(votes, party).matrix(votes)
    array([[0. , 0.5, 2.5],
           [0.5, 0. , 2. ],
           [2.5, 2. , 0. ]])
    """

    _parameter_constraints = {
        "q": [positive()],
        "smoothing": [between(0, None, "left")],
        "unseen": [choice("zero", "prior")],
        "similarity": ["boolean"],
    }

    def __init__(
        self, *, q: float = 2.0, smoothing: float = 0.0, unseen: str = "zero", similarity: bool = False
    ) -> None:
        self.q = q
        self.smoothing = smoothing
        self.unseen = unseen
        self.similarity = similarity

    @property
    def kind(self) -> Kind:  # type: ignore[override]
        """Dissimilarity, or similarity if so asked."""
        return "similarity" if self.similarity else "dissimilarity"

    def _learn(self, objects: NDArray[Any], y: Any) -> None:
        self.classes_, codes = check_labels(y, len(objects), who="VDM learns from class labels and", min_classes=1)
        self._tables = ValueTables.learn(objects, codes, len(self.classes_), self.q, self.smoothing, self.unseen)
        self.domain_ = (0.0, self._tables.largest)
        if self.similarity:
            self.max_ = self._tables.largest_between(self._tables.encode(objects)) or 1.0
            self.domain_ = (1 - self._tables.largest / self.max_, 1.0)

    def _encode(self, objects: NDArray[Any]) -> Laid:
        check_is_fitted(self)
        return self._tables.encode(objects)

    def _matrix(self, A: Laid, B: Laid, n_jobs: int | None = None, tick: Tick | None = None) -> NDArray[Any]:
        out = self._tables.compare(A, B, n_jobs, tick)
        if self.similarity:
            # [chen2010] p. 35 -> 1 - d / d_max
            out /= -self.max_
            out += 1.0
        return out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
