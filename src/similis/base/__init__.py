"""Base classes, the grid-path protocol and input validation for estimators, transformers and measures.

An extension of similis imports the names of ``__all__``; :mod:`similis.testing` checks it. The other names below are
shared by the packages of similis and may change.
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
    BayesClassifier,
    ColumnsMixin,
    DecisionMixin,
    ProbabilityMixin,
    ProximityClassifier,
    ProximityEstimator,
    ProximityRegressor,
    ProximityTransformer,
    model_scores,
    predict_responses,
)
from similis.base._measure import (
    STRIP,
    Measure,
    Tick,
    as_collection,
    count_objects,
    fill_rows,
    fill_strips,
    for_each_strip,
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
    describe_constraints,
    estimator,
    param,
    positive,
    satisfies_constraints,
    string_options,
    validated,
    validated_function,
    validated_outer,
)
from similis.base._path import PathMixin, Points, RegressorPathMixin, params_key
from similis.base._sparse import SparseRows
from similis.base._validation import (
    LARGEST,
    Kind,
    check_block,
    check_frame_order,
    check_kernel,
    check_label_order,
    check_labels,
    check_partial_kernel,
    check_per_class,
    check_proximity,
    check_query,
    check_stack_width,
    check_table,
    check_target,
    check_values,
    fill_masked,
    first_position,
    kind_evidence,
    measured_objects,
    missing_entries,
    one_per_row,
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
    # input validation
    "check_proximity",
    "check_query",
    "check_labels",
    "check_target",
    # decisions
    "class_priors",
    "check_costs",
    # parameter constraints
    "validated",
    "at_least",
    "between",
    "choice",
    "positive",
]
