"""Data beyond memory or one machine: matrices in blocks on disk, neighbor indices, Dask clusters."""

from similis.distributed._cluster import cluster_jobs, connect
from similis.distributed._measure import measure_to_disk
from similis.distributed._neighbors import NeighborIndex
from similis.distributed._on_landmarks import OnLandmarks, choose_landmarks
from similis.distributed._on_neighbors import OnNeighbors
from similis.distributed._predict import predict_blocks

__all__ = [
    "NeighborIndex",
    "OnLandmarks",
    "OnNeighbors",
    "choose_landmarks",
    "cluster_jobs",
    "connect",
    "measure_to_disk",
    "predict_blocks",
]
