"""Base classes of estimators that read proximity matrices: transformers, classifiers and regressors."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from similis._utils.arrays import Array, Floats, Indices
from similis._utils.fitted import FittedArrays, fitted_indices
from similis._utils.messages import warn_user
from similis._utils.moved import DEPRECATED
from similis._utils.threads import row_blocks
from similis.base._decision import check_costs, class_priors, least_cost
from similis.base._params import validated
from similis.base._path import PathMixin
from similis.base._validation import Kind, check_labels, check_proximity, check_query, check_target
from similis.exceptions import ProximityError


class ProximityEstimator(FittedArrays, BaseEstimator):
    """Base class of everything that reads a proximity matrix: n x n at ``fit``, m x n afterwards.

    ``fit`` starts with :meth:`check_training`, every method that takes new rows with :meth:`check_rows`.

    Attributes
    ----------
    reads : {"similarity", "dissimilarity"} or None
        Class attribute: the kind of proximity that is read, None for either; a ``kind`` parameter overrides it.
    allow_missing, allow_stack : bool
        Class attributes: accept NaN as a missing proximity; accept several matrices over the same objects, n x n x q.
    accept_sparse, keep_sparse : bool
        Class attributes: accept scipy sparse matrices; keep a training matrix sparse, of which blocks are made dense.

    Examples
    --------
    >>> from similis.base import ProximityEstimator
    >>> class LargestEntry(ProximityEstimator):
    ...     reads = "similarity"
    ...     def fit(self, X, y=None):
    ...         self.largest_ = self.check_training(X).max()
    ...         return self
    >>> LargestEntry().fit([[2.0, 1.0], [1.0, 4.0]]).largest_
    np.float64(4.0)
    """

    reads: ClassVar[Kind | None] = None
    allow_missing: ClassVar[bool] = False
    allow_stack: ClassVar[bool] = False
    accept_sparse: ClassVar[bool] = False
    keep_sparse: ClassVar[bool] = False
    _parameter_constraints: dict[str, list[Any]] = {}
    # Accepted until 3.0, with the default DEPRECATED: old name -> (new name, {old value: new value}).
    _renamed_params: ClassVar[dict[str, tuple[str, dict[str, str]]]] = {}

    @property
    def proximity_kind(self) -> Kind | None:
        """Kind of proximity that is read: the ``kind`` parameter where there is one, else ``reads``."""
        return getattr(self, "kind", self.reads)

    @property
    def sign(self) -> int:
        """Factor that makes larger mean nearer: 1 for similarities, -1 for dissimilarities."""
        return -1 if self.proximity_kind == "dissimilarity" else 1

    @property
    def metric(self) -> str | None:
        """``"precomputed"`` for dissimilarities, the spelling by which scikit-learn recognizes distances."""
        return "precomputed" if self.proximity_kind == "dissimilarity" else None

    def check_training(self, X: ArrayLike, *, keep_sparse: bool = False) -> Array:
        """Validate a training matrix, (n, n), or (n, n, q) with ``allow_stack``, and set ``n_features_in_``."""
        self._warn_renamed_params()
        return check_proximity(X, estimator=self, keep_sparse=keep_sparse, **self._input_rules)

    def check_rows(self, X: ArrayLike) -> Array:
        """Validate rows of m new objects, (m, n), or (m, n, q) with ``allow_stack``; return float64 or float32."""
        return check_query(X, self, **self._input_rules)

    @property
    def _input_rules(self) -> dict[str, Any]:
        rules = {name: getattr(self, name) for name in ("allow_missing", "allow_stack", "accept_sparse")}
        return {"kind": self.proximity_kind, **rules}

    def map_rows(self, function: Callable[[Array], Any], X: Any) -> Any:
        """Call a function of validated new rows, in blocks if sparse, that returns arrays with one entry per row."""
        if not sparse.issparse(X) or not self.accept_sparse or X.shape[0] == 0:
            return function(self.check_rows(X))
        X = X.tocsr()
        found = [function(self.check_rows(X[rows])) for rows in row_blocks(*X.shape)]
        return tuple(map(np.concatenate, zip(*found))) if isinstance(found[0], tuple) else np.concatenate(found)

    def _renamed_param(self, old: str) -> Any:
        """Value of a renamed parameter, given under either name."""
        new, values = self._renamed_params[old]
        given = getattr(self, old)
        if not isinstance(given, str):
            return given
        return getattr(self, new) if given == DEPRECATED else values.get(given, given)

    def _warn_renamed_params(self) -> None:
        for old, (new, _) in self._renamed_params.items():
            if getattr(self, old) != DEPRECATED:
                renamed = f"The parameter {old!r} of {type(self).__name__} is called {new!r} since similis 2.0"
                hint = f"use {new}={self._renamed_param(old)!r}. The old name stops working in 3.0."
                warn_user(f"{renamed}; {hint}", FutureWarning)

    def __setstate__(self, state: dict[str, Any]) -> None:
        for old, (new, values) in self._renamed_params.items():
            if old in state and new not in state:  # saved by 1.0
                state = {**state, new: values.get(state[old], state[old]), old: DEPRECATED}
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.allow_nan = self.allow_missing
        tags.input_tags.sparse = self.accept_sparse
        tags.input_tags.positive_only = self.proximity_kind == "dissimilarity"
        tags.input_tags.three_d_array = self.allow_stack
        return tags


class ProximityTransformer(TransformerMixin, ProximityEstimator):
    """Base class of transformers from proximity rows to other rows.

    float32 input gives float32 output. Add scikit-learn's ``OneToOneFeatureMixin`` where the output has one column per
    training object, or ``ClassNamePrefixFeaturesOutMixin`` where it has coordinates.

    Two optional methods serve :func:`compact`. ``select_columns(columns)`` returns a copy that produces the output
    columns `columns` only, and the input columns that it needs. ``fold_coefficients(coef)``, for a transformer that is
    linear in a row, returns coefficients of input rows from those of output rows, one row per decision function.

    Attributes
    ----------
    gives : {"similarity", "dissimilarity"} or None
        Class attribute: the kind of the rows that are returned; None for the kind of the input.

    Examples
    --------
    >>> from similis.base import ProximityTransformer
    >>> class ScaleToOne(ProximityTransformer):
    ...     def fit(self, X, y=None):
    ...         self.scale_ = self.check_training(X).max()
    ...         return self
    ...     def transform(self, X):
    ...         return self.check_rows(X) / self.scale_
    >>> ScaleToOne().fit_transform([[2.0, 1.0], [1.0, 4.0]])
    array([[0.5 , 0.25],
           [0.25, 1.  ]])
    """

    gives: ClassVar[Kind | None] = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class ColumnsMixin:
    """Mixin of estimators whose predictions may need some columns of a row only; :func:`compact` keeps these."""

    fitted_arrays: ClassVar[dict[str, Any]] = {
        "_kept_objects": fitted_indices("kept", optional=True),
        "_kept_places": fitted_indices("kept", below="n", optional=True),
    }

    _kept_objects: Indices  # in saved models
    _kept_places: Indices  # in saved models
    n_features_in_: int

    def keep_columns(self, objects: Indices) -> None:
        """Declare in ``fit`` the training objects, also repeated, whose columns the predictions need."""
        self._kept_objects = np.asarray(objects, dtype=np.intp)
        self._kept_places = self._kept_objects

    def kept_columns(self, Q: Array) -> Array:
        """Select the columns declared with :meth:`keep_columns`, in their order, from validated rows."""
        places = self._kept_places
        return Q if np.array_equal(places, np.arange(Q.shape[1])) else Q[:, places]

    @property
    def columns_(self) -> Indices:
        """Training objects whose columns ``predict`` reads, ascending."""
        check_is_fitted(self)
        return np.unique(self._kept_objects) if hasattr(self, "_kept_objects") else np.arange(self.n_features_in_)

    def select_columns(self) -> tuple[Any, Indices]:
        """Return a copy with the same predictions that reads ``columns_`` only, and ``columns_``."""
        columns = self.columns_
        if not hasattr(self, "_kept_objects"):
            return self, columns
        small: Any = copy.copy(self)
        small._kept_places = np.searchsorted(columns, self._kept_objects)
        small.n_features_in_ = len(columns)
        if hasattr(self, "feature_names_in_") and len(self.feature_names_in_) > len(columns):
            small.feature_names_in_ = self.feature_names_in_[columns]
        return small, columns


class _Predictor(ColumnsMixin, ProximityEstimator):
    """Base class of classifiers and regressors."""

    _check_pair: Callable[..., tuple[Array, Array]]  # validates the training matrix and the labels or target

    @validated
    def fit(self, X: ArrayLike, y: Any) -> Self:
        """Fit to the training matrix, (n, n), and the class labels, or the target of a regression, (n,)."""
        self.learn(*self._check_pair(X, y, keep_sparse=self.keep_sparse))
        return self

    def learn(self, S: Array, y: Array, /) -> None:
        """Set the fitted attributes from a validated matrix and class codes or target: the hook behind ``fit``."""
        raise NotImplementedError(f"{type(self).__name__} must define learn(S, y) or fit(X, y).")


class ProximityClassifier(ClassifierMixin, _Predictor):
    """Base class of classifiers on proximity rows.

    A subclass writes :meth:`learn`, or all of ``fit``, which then starts with :meth:`check_training_labels`, and
    :meth:`class_scores`. The base class derives ``predict``; a subclass that publishes probabilities or decision values
    defines ``predict_proba`` or ``decision_function`` by :meth:`respond`. :class:`PathMixin` evaluates grids.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels, set by :meth:`check_training_labels`.
    columns_ : ndarray of int
        Training objects whose columns ``predict`` reads; all of them unless ``fit`` calls :meth:`keep_columns`.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.base import ProximityClassifier
    >>> class MeanSimilarity(ProximityClassifier):
    ...     def learn(self, S, codes):
    ...         self.members_ = np.eye(len(self.classes_))[codes]
    ...     def class_scores(self, Q):
    ...         return Q @ self.members_ / self.members_.sum(axis=0)
    >>> MeanSimilarity().fit(np.eye(2), ["a", "b"]).predict([[0.9, 0.1], [0.0, 0.2]])
    array(['a', 'b'], dtype='<U1')
    """

    classes_: Array

    def check_training_labels(self, X: ArrayLike, y: Any, *, keep_sparse: bool = False) -> tuple[Array, Indices]:
        """Validate the training matrix and the labels; set ``classes_``; return the matrix and the class codes."""
        S = self.check_training(X, keep_sparse=keep_sparse)
        self.classes_, codes = check_labels(y, S.shape[0], who=type(self).__name__, of=X)
        check_costs(getattr(self, "costs", None), len(self.classes_))
        return S, codes

    def _check_pair(self, X: ArrayLike, y: Any, **options: Any) -> tuple[Array, Indices]:
        return self.check_training_labels(X, y, **options)

    def class_scores(self, Q: Array) -> Array:
        """Score validated rows, (m, G), larger for a more likely class: the hook behind ``predict``.

        Scores are probabilities, unless :meth:`scores_to_response` converts them.
        """
        raise NotImplementedError(f"{type(self).__name__} must define class_scores(Q).")

    def scores_to_response(self, scores: Array, response: str) -> Array:
        """Convert class scores, (m, G), to the output of "predict", "predict_proba" or "decision_function".

        By default the scores themselves are the probabilities; the decision values are the scores, or for two classes
        the second score minus the first.
        """
        if response == "predict":
            return self.classes_[self.scores_to_codes(scores)]
        if not hasattr(self, response):
            raise ProximityError(f"{type(self).__name__} has no {response} with these parameters.")
        if response == "predict_proba" or scores.shape[1] != 2:
            return scores
        first, second = scores.T
        return np.subtract(second, first, out=np.zeros(len(scores)), where=first != second)  # both may be infinite

    def scores_to_codes(self, scores: Array) -> Indices:
        """Choose the class with the least expected cost, or the largest score; the earlier one wins a tie."""
        return least_cost(scores, check_costs(getattr(self, "costs", None), scores.shape[1]))

    def respond(self, X: ArrayLike, response: str) -> Array:
        """Validate new rows, score them and convert the scores to the output of a prediction method."""
        return self.scores_to_response(self.map_rows(self.class_scores, X), response)

    def predict(self, X: ArrayLike) -> Array:
        """Predict the class of each new row of `X`, (m, n): proximities of new objects to the training objects.

        The class has the largest score, or with ``costs`` the least expected cost; the earlier class wins a tie.
        """
        return self.respond(X, "predict")


class ProbabilityMixin:
    """Mixin of classifiers whose scores are, or give, probabilities."""

    def predict_proba(self: Any, X: ArrayLike) -> Floats:
        """Probability of each class, (m, G), in the order of ``classes_``, for new rows, (m, n)."""
        return self.respond(X, "predict_proba")


class DecisionMixin:
    """Mixin of classifiers that publish their scores."""

    def decision_function(self: Any, X: ArrayLike) -> Floats:
        """Score of each class, (m, G), or for two classes (m,), positive for ``classes_[1]``, for new rows, (m, n)."""
        return self.respond(X, "decision_function")


class BayesClassifier(ProbabilityMixin, PathMixin, ProximityClassifier):
    """Base class of classifiers that model the density of each class.

    A subclass has parameters ``priors`` and ``costs``. Its ``learn`` calls ``set_priors``; its ``class_scores(Q)``
    and ``path_scores(S, codes, Q, points)`` return log P(g) + log p(x | g), up to a term common to all classes.
    ``predict``, ``predict_proba``, ``decision_function`` (log-odds) and the path methods follow.

    Attributes
    ----------
    finite_log_odds : bool
        Class attribute, True. With False there is no ``decision_function``, for densities with point masses.
    priors_, log_priors : ndarray of shape (G,)
        Class priors, and their logarithms.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.base import BayesClassifier
    >>> class Laplace(BayesClassifier):
    ...     reads = "dissimilarity"
    ...     def __init__(self, *, priors=None, costs=None):
    ...         self.priors, self.costs = priors, costs
    ...     def learn(self, S, codes):
    ...         self._codes = codes
    ...         self.set_priors(codes)
    ...     def class_scores(self, Q):
    ...         nearest = [Q[:, self._codes == g].min(axis=1) for g in range(len(self.classes_))]
    ...         return self.log_priors - np.stack(nearest, axis=1)
    >>> Laplace().fit([[0.0, 1], [1, 0]], ["a", "b"]).predict_proba([[1.0, 1]])
    array([[0.5, 0.5]])
    """

    priors: Any
    costs: Any
    priors_: Floats
    finite_log_odds = True

    def set_priors(self, codes: Indices) -> None:
        """Set ``priors_`` from the ``priors`` parameter and the frequencies of the class codes."""
        self.priors_ = class_priors(self.priors, np.bincount(codes, minlength=len(self.classes_)))

    @property
    def log_priors(self) -> Floats:
        """Logarithms of the class priors."""
        with np.errstate(divide="ignore"):
            return np.log(self.priors_)

    decision_function = available_if(lambda self: self.finite_log_odds)(DecisionMixin.decision_function)

    def scores_to_response(self, scores: Array, response: str) -> Array:
        """Convert log-probabilities to labels, probabilities or log-odds."""
        if response == "predict_proba":
            return softmax(scores, axis=1)
        return super().scores_to_response(scores, response)

    def scores_to_codes(self, scores: Array) -> Indices:
        """Choose the class with the least expected cost."""
        return super().scores_to_codes(softmax(scores, axis=1))


class ProximityRegressor(RegressorMixin, _Predictor):
    """Base class of regressors on proximity rows.

    A subclass writes :meth:`learn`, or all of ``fit``, which then starts with :meth:`check_training_target`, and
    :meth:`row_values`, from which the base class derives ``predict``.

    Attributes
    ----------
    columns_ : ndarray of int
        Training objects whose columns ``predict`` reads; all of them unless ``fit`` calls :meth:`keep_columns`.

    Examples
    --------
    >>> from similis.base import ProximityRegressor
    >>> class SimilarityWeightedMean(ProximityRegressor):
    ...     def learn(self, S, target):
    ...         self.target_ = target
    ...     def row_values(self, Q):
    ...         return Q @ self.target_ / Q.sum(axis=1)
    >>> SimilarityWeightedMean().fit([[1, 0], [0, 1]], [1.0, 5.0]).predict([[1.0, 3.0]])
    array([4.])
    """

    def check_training_target(self, X: ArrayLike, y: Any, *, keep_sparse: bool = False) -> tuple[Array, Floats]:
        """Validate the training matrix, see :meth:`check_training`, and the target, returned as float64."""
        S = self.check_training(X, keep_sparse=keep_sparse)
        return S, check_target(y, S.shape[0], who=type(self).__name__, of=X)

    def _check_pair(self, X: ArrayLike, y: Any, **options: Any) -> tuple[Array, Floats]:
        return self.check_training_target(X, y, **options)

    def row_values(self, Q: Array) -> Floats:
        """Predict the values of validated rows, (m,): the hook behind ``predict``."""
        raise NotImplementedError(f"{type(self).__name__} must define row_values(Q).")

    def predict(self, X: ArrayLike) -> Floats:
        """Predict the target, (m,), of new rows, (m, n)."""
        return self.map_rows(self.row_values, X)


def model_scores(model: Any, X: Any) -> Floats:
    """Probabilities of any fitted model, else decision values, class scores, or 1 for the predicted class, (m, G)."""
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)
    if hasattr(model, "decision_function"):
        f = np.asarray(model.decision_function(X), dtype=np.float64)
        f = np.column_stack([-f, f]) if f.ndim == 1 else f
        if f.shape[1] == len(model.classes_):
            return f
    elif isinstance(model, Pipeline):
        return model_scores(model[-1], model[:-1].transform(X) if len(model.steps) > 1 else X)
    elif isinstance(model, ProximityClassifier) and type(model).class_scores is not ProximityClassifier.class_scores:
        return np.asarray(model.class_scores(model.check_rows(X)), dtype=np.float64)
    return (np.asarray(model.predict(X))[:, None] == model.classes_).astype(np.float64)


def predict_responses(model: Any, X: Any, responses: Sequence[str]) -> list[Array]:
    """Call several prediction methods on the same rows and score the rows once where the model allows it."""
    if hasattr(model, "best_estimator_"):  # a search
        return predict_responses(model.best_estimator_, X, responses)
    if isinstance(model, Pipeline) and len(model.steps) > 1:
        return predict_responses(model[-1], model[:-1].transform(X), responses)
    if not isinstance(model, ProximityClassifier) or type(model).predict is not ProximityClassifier.predict:
        return [getattr(model, response)(X) for response in responses]
    scores = model.map_rows(model.class_scores, X)
    return [model.scores_to_response(scores, response) for response in responses]
