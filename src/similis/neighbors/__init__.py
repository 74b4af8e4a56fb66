"""Nearest-neighbor and prototype methods."""

from similis.neighbors._condensed import CondensedNN
from similis.neighbors._knn import SimilarityKNN
from similis.neighbors._knn_regressor import SimilarityKNNRegressor
from similis.neighbors._local_centroid import LocalNearestCentroid
from similis.neighbors._medoid_regressor import MedoidRegressor
from similis.neighbors._nearest_centroid import NearestCentroid
from similis.neighbors._outlier import ProximityOutlier

__all__ = [
    "CondensedNN",
    "LocalNearestCentroid",
    "MedoidRegressor",
    "NearestCentroid",
    "ProximityOutlier",
    "SimilarityKNN",
    "SimilarityKNNRegressor",
]
