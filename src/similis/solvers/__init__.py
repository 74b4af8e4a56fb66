"""Algorithms on arrays that run to a certificate: NumPy in, NumPy out; they know no estimator."""

from similis.solvers._centroids import centroids_by_fold, class_centroids
from similis.solvers._neighbors import class_sums, top_k, vote_winners

__all__ = [
    # ranked neighbours
    "top_k",
    "vote_winners",
    "class_sums",
    # class centroids
    "class_centroids",
    "centroids_by_fold",
]
