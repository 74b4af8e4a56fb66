"""Base classes, the grid-path protocol and input validation for estimators, transformers and measures.

An extension of similis imports from this package only; :mod:`similis.testing` checks it.
"""

from similis._utils.fitted import (
    FittedArrays,
    fitted_count,
    fitted_indices,
    fitted_part,
    fitted_reals,
    verify_numbering,
)
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
from similis.base._estimators import (
    ColumnsMixin,
    ProximityClassifier,
    ProximityEstimator,
    ProximityRegressor,
    ProximityTransformer,
    predict_responses,
)
from similis.base._incomplete import check_kernel, check_partial_kernel, measured_objects
from similis.base._measure import STRIP as STRIP
from similis.base._measure import (
    Measure,
    as_collection,
    count_objects,
    for_each_strip,
    mirror_upper,
    take_objects,
)
from similis.base._measure import ProgressCallback as ProgressCallback
from similis.base._params import HasMethods as HasMethods
from similis.base._params import Integral as Integral
from similis.base._params import Number as Number
from similis.base._params import Options as Options
from similis.base._params import (
    at_least,
    between,
    choice,
    describe_constraints,
    positive,
    satisfies_constraints,
    string_options,
    validated,
    validated_function,
    validated_outer,
)
from similis.base._path import PathMixin, RegressorPathMixin
from similis.base._path import Points as Points
from similis.base._validation import LARGEST as LARGEST
from similis.base._validation import Kind as Kind
from similis.base._validation import (
    check_block,
    check_frame_order,
    check_label_order,
    check_labels,
    check_proximity,
    check_query,
    check_stack_width,
    check_table,
    check_target,
    fill_masked,
    first_position,
    kind_evidence,
    quote,
)

__all__ = [
    # estimators
    "ProximityEstimator",
    "ProximityTransformer",
    "ProximityClassifier",
    "ProximityRegressor",
    "BayesClassifier",
    "PathMixin",
    "RegressorPathMixin",
    "ColumnsMixin",
    "predict_responses",
    "compact",
    "storable",
    # verification of fitted models
    "FittedArrays",
    "fitted_indices",
    "fitted_reals",
    "fitted_count",
    "fitted_part",
    "verify_numbering",
    # measures
    "Measure",
    "as_collection",
    "count_objects",
    "take_objects",
    "for_each_strip",
    "mirror_upper",
    # input validation
    "check_proximity",
    "check_query",
    "check_block",
    "check_frame_order",
    "check_label_order",
    "check_labels",
    "check_target",
    "check_table",
    "check_stack_width",
    "check_kernel",
    "check_partial_kernel",
    "measured_objects",
    "fill_masked",
    "first_position",
    "kind_evidence",
    "quote",
    # decisions
    "class_priors",
    "check_costs",
    "least_cost",
    "check_class_weights",
    "as_integer_k",
    "clip_n_neighbors",
    "max_neighbors",
    # parameter constraints
    "validated",
    "validated_outer",
    "validated_function",
    "at_least",
    "between",
    "choice",
    "positive",
    "describe_constraints",
    "satisfies_constraints",
    "string_options",
]
