"""Machines that learn a spectrum, or weights of kernels, together with the machine: exact duals by interior point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from similis.solvers._local_svm import svm_path
from similis.solvers._lp_margin import best_intercept

__all__ = [
    "InteriorPoint",
    "balanced",
    "class_balance",
    "Block",
    "IdentityBlock",
    "KernelBlock",
    "Norm1Block",
    "Norm2Block",
    "LearntSpectrum",
    "SpectralFit",
    "SpectralMachine",
]

Array = NDArray[np.float64]


class InteriorPoint:
    """Mehrotra's predictor-corrector method for min -1'x + what the blocks cost, x in [0, 1]^n, y'x = 0.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels, 1 and -1.
    blocks : sequence of Block
        Convex costs and constraints of x.
    x : ndarray of shape (n,)
        Start, inside the bounds, y'x = 0.
    cautious : bool, default=False
        Short steps without second-order terms: for constraints that bend much.
    """

    def __init__(self, y: Array, blocks: Sequence[Block], x: Array, *, cautious: bool = False) -> None:
        self.y, self.n, self.all, self.cautious = y, len(y), blocks, cautious
        self.x, self.nu = x, 0.0
        self.room = 1.0 - x  # kept apart: x may come nearer to 1 than rounding can say
        self.lower, self.upper = 0.5 / np.maximum(x, 1e-3), 0.5 / self.room
        for block in blocks:
            block.start(x, 0.5)

    @property
    def total(self) -> float:
        """Sum of the complementarity products."""
        own = float(self.x @ self.lower) + float(self.room @ self.upper)
        return own + sum(float(block.s @ block.z) for block in self.all)

    def step(self) -> bool:
        """One predictor-corrector step; False where no step can be had."""
        x, y, lower, upper, room, n = self.x, self.y, self.lower, self.upper, self.room, self.n
        residual = -1.0 - lower + upper + self.nu * y
        H = np.zeros((n, n))
        for block in self.all:
            residual += block.look(x)
            block.eliminate(H)
        H.flat[:: n + 1] += lower / x + upper / room
        factor = cholesky(H)
        if factor is None or not np.isfinite(residual).all():
            return False
        Hy = linalg.cho_solve(factor, y, check_finite=False)
        count = 2 * n + sum(block.s.size for block in self.all)

        def direction(el: Array, eu: Array, es: list[Array]) -> tuple[Array, float, Array, Array, float]:
            """Newton's step towards products changed by el, eu and es."""
            rhs = -residual + el / x - eu / room + sum(block.push(e) for block, e in zip(self.all, es))
            base = linalg.cho_solve(factor, rhs, check_finite=False)
            dnu = (float(y @ base) + float(y @ x)) / float(y @ Hy)
            dx = base - dnu * Hy
            for block, e in zip(self.all, es):
                block.pull(dx, e)
            dl, du = (el - lower * dx) / x, (eu + upper * dx) / room
            reach = min(
                positive_reach(x, dx),
                positive_reach(room, -dx),
                positive_reach(lower, dl),
                positive_reach(upper, du),
                *(block.reach() for block in self.all),
            )
            return dx, dnu, dl, du, reach

        dx, _, dl, du, reach = direction(-x * lower, -room * upper, [-block.s * block.z for block in self.all])
        t = min(1.0, reach)
        mean = self.total / count
        after = float((x + t * dx) @ (lower + t * dl)) + float((room - t * dx) @ (upper + t * du))
        after += sum(float((b.s + t * b.ds) @ (b.z + t * b.dz)) for b in self.all)
        target, second = max(after / (count * mean), 0.0) ** 3 * mean, 1.0
        if self.cautious:  # where the constraints bend so much that the second-order term misleads
            target, second = max(target, 0.3 * mean), 0.0
        dx, dnu, dl, du, reach = direction(
            target - x * lower - second * dx * dl,
            target - room * upper + second * dx * du,
            [target - b.s * b.z - second * b.ds * b.dz for b in self.all],
        )
        if np.isnan(reach) or not np.isfinite(dx).all():
            return False
        t = min(1.0, (0.9 if self.cautious else 0.99) * reach)
        self.x, self.room, self.nu = x + t * dx, room - t * dx, self.nu + t * dnu
        self.lower, self.upper = lower + t * dl, upper + t * du
        for block in self.all:
            block.move(t)
        return bool(t > 1e-10)


