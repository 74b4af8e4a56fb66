"""scikit-learn's SVC behind steps that are linear in a row, as one product per new row.

A row s that is multiplied by P before the machines read it gives f = (s P) c + b = s (P c) + b: the product P c is
formed once, and new rows need no treatment of their own. A step that can be folded has ``_fold(coef)``, which returns
coefficients of its input rows from coefficients of its output rows, one machine a row of `coef`.
"""

from __future__ import annotations

import copy
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from similis.base._estimators import FewColumnsMixin, ProximityClassifier
from similis.exceptions import ProximityError

__all__ = ["FoldedSVC", "fold_machine", "compact"]

Steps = list[tuple[str, Any]]


def fold_machine(steps: Steps) -> Steps:
    """Replace a fitted SVC on rows, and the steps in front of it that are linear, by one :class:`FoldedSVC`."""
    from sklearn.svm import SVC

    *front, (name, last) = steps
    if type(last) is not SVC or not front or last.kernel not in ("precomputed", "linear") or last.probability is True:
        return steps
    coef = _pair_coefficients(last) if last.kernel == "precomputed" else last.coef_
    while front and hasattr(front[-1][1], "_fold"):
        coef = front.pop()[1]._fold(coef)
    return [*front, (name, FoldedSVC()._take(last, np.asarray(coef, dtype=np.float64)))]


def _pair_coefficients(svc: Any) -> NDArray[np.float64]:
    """Dual coefficients of each pair of classes, zeros written out: (number of pairs, n)."""
    n, G = svc.n_features_in_, len(svc.classes_)
    if G == 2:
        coef = np.zeros((1, n))
        coef[0, svc.support_] = svc.dual_coef_[0]
        return coef
    # libsvm keeps, for a support vector of class g, its coefficients against the other classes in their order.
    ends = np.cumsum(svc.n_support_)
    part = [slice(end - size, end) for end, size in zip(ends, svc.n_support_)]
    coef = np.zeros((G * (G - 1) // 2, n))
    for row, (g, h) in zip(coef, combinations(range(G), 2)):
        row[svc.support_[part[g]]] = svc.dual_coef_[h - 1, part[g]]
        row[svc.support_[part[h]]] = svc.dual_coef_[g, part[h]]
    return coef


class FoldedSVC(FewColumnsMixin, ProximityClassifier):
    """The machines of a fitted SVC, linear in a row of proximities; made by :func:`similis.compact`."""

    _accept_sparse = True

    def _take(self, svc: Any, coef: NDArray[np.float64]) -> FoldedSVC:
        self.classes_, self.intercept_, self.coef_ = svc.classes_, svc.intercept_, coef
        self.shape_, self.break_ties_ = svc.decision_function_shape, bool(svc.break_ties)
        self.n_features_in_ = coef.shape[1]
        support = np.flatnonzero(coef.any(axis=0))
        self._keep_columns(support if support.size else np.zeros(1, np.intp))
        return self

    def fit(self, X: ArrayLike, y: Any) -> FoldedSVC:
        """Not possible: what is folded has been fitted."""
        raise ProximityError("A model made by compact cannot be fitted; fit the pipeline that it was made from.")

    def decision_function(self, X: ArrayLike) -> NDArray[Any]:
        """Decision values, shaped as those of the SVC.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Proximities of new objects to the training objects.

        Returns
        -------
        ndarray of shape (m,), (m, G) or (m, G (G - 1) / 2)
        """
        f = self._values(X)
        if len(self.classes_) == 2:
            return f[:, 0]
        return self._by_class(f) if self.shape_ == "ovr" else f

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict as the SVC does: most pairs won, the earlier class on a tie.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Proximities of new objects to the training objects.

        Returns
        -------
        ndarray of shape (m,)
        """
        f = self._values(X)
        G = len(self.classes_)
        if G == 2:
            return self.classes_[(f[:, 0] >= 0).astype(int)]
        if self.break_ties_:
            return self.classes_[self._by_class(f).argmax(axis=1)]
        votes = np.zeros((len(f), G), dtype=int)
        for value, (g, h) in zip(f.T, combinations(range(G), 2)):  # positive for g
            votes[:, g] += value > 0
            votes[:, h] += value <= 0
        return self.classes_[votes.argmax(axis=1)]

    def _values(self, X: ArrayLike) -> NDArray[Any]:
        """One decision value a pair of classes."""
        Q = self._kept(self._check_query(X))
        return np.asarray(Q @ self.coef_[:, self._kept_objects].T + self.intercept_)

    def _by_class(self, f: NDArray[Any]) -> NDArray[Any]:
        from sklearn.utils.multiclass import _ovr_decision_function

        return np.asarray(_ovr_decision_function(f < 0, -f, len(self.classes_)))


def compact(model: Any) -> Any:
    """Cut a fitted model down to the training objects its predictions need.

    Parameters
    ----------
    model : fitted classifier or pipeline
        A classifier of similis, or a pipeline that ends in one or in scikit-learn's ``SVC`` on rows (kernel
        "precomputed" or "linear", without probabilities). A pipeline that starts with ``Pairwise`` keeps, and measures
        new objects against, the needed objects only.

    Returns
    -------
    fitted model
        With the same predictions. A bare classifier now reads the columns ``columns_`` of a block, in that order;
        a pipeline from objects is used as before. Where nothing can be left out the copy equals the model.

    Notes
    -----
    Spectrum clip, flip, shift and square in front of an ``SVC`` are folded into its coefficients: a new row then costs
    one product instead of its own treatment.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import NearestCentroid, compact
    >>> S = np.array([[4.0, 3, 1, 0], [3, 4, 0, 1], [1, 0, 4, 2], [0, 1, 2, 4]])
    >>> small = compact(NearestCentroid().fit(S, ["a", "a", "b", "b"]))
    >>> small.columns_
    array([0, 2])
    >>> small.predict(S[:, small.columns_])
    array(['a', 'a', 'b', 'b'], dtype='<U1')
    """
    if hasattr(model, "fit"):
        check_is_fitted(model)
    if not isinstance(model, Pipeline):
        if not hasattr(model, "_compact"):
            raise ProximityError(
                f"compact needs a classifier of similis, or a pipeline of one. Got {type(model).__name__}."
            )
        return model._compact()[0]
    steps = fold_machine([(name, step) for name, step in model.steps if step not in (None, "passthrough")])
    if not all(hasattr(step, "_compact") for _, step in steps):
        return copy.copy(model)
    name, last = steps[-1]
    last, columns = last._compact()
    small = [(name, last)]
    for name, step in reversed(steps[:-1]):
        step, columns = step._compact(columns)
        small.append((name, step))
    return Pipeline(small[::-1])
