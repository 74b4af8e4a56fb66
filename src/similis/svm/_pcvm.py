"""Probabilistic classification vector machine on rows of similarities. [chen2009pcvm]."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg
from scipy.special import log_ndtr, ndtr

from similis._utils.arrays import Array, Floats, Indices
from similis._utils.messages import warn_user
from similis._utils.threads import single_blas_thread
from similis.base import ProbabilityMixin, ProximityClassifier, at_least, estimator, fitted_reals, param, positive
from similis.svm._base import class_pairs


@estimator
class PCVM(ProbabilityMixin, ProximityClassifier):
    """Probabilistic classification vector machine: a sparse probit model on rows of similarities.

    P(y = 1 | x) = Phi(sum_i w_i s(x, x_i) + b), where a weight has the sign of its object's class: w_i is half-normal
    with its own precision, whose flat prior makes most weights zero. See [chen2009pcvm].

    Parameters
    ----------
    max_iter : int, default=500
        Largest number of iterations.
    tol : float, default=1e-3
        Change of the weights at which the iterations stop, where the largest similarity is 1; relative to the largest
        weight if that is above 1.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels.
    n_iter_ : int
        Largest number of iterations of a pair of classes.
    coef_, intercept_ : ndarray of shape (G (G - 1) / 2, n), (G (G - 1) / 2,)
        Weights for each pair of classes, positive for objects of the second, and intercepts.

    Notes
    -----
    Updates, thresholds and models of pairs of classes are those of the authors' public program. It starts at random and
    adapts the width of a Gaussian kernel; here f starts at 5 y, w at 0.7 and abs(b) at 1, near the means of its random
    numbers. Probabilities p_gh of pairs are coupled by P_g = 1 / (sum_h 1 / p_gh - G + 2), divided by their sum
    [price1995].

    Examples
    --------
    >>> import numpy as np
    >>> from similis import PCVM
    >>> x = np.linspace(0, 1, 30)
    >>> model = PCVM().fit(np.exp(-9 * (x[:, None] - x) ** 2), x > 0.5)
    >>> len(model.columns_) <= 4, model.predict(np.exp(-9 * (np.array([[0.1], [0.9]]) - x) ** 2))
    (True, array([False,  True]))
    """

    max_iter: int = param(500, at_least(1))
    tol: float = param(1e-3, positive())

    reads = "similarity"
    fitted_arrays = {"coef_": fitted_reals("machines", None), "intercept_": fitted_reals("machines")}

    @single_blas_thread()
    def learn(self, S: Array, codes: Indices) -> None:
        S = np.asarray(S, dtype=np.float64)
        scale = float(np.abs(S).max(initial=0.0)) or 1.0
        pairs = class_pairs(len(self.classes_))
        self.coef_, self.intercept_, self.n_iter_ = np.zeros((len(pairs), len(codes))), np.zeros(len(pairs)), 0
        for k, (g, h) in enumerate(pairs):
            members = np.flatnonzero((codes == g) | (codes == h))
            y = np.where(codes[members] == h, 1.0, -1.0)
            w, self.intercept_[k], n_iter = self._expect_maximize(S[np.ix_(members, members)] / scale, y)
            self.coef_[k, members] = w / scale
            self.n_iter_ = max(self.n_iter_, n_iter)
        if self.n_iter_ == self.max_iter:
            warn_user(f"PCVM did not converge in {self.max_iter} iterations; increase max_iter.", UserWarning)
        used = np.flatnonzero(self.coef_.any(axis=0))
        self.keep_columns(used if used.size else np.zeros(1, dtype=np.intp))

    def class_scores(self, Q: Array) -> Array:
        G = len(self.classes_)
        f = self.kept_columns(Q) @ self.coef_[:, self._kept_objects].T + self.intercept_
        inverse = np.full((len(f), G), 2.0 - G)
        for (g, h), value in zip(class_pairs(G), f.T):
            inverse[:, g] += 1 / np.maximum(ndtr(-value), 1e-100)
            inverse[:, h] += 1 / np.maximum(ndtr(value), 1e-100)
        return 1 / (inverse * (1 / inverse).sum(axis=1, keepdims=True))

    def _expect_maximize(self, S: Floats, y: Floats) -> tuple[Any, float, int]:
        """Weights, intercept and number of iterations for labels 1 and -1."""
        n, B = len(y), S * y
        w, f, used = np.full(n, 0.7), 5 * y, np.arange(n)
        b, spread = 0.0, 2.0  # spread: 2 b^2 with abs(b) = 1
        for n_iter in range(1, self.max_iter + 1):  # noqa: B007
            # E-step: mean h of the latent variables; N(f) / Phi(y f) in logarithms, which do not underflow
            h = f + y * np.exp(-0.5 * f**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(y * f))
            # M-step on the columns that are left: w = M (I + M B'B M)^-1 M B'(h - b) with M = 2^(1/2) diag(w)
            m = np.sqrt(2) * w[used]
            BM = B[:, used] * m
            gram = BM.T @ BM
            gram.flat[:: len(used) + 1] += 1
            new = np.zeros(n)
            new[used] = m * linalg.solve(gram, BM.T @ (h - b), assume_a="pos")
            new[new < 1e-3] = 0.0
            change = float(np.abs(new - w).max())
            w, used = new, np.flatnonzero(new)
            f = B[:, used] @ w[used]
            b = spread / (1 + spread * n) * float((h - f).sum())
            f, spread = f + b, 2 * b**2
            if not used.size or change < self.tol * max(1.0, float(w.max())):
                break
        return y * w, b, n_iter
