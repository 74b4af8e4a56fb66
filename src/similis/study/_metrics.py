"""Metrics and significance tests, computed from raw predictions: class codes, probabilities, or values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from similis._utils.arrays import Floats, Indices
from similis.exceptions import ProximityError


def smooth(proba: Floats, smoothing: float | None = None) -> Floats:
    """Probabilities with additive smoothing, which removes zeros: 1e-4 for up to 20 classes, 1e-6 for more."""
    # [chen2010] sec. 4.6.2 -> (P(y|x) + e) / sum_g (P(g|x) + e); footnote 7 sets e by the number of classes
    raised = proba + ((1e-4 if proba.shape[1] <= 20 else 1e-6) if smoothing is None else smoothing)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def error(truth: Indices, predicted: Indices) -> float:
    """Fraction of misclassified objects."""
    return float(np.mean(truth != predicted))


def balanced_error(truth: Indices, predicted: Indices) -> float:
    """Mean error per class, over the classes present."""
    size = np.bincount(truth)
    wrong = np.bincount(truth, weights=truth != predicted)
    present = size > 0
    return float(np.mean(wrong[present] / size[present]))


def mean_cost(truth: Indices, predicted: Indices, costs: Floats) -> float:
    """Mean cost of the predictions; ``costs[f, g]`` is the cost of predicting f when g is true."""
    return float(np.mean(costs[predicted, truth]))


def log_loss(truth: Indices, proba: Floats, smoothing: float | None = None) -> float:
    """Empirical cross entropy in nats, after :func:`smooth`."""
    own = smooth(proba, smoothing)[np.arange(len(truth)), truth]
    # [chen2010] sec. 4.6.1 -> zeta = -1/n sum_i log P(y_i | x_i)
    with np.errstate(divide="ignore"):
        return float(-np.mean(np.log(own)))


def perplexity(truth: Indices, proba: Floats, smoothing: float | None = None) -> float:
    """Perplexity: number of equally likely classes with the same cross entropy; 1 is certainty."""
    # [chen2010] sec. 4.6.1 -> 2^zeta with zeta in bits
    return float(np.exp(log_loss(truth, proba, smoothing)))


def normalized_cross_entropy(truth: Indices, proba: Floats, priors: Floats, smoothing: float | None = None) -> float:
    """Relative reduction, at most 1, of the cross entropy of `priors`, the class frequencies of training parts."""
    # [chen2010] sec. 4.6.1 -> (zeta_0 - zeta) / zeta_0
    baseline = log_loss(truth, priors, smoothing)
    return (baseline - log_loss(truth, proba, smoothing)) / baseline if baseline > 0 else float("nan")


def brier_score(truth: Indices, proba: Floats) -> float:
    """Brier score: mean squared distance of the probabilities from the true class; between 0 and 2."""
    hit = np.zeros_like(proba)
    hit[np.arange(len(truth)), truth] = 1.0
    return float(np.mean(((proba - hit) ** 2).sum(axis=1)))


def calibration_error(truth: Indices, proba: Floats, n_bins: int = 10) -> float:
    """Expected calibration error: mean difference of confidence and accuracy, over bins of equal width."""
    _, confidence, right = bin_by_confidence(truth, proba, n_bins)
    return float(np.abs(confidence - right).sum() / len(truth))


def bin_by_confidence(truth: Indices, proba: Floats, n_bins: int = 10) -> Floats:
    """Number of objects, sum of their confidence, and number of correct predictions, by bins of equal width."""
    confidence, right = proba.max(axis=1), proba.argmax(axis=1) == truth
    bins = np.minimum((confidence * n_bins).astype(np.intp), n_bins - 1)
    return np.array([np.bincount(bins, weights=w, minlength=n_bins) for w in (np.ones(len(bins)), confidence, right)])


@dataclass(frozen=True)
class Metric:
    """One metric of the study: a function of the truth and of labels, probabilities or the values of a regression."""

    label: str  # heading of a column
    of_labels: Callable[[Indices, Indices], float] | None = None
    of_proba: Callable[[Indices, Floats], float] | None = None
    of_values: Callable[[Floats, Floats], float] | None = None
    pooled: bool = False  # computed once from the test objects of all splits: few objects in many bins are noise
    sign: int = 1  # -1 where larger is better


# Levels of the pinball loss, the loss of a quantile; at 0.5 it is half the absolute error.
QUANTILES = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
_PINBALL = {f"pinball({level})": level for level in QUANTILES}


def value_losses(metric: str, truth: Floats, predicted: Floats | float) -> Floats:
    """Loss of each predicted value: squared error for "rmse" and "r2", else absolute error or pinball loss."""
    error = np.asarray(truth - predicted, dtype=np.float64)
    if metric in ("rmse", "r2"):
        return error**2
    level = _PINBALL.get(metric)
    return np.abs(error) if level is None else np.maximum(level * error, (level - 1) * error)


def relative_losses(metric: str, truth: Floats, predicted: Floats, target: Floats) -> Floats:
    """Losses over that of the best constant prediction of `target`: a difference of 0.01 is one point of R2."""
    constant = float(target.mean() if metric in ("rmse", "r2") else np.quantile(target, _PINBALL.get(metric, 0.5)))
    return value_losses(metric, truth, predicted) / float(value_losses(metric, target, constant).mean())


def _mean_loss(metric: str) -> Callable[[Floats, Floats], float]:
    return lambda truth, predicted: float(value_losses(metric, truth, predicted).mean())


def _r2(truth: Floats, predicted: Floats) -> float:
    spread = float(((truth - truth.mean()) ** 2).mean())
    return 1 - _mean_loss("r2")(truth, predicted) / spread if spread > 0 else math.nan


# Cost and normalized cross entropy need more than the entries; StudyResult computes them by name.
METRICS: dict[str, Metric] = {
    "error": Metric("error", of_labels=error),
    "balanced_error": Metric("balanced error", of_labels=balanced_error),
    "log_loss": Metric("log loss", of_proba=log_loss),
    "perplexity": Metric("perplexity", of_proba=perplexity, pooled=True),
    "brier_score": Metric("Brier score", of_proba=brier_score),
    "calibration_error": Metric("calibration error", of_proba=calibration_error, pooled=True),
    "cost": Metric("cost"),
    "normalized_cross_entropy": Metric("normalized cross entropy", sign=-1),
    "fit_seconds": Metric("fit s"),
    "predict_seconds": Metric("predict s"),
    "rmse": Metric("root mean squared error", of_values=lambda t, p: math.sqrt(_mean_loss("rmse")(t, p)), pooled=True),
    "mae": Metric("mean absolute error", of_values=_mean_loss("mae"), pooled=True),
    "r2": Metric("R2", of_values=_r2, pooled=True, sign=-1),
}
METRICS |= {k: Metric(f"pinball loss at {q}", of_values=_mean_loss(k), pooled=True) for k, q in _PINBALL.items()}
OF_VALUES = tuple(name for name, metric in METRICS.items() if metric.of_values is not None)  # of a regression
_EXACT = 400  # largest number of non-zero differences with an exact distribution
_DIGITS = 12  # errors are rounded before they are compared, so that equal ones tie


def signed_rank(differences: ArrayLike) -> float:
    """P-value of the one-sided Wilcoxon signed-rank test of paired differences; exact for up to 400, also with ties.

    Parameters
    ----------
    differences : array-like of shape (n,)
        One per split: error of the method minus error of the best. Zeros are dropped, as by Wilcoxon; NaN too.

    Examples
    --------
    >>> from similis.study import signed_rank
    >>> signed_rank([0.1, 0.2, 0.0, 0.3])
    0.125
    """
    d = np.round(_vector(differences, "differences"), _DIGITS)
    d = d[(d != 0) & ~np.isnan(d)]
    if not d.size:
        return 1.0
    ranks = np.rint(2 * stats.rankdata(np.abs(d))).astype(np.int64)  # doubled, so that mid-ranks are integers
    observed = int(ranks[d > 0].sum())
    if d.size > _EXACT:
        deviation = math.sqrt(float((ranks**2).sum())) / 2
        return float(stats.norm.sf((observed - 1 - ranks.sum() / 2) / deviation))
    chance = np.zeros(int(ranks.sum()) + 1)
    chance[0] = 1.0
    for rank in ranks:
        chance[rank:] += chance[:-rank]
        chance /= 2
    return float(min(1.0, chance[observed:].sum()))


def holm(p_values: ArrayLike) -> Floats:
    """Adjust p-values for their number by Holm's step-down rule; values below 0.05 are significant at 5 %.

    Parameters
    ----------
    p_values : array-like of shape (m,)
        One per comparison.

    Examples
    --------
    >>> from similis.study import holm
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    p = _vector(p_values, "p_values")
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def _vector(values: ArrayLike, name: str) -> Floats:
    try:
        given = np.asarray(values)
        given = np.empty(()) if given.dtype.kind == "c" else given.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        given = np.empty(())
    if given.ndim != 1 or np.nanmax(np.abs(given), initial=0.0) > 1e100:
        raise ValueError(f"{name} must be a vector of real numbers up to 1e100 in magnitude.")
    return given


