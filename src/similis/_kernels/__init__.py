"""Compiled loops on arrays. A caller writes ``from similis import _kernels`` and ``_kernels.name(...)``.

Contract. A kernel takes C-contiguous arrays and scalars and writes into arrays that its caller allocated, or returns
arrays allocated at its top. It does not validate, print, raise, or draw random numbers. Kernels are serial and release
the GIL; callers distribute rows over threads (``_utils.threads``). A kernel never takes a function as argument, so that
its compiled form can be cached on disk. Numba is imported on first access to a kernel.
"""

from importlib import import_module
from typing import Any

_MODULES = {
    "_jit": "check_cache",  # the compilation decorator
    # Objects: categorical rows, sets as packed bits and vectors, sequences and time series, weighted point sets
    "_features": "count_equal value_difference common_bits contrast_model ratio_model overlap_model "
    "residual_entropies minkowski",
    "_sequences": "edit_distances warping_distances",
    "_point_sets": "greedy_matches shared_counts transport_costs",
    # Ranked neighbors for a grid of k: votes, weights from their own block (KRI, KRR, LIME), class models; NN-descent
    "_neighbors": "top_k vote_winners class_sums local_centroids push_pairs sample_candidates candidate_pairs",
    "_local_weights": "gather_blocks psd_prefix krr_path simplex_path lime_path sum_by_class",
    "_local_sda": "local_sda lost_values",
    "_local_svm": "local_svm svm_path pair_steps",
    # Steps of solvers: maximum-entropy exponents and mixtures, Indefinite SVM, perceptron, SBC, SimSVM, k-medoids
    "_maxent": "maxent_rates mixture_em",
    "_rank_one": "rank_one_positive ascend",
    "_margin": "margin_sums margin_pull margin_sweep margin_exchange box_sweeps perceptron",
    "_medoids": "nearest_two exchange_gains vertex_substitution eager_exchanges cluster_totals",
    # Consistency of an entry with the others, permutation tests of group differences, trees of a similarity forest
    "_triangles": "row_differences expected_from_neighbors pair_spreads",
    "_permutations": "shuffle_rows group_sums permuted_rows",
    "_forest": "grow_tree",
    "_pair_lists": "parse_pairs number_ids insert_hashes order_pairs reverse_places",  # lists of pairs in text
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value
