"""Weights of ranked neighbors, shared by the classifier and the regressor. [chen2010] ch. 3-4."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from similis import base
from similis._utils.arrays import Array, Floats, Indices
from similis._utils.threads import row_blocks
from similis.base import Integral, ProximityEstimator, at_least, between, choice, estimator, param
from similis.exceptions import ProximityError
from similis.solvers import local_weights, top_k

# Weights that depend on the similarities among the neighbors (similis.solvers.local_weights).
LOCAL_WEIGHTS = ("kri", "krr", "lime")


def simple_weights(weights: str | Callable[..., Any], indices: Indices, values: Array) -> Floats | None:
    """Weights of ranked neighbors up to a factor; zero for a missing neighbor, None if all are equal."""
    if weights == "uniform":
        return None
    known = indices >= 0
    # [chen2010] ch. 4 -> w_i = a s(x, x_i). If all affinities of a row are zero, their limit is equal weights.
    found = np.where(known, _call(weights, values) if callable(weights) else values, 0.0).astype(np.float64)
    without = ~found.any(axis=1)
    found[without] = known[without]
    return found


def _call(function: Callable[..., Any], values: Array) -> Floats:
    """Call the user's weight function and validate its result."""
    found = np.asarray(function(values), dtype=np.float64)
    if found.shape != values.shape:
        raise ProximityError(
            f"The weights function must return one weight per neighbor, shape {values.shape}. Got {found.shape}."
        )
    bad = ~((found >= 0) & np.isfinite(found)) & ~np.isnan(values)
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise ProximityError(
            f"The weights function must return finite weights that are not negative. Got {found[i, j]} for a proximity "
            f"of {values[i, j]:.4g}."
        )
    return found


@estimator
class NeighborWeights(ProximityEstimator):
    """Mixin of estimators that weight ranked neighbors by ``weights``, ``regularization`` and ``spectrum``."""

    n_neighbors: int = param(5, at_least(1))
    weights: str | Callable[..., Any] = param("uniform", choice("uniform", "affinity", *LOCAL_WEIGHTS), callable)
    regularization: float = param(1.0, between(0, None, "left"))
    spectrum: str | None = param("auto", choice("auto", "clip", "flip", "shift", "pinv"), None)
    kind: str = param("similarity", choice("similarity", "dissimilarity"))
    n_jobs: int | None = param(None, Integral, None)

    path_params: ClassVar[tuple[str, ...]] = ("n_neighbors", "regularization")
    accept_sparse = keep_sparse = True
    _auto_krr = "pinv"  # spectrum="auto" of KRR weights
    query = "consistent"

    def kneighbors(self, X: ArrayLike, n_neighbors: int | None = None) -> tuple[Array, Indices]:
        """Find the proximities and indices, (m, k), of the nearest training objects of each row, the nearest first.

        They are NaN and -1 beyond the known entries of a row. `n_neighbors` is another k than ``n_neighbors_``.
        """
        k = self.n_neighbors_ if n_neighbors is None else base.as_integer_k(n_neighbors)

        def nearest(Q: Array) -> tuple[Array, Indices]:
            indices, values = top_k(Q, min(k, Q.shape[1]), sign=self.sign, n_jobs=self.n_jobs)
            return values, indices

        return self.map_rows(nearest, X)

    def neighbor_weights(self, X: ArrayLike) -> tuple[Indices, Floats]:
        """Indices and weights, (m, k), of each row's neighbors, the nearest first.

        Where a row has fewer than k known entries they are -1 and 0. Weights sum to one unless ``weights="krr"``.
        """
        return self.map_rows(self._weigh, X)

    def _weigh(self, Q: Array) -> tuple[Indices, Floats]:
        indices, values = self._ranked(Q, None, [self.n_neighbors_])
        if self._S is not None:
            return indices, local_weights(self._S, indices, values, self.regularization, **self._local_options)
        given = simple_weights(self.weights, indices, values)
        given = (indices >= 0).astype(float) if given is None else given
        total = given.sum(axis=1, keepdims=True)
        return indices, np.divide(given, total, out=np.zeros_like(given), where=total > 0)

    @property
    def allow_missing(self) -> bool:  # type: ignore[override]
        return not self._is_local

    @property
    def _is_local(self) -> Any:
        return isinstance(self.weights, str) and self.weights in LOCAL_WEIGHTS

    @property
    def needs_similarities(self) -> bool:
        """True if the parameters exclude dissimilarities."""
        return isinstance(self.weights, str) and self.weights != "uniform"

    def _check_parameters(self, S: Array) -> None:
        if self.kind == "dissimilarity" and self.needs_similarities:
            raise ProximityError(
                f"weights={self.weights!r} needs similarities, but kind='dissimilarity'. Convert with ToSimilarity, or "
                "use weights='uniform' or a function of the dissimilarities."
            )
        if self.spectrum == "pinv" and self.weights != "krr":
            raise ProximityError(f"spectrum='pinv' is defined for weights='krr' only. Got weights={self.weights!r}.")
        self._check_affinities(S)

    def _check_training(self, S: Array) -> None:
        """Check the parameters; store the number of neighbors and, for KRI, KRR and LIME, the matrix."""
        self._check_parameters(S)
        self._S = S if self._is_local else None
        self.n_neighbors_ = base.clip_n_neighbors(S.shape[0], self.n_neighbors)

    def _check_affinities(self, S: Array) -> None:
        for rows in row_blocks(*S.shape) if self.weights == "affinity" else ():
            block = S[rows]
            if not np.nanmin(block, initial=0.0) < 0:
                continue
            i, j = np.argwhere(block < 0)[0]
            raise ProximityError(
                f"Negative values in data passed to {type(self).__name__}: weights='affinity' needs similarities of at "
                f"least 0. Got {block[i, j]:.4g} at row {rows.start + i}, column {j}. Shift them, or use weights='kri'."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only |= self.weights == "affinity"
        return tags

    @property
    def _local_options(self) -> Any:
        auto = self._auto_krr if self.weights == "krr" else "clip"
        spectrum = auto if self.spectrum == "auto" else self.spectrum
        return {"method": self.weights, "spectrum": spectrum, "query": self.query, "n_jobs": self.n_jobs}

    def _ranked(self, Q: Array, test_fold: Indices | None, ks: Any) -> Any:
        """Neighbors of the rows `Q` for the largest k; with `test_fold`, outside each row's fold."""
        self._check_affinities(Q)
        k = base.clip_n_neighbors(base.max_neighbors(Q.shape[1], test_fold), max(ks))
        return top_k(Q, k, sign=self.sign, folds=test_fold, n_jobs=self.n_jobs)