@dataclass(frozen=True)
class Verdict:
    """Significance of the difference between one method and the best.

    Attributes
    ----------
    method : str
        Name of the method.
    p_value, p_holm : float
        One-sided signed-rank p-value of "not worse than the best", 1.0 for the best itself; the same, corrected for the
        number of methods compared.
    bold, worse : bool
        The papers' bold face: lowest mean error, or not significantly worse at 5 % (uncorrected); significantly worse
        at 5 % after the correction.
    """

    method: str
    p_value: float
    p_holm: float
    bold: bool
    worse: bool


def compare_to_best(
    errors: Mapping[str, Floats], level: float = 0.05, *, best: str | None = None
) -> dict[str, Verdict]:
    """Test every method against the best, by default that with the lowest mean error; NaN is a missing split."""
    if not isinstance(level, (int, float)) or not 0 < level < 1:
        raise ValueError(f"level must be a number between 0 and 1. Got {str(level)[:40]!r}.")
    if not errors:
        return {}
    if best is None:
        means = {name: float(np.nanmean(row)) for name, row in errors.items()}
        best = min(means, key=lambda name: round(means[name], _DIGITS))
    p = {name: signed_rank(errors[name] - errors[best]) for name in errors if name != best}
    # [chen2010] table 4.3 -> bold: the lowest mean error and those not statistically significantly worse
    found = {best: Verdict(best, 1.0, 1.0, bold=True, worse=False)}
    for name, corrected in zip(p, holm(list(p.values())).tolist()):
        found[name] = Verdict(name, p[name], corrected, bold=p[name] >= level, worse=corrected < level)
    return {name: found[name] for name in errors}


