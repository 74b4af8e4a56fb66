"""Nearest-neighbor and prototype methods."""

from similis.neighbors._condensed import CondensedNN, MedoidRegressor
from similis.neighbors._knn import SimilarityKNN
from similis.neighbors._knn_regressor import SimilarityKNNRegressor
from similis.neighbors._label_spreading import SimilarityLabelSpreading
from similis.neighbors._local_centroid import LocalNearestCentroid
from similis.neighbors._nearest_centroid import NearestCentroid
from similis.neighbors._outlier import ProximityOutlier
from similis.neighbors._relational_glvq import RelationalGLVQ
from similis.neighbors._similarity_forest import SimilarityForest

__all__ = [
    "CondensedNN", "LocalNearestCentroid", "MedoidRegressor", "NearestCentroid", "ProximityOutlier", "RelationalGLVQ",
    "SimilarityForest", "SimilarityKNN", "SimilarityKNNRegressor", "SimilarityLabelSpreading",
]  # fmt: skip
