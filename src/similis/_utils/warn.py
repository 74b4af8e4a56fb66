"""Warnings that point at the user's line, however many layers of estimators and pipelines lie between."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn_user"]

_LAYERS = ("similis", "sklearn", "joblib")


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the nearest frame outside similis, scikit-learn and joblib."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _LAYERS:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