def error_interval(errors: Floats, test_share: float, n_objects: int, *, level: float = 0.95) -> tuple[float, float]:
    """Interval for the expected error from the errors on the splits, at least as wide as Wilson's."""
    if not (isinstance(level, float | int) and 0 < level < 1):
        raise ProximityError(f"level must be a share between 0 and 1, such as 0.95. Got {str(level)[:60]!r}.")
    errors = errors[~np.isnan(errors)]
    mean = float(errors.mean())
    z = float(stats.norm.ppf((1 + level) / 2))
    middle = (mean + z**2 / (2 * n_objects)) / (1 + z**2 / n_objects)
    reach = z * math.sqrt(mean * (1 - mean) / n_objects + z**2 / (4 * n_objects**2)) / (1 + z**2 / n_objects)
    low, high = middle - reach, middle + reach
    if 2 <= len(errors) < n_objects:
        # Nadeau and Bengio: random splits overlap, so the variance of the mean is s^2 (1 / J + test_share).
        spread = float(errors.std(ddof=1)) * math.sqrt(1 / len(errors) + test_share)
        half = float(stats.t.ppf((1 + level) / 2, len(errors) - 1)) * spread
        low, high = min(low, mean - half), max(high, mean + half)
    return max(0.0, low), min(1.0, high)


def ratio_variance(total: Floats, count: Floats, ratio: float) -> float:
    """Variance of sum(total) / sum(count) over N independent units, objects or groups, by linearization.

    Training parts share objects, which adds the factor 1 + 2 `ratio`, the mean size of a test over its training part.
    """
    N, tests = len(total), count.sum()
    deviations = float(((total - float(total.sum() / tests) * count) ** 2).sum())
    return float((1 + 2 * ratio) * deviations / tests**2 * N / (N - 1))


def value_interval(total: Floats, count: Floats, ratio: float, *, level: float = 0.95) -> tuple[float, float]:
    """Interval for the expected root mean squared error; its square is a ratio as in :func:`ratio_variance`."""
    T, c = total[count > 0], count[count > 0]
    mean, N = float(T.sum() / c.sum()), len(T)
    if N < 2 or mean == 0:
        return 0.0, 0.0 if mean == 0 else math.inf
    half = float(stats.t.ppf((1 + level) / 2, N - 1)) * math.sqrt(ratio_variance(T, c, ratio))
    return math.sqrt(mean * math.exp(-half / mean)), math.sqrt(mean * math.exp(half / mean))  # of the logarithm


