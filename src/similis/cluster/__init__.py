"""Clustering of objects from their proximities."""

from similis.cluster._kmedoids import KMedoids, silhouette_samples

__all__ = ["KMedoids", "silhouette_samples"]
