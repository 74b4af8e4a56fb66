"""Grid search that evaluates many parameter values in one pass over the matrix.

The transformer in front of the last step takes part by ``path_params``, the names of parameters, and
``fit_transform_path(X_train, y_train, X_test, points)``, which yields the training and test rows of each point.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from scipy import sparse
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone, is_classifier, is_regressor
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV, LeaveOneOut, ParameterGrid, check_cv
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.validation import _num_samples, column_or_1d, indexable

from similis._utils.arrays import Array, Indices
from similis._utils.environment import DOC_LINK_TEMPLATE
from similis._utils.messages import track, warn_once
from similis._utils.threads import single_blas_thread
from similis.base import check_label_order, check_labels, check_target, params_key, validated_outer
from similis.exceptions import ProximityError

RESPONSES = ("predict", "predict_proba", "decision_function")
_SCORES = (ClassifierMixin.score, RegressorMixin.score)
Grid = list[dict[str, Any]]


class PlainFits:
    """Path of a last step without path methods: one fit per grid point, on rows transformed once for all points."""

    saves_work: ClassVar[bool] = False  # without transformers in front

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def __getattr__(self, name: str) -> Any:
        if name in RESPONSES:  # scorers choose among the responses that exist
            return getattr(self.estimator, name)
        raise AttributeError(name)

    def models(self, grid: Grid) -> list[Any]:
        return [clone(self.estimator).set_params(**clone(point, safe=False)) for point in grid]

    def predict_path(self, S_train: Any, y_train: Any, S_test: Any, grid: Grid, *, response: str) -> list[Array]:
        return [getattr(model.fit(S_train, y_train), response)(S_test) for model in self.models(grid)]


class SVCFits(PlainFits):
    """Path of scikit-learn's SVC: a solution with every dual variable below the bound C is optimal for all larger C."""

    # libsvm stops within `tol` of the optimum, at a different point for each C. Labels are therefore reused only where
    # an error of ten times `tol` in the decision values would not change them, and decision values are never reused.
    saves_work = True

    def predict_path(self, S_train: Any, y_train: Any, S_test: Any, grid: Grid, *, response: str) -> list[Array]:
        models = self.models(grid)
        if all(model.kernel == "linear" for model in models) and _is_wide(S_train):
            # libsvm would compute the inner products again for every C.
            S_train, S_test = S_train @ S_train.T, S_test @ S_train.T
            models = [model.set_params(kernel="precomputed") for model in models]
        responses: list[Any] = [None] * len(grid)
        final: dict[str, Array] = {}  # labels that no larger C changes, by the other parameters
        for position in np.argsort([model.C for model in models], kind="stable"):
            model = models[position]
            others = params_key({key: value for key, value in model.get_params(deep=False).items() if key != "C"})
            if others in final:
                responses[position] = final[others]
                continue
            responses[position] = getattr(model.fit(S_train, y_train), response)(S_test)
            if response == "predict" and _is_final(model, S_test):
                final[others] = responses[position]
        return responses


def _is_wide(X: Any) -> bool:
    """Return True for a dense array with so many columns that the inner products of its rows take as much memory."""
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f" and len(X) <= 2 * X.shape[1]


def _is_final(model: SVC, S_test: Any) -> bool:
    """Return True if a larger C leaves the solution unchanged and no label of the test rows depends on round-off."""
    plain = model.fit_status_ == 0 and model.class_weight is None and not model.break_ties
    if not plain or not (np.abs(model.dual_coef_) < model.C).all():
        return False
    f = copy(model).set_params(decision_function_shape="ovo").decision_function(S_test)
    return _labels_are_certain(f, len(model.classes_), 10 * model.tol)


def _labels_are_certain(f: Array, n_classes: int, margin: float) -> bool:
    """Return True if no label changes when decision values within `margin` of zero change their sign."""
    if n_classes == 2:
        return bool((np.abs(f) > margin).all())
    fewest, most = np.zeros((2, len(f), n_classes), dtype=int)  # votes that each class can get
    for value, (g, h) in zip(f.T, combinations(range(n_classes), 2)):  # positive for g
        fewest[:, g] += value > margin
        fewest[:, h] += value < -margin
        most[:, g] += value >= -margin
        most[:, h] += value <= margin
    rows, winner = np.arange(len(f)), fewest.argmax(axis=1)
    # The earlier class wins tied votes: a winner needs one vote more than an earlier class, as many as a later one.
    needed = most + (np.arange(n_classes) < winner[:, None])
    needed[rows, winner] = 0
    return bool((fewest[rows, winner] >= needed.max(axis=1)).all())


