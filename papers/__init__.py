"""The papers' tables as runnable experiments: published and reproduced figures, and a verdict by a fixed rule."""

from papers.account import Account, account_for
from papers.experiments import EXPERIMENTS, Experiment
from papers.figures import FIGURES, draw_figures
from papers.pages import write_pages
from papers.published import PublishedCell, published_cells
from papers.records import estimate_seconds, note_repetition, read_results, write_results
from papers.runner import Reproduction, default_cache, reproduce_tables
from papers.verdict import ReproducedCell

__all__ = [
    "EXPERIMENTS",
    "FIGURES",
    "Account",
    "Experiment",
    "PublishedCell",
    "ReproducedCell",
    "Reproduction",
    "account_for",
    "default_cache",
    "draw_figures",
    "estimate_seconds",
    "note_repetition",
    "published_cells",
    "read_results",
    "reproduce_tables",
    "write_pages",
    "write_results",
]
