"""Conformal prediction: sets of classes and intervals of values with controlled coverage, from a proximity matrix."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin, clone, is_classifier
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _safe_split, available_if
from sklearn.utils.validation import _num_samples, check_is_fitted, column_or_1d

from similis import base
from similis._utils.arrays import Array, Floats, Indices, Mask
from similis._utils.messages import warn_once, warn_user
from similis.exceptions import ProximityError
from similis.model_selection._path_search import Splits, _as_sliceable
from similis.neighbors import SimilarityKNN
from similis.solvers import top_k
from similis.svm import ProximityRidge

_ROUND_OFF = 1e-9  # scores that differ by less, relative to their size, are equal
_SPLIT_FOLDS = 3  # method="split" calibrates on one fold of so many


@dataclass(eq=False, repr=False, match_args=False)
class _Conformal(base.FittedArrays, MetaEstimatorMixin, BaseEstimator):
    """Folds, the models fitted without each of them, and the levels."""

    fitted_arrays = {
        "fold_": base.fitted_indices("n_train", low=-1, optional=True),
        "scores_": base.fitted_reals("n_train", infinite=True, optional=True),
        "n_columns_": base.fitted_count(1, optional=True),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [base.HasMethods(["fit", "predict"])],
        "confidence_level": ["array-like", float],
        "cv": [base.at_least(2), base.HasMethods(["split"])],
        "random_state": ["random_state"],
    }

    estimator: Any
    _: KW_ONLY
    method: str = "cross"
    confidence_level: Any = 0.9
    cv: Any = 10
    random_state: Any = None

    # A subclass validates the target, scores the objects of a fold, computes scores without folds and warns of too few.
    _check_target: ClassVar[Any]
    _fold_scores: ClassVar[Any]
    _fit_exactly: ClassVar[Any]
    _warn_few: ClassVar[Any]

    def verify_fitted(self) -> None:
        """Raise an error unless every fold has a model, which reads columns that exist."""
        super().verify_fitted()
        models, columns, fold = (getattr(self, name, None) for name in ("estimators_", "columns_", "fold_"))
        if fold is None:
            return
        if not isinstance(models, list) or not isinstance(columns, list) or len(models) != len(columns):
            raise ProximityError("estimators_ and columns_ must be lists of one length.")
        if fold.max(initial=-1) >= len(models):
            raise ProximityError(f"fold_ must be below {len(models)}, the number of models. Got {fold.max()}.")
        for model, read in [*zip(models, columns), (self.estimator_, self._own_columns)]:
            if read is not None:
                base.fitted_indices(model.n_features_in_, below=self.n_columns_).verify(read, {}, "columns_")

    @base.validated_outer
    def fit(self, X: Any, y: Any, *, groups: Any = None) -> Self:
        """Fit the estimator on all objects and calibrate it on objects that it was not fitted to.

        `X` holds training proximities (n, n), or objects that the estimator measures; a group is in one fold.
        """
        level = self._levels().max()
        given, X = X, _as_sliceable(self.estimator, X.tocsr() if hasattr(X, "tocsr") else X)
        target = self._check_target(given, y, _num_samples(X))
        base.check_label_order(given, groups, "groups")
        with warn_once():  # the folds repeat the warnings
            self.estimator_: Any = clone(self.estimator).fit(given, target)
            pairwise = get_tags(self.estimator).input_tags.pairwise
            self.n_columns_ = int(self.estimator_.n_features_in_) if pairwise else None
            self._own_columns: Indices | None = None
            if self.method in ("full", "jackknife"):
                self._fit_exactly(X, target)
            else:
                self.scores_: Floats = np.full(len(target), np.inf)
                for model, test, rows in self._fit_folds(X, target, groups):
                    self.scores_[test] = self._fold_scores(model, rows, target, test)
        self._warn_few(level)
        return self

    def predict(self, X: Any) -> Array:
        """Predict with the estimator fitted on all training objects."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(self._select(X, self._own_columns)))

    def select_columns(self) -> tuple[Self, Indices | None]:
        """Return a shallow copy that reads the needed columns only, and these columns; None where it reads objects."""
        small = copy.copy(self)
        small.estimator_, own = _compact(self.estimator_)
        if self.n_columns_ is None:
            return small, None
        if self.method in ("full", "jackknife"):  # compare with every training object
            return self, np.arange(self.n_columns_)
        own = np.arange(self.n_columns_) if own is None else np.asarray(own)
        columns = np.unique(np.concatenate([own, *self.columns_]))
        small.columns_ = [np.searchsorted(columns, read) for read in self.columns_]
        small._own_columns = np.searchsorted(columns, own)
        small.n_columns_ = len(columns)
        return small, columns

    @property
    def n_features_in_(self) -> int:
        """Number of columns of a row."""
        check_is_fitted(self)
        return int(self.estimator_.n_features_in_) if self.n_columns_ is None else self.n_columns_

    def _levels(self) -> Floats:
        levels = np.atleast_1d(np.asarray(self.confidence_level, dtype=np.float64))
        if levels.ndim != 1 or not levels.size or not ((levels > 0) & (levels < 1)).all():
            raise ProximityError(f"confidence_level must be between 0 and 1. Got {self.confidence_level!r}.")
        return levels

    def _fit_folds(self, X: Any, y: Array, groups: Any) -> Iterator[tuple[Any, Indices, Any]]:
        """Yield the model fitted without each fold, the objects of the fold and their rows."""
        stratified = is_classifier(self.estimator)
        cv = self.cv
        if isinstance(cv, (int, np.integer)):
            n_folds = int(cv) if self.method == "cross" else _SPLIT_FOLDS
            largest = np.unique(y, return_counts=True)[1].max() if stratified else len(y)
            n_folds = min(n_folds, int(largest) if groups is None else len(np.unique(groups)))
            if n_folds < 2:
                raise ProximityError("Conformal prediction needs two objects of a class, or two groups, or more.")
            kinds = (StratifiedKFold, StratifiedGroupKFold) if stratified else (KFold, GroupKFold)
            cv = kinds[groups is not None](n_folds, shuffle=True, random_state=self.random_state)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class")  # reported by _warn_few
            fold = Splits(check_cv(cv, y, classifier=stratified), X, y, groups).partition
        if fold is None:
            raise ProximityError("cv must split the objects into folds: each is in the test part of one split.")
        self.fold_ = np.where(fold == 0, 0, -1) if self.method == "split" else fold
        self.estimators_: list[Any] = []
        self.columns_: list[Any] = []
        for number in range(self.fold_.max() + 1):
            test, train = np.flatnonzero(self.fold_ == number), np.flatnonzero(self.fold_ != number)
            model = clone(self.estimator).fit(*_safe_split(self.estimator, X, y, train))
            rows, _ = _safe_split(self.estimator, X, y, test, train)
            yield model, test, rows
            model, columns = _compact(model)
            self.estimators_.append(model)
            self.columns_.append(None if self.n_columns_ is None else train if columns is None else train[columns])

    def _select(self, X: Any, columns: Indices | None) -> Any:
        """Columns of new rows that one of the models reads; None for all."""
        if columns is None:
            return X
        return base.check_query(X, self, allow_missing=True, allow_stack=True, accept_sparse=True)[:, columns]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def _compact(model: Any) -> tuple[Any, Indices | None]:
    """Reduce a model, or the best one of a search, to the columns that its predictions need; None for all."""
    model = getattr(model, "best_estimator_", model)
    can = isinstance(model, Pipeline) or hasattr(model, "select_columns")
    return base.compact(model, return_columns=True) if can else (model, None)