@dataclass
class GridGroup:
    """Grid points that differ only in `grid`, parameters of the last step, with their positions in the whole grid."""

    transformers: Pipeline | None
    last: Any
    grid: Grid = field(default_factory=list)
    positions: list[int] = field(default_factory=list)


@dataclass
class FrontFamily:
    """Groups whose transformers differ only in `varied`, values that the last transformer evaluates together."""

    groups: list[GridGroup] = field(default_factory=list)
    varied: Grid = field(default_factory=list)

    def transform_split(
        self, estimator: Any, X: Any, y: Array, train: Array, test: Array
    ) -> Iterator[tuple[GridGroup, Any, Any]]:
        """Yield each group with its transformed training rows and test rows of one split."""
        if get_tags(estimator).input_tags.pairwise:
            X_train, X_test = X[np.ix_(train, train)], X[np.ix_(test, train)]
        else:
            X_train, X_test = _safe_indexing(X, train), _safe_indexing(X, test)
        together = len(self.groups) > 1
        steps = [] if self.groups[0].transformers is None else clone(self.groups[0].transformers).steps
        shared = steps[:-1] if together else steps
        if shared:
            front = Pipeline(shared)
            X_train, X_test = front.fit_transform(X_train, y[train]), front.transform(X_test)
        rows: Iterable[tuple[Any, Any]] = [(X_train, X_test)]
        if together:
            rows = steps[-1][1].fit_transform_path(X_train, y[train], X_test, self.varied)
        for group, (rows_train, rows_test) in zip(self.groups, rows):
            yield group, rows_train, rows_test


def _group_grid(estimator: BaseEstimator, points: Iterable[dict[str, Any]]) -> list[FrontFamily] | None:
    """Group grid points by everything but the last step's parameters; None if no work can be shared."""
    groups: dict[str, GridGroup] = {}
    families: dict[str, FrontFamily] = {}
    prefix = f"{estimator.steps[-1][0]}__" if isinstance(estimator, Pipeline) else ""
    for position, point in enumerate(points):
        inner = {key.removeprefix(prefix): value for key, value in point.items() if key.startswith(prefix)}
        outer = {key: value for key, value in point.items() if not key.startswith(prefix)}
        name = params_key(outer)
        if name not in groups:
            configured = clone(estimator).set_params(**clone(outer, safe=False))
            steps = configured.steps if isinstance(configured, Pipeline) else [("last", configured)]
            front = [step for step in steps[:-1] if step[1] not in (None, "passthrough")]
            last = steps[-1][1]
            if not hasattr(last, "predict_path"):
                last = SVCFits(last) if type(last) is SVC else PlainFits(last)
            groups[name] = GridGroup(Pipeline(front) if front else None, last)
            step, transformer = front[-1] if front else ("", None)
            together = {f"{step}__{key}": key for key in getattr(transformer, "path_params", ())}
            varied = {together[key]: value for key, value in outer.items() if key in together}
            same = {key: value for key, value in outer.items() if key not in together}
            family = families.setdefault(params_key(same), FrontFamily())
            family.groups.append(groups[name])
            family.varied.append(varied)
        group = groups[name]
        if group.transformers is None and not getattr(group.last, "saves_work", True):
            return None
        group.grid.append(inner)
        group.positions.append(position)
    return list(families.values())