def class_balance(y: Array) -> Array:
    """Weight 1/2 on the smaller class and as much in all on the larger: inside the bounds, y'x = 0."""
    plus = int((y > 0).sum())
    return np.asarray(0.5 * min(plus, len(y) - plus) / np.where(y > 0, plus, len(y) - plus))


def balanced(x: Array, y: Array) -> Array:
    """Scale the heavier side down until y'x = 0."""
    plus, minus = float(x[y > 0].sum()), float(x[y < 0].sum())
    least = min(plus, minus)
    if least <= 0:
        return np.zeros_like(x)
    return np.asarray(x * np.where(y > 0, least / plus, least / minus))


def cholesky(H: Array) -> Any:
    """Cholesky factor of H, the diagonal raised a little where rounding makes it indefinite; None if nothing helps."""
    raised, scale = 0.0, float(np.abs(np.einsum("ii->i", H)).mean())
    for _ in range(8):
        M = H.copy()
        M.flat[:: len(M) + 1] += raised
        try:
            return linalg.cho_factor(M, lower=True, check_finite=False, overwrite_a=True)
        except linalg.LinAlgError:
            raised = max(100 * raised, 1e-14 * scale)
    return None


class Block:
    """Constraints c(x, u) + s = 0, s >= 0, with multipliers z; `du`, `ds`, `dz` are the last step's.

    A subclass writes :meth:`look` (values at x), :meth:`eliminate` (its share of Newton's matrix), :meth:`push` (of the
    right-hand side, for wanted changes e of the products s z) and :meth:`pull` (its own step, from that of x).
    """

    B: Array  # (n, r): g = B'x
    c: Array
    s: Array
    z: Array
    ds: Array
    dz: Array

    def start(self, x: Array, mean: float) -> None:
        """Choose slacks and multipliers, products about `mean`, for the first x."""
        raise NotImplementedError

    def look(self, x: Array) -> Array:
        """Take note of x; return the gradient of costs and constraints, with their multipliers, by x."""
        raise NotImplementedError

    def eliminate(self, H: Array) -> None:
        """Add to Newton's matrix."""
        raise NotImplementedError

    def push(self, e: Array) -> Array:
        """What the block adds to the right-hand side."""
        raise NotImplementedError

    def pull(self, dx: Array, e: Array) -> None:
        """Find the block's own step."""
        raise NotImplementedError

    def reach(self) -> float:
        """How far the step may go with slacks and multipliers positive."""
        return min(positive_reach(self.s, self.ds), positive_reach(self.z, self.dz))

    def move(self, t: float) -> None:
        """Go t times the step."""
        self.s = self.s + t * self.ds
        self.z = self.z + t * self.dz


class _SpectralBlock(Block):
    """A similarity U diag(l) U' whose multipliers a are learnt; B = diag(y) U, k = 1 / (4 eta n^2)."""

    def __init__(self, B: Array, values: Array, anchor: Array, gamma: float, k: float) -> None:
        self.B, self.values, self.anchor, self.gamma, self.k = B, values, anchor, gamma, k
        self.n = len(B)
        self.cost = 2 * self.n * k * values * anchor  # twice the weight of g_i^2 in n times the dual

    @property
    def least(self) -> float:
        """The smallest penalty that multipliers can have."""
        return 0.0

    def start(self, x: Array, mean: float) -> None:
        """Slacks that fit x where x is feasible, and multipliers of product `mean`."""
        self.look(x)
        self.s = np.maximum(-self.c, 0.1)
        self.z = mean / self.s


