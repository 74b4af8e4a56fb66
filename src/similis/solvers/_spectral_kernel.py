"""SVMs that learn spectrum multipliers (SimSVM) or kernel weights (MKL, SimMKL), [chen2010] sec. 5.2, 5.4.

For fixed dual variables the minimum over multipliers and weights has a closed form: what is left is the dual of an SVM
with few convex constraints (docs/guide/duals.md); each :class:`Block` is one similarity or set of kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from similis import _kernels
from similis._utils.arrays import Array, Floats
from similis._utils.moved import former_name
from similis._utils.threads import single_blas_thread
from similis.solvers._interior_point import Block, InteriorPoint, balanced, class_balance, improve_in_box
from similis.solvers._local_svm import best_intercept, svm_path

_TARGET = 1e-9  # relative gap at which the steps end
_LARGE = 150  # objects from which steps in few variables are faster than interior points
# Steps in few variables:
_MAX_VIOLATORS = 50  # of each direction in one step
_MAX_STEPS = 100
# The quadratic programs need not be exact: their solution is the direction of a line search.
_PAIRS = 2  # steps of two variables, times the number of variables
_LOOSE = 0.1  # part of the violation at which they end
_PIVOTS = 8  # changes of the active set after them
_PENALTY = 100.0  # weight of the squared constraint, times n


@dataclass(frozen=True)
class LearntSpectrum:
    """Similarity U diag(values) U' with learned multipliers.

    Attributes
    ----------
    values, vectors : ndarrays of shape (r,) and (n, r)
        Non-zero eigenvalues (a zero eigenvalue has no multiplier to learn) and their eigenvectors, in columns.
    anchor, norm : ndarray of shape (r,), {2, 1, "identity"}
        a0, with values * a0 >= 0, and the penalty h(a) = ||a - a0||_2, ||a - a0||_1 or ||values (a - 1)||_2.
    """

    values: Floats
    vectors: Floats
    anchor: Floats
    norm: int | str = 2


@dataclass(frozen=True)
class SpectralFit:
    """Solution of :meth:`SpectralMachine.solve`.

    Attributes
    ----------
    x, coef, intercept : ndarrays of shape (n,), float
        Dual variables in [0, 1], y'x = 0; c = y . x / (2 eta n), up to rounding, and b of f = K c + b.
    alphas, weights : list of ndarray, ndarray of shape (m,)
        Learned multipliers of each similarity, and weights of the kernels.
    objective, gap : float
        Primal value, [chen2010] Eq. (5.20) or (5.35), and primal minus dual value, a bound on its error.
    active, n_iter, gap_scale : bool, int, float
        False if every anchor is optimal; Newton or interior-point steps; the objective minus the smallest penalty.
    """

    x: Floats
    alphas: list[Floats]
    weights: Floats
    coef: Floats
    intercept: float
    objective: float
    gap: float
    active: bool
    n_iter: int
    gap_scale: float
    worth = former_name("worth", "gap_scale")


class SpectralMachine:
    """SimSVM, SimMKL or multiple kernel learning on one training set for all (eta, gamma) of a grid.

    Minimizes mean hinge loss + eta c'Kc + gamma sum_k h_k(a_k) over c, b, the multipliers a_k and weights w >= 0, where
    K = sum_k U_k diag(a_k l_k) U_k' + sum_j w_j K_j, a_k l_k >= 0 and sum_j w_j tr K_j <= trace.

    Parameters
    ----------
    y : array of shape (n,)
        Labels, 1 and -1, both present.
    similarities, kernels : sequences of LearntSpectrum, and of ndarray of shape (n, n)
        Similarities with a learned spectrum, and positive semi-definite kernels.
    trace : float, optional
        Bound of sum_j w_j tr K_j; required with kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.solvers import LearntSpectrum, SpectralMachine
    >>> similarity = LearntSpectrum(np.array([-1.0, 2.0]), np.eye(2), np.array([0.0, 1.0]))
    >>> SpectralMachine([1, -1], [similarity]).solve(eta=0.1, gamma=0.1).alphas[0].round(3)
    array([-0.198,  1.396])
    """

    def __init__(
        self,
        y: ArrayLike,
        similarities: Sequence[LearntSpectrum] = (),
        kernels: Sequence[Array] = (),
        trace: float | None = None,
    ) -> None:
        self.y, self.similarities, self._given = np.asarray(y, dtype=np.float64), list(similarities), len(kernels)
        traces = [float(np.trace(K)) for K in kernels]
        self._used = [j for j, t in enumerate(traces) if t > 0]  # a zero kernel has no weight to learn
        self.kernels = [np.asarray(kernels[j], dtype=np.float64) for j in self._used]
        self.trace = 0.0 if trace is None else float(trace)
        self._bases = [self.y[:, None] * s.vectors for s in self.similarities]
        self._anchored: dict[float, Floats] = {}

    @single_blas_thread()
    def solve(self, eta: float, gamma: float) -> SpectralFit:
        """Solve for one eta and one gamma, the weights of c'Kc and of the penalties h, positive."""
        state = _State(self, eta, gamma)
        if not self.kernels and not any(isinstance(block, IdentityBlock) for block in state.blocks):
            x = self._machine_on_anchors(eta)
            if all(block.excess(block.B.T @ x) <= 1 + 1e-12 for block in state.blocks):
                return state.certified(x, state.anchors, np.zeros(0), 0, active=False)  # the SVM on the anchors
            if len(self.y) >= _LARGE and len(state.blocks) == 1 and type(state.blocks[0]) is Norm2Block:

                def certify(x: Floats, alpha: Floats, steps: int) -> SpectralFit:
                    return state.certified(x, [alpha], np.zeros(0), steps)

                fit = minimize_in_ball(state.blocks[0], self.y, balanced(x, self.y), certify, _TARGET)
                if fit is not None and fit.gap <= 10 * _TARGET * fit.gap_scale:
                    return fit
        fit = state.run()
        if fit.gap > 1e-7 * fit.gap_scale:
            fit = min(fit, _State(self, eta, gamma, cautious=True).run(), key=lambda fit: fit.gap)
        return fit

    def _machine_on_anchors(self, eta: float) -> Floats:
        """Return the dual variables of the support vector machine on the kernel of the anchors."""
        if eta not in self._anchored:
            C = 1.0 / (2 * len(self.y) * eta)
            self._anchored[eta] = np.abs(svm_path(self._anchor_kernel, self.y, [C]).coef[0]) / C
        return self._anchored[eta]

    @cached_property
    def _anchor_kernel(self) -> Floats:
        parts = [(s.vectors * (s.values * s.anchor)) @ s.vectors.T for s in self.similarities]
        return np.asarray(sum(parts, np.zeros((len(self.y), len(self.y)))))


