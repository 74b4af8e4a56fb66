"""Result of a study: raw predictions of every method on every split, and everything computed from them."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from similis.base import Kind
from similis.exceptions import ProximityError
from similis.study import _store
from similis.study._assemble import MatrixFacts, make_model
from similis.study._code import training_code
from similis.study._entry import Entry, MethodInfo
from similis.study._methods import Method
from similis.study._metrics import (
    METRICS,
    Verdict,
    compare_to_best,
    error_interval,
    mean_cost,
    normalized_cross_entropy,
)
from similis.study._picture import Picture, make_picture
from similis.study._predictions import ObjectPredictions, count_predictions
from similis.study._problem import Problem
from similis.study._protocol import Protocol, Split
from similis.study._recommend import Recommendation, recommend
from similis.study._rows import Row, make_rows

__all__ = ["StudyResult"]

Compute = TypeVar("Compute", bound=Callable[..., Any])


def _computed_once(compute: Compute) -> Compute:
    """Keep the value of a method with at most one argument, as long as there are as many entries; return copies."""

    @wraps(compute)
    def find(self: StudyResult, *args: Any, **options: Any) -> Any:
        state = (len(self.entries), self.arguments)  # a recommendation quotes the arguments
        if self._computed.get("state") != state:
            self._computed = {"state": state}
        key = f"{compute.__name__}{(*args, *options.values()) or compute.__defaults__}"
        if key not in self._computed:
            self._computed[key] = compute(self, *args, **options)
        return deepcopy(self._computed[key])

    return find  # type: ignore[return-value]


@dataclass(eq=False, repr=False)
class StudyResult:
    """Raw results of a study, with tables, tests and reports computed from them.

    Attributes
    ----------
    classes : ndarray of shape (G,)
        Class labels; codes, predictions and columns of probabilities refer to their order.
    codes : ndarray of shape (n,)
        True class code of each object.
    splits : list of Split
        Objects held out in each split.
    methods : list of MethodInfo
        Descriptions, in the order of the table of methods.
    entries : dict of (str, int) to Entry
        Predictions, probabilities, parameters and times by method and split.
    protocol : Protocol
        Protocol that made the splits.
    situation : MatrixFacts
        Kind and symmetry of the matrix, and conversion rules.
    partial : bool
        True if the study was interrupted, so that entries are missing.
    ids, groups, costs
        As given to :meth:`Study.run`, or None.
    sessions : list of dict
        Runs that computed the entries, with time, versions and machine.
    fingerprint : dict
        Header of the journal, which identifies the study.
    name : str
        Name of the data, for titles.
    arguments : str
        Command line arguments that name the data.
    training : dict of str to str
        Python code that trains each method, as stored in a results file.
    """

    classes: NDArray[Any]
    codes: NDArray[np.intp]
    splits: list[Split]
    methods: list[MethodInfo]
    entries: dict[tuple[str, int], Entry]
    protocol: Protocol
    situation: MatrixFacts
    partial: bool = False
    ids: tuple[str, ...] | None = None
    groups: NDArray[np.intp] | None = None
    costs: NDArray[np.float64] | None = None
    sessions: list[dict[str, Any]] = field(default_factory=list)
    fingerprint: dict[str, Any] = field(default_factory=dict)
    custom: dict[str, Method] = field(default_factory=dict)
    measure: Any = None
    name: str = ""
    arguments: str = ""
    training: dict[str, str] = field(default_factory=dict)
    source: Problem | None = None
    _picture: Picture | None = None
    _computed: dict[Any, Any] = field(default_factory=dict, init=False)

    @property
    def kind(self) -> Kind:
        """Kind of the matrix."""
        return self.situation.kind

    @property
    def picture(self) -> Picture | None:
        """Pictures of the matrix for a report; None if a results file does not hold them."""
        if self._picture is None and self.source is not None:
            if self.source.picture is None and self.source.unchanged():
                self.source.picture = make_picture(self.source, self.situation)
            self._picture = self.source.picture
        return self._picture

    @property
    def is_loo(self) -> bool:
        """True if each split holds out one object: metrics are then computed over all splits together."""
        return all(len(split.test) == 1 for split in self.splits)

    @_computed_once
    def scores(self, metric: str = "error") -> dict[str, NDArray[np.float64]]:
        """Metric of every method on every split.

        Parameters
        ----------
        metric : str, default="error"
            One of ``similis.study.METRICS``.

        Returns
        -------
        dict of str to ndarray of shape (n_splits,)
            By method; NaN if a split failed or is missing, or the method gives no probabilities.
        """
        _check_metric(metric)
        return {m.name: np.array([self._score(metric, m.name, [s]) for s in self.splits]) for m in self.methods}

    @_computed_once
    def mean_scores(self, metric: str = "error") -> dict[str, float]:
        """Mean of a metric over the splits, for each method without failure.

        Calibration error, perplexity and everything under leave-one-out are computed from the test objects of all
        splits together.

        Parameters
        ----------
        metric : str, default="error"
            One of ``similis.study.METRICS``.

        Returns
        -------
        dict of str to float
        """
        _check_metric(metric)
        names = self.complete_methods()
        if METRICS[metric].pooled or (self.is_loo and not metric.endswith("seconds")):
            return {name: self._score(metric, name, self.splits) for name in names}
        scores = self.scores(metric)
        known = {name: scores[name][~np.isnan(scores[name])] for name in names}
        return {name: float(values.mean()) if values.size else float("nan") for name, values in known.items()}

    @_computed_once
    def complete_methods(self) -> list[str]:
        """Names of the methods with at least one entry and no failure.

        Returns
        -------
        list of str
        """
        names = []
        for m in self.methods:
            found = [self.entries[m.name, s.number] for s in self.splits if (m.name, s.number) in self.entries]
            if found and all(entry.ok for entry in found):
                names.append(m.name)
        return names

    @_computed_once
    def significance(self, level: float = 0.05) -> dict[str, Verdict]:
        """Test every method against the one with the lowest mean error.

        Parameters
        ----------
        level : float, default=0.05
            Significance level.

        Returns
        -------
        dict of str to Verdict
            By method, failures left out: one-sided Wilcoxon signed-rank p-value over the splits, the same by Holm's
            correction, and the papers' bold face.
        """
        errors = self.scores("error")
        return compare_to_best({name: errors[name] for name in self.complete_methods()}, level)

    def error_interval(self, method: str, level: float = 0.95) -> tuple[float, float]:
        """Interval for the expected error of a method on new objects of the same kind.

        Parameters
        ----------
        method : str
            Name of the method.
        level : float, default=0.95
            Coverage.

        Returns
        -------
        low, high : float
            From the spread over the splits, corrected for their overlap (Nadeau and Bengio), and never narrower than
            the interval for the number of distinct test objects (Wilson).
        """
        done = [s for s, _ in self._finished(method, self.splits)] if isinstance(method, str) else []
        if not done:
            raise ProximityError(f"{method!r} has no finished split in this study, so its error is not known.")
        share = float(np.mean([len(s.test) / s.n_train for s in done]))
        tested = len(np.unique(np.concatenate([s.test for s in done])))
        return error_interval(self.scores("error")[method], share, tested, level=level)

    @_computed_once
    def table(self) -> list[Row]:
        """Table of the study: one row per method, lowest error first, failures last.

        Returns
        -------
        list of Row
        """
        return make_rows(self)

    def format_table(self) -> list[list[str]]:
        """Table of the study as text: the headings, then one list of cells per method.

        Returns
        -------
        list of list of str
            Rows in the order of :meth:`table`.
        """
        heads = ["method", "error %", "(sd)", "rank", "p (Holm)", "balanced %", "log loss", "cost", "fit s", "note"]
        lines = [heads]
        for row in self.table():
            note = row.reason or row.conversion
            if row.status != "ok":
                note = f"{row.status}: {note}" if note else row.status
            elif row.baseline:
                note = "; ".join(filter(None, ("baseline", note)))
            numbers = [
                _format_number(100 * row.error, 2),
                f"({_format_number(100 * row.error_sd, 2)})" if row.error_sd == row.error_sd else "",
                _format_number(row.rank, 1),
                "<0.001" if row.p_holm < 0.001 else _format_number(row.p_holm, 3),
                _format_number(100 * row.balanced_error, 2),
                _format_number(row.log_loss, 3),
                _format_number(row.cost, 3),
                _format_number(row.fit_seconds, 2),
            ]
            lines.append([row.method, *numbers, note])
        if self.costs is not None:
            return lines
        cost = heads.index("cost")
        return [line[:cost] + line[cost + 1 :] for line in lines]

    def object_names(self, max_length: int = 60) -> list[str]:
        """Name of each object: its id, or "object" and its number.

        Parameters
        ----------
        max_length : int, default=60
            Longer ids are shortened.

        Returns
        -------
        list of str
        """
        if self.ids is None:
            return [f"object {i + 1}" for i in range(len(self.codes))]
        return [
            name if len(name) <= max_length else name[: max_length - 1] + "\N{HORIZONTAL ELLIPSIS}" for name in self.ids
        ]

    @_computed_once
    def predictions_by_object(self) -> ObjectPredictions:
        """Predictions of the methods without failure, counted per object.

        Returns
        -------
        ObjectPredictions
        """
        return count_predictions(self)

    def frame(self) -> Any:
        """One row per method and split, with every metric and the chosen parameters.

        Returns
        -------
        pandas.DataFrame, or list of dict if pandas is not installed
        """
        names = [name for name in METRICS if not METRICS[name].pooled]
        columns = {name: self.scores(name) for name in names if name != "cost" or self.costs is not None}
        rows = []
        for place, split in enumerate(self.splits):
            for info in self.methods:
                entry = self.entries.get((info.name, split.number))
                row: dict[str, Any] = {"method": info.name, "split": split.number, "n_test": len(split.test)}
                row["status"] = "missing" if entry is None else entry.status
                row["reason"] = "" if entry is None else entry.reason
                row.update({name: float(values[info.name][place]) for name, values in columns.items()})
                row["params"] = {} if entry is None else dict(entry.params)
                row["finished"] = "" if entry is None else entry.finished
                rows.append(row)
        try:
            import pandas as pd
        except ImportError:
            return rows
        return pd.DataFrame(rows)

    def best(self) -> str:
        """Name of the recommended method.

        Returns
        -------
        str
        """
        return self.recommend().method

    @_computed_once
    def recommend(self) -> Recommendation:
        """Recommend a method, with its expected error, the certainty of the choice, and code that trains it.

        Returns
        -------
        Recommendation
            Its ``str()`` is a short text.
        """
        return recommend(self)

    def model(self, method: str | None = None, *, measure: Any = None) -> Any:
        """Make the unfitted model of a method, as the study evaluated it.

        Parameters
        ----------
        method : str, optional
            Name; None for the recommended method.
        measure : measure, optional
            Required for a study of objects whose result was loaded from a file.

        Returns
        -------
        PathSearchCV, classifier or pipeline
        """
        name = method or self.recommend().method
        if name not in [m.name for m in self.methods]:
            raise ValueError(f"{name!r} is not among the methods of this study.")
        measure = measure if measure is not None else self.measure
        if measure is None and self.fingerprint.get("measure"):
            raise ProximityError(
                "This study measured objects. Pass the measure too: fit_best(objects, y, measure=...)."
            )
        return make_model(
            self.custom.get(name, name),
            kind=self.situation.kind,
            symmetric=self.situation.symmetric,
            measure=measure,
            n=self.protocol.inner_train_size(len(self.codes)),
            cv=self.protocol.cv if isinstance(self.protocol.cv, int) else self.protocol.inner(0),
            costs=self.costs,
            classes=self.classes,
            random_state=self.protocol.random_state,
            to_similarity=self.situation.to_similarity,
            to_dissimilarity=self.situation.to_dissimilarity,
            missing=self.situation.missing,
        )

    def training_code(self, method: str) -> str:
        """Python code that trains a method on all data, as the study evaluated it.

        Parameters
        ----------
        method : str
            Name of the method.

        Returns
        -------
        str
            Code that reads the variables ``S`` (or ``objects``) and ``y`` and sets ``model``.
        """
        if method not in self.training:
            data = "objects" if self.fingerprint.get("measure") else "S"
            if data == "objects" and self.measure is None:
                code = "model = result.fit_best(objects, y, measure=...)"
            elif self.costs is not None:
                code = f"model = result.fit_best({data}, y)  # parameters chosen by cost"
            else:
                try:
                    code = training_code(self.model(method), data)
                except Exception:  # a method of the user, or one that this version no longer has
                    code = f"model = result.fit_best({data}, y, method={method!r})"
            self.training[method] = code
        return self.training[method]

    def fit_best(self, S: Any, y: Any, *, method: str | None = None, measure: Any = None) -> Any:
        """Choose the parameters of the recommended method on all data and fit it.

        Parameters
        ----------
        S : array-like of shape (n, n), or objects
            All proximities, or the objects of a study with a measure.
        y : array-like of shape (n,)
            Labels.
        method : str, optional
            Name; None for the recommended method.
        measure : measure, optional
            Required for a study of objects whose result was loaded from a file.

        Returns
        -------
        fitted classifier or pipeline
            Ready for :func:`similis.save`.
        """
        model = self.model(method, measure=measure).fit(S, y)
        return getattr(model, "best_estimator_", model)

    def to_html(self, path: str | os.PathLike[str], *, refresh: float | None = None) -> None:
        """Write the report as one self-contained html file.

        Parameters
        ----------
        path : str or path-like
            The file to write.
        refresh : float, optional
            Refresh interval of the page in seconds, while a study runs.
        """
        from similis.report import make_report, write_page

        write_page(make_report(self, refresh=refresh), path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a results file (JSON; compressed if the name ends in .gz).

        Parameters
        ----------
        path : str or path-like
            The file, replaced atomically.
        """
        _store.save_result(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> StudyResult:
        """Read a results file. Nothing in it is executed.

        Parameters
        ----------
        path : str or path-like
            File written by :meth:`save`.

        Returns
        -------
        StudyResult
        """
        return _store.load_result(cls, path)

    def __repr__(self) -> str:
        state = ", interrupted" if self.partial else ""
        return f"StudyResult({len(self.methods)} methods, {len(self.splits)} splits, {len(self.codes)} objects{state})"

    def __str__(self) -> str:
        """Table and recommendation as plain text; a star marks the papers' bold face."""
        table = self.table()
        marks = ["  ", *("* " if row.bold else "  " for row in table)]
        rows = [[mark + first, *rest] for mark, (first, *rest) in zip(marks, self.format_table())]
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = []
        for first, *numbers, note in rows:
            cells = [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(numbers, widths[1:])), note]
            lines.append("  ".join(cells).rstrip())
        lines += ["", "* lowest mean error, or not significantly worse at 5 % (one-sided signed-rank test)"]
        lines += [self.protocol.describe(len(self.splits))]
        if any(row.status in ("ok", "incomplete") for row in table):
            lines += ["", self.recommend().text]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from similis.report import make_notebook_view

        return make_notebook_view(self)

    def _finished(self, method: str, splits: list[Split]) -> list[tuple[Split, Entry]]:
        """Splits on which a method has predictions, with their entries."""
        found = [(s, self.entries.get((method, s.number))) for s in splits]
        return [(s, entry) for s, entry in found if entry is not None and entry.ok]

    def _score(self, metric: str, name: str, splits: list[Split]) -> float:
        """Metric over the test objects of some splits together; NaN if there are none."""
        found = self._finished(name, splits)
        if not found:
            return float("nan")
        if metric in ("fit_seconds", "predict_seconds"):
            return float(np.mean([getattr(entry, metric) for _, entry in found]))
        truth = np.concatenate([self.codes[s.test] for s, _ in found])
        predicted = np.concatenate([entry.predictions for _, entry in found if entry.predictions is not None])
        if metric == "cost":
            return float("nan") if self.costs is None else mean_cost(truth, predicted, self.costs)
        definition = METRICS[metric]
        if definition.of_labels is not None:
            return definition.of_labels(truth, predicted)
        probabilities = [entry.proba for _, entry in found if entry.proba is not None]
        if len(probabilities) < len(found):
            return float("nan")
        proba = np.concatenate(probabilities)
        if definition.of_proba is not None:
            return definition.of_proba(truth, proba)
        # The baseline of an object: class frequencies of the training part of its split.
        priors = [np.bincount(self.codes[s.train], minlength=len(self.classes)) / len(s.train) for s, _ in found]
        per_object = np.repeat(priors, [len(s.test) for s, _ in found], axis=0)
        return normalized_cross_entropy(truth, proba, per_object)


def _check_metric(metric: str) -> None:
    if not isinstance(metric, str) or metric not in METRICS:
        raise ValueError(f"There is no metric {metric!r}. Use one of {', '.join(METRICS)}.")


def _format_number(value: float, digits: int) -> str:
    return "" if value != value else f"{value:.{digits}f}"