class Norm2Block(_SpectralBlock):
    """h(a) = ||(l / d)(a - a0)||_2: the SVM dual on a0, and ||p||_2 <= gamma with p_i = k d_i g_i^2.

    d = l for the distance of a from a0; d = 1 for that of l a from l, where no eigenvalue is negative. The constraint
    is c = ||p|| / gamma - 1: the norm, not its square, which Newton's method needs many more steps for.
    """

    def __init__(self, B: Array, values: Array, anchor: Array, gamma: float, k: float, *, of_values: bool = False):
        super().__init__(B, values, anchor, gamma, k)
        self.kd = k * (np.ones_like(values) if of_values else values)

    def look(self, x: Array) -> Array:
        """Gradient by g: cost g + z 2 k d (p / ||p||) g / gamma."""
        self.g = self.B.T @ x
        p = self.kd * self.g**2
        self.size = float(np.linalg.norm(p))
        self.unit = p / self.size if self.size > 0 else p
        self.c = np.array([self.size / self.gamma - 1.0])
        if not hasattr(self, "z"):
            return np.zeros_like(x)
        self.gradient = self.B @ (2 * self.kd * self.unit * self.g / self.gamma)
        return np.asarray(self.B @ (self.cost * self.g) + self.z[0] * self.gradient)

    def eliminate(self, H: Array) -> None:
        """Second derivative of ||p||: 6 k d p / ||p|| on the diagonal, less grad grad' / ||p||."""
        weight = self.cost + self.z[0] * 6 * self.kd * self.unit / self.gamma
        add_gram(H, self.B, weight)
        bend = self.z[0] / self.s[0] - (self.z[0] * self.gamma / self.size if self.size > 0 else 0.0)
        H += bend * np.outer(self.gradient, self.gradient)

    def push(self, e: Array) -> Array:
        """Through the multiplier: dz = (e + z (c + s)) / s + ..."""
        return np.asarray(-(e[0] + self.z[0] * (self.c[0] + self.s[0])) / self.s[0] * self.gradient)

    def pull(self, dx: Array, e: Array) -> None:
        """Slack and multiplier follow."""
        self.ds = -(self.c + self.s) - float(self.gradient @ dx)
        self.dz = (e - self.z * self.ds) / self.s

    def multipliers(self) -> Array:
        """Anchor and gradient: a = a0 + r (d / l) p / ||p||, r = z / (n gamma)."""
        r = float(self.z[0]) / (self.n * self.gamma)
        return np.asarray(self.anchor + r * (self.kd / (self.k * self.values)) * self.unit)

    def excess(self, g: Array) -> float:
        """||p|| / gamma: feasible up to 1; quadratic in x."""
        return float(np.linalg.norm(self.kd * g**2)) / self.gamma

    def penalty(self, alpha: Array) -> float:
        """The number gamma h(a)."""
        return self.gamma * float(np.linalg.norm(self.k * self.values / self.kd * (alpha - self.anchor)))

    def conjugate(self, g: Array) -> float:
        """What the dual value loses for feasible g."""
        return self.k * float((self.values * self.anchor) @ g**2)


