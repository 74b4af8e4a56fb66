"""Local similarity discriminant analysis. [cazzanti2007] ch. 4."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import softmax

from similis import _kernels, base
from similis._utils.arrays import Array, Floats, Indices
from similis._utils.fitted import fitted_count, fitted_indices, fitted_part, fitted_reals
from similis._utils.threads import map_row_chunks, row_blocks
from similis.base import Integral, Points, at_least, between, choice, estimator, param
from similis.discriminant import _statistics as st
from similis.discriminant._base import LogLimit
from similis.exceptions import ProximityError
from similis.solvers import Omega, class_sums, kri_weights, local_psd, local_weights, top_k


class Neighborhoods(NamedTuple):
    """Ranked neighbors (m, K), -1 at the end of short lists, their proximities, and numbers of neighbors, (m, T)."""

    indices: Indices
    values: Array
    ends: Indices

    def point(self, t: int) -> Neighborhoods:
        """Neighborhoods of one grid point, clipped to their length."""
        ends = self.ends[:, t]
        inside = np.arange(ends.max(initial=1)) < ends[:, None]
        indices = np.where(inside, self.indices[:, : inside.shape[1]], -1)
        return Neighborhoods(indices, np.ascontiguousarray(self.values[:, : inside.shape[1]]), ends[:, None])


class Query(NamedTuple):
    """New rows, or the rows of the training matrix itself with the fold of each."""

    S: Array
    codes: Indices
    rows: Array
    fold: Indices | None
    sign: int
    n_jobs: int | None
    width: float | None = None  # of Omega, for models of 1.0 with neighborhood="radius"

    def ranked(self, k: int, rows: Array | None = None, columns: Any = None) -> Any:
        """The k nearest objects of each row, among `columns` if given, outside the row's own fold."""
        rows, folds = self.rows if rows is None else rows, self.fold
        if columns is None:
            return top_k(rows, k, sign=self.sign, folds=folds, n_jobs=self.n_jobs)
        sides: Any = None if folds is None else (folds, folds[columns])
        indices, values = top_k(rows[:, columns], k, sign=self.sign, folds=sides, n_jobs=self.n_jobs)
        return np.where(indices < 0, -1, columns[indices]), values

    @property
    def n_candidates(self) -> int:
        """Largest number of candidates of a row."""
        return base.max_neighbors(len(self.S), self.fold)

    def blocks(self, indices: Indices) -> Iterator[tuple[slice, Array]]:
        """Some rows, and the matrices among the neighbors of each."""
        k = indices.shape[1]
        at_a_time = max(1, 2**21 // k**2)
        for rows in (slice(a, a + at_a_time) for a in range(0, len(indices), at_a_time)):
            blocks = np.empty((*indices[rows].shape, k))
            _kernels.gather_blocks(self.S, indices[rows], blocks)
            yield rows, blocks


def _nearest(query: Query, ks: Indices) -> Neighborhoods:
    indices, values = query.ranked(base.clip_n_neighbors(query.n_candidates, int(ks.max())))
    ends = np.broadcast_to(np.minimum(ks, indices.shape[1]), (len(indices), len(ks)))
    return Neighborhoods(indices, values, np.ascontiguousarray(ends))


def _per_class(query: Query, ks: Indices) -> Neighborhoods:
    """The k nearest of every class, rank by rank."""
    n_classes, k = int(query.codes.max()) + 1, int(ks.max())
    found = [query.ranked(k, columns=np.flatnonzero(query.codes == h)) for h in range(n_classes)]
    indices, values = (np.stack(parts, axis=2) for parts in zip(*found))  # (m, k, G)
    known = (indices >= 0).sum(axis=2).cumsum(axis=1)
    m = len(indices)
    return _members_first(indices.reshape(m, -1), values.reshape(m, -1), known[:, ks - 1])


def _members_first(indices: Indices, values: Array, ends: Indices) -> Neighborhoods:
    """Move the places marked by -1 to the end of each row, the others in their order."""
    order = np.argsort(indices < 0, axis=1, kind="stable")
    indices, values = (np.take_along_axis(a, order, axis=1) for a in (indices, values))
    return Neighborhoods(indices, values, np.ascontiguousarray(ends))


def _within_radius(query: Query, radii: Floats) -> Neighborhoods:
    """[cazzanti2007] sec. 4.1 -> all objects whose similarity is within a factor 1 + radius of the best."""
    best = query.sign * query.ranked(1)[1].astype(np.float64)
    if query.width is None:
        least = np.where(best > 0, best / (1 + radii), best * (1 + radii)) - 1e-12 * np.abs(best)  # (m, T)
    else:  # a model saved by 1.0
        least = best - (radii + 1e-12) * query.width
    indices, values = query.ranked(len(query.S))
    reach = query.sign * np.where(indices < 0, np.nan, values)
    ends = np.stack([(reach >= least[:, t, None]).sum(axis=1) for t in range(len(radii))], axis=1)
    indices, values = (np.ascontiguousarray(a[:, : ends.max()]) for a in (indices, values))
    return Neighborhoods(indices, values, ends)


def _reciprocal(query: Query, _: Any) -> Neighborhoods:
    """[cazzanti2007] sec. 7.2.2 (Nock) -> the nearest neighbor, and all objects whose nearest neighbor x would be."""
    nearest = query.ranked(1)[0]
    others = query.sign * query.S.astype(np.float64)
    np.fill_diagonal(others, -np.inf)
    fold, bar = query.fold, others.max(axis=1)[None, :]
    if fold is not None:
        of_best = fold[others.argmax(axis=1)]
        rival = np.where(fold == of_best[:, None], -np.inf, others).max(axis=1)  # best outside the best one's fold
        bar = np.where(fold[:, None] == of_best, rival, bar)
    member = query.sign * query.rows >= bar
    np.put_along_axis(member, nearest, True, axis=1)
    if fold is not None:
        member &= fold[:, None] != fold
    indices, values = query.ranked(int(member.sum(axis=1).max()), rows=np.where(member, query.rows, np.nan))
    return Neighborhoods(indices, values, (indices >= 0).sum(axis=1, keepdims=True))


def _natural(query: Query, ks: Indices) -> Neighborhoods:
    """[cazzanti2007] sec. 7.2.2 (Sibson) -> of the k nearest z, those with an empty ball of diameter xz (Gabriel)."""
    ks = np.minimum(ks, query.n_candidates)
    indices, values = query.ranked(int(ks.max()))
    k, known = indices.shape[1], indices >= 0
    nearer = np.triu(np.ones((k, k), bool), 1)  # w before z
    for rows, blocks in query.blocks(indices):
        to_x = np.where(known[rows], values[rows], 0.0).astype(np.float64)
        if query.sign < 0:  # w is inside the ball if d(x, w)^2 + d(w, z)^2 < d(x, z)^2
            to_x, blocks = to_x**2, blocks**2
            excess = to_x[:, None, :] - to_x[:, :, None] - blocks
        else:  # the same by inner products: <x - w, z - w> < 0
            own = np.einsum("cww->cw", blocks)[:, :, None]
            excess = to_x[:, :, None] + blocks - own - to_x[:, None, :]
        slack = 1e-9 * np.abs(blocks).max(axis=(1, 2), keepdims=True)
        known[rows] &= ~((excess > slack) & nearer).any(axis=1)
    return _members_first(np.where(known, indices, -1), values, known.cumsum(axis=1)[:, ks - 1])


def _enclosing(query: Query, k: int) -> Neighborhoods:
    """[cazzanti2007] sec. 7.2.2 -> the fewest neighbors after which one more brings the query no nearer to their hull.

    The distance is the objective of [chen2010] Eq. (3.5) without ridge, on the block made positive semi-definite.
    """
    k = min(k, query.n_candidates)
    indices, values = query.ranked(k)
    ends = np.empty((len(indices), 1), np.intp)
    for rows, blocks in query.blocks(indices):
        known = (indices[rows] >= 0).sum(axis=1)
        blocks, s = local_psd(blocks, np.where(indices[rows] < 0, 0.0, values[rows]).astype(np.float64), "clip")
        w = kri_weights(blocks, s, 0.0, ks=np.arange(1, k + 1), known=known).weights[:, :, 0]  # (rows, k, k)
        objective = 0.5 * np.einsum("cta,cta->ct", w @ blocks, w) - np.einsum("cta,ca->ct", w, s)
        stalls = np.diff(objective, axis=1, append=np.inf) >= -1e-9 * np.abs(blocks).max(axis=(1, 2))[:, None]
        ends[rows, 0] = np.minimum(stalls.argmax(axis=1) + 1, known)
    return Neighborhoods(indices, values, ends)


_OUT_NUMBERS = 2**20  # class scores in memory at a time
# Neighborhoods for an ascending grid of k, or of the radius; "enclosing" takes one k at a time.
_NEIGHBORHOODS: dict[str, Callable[..., Neighborhoods]] = {
    "knn": _nearest,
    "per-class": _per_class,
    "radius": _within_radius,
    "reciprocal": _reciprocal,
    "natural": _natural,
    "enclosing": _enclosing,
}


@estimator
class LocalSDA(base.ProbabilityMixin, base.PathMixin, base.ProximityClassifier):
    """Similarity discriminant analysis in the neighborhood of each object.

    The centroids, the mean similarities and the priors are those of the object's neighbors. As n and k grow and k / n
    falls, the error tends to the Bayes error. See [cazzanti2007] sec. 4.1-4.2, 7.2.2-7.2.3, and for smoothing
    [chen2010] ch. 2 and [qiao2013] sec. 1.2.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number k of neighbors; clipped to the number n of training objects (``n_neighbors_``).
    neighborhood : {"knn", "per-class", "radius", "reciprocal", "natural", "enclosing"}, default="knn"
        - "knn": the k nearest;
        - "per-class": the k nearest of each class (Mitani and Hamamoto);
        - "radius": all whose similarity is within a factor ``1 + radius`` of that of the nearest (sec. 4.1);
        - "reciprocal": the nearest, and all objects whose nearest neighbor the new object would be (Nock);
        - "natural": of the k nearest, those with no nearer object in the ball whose diameter joins them to the new
          object, similarities read as inner products (after Sibson; see Notes);
        - "enclosing": of the k nearest, the fewest after which one more brings the object no nearer to their convex
          hull, similarities read as inner products.
    radius : float, default=0.1
        alpha of sec. 4.1, for ``neighborhood="radius"``: neighbors have similarities of at least best / (1 + alpha), or
        dissimilarities of at most best * (1 + alpha).
    min_class_size : int, default=3
        If a class has neighbors but fewer than this, local nearest centroid decides.
    smoothing : float, default=0.0
        Weight e of the uniform distribution on Omega in each model, (1 - e) P + e / size of Omega; where local nearest
        centroid decides, the weight of equal class probabilities.
    weights : None, "kri" or "affinity", default=None
        Weights of the neighbors in the centroids and means (sec. 7.2.3): equal, by kernel ridge interpolation, or
        proportional to the similarities, which must not be negative.
    regularization : float, default=1.0
        lambda of the "kri" weights.
    domain : {"empirical", "continuous"}, array-like or tuple (low, high), default="empirical"
        Omega: the distinct values of the whole training matrix; the interval from its minimum to its maximum; a given
        set of values; a given interval, one end of which may be infinite.
    priors : None, "laplace" or array-like of shape (G,)
        Class frequencies among the neighbors, the same with one added to each count, or given probabilities; in any
        case a class without neighbors has probability zero. Where all others have it too, they count alike.
    costs : array-like of shape (G, G) or None
        ``costs[f, g]`` is the cost of predicting f when g is true; ``predict`` minimizes its expectation.
    kind : {"similarity", "dissimilarity"}, default="similarity"
        Kind of proximity in the matrix; weights and "enclosing" need similarities.
    n_jobs : int or None
        Number of threads over the rows; the result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (G,)
        Class labels.
    priors_ : ndarray of shape (G,)
        Priors of the whole training set, for comparison; the local ones differ from row to row.
    domain_ : ndarray or tuple
        Omega: its values, or its two ends.
    n_neighbors_, radius_factor_ : int, float
        Number of neighbors used, and 1 + alpha of ``neighborhood="radius"``.

    Notes
    -----
    The paper does not specify what "reverts to local nearest centroid" covers; here it is the whole decision, with a
    probability of one for the predicted class. ``class_log_prob`` and ``score_samples`` always refer to the exponential
    models. The paper prints arg max in its rule with costs, where arg min is meant. A class all of whose weights are
    zero is modeled with equal weights. The centroid among equals is the nearest. An empirical Omega of more than 2^21
    values is represented by a sample, see :class:`SDA`.

    The factor of ``neighborhood="radius"`` is meant for positive similarities. Where the best similarity is negative,
    neighbors have at least best * (1 + alpha); where it is zero, only objects with the same value are neighbors. Models
    saved by similis 1.0 keep its rule: at most `radius` times the width of Omega less similar than the nearest.

    Sibson's natural neighbors need coordinates. ``neighborhood="natural"`` takes the Gabriel neighbors, a part of them
    that pairs of objects determine. Give a large `n_neighbors`, which only limits the cost.

    Examples
    --------
    >>> from similis import LocalSDA, make_similarity
    >>> S, y = make_similarity(60, random_state=0)
    >>> LocalSDA(n_neighbors=20).fit(S, y).predict(S[[0, 40]])
    array([0, 1])
    """

    n_neighbors: int = param(10, at_least(1))
    neighborhood: str = param("knn", choice(*_NEIGHBORHOODS))
    radius: float = param(0.1, between(0, None, "left"))
    min_class_size: int = param(3, at_least(1))
    smoothing: float = param(0.0, between(0, 1, "left"))
    weights: str | None = param(None, choice("kri", "affinity"), None)
    regularization: float = param(1.0, between(0, None, "left"))
    domain: Any = param("empirical", choice("empirical", "continuous"), tuple, "array-like")
    priors: Any = param(None, choice("laplace"), "array-like", None)
    costs: Any = param(None, "array-like", None)
    kind: str = param("similarity", choice("similarity", "dissimilarity"))
    n_jobs: int | None = param(None, Integral, None)

    fitted_arrays = {
        "_codes": fitted_indices("n", below="G"),
        "_S": fitted_reals("n", "n"),
        "_omega": fitted_part(Omega),
        "priors_": fitted_reals("G", low=0),
        "n_neighbors_": fitted_count(1, "n"),
    }
    path_params = ("n_neighbors", "radius")

    @property
    def accept_sparse(self) -> bool:  # type: ignore[override]
        return self.kind == "similarity"  # absent dissimilarities are missing, and missing entries are not accepted

    @property
    def keep_sparse(self) -> bool:  # type: ignore[override]
        return self.neighborhood not in ("reciprocal", "natural", "enclosing")

    def learn(self, S: Array, codes: Indices) -> None:
        self._S, self._codes = S, codes
        domain = st.check_domain(self.domain)
        self._check_combinations(S, domain)
        self._omega = st.omega_of(domain, st.training_values(domain, S))
        self.domain_ = st.public_domain([self._omega])
        self.priors_ = base.class_priors(self.priors, np.bincount(codes))
        self.n_neighbors_ = base.clip_n_neighbors(len(codes), self.n_neighbors)
        self.radius_factor_ = 1.0 + self.radius

    def class_scores(self, Q: Array) -> Array:
        return self._modeled(Q, self._posterior, always=False)

    def class_log_prob(self, X: ArrayLike) -> Array:
        """Log-probability, (m, G), of an object's similarities to the local centroids under each class.

        Minus infinity for a class without neighbors, and off a point mass.
        """
        return self.map_rows(lambda Q: self._modeled(Q, lambda limits, *_: limits.log()), X)

    def score_samples(self, X: ArrayLike) -> Array:
        """Log-probability, (m,), of an object's similarities under all classes, by local priors; low is abnormal."""

        def mixture(limits: Any, counts: Array, _: Any) -> Array:
            return limits.mix(self._local_log_priors(counts), axis=2).log()

        return self.map_rows(lambda Q: self._modeled(Q, mixture), X)

    def _modeled(self, Q: Array, function: Any, always: bool = True) -> Array:
        """Values of a function of the local models of each row: limits, counts and winners."""
        point = {"n_neighbors": self.n_neighbors_, "radius": self.radius}
        groups = [(np.arange(len(Q)), self._omega)]
        width = None if hasattr(self, "radius_factor_") else self._omega.width  # saved by 1.0
        runs = self._runs(Query(self._S, self._codes, Q, None, self.sign, self.n_jobs, width), groups, [point], always)
        return np.concatenate([function(*model)[:, 0] for _, _, *model in runs])  # in the order of the rows

    @property
    def needs_similarities(self) -> bool:
        """True if the parameters exclude dissimilarities."""
        return self.weights is not None or self.neighborhood == "enclosing"

    def _check_combinations(self, S: Array, domain: Any) -> None:
        if self.weights == "affinity" and S.min() < 0:
            raise ProximityError("weights='affinity' needs similarities of at least zero.")
        if self.kind == "dissimilarity" and self.needs_similarities:
            raise ProximityError(
                "weights and neighborhood='enclosing' need similarities. Got kind='dissimilarity'. Convert "
                "with ToSimilarity, or choose other options."
            )
        if not isinstance(domain, str):
            omega = st.omega_of(domain, st.training_values(domain, S))
            for rows in row_blocks(*S.shape):
                st.check_inside(
                    omega, S[rows], lambda at, first=rows.start: f"The entry in row {first + at[0]}, column {at[1]}"
                )
            if isinstance(domain, tuple) and np.isinf(domain).any() and self.smoothing > 0:
                raise ProximityError("smoothing needs a domain with a uniform distribution; a half-line has none.")

    def _runs(self, query: Query, groups: Any, points: Points, always: bool = False) -> Iterator[Any]:
        """Yield grid points, rows, and limits, counts and winners of their models, for parts of the grid and groups."""
        axis = {"radius": "radius", "reciprocal": None}.get(self.neighborhood, "n_neighbors")
        grid, slots = np.unique([0 if axis is None else point[axis] for point in points], return_inverse=True)
        near_by = _NEIGHBORHOODS[self.neighborhood]
        found = [near_by(query, k) for k in grid] if self.neighborhood == "enclosing" else [near_by(query, grid)]
        if self.weights is not None:
            found = [near.point(t) for near in found for t in range(near.ends.shape[1])]
        first = 0
        for near in found:
            n_points = near.ends.shape[1]
            held = [(t - first, p) for p, t in enumerate(slots) if first <= t < first + n_points]
            first += n_points
            weights = self._neighbor_weights(query.S, query.codes, near)
            at_a_time = max(1, _OUT_NUMBERS // (n_points * len(self.classes_)))
            for members, omega in groups:
                for start in range(0, len(members), at_a_time):
                    part = members[start : start + at_a_time]
                    yield held, part, *self._model(query.S, query.codes, near, weights, part, omega, always)

    def _neighbor_weights(self, S: Array, codes: Indices, near: Any) -> Any:
        if self.weights is None:
            return np.empty((len(near.indices), 0))
        if self.weights == "affinity":  # [cazzanti2007] sec. 7.2.3 -> w_i proportional to s(x, z_i)
            weights = np.where(near.indices < 0, 0.0, np.maximum(near.values, 0.0)).astype(np.float64)
        else:
            weights = local_weights(S, near.indices, near.values, self.regularization, n_jobs=self.n_jobs)
        share = class_sums(near.indices, codes, [near.indices.shape[1]], len(self.classes_), weights=weights)[0]
        without = np.take_along_axis(share, np.where(near.indices < 0, 0, codes[near.indices]), axis=1) <= 0
        return np.where(without, 1.0, weights)

    def _model(
        self, S: Array | base.SparseRows, codes: Indices, near: Any, weights: Array, part: Any, omega: Any, always: bool
    ) -> Any:
        """[cazzanti2007] sec. 4.1 for some rows: SDA among the neighbors, for each of the nested neighborhoods."""
        if isinstance(S, base.SparseRows):
            found = []
            for rows, objects, block, local in S.neighborhoods(near.indices[part]):
                some = Neighborhoods(local, near.values[part][rows], near.ends[part][rows])
                every = np.arange(len(local))
                found.append(self._model(block, codes[objects], some, weights[part][rows], every, omega, always))
            limits, *others = zip(*found)
            return LogLimit(*map(np.concatenate, zip(*limits))), *map(np.concatenate, others)
        T, G = near.ends.shape[1], len(self.classes_)
        out, counts = np.empty((3, len(part), T, G)), np.empty((len(part), T, G))
        winners = np.empty((len(part), T), np.intp)
        mirrored = np.isinf(omega.low)  # a half-line to the left is mirrored
        flip, low, high = (-1.0, -omega.high, np.inf) if mirrored else (1.0, omega.low, omega.high)
        S = -S if mirrored else S
        n_problems = len(part) * T * min(G, 4) ** 2
        packed = (*omega.arrays(n_problems), low, high, omega.width)
        size = len(omega.values) if omega.values is not None else omega.width
        options = (float(self.min_class_size), float(self.smoothing), float(np.log(size)), float(always))
        values = (flip * near.values[part]).astype(S.dtype)
        inputs = [np.ascontiguousarray(a) for a in (near.indices[part], values, weights[part], near.ends[part])]

        def work(rows: Any) -> None:
            given, found = (a[rows] for a in inputs), (out[:, rows], counts[rows], winners[rows])
            _kernels.local_sda(S, flip * self.sign, codes, *given, packed, options, *found)

        map_row_chunks(work, len(part), self.n_jobs)
        return LogLimit(*out), counts, winners

    def _local_log_priors(self, counts: Any) -> Any:
        """[cazzanti2007] sec. 4.1 -> P(h) = n_h / k, or the other priors among the classes present."""
        local = counts
        if self.priors is not None:
            given = counts + 1 if isinstance(self.priors, str) else np.asarray(self.priors, dtype=np.float64)
            local = np.where(counts > 0, given, 0.0)
            local = np.where(local.any(axis=-1, keepdims=True), local, counts > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(local / local.sum(axis=-1, keepdims=True))

    def _posterior(self, limits: Any, counts: Any, winners: Any) -> Any:
        """Bayes' rule; if a class is too small for a model, probability one for local nearest centroid's prediction."""
        proba = np.empty(counts.shape)
        modeled, G = winners < 0, counts.shape[-1]
        limits = LogLimit(*(part[modeled] for part in limits))
        proba[modeled] = softmax(limits.log_joint(self._local_log_priors(counts[modeled])), axis=-1)
        proba[~modeled] = (1 - self.smoothing) * np.eye(G)[winners[~modeled]] + self.smoothing / G
        return proba

    def path_scores_cv(self, S: Array, codes: Indices, test_fold: Indices, points: Points) -> list[Array]:
        return self.path_scores(S, codes, S, points, test_fold)

    def path_scores(
        self, S: Array, codes: Indices, Q: Array, points: Points, test_fold: Indices | None = None
    ) -> list[Array]:
        domain = st.check_domain(self.domain)
        self._check_combinations(S, domain)
        self.priors_ = base.class_priors(self.priors, np.bincount(codes))
        groups = _groups(domain, S, len(Q), test_fold)
        scores = [np.empty((len(Q), len(self.classes_))) for _ in points]
        for held, part, *model in self._runs(Query(S, codes, Q, test_fold, self.sign, self.n_jobs), groups, points):
            proba = self._posterior(*model)
            for t, p in held:
                scores[p][part] = proba[:, t]
        return scores


def _groups(domain: Any, S: Array, n_rows: int, test_fold: Indices | None) -> list[tuple[Indices, Omega]]:
    """Groups of rows with the same Omega, for "empirical" and "continuous" that of the row's training part."""
    if test_fold is None or not isinstance(domain, str):
        return [(np.arange(n_rows), st.omega_of(domain, st.training_values(domain, S)))]
    groups: dict[Any, tuple[list[Indices], Omega]] = {}
    for test, values in st.fold_values(S, test_fold):
        omega = st.omega_of(domain, values)
        key = omega.low, omega.high, b"" if omega.values is None else omega.values.tobytes()
        groups.setdefault(key, ([], omega))[0].append(np.flatnonzero(test))
    return [(np.concatenate(members), omega) for members, omega in groups.values()]