class _State:
    """Solution process for one (eta, gamma): the blocks, the interior point and the certificate."""

    def __init__(self, machine: SpectralMachine, eta: float, gamma: float, *, cautious: bool = False) -> None:
        self.machine, self.eta, self.y, self.n = machine, eta, machine.y, len(machine.y)
        y, k = self.y, 1.0 / (4 * eta * self.n**2)
        self.blocks = [_block(s, B, gamma, k) for s, B in zip(machine.similarities, machine._bases) if s.values.size]
        self.kernel_block = KernelBlock(machine.kernels, y, machine.trace, k) if machine.kernels else None
        # Initial multipliers: the anchors, or zero where they do not give a kernel.
        self.anchors = [np.where(block.values * block.anchor >= 0, block.anchor, 0.0) for block in self.blocks]
        x, everything = class_balance(y), [*self.blocks, *([self.kernel_block] if self.kernel_block else [])]
        self.point = InteriorPoint(y, everything, x / max(1.0, np.sqrt(2 * self._excess(x))), cautious=cautious)

    def _excess(self, x: Floats) -> float:
        return max((block.excess(block.B.T @ x) for block in self.blocks), default=0.0)

    def run(self) -> SpectralFit:
        """Step until the gap is closed or stops falling."""
        traces = self.kernel_block.traces if self.kernel_block else np.empty(0)
        even = self.machine.trace / (len(traces) * traces)  # the trace divided equally among the kernels
        best, last = self.certified(self.point.x, self.anchors, even, 0), 0
        for step in range(1, 201):
            if not self.point.step():
                break
            # The products sum to n times the gap where all constraints hold: far from the end no certificate is needed.
            left = self.point.total / (self.n * best.gap_scale)
            if left > 1e3 * _TARGET and step % 8:
                continue
            weights = self.kernel_block.weights() if self.kernel_block else np.zeros(0)
            fit = self.certified(self.point.x, [block.multipliers() for block in self.blocks], weights, step)
            if fit.gap < best.gap:
                best, last = fit, step
            if best.gap <= _TARGET * best.gap_scale or step - last > 25 or left < 1e-5 * _TARGET:
                break
        return best

    def certified(
        self, x: Floats, alphas: list[Floats], weights: Floats, n_iter: int, *, active: bool = True
    ) -> SpectralFit:
        """Make x feasible and compute primal and dual value."""
        y, n, machine = self.y, self.n, self.machine
        x = balanced(np.clip(x, 0.0, 1.0), y)
        x = x / max(1.0, np.sqrt(self._excess(x)))
        c = y * x / (2 * self.eta * n)
        Kc, dual, penalty = np.zeros(n), float(x.mean()), 0.0
        for block, alpha in zip(self.blocks, alphas):
            g = block.B.T @ x
            Kc += y * (block.B @ (block.values * alpha * g)) / (2 * self.eta * n)
            dual -= block.conjugate(g)
            penalty += block.penalty(alpha)
        if self.kernel_block:
            for w, K in zip(weights, machine.kernels):
                Kc += w * (K @ c)
            dual -= machine.trace * float(self.kernel_block.forms(x).max())
        b = best_intercept(Kc, y, 1.0 / n)
        margins, square = y * (Kc + b), self.eta * float(c @ Kc)
        loss = float(np.maximum(1 - margins, 0.0).mean())
        # Margins violated by rounding cost more than a larger c where the loss is nearly zero: scale until they hold.
        if 0 < (slack := float(1 - margins.min())) < 1e-6:
            larger = (1 + 4 * np.finfo(float).eps) / (1 - slack)
            rest = float(np.maximum(1 - larger * margins, 0.0).mean())
            if rest + larger**2 * square < loss + square:
                c, b, loss, square = larger * c, larger * b, rest, larger**2 * square
        primal = loss + square + penalty
        found, full = iter(alphas), np.zeros(machine._given)
        everywhere = [next(found) if s.values.size else np.zeros(0) for s in machine.similarities]
        full[machine._used] = weights
        gap_scale = max(primal - sum(block.least for block in self.blocks), 1e-12)
        return SpectralFit(x, everywhere, full, c, b, primal, max(primal - dual, 0.0), active, n_iter, gap_scale)