class Splits:
    """Splits of a cross-validation, and the fold of each object where they form a partition."""

    def __init__(self, cv: Any, X: Any, y: Array, groups: Any) -> None:
        self._n = len(y)
        # Leave-one-out is not written out: its n splits of n - 1 indices would be larger than the matrix.
        self._splits = None if isinstance(cv, LeaveOneOut) else list(cv.split(X, y, groups))
        if self._n < 2:
            raise ProximityError("Cross-validation needs at least two objects.")
        if self._splits == []:
            raise ProximityError("Cross-validation needs at least one split; cv has none.")
        self.partition: Any = np.arange(self._n) if self._splits is None else self._folds(self._splits)

    def __len__(self) -> int:
        return self._n if self._splits is None else len(self._splits)

    def __getitem__(self, number: int) -> tuple[Array, Array]:
        if self._splits is None:
            return np.delete(np.arange(self._n), number), np.array([number])
        return self._splits[number]

    def _folds(self, splits: list[tuple[Array, Array]]) -> Indices | None:
        """Fold of each object; None unless the test parts are a partition and the rest is the training part."""
        n, tested = self._n, np.concatenate([test for _, test in splits])
        if not np.array_equal(np.sort(tested), np.arange(n)):
            return None
        fold = np.empty(n, np.intp)
        fold[tested] = np.repeat(np.arange(len(splits)), [len(test) for _, test in splits])
        fits = all(len(a) + len(b) == n and (fold[a] != k).all() for k, (a, b) in enumerate(splits))
        return fold if fits else None


@dataclass
class GridPredictions:
    """Responses of all points of a group on one test part, each computed on first use."""

    compute: Callable[..., list[Array]]  # of a response
    classes: Array  # of the training part
    template: Any  # has the prediction methods that exist
    computed: dict[str, list[Array]] = field(default_factory=dict)

    def __call__(self, response: str) -> list[Array]:
        if response not in self.computed:
            self.computed[response] = self.compute(response=response)
        return self.computed[response]

    def rows(self, index: Array) -> GridPredictions:
        return GridPredictions(lambda response: [a[index] for a in self(response)], self.classes, self.template)


@dataclass(eq=False, repr=False)
class PredictedEstimator(BaseEstimator):
    """Estimator facade for scorers: returns the predictions of one grid point on the test part."""

    predictions: GridPredictions
    position: int
    estimator: Any

    def __post_init__(self) -> None:
        self.classes_ = self.predictions.classes  # of a classifier

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)

    def __getattr__(self, name: str) -> Any:
        # Only what the estimator itself offers, so that a scorer chooses the same response; `X` is not read.
        if name not in RESPONSES or not hasattr(self.predictions.template, name):
            raise AttributeError(name)

        def respond(X: Any) -> Array:
            return self.predictions(name)[self.position]

        respond.__name__ = name  # scorers look the response up by its name
        return respond


def _format_results(
    points: list[dict[str, Any]], scores: dict[str, Array], fit_time: Array, score_time: Array
) -> dict[str, Any]:
    """Make ``cv_results_`` from the grid, scores of shape (n_points, n_splits) per metric, and times."""
    results: dict[str, Any] = {}
    for name, times in (("fit_time", fit_time), ("score_time", score_time)):
        results |= {f"mean_{name}": times.mean(axis=1), f"std_{name}": times.std(axis=1)}
    for key in sorted({key for point in points for key in point}):
        column = np.ma.masked_all(len(points), dtype=object)
        for i, point in enumerate(points):
            if key in point:
                column[i] = point[key]
        results[f"param_{key}"] = column
    results["params"] = points
    for metric, table in scores.items():
        results |= {f"split{split}_test_{metric}": scores_of_split for split, scores_of_split in enumerate(table.T)}
        mean = table.mean(axis=1)
        results |= {f"mean_test_{metric}": mean, f"std_test_{metric}": table.std(axis=1)}
        known = np.where(np.isnan(mean), np.nanmin(mean, initial=np.inf) - 1, mean)
        results[f"rank_test_{metric}"] = rankdata(-known, method="min").astype(np.int32)
    return results


