"""A support vector machine that learns the whole kernel near an indefinite similarity. [chen2010] sec. 5.1.1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis.base import Points, positive
from similis.solvers import IndefiniteMachine
from similis.svm._base import KernelSVM, LearnedMachine, eigen_system

__all__ = ["IndefiniteSVM"]


class IndefiniteSVM(KernelSVM):
    """Indefinite SVM: treats the similarity as a noisy kernel and learns that kernel with the classifier.

    Maximizes over 0 <= alpha <= C, y'alpha = 0, the minimum over positive semi-definite K of
    1'alpha - v'Kv / 2 + rho ||K - S||_F^2 with v = y . alpha. The learned kernel is K = (S + v v' / (4 rho))_+.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a violated margin.
    rho : float, default=1.0
        Weight of the distance between K and S; as it grows, the classifier tends to the one on S clipped.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels; ``classes_[1]`` is the positive side.
    alpha_ : ndarray of shape (n,)
        The dual variables; two classes only, as all below.
    kernel_ : ndarray of shape (n, n)
        K.
    intercept_ : float, or ndarray of shape (G (G - 1) / 2,)
        b.
    objective_, gap_ : float
        The maximum as reached, and an upper bound on how far it is below the true one.
    n_iter_ : int
        Number of ascent steps and Newton steps.
    coef_ : ndarray of shape (n,), or (G (G - 1) / 2, n)
        v projected on the range of K: f(s) = s'coef + b on a new row s without a self-similarity.
    pairs_, estimators_ : ndarray of shape (G (G - 1) / 2, 2), list of IndefiniteSVM
        Three classes or more: the two classes of each model, the second positive; the two-class models.
    asymmetry_ : float
        ||S - S'|| / (2 ||S||).
    n_features_in_ : int
        Number of training objects.

    See Also
    --------
    FullKernelSVM : the distance itself as penalty, not its square.
    SimSVM : learns the spectrum only, and overfits less.

    Notes
    -----
    The same as the primal problem (5.12), mean hinge loss + eta c'Kc + rho' ||K - S||_F^2, with C = 1 / (2 n eta) and
    rho' = 2 eta rho; the paper drops that factor.

    A new row is projected on the range of K, the limit of (5.14) without a self-similarity; give `self_similarity` for
    (5.14) itself. No rule reproduces K on training rows from S alone: K holds v v' too.

    References
    ----------
    [chen2010] Eq. (5.8)-(5.9), (5.14).

    Examples
    --------
    >>> import numpy as np
    >>> from similis import IndefiniteSVM
    >>> S = np.array([[1.0, 0.9, 0.1, 0.2], [0.9, 1, 0.1, 0], [0.1, 0.1, 0, 0.8], [0.2, 0, 0.8, 0]])
    >>> model = IndefiniteSVM(C=10, rho=0.1).fit(S, ["a", "a", "b", "b"])
    >>> model.predict([[0.5, 0.6, 0.1, 0.2], [0.2, 0.1, 0.7, 0.6]])
    array(['a', 'b'], dtype='<U1')
    """

    _parameter_constraints = {"C": [positive()], "rho": [positive()]}
    path_params = ("C", "rho")
    _names = ("alpha_", "kernel_", "n_iter_", "_kernel_coef")

    def __init__(self, *, C: float = 1.0, rho: float = 1.0) -> None:
        self.C = C
        self.rho = rho

    def _solve(self, S: NDArray[Any], y: Any, weight: Any, points: Points) -> Any:
        system = eigen_system(S)
        values = np.where(np.abs(system.values) > system.tolerance, system.values, 0.0)
        machine = IndefiniteMachine(values, system.vectors, y)
        machines = []
        for point in points:
            C, rho = float(point["C"]), float(point["rho"])
            fit = machine.solve(C, rho)
            learned = {"alpha_": y * fit.v, "n_iter_": fit.n_iter, "_kernel_coef": fit.v}
            if len(points) == 1:
                k, W = machine.kernel(fit.v, rho)
                learned["kernel_"] = (W * k) @ W.T
            coef = machine.project(fit.v, rho)
            machines.append(LearnedMachine(coef, fit.intercept, fit.objective, fit.gap, learned, fit.gap_scale))
        return machines
