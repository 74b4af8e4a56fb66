"""Similarity discriminant analysis: generative classifiers on similarities."""

from similis.discriminant._display import SDADisplay
from similis.discriminant._local_sda import LocalSDA
from similis.discriminant._mixed_sda import MixedSDA
from similis.discriminant._mixture_sda import MixtureSDA
from similis.discriminant._sda import SDA, NearestNeighborSDA

__all__ = ["SDA", "NearestNeighborSDA", "LocalSDA", "MixtureSDA", "MixedSDA", "SDADisplay"]
