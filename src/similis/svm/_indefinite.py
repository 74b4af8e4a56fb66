"""A support vector machine that learns the whole kernel near an indefinite similarity. [chen2010] sec. 5.1.1."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone

from similis._utils.arrays import Array, Indices
from similis.base import Points, choice, estimator, fitted_reals, param, positive
from similis.proximity import augmented_rows
from similis.solvers import IndefiniteMachine
from similis.svm._base import KernelSVM, eigen_system


@estimator
class IndefiniteSVM(KernelSVM):
    """Indefinite SVM: treats the similarity as a noisy kernel and learns that kernel with the classifier.

    Maximizes over 0 <= alpha <= C, y'alpha = 0, the minimum over positive semi-definite K of
    1'alpha - v'Kv / 2 + rho ||K - S||_F^2 with v = y . alpha. The learned kernel is K = (S + v v' / (4 rho))_+. See
    [chen2010] Eq. (5.8)-(5.9), (5.14).

    Parameters
    ----------
    C : float, default=1.0
        Cost of a violated margin.
    rho : float, default=1.0
        Weight of the distance between K and S; as it grows, the classifier tends to the one on S clipped.
    query : {"projected", "augmented", "raw"}, default="projected"
        Rule for a new row: projected on the range of K, or with `self_similarity` the nearest row that extends K, Eq.
        (5.14); from the augmented matrix, Eq. (5.9) with a zero for the new object in v, one decomposition per row and
        the mean training self-similarity where none is given; or as it is.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels.
    alpha_, kernel_, n_iter_ : ndarray of shape (n,), (n, n), int
        The dual variables, K, and the number of ascent and Newton steps; two classes only.
    coef_, intercept_ : ndarray and float, or ndarrays over the pairs of classes for three or more
        v projected on the range of K: f(s) = s'coef + b on a new row s without a self-similarity.
    objective_, gap_, pairs_, estimators_, asymmetry_
        As in :class:`SimSVM`.

    Notes
    -----
    The same as the primal problem (5.12), mean hinge loss + eta c'Kc + rho' ||K - S||_F^2, with C = 1 / (2 n eta) and
    rho' = 2 eta rho; the paper drops that factor. The projection is the limit of (5.14) without a self-similarity. The
    augmented rule is that of Wu et al. (sec. 4.1) applied to (5.9), a reading of the heuristic that table 5.3 mentions;
    raw rows are what footnote 3 there warns of. No rule reproduces K on training rows: K contains v v' too.

    Examples
    --------
    >>> from similis import IndefiniteSVM
    >>> S = [[1.0, 0.9, 0.1, 0.2], [0.9, 1, 0.1, 0], [0.1, 0.1, 0, 0.8], [0.2, 0, 0.8, 0]]
    >>> model = IndefiniteSVM(C=10, rho=0.1).fit(S, ["a", "a", "b", "b"])
    >>> model.predict([[0.5, 0.6, 0.1, 0.2], [0.2, 0.1, 0.7, 0.6]])
    array(['a', 'b'], dtype='<U1')
    """

    C: float = param(1.0, positive())
    rho: float = param(1.0, positive())
    query: str = param("projected", choice("projected", "augmented", "raw"))

    fitted_arrays = {"_before_clip": fitted_reals(None, None, optional=True)}
    _added_params = ("query",)  # since 1.0
    path_params = ("C", "rho")
    _names = ("alpha_", "kernel_", "n_iter_", "_kernel_coef", "_before_clip", "_typical_self")

    def _solutions(self, S: Array, y: Any, points: Points) -> Iterator[Any]:
        system = eigen_system(S)
        values = np.where(np.abs(system.values) > system.tolerance, system.values, 0.0)
        machine = IndefiniteMachine(values, system.vectors, y)
        for point in points:
            C, rho = float(point["C"]), float(point["rho"])
            fit = machine.solve(C, rho)
            learned = {"alpha_": y * fit.v, "n_iter_": fit.n_iter, "_kernel_coef": fit.v}
            if len(points) == 1:  # K is the positive part of this matrix, Eq. (5.9)
                learned["_before_clip"] = S + np.outer(fit.v, fit.v) / (4 * rho)
            if self.query == "augmented":
                learned["_typical_self"] = float(np.diag(S).mean())
            yield fit, fit.v if self.query == "raw" else machine.project(fit.v, rho), learned

    @cached_property
    def kernel_(self) -> Array:
        """K, decomposed on first access: `predict` needs it with a self-similarity only."""
        if "_before_clip" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has kernel_ after a fit to two classes.")
        system = eigen_system(self._before_clip)
        keep = system.values > system.tolerance
        return (system.vectors[:, keep] * system.values[keep]) @ system.vectors[:, keep].T

    def class_scores(self, Q: Array) -> Array:
        return self._kernel_scores(Q, None) if self.query == "augmented" else super().class_scores(Q)

    def _kernel_rows(self, rows: Array, psi: Any) -> Any:
        if self.query != "augmented":
            return rows if self.query == "raw" else super()._kernel_rows(rows, psi)
        # The first n entries of the last row of ([[S, s], [s', psi]] + [v; 0] [v; 0]' / (4 rho))_+, Eq. (5.9)
        return augmented_rows(self._before_clip, rows, self._typical_self if psi is None else psi)

    def _set_solution(self, columns: list[Indices], machines: Any, n: int) -> None:
        super()._set_solution(columns, machines, n)
        if self.query == "augmented":
            self.keep_columns(np.arange(n))

    def path_scores(self, S: Array, codes: Indices, Q: Array, points: Points) -> list[Array]:
        if self.query != "augmented":
            return super().path_scores(S, codes, Q, points)
        return [clone(self).set_params(**point).fit(S, codes).class_scores(Q) for point in points]
