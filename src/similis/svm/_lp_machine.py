"""The linear programming machine. [chen2010] sec. 2.2."""

from __future__ import annotations

from typing import Any

from similis._utils.arrays import Array
from similis.base import Points, positive
from similis.solvers import lp_margin
from similis.svm._base import Machine, RowMachine


class LPMachine(RowMachine):
    """Linear programming machine: rows as features, hinge loss, l1 penalty.

    Minimizes ||w||_1 + C sum_i max(0, 1 - y_i (w's_i + b)) and decides by the sign of w's(x) + b. Most entries of w are
    zero; only the similarities to the others are needed (see :func:`similis.compact`).

    Parameters
    ----------
    C : float, default=1.0
        Cost of a violated margin; larger fits closer with more objects.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels; ``classes_[1]`` is the positive side.
    coef_ : ndarray of shape (n,), or (G (G - 1) / 2, n) for three classes or more
        w, dense.
    intercept_ : float, or ndarray of shape (G (G - 1) / 2,)
        b; the middle where an interval of them is optimal.
    objective_, gap_ : float
        The objective, and the duality gap, an upper bound of its distance to the minimum; two classes only.
    pairs_, estimators_ : ndarray of shape (G (G - 1) / 2, 2), list of LPMachine
        Three classes or more: the two classes of each model, the second positive; the two-class models.
    columns_ : ndarray
        Training objects with a non-zero weight.

    See Also
    --------
    PotentialSVM : squared loss, bounded coefficients.

    Notes
    -----
    Solved by the dual simplex method of HiGHS. In a grid, a solution none of whose multipliers is at the bound C is
    that for every larger C.

    References
    ----------
    [chen2010] Eq. (2.7).

    Examples
    --------
    >>> import numpy as np
    >>> from similis import LPMachine
    >>> S = np.array([[1.0, 0.9, 0.1, 0.2], [0.9, 1, 0.1, 0], [0.1, 0.1, 1, 0.8], [0.2, 0, 0.8, 1]])
    >>> model = LPMachine(C=10).fit(S, ["a", "a", "b", "b"])
    >>> model.columns_
    array([0, 1])
    """

    _parameter_constraints = {"C": [positive()]}
    path_params = ("C",)

    def __init__(self, *, C: float = 1.0) -> None:
        self.C = C

    def _solve(self, S: Array, y: Any, weight: Array, points: Points) -> Any:
        solved = {}
        last: Any = None
        inside = False
        for C in sorted({point["C"] for point in points}):
            if not inside:
                last = lp_margin(S, y, C * weight)
                inside = (last.multipliers < C * weight * (1 - 1e-9)).all()
            solved[C] = Machine(last.coef, last.intercept, last.objective, last.gap)
        return [solved[point["C"]] for point in points]