def _block(similarity: LearntSpectrum, B: Floats, gamma: float, k: float) -> Norm2Block | IdentityBlock:
    """Build the block of a similarity; the identity regularizer needs extra variables only for negative eigenvalues."""
    data = (B, similarity.values, similarity.anchor, gamma, k)
    if similarity.norm == "identity":
        return Norm2Block(*data, of_values=True) if (similarity.values > 0).all() else IdentityBlock(*data)
    return Norm2Block(*data) if similarity.norm == 2 else Norm1Block(*data)


class _SpectralBlock(Block):
    """Similarity U diag(l) U' with learned multipliers a; B = diag(y) U, k = 1 / (4 eta n^2), g = B'x."""

    least = 0.0  # smallest possible penalty

    def __init__(self, B: Floats, values: Floats, anchor: Floats, gamma: float, k: float) -> None:
        self.B, self.values, self.anchor, self.gamma, self.k, self.n = B, values, anchor, gamma, k, len(B)
        self.cost = 2 * self.n * k * values * anchor  # twice the weight of g_i^2 in n times the dual

    def start(self, x: Floats, mean: float) -> None:
        """Choose the exact slacks where x is feasible."""
        self.z = np.zeros(1)
        self.evaluate(x)
        self.s = np.maximum(-self.c, 0.1)
        self.z = mean / self.s


