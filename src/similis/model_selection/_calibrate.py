"""Calibrated probabilities of a classifier on a proximity matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold
from sklearn.utils.validation import _num_samples

from similis.base import check_label_order, check_labels, quote
from similis.exceptions import ProximityError
from similis.model_selection._path_search import _as_sliceable


def calibrate(
    model: Any, S: Any, y: Any, *, method: str = "sigmoid", cv: int = 5, groups: Any = None, random_state: Any = None
) -> CalibratedClassifierCV:
    """Fit a classifier whose probabilities agree with the observed frequencies.

    Parameters
    ----------
    model : classifier
        Classifier of proximity rows, or a pipeline or search of one; it is cloned and need not be fitted.
    S : array-like of shape (n, n), or objects where the model measures them
        Training proximities.
    y : array-like of shape (n,)
        Class labels.
    method : {"sigmoid", "isotonic"}, default="sigmoid"
        Map from the scores of held-out objects to probabilities; "isotonic" needs about a thousand objects or more.
    cv : int, default=5
        Number of stratified folds.
    groups : array-like of shape (n,), optional
        Objects of one group are in the same fold.
    random_state : int, RandomState or None, default=None
        Random seed of the folds.

    Returns
    -------
    CalibratedClassifierCV
        Fitted on all objects; it reads the rows that `model` reads, and :func:`similis.save` stores it.

    Examples
    --------
    >>> from similis import calibrate, make_similarity
    >>> from sklearn.svm import SVC
    >>> S, y = make_similarity(150, 3, separation=0.5, random_state=0)
    >>> calibrate(SVC(kernel="precomputed"), S, y, random_state=0).predict_proba(S[:2]).round(1)
    array([[0.6, 0.3, 0.1],
           [0.3, 0.6, 0.1]])
    """
    X = _as_sliceable(model, S.tocsr() if hasattr(S, "tocsr") else S)
    classes, codes = check_labels(y, _num_samples(X), who="calibrate", of=S)
    check_label_order(S, groups, "groups", "S")
    labels, counts = classes[codes], np.bincount(codes)
    if counts.min() < cv:
        few = int(counts.argmin())
        found = f"Class {quote(classes[few])} has {counts[few]}; use cv={max(counts[few], 2)}, or leave the class out."
        raise ProximityError(f"calibrate needs {cv} objects of every class, one per fold. {found}")
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    folds = kind(cv, shuffle=True, random_state=random_state)
    splits = list(folds.split(np.zeros(len(labels)), labels, groups))
    with np.errstate(invalid="ignore"):
        made = CalibratedClassifierCV(clone(model), method=method, cv=splits, ensemble=False).fit(X, labels)
    curves = [curve for fold in made.calibrated_classifiers_ for curve in fold.calibrators]
    if not all(np.isfinite([getattr(curve, "a_", 0.0), getattr(curve, "b_", 0.0)]).all() for curve in curves):
        raise ProximityError(
            f"calibrate needs finite scores. {type(model).__name__} gave infinite ones, as for an object without known "
            "proximities to a class; fill in missing entries first."
        )
    return made
