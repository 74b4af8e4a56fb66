"""Parzen windows on given distances, or between rows."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize_scalar
from scipy.special import logsumexp

from similis._utils.arrays import Array, Indices
from similis._utils.linalg import fold_row_distances, is_symmetric, row_distances
from similis.base import BayesClassifier, Points, choice, estimator, fitted_indices, fitted_reals, param, positive
from similis.solvers import gamma_shape


def distance_dimension(D: Array, codes: Indices) -> Any:
    """Dimension of the space in which distances are those of Gaussian classes: 2s of a gamma fit, at most n - 1.

    Classes have scales of their own; zero distances are left out. Without any distance it is 1.
    """
    squares = [_others(D, codes, g) for g in range(codes.max() + 1)]
    squares = [u[(u > 0) & np.isfinite(u)] for u in squares]
    squares = [u for u in squares if u.size]
    if not squares:
        return 1.0
    N = sum(u.size for u in squares)
    # [qiao2013] Eq. (3) -> log s - psi(s) = sum_g (N_g / N) log mean u_g - mean log u
    excess = sum(u.size * np.log(u.mean()) - np.log(u).sum() for u in squares) / N
    return min(2 * float(gamma_shape(excess)), len(D) - 1.0)


class WindowLikelihood:
    """Log-likelihood of the training objects under windows of any width, each object from the others of its class.

    [pekalska2000] sec. 2.2: L(h) = sum_i log sum_j exp(-u_ij / 2h^2) - N d log h with u_ij = d_ij^2, where the first
    term is the same for all dimensions d. An object without others in its class is left out.
    """

    def __init__(self, D: Array, codes: Indices) -> None:
        blocks = [u for u in (_others(D, codes, g) for g in range(codes.max() + 1)) if len(u) > 1]
        if blocks and not any(u.min(axis=1).any() for u in blocks):
            # Each object has a copy: L grows without bound as h -> 0. Copies say nothing about distances.
            blocks = [np.where(u > 0, u, np.inf) for u in blocks]
            blocks = [u[np.isfinite(u).any(axis=1)] for u in blocks]
            blocks = [u for u in blocks if len(u)]
        nearest = [u.min(axis=1) for u in blocks]
        self._D = D
        self._n = sum(map(len, blocks))
        self._nearest = sum(v.sum() for v in nearest)
        self._mean = sum(np.mean(u, axis=1, where=np.isfinite(u)).sum() for u in blocks)
        for u, v in zip(blocks, nearest):
            u -= v[:, None]
            np.minimum(u, np.finfo(u.dtype).max, out=u)  # a weight of zero times infinity would be NaN
        self._excess = blocks
        self._found: dict[float, tuple[float, float]] = {}

    def terms(self, log_h2: float) -> tuple[float, float]:
        """First term of L and its derivative by log h^2, sum_i E_i[u_ij] / 2h^2, E_i over the weights of i's window."""
        if log_h2 not in self._found:
            beta = 0.5 * np.exp(-log_h2)
            fit, moment = -beta * self._nearest, self._nearest
            for e in self._excess:
                with np.errstate(over="ignore"):
                    w = e * -beta
                np.exp(w, out=w)
                sums = w.sum(axis=1)
                fit += np.log(sums).sum()
                moment += (np.einsum("ij,ij->i", w, e) / sums).sum()
            self._found[log_h2] = fit, beta * moment
        return self._found[log_h2]

    def bandwidth(self, dimension: float) -> float:
        """The most likely h."""
        if not self._n:  # no class has two different objects: all objects as one class
            u = np.square(self._D[~np.eye(len(self._D), dtype=bool)], dtype=np.float64)
            mean = u[u > 0].mean() if (u > 0).any() else dimension
            return float(np.sqrt(mean / dimension))
        # L' = 0 gives h^2 = (1/Nd) sum_i E_i[u_ij], between the squared distances to the nearest and to the mean.
        degrees = self._n * dimension
        low, high = np.log(self._nearest / degrees), np.log(self._mean / degrees)

        def loss(log_h2: float) -> float:
            return 0.5 * degrees * log_h2 - self.terms(log_h2)[0]

        def slope(log_h2: float) -> float:
            return 0.5 * degrees - self.terms(log_h2)[1]

        # L may have several maxima: eight looks per decade of h^2, then the best one is refined. All dimensions share
        # the looks, which are multiples of the step from the largest log h^2, so that they follow the unit of u.
        step, origin = np.log(10) / 8, np.log(self._mean)
        looks = origin - step * np.arange(np.floor((origin - high) / step), np.ceil((origin - low) / step) + 1)
        best = int(np.argmin([loss(t) for t in looks]))
        right, left = looks[max(best - 1, 0)], looks[min(best + 1, len(looks) - 1)]
        if slope(left) < 0 < slope(right):
            left, right = (looks[best], right) if slope(looks[best]) < 0 else (left, looks[best])
            found = brentq(slope, left, right, xtol=1e-10)  # the last of its steps is far more accurate
        else:
            found = minimize_scalar(loss, bounds=(left, right), method="bounded", options={"xatol": 1e-10}).x
        return float(np.exp(found / 2))


