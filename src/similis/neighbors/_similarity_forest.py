"""Similarity forests: trees that split by differences of similarities to two objects. [sathe2017], [czekalski2021]."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from similis import _kernels
from similis._utils.arrays import Array, Indices
from similis.base import ProbabilityMixin, ProximityClassifier, at_least, estimator, fitted_indices, fitted_reals, param
from similis.exceptions import ProximityError


@estimator
class SimilarityForest(ProbabilityMixin, ProximityClassifier):
    """Random forest on any proximities, asymmetric or with missing entries.

    A node draws pairs (p, q) of its objects of different classes, sorts the objects by s(x, q) - s(x, p), for inner
    products the projection on the line through p and q, and splits where the Gini impurity is least. Each tree is grown
    on a bootstrap sample. See [sathe2017] and [czekalski2021].

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    n_directions : int, default=10
        Pairs that a node draws and compares.
    max_depth : int, optional
        Largest depth of a tree; None splits until the leaves are pure.
    random_state : int, RandomState instance or None
        For samples and pairs.

    Attributes
    ----------
    classes_, roots_ : ndarray of shape (G,), (n_estimators,)
        Class labels, and the node at the root of each tree.
    children_, pairs_ : ndarray of shape (nodes, 2)
        Left and right child of each node, a leaf its own child; places of its objects p and q in ``columns_``.
    thresholds_, missing_ : ndarray of shape (nodes,)
        A row goes left where s(x, q) - s(x, p) is not above the threshold, and to child 0 or 1, that of more training
        objects, where one of the two is missing.
    values_ : ndarray of shape (nodes, G)
        Class frequencies in each node.

    Notes
    -----
    Reads both kinds: the sign only exchanges left and right. The gain of a split is that of the objects with both
    entries.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import SimilarityForest
    >>> x = np.linspace(0, 1, 20)
    >>> model = SimilarityForest(n_estimators=20, random_state=0).fit(np.abs(x[:, None] - x), x > 0.5)
    >>> Q = np.abs(np.array([[0.1], [0.9]]) - x)
    >>> Q[:, ::3] = np.nan
    >>> model.predict(Q)
    array([False,  True])
    """

    n_estimators: int = param(100, at_least(1))
    n_directions: int = param(10, at_least(1))
    max_depth: int | None = param(None, at_least(1), None)
    random_state: Any = param(None, "random_state")

    allow_missing = True
    fitted_arrays = {
        "pairs_": fitted_indices("nodes", 2, below="kept"),
        "thresholds_": fitted_reals("nodes"),
        "missing_": fitted_indices("nodes", below=2),
        "values_": fitted_reals("nodes", "G", low=0),
        "roots_": fitted_indices("trees", below="nodes"),
        "children_": fitted_indices("nodes", 2, below="nodes"),
    }

    def learn(self, S: Array, codes: Indices) -> None:
        S = np.asarray(S, dtype=np.float64)
        n, G, rng = len(codes), len(self.classes_), check_random_state(self.random_state)
        n_nodes = 2 * n  # nodes of a binary tree with n leaves, and one
        depth = -1 if self.max_depth is None else self.max_depth
        trees: list[list[Array]] = []
        sizes: list[int] = []
        for _ in range(self.n_estimators):
            children, pairs = np.zeros((2, n_nodes, 2), np.intp)
            thresholds, missing, values = np.zeros(n_nodes), np.zeros(n_nodes, np.intp), np.zeros((n_nodes, G))
            tree = children, pairs, thresholds, missing, values
            sample, draws = rng.randint(n, size=n), rng.uniform(size=(n_nodes, self.n_directions, 2))
            nodes = _kernels.grow_tree(S, codes, sample, draws, depth, *tree)
            children += sum(sizes)  # the nodes of the forest are those of its trees, one after the other
            trees.append([array[:nodes] for array in tree])
            sizes.append(nodes)
        self.roots_ = np.cumsum([0, *sizes[:-1]], dtype=np.intp)
        self.children_, pairs, self.thresholds_, self.missing_, self.values_ = map(np.concatenate, zip(*trees))
        objects, places = np.unique(pairs, return_inverse=True)
        self.keep_columns(objects)
        self.pairs_ = places.reshape(pairs.shape)

    def class_scores(self, Q: Array) -> Array:
        Q = self.kept_columns(Q)
        each = np.arange(len(Q))
        node = np.repeat(self.roots_[:, None], len(Q), axis=1)  # of each tree and row
        while True:
            value = Q[each, self.pairs_[node, 1]] - Q[each, self.pairs_[node, 0]]
            side = np.where(np.isnan(value), self.missing_[node], value > self.thresholds_[node])
            following = self.children_[node, side.astype(np.intp)]
            if np.array_equal(following, node):
                return self.values_[node].mean(axis=0)
            node = following

    def verify_fitted(self) -> None:
        super().verify_fitted()
        if hasattr(self, "children_") and (self.children_ < np.arange(len(self.children_))[:, None]).any():
            raise ProximityError("children_ of SimilarityForest must follow their parents.")  # so that descents end
