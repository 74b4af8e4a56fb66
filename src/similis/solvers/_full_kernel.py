"""The machine that learns the whole kernel under a norm penalty: a one-dimensional search around the Indefinite SVM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from similis.solvers._indefinite import IndefiniteMachine
from similis.solvers._lp_margin import best_intercept

__all__ = ["FullKernelMachine", "FullKernelFit"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FullKernelFit:
    """Solution of :meth:`FullKernelMachine.solve`.

    Attributes
    ----------
    coef : ndarray of shape (n,)
        c; zeros for objects without a label.
    intercept : float
        b.
    rho : float
        K = (S + c c' / (4 rho))_+; infinite where K = S.
    objective : float
        The value of [chen2010] Eq. (5.2).
    gap : float
        How far that is at most above its minimum.
    worth : float
        The objective less gamma times the distance that no kernel avoids: what the gap is compared with.
    distance : float
        ||K - S||_F.
    n_iter : int
        Indefinite SVMs solved.
    """

    coef: Array
    intercept: float
    rho: float
    objective: float
    gap: float
    worth: float
    distance: float
    n_iter: int


class FullKernelMachine:
    """One training set, for all (eta, gamma) of a grid.

    Minimises mean hinge loss + eta c'Kc + gamma ||K - S||_F over c, b and positive semi-definite K, [chen2010] Eq.
    (5.2), the hinge loss and c being those of the labelled objects, Eq. (5.15).

    Parameters
    ----------
    values, vectors, y
        As for :class:`IndefiniteMachine`.

    Notes
    -----
    gamma ||X|| = min_t gamma (||X||^2 / t + t) / 2, so that for given t the problem is the Indefinite SVM with
    C = 1 / (2 n eta) and rho = gamma / (4 eta t), n labelled objects, its value being multiplied by 2 eta. The minimum
    is convex in t and lies where ||K_t - S|| = t. The dual value of a c is the minimum over t with c fixed: O(n^2) a
    step. For a positive semi-definite S the norm adds one constraint to the dual, eta c'c <= gamma; K = S without it.
    """

    def __init__(self, values: NDArray[Any], vectors: NDArray[Any], y: ArrayLike) -> None:
        self.inner = IndefiniteMachine(values, vectors, y)
        self.least = float(np.sqrt(self.inner.below))
        self.y = self.inner.y[self.inner.known]

    def solve(self, eta: float, gamma: float) -> FullKernelFit:
        """Solve for one eta and one gamma, positive.

        Examples
        --------
        >>> import numpy as np
        >>> from similis.solvers import FullKernelMachine
        >>> fit = FullKernelMachine([-1.0, 1.0], np.eye(2)[::-1], [1, -1]).solve(eta=0.1, gamma=0.1)
        >>> bool(fit.gap < 1e-7), round(fit.objective, 4)
        (True, 0.2918)
        """
        C = 1.0 / (2 * len(self.y) * eta)
        v = self.inner._machine_on_clip(C)
        best = self._certified(v, 0.0, eta, gamma, 0) if self.least == 0 else None
        low, high, seen = self.least, np.inf, []
        t = self._best_t(v, eta, gamma)
        for step in range(1, 41):
            if best is not None and best.gap <= 1e-8 * best.worth:
                break
            rho = gamma / (4 * eta * t)
            fit = self.inner.solve(C, rho, start=v)
            v = fit.v
            found = self._certified(v, t, eta, gamma, step)
            best = found if best is None or found.gap < best.gap else best
            low, high = (t, high) if fit.distance > t else (low, t)
            seen.append((np.log(t), np.log(max(fit.distance, 1e-300) / t)))
            t = self._next(seen[-2:], low, high, self._best_t(v, eta, gamma))
            if high < np.inf and high - low <= 1e-13 * high:
                break
        assert best is not None
        return best

    def _next(self, seen: list[tuple[float, float]], low: float, high: float, guess: float) -> float:
        """Where the secant of log(||K_t - S|| / t) over log t ends, or `guess`, if in the bracket; else its middle."""
        (b, fb), t = seen[-1], guess
        if len(seen) == 2 and seen[0][1] != fb:
            a, fa = seen[0]
            t = float(np.exp(b + np.clip(-fb * (b - a) / (fb - fa), -3.0, 3.0)))
        if low < t < high:
            return t
        if low < guess < min(high, 20 * float(np.exp(b))):
            return guess
        if high == np.inf:
            return 4 * low
        return float(np.sqrt(low * high)) if low > 0 else 0.01 * high

    def _best_t(self, v: Array, eta: float, gamma: float) -> float:
        """The t at which ||K - S|| = t for K = (S + eta t v v' / gamma)_+, v fixed.

        There is one only where eta v'v < gamma: v is scaled down to fulfil that.
        """
        v = self._feasible(v, eta, gamma)

        def excess(log_t: float) -> float:
            return float(np.log(max(self._distance(v, np.exp(log_t), eta, gamma)[0], 1e-300)) - log_t)

        size = max(self.least, 1e-8 * float(np.abs(self.inner.poles).max(initial=0.0)), 1e-12)
        low = float(np.log(size))
        if excess(low) <= 0:
            return float(np.exp(low))
        high = low + 1.0
        while excess(high) > 0 and high < 50:
            low, high = high, high + 2.0
        return float(np.exp(brentq(excess, low, high, xtol=1e-12))) if excess(high) <= 0 else float(np.exp(high))

    def _feasible(self, v: Array, eta: float, gamma: float) -> Array:
        """The constraint on v that the norm makes, eta v'v <= gamma, with a little room."""
        return v * min(1.0, float(np.sqrt((1 - 1e-9) * gamma / max(eta * float(v @ v), 1e-300))))

    def _distance(self, v: Array, t: float, eta: float, gamma: float) -> tuple[float, float]:
        """||K - S|| for the kernel of v and t, and ||S||^2 - ||K||^2 less what the positive part of S has."""
        rho = gamma / (4 * eta * t)
        Kv, value = self.inner.update(v, rho)
        square = self.inner.below - value + float(v @ Kv) / (2 * rho)
        return float(np.sqrt(max(square, 0.0))), self.inner.below - value

    def _certified(self, v: Array, t: float, eta: float, gamma: float, n_iter: int) -> FullKernelFit:
        """With primal and dual value."""
        inner, y = self.inner, self.y
        if t == 0:
            rho, distance = np.inf, 0.0
            Kv = inner.vectors @ (np.maximum(inner.values, 0.0) * (inner.vectors.T @ v))
        else:
            rho = gamma / (4 * eta * t)
            distance = self._distance(v, t, eta, gamma)[0]
            Kv = inner.update(v, rho)[0]
        f = Kv[inner.known]
        b = best_intercept(f, y, 1.0 / len(y))
        loss = float(np.maximum(1 - y * (f + b), 0.0).mean())
        primal = loss + eta * float(v @ Kv) + gamma * distance
        gap = primal - self._dual(v, eta, gamma)
        worth = max(primal - gamma * self.least, 1e-12)
        return FullKernelFit(v, b, rho, primal, max(gap, 0.0), worth, distance, n_iter)

    def _dual(self, v: Array, eta: float, gamma: float) -> float:
        """The smallest value over K, and so over t, for fixed v: a lower bound of the minimum."""
        if self.least == 0:  # the constraint eta v'v <= gamma is all that the norm makes
            v = v * min(1.0, float(np.sqrt(gamma / max(eta * float(v @ v), 1e-300))))
            x = 2 * eta * float(self.inner.y @ v)
            return x - eta * float(np.maximum(self.inner.values, 0.0) @ (self.inner.vectors.T @ v) ** 2)
        v = self._feasible(v, eta, gamma)
        x, t = 2 * eta * float(self.inner.y @ v), self._best_t(v, eta, gamma)
        return x + gamma / (2 * t) * self._distance(v, t, eta, gamma)[1] + gamma * t / 2