@dataclass(eq=False, repr=False, match_args=False)
class PathSearchCV(GridSearchCV):
    """Grid search by cross-validation that shares computations between grid points and folds.

    Scores, attributes and the chosen parameters equal those of :class:`~sklearn.model_selection.GridSearchCV`. An
    estimator with ``predict_path`` is fitted once per fold for all grid points, one with ``predict_path_cv`` once for
    all folds (see :class:`similis.base.PathMixin`), and the transformers of a pipeline once per training part.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor of similis, a scikit-learn estimator, or a pipeline that ends in one.
    param_grid : dict or list of dict
        Values to try, by parameter name.
    cv : int, splitter or iterable, default=10
        The folds; a number gives stratified folds for a classifier.
    scoring : str, callable, list, tuple, dict or None
        As in scikit-learn. None uses the accuracy of a classifier, R2 of a regressor.
    refit : bool, str or callable, default=True
        As in scikit-learn: fit the best parameters on all data; with several scores, the name of the one to use.
    n_jobs : int or None
        Number of threads over folds and groups of grid points. The result does not depend on it.
    progress : bool, default=False
        Show a progress bar on standard error.
    verbose : int, default=0
        Larger values print more messages of joblib, on standard error, and of scikit-learn.
    pre_dispatch : int or str, default="2*n_jobs"
        Number of jobs dispatched ahead, as in scikit-learn.
    error_score : "raise", float or None
        Score of a grid point whose fit fails, as in scikit-learn. None raises an error of a shared pass and gives NaN
        to a point that is fitted separately.
    return_train_score : bool, default=False
        Add scores of the training parts to ``cv_results_``, as in scikit-learn. Every point is then fitted separately.

    Attributes
    ----------
    cv_results_, best_index_, best_params_, best_score_, best_estimator_, refit_time_, n_splits_, scorer_, multimetric_
        As in :class:`~sklearn.model_selection.GridSearchCV`; points share the time of a pass evenly.

    Notes
    -----
    Ties go to the earliest grid point. Grid points are fitted separately, by scikit-learn's own search, where a shared
    pass cannot give the result: with training scores, with parameters of ``fit``, with a scorer that reads more than
    predictions, and after a failed pass if `error_score` is a number.

    Examples
    --------
    >>> from similis import PathSearchCV, SimilarityKNN, make_similarity
    >>> S, y = make_similarity(60, separation=1.0, random_state=0)
    >>> PathSearchCV(SimilarityKNN(), {"n_neighbors": [1, 5, 9, 13]}).fit(S, y).best_params_
    {'n_neighbors': 9}
    """

    _parameter_constraints = {
        **GridSearchCV._parameter_constraints,
        "error_score": [*GridSearchCV._parameter_constraints["error_score"], None],
        "scoring": [str, callable, list, tuple, dict, None],
        "progress": ["boolean"],
    }
    _doc_link_module = "similis"
    _doc_link_template = DOC_LINK_TEMPLATE

    estimator: Any
    param_grid: Any
    _: KW_ONLY
    cv: int = 10
    scoring: Any = None
    refit: bool | str | Callable[..., int] = True
    n_jobs: Any = None
    progress: bool = False
    # Searches saved by 1.0 do not have these parameters.
    verbose: int = 0
    pre_dispatch: Any = "2*n_jobs"
    error_score: Any = None
    return_train_score: bool = False
    _added_params = ("verbose", "pre_dispatch", "error_score", "return_train_score")

    @validated_outer
    def fit(self, X: Array, y: Any = None, *, groups: Any = None, **params: Any) -> Any:
        """Score every grid point by cross-validation and fit the best one on all data.

        `X` holds training proximities, (n, n), or the objects that a pipeline measures; `groups` are passed to the
        splitter, and `params` to ``fit`` of the estimator.
        """
        check_label_order(X, groups, "groups")
        try:
            with warn_once():  # the folds repeat the warnings
                return self._fit(X, y, groups, params)
        except ValueError as error:
            if "fits failed" not in str(error):
                raise
            reason = str(error).strip().splitlines()[-1].partition(": ")[2]
            raise ProximityError(f"All fits failed. Last error: {reason[:200]}") from None

    def _fit(self, X: Any, y: Any, groups: Any, params: dict[str, Any]) -> Any:
        points = list(ParameterGrid(self.param_grid))
        last = self.estimator.steps[-1][1] if hasattr(self.estimator, "steps") else self.estimator
        # Scores depend on predictions only: a given score, or that of scikit-learn's mixins.
        own_score = self.scoring is None and getattr(type(last), "score", None) not in _SCORES
        supervised = is_classifier(self.estimator) or is_regressor(self.estimator)
        separate = params or y is None or self.return_train_score or own_score or not supervised
        plan = None if separate else _group_grid(self.estimator, points)
        if plan is None:
            return self._fit_separately(X, y, groups, params)
        if not any(hasattr(X, name) for name in ("shape", "__len__", "__array__")):
            raise ProximityError(f"X must be a matrix or a collection of objects. Got a {type(X).__name__}.")
        given, X = X, _as_sliceable(self.estimator, X)
        X, y = indexable(X, y)
        if is_regressor(self.estimator):
            y = check_target(y, _num_samples(X), who=type(self).__name__, of=given)
        else:
            check_labels(y, _num_samples(X), who=type(self).__name__, min_classes=1, of=given)
            y = column_or_1d(y, warn=True)
        try:
            scores, fit_time, score_time = self._evaluate(plan, len(points), X, y, groups)
        except Exception as error:
            if not isinstance(error, _NeedsFittedEstimator) and self.error_score in (None, "raise"):
                raise
            return self._fit_separately(X, y, groups, {})
        self.cv_results_ = _format_results(points, scores, fit_time, score_time)
        self._choose_and_refit(given, y)
        return self

    def _fit_separately(self, X: Any, y: Any, groups: Any, params: dict[str, Any]) -> Any:
        """Fit every grid point with GridSearchCV, which has no ``error_score=None``."""
        search = copy(self)
        if self.error_score is None:
            search.error_score = np.nan
        GridSearchCV.fit(search, _as_sliceable(self.estimator, X), y, groups=groups, **params)
        self.__dict__.update({**vars(search), "error_score": self.error_score})
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        return tags

    @single_blas_thread()
    def _evaluate(self, plan: list[FrontFamily], n_points: int, X: Any, y: Array, groups: Any) -> tuple[Any, ...]:
        """Scores of shape (n_points, n_splits) by metric, and the times."""
        splits = Splits(check_cv(self.cv, y, classifier=is_classifier(self.estimator)), X, y, groups)
        self.n_splits_ = len(splits)
        scorer = _Scorer(self.estimator, self.scoring)
        pairwise = get_tags(self.estimator).input_tags.pairwise

        def work(family: FrontFamily, number: int | None) -> list[tuple[Any, ...]]:
            tables, fit_time, score_time, start = [], 0.0, 0.0, time.perf_counter()
            parts: Any
            tested: tuple[Any, ...] = X, y, splits.partition
            if number is None:
                (group,) = family.groups
                classes, parts = np.unique(y), [(group, partial(group.last.predict_path_cv, *tested))]
            else:
                train, test = splits[number]
                classes, rows = np.unique(y[train]), family.transform_split(self.estimator, X, y, train, test)
                parts = ((group, partial(group.last.predict_path, A, y[train], B)) for group, A, B in rows)
                X_test = None if scorer.is_direct else _safe_indexing(X, test)
                tested = X_test, y[test], np.zeros(len(test), np.intp)
            for group, predict in parts:
                predictions = GridPredictions(partial(predict, group.grid), classes, group.last)
                if scorer.is_direct:
                    predictions("predict")
                fitted = time.perf_counter()
                tables.append((group, number, scorer.table(predictions, len(group.grid), *tested)))
                fit_time, score_time = fit_time + fitted - start, score_time + time.perf_counter() - fitted
                start = time.perf_counter()
            n_points = sum(len(group.grid) for group, _, _ in tables)
            return [(*table, fit_time / n_points, score_time / n_points) for table in tables]

        tasks: list[tuple[FrontFamily, int | None]] = []
        for family in plan:
            group = family.groups[0]
            shared = splits.partition is not None and pairwise and group.transformers is None
            shared &= not (sparse.issparse(X) and getattr(group.last, "keep_sparse", False))  # all folds need it dense
            if shared and hasattr(group.last, "predict_path_cv"):
                tasks.append((family, None))
            else:
                tasks += [(family, number) for number in range(len(splits))]
        # Fold by fold, so that spectrum transformers find the cached decomposition of the training part.
        tasks.sort(key=lambda task: -1 if task[1] is None else task[1])
        options = {"verbose": self.verbose, "pre_dispatch": self.pre_dispatch}
        pool = Parallel(n_jobs=self.n_jobs, prefer="threads", return_as="generator", **options)
        done = pool(delayed(work)(*task) for task in tasks)
        scores: dict[str, Array] = {}
        fit_time, score_time = np.zeros((2, n_points, len(splits)))
        for tables in track(done, total=len(tasks), description="search", enabled=self.progress):
            for group, number, table, fit_seconds, score_seconds in tables:
                columns = np.arange(len(splits)) if number is None else np.array([number])
                cells = np.ix_(group.positions, columns)
                fit_time[cells], score_time[cells] = fit_seconds / len(columns), score_seconds / len(columns)
                for metric, values in table.items():
                    scores.setdefault(metric, np.full(fit_time.shape, np.nan))[cells] = values
        return scores, fit_time, score_time

    def _choose_and_refit(self, X: Any, y: Array) -> None:
        """Set the ``best_*`` attributes as GridSearchCV does."""
        metrics = [key.removeprefix("mean_test_") for key in self.cv_results_ if key.startswith("mean_test_")]
        self.multimetric_ = metrics != ["score"]
        self.scorer_ = check_scoring(self.estimator, self.scoring)
        if self.multimetric_ and self.refit and not callable(self.refit) and self.refit not in metrics:
            words = f"With several scores, refit must name the one that selects the best point: {metrics}."
            raise ProximityError(f"{words} Got {self.refit!r}.")
        if not self.refit and self.multimetric_:
            return
        if callable(self.refit):
            self.best_index_ = int(self.refit(self.cv_results_))
        else:
            metric = self.refit if self.multimetric_ else "score"
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
    """Raised when a scorer reads more than the predictions of an estimator."""


