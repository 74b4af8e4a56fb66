"""Mixture models on distances by hypothetical local mapping, from all data or batch by batch ([qiao2013])."""

from similis.mixture._incremental_hlm import IncrementalHLM, stream_fit
from similis.mixture._kernel_hlm import KernelHLM
from similis.mixture._mixture_hlm import MixtureHLM

__all__ = ["KernelHLM", "MixtureHLM", "IncrementalHLM", "stream_fit"]
