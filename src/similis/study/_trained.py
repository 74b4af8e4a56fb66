"""Train a method on all data after a study has estimated its error, and predict new rows with the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from similis._utils.arrays import Array, Floats, Indices
from similis._utils.disk import is_stored
from similis._utils.environment import version_hint, versions
from similis._utils.threads import row_blocks
from similis.base import Kind, SparseRows, as_collection, predict_responses, take_objects
from similis.base import compact as compact_model
from similis.exceptions import ProximityError
from similis.inspection import explain as explain_rows
from similis.io import ModelCard, Objects, Proximity, TrainedModel
from similis.measures import Pairwise
from similis.model_selection import ConformalClassifier, ConformalRegressor
from similis.solvers import top_k
from similis.study._assemble import without_search
from similis.study._entry import to_json
from similis.study._estimate import Estimate
from similis.study._methods import canonical_name, describe
from similis.study._run import Study

_NEIGHBORS = 5  # of the score that tells new objects apart, that of ProximityOutlier(method="knn")
_SCORED = 1000  # training objects whose scores the card of a model keeps
_MEASURED = 200  # the same where their proximities must be measured
_MAX_ENTRIES = 2e7  # in their rows


def train_model(
    S: Any,
    y: Any = None,
    *,
    study: Study,
    method: str | None = None,
    kind: Kind | Sequence[Kind] | None = None,
    ids: Any = None,
    groups: Any = None,
    costs: Any = None,
    priors: Any = None,
    measure: Any = None,
    columns: Any = None,
    compact: bool = False,
    conformal: bool = False,
    progress: bool = False,
    announce: Callable[[Estimate], None] | None = None,
) -> TrainedModel:
    """Estimate the error of a method by a study, then choose its parameters on all data and fit it.

    The result is a :class:`TrainedModel`. An interrupted study raises KeyboardInterrupt.

    Parameters
    ----------
    S : array-like of shape (n, n) or (n, n, q), Proximity, or objects
        All proximities, perhaps a stack of several; with `measure`, the objects or an :class:`~similis.io.Objects`.
    y : array-like of shape (n,), optional
        Labels, or numbers to predict; those of a Proximity or Objects need not be given again.
    study : Study
        Estimates the error. The method that it recommends is trained, unless `method` is given.
    method : str, optional
        One of the study's methods.
    kind, ids, groups, costs, priors, measure, progress, announce
        As for :meth:`Study.run`.
    columns : sequence of str, optional
        Names of the objects' features.
    compact, conformal : bool, default=False
        Reduce the model to the training objects that it needs (:func:`similis.compact`); calibrate it by ten more fits,
        as a :class:`~similis.ConformalClassifier` or :class:`~similis.ConformalRegressor`.

    Examples
    --------
    >>> from similis import make_similarity
    >>> from similis.study import Study, train_model
    >>> train_model(*make_similarity(20, random_state=0), study=Study("nc", n_splits=3)).card.method
    'nc'
    """
    if measure is not None and columns is not None and not isinstance(S, Objects):
        S = Objects(S, tuple(map(str, columns)), labels=y, ids=ids)
    given: dict[str, Any] = {"kind": kind, "ids": ids, "groups": groups, "costs": costs, "priors": priors}
    result = study.run(S, y, **given, measure=measure, progress=progress, announce=announce)
    if result.partial:
        raise KeyboardInterrupt
    types, own = (S.types, S.columns) if isinstance(S, Objects) else (None, None)
    columns = own if columns is None else columns
    if isinstance(S, Proximity | Objects):
        S, y = S.values, S.labels if y is None else y
    names = [info.name for info in result.methods]
    name = result.best() if method is None else method if method in names else canonical_name(method)
    model = result.fit_model(S, y, method=name, measure=measure)
    expected: dict[str, Any] | None = None
    if name in result.complete_methods():  # without failure
        metrics = ("error", "balanced_error") if result.target is None else ("error", "mae", "r2")
        scores = {metric: result.mean_scores(metric)[name] for metric in metrics}
        interval = result.error_interval(name)
        expected = {metric: score for metric, score in scores.items() if score == score}  # R2 may not be defined
        expected |= {"interval": list(interval) if np.isfinite(interval).all() else None, "level": 0.95}
        expected["protocol"] = result.protocol.describe(len(result.splits))
    fitted, needed, calibration = without_search(model), None, None
    if conformal:
        kind_of = ConformalClassifier if result.target is None else ConformalRegressor
        fitted = kind_of(clone(fitted), random_state=0).fit(S, y, groups=groups)
        recorded = ("method", "class_conditional", "conformity_score")
        calibration = {
            **{key: getattr(fitted, key) for key in recorded if hasattr(fitted, key)},
            "folds": len(fitted.estimators_),
            "objects": np.bincount(getattr(fitted, "codes_", np.zeros(len(result.codes), np.intp))).tolist(),
        }
    whole = fitted
    if compact and (isinstance(fitted, Pipeline) or hasattr(fitted, "select_columns")):
        fitted, needed = compact_model(fitted, return_columns=True)
    card = ModelCard(
        method=name,
        params={key: to_json(value) for key, value in getattr(model, "best_params_", {}).items()},
        reads="proximities" if measure is None else "objects",
        kind=result.kind,
        classes=to_json(result.classes) if result.target is None else [],
        n=len(result.codes),
        ids=None if result.ids is None else list(result.ids),
        columns=None if columns is None else [str(column) for column in columns],
        types=None if types is None else dict(types),
        measure=None if measure is None else describe(measure),
        fingerprint={key: result.fingerprint[key] for key in ("matrix", "labels")},
        expected=expected,
        settings=result.settings(),
        calibration=calibration,
        novelty=novelty_record(S, whole, fitted, kind=result.kind, needed=needed),
        versions=versions(),
        needed=None if needed is None or np.array_equal(needed, range(len(result.codes))) else needed.tolist(),
        matrices=dict(zip(result.situation.names, result.situation.kinds)) or None,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    return TrainedModel(fitted, card, result)


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of a model for new objects.

    Attributes
    ----------
    ids : tuple of str or None
        Names of the objects.
    labels : ndarray of shape (m,)
        Predicted classes; predicted values of a regression.
    proba : ndarray of shape (m, G) or None
        Class probabilities, if the model has them.
    classes : ndarray of shape (G,)
        Classes of the columns of `proba`; empty for a regression.
    scores : ndarray of shape (m,)
        Low for objects unlike all training objects: the model's ``score_samples`` if it has one, else the highest
        similarity, or minus the lowest dissimilarity, to a training object that the model reads.
    p_values : ndarray of shape (m, G) or None
        P-value of each class, if the model was calibrated; a prediction set of level 1 - alpha has those above alpha.
    outlier_p : ndarray of shape (m,) or None
        P-value of each object as an outlier, see :class:`~similis.ProximityOutlier`; None for several matrices.
    intervals : ndarray of shape (m, 2) or None
        Lower and upper ends of the intervals of a calibrated regression, with `confidence`.
    because : list of list of (str, float) or None
        Training objects that contribute most to each prediction, with their contributions.
    """

    ids: tuple[str, ...] | None
    labels: Array
    proba: Floats | None
    classes: Array
    scores: Floats
    p_values: Floats | None = None
    outlier_p: Floats | None = None
    intervals: Floats | None = None
    because: list[list[tuple[str, float]]] | None = None


