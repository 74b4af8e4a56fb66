"""The table of results in the form of scikit-learn's ``cv_results_``."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata

__all__ = ["format_results"]


def format_results(
    points: list[dict[str, Any]], scores: dict[str, np.ndarray], fit_time: np.ndarray, score_time: np.ndarray
) -> dict[str, Any]:
    """Make ``cv_results_`` from the grid, scores of shape (n_points, n_splits) per metric, and times."""
    results: dict[str, Any] = {}
    for name, times in (("fit_time", fit_time), ("score_time", score_time)):
        results[f"mean_{name}"] = times.mean(axis=1)
        results[f"std_{name}"] = times.std(axis=1)
    for key in sorted({key for point in points for key in point}):
        column = np.ma.masked_all(len(points), dtype=object)
        for i, point in enumerate(points):
            if key in point:
                column[i] = point[key]
        results[f"param_{key}"] = column
    results["params"] = points
    for metric, table in scores.items():
        for split in range(table.shape[1]):
            results[f"split{split}_test_{metric}"] = table[:, split]
        mean = table.mean(axis=1)
        results[f"mean_test_{metric}"] = mean
        results[f"std_test_{metric}"] = table.std(axis=1)
        known = np.where(np.isnan(mean), np.nanmin(mean, initial=np.inf) - 1, mean)
        results[f"rank_test_{metric}"] = rankdata(-known, method="min").astype(np.int32)
    return results
