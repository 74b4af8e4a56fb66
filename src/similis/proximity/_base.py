"""Base classes of the transformers by kind of output, and the check of a zero diagonal."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, OneToOneFeatureMixin
from sklearn.utils.validation import check_is_fitted

from similis._utils.messages import warn_user
from similis.base import ProximityTransformer
from similis.exceptions import DiagonalWarning

__all__ = ["Elementwise", "ToFeatures", "ToRows", "warn_if_self_differs"]


class ToRows(OneToOneFeatureMixin, ProximityTransformer):
    """Transformer that returns proximity rows: n columns, one per training object, with their names."""


class Elementwise(ToRows):
    """Transformer of single entries; for a later model that reads few columns, only these are transformed."""

    def select_columns(self, columns: NDArray[np.intp]) -> tuple[Any, NDArray[np.intp]]:
        check_is_fitted(self)
        small = copy.copy(self)
        small.n_features_in_ = len(columns)
        if hasattr(self, "feature_names_in_"):
            small.feature_names_in_ = self.feature_names_in_[columns]
        return small, columns


class ToFeatures(ClassNamePrefixFeaturesOutMixin, ProximityTransformer):
    """Transformer that returns feature rows: coordinates named after the class, one per row of ``components_``."""

    components_: NDArray[Any]

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def warn_if_self_differs(D: NDArray[Any], estimator: Any) -> None:
    """Warn if an object has a non-zero dissimilarity to itself."""
    diagonal = np.einsum("ii->i", D)
    if diagonal.any():
        i = int(np.argmax(diagonal != 0))
        warn_user(
            f"{type(estimator).__name__} expects a zero dissimilarity of each object to itself. Got {diagonal[i]:.6g} "
            f"at row {i}, column {i}; the value is used unchanged. Set the diagonal to zero if it is noise.",
            DiagonalWarning,
        )