@dataclass(frozen=True)
class Ranks:
    """Average ranks of methods across data sets.

    Attributes
    ----------
    methods, datasets : tuple of str
        Methods by increasing mean rank, and names of the data sets.
    ranks, mean : ndarray of shape (n_datasets, n_methods), ndarray of shape (n_methods,)
        Rank of each method on each data set, 1 the best, ties sharing the mean of their ranks; mean ranks.
    p_value, critical_difference : float
        Friedman's test, corrected for ties, in Iman and Davenport's F form; Nemenyi's critical difference of the means.
    groups : tuple of tuple of str
        Largest sets of methods whose average ranks lie within one critical difference.
    """

    methods: tuple[str, ...]
    datasets: tuple[str, ...]
    ranks: Floats
    mean: Floats
    p_value: float
    critical_difference: float
    groups: tuple[tuple[str, ...], ...]

    def summary(self, level: float = 0.05) -> str:
        """Summarize the tests of Friedman, with its significance level, and Nemenyi in two sentences."""
        N, k = self.ranks.shape
        p = "p < 0.001" if self.p_value < 0.001 else f"p = {self.p_value:.2g}"
        found = "significant differences" if self.p_value < level else "no significant difference"
        critical = f"farther apart than {self.critical_difference:.2f} differ significantly (Nemenyi, 5 %)"
        return (
            f"Friedman's test finds {found} among the {k} methods over {N} data sets ({p}). Average ranks {critical}."
        )


def average_ranks(results: Mapping[str, Any], metric: str = "error", level: float = 0.05) -> Ranks:
    """Rank methods across data sets: :class:`Ranks`, with the tests of Friedman and Nemenyi.

    Parameters
    ----------
    results : mapping of str to StudyResult, or to a mapping of method to score
        By name of the data set. Methods with a score on every data set are ranked, baselines included.
    metric : str, default="error"
        Metric of the results to rank by; scores that are given rank from low to high.
    level : float, default=0.05
        Significance level of the critical difference.

    Examples
    --------
    >>> from similis.study import average_ranks
    >>> scores = {"votes": {"a": 0.1, "b": 0.2, "c": 0.3}, "sonar": {"a": 0.2, "b": 0.2, "c": 0.4}}
    >>> average_ranks(scores).mean
    array([1.25, 1.75, 3.  ])
    """
    if not isinstance(results, Mapping):
        raise ValueError(f"average_ranks needs results by the name of a data set. Got a {type(results).__name__}.")
    if len(results) < 2:
        raise ValueError(f"average_ranks compares methods across at least two data sets. Got {len(results)}.")
    scores = {name: _losses(r, metric) if hasattr(r, "paired_scores") else dict(r) for name, r in results.items()}
    first = next(iter(scores.values()))
    common = [m for m in first if all(math.isfinite(s.get(m, math.nan)) for s in scores.values())]
    if len(common) < 2:
        rule = "Average ranks need at least two methods with a score on every data set"
        raise ValueError(f"{rule}. Got {len(common)}; compare studies of the same methods, without failures.")
    table = np.array([[round(s[m], _DIGITS) for m in common] for s in scores.values()])
    ranks = stats.rankdata(table, axis=1)
    order = np.argsort(ranks.mean(axis=0), kind="stable")
    ranks, names = ranks[:, order], tuple(common[i] for i in order)
    N, k = ranks.shape
    mean = ranks.mean(axis=0)
    q = float(stats.studentized_range.ppf(1 - level, k, np.inf)) / math.sqrt(2)
    difference = q * math.sqrt(k * (k + 1) / (6 * N))
    groups: list[tuple[str, ...]] = []  # maximal runs of methods within the critical difference
    end = 0
    for i in range(k):
        j = int(np.searchsorted(mean, mean[i] + difference, side="right"))
        if j - i > 1 and j > end:
            groups.append(names[i:j])
            end = j
    return Ranks(names, tuple(scores), ranks, mean, _friedman(ranks), difference, tuple(groups))


def _losses(result: Any, metric: str) -> dict[str, float]:
    """Mean scores of a study, with the sign changed where larger is better."""
    sign = METRICS[result._find_metric(metric)].sign
    return {name: sign * score for name, score in result.paired_scores(metric).items()}


def _friedman(ranks: Floats) -> float:
    """Iman and Davenport's F form of Friedman's test, with ties."""
    N, k = ranks.shape
    within = float(((ranks - (k + 1) / 2) ** 2).sum()) / (N * (k - 1))
    if within == 0:
        return 1.0
    chi2 = float(N * ((ranks.mean(axis=0) - (k + 1) / 2) ** 2).sum()) / within
    if chi2 >= N * (k - 1) * (1 - 1e-12):
        return 0.0
    F = (N - 1) * chi2 / (N * (k - 1) - chi2)
    return float(stats.f.sf(F, k - 1, (k - 1) * (N - 1)))
