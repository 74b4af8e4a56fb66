"""Records of a study: raw predictions of one method on one split, and rows of the table."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata

from similis._utils.arrays import Array, Floats, Indices
from similis.exceptions import ProximityError
from similis.study._metrics import METRICS

if TYPE_CHECKING:
    from similis.study._result import StudyResult

FEWEST_SPLITS = 3  # of a method that may be recommended
_NAN = float("nan")
_SCORES = ("error", "balanced_error", "log_loss", "calibration_error", "cost", "mae", "r2")
_METRICS = (*_SCORES, "fit_seconds", "predict_seconds")


@dataclass(frozen=True)
class MethodInfo:
    """Description of a method, stored with a result; see :class:`Method`."""

    name: str
    family: str = ""
    paper: str = ""
    summary: str = ""
    needs: str = ""
    baseline: bool = False
    conversion: str = ""  # steps that the study puts before the method, in words
    grid: dict[str, Any] = field(default_factory=dict)
    spec: str = ""  # fingerprint of pipeline and grid
    matrix: str = ""  # of several, the one that the method reads, or "mean"; empty for all of them


@dataclass(frozen=True, eq=False)
class Entry:
    """Predictions of one method on one split.

    Attributes
    ----------
    method, spec : str
        Name of the method, and fingerprint of its pipeline and grid.
    split : int
        Number of the split.
    status, reason : str
        "ok" or "failed" (which counts as completed), and the error message of a failed run.
    predictions : ndarray or None
        Predicted class codes of the test objects, integers; in a regression their predicted values.
    proba : ndarray of shape (m, G) or None
        Class probabilities, if the method has them.
    params, details : dict
        Parameters chosen on the training part; numbers of the method's own, see :class:`Method`.
    fit_seconds, predict_seconds : float
        Wall time of selection and fit, and of predicting the test part.
    notes : tuple of str
        Warnings raised during the run, each once.
    finished, session : str
        Time, in UTC, and id of the run that computed it.
    """

    method: str
    split: int
    spec: str = ""
    status: str = "ok"
    reason: str = ""
    predictions: Array | None = None
    proba: Floats | None = None
    params: dict[str, Any] = field(default_factory=dict)
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    notes: tuple[str, ...] = ()
    finished: str = ""
    session: str = ""
    details: dict[str, float] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """True if there are predictions."""
        return self.status == "ok"

    @property
    def key(self) -> tuple[str, int]:
        """Method and split."""
        return self.method, self.split

    @property
    def journal_key(self) -> tuple[str, int, str]:
        """Method, split and fingerprint: the key in a journal."""
        return *self.key, self.spec

    def content(self) -> dict[str, Any]:
        """Everything but times and session: the part that does not depend on workers or interruptions."""
        return {k: v for k, v in self.to_record().items() if k not in ("seconds", "finished", "session")}

    def to_record(self) -> dict[str, Any]:
        """Convert to types of JSON."""
        return {
            **{name: getattr(self, name) for name in ("method", "split", "spec", "status", "reason")},
            **{name: to_json(getattr(self, name)) for name in ("predictions", "proba")},
            "params": {name: to_json(value) for name, value in self.params.items()},
            "seconds": [self.fit_seconds, self.predict_seconds],
            "notes": list(self.notes),
            **({"details": {name: to_json(value) for name, value in self.details.items()}} if self.details else {}),
            "finished": self.finished,
            "session": self.session,
        }

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Entry:
        """Make an entry from a JSON record."""
        try:
            predictions, proba = record["predictions"], record["proba"]
            kind = np.float64 if any(isinstance(value, float) for value in predictions or ()) else np.intp
            return cls(
                **{name: str(record[name]) for name in ("method", "spec", "status", "reason", "finished", "session")},
                split=int(record["split"]),
                predictions=None if predictions is None else np.array(predictions, dtype=kind),
                proba=None if proba is None else np.array(proba, dtype=np.float64),
                params=dict(record["params"]),
                fit_seconds=float(record["seconds"][0]),
                predict_seconds=float(record["seconds"][1]),
                notes=tuple(map(str, record["notes"])),
                details={name: float(value) for name, value in record.get("details", {}).items()},
            )
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ProximityError(f"A stored entry of the study is damaged: {str(error)[:80]}.") from None


@dataclass(frozen=True)
class Row:
    """One method in the table of a study.

    Attributes
    ----------
    method : str
        Name of the method.
    error, error_sd : float
        Mean and standard deviation of the error over the splits; over objects, without deviation, for leave-one-out. In
        a regression, the root mean squared error over all tests.
    rank : float
        Mean rank over the splits of the method by the metric of the study.
    verdict, difference, interval
        Test against the best method over objects by the metric of the study, see :class:`Difference`.
    bold, p_value, p_holm
        The papers' test over splits and their bold face, see :class:`Verdict`.
    balanced_error, log_loss, calibration_error, cost, mae, r2 : float
        Further metrics; NaN if they are not defined.
    fit_seconds, predict_seconds : float
        Mean times per split; the search for parameters is part of the fit.
    n_splits : int
        Number of splits with predictions, to which the numbers refer.
    status, reason, conversion : str
        "ok", "dropped" (from the race), "skipped" (for lack of time), "failed", "partly failed", "incomplete" or
        "missing"; error message of a failed method; steps that the study puts before the method.
    baseline : bool
        True for a method that serves for comparison only.
    """

    method: str
    error: float = _NAN
    error_sd: float = _NAN
    rank: float = _NAN
    bold: bool = False
    p_value: float = _NAN
    p_holm: float = _NAN
    balanced_error: float = _NAN
    log_loss: float = _NAN
    calibration_error: float = _NAN
    cost: float = _NAN
    fit_seconds: float = _NAN
    predict_seconds: float = _NAN
    n_splits: int = 0
    status: str = "ok"
    reason: str = ""
    conversion: str = ""
    baseline: bool = False
    verdict: str = ""
    difference: float = _NAN
    interval: tuple[float, float] | None = None
    mae: float = _NAN
    r2: float = _NAN

    @property
    def leading(self) -> bool:
        """True for the best method and those without a significant difference to it that were not dropped."""
        return self.verdict in ("best", "undecided") and self.status != "dropped"

    def to_dict(self) -> dict[str, Any]:
        """Convert to a dictionary with None for NaN."""
        return {k: None if isinstance(v, float) and np.isnan(v) else v for k, v in asdict(self).items()}


def make_rows(result: StudyResult) -> list[Row]:
    """Make one row per method, the best first, then those with too few splits, those dropped, and failures."""
    complete = result.complete_methods()
    errors, merits = result.scores("error"), result.scores(result.metric)
    sign, order = METRICS[result.metric].sign, result.paired_scores(result.metric)
    means = {metric: result.mean_scores(metric) for metric in _METRICS}
    ranked = [name for name in complete if order[name] == order[name]]
    # Mean ranks over the splits of each method, among the methods that have the split; ties share ranks.
    rounded = [np.round(sign * merits[name], 12) for name in ranked]
    by_split = rankdata(rounded, axis=0, nan_policy="omit") if ranked else []
    ranks = {name: float(row[~np.isnan(row)].mean()) for name, row in zip(ranked, by_split)}
    differences = result.differences()
    verdicts = result.significance()
    ended = {**dict.fromkeys(result.skipped, "skipped"), **dict.fromkeys(result.dropped, "dropped")}
    rows = []
    for info in result.methods:
        name = info.name
        if name not in verdicts:
            found = _failure(result, name)
        else:
            known = errors[name][~np.isnan(errors[name])]
            status = "ok" if len(known) == len(result.splits) else ended.get(name, "incomplete")
            found = {"rank": ranks.get(name, _NAN), "n_splits": len(known), "status": status}
            if len(known) > 1 and not result.is_loo:
                found["error_sd"] = float(known.std(ddof=1))
            found |= {metric: values[name] for metric, values in means.items()}
            found |= {key: getattr(verdicts[name], key) for key in ("bold", "p_value", "p_holm")}
        if name in differences:
            found |= {key: getattr(differences[name], key) for key in ("verdict", "difference", "interval")}
        rows.append(Row(name, conversion=info.conversion, baseline=info.baseline, **found))

    fewest = min(FEWEST_SPLITS, max((row.n_splits for row in rows), default=0))

    def place(row: Row) -> tuple[bool, bool, bool, bool, float]:
        merit = sign * order.get(row.method, _NAN)
        value = row.error if np.isnan(merit) else merit
        behind = row.method in result.dropped, row.n_splits < fewest
        return np.isnan(row.error), *behind, np.isnan(merit), 0.0 if np.isnan(value) else round(value, 12)

    return sorted(rows, key=place)


def _failure(result: StudyResult, name: str) -> dict[str, Any]:
    """Fields of the row of a method without a complete result."""
    found = [result.entries.get((name, split.number)) for split in result.splits]
    present = [entry for entry in found if entry is not None]
    failed = [entry for entry in present if not entry.ok]
    status = "missing" if not present else "failed" if len(failed) == len(present) else "partly failed"
    reason = failed[0].reason if failed else "interrupted before its first split"
    if not present and name in result.skipped:
        status, reason = "skipped", "its first split does not fit into the time budget"
    if status == "partly failed":
        reason = f"{len(failed)} of {len(present)} splits: {reason}"
    return {"n_splits": len(present) - len(failed), "status": status, "reason": reason}


def to_json(value: Any) -> Any:
    """Convert a parameter value to types of JSON; anything but finite numbers, text and lists of them as its repr."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    is_plain = value is None or isinstance(value, (int, str)) or (isinstance(value, float) and math.isfinite(value))
    return value if is_plain else repr(value)


def as_indices(values: Any, n: int, what: str) -> Indices:
    """Convert stored indices of objects; raise where one is not between 0 and n - 1."""
    found = np.array(values, dtype=np.intp)
    if found.ndim != 1 or (found.size and (found.min() < 0 or found.max() >= n)):
        raise ValueError(f"{what} names objects outside 0 to {n - 1}")
    return found
