"""New rows for a kernel that was learnt on the training objects only. [chen2010] sec. 5.1.2."""

from __future__ import annotations

import numpy as np

from similis._utils.linalg import eigen_symmetric
from similis.exceptions import ProximityError
from similis.svm._learnt import LearntSVM

__all__ = ["KernelSVM", "nearest_kernel_rows", "one_per_row"]


def nearest_kernel_rows(K, S, self_similarity):
    """The rows r nearest to S that extend the kernel K to a positive semi-definite matrix.

    Minimises 2 ||r - s||^2 + (t - s(x, x))^2 over r in the range of K and t >= r'K^+ r, [chen2010] Eq. (5.14) with the
    constraint that Lemma 5.1 gives: the print has r'K r. In the eigenbasis of K, r_i = s_i / (1 + m / (2 k_i)) and
    t = s(x, x) + m / 2, where m >= 0 is the root of sum_i r_i^2 / k_i = t, or 0.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Positive semi-definite.
    S : ndarray of shape (m, n)
        New rows.
    self_similarity : ndarray of shape (m,)
        s(x, x).

    Returns
    -------
    ndarray of shape (m, n)
    """
    system = eigen_symmetric(np.asarray(K, dtype=np.float64))
    keep = system.values > system.tolerance
    k, U = system.values[keep], system.vectors[:, keep]
    s = np.asarray(S, dtype=np.float64) @ U
    psi = np.asarray(self_similarity, dtype=np.float64)
    # m / 2 + psi = sum s^2 k / (k + m / 2)^2: one side grows, the other is convex and falls, so that Newton's method
    # from the left stays there.
    half = np.maximum(0.0, -psi)  # m / 2; t must not be negative
    for _ in range(200):
        share = s**2 * k / (k + half[:, None]) ** 2
        lack = share.sum(axis=1) - psi - half
        step = np.where(lack > 0, lack / (1 + 2 * (share / (k + half[:, None])).sum(axis=1)), 0.0)
        half = half + step
        if (step <= 1e-14 * (np.abs(psi) + half)).all():
            break
    return (s * k / (k + half[:, None])) @ U.T


def one_per_row(self_similarity, m):
    """Self-similarities as an array, one number for all or one per row."""
    s = np.asarray(self_similarity, dtype=np.float64)
    if s.shape not in ((), (m,)) or not np.isfinite(s).all():
        raise ProximityError(f"self_similarity must be a finite number, or one per row, {m}. Got shape {s.shape}.")
    return np.broadcast_to(s, m)


class KernelSVM(LearntSVM):
    """A machine on a kernel learnt whole: ``kernel_`` and ``_kernel_coef`` give f on the training objects."""

    def decision_function(self, X, self_similarity=None):
        """How far each row is on a class's side.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Similarities of new objects to the training objects.
        self_similarity : float or array-like of shape (m,), optional
            Similarity s(x, x) of each new object to itself. With it a row is replaced by the nearest one that extends
            the learnt kernel to a positive semi-definite matrix; without, by its projection on the kernel's range.

        Returns
        -------
        ndarray of shape (m,) for two classes, else (m, G)
            For two classes f, positive for ``classes_[1]``; for more, votes of the pairs plus a bounded sum of margins.
            The arg max is ``predict``.
        """
        return self._scores_to_response(self._row_scores(X, self_similarity), "decision_function")

    def predict(self, X, self_similarity=None):
        """Predict the class on whose side each row is.

        Parameters
        ----------
        X : array-like of shape (m, n)
            Similarities of new objects to the training objects.
        self_similarity : float or array-like of shape (m,), optional
            As in :meth:`decision_function`.

        Returns
        -------
        ndarray of shape (m,)
            Labels from ``classes_``; the earlier class wins a tie.
        """
        scores = self._row_scores(X, self_similarity)
        return self.classes_[np.argmax(scores, axis=1)]

    def _row_scores(self, X, self_similarity):
        if self_similarity is None:
            return self._class_scores(X)
        Q = self._check_query(X)
        psi = one_per_row(self_similarity, len(Q))
        parts = getattr(self, "estimators_", [self])
        f = [
            nearest_kernel_rows(part.kernel_, Q[:, members], psi) @ part._kernel_coef + part.intercept_
            for part, members in zip(parts, self._members)
        ]
        return self._combine(np.column_stack(f), len(self.classes_))

    def _keep(self, tasks, machines, n):
        self._members = [members for members, _ in tasks]
        super()._keep(tasks, machines, n)