def predict_rows(
    trained: TrainedModel,
    rows: Proximity | Objects | Sequence[Proximity],
    *,
    explain: int = 0,
    confidence: float | None = None,
) -> Predictions:
    """Make the :class:`Predictions` of new objects after checking that they belong to the model.

    Parameters
    ----------
    trained : TrainedModel
        From :func:`train_model` or :func:`read_model`.
    rows : Proximity or Objects
        Proximities of new objects to the training objects, one row each, with columns matched by id if they have ids,
        else all or those that the model needs. For a model that measures: the objects, with features matched by name.
        For a model of several matrices: one block per matrix that it reads, in the order of ``trained.card.matrices``.
    explain : int, default=0
        Number of training objects that explain each prediction, see :func:`similis.explain`.
    confidence : float, optional
        Probability with which an interval of a calibrated regression contains the true value.
    """
    model, card = trained.model, trained.card
    blocks: list[Any] = [rows] if isinstance(rows, Proximity | Objects) else list(rows)
    if card.matrices is None and len(blocks) != 1:
        raise ProximityError(f"This model reads one matrix. Got rows of {len(blocks)}.")
    block = blocks[0]
    if isinstance(block, Proximity) != (card.reads == "proximities"):
        if isinstance(block, Proximity):
            raise ProximityError("This model reads objects, which it measures itself. Got rows of proximities.")
        raise ProximityError("This model reads rows of proximities. Got objects.")
    known: Array | None  # proximities to training objects
    if card.matrices is not None:
        X, card = _stacked_rows(blocks, model, card)
        known = X
    elif isinstance(block, Proximity):
        X, known = _proximity_rows(block, card)
    else:
        X, known = _object_rows(block, trained), None
    inner, own = getattr(model, "estimator_", model), getattr(model, "_own_columns", None)
    part = X if own is None else X[:, own]  # a compact model with prediction sets reads more columns
    names = ["predict", "predict_proba"] if hasattr(model, "predict_proba") else ["predict"]
    try:
        labels, *proba = predict_responses(model, X, names)
        intervals = None
        if confidence is not None and hasattr(model, "predict_interval"):
            at_level = copy(model).set_params(confidence_level=confidence)
            intervals = np.asarray(at_level.predict_interval(X)[1][:, :, 0])
        return Predictions(
            ids=block.ids,
            labels=np.asarray(labels),
            proba=np.asarray(proba[0]) if proba else None,
            classes=np.asarray(getattr(model, "classes_", [])),
            scores=_scores(inner, card, part, known),
            p_values=model.p_values(X) if hasattr(model, "p_values") else None,
            outlier_p=None if card.novelty is None else novelty_p_values(card.novelty, X, model, kind=card.kind),  # type: ignore[arg-type]
            intervals=intervals,
            because=_because(inner if own is not None else model, card, part, own, explain) if explain else None,
        )
    except Exception as error:  # estimators of a later scikit-learn fail in many ways
        hint = version_hint(card.versions.get("scikit-learn", ""))
        if isinstance(error, ProximityError) or not hint:
            raise
        raise ProximityError(f"The model cannot predict: {' '.join(str(error).split())[:100]}.{hint}") from error


