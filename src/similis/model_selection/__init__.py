"""Choosing parameters: a whole grid for about the price of one fit."""

from similis.model_selection._path_search import PathSearchCV

__all__ = ["PathSearchCV"]
