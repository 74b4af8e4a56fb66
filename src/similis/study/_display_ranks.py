"""The critical-difference picture: average ranks across data sets, and what they do not tell apart."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from similis._drawing.display import INK, Display
from similis._drawing.svg import Markup, Plot, Scale, join, tag
from similis.study._metrics import Ranks, average_ranks

__all__ = ["RanksDisplay"]

_LINE = 20  # pixels of a name
_BAR = 9  # pixels of a group


class RanksDisplay(Display):
    """Average ranks on an axis, the best on the left; bars join methods that are not significantly different.

    Parameters
    ----------
    ranks : Ranks
        From :func:`average_ranks`.

    References
    ----------
    Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006.

    Examples
    --------
    >>> from similis.study import RanksDisplay
    >>> scores = {"votes": {"a": 0.1, "b": 0.2, "c": 0.3}, "sonar": {"a": 0.2, "b": 0.2, "c": 0.4}}
    >>> RanksDisplay.from_results(scores, plot=False).ranks.methods
    ('a', 'b', 'c')
    """

    _size = (7.0, 3.0)

    def __init__(self, *, ranks: Ranks) -> None:
        self.ranks = ranks

    @classmethod
    def from_results(cls, results: Any, *, plot: bool = True, ax: Any = None, **options: Any) -> RanksDisplay:
        """Rank methods across data sets and draw the ranks.

        Parameters
        ----------
        results : mapping of str to StudyResult
            By name of the data set; see :func:`average_ranks`.
        plot : bool, default=True
            Whether to draw with matplotlib at once.
        ax, **options
            Passed to :meth:`plot`.

        Returns
        -------
        RanksDisplay
        """
        display = cls(ranks=average_ranks(results))
        return display.plot(ax=ax, **options) if plot else display

    def svg(self) -> Markup:
        """The picture as HTML with inline SVG.

        Returns
        -------
        str
        """
        found = self.ranks
        k = len(found.methods)
        bars = self._bars()
        left = math.ceil(k / 2)
        top = 34 + _BAR * (max((level for *_, level in bars), default=-1) + 1)
        height = top + 12 + _LINE * left
        x = Scale(1, k)
        plot = Plot(
            label=f"Average ranks of {k} methods over {len(found.datasets)} data sets; critical difference "
            f"{found.critical_difference:.2f}.",
            x=x,
            height=height,
            left=180,
            right=180,
            top=34,
            bottom=8,
            kind="ranks",
        )
        plot.add(tag("line", x1=0, x2="100%", y1=0, y2=0, class_="rule"))
        for t in range(1, k + 1, max(1, round(k / 12))):
            at = f"{x(t):.2f}%"
            plot.add(tag("line", x1=at, x2=at, y1=-5, y2=0, class_="rule"))
            plot.add(tag("text", t, x=at, y=-9, class_="tick mid"))
        self._ruler(plot, x)
        for low, high, level in bars:
            y = 16 + _BAR * level
            ends = {"x1": f"{x(low) - 0.6:.2f}%", "x2": f"{x(high) + 0.6:.2f}%"}
            plot.add(tag("line", **ends, y1=y, y2=y, stroke_width=4, class_="clique"))
        for i, name in enumerate(found.methods):
            row = i if i < left else k - 1 - i
            plot.add(self._method(plot, x, i, name, top + _LINE * row, height, on_left=i < left))
        return plot.html()

    def _ruler(self, plot: Plot, x: Scale) -> None:
        width = min(100.0, x(1 + self.ranks.critical_difference))
        words = f"critical difference {self.ranks.critical_difference:.2f}"
        plot.add(tag("line", x1=0, x2=f"{width:.2f}%", y1=-28, y2=-28, class_="rule"))
        plot.add(*(tag("line", x1=at, x2=at, y1=-32, y2=-24, class_="rule") for at in ("0%", f"{width:.2f}%")))
        plot.add(tag("text", words, x=-8, y=-28, dy=".35em", class_="title end"))

    def _method(self, plot: Plot, x: Scale, i: int, name: str, y: float, height: float, *, on_left: bool) -> Markup:
        mean = float(self.ranks.mean[i])
        place = x(mean)
        drop = 100 * y / height
        plot.line([place, place, 0 if on_left else 100], [0, drop, drop], "thin")
        each = "".join(f"\n{d}: {r:g}" for d, r in zip(self.ranks.datasets, self.ranks.ranks[:, i].tolist()))
        spot = {"x": -8, "class_": "end"} if on_left else {"x": "100%", "dx": 8}
        words = tag("text", name, " ", tag("tspan", f"{mean:.2f}", class_="tick"), y=y, dy=".35em", **spot)
        dot = tag("circle", cx=f"{place:.2f}%", cy=0, r=4, class_="m key", data_t=f"{name}\nmean rank {mean:.2f}{each}")
        return tag("g", words, dot, data_m=name)

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

    def plot(self, ax: Any = None, **options: Any) -> RanksDisplay:
        """Draw the picture with matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            Passed to ``Axes.plot`` of the bars.

        Returns
        -------
        RanksDisplay
            Itself.
        """
        ax = self._axes(ax)
        k = len(self.ranks.methods)
        left = math.ceil(k / 2)
        for i, (name, mean) in enumerate(zip(self.ranks.methods, self.ranks.mean.tolist())):
            row = i if i < left else k - 1 - i
            end, side = (0.5, "right") if i < left else (k + 0.5, "left")
            ax.plot([mean, mean, end], [0, row + 2, row + 2], color=INK, linewidth=0.8)
            ax.text(end, row + 2, f" {name} ", ha=side, va="center", fontsize=8)
        for low, high, level in self._bars():
            y = 0.35 + 0.4 * level
            ax.plot([low, high], [y, y], **{"color": INK, "linewidth": 3, **options})
        ax.plot([1, 1 + self.ranks.critical_difference], [-1, -1], color=INK)
        ax.text(1, -1.2, f"critical difference {self.ranks.critical_difference:.2f}", fontsize=8)
        ax.set_ylim(left + 2.5, -1.8)
        ax.set_xlim(0.4, k + 0.6)
        ax.xaxis.tick_top()
        ax.set_xticks(np.arange(1, k + 1))
        ax.set_yticks([])
        for side in ("left", "right", "bottom"):
            ax.spines[side].set_visible(False)
        return self


def ranks_sentence(ranks: Ranks, level: float = 0.05) -> Markup:
    """What the picture says, in words."""
    N, k = ranks.ranks.shape
    p = "p < 0.001" if ranks.p_value < 0.001 else f"p = {ranks.p_value:.2g}"
    if ranks.p_value < level:
        first = f"Friedman's test finds differences among the {k} methods over {N} data sets ({p})."
    else:
        first = f"Over {N} data sets Friedman's test finds no difference among the {k} methods ({p})."
    second = f"Average ranks farther apart than {ranks.critical_difference:.2f} differ significantly (Nemenyi, 5 %)."
    return join([first, " ", second])
