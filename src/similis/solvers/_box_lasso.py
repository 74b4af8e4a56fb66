"""Box-constrained lasso of the potential support vector machine, [chen2010] Eq. (2.8), by an interior-point method."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from similis._utils.arrays import Array, Floats
from similis._utils.threads import single_blas_thread
from similis.solvers._interior_point import Pairs, cholesky, cholesky_solve, predictor_corrector

_SIGNS = np.array([[1.0], [-1.0]])
_TARGET = 1e-10  # relative gap at which the steps end
_REDUCED_GAP = 0.1  # at which coefficients are fixed that are zero or at the bound beyond doubt
_MARGIN = 0.01  # by which they are
_POLISHED_GAP = 1e-4  # from which the exact solution for the present zeros and bounds is tried
_SMALL = 100  # coefficients up to which a step costs too little for that


@dataclass(frozen=True)
class BoxLassoFit:
    """Solution of :func:`box_lasso`.

    Attributes
    ----------
    coef : ndarray of shape (p,)
        The coefficients a; exact zeros off the support, exactly C at the bound.
    objective, gap : float
        ||y - S a||^2 / 2 + epsilon ||a||_1, and an upper bound on how far it is above the minimum, from a dual point.
    n_iter : int
        Interior-point steps.
    """

    coef: Floats
    objective: float
    gap: float
    n_iter: int


def box_lasso(S: Array, y: ArrayLike, epsilon: float, C: float | ArrayLike = np.inf) -> BoxLassoFit:
    """Minimize ||y - S a||^2 / 2 + epsilon ||a||_1 subject to |a_i| <= C_i, [chen2010] Eq. (2.8).

    Parameters
    ----------
    S, y : ndarray of shape (n, p), array of shape (n,)
        Any real matrix: asymmetric, indefinite, rectangular, of any rank and scale; and the target.
    epsilon, C : float, float or array of shape (p,)
        Not negative; positive, infinite for the plain lasso.

    Examples
    --------
    >>> from similis.solvers import box_lasso
    >>> box_lasso([[2, 0, 0], [0, 1, 0], [0, 0, 1]], [1.0, -3.0, 0.05], epsilon=0.1, C=2.0).coef.round(9)
    array([ 0.475, -2.   ,  0.   ])
    """
    return BoxLasso(S, y).solve(epsilon, C)


class BoxLasso:
    """Box-constrained lasso for one matrix and target and many (epsilon, C), which do not affect each other.

    Parameters
    ----------
    S, y
        As in :func:`box_lasso`.
    """

    def __init__(self, S: Array, y: ArrayLike) -> None:
        S = np.ascontiguousarray(S, dtype=np.float64)
        self._scale = float(np.abs(S).max(initial=0.0)) or 1.0
        self._S = S / self._scale
        self._y = np.asarray(y, dtype=np.float64)
        self._q = self._S.T @ self._y
        self._inside: dict[float, BoxLassoFit] = {}

    @cached_property
    def _gram(self) -> Floats:
        return np.asarray(self._S.T @ self._S)

    @single_blas_thread()
    def solve(self, epsilon: float, C: float | ArrayLike = np.inf) -> BoxLassoFit:
        """Solve for one epsilon and one C (or one per coefficient), as in :func:`box_lasso`."""
        # In units of the largest entry. The lasso without a box is the solution for every C that it satisfies.
        eps = float(epsilon) / self._scale
        with np.errstate(over="ignore"):
            box = np.asarray(C, dtype=np.float64) * self._scale
        if eps not in self._inside:
            self._inside[eps] = self._lasso(eps)
        fit = self._inside[eps]
        if (np.abs(fit.coef) > box).any():
            fit = self._boxed(eps, np.broadcast_to(box, self._q.shape))
        return BoxLassoFit(fit.coef / self._scale, fit.objective, fit.gap, fit.n_iter)

    def _lasso(self, eps: float) -> BoxLassoFit:
        """Solve without a box: every solution fulfills |a_i| <= ||y||^2 / (2 epsilon)."""
        largest = float(np.abs(self._q).max(initial=0.0))
        if eps >= largest:
            return self._certified(np.zeros_like(self._q), eps, np.array(0.0), 0)
        if eps <= 1e-13 * largest:  # below the rounding error of the gradient: least squares
            a = linalg.lstsq(self._S, self._y, cond=1e-12, check_finite=False)[0]
            return self._certified(a, eps, np.abs(a).max(), 0)
        return self._boxed(eps, np.full_like(self._q, 1.01 * float(self._y @ self._y) / 2 / eps))

    def _boxed(self, eps: float, box: Floats) -> BoxLassoFit:
        state = _InteriorPoint(self._S, self._gram, self._y, eps, box)
        best = self._certified(np.zeros_like(self._q), eps, box, 0)
        if len(box) >= _SMALL:
            best = self._descend(state, best, eps, box, _REDUCED_GAP)
            part = state.reduced()
            if 0 < np.count_nonzero(part.free) <= 0.8 * len(box):
                fit = self._descend(part, best, eps, box, _TARGET)
                # Coefficients that should not have been fixed would leave a gap.
                if fit.gap <= 10 * _TARGET * self._scale_of(fit):
                    return fit
        return self._descend(state, best, eps, box, _TARGET)

    def _scale_of(self, fit: BoxLassoFit) -> float:
        return max(fit.objective, 1e-8 * float(self._y @ self._y) / 2)

    def _descend(self, state: _InteriorPoint, best: BoxLassoFit, eps: float, box: Floats, tol: float) -> BoxLassoFit:
        """Step until the gap is closed, or the complementarity products are at the level of rounding."""
        trial = _POLISHED_GAP
        while state.steps < 100 and min(best.gap, 100 * state.total) > tol * self._scale_of(best):
            state.step()
            best = min(best, self._certified(state.a, eps, box, state.steps), key=lambda fit: fit.gap)
            if best.gap <= trial * self._scale_of(best):
                fit = self._polished(best, state, eps, box)
                if fit.gap <= _TARGET * self._scale_of(fit):
                    return fit
                trial *= 1e-2
        return best if tol > _TARGET else self._polished(best, state, eps, box)

    def _polished(self, fit: BoxLassoFit, state: _InteriorPoint, eps: float, box: Floats) -> BoxLassoFit:
        """Set coefficients exactly to zero or to the bound by complementarity and solve for the others again."""
        a = state.snapped()
        free = (a != 0) & (np.abs(a) < box)
        candidates = [self._certified(a, eps, box, fit.n_iter)]
        if free.any():
            G = self._gram[np.ix_(free, free)]
            factor = cholesky(G, 1e-15 * G.trace())
            signs = np.sign(a[free])
            for _ in range(3):  # iterative refinement with the residual computed from S
                residual = self._S[:, free].T @ (self._y - self._S @ a) - eps * signs
                a = a.copy()
                a[free] += cholesky_solve(factor, residual)
                if (np.sign(a[free]) != signs).any() or (np.abs(a[free]) > box[free]).any():
                    break
                candidates.append(self._certified(a, eps, box, fit.n_iter))
        best = min(candidates, key=lambda fit: fit.gap)
        return best if best.gap <= max(2 * fit.gap, 1e-12 * self._scale_of(fit)) else fit

    def _certified(self, a: Floats, eps: float, box: Floats, n_iter: int) -> BoxLassoFit:
        """Compute the objective of `a` and its duality gap."""
        u = self._y - self._S @ a
        v = self._S.T @ u
        size, pull, half = np.abs(a), np.abs(v), float(u @ u) / 2
        objective = half + eps * float(size.sum())
        # For t in [0, 1] the dual value y'(t u) - ||t u||^2 / 2 - sum_i C_i max(t |v_i| - epsilon, 0) is a lower bound.
        # Primal minus dual value at t = 1, as a sum of non-negative terms, and at t = epsilon / max |v_i|.
        gap = float((eps * size - a * v + box * np.maximum(pull - eps, 0.0)).sum())
        largest = float(pull.max(initial=0.0))
        if largest > eps:
            t = eps / largest
            gap = min(gap, objective - t * float(self._y @ u) + t * t * half)
        return BoxLassoFit(a, objective, max(gap, 0.0), n_iter)


class _InteriorPoint:
    """Iterate of Mehrotra's predictor-corrector method on a = p - m, 0 <= p, m <= C."""

    # Rows of P are p and m, T = C - P; Z and U are the multipliers of P >= 0 and T >= 0. Coefficients that are not
    # `free` have the values `fixed` and no entries in the other arrays.

    def __init__(self, S: Floats, G: Floats, y: Floats, eps: float, box: Floats) -> None:
        self.S, self.G, self.y, self.eps, self.box = S, G, y, eps, box
        q = S.T @ y
        start = np.minimum(3 * float(np.linalg.norm(q)) / max(float(G.trace()), 1e-300), box / 2)
        self.P, self.T = np.stack([start, start]), box - np.stack([start, start])
        self.Z = np.full_like(self.P, max(eps, 1e-3 * float(np.abs(q).max(initial=0.0))))
        self.U = self.Z * self.P / self.T  # T U = P Z
        self.free, self.fixed, self.steps = np.ones(len(box), dtype=bool), np.zeros(len(box)), 0

    @property
    def a(self) -> Floats:
        return self._coefficients(self.P)

    @property
    def total(self) -> float:
        """Sum of all complementarity products; it is the duality gap where the residual is zero."""
        return float((self.P * self.Z).sum()) + float((self.T * self.U).sum())

    def snapped(self) -> Floats:
        """Return the coefficients, set to zero or to the bound where the multiplier exceeds the distance from it."""
        P = np.where(self.T < self.U * self._typical, self.box, self.P)
        return self._coefficients(np.where(self.P < self.Z * self._typical, 0.0, P))

    def reduced(self) -> _InteriorPoint:
        """Return an iterate without the coefficients that are zero or at the bound by a wide margin."""
        margin = _MARGIN * self._typical
        at_bound = self.T < self.U * margin
        part = copy(self)
        part.free = free = ~((self.P < self.Z * margin).all(axis=0) | at_bound.any(axis=0))
        part.fixed = np.where(at_bound[0], self.box, np.where(at_bound[1], -self.box, 0.0))
        part.y = self.y - self.S @ np.where(free, 0.0, part.fixed)
        part.S, part.G, part.box = np.ascontiguousarray(self.S[:, free]), self.G[np.ix_(free, free)], self.box[free]
        part.P, part.T, part.Z, part.U = (X[:, free] for X in (self.P, self.T, self.Z, self.U))
        return part

    @property
    def _typical(self) -> float:
        """Ratio of a coefficient to a multiplier that tells small from large."""
        return float(np.abs(self.P[0] - self.P[1]).max()) / max(self.eps, float(self.Z.mean()), 1e-300)

    def _coefficients(self, P: Floats) -> Floats:
        a = self.fixed.copy()
        a[self.free] = P[0] - P[1]
        return a

    def step(self) -> None:
        """Take one predictor-corrector step, with S instead of S'S for accuracy in the gradient."""
        self.steps += 1
        P, T, Z, U = self.P, self.T, self.Z, self.U
        residual = _SIGNS * (self.S.T @ (self.S @ (P[0] - P[1]) - self.y)) + self.eps - Z + U
        weight = Z / P + U / T
        D = 1.0 / (1.0 / weight).sum(axis=0)
        factor = cholesky(self.G, D)

        def direction(goals: list[Floats]) -> Pairs:
            rz, ru = goals
            R = -residual + rz / P - ru / T
            rhs = D * (R[0] / weight[0] - R[1] / weight[1])
            da = cholesky_solve(factor, rhs)
            dP = (R - _SIGNS * (rhs - D * da)) / weight  # G da = rhs - D da
            # Where the weight is small this cancels; dp - dm = da gives the same value accurately.
            dP = np.where(weight >= weight[::-1], dP, dP[::-1] + _SIGNS * da)
            return [(dP, (rz - Z * dP) / P), (-dP, (ru + U * dP) / T)]

        ((dP, dZ), (_, dU)), t, _ = predictor_corrector([(P, Z), (T, U)], direction, 0.995)
        self.P, self.T, self.Z, self.U = P + t * dP, T - t * dP, Z + t * dZ, U + t * dU
