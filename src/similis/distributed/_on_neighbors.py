"""Local classifiers on a neighbor index: they need only the neighbors of a new object and their own block."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from similis.base import (
    FittedArrays,
    HasMethods,
    check_labels,
    count_objects,
    fitted_indices,
    fitted_part,
    take_objects,
    validated_outer,
)
from similis.distributed._neighbors import NeighborIndex
from similis.exceptions import ProximityError

_BLOCKS = 1024  # neighbors, of several new objects, in one small matrix
_ENCODED = 2**16  # neighbors that are encoded together


class OnNeighbors(FittedArrays, ClassifierMixin, BaseEstimator):
    """Classify by a local method among the neighbors that an index finds, without the matrix of all pairs.

    A new object costs its search and k (k + 1) / 2 comparisons among its k neighbors (k^2 if the measure is not
    symmetric; none for plain votes). If the index finds the true neighbors, predictions are those of the estimator on
    the whole matrix. For ``LocalSDA`` this requires a domain that does not depend on all pairs: its own `domain`, or
    the measure's ``domain_``.

    Parameters
    ----------
    estimator : classifier
        A local method with ``n_neighbors``: ``SimilarityKNN`` with any weights, ``LocalSDA``, ``SVMKNN``,
        ``LocalNearestCentroid``.
    index : NeighborIndex
        Index that finds the neighbors, with its measure.

    Attributes
    ----------
    index_ : NeighborIndex
        The fitted index.
    classes_ : ndarray of shape (G,)
        Class labels.

    Examples
    --------
    >>> from similis import Counting, SimilarityKNN
    >>> from similis.datasets import load_votes
    >>> from similis.distributed import NeighborIndex, OnNeighbors
    >>> X, y = load_votes(return_X_y=True)
    >>> local = SimilarityKNN(n_neighbors=8, weights="kri")
    >>> model = OnNeighbors(local, NeighborIndex(Counting(), random_state=0)).fit(X[:80], y[:80])
    >>> bool(model.score(X[80:110], y[80:110]) > 0.9)
    True
    """

    fitted_arrays = {
        "_codes": fitted_indices("N", below="G"),
        "index_": fitted_part(NeighborIndex, N="N"),
    }

    _parameter_constraints = {"estimator": [HasMethods(["fit", "predict"])], "index": [NeighborIndex]}

    def __init__(self, estimator: Any, index: NeighborIndex) -> None:
        self.estimator = estimator
        self.index = index

    @validated_outer
    def fit(self, X: Any, y: Any, *, client: Any = None) -> OnNeighbors:
        """Build the index of the n training objects `X` with the class labels `y`.

        A `client` from :func:`connect` measures the pairs, see :meth:`NeighborIndex.fit`; :func:`predict_blocks`
        classifies new objects on a cluster.
        """
        if not hasattr(self.estimator, "n_neighbors"):
            raise ProximityError(
                f"OnNeighbors needs a local method with the parameter n_neighbors. Got {type(self.estimator).__name__}."
            )
        self.index_ = clone(self.index).fit(X, y, client=client)
        self.classes_, self._codes = check_labels(y, count_objects(self.index_.objects_), who=type(self).__name__)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of m new objects."""
        return self.classes_[self._respond(X, "predict")[:, 0].astype(np.intp)]

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class, shape (m, G), as ``classes_``, where the estimator gives probabilities."""
        return self._respond(X, "predict_proba")

    def _respond(self, X: Any, response: str) -> NDArray[np.float64]:
        check_is_fitted(self)
        values, indices = self.index_.kneighbors(X, self.estimator.n_neighbors)
        m, k = indices.shape
        out = np.zeros((m, 1 if response == "predict" else len(self.classes_)))
        together = 1 if hasattr(self.estimator, "domain") else max(1, _BLOCKS // k)
        step = together * max(1, _ENCODED // (together * k))
        measured = getattr(self._local_model(), "_is_local", True)  # votes do not use the neighbors' own block
        for start in range(0, m, step):
            places = indices[start : start + step]
            sizes = (places >= 0).sum(axis=1)
            near = places[places >= 0]
            whole = self.index_.measure_.encode(take_objects(self.index_.objects_, near)) if measured else None
            ends = np.cumsum(sizes)
            for first in range(start, min(start + step, m), together):
                rows = slice(first, min(first + together, start + step, m))
                own = slice(first - start, rows.stop - start)
                blocks = None
                if measured and len(np.unique(self._codes[indices[rows][indices[rows] >= 0]])) > 1:
                    blocks = [self._block(near, whole, e - size, e) for e, size in zip(ends[own], sizes[own])]
                out[rows] = self._respond_batch(values[rows], indices[rows], blocks, response)
        return out

    def _respond_batch(
        self, values: NDArray[Any], indices: NDArray[np.intp], blocks: list[NDArray[Any]] | None, response: str
    ) -> NDArray[np.float64]:
        """Responses for a few new objects, from one small matrix that has a separate block for each."""
        found = indices >= 0
        places = indices[found]
        present, codes = np.unique(self._codes[places], return_inverse=True)
        if len(present) < 2:
            label = present[0] if len(present) else np.bincount(self._codes).argmax()
            one = np.array([label]) if response == "predict" else np.eye(len(self.classes_))[label]
            return np.tile(one.astype(np.float64), (len(indices), 1))
        model = self._local_model()
        is_similarity = self.index_.measure_.kind == "similarity"
        low = values[found].min() - 1 if is_similarity else values[found].max() + 1
        other = np.nan if getattr(model, "allow_missing", False) else low  # never among the nearest
        S = np.full((len(places), len(places)), other)
        Q = np.full((len(indices), len(places)), other)
        Q[np.nonzero(found)[0], np.arange(len(places))] = values[found]
        if blocks is None:
            np.fill_diagonal(S, values[found].max() if is_similarity else 0.0)
        else:
            end = 0
            for block in blocks:
                own = slice(end, end := end + len(block))
                S[own, own] = block
        responses = getattr(model.fit(S, codes), response)(Q)
        if response == "predict":
            return present[responses][:, None].astype(np.float64)
        out = np.zeros((len(indices), len(self.classes_)))
        out[:, present[model.classes_]] = responses
        return out

    def _block(self, places: NDArray[np.intp], encoded: Any, first: int, end: int) -> NDArray[Any]:
        """Measure the neighbors of one new object against each other."""
        index, k = self.index_, end - first
        if hasattr(encoded, "__getitem__"):
            own = encoded[first:end]
        else:
            own = index.measure_.encode(take_objects(index.objects_, places[first:end]))
        index.n_calls_ += k * (k + 1) // 2 if index.measure_.symmetric else k * k
        return index.measure_.block(own, own) if k else np.empty((0, 0))

    def _local_model(self) -> Any:
        model = clone(self.estimator)
        domain = getattr(model, "domain", None)
        if isinstance(domain, str) and domain == "empirical" and self.index_.measure_.domain_ is not None:
            model.set_params(domain=self.index_.measure_.domain_)
        return model