class Norm1Block(Norm2Block):
    """h(a) = ||a - a0||_1: the SVM dual on a0, and k |l_i| g_i^2 <= gamma for each i."""

    def look(self, x: Array) -> Array:
        """Constraints c_i = k |l_i| g_i^2 / gamma - 1."""
        self.g = self.B.T @ x
        self.bound = 2 * self.k * np.abs(self.values) / self.gamma
        self.c = 0.5 * self.bound * self.g**2 - 1.0
        self.slope = self.bound * self.g
        if not hasattr(self, "z"):
            return np.zeros_like(x)
        return np.asarray(self.B @ (self.cost * self.g + self.z * self.slope))

    def eliminate(self, H: Array) -> None:
        """Diagonal in the eigenbasis."""
        add_gram(H, self.B, self.cost + self.z * self.bound + self.z / self.s * self.slope**2)

    def push(self, e: Array) -> Array:
        """Through the multipliers."""
        return np.asarray(-self.B @ ((e + self.z * (self.c + self.s)) / self.s * self.slope))

    def pull(self, dx: Array, e: Array) -> None:
        """Slacks and multipliers follow."""
        self.ds = -(self.c + self.s) - self.slope * (self.B.T @ dx)
        self.dz = (e - self.z * self.ds) / self.s

    def multipliers(self) -> Array:
        """Those with a_i = a0_i + sign(l_i) z_i / (n gamma)."""
        return np.asarray(self.anchor + np.sign(self.values) * self.z / (self.n * self.gamma))

    def excess(self, g: Array) -> float:
        """The largest |p_i| / gamma."""
        return float((self.k * np.abs(self.values) * g**2).max(initial=0.0)) / self.gamma

    def penalty(self, alpha: Array) -> float:
        """The number gamma h(a)."""
        return self.gamma * float(np.abs(alpha - self.anchor).sum())


