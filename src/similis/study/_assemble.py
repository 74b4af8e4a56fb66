"""Build the pipeline of a method, with conversion and search, and write Python code that makes it."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.metrics import make_scorer
from sklearn.model_selection import LeaveOneOut
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils import get_tags

import similis
from similis._utils.arrays import Floats, Indices
from similis.base import Kind
from similis.distributed import OnLandmarks
from similis.exceptions import ProximityError
from similis.measures import Pairwise
from similis.model_selection import PathSearchCV
from similis.proximity import CombineMatrices, CompleteKernel, Rescale, Symmetrize, ToDissimilarity, ToSimilarity
from similis.study._differences import OF_LABELS, RANKING, balancing_costs, check_decision, expect_costs, find_metric
from similis.study._methods import Method, Task, expand_methods, find_methods
from similis.study._metrics import OF_VALUES, log_loss, mean_cost, value_losses
from similis.study._problem import check_kinds
from similis.study._protocol import DealtFolds

_LARGEST = 30  # entries of the largest array that is written out


@dataclass(frozen=True)
class MatrixFacts:
    """Facts about the input matrix that decide what is put in front of a method."""

    kind: Kind = "similarity"
    symmetric: bool = True  # exactly
    to_similarity: str = "linear"  # conversion where a method reads the other kind
    to_dissimilarity: str = "max-minus"
    missing: bool = False  # some entries are missing: methods that cannot read them get a completed matrix
    names: tuple[str, ...] = ()  # of several matrices
    kinds: tuple[Kind, ...] = ()


@dataclass(frozen=True)
class Assembled:
    """A pipeline built for a method and a matrix."""

    estimator: Any  # classifier, regressor or pipeline, unfitted
    conversion: str  # description of the steps in front of the method's own; empty for none
    prefix: str  # put in front of the method's own parameter names


def assemble(
    method: Method,
    facts: MatrixFacts,
    *,
    first: Any = None,
    costs: Floats | None = None,
    priors: Floats | None = None,
    expected_costs: Floats | None = None,
    seed: int | None = None,
) -> Assembled:
    """Build the pipeline of a method; `first` measures objects, `seed` sets each `random_state`."""
    made = method.make()
    added: list[tuple[str, Any, str]] = [] if first is None else [("pairwise", first, "")]  # name, step, description
    of_matrix = method.reads != "objects"
    if of_matrix and facts.names:
        facts, step = _combine(method, facts)
        if step is not None:
            added.append(("combine", step, f"mean of {', '.join(facts.names)}" if step.matrix == "mean" else ""))
    kind = method.reads if method.reads in ("similarity", "dissimilarity") else facts.kind
    symmetrize = of_matrix and method.symmetric and not facts.symmetric
    changed = kind != facts.kind or symmetrize
    if of_matrix and facts.missing and (changed or not get_tags(made).input_tags.allow_nan):
        added.append(("complete", CompleteKernel(kind=facts.kind), "completed"))
    if symmetrize:
        added.append(("symmetrize", Symmetrize(), "symmetrized"))
    if kind != facts.kind:
        converter: Any = ToDissimilarity(method=facts.to_dissimilarity)
        if kind == "similarity":
            converter = ToSimilarity(method=facts.to_similarity)
        added.append(("convert", converter, f"to {kind} ({converter.method})"))
    # The linear conversion to similarities has the range 1.
    in_range = kind == "similarity" != facts.kind and facts.to_similarity == "linear"
    if of_matrix and method.rescale and not in_range:
        added.append(("rescale", Rescale(kind=kind), "rescaled"))
    task_step = "classifier" if method.task == "classification" else "regressor"
    own = list(made.steps) if isinstance(made, Pipeline) else [(task_step, made)]
    last = own[-1][1]
    known = last.get_params(deep=False)
    last_kind = _kind_after([step for _, step in own[:-1]], kind)
    if "kind" in known and last_kind is not None:
        last.set_params(kind=last_kind)
    if priors is not None and "priors" in known:
        last.set_params(priors=priors)
    elif priors is not None:
        costs = expected_costs  # which take account of the priors
    if costs is not None and "costs" in known and hasattr(last, "predict_proba"):
        last.set_params(costs=costs)
    taken = {name for name, _ in own}
    front = [(name if name not in taken else f"study_{name}", step) for name, step, _ in added]
    prefix = "" if isinstance(made, Pipeline) or not front else f"{task_step}__"
    estimator = Pipeline([*front, *own]) if front else made
    if seed is not None:
        for name, value in sorted(estimator.get_params(deep=True).items()):
            if name.rpartition("__")[2] == "random_state" and value is None:
                estimator.set_params(**{name: seed})
    return Assembled(estimator, ", ".join(words for _, _, words in added if words), prefix)


def _combine(method: Method, facts: MatrixFacts) -> tuple[MatrixFacts, CombineMatrices | None]:
    """Return the step that gives a method its matrix of several, and the facts about that matrix."""
    kinds = list(facts.kinds)
    if method.matrix:
        matrix: Any = "mean" if method.matrix == "mean" else facts.names.index(method.matrix)
        step = CombineMatrices(matrix=matrix, kinds=kinds)
        return replace(facts, kind=step.gives), step
    # A method that reads stacks: all matrices must be of the kind that it reads.
    facts = replace(facts, missing=False, symmetric=True)
    target = method.reads if method.reads in ("similarity", "dissimilarity") else None
    step = CombineMatrices(matrix=None, kinds=kinds, kind=target)
    return replace(facts, kind=step.gives), step if set(kinds) != {step.gives} else None


def _kind_after(steps: list[Any], kind: Kind) -> Kind | None:
    """Kind of the rows that transformers return; None if one of them, such as a FunctionTransformer, does not tell."""
    for step in steps:
        if step not in (None, "passthrough"):
            if not hasattr(step, "gives"):
                return None
            kind = step.gives or kind
    return kind


def make_model(
    method: str | Method,
    *,
    kind: Kind | Sequence[Kind] = "similarity",
    names: Sequence[str] | None = None,
    symmetric: bool = True,
    measure: Any = None,
    n: int | None = None,
    cv: Any = 10,
    costs: Any = None,
    priors: Any = None,
    metric: str | None = None,
    y: Any = None,
    classes: Any = None,
    random_state: int = 0,
    to_similarity: str = "linear",
    to_dissimilarity: str = "max-minus",
    missing: bool = False,
) -> Any:
    """Make the unfitted model of a method as the study evaluates it, with its conversion and its parameter search.

    The result is a PathSearchCV, or a classifier, regressor or pipeline where there is nothing to search, or
    OnLandmarks of these.

    Parameters
    ----------
    method : str or Method
        A name from the table, or a method of your own.
    kind : {"similarity", "dissimilarity"} or a sequence of these, default="similarity"
        Kind of the matrix, or of the measure; of each of several matrices.
    names : sequence of str, optional
        Names of several matrices, for a model that reads a stack of them, such as ``"knn[s1]"`` or ``"knn[mean]"``.
    symmetric : bool, default=True
        False puts ``Symmetrize`` in front of a method that needs a symmetric matrix.
    measure : measure, optional
        Given for a model that reads objects: ``Pairwise(measure)`` stands first.
    n : int, optional
        Number of training objects, which limits the grid; None keeps all of it.
    cv : int or splitter, default=10
        Folds of the parameter search, unless the method has its own; an integer makes stratified folds.
    costs, priors : array-like or str, optional
        As for :meth:`Study.run`.
    metric : str, optional
        Metric by which parameters are chosen, see :class:`Study`. None: cost where there are costs or priors, else
        error, or root mean squared error for a method of regression.
    y : array-like of shape (n,), optional
        Labels of the training objects; required for balanced error, balanced costs and priors.
    classes : array-like of shape (G,), optional
        Class labels in the order of `costs`; None where `y` is given, or the labels are 0, 1, ...
    random_state : int, default=0
        Seed of folds and of methods that draw random numbers.
    to_similarity, to_dissimilarity : str
        Conversion rules, see :class:`~similis.ToSimilarity` and :class:`~similis.ToDissimilarity`.
    missing : bool, default=False
        True puts ``CompleteKernel`` in front of a method that cannot read missing entries.

    Examples
    --------
    >>> from similis.study import make_model
    >>> S = [[4, 3, 1, 0], [3, 4, 0, 1], [1, 0, 4, 2], [0, 1, 2, 4]]
    >>> make_model("nc").fit(S, ["a", "a", "b", "b"]).predict([[2, 2, 3, 1]])
    array(['b'], dtype='<U1')
    """
    if not isinstance(n, int | np.integer | None):
        raise ProximityError(f"n must be a number of objects, or None. Got {str(n)[:40]!r}.")
    (found,) = find_methods([method])
    first = None
    if measure is not None and found.reads != "objects":
        kind = measure.kind
        first = Pairwise(measure, symmetrize=found.symmetric and not measure.symmetric)
        symmetric = True
    names = tuple(names or ())
    check_kinds(kind if names else [kind])
    kinds = (kind,) * len(names) if isinstance(kind, str) else tuple(kind)
    if len(kinds) != len(names):
        raise ProximityError(f"kind must name the kind of each matrix. Got {len(kinds)} for {len(names) or 'one'}.")
    found, *others = expand_methods([found], names)
    if others and found.matrix:
        raise ProximityError(f"{method!r} reads one matrix. Name it: {found.name!r} or {others[-1].name!r}.")
    first_kind: Any = kinds[0] if kinds else kind
    facts = MatrixFacts(first_kind, symmetric, to_similarity, to_dissimilarity, missing, names, kinds)
    goal = make_goal(found.task, metric, costs, priors, y, classes)
    parts = assemble(found, facts, first=first, seed=random_state, **goal.decision())
    folds = cv if found.cv is None else found.cv
    folds = DealtFolds(folds, random_state) if isinstance(folds, int) else folds
    model = with_search(parts, found.grid_for(2**31 if n is None else n), cv=folds, goal=goal)
    if found.landmarks is None:
        return model
    return OnLandmarks(model, n_landmarks=found.landmarks, random_state=random_state)


def with_search(parts: Assembled, grid: dict[str, list[Any]], *, cv: Any, goal: Goal) -> Any:
    """Wrap the estimator in a search where the grid has more than one point, else set that point."""
    named = {parts.prefix + key: values for key, values in grid.items()}
    if all(len(values) == 1 for values in grid.values()):
        return parts.estimator.set_params(**{key: values[0] for key, values in named.items()})
    return PathSearchCV(parts.estimator, named, cv=cv, scoring=goal.scoring(parts.estimator))


def without_search(model: Any) -> Any:
    """Return the fitted model that a search has chosen, which can be saved."""
    if isinstance(model, OnLandmarks):
        return model.without_search()
    return getattr(model, "best_estimator_", model)


@dataclass(frozen=True, eq=False)
class Goal:
    """Metric by which methods and parameters are chosen, with costs and priors."""

    metric: str = "error"
    costs: Floats | None = None  # as the user gave them
    priors: Floats | None = None  # of the objects to be predicted
    expected_costs: Floats | None = None  # their mean over the data is the cost expected under the priors
    loss: Floats | None = None  # costs whose mean is the metric, where it is cost or balanced error
    classes: Any = None  # labels; None where labels are codes

    def decision(self, present: Indices | None = None) -> dict[str, Any]:
        """Arguments of :func:`assemble` for training parts with some of the classes."""
        some = slice(None) if present is None else present
        cut = [None if C is None else C[some][:, some] for C in (self.costs, self.expected_costs)]
        priors = None if self.priors is None else self.priors[some] / self.priors[some].sum()
        return {"costs": cut[0], "priors": priors, "expected_costs": cut[1]}

    def scoring(self, estimator: Any) -> Any:
        """Score of a parameter search; None for accuracy, also where a method has no probabilities to score."""
        if self.metric in OF_VALUES:
            known = {"rmse": "neg_mean_squared_error", "r2": "neg_mean_squared_error", "mae": "neg_mean_absolute_error"}
            return known.get(self.metric) or make_scorer(_mean_loss, greater_is_better=False, metric=self.metric)
        if self.metric == "error":
            return None
        if self.metric in OF_LABELS:
            return make_scorer(_mean_cost, greater_is_better=False, costs=self.loss, classes=self.classes)
        return score_probabilities if hasattr(estimator, "predict_proba") else None


def make_goal(task: Task, metric: str | None, costs: Any, priors: Any, y: Any, classes: Any = None) -> Goal:
    """Validate metric, costs and priors, with the class counts of the labels `y` where they are needed."""
    if task == "regression":
        return Goal(find_metric(metric or "rmse", OF_VALUES))
    weighted = costs is not None or priors is not None
    metric = ("cost" if weighted else "error") if metric is None else find_metric(metric, RANKING)
    if metric == "cost" and not weighted:
        raise ProximityError("metric='cost' needs costs or priors.")
    if y is None:
        if priors is not None or metric == "balanced_error" or isinstance(costs, str):
            raise ProximityError("Balanced error, balanced costs and priors need the labels: pass y too.")
        C = None if costs is None else np.asarray(costs, dtype=np.float64)
        return Goal(metric, C, None, C, C, classes)
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    C, priors = check_decision(costs, priors, codes)
    expected = expect_costs(C, priors, codes)
    loss = balancing_costs(codes) if metric == "balanced_error" else expected
    return Goal(metric, C, priors, expected, loss, classes)


def score_probabilities(model: Any, X: Any, y: Any) -> float:
    """Negative log loss, a scikit-learn scorer that also works where a class is missing from training."""
    found = np.asarray(model.predict_proba(X))
    classes = np.union1d(model.classes_, np.unique(y))
    proba = np.zeros((len(found), len(classes)))
    proba[:, np.searchsorted(classes, model.classes_)] = found
    return -log_loss(np.searchsorted(classes, np.asarray(y)), proba)


def _mean_loss(truth: Any, predicted: Any, metric: str) -> float:
    return float(value_losses(metric, np.asarray(truth), np.asarray(predicted)).mean())


def _mean_cost(truth: Any, predicted: Any, costs: Floats, classes: Any) -> float:
    """Mean cost of predicted labels, a scikit-learn score function; labels are codes without `classes`."""
    if classes is not None:
        truth, predicted = (np.searchsorted(classes, labels) for labels in (truth, predicted))
    return mean_cost(np.asarray(truth), np.asarray(predicted), costs)


def training_code(model: Any, data: str = "S") -> str:
    """Python code that makes a model returned by :func:`make_model` and fits it on the variables `data` and ``y``."""
    imports: set[tuple[str, str]] = set()
    around, lines = "{}", []
    if isinstance(model, OnLandmarks):
        imports.add(("similis.distributed", "OnLandmarks"))
        around = f"OnLandmarks({{}}, n_landmarks={model.n_landmarks}, random_state={model.random_state})"
        model = model.estimator
    searches = hasattr(model, "param_grid")
    made = estimator_code(model.estimator if searches else model, imports)
    if searches:
        imports.add(("similis", "PathSearchCV"))
        grid = ", ".join(f"{key!r}: {_value(list(values))}" for key, values in model.param_grid.items())
        lines = [f"model = {made}", f"grid = {{{grid}}}"]
        cv = str(getattr(model.cv, "n_splits", model.cv))
        if isinstance(model.cv, LeaveOneOut):
            imports.add(("sklearn.model_selection", "LeaveOneOut"))
        scoring = f", scoring={model.scoring!r}" if isinstance(model.scoring, str) else ""
        made = f"PathSearchCV(model, grid, cv={cv}{scoring})"
    return "\n".join([*import_lines(imports), *lines, f"model = {around.format(made)}.fit({data}, y)"])


def import_lines(imports: set[tuple[str, str]]) -> list[str]:
    """Import statements of (module, name), scikit-learn first."""
    by_module: dict[str, list[str]] = {}
    for module, name in sorted(imports, key=lambda found: (found[0].split(".")[0] != "sklearn", found)):
        by_module.setdefault(module, []).append(name)
    return [f"from {module} import {', '.join(names)}" for module, names in by_module.items()]


def call_arguments(options: dict[str, Any]) -> list[str]:
    """Keyword arguments of a call; large arrays appear by their name."""
    return [f"{name}={name if np.size(value) > _LARGEST else _value(value)}" for name, value in options.items()]


def estimator_code(estimator: Any, imports: set[tuple[str, str]]) -> str:
    """Expression that makes an estimator; adds (module, name) of each import to `imports`."""
    if isinstance(estimator, Pipeline):
        parts = [estimator_code(step, imports) for _, step in estimator.steps]
        default = make_pipeline(*(step for _, step in estimator.steps))
        if [name for name, _ in default.steps] == [name for name, _ in estimator.steps]:
            imports.add(("sklearn.pipeline", "make_pipeline"))
            return f"make_pipeline({', '.join(parts)})"
        imports.add(("sklearn.pipeline", "Pipeline"))
        named = [f"({name!r}, {part})" for (name, _), part in zip(estimator.steps, parts)]
        return f"Pipeline([{', '.join(named)}])"
    cls = type(estimator)
    imports.add((_public_module(cls), cls.__name__))
    known = inspect.signature(cls.__init__).parameters
    arguments: list[str] = []
    for name, value in estimator.get_params(deep=False).items():
        default = known[name].default
        if name == "random_state" or (type(value) is type(default) and np.all(value == default)):
            continue
        if hasattr(value, "get_params"):
            text = estimator_code(value, imports)
        else:
            text = call_arguments({name: value})[0].partition("=")[2]
        positional = known[name].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD and not arguments
        first = positional and list(known)[1] == name and name == "measure"
        arguments.append(text if first else f"{name}={text}")
    return f"{cls.__name__}({', '.join(arguments)})"


def _value(value: Any) -> str:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, float) and not np.isfinite(value):
        return f"float('{value}')"
    if isinstance(value, float) and value != 0 and not 1e-2 <= abs(value) < 1e4:
        short = f"{value:g}"
        return short if float(short) == value else repr(value)
    return repr(value)


def _public_module(cls: type) -> str:
    """Public module from which a class is imported."""
    if cls.__module__.startswith("similis.") and getattr(similis, cls.__name__, None) is cls:
        return "similis"
    parts = cls.__module__.split(".")
    return ".".join(parts[: next((i for i, part in enumerate(parts) if part.startswith("_")), len(parts))])