class Norm2Block(_SpectralBlock):
    """Regularizer h(a) = ||(l / d)(a - a0)||_2: the SVM dual on a0 with ||p||_2 <= gamma, p_i = k d_i g_i^2."""

    # d = l for the distance of a from a0; d = 1 for the distance of l a from l without negative eigenvalues. The
    # constraint is c = ||p|| / gamma - 1, the norm and not its square, for which Newton's method needs many more steps.

    def __init__(self, B: Floats, values: Floats, anchor: Floats, gamma: float, k: float, *, of_values: bool = False):
        super().__init__(B, values, anchor, gamma, k)
        self.kd = k * (np.ones_like(values) if of_values else values)

    def evaluate(self, x: Floats) -> Floats:
        self.g = self.B.T @ x
        p = self.kd * self.g**2
        self.size = float(np.linalg.norm(p))
        self.unit = p / self.size if self.size > 0 else p
        self.c = np.array([self.size / self.gamma - 1.0])
        self.gradient = self.B @ (2 * self.kd * self.unit * self.g / self.gamma)
        return np.asarray(self.B @ (self.cost * self.g) + self.z[0] * self.gradient)

    def eliminate(self, H: Floats) -> None:
        """Add the second derivative of ||p||: 6 k d p / ||p|| on the diagonal minus grad grad' / ||p||."""
        add_gram(H, self.B, self.cost + self.z[0] * 6 * self.kd * self.unit / self.gamma)
        bend = self.z[0] / self.s[0] - (self.z[0] * self.gamma / self.size if self.size > 0 else 0.0)
        H += bend * np.outer(self.gradient, self.gradient)

    def push(self, e: Floats) -> Floats:
        return -self.lift(e)[0] * self.gradient

    def change(self, dx: Floats, e: Floats) -> Floats:
        return np.array([self.gradient @ dx])

    def multipliers(self) -> Floats:
        """Return a = a0 + r (d / l) p / ||p|| with r = z / (n gamma)."""
        r = float(self.z[0]) / (self.n * self.gamma)
        return np.asarray(self.anchor + r * (self.kd / (self.k * self.values)) * self.unit)

    def excess(self, g: Floats) -> float:
        """Return ||p|| / gamma, at most 1 for a feasible x; quadratic in x."""
        return float(np.linalg.norm(self.kd * g**2)) / self.gamma

    def penalty(self, alpha: Floats) -> float:
        return self.gamma * float(np.linalg.norm(self.k * self.values / self.kd * (alpha - self.anchor)))

    def conjugate(self, g: Floats) -> float:
        """Return the conjugate of the penalty, which is subtracted from the dual value, for feasible g."""
        return self.k * float((self.values * self.anchor) @ g**2)


class Norm1Block(Norm2Block):
    """Regularizer h(a) = ||a - a0||_1: the SVM dual on a0 with k |l_i| g_i^2 <= gamma for each i."""

    def evaluate(self, x: Floats) -> Floats:
        self.g = self.B.T @ x
        self.bound = 2 * self.k * np.abs(self.values) / self.gamma
        self.c = 0.5 * self.bound * self.g**2 - 1.0
        self.slope = self.bound * self.g
        return np.asarray(self.B @ (self.cost * self.g + self.z * self.slope))

    def eliminate(self, H: Floats) -> None:
        add_gram(H, self.B, self.cost + self.z * self.bound + self.z / self.s * self.slope**2)

    def push(self, e: Floats) -> Floats:
        return np.asarray(-self.B @ (self.lift(e) * self.slope))

    def change(self, dx: Floats, e: Floats) -> Floats:
        return np.asarray(self.slope * (self.B.T @ dx))

    def multipliers(self) -> Floats:
        """Return a_i = a0_i + sign(l_i) z_i / (n gamma)."""
        return np.asarray(self.anchor + np.sign(self.values) * self.z / (self.n * self.gamma))

    def excess(self, g: Floats) -> float:
        return float((self.k * np.abs(self.values) * g**2).max(initial=0.0)) / self.gamma

    def penalty(self, alpha: Floats) -> float:
        return self.gamma * float(np.abs(alpha - self.anchor).sum())


