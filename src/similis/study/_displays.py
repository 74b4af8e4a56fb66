"""Pictures of a study: errors, running times, probabilities, disagreement, hard objects, ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from similis._drawing import figure as fig
from similis._drawing.display import Display
from similis._utils.arrays import Floats, Indices
from similis.base import check_labels
from similis.exceptions import ProximityError
from similis.proximity import seriation
from similis.study._metrics import Ranks, average_ranks, bin_by_confidence, calibration_error
from similis.study._plan import format_seconds
from similis.study._predictions import held_out_probabilities

if TYPE_CHECKING:
    from similis.study._entry import Row
    from similis.study._result import StudyResult

_MAX_METHODS = 24  # methods of a grid, the best
_MAX_OBJECTS = 30  # objects of a grid, the hardest
_MAX_CURVES = 6  # methods of the reliability diagram, the best
_ROW = 23  # pixels of a method


class _ResultDisplay(Display):
    """Base of the displays that read one study."""

    @classmethod
    def from_result(cls, result: StudyResult, *, plot: bool = True, ax: Any = None, **options: Any) -> Self:
        """Read the result of a study and, unless `plot` is False, draw it by :meth:`plot` with the other options."""
        display = cls._read(result)
        return display.plot(ax=ax, **options) if plot else display

    @classmethod
    def _read(cls, result: StudyResult) -> Self:
        raise NotImplementedError


@dataclass(kw_only=True, eq=False, repr=False)
class _ErrorDisplay(_ResultDisplay):
    """Base of the displays of errors: fractions, shown in percent, or in a regression root mean squared errors."""

    methods: Sequence[str]
    bold: Sequence[bool]
    in_percent: bool = True

    @classmethod
    def _read(cls, result: StudyResult) -> Self:
        rows, scores = [row for row in result.table() if row.error == row.error], result.scores("error")
        return cls(
            methods=tuple(row.method for row in rows),
            bold=[row.leading for row in rows],
            in_percent=result.target is None,
            **cls._fields(result, rows, [scores[row.method][~np.isnan(scores[row.method])] for row in rows]),
        )

    @staticmethod
    def _fields(result: StudyResult, rows: list[Row], errors: list[Floats]) -> dict[str, Any]:
        """Further fields, from the rows of the methods and their errors on each split."""
        raise NotImplementedError

    @property
    def _scale(self) -> int:
        return 100 if self.in_percent else 1

    def _format(self, value: float) -> str:
        """Format an error that is scaled already."""
        return f"{value:.2f} %" if self.in_percent else f"{value:.4g}"

    def _axis(self, high: float, what: str = "test error", **options: Any) -> fig.Axis:
        label = f"{what}, %" if self.in_percent else what.replace("error", "root mean squared error")
        return fig.Axis(0, high, label, format=lambda v: f"{v:g}", **options)

    def _limit(self, means: Sequence[float], largest: Sequence[float]) -> float:
        """Upper end of an axis of errors, scaled: a few methods far above most others stay beyond it."""
        usual = sorted(means)[max(0, math.ceil(0.75 * len(means)) - 1)]
        cut = max(2.5 * usual, 0.02 * self.in_percent)
        inside = [max(mean, big) for mean, big in zip(means, largest) if mean <= cut]
        return 1.04 * self._scale * max([*inside, 0.01 if self.in_percent else 1e-12])


@dataclass(kw_only=True, eq=False, repr=False)
class SplitsDisplay(_ErrorDisplay):
    """Error of every method on every split: points, a box from the lower to the upper quartile, a line at the mean.

    Parameters
    ----------
    methods : sequence of str
        The lowest mean error first.
    errors, means : sequence of ndarray, sequence of float
        Errors of each method, one per split, and their means.
    intervals : sequence of (float, float) or None
        Shown instead of points and boxes where each split tests a single object.
    bold, baseline : sequence of bool
        The best method and those that do not differ significantly from it; baselines.

    Examples
    --------
    >>> from similis import Study, make_similarity
    >>> from similis.study import SplitsDisplay
    >>> result = Study(["nc", "majority"], n_splits=3).run(*make_similarity(40, random_state=0))
    >>> SplitsDisplay.from_result(result, plot=False).methods
    ('nc', 'majority')
    """

    _size = (6.4, 4.2)

    errors: Sequence[Floats]
    means: Sequence[float]
    intervals: Sequence[tuple[float, float]] | None
    baseline: Sequence[bool]

    @staticmethod
    def _fields(result: StudyResult, rows: list[Row], errors: list[Floats]) -> dict[str, Any]:
        intervals = [result.error_interval(row.method) for row in rows] if result.is_loo else None
        means, baseline = [row.error for row in rows], [row.baseline for row in rows]
        return {"errors": errors, "means": means, "intervals": intervals, "baseline": baseline}

    def describe(self) -> fig.Figure | Sequence[fig.Figure]:
        """Describe the picture, one row per method."""
        M = len(self.methods)
        if not M:
            return []
        largest = self.means if self.intervals else [float(e.max(initial=0.0)) for e in self.errors]
        high = self._limit(self.means, largest)
        label = f"Errors of {M} methods on each split, the lowest mean error first."
        names = fig.names_axis(self.methods, reverse=True, strong=self.bold, linked=True)
        marks = [mark for k in range(M) for mark in self._row(k, high)]
        return fig.Figure(label, self._axis(high, n_ticks=7), names, marks, kind="splits", height=_ROW * M)

    def _row(self, k: int, high: float) -> list[fig.Mark]:
        """Marks of one method; an arrow where its mean error lies beyond the axis."""
        name, mean = self.methods[k], self._scale * self.means[k]
        look: dict[str, Any] = {"color": "accent" if self.bold[k] else "muted", "method": name}
        tip = f"{name}\nmean error {self._format(mean)}"
        if mean > high:
            words = [f"{self._format(mean)} \N{RIGHTWARDS ARROW}"]
            return [fig.Texts([high], [k], words, "end", tips=[tip], **{**look, "color": "muted"})]
        errors = self._scale * self.errors[k]
        box = self.intervals[k] if self.intervals else np.quantile(self.errors[k], [0.25, 0.75])
        low, top = (min(self._scale * float(v), high) for v in box)
        marks: list[fig.Mark] = [fig.Bars([low], [top], [k - 0.33], [k + 0.33], opacity=0.2, name="box", **look)]
        if self.intervals:
            return [*marks, fig.Points([mean], [k], size=5.0, tips=[f"{tip} over all objects"], main=True, **look)]
        tips = [f"{name}\nsplit {s}: {self._format(error)}" for s, error in enumerate(errors.tolist(), 1)]
        heights = [k + offset / _ROW for offset in _spread_ties(np.round(errors, 7).tolist())]
        shown = np.minimum(errors, high).tolist()
        marks.append(fig.Points(shown, heights, size=2.8, opacity=0.5, tips=tips, main=True, **look))
        if len(errors) > 1:
            sd = self._format(errors.std(ddof=1)).removesuffix(" %")
            tip += f" (sd {sd})\nmedian {self._format(float(np.median(errors)))}"
        return [*marks, fig.Segments([mean], [k - 0.33], [mean], [k + 0.33], 3.0, tips=[tip], name="mean", **look)]


@dataclass(kw_only=True, eq=False, repr=False)
class RaceDisplay(_ErrorDisplay):
    """Mean error of every method as splits come in; a line ends where its method was dropped or skipped.

    Parameters
    ----------
    methods, ends : sequence of str
        The best first; "dropped", "skipped", or empty for a line that reaches the last split.
    means : sequence of ndarray
        Mean error of each method over its first 1, 2, ... splits.
    bold : sequence of bool
        The best method and those that do not differ significantly from it.
    """

    means: Sequence[Floats]
    ends: Sequence[str]

    @staticmethod
    def _fields(result: StudyResult, rows: list[Row], errors: list[Floats]) -> dict[str, Any]:
        ends = [row.status if row.status in ("dropped", "skipped") else "" for row in rows]
        return {"means": [np.cumsum(e) / np.arange(1, len(e) + 1) for e in errors], "ends": ends}

    def describe(self) -> fig.Figure | Sequence[fig.Figure]:
        """Describe the picture, one line per method."""
        if not self.methods:
            return []
        last = [float(mean[-1]) for mean in self.means]
        high = self._limit(last, [float(mean.max()) for mean in self.means])
        n_splits = max(map(len, self.means))
        marks: list[fig.Mark] = []
        for name, mean, bold, end in zip(self.methods, self.means, self.bold, self.ends):
            look: dict[str, Any] = {"color": "accent" if bold else "muted", "method": name}
            x, y = list(range(1, len(mean) + 1)), np.minimum(self._scale * mean, high).tolist()
            tip = f"{name}\n{self._format(self._scale * mean[-1])} error over {len(mean)} splits"
            tip += f", then {end}" if end else ""
            marks.append(fig.Lines(x, y, width=1.8 if bold else 1.0, **look))
            marks.append(fig.Points(x[-1:], y[-1:], 0, 3.5, bool(end), tips=[tip], main=True, **look))
        label = f"Mean error of {len(self.methods)} methods after 1 to {n_splits} splits."
        axis = fig.Axis(1, max(2, n_splits), "splits", format=lambda v: f"{v:g}")
        return fig.Figure(label, axis, self._axis(high, "mean test error so far"), marks, kind="race", height=360)


@dataclass(kw_only=True, eq=False, repr=False)
class TimeErrorDisplay(_ErrorDisplay):
    """Mean error against mean time to fit and predict, one point per method.

    Parameters
    ----------
    methods : sequence of str
        Names of the methods.
    seconds, errors : sequence of float
        Means over the splits.
    bold, baseline : sequence of bool
        The best method and those that do not differ significantly from it; baselines.
    """

    seconds: Sequence[float]
    errors: Sequence[float]
    baseline: Sequence[bool]

    def __post_init__(self) -> None:
        self.seconds = [max(float(s), 1e-5) for s in self.seconds]  # the axis is logarithmic

    @staticmethod
    def _fields(result: StudyResult, rows: list[Row], errors: list[Floats]) -> dict[str, Any]:
        seconds = [row.fit_seconds + row.predict_seconds for row in rows]
        return {"seconds": seconds, "errors": [row.error for row in rows], "baseline": [row.baseline for row in rows]}

    def front(self) -> list[int]:
        """Indices of the methods that no other one beats in both time and error, without baselines, fastest first."""
        order = sorted((s, e, k) for k, (s, e) in enumerate(zip(self.seconds, self.errors)) if not self.baseline[k])
        found, lowest = [], math.inf
        for _, error, k in order:
            if error < lowest:
                found.append(k)
                lowest = error
        return found

    def describe(self) -> fig.Figure | Sequence[fig.Figure]:
        """Describe the picture; a line joins the methods of :meth:`front`, which are labeled."""
        if not self.methods:
            return []
        high = self._limit(self.errors, self.errors)
        errors = [self._scale * e for e in self.errors]
        shown = [min(e, high) for e in errors]
        shapes = [2 if e > high else int(base) for e, base in zip(errors, self.baseline)]
        colors = ["accent" if bold else "muted" for bold in self.bold]
        tips = [
            f"{name}\n{self._format(e)} error, {format_seconds(s)} s"
            + ("\nbeyond the upper end of the axis" if e > high else "")
            for name, s, e in zip(self.methods, self.seconds, errors)
        ]
        seconds, front = self.seconds, self.front()
        x, y = [seconds[k] for k in front], [shown[k] for k in front]
        names, strong = [self.methods[k] for k in front], [self.bold[k] for k in front]
        what = "seconds to fit and predict, per split"
        axis = fig.Axis(min(seconds) / 1.6, max(seconds) * 1.6, what, "log", format=format_seconds)
        marks = [
            fig.Lines(x, y, "dash"),
            fig.Points(seconds, shown, shapes, color=colors, tips=tips, methods=self.methods, main=True),
            fig.Labels(x, y, names, strong, (seconds, shown)),
        ]
        label = f"Mean error and running time of {len(self.methods)} methods."
        return fig.Figure(label, axis, self._axis(high), marks, kind="time", height=360)


@dataclass(frozen=True, eq=False)
class Reliability:
    """Confidence and accuracy of one method, by bins of equal width.

    Attributes
    ----------
    method, error : str, float
        Name of the method, and expected calibration error.
    confidence, right, counts : ndarray of shape (n_bins,)
        Mean of the largest probability, share of correct predictions (NaN in empty bins), and number of predictions.
    """

    method: str
    confidence: Floats
    right: Floats
    counts: Indices
    error: float


@dataclass(kw_only=True, eq=False, repr=False)
class ReliabilityDisplay(_ResultDisplay):
    """Reliability diagrams of the best methods with probabilities; a calibrated method lies on the diagonal.

    Parameters
    ----------
    curves : sequence of Reliability
        One per method.
    """

    curves: Sequence[Reliability]

    @classmethod
    def _read(cls, result: StudyResult) -> Self:
        rows = [row.method for row in result.table() if row.error == row.error and not row.baseline]
        found = {name: held_out_probabilities(result, name) for name in rows}
        curves = [_reliability(name, result.codes[held[0]], held[1]) for name, held in found.items() if held]
        return cls(curves=curves[:_MAX_CURVES])

    @classmethod
    def from_predictions(
        cls, y: Any, proba: Any, *, name: str = "model", plot: bool = True, ax: Any = None, **options: Any
    ) -> Self:
        """Draw the reliability of probabilities, (m, G), of held-out objects whose labels `y` have all classes."""
        P = np.asarray(proba, dtype=np.float64)
        classes, codes = check_labels(y, len(P), who="from_predictions", min_classes=1)
        G = len(classes)
        if P.shape != (len(codes), G):
            raise ProximityError(f"proba must have one column for each of the {G} labels. Got {P.shape[1:]}.")
        display = cls(curves=[_reliability(name, codes, P)])
        return display.plot(ax=ax, **options) if plot else display

    def describe(self) -> list[fig.Figure]:
        """Describe one panel per method; matplotlib draws all of them into the same axes."""
        ticks = [(0, "0"), (50, "50"), (100, "100")]
        figures = []
        for k, curve in enumerate(self.curves):
            method, color, error = curve.method, fig.class_color(k), f"calibration error {100 * curve.error:.1f} %"
            known = np.flatnonzero(curve.counts)
            counts, x, y = (v[known].tolist() for v in (curve.counts, 100 * curve.confidence, 100 * curve.right))
            size = (3 + 7 * np.sqrt(curve.counts[known] / curve.counts.sum())).tolist()
            tips = [
                f"{method}\n{n} predictions, mean confidence {a:.0f} %\n{b:.0f} % of them correct"
                for n, a, b in zip(counts, x, y)
            ]
            label = f"Reliability of the probabilities of {method}; {error}."
            sure, correct = fig.Axis(0, 100, "confidence, %", ticks=ticks), fig.Axis(0, 100, "correct, %", ticks=ticks)
            marks: list[fig.Mark] = [
                fig.Lines([0, 100], [0, 100], "dash"),
                fig.Lines(x, y, color=color, main=True),
                fig.Points(x, y, size=size, color=color, tips=tips),
            ]
            about: dict[str, Any] = {"title": method, "note": error, "legend": [fig.Key(method, color, None)]}
            figures.append(fig.Figure(label, sure, correct, marks, kind="reliability", height=190, **about))
        return figures


def _reliability(method: str, truth: Indices, P: Floats) -> Reliability:
    """Bin predictions by confidence."""
    counts, sure, right = bin_by_confidence(truth, P)
    with np.errstate(invalid="ignore", divide="ignore"):
        confidence, share = sure / counts, right / counts
    return Reliability(method, confidence, share, counts.astype(np.intp), calibration_error(truth, P))


@dataclass(kw_only=True, eq=False, repr=False)
class AgreementDisplay(_ResultDisplay):
    """Share of the test objects on which two methods predict different classes.

    Parameters
    ----------
    methods : sequence of str
        Names, similar methods side by side.
    differ : ndarray of shape (n_methods, n_methods)
        Share of the test objects on which the predictions differ.
    n_left_out : int, default=0
        Methods not shown.
    """

    methods: Sequence[str]
    differ: Floats
    n_left_out: int = 0

    @classmethod
    def _read(cls, result: StudyResult) -> Self:
        answers = result.predictions_by_object()
        some = answers.differ[:_MAX_METHODS, :_MAX_METHODS]
        order = seriation(np.nan_to_num(some, nan=1.0)) if len(some) else np.arange(0)
        methods = tuple(answers.methods[k] for k in order)
        return cls(methods=methods, differ=some[np.ix_(order, order)], n_left_out=len(answers.methods) - len(some))

    def describe(self) -> fig.Figure:
        """Describe the shares as a matrix."""
        names = self.methods
        share = 100 * self.differ
        tips = [
            "" if i == j else f"{names[i]} and {names[j]}\ndiffer on {percent:.1f} % of the test objects"
            for (i, j), percent in np.ndenumerate(share)
        ]
        high = float(np.nanmax(share, initial=0.0)) or 1.0
        label = f"Share of the test objects on which {len(names)} methods differ, by pair."
        x, y = fig.names_axis(names, linked=True), fig.names_axis(names, reverse=True, linked=True)
        cells = fig.Cells(share, 0.0, high, title="different predictions, %", color="accent", tips=tips, main=True)
        return _table(label, x, y, cells, "agreement")


@dataclass(kw_only=True, eq=False, repr=False)
class ConfusionDisplay(_ResultDisplay):
    """Confusion matrix of one method over all test objects.

    Parameters
    ----------
    method, classes : str, sequence of str
        Names of the method and of the classes.
    counts : ndarray of shape (n_classes, n_classes)
        Predictions; rows: true class, columns: predicted class.
    """

    method: str
    classes: Sequence[str]
    counts: Indices

    @classmethod
    def from_result(
        cls, result: StudyResult, method: str | None = None, *, plot: bool = True, ax: Any = None, **options: Any
    ) -> Self:
        """Count the predictions of a method in a study, by default of the recommended one; draw as other displays."""
        name, G = method or result.best(), len(result.classes)
        counts = np.zeros((G, G), dtype=np.intp)
        for split, entry in result._finished(name):
            np.add.at(counts, (result.codes[split.test], entry.predictions), 1)
        display = cls(method=name, classes=[str(c) for c in result.classes], counts=counts)
        return display.plot(ax=ax, **options) if plot else display

    def describe(self) -> fig.Figure:
        """Describe the counts; rows: true class, columns: predicted class."""
        G, names = len(self.classes), self.classes
        totals = self.counts.sum(axis=1, keepdims=True)
        share = self.counts / np.maximum(totals, 1)
        tips = [
            f"true class {names[g]}, predicted {names[f]}\n"
            f"{count} of {totals[g, 0]} predictions of {self.method} ({share[g, f]:.1%})"
            for (g, f), count in np.ndenumerate(self.counts)
        ]
        colors = np.where(np.eye(G, dtype=bool), "accent", "bad").tolist()
        texts = [[str(count or "") for count in row] for row in self.counts.tolist()] if G <= 12 else None
        cells = fig.Cells(share, 0.0, 1.0, (0.06, 0.48), colors, texts, color="accent", tips=tips, main=True)
        x, y = fig.names_axis(names, "predicted class"), fig.names_axis(names, "true class", reverse=True)
        return _table(f"Confusion matrix of {self.method}.", x, y, cells, "confusion", (34, 64))


@dataclass(kw_only=True, eq=False, repr=False)
class ObjectsDisplay(_ResultDisplay):
    """The hardest objects, and the share of wrong predictions of each method for them.

    Parameters
    ----------
    objects : ndarray of shape (m,)
        Indices of the objects, the hardest first.
    names, classes, methods : sequence of str
        Names of the objects, their true classes, and the methods by increasing mean error.
    wrong, tested : ndarray of shape (m, n_methods)
        Number of wrong predictions, and of predictions.
    said : list of list of str
        Most frequent predictions.
    """

    _size = (6.4, 5.4)

    objects: Indices
    names: Sequence[str]
    classes: Sequence[str]
    methods: Sequence[str]
    wrong: Indices
    tested: Indices
    said: Sequence[Sequence[str]]

    @classmethod
    def _read(cls, result: StudyResult) -> Self:
        answers = result.predictions_by_object()
        hard = answers.hardest()[:_MAX_OBJECTS]
        names, labels = result.object_names(28), [str(c) for c in result.classes]
        usual = answers.usual[:_MAX_METHODS][:, hard].T
        wrong, tested = (counts[:_MAX_METHODS][:, hard].T for counts in (answers.wrong, answers.tested))
        return cls(
            objects=hard,
            names=tuple(names[i] for i in hard),
            classes=[labels[result.codes[i]] for i in hard],
            methods=answers.methods[:_MAX_METHODS],
            wrong=wrong,
            tested=tested,
            said=[[labels[g] if g >= 0 else "" for g in row] for row in usual.tolist()],
        )

    def describe(self) -> fig.Figure:
        """Describe the shares of wrong predictions; rows: objects, columns: methods."""
        share = np.where(self.tested > 0, self.wrong / np.maximum(self.tested, 1), np.nan)
        tips = []
        for i, (name, label) in enumerate(zip(self.names, self.classes)):
            for j, method in enumerate(self.methods):
                usual = f", usually predicted {self.said[i][j]}" if self.tested[i, j] else ""
                counts = f"wrong {self.wrong[i, j]} of {self.tested[i, j]} times"
                tips.append(f"{name}, class {label}\n{method}: {counts}{usual}")
        colors, title = np.where(share == 0, "good", "bad").tolist(), "share of wrong predictions"
        cells = fig.Cells(share, 0.0, 1.0, (0.2, 1.0), colors, title=title, color="bad", tips=tips, main=True)
        rows = [f"{name} ({label})" for name, label in zip(self.names, self.classes)]
        words = f"Errors of {len(self.methods)} methods on the {len(rows)} hardest objects."
        x, y = fig.names_axis(self.methods, linked=True), fig.names_axis(rows, reverse=True)
        return _table(words, x, y, cells, "objects", (22, 84))


@dataclass(kw_only=True, eq=False, repr=False)
class ValuesDisplay(_ResultDisplay):
    """Predicted against true values of a regression, and the residuals; a point is the mean over the splits.

    Parameters
    ----------
    method, names : str, sequence of str
        Names of the method and of the objects.
    truth, predicted : ndarray of shape (m,)
        True values, and means of the predictions over the splits that tested an object.
    """

    method: str
    names: Sequence[str]
    truth: Floats
    predicted: Floats

    @classmethod
    def _read(cls, result: StudyResult) -> Self:
        if result.target is None:
            raise ProximityError("ValuesDisplay shows a regression, and this study predicts classes.")
        method = result.best()
        total, count = np.zeros((2, len(result.target)))
        for split, entry in result._finished(method):
            total[split.test] += entry.predictions
            count[split.test] += 1
        tested, names = np.flatnonzero(count), result.object_names()
        predicted = total[tested] / count[tested]
        return cls(method=method, names=[names[i] for i in tested], truth=result.target[tested], predicted=predicted)

    def describe(self) -> list[fig.Figure]:
        """Describe two panels: predicted against true values, and residuals against predicted values."""
        truth, predicted, residuals = (v.tolist() for v in (self.truth, self.predicted, self.truth - self.predicted))
        tips = [f"{name}\ntrue {t:.4g}, predicted {p:.4g}" for name, t, p in zip(self.names, truth, predicted)]
        look: dict[str, Any] = {"size": 3.0, "opacity": 0.6, "color": "accent", "tips": tips, "main": True}
        low, high = min(truth + predicted), max(truth + predicted)
        margin = 0.03 * (high - low) or 1.0
        low, high = low - margin, high + margin
        ends, reach = [low, high], 1.05 * max(map(abs, residuals)) or 1.0
        of_truth, of_predicted = fig.Axis(low, high, "true value"), fig.Axis(low, high, "predicted value")
        of_residuals = fig.Axis(-reach, reach, "true minus predicted value")
        values: list[fig.Mark] = [fig.Lines(ends, ends, "dash"), fig.Points(truth, predicted, **look)]
        left: list[fig.Mark] = [fig.Lines(ends, [0, 0], "dash"), fig.Points(predicted, residuals, **look)]
        first = f"Predicted against true values of {self.method}."
        second = f"Residuals of {self.method} against predicted values."
        return [
            fig.Figure(first, of_truth, of_predicted, values, kind="values", height=300),
            fig.Figure(second, of_predicted, of_residuals, left, kind="residuals", height=300),
        ]

    def hardest(self, most: int = 12) -> list[tuple[str, float, float]]:
        """Name, true value and mean predicted value of up to `most` objects with the largest residuals."""
        order = np.argsort(-np.abs(self.truth - self.predicted), kind="stable")[:most]
        return [(self.names[i], float(self.truth[i]), float(self.predicted[i])) for i in order]


@dataclass(kw_only=True, eq=False, repr=False)
class RanksDisplay(Display):
    """Average ranks of methods across data sets; bars join methods that are not significantly different.

    The diagram is that of Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006.

    Parameters
    ----------
    ranks : Ranks
        From :func:`average_ranks`.
    """

    _size = (7.0, 3.0)

    ranks: Ranks

    @classmethod
    def from_results(cls, results: Any, *, plot: bool = True, ax: Any = None, **options: Any) -> Self:
        """Rank methods by :func:`average_ranks` and draw the ranks; options are as for the other displays."""
        display = cls(ranks=average_ranks(results))
        return display.plot(ax=ax, **options) if plot else display

    def describe(self) -> fig.Figure:
        """Describe the critical-difference diagram; heights are pixels below the axis of ranks."""
        found, k = self.ranks, len(self.ranks.methods)
        critical = f"critical difference {found.critical_difference:.2f}"
        left, means = math.ceil(k / 2), self.ranks.mean.tolist()
        bars = self._bars()
        first = 34 + 9 * (max((level for *_, level in bars), default=-1) + 1)  # height of the first name
        bottom, top = first + 20 * left - 8, -44
        ruler = min(float(k), 1 + found.critical_difference)
        ticks = list(range(1, k + 1, max(1, round(k / 12))))
        rule: dict[str, Any] = {"color": "muted"}
        marks: list[fig.Mark] = [
            fig.Segments([1, *ticks], [0, *[-5] * len(ticks)], [k, *ticks], [0] * (len(ticks) + 1), **rule),
            fig.Texts(ticks, [-13] * len(ticks), [str(t) for t in ticks], **rule),
            fig.Segments([1, 1, ruler], [-32, -36, -36], [ruler, 1, ruler], [-32, -28, -28], **rule),
            fig.Texts([1], [-32], [critical], "end", -8, **rule),
        ]
        low, high, heights = [b[0] for b in bars], [b[1] for b in bars], [16 + 9 * b[2] for b in bars]
        marks.append(fig.Segments(low, heights, high, heights, 4.0, color="ink", name="clique", main=True))
        for i, (name, mean) in enumerate(zip(found.methods, means)):
            row, side, dx = (i, 1, -8) if i < left else (k - 1 - i, k, 8)
            y, text = first + 20 * row, f"{name} {mean:.2f}"
            each = "".join(f"\n{d}: {r:g}" for d, r in zip(found.datasets, found.ranks[:, i].tolist()))
            marks += [
                fig.Lines([mean, mean, side], [0, y, y], width=1.0),
                fig.Texts([side], [y], [text], "end" if i < left else "start", dx, color="ink", method=name),
                fig.Points([mean], [0], color="accent", tips=[f"{name}\nmean rank {mean:.2f}{each}"], method=name),
            ]
        label = f"Average ranks of {k} methods over {len(found.datasets)} data sets; {critical}."
        ranks, depths = fig.Axis(1, k), fig.Axis(top, bottom, reverse=True)
        margin = fig.label_width([f"{name} 00.00" for name in found.methods], 150)
        height = bottom - top
        return fig.Figure(label, ranks, depths, marks, kind="ranks", height=height, margin=margin, frame=False)

    def _bars(self) -> list[tuple[float, float, int]]:
        """Groups as (first rank, last rank, level), each on the first level where it is free."""
        place = dict(zip(self.ranks.methods, self.ranks.mean.tolist()))
        ends: list[float] = []
        found = []
        for group in self.ranks.groups:
            low, high = place[group[0]], place[group[-1]]
            level = next((i for i, end in enumerate(ends) if end < low), len(ends))
            ends[level : level + 1] = [high]
            found.append((low, high, level))
        return found


def _table(
    label: str, x: fig.Axis, y: fig.Axis, cells: fig.Cells, kind: str, cell: tuple[int, int] = (22, 46)
) -> fig.Figure:
    """Figure of a small matrix; `cell` is the height of a row and the largest width of a column in pixels."""
    R, C = cells.values.shape
    label = f"{label} Use the arrow keys to move through the cells."
    return fig.Figure(label, x, y, [cells], kind, cell[0] * max(1, R), width=(20 * C, cell[1] * C))


def _spread_ties(values: list[float]) -> list[float]:
    """Pixels by which equal values are moved apart, up and down in turn."""
    seen: dict[float, int] = {}
    offsets = []
    for value in values:
        k = seen[value] = seen.get(value, -1) + 1
        offsets.append(min(8.5, 3.0 * ((k + 1) // 2)) * (1 if k % 2 else -1))
    return offsets
