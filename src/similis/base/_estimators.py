"""The estimator bases: what reads proximities, what transforms them, what learns labels from them.

A subclass says in class attributes what it reads (``_reads``: similarity, dissimilarity, or None for either)
and what it tolerates (``_allow_missing``, ``_allow_stack``, ``_accept_sparse``); tags, checks and messages follow.
An estimator for which both kinds make sense has a ``kind`` parameter, which then decides.
"""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from similis.base._decision import check_costs, least_cost
from similis.base._validation import Kind, check_labels, check_proximity, check_query

__all__ = ["FewColumnsMixin", "ProximityClassifier", "ProximityEstimator", "ProximityTransformer"]


class ProximityEstimator(BaseEstimator):
    """Anything that reads a proximity matrix: n x n at fit, m x n afterwards."""

    _reads: ClassVar[Kind | None] = None
    _allow_missing: ClassVar[bool] = False
    _allow_stack: ClassVar[bool] = False
    _accept_sparse: ClassVar[bool] = False
    _doc_link_module = "similis"

    @property
    def _kind(self) -> Kind | None:
        return getattr(self, "kind", self._reads)

    @property
    def _sign(self) -> int:
        """What makes larger mean nearer: 1 for similarities, -1 for dissimilarities."""
        return -1 if self._kind == "dissimilarity" else 1

    @property
    def metric(self) -> str | None:
        """``"precomputed"`` in dissimilarity mode: the spelling by which scikit-learn recognises distances."""
        return "precomputed" if self._kind == "dissimilarity" else None

    def _check_fit(self, X: ArrayLike) -> NDArray[Any]:
        """Pass the training matrix through its door."""
        return check_proximity(
            X,
            kind=self._kind,
            allow_missing=self._allow_missing,
            allow_stack=self._allow_stack,
            accept_sparse=self._accept_sparse,
            estimator=self,
        )

    def _check_query(self, X: ArrayLike) -> NDArray[Any]:
        """Pass new rows through their door."""
        return check_query(
            X,
            self,
            kind=self._kind,
            allow_missing=self._allow_missing,
            allow_stack=self._allow_stack,
            accept_sparse=self._accept_sparse,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.allow_nan = self._allow_missing
        tags.input_tags.sparse = self._accept_sparse
        tags.input_tags.positive_only = self._kind == "dissimilarity"
        tags.input_tags.three_d_array = self._allow_stack
        return tags


class ProximityTransformer(TransformerMixin, ProximityEstimator):
    """Maps a training matrix, and consistently new rows, to other rows; float32 stays float32."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class ProximityClassifier(ClassifierMixin, ProximityEstimator):
    """Learns labels from proximity rows.

    A probabilistic subclass writes ``predict_proba``; ``predict`` then minimises the expected cost, with the
    ``costs`` parameter where there is one, else the number of errors.
    """

    classes_: NDArray[Any]

    @property
    def columns_(self) -> NDArray[np.intp]:
        """Training objects whose column ``predict`` reads; all of them, unless a subclass knows better."""
        check_is_fitted(self)
        return np.arange(self.n_features_in_)

    def _compact(self) -> tuple[Any, NDArray[np.intp]]:
        """A model with the same predictions that reads only ``columns_``, and those columns."""
        return self, self.columns_

    def _check_fit_labels(self, X: ArrayLike, y: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Check matrix and labels; set ``classes_``; return the matrix and the class code of each object."""
        S = self._check_fit(X)
        self.classes_, codes = check_labels(y, S.shape[0], who=type(self).__name__)
        check_costs(getattr(self, "costs", None), len(self.classes_))
        return S, codes

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class with the least expected cost.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Proximities of m new objects to the n training objects.

        Returns
        -------
        ndarray of shape (m,)
            Labels from ``classes_``; the earlier class wins a tie.
        """
        proba = self.predict_proba(X)
        costs = check_costs(getattr(self, "costs", None), len(self.classes_))
        return self.classes_[least_cost(proba, costs)]


class FewColumnsMixin:
    """For a classifier whose answers need the columns of a few training objects only, such as centroids.

    ``fit`` names them with :meth:`_keep_columns`; ``predict`` reads them by :meth:`_kept`, which works on a full block
    and, after :func:`similis.compact`, on one that holds nothing else.
    """

    def _keep_columns(self, objects: NDArray[np.intp]) -> None:
        self._kept_objects = np.asarray(objects, dtype=np.intp)
        self._kept_places = self._kept_objects

    def _kept(self, Q: NDArray[Any]) -> NDArray[Any]:
        """The named objects' columns of a block, in the order in which they were named; no copy where it is these."""
        places = self._kept_places
        whole = len(places) == Q.shape[1] and bool((places == np.arange(len(places))).all())
        return Q if whole else Q[:, places]

    @property
    def columns_(self) -> NDArray[np.intp]:
        """Training objects whose columns ``predict`` reads, ascending."""
        check_is_fitted(self)
        return np.unique(self._kept_objects)

    def _compact(self) -> tuple[Any, NDArray[np.intp]]:
        columns = self.columns_
        small: Any = copy.copy(self)
        small._kept_places = np.searchsorted(columns, self._kept_objects)
        small.n_features_in_ = len(columns)
        if hasattr(self, "feature_names_in_") and len(self.feature_names_in_) > len(columns):
            small.feature_names_in_ = self.feature_names_in_[columns]
        return small, columns
