"""Matrices with scattered unknown entries, completed by a small spectrum: nuclear norm and nearest kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from similis.solvers._completion import Completion
from similis.solvers._splitting import douglas_rachford, shrink

__all__ = ["Infeasible", "nearest_completion", "nuclear_completion"]


class Infeasible(ValueError):
    """No positive semi-definite matrix has the known entries; the certificate was checked."""


def nearest_completion(
    S: NDArray[np.float64],
    known: NDArray[np.bool_],
    *,
    mu: float = 0.0,
    psd: bool = True,
    tol: float = 1e-8,
    max_iter: int = 5000,
    start: NDArray[np.float64] | None = None,
) -> Completion:
    """Minimise sum over known entries of (X_ij - S_ij)^2 + mu ||X||_*, X symmetric.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        Symmetric; only known entries are read.
    known : ndarray of bool of shape (n, n)
        Symmetric.
    mu : float, default=0.0
        Weight of the nuclear norm.
    psd : bool, default=True
        Whether X must be positive semi-definite; with ``mu=0`` it is [chen2010] Eq. (6.1).
    tol : float, default=1e-8
        Largest change of X by a step, relative to its norm, at which to stop.
    max_iter : int, default=5000
        Steps at most.
    start : ndarray of shape (n, n), optional
        First guess of the unknown entries, zero by default. Where several X are best, it decides which is found.

    Returns
    -------
    Completion
    """
    X = np.where(known, S, 0.0 if start is None else start)
    shrunk = X = shrink(X, mu / 2, psd)
    # A proximal gradient step fills the unknown entries from X and shrinks the spectrum; Nesterov's momentum is
    # forgotten whenever it points uphill.
    Y, t, converged, step = X, 1.0, False, 0
    while step < max_iter and not converged:
        step += 1
        shrunk = shrink(np.where(known, S, Y), mu / 2, psd)
        change = shrunk - X
        if np.linalg.norm(shrunk - Y) <= tol * max(float(np.linalg.norm(shrunk)), np.finfo(float).tiny):
            converged = True
        elif float(((Y - shrunk) * change).sum()) > 0:
            Y, t = X, 1.0
            shrunk = shrink(np.where(known, S, Y), mu / 2, psd)
            change = shrunk - X
        t_next = (1 + np.sqrt(1 + 4 * t**2)) / 2
        Y, X, t = shrunk + (t - 1) / t_next * change, shrunk, t_next
    objective = float(((shrunk - S)[known] ** 2).sum())
    if mu:
        objective += mu * float(np.abs(linalg.eigvalsh(shrunk)).sum())
    return Completion(shrunk, objective=objective, n_iter=step, converged=converged)


def nuclear_completion(
    S: NDArray[np.float64],
    known: NDArray[np.bool_],
    *,
    psd: bool = True,
    tol: float = 1e-9,
    max_iter: int = 5000,
) -> Completion:
    """Minimise ||X||_* over the symmetric X with X_ij = S_ij for every known entry, [chen2010] Eq. (6.2).

    Of two copies that are pulled together, one has its spectrum shrunk, the other the known entries. Parameters as in
    :func:`nearest_completion`.

    Raises
    ------
    Infeasible
        If no positive semi-definite matrix has the known entries.
    """
    size = float(np.abs(S[known]).max(initial=0.0))
    if size == 0:
        return Completion(np.where(known, S, 0.0), objective=0.0)
    target = np.where(known, S, 0.0) / size
    # With the whole diagonal known the trace is fixed: any positive semi-definite X will do, and nothing is shrunk.
    cost = 0.0 if psd and known.diagonal().all() else 1.0

    def watch(X: NDArray[np.float64], Z: NDArray[np.float64]) -> None:
        if psd and _separates(X - Z, known, target):
            raise Infeasible("no positive semi-definite matrix has the known entries")

    _, Z, step, converged = douglas_rachford(
        lambda A: shrink(A, cost, psd),
        lambda A: np.where(known, target, A),
        target,
        tol=tol,
        max_iter=max_iter,
        watch=watch,
    )
    kernel = size * Z
    kernel[known] = S[known]
    objective = size * float(np.abs(linalg.eigvalsh(Z)).sum())
    return Completion(kernel, objective=objective, n_iter=step, converged=converged)


def _separates(D: NDArray[np.float64], known: NDArray[np.bool_], S: NDArray[np.float64]) -> bool:
    """Whether D proves infeasibility: D >= 0 and zero where unknown, yet <D, S> < 0; but <D, X> >= 0 for X >= 0.

    What is left of D's own eigenvalues below zero is taken out on the diagonal, where that is known; the proof is
    accepted only with what remains.
    """
    D = np.where(known, D, 0.0)
    size = float(np.linalg.norm(D))
    if size == 0:
        return False
    low = min(float(linalg.eigvalsh(D, subset_by_index=[0, 0])[0]), 0.0)
    if low < -1e-12 * size and not known.diagonal().all():
        return False
    D[np.diag_indices_from(D)] -= low
    return float((D * S).sum()) < -1e-6 * size * float(np.linalg.norm(S))
