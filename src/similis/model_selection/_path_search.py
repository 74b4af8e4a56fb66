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
from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV, LeaveOneOut, ParameterGrid, check_cv
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples, column_or_1d, indexable

from similis._utils.messages import track
from similis.base import check_labels, validated_outer
from similis.exceptions import ProximityError

__all__ = [
    "RESPONSES",
    "PlainPath",
    "path_of",
    "Folds",
    "Group",
    "make_groups",
    "Answers",
    "StandIn",
    "fold_answers",
    "partition_answers",
    "split_data",
    "format_results",
    "PathSearchCV",
]

RESPONSES = ("predict", "predict_proba", "decision_function")


class PlainPath:
    """A last step without a hook: a plain fit for each point, on rows that the transformers made once for all."""

    shares: ClassVar[bool] = False  # whether it saves work where there are no transformers

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def __getattr__(self, name: str) -> Any:
        if name in RESPONSES:  # for scorers that ask what there is
            return getattr(self.estimator, name)
        raise AttributeError(name)

    def predict_path(
        self, S_train: Any, y_train: Any, S_test: Any, grid: list[dict[str, Any]], *, response: str = "predict"
    ) -> list[np.ndarray]:
        """Responses of a plain fit for each point."""
        models = (clone(self.estimator).set_params(**clone(point, safe=False)) for point in grid)
        return [getattr(model.fit(S_train, y_train), response)(S_test) for model in models]


class SVCPath(PlainPath):
    """scikit-learn's SVC: a solution with every dual variable below the bound C is that for all larger C.

    libsvm finds it up to its ``tol``, from another side for each C. Labels are taken over only where decision values
    off by ten times that would not change them, and decision values never, so that scores are those of plain fits.
    """

    shares = True

    def predict_path(
        self, S_train: Any, y_train: Any, S_test: Any, grid: list[dict[str, Any]], *, response: str = "predict"
    ) -> list[np.ndarray]:
        """Responses for each point, in order of C."""
        models = [clone(self.estimator).set_params(**clone(point, safe=False)) for point in grid]
        answers: list[Any] = [None] * len(grid)
        settled: dict[str, np.ndarray] = {}
        for position in np.argsort([model.C for model in models], kind="stable"):
            model = models[position]
            others = repr(sorted((k, repr(v)) for k, v in model.get_params(deep=False).items() if k != "C"))
            if others not in settled:
                answers[position] = getattr(model.fit(S_train, y_train), response)(S_test)
                if response == "predict" and _is_settled(model, S_test):
                    settled[others] = answers[position]
            else:
                answers[position] = settled[others]
        return answers


def _is_settled(model: SVC, S_test: Any) -> bool:
    """Whether a larger C leaves the solution as it is, and the test rows are clear of the boundary."""
    if model.fit_status_ != 0 or model.class_weight is not None or model.break_ties:
        return False
    if not (np.abs(model.dual_coef_) < model.C).all():
        return False
    f = copy(model).set_params(decision_function_shape="ovo").decision_function(S_test)
    return _are_clear(f, len(model.classes_), 10 * model.tol)


def _are_clear(f: np.ndarray, n_classes: int, doubt: float) -> bool:
    """Whether every row's label stands, however the machines whose value is within `doubt` of zero decide."""
    if n_classes == 2:
        return bool((np.abs(f) > doubt).all())
    fewest, most = np.zeros((2, len(f), n_classes), dtype=int)
    for value, (g, h) in zip(f.T, combinations(range(n_classes), 2)):  # positive for g
        fewest[:, g] += value > doubt
        fewest[:, h] += value < -doubt
        most[:, g] += value >= -doubt
        most[:, h] += value <= doubt
    rows, winner = np.arange(len(f)), fewest.argmax(axis=1)
    # The earlier class wins tied votes, so a later one must be beaten only by not being overtaken.
    needed = most + (np.arange(n_classes) < winner[:, None])
    needed[rows, winner] = 0
    return bool((fewest[rows, winner] >= needed.max(axis=1)).all())


def path_of(estimator: Any) -> Any:
    """The estimator itself where it has the hook, else one that fits for it."""
    if hasattr(estimator, "predict_path"):
        return estimator
    return SVCPath(estimator) if type(estimator) is SVC else PlainPath(estimator)


@dataclass
class Group:
    """Grid points that share everything but the parameters of the last step.

    Attributes
    ----------
    transformers : Pipeline or None
        What is fitted on the training part of each fold, in front of the last step.
    last : estimator
        The last step, with its ``predict_path`` hook; its parameters in `grid` are still to be set.
    grid : list of dict
        The last step's own parameters, one point each.
    positions : list of int
        Where each point stands in the whole grid.
    """

    transformers: Pipeline | None
    last: Any
    grid: list[dict[str, Any]] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)


def make_groups(estimator: BaseEstimator, points: Iterable[dict[str, Any]]) -> list[Group] | None:
    """Group grid points by everything but the last step's parameters; None where there is nothing to share."""
    groups: dict[str, Group] = {}
    prefix = f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""
    for position, point in enumerate(points):
        inner = {key.removeprefix(prefix): value for key, value in point.items() if key.startswith(prefix)}
        outer = {key: value for key, value in point.items() if not key.startswith(prefix)}
        name = repr(sorted((key, repr(value)) for key, value in outer.items()))
        if name not in groups:
            configured = clone(estimator).set_params(**clone(outer, safe=False))
            groups[name] = _take_apart(configured)
        if groups[name].transformers is None and not getattr(groups[name].last, "shares", True):
            return None
        groups[name].grid.append(inner)
        groups[name].positions.append(position)
    return list(groups.values())


