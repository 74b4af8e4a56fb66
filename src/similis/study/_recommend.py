"""Recommendation of a study: the method, its expected error, the certainty, and code that trains it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from similis.exceptions import ProximityError
from similis.study._metrics import compare_to_best, signed_rank

if TYPE_CHECKING:
    from similis.study._result import StudyResult

__all__ = ["Recommendation", "recommend"]


@dataclass(frozen=True)
class Recommendation:
    """Recommended method.

    Attributes
    ----------
    method : str
        The method with the lowest mean error (mean cost, if there are costs), without baselines.
    error : float
        Mean error.
    interval : tuple of float
        95 % interval for the expected error on new objects of the same kind.
    alike : tuple of str
        Methods that are not significantly worse (5 %, Holm's correction).
    n_worse : int
        Number of methods that are significantly worse.
    certainty : str
        Sentence about the significance of the choice; empty without other methods.
    warning : str
        Set if no method is clearly better than predicting the largest class, or a baseline has a lower error.
    text : str
        Two to five sentences.
    sentences : tuple of str
        Sentences of `text`.
    python : str
        Python code that trains the method on all data.
    command : str
        Command that trains the method on all data.
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

    def __str__(self) -> str:
        return f"{self.text}\n\n{self.python}\n\n{self.command}"


def recommend(result: StudyResult) -> Recommendation:
    """Choose a method; see :class:`Recommendation`."""
    merit = "error" if result.costs is None else "cost"
    scores, means = result.scores(merit), result.mean_scores(merit)
    complete = result.complete_methods()
    baselines = {info.name for info in result.methods if info.baseline}
    candidates = [name for name in complete if name not in baselines] or complete
    if not candidates:
        raise ProximityError("No method of this study has finished without failure, so none can be recommended.")
    verdicts = compare_to_best({name: scores[name] for name in candidates})
    best = min(candidates, key=lambda name: round(means[name], 12))
    alike = tuple(name for name in candidates if name != best and not verdicts[name].worse)
    n_worse = len(candidates) - 1 - len(alike)
    mean = result.mean_scores("error")[best]
    interval = result.error_interval(best)
    certainty = _certainty(alike, n_worse)
    warning = _warning(result, best, baselines & set(complete))
    parts = [
        f"Use {best}: expect an error of {percent(mean)} on new objects of this kind "
        f"(95 % interval {percent(interval[0])} to {percent(interval[1])}).",
        f"It has the lowest mean cost, {means[best]:.3g} per object." if merit == "cost" else "",
        certainty,
        _quicker(result, best, alike, interval[1]),
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
    )


def percent(share: float) -> str:
    """Format a fraction as a percentage."""
    return f"{100 * share:.1f} %"


def _certainty(alike: tuple[str, ...], n_worse: int) -> str:
    if not alike:
        return "" if not n_worse else f"It is significantly better than each of the {n_worse} other methods."
    named = ", ".join(alike[:3]) + (f" and {len(alike) - 3} more" if len(alike) > 3 else "")
    worse = f" but is significantly better than {n_worse} other method{'s'[: n_worse - 1]}" if n_worse else ""
    return f"It cannot be told apart from {named}{worse}."


def _quicker(result: StudyResult, best: str, alike: tuple[str, ...], high: float) -> str:
    seconds = result.mean_scores("fit_seconds")
    errors = result.mean_scores("error")
    quick = min((name for name in alike if errors[name] <= high), key=lambda name: seconds[name], default=best)
    if seconds[quick] * 10 >= seconds[best]:
        return ""
    return f"Of these {quick} is much quicker to train ({seconds[quick]:.2g} s instead of {seconds[best]:.2g} s)."


def _warning(result: StudyResult, best: str, baselines: set[str]) -> str:
    errors, means = result.scores("error"), result.mean_scores("error")
    if "majority" in baselines and best != "majority" and not _clearly_lower(errors[best], errors["majority"]):
        return (
            "It is not clearly better than always predicting the largest class: these proximities may not separate the "
            "classes."
        )
    better = sorted((name for name in baselines if means[name] < means[best] - 1e-12), key=lambda name: means[name])
    if better:
        return f"The baseline {better[0]} has a lower error ({percent(means[better[0]])})."
    return ""


def _clearly_lower(errors: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
    """Compare by the signed-rank test, or by the mean if there are too few splits for any significance."""
    d = (others - errors)[~np.isnan(others - errors)]
    return signed_rank(d) < 0.05 if len(d) >= 5 else bool(d.mean() > 0)


def _command(result: StudyResult, best: str) -> str:
    data = "matrix.csv --labels labels.csv"
    if result.kind == "dissimilarity":
        data += " --kind dissimilarity"
    measure = result.fingerprint.get("measure")
    if measure:
        name = str(measure).split("(")[0].rpartition(".")[2].lower()
        data = f"objects.csv --measure {name} --label-column label"
    return f"similis fit {result.arguments or data} --method {shlex.quote(best)} --output model.skops"
