"""Similarity discriminant analysis: generative classifiers on similarities."""

from similis.discriminant._display import SDADisplay
from similis.discriminant._local_sda import LocalSDA
from similis.discriminant._mixed_sda import MixedSDA
from similis.discriminant._mixture_sda import MixtureSDA
from similis.discriminant._nn_sda import NearestNeighborSDA
from similis.discriminant._sda import SDA

__all__ = ["SDA", "NearestNeighborSDA", "LocalSDA", "MixtureSDA", "MixedSDA", "SDADisplay"]