class IdentityBlock(_SpectralBlock):
    """h(a) = ||l (a - 1)||_2: cost l'u with u_i >= q_i = k g_i^2 and ||u||_2 <= gamma; l_i a_i is the multiplier of i.

    Constraints: c_i = q_i - u_i, and last ||u|| / gamma - 1.
    """

    def start(self, x: Array, mean: float) -> None:
        """Take u above q, in the ball, mostly along the negative eigenvalues; multipliers for which u is stationary."""
        q = self.k * (self.B.T @ x) ** 2
        below = np.maximum(-self.values, 0.0)
        unavoidable = float(np.linalg.norm(below))
        t = 0.3 * self.gamma / unavoidable if unavoidable > 0 else np.inf
        self.u = q + 0.1 * self.gamma / np.sqrt(len(q)) + (t * below if unavoidable > 0 else 0.0)
        self.look(x)
        self.s = np.append(self.u - q, max(1.0 - self.size / self.gamma, 0.05))
        edge = max(self.n * self.gamma * self.size / t, mean / float(self.s[-1]))
        self.z = np.append(np.maximum(self.n * (self.values + self.u / t), mean / self.s[:-1]), edge)

    def look(self, x: Array) -> Array:
        """Values of the constraints and the gradient by x."""
        self.g = self.B.T @ x
        self.size = float(np.linalg.norm(self.u))
        self.c = np.append(self.k * self.g**2 - self.u, self.size / self.gamma - 1.0)
        self.slope = 2 * self.k * self.g
        if not hasattr(self, "z"):
            return np.zeros_like(x)
        self.unit = self.u / self.size
        return np.asarray(self.B @ (self.z[:-1] * self.slope))

    def eliminate(self, H: Array) -> None:
        """Eliminate u, whose own matrix is diag(w + h) + bend unit unit'."""
        w = self.z[:-1] / self.s[:-1]
        h = float(self.z[-1]) / (self.gamma * self.size)
        bend = float(self.z[-1] / self.s[-1]) / self.gamma**2 - h
        self.diagonal = w + h
        across = self.unit / self.diagonal
        self.factor = bend / (1.0 + bend * float(self.unit @ across))
        self.across, self.w = across, w
        add_gram(H, self.B, 2 * self.k * self.z[:-1] + w * self.slope**2 * h / self.diagonal)
        edge = self.B @ (w * self.slope * across)
        H += self.factor * np.outer(edge, edge)

    def _solve(self, r: Array) -> Array:
        return np.asarray(r / self.diagonal - self.factor * float(self.across @ r) * self.across)

    def _lift(self, e: Array) -> tuple[Array, Array]:
        """(e + z (c + s)) / s, and the residual of u with it."""
        t = (e + self.z * (self.c + self.s)) / self.s
        residual = self.n * self.values - self.z[:-1] + float(self.z[-1]) / self.gamma * self.unit
        return t, -residual + t[:-1] - float(t[-1]) / self.gamma * self.unit

    def push(self, e: Array) -> Array:
        """Through the multipliers and u."""
        t, r = self._lift(e)
        return np.asarray(-self.B @ (t[:-1] * self.slope - self.w * self.slope * self._solve(r)))

    def pull(self, dx: Array, e: Array) -> None:
        """u, slacks and multipliers follow."""
        _, r = self._lift(e)
        dq = self.slope * (self.B.T @ dx)
        self.du = self._solve(r + self.w * dq)
        change = np.append(dq - self.du, float(self.unit @ self.du) / self.gamma)
        self.ds = -(self.c + self.s) - change
        self.dz = (e - self.z * self.ds) / self.s

    def move(self, t: float) -> None:
        """Go t times the step."""
        super().move(t)
        self.u = self.u + t * self.du

    def multipliers(self) -> Array:
        """Those with a_i = z_i / (n l_i)."""
        return np.asarray(self.z[:-1] / (self.n * self.values))

    def excess(self, g: Array) -> float:
        """||q|| / gamma."""
        return self.k * float(np.linalg.norm(g**2)) / self.gamma

    def penalty(self, alpha: Array) -> float:
        """The number gamma h(a)."""
        return self.gamma * float(np.linalg.norm(self.values * (alpha - 1.0)))

    @property
    def least(self) -> float:
        """What no multipliers can avoid: gamma times the distance of the spectrum from the cone."""
        return self.gamma * float(np.linalg.norm(np.minimum(self.values, 0.0)))

    def conjugate(self, g: Array) -> float:
        """The least l'u: u_i = max(q_i, -t l_i), the largest t that the ball allows."""
        q = self.k * g**2
        negative = self.values < 0
        if not negative.any():
            return float(self.values @ q)
        # ||u||^2 grows with t in pieces that end where -t l_i passes q_i.
        ends = np.where(negative, -q / np.where(negative, self.values, -1.0), np.inf)
        order = np.argsort(ends)
        ends, l2, q2 = ends[order], (self.values**2)[order], (q**2)[order]
        square = np.append(0.0, np.cumsum(np.where(np.isfinite(ends), l2, 0.0)))
        rest = float(q2.sum()) - np.append(0.0, np.cumsum(q2))
        left = np.append(0.0, ends)
        right = np.append(ends, np.inf)
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(np.maximum(self.gamma**2 - rest, 0.0) / square)
        inside = (square > 0) & (root >= left * (1 - 1e-12)) & (root <= right * (1 + 1e-12))
        t = float(root[inside].max(initial=0.0))
        return float(self.values @ np.maximum(q, -t * self.values))


