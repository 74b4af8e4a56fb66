"""What a kernel learnt with the machine adds to the dual of the support vector machine: one block a similarity.

The dual maximises 1'x - sum of costs over x in [0, 1]^n, y'x = 0, where a block sees x through g = B'x only. A block
keeps its own slacks s, multipliers z and auxiliary variables, eliminates them from Newton's equations and follows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["Block", "IdentityBlock", "KernelBlock", "Norm1Block", "Norm2Block"]

Array = NDArray[np.float64]


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
