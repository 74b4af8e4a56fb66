"""A support vector machine that learns the whole kernel, for the training objects or for all. [chen2010] sec. 5.1."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from similis._utils.arrays import Array
from similis._utils.threads import single_blas_thread
from similis.base import PathMixin, Points, check_label_order, check_labels, estimator, param, positive, validated
from similis.exceptions import ProximityError
from similis.solvers import FullKernelMachine
from similis.svm._base import KernelSVM, eigen_system


@estimator
class FullKernelSVM(KernelSVM):
    """Full kernel SVM: learns every entry of the kernel together with the classifier.

    Minimizes mean hinge loss + eta c'Kc + gamma ||K - S||_F over c, b and positive semi-definite K. In the transductive
    setting the new objects are among the training objects, without labels, and their part of K is learned too. See
    [chen2010] Eq. (5.2), (5.6), (5.14)-(5.16).

    Parameters
    ----------
    eta : float, default=0.01
        Weight of c'Kc; the usual C is 1 / (2 n eta).
    gamma : float, default=0.1
        Weight of the distance between K and S.
    transductive : bool, default=False
        Treat a label of -1 as an unlabeled object, which is predicted in ``transduction_``.

    Attributes
    ----------
    classes_, transduction_ : ndarray of shape (G,), (n,)
        Class labels; transductive only, a label for every object, the given one where there was one.
    kernel_, dual_coef_, n_iter_ : ndarray of shape (n, n), (n,), int
        K, the c of least norm (transductive: of the labeled objects), and the number of indefinite SVMs solved; two
        classes only.
    coef_, intercept_ : ndarray and float, or ndarrays over the pairs of classes for three or more
        f(s) = s'coef + b on a new row s without a self-similarity.
    objective_, gap_, pairs_, estimators_, asymmetry_
        As in :class:`SimSVM`.

    Notes
    -----
    As gamma grows K tends to S clipped; for a positive semi-definite S a finite gamma suffices and K = S.
    :class:`SimSVM` overfits less, according to the paper. New rows: with their self-similarity, (5.14) in closed form,
    its constraint read as r'K^+ r <= t; without, the projection on the range of K.

    Examples
    --------
    >>> from similis import FullKernelSVM
    >>> S = [[1.0, 0.9, 0.1, 0.2], [0.9, 1, 0.1, 0], [0.1, 0.1, 0, 0.8], [0.2, 0, 0.8, 0]]
    >>> FullKernelSVM(transductive=True).fit(S, [0, -1, 1, -1]).transduction_
    array([0, 0, 1, 1])
    """

    eta: float = param(0.01, positive())
    gamma: float = param(0.1, positive())
    transductive: bool = param(False, "boolean")

    path_params = ("eta", "gamma")
    _names = ("kernel_", "dual_coef_", "n_iter_", "_kernel_coef")

    # Folds of a transductive problem would need the test objects in the training matrix: PathSearchCV fits every point.
    predict_path = available_if(lambda self: not self.transductive)(PathMixin.predict_path)
    predict_path_cv = available_if(lambda self: not self.transductive)(PathMixin.predict_path_cv)

    @validated
    @single_blas_thread()
    def fit(self, X: ArrayLike, y: Any) -> Self:
        self.__dict__.pop("transduction_", None)
        if not self.transductive:
            return super().fit(X, y)
        check_label_order(X, y)
        S, labels = self.check_training(X), np.asarray(y)
        if labels.shape != (len(S),):
            raise ProximityError(f"y must hold one label per object. Got shape {labels.shape} for {len(S)} objects.")
        known = np.array([bool(label != -1) for label in labels])
        if not known.any():
            raise ProximityError(
                "FullKernelSVM needs labels of two classes; with transductive=True, -1 marks an unlabeled object."
            )
        self.classes_, codes = check_labels(labels[known], int(known.sum()), who="FullKernelSVM")
        whole = np.full(len(S), -1, dtype=np.intp)
        whole[known] = codes
        machines = self._fit_machines(self._symmetrize(S), whole, np.ones(len(S)))
        f = np.zeros((len(S), len(machines)))
        for values, members, machine in zip(f.T, self._members, machines):
            values[members] = machine.learned["kernel_"] @ machine.learned["_kernel_coef"] + machine.intercept
        predicted = self._combine(f, len(self.classes_)).argmax(axis=1)
        self.transduction_ = self.classes_[np.where(known, whole, predicted)]
        return self

    def _solutions(self, S: Array, y: Any, points: Points) -> Iterator[Any]:
        system = eigen_system(S)
        values = np.where(np.abs(system.values) > system.tolerance, system.values, 0.0)
        machine = FullKernelMachine(values, system.vectors, y)  # searches t, ||X|| = min_t (||X||^2 / t + t) / 2
        for point in points:
            fit = machine.solve(float(point["eta"]), float(point["gamma"]))
            coef = machine.inner.project(fit.coef, fit.rho)
            learned: dict[str, Any] = {"n_iter_": fit.n_iter}
            if len(points) == 1:
                k, W = machine.inner.kernel(fit.coef, fit.rho)
                # [chen2010] below Eq. (5.7) -> c* = K^+ z*, of least norm: the part of c in the range of K, unless
                # unlabeled objects would get coefficients by it
                c = coef if y.all() else fit.coef
                learned |= {"kernel_": (W * k) @ W.T, "dual_coef_": c[y != 0], "_kernel_coef": c}
            yield fit, coef, learned
