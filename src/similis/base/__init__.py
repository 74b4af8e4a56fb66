"""Public base for estimators, transformers, measures and everything that extends similis.

An extension needs only this package: the base classes, the grid-path protocol behind
:class:`~similis.model_selection.PathSearchCV`, input validation, parameter constraints and :func:`compact`.
"""

from similis._utils.storable import storable
from similis.base._bayes import BayesClassifier
from similis.base._compact import compact
from similis.base._decision import (
    as_integer_k,
    check_class_weights,
    check_costs,
    class_priors,
    clip_n_neighbors,
    least_cost,
    max_neighbors,
)
from similis.base._estimators import FewColumnsMixin, ProximityClassifier, ProximityEstimator, ProximityTransformer
from similis.base._measure import (
    STRIP,
    Measure,
    ProgressCallback,
    as_collection,
    count_objects,
    for_each_strip,
    mirror_upper,
    take_objects,
)
from similis.base._params import (
    HasMethods,
    Integral,
    Number,
    Options,
    at_least,
    between,
    choice,
    positive,
    validated,
    validated_function,
    validated_outer,
)
from similis.base._path import MarginPathMixin, PathMixin
from similis.base._validation import (
    LARGEST,
    Kind,
    check_block,
    check_labels,
    check_proximity,
    check_query,
    check_stack_width,
    check_table,
    first_position,
    quote,
)

__all__ = [
    "ProximityEstimator",
    "ProximityTransformer",
    "ProximityClassifier",
    "FewColumnsMixin",
    "BayesClassifier",
    "PathMixin",
    "MarginPathMixin",
    "Measure",
    "ProgressCallback",
    "STRIP",
    "as_collection",
    "count_objects",
    "take_objects",
    "for_each_strip",
    "mirror_upper",
    "Kind",
    "LARGEST",
    "check_proximity",
    "check_query",
    "check_block",
    "check_labels",
    "check_stack_width",
    "check_table",
    "first_position",
    "quote",
    "class_priors",
    "check_costs",
    "least_cost",
    "check_class_weights",
    "as_integer_k",
    "clip_n_neighbors",
    "max_neighbors",
    "HasMethods",
    "Integral",
    "Number",
    "Options",
    "at_least",
    "between",
    "choice",
    "positive",
    "validated",
    "validated_function",
    "validated_outer",
    "compact",
    "storable",
]
