"""What the transformers share: their two kinds of output, the zero diagonal."""

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
    """Gives proximity rows again: n columns, one per training object, under their names."""


class Elementwise(ToRows):
    """Changes each entry by itself, so a model further on that reads few columns needs only those here."""

    def select_columns(self, columns: NDArray[np.intp]) -> tuple[Any, NDArray[np.intp]]:
        check_is_fitted(self)
        small = copy.copy(self)
        small.n_features_in_ = len(columns)
        if hasattr(self, "feature_names_in_"):
            small.feature_names_in_ = self.feature_names_in_[columns]
        return small, columns


class ToFeatures(ClassNamePrefixFeaturesOutMixin, ProximityTransformer):
    """Gives feature rows: coordinates named after the class, in the number of ``components_``."""

    components_: NDArray[Any]

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)


def warn_if_self_differs(D: NDArray[Any], estimator: Any) -> None:
    """Say so when some object has a non-zero dissimilarity to itself."""
    diagonal = np.einsum("ii->i", D)
    if diagonal.any():
        i = int(np.argmax(diagonal != 0))
        warn_user(
            f"{type(estimator).__name__} takes an object's dissimilarity to itself to be zero. Got {diagonal[i]:.6g} "
            f"at row {i}, column {i}, which is used as it stands. Set the diagonal to zero if it is noise.",
            DiagonalWarning,
        )
