"""Measures of merit, computed from raw predictions: true class codes, predicted codes, probabilities.

Lower is better for all but ``normalized_cross_entropy``. Probabilities have one column per class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "METRICS",
    "Metric",
    "balanced_error",
    "brier_score",
    "calibration_error",
    "error",
    "log_loss",
    "mean_cost",
    "normalized_cross_entropy",
    "perplexity",
    "smooth",
]

Codes = NDArray[np.intp]
Proba = NDArray[np.float64]

SMOOTHING = 1e-4  # [chen2010] footnote 7, for sets with few classes


def error(truth: Codes, predicted: Codes) -> float:
    """Share of objects whose class was not found."""
    return float(np.mean(truth != predicted))


def balanced_error(truth: Codes, predicted: Codes) -> float:
    """Mean over the classes present of the share of their objects that was not found."""
    size = np.bincount(truth)
    wrong = np.bincount(truth, weights=truth != predicted)
    present = size > 0
    return float(np.mean(wrong[present] / size[present]))


def mean_cost(truth: Codes, predicted: Codes, costs: NDArray[np.float64]) -> float:
    """Mean cost of the answers; ``costs[f, g]`` is the cost of saying f when g is true."""
    return float(np.mean(costs[predicted, truth]))


def smooth(proba: Proba, smoothing: float = SMOOTHING) -> Proba:
    """Additive smoothing: no class keeps a probability of zero."""
    # [chen2010] sec. 4.6.2 -> (P(y|x) + e) / sum_g (P(g|x) + e)
    raised = proba + smoothing
    return raised / raised.sum(axis=1, keepdims=True)


def log_loss(truth: Codes, proba: Proba, smoothing: float = SMOOTHING) -> float:
    """Empirical cross entropy in nats, after additive smoothing."""
    # [chen2010] sec. 4.6.1 -> zeta = -1/n sum_i log P(y_i | x_i)
    own = smooth(proba, smoothing)[np.arange(len(truth)), truth]
    with np.errstate(divide="ignore"):
        return float(-np.mean(np.log(own)))


def perplexity(truth: Codes, proba: Proba, smoothing: float = SMOOTHING) -> float:
    """How many equally likely classes the probabilities leave to guess among: 1 is certainty."""
    # [chen2010] sec. 4.6.1 -> 2^zeta with zeta in bits
    return float(np.exp(log_loss(truth, proba, smoothing)))


def normalized_cross_entropy(truth: Codes, proba: Proba, priors: Proba, smoothing: float = SMOOTHING) -> float:
    """Share of the cross entropy of the class priors that the probabilities save; at most 1, larger is better.

    `priors` has one row per object: the class frequencies of its training part.
    """
    # [chen2010] sec. 4.6.1 -> (zeta_0 - zeta) / zeta_0
    baseline = log_loss(truth, priors, smoothing)
    return (baseline - log_loss(truth, proba, smoothing)) / baseline if baseline > 0 else float("nan")


def brier_score(truth: Codes, proba: Proba) -> float:
    """Mean squared distance of the probabilities from the truth, over all classes: between 0 and 2."""
    hit = np.zeros_like(proba)
    hit[np.arange(len(truth)), truth] = 1.0
    return float(np.mean(((proba - hit) ** 2).sum(axis=1)))


def calibration_error(truth: Codes, proba: Proba, n_bins: int = 10) -> float:
    """Expected calibration error: how far confidence and accuracy lie apart, by bins of equal width.

    The confidence of an answer is its largest probability; each bin counts by its number of objects.
    """
    confidence = proba.max(axis=1)
    right = proba.argmax(axis=1) == truth
    bins = np.minimum((confidence * n_bins).astype(np.intp), n_bins - 1)
    gap = np.bincount(bins, weights=confidence, minlength=n_bins) - np.bincount(bins, weights=right, minlength=n_bins)
    return float(np.abs(gap).sum() / len(truth))


@dataclass(frozen=True)
class Metric:
    """One measure of merit as the study asks for it.

    Attributes
    ----------
    of_labels, of_proba : callable or None
        What computes it, from labels or from probabilities.
    pooled : bool
        Computed once from the test objects of all splits together instead of split by split: a share of few
        objects in many bins is mostly noise.
    label : str
        For the head of a column.
    """

    label: str
    of_labels: Callable[[Codes, Codes], float] | None = None
    of_proba: Callable[[Codes, Proba], float] | None = None
    pooled: bool = False


# Cost and normalised cross entropy need more than one entry holds; the result computes them by name.
METRICS: dict[str, Metric] = {
    "error": Metric("error", of_labels=error),
    "balanced_error": Metric("balanced error", of_labels=balanced_error),
    "log_loss": Metric("log loss", of_proba=log_loss),
    "perplexity": Metric("perplexity", of_proba=perplexity, pooled=True),
    "brier_score": Metric("Brier score", of_proba=brier_score),
    "calibration_error": Metric("calibration error", of_proba=calibration_error, pooled=True),
    "cost": Metric("cost"),
    "normalized_cross_entropy": Metric("normalised cross entropy"),
    "fit_seconds": Metric("fit s"),
    "predict_seconds": Metric("predict s"),
}
