"""Recommendation of a study: the method, its expected error, the certainty, and code that trains it."""

from __future__ import annotations

import math
import shlex
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from similis._utils.arrays import Mask
from similis.exceptions import ProximityError
from similis.study._differences import choose_metric, rare_classes
from similis.study._metrics import METRICS
from similis.study._plan import format_seconds
from similis.study._problem import choose_task

if TYPE_CHECKING:
    from similis.study._result import StudyResult


@dataclass(frozen=True)
class Recommendation:
    """Recommended method.

    Attributes
    ----------
    method : str
        The method with the lowest mean of the study's metric, without baselines.
    error : float
        Mean error; root mean squared error in a regression.
    interval : tuple of float
        95 % interval for the expected error on new objects of the same kind.
    alike, possibly_worse : tuple of str
        Methods without a significant difference to it that were not dropped from the race, or, with too few objects for
        a test, all others; methods that are possibly worse.
    n_worse : int
        Number of methods that are clearly worse.
    certainty, warning : str
        Sentences about the comparison with the other methods, and with baselines; may be empty.
    text, sentences : str, tuple of str
        The recommendation, and its two to five sentences.
    python, command : str
        Python code and command that train the method on all data.
    """

    method: str
    error: float
    interval: tuple[float, float]
    alike: tuple[str, ...]
    n_worse: int
    certainty: str
    warning: str
    text: str
    sentences: tuple[str, ...]
    python: str
    command: str
    possibly_worse: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.text}\n\n{self.python}\n\n{self.command}"


def recommend(result: StudyResult) -> Recommendation:
    best = result.leader()
    if best is None and result.complete_methods():
        raise ProximityError(
            f"No method of this study gives the probabilities that its metric, {METRICS[result.metric].label}, needs. "
            "Add one that does, or use another metric."
        )
    if best is None:
        reasons = [f" {row.method}: {row.reason}" for row in result.table() if row.reason][:1]
        none = "No method of this study has finished without failure, so none can be recommended."
        raise ProximityError("".join([none, *reasons]))
    baselines = {info.name for info in result.methods if info.baseline}
    tested = [d for d in result.differences().values() if d.method != best and d.method not in baselines - {best}]
    by_verdict: dict[str, list[str]] = defaultdict(list)
    for found in sorted(tested, key=lambda found: found.difference):
        dropped = found.method in result.dropped and found.verdict == "undecided"
        by_verdict["dropped" if dropped else found.verdict].append(found.method)
    alike = (*by_verdict["undecided"], *by_verdict["too few objects"])
    possibly, n_worse = tuple(by_verdict["possibly worse"]), len(by_verdict["clearly worse"])
    what = "groups" if result.groups is not None else "objects"
    if by_verdict["too few objects"]:
        n_units = max(found.n_units for found in tested)
        certainty = f"Too few {what} to test whether it is better than the other methods ({n_units} were tested)."
    else:
        certainty = _certainty(alike, possibly, n_worse, what, len(by_verdict["dropped"]))
    warning = _warning(result, best, baselines & set(result.complete_methods()))
    mean, interval = result.mean_scores("error")[best], result.error_interval(best)
    expected, ends = f"an error of {result.format_error(mean)}", result.format_interval(interval)
    if result.target is not None:
        r2 = result.mean_scores("r2")[best]
        expected = f"a root mean squared error of {result.format_error(mean)}{f', R2 {r2:.2f},' * (r2 == r2)}"
    parts = [
        f"Use {best}: expect {expected} on new objects of this kind (95 % interval {ends}).",
        _ranking(result, best),
        _matrices(result),
        certainty,
        _quicker(result, best, alike, interval[1]),
        _untested(result, best),
        warning,
        "The study was interrupted; finish it before you rely on this." if result.partial else "",
    ]
    sentences = tuple(filter(None, parts))
    return Recommendation(
        method=best,
        error=mean,
        interval=interval,
        alike=alike,
        n_worse=n_worse,
        certainty=certainty,
        warning=warning,
        text=" ".join(sentences),
        sentences=sentences,
        python=result.training_code(best),
        command=_command(result, best),
        possibly_worse=possibly,
    )


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _format_score(metric: str, value: float) -> str:
    return percent(value) if metric in ("error", "balanced_error") else f"{value:.3g}"


