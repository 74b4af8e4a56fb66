"""Index of approximate nearest neighbors for any measure, without the matrix of all pairs."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from similis import base
from similis._utils.arrays import Array, Indices
from similis._utils.environment import require_package
from similis.distributed._cluster import FEW_PAIRS, hold, pairs_on_cluster, run_unordered
from similis.distributed._descent import Lists, PivotTree, descend, grow_tree, search
from similis.exceptions import ProximityError
from similis.measures import RBF, Chebyshev, Cosine, Measure, Minkowski

_BATCH = 1024  # new objects per search


@base.estimator
class NeighborIndex(base.FittedArrays, BaseEstimator):
    """Approximate nearest neighbors of objects under an arbitrary measure.

    Parameters
    ----------
    measure : Measure
        Compares two objects.
    n_neighbors : int, default=15
        Neighbors stored per training object: the degree of the graph that is searched.
    method : {"descent", "pynndescent"}, default="descent"
        "descent" works with any measure on any objects. "pynndescent" is that library's faster index for vectors under
        Minkowski (p >= 1), Chebyshev, Cosine and RBF; the proximities are those of the measure.
    n_trees, max_iter : int, default=2 and 12
        Pivot trees that give the first neighbors; largest number of rounds.
    tol : float, default=0.001
        The descent ends when a round changes less than this fraction of all entries.
    random_state : int, RandomState or None, default=None
        Random numbers of trees and candidates.

    Attributes
    ----------
    measure_ : Measure
        The fitted measure.
    objects_ : array or list
        The training objects.
    indices_, proximities_ : ndarray of shape (n, n_neighbors)
        Neighbors of each training object, nearest first, without itself, then -1; their proximities, float32.
    n_calls_, n_iter_ : int
        Pairs measured by fit and all queries since; number of rounds.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import Counting
    >>> from similis.distributed import NeighborIndex
    >>> X = np.random.default_rng(0).integers(0, 2, (500, 30))
    >>> proximities, indices = NeighborIndex(Counting(), random_state=0).fit(X).kneighbors(X[:3], 2)
    >>> indices[:, 0].tolist(), proximities[:, 0].tolist()
    ([0, 1, 2], [30.0, 30.0, 30.0])
    """

    fitted_arrays = {
        "indices_": base.fitted_indices("N", "K", low=-1, below="N"),
        "proximities_": base.fitted_reals("N", "K", nan=True),
        "_near": base.fitted_indices("N", None, low=-1, below="N"),
        "_trees": base.fitted_part(PivotTree, many=True, N="N"),
    }

    measure: Measure = field(kw_only=False, metadata={"constraints": [Measure]})
    n_neighbors: int = base.param(15, base.at_least(1))
    method: str = base.param("descent", base.choice("descent", "pynndescent"))
    n_trees: int = base.param(2, base.at_least(0))
    max_iter: int = base.param(12, base.at_least(0))
    tol: float = base.param(0.001, base.between(0, 1))
    random_state: Any = base.param(None, "random_state")

    @base.validated_outer
    def fit(self, X: Any, y: Any = None, *, client: Any = None) -> NeighborIndex:
        """Find the neighbors of the training objects `X`; `y` are labels, for measures that learn from them.

        A `client` from :func:`connect` measures the pairs on a cluster; the graph is the same as without one.
        """
        self.measure_ = clone(self.measure).fit(X, y)
        self.objects_ = self.measure_.validate_objects(X)
        self.n_calls_ = self.n_iter_ = 0
        rng = check_random_state(self.random_state)
        n = base.count_objects(self.objects_)
        lists = Lists.empty(n, max(1, min(self.n_neighbors, n - 1)))
        self._trees: list[PivotTree] = []
        self._outer: Any = None
        if self.method == "pynndescent":
            self._fit_pynndescent(lists, rng)
        else:
            self._fit_descent(lists, rng, n, client)
        self.indices_ = lists.indices
        self.proximities_ = np.where(lists.indices >= 0, self._sign * lists.best, np.nan).astype(np.float32)
        self._near = _with_reverse(lists.indices, rng)
        return self

    def verify_fitted(self) -> None:
        super().verify_fitted()
        if hasattr(self, "objects_") and (n := base.count_objects(self.objects_)) != len(self.indices_):
            raise ProximityError(
                f"NeighborIndex must have one list of neighbors per object. Got {len(self.indices_)} for {n} objects."
            )

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, *, client: Any = None) -> tuple[Array, Indices]:
        """Find neighbors of m new objects; without `X` those of the training objects, each without itself.

        Returns proximities and indices of shape (m, n_neighbors), nearest first; NaN and -1 if fewer were found. There
        are at most as many columns as training objects or, without `X`, as stored neighbors. A `client` from
        :func:`connect` searches on a cluster; every worker holds a copy of the index.
        """
        check_is_fitted(self)
        k = self.n_neighbors if n_neighbors is None else base.as_integer_k(n_neighbors)
        if X is None:
            return self.proximities_[:, :k].astype(np.float64), self.indices_[:, :k].astype(np.intp)
        k = min(k, base.count_objects(self.objects_))
        objects = self.measure_.check_objects(X)
        m = base.count_objects(objects)
        proximities, indices = np.empty((m, k)), np.empty((m, k), np.intp)
        batches = [slice(first, min(first + _BATCH, m)) for first in range(0, m, _BATCH)]
        index = hold(self, client)
        searched = run_unordered(lambda rows: (NeighborIndex._search, index, objects[rows], k), batches, client)
        for rows, (values, found, calls) in searched:
            proximities[rows], indices[rows] = values, found
            self.n_calls_ += calls
        return proximities, indices

    @property
    def _sign(self) -> int:
        return -1 if self.measure_.kind == "dissimilarity" else 1

    def _scores(self, objects: Any, i: Any, j: Any) -> Array:
        """Scores of objects i to training objects j, pair by pair; larger is nearer."""
        return self._sign * self.measure_.pairs(base.take_objects(objects, i), base.take_objects(self.objects_, j))

    def _fit_descent(self, lists: Lists, rng: np.random.RandomState, n: int, client: Any) -> None:
        cluster = None if client is None else pairs_on_cluster(self.measure_, self.objects_, client)

        def pairs(i: Any, j: Any) -> Array:
            self.n_calls_ += len(i)
            if cluster is None or len(i) < FEW_PAIRS:
                return self._scores(self.objects_, i, j)
            return self._sign * cluster(i, j)

        def compare(i: Any, j: Any) -> int:
            there = pairs(i, j)
            back = there if self.measure_.symmetric else pairs(j, i)
            return lists.push(i, j, there) + lists.push(j, i, back)

        for _ in range(self.n_trees):
            tree = grow_tree(n, pairs, max(16, lists.indices.shape[1]), rng)
            self._trees.append(tree)
            for i, j in _in_chunks(*tree.leaf_pairs()):
                compare(i, j)
        if n > 1 and (not self.n_trees or (lists.indices < 0).any()):  # entries that the trees have not filled
            rows, _ = np.nonzero(lists.indices < 0)
            others = (rows + 1 + rng.randint(n - 1, size=len(rows))) % n
            for i, j in _in_chunks(rows, others):
                lists.push(i, j, pairs(i, j))
        if n > 2:
            self.n_iter_ = descend(lists, compare, max_iter=self.max_iter, tol=self.tol, rng=rng)

    def _fit_pynndescent(self, lists: Lists, rng: np.random.RandomState) -> None:
        options = _metric_of(self.measure_)
        library = require_package("pynndescent", extra="ann", who="NeighborIndex(method='pynndescent')")
        points = np.asarray(self.objects_, dtype=np.float32)
        options |= {"n_neighbors": lists.indices.shape[1] + 1, "random_state": rng.randint(2**31 - 1)}
        self._outer = library.NNDescent(points, **options)
        found = self._outer.neighbor_graph[0]
        rows, columns = np.repeat(np.arange(len(points)), found.shape[1]), found.ravel()
        there = (rows != columns) & (columns >= 0)
        for i, j in _in_chunks(rows[there], columns[there]):
            self.n_calls_ += len(i)
            lists.push(i, j, self._scores(self.objects_, i, j))

    def _search(self, queries: Any, k: int) -> tuple[Array, Array, int]:
        """Find the k best of each new object: proximities, indices, and the number of pairs measured."""
        m, n, calls = base.count_objects(queries), base.count_objects(self.objects_), 0

        def pairs(i: Any, j: Any) -> Array:
            nonlocal calls
            calls += len(i)
            return self._scores(queries, i, j)

        def push(rows: Any, columns: Any) -> None:
            pool.push(rows, columns, pairs(rows, columns))

        pool = Lists.empty(m, min(n, max(6 * k, 96)))
        if self._outer is not None:
            found = self._outer.query(np.asarray(queries, dtype=np.float32), k=pool.indices.shape[1])[0]
            push(np.repeat(np.arange(m), found.shape[1]), found.ravel())
        else:
            for tree in self._trees:
                leaf = tree.route(m, pairs)
                sizes = tree.start[leaf + 1] - tree.start[leaf]
                rows = np.repeat(np.arange(m), sizes)
                within = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
                push(rows, tree.order[tree.start[leaf[rows]] + within])
            if not self._trees:
                columns = np.tile(np.arange(0, n, max(1, n // 16))[:16], m)
                push(np.repeat(np.arange(m), len(columns) // m), columns)
            search(pool, self._near, pairs, max_rounds=4 * pool.indices.shape[1])
        indices = pool.indices[:, :k]
        return np.where(indices >= 0, self._sign * pool.best[:, :k], np.nan), indices, calls

    def __sklearn_tags__(self) -> Any:
        measure: Any = self.measure
        tags = super().__sklearn_tags__()
        if not isinstance(measure, Measure):
            return tags
        own = get_tags(measure)
        return replace(tags, input_tags=own.input_tags, target_tags=own.target_tags, no_validation=own.no_validation)


def _in_chunks(i: Array, j: Array, size: int = 2**20) -> Any:
    return ((i[a : a + size], j[a : a + size]) for a in range(0, len(i), size))


def _with_reverse(indices: Array, rng: np.random.RandomState) -> Array:
    """Graph in both directions: the neighbors of each object, and as many objects that it is a neighbor of."""
    n, K = indices.shape
    back = np.full((n, K), -1, np.int32)
    rows, columns = np.repeat(np.arange(n, dtype=np.int32), K), indices.ravel()
    order = rng.permutation(np.flatnonzero(columns >= 0))
    order = order[np.argsort(columns[order], kind="stable")]
    target = columns[order]
    place = np.arange(len(target)) - np.searchsorted(target, target)
    keep = place < K
    back[target[keep], place[keep]] = rows[order[keep]]
    return np.hstack([indices, back])


def _metric_of(measure: Measure) -> dict[str, Any]:
    """Options of PyNNDescent for the metric with the same order of neighbors."""
    if isinstance(measure, Minkowski) and measure.p >= 1:
        if measure.p in (1, 2):
            return {"metric": "manhattan" if measure.p == 1 else "euclidean"}
        return {"metric": "minkowski", "metric_kwds": {"p": float(measure.p)}}
    for kind, name in ((Chebyshev, "chebyshev"), (Cosine, "cosine"), (RBF, "euclidean")):
        if isinstance(measure, kind):
            return {"metric": name}
    raise ProximityError(
        f"method='pynndescent' needs Minkowski with p >= 1, Chebyshev, Cosine or RBF. Got {type(measure).__name__}; "
        "use method='descent'."
    )
