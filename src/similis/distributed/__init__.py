"""Beyond memory and beyond one machine: matrices measured and read block by block, here or on a Dask cluster."""

from similis.distributed._measure import measure_to_disk

__all__ = ["measure_to_disk"]
