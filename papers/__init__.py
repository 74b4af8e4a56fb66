"""The papers' tables as runnable experiments: published and reproduced figures, and a verdict by a fixed rule."""

from papers.account import Account, account_for
from papers.experiments import EXPERIMENTS, Experiment
from papers.pages import write_pages
from papers.published import PublishedCell, published_cells
from papers.records import note_repetition, read_results, write_results
from papers.runner import Reproduction, default_cache, reproduce_tables
from papers.verdict import ReproducedCell

__all__ = [
    "EXPERIMENTS",
    "Account",
    "Experiment",
    "PublishedCell",
    "ReproducedCell",
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
