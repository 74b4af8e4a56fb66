"""What the transformers that start from objects share: a fitted measure, and objects to measure against."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import get_tags

from similis.measures._base import Measure

__all__ = ["MeasuringTransformer", "tags_of_measure"]


class MeasuringTransformer(TransformerMixin, BaseEstimator):
    """Measures objects against those it remembers, ``objects_``, by its own copy of a measure, ``measure_``."""

    _doc_link_module = "similis"
    measure: Measure
    objects_: Any

    def _fit_measure(self, X: Any, y: Any) -> Any:
        """Fit the measure, take over what it knows of the columns, and return the training objects."""
        self.measure_ = clone(self.measure).fit(X, y)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.measure_, name):
                setattr(self, name, getattr(self.measure_, name))
        self.__dict__.pop("_columns", None)
        return self.measure_._objects(X)

    def _encoded_objects(self) -> Any:
        """The remembered objects in the form in which they are compared: made when needed, not saved with the model."""
        if not hasattr(self, "_columns"):
            self._columns = self.measure_._encode(self.objects_)
        return self._columns

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_columns"}

    def __sklearn_tags__(self) -> Any:
        return tags_of_measure(super().__sklearn_tags__(), self.measure)


def tags_of_measure(tags: Any, measure: Any) -> Any:
    """The tags of an estimator that reads what its measure reads."""
    if isinstance(measure, Measure):
        inner = get_tags(measure)
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        tags.no_validation = inner.no_validation
    return tags