def _stacked_rows(blocks: list[Proximity], model: Any, card: ModelCard) -> tuple[Array, ModelCard]:
    """Values of each block as a stack, or of the only block that the model reads, and the card for the scores."""
    assert card.matrices is not None
    names, kinds = list(card.matrices), list(card.matrices.values())
    step = first_step(model)
    one = getattr(step, "matrix", None)
    if isinstance(one, int):  # the others are not read
        names, kinds, blocks = [names[one]], [kinds[one]], [blocks[one]] if len(blocks) == len(names) else blocks
    if len(blocks) != len(names):
        which, got = ", ".join(names)[:100], f"{len(blocks)} of {len(names)}"
        raise ProximityError(f"This model reads rows of the matrices {which}, in this order. Got {got}.")
    values = []
    for name, kind, block in zip(names, kinds, blocks):
        try:
            values.append(_proximity_rows(block, replace(card, kind=kind))[0])
        except ProximityError as error:
            raise ProximityError(f"Rows of {name}: {error}") from None
        if block.n != blocks[0].n or (block.ids is not None and blocks[0].ids not in (None, block.ids)):
            raise ProximityError(f"Rows of {name} must be of the same objects, in the same order, as of {names[0]}.")
    card = replace(card, kind=step.gives if hasattr(step, "gives") else kinds[0])
    return values[0] if isinstance(one, int) else np.stack(values, axis=2), card