class KernelBlock(Block):
    """Kernels with weights w >= 0, sum w_j tr K_j <= tau: cost tau s0 with k v'K_j v / tr K_j <= s0 for each j."""

    def __init__(self, kernels: list[Array], y: Array, tau: float, k: float) -> None:
        self.kernels, self.y, self.tau, self.k = kernels, y, tau, k
        self.n = len(y)
        self.traces = np.array([float(K.trace()) for K in kernels])

    def forms(self, x: Array) -> Array:
        """The forms k v'K_j v / tr K_j, v = y . x."""
        v = self.y * x
        return np.array([self.k * float(v @ K @ v) / trace for K, trace in zip(self.kernels, self.traces)])

    def start(self, x: Array, mean: float) -> None:
        """The level above all forms; the multipliers share n tau."""
        forms = self.forms(x)
        self.level = 2.0 * float(forms.max()) + 1e-12
        self.s = self.level - forms
        self.z = np.full(len(forms), self.n * self.tau / len(forms))

    def look(self, x: Array) -> Array:
        """Values of the constraints and their gradients, one a row."""
        v = self.y * x
        products = np.array([K @ v for K in self.kernels])
        self.c = self.k * (products @ v) / self.traces - self.level
        self.J = 2 * self.k * products * self.y / self.traces[:, None]
        return np.asarray(self.z @ self.J)

    def eliminate(self, H: Array) -> None:
        """Eliminate the level."""
        weights = 2 * self.k * self.z / self.traces
        for K, weight in zip(self.kernels, weights):
            H += weight * (self.y[:, None] * K * self.y)
        w = self.z / self.s
        self.w = w
        inner = np.diag(w) - np.outer(w, w) / w.sum()
        H += self.J.T @ inner @ self.J

    def _lift(self, e: Array) -> tuple[Array, float]:
        t = (e + self.z * (self.c + self.s)) / self.s
        return t, float(-(self.n * self.tau - self.z.sum()) + t.sum())

    def push(self, e: Array) -> Array:
        """Through the multipliers and the level."""
        t, r = self._lift(e)
        return np.asarray(-(t - self.w * r / self.w.sum()) @ self.J)

    def pull(self, dx: Array, e: Array) -> None:
        """Level, slacks and multipliers follow."""
        _, r = self._lift(e)
        change = self.J @ dx
        self.du = (r + float(self.w @ change)) / float(self.w.sum())
        self.ds = -(self.c + self.s) - change + self.du
        self.dz = (e - self.z * self.ds) / self.s

    def move(self, t: float) -> None:
        """Go t times the step."""
        super().move(t)
        self.level += t * self.du

    def weights(self) -> Array:
        """Weights w_j = z_j / (n tr K_j), scaled to use the whole trace."""
        w = self.z / self.traces
        return np.asarray(w * (self.tau / float(w @ self.traces)))


def add_gram(H: Array, B: Array, weight: Array) -> None:
    """H += B diag(weight) B' for weights that are not negative: A A' costs half of a general product."""
    A = B * np.sqrt(weight)
    H += A @ A.T


def positive_reach(x: Array, dx: Array) -> float:
    """How far x can go along dx and stay positive."""
    falling = dx < 0
    return float((-x[falling] / dx[falling]).min(initial=np.inf))


_TARGET = 1e-9  # relative gap at which the steps end


@dataclass(frozen=True)
class LearntSpectrum:
    """A similarity U diag(values) U' whose multipliers are learnt.

    Attributes
    ----------
    values : ndarray of shape (r,)
        Eigenvalues, none of them zero: a direction without similarity has no multiplier to learn.
    vectors : ndarray of shape (n, r)
        Their eigenvectors, columns.
    anchor : ndarray of shape (r,)
        a0, where no penalty is due: values * anchor >= 0.
    norm : {2, 1, "identity"}
        h(a) = ||a - a0||_2, ||a - a0||_1 or ||values (a - 1)||_2.
    """

    values: Array
    vectors: Array
    anchor: Array
    norm: int | str = 2


@dataclass(frozen=True)
class SpectralFit:
    """Solution of :meth:`SpectralMachine.solve`.

    Attributes
    ----------
    x : ndarray of shape (n,)
        Dual variables in [0, 1], n times the multipliers of the margins; y'x = 0.
    alphas : list of ndarray
        The multipliers learnt, one array a similarity.
    weights : ndarray of shape (m,)
        The weights of the kernels.
    coef : ndarray of shape (n,)
        c = y . x / (2 eta n): f = K c + intercept on the training objects.
    intercept : float
        b.
    objective : float
        The primal value, [chen2010] Eq. (5.20) or (5.35), at what is returned.
    gap : float
        How far that is at most above the minimum: primal minus dual value.
    active : bool
        False where every anchor is optimal as it is.
    n_iter : int
        Interior-point steps.
    worth : float
        The objective less the penalty that no multipliers can avoid: what the gap is compared with.
    """

    x: Array
    alphas: list[Array]
    weights: Array
    coef: Array
    intercept: float
    objective: float
    gap: float
    active: bool
    n_iter: int
    worth: float


