"""Pictures of the answers: where methods differ, and which objects are hard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from similis._drawing.display import COLORS, Display
from similis._drawing.svg import Markup, Plot, tag
from similis.study._display_errors import label_width
from similis.study._predictions import display_names

if TYPE_CHECKING:
    from similis.study._result import StudyResult

__all__ = ["AgreementDisplay", "ConfusionDisplay", "ObjectsDisplay"]

METHODS = 24  # methods shown, the best
OBJECTS = 30  # objects shown, the hardest
_CELL = 22  # pixels of a row


class AgreementDisplay(Display):
    """How often two methods give different answers about the same object.

    Parameters
    ----------
    methods : sequence of str
        Names, like ones side by side.
    differ : ndarray of shape (n_methods, n_methods)
        Share of the objects held out on which the answers differ.
    n_left_out : int, default=0
        Methods not shown.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.study import AgreementDisplay
    >>> AgreementDisplay(methods=["a", "b"], differ=np.array([[0, 0.25], [0.25, 0]])).differ[0, 1]
    np.float64(0.25)
    """

    def __init__(self, *, methods: Sequence[str], differ: NDArray[np.float64], n_left_out: int = 0) -> None:
        self.methods = tuple(methods)
        self.differ = differ
        self.n_left_out = n_left_out

    @classmethod
    def from_result(cls, result: StudyResult, *, plot: bool = True, ax: Any = None, **options: Any) -> AgreementDisplay:
        """Compare the answers of a study and draw the shares.

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
        AgreementDisplay
        """
        from similis.proximity import seriation

        answers = result.predictions_by_object()
        some = answers.differ[:METHODS, :METHODS]
        order = seriation(np.nan_to_num(some, nan=1.0)) if len(some) else np.arange(0)
        display = cls(
            methods=[answers.methods[k] for k in order],
            differ=some[np.ix_(order, order)],
            n_left_out=max(0, len(answers.methods) - METHODS),
        )
        return display.plot(ax=ax, **options) if plot else display

    def svg(self) -> Markup:
        """The shares as a grid, HTML with inline SVG.

        Returns
        -------
        str
        """
        M = len(self.methods)
        plot = _grid(
            self.methods, self.methods, f"Share of answers in which {M} methods differ, two by two.", "agreement"
        )
        top = float(np.nanmax(self.differ, initial=0.0)) or 1.0
        for i, row in enumerate(self.differ.tolist()):
            for j, share in enumerate(row):
                words = (
                    f"{self.methods[i]} and {self.methods[j]}\ndiffer on {100 * share:.1f} % of the objects held out"
                )
                depth = 0.0 if share != share else 0.06 + 0.94 * share / top
                if i != j:
                    plot.add(_cell(i, j, M, M, "key", depth, words))
        return plot.html()

    def plot(self, ax: Any = None, **options: Any) -> AgreementDisplay:
        """Draw the grid with matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            Passed to ``Axes.imshow``.

        Returns
        -------
        AgreementDisplay
            Itself.
        """
        ax = self._axes(ax)
        image = ax.imshow(100 * self.differ, **{"cmap": "Blues", "vmin": 0, **options})
        ax.set_xticks(range(len(self.methods)), self.methods, rotation=90)
        ax.set_yticks(range(len(self.methods)), self.methods)
        self.figure_.colorbar(image, ax=ax, label="different answers, %", shrink=0.85)
        return self


class ConfusionDisplay(Display):
    """What one method takes for what, over all objects held out.

    Parameters
    ----------
    method : str
        Its name.
    classes : sequence of str
        Names of the classes.
    counts : ndarray of shape (n_classes, n_classes)
        Answers, true class by row, answer by column.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import Study
    >>> from similis.study import ConfusionDisplay
    >>> x = np.linspace(0, 1, 20)
    >>> result = Study("nc", n_splits=3, cv=2).run(1 - abs(x[:, None] - x), x > 0.5)
    >>> int(ConfusionDisplay.from_result(result, plot=False).counts.sum())
    12
    """

    def __init__(self, *, method: str, classes: Sequence[str], counts: NDArray[np.intp]) -> None:
        self.method = method
        self.classes = tuple(classes)
        self.counts = counts

    @classmethod
    def from_result(
        cls, result: StudyResult, method: str | None = None, *, plot: bool = True, ax: Any = None, **options: Any
    ) -> ConfusionDisplay:
        """Count the answers of a method in a study and draw them.

        Parameters
        ----------
        result : StudyResult
            What a study found.
        method : str, optional
            Which method; the recommended one by default.
        plot : bool, default=True
            Whether to draw with matplotlib at once.
        ax, **options
            Passed to :meth:`plot`.

        Returns
        -------
        ConfusionDisplay
        """
        name = method or result.best()
        G = len(result.classes)
        counts = np.zeros((G, G), dtype=np.intp)
        for split in result.splits:
            entry = result.entries.get((name, split.number))
            if entry is not None and entry.predictions is not None:
                np.add.at(counts, (result.codes[split.test], entry.predictions), 1)
        display = cls(method=name, classes=[str(c) for c in result.classes], counts=counts)
        return display.plot(ax=ax, **options) if plot else display

    def svg(self) -> Markup:
        """A row a true class, a column an answer, HTML with inline SVG.

        Returns
        -------
        str
        """
        G = len(self.classes)
        plot = _grid(self.classes, self.classes, f"Answers of {self.method} by true class.", "confusion", (34, 64))
        totals = np.maximum(self.counts.sum(axis=1), 1)
        for g in range(G):
            for f in range(G):
                count, share = int(self.counts[g, f]), float(self.counts[g, f] / totals[g])
                tip = f"{self.method} says {self.classes[f]} where {self.classes[g]} is true\n"
                tip += f"{count} of {int(self.counts[g].sum())} answers ({share:.1%})"
                plot.add(_cell(g, f, G, G, "key" if f == g else "bad", 0.08 + 0.4 * share if count else 0.04, tip))
                if count and G <= 12:
                    place = {"x": f"{100 * (f + 0.48) / G:.2f}%", "y": f"{100 * (g + 0.47) / G:.2f}%"}
                    plot.add(tag("text", count, **place, dy=".35em", class_="mid", pointer_events="none"))
        return plot.html()

    def plot(self, ax: Any = None, **options: Any) -> ConfusionDisplay:
        """Draw the counts with matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            Passed to ``Axes.imshow``.

        Returns
        -------
        ConfusionDisplay
            Itself.
        """
        ax = self._axes(ax)
        share = self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)
        ax.imshow(share, **{"cmap": "Blues", "vmin": 0, "vmax": 1, **options})
        for (g, f), count in np.ndenumerate(self.counts):
            ax.text(f, g, str(count), ha="center", va="center", color="white" if share[g, f] > 0.5 else "black")
        ax.set_xticks(range(len(self.classes)), self.classes)
        ax.set_yticks(range(len(self.classes)), self.classes)
        ax.set_xlabel("answer")
        ax.set_ylabel("true class")
        return self


class ObjectsDisplay(Display):
    """The hardest objects, and how often each method was wrong about them.

    Parameters
    ----------
    objects : ndarray of shape (m,)
        Numbers of the objects, the hardest first.
    names : sequence of str
        Their names.
    classes : sequence of str
        Their true classes.
    methods : sequence of str
        The lowest mean error first.
    wrong, tested : ndarray of shape (m, n_methods)
        Wrong answers, and answers.
    said : list of list of str
        The usual answers.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import Study
    >>> from similis.study import ObjectsDisplay
    >>> x = np.r_[np.linspace(0, 1, 19), 0.1]
    >>> result = Study(["nc", "knn"], protocol="loo", cv=2).run(1 - abs(x[:, None] - x), np.r_[x[:19] > 0.5, True])
    >>> ObjectsDisplay.from_result(result, plot=False).names[0]
    'object 20'
    """

    def __init__(
        self,
        *,
        objects: NDArray[np.intp],
        names: Sequence[str],
        classes: Sequence[str],
        methods: Sequence[str],
        wrong: NDArray[np.intp],
        tested: NDArray[np.intp],
        said: Sequence[Sequence[str]],
    ) -> None:
        self.objects = objects
        self.names = tuple(names)
        self.classes = tuple(classes)
        self.methods = tuple(methods)
        self.wrong = wrong
        self.tested = tested
        self.said = said

    @classmethod
    def from_result(cls, result: StudyResult, *, plot: bool = True, ax: Any = None, **options: Any) -> ObjectsDisplay:
        """Find the hardest objects of a study and draw them.

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
        ObjectsDisplay
        """
        answers = result.predictions_by_object()
        hard = answers.hardest()[:OBJECTS]
        names, labels = display_names(result, 28), [str(c) for c in result.classes]
        usual = answers.usual[:METHODS][:, hard].T
        display = cls(
            objects=hard,
            names=[names[i] for i in hard],
            classes=[labels[result.codes[i]] for i in hard],
            methods=answers.methods[:METHODS],
            wrong=answers.wrong[:METHODS][:, hard].T,
            tested=answers.tested[:METHODS][:, hard].T,
            said=[[labels[g] if g >= 0 else "" for g in row] for row in usual.tolist()],
        )
        return display.plot(ax=ax, **options) if plot else display

    def svg(self) -> Markup:
        """A row an object, a column a method, HTML with inline SVG; the fuller a cell, the oftener wrong.

        Returns
        -------
        str
        """
        m, M = len(self.objects), len(self.methods)
        rows = [f"{name} ({label})" for name, label in zip(self.names, self.classes)]
        plot = _grid(
            rows, self.methods, f"The {m} hardest objects and {M} methods: who is wrong.", "objects", (_CELL, 84)
        )
        for i in range(m):
            for j in range(M):
                wrong, tested = int(self.wrong[i, j]), int(self.tested[i, j])
                said = f", usually says {self.said[i][j]}" if tested else ""
                tip = f"{self.names[i]}, class {self.classes[i]}\n"
                tip += f"{self.methods[j]}: wrong {wrong} of {tested} times{said}"
                css, depth = ("bad", 0.1 + 0.9 * wrong / tested) if wrong else ("good", 0.22)
                plot.add(_cell(i, j, m, M, css, depth if tested else 0.0, tip))
        return plot.html()

    def plot(self, ax: Any = None, **options: Any) -> ObjectsDisplay:
        """Draw the shares of wrong answers with matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            Passed to ``Axes.imshow``.

        Returns
        -------
        ObjectsDisplay
            Itself.
        """
        ax = self._axes(ax)
        share = np.where(self.tested > 0, self.wrong / np.maximum(self.tested, 1), np.nan)
        image = ax.imshow(share, **{"cmap": "Reds", "vmin": 0, "vmax": 1, "aspect": "auto", **options})
        ax.set_xticks(range(len(self.methods)), self.methods, rotation=90)
        ax.set_yticks(range(len(self.names)), self.names)
        ax.tick_params(labelsize=7, labelcolor=COLORS[6])
        self.figure_.colorbar(image, ax=ax, label="share of wrong answers")
        return self


def _grid(
    rows: Sequence[str], columns: Sequence[str], label: str, kind: str, cell: tuple[int, int] = (_CELL, 46)
) -> Plot:
    """An empty grid with names on the left and, upright, above; cells have a height and a largest width."""
    head = round(6.7 * max([1, *(len(c) for c in columns)])) + 16
    plot = Plot(
        label=f"{label} Arrow keys walk through the cells.",
        height=cell[0] * max(1, len(rows)),
        left=label_width(rows),
        right=6,
        top=min(head, 190),
        bottom=6,
        kind=f"grid-plot {kind}",
        width=(len(columns) * 20, len(columns) * cell[1]),
    )
    for i, name in enumerate(rows):
        plot.add(tag("text", name, x=-8, y=f"{100 * (i + 0.5) / len(rows):.2f}%", dy=".35em", class_="tick end"))
    for j, name in enumerate(columns):
        at = f"{100 * (j + 0.5) / len(columns):.2f}%"
        upright = tag("text", name, dy=".35em", transform="rotate(-90)", class_="tick")
        plot.add(tag("svg", upright, x=at, y=-8, overflow="visible", data_m=name))
    return plot


def _cell(i: int, j: int, rows: int, columns: int, css: str, depth: float, tip: str) -> Markup:
    place = {"x": f"{100 * j / columns:.2f}%", "y": f"{100 * i / rows:.2f}%"}
    size = {"width": f"{96 / columns:.2f}%", "height": f"{94 / rows:.2f}%"}
    return tag("rect", **place, **size, rx=2, fill_opacity=depth, class_=f"m {css}", data_t=tip)
