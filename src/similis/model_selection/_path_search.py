"""Grid search that shares work: all values of k, of a regulariser or of C from one sweep over the matrix.

Two optional hooks of the (last) estimator do the sharing:

``predict_path(S_train, y_train, S_test, grid, *, response="predict")``
    A list of responses on `S_test`, one per grid point.
``predict_path_cv(S, y, test_fold, grid, *, response="predict")``
    The same for all folds of a partition at once: row i is answered from the objects j with
    ``test_fold[j] != test_fold[i]``, and no sub-matrix is copied. Leave-one-out is n folds.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import ClassifierMixin, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples, column_or_1d, indexable

from similis._utils.params import validated_outer
from similis._utils.progress import track
from similis._utils.validation import check_labels
from similis.exceptions import ProximityError
from similis.model_selection._answers import Answers, StandIn, fold_answers, partition_answers
from similis.model_selection._plan import Folds, Group, make_groups
from similis.model_selection._results import format_results

__all__ = ["PathSearchCV"]


class PathSearchCV(GridSearchCV):
    """Search a grid by cross-validation, fitting as little as the estimator's hooks allow.

    Scores, attributes and choice are those of :class:`~sklearn.model_selection.GridSearchCV`; only the work
    differs. An estimator that has ``predict_path`` answers all its grid points from one fit per fold; one that has
    ``predict_path_cv`` too answers all folds from one pass over the matrix. Anything else is fitted plainly. In a
    pipeline the transformers are fitted on each training part, and the hook of the last step does the rest.

    Parameters
    ----------
    estimator : estimator
        A classifier of similis, a scikit-learn estimator, or a pipeline that ends in one.
    param_grid : dict or list of dict
        Values to try, by parameter name.
    cv : int, splitter or iterable, default=10
        The folds. ``LeaveOneOut()`` costs about one pass over the matrix where the estimator has the hook.
    scoring : str, callable, list, tuple, dict or None
        As in scikit-learn. None is the accuracy.
    refit : bool, str or callable, default=True
        As in scikit-learn: fit the best parameters on all data; with several scores, the name of the one to choose by.
    n_jobs : int or None
        Number of threads over folds and groups of grid points. The result does not depend on it.
    progress : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    cv_results_, best_index_, best_params_, best_score_, best_estimator_, refit_time_, n_splits_, scorer_, multimetric_
        As in :class:`~sklearn.model_selection.GridSearchCV`. A shared sweep's time is divided evenly among its points.

    Notes
    -----
    Ties go to the earliest grid point. An error in a shared sweep, such as a value of the wrong type, is raised at
    once instead of turning into a score of NaN.

    Examples
    --------
    >>> from similis import PathSearchCV, SimilarityKNN
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics.pairwise import rbf_kernel
    >>> X, y = load_iris(return_X_y=True)
    >>> search = PathSearchCV(SimilarityKNN(), {"n_neighbors": [1, 5, 9, 13]}).fit(rbf_kernel(X), y)
    >>> search.best_params_
    {'n_neighbors': 13}
    """

    _parameter_constraints = {
        **{
            key: GridSearchCV._parameter_constraints[key]
            for key in ("estimator", "param_grid", "refit", "cv", "n_jobs")
        },
        "scoring": [str, callable, list, tuple, dict, None],
        "progress": ["boolean"],
    }

    # What GridSearchCV's own fit reads when no hook applies.
    verbose = 0
    pre_dispatch = "2*n_jobs"
    error_score = np.nan
    return_train_score = False

    def __init__(self, estimator, param_grid, *, cv=10, scoring=None, refit=True, n_jobs=None, progress=False):
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.progress = progress

    @validated_outer
    def fit(self, X, y=None, *, groups=None, **params):
        """Score every grid point by cross-validation and fit the best one on all data.

        Parameters
        ----------
        X : array-like of shape (n, n), or objects where the pipeline starts with ``Pairwise``
            Training proximities.
        y : array-like of shape (n,)
            Class labels.
        groups : array-like of shape (n,), optional
            Passed to the splitter.
        **params : dict
            Passed to ``fit`` of the estimator; the search then fits plainly.

        Returns
        -------
        self
        """
        try:
            return self._fit(X, y, groups, params)
        except ValueError as error:
            if "fits failed" not in str(error):
                raise
            reason = str(error).strip().splitlines()[-1].partition(": ")[2]
            raise ProximityError(f"None of the fits worked. The last one said: {reason[:200]}") from None

    def _fit(self, X: Any, y: Any, groups: Any, params: dict[str, Any]) -> Any:
        points = list(ParameterGrid(self.param_grid))
        plan = None if params or y is None else make_groups(self.estimator, points)
        if plan is None or not (is_classifier(self.estimator) and self._sharable_scoring()):
            return super().fit(X, y, groups=groups, **params)
        if not any(hasattr(X, name) for name in ("shape", "__len__", "__array__")):
            raise ProximityError(f"X must be a matrix or a collection of objects. Got a {type(X).__name__}.")
        given, X = X, _as_sliceable(self.estimator, X)
        X, y = indexable(X, y)
        check_labels(y, _num_samples(X), who=type(self).__name__, min_classes=1)
        y = column_or_1d(y, warn=True)
        try:
            scores, fit_time, score_time = self._evaluate(plan, len(points), X, y, groups)
        except _NeedsFittedEstimator:
            return super().fit(X, y, groups=groups)
        self.cv_results_ = format_results(points, scores, fit_time, score_time)
        self._choose_and_refit(given, y)
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        return tags

    def _sharable_scoring(self) -> bool:
        """None means the estimator's own score, which can be shared only where that is the accuracy."""
        last = self.estimator.steps[-1][1] if hasattr(self.estimator, "steps") else self.estimator
        return self.scoring is not None or getattr(type(last), "score", None) is ClassifierMixin.score

    def _evaluate(self, plan: list[Group], n_points: int, X: Any, y: np.ndarray, groups: Any) -> tuple[Any, ...]:
        """Scores of shape (n_points, n_splits) by metric, and the times."""
        folds = Folds(check_cv(self.cv, y, classifier=True), X, y, groups)
        self.n_splits_ = len(folds)
        scorer = _Scorer(self.estimator, self.scoring)
        pairwise = get_tags(self.estimator).input_tags.pairwise

        def work(group: Group, number: int | None) -> tuple[Any, ...]:
            start = time.perf_counter()
            if number is None:
                answers = partition_answers(group, X, y, folds.partition)
            else:
                answers = fold_answers(self.estimator, group, X, y, *folds[number])
            if scorer.is_accuracy:
                answers("predict")
            fitted = time.perf_counter()
            if number is None:
                table = scorer.all_folds(answers, len(group.grid), X, y, folds.partition)
            else:
                table = scorer.one_fold(answers, len(group.grid), X, y, folds[number][1])
            return group, number, table, fitted - start, time.perf_counter() - fitted

        tasks: list[tuple[Group, int | None]] = []
        for group in plan:
            shared = folds.partition is not None and pairwise and group.transformers is None
            if shared and hasattr(group.last, "predict_path_cv"):
                tasks.append((group, None))
            else:
                tasks += [(group, number) for number in range(len(folds))]
        # Fold by fold, so that several treatments of one training part find its decomposition still at hand.
        tasks.sort(key=lambda task: -1 if task[1] is None else task[1])
        done = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator")(
            delayed(work)(*task) for task in tasks
        )
        done = track(done, total=len(tasks), description="search", enabled=self.progress)
        return _collect(done, n_points, len(folds))

    def _choose_and_refit(self, X: Any, y: np.ndarray) -> None:
        """Set the ``best_*`` attributes as GridSearchCV does."""
        metrics = [key.removeprefix("mean_test_") for key in self.cv_results_ if key.startswith("mean_test_")]
        self.multimetric_ = metrics != ["score"]
        self.scorer_ = check_scoring(self.estimator, self.scoring)
        if self.multimetric_ and self.refit and not callable(self.refit) and self.refit not in metrics:
            raise ProximityError(
                f"With several scores, refit must name the one to choose by: {metrics}. Got {self.refit!r}."
            )
        if not self.refit and self.multimetric_:
            return
        metric = self.refit if self.multimetric_ and isinstance(self.refit, str) else "score"
        if callable(self.refit):
            self.best_index_ = int(self.refit(self.cv_results_))
        else:
            self.best_index_ = int(np.argmin(self.cv_results_[f"rank_test_{metric}"]))
            self.best_score_ = self.cv_results_[f"mean_test_{metric}"][self.best_index_]
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        if self.refit:
            start = time.perf_counter()
            best = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
            self.best_estimator_ = best.fit(X, y)
            self.refit_time_ = time.perf_counter() - start
            if hasattr(best, "feature_names_in_"):
                self.feature_names_in_ = best.feature_names_in_


