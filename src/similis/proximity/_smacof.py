"""Multidimensional scaling by majorization of the stress."""

from __future__ import annotations

from dataclasses import field
from typing import Any

import numpy as np
from scipy.sparse.csgraph import csgraph_from_dense, shortest_path
from scipy.spatial.distance import cdist
from sklearn.isotonic import isotonic_regression

from similis._utils.arrays import Array, Floats
from similis.base import at_least, between, choice, estimator, fitted_reals, param
from similis.exceptions import ProximityError
from similis.proximity._base import ToFeatures
from similis.proximity._convert import symmetrize
from similis.proximity._embedding import PseudoEuclidean


@estimator
class SMACOF(ToFeatures):
    """Place objects so that their distances are close to the known dissimilarities; pairs may be missing.

    Minimizes the stress, the sum over the known pairs of (t_ij - |x_i - x_j|)^2, where t_ij is the dissimilarity or,
    for "ordinal", a non-decreasing function of it that is chosen with the map.

    Parameters
    ----------
    n_components : int, default=2
        Number of axes.
    method : {"metric", "ordinal"}, default="metric"
        Reproduce the dissimilarities, or only their order.
    max_iter : int, default=500
        Maximal number of iterations.
    tol : float, default=1e-8
        Stop when the stress decreases by less than this share.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, n_components)
        Coordinates of the training objects.
    stress_ : float
        Normalized stress, sqrt(sum (t_ij - |x_i - x_j|)^2 / sum t_ij^2) over the known pairs; 0 is a perfect map.
    stresses_ : ndarray
        Its value at the start and after each iteration; it never increases.
    n_iter_ : int
        Number of iterations.

    Notes
    -----
    The iteration (Borg and Groenen, Modern Multidimensional Scaling, 2005, ch. 8 and 9) starts from classical scaling,
    with the shortest path over known pairs for a missing one, and ends in a local minimum. The matrix is symmetrized. A
    new row, or a row in ``fit_transform``, is placed by the same iteration with the training objects fixed.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import SMACOF
    >>> D = np.array([[0.0, 3.0, 4.0, np.nan], [3.0, 0.0, 5.0, 4.0], [4.0, 5.0, 0.0, 3.0], [np.nan, 4.0, 3.0, 0.0]])
    >>> x = SMACOF().fit(D).embedding_
    >>> round(float(np.linalg.norm(x[0] - x[3])), 2)
    5.0
    """

    n_components: int = field(default=2, kw_only=False, metadata={"constraints": [at_least(1)]})
    method: str = param("metric", choice("metric", "ordinal"))
    max_iter: int = param(500, at_least(1))
    tol: float = param(1e-8, between(0, 1))

    fitted_arrays = {
        "embedding_": fitted_reals("n", "c"),
        "_known_order": fitted_reals("knots"),
        "_targets": fitted_reals("knots"),
    }
    reads = "dissimilarity"
    allow_missing = True

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def learn(self, S: Array, y: Any) -> None:
        D = symmetrize(np.asarray(S, dtype=np.float64))
        np.fill_diagonal(D, 0)
        n, known = len(D), ~np.isnan(D)
        paths = shortest_path(csgraph_from_dense(D, null_value=-1))  # by default zero would be no edge
        if not np.isfinite(paths).all():
            i = int(np.argmin(np.isfinite(paths[0])))
            raise ProximityError(
                f"No chain of known pairs connects object {i} with object 0, so that their distance is arbitrary. "
                "Embed the connected parts separately."
            )
        scaling = PseudoEuclidean(n_components=self.n_components, positive_only=True)
        start = scaling.fit_transform(np.where(known, D, paths))
        X = np.zeros((n, self.n_components))
        X[:, : start.shape[1]] = start
        # Guttman transform X = V^+ B(X) X, where V is the Laplacian of the known pairs: V^+ = (V + 11'/n)^-1 - 11'/n
        W = known & ~np.eye(n, dtype=bool)
        inverse = np.linalg.inv(np.diag(W.sum(axis=1)) - W + 1 / n) - 1 / n
        pairs = np.nonzero(np.triu(W, 1))
        size = float((D[pairs] ** 2).sum())
        target = np.where(W, D, 0.0)
        self.stresses_ = np.zeros(0)
        for step in range(self.max_iter + 1):
            distance = cdist(X, X)
            if self.method == "ordinal":
                target[pairs] = self._monotone(D[pairs], distance[pairs], size)
                target.T[pairs] = target[pairs]
            error = float(((target[pairs] - distance[pairs]) ** 2).sum())
            self.stresses_ = np.append(self.stresses_, np.sqrt(error / size) if size else 0.0)
            still = step and self.stresses_[-1] ** 2 > (1 - self.tol) * self.stresses_[-2] ** 2 - 1e-18
            if still or step == self.max_iter:
                break
            B = -np.divide(target, distance, out=np.zeros_like(target), where=distance > 0)
            np.fill_diagonal(B, -B.sum(axis=1))
            X = inverse @ (B @ X)
        self.embedding_, self.stress_, self.n_iter_ = X, float(self.stresses_[-1]), step
        order = np.argsort(D[pairs], kind="stable") if self.method == "ordinal" else np.zeros(0, np.intp)
        self._known_order, self._targets = D[pairs][order], target[pairs][order]

    def transform_rows(self, Q: Array) -> Array:
        X, known = self.embedding_, ~np.isnan(Q)
        if (unknown := ~known.any(axis=1)).any():
            i = int(unknown.argmax())
            raise ProximityError(f"Row {i} has no known dissimilarity, so that its object cannot be placed.")
        target = np.where(known, Q, np.inf).astype(np.float64)
        Z = X[target.argmin(axis=1)]  # of the nearest object
        target[~known] = 0
        if self.method == "ordinal" and len(self._targets):
            target = np.where(known, np.interp(target, self._known_order, self._targets), 0)
        counts, center = known.sum(axis=1)[:, None], known @ X
        scale = np.abs(X).max(initial=0.0)
        active = np.arange(len(Z))
        for _ in range(self.max_iter):
            # z = mean over the known objects of x_j + t_j (z - x_j) / |z - x_j|
            old, distance = Z[active], cdist(Z[active], X)
            ratio = np.divide(target[active], distance, out=np.zeros_like(distance), where=distance > 0)
            Z[active] = (center[active] + ratio.sum(axis=1)[:, None] * old - ratio @ X) / counts[active]
            active = active[np.abs(Z[active] - old).max(axis=1) > 1e-9 * scale]
            if not active.size:
                break
        return Z.astype(Q.dtype, copy=False)

    def _monotone(self, D: Floats, distance: Floats, size: float) -> Floats:
        """Non-decreasing function of D nearest to the distances, with a given sum of squares; ties may be broken."""
        order = np.lexsort((distance, D))
        found = np.empty_like(D)
        found[order] = isotonic_regression(distance[order]) if len(order) else distance
        total = float((found**2).sum())
        return found * np.sqrt(size / total) if total else D
