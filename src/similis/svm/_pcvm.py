"""Probabilistic classification vector machine on rows of similarities. [chen2009pcvm]."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg
from scipy.special import log_ndtr, ndtr

from similis._utils.arrays import Array, Floats, Indices
from similis._utils.messages import warn_user
from similis._utils.threads import single_blas_thread
from similis.base import ProbabilityMixin, ProximityClassifier, at_least, fitted_reals, positive

_FORGET = 1e-3  # weights below this part of the largest are removed, as in sparse Bayesian learning


class PCVM(ProbabilityMixin, ProximityClassifier):
    """Probabilistic classification vector machine: a sparse probit model on rows of similarities.

    P(y = 1 | x) = Phi(sum_i w_i s(x, x_i) + b), where a weight has the sign of its object's class: w_i is half-normal
    with its own precision, for which Jeffreys' prior makes most weights zero. The rows need not come from a kernel.

    Parameters
    ----------
    max_iter : int, default=500
        Largest number of iterations.
    tol : float, default=1e-4
        Change of the weights, relative to the largest, at which the iterations stop.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels.
    coef_ : ndarray of shape (1, n) for two classes, else (G, n)
        Weights; for more than two classes each class is separated from the others.
    intercept_ : ndarray of shape (1,) or (G,)
        Intercepts.
    columns_ : ndarray
        Training objects with a weight, whose columns ``predict`` reads.
    n_iter_ : int
        Largest number of iterations.

    See Also
    --------
    PotentialSVM : Sparse too, without probabilities.

    Notes
    -----
    Expectation maximization. E-step: the latent variable of object i has mean h_i = f_i + y_i N(f_i) / Phi(y_i f_i),
    and the precision of w_i mean 1 / w_i^2. M-step: with M = diag(|w|) and B the centered columns times their labels,
    w = M (I + M B'B M)^-1 M B'h and b = mean(h); weights of the wrong sign are removed. Probabilities of more than two
    classes are those of the single models, divided by their sum.

    References
    ----------
    [chen2009pcvm].

    Examples
    --------
    >>> import numpy as np
    >>> from similis import PCVM
    >>> x = np.linspace(0, 1, 30)
    >>> model = PCVM().fit(np.exp(-9 * (x[:, None] - x) ** 2), x > 0.5)
    >>> len(model.columns_) <= 4, model.predict(np.exp(-9 * (np.array([[0.1], [0.9]]) - x) ** 2))
    (True, array([False,  True]))
    """

    reads = "similarity"
    fitted_arrays = {"coef_": fitted_reals("machines", "n"), "intercept_": fitted_reals("machines")}
    _parameter_constraints = {"max_iter": [at_least(1)], "tol": [positive()]}

    def __init__(self, *, max_iter: int = 500, tol: float = 1e-4) -> None:
        self.max_iter = max_iter
        self.tol = tol

    @single_blas_thread()
    def learn(self, S: Array, codes: Indices) -> None:
        S = np.asarray(S, dtype=np.float64)
        G = len(self.classes_)
        scale = float(np.sqrt(np.mean(S**2))) or 1.0  # so that the start does not depend on the unit
        positives = range(G) if G > 2 else [G - 1]
        found = [self._expect_maximize(S / scale, np.where(codes == g, 1.0, -1.0)) for g in positives]
        self.coef_ = np.array([coef for coef, _, _ in found]) / scale
        self.intercept_ = np.array([intercept for _, intercept, _ in found])
        self.n_iter_ = max(n_iter for _, _, n_iter in found)
        if self.n_iter_ == self.max_iter:
            warn_user(f"PCVM did not converge in {self.max_iter} iterations; increase max_iter.", UserWarning)
        used = np.flatnonzero(self.coef_.any(axis=0))
        self.keep_columns(used if used.size else np.zeros(1, dtype=np.intp))

    def class_scores(self, Q: Array) -> Array:
        f = self.kept_columns(Q) @ self.coef_[:, self._kept_objects].T + self.intercept_
        if len(self.classes_) == 1:
            return np.ones((len(f), 1))
        if len(self.classes_) == 2:
            return ndtr(np.hstack([-f, f]))
        log_p = log_ndtr(f)
        p = np.exp(log_p - log_p.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    def _expect_maximize(self, S: Floats, y: Floats) -> tuple[Any, float, int]:
        """Weights, intercept and number of iterations for labels 1 and -1."""
        n = len(y)
        means = S.mean(axis=0)
        B = (S - means) * y  # centered, which makes the M-step of weights and intercept one least squares problem
        w, f, used = np.ones(n), np.zeros(n), np.arange(n)
        for n_iter in range(1, self.max_iter + 1):  # noqa: B007
            # E-step; N(f) / Phi(y f) in logarithms, which do not underflow
            h = f + y * np.exp(-0.5 * f**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(y * f))
            # M-step on the columns that are left
            BM = B[:, used] * w[used]
            gram = BM.T @ BM
            gram.flat[:: len(used) + 1] += 1
            new = np.zeros(n)
            new[used] = w[used] * linalg.solve(gram, BM.T @ (h - h.mean()), assume_a="pos")
            new[new < _FORGET * new.max(initial=0.0)] = 0.0
            change = float(np.abs(new - w).max()) / (float(new.max()) or 1.0)
            w, used = new, np.flatnonzero(new > 0)
            f = B[:, used] @ w[used] + h.mean()
            if not used.size or change < self.tol:
                break
        return y * w, float(h.mean() - means @ (y * w)), n_iter