class _NeedsFittedEstimator(Exception):
    """A scorer asked for more than the responses of a fitted estimator."""


class _Scorer:
    """Scores answers by any scorer; the accuracy, asked for most, without calling one.

    Both methods return, per metric, a table of shape (n_points, number of folds).
    """

    def __init__(self, estimator: Any, scoring: Any) -> None:
        self.is_accuracy = scoring is None or scoring == "accuracy"
        self._score: Any = None if self.is_accuracy else check_scoring(estimator, scoring)

    def one_fold(
        self, answers: Answers, n_points: int, X: Any, y: np.ndarray, test: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Score answers for the test rows of one fold."""
        if self.is_accuracy:
            return {"score": (np.stack(answers("predict")) == y[test]).mean(axis=1, keepdims=True)}
        X_test = _safe_indexing(X, test)
        rows = []
        for position in range(n_points):
            try:
                value = self._score(StandIn(answers, position), X_test, y[test])
            except AttributeError as error:
                raise _NeedsFittedEstimator from error
            rows.append(value if isinstance(value, dict) else {"score": value})
        return {metric: np.array([[row[metric]] for row in rows], dtype=float) for metric in rows[0]}

    def all_folds(self, answers: Answers, n_points: int, X: Any, y: np.ndarray, fold: Any) -> dict[str, np.ndarray]:
        """Score answers for all objects, `fold` saying in which fold each is tested."""
        if self.is_accuracy:
            size = np.bincount(fold)
            right = (answer == y for answer in answers("predict"))
            return {"score": np.stack([np.bincount(fold, weights=row) / size for row in right])}
        tables = []
        for number in range(fold.max() + 1):
            test = np.flatnonzero(fold == number)
            tables.append(self.one_fold(answers.rows(test), n_points, X, y, test))
        return {metric: np.concatenate([table[metric] for table in tables], axis=1) for metric in tables[0]}


def _collect(done: Iterable[tuple[Any, ...]], n_points: int, n_splits: int) -> tuple[Any, ...]:
    """Put the tables of all tasks into one table per metric."""
    scores: dict[str, np.ndarray] = {}
    fit_time, score_time = np.zeros((n_points, n_splits)), np.zeros((n_points, n_splits))
    for group, number, table, fit_seconds, score_seconds in done:
        columns = np.arange(n_splits) if number is None else np.array([number])
        cells = np.ix_(group.positions, columns)
        share = len(group.positions) * len(columns)
        fit_time[cells], score_time[cells] = fit_seconds / share, score_seconds / share
        for metric, values in table.items():
            scores.setdefault(metric, np.full((n_points, n_splits), np.nan))[cells] = values
    return scores, fit_time, score_time


def _as_sliceable(estimator: Any, X: Any) -> Any:
    """A frame or list of proximities as an array that both axes can be cut from; objects stay as they are."""
    if not get_tags(estimator).input_tags.pairwise or hasattr(X, "tocsr"):
        return X
    try:
        A = np.asarray(X)
    except ValueError:
        raise ProximityError("X must be a matrix. Got rows of different lengths.") from None
    if A.ndim < 2:
        raise ProximityError(f"X must be a matrix, one row and one column per object. Got shape {A.shape}.")
    return A