class _Scorer:
    """Score predictions by any scorer, directly by accuracy and R2: per metric a table (n_points, number of folds)."""

    def __init__(self, estimator: Any, scoring: Any) -> None:
        numeric = is_regressor(estimator)
        self.is_direct = scoring is None or scoring == ("r2" if numeric else "accuracy")
        self._score: Any = None if self.is_direct else check_scoring(estimator, scoring)
        self._direct = _r2 if numeric else _accuracy
        self._estimator = estimator

    def table(self, predictions: GridPredictions, n_points: int, X: Any, y: Array, fold: Array) -> dict[str, Array]:
        """Score predictions for the rows of `X`, which direct scores do not read; `fold` numbers the fold of each."""
        if self.is_direct:
            return {"score": np.stack([self._direct(found, y, fold) for found in predictions("predict")])}
        n_folds = int(fold.max()) + 1
        tables: dict[str, Array] = {}
        for number in range(n_folds):
            test = np.flatnonzero(fold == number)
            part, X_test, y_test = predictions.rows(test), _safe_indexing(X, test), y[test]
            for position in range(n_points):
                try:
                    value = self._score(PredictedEstimator(part, position, self._estimator), X_test, y_test)
                except AttributeError as error:
                    raise _NeedsFittedEstimator from error
                for metric, score in (value if isinstance(value, dict) else {"score": value}).items():
                    tables.setdefault(metric, np.empty((n_points, n_folds)))[position, number] = score
        return tables


