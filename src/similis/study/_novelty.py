"""P-values of new objects as outliers, from scores of training objects that the card of a model keeps.

The score is that of ``ProximityOutlier(method="knn", n_neighbors=5)``, among the objects that the model compares new
ones with: those that a compact model needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from similis._utils.arrays import Floats, Indices
from similis._utils.disk import is_stored
from similis._utils.threads import row_blocks
from similis.base import Kind, SparseRows, as_collection, take_objects
from similis.measures import Pairwise
from similis.solvers import top_k

_NEIGHBORS = 5
_SCORED = 1000  # training objects whose scores are kept
_MEASURED = 200  # the same where their proximities must be measured
_MAX_ENTRIES = 2e7  # in their rows


def novelty_record(
    X: Any, whole: Any, small: Any, *, kind: Kind, needed: Indices | None = None
) -> dict[str, Any] | None:
    """Score a sample of the training objects by the proximities that a row of a new object has.

    `whole` is the model, `small` the one that predicts, perhaps reduced, and `needed` its columns, None for all. The
    result is None for several matrices and for landmarks of objects.
    """
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
    scores = _scores(rows, kind, (sample, columns))
    return {"n_neighbors": _NEIGHBORS, "scores": np.sort(scores[np.isfinite(scores)]).tolist()}


def novelty_p_values(record: dict[str, Any], X: Any, model: Any, *, kind: Kind) -> Floats:
    """P-value of new objects: the share of training objects with an equal or lower score; NaN without proximities."""
    step = measure_step(model)
    scores = _scores(X if step is None else step.transform(X), kind)
    below = np.searchsorted(np.array(record["scores"]), scores, side="right")
    return np.where(np.isnan(scores), np.nan, (1 + below) / (len(record["scores"]) + 1))


def _draw(n: int, size: int) -> Indices:
    size = min(n, size, max(int(_MAX_ENTRIES // n), 100))
    return np.sort(np.random.default_rng(0).choice(n, size, replace=False))


def first_step(model: Any) -> Any:
    """First step of a pipeline or of the pipeline in a conformal model; None for another model."""
    return getattr(getattr(model, "estimator_", model), "steps", [("", None)])[0][1]


def measure_step(model: Any) -> Pairwise | None:
    """First step if it measures objects."""
    step = first_step(model)
    return step if isinstance(step, Pairwise) else None


def _scores(rows: Any, kind: Kind, folds: Any = None) -> Floats:
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
