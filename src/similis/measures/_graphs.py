"""Labelled graphs: their door. A graph becomes the labels of its nodes and the edges between their numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from similis.exceptions import ProximityError

__all__ = ["Graph", "read_graphs"]

# Labels of the nodes 0, 1, ..., and edges (node, node, label of the edge or None).
Graph = tuple[list[Any], list[tuple[int, int, Any]]]


def read_graphs(X: Any, who: str) -> list[Graph]:
    """Graphs from dictionaries, pairs (edges, node labels), or objects with networkx's methods."""
    if hasattr(X, "tolist"):
        X = X.tolist()
    if not isinstance(X, (list, tuple)) or not len(X):
        raise ProximityError(
            f"{who} needs a list of at least one graph. Got {type(X).__name__}, 0 sample(s) found in it."
        )
    return [_as_graph(x, i, who) for i, x in enumerate(X)]


def _as_graph(x: Any, i: int, who: str) -> Graph:
    if isinstance(x, Mapping) and {"node_labels", "edges"} <= x.keys():
        edges, labels = x["edges"], x["node_labels"]
    elif hasattr(x, "nodes") and hasattr(x, "edges"):
        labels = {node: data.get("label") for node, data in x.nodes(data=True)}
        edges = [(a, b, data.get("label")) for a, b, data in x.edges(data=True)]
    elif isinstance(x, (tuple, list)) and len(x) == 2 and not isinstance(x[0], str) and hasattr(x[1], "__len__"):
        edges, labels = x
    else:
        raise ProximityError(
            f"{who} compares graphs: pairs (edges, node labels), dicts with 'edges' and 'node_labels', or networkx "
            f"graphs. Object {i} is a {type(x).__name__}."
        )
    number = {node: k for k, node in enumerate(labels)} if isinstance(labels, Mapping) else range(len(labels))
    names = list(labels.values()) if isinstance(labels, Mapping) else list(labels)
    if not names:
        raise ProximityError(f"{who} needs graphs with at least one node. Graph {i} has none.")
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise ProximityError(
            f"{who} needs edges (node, node) of a graph. Graph {i} has a {type(edges).__name__} instead."
        )
    return names, [_as_edge(edge, number, i, who) for edge in edges]


def _as_edge(edge: Any, number: Any, i: int, who: str) -> tuple[int, int, Any]:
    try:
        a, b, *rest = edge
        known = len(rest) <= 1 and a in number and b in number
    except (TypeError, ValueError):
        known = False
    if not known:
        raise ProximityError(
            f"{who} needs edges (node, node) or (node, node, label) between nodes that have labels. Graph {i} has "
            f"{str(edge)[:40]}."
        )
    a, b = (number[a], number[b]) if isinstance(number, dict) else (int(a), int(b))
    return a, b, rest[0] if rest else None
