"""Nearest-neighbor and prototype classifiers."""

from similis.neighbors._condensed import CondensedNN
from similis.neighbors._knn import SimilarityKNN
from similis.neighbors._local_centroid import LocalNearestCentroid
from similis.neighbors._nearest_centroid import NearestCentroid

__all__ = ["CondensedNN", "LocalNearestCentroid", "NearestCentroid", "SimilarityKNN"]
