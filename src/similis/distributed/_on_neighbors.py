"""Local classifiers on a neighbor index: they need only the neighbors of a new object and their own block."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from similis import base
from similis._utils.arrays import Array, Floats, Indices
from similis.distributed._neighbors import NeighborIndex
from similis.exceptions import ProximityError

_BLOCKS = 1024  # neighbors, of several new objects, in one small matrix
_ENCODED = 2**16  # neighbors that are encoded together


@base.estimator
class OnNeighbors(base.FittedArrays, ClassifierMixin, BaseEstimator):
    """Classify by a local method among the neighbors that an index finds, without the matrix of all pairs.

    If the index finds the true neighbors, predictions are those of the estimator on the whole matrix. For ``LocalSDA``
    this requires a domain that does not depend on all pairs: its own `domain`, or the measure's ``domain_``.

    Parameters
    ----------
    estimator : classifier
        A local method: ``SimilarityKNN`` with any weights, ``LocalSDA``, ``SVMKNN``, ``LocalNearestCentroid``.
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
    >>> model = OnNeighbors(SimilarityKNN(weights="kri"), NeighborIndex(Counting(), random_state=0))
    >>> bool(model.fit(X[:80], y[:80]).score(X[80:110], y[80:110]) > 0.85)
    True
    """

    fitted_arrays = {"_codes": base.fitted_indices("N", below="G"), "index_": base.fitted_part(NeighborIndex, N="N")}

    estimator: Any = field(kw_only=False, metadata={"constraints": [base.HasMethods(["fit", "predict"])]})
    index: NeighborIndex = field(kw_only=False, metadata={"constraints": [NeighborIndex]})

    @base.validated_outer
    def fit(self, X: Any, y: Any, *, client: Any = None) -> OnNeighbors:
        """Build the index of the training objects `X` with class labels `y`, on the cluster `client` if it is given."""
        if not hasattr(self.estimator, "n_neighbors"):
            raise ProximityError(
                f"OnNeighbors needs a local method with the parameter n_neighbors. Got {type(self.estimator).__name__}."
            )
        self.index_ = clone(self.index).fit(X, y, client=client)
        self.classes_, self._codes = base.check_labels(
            y, base.count_objects(self.index_.objects_), who=type(self).__name__
        )
        return self

    def predict(self, X: Any) -> Array:
        """Predict the class of m new objects."""
        return self.classes_[self._respond(X, "predict")[:, 0].astype(np.intp)]

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, shape (m, G), where the estimator gives probabilities."""
        return self._respond(X, "predict_proba")

    def _respond(self, X: Any, response: str) -> Floats:
        check_is_fitted(self)
        values, indices = self.index_.kneighbors(X, self.estimator.n_neighbors)
        m, k = indices.shape
        out = np.zeros((m, 1 if response == "predict" else len(self.classes_)))
        together = 1 if hasattr(self.estimator, "domain") else max(1, _BLOCKS // k)
        step = together * max(1, _ENCODED // (together * k))
        measured = getattr(self._local_model(), "_is_local", True)  # votes do not use the neighbors' own block
        for start in range(0, m, step):
            places = indices[start : start + step]
            sizes, near = (places >= 0).sum(axis=1), places[places >= 0]
            whole = self.index_.measure_.encode(base.take_objects(self.index_.objects_, near)) if measured else None
            ends = np.cumsum(sizes)
            for first in range(start, min(start + step, m), together):
                rows = slice(first, min(first + together, start + step, m))
                own = slice(first - start, rows.stop - start)
                blocks = None
                if measured and len(np.unique(self._codes[indices[rows][indices[rows] >= 0]])) > 1:
                    blocks = [self._block(near, whole, e - size, e) for e, size in zip(ends[own], sizes[own])]
                out[rows] = self._respond_batch(values[rows], indices[rows], blocks, response)
        return out

    def _respond_batch(self, values: Array, indices: Indices, blocks: list[Array] | None, response: str) -> Floats:
        """Responses for a few new objects, from one small matrix that has a separate block for each."""
        found = indices >= 0
        places = indices[found]
        present, codes = np.unique(self._codes[places], return_inverse=True)
        if len(present) < 2:
            label = present[0] if len(present) else np.bincount(self._codes).argmax()
            one = np.array([label]) if response == "predict" else np.eye(len(self.classes_))[label]
            return np.tile(one.astype(np.float64), (len(indices), 1))
        model = self._local_model()
        is_similarity, known = self.index_.measure_.kind == "similarity", values[found]
        low = known.min() - 1 if is_similarity else known.max() + 1
        other = np.nan if getattr(model, "allow_missing", False) else low  # never among the nearest
        S = np.full((len(places), len(places)), other)
        Q = np.full((len(indices), len(places)), other)
        Q[np.nonzero(found)[0], np.arange(len(places))] = known
        if blocks is None:
            np.fill_diagonal(S, known.max() if is_similarity else 0.0)
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

    def _block(self, places: Indices, encoded: Any, first: int, end: int) -> Array:
        """Measure the neighbors of one new object against each other."""
        index, measure, k = self.index_, self.index_.measure_, end - first
        if hasattr(encoded, "__getitem__"):
            own = encoded[first:end]
        else:
            own = measure.encode(base.take_objects(index.objects_, places[first:end]))
        index.n_calls_ += k * (k + 1) // 2 if measure.symmetric else k * k
        return measure.block(own, own) if k else np.empty((0, 0))

    def _local_model(self) -> Any:
        model = clone(self.estimator)
        domain = getattr(model, "domain", None)
        if isinstance(domain, str) and domain == "empirical" and self.index_.measure_.domain_ is not None:
            model.set_params(domain=self.index_.measure_.domain_)
        return model
