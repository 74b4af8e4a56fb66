"""Differences to the leading method, tested over objects, which are independent, and the metric that ranks methods."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import stats
from scipy.optimize import brentq
from scipy.special import ndtr

from similis._utils.arrays import Floats, Indices
from similis.base import check_costs, class_priors
from similis.exceptions import ProximityError
from similis.study._metrics import METRICS, ratio_variance, relative_losses, smooth

if TYPE_CHECKING:
    from similis.study._entry import Entry
    from similis.study._protocol import Split
    from similis.study._result import StudyResult

Verdict = Literal["best", "clearly worse", "possibly worse", "undecided", "too few objects"]
OF_LABELS = ("error", "balanced_error", "cost")
RANKING = ("error", "balanced_error", "cost", "log_loss", "perplexity", "normalized_cross_entropy")
_ALIASES = {"nce": "normalized_cross_entropy", "pinball": "pinball(0.5)"}
_FEWEST = 10  # objects, or groups, for a test
_POSSIBLY = 1.65  # not corrected for the choice of the leader
_LEAST_RATIO = 0.25  # of test to training part; smaller test parts do not reduce the variance: derive_differences.py
_RARE = 0.4  # of the share that a class has if all are equally large
_MANY_CLASSES = 20


@dataclass(frozen=True)
class Difference:
    """Difference between one method and the leading one, tested over objects.

    Attributes
    ----------
    method : str
        Name of the method.
    difference, statistic : float
        Mean loss per tested object minus that of the leader, on the splits of both; the same in units of its standard
        error.
    interval : tuple of float
        95 % interval of the difference, for all methods at the same time.
    n_units : int
        Number of tested objects; of groups, if there are groups.
    verdict : {"best", "clearly worse", "possibly worse", "undecided", "too few objects"}
        "clearly worse": the interval lies above zero. "possibly worse": the statistic exceeds 1.65, not corrected for
        the choice of the leader. "undecided": not significant on these objects. "too few objects": fewer than ten.
    """

    method: str
    difference: float
    interval: tuple[float, float]
    statistic: float
    n_units: int
    verdict: Verdict


def find_metric(metric: str, among: tuple[str, ...] = tuple(METRICS)) -> str:
    """Name of a metric without abbreviation; raises where there is none."""
    if isinstance(metric, str) and _ALIASES.get(metric, metric) in among:
        return _ALIASES.get(metric, metric)
    raise ValueError(f"There is no metric {metric!r}. Use one of {', '.join(among)}.")


def choose_metric(codes: Indices, *, weighted: bool) -> str:
    """Metric that ranks the methods: cost where there are costs or priors, balanced error where a class is rare."""
    if weighted:
        return "cost"
    return "balanced_error" if len(rare_classes(codes)) else "error"


def rare_classes(codes: Indices) -> Indices:
    """Smallest class, or tenth of more than 20, if it has fewer objects than 0.4 of an equal share, else none."""
    counts = np.bincount(codes)
    G = len(counts)
    smallest = np.argsort(counts, kind="stable")[: 1 if G <= _MANY_CLASSES else G // 10]
    limit = _RARE * len(smallest) * len(codes) / G
    return smallest if counts[smallest].sum() < limit else smallest[:0]


def balancing_costs(codes: Indices, priors: Floats | None = None) -> Floats:
    """Costs by which the mean cost is the error if classes occur with `priors`, equal by default."""
    counts = np.bincount(codes)
    shares = np.full(len(counts), 1 / len(counts)) if priors is None else priors
    return (1 - np.eye(len(counts))) * (shares * len(codes) / counts)


def balancing_weights(codes: Indices, splits: list[Split]) -> list[Floats]:
    """Weights of the tests of each split, one on average, by which the mean loss is the mean balanced error."""
    counts = np.array([np.bincount(codes[s.test], minlength=int(codes.max()) + 1) for s in splits])
    if (counts > 0).all():  # classes have equal weights in every split, else over all splits together
        weights = counts.sum() / (counts.size * counts)
    else:
        tested = counts.sum(axis=0)
        weights = np.broadcast_to(counts.sum() / ((tested > 0).sum() * np.maximum(tested, 1)), counts.shape)
    return [row[codes[s.test]] for row, s in zip(weights, splits)]


def check_decision(costs: Any, priors: Any, codes: Indices) -> tuple[Floats | None, Floats | None]:
    """Validate costs and priors; "balanced" and "equal" are computed from the class counts."""
    counts = np.bincount(codes)
    if isinstance(costs, str) and costs != "balanced":
        raise ProximityError(f"costs must be a matrix, or 'balanced'. Got {costs[:40]!r}.")
    if isinstance(priors, str) and priors != "equal":
        raise ProximityError(f"priors must be one probability per class, or 'equal'. Got {priors[:40]!r}.")
    costs = balancing_costs(codes) if isinstance(costs, str) else costs
    priors = np.full(len(counts), 1 / len(counts)) if isinstance(priors, str) else priors
    return check_costs(costs, len(counts)), None if priors is None else class_priors(priors, counts)


def expect_costs(costs: Floats | None, priors: Floats | None, codes: Indices) -> Floats | None:
    """Costs whose mean over the data is the expected cost if classes occur with `priors`; without costs, the error."""
    if priors is None:
        return costs
    weighted = balancing_costs(codes, priors)
    return weighted if costs is None else costs * (priors * len(codes) / np.bincount(codes))


def compare_to_leader(result: StudyResult, level: float = 0.05) -> dict[str, Difference]:
    """Test every method without failure against the leader; see :meth:`StudyResult.differences`."""
    leader = result.leader()
    if leader is None:
        return {}
    started = len({method for method, _ in result.entries})
    found, entries = {}, result.entries
    for name in result.complete_methods():
        shared = [s for s in result.splits if {(name, s.number), (leader, s.number)} <= entries.keys()]
        total, count = np.zeros((2, len(result.codes)))
        is_balanced = result.metric == "balanced_error"
        balance: Iterable[Any] = balancing_weights(result.codes, shared) if is_balanced else repeat(1.0)
        for split, weights in zip(shared, balance):
            own, best = (_object_losses(result, entries[m, split.number], split.test) for m in (name, leader))
            if own is None or best is None:
                break
            total[split.test] += weights * (own - best)
            count[split.test] += 1
        else:
            if result.groups is not None:
                total, count = (np.bincount(result.groups, weights=w).astype(np.float64) for w in (total, count))
            ratio = float(np.mean([len(s.test) / s.n_train for s in shared])) if shared else 0.0
            found[name] = compare_objects(name, total, count, ratio, started, level, is_leader=name == leader)
    return found


def _object_losses(result: StudyResult, entry: Entry, test: Indices) -> Floats | None:
    """Loss of each prediction by the metric of the study; None for a metric of probabilities without them."""
    if result.target is not None:
        assert entry.predictions is not None
        return relative_losses(result.metric, result.target[test], entry.predictions, result.target)
    truth = result.codes[test]
    if result.metric not in OF_LABELS:
        return None if entry.proba is None else -np.log(smooth(entry.proba)[np.arange(len(truth)), truth])
    costs = result.expected_costs
    if result.metric != "cost" or costs is None:
        return np.asarray(entry.predictions != truth, dtype=np.float64)
    return np.asarray(costs[entry.predictions, truth])


def compare_objects(
    method: str,
    total: Floats,
    count: Floats,
    ratio: float,
    n_methods: int,
    level: float = 0.05,
    is_leader: bool = False,
) -> Difference:
    """Test one method against the leader, which was chosen among `n_methods`, at a `level` for all methods together.

    `total` is, per object or group, the sum of the differences of its loss to that of the leader over the splits that
    tested it, `count` the number of these tests, `ratio` the mean size of a test part over that of its training part.
    """
    T, c = total[count > 0], count[count > 0]
    N = len(T)
    if is_leader:
        return Difference(method, 0.0, (0.0, 0.0), 0.0, N, "best")
    delta = float(T.sum() / c.sum()) if N else math.nan
    if N < 2:
        return Difference(method, delta, (-math.inf, math.inf), math.nan, N, "too few objects")
    variance = ratio_variance(T, c, max(ratio, _LEAST_RATIO))
    error = math.sqrt(variance) if variance > 1e-24 else 0.0
    critical = _critical_value(level, n_methods, N - 1)
    if error:
        statistic = delta / error
    else:  # the same difference on every object
        statistic = math.copysign(math.inf, delta) if abs(delta) > 1e-12 else 0.0
    interval = (delta - critical * error, delta + critical * error)
    if N < _FEWEST:
        verdict: Verdict = "too few objects"
    elif statistic > critical:
        verdict = "clearly worse"
    else:
        verdict = "possibly worse" if statistic > _POSSIBLY else "undecided"
    return Difference(method, delta, interval, statistic, N, verdict)


@lru_cache(maxsize=1000)
def _critical_value(level: float, n_methods: int, df: int) -> float:
    """Quantile of ``scipy.stats.studentized_range`` / sqrt(2), in milliseconds instead of most of a second."""
    if not isinstance(level, (int, float)) or not 0 < level < 1:
        raise ProximityError(f"level must be a number between 0 and 1. Got {str(level)[:40]!r}.")
    k = max(2, n_methods)
    ends = np.sqrt(stats.chi2.ppf([1e-12, 1 - 1e-12], df) / df)
    nodes, weights = np.polynomial.legendre.leggauss(48)
    s = ends.mean() + nodes * (ends[1] - ends[0]) / 2  # standard deviation estimated from df values, over the true one
    density = weights * stats.chi2.pdf(df * s**2, df) * 2 * df * s * (ends[1] - ends[0]) / 2
    z = np.linspace(-9, 9, 181)[:, None]
    normal = k * np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi) * (z[1] - z[0])

    def excess(q: float) -> float:
        # P(range <= q s) of k standard normal values, whose largest is z
        return float(density @ (normal * (ndtr(z) - ndtr(z - q * s)) ** (k - 1)).sum(axis=0)) - (1 - level)

    return float(brentq(excess, 1e-3, 1e4)) / math.sqrt(2)
