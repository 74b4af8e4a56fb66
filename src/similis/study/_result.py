"""Result of a study: raw predictions and everything computed from them; comparison of several studies."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from similis._utils.arrays import Array, Floats, Indices
from similis.base import Kind
from similis.exceptions import ProximityError
from similis.study import _assemble, _metrics, _predictions, _store
from similis.study._assemble import MatrixFacts, make_model, training_code, without_search
from similis.study._differences import Difference, compare_to_leader, expect_costs, find_metric
from similis.study._displays import RanksDisplay
from similis.study._entry import FEWEST_SPLITS, Entry, MethodInfo, Row, make_rows
from similis.study._methods import Method, canonical_name, find_methods
from similis.study._metrics import METRICS, OF_VALUES, Ranks, Verdict, average_ranks
from similis.study._picture import Picture, make_picture
from similis.study._plan import clock
from similis.study._problem import Problem
from similis.study._protocol import Protocol, Split
from similis.study._recommend import Recommendation, list_some, recommend

# Metrics that every printed table has; another one that ranks the methods gets a column of its own.
_COLUMNS = ("error", "balanced_error", "cost", "log_loss", "rmse", "mae", "r2")
_CONVERSION = ("symmetric", "to_similarity", "to_dissimilarity", "missing")  # of the facts about a matrix
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
    classes, codes : ndarray of shape (G,), ndarray of shape (n,)
        Class labels, to whose order codes and columns of probabilities refer; true class code of each object.
    splits, methods : list of Split, list of MethodInfo
        Objects held out in each split; descriptions, in the order of the table of methods.
    entries : dict of (str, int) to Entry
        Predictions, probabilities, parameters and times by method and split.
    protocol : Protocol
        Protocol that made the splits.
    situation : MatrixFacts
        Kind and symmetry of the matrix, and conversion rules.
    partial : bool
        True if the study was interrupted, so that entries are missing.
    ids, groups, costs, priors
        As given to :meth:`Study.run`, or None.
    metric, name, arguments : str
        Metric that ranks the methods and chooses parameters; name of the data, for titles; command line arguments that
        name the data.
    sessions : list of dict
        Runs that computed the entries, with time, versions and machine.
    fingerprint : dict
        Header of the journal, which identifies the study.
    training : dict of str to str
        Python code that trains each method, as stored in a results file.
    dropped, skipped : dict of str to int
        Number of splits of the methods that were dropped from the race, or whose next split did not fit into the time.
    time_budget : float or None
        Time budget in seconds.
    target : ndarray of shape (n,) or None
        True values of a regression, whose ranges are `classes`, and whose "error" is the root mean squared error.

    Examples
    --------
    >>> from similis import Study, make_similarity
    >>> S, y = make_similarity(60, 2, separation=3.0, random_state=0)
    >>> result = Study(["knn", "nc", "majority"], n_splits=4).run(S, y)
    >>> result.fit_best(S, y).predict(S[:2]).shape
    (2,)
    """

    classes: Array
    codes: Indices
    splits: list[Split]
    methods: list[MethodInfo]
    entries: dict[tuple[str, int], Entry]
    protocol: Protocol
    situation: MatrixFacts
    partial: bool = False
    ids: tuple[str, ...] | None = None
    groups: Indices | None = None
    costs: Floats | None = None
    sessions: list[dict[str, Any]] = field(default_factory=list)
    fingerprint: dict[str, Any] = field(default_factory=dict)
    custom: dict[str, Method] = field(default_factory=dict)
    measure: Any = None
    name: str = ""
    arguments: str = ""
    training: dict[str, str] = field(default_factory=dict)
    source: Problem | None = None
    _picture: Picture | None = None
    priors: Floats | None = None
    metric: str = "error"
    dropped: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    time_budget: float | None = None
    target: Floats | None = None
    _computed: dict[Any, Any] = field(default_factory=dict, init=False)

    @property
    def kind(self) -> Kind:
        """Kind of the matrix."""
        return self.situation.kind

    @property
    def task(self) -> str:
        """Either "classification" or "regression"."""
        return "classification" if self.target is None else "regression"

    @property
    def y(self) -> Array:
        """Label, or target value, of each object."""
        return self.classes[self.codes] if self.target is None else self.target

    @property
    def expected_costs(self) -> Floats | None:
        """Costs whose mean over the data is the cost expected under the priors; None without costs and priors."""
        return expect_costs(self.costs, self.priors, self.codes)

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
    def scores(self, metric: str = "error") -> dict[str, Floats]:
        """Metric, one of ``METRICS``, of every method on every split: arrays (n_splits,), NaN where it is not known."""
        metric = self._find_metric(metric)
        return {m.name: np.array([self._score(metric, m.name, [s]) for s in self.splits]) for m in self.methods}

    @_computed_once
    def mean_scores(self, metric: str = "error") -> dict[str, float]:
        """Mean of a metric over the splits that a method has, for each method without failure.

        Calibration error, perplexity, everything under leave-one-out, and the balanced error if a class is absent from
        some test part are computed from the test objects of all splits together.
        """
        metric = self._find_metric(metric)
        return {name: self._mean_score(metric, name, self.splits) for name in self.complete_methods()}

    @_computed_once
    def paired_scores(self, metric: str = "error") -> dict[str, float]:
        """Mean of a metric over all splits, with estimates for those that a method lacks, for each without failure.

        It is the mean of the method with the most splits, plus the mean difference on the splits that both have.
        """
        metric, means = self._find_metric(metric), self.mean_scores(metric)
        numbers = {name: [s.number for s, _ in self._finished(name)] for name in means}
        full = max((name for name in means if means[name] == means[name]), key=lambda n: len(numbers[n]), default="")
        found = dict(means)
        for name, mean in means.items():
            if full and mean == mean and numbers[name] != numbers[full]:
                shared = [s for s in self.splits if s.number in numbers[name] and s.number in numbers[full]]
                of_both = [self._mean_score(metric, which, shared) for which in (name, full)]
                found[name] = means[full] + of_both[0] - of_both[1]
        return found

    @_computed_once
    def complete_methods(self) -> list[str]:
        """Names of the methods with at least one entry and no failure."""
        numbers = [s.number for s in self.splits]
        found = {
            m.name: [self.entries[m.name, i].ok for i in numbers if (m.name, i) in self.entries] for m in self.methods
        }
        return [name for name, ok in found.items() if ok and all(ok)]

    def leader(self) -> str | None:
        """Name of the method with the best paired score, not dropped, with three splits or more; None if none finished.

        Baselines lead only where there are no others.
        """
        sign, means = METRICS[self.metric].sign, self.paired_scores(self.metric)
        counts = {name: len(self._finished(name)) for name in means}
        fewest = min(FEWEST_SPLITS, max(counts.values(), default=0))
        ranked = [name for name in means if means[name] == means[name] and counts[name] >= fewest]
        for behind in (self.dropped, {info.name for info in self.methods if info.baseline}):
            ranked = [name for name in ranked if name not in behind] or ranked
        return min(ranked, key=lambda name: round(sign * means[name], 12), default=None)

    @_computed_once
    def differences(self, level: float = 0.05) -> dict[str, Difference]:
        """Test methods without failure against the leader, over objects: a :class:`Difference` by method.

        The unit of the test is the object, or the group: T_i is the sum of its differences of loss between a method and
        the leader over the c_i splits that tested it. The mean difference is delta = sum T / sum c with variance (1 + 2
        n_test / n_train) sum (T_i - delta c_i)^2 / (sum c)^2 N / (N - 1), where n_test / n_train is the mean over the
        splits, at least 1/4. A method is clearly worse if delta exceeds q / sqrt(2) standard errors, with q the 5 %
        point, or `level`, of the studentized range of all methods that were started.
        """
        return compare_to_leader(self, level)

    @_computed_once
    def significance(self, level: float = 0.05) -> dict[str, Verdict]:
        """Test methods without failure by the papers' rule for bold face: a :class:`Verdict` by method.

        A one-sided Wilcoxon signed-rank test over the splits compares them with the lowest mean error. Splits overlap,
        so that it calls far too many methods worse if there are many; the recommendation uses :meth:`differences`.
        """
        errors, paired = self.scores("error"), self.paired_scores("error")
        names = [name for name in paired if name not in self.dropped] or list(paired)
        best = min(names, key=lambda name: round(paired[name], 12), default=None)
        return _metrics.compare_to_best({name: errors[name] for name in paired}, level, best=best)

    def baseline_error(self, metric: str = "error") -> float:
        """Metric "error" or "balanced_error" of always predicting the largest class, or the mean, of training parts."""
        if self.target is not None:
            squares = [(self.target[s.test] - self.target[s.train].mean()) ** 2 for s in self.splits]
            return float(np.sqrt(np.concatenate(squares).mean()))
        of_labels = METRICS[find_metric(metric, ("error", "balanced_error"))].of_labels
        assert of_labels is not None
        truth = [self.codes[s.test] for s in self.splits]
        predicted = [np.full(len(s.test), np.bincount(self.codes[s.train]).argmax()) for s in self.splits]
        if self.is_loo or (metric == "balanced_error" and self._lacks_classes()):
            return of_labels(np.concatenate(truth), np.concatenate(predicted))
        return float(np.mean([of_labels(t, p) for t, p in zip(truth, predicted)]))

    def settings(self) -> dict[str, Any]:
        """Metric, costs, priors and number of groups of the study, as types of JSON; absent ones left out."""
        found: dict[str, Any] = {"metric": self.metric, **({} if self.target is None else {"task": "regression"})}
        for name in ("costs", "priors"):
            if getattr(self, name) is not None:
                found[name] = getattr(self, name).tolist()
        if self.groups is not None:
            found["groups"] = len(np.unique(self.groups))
        return found

    def error_interval(self, method: str, level: float = 0.95) -> tuple[float, float]:
        """Lower and upper end of an interval for the expected error of a method on new objects of the same kind.

        It is Nadeau and Bengio's, never narrower than Wilson's for the test objects; in a regression, over objects.
        """
        found = self._finished(method) if isinstance(method, str) else []
        if not found:
            raise ProximityError(f"{method!r} has no finished split in this study, so its error is not known.")
        share = float(np.mean([len(s.test) / s.n_train for s, _ in found]))
        if self.target is not None:
            total, count = np.zeros((2, len(self.target)))
            for split, entry in found:
                total[split.test] += (np.asarray(entry.predictions) - self.target[split.test]) ** 2
                count[split.test] += 1
            if self.groups is not None:
                total, count = (np.bincount(self.groups, weights=w).astype(np.float64) for w in (total, count))
            return _metrics.value_interval(total, count, share, level=level)
        tested = len(np.unique(np.concatenate([s.test for s, _ in found])))
        return _metrics.error_interval(self.scores("error")[method], share, tested, level=level)

    @_computed_once
    def table(self) -> list[Row]:
        """Table of the study: one :class:`Row` per method, lowest error first, failures last."""
        return make_rows(self)

    def format_table(self, *, intervals: bool = False) -> list[list[str]]:
        """Table of the study as text, perhaps with `intervals` of the differences: headings, then cells per method."""
        columns: dict[str, Callable[[Row], str]] = {"method": lambda row: row.method}
        own: dict[str, Callable[[Row], str]] = {}
        if self.metric not in _COLUMNS:
            means = self.mean_scores(self.metric)
            own[METRICS[self.metric].label] = lambda row: _format(means.get(row.method, float("nan")), ".4g")
        if self.target is not None:
            columns |= {
                "RMSE": lambda row: _format(row.error, ".4g"),
                "(sd)": lambda row: _format(row.error_sd, ".2g", "({})"),
                "MAE": lambda row: _format(row.mae, ".4g"),
                "R2": lambda row: _format(row.r2, ".3f"),
                **own,
            }
        else:
            columns |= {
                "error %": lambda row: _format(100 * row.error, ".2f"),
                "(sd)": lambda row: _format(100 * row.error_sd, ".2f", "({})"),
                "balanced %": lambda row: _format(100 * row.balanced_error, ".2f"),
            }
        columns["rank"] = lambda row: _format(row.rank, ".1f")
        columns["behind"] = lambda row: "" if row.verdict == "best" else self._format_loss(row.difference)
        if intervals:
            columns["95 % interval"] = self._format_interval
        columns["verdict"] = lambda row: row.verdict
        if self.target is None:
            columns |= {"log loss": lambda row: _format(row.log_loss, ".3f"), **own}
            if self.expected_costs is not None:
                columns["cost"] = lambda row: _format(row.cost, ".3f")
        columns |= {"fit s": lambda row: _format(row.fit_seconds, ".2f"), "note": _format_note}
        return [list(columns), *([cell(row) for cell in columns.values()] for row in self.table())]

    def describe_test(self) -> str:
        """Explain the columns "behind" and "verdict" of the table."""
        units = {"error": "points of error", "balanced_error": "points of balanced error", "cost": "cost"}
        units |= dict.fromkeys(OF_VALUES, "percent of the loss of the best constant prediction")
        units |= dict.fromkeys(("rmse", "r2"), "points of R2")
        what = "groups" if self.groups is not None else "objects"
        missing = " Methods that were dropped or skipped are compared on the splits that they have."
        return (
            f"Ranked by {METRICS[self.metric].label}. Behind: mean difference to the best method, in "
            f"{units.get(self.metric, 'log loss')}. Verdict: test over {what}, at the 5 % level for all methods "
            "together; possibly worse is not corrected for the choice of the best method; undecided: the "
            f"difference is not significant on these {what}." + (missing if self.dropped or self.skipped else "")
        )

    def describe_time(self) -> str:
        """Sentences about the computing time of the study, and about the use of its time budget."""
        used = sum(entry.fit_seconds + entry.predict_seconds for entry in self.entries.values())
        words = f"All splits together took {clock(used)} of computing."
        if self.sessions and self.sessions[-1].get("peak_memory"):
            gigabytes = self.sessions[-1]["peak_memory"] / 2**30
            words = f"{words[:-1]}, and at most {gigabytes:.1f} GB of memory in one process."
        if self.time_budget is None:
            return words
        words += f" The time budget was {clock(self.time_budget)}"
        if not self.skipped:
            return f"{words}; all methods fit into it."
        ended = {r: [name for name, after in self.skipped.items() if after == r] for r in self.skipped.values()}
        each = [f"{list_some(names)} after {r} split{'s'[: r != 1]}" for r, names in sorted(ended.items())]
        return f"{words}; skipped, since the next split did not fit: {'; '.join(each)}."

    def object_names(self, max_length: int = 60) -> list[str]:
        """Name of each object: its id, shortened to `max_length`, or "object" and its number."""
        if self.ids is None:
            return [f"object {i + 1}" for i in range(len(self.codes))]
        dots = "\N{HORIZONTAL ELLIPSIS}"
        return [name if len(name) <= max_length else name[: max_length - 1] + dots for name in self.ids]

    @_computed_once
    def predictions_by_object(self) -> _predictions.ObjectPredictions:
        """Predictions of the methods without failure, counted per object."""
        return _predictions.count_predictions(self)

    def relabeling_candidates(self) -> list[_predictions.Relabeling]:
        """Objects whose label all predictions of the best methods contradict, the most confident first.

        The best methods are those without a significant difference. Each object has ``object``, ``name``, ``label``,
        ``suggested``, its mean ``probability``, at least 0.8 where methods have any, and ``n_tests``.
        """
        return _predictions.find_relabelings(self)

    def prediction_sets(self, method: str | None = None, *, level: float = 0.9) -> list[_predictions.ClassSets]:
        """Measure prediction sets of held-out objects: how often they contain the true class, and their size.

        The sets are those of :class:`~similis.ConformalClassifier`, calibrated on all splits, by default of the best
        method with probabilities. Each class has a ``label``, ``n_objects``, ``coverage``, ``size``, ``single`` and
        ``empty``; without probabilities there are none.
        """
        if self.target is not None:
            return []
        if method is None:
            names = [row.method for row in self.table() if row.error == row.error and not row.baseline]
            method = next((name for name in names if _predictions.held_out_probabilities(self, name) is not None), None)
        return [] if method is None else _predictions.measure_sets(self, method, level)

    def frame(self) -> Any:
        """DataFrame, or list without pandas, of each method and split with every metric and the chosen parameters."""
        if self.target is not None:
            names = [*OF_VALUES, "fit_seconds", "predict_seconds"]
        else:
            names = [name for name in METRICS if not METRICS[name].pooled]
        columns = {name: self.scores(name) for name in names if name != "cost" or self.expected_costs is not None}
        ended = {**dict.fromkeys(self.skipped, "skipped"), **dict.fromkeys(self.dropped, "dropped")}
        rows: list[dict[str, Any]] = []
        for place, split in enumerate(self.splits):
            for info in self.methods:
                missing = Entry(info.name, split.number, status=ended.get(info.name, "missing"))
                entry = self.entries.get((info.name, split.number), missing)
                row = {"method": info.name, "split": split.number, "n_test": len(split.test)}
                row |= {"status": entry.status, "reason": entry.reason}
                row |= {name: float(values[info.name][place]) for name, values in columns.items()}
                rows.append(row | {"params": dict(entry.params), "finished": entry.finished})
        try:
            import pandas as pd
        except ImportError:
            return rows
        return pd.DataFrame(rows)

    def best(self) -> str:
        """Name of the recommended method."""
        return self.recommend().method

    @_computed_once
    def recommend(self) -> Recommendation:
        """Recommend a method, with its expected error, the certainty of the choice, and code that trains it."""
        return recommend(self)

    def model(self, method: str | None = None, *, measure: Any = None) -> Any:
        """Make the unfitted model of a method, by default the recommended one; `measure` as in :meth:`fit_best`."""
        name, known = method or self.recommend().method, [m.name for m in self.methods]
        name = name if name in known else canonical_name(name)
        if name not in known:
            raise ValueError(f"{name!r} is not among the methods of this study.")
        measure = measure if measure is not None else self.measure
        if measure is None and self.fingerprint.get("measure"):
            raise ProximityError(
                "This study measured objects. Pass the measure too: fit_best(objects, y, measure=...)."
            )
        protocol, facts = self.protocol, self.situation
        return make_model(
            self.custom.get(name, name),
            kind=facts.kinds or facts.kind,
            measure=measure,
            n=protocol.inner_train_size(len(self.codes)),
            cv=protocol.cv if protocol.cv != "loo" else protocol.inner(0, grouped=self.groups is not None),
            random_state=protocol.random_state,
            **{name: getattr(self, name) for name in ("costs", "priors", "metric", "y")},
            **{name: getattr(facts, name) for name in ("names", *_CONVERSION)},
        )

    def training_code(self, method: str) -> str:
        """Python code that trains ``model``, a method as the study evaluated it, on ``S`` or ``objects`` and ``y``."""
        if method not in self.training:
            data = "objects" if self.fingerprint.get("measure") else "S"
            usual = self.settings() in ({"metric": "error"}, {"metric": "rmse", "task": "regression"})
            try:
                if data == "objects" and self.measure is None:
                    code = "model = result.fit_best(objects, y, measure=...)"
                else:
                    code = training_code(self.model(method), data) if usual else self._model_code(method, data)
            except Exception:  # a method of the user, or one that this version no longer has
                code = f"model = result.fit_best({data}, y, method={method!r})"
            self.training[method] = code
        return self.training[method]

    def fit_best(self, S: Any, y: Any, *, method: str | None = None, measure: Any = None, groups: Any = None) -> Any:
        """Choose the parameters of a method, by default the recommended one, on all data and fit it.

        Pass the `measure` if the result of a study of objects was loaded from a file, and `groups` of other objects.
        """
        return without_search(self.fit_model(S, y, method=method, measure=measure, groups=groups))

    def fit_model(self, S: Any, y: Any, *, method: str | None = None, measure: Any = None, groups: Any = None) -> Any:
        """Do the same as :meth:`fit_best`, and return the fitted search where there is one."""
        model = self.model(method, measure=measure)
        if not _searches(model):
            return model.fit(S, y)
        if groups is None and self.groups is not None:
            labels = np.asarray(y)
            if labels.shape != self.codes.shape or (labels != self.y).any():
                advice = "Pass the groups of these objects: fit_best(S, y, groups=...)."
                raise ProximityError(f"The study kept groups together, and these are not its labels. {advice}")
            groups = self.groups
        return model.fit(S, y, groups=groups)

    def _model_code(self, method: str, data: str) -> str:
        """Python code that trains a method of the table with the metric, costs, priors and groups of the study."""
        (known,) = find_methods([method])
        if self.custom.get(method, known) != known:
            raise ValueError(f"{method!r} is not in the table of methods")
        facts, usual, imports = self.situation, MatrixFacts(), {("similis.study", "make_model")}
        options: dict[str, Any] = {"kind": facts.kind, "metric": self.metric}
        if facts.names:
            options |= {"kind": list(facts.kinds), "names": list(facts.names)}
        if self.measure is not None:
            options = {"metric": self.metric}
        options |= {name: getattr(facts, name) for name in _CONVERSION if getattr(facts, name) != getattr(usual, name)}
        options |= {name: getattr(self, name) for name in ("costs", "priors") if getattr(self, name) is not None}
        words = _assemble.call_arguments(options)
        if self.measure is not None:
            words.append(f"measure={_assemble.estimator_code(self.measure, imports)}")
        folds = self.protocol.cv
        if folds == "loo":
            one_out = "LeaveOneOut" if self.groups is None else "LeaveOneGroupOut"
            imports.add(("sklearn.model_selection", one_out))
            folds = f"{one_out}()"  # type: ignore[assignment]
        words += [f"cv={folds}", f"n={self.protocol.inner_train_size(len(self.codes))}", "y=y"]
        words += [f"random_state={self.protocol.random_state}"] if self.protocol.random_state else []
        groups = "" if self.groups is None or not _searches(self.model(method)) else ", groups=groups"
        code = f"model = make_model({method!r}, {', '.join(words)})"
        return "\n".join([*_assemble.import_lines(imports), f"{code}.fit({data}, y{groups})"])

    def to_html(self, path: str | os.PathLike[str], *, refresh: float | None = None) -> None:
        """Write the report as one self-contained html file, which reloads itself every `refresh` seconds."""
        from similis.report import make_report, write_page

        write_page(make_report(self, refresh=refresh), path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a results file, replaced atomically (JSON; compressed if the name ends in .gz)."""
        _store.save_result(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> StudyResult:
        """Read a results file that :meth:`save` wrote. Nothing in it is executed."""
        return _store.load_result(cls, path)

    def __repr__(self) -> str:
        state = ", interrupted" if self.partial else ""
        return f"StudyResult({len(self.methods)} methods, {len(self.splits)} splits, {len(self.codes)} objects{state})"

    def __str__(self) -> str:
        """Table and recommendation as plain text; a star marks the best method and those not called worse."""
        table = self.table()
        marks = ["  ", *("* " if row.leading else "  " for row in table)]
        rows = [[mark + first, *rest] for mark, (first, *rest) in zip(marks, self.format_table())]
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = []
        for first, *numbers, note in rows:
            cells = [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(numbers, widths[1:])), note]
            lines.append("  ".join(cells).rstrip())
        lines += ["", self.describe_test(), self.protocol.describe(len(self.splits))]
        if self.time_budget is not None:
            lines.append(self.describe_time())
        if self.leader() is not None:
            lines += ["", self.recommend().text]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from similis.report import make_notebook_view

        return make_notebook_view(self)

    def _format_loss(self, difference: float) -> str:
        """Format a difference of the metric: points for errors and in a regression, else a number."""
        in_points = self.target is not None or self.metric in ("error", "balanced_error")
        return _format(100 * difference, ".2f") if in_points else _format(difference, ".3f")

    def _format_interval(self, row: Row) -> str:
        if row.interval is None or row.verdict == "best" or not np.isfinite(row.interval).all():
            return ""
        return " to ".join(map(self._format_loss, row.interval))

    def format_error(self, value: float) -> str:
        """Format an error: a percentage, or a number in the unit of the target."""
        return f"{100 * value:.1f} %" if self.target is None else _format(value, ".4g")

    def format_interval(self, interval: tuple[float, float]) -> str:
        """Format an interval of errors; one without an end, from a single tested object or group, is not known."""
        return " to ".join(map(self.format_error, interval)) if np.isfinite(interval).all() else "not known"

    def _find_metric(self, metric: str) -> str:
        """Name of a metric without abbreviation; in a regression, the error is the root mean squared error."""
        return "rmse" if metric == "error" and self.target is not None else find_metric(metric)

    def _lacks_classes(self) -> bool:
        return any(len(np.unique(self.codes[s.test])) < len(self.classes) for s in self.splits)

    def _mean_score(self, metric: str, name: str, splits: list[Split]) -> float:
        """Mean of a metric over some splits, or the metric of their test objects together; NaN if there is none."""
        if (
            METRICS[metric].pooled
            or (metric == "balanced_error" and self._lacks_classes())
            or (self.is_loo and not metric.endswith("seconds"))
        ):
            return self._score(metric, name, splits)
        scores = [self._score(metric, name, [s]) for s in splits]
        known = [score for score in scores if not np.isnan(score)]
        return float(np.mean(known)) if known else float("nan")

    def _finished(self, method: str, splits: list[Split] | None = None) -> list[tuple[Split, Any]]:
        """Splits, by default of all, on which a method has predictions, with their entries."""
        found = [(s, self.entries.get((method, s.number))) for s in (self.splits if splits is None else splits)]
        return [(s, entry) for s, entry in found if entry is not None and entry.ok]

    def _score(self, metric: str, name: str, splits: list[Split]) -> float:
        """Metric over the test objects of some splits together; NaN if there are none."""
        found = self._finished(name, splits)
        if found and metric in ("fit_seconds", "predict_seconds"):
            return float(np.mean([getattr(entry, metric) for _, entry in found]))
        definition = METRICS[metric]
        if not found or (definition.of_values is None) != (self.target is None):
            return float("nan")
        truth = np.concatenate([(self.codes if self.target is None else self.target)[s.test] for s, _ in found])
        predicted = np.concatenate([entry.predictions for _, entry in found if entry.predictions is not None])
        if metric == "cost":
            costs = self.expected_costs
            return float("nan") if costs is None else _metrics.mean_cost(truth, predicted, costs)
        of_predictions: Any = definition.of_values or definition.of_labels
        if of_predictions is not None:
            return float(of_predictions(truth, predicted))
        probabilities = [entry.proba for _, entry in found if entry.proba is not None]
        if len(probabilities) < len(found):
            return float("nan")
        proba = np.concatenate(probabilities)
        if definition.of_proba is not None:
            return definition.of_proba(truth, proba)
        # The baseline of an object: class frequencies of the training part of its split.
        priors = [np.bincount(self.codes[s.train], minlength=len(self.classes)) / len(s.train) for s, _ in found]
        per_object = np.repeat(priors, [len(s.test) for s, _ in found], axis=0)
        return _metrics.normalized_cross_entropy(truth, proba, per_object)


def _format_note(row: Row) -> str:
    """Status of a method, whether it is a baseline, and its error message or conversion."""
    note = row.reason or row.conversion
    if row.status in ("ok", "dropped", "skipped"):
        after = "" if row.status == "ok" else f"{row.status} after {row.n_splits} split{'s'[: row.n_splits != 1]}"
        return "; ".join(filter(None, (after, "baseline" * row.baseline, note)))
    return f"{row.status}: {note}" if note else row.status


def _searches(model: Any) -> bool:
    return hasattr(model, "param_grid") or hasattr(getattr(model, "estimator", None), "param_grid")


def _format(value: float, spec: str, frame: str = "{}") -> str:
    return "" if value != value else frame.format(format(value, spec))


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several studies side by side.

    Attributes
    ----------
    results : dict of str to StudyResult
        By name of the data set or measure.
    ranks : Ranks
        Of the methods that finished in every study.
    """

    results: dict[str, StudyResult]
    ranks: Ranks

    def to_html(self, path: str | os.PathLike[str], *, links: Mapping[str, str] | None = None) -> None:
        """Write a page of ranks and errors in all studies, with `links`, addresses of the studies' own reports."""
        from similis.report import make_comparison, write_page

        write_page(make_comparison(self, links), path)

    def _repr_html_(self) -> str | None:
        return RanksDisplay(ranks=self.ranks)._repr_html_()

    def __str__(self) -> str:
        lines = [f"{mean:6.2f}  {name}" for name, mean in zip(self.ranks.methods, self.ranks.mean)]
        return "\n".join(["average ranks", *lines, "", self.ranks.summary()])


def compare(results: Mapping[str, StudyResult]) -> Comparison:
    """Compare studies of several data sets, or of several measures of one, by average ranks: a :class:`Comparison`.

    Parameters
    ----------
    results : mapping of str to StudyResult
        At least two, by name; see :func:`average_ranks`.

    Examples
    --------
    >>> from similis import Study, make_similarity
    >>> from similis.study import compare
    >>> study = Study(["nc", "majority"], n_splits=3)
    >>> results = {f"{n} objects": study.run(*make_similarity(n, random_state=0)) for n in (30, 60)}
    >>> compare(results).ranks.methods
    ('nc', 'majority')
    """
    ranks = average_ranks(results)  # validates the results first
    return Comparison(dict(results), ranks)