@dataclass(eq=False, repr=False, match_args=False)
class ConformalClassifier(ClassifierMixin, _Conformal):
    """Prediction sets that contain the true class with a chosen probability.

    Parameters
    ----------
    estimator : classifier
        Classifier of proximity rows, or a pipeline or search of one, with probabilities, or else decision values.
    method : {"cross", "split", "full"}, default="cross"
        - "cross": every object is calibrated by a model fitted without its fold;
        - "split": a third of the objects, or the first test part of `cv`, calibrates one model fitted to the rest;
        - "full": every object is calibrated with the new object among its possible neighbors. Exact and without
          further fits for a :class:`~similis.SimilarityKNN` with uniform weights on a symmetric matrix, by "lac".
    confidence_level : float or sequence of float, default=0.9
        Probability with which a set contains the true class.
    class_conditional : bool, default=True
        Control the coverage of every class by itself. False: a rare or difficult class may be covered far less often.
    conformity_score : {"lac", "margin"}, default="lac"
        Score of a class: its probability or decision value, or that minus the largest of the other classes ("margin").
    cv : int or splitter, default=10
        Number of stratified folds, or a splitter whose test parts are a partition.
    random_state : int, RandomState or None, default=None
        Random seed of the folds.

    Attributes
    ----------
    estimator_ : estimator
        Fitted on all objects; makes the predictions.
    estimators_, columns_ : list of estimators, list of ndarray of int
        Models fitted without each fold, reduced by :func:`similis.compact`, and the training objects whose columns each
        reads; None where it reads objects.
    fold_, scores_ : ndarray of shape (n,)
        Fold in which each object was calibrated, -1 for none; its score: minus the conformity of its own class.

    Notes
    -----
    The guarantee assumes that new objects come from the same source as the training objects. It is `confidence_level`
    for "split" and "full"; for "cross" the theory guarantees 1 - 2 alpha, where alpha = 1 - `confidence_level`. A class
    with fewer than 1 / alpha - 1 calibration objects is in every set; ``fit`` warns. An empty set marks an object
    that fits no class well, for example between two classes, not one unlike all others; see
    :class:`~similis.ProximityOutlier`. If `estimator` is a search, parameters are chosen in every fold. A classifier
    whose parameters were chosen on the same objects beforehand is calibrated slightly too optimistically.

    See V. Vovk. Cross-conformal predictors. Annals of Mathematics and Artificial Intelligence, 2015.

    Examples
    --------
    >>> from similis import ConformalClassifier, SimilarityKNN, make_similarity
    >>> S, y = make_similarity(150, 3, separation=1.0, random_state=0)
    >>> model = ConformalClassifier(SimilarityKNN(), confidence_level=0.95, random_state=0).fit(S, y)
    >>> labels, sets = model.predict_set(S[2:4])
    >>> sets[:, :, 0]
    array([[False,  True,  True],
           [False, False,  True]])
    """

    fitted_arrays = {
        "codes_": base.fitted_indices("n_train", below="G"),
        "_votes": base.fitted_indices("n_train", optional=True),
        "_reach": base.fitted_reals("n_train", nan=True, optional=True),
        "_farthest": base.fitted_indices("n_train", low=-1, below="G", optional=True),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_Conformal._parameter_constraints,
        "method": [base.choice("cross", "split", "full")],
        "class_conditional": ["boolean"],
        "conformity_score": [base.choice("lac", "margin")],
    }

    _: KW_ONLY
    class_conditional: bool = True
    conformity_score: str = "lac"

    def _check_target(self, X: Any, y: Any, n: int) -> Array:
        self.classes_, self.codes_ = base.check_labels(y, n, who=type(self).__name__, of=X)
        return column_or_1d(y)

    def _fold_scores(self, model: Any, X: Any, y: Any, test: Indices) -> Floats:
        return self._nonconformity(model, X)[np.arange(len(test)), self.codes_[test]]

    def _warn_few(self, level: float) -> None:
        counts = self._calibration_counts()
        needed = int(np.ceil(1 / (1 - level) - 1 - _ROUND_OFF))
        few = np.flatnonzero(counts < needed)
        if few.size:
            which = f"class {base.quote(self.classes_[few[0]])} has" if self.class_conditional else "there are"
            others = f", and {few.size - 1} more have too few" if self.class_conditional and few.size > 1 else ""
            objects = f"{needed} calibration objects{' per class' * self.class_conditional}"
            words = f"Prediction sets with confidence_level={level:g} need at least {objects}; {which} {counts[few[0]]}"
            warn_user(f"{words}{others}. A class with too few objects is in every set.", UserWarning)

    def _calibration_counts(self) -> Indices:
        """Number of calibration objects for each class: its own, or all."""
        codes = self.codes_ if self.method == "full" else self.codes_[self.fold_ >= 0]
        own = np.bincount(codes, minlength=len(self.classes_))
        return own if self.class_conditional else np.full_like(own, len(codes))

    def _nonconformity(self, model: Any, X: Any) -> Floats:
        """Nonconformity (m, G) of rows with each class; infinite for a class that the model does not have."""
        scores = np.full((_num_samples(X), len(self.classes_)), -np.inf)
        known = np.nan_to_num(base.model_scores(model, X), nan=-np.inf)
        scores[:, np.searchsorted(self.classes_, model.classes_)] = known
        if self.conformity_score == "lac" or len(self.classes_) < 2:
            return -scores
        rows, best = np.arange(len(scores)), scores.argmax(axis=1)
        others = np.repeat(scores[rows, best, None], scores.shape[1], axis=1)
        others[rows, best] = np.partition(scores, -2, axis=1)[:, -2]
        with np.errstate(invalid="ignore"):
            return np.nan_to_num(others - scores, nan=np.inf, posinf=np.inf, neginf=-np.inf)

    def p_values(self, X: Any) -> Floats:
        """P-value of each class for each new object, (m, G): above alpha if the class is in the set of level 1 - alpha.

        It is the share of the calibration objects, of the class if `class_conditional`, that conform no better.
        """
        check_is_fitted(self)
        if self.method == "full":
            return self._full_p_values(X)
        counts = np.ones((_num_samples(X), len(self.classes_)))  # the new object itself
        slack = _ROUND_OFF * np.abs(self.scores_[np.isfinite(self.scores_)]).max(initial=0.0)
        for fold, model in enumerate(self.estimators_):
            new = self._nonconformity(model, self._select(X, self.columns_[fold])) - slack
            inside = self.fold_ == fold
            for g, column in enumerate(new.T):
                # Scores of a fold are compared with those of the model that was fitted without it.
                known = np.sort(self.scores_[inside & (self.codes_ == g) if self.class_conditional else inside])
                counts[:, g] += len(known) - np.searchsorted(known, column, side="left")
        return counts / (self._calibration_counts() + 1)

    def predict_set(self, X: Any) -> tuple[Array, Mask]:
        """Predict labels, (m,), and for each level the set of classes that contains the true one with that probability.

        The sets are a boolean array, (m, G, number of levels), with classes in the order of ``classes_``.
        """
        return self.predict(X), self.p_values(X)[:, :, None] > 1 - self._levels() + _ROUND_OFF

    @available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), "predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        """Probabilities, (m, G), of the estimator fitted on all training objects."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(self._select(X, self._own_columns)))

    def _fit_exactly(self, X: Any, y: Any) -> None:
        """Votes for the own class among the neighbors of every training object, and its farthest neighbor."""
        model = self.estimator_
        if not isinstance(model, SimilarityKNN) or model.weights != "uniform":
            given = f"{type(model).__name__}{' with other weights' * isinstance(model, SimilarityKNN)}"
            exact = "method='full' is exact for SimilarityKNN with uniform weights only."
            raise ProximityError(f"{exact} Use method='cross' for {given}.")
        if self.conformity_score != "lac":
            raise ProximityError("method='full' compares votes. Use conformity_score='lac', or method='cross'.")
        S = model.check_training(X)
        if np.isnan(S).any() or not np.allclose(S, S.T, rtol=1e-6, atol=1e-12):
            advice = "Symmetrize it with similis.symmetrize, or use method='cross'."
            raise ProximityError(f"method='full' needs a complete symmetric matrix. {advice}")
        indices, values = top_k(S, model.n_neighbors_, sign=model.sign, folds=np.arange(len(S)), n_jobs=model.n_jobs)
        own = (self.codes_[indices] == self.codes_[:, None]) & (indices >= 0)
        self._votes = own.sum(axis=1)
        self._reach = np.asarray(values[:, -1], dtype=np.float64)
        self._farthest = np.where(indices[:, -1] < 0, -1, self.codes_[indices[:, -1]])

    def _full_p_values(self, X: Any) -> Floats:
        """P-values of the augmented training set, see docs/guide/conformal.md."""
        model, codes = self.estimator_, self.codes_
        Q = model.check_rows(X)
        if np.isnan(Q).any():
            raise ProximityError("method='full' needs complete rows. Use method='cross' for missing proximities.")
        indices, _ = top_k(Q, model.n_neighbors_, sign=model.sign, n_jobs=model.n_jobs)
        votes = np.stack([(codes[indices] == g).sum(axis=1) for g in range(len(self.classes_))], axis=1)
        # The new object replaces the farthest neighbor of training object i if it is nearer to i (always if there is
        # none): the votes for the class of i lose one if the farthest neighbor was of that class, and win one if the
        # new object is assumed to be.
        enters = ~(model.sign * Q <= model.sign * self._reach)
        left = self._votes - enters * (self._farthest == codes)  # (m, n)
        counts = np.ones((len(Q), len(self.classes_)))
        for g in range(len(self.classes_)):
            own = codes == g
            counts[:, g] += (left[:, own] + enters[:, own] <= votes[:, g, None]).sum(axis=1)
            if not self.class_conditional:
                counts[:, g] += (left[:, ~own] <= votes[:, g, None]).sum(axis=1)
        return counts / (self._calibration_counts() + 1)