def list_some(names: Sequence[str]) -> str:
    """List up to three names, and the number of further ones."""
    last = names[-1] if len(names) <= 3 else f"{len(names) - 3} more"
    first = names[:-1] if len(names) <= 3 else names[:3]
    return f"{', '.join(first)} and {last}" if first else last


def _certainty(alike: tuple[str, ...], possibly: tuple[str, ...], n_worse: int, what: str, n_dropped: int) -> str:
    if not alike and not possibly and not n_dropped:
        others = f"each of the {n_worse} other methods" if n_worse > 1 else "the other method"
        return f"It is clearly better than {others}." if n_worse else ""
    early = "dropped early without a significant difference"
    counts = [
        (n_worse, "is clearly worse", "are clearly worse"),
        (len(possibly), "is possibly worse", "are possibly worse"),
        (n_dropped, f"was {early}", f"were {early}"),
    ]
    parts = [f"{n} {one if n == 1 else many}" for n, one, many in counts if n]
    are = "differences to {} are" if len(alike) > 1 else "difference to {} is"
    sentences = [f"The {are.format(list_some(alike))} not significant on these {what}."] if alike else []
    sentences += [f"Of the other methods, {list_some(parts)}."] if parts else []
    return " ".join(sentences)


def _matrices(result: StudyResult) -> str:
    """Sentences on which of several matrices is best, and whether combining them helps; empty for one matrix."""
    names, metric = result.situation.names, METRICS[result.metric]
    means, differences = result.paired_scores(result.metric), result.differences()
    best_on: dict[str, str] = {}  # the best method by matrix; "" is the best combination
    leader = result.leader()
    order = {name: (name != leader, metric.sign * value) for name, value in means.items()}
    for info in sorted(result.methods, key=lambda info: order.get(info.name, (True, math.inf))):
        if info.name in differences and not info.baseline and means[info.name] == means[info.name]:
            best_on.setdefault(info.matrix if info.matrix in names else "", info.name)
    single = [name for name in best_on if name]
    if not single:
        return ""

    def score(method: str) -> str:
        return f"{method}: {_format_score(result.metric, means[method])}"

    words = f"The best matrix is {single[0]} ({score(best_on[single[0]])})"
    others = [f"{name} ({score(best_on[name])})" for name in single[1:]]
    words += f"; then {', '.join(others)}." if others else "."
    if "" not in best_on:
        return words
    alone, combined = best_on[single[0]], best_on[""]
    helps = metric.sign * means[combined] < metric.sign * means[alone] - 1e-12
    behind = differences[alone if helps else combined]
    sure = {"clearly worse": "clearly", "possibly worse": "probably"}.get(behind.verdict)
    if sure is None:
        return f"{words} Combining the matrices makes no significant difference ({score(combined)})."
    return f"{words} Combining the matrices {sure} {'helps' if helps else 'does not help'} ({score(combined)})."


def _untested(result: StudyResult, best: str) -> str:
    """Sentence about methods that the time budget excludes from the recommendation; empty without them."""
    if result.skipped.get(best, 3) < 3:
        return "The time budget left fewer than 3 splits; allow more time before you rely on this."
    few = [name for name, after in result.skipped.items() if after < 3]
    return f"Not considered, since the time budget left fewer than 3 splits: {list_some(few)}." if few else ""