class IdentityBlock(_SpectralBlock):
    """Regularizer h(a) = ||l (a - 1)||_2: cost l'u with u_i >= q_i = k g_i^2 and ||u||_2 <= gamma."""

    # Constraints: c_i = q_i - u_i with the multiplier l_i a_i, and last ||u|| / gamma - 1.

    def __init__(self, B: Floats, values: Floats, anchor: Floats, gamma: float, k: float) -> None:
        super().__init__(B, values, anchor, gamma, k)
        self.below = np.maximum(-values, 0.0)
        self.least = gamma * float(np.linalg.norm(self.below))  # the distance of the spectrum from the cone

    def start(self, x: Floats, mean: float) -> None:
        """Choose u > q in the ball, mostly along negative eigenvalues, and multipliers for which u is stationary."""
        q = self.k * (self.B.T @ x) ** 2
        unavoidable = float(np.linalg.norm(self.below))
        t = 0.3 * self.gamma / unavoidable if unavoidable > 0 else np.inf
        self.u = q + 0.1 * self.gamma / np.sqrt(len(q)) + (t * self.below if unavoidable > 0 else 0.0)
        self.z = np.zeros(len(q) + 1)
        self.evaluate(x)
        self.s = np.append(self.u - q, max(1.0 - self.size / self.gamma, 0.05))
        edge = max(self.n * self.gamma * self.size / t, mean / float(self.s[-1]))
        self.z = np.append(np.maximum(self.n * (self.values + self.u / t), mean / self.s[:-1]), edge)

    def evaluate(self, x: Floats) -> Floats:
        self.g = self.B.T @ x
        self.size = float(np.linalg.norm(self.u))
        self.c = np.append(self.k * self.g**2 - self.u, self.size / self.gamma - 1.0)
        self.slope = 2 * self.k * self.g
        self.unit = self.u / self.size
        return np.asarray(self.B @ (self.z[:-1] * self.slope))

    def eliminate(self, H: Floats) -> None:
        """Eliminate u, whose own matrix is diag(w + h) + bend unit unit'."""
        w = self.w = self.z[:-1] / self.s[:-1]
        h = float(self.z[-1]) / (self.gamma * self.size)
        bend, self.diagonal = float(self.z[-1] / self.s[-1]) / self.gamma**2 - h, w + h
        across = self.across = self.unit / self.diagonal
        self.factor = bend / (1.0 + bend * float(self.unit @ across))
        add_gram(H, self.B, 2 * self.k * self.z[:-1] + w * self.slope**2 * h / self.diagonal)
        edge = self.B @ (w * self.slope * across)
        H += self.factor * np.outer(edge, edge)

    def _solve(self, r: Floats) -> Floats:
        return np.asarray(r / self.diagonal - self.factor * float(self.across @ r) * self.across)

    def _rest(self, t: Floats) -> Floats:
        """Return the residual of u with the multipliers z + t."""
        z = self.z + t
        return z[:-1] - self.n * self.values - float(z[-1]) / self.gamma * self.unit

    def push(self, e: Floats) -> Floats:
        t = self.lift(e)
        return np.asarray(-self.B @ (self.slope * (t[:-1] - self.w * self._solve(self._rest(t)))))

    def change(self, dx: Floats, e: Floats) -> Floats:
        dq = self.slope * (self.B.T @ dx)
        self.du = self._solve(self._rest(self.lift(e)) + self.w * dq)
        return np.append(dq - self.du, float(self.unit @ self.du) / self.gamma)

    def move(self, t: float) -> None:
        super().move(t)
        self.u = self.u + t * self.du

    def multipliers(self) -> Floats:
        """Return a_i = z_i / (n l_i)."""
        return np.asarray(self.z[:-1] / (self.n * self.values))

    def excess(self, g: Floats) -> float:
        return self.k * float(np.linalg.norm(g**2)) / self.gamma

    def penalty(self, alpha: Floats) -> float:
        return self.gamma * float(np.linalg.norm(self.values * (alpha - 1.0)))

    def conjugate(self, g: Floats) -> float:
        """Minimize l'u over the ball: u_i = max(q_i, -t l_i) with the largest feasible t."""
        q = self.k * g**2
        if not self.below.any():
            return float(self.values @ q)

        def excess(t: float) -> float:
            return float(np.linalg.norm(np.maximum(q, t * self.below))) - self.gamma

        t = 0.0
        if excess(0.0) < 0:
            t = brentq(excess, 0.0, 2 * self.gamma / np.linalg.norm(self.below), xtol=1e-300, rtol=1e-14)
        return float(self.values @ np.maximum(q, t * self.below))


