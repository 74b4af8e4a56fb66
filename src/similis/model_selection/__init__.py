"""Choosing parameters, and predictions with controlled coverage and calibrated probabilities."""

from similis.model_selection._calibrate import calibrate
from similis.model_selection._conformal import ConformalClassifier, ConformalRegressor
from similis.model_selection._path_search import PathSearchCV

__all__ = ["PathSearchCV", "ConformalClassifier", "ConformalRegressor", "calibrate"]