class SpectralMachine:
    """One training set, for all (eta, gamma) of a grid: SimSVM, SimMKL and multiple kernel learning.

    Minimises mean hinge loss + eta c'Kc + gamma sum_k h_k(a_k) over c, b, the multipliers a_k and weights w >= 0, where
    K = sum_k U_k diag(a_k l_k) U_k' + sum_j w_j K_j, a_k l_k >= 0 and sum_j w_j tr K_j <= trace.

    Parameters
    ----------
    y : array of shape (n,)
        Labels, 1 and -1, both present.
    similarities : sequence of LearntSpectrum
        Those whose spectrum is learnt.
    kernels : sequence of ndarray of shape (n, n)
        Positive semi-definite.
    trace : float, optional
        What the weights share; needed with kernels.

    Notes
    -----
    For fixed x the minimum over a and w has a closed form, which leaves the dual of a support vector machine with one
    or few convex constraints; docs/guide/duals.md derives them. Mehrotra's predictor-corrector method solves it with
    one n x n Cholesky factor a step; the diagonal is raised a little where a singular matrix makes rounding fail. The
    recovered a, w, c and the best b give a primal value, so that the gap is certified whatever the steps did.

    Without kernels the machine on the anchors is tried first: where its constraint is inactive it is the solution.
    """

    def __init__(
        self,
        y: ArrayLike,
        similarities: Sequence[LearntSpectrum] = (),
        kernels: Sequence[NDArray[Any]] = (),
        trace: float | None = None,
    ) -> None:
        self.y = np.asarray(y, dtype=np.float64)
        self.similarities = list(similarities)
        self._given = len(kernels)
        traces = [float(np.trace(K)) for K in kernels]
        self._used = [j for j, t in enumerate(traces) if t > 0]  # a zero kernel has no weight to learn
        self.kernels = [np.asarray(kernels[j], dtype=np.float64) for j in self._used]
        self.trace = 0.0 if trace is None else float(trace)
        self._bases = [self.y[:, None] * s.vectors for s in self.similarities]
        self._anchored: dict[float, Array] = {}

    def solve(self, eta: float, gamma: float) -> SpectralFit:
        """Solve for one eta and one gamma.

        Parameters
        ----------
        eta, gamma : float
            Weights of c'Kc and of the penalties h, positive.

        Returns
        -------
        SpectralFit

        Examples
        --------
        >>> import numpy as np
        >>> from similis.solvers import LearntSpectrum, SpectralMachine
        >>> similarity = LearntSpectrum(np.array([-1.0, 2.0]), np.eye(2), np.array([0.0, 1.0]))
        >>> fit = SpectralMachine([1, -1], [similarity]).solve(eta=0.1, gamma=0.1)
        >>> bool(fit.gap < 1e-8), fit.alphas[0].round(3)
        (True, array([-0.198,  1.396]))
        """
        state = _State(self, eta, gamma)
        if not self.kernels and not any(isinstance(block, IdentityBlock) for block in state.blocks):
            x = self._machine_on_anchors(eta)
            if all(block.excess(block.B.T @ x) <= 1 + 1e-12 for block in state.blocks):
                return state.certified(x, state.anchors, np.zeros(0), 0, active=False)
        fit = state.run()
        if fit.gap > 1e-7 * fit.worth:
            again = _State(self, eta, gamma, cautious=True).run()
            fit = min(fit, again, key=lambda fit: fit.gap)
        return fit

    def _machine_on_anchors(self, eta: float) -> Array:
        """Dual variables of the support vector machine whose kernel the anchors make."""
        if eta not in self._anchored:
            C = 1.0 / (2 * len(self.y) * eta)
            parts = [(s.vectors * (s.values * s.anchor)) @ s.vectors.T for s in self.similarities]
            K = sum(parts, np.zeros((len(self.y), len(self.y))))
            self._anchored[eta] = np.abs(svm_path(K, self.y, [C]).coef[0]) / C
        return self._anchored[eta]


