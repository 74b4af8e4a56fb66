"""A support vector machine that learns the modification of the spectrum. [chen2010] sec. 5.2."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from similis._utils.arrays import Array
from similis.base import Integral, Options, Points, at_least, choice, estimator, param, positive
from similis.exceptions import ProximityError
from similis.solvers import LearntSpectrum, SpectralMachine, spectral_lp
from similis.svm._base import LearnedSVM, eigen_system


@estimator
class SimSVM(LearnedSVM):
    """SimSVM: learns the spectrum modification of an indefinite similarity together with the classifier.

    The kernel is K = U diag(alpha l) U' for S = U diag(l) U': clip and flip are particular multipliers alpha. Minimizes
    mean hinge loss + eta c'Kc + gamma h(alpha) over c, b and all alpha with alpha l >= 0, where h is the distance of
    alpha from an anchor. See [chen2010] Eq. (5.18)-(5.20), (5.28), (5.31).

    Parameters
    ----------
    eta : float, default=0.01
        Weight of c'Kc; larger values give a smoother classifier. The usual C is 1 / (2 n eta).
    gamma : float, default=0.1
        Weight of h; larger keeps alpha nearer to its anchor.
    anchor : {"clip", "flip", "identity"}, default="clip"
        h = ||alpha - alpha_clip||, ||alpha - alpha_flip||, or ||l (alpha - 1)||_2, the distance of K from S.
    norm : {2, 1}, default=2
        Norm of h for clip and flip; 1 leaves most multipliers exactly at the anchor.
    n_random : int or None, default=None
        p of the linear program (5.28) with p random rank-one matrices per eigenvector, for ``norm=1`` and the anchor
        clip or flip; None solves the problem exactly.
    random_state : int, RandomState instance or None, default=None
        Random numbers of the linear program.

    Attributes
    ----------
    eigenvalues_, eigenvectors_, alpha_ : ndarray of shape (n,), (n, n), (n,)
        l, ascending, U and the multipliers of the symmetrized training matrix; two classes only, as the next five.
    active_ : bool
        False if the anchor itself is optimal: the classifier then equals the one on S clipped (flipped).
    dual_coef_, n_iter_ : ndarray of shape (n,), int
        c, and the number of Newton or interior-point steps, 0 where the anchor is optimal.
    objective_, gap_ : float
        The objective, and the duality gap, an upper bound of its distance to the minimum.
    coef_, intercept_ : ndarray and float, or ndarrays over the pairs of classes for three or more
        U diag(alpha) U'c and b: f(s) = s'coef + b on every row s, positive for ``classes_[1]``.
    pairs_, estimators_ : ndarray of shape (G (G - 1) / 2, 2), list of SimSVM
        Three classes or more: the two classes of each model, the second positive; the two-class models.
    asymmetry_ : float
        ||S - S'|| / (2 ||S||).

    Notes
    -----
    docs/guide/duals.md derives the dual. An eigenvalue that is zero up to round-off keeps the anchor's multiplier.
    ``dual_coef_`` is y . x / (2 eta n) with the dual variables x, so that an inactive constraint gives the model of
    ``SpectrumClip`` and ``SVC(C=1 / (2 n eta))``. The paper takes the c of least norm, with the same values on training
    rows.

    Examples
    --------
    >>> from similis import SimSVM
    >>> S = [[1.0, 0.9, 0.1, 0.2], [0.9, 1, 0.1, 0], [0.1, 0.1, 0, 0.8], [0.2, 0, 0.8, 0]]
    >>> model = SimSVM(eta=0.1, gamma=0.05).fit(S, ["a", "a", "b", "b"])
    >>> model.alpha_.round(2), model.active_
    (array([-0.01,  1.15,  1.92,  2.53]), True)
    """

    eta: float = param(0.01, positive())
    gamma: float = param(0.1, positive())
    anchor: str = param("clip", choice("clip", "flip", "identity"))
    norm: int = param(2, Options(Integral, {1, 2}))
    n_random: int | None = param(None, at_least(1), None)
    random_state: Any = param(None, "random_state")

    _added_params = ("n_random", "random_state")  # since 1.0
    path_params = ("eta", "gamma")
    _names = ("eigenvalues_", "eigenvectors_", "alpha_", "active_", "dual_coef_", "n_iter_")

    def _solutions(self, S: Array, y: Any, points: Points) -> Iterator[Any]:
        spectrum = Spectrum(S, self.anchor, self.norm)
        if self.n_random is None:
            solve = SpectralMachine(y, [spectrum.learned]).solve
        elif spectrum.learned.norm == 1:
            # [chen2010] sec. 5.3.1 -> tau_ij has the mean and the variance of the entries of u_i
            U = spectrum.learned.vectors
            drawn = check_random_state(self.random_state).standard_normal((U.shape[1], self.n_random))
            tau = U.mean(axis=0)[:, None] + U.std(axis=0, ddof=1)[:, None] * drawn
            solve = partial(spectral_lp, y, spectrum.learned, tau)
        else:
            raise ProximityError("n_random needs norm=1 and anchor='clip' or 'flip': the linear program has that norm.")
        for point in points:
            fit = solve(point["eta"], point["gamma"])
            alpha, coef = spectrum.modify(fit.alphas[0], fit.coef)
            found = spectrum.values, spectrum.vectors, alpha, fit.active, fit.coef, fit.n_iter
            yield fit, coef, dict(zip(self._names, found))


class Spectrum:
    """Eigen-system of a similarity with the anchor of its multipliers, of which those of nonzero values are learned."""

    def __init__(self, S: Array, anchor: str, norm: int) -> None:
        system = eigen_system(S)
        self.values, self.vectors = system.values, system.vectors
        self._keep = keep = np.abs(system.values) > system.tolerance
        # [chen2010] below Eq. (5.17) -> alpha_clip = 1 where l >= 0, alpha_flip = sgn(l)
        sign = np.where(keep, np.sign(system.values), 0.0)
        self._anchor = {"identity": np.ones_like(sign), "clip": (sign >= 0).astype(np.float64), "flip": sign}[anchor]
        kind = "identity" if anchor == "identity" else norm
        self.learned = LearntSpectrum(self.values[keep], self.vectors[:, keep], self._anchor[keep], kind)

    def modify(self, alphas: Array, c: Array) -> tuple[Array, Array]:
        """All multipliers, and the coefficients of a row."""
        alpha = self._anchor.copy()
        alpha[self._keep] = alphas
        # [chen2010] Eq. (5.19) -> s~ = U diag(alpha) U's
        return alpha, self.vectors @ (alpha * (self.vectors.T @ c))