def _proximity_rows(rows: Proximity, card: ModelCard) -> tuple[Array, Array]:
    """Values of the columns that the model needs, in its order, and of the columns of all training objects."""
    if rows.kind not in (None, card.kind):
        raise ProximityError(f"The model was trained on a {card.kind}, and these rows hold a {rows.kind}.")
    columns = rows.columns
    needed = list(range(card.n)) if card.needed is None else card.needed
    which = f"{card.n} training objects" if card.needed is None else f"{len(needed)} objects of {card.n} that it needs"
    if columns is not None and card.ids is not None:
        place = {name: j for j, name in enumerate(columns)}
        names = [card.ids[j] for j in needed]
        missing = [name for name in names if name not in place]
        fill = (rows.about or {}).get("fill")  # value of the pairs that a list does not contain
        if missing and (fill is None or len(missing) == len(names)):
            words = f"The rows must have a column for each of the model's {which}. {len(missing)} are missing"
            raise ProximityError(f"{words}, such as {missing[0][:40]!r}.")
        known = [place[name] for name in card.ids if name in place]
        values: Any = rows.values
        if missing:
            place |= {name: len(columns) + j for j, name in enumerate(missing)}
            shape = rows.n, len(missing)
            is_sparse = sparse.issparse(values)
            added = sparse.csr_array(shape) if is_sparse else np.full(shape, fill)
            values = sparse.hstack([values, added], "csr") if is_sparse else np.hstack([values, added])
        return values[:, [place[name] for name in names]], rows.values[:, known]
    if rows.shape[1] == len(needed):
        return rows.values, rows.values
    if rows.shape[1] != card.n:
        raise ProximityError(f"The rows must have one column for each of the model's {which}. Got {rows.shape[1]}.")
    return rows.values[:, needed], rows.values


def _object_rows(rows: Objects, trained: TrainedModel) -> Array:
    """Features of the model, in its order; one text per object if its measure compares texts."""
    card, objects = trained.card, first_step(trained.model).objects_
    texts = isinstance(objects[0], (str, bytes)) and len(card.columns or ()) <= 1
    known = objects.ndim if hasattr(objects, "ndim") else 1 if texts else 2
    if rows.values.ndim == 1:
        _check_types(rows, card)
        return rows.values if known == 1 or rows.values.dtype == object else rows.values[:, None]
    if card.columns is None:
        return rows.values
    missing = [name for name in card.columns if name not in rows.columns]
    if missing:
        raise ProximityError(f"The objects must have the model's columns. {missing[0][:40]!r} is missing.")
    _check_types(rows, card)
    places = [rows.columns.index(name) for name in card.columns]
    values = rows.values[:, places[0] if known == 1 else places]
    numbers = set((card.types or {}).values()) == {"number"}
    return values.astype(np.float64) if numbers and values.dtype == object else values


def _because(model: Any, card: ModelCard, X: Any, own: Indices | None, k: int) -> list[list[tuple[str, float]]]:
    """Names and contributions of the training objects that contribute most to each prediction."""
    step = measure_step(model)
    needed: list[Any] = list(card.needed or range(card.n)) if step is None else step._ids
    needed = needed if own is None else [needed[j] for j in own]
    found = explain_rows(model, X)
    if len(found.ids) == len(needed):
        found.ids = tuple(card.ids[j] if card.ids and isinstance(j, int) else str(j) for j in needed)
    return found.top(k)


def _check_types(rows: Objects, card: ModelCard) -> None:
    """Reject objects that were read with other types of columns than the model's."""
    found = rows.types or Objects(rows.values, tuple(card.columns or ())).types or {}  # rows of a JSON file
    for name, expected in (card.types or {}).items():
        if name in found and (expected == "number") != (found[name] == "number"):
            wanted, given = ("numbers", "text") if expected == "number" else ("text", "numbers")
            words = f"The model reads the column {name[:40]!r} as {wanted}, and these objects hold {given} in it."
            raise ProximityError(f"{words} Read the file with types=trained.card.types.")