class KernelBlock(Block):
    """Kernels with weights w >= 0, sum w_j tr K_j <= tau, [chen2010] Eq. (5.33)."""

    # The dual has the cost tau s0 with k v'K_j v / tr K_j <= s0 for each j; s0 is called the level.

    def __init__(self, kernels: list[Floats], y: Floats, tau: float, k: float) -> None:
        self.kernels, self.y, self.tau, self.k, self.n = kernels, y, tau, k, len(y)
        self.traces = np.array([float(K.trace()) for K in kernels])

    def forms(self, x: Floats) -> Floats:
        """Return k v'K_j v / tr K_j with v = y . x."""
        v = self.y * x
        return np.array([self.k * float(v @ K @ v) / trace for K, trace in zip(self.kernels, self.traces)])

    def start(self, x: Floats, mean: float) -> None:
        """Choose a level above all forms and equal multipliers of sum n tau."""
        forms = self.forms(x)
        self.level = 2.0 * float(forms.max()) + 1e-12
        self.s, self.z = self.level - forms, np.full(len(forms), self.n * self.tau / len(forms))

    def evaluate(self, x: Floats) -> Floats:
        v = self.y * x
        products = np.array([K @ v for K in self.kernels])
        self.c = self.k * (products @ v) / self.traces - self.level
        self.J = 2 * self.k * products * self.y / self.traces[:, None]
        return np.asarray(self.z @ self.J)

    def eliminate(self, H: Floats) -> None:
        for K, weight in zip(self.kernels, 2 * self.k * self.z / self.traces):
            H += weight * (self.y[:, None] * K * self.y)
        w = self.w = self.z / self.s
        H += self.J.T @ (np.diag(w) - np.outer(w, w) / w.sum()) @ self.J

    def _rest(self, t: Floats) -> float:
        return float(self.z.sum() - self.n * self.tau + t.sum())

    def push(self, e: Floats) -> Floats:
        t = self.lift(e)
        return np.asarray(-(t - self.w * self._rest(t) / self.w.sum()) @ self.J)

    def change(self, dx: Floats, e: Floats) -> Floats:
        change = self.J @ dx
        self.du = (self._rest(self.lift(e)) + float(self.w @ change)) / float(self.w.sum())
        return np.asarray(change - self.du)

    def move(self, t: float) -> None:
        super().move(t)
        self.level += t * self.du

    def weights(self) -> Floats:
        """Return w_j = z_j / (n tr K_j), scaled to use the whole trace."""
        w = self.z / self.traces
        return np.asarray(w * (self.tau / float(w @ self.traces)))


def add_gram(H: Floats, B: Floats, weight: Floats) -> None:
    """Add B diag(weight) B' to H for weights >= 0; the product A A' costs half of a general product."""
    A = B * np.sqrt(weight)
    H += A @ A.T