def _others(D: Array, codes: Indices, g: Any) -> Any:
    """Squared distances within class g, infinite from an object to itself."""
    members = np.flatnonzero(codes == g)
    u = np.square(D[np.ix_(members, members)], dtype=np.float64)
    np.fill_diagonal(u, np.inf)
    return u


@estimator
class Parzen(BayesClassifier):
    """Classify by Gaussian windows around the training objects ([pekalska2000] sec. 2.2).

    The density of class g with n_g training objects is (1/n_g) sum over i in g of (sqrt(2 pi) h)^-d exp(-d(x, i)^2 /
    2h^2), with one width h for all classes.

    Parameters
    ----------
    bandwidth : float or "ml", default="ml"
        h, or the h under which the training objects are most likely, each estimated from the others of its class.
    space : {"given", "features"}, default="given"
        Whether d(x, i) are the given dissimilarities (the paper's rank-based form), or Euclidean distances between rows
        taken for features, of either kind.
    dimension : float, "objects" or None, default="objects"
        d, which only the choice of h and the size of densities depend on. "objects": the number of training objects.
        None, the default in similis 1.0: the rank of the training rows for features; for given dissimilarities the d in
        which they would be distances within spherical Gaussian classes, at most n - 1.
    priors, costs
        As in :class:`NormalLinear`.

    Attributes
    ----------
    classes_, priors_ : ndarray of shape (G,)
        Class labels and probabilities.
    bandwidth_, dimension_ : float
        h and d in use.

    Notes
    -----
    The paper prints the normalizer of one dimension, 1 / (sqrt(2 pi) h), which gives windows that are too wide. d = n,
    the dimension of the space in which it places its objects, agrees with all 14 printed errors that can be repeated.

    As d grows the rule tends to that of the nearest neighbor: with d = n most probabilities are near 0 or 1. For
    probabilities set the dimension of the objects if it is known, or calibrate them.

    With ``dimension=None`` and given dissimilarities d = 2s, where s is the shape of a gamma distribution of the
    squared distances within classes. It is too small for classes that are long in one direction. If every object has a
    copy in its class, copies are left out of the likelihood, which has no maximum with them.

    Examples
    --------
    >>> from similis import Parzen
    >>> D = [[0.0, 2.0, 6.0, 9.0], [2.0, 0.0, 4.0, 7.0], [6.0, 4.0, 0.0, 3.0], [9.0, 7.0, 3.0, 0.0]]
    >>> Parzen().fit(D, ["a", "a", "b", "b"]).predict([[5.0, 3.0, 1.0, 4.0]])
    array(['b'], dtype='<U1')
    """

    bandwidth: float | str = param("ml", positive(), choice("ml"))
    space: str = param("given", choice("given", "features"))
    dimension: float | str | None = param("objects", positive(), choice("objects"), None)
    priors: Any = param(None, "array-like", choice("laplace"), None)
    costs: Any = param(None, "array-like", None)

    fitted_arrays = {
        "_codes": fitted_indices("n", below="G"),
        "_training_rows": fitted_reals("n", "n", optional=True),
        "priors_": fitted_reals("G", low=0),
    }

    path_params = ("bandwidth", "dimension")

    @property
    def proximity_kind(self) -> Any:
        return "dissimilarity" if self.space == "given" else None

    def learn(self, S: Array, codes: Indices) -> None:
        self._codes = codes
        self.set_priors(codes)
        self._training_rows = S if self.space == "features" else None
        point = {"bandwidth": self.bandwidth, "dimension": self.dimension}
        self.bandwidth_, self.dimension_ = self._widths(S, codes, [point])[0]

    def log_density(self, X: ArrayLike) -> Array:
        """Log-density, (m, G), of new objects in each class, log p(x | g)."""
        D = self._distances(self.check_rows(X), self._training_rows)
        nearest, logs = _log_windows(D, self._codes, self.bandwidth_)
        return logs + nearest[:, None] - self.dimension_ * (np.log(self.bandwidth_) + 0.5 * np.log(2 * np.pi))

    def score_samples(self, X: ArrayLike) -> Array:
        """Log-density, (m,), of new objects under all classes together, log p(x); low values are abnormal."""
        return logsumexp(self.log_priors + self.log_density(X), axis=1)

    def _distances(self, Q: Array, rows: Any) -> Any:
        return Q if self.space == "given" else row_distances(Q, rows)

    def class_scores(self, Q: Array) -> Array:
        D = self._distances(Q, self._training_rows)
        return self.log_priors + _log_windows(D, self._codes, self.bandwidth_)[1]

    def path_scores(
        self, S: Array, codes: Indices, Q: Array, points: Points, distances: Any = (None, None)
    ) -> list[Array]:
        """Score new rows for every point; `distances` are those among the rows of S, and from those of Q to them."""
        self.set_priors(codes)
        D = self._distances(Q, S) if distances[1] is None else distances[1]
        widths = self._widths(S, codes, points, distances[0])
        return [self.log_priors + _log_windows(D, codes, h)[1] for h, _ in widths]

    def path_scores_cv(self, S: Array, codes: Indices, test_fold: Indices, points: Points) -> list[Array]:
        if self.space == "given":
            return self.score_folds(S, codes, test_fold, points)
        folds = zip(np.unique(test_fold), fold_row_distances(S, test_fold))
        parts = ((D, np.flatnonzero(test_fold != fold), np.flatnonzero(test_fold == fold)) for fold, D in folds)
        options = ({"distances": (D[np.ix_(a, a)], D[np.ix_(b, a)])} for D, a, b in parts)
        return self.score_folds(S, codes, test_fold, points, options)

    def _widths(self, S: Array, codes: Indices, points: Points, D: Any = None) -> list[tuple[float, float]]:
        """Bandwidth and dimension for each point, estimated where it does not give them; D are the distances."""
        estimated: dict[Any, float] = {"objects": len(S)}
        if any(point["dimension"] is None for point in points):
            estimated[None] = distance_dimension(S, codes) if self.space == "given" else rank_of_rows(S)
        if any(point["bandwidth"] == "ml" for point in points):
            likelihood = WindowLikelihood(self._distances(S, S) if D is None else D, codes)
        found = []
        for point in points:
            given = point["dimension"]
            h, d = point["bandwidth"], float(estimated[given] if given in estimated else given)
            found.append((likelihood.bandwidth(d) if h == "ml" else float(h), d))
        return found


def rank_of_rows(S: Array) -> int:
    """Rank, at least 1, by the eigenvalues if S is symmetric, which take a third of the time."""
    return max(1, int(np.linalg.matrix_rank(S, hermitian=is_symmetric(S))))


def _log_windows(D: Array, codes: Indices, h: Any) -> Any:
    """Finite parts of log (1/n_g) sum over i in g of exp(-d_i^2 / 2h^2): -min d^2 / 2h^2, (m,), and the rest (m, G)."""
    order = np.argsort(codes, kind="stable")
    size = np.bincount(codes)
    first = np.concatenate([[0], np.cumsum(size)[:-1]])
    D = np.asarray(D[:, order], dtype=np.float64)
    nearest = D.min(axis=1, keepdims=True)
    with np.errstate(over="ignore", divide="ignore"):
        E = -0.5 * ((D - nearest) * (D + nearest) / h / h)  # (m, n), at most 0
        peak = np.maximum.reduceat(E, first, axis=1)
        peak = np.where(np.isfinite(peak), peak, 0.0)
        E -= np.repeat(peak, size, axis=1)
        sums = np.add.reduceat(np.exp(E, out=E), first, axis=1)
        return -0.5 * (nearest[:, 0] / h) ** 2, np.log(sums / size) + peak