class _State:
    """One (eta, gamma): the blocks, the interior point, and what vouches for it."""

    def __init__(self, machine: SpectralMachine, eta: float, gamma: float, *, cautious: bool = False) -> None:
        self.machine, self.eta = machine, eta
        y = self.y = machine.y
        n = self.n = len(y)
        k = 1.0 / (4 * eta * n**2)
        self.blocks = [_block(s, B, gamma, k) for s, B in zip(machine.similarities, machine._bases) if s.values.size]
        self.kernel_block = KernelBlock(machine.kernels, y, machine.trace, k) if machine.kernels else None
        x = class_balance(y)
        excess = max((block.excess(block.B.T @ x) for block in self.blocks), default=0.0)
        everything = [*self.blocks, *([self.kernel_block] if self.kernel_block else [])]
        self.point = InteriorPoint(y, everything, x / max(1.0, np.sqrt(2 * excess)), cautious=cautious)

    @property
    def anchors(self) -> list[Array]:
        """The multipliers before any is learnt: the anchors, where they make a kernel."""
        return [np.where(block.values * block.anchor >= 0, block.anchor, 0.0) for block in self.blocks]

    @property
    def even_weights(self) -> Array:
        """Weights by which the kernels share the trace."""
        if self.kernel_block is None:
            return np.zeros(0)
        traces = self.kernel_block.traces
        return np.asarray(self.machine.trace / (len(traces) * traces))

    def run(self) -> SpectralFit:
        """Step until the gap is closed, or what is left of it is round-off."""
        best, last = self.certified(self.point.x, self.anchors, self.even_weights, 0), 0
        for step in range(1, 201):
            if not self.point.step():
                break
            weights = self.kernel_block.weights() if self.kernel_block else np.zeros(0)
            fit = self.certified(self.point.x, [block.multipliers() for block in self.blocks], weights, step)
            if fit.gap < best.gap:
                best, last = fit, step
            worth = best.worth
            if best.gap <= _TARGET * worth or step - last > 25 or self.point.total < 1e-5 * _TARGET * self.n * worth:
                break
        return best

    def certified(
        self, x: Array, alphas: list[Array], weights: Array, n_iter: int, *, active: bool = True
    ) -> SpectralFit:
        """With primal and dual value of what was found, x made feasible."""
        y, n, machine = self.y, self.n, self.machine
        x = balanced(np.clip(x, 0.0, 1.0), y)
        excess = max((block.excess(block.B.T @ x) for block in self.blocks), default=0.0)
        x = x / max(1.0, np.sqrt(excess))
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
        primal = float(np.maximum(1 - y * (Kc + b), 0.0).mean()) + self.eta * float(c @ Kc) + penalty
        everywhere = [np.zeros(0) for _ in machine.similarities]
        for place, alpha in zip([i for i, s in enumerate(machine.similarities) if s.values.size], alphas):
            everywhere[place] = alpha
        full = np.zeros(machine._given)
        full[machine._used] = weights
        gap = max(primal - dual, 0.0)
        worth = max(primal - sum(block.least for block in self.blocks), 1e-12)
        return SpectralFit(x, everywhere, full, c, b, primal, gap, active, n_iter, worth)


def _block(similarity: LearntSpectrum, B: Array, gamma: float, k: float) -> Norm2Block | IdentityBlock:
    """The block of a similarity: the identity's needs variables of its own only where an eigenvalue is negative."""
    data = (B, similarity.values, similarity.anchor, gamma, k)
    if similarity.norm == "identity":
        return Norm2Block(*data, of_values=True) if (similarity.values > 0).all() else IdentityBlock(*data)
    return Norm2Block(*data) if similarity.norm == 2 else Norm1Block(*data)
