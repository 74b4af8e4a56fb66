"""Two convex functions of a matrix minimised together: Douglas-Rachford splitting with Anderson's acceleration."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

__all__ = ["clip", "douglas_rachford", "shrink"]

_MEMORY = 10
_RELAX = 1.6

Matrix = NDArray[np.float64]


def douglas_rachford(
    first: Callable[[Matrix], Matrix],
    second: Callable[[Matrix], Matrix],
    start: Matrix,
    *,
    tol: float,
    max_iter: int,
    watch: Callable[[Matrix, Matrix], None] | None = None,
) -> tuple[Matrix, Matrix, int, bool]:
    """Minimise f(X) + g(X), each known by its proximal map.

    Parameters
    ----------
    first, second : callable
        ``first(A)`` minimises f(X) + 1/2 ||X - A||^2, `second` the same with g.
    start : ndarray of shape (n, n)
        A first guess.
    tol : float
        Largest distance of the two copies, relative to their norm.
    max_iter : int
        Steps at most.
    watch : callable, optional
        Called with both copies every 20 steps; raises what ends the search.

    Returns
    -------
    X, Z : ndarray of shape (n, n)
        Copies that f and g made; they agree at the minimum.
    n_iter : int
        Steps taken.
    converged : bool
        Whether they agree.
    """
    s, memory = start, _Memory()
    plain, last = start, np.inf  # where the plain step would have led, and the distance it started from
    X = Z = start
    converged, step = False, 0
    while step < max_iter and not converged:
        step += 1
        X = first(s)
        Z = second(2 * X - s)
        apart = float(np.linalg.norm(Z - X))
        converged = apart <= tol * max(float(np.linalg.norm(X)), float(np.linalg.norm(Z)), np.finfo(float).tiny)
        if watch is not None and step % 20 == 0:
            watch(X, Z)
        if memory and apart > 2 * last:  # the accelerated step went astray
            s, last = plain, np.inf
            memory.forget()
            continue
        last, plain = apart, s + _RELAX * (Z - X)
        s = memory.step(s, _RELAX * (Z - X))
    return X, Z, step, converged


class _Memory:
    """Anderson's acceleration: the combination of past steps that would have left the smallest remainder."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self.points: list[Matrix] = []
        self.steps: list[Matrix] = []

    def __len__(self) -> int:
        return len(self.points)

    def step(self, s: Matrix, g: Matrix) -> Matrix:
        """Where to go from s, whose plain step is g."""
        self.points, self.steps = [*self.points, s][-_MEMORY:], [*self.steps, g][-_MEMORY:]
        if len(self) < 3:
            return s + g
        G = np.array([(b - a).ravel() for a, b in zip(self.steps, self.steps[1:])])
        gram = G @ G.T
        gram[np.diag_indices_from(gram)] += 1e-10 * np.trace(gram)
        weights = np.linalg.solve(gram, G @ g.ravel())
        S = np.array([(b - a).ravel() for a, b in zip(self.points, self.points[1:])])
        return np.asarray(s + g - (weights @ (S + G)).reshape(s.shape))


def shrink(A: Matrix, by: float, psd: bool) -> Matrix:
    """Eigenvalues moved towards zero by `by`; negative ones to zero with `psd`."""
    values, U = linalg.eigh(A, check_finite=False, driver="evd")
    moved = np.maximum(values - by, 0.0)
    if not psd:
        moved += np.minimum(values + by, 0.0)
    keep = moved != 0
    B: Matrix = (U[:, keep] * moved[keep]) @ U[:, keep].T
    return (B + B.T) / 2


def clip(A: Matrix) -> Matrix:
    """The nearest positive semi-definite matrix."""
    return shrink(A, 0.0, True)
