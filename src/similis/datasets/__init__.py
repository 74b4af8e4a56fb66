"""Data sets: simulators, sets bundled with the package or scikit-learn, and benchmark sets in a folder of the user."""

from similis.datasets._benchmark import has_dataset, load_benchmark
from similis.datasets._shipped import DatasetInfo, list_datasets, load_promoters, load_sonar, load_votes
from similis.datasets._simulate import make_perturbed_centroids, make_similarity

__all__ = ["make_perturbed_centroids", "make_similarity", "load_votes", "load_sonar", "load_promoters"]
__all__ += ["load_benchmark", "has_dataset", "list_datasets", "DatasetInfo"]
