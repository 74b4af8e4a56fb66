"""Reduction of fitted models to the training objects that their predictions need."""

from __future__ import annotations

import copy
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from similis._utils.arrays import Array, Floats
from similis._utils.fitted import fitted_reals
from similis.base._estimators import ProximityClassifier
from similis.exceptions import ProximityError

Steps = list[tuple[str, Any]]


def _fold_svc(steps: Steps) -> Steps:
    """Replace a fitted SVC on rows, and the linear steps in front of it, by one :class:`FoldedSVC`.

    For a step that multiplies a row s by P, f = (s P) c + b = s (P c) + b; ``fold_coefficients`` returns P c.
    """
    from sklearn.svm import SVC

    *front, (name, last) = steps
    if type(last) is not SVC or not front or last.kernel not in ("precomputed", "linear") or last.probability is True:
        return steps
    coef = _pair_coefficients(last) if last.kernel == "precomputed" else last.coef_
    while front and hasattr(front[-1][1], "fold_coefficients"):
        coef = front.pop()[1].fold_coefficients(coef)
    return [*front, (name, FoldedSVC()._set_from(last, np.asarray(coef, dtype=np.float64)))]


def _pair_coefficients(svc: Any) -> Floats:
    """Dual coefficients of each pair of classes as a dense array, (number of pairs, n)."""
    G = len(svc.classes_)
    # libsvm stores, for a support vector of class g, its coefficients against the other classes in their order.
    of = np.repeat(np.arange(G), svc.n_support_)
    coef = np.zeros((G * (G - 1) // 2, svc.n_features_in_))
    for row, (g, h) in zip(coef, combinations(range(G), 2)):
        row[svc.support_] = np.where(of == g, svc.dual_coef_[h - 1], np.where(of == h, svc.dual_coef_[g], 0.0))
    return coef


class FoldedSVC(ProximityClassifier):
    """Decision functions of a fitted SVC, linear in a row of proximities; made by :func:`similis.compact`."""

    fitted_arrays = {"coef_": fitted_reals("pairs", None), "intercept_": fitted_reals("pairs")}

    accept_sparse = True

    def _set_from(self, svc: Any, coef: Floats) -> FoldedSVC:
        self.classes_, self.intercept_, self.coef_ = svc.classes_, svc.intercept_, coef
        self.shape_, self.break_ties_ = svc.decision_function_shape, bool(svc.break_ties)
        self.n_features_in_ = coef.shape[1]
        support = np.flatnonzero(coef.any(axis=0))
        self.keep_columns(support if support.size else np.zeros(1, np.intp))
        return self

    def fit(self, X: ArrayLike, y: Any) -> FoldedSVC:
        raise ProximityError("A model made by compact cannot be fitted; fit the original pipeline.")

    def decision_function(self, X: ArrayLike) -> Array:
        f = self._values(X)
        if len(self.classes_) == 2:
            return f[:, 0]
        return self._by_class(f) if self.shape_ == "ovr" else f

    def predict(self, X: ArrayLike) -> Array:
        f, G = self._values(X), len(self.classes_)
        if G == 2:
            return self.classes_[(f[:, 0] >= 0).astype(int)]
        if self.break_ties_:
            return self.classes_[self._by_class(f).argmax(axis=1)]
        votes = np.zeros((len(f), G), dtype=int)
        for value, (g, h) in zip(f.T, combinations(range(G), 2)):  # positive for g
            votes[:, g] += value > 0
            votes[:, h] += value <= 0
        return self.classes_[votes.argmax(axis=1)]

    def _values(self, X: ArrayLike) -> Array:
        """One decision value per pair of classes."""
        Q = self.kept_columns(self.check_rows(X))
        return np.asarray(Q @ self.coef_[:, self._kept_objects].T + self.intercept_)

    def _by_class(self, f: Array) -> Array:
        from sklearn.utils.multiclass import _ovr_decision_function

        return np.asarray(_ovr_decision_function(f < 0, -f, len(self.classes_)))


def compact(model: Any, *, return_columns: bool = False) -> Any:
    """Reduce a fitted model to the training objects that its predictions need.

    Parameters
    ----------
    model : fitted classifier or pipeline
        A classifier of similis, or a pipeline that ends in one or in scikit-learn's ``SVC`` on rows (kernel
        "precomputed" or "linear", without probabilities), whose coefficients then include a spectrum transform. A
        pipeline that starts with ``Pairwise`` keeps the needed objects only and measures new objects against them.
    return_columns : bool, default=False
        Also return the columns that the reduced model reads.

    Returns
    -------
    small : fitted model
        Model with the same predictions, which reads the columns ``columns_`` of a block, or objects as before.
    columns : ndarray of int or None
        The columns that it reads; None for all, or if it reads objects. Only with `return_columns`.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import NearestCentroid, compact
    >>> S = np.array([[4.0, 3, 1, 0], [3, 4, 0, 1], [1, 0, 4, 2], [0, 1, 2, 4]])
    >>> small = compact(NearestCentroid().fit(S, ["a", "a", "b", "b"]))
    >>> small.columns_, small.predict(S[:, small.columns_])
    (array([0, 2]), array(['a', 'a', 'b', 'b'], dtype='<U1'))
    """
    if hasattr(model, "fit"):
        check_is_fitted(model)
    if not isinstance(model, Pipeline):
        if not hasattr(model, "select_columns"):
            got = type(model).__name__
            raise ProximityError(f"compact needs a classifier of similis, or a pipeline of one. Got {got}.")
        small, columns = model.select_columns()
        return (small, columns) if return_columns else small
    steps = _fold_svc([(name, step) for name, step in model.steps if step not in (None, "passthrough")])
    small, columns = copy.copy(model), None
    if all(hasattr(step, "select_columns") for _, step in steps):
        kept: Steps = []
        for name, step in reversed(steps):
            step, columns = step.select_columns(columns) if kept else step.select_columns()
            kept.insert(0, (name, step))
        small = Pipeline(kept)
    return (small, columns) if return_columns else small
