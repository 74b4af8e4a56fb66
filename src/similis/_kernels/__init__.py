"""The hot loops: arrays in, arrays out.

Map (a caller writes ``from similis import _kernels`` and ``_kernels.name(...)``)::

    _jit.py        the one decorator and its flags
    _tiles.py      the tile that the pairwise kernels of the next three share
    _categorical.py count_equal, value_difference: categorical rows
    _sets.py       common_bits, ratio_model, contrast_model, overlap_model: sets as packed bits
    _vectors.py    minkowski: sums of powers of differences
    _edit.py       edit_distances: sequences, symbols with costs of their own
    _entropy.py    residual_entropies: what is left unknown given common features
    _points.py     greedy_matches, shared_counts: weighted point sets
    _transport.py  transport_costs: earth mover's problems of one set and many
    _warping.py    warping_distances: time series
    _local_centroid.py  local_centroids: class centroids among ranked neighbours for a grid of k
    _local_sda.py  local_sda: class models among ranked neighbours for a grid of neighbourhoods; lost_values
    _maxent.py     maxent_rates, maxent_table, maxent_nodes: maximum-entropy exponents on a set of values
    _mixture_em.py mixture_em: mixtures of maximum-entropy exponentials
    _topk.py       top_k: ranked neighbours of every row, with folds
    _descent.py    push_pairs, sample_candidates, introduce: approximate neighbours from pairs of objects
    _votes.py      vote_winners, class_sums: votes of ranked neighbours for a grid of k
    _cholesky.py   the growing factor the next four share
    _local.py      gather_blocks, psd_prefix, krr_path, sum_by_class: the neighbours' own blocks
    _simplex_qp.py simplex_path: kernel ridge interpolation weights for a grid of (k, ridge)
    _local_svm.py  local_svm, svm_path: support vector machines on many small blocks, all C of a grid
    _lime.py       lime_path: maximum entropy interpolation weights for a grid of (k, ridge)
    _rank_one.py   rank_one_positive, ascend: positive part of a matrix updated by a vector; the Indefinite SVM's ascent
    _perceptron.py perceptron: sweeps of the dual perceptron
    _triangles.py  row_differences, expected_from_neighbors, doubts_of_pairs: what other objects say of a pair
    _medoids.py    nearest_two, exchange_gains, vertex_substitution, eager_exchanges, cluster_totals: k-medoids

Contract. A kernel takes C-contiguous arrays and scalars, writes into arrays its caller made or returns arrays it
made at its top; it validates nothing, draws nothing, prints nothing, raises nothing. Kernels are serial and
release the GIL: callers chunk rows over threads (``_utils.threads``). A kernel never takes a function as argument,
so its compiled form can be cached on disk. Numba is imported when the first kernel is asked for, not before.
"""

from importlib import import_module
from typing import Any

_HOME: dict[str, str] = {
    "count_equal": "_categorical",
    "value_difference": "_categorical",
    "common_bits": "_sets",
    "contrast_model": "_sets",
    "overlap_model": "_sets",
    "ratio_model": "_sets",
    "minkowski": "_vectors",
    "edit_distances": "_edit",
    "residual_entropies": "_entropy",
    "greedy_matches": "_points",
    "shared_counts": "_points",
    "transport_costs": "_transport",
    "warping_distances": "_warping",
    "local_centroids": "_local_centroid",
    "local_sda": "_local_sda",
    "lost_values": "_local_sda",
    "maxent_nodes": "_maxent",
    "maxent_rates": "_maxent",
    "maxent_table": "_maxent",
    "mixture_em": "_mixture_em",
    "top_k": "_topk",
    "introduce": "_descent",
    "push_pairs": "_descent",
    "sample_candidates": "_descent",
    "class_sums": "_votes",
    "vote_winners": "_votes",
    "gather_blocks": "_local",
    "krr_path": "_local",
    "psd_prefix": "_local",
    "sum_by_class": "_local",
    "simplex_path": "_simplex_qp",
    "lime_path": "_lime",
    "local_svm": "_local_svm",
    "svm_path": "_local_svm",
    "cluster_totals": "_medoids",
    "eager_exchanges": "_medoids",
    "exchange_gains": "_medoids",
    "nearest_two": "_medoids",
    "vertex_substitution": "_medoids",
    "ascend": "_rank_one",
    "rank_one_positive": "_rank_one",
    "perceptron": "_perceptron",
    "doubts_of_pairs": "_triangles",
    "expected_from_neighbors": "_triangles",
    "row_differences": "_triangles",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
