"""The papers' tables as runnable experiments: the published figure beside ours, and a verdict by a fixed rule."""

from similis.reproduce._account import Account, account_for
from similis.reproduce._cache import default_cache
from similis.reproduce._experiments import EXPERIMENTS, Experiment
from similis.reproduce._pages import write_pages
from similis.reproduce._published import PublishedCell, published_cells
from similis.reproduce._record import note_repetition, read_results, write_results
from similis.reproduce._runner import Reproduction, reproduce_tables
from similis.reproduce._verdict import Comparison

__all__ = [
    "EXPERIMENTS",
    "Account",
    "Comparison",
    "Experiment",
    "PublishedCell",
    "Reproduction",
    "account_for",
    "default_cache",
    "note_repetition",
    "published_cells",
    "read_results",
    "reproduce_tables",
    "write_pages",
    "write_results",
]
