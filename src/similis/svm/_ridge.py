"""Kernel ridge regression on a repaired kernel, with exact leave-one-out predictions for all regularizers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from similis import base
from similis._utils.arrays import Array, Floats
from similis._utils.fitted import fitted_reals
from similis._utils.linalg import EigenSystem, take_symmetric_part
from similis._utils.threads import single_blas_thread
from similis.base import Points, ProximityRegressor, RegressorPathMixin, choice, estimator, param, positive
from similis.exceptions import ProximityError
from similis.proximity import SpectrumClip, SpectrumFlip, SpectrumShift
from similis.solvers import RidgePath, ridge_path

_REPAIRS: dict[str, Any] = {"clip": SpectrumClip, "flip": SpectrumFlip, "shift": SpectrumShift}


class _Kernel(NamedTuple):
    """Decomposition of the repaired kernel of some training objects."""

    values: Floats  # repaired, not negative
    vectors: Floats
    repair: Any
    row_means: Floats | None  # of the squared dissimilarities; None for similarities

    def fold(self, dual_coef: Floats, intercept: Floats) -> tuple[Any, Any]:
        """Coefficients of the entries of a row and intercepts, from those of the repaired kernel."""
        coef = self.repair.fold_coefficients(dual_coef)  # (s P) c = s (P c)
        if self.row_means is None:
            return coef, intercept
        # g(x, i) = -(d(x, i)^2 - r_i - a(x)) / 2: the part a(x) vanishes, because the coefficients sum to zero.
        coef = coef - coef.mean(axis=-1, keepdims=True)
        return -0.5 * coef, intercept + 0.5 * coef @ self.row_means


@estimator
class ProximityRidge(RegressorPathMixin, ProximityRegressor):
    """Kernel ridge regression on any similarity or dissimilarity.

    The kernel is repaired by its spectrum, the intercept is not penalized, and the regularizer is chosen by
    leave-one-out. See [chen2010] sec. 2.1, 3.2 and 4.1.

    Parameters
    ----------
    spectrum : {"clip", "flip", "shift"} or None, default="clip"
        Repair of an indefinite kernel, as by :class:`~similis.SpectrumClip`, :class:`~similis.SpectrumFlip` and
        :class:`~similis.SpectrumShift`, also of new rows. None raises an error for such a kernel.
    alphas : "auto", float or array-like, default="auto"
        Candidates for the regularizer, positive. "auto" is 41 values from 1e-6 to 1e4 times the mean eigenvalue of the
        centered kernel.
    loo : {"fast", "honest"}, default="fast"
        Leave-one-out predictions behind ``best_alpha_`` and ``loo_predictions_``. "fast" repairs the kernel of all
        objects once. "honest" repairs the kernel without the object that is left out, which takes n decompositions;
        the two are equal for a positive semi-definite kernel.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of proximity in the matrix. Dissimilarities are converted to the inner products -J D^2 J / 2.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n,), float
        f(x) = sum_i coef_i s(x, i) + intercept_, with d(x, i)^2 for dissimilarities.
    alphas_, loo_errors_, best_alpha_ : ndarray of shape (A,), (A,), float
        Candidates for the regularizer, the mean squared leave-one-out error of each, and the best candidate.
    dual_coef_, loo_predictions_ : ndarray of shape (n,)
        Coefficients of the repaired kernel, which sum to zero; leave-one-out predictions of the training objects with
        ``best_alpha_``, NaN for a single object.
    asymmetry_ : float
        ||S - S'|| / (2 ||S||); the symmetric part of S is used, with a warning if S is asymmetric.

    Notes
    -----
    If the matrix is indefinite, the repair has used the row of the object that is left out (not its target), and
    ``loo_errors_`` are slightly too low. Use ``loo="honest"``, or estimate the error of the whole procedure, choice of
    the regularizer included, by ``cross_val_predict(ProximityRidge(), S, y, cv=10)``.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import ProximityRidge
    >>> x = np.linspace(0, 6, 40)
    >>> S = np.exp(-np.abs(x[:, None] - x))
    >>> model = ProximityRidge().fit(S, np.sin(x))
    >>> model.predict(np.exp(-np.abs(np.array([[1.5], [4.5]]) - x))).round(2)
    array([ 0.99, -0.97])
    """

    spectrum: str | None = param("clip", choice(*_REPAIRS), None)
    alphas: Any = param("auto", choice("auto"), positive(), "array-like")
    loo: str = param("fast", choice("fast", "honest"))
    kind: str = param("similarity", choice("similarity", "dissimilarity"))

    fitted_arrays = {
        "coef_": fitted_reals("n"),
        "dual_coef_": fitted_reals("n"),
        "alphas_": fitted_reals("A", low=0),
        "loo_errors_": fitted_reals("A", nan=True),
        "loo_predictions_": fitted_reals("n", nan=True),
    }
    path_params = ("alphas",)

    @single_blas_thread()
    def learn(self, S: Array, target: Floats) -> None:
        kernel = self._decompose(S)
        self.alphas_ = self._candidates(self.alphas, kernel)
        path = ridge_path(kernel.values, kernel.vectors, target, self.alphas_)
        loo, self.loo_errors_ = self._leave_one_out(S, target, path)
        best = int(np.argmin(self.loo_errors_))
        self.best_alpha_ = float(self.alphas_[best])
        self.loo_predictions_, self.dual_coef_ = loo[best].copy(), path.dual_coef[best].copy()
        coef, intercept = kernel.fold(path.dual_coef[best], path.intercepts[best])
        self.coef_, self.intercept_ = coef, float(intercept)

    def row_values(self, Q: Array) -> Floats:
        return self._entries(Q) @ self.coef_ + self.intercept_

    def row_entries(self, X: ArrayLike) -> Floats:
        """Validate new rows and return what ``coef_`` multiplies: similarities, or squared dissimilarities."""
        return self._entries(self.check_rows(X))

    @single_blas_thread()
    def target_weights(self, X: ArrayLike) -> tuple[Floats, Floats]:
        """Weights h(x) of the training targets in a prediction, f(x) = h(x)'y, with ``best_alpha_``.

        `X` are the training proximities, as given to ``fit``. Returns `coef`, (n, n), and `intercept`, (n,):
        ``h(x) = coef @ entries + intercept`` for the entries of a row, see :meth:`row_entries`.
        """
        kernel = self._decompose(base.check_proximity(X, kind=self.proximity_kind))
        gain = 1.0 / (kernel.values + self.best_alpha_)
        G = (kernel.vectors * gain) @ kernel.vectors.T
        G1 = G.sum(axis=1)
        total = G1.sum()
        # Inverse of the bordered matrix of ridge_path: c = (G - G1 G1' / 1'G 1) y, b = (G1 / 1'G 1)'y.
        return kernel.fold(G - np.outer(G1, G1 / total), G1 / total)

    def path_values(self, S: Array, target: Floats, Q: Array, points: Points) -> list[Floats]:
        kernel = self._decompose(S)
        grids = [self._candidates(point["alphas"], kernel) for point in points]
        path = ridge_path(kernel.values, kernel.vectors, target, np.concatenate(grids))
        chosen = np.cumsum([0, *(len(grid) for grid in grids[:-1])]).tolist()
        if len(path.alphas) > len(points):
            _, errors = self._leave_one_out(S, target, path)
            chosen = [start + int(np.argmin(errors[start : start + len(grid)])) for start, grid in zip(chosen, grids)]
        coef, intercept = kernel.fold(path.dual_coef[chosen], path.intercepts[chosen])
        return list((self._entries(Q) @ coef.T + intercept).T)

    @property
    def accept_sparse(self) -> bool:  # type: ignore[override]
        return self.kind == "similarity"  # an absent dissimilarity is missing

    def _entries(self, Q: Array) -> Floats:
        rows = np.asarray(Q, dtype=np.float64)
        return rows**2 if self.kind == "dissimilarity" else rows

    def _decompose(self, S: Array) -> _Kernel:
        """Convert the training matrix to a kernel, repair and decompose it."""
        K = take_symmetric_part(np.asarray(S, dtype=np.float64), self)
        row_means = None
        if self.kind == "dissimilarity":
            K = K**2
            row_means = K.mean(axis=1)
            K = -0.5 * (K - row_means - row_means[:, None] + row_means.mean())
        repair = _REPAIRS[self.spectrum or "clip"]()
        repair.learn(K, None)
        values, vectors = repair.eigenvalues_, repair.eigenvectors_
        if self.spectrum is None and values[0] < -EigenSystem(values, vectors).tolerance:
            raise ProximityError(
                f"spectrum=None needs a positive semi-definite kernel. Got an eigenvalue of {values[0]:.4g}; choose "
                "spectrum='clip', 'flip' or 'shift'."
            )
        if self.spectrum == "flip":
            values = np.abs(values)
        elif self.spectrum == "shift":
            values = values + repair.shift_
        return _Kernel(np.maximum(values, 0.0), vectors, repair, row_means)

    def _candidates(self, alphas: Any, kernel: _Kernel) -> Floats:
        if isinstance(alphas, str):
            values, n = kernel.values, len(kernel.values)
            along = float(values @ kernel.vectors.sum(axis=0) ** 2) / n  # 1'K 1 / n
            mean = max(float(values.sum()) - along, 0.0) / n  # of the eigenvalues of the centered kernel
            unit = mean if mean > np.finfo(np.float64).eps * values.max() else 1.0
            return unit * np.logspace(-6, 4, 41)
        try:
            grid = np.atleast_1d(np.asarray(alphas, dtype=np.float64))
        except (TypeError, ValueError):
            grid = np.empty(0)
        if grid.ndim != 1 or not grid.size or not ((grid > 0) & np.isfinite(grid)).all():
            raise ProximityError(f"alphas must be 'auto' or finite numbers above zero. Got {str(alphas)[:60]}.")
        return grid

    def _leave_one_out(self, S: Array, target: Floats, path: RidgePath) -> tuple[Floats, Floats]:
        """Leave-one-out predictions, (A, n), and their mean squared errors for each regularizer."""
        predicted = path.loo
        if self.loo == "honest" and len(target) > 1:
            points = [{"alphas": alpha} for alpha in path.alphas]
            predicted = np.asarray(self.path_values_cv(S, target, np.arange(len(target)), points))
        return predicted, np.asarray(((predicted - target) ** 2).mean(axis=1))