def _scores(model: Any, card: ModelCard, X: Array, known: Array | None) -> Floats:
    if hasattr(model, "score_samples"):
        return np.asarray(model.score_samples(X), dtype=np.float64)
    combines = card.matrices is not None and hasattr(model, "steps") and hasattr(model.steps[0][1], "factors_")
    S: Any = np.asarray(model.steps[0][1].transform(X)) if known is None or combines else known
    return nearest_means(S if sparse.issparse(S) else S.reshape(len(S), -1), 1, card.kind)


def novelty_record(
    X: Any, whole: Any, small: Any, *, kind: Kind, needed: Indices | None = None
) -> dict[str, Any] | None:
    """Score training objects as new ones of the model `small`, which needs some columns of `whole`."""
    given, kept = measure_step(whole), measure_step(small)
    if given is not None and kept is not None:
        sample = _draw(len(given._ids), _MEASURED)
        place = {name: j for j, name in enumerate(given._ids)}
        columns = np.array([place[name] for name in kept._ids])
        rows = kept.transform(take_objects(as_collection(X, "novelty_record"), sample))
    else:
        X = X if hasattr(X, "shape") else np.asarray(X)
        if X.ndim != 2 or X.shape[0] != X.shape[1]:
            return None
        sample = _draw(X.shape[0], _SCORED)
        columns = np.arange(X.shape[1]) if needed is None else np.asarray(needed)
        rows = X.tocsr()[sample] if hasattr(X, "tocsr") else X.oindex[sample] if is_stored(X) else np.asarray(X)[sample]
        rows = rows[:, columns]
    scores = _novelty_scores(rows, kind, (sample, columns))
    return {"n_neighbors": _NEIGHBORS, "scores": np.sort(scores[np.isfinite(scores)]).tolist()}


def novelty_p_values(record: dict[str, Any], X: Any, model: Any, *, kind: Kind) -> Floats:
    """P-value of new objects: the share of training objects with an equal or lower score; NaN without proximities."""
    step = measure_step(model)
    scores = _novelty_scores(X if step is None else step.transform(X), kind)
    below = np.searchsorted(np.array(record["scores"]), scores, side="right")
    return np.where(np.isnan(scores), np.nan, (1 + below) / (len(record["scores"]) + 1))


def _draw(n: int, size: int) -> Indices:
    size = min(n, size, max(int(_MAX_ENTRIES // n), 100))
    return np.sort(np.random.default_rng(0).choice(n, size, replace=False))


def first_step(model: Any) -> Any:
    """First step of a pipeline or of the pipeline in a conformal model; None for another model."""
    return getattr(getattr(model, "estimator_", model), "steps", [("", None)])[0][1]


def measure_step(model: Any) -> Pairwise | None:
    step = first_step(model)
    return step if isinstance(step, Pairwise) else None


def _novelty_scores(rows: Any, kind: Kind, folds: Any = None) -> Floats:
    """Means of :func:`nearest_means`, to seven digits as in the card."""
    return np.array([float(f"{mean:.7g}") for mean in nearest_means(rows, _NEIGHBORS, kind, folds)])


def nearest_means(rows: Any, k: int, kind: str, folds: Any = None) -> Floats:
    """Mean similarity, or minus mean dissimilarity, to the `k` nearest objects; NaN for a row without any."""
    if hasattr(rows, "tocsr"):
        rows = SparseRows(rows, missing=kind == "dissimilarity")
        if folds is None:  # as many as the caller likes
            return np.concatenate([nearest_means(rows[part], k, kind) for part in row_blocks(*rows.shape)])
        rows = rows[:]
    sign = 1 if kind == "similarity" else -1
    _, values = top_k(np.asarray(rows, dtype=np.float64), k, sign=sign, folds=folds)
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(sign * np.where(known, values, 0).sum(axis=1) / known.sum(axis=1))