def minimize_in_ball(
    block: Any, y: Floats, x: Floats, certify: Callable[[Floats, Floats, int], Any], target: float
) -> Any:
    """Minimize -1'x + cost'g^2 / 2 on 0 <= x <= 1, y'x = 0, ||p|| <= gamma with g = B'x, p = kd g^2 of a Norm2Block."""
    # The constraint is put into an augmented Lagrangian, which is minimized by quadratic programs in the variables
    # between the bounds and those that violate their conditions, from a feasible x. ``certify(x, alpha, steps)``
    # returns a solution with its gap; the best one is returned, as soon as its relative gap is below `target`.
    B, cost, kd, gamma, n = block.B, block.cost, block.kd, block.gamma, len(y)
    lift = kd / (block.k * block.values) / (n * gamma)
    rho, z = _PENALTY * n, 0.0
    g = B.T @ x
    best, last = None, np.inf
    for step in range(1, _MAX_STEPS + 1):
        p = kd * g**2
        size = float(np.linalg.norm(p))
        unit = p / size if size > 0 else p
        h = size / gamma - 1.0
        pressed = max(z + rho * h, 0.0)  # the multiplier that the augmented Lagrangian implies
        bend = 2 * kd * unit / gamma
        grad_h = B @ (bend * g)
        slope = B @ (cost * g) - 1.0 + pressed * grad_h
        up, down, pull = np.where(y > 0, x < 1, x > 0), np.where(y > 0, x > 0, x < 1), -y * slope
        top, bottom = float(pull.max(where=up, initial=-np.inf)), float(pull.min(where=down, initial=np.inf))
        violation = max(top - bottom, 0.0)
        moved = abs(pressed - z) / rho
        if violation <= max(0.1 * moved, 1e-9) or step % 10 == 0:
            fit = certify(x, block.anchor + pressed * lift * unit, step)
            if best is None or fit.gap < best.gap:
                best = fit
            if best.gap <= target * best.gap_scale or (violation <= 1e-13 and moved <= 1e-13):
                break
        if violation <= max(0.1 * moved, 1e-11):
            if moved > 0.5 * last:  # the multiplier converges too slowly
                rho *= 10
            z, last = pressed, moved
            continue
        W = _active(x, pull, up, down, top, bottom)
        B_W, y_W, x_W = B[W], y[W], x[W]
        scaled = B_W * np.sqrt(cost + 3 * pressed * bend)
        H = scaled @ scaled.T
        if pressed > 0:
            H += (rho - pressed * gamma / size) * np.outer(grad_h[W], grad_h[W])
        # Steps of two variables in y . d, then active sets, on the quadratic program of the step.
        d, tol = np.zeros(len(W)), 1e-12 * (1 + float(np.abs(slope[W]).max(initial=0.0)))
        low, high = np.where(y_W > 0, -x_W, x_W - 1), np.where(y_W > 0, 1 - x_W, x_W)
        K, most = y_W[:, None] * H * y_W, _PAIRS * len(W)
        _kernels.pair_steps(K, low, high, d, pull[W], len(W), most, max(_LOOSE * violation, tol))
        d *= y_W
        improve_in_box(H, slope[W], -x_W, 1 - x_W, d, y=y_W, pivots=_PIVOTS, tol=tol)
        change, x = B_W.T @ d, x.copy()
        t = _line_search(g, change, float(d.sum()), cost, kd, gamma, z, rho)
        x[W] = np.clip(x_W + t * d, 0.0, 1.0)
        g = g + t * change if step % 20 else B.T @ x
    return best


def _active(x: Floats, pull: Floats, up: Any, down: Any, top: float, bottom: float) -> Any:
    """Return the variables between the bounds, and the worst violators of both directions, which balance each other."""
    chosen = (x > 0) & (x < 1)
    for side, size in ((up, pull - bottom), (down, top - pull)):
        wrong = np.flatnonzero(side & ~chosen & (size > 0))
        if len(wrong) > _MAX_VIOLATORS:
            wrong = wrong[np.argpartition(-size[wrong], _MAX_VIOLATORS)[:_MAX_VIOLATORS]]
        chosen[wrong] = True
    return np.flatnonzero(chosen)


def _line_search(
    g: Floats, change: Floats, gain: float, cost: Floats, kd: Floats, gamma: float, z: float, rho: float
) -> float:
    """Step length in [0, 1] that minimizes the augmented Lagrangian, by its derivative, which grows with the step."""

    def derivative(t: float) -> float:
        moved = g + t * change
        p = kd * moved**2
        size = float(np.linalg.norm(p))
        pressed = max(z + rho * (size / gamma - 1.0), 0.0)
        slope_h = float(p @ (kd * moved * change)) * 2 / (gamma * size) if size > 0 else 0.0
        return float((cost * moved) @ change) - gain + pressed * slope_h

    if derivative(1.0) <= 0 or derivative(0.0) >= 0:  # the latter by rounding
        return 1.0
    return float(brentq(derivative, 0.0, 1.0, xtol=1e-6, rtol=1e-3))
