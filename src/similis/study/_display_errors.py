"""Pictures of the errors: every split of every method, and error against time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from similis._drawing.display import COLORS, INK, Display
from similis._drawing.svg import Markup, Plot, Scale, join, tag

if TYPE_CHECKING:
    from similis.study._result import StudyResult

__all__ = ["SplitsDisplay", "TimeErrorDisplay", "label_width"]

_ROW = 23  # pixels of a method


class SplitsDisplay(Display):
    """The error of every method on every split: dots, quartiles as a box, the mean as a line.

    Parameters
    ----------
    methods : sequence of str
        The lowest mean error first.
    errors : sequence of ndarray
        Errors of each method, a split each.
    means : sequence of float
        Mean errors.
    intervals : sequence of (float, float) or None
        Drawn instead of dots and boxes where each split is a single object.
    bold, baseline : sequence of bool
        Not significantly worse than the best; there for comparison only.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import Study
    >>> from similis.study import SplitsDisplay
    >>> x = np.linspace(0, 1, 20)
    >>> result = Study(["nc", "majority"], n_splits=3, cv=2).run(1 - abs(x[:, None] - x), x > 0.5)
    >>> SplitsDisplay.from_result(result, plot=False).methods
    ('nc', 'majority')
    """

    _size = (6.4, 4.2)

    def __init__(
        self,
        *,
        methods: Sequence[str],
        errors: Sequence[NDArray[np.float64]],
        means: Sequence[float],
        intervals: Sequence[tuple[float, float]] | None,
        bold: Sequence[bool],
        baseline: Sequence[bool],
    ) -> None:
        self.methods = tuple(methods)
        self.errors = list(errors)
        self.means = list(means)
        self.intervals = intervals
        self.bold = list(bold)
        self.baseline = list(baseline)

    @classmethod
    def from_result(cls, result: StudyResult, *, plot: bool = True, ax: Any = None, **options: Any) -> SplitsDisplay:
        """Take the errors out of a study and draw them.

        Parameters
        ----------
        result : StudyResult
            What a study found.
        plot : bool, default=True
            Whether to draw with matplotlib at once.
        ax, **options
            Passed to :meth:`plot`.

        Returns
        -------
        SplitsDisplay
        """
        rows = [row for row in result.table() if row.error == row.error]
        scores = result.scores("error")
        known = [scores[row.method][~np.isnan(scores[row.method])] for row in rows]
        display = cls(
            methods=[row.method for row in rows],
            errors=known,
            means=[row.error for row in rows],
            intervals=[result.error_interval(row.method) for row in rows] if result.is_loo else None,
            bold=[row.bold for row in rows],
            baseline=[row.baseline for row in rows],
        )
        return display.plot(ax=ax, **options) if plot else display

    def svg(self) -> Markup:
        """The plot as HTML with inline SVG, a row a method.

        Returns
        -------
        str
        """
        M = len(self.methods)
        if not M:
            return Markup("")
        high = _ceiling(self.means, [float(e.max(initial=0.0)) for e in self.errors] if self.intervals is None else [])
        x = Scale(0, 100 * high)
        plot = Plot(
            label=f"Errors of {M} methods on each split, the lowest mean error first.",
            x=x,
            x_title="error on the objects held out, %",
            height=_ROW * M,
            left=label_width(self.methods),
            right=18,
            kind="splits",
        )
        plot.x_axis((x(t), f"{t:g}") for t in x.ticks(7))
        for k in range(M):
            plot.add(self._row(plot, k, x, high))
        return plot.html()

    def _row(self, plot: Plot, k: int, x: Scale, high: float) -> Markup:
        """One method: name, then box, dots and mean, or an arrow where it is beyond the scale."""
        y = 100 * (k + 0.5) / len(self.methods)
        at, name, mean = f"{y:.2f}%", self.methods[k], self.means[k]
        color = "key" if self.bold[k] else "plain"
        css = "tick end strong" if self.bold[k] else "tick end"
        parts = [tag("text", name, x=-10, y=at, dy=".35em", class_=css)]
        tip = f"{name}\nmean error {100 * mean:.2f} %"
        if mean > high:
            words = f"{100 * mean:.1f} % \N{RIGHTWARDS ARROW}"
            parts.append(tag("text", words, x="100%", y=at, dy=".35em", class_="m tick end", data_t=tip))
        elif self.intervals is not None:
            low, top = (x(min(100 * v, 100 * high)) for v in self.intervals[k])
            parts.append(_bar(low, top, y, len(self.methods), f"box {color}"))
            parts.append(plot.dot(x(100 * mean), y, f"{tip} of all objects", r=5, css=color))
        else:
            parts += self._splits(plot, k, x, y, high, tip, color)
        return tag("g", *parts, data_m=name)

    def _splits(self, plot: Plot, k: int, x: Scale, y: float, high: float, tip: str, color: str) -> list[Markup]:
        errors = self.errors[k]
        low, middle, top = (float(v) for v in np.quantile(errors, [0.25, 0.5, 0.75]))
        parts = [_bar(x(100 * low), min(100.0, x(100 * top)), y, len(self.methods), f"box {color}")]
        spread = _stack(np.round(errors, 9).tolist())
        for number, (error, lift) in enumerate(zip(errors.tolist(), spread), 1):
            said = f"{self.methods[k]}\nsplit {number}: {100 * error:.2f} %"
            place = y + 100 * lift / (_ROW * len(self.methods))
            parts.append(plot.dot(x(100 * min(error, high)), place, said, r=2.8, css=f"{color} soft"))
        if len(errors) > 1:
            tip += f" (sd {100 * errors.std(ddof=1):.2f})\nmedian {100 * middle:.2f} %"
        at = x(100 * self.means[k])
        half = 100 * 7.5 / (_ROW * len(self.methods))
        bar = {"x": f"{at:.2f}%", "y": f"{y - half:.2f}%", "height": f"{2 * half:.2f}%", "width": 3}
        return [*parts, tag("rect", **bar, transform="translate(-1.5)", class_=f"m {color}", data_t=tip, data_n="mean")]

    def plot(self, ax: Any = None, **options: Any) -> SplitsDisplay:
        """Draw boxes and dots with matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            Passed to ``Axes.scatter``.

        Returns
        -------
        SplitsDisplay
            Itself.
        """
        ax = self._axes(ax)
        if self.intervals is not None:
            for k, (low, high) in enumerate(self.intervals):
                ax.plot([100 * low, 100 * high], [k, k], color=COLORS[0], linewidth=6, alpha=0.25)
        for k, errors in enumerate(self.errors):
            color = COLORS[0] if self.bold[k] else COLORS[6]
            if self.intervals is None and len(errors):
                low, high = 100 * np.quantile(errors, [0.25, 0.75])
                ax.barh(k, high - low, left=low, height=0.6, color=color, alpha=0.2)
                jitter = k + np.array(_stack(np.round(errors, 9).tolist())) / _ROW
                ax.scatter(100 * errors, jitter, **{"s": 9, "color": color, "alpha": 0.6, **options})
            ax.plot([100 * self.means[k]] * 2, [k - 0.33, k + 0.33], color=color, linewidth=2)
        ax.set_yticks(range(len(self.methods)), self.methods)
        ax.invert_yaxis()
        ax.set_xlabel("error on the objects held out, %")
        self._frame(ax)
        ax.grid(axis="x", color="#e6e6e6", linewidth=0.8)
        return self


class TimeErrorDisplay(Display):
    """Mean error against mean time to train and predict, a dot a method.

    Parameters
    ----------
    methods : sequence of str
        Names.
    seconds, errors : sequence of float
        Means over the splits.
    bold, baseline : sequence of bool
        Not significantly worse than the best; there for comparison only.

    Examples
    --------
    >>> from similis.study import TimeErrorDisplay
    >>> shown = TimeErrorDisplay(methods="ab", seconds=[1, 2], errors=[0.1, 0.2], bold=[1, 0], baseline=[0, 0])
    >>> shown.front()
    [0]
    """

    def __init__(
        self,
        *,
        methods: Sequence[str],
        seconds: Sequence[float],
        errors: Sequence[float],
        bold: Sequence[Any],
        baseline: Sequence[Any],
    ) -> None:
        self.methods = tuple(methods)
        self.seconds = [max(float(s), 1e-5) for s in seconds]
        self.errors = [float(e) for e in errors]
        self.bold = [bool(b) for b in bold]
        self.baseline = [bool(b) for b in baseline]

    @classmethod
    def from_result(cls, result: StudyResult, *, plot: bool = True, ax: Any = None, **options: Any) -> TimeErrorDisplay:
        """Take times and errors out of a study and draw them.

        Parameters
        ----------
        result : StudyResult
            What a study found.
        plot : bool, default=True
            Whether to draw with matplotlib at once.
        ax, **options
            Passed to :meth:`plot`.

        Returns
        -------
        TimeErrorDisplay
        """
        rows = [row for row in result.table() if row.error == row.error]
        display = cls(
            methods=[row.method for row in rows],
            seconds=[row.fit_seconds + row.predict_seconds for row in rows],
            errors=[row.error for row in rows],
            bold=[row.bold for row in rows],
            baseline=[row.baseline for row in rows],
        )
        return display.plot(ax=ax, **options) if plot else display

    def front(self) -> list[int]:
        """Methods that no other one beats in both time and error, baselines apart, the quickest first.

        Returns
        -------
        list of int
        """
        order = sorted((s, e, k) for k, (s, e) in enumerate(zip(self.seconds, self.errors)) if not self.baseline[k])
        found: list[int] = []
        lowest = math.inf
        for _, error, k in order:
            if error < lowest:
                found.append(k)
                lowest = error
        return found

    def svg(self) -> Markup:
        """The plot as HTML with inline SVG.

        Returns
        -------
        str
        """
        if not self.methods:
            return Markup("")
        low, high = min(self.seconds), max(self.seconds)
        x = Scale(low / 1.6, high * 1.6, "log")
        top = _ceiling(self.errors, self.errors)
        y = Scale(0, 100 * top, down=True)
        plot = Plot(
            label=f"Mean error against time for {len(self.methods)} methods.",
            x=x,
            y=y,
            x_title="seconds to train and predict, each split",
            y_title="error, %",
            height=360,
            kind="time",
        )
        plot.axes(show_x=_seconds, show_y=lambda v: f"{v:g}")
        places = [(x(s), y(100 * min(e, top))) for s, e in zip(self.seconds, self.errors)]
        front = self.front()
        plot.line([places[k][0] for k in front], [places[k][1] for k in front], "dash")
        for k, name in enumerate(self.methods):
            beyond = "\nbeyond the upper edge" if self.errors[k] > top else ""
            tip = f"{name}\n{100 * self.errors[k]:.2f} % error, {_seconds(self.seconds[k])} s{beyond}"
            css = "key" if self.bold[k] else "plain"
            shape = 2 if beyond else 1 if self.baseline[k] else 0
            plot.add(plot.mark(*places[k], tip, css=css, shape=shape, data_m=name))
        plot.add(*_labels([(places[k], self.methods[k], self.bold[k]) for k in front], places))
        return plot.html()

    def plot(self, ax: Any = None, **options: Any) -> TimeErrorDisplay:
        """Draw the dots with matplotlib; those that no other one beats in both are named.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            Passed to ``Axes.scatter``.

        Returns
        -------
        TimeErrorDisplay
            Itself.
        """
        ax = self._axes(ax)
        colors = [COLORS[0] if bold else COLORS[6] for bold in self.bold]
        ax.scatter(self.seconds, 100 * np.array(self.errors), **{"s": 30, "c": colors, **options})
        for k in self.front():
            spot = (self.seconds[k], 100 * self.errors[k])
            ax.annotate(self.methods[k], spot, xytext=(5, 5), textcoords="offset points", color=INK, fontsize=8)
        ax.set_xscale("log")
        ax.set_ylim(bottom=0)
        ax.set_xlabel("seconds to train and predict, each split")
        ax.set_ylabel("error, %")
        self._frame(ax)
        return self


def label_width(names: Iterable[str]) -> int:
    """Pixels for names on the left of a plot."""
    return min(190, max([40, *(round(6.9 * len(name)) for name in names)]) + 18)


def _ceiling(means: Sequence[float], largest: Sequence[float]) -> float:
    """Upper end of an axis of errors: the few methods far above most others are left beyond it."""
    usual = sorted(means)[max(0, math.ceil(0.75 * len(means)) - 1)]
    cut = max(2.5 * usual, 0.02)
    inside = [big for mean, big in zip(means, largest or means) if mean <= cut]
    return 1.04 * max([*inside, *(mean for mean in means if mean <= cut), 0.01])


def _stack(values: list[float]) -> list[float]:
    """Pixels by which equal values are moved apart, up and down in turn."""
    seen: dict[float, int] = {}
    lifts = []
    for value in values:
        k = seen[value] = seen.get(value, -1) + 1
        lifts.append(min(8.5, 3.0 * ((k + 1) // 2)) * (1 if k % 2 else -1))
    return lifts


def _bar(low: float, high: float, y: float, rows: int, css: str) -> Markup:
    half = 100 * 7.5 / (_ROW * rows)
    width = f"{max(high - low, 0.3):.2f}%"
    return tag("rect", x=f"{low:.2f}%", y=f"{y - half:.2f}%", width=width, height=f"{2 * half:.2f}%", rx=2, class_=css)


def _seconds(value: float) -> str:
    return f"{value:.2g}" if value < 10 else f"{value:,.0f}"


def _labels(wanted: list[tuple[tuple[float, float], str, bool]], marks: list[tuple[float, float]]) -> list[Markup]:
    """Names beside their marks, each where it covers the fewest marks and no other name; sizes as on a phone."""
    taken: list[tuple[float, float, float, float]] = []
    parts = []
    for (px, py), name, bold in wanted:
        wide, high = 2.3 * len(name), 4.6
        spots = [(2.4, 0.0, ""), (-2.4 - wide, 0.0, "end"), (2.0, -5.0, ""), (2.0, 5.0, ""), (-2.0 - wide, -5.0, "end")]
        spots += [(-2.0 - wide, 5.0, "end")]

        def badness(spot: tuple[float, float, str]) -> float:
            a, b = px + spot[0], py + spot[1]  # noqa: B023
            box = (a, b - high / 2, a + wide, b + high / 2)  # noqa: B023
            out = max(0.0, box[2] - 101) + max(0.0, -1 - box[0])
            over = sum(not (box[2] < t[0] or t[2] < box[0] or box[3] < t[1] or t[3] < box[1]) for t in taken)
            hit = sum(box[0] - 1 < u < box[2] + 1 and box[1] - 1 < v < box[3] + 1 for u, v in marks)
            return 100 * over + 10 * out + hit

        dx, dy, side = min(spots, key=badness)
        taken.append((px + dx, py + dy - high / 2, px + dx + wide, py + dy + high / 2))
        shift = f"translate({'-9' if side else '9'},{round(3.4 * dy)})"
        css = " ".join(filter(None, ("halo", side, "strong" if bold else "")))
        parts.append(tag("text", name, x=f"{px:.2f}%", y=f"{py:.2f}%", dy=".35em", transform=shift, class_=css))
    return [join(parts)]
