"""Compiled loops on arrays.

Modules (a caller writes ``from similis import _kernels`` and ``_kernels.name(...)``)::

    _jit.py            the compilation decorator
    _features.py       count_equal, value_difference, common_bits, ratio_model, contrast_model, overlap_model,
                       residual_entropies: categorical rows and sets as packed bits
    _vectors.py        minkowski: sums of powers of differences
    _sequences.py      edit_distances, warping_distances: sequences and time series
    _point_sets.py     greedy_matches, shared_counts, transport_costs: weighted point sets
    _neighbors.py      top_k, vote_winners, class_sums, local_centroids: ranked neighbors for a grid of k
    _local_weights.py  gather_blocks, psd_prefix, krr_path, simplex_path, lime_path, sum_by_class: weights of ranked
                       neighbors from their own block (KRI, KRR, LIME)
    _local_sda.py      local_sda, lost_values: class models among ranked neighbors for a grid of neighborhoods
    _local_svm.py      local_svm, svm_path: support vector machines on many small blocks, all C of a grid
    _maxent.py         maxent_rates, maxent_table, maxent_nodes, mixture_em: maximum-entropy exponents and mixtures
    _rank_one.py       rank_one_positive, ascend: positive part of a matrix after a rank-one update; the ascent of the
                       Indefinite SVM
    _perceptron.py     perceptron: sweeps of the dual perceptron
    _margin.py         margin_sums, margin_pull, margin_rows, margin_sweep, box_sweeps: constraints and multipliers of
                       SBC
    _balanced.py       balanced_sweeps: the steps of SimSVM
    _triangles.py      row_differences, expected_from_neighbors, pair_spreads: consistency of an entry with the others
    _permutations.py   group_sums, permuted_products: permutation tests of group differences
    _descent.py        push_pairs, sample_candidates, candidate_pairs: approximate neighbors by NN-descent
    _forest.py         grow_tree: trees of a similarity forest
    _medoids.py        nearest_two, exchange_gains, vertex_substitution, eager_exchanges, cluster_totals: k-medoids

Contract. A kernel takes C-contiguous arrays and scalars and writes into arrays that its caller allocated, or returns
arrays allocated at its top. It does not validate, print, raise, or draw random numbers. Kernels are serial and release
the GIL; callers distribute rows over threads (``_utils.threads``). A kernel never takes a function as argument, so that
its compiled form can be cached on disk. Numba is imported on first access to a kernel.
"""

from importlib import import_module
from typing import Any

_HOME: dict[str, str] = {
    "check_cache": "_jit",
    "count_equal": "_features",
    "value_difference": "_features",
    "common_bits": "_features",
    "contrast_model": "_features",
    "overlap_model": "_features",
    "ratio_model": "_features",
    "minkowski": "_vectors",
    "edit_distances": "_sequences",
    "residual_entropies": "_features",
    "greedy_matches": "_point_sets",
    "shared_counts": "_point_sets",
    "transport_costs": "_point_sets",
    "warping_distances": "_sequences",
    "local_centroids": "_neighbors",
    "local_sda": "_local_sda",
    "lost_values": "_local_sda",
    "maxent_nodes": "_maxent",
    "maxent_rates": "_maxent",
    "maxent_table": "_maxent",
    "mixture_em": "_maxent",
    "grow_tree": "_forest",
    "top_k": "_neighbors",
    "candidate_pairs": "_descent",
    "push_pairs": "_descent",
    "sample_candidates": "_descent",
    "class_sums": "_neighbors",
    "vote_winners": "_neighbors",
    "gather_blocks": "_local_weights",
    "krr_path": "_local_weights",
    "psd_prefix": "_local_weights",
    "sum_by_class": "_local_weights",
    "simplex_path": "_local_weights",
    "lime_path": "_local_weights",
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
    "balanced_sweeps": "_balanced",
    "box_sweeps": "_margin",
    "margin_pull": "_margin",
    "margin_rows": "_margin",
    "margin_sums": "_margin",
    "margin_sweep": "_margin",
    "pair_spreads": "_triangles",
    "expected_from_neighbors": "_triangles",
    "row_differences": "_triangles",
    "group_sums": "_permutations",
    "permuted_products": "_permutations",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