def _take_apart(estimator: BaseEstimator) -> Group:
    if not isinstance(estimator, Pipeline):
        return Group(None, path_of(estimator))
    front = [step for step in estimator.steps[:-1] if step[1] not in (None, "passthrough")]
    return Group(Pipeline(front) if front else None, path_of(estimator.steps[-1][1]))


class Folds:
    """The splits, and the fold of each object where they are a partition with everything else as training part.

    Leave-one-out is never written out: its n splits of n - 1 indices would be larger than the matrix.
    """

    def __init__(self, cv: Any, X: Any, y: np.ndarray, groups: Any) -> None:
        self._n = len(y)
        self._splits = None if isinstance(cv, LeaveOneOut) else list(cv.split(X, y, groups))
        if self._n < 2:
            raise ProximityError("Cross-validation needs at least two objects.")
        self.partition: Any = np.arange(self._n) if self._splits is None else self._as_partition(self._splits)

    def __len__(self) -> int:
        return self._n if self._splits is None else len(self._splits)

    def __getitem__(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        if self._splits is None:
            return np.delete(np.arange(self._n), number), np.array([number])
        return self._splits[number]

    def _as_partition(self, splits: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray | None:
        fold = np.full(self._n, -1)
        for number, (_, test) in enumerate(splits):
            if (fold[test] != -1).any():
                return None
            fold[test] = number
        complete = all(len(train) + len(test) == self._n for train, test in splits)
        disjoint = not any((fold[train] == number).any() for number, (train, _) in enumerate(splits))
        return fold if complete and disjoint and (fold >= 0).all() else None


class Answers:
    """The responses of all points of a group on one test part, computed when first asked for."""

    def __init__(self, compute: Callable[[str], list[np.ndarray]], classes: np.ndarray, template: Any) -> None:
        self._compute = compute
        self._known: dict[str, list[np.ndarray]] = {}
        self.classes = classes
        self.template = template

    def __call__(self, response: str) -> list[np.ndarray]:
        if response not in self._known:
            self._known[response] = self._compute(response)
        return self._known[response]

    def rows(self, index: np.ndarray) -> Answers:
        """The same answers for some of the rows."""
        return Answers(lambda response: [a[index] for a in self(response)], self.classes, self.template)


class StandIn(ClassifierMixin, BaseEstimator):
    """What a scorer sees in place of a fitted estimator: the responses of one grid point on the test part."""

    def __init__(self, answers: Answers, position: int) -> None:
        self.answers = answers
        self.position = position
        self.classes_ = answers.classes

    def __getattr__(self, name: str) -> Any:
        # Only what the estimator itself offers, so that a scorer chooses the response it would have chosen.
        if name in RESPONSES and hasattr(self.answers.template, name):
            return lambda X: self.answers(name)[self.position]
        raise AttributeError(name)

    def predict(self, X: Any) -> np.ndarray:
        """Labels found for the test part, whatever `X`."""
        return self.answers("predict")[self.position]


def split_data(estimator: Any, X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> tuple[Any, ...]:
    """Training and test part as scikit-learn cuts them: rows, and for pairwise input the training columns."""
    if get_tags(estimator).input_tags.pairwise:
        return X[np.ix_(train, train)], y[train], X[np.ix_(test, train)]
    return _safe_indexing(X, train), y[train], _safe_indexing(X, test)


def fold_answers(estimator: Any, group: Group, X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> Answers:
    """Fit the group's transformers on one training part and let the last step answer all its points."""
    X_train, y_train, X_test = split_data(estimator, X, y, train, test)
    if group.transformers is not None:
        front = clone(group.transformers)
        X_train = front.fit_transform(X_train, y_train)
        X_test = front.transform(X_test)

    def compute(response: str) -> list[np.ndarray]:
        return group.last.predict_path(X_train, y_train, X_test, group.grid, response=response)

    return Answers(compute, np.unique(y_train), group.last)


def partition_answers(group: Group, X: Any, y: np.ndarray, test_fold: np.ndarray) -> Answers:
    """Let the last step answer all its points for every object, each from the folds it is not in."""

    def compute(response: str) -> list[np.ndarray]:
        return group.last.predict_path_cv(X, y, test_fold, group.grid, response=response)

    return Answers(compute, np.unique(y), group.last)


def format_results(
    points: list[dict[str, Any]], scores: dict[str, np.ndarray], fit_time: np.ndarray, score_time: np.ndarray
) -> dict[str, Any]:
    """Make ``cv_results_`` from the grid, scores of shape (n_points, n_splits) per metric, and times."""
    results: dict[str, Any] = {}
    for name, times in (("fit_time", fit_time), ("score_time", score_time)):
        results[f"mean_{name}"] = times.mean(axis=1)
        results[f"std_{name}"] = times.std(axis=1)
    for key in sorted({key for point in points for key in point}):
        column = np.ma.masked_all(len(points), dtype=object)
        for i, point in enumerate(points):
            if key in point:
                column[i] = point[key]
        results[f"param_{key}"] = column
    results["params"] = points
    for metric, table in scores.items():
        for split in range(table.shape[1]):
            results[f"split{split}_test_{metric}"] = table[:, split]
        mean = table.mean(axis=1)
        results[f"mean_test_{metric}"] = mean
        results[f"std_test_{metric}"] = table.std(axis=1)
        known = np.where(np.isnan(mean), np.nanmin(mean, initial=np.inf) - 1, mean)
        results[f"rank_test_{metric}"] = rankdata(-known, method="min").astype(np.int32)
    return results


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
