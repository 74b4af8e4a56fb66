"""Train a method on all data after a study has estimated its error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from similis._utils.environment import versions
from similis.base import Kind
from similis.base import compact as compact_model
from similis.io import ModelCard, Objects, Proximity, TrainedModel
from similis.model_selection import ConformalClassifier, ConformalRegressor
from similis.study._assemble import without_search
from similis.study._entry import to_json
from similis.study._estimate import Estimate
from similis.study._methods import canonical_name, describe
from similis.study._predict import novelty_record
from similis.study._run import Study


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
    compact : bool, default=False
        Reduce the model to the training objects that it needs (:func:`similis.compact`), ``needed`` in the card.
    conformal : bool, default=False
        Calibrate prediction sets, or intervals of a regression, by ten more fits: the model is then a
        :class:`~similis.ConformalClassifier` or :class:`~similis.ConformalRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.study import Study, train_model
    >>> S = np.kron(np.eye(2), np.ones((10, 10)))
    >>> trained = train_model(S, ["a"] * 10 + ["b"] * 10, study=Study("nc", n_splits=3))
    >>> trained.card.method, trained.card.expected["error"]
    ('nc', 0.0)
    """
    if measure is not None and columns is not None and not isinstance(S, Objects):
        S = Objects(S, tuple(map(str, columns)), labels=y, ids=ids)
    given: dict[str, Any] = {"kind": kind, "ids": ids, "groups": groups, "costs": costs, "priors": priors}
    result = study.run(S, y, **given, measure=measure, progress=progress, announce=announce)
    if result.partial:
        raise KeyboardInterrupt
    types = S.types if isinstance(S, Objects) else None
    if isinstance(S, Objects) and columns is None:
        columns = S.columns
    if isinstance(S, Proximity | Objects):
        S, y = S.values, S.labels if y is None else y
    names = [info.name for info in result.methods]
    name = result.best() if method is None else method if method in names else canonical_name(method)
    model = result.fit_model(S, y, method=name, measure=measure)
    expected: dict[str, Any] | None = None
    if name in result.complete_methods():  # without failure
        metrics = ("error", "balanced_error") if result.target is None else ("error", "mae", "r2")
        expected = {metric: result.mean_scores(metric)[name] for metric in metrics}
        expected |= {"interval": list(result.error_interval(name)), "level": 0.95}
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