def _ranking(result: StudyResult, best: str) -> str:
    """Sentence about the metric of the ranking; empty for plain error."""
    metric, value = result.metric, result.mean_scores(result.metric)[best]
    if metric in ("error", "rmse"):
        return ""
    if metric == "cost":
        under = " under the given priors" if result.priors is not None else ""
        if result.costs is None:
            return f"It has the lowest error expected{under}, {percent(value)}."
        return f"It has the lowest mean cost{under}, {value:.3g} per object."
    rare = rare_classes(result.codes)
    if metric != "balanced_error" or not len(rare):
        superlative = "lowest" if METRICS[metric].sign > 0 else "highest"
        shown = _format_score(metric, value)
        return f"Methods are ranked by {METRICS[metric].label}; it has the {superlative}, {shown}."
    of_rare = np.isin(result.codes, rare)
    plain, baselines = result.mean_scores("error"), {info.name for info in result.methods if info.baseline}
    other = min((name for name in plain if name not in baselines or name == best), key=lambda name: plain[name])
    few, it = ("class holds", "that class") if len(rare) == 1 else (f"{len(rare)} classes hold", "those classes")
    words = (
        f"The smallest {few} {100 * of_rare.mean():.2g} % of the objects, so methods are ranked by balanced error, "
        f"{percent(value)} for {best}, which finds {_recall(result, best, of_rare)} of {it}; "
    )
    if round(plain[other], 12) == round(plain[best], 12):
        words += "by plain error it would be the same method."
    else:
        words += f"by plain error it would be {other}, which finds {_recall(result, other, of_rare)}."
    smallest = int(np.bincount(result.codes).min())
    if smallest < 10:
        words += f" The smallest class has only {smallest} object{'s'[: smallest - 1]}, so the ranking is weak."
    return words


def _recall(result: StudyResult, method: str, of_rare: Mask) -> str:
    """Share of the tests of some objects in which a method predicted their class."""
    hits = [(e.predictions == result.codes[s.test])[of_rare[s.test]] for s, e in result._finished(method)]
    right = np.concatenate([np.zeros(0, dtype=bool), *hits])
    return f"{100 * right.mean():.0f} %" if right.size else "none"


def _quicker(result: StudyResult, best: str, alike: tuple[str, ...], high: float) -> str:
    seconds, errors = result.mean_scores("fit_seconds"), result.mean_scores("error")
    quick = min((name for name in alike if errors[name] <= high), key=lambda name: seconds[name], default=best)
    if seconds[quick] * 10 >= seconds[best]:
        return ""
    times = f"({format_seconds(seconds[quick])} s instead of {format_seconds(seconds[best])} s)"
    return f"Without a significant difference, {quick} is much faster to fit {times}."


def _warning(result: StudyResult, best: str, baselines: set[str]) -> str:
    differences, means = result.differences(), result.mean_scores(result.metric)
    constant = differences.get("majority" if result.target is None else "mean")
    if constant is not None and best != constant.method:
        if constant.verdict == "undecided" or (constant.verdict == "too few objects" and constant.difference <= 0):
            of_classes = "the largest class: these proximities may not separate the classes"
            what = of_classes if result.target is None else "the mean of the target"
            return f"It is not clearly better than always predicting {what}."
    metric = METRICS[result.metric]
    better = [name for name in baselines & differences.keys() if metric.sign * (means[best] - means[name]) > 1e-12]
    if better:
        first = min(better, key=lambda name: metric.sign * means[name])
        shown = _format_score(result.metric, means[first])
        return f"The baseline {first} has a {'lower' if metric.sign > 0 else 'higher'} {metric.label} ({shown})."
    return ""


def _command(result: StudyResult, best: str) -> str:
    kinds = result.situation.kinds or (result.kind,)
    data = f"{shlex.join(f'{name}.csv' for name in result.situation.names or ['matrix'])} --labels labels.csv"
    if result.fingerprint.get("measure"):
        name = str(result.fingerprint["measure"]).split("(")[0].rpartition(".")[2].lower()
        data = f"objects.csv --measure {name} --label-column label"
    elif "dissimilarity" in kinds:
        data += f" --kind {','.join(kinds)}"
    for name in ("groups", "costs", "priors"):
        if getattr(result, name) is not None:
            data += f" --{name} {name}.csv"
    words = f"{result.arguments or data} --method {shlex.quote(best)}"
    for flag, value, default in (("folds", result.protocol.cv, 10), ("seed", result.protocol.random_state, 0)):
        words += "" if value == default else f" --{flag} {value}"
    weighted = result.costs is not None or result.priors is not None
    usual = choose_metric(result.codes, weighted=weighted) if result.target is None else "rmse"
    if "--target" not in words and choose_task(result.y) != result.task:
        words += f" --task {result.task}"
    if result.metric != usual:
        words += f" --metric {result.metric}"
    return f"similis fit {words} --output model.skops"
