"""Machines that learn a spectrum, or weights of kernels, together with the machine: exact duals by interior point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from similis.solvers._interior_point import InteriorPoint, balanced, class_balance
from similis.solvers._local_svm import svm_path
from similis.solvers._lp_margin import best_intercept
from similis.solvers._spectral_blocks import (
    IdentityBlock,
    KernelBlock,
    Norm1Block,
    Norm2Block,
)

__all__ = ["LearntSpectrum", "SpectralFit", "SpectralMachine"]

Array = NDArray[np.float64]
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
