"""Measure on labeled graphs: input validation and the Weisfeiler-Lehman similarity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from similis._utils.arrays import Array, Floats
from similis.base import FittedArrays, Measure, Tick, at_least, estimator, param, storable, verify_numbering
from similis.exceptions import ProximityError
from similis.measures._sets import concatenated
from similis.measures._vectors import sparse_products

Graph = tuple[list[Any], list[tuple[int, int, Any]]]  # labels of the nodes 0, 1, ...; edges (node, node, label or None)
Histograms = list[list[Counter[int]]]  # counts of the labels of each graph in each round


def _as_graph(x: Any, i: int) -> Graph:
    if isinstance(x, Mapping) and {"node_labels", "edges"} <= x.keys():
        edges, labels = x["edges"], x["node_labels"]
    elif hasattr(x, "nodes") and hasattr(x, "edges"):
        labels = {node: data.get("label") for node, data in x.nodes(data=True)}
        edges = [(a, b, data.get("label")) for a, b, data in x.edges(data=True)]
    elif isinstance(x, (tuple, list)) and len(x) == 2 and not isinstance(x[0], str) and hasattr(x[1], "__len__"):
        edges, labels = x
    else:
        wanted = "pairs (edges, node labels), dicts with 'edges' and 'node_labels', or networkx graphs"
        raise ProximityError(f"WeisfeilerLehman needs graphs: {wanted}. Object {i} is a {type(x).__name__}.")
    if not len(labels):
        raise ProximityError(f"WeisfeilerLehman needs graphs with at least one node. Graph {i} has none.")
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        got = type(edges).__name__
        raise ProximityError(f"WeisfeilerLehman needs edges (node, node) of a graph. Graph {i} has a {got} instead.")
    named = isinstance(labels, Mapping)
    numbers = {node: k for k, node in enumerate(labels if named else range(len(labels)))}
    return list(labels.values() if named else labels), [_as_edge(edge, numbers, i) for edge in edges]


def _as_edge(edge: Any, numbers: dict[Any, int], i: int) -> tuple[int, int, Any]:
    try:
        ends = tuple(edge)
        a, b, label = ends if len(ends) == 3 else (*ends, None)
        return numbers[a], numbers[b], label
    except (TypeError, ValueError, KeyError):
        wanted = "edges (node, node) or (node, node, label) between nodes that have labels"
        raise ProximityError(f"WeisfeilerLehman needs {wanted}. Graph {i} has {str(edge)[:40]}.") from None


@estimator
class WeisfeilerLehman(Measure):
    """Weisfeiler-Lehman similarity: number of pairs of nodes with equal neighborhoods, summed over all radii.

    s(x, z) = sum over r = 0, ..., n_iter and over labels c of N_r(x, c) N_r(z, c), where N_r counts the nodes with
    label c after r refinements, each of which joins to the label of a node those of its neighbors ([shervashidze2011]).

    Objects are undirected graphs: pairs ``(edges, node_labels)``, dicts with ``"edges"`` and ``"node_labels"``, or
    networkx graphs with the attribute ``label``. Node labels are a list, for nodes 0, 1, ..., or a dict; edges are
    pairs of nodes, or triples with a label. Equal edges count once.

    Parameters
    ----------
    n_iter : int, default=5
        Number of refinements, the radius of the largest neighborhood.
    edge_labels : bool, default=False
        Distinguish neighbors by the label of the edge to them too.
    normalize : bool, default=False
        Divide by the geometric mean of the self-similarities.

    Examples
    --------
    >>> from similis import WeisfeilerLehman
    >>> ethanol, methanol = ([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])
    >>> WeisfeilerLehman(n_iter=1).matrix([ethanol, methanol])
    array([[8., 4.],
           [4., 4.]])
    """

    n_iter: int = param(5, at_least(0))
    edge_labels: bool = param(False, "boolean")
    normalize: bool = param(False, "boolean")

    fit_only_indexes = True

    @property
    def domain_(self) -> tuple[float, float]:
        return (0.0, 1.0 if self.normalize else np.inf)

    def validate_objects(self, X: Any) -> list[Graph]:
        X = X.tolist() if hasattr(X, "tolist") else X
        if not isinstance(X, (list, tuple)) or not len(X):
            got = f"Got {type(X).__name__}, 0 sample(s) found in it."
            raise ProximityError(f"WeisfeilerLehman needs a list of at least one graph. {got}")
        return [_as_graph(x, i) for i, x in enumerate(X)]

    def verify_objects(self, objects: Any) -> None:
        """Nothing to verify: plain Python reads the nodes and edges and checks every index."""

    def learn(self, objects: list[Graph], y: Any) -> None:
        self._labels, _ = _Labels.of([objects], self.n_iter, self.edge_labels)

    def encode(self, objects: list[Graph]) -> _Counts:
        known = self._labels
        # The labels of new neighborhoods are not stored.
        rounds, edges = [dict(table) for table in known.rounds], dict(known.edges) if self.edge_labels else None
        return known.count(_describe(objects, rounds, edges))

    def encode_together(self, collections: Sequence[list[Graph]]) -> list[_Counts]:
        # Two new graphs may share a neighborhood that no training graph has, so use the labels of the given graphs.
        labels, described = _Labels.of(collections, self.n_iter, self.edge_labels)
        return [labels.count(counters) for counters in described]

    def block(self, A: _Counts, B: _Counts, n_jobs: int | None = None, tick: Tick = None) -> Array:
        out = sparse_products(A.counts, B.counts, n_jobs, tick)
        if self.normalize:
            out /= np.sqrt(np.outer(A.own, B.own))
            np.minimum(out, 1.0, out=out)
        return out


@storable
@dataclass
class _Labels(FittedArrays):
    rounds: list[dict[Any, int]]  # numbers of the descriptions of nodes in each round
    edges: dict[Any, int]  # numbers of the labels of edges
    sizes: list[int]  # of the rounds in `fit`

    def verify_fitted(self) -> None:
        for rounds, size in zip(self.rounds, self.sizes, strict=True):
            verify_numbering(rounds, size, "labels of WeisfeilerLehman")
        verify_numbering(self.edges, len(self.edges), "edge labels of WeisfeilerLehman")

    @classmethod
    def of(cls, collections: Sequence[list[Graph]], n_iter: int, edge_labels: bool) -> tuple[_Labels, list[Histograms]]:
        """Number the labels of graphs; return also their counts in each graph and round."""
        rounds: list[dict[Any, int]] = [{} for _ in range(n_iter + 1)]
        edges: dict[Any, int] = {}
        counters = [_describe(graphs, rounds, edges if edge_labels else None) for graphs in collections]
        return cls(rounds, edges, [len(table) for table in rounds]), counters

    def count(self, described: Histograms) -> _Counts:
        """Count the stored labels, one column each, and compute the self-similarity of each graph."""
        firsts = np.concatenate([[0], np.cumsum(self.sizes)]).tolist()
        known: list[dict[int, int]] = [{} for _ in described]
        for counts, counters in zip(known, described):
            for counter, first, size in zip(counters, firsts, self.sizes):
                counts.update((first + label, n) for label, n in counter.items() if label < size)
        columns, starts = concatenated([list(counts) for counts in known])
        values = np.array([n for counts in known for n in counts.values()], dtype=np.float64)
        own = [sum(n * n for counter in counters for n in counter.values()) for counters in described]
        table = sparse.csr_array((values, columns, starts), (len(described), max(firsts[-1], 1)))
        return _Counts(table, np.array(own, dtype=np.float64))


@dataclass
class _Counts:
    counts: Any  # of the known labels
    own: Floats  # self-similarity of each graph


def _describe(graphs: list[Graph], rounds: list[dict[Any, int]], edges: dict[Any, int] | None) -> Histograms:
    """Count the labels of each graph and round; new descriptions get the next number."""
    counters: Histograms = []
    try:
        for graph in graphs:
            counters.append(_refine(*graph, rounds, edges))
    except TypeError:
        what = f"Graph {len(counters)} has an unhashable one."
        raise ProximityError(f"Labels of nodes and edges must be hashable. {what}") from None
    return counters


def _refine(names: Any, links: Any, rounds: list[dict[Any, int]], edges: dict[Any, int] | None) -> list[Counter[int]]:
    neighbors: list[set[tuple[int, int]]] = [set() for _ in names]
    for a, b, name in links:
        kind = 0 if edges is None else edges.setdefault(name, len(edges))
        neighbors[a].add((kind, b))
        neighbors[b].add((kind, a))
    labels = [rounds[0].setdefault(name, len(rounds[0])) for name in names]
    counters = [Counter(labels)]
    for table in rounds[1:]:
        near = [tuple(sorted((kind, labels[b]) for kind, b in ends)) for ends in neighbors]
        labels = [table.setdefault(description, len(table)) for description in zip(labels, near)]
        counters.append(Counter(labels))
    return counters
