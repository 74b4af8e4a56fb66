"""The Weisfeiler-Lehman similarity of labelled graphs: common neighbourhoods of growing radius."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from similis._utils.params import at_least
from similis._utils.storable import storable
from similis.exceptions import ProximityError
from similis.measures._base import Measure, Tick, mirror_upper, over_rows
from similis.measures._graphs import Graph, read_graphs

__all__ = ["WeisfeilerLehman"]


class WeisfeilerLehman(Measure):
    """Weisfeiler-Lehman similarity: how many pairs of nodes have the same neighbourhood, at every radius.

    s(x, z) = sum over r = 0, ..., n_iter and over labels c of N_r(x, c) N_r(z, c), where N_r counts the nodes with
    label c after r refinements; a refinement gives each node a new label that stands for its own label and those of
    its neighbours.

    Parameters
    ----------
    n_iter : int, default=5
        How many refinements: the radius of the largest neighbourhood.
    edge_labels : bool, default=False
        Whether neighbours also differ by the label of the edge to them.
    normalize : bool, default=False
        Whether to divide by the geometric mean of the self-similarities.

    Attributes
    ----------
    domain_ : tuple
        ``(0, 1)`` if normalised, else ``(0, inf)``.

    See Also
    --------
    TverskyRatio : for objects that are sets of parts.

    Notes
    -----
    Objects are undirected graphs: pairs ``(edges, node_labels)``, dicts with ``"edges"`` and ``"node_labels"``, or
    networkx graphs with the attribute ``label``. Node labels are a list, for nodes 0, 1, ..., or a dict; edges are
    pairs of nodes, or triples with a label; labels are anything hashable. Several edges between two nodes (with the
    same label) are one. A positive semi-definite similarity, the same numbers as GraKeL's.

    References
    ----------
    N. Shervashidze, P. Schweitzer, E. J. van Leeuwen, K. Mehlhorn and K. M. Borgwardt (2011). Weisfeiler-Lehman graph
    kernels. Journal of Machine Learning Research 12, 2539-2561.

    Examples
    --------
    >>> from similis import WeisfeilerLehman
    >>> ethanol, methanol = ([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])
    >>> WeisfeilerLehman(n_iter=1).matrix([ethanol, methanol])
    array([[8., 4.],
           [4., 4.]])
    """

    _only_remembers = True
    _parameter_constraints = {"n_iter": [at_least(0)], "edge_labels": ["boolean"], "normalize": ["boolean"]}

    def __init__(self, *, n_iter: int = 5, edge_labels: bool = False, normalize: bool = False) -> None:
        self.n_iter = n_iter
        self.edge_labels = edge_labels
        self.normalize = normalize

    @property
    def domain_(self) -> tuple[float, float]:  # type: ignore[override]
        """Zero to one, or to no limit."""
        return (0.0, 1.0 if self.normalize else np.inf)

    def _objects(self, X: Any) -> list[Graph]:
        return read_graphs(X, "WeisfeilerLehman")

    def _learn(self, objects: list[Graph], y: Any) -> None:
        self._labels = self._new_labels()
        self._labels.count(objects, self.edge_labels, learn=True)

    def _encode(self, objects: list[Graph]) -> _Counts:
        return self._labels.count(objects, self.edge_labels, learn=False)

    def _encode_all(self, collections: Sequence[list[Graph]]) -> list[_Counts]:
        # Two new graphs may share a neighbourhood that no training graph has.
        labels = self._new_labels()
        for objects in collections:
            labels.count(objects, self.edge_labels, learn=True)
        return [labels.count(objects, self.edge_labels, learn=False) for objects in collections]

    def _new_labels(self) -> _Labels:
        return _Labels([{} for _ in range(self.n_iter + 1)], {})

    def _matrix(self, A: _Counts, B: _Counts, n_jobs: int | None = None, tick: Tick | None = None) -> NDArray[Any]:
        out = np.empty((A.counts.shape[0], B.counts.shape[0]))
        right = B.counts.T.tocsc()

        def work(rows: slice) -> None:
            out[rows] = (A.counts[rows] @ right).toarray()
            if self.normalize:
                out[rows] /= np.sqrt(A.own[rows, None] * B.own)
                np.minimum(out[rows], 1.0, out=out[rows])

        over_rows(work, len(out), n_jobs, tick)
        if B is A:
            mirror_upper(out)
        return out


@storable
@dataclass
class _Labels:
    """What the labels of every round stand for: ``rounds[r]`` maps a node's description to its number."""

    rounds: list[dict[Any, int]]
    edges: dict[Any, int]

    def count(self, graphs: list[Graph], edge_labels: bool, learn: bool) -> _Counts:
        """How often each label of each round occurs in each graph; new descriptions are learnt, or only counted."""
        rounds = self.rounds if learn else [dict(table) for table in self.rounds]
        edges = self.edges if learn else dict(self.edges)
        width = sum(len(table) for table in self.rounds)
        known = [len(table) for table in self.rounds]
        columns, values, starts, own = [], [], [0], []
        for i, graph in enumerate(graphs):
            try:
                found = _refine(graph, rounds, edges if edge_labels else None)
            except TypeError:
                raise ProximityError(
                    f"Labels of nodes and edges must be hashable. Those of graph {i} are not."
                ) from None
            own.append(sum(n * n for counter in found for n in counter.values()))
            first = 0
            for counter, size in zip(found, known):
                for label, n in counter.items():
                    if label < size:
                        columns.append(first + label)
                        values.append(n)
                first += size
            starts.append(len(columns))
        counts = sparse.csr_array((np.array(values, dtype=np.float64), columns, starts), (len(graphs), max(width, 1)))
        return _Counts(counts, np.array(own, dtype=np.float64))


@dataclass
class _Counts:
    """Counts of the known labels, and the similarity of each graph with itself."""

    counts: Any
    own: NDArray[np.float64]


def _refine(graph: Graph, rounds: list[dict[Any, int]], edges: dict[Any, int] | None) -> list[Counter[int]]:
    """Counts of the labels of one graph, round by round; descriptions met for the first time are numbered."""
    names, links = graph
    neighbours: list[set[tuple[int, int]]] = [set() for _ in names]
    for a, b, name in links:
        kind = 0 if edges is None else edges.setdefault(name, len(edges))
        neighbours[a].add((kind, b))
        neighbours[b].add((kind, a))
    labels = [rounds[0].setdefault(name, len(rounds[0])) for name in names]
    found = [Counter(labels)]
    for table in rounds[1:]:
        described = [
            (labels[a], tuple(sorted((kind, labels[b]) for kind, b in near))) for a, near in enumerate(neighbours)
        ]
        labels = [table.setdefault(description, len(table)) for description in described]
        found.append(Counter(labels))
    return found
