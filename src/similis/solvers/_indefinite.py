"""SVMs that learn the whole kernel near an indefinite similarity, [chen2010] sec. 5.1.

The Indefinite SVM penalizes the squared Frobenius distance of kernel and similarity, Eq. (5.8); full kernel learning
penalizes the distance itself, Eq. (5.2), and is solved by a one-dimensional search around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg
from scipy.optimize import brentq

from similis import _kernels
from similis._utils.arrays import Array, Floats, Indices
from similis._utils.moved import former_name
from similis._utils.threads import single_blas_thread
from similis.solvers._interior_point import Block, InteriorPoint, balanced, class_balance
from similis.solvers._local_svm import best_intercept, svm_path

_TARGET = 1e-8  # relative gap at which the ascent ends


@dataclass(frozen=True)
class IndefiniteFit:
    """Solution of :meth:`IndefiniteMachine.solve`.

    Attributes
    ----------
    v : ndarray of shape (n,)
        y . alpha, the coefficients of the SVM on the learned kernel; zeros for objects without a label.
    intercept, objective, gap : float
        The optimal b for `v`, the value of [chen2010] Eq. (5.8) at alpha, and a bound on its distance to the maximum.
    gap_scale, distance : float
        The objective minus its part that no solution avoids, and ||K - S||_F of the kernel K = (S + v v' / (4 rho))_+.
    n_iter : int
        Steps of the ascent plus interior-point steps.
    """

    v: Floats
    intercept: float
    objective: float
    gap: float
    gap_scale: float
    distance: float
    n_iter: int
    worth = former_name("worth", "gap_scale")


class IndefiniteMachine:
    """Indefinite SVM of one training set for all (C, rho) of a grid.

    Maximizes min_K 1'alpha - v'Kv / 2 + rho ||K - S||_F^2, K >= 0 and v = y . alpha, over 0 <= alpha <= C, y'alpha = 0,
    [chen2010] Eq. (5.8). The gap is that of the saddle point, v'Kv + C sum hinge - 1'alpha with the optimal b.

    Parameters
    ----------
    values, vectors, y : ndarray of shape (n,) and (n, n), array of shape (n,)
        The eigen-system of S, eigenvalues ascend; labels, 1 and -1, both present, 0 for a missing one.

    Examples
    --------
    >>> from similis.solvers import IndefiniteMachine
    >>> IndefiniteMachine([-1.0, 1.0], [[0, 1], [1, 0]], [1, -1]).solve(C=10.0, rho=1.0).v.round(4)
    array([ 1.1252, -1.1252])
    """

    def __init__(self, values: Array, vectors: Array, y: ArrayLike) -> None:
        self.y = np.ascontiguousarray(y, dtype=np.float64)
        values = np.asarray(values, dtype=np.float64)
        self.vectors = np.ascontiguousarray(vectors, dtype=np.float64)
        scale = float(np.abs(values).max(initial=0.0))
        # Eigenvalues that are equal up to rounding are one pole. The ascent, whose steps cost O(poles^2), merges nearly
        # equal ones too: many similarities have a long tail near zero.
        self.poles, self.group = _merged(values, 1e-14 * scale)
        self.near = _merged(values, 1e-10 * scale)
        self.values = self.poles[self.group]
        self.known = np.flatnonzero(self.y)
        self.below = float((np.minimum(self.values, 0.0) ** 2).sum())  # squared distance from the cone
        self._clipped: dict[float, Floats] = {}

    @cached_property
    def matrix(self) -> Floats:
        return np.asarray((self.vectors * self.values) @ self.vectors.T)

    @single_blas_thread()
    def solve(self, C: float, rho: float, start: Floats | None = None) -> IndefiniteFit:
        """Solve for C and rho, positive; `start` is a feasible v, by default that of the SVM on the clipped S."""
        v = self._machine_on_clip(C) if start is None else start
        best = self.certified(v, C, rho)
        # Accelerated ascent ([beck2009]), and interior points if it does not end in the time of a few decompositions.
        (poles, group), n, taken = self.near, len(self.y), 0
        V, Z, work = np.zeros((5, n)), np.zeros((5, n)), np.zeros((5, len(poles)))
        V[:3], Z[:3] = v, self.vectors.T @ v
        slope = float(np.abs(self.poles).max(initial=0.0)) + 0.25 / rho * float(v @ v)
        state = np.array([max(slope, 1e-12), 1.0, float(self.y @ v) - rho * self.update(v, rho)[1]])
        while best.gap > _TARGET * best.gap_scale and taken < max(100, n):
            _kernels.ascend(self.vectors, poles, group, self.y, float(C), float(rho), 10, V, Z, work, state)
            taken += 10
            best = min(best, self.certified(V[0].copy(), C, rho, taken), key=lambda fit: fit.gap)
        if best.gap > _TARGET * best.gap_scale:
            best = min(best, self._newton(C, rho, taken), key=lambda fit: fit.gap)
        return best

    def project(self, v: Floats, rho: float) -> Floats:
        """Project v on the range of K; rho may be infinite."""
        if rho == np.inf:
            U = self.vectors[:, self.values > 0]
            return np.asarray(U @ (U.T @ v))
        return self.update(v, rho, project=True)[0]

    def update(self, v: Floats, rho: float, *, project: bool = False) -> tuple[Floats, float]:
        """Return K v, or v projected on the range of K, and ||K||^2 - ||S_+||^2 for K = (S + v v' / (4 rho))_+."""
        z = self.vectors.T @ v
        weight = np.bincount(self.group, weights=z**2, minlength=len(self.poles))
        # K is that of a diagonal matrix with a rank-one update: its secular equation ([bunch1978]) costs O(n^2).
        factor, work = np.empty_like(self.poles), np.empty((3, len(self.poles)))
        value = _kernels.rank_one_positive(self.poles, weight, 0.25 / rho, project, factor, work)
        return np.asarray(self.vectors @ (factor[self.group] * z)), float(value)

    def certified(self, v: Floats, C: float, rho: float, n_iter: int = 0) -> IndefiniteFit:
        """Compute intercept, objective and gap of v."""
        Kv, value = self.update(v, rho)
        y, f, square, total = self.y[self.known], Kv[self.known], float(v @ Kv), float(self.y @ v)
        b = best_intercept(f, y, C)
        objective = total - rho * value + rho * self.below
        gap = square + C * float(np.maximum(1 - y * (f + b), 0.0).sum()) - total
        distance = float(np.sqrt(max(self.below - value + square / (2 * rho), 0.0)))
        return IndefiniteFit(v, b, objective, max(gap, 0.0), max(total - rho * value, 1e-12), distance, n_iter)

    def kernel(self, v: Floats, rho: float) -> tuple[Floats, Floats]:
        """Return the positive eigenvalues and their eigenvectors of K = (S + v v' / (4 rho))_+; rho may be infinite."""
        M = self.matrix + (0.0 if rho == np.inf else np.outer(v, v) / (4 * rho))
        values, vectors = linalg.eigh(M, driver="evd", check_finite=False)
        keep = values > 10 * np.sqrt(len(v)) * np.finfo(np.float64).eps * float(np.abs(values).max(initial=0.0))
        return values[keep], vectors[:, keep]

    def _machine_on_clip(self, C: float) -> Floats:
        """Return v of the support vector machine on the clipped S."""
        if C not in self._clipped:
            above = self.values > 0
            B = self.vectors[np.ix_(self.known, above)] * np.sqrt(self.values[above])
            self._clipped[C] = self._placed(svm_path(B @ B.T, self.y[self.known], [C]).coef[0])
        return self._clipped[C]

    def _placed(self, part: Floats) -> Floats:
        """Return the values of the labeled objects among zeros."""
        v = np.zeros_like(self.y)
        v[self.known] = part
        return v

    def _newton(self, C: float, rho: float, taken: int) -> IndefiniteFit:
        """Take interior-point steps until the gap is closed or stops falling."""
        y = self.y[self.known]
        point = InteriorPoint(y, [_KernelOfVector(self, C, rho)], class_balance(y))
        fits: list[IndefiniteFit] = []
        for step in range(1, 101):
            moved = point.step()
            v = self._placed(C * y * balanced(np.clip(point.x, 0.0, 1.0), y))
            fits.append(self.certified(v, C, rho, taken + step))
            best = min(fits, key=lambda fit: fit.gap)
            if not moved or best.gap <= 0.1 * _TARGET * best.gap_scale or step + taken - best.n_iter > 15:
                break
        return best


def _merged(values: Floats, width: float) -> tuple[Floats, Indices]:
    """Group ascending `values` that span at most `width`: a value of each group, and the group of each value."""
    first: list[int] = []
    for i, value in enumerate(values):
        if not first or value > values[first[-1]] + width:
            first.append(i)
    sizes = np.diff([*first, len(values)])
    return values[np.array(first, dtype=np.intp) + (sizes - 1) // 2], np.repeat(np.arange(len(first)), sizes)


class _KernelOfVector(Block):
    """Convex cost rho ||(S + v v' / (4 rho))_+||^2 / C of x, v = C y . x, without constraints."""

    def __init__(self, machine: IndefiniteMachine, C: float, rho: float) -> None:
        self.machine, self.C, self.rho = machine, C, rho

    def evaluate(self, x: Floats) -> Floats:
        """Return the gradient y . (M_+ v) from the eigendecomposition that the Hessian needs."""
        known, y = self.machine.known, self.machine.y
        v = self.machine._placed(self.C * y[known] * x)
        M = self.machine.matrix + np.outer(v, v) / (4 * self.rho)
        self.mu, self.W = linalg.eigh(M, driver="evd", check_finite=False)
        self.h = self.W.T @ v
        return np.asarray(y[known] * (self.W[known] @ (np.maximum(self.mu, 0.0) * self.h)))

    def eliminate(self, H: Floats) -> None:
        """Add the second derivative, in the eigenbasis diag(mu_+ + T h^2 / (4 rho)) + T . hh' / (4 rho)."""
        # T are the divided differences of max(., 0): 1 among positive eigenvalues, 0 among negative ones, and mu_i /
        # (mu_i - mu_j) between a positive and a negative one.
        machine, sigma, positive, up = self.machine, 0.25 / self.rho, self.mu > 0, np.maximum(self.mu, 0.0)
        mixed = up[positive, None] / (self.mu[positive, None] - self.mu[~positive])
        zeros, ones = np.zeros((len(mixed.T), len(mixed.T))), np.ones((len(mixed), len(mixed)))
        T = np.block([[zeros, mixed.T], [mixed, ones]])  # eigenvalues ascend
        inner = sigma * T * self.h[:, None] * self.h
        inner.flat[:: len(up) + 1] += up + sigma * (T @ self.h**2)
        B = machine.y[machine.known, None] * self.W[machine.known]
        H += self.C * ((B @ inner) @ B.T)


@dataclass(frozen=True)
class FullKernelFit:
    """Solution of :meth:`FullKernelMachine.solve`.

    Attributes
    ----------
    coef, intercept, rho : ndarray of shape (n,), float, float
        c, zeros for objects without a label, b, and rho of K = (S + c c' / (4 rho))_+; infinite where K = S.
    objective, gap, gap_scale, distance : float
        The value of [chen2010] Eq. (5.2), a bound on its error, and as in :class:`IndefiniteFit`.
    n_iter : int
        Number of Indefinite SVMs that were solved.
    """

    coef: Floats
    intercept: float
    rho: float
    objective: float
    gap: float
    gap_scale: float
    distance: float
    n_iter: int
    worth = former_name("worth", "gap_scale")


class FullKernelMachine:
    """Full kernel learning on one training set for all (eta, gamma) of a grid.

    Minimizes mean hinge loss + eta c'Kc + gamma ||K - S||_F over c, b and K >= 0, [chen2010] Eq. (5.2), the hinge loss
    and c being those of the labeled objects, Eq. (5.15).

    Parameters
    ----------
    values, vectors, y
        As for :class:`IndefiniteMachine`.
    """

    def __init__(self, values: Array, vectors: Array, y: ArrayLike) -> None:
        self.inner = IndefiniteMachine(values, vectors, y)
        self.least = float(np.sqrt(self.inner.below))
        self.y = self.inner.y[self.inner.known]

    @single_blas_thread()
    def solve(self, eta: float, gamma: float) -> FullKernelFit:
        """Solve for one eta and one gamma, positive."""
        # gamma ||X|| = min_t gamma (||X||^2 / t + t) / 2: for given t the problem is the Indefinite SVM with this C and
        # rho = gamma / (4 eta t), its value times 2 eta, and the minimum lies where ||K_t - S|| = t. For S >= 0 the
        # norm adds one constraint to the dual, eta c'c <= gamma; K = S where it is inactive.
        C = 1.0 / (2 * len(self.y) * eta)
        v = self.inner._machine_on_clip(C)
        best = self._certified(v, 0.0, eta, gamma, 0) if self.least == 0 else None
        # Root of log(||K_t - S|| / t) in log t: bracket [low, high], secant steps through the last two points.
        low, high, seen, t = self.least, np.inf, [], self._best_t(v, eta, gamma)
        for step in range(1, 41):
            if best is not None and best.gap <= 1e-8 * best.gap_scale:
                break
            fit = self.inner.solve(C, gamma / (4 * eta * t), start=v)
            v, candidate = fit.v, self._certified(fit.v, t, eta, gamma, step)
            best = candidate if best is None or candidate.gap < best.gap else best
            low, high = (t, high) if fit.distance > t else (low, t)
            seen.append((np.log(t), np.log(max(fit.distance, 1e-300) / t)))
            t = self._next(seen[-2:], low, high, self._best_t(v, eta, gamma))
            if high < np.inf and high - low <= 1e-13 * high:
                break
        assert best is not None
        return best

    def _next(self, seen: list[tuple[float, float]], low: float, high: float, guess: float) -> float:
        """Choose the next t: the secant step of log(||K_t - S|| / t) over log t, `guess`, or bisection."""
        (a, fa), (b, fb), t = seen[0], seen[-1], guess
        if fa != fb:
            t = float(np.exp(b + np.clip(-fb * (b - a) / (fb - fa), -3.0, 3.0)))
        if low < t < high:
            return t
        if low < guess < min(high, 20 * float(np.exp(b))):
            return guess
        middle = float(np.sqrt(low * high)) if low > 0 else 0.01 * high
        return middle if high < np.inf else 4 * low

    def _best_t(self, v: Floats, eta: float, gamma: float) -> float:
        """Solve ||K - S|| = t for K = (S + eta t v v' / gamma)_+, v fixed and scaled down so that a solution exists."""
        v = self._feasible(v, eta, gamma)

        def excess(log_t: float) -> float:
            return float(np.log(max(self._distance(v, np.exp(log_t), eta, gamma)[0], 1e-300)) - log_t)

        low = float(np.log(max(self.least, 1e-8 * float(np.abs(self.inner.poles).max(initial=0.0)), 1e-12)))
        if excess(low) <= 0:
            return float(np.exp(low))
        high = low + 1.0
        while excess(high) > 0 and high < 50:
            low, high = high, high + 2.0
        return float(np.exp(brentq(excess, low, high, xtol=1e-12))) if excess(high) <= 0 else float(np.exp(high))

    def _feasible(self, v: Floats, eta: float, gamma: float) -> Floats:
        """Scale v down to the dual constraint of the norm, eta v'v < gamma."""
        return v * min(1.0, float(np.sqrt((1 - 1e-9) * gamma / max(eta * float(v @ v), 1e-300))))

    def _distance(self, v: Floats, t: float, eta: float, gamma: float) -> tuple[float, float, Floats]:
        """Return ||K - S||, ||S||^2 - ||K||^2 and K v for the kernel of v and t."""
        rho = gamma / (4 * eta * t)
        Kv, value = self.inner.update(v, rho)
        rest = self.inner.below - value
        return float(np.sqrt(max(rest + float(v @ Kv) / (2 * rho), 0.0))), rest, Kv

    def _certified(self, v: Floats, t: float, eta: float, gamma: float, n_iter: int) -> FullKernelFit:
        """Compute primal and dual value of v and t."""
        inner, y = self.inner, self.y
        if t == 0:
            rho, distance = np.inf, 0.0
            Kv = inner.vectors @ (np.maximum(inner.values, 0.0) * (inner.vectors.T @ v))
        else:
            rho, (distance, _, Kv) = gamma / (4 * eta * t), self._distance(v, t, eta, gamma)
        f = Kv[inner.known]
        b = best_intercept(f, y, 1.0 / len(y))
        primal = float(np.maximum(1 - y * (f + b), 0.0).mean()) + eta * float(v @ Kv) + gamma * distance
        gap = max(primal - self._dual(v, eta, gamma), 0.0)
        return FullKernelFit(v, b, rho, primal, gap, max(primal - gamma * self.least, 1e-12), distance, n_iter)

    def _dual(self, v: Floats, eta: float, gamma: float) -> float:
        """Return the smallest value over K for fixed v, a lower bound of the minimum."""
        if self.least == 0:  # S is positive semi-definite: the norm only adds the constraint eta v'v <= gamma
            v = v * min(1.0, float(np.sqrt(gamma / max(eta * float(v @ v), 1e-300))))
            x = 2 * eta * float(self.inner.y @ v)
            return x - eta * float(np.maximum(self.inner.values, 0.0) @ (self.inner.vectors.T @ v) ** 2)
        v = self._feasible(v, eta, gamma)
        x, t = 2 * eta * float(self.inner.y @ v), self._best_t(v, eta, gamma)
        return x + gamma / (2 * t) * self._distance(v, t, eta, gamma)[1] + gamma * t / 2
