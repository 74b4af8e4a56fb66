"""Learning in Krein spaces: support vectors [loosli2016], ridge and logistic regression [oglic2018].

The kernel is the difference of two kernels, and a function f = f_+ + f_- is measured by ||f_+||^2 and ||f_-||^2.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from similis import base
from similis._utils.arrays import Array, Floats, Indices
from similis._utils.fitted import fitted_reals
from similis._utils.linalg import eigen_symmetric, take_symmetric_part
from similis._utils.threads import single_blas_thread
from similis.base import Points, between, choice, estimator, param, positive
from similis.proximity import SpectrumFlip
from similis.svm._base import MarginClassifier, class_pairs, vote_scores


@estimator
class KreinSVM(MarginClassifier):
    """Support vector machine in the Krein space of an indefinite similarity.

    With K = U diag(l) U', the dual is solved for the flipped kernel U diag(|l|) U', and its solution a is mapped back,
    coef = U diag(sign(l)) U' (y . a): the decision function sum_i coef_i k(x, x_i) + b reads rows as they are. The same
    classifier as :class:`similis.SpectrumFlip` in front of an SVC. See [loosli2016].

    Parameters
    ----------
    C : float, default=1.0
        Cost of a violated margin.
    tol : float, default=1e-3
        Largest violation of the optimality conditions at which the solver stops.

    Attributes
    ----------
    classes_, asymmetry_ : ndarray of shape (G,), float
        Class labels, and ||S - S'|| / (2 ||S||); the symmetric part of S is used, with a warning if S is asymmetric.
    coef_, intercept_ : ndarray of shape (G (G - 1) / 2, n), (G (G - 1) / 2,)
        Coefficients of a row and intercept for each pair of classes, positive for the second.

    Examples
    --------
    >>> from similis import KreinSVM
    >>> S = [[0.5, 0.9, 0.1, 0.2], [0.9, 0.5, 0.1, 0], [0.1, 0.1, 0.5, 0.8], [0.2, 0, 0.8, 0.5]]
    >>> KreinSVM(C=10).fit(S, ["a", "a", "b", "b"]).predict([[0.5, 0.6, 0.1, 0.2], [0.2, 0.1, 0.7, 0.6]])
    array(['a', 'b'], dtype='<U1')
    """

    C: float = param(1.0, positive())
    tol: float = param(1e-3, positive())

    reads = "similarity"
    fitted_arrays = {"coef_": fitted_reals("pairs", "n"), "intercept_": fitted_reals("pairs")}
    path_params = ("C",)

    @single_blas_thread()
    def learn(self, S: Array, codes: Indices) -> None:
        [(self.coef_, self.intercept_)] = self._solutions(S, codes, [{"C": self.C}])

    def class_scores(self, Q: Array) -> Array:
        return vote_scores(Q @ self.coef_.T + self.intercept_, len(self.classes_))

    def path_scores(self, S: Array, codes: Indices, Q: Array, points: Points) -> list[Array]:
        G = len(self.classes_)
        return [vote_scores(Q @ coef.T + b, G) for coef, b in self._solutions(S, codes, points)]

    def _solutions(self, S: Array, codes: Indices, points: Points) -> list[tuple[Any, Any]]:
        """Coefficients and intercepts of all pairs of classes, for each point."""
        repair = SpectrumFlip()
        K = repair.transform_training(repair.learn(take_symmetric_part(np.asarray(S, dtype=np.float64), self), None))
        G, pairs = len(self.classes_), class_pairs(len(self.classes_))
        solutions = []
        for point in points:
            coef, intercept = np.zeros((len(pairs), len(codes))), np.zeros(len(pairs))
            if G > 1:
                svc = SVC(kernel="precomputed", C=point["C"], tol=self.tol, max_iter=100_000).fit(K, codes)
                own, sign = codes[svc.support_], 1 if G == 2 else -1  # for more classes the first of a pair is positive
                intercept = sign * svc.intercept_
                for k, (g, h) in enumerate(pairs):
                    # Row j of dual_coef_ belongs to the pair of a support vector's class and the j-th of the others.
                    for row, members in ((h - 1, own == g), (g, own == h)):
                        coef[k, svc.support_[members]] = sign * svc.dual_coef_[row, members]
            solutions.append((repair.fold_coefficients(coef), intercept))
        return solutions


class _KreinSpace(NamedTuple):
    """Decomposition of the centered training kernel without its null space."""

    values: Floats
    vectors: Floats
    row_means: Floats

    def penalties(self, alpha: float, ratio: float) -> Floats:
        """Penalty of each axis: alpha, times the ratio where l < 0, in units of the mean magnitude of l."""
        scale = np.abs(self.values).sum() / len(self.vectors)
        return np.where(self.values > 0, 1.0, ratio) * alpha * scale

    def fold(self, dual: Floats, mean: Any) -> tuple[Any, Any]:
        """Coefficients of raw rows and intercepts, from those of the centered kernel; one row per function."""
        coef = dual - dual.mean(axis=-1, keepdims=True)  # sums to zero, so that the mean of a new row cancels
        return coef, mean - coef @ self.row_means


@estimator
class _KreinEstimator(base.ProximityEstimator):
    """Base of ridge and logistic regression by functions that are linear in a row; a subclass writes `_functions`."""

    alpha: float = param(1.0, positive())
    ratio: float = param(1.0, between(0, np.inf, closed="right"))
    kind: str = param("similarity", choice("similarity", "dissimilarity"))

    path_params: ClassVar[tuple[str, ...]] = ("alpha", "ratio")
    _functions: ClassVar[Any]  # of S, codes or target, and points: coefficients (G, n) and intercepts of each point

    @single_blas_thread()
    def learn(self, S: Array, y: Array) -> None:
        [(self.coef_, self.intercept_)] = self._functions(S, y, [{"alpha": self.alpha, "ratio": self.ratio}])

    def _values(self, Q: Array) -> Floats:
        return self._entries(Q) @ self.coef_.T + self.intercept_

    def _path_values(self, S: Array, y: Array, Q: Array, points: Points) -> list[Floats]:
        return [self._entries(Q) @ coef.T + intercept for coef, intercept in self._functions(S, y, points)]

    def _entries(self, Q: Array) -> Floats:
        """Entries that the coefficients multiply: similarities, or -d^2 / 2."""
        rows = np.asarray(Q, dtype=np.float64)
        return -0.5 * rows**2 if self.kind == "dissimilarity" else rows

    def _decompose(self, S: Array) -> _KreinSpace:
        K = self._entries(take_symmetric_part(np.asarray(S, dtype=np.float64), self))
        means = K.mean(axis=1)
        system = eigen_symmetric(K - means - means[:, None] + means.mean())
        keep = np.abs(system.values) > max(system.tolerance, 1e-13 * float(np.abs(K).max(initial=0.0)))
        return _KreinSpace(system.values[keep], system.vectors[:, keep], means)

    def _ridge(self, S: Array, Y: Floats, points: Points) -> list[tuple[Any, Any]]:
        """Coefficients and intercepts of ridge regression on the columns of Y, for each point."""
        space = self._decompose(S)
        target = space.vectors.T @ (Y - Y.mean(axis=0))
        found = []
        for point in points:
            # [oglic2018], [oglic2019] -> in the eigenbasis, the fitted values z = l c minimize
            # |z - y|^2 + sum_i penalty_i z_i^2 / |l_i|
            curvature = 1 + space.penalties(point["alpha"], point["ratio"]) / np.abs(space.values)
            z = target / curvature[:, None]
            spread = getattr(self, "spread", None)
            if spread is not None:
                z = np.stack([_on_sphere(curvature, y, spread * np.linalg.norm(y)) for y in target.T], axis=1)
            found.append(space.fold((space.vectors @ (z / space.values[:, None])).T, Y.mean(axis=0)))
        return found


def _on_sphere(curvature: Floats, y: Floats, radius: float) -> Floats:
    """Minimize sum_i curvature_i z_i^2 - 2 y'z over |z| = radius, globally, although the problem is not convex.

    [oglic2018] -> z = y / (curvature + m) with m > -min(curvature), the root of |z| = radius.
    """
    if not y.any():
        return y
    least = float(curvature.min())

    def length(m: float) -> float:
        return float(np.linalg.norm(y / (curvature + m)))

    low, high = -least * (1 - 1e-12), float(np.linalg.norm(y)) / radius
    if length(low) < radius:  # y has no part in the flattest direction, which may take the rest
        z = np.where(curvature > least, y / np.maximum(curvature + low, 1e-300), 0.0)
        z[int(np.argmin(curvature))] += np.sqrt(max(radius**2 - float(z @ z), 0.0))
        return z
    return np.asarray(y / (curvature + brentq(lambda m: length(m) - radius, low, high, xtol=1e-14)))


@estimator
class KreinRidge(_KreinEstimator, base.RegressorPathMixin, base.ProximityRegressor):
    """Ridge regression in the Krein space of an indefinite proximity.

    Minimizes sum_i (y_i - f(x_i) - b)^2 + alpha ||f_+||^2 + alpha ratio ||f_-||^2. In the eigenbasis of the centered
    kernel the coefficients are c_i = sign(l_i) y_i / (|l_i| + penalty_i). See [oglic2018] and [oglic2019].

    Parameters
    ----------
    alpha : float, default=1.0
        Penalty of the positive part, in units of the mean magnitude of the eigenvalues.
    ratio : float, default=1.0
        Penalty of the negative part relative to `alpha`: 1 for the flipped kernel, infinity for the clipped one.
    spread : float, optional
        Fix the standard deviation of the fitted values to this multiple of the target's, the constraint of [oglic2018],
        which prevents fits that are too flat. None leaves it free, as [oglic2019].
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of proximity in the matrix. Dissimilarities are converted to -J D^2 J / 2.

    Attributes
    ----------
    coef_, intercept_, asymmetry_ : ndarray of shape (n,), float, float
        f(x) = sum_i coef_i s(x, i) + intercept_, with -d(x, i)^2 / 2 for dissimilarities; as in :class:`KreinSVM`.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import KreinRidge
    >>> x = np.linspace(0, 6, 40)
    >>> D = np.abs(x[:, None] - x)
    >>> model = KreinRidge(alpha=1e-3, kind="dissimilarity").fit(D, 2 * x)
    >>> model.predict(np.abs(np.array([[1.5], [4.5]]) - x)).round(2)
    array([3., 9.])
    """

    spread: float | None = param(None, positive(), None)

    fitted_arrays = {"coef_": fitted_reals("n")}
    row_values = _KreinEstimator._values

    def path_values(self, S: Array, target: Floats, Q: Array, points: Points) -> list[Floats]:
        return self._path_values(S, target, Q, points)

    def _functions(self, S: Array, target: Floats, points: Points) -> list[tuple[Any, Any]]:
        return [(coef[0], float(b[0])) for coef, b in self._ridge(S, target[:, None], points)]


class _KreinClassifier(base.DecisionMixin, _KreinEstimator, base.PathMixin, base.ProximityClassifier):
    """Base of classifiers with one function per class."""

    fitted_arrays = {"coef_": fitted_reals("G", "n"), "intercept_": fitted_reals("G")}
    class_scores = _KreinEstimator._values

    def path_scores(self, S: Array, codes: Indices, Q: Array, points: Points) -> list[Array]:
        return self._path_values(S, codes, Q, points)


class KreinRidgeClassifier(_KreinClassifier):
    """Classify by ridge regression on indicators of the classes, in the Krein space of an indefinite proximity.

    Parameters
    ----------
    alpha, ratio, kind
        As in :class:`KreinRidge`.

    Attributes
    ----------
    classes_, asymmetry_ : ndarray of shape (G,), float
        As in :class:`KreinSVM`.
    coef_, intercept_ : ndarray of shape (G, n), (G,)
        Coefficients of a row and intercept of each class; as in :class:`KreinRidge`.

    Examples
    --------
    >>> from similis import KreinRidgeClassifier
    >>> S = [[0.5, 0.9, 0.1, 0.2], [0.9, 0.5, 0.1, 0], [0.1, 0.1, 0.5, 0.8], [0.2, 0, 0.8, 0.5]]
    >>> KreinRidgeClassifier().fit(S, ["a", "a", "b", "b"]).predict([[0.5, 0.6, 0.1, 0.2]])
    array(['a'], dtype='<U1')
    """

    def _functions(self, S: Array, codes: Indices, points: Points) -> list[tuple[Any, Any]]:
        return self._ridge(S, np.eye(len(self.classes_))[codes], points)


class KreinLogistic(base.ProbabilityMixin, _KreinClassifier):
    """Logistic regression in the Krein space of an indefinite proximity.

    Minimizes the negative log-likelihood + alpha (||f_+||^2 + ratio ||f_-||^2) / 2, multinomial for several classes:
    the method of [oglic2018] with the logistic loss.

    Parameters
    ----------
    alpha, ratio, kind
        As in :class:`KreinRidge`.

    Attributes
    ----------
    classes_, asymmetry_ : ndarray of shape (G,), float
        As in :class:`KreinSVM`.
    coef_, intercept_ : ndarray of shape (G, n), (G,)
        Coefficients of a row and intercept of each class; as in :class:`KreinRidge`. Zero for the first of two classes.

    Examples
    --------
    >>> from similis import KreinLogistic
    >>> S = [[0.5, 0.9, 0.1, 0.2], [0.9, 0.5, 0.1, 0], [0.1, 0.1, 0.5, 0.8], [0.2, 0, 0.8, 0.5]]
    >>> KreinLogistic().fit(S, ["a", "a", "b", "b"]).predict_proba([[0.5, 0.6, 0.1, 0.2]]).round(2)
    array([[0.63, 0.37]])
    """

    def scores_to_response(self, scores: Array, response: str) -> Array:
        if response == "predict_proba":
            return softmax(scores, axis=1)
        return super().scores_to_response(scores, response)

    def _functions(self, S: Array, codes: Indices, points: Points) -> list[tuple[Any, Any]]:
        G, n = len(self.classes_), len(codes)
        space = self._decompose(S)
        if G == 1 or not space.values.size:  # nothing to learn but the frequencies
            log_priors = np.log(np.bincount(codes, minlength=G) / n)
            return [(np.zeros((G, n)), log_priors) for _ in points]
        found = []
        for point in points:
            # Features U (|l| / penalty)^(1/2), whose weights have the norm of the penalty; a centered row k becomes
            # k U sign(l) / (|l| penalty)^(1/2).
            l, penalty = np.abs(space.values), space.penalties(point["alpha"], point["ratio"])  # noqa: E741
            fit = LogisticRegression(tol=1e-7, max_iter=2000).fit(space.vectors * np.sqrt(l / penalty), codes)
            dual = fit.coef_ * np.sign(space.values) / (np.sqrt(l) * np.sqrt(penalty)) @ space.vectors.T
            coef, intercept = space.fold(dual, fit.intercept_)
            if G == 2:
                coef, intercept = np.vstack([np.zeros(n), coef]), np.append(0.0, intercept)
            found.append((coef, intercept))
        return found
