"""A trained model to be used tomorrow: the model file, and a card beside it that says what it is and what it may read.

The card is JSON for people and programs: method and parameters, fingerprints of the data, versions, the error to
expect with its interval, and the ids, width and kind that new rows must have.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

from similis._utils.environment import versions
from similis._utils.files import atomic_write, short_path
from similis.base import Kind
from similis.exceptions import ProximityError
from similis.io import load, save
from similis.study._entry import plain
from similis.study._methods import describe
from similis.study._result import StudyResult
from similis.study._run import Study

__all__ = ["ModelCard", "TrainedModel", "read_model", "train_model", "write_model"]

_MAGIC = "similis-model-card"


@dataclass(frozen=True)
class ModelCard:
    """What should be known about a trained model.

    Attributes
    ----------
    method : str
        Name in the table of methods.
    params : dict
        What was chosen on all data.
    reads : {"proximities", "objects"}
        What ``predict`` takes.
    kind : {"similarity", "dissimilarity"}
        What the proximities are.
    classes : list
        Class labels.
    n : int
        Training objects: the width of a row of proximities.
    ids : list of str or None
        Their names, in the order of the columns.
    columns : list of str or None
        Features of objects.
    measure : str or None
        How objects are compared.
    fingerprint : dict
        Of data and labels.
    expected : dict or None
        ``error``, ``interval``, its ``level``, and the ``protocol`` of the estimate; None if some split failed.
    versions, created
        Of the packages, and when.
    digest : str
        Fingerprint of the model file the card belongs to.
    """

    method: str
    params: dict[str, Any]
    reads: str
    kind: str
    classes: list[Any]
    n: int
    ids: list[str] | None = None
    columns: list[str] | None = None
    measure: str | None = None
    fingerprint: dict[str, Any] = field(default_factory=dict)
    expected: dict[str, Any] | None = None
    versions: dict[str, str] = field(default_factory=dict)
    created: str = ""
    digest: str = ""


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """A fitted model, its card, and the study that stands behind the expected error, if one was made.

    Attributes
    ----------
    model : estimator
        Fitted on all data.
    card : ModelCard
        What it was trained on and what error to expect.
    result : StudyResult or None
        The study; None where the error was not estimated.
    """

    model: Any
    card: ModelCard
    result: StudyResult | None = None


def train_model(
    S: Any,
    y: Any,
    *,
    study: Study,
    method: str | None = None,
    kind: Kind | None = None,
    ids: Any = None,
    groups: Any = None,
    costs: Any = None,
    measure: Any = None,
    columns: Any = None,
    progress: bool = False,
) -> TrainedModel:
    """Estimate the error of a method by a study, then choose its parameters on all data and fit it.

    Parameters
    ----------
    S : array-like of shape (n, n), or objects
        All proximities; with `measure`, the objects.
    y : array-like of shape (n,)
        Labels.
    study : Study
        How to estimate the error. It compares its methods, and the one it recommends is trained, unless `method` is
        given.
    method : str, optional
        One of the study's methods.
    kind : {"similarity", "dissimilarity"}, optional
        What the matrix holds.
    ids : sequence of str, optional
        Names of the objects.
    groups : array-like of shape (n,), optional
        Objects of one group are never on both sides of a split or fold.
    costs : array-like of shape (G, G), optional
        ``costs[f, g]`` is the cost of saying f when g is true (classes in sorted order).
    measure : measure, optional
        How objects are compared.
    columns : sequence of str, optional
        Names of the objects' features.
    progress : bool, default=False
        Show how far the study is.

    Returns
    -------
    TrainedModel

    Raises
    ------
    KeyboardInterrupt
        If the study was interrupted; its journal keeps what was finished.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.study import Study, train_model
    >>> S = np.kron(np.eye(2), np.ones((10, 10)))
    >>> trained = train_model(S, ["a"] * 10 + ["b"] * 10, study=Study("nc", n_splits=3))
    >>> trained.card.method, trained.card.expected["error"]
    ('nc', 0.0)
    """
    result = study.run(S, y, kind=kind, ids=ids, groups=groups, costs=costs, measure=measure, progress=progress)
    if result.partial:
        raise KeyboardInterrupt
    name = method or result.best()
    model = result.model(name, measure=measure)
    model.fit(S, y, **({"groups": groups} if groups is not None and hasattr(model, "param_grid") else {}))
    card = ModelCard(
        method=name,
        params={key: plain(value) for key, value in getattr(model, "best_params_", {}).items()},
        reads="proximities" if measure is None else "objects",
        kind=result.kind,
        classes=plain(result.classes),
        n=len(result.codes),
        ids=None if result.ids is None else list(result.ids),
        columns=None if columns is None else [str(column) for column in columns],
        measure=None if measure is None else describe(measure),
        fingerprint={key: result.fingerprint[key] for key in ("matrix", "labels")},
        expected=_expected(result, name),
        versions=versions(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    return TrainedModel(getattr(model, "best_estimator_", model), card, result)


def write_model(trained: TrainedModel, path: str | os.PathLike[str]) -> Path:
    """Write the model file and its card.

    Parameters
    ----------
    trained : TrainedModel
        What :func:`train_model` returned.
    path : str or path-like
        The model file; ``model.skops`` gets the card ``model.card.json``.

    Returns
    -------
    Path
        The card.
    """
    save(trained.model, path)
    record = {_MAGIC: 1, **asdict(trained.card), "digest": _digest(Path(path))}
    with atomic_write(card_path(path)) as file:
        file.write((json.dumps(record, indent=1, allow_nan=False) + "\n").encode())
    return card_path(path)


def read_model(path: str | os.PathLike[str]) -> TrainedModel:
    """Read a model and its card, and check that they belong together. Nothing in either file is executed.

    Parameters
    ----------
    path : str or path-like
        The model file.

    Returns
    -------
    TrainedModel
        Without the study.
    """
    beside = card_path(path)
    model = load(path)
    try:
        card = _card(json.loads(beside.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise ProximityError(
            f"{short_path(path)} has no card {beside.name} beside it, which says what new rows must be like. Keep the "
            "two files together."
        ) from None
    except (ValueError, TypeError, KeyError, AttributeError):
        raise ProximityError(f"{short_path(beside)} is damaged, or not a card of a model.") from None
    if card.digest != _digest(Path(path)):
        raise ProximityError(f"{short_path(beside)} belongs to another model than {short_path(path)}.")
    return TrainedModel(model, card)


def card_path(path: str | os.PathLike[str]) -> Path:
    """Where the card of a model file is."""
    path = Path(path)
    return path.with_name(f"{path.name.removesuffix('.skops')}.card.json")


def _expected(result: StudyResult, name: str) -> dict[str, Any] | None:
    """The error on new objects, with its interval; None where the method failed on some split."""
    if name not in result.complete_methods():
        return None
    return {
        "error": result.mean_scores("error")[name],
        "interval": list(result.error_interval(name)),
        "level": 0.95,
        "protocol": result.protocol.describe(len(result.splits)),
    }


def _card(record: Any) -> ModelCard:
    if record.pop(_MAGIC) != 1:
        raise ValueError("another version")
    card = ModelCard(**{f.name: record[f.name] for f in fields(ModelCard)})
    if card.reads not in ("proximities", "objects") or card.kind not in ("similarity", "dissimilarity"):
        raise ValueError("reads or kind")
    if card.ids is not None and (len(card.ids) != card.n or len(set(card.ids)) != card.n):
        raise ValueError("ids")
    return card


def _digest(path: Path) -> str:
    return blake2b(path.read_bytes(), digest_size=16).hexdigest()