def _accuracy(found: Array, y: Array, fold: Indices) -> Array:
    return np.asarray(np.bincount(fold, weights=found == y) / np.bincount(fold))


def _r2(found: Array, y: Array, fold: Indices) -> Array:
    """R2 of each fold; for a constant target 1 if it is predicted exactly, else 0, as in scikit-learn."""
    size = np.bincount(fold)
    if size.min() < 2:
        advice = "use fewer folds, or scoring='neg_mean_squared_error'"
        raise ProximityError(f"R2 is undefined for a fold with a single object; {advice}.")
    mean = np.bincount(fold, weights=y) / size
    around = np.bincount(fold, weights=(y - mean[fold]) ** 2)
    squares = np.bincount(fold, weights=(y - found) ** 2)
    return np.where(around > 0, 1 - squares / np.where(around > 0, around, 1), squares == 0)


def _as_sliceable(estimator: Any, X: Any) -> Any:
    """Convert a frame or list of proximities to an array that can be indexed on both axes; return objects unchanged."""
    if not get_tags(estimator).input_tags.pairwise or hasattr(X, "tocsr"):
        return X
    try:
        A = np.asarray(X)
    except ValueError:
        raise ProximityError("X must be a matrix. Got rows of different lengths.") from None
    if A.ndim < 2:
        raise ProximityError(f"X must be a matrix, one row and one column per object. Got shape {A.shape}.")
    return A
