"""Linear machines on rows: P-SVM and linear programming. [chen2010] sec. 2.2; [cazzanti2007] sec. 2.2.7."""

from __future__ import annotations

from typing import Any

import numpy as np

from similis._utils.arrays import Array
from similis._utils.moved import DEPRECATED
from similis.base import Points, between, choice, estimator, param, positive
from similis.solvers import BoxLasso, lp_margin
from similis.svm._base import Machine, RowMachine, warn_gap


@estimator
class PotentialSVM(RowMachine):
    """Potential support vector machine (P-SVM): rows as features, a lasso whose coefficients are bounded.

    Minimizes ||y - S a||^2 / 2 + epsilon ||a||_1 subject to |a_i| <= C, for labels y of 1 and -1, and decides by the
    sign of s(x)'a. S may be any matrix: asymmetric, indefinite, of any rank. Few coefficients are non-zero; only the
    similarities to those objects are needed. See [chen2010] Eq. (2.8) and [cazzanti2007] Eq. (2.15)-(2.16).

    Parameters
    ----------
    C : float, default=100.0
        Bound of the coefficients.
    epsilon : float, default=0.1
        Weight of the l1 norm; larger values select fewer objects.
    normalize : bool, default=False
        Center the columns of S, scale them to unit norm and use the intercept b = mean(y): the form of [cazzanti2007].
        False takes S as it is and no intercept, the form of [chen2010].
    multiclass : {"ovo", "ovr"}, default="ovo"
        Three classes or more: one model per pair of classes, or one per class against the rest.
    input : {"proximities", "features"}, default="proximities"
        Columns of X: the n training objects, or r features of any kind, such as proximities to landmarks.
    columns : {"objects", "features"}
        Former name of `input`, with "objects" for "proximities".

        .. deprecated:: 2.0
            Use `input`. The parameter will be removed in 3.0.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels; ``classes_[1]`` is the positive side.
    columns_ : ndarray
        Training objects, or features, with a non-zero coefficient.
    coef_ : ndarray of shape (n,) or (r,), or (number of models, n) for three classes or more
        a, dense; with `normalize`, in units of the columns as they come: a_i / norm_i.
    intercept_ : float, or ndarray of shape (number of models,)
        0 without `normalize`; with it, mean(y) minus what centering the columns takes away.
    objective_, gap_ : float
        The objective, and the duality gap, an upper bound of its distance to the minimum; two classes only.
    pairs_, estimators_ : ndarray of shape (G (G - 1) / 2, 2), list of PotentialSVM
        Three classes or more: the two classes of each model (one-vs-one), the second positive; the models.

    Notes
    -----
    The two papers' forms differ: (2.15) of [cazzanti2007] has an intercept, (2.8) of [chen2010] has none. That columns
    are normalized in the former is not stated there but reproduces its tables. With `normalize`, C and epsilon bound
    and weigh the coefficients of the normalized columns; a constant column has coefficient zero.

    The weight of an object multiplies its error and, unless columns are features, the bound C of its coefficient.

    Examples
    --------
    >>> from similis import PotentialSVM
    >>> S = [[1.0, 0.9, 0.1, 0.2], [0.9, 1, 0.1, 0], [0.1, 0.1, 1, 0.8], [0.2, 0, 0.8, 1]]
    >>> PotentialSVM(epsilon=0.5).fit(S, ["a", "a", "b", "b"]).coef_.round(3)
    array([ 0.   , -0.842,  0.74 ,  0.072])
    """

    C: float = param(100.0, positive())
    epsilon: float = param(0.1, between(0, None, "left"))
    normalize: bool = param(False, "boolean")
    multiclass: str = param("ovo", choice("ovo", "ovr"))
    input: str = param("proximities", choice("proximities", "features"))
    columns: str = param(DEPRECATED, choice("objects", "features", DEPRECATED))

    _renamed_params = {"columns": ("input", {"objects": "proximities"})}
    path_params = ("C", "epsilon")

    @property
    def _on_features(self) -> bool:  # type: ignore[override]
        return bool(self._renamed_param("columns") == "features")

    def _solve(self, S: Array, y: Any, weight: Array, points: Points) -> Any:
        S = np.asarray(S, dtype=np.float64)
        b, center, norm = 0.0, np.zeros(S.shape[1]), np.ones(S.shape[1])
        if self.normalize:
            # [cazzanti2007] below Eq. (2.15) -> b = mean(y)
            b, center = np.average(y, weights=weight), np.average(S, axis=0, weights=weight)
            size = np.abs(S).max(axis=0)
            unit = np.where(size > 0, size, 1.0)
            norm = unit * np.sqrt(weight @ ((S - center) / unit) ** 2)
            norm = np.where(norm > 1e-12 * size * np.sqrt(weight.sum()), norm, np.inf)  # a constant column is zero
        root = np.sqrt(weight)
        problem = BoxLasso(root[:, None] * ((S - center) / norm), root * (y - b))
        machines = []
        for point in points:
            fit = problem.solve(point["epsilon"], point["C"] * (1.0 if self._on_features else weight))
            if fit.gap > max(1e-6 * fit.objective, 1e-9 * weight.sum()):
                warn_gap(self, fit, ". Raise epsilon or rescale the similarities.")
            coef = fit.coef / norm
            machines.append(Machine(coef, float(b - center @ coef), fit.objective, fit.gap))
        return machines


@estimator
class LPMachine(RowMachine):
    """Linear programming machine: rows as features, hinge loss, l1 penalty.

    Minimizes ||w||_1 + C sum_i max(0, 1 - y_i (w's_i + b)) and decides by the sign of w's(x) + b. Most entries of w are
    zero. See [chen2010] Eq. (2.7).

    Parameters
    ----------
    C : float, default=1.0
        Cost of a violated margin; larger fits closer with more objects.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n,) and float, or ndarrays over the pairs of classes for three or more
        w, dense, and b, the middle where an interval of them is optimal.
    classes_, objective_, gap_, pairs_, estimators_, columns_
        As in :class:`PotentialSVM`.

    Examples
    --------
    >>> from similis import LPMachine
    >>> S = [[1.0, 0.9, 0.1, 0.2], [0.9, 1, 0.1, 0], [0.1, 0.1, 1, 0.8], [0.2, 0, 0.8, 1]]
    >>> LPMachine(C=10).fit(S, ["a", "a", "b", "b"]).columns_
    array([0, 1])
    """

    C: float = param(1.0, positive())
    path_params = ("C",)

    def _solve(self, S: Array, y: Any, weight: Array, points: Points) -> Any:
        solved: dict[float, Machine] = {}
        inside = False  # no margin is violated: larger C have the same solution
        for C in sorted({point["C"] for point in points}):
            if not inside:
                fit = lp_margin(S, y, C * weight)
                if fit.gap > 1e-5 * fit.objective:
                    warn_gap(self, fit, ". Lower C or rescale the similarities.")
                inside = fit.objective <= (1 + 1e-12) * np.abs(fit.coef).sum()
            solved[C] = Machine(fit.coef, fit.intercept, fit.objective, fit.gap)
        return [solved[point["C"]] for point in points]