class ConformalRegressor(RegressorMixin, _Conformal):
    """Prediction intervals that contain the true value with a chosen probability.

    Parameters
    ----------
    estimator : regressor
        Regressor on proximity rows, or a pipeline or search of one.
    method : {"cross", "split", "jackknife"}, default="cross"
        - "cross": CV+, with residuals of models fitted without a fold;
        - "split": residuals of a third of the objects, or of the first test part of `cv`;
        - "jackknife": jackknife+ of a :class:`~similis.ProximityRidge`, its regularizer chosen on all objects; for
          other regressors use "cross" with ``cv=LeaveOneOut()``, which fits n models.
    confidence_level, cv, random_state
        As in :class:`ConformalClassifier`.

    Attributes
    ----------
    estimator_, estimators_, columns_, fold_
        As in :class:`ConformalClassifier`.
    scores_ : ndarray of shape (n,)
        Absolute residual of each object; infinite for objects that calibrate nothing.

    Notes
    -----
    "split" guarantees `confidence_level`; "cross", "jackknife" guarantee 2 * `confidence_level` - 1. See R. F. Barber,
    E. J. Candes, A. Ramdas and R. J. Tibshirani. Predictive inference with the jackknife+. Annals of Statistics, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import ConformalRegressor, ProximityRidge
    >>> rng = np.random.default_rng(0)
    >>> x = np.sort(rng.uniform(0, 6, 80))
    >>> S = np.exp(-np.abs(x[:, None] - x))
    >>> model = ConformalRegressor(ProximityRidge(), method="jackknife").fit(S, np.sin(x) + 0.1 * rng.normal(size=80))
    >>> model.predict_interval(np.exp(-np.abs(np.array([[1.5]]) - x)))[1][:, :, 0].round(1)
    array([[0.8, 1.1]])
    """

    fitted_arrays = {
        "_coef": base.fitted_reals("n_train", "n_train", optional=True),
        "_intercept": base.fitted_reals("n_train", optional=True),
        "_shift": base.fitted_reals("n_train", optional=True),
    }
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_Conformal._parameter_constraints,
        "method": [base.choice("cross", "split", "jackknife")],
    }

    def _check_target(self, X: Any, y: Any, n: int) -> Array:
        return base.check_target(y, n, who=type(self).__name__, of=X)

    def _fit_exactly(self, X: Any, y: Array) -> None:
        if not isinstance(self.estimator_, ProximityRidge):
            needed = "method='jackknife' needs a ProximityRidge, whose leave-one-out predictions take no further fits."
            raise ProximityError(f"{needed} Got {type(self.estimator_).__name__}; use method='cross'.")
        self._coef, self._intercept = self.estimator_.target_weights(X)
        self._shift = y - self.estimator_.loo_predictions_
        self.scores_ = np.abs(self._shift)

    def _fold_scores(self, model: Any, X: Any, y: Array, test: Indices) -> Floats:
        return np.abs(y[test] - model.predict(X))

    def _warn_few(self, level: float) -> None:
        n = int(np.isfinite(self.scores_).sum())
        if n + 1 < 1 / (1 - level) - _ROUND_OFF:
            words = f"{n} calibration objects are too few for confidence_level={level:g}"
            warn_user(f"{words}: the intervals are infinite.", UserWarning)

    def predict_interval(self, X: Any) -> tuple[Floats, Floats]:
        """Predict values, (m,), and intervals that contain the true value with the probability of each level.

        The intervals, (m, 2, number of levels), hold lower and upper ends.
        """
        values = self.predict(X)
        if self.method == "jackknife":
            # The prediction without object i is f(x) - h_i(x) r_i, where f(x) = h(x)'y and r_i is the residual of
            # object i predicted without it: that target would not change the fit.
            known = self.scores_
            weights = self.estimator_.row_entries(X) @ self._coef.T + self._intercept
            without = values[:, None] - weights * self._shift
        else:
            held_out = np.flatnonzero(self.fold_ >= 0)
            known, fold = self.scores_[held_out], self.fold_[held_out]
            by_fold = [model.predict(self._select(X, self.columns_[k])) for k, model in enumerate(self.estimators_)]
            without = np.column_stack(by_fold)[:, fold]
        low, high = np.sort(without - known, axis=1), np.sort(without + known, axis=1)
        n = len(known)
        ranks = np.ceil((n + 1) * self._levels() - _ROUND_OFF).astype(int)  # of the upper end among n + 1
        low, high = (np.pad(ends, ((0, 0), (0, 1)), constant_values=np.inf) for ends in (-low[:, ::-1], high))
        return values, np.stack([-low[:, ranks - 1], high[:, ranks - 1]], axis=1)
