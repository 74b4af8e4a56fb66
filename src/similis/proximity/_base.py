"""Base classes of the transformers by kind of output, and the check of a zero diagonal."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, OneToOneFeatureMixin
from sklearn.utils.validation import check_is_fitted

from similis._utils.arrays import Array, Indices
from similis._utils.messages import warn_user
from similis.base import ProximityTransformer, SparseRows, check_values, validated
from similis.exceptions import DiagonalWarning


class MatrixTransformer(ProximityTransformer):
    """Transformer written as two or three functions of validated arrays: learn, transform_rows, transform_training."""

    def learn(self, S: Array, y: Any) -> Array | None:
        """Set the fitted attributes; return the matrix that `transform_training` gets, or None for `S` itself."""
        raise NotImplementedError

    def transform_rows(self, Q: Array) -> Array:
        raise NotImplementedError

    def transform_training(self, S: Array) -> Array:
        return self.transform_rows(S)

    @validated
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Fit to a training matrix, (n, n), or (n, n, q) for several matrices; some transformers use labels `y`."""
        self.learn(self.check_training(X, keep_sparse=self.keep_sparse), y)
        return self

    @validated
    def fit_transform(self, X: ArrayLike, y: Any = None) -> Array:
        """Fit to a training matrix, see :meth:`fit`, and return its transformed rows."""
        S = self.check_training(X, keep_sparse=self.keep_sparse)
        learned = self.learn(S, y)
        return self.transform_training(S if learned is None else learned)

    def transform(self, X: ArrayLike) -> Array:
        """Transform rows of new objects, of shape (m, n) or (m, n, q), consistently with the training matrix."""
        return self.transform_rows(self.check_rows(X))


class ToRows(OneToOneFeatureMixin, MatrixTransformer):
    """Transformer that returns proximity rows: n columns, one per training object, with their names."""


class Elementwise(ToRows):
    """Transformer of single entries; for a later model that reads few columns, only these are transformed."""

    def select_columns(self, columns: Indices) -> tuple[Any, Indices]:
        check_is_fitted(self)
        small = copy.copy(self)
        small.n_features_in_ = len(columns)
        if hasattr(self, "feature_names_in_"):
            small.feature_names_in_ = self.feature_names_in_[columns]
        return small, columns

    def transform_training(self, S: Any) -> Any:
        return self._transform_entries(S.to_csr()) if isinstance(S, SparseRows) else self.transform_rows(S)

    def transform(self, X: ArrayLike) -> Any:
        if not self.keep_sparse or not sparse.issparse(X):
            return super().transform(X)
        rows = SparseRows(X, missing=False).to_csr()  # an entry that appears twice is added up
        self.check_rows(rows[:1])
        check_values(rows.data, kind=self.proximity_kind, allow_missing=self.allow_missing, who=type(self).__name__)
        return self._transform_entries(rows)

    def _transform_entries(self, X: Any) -> Any:
        """Transform the stored entries of a sparse matrix; zero stays zero where ``keep_sparse`` is True."""
        data = self.transform_rows(X.data[None, :].astype(np.result_type(X.dtype, np.float32)))[0]
        return sparse.csr_array((data, X.indices, X.indptr), shape=X.shape)


class ToFeatures(ClassNamePrefixFeaturesOutMixin, MatrixTransformer):
    """Transformer that returns feature rows: coordinates named after the class, one per row of ``components_``."""

    components_: Array

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def warn_if_self_differs(D: Array, estimator: Any) -> None:
    """Warn if an object has a non-zero dissimilarity to itself."""
    diagonal = np.einsum("ii->i", D)
    if diagonal.any():
        i = int(np.argmax(diagonal != 0))
        warn_user(
            f"{type(estimator).__name__} expects a zero dissimilarity of each object to itself. Got {diagonal[i]:.6g} "
            f"at row {i}, column {i}; the value is used unchanged. Set the diagonal to zero if it is noise.",
            DiagonalWarning,
        )
