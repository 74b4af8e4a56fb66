"""Are the probabilities honest: confidence against the share that was right, for each method that gives them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from similis._drawing.display import COLORS, INK, Display
from similis._drawing.svg import Markup, Plot, Scale, tag

if TYPE_CHECKING:
    from similis.study._result import StudyResult

__all__ = ["Reliability", "ReliabilityDisplay"]

BINS = 10
MOST = 6  # methods shown


@dataclass(frozen=True, eq=False)
class Reliability:
    """Confidence and truth of one method, by bins of equal width.

    Attributes
    ----------
    method : str
        Its name.
    confidence, right : ndarray of shape (n_bins,)
        Mean of the largest probability, and share of answers that were right; NaN in empty bins.
    counts : ndarray of shape (n_bins,)
        Answers in each bin.
    error : float
        Expected calibration error.
    """

    method: str
    confidence: NDArray[np.float64]
    right: NDArray[np.float64]
    counts: NDArray[np.intp]
    error: float


class ReliabilityDisplay(Display):
    """Reliability of the best methods with probabilities: on the diagonal a method is as sure as it should be.

    Parameters
    ----------
    curves : sequence of Reliability
        One a method.

    Examples
    --------
    >>> import numpy as np
    >>> from similis import Study
    >>> from similis.study import ReliabilityDisplay
    >>> x = np.linspace(0, 1, 20)
    >>> result = Study(["knn"], n_splits=3, cv=2).run(1 - abs(x[:, None] - x), x > 0.5)
    >>> [int(curve.counts.sum()) for curve in ReliabilityDisplay.from_result(result, plot=False).curves]
    [12]
    """

    def __init__(self, *, curves: Sequence[Reliability]) -> None:
        self.curves = tuple(curves)

    @classmethod
    def from_result(
        cls, result: StudyResult, *, plot: bool = True, ax: Any = None, **options: Any
    ) -> ReliabilityDisplay:
        """Sort the probabilities of a study into bins and draw them.

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
        ReliabilityDisplay
        """
        rows = [row.method for row in result.table() if row.error == row.error and not row.baseline]
        found = [curve for curve in (_reliability(result, name) for name in rows) if curve is not None]
        display = cls(curves=found[:MOST])
        return display.plot(ax=ax, **options) if plot else display

    def svg(self) -> Markup:
        """A small plot for each method, HTML with inline SVG.

        Returns
        -------
        str
        """
        return tag("div", *(_panel(curve) for curve in self.curves), class_="panels")

    def plot(self, ax: Any = None, **options: Any) -> ReliabilityDisplay:
        """Draw all curves into one plot with matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            Passed to ``Axes.plot``.

        Returns
        -------
        ReliabilityDisplay
            Itself.
        """
        ax = self._axes(ax)
        ax.plot([0, 1], [0, 1], color=INK, linewidth=0.8, linestyle="--")
        for k, curve in enumerate(self.curves):
            known = curve.counts > 0
            style = {"marker": "o", "markersize": 4, "color": COLORS[k % len(COLORS)], "label": curve.method, **options}
            ax.plot(curve.confidence[known], curve.right[known], **style)
        ax.set_xlabel("confidence")
        ax.set_ylabel("share that was right")
        self._frame(ax)
        ax.legend(frameon=False)
        return self


def _reliability(result: StudyResult, method: str) -> Reliability | None:
    truth, proba = [], []
    for split in result.splits:
        entry = result.entries.get((method, split.number))
        if entry is not None and entry.ok:
            if entry.proba is None:
                return None
            truth.append(result.codes[split.test])
            proba.append(entry.proba)
    if not proba:
        return None
    P, t = np.concatenate(proba), np.concatenate(truth)
    sure, right = P.max(axis=1), P.argmax(axis=1) == t
    bins = np.minimum((sure * BINS).astype(np.intp), BINS - 1)
    counts = np.bincount(bins, minlength=BINS)
    with np.errstate(invalid="ignore", divide="ignore"):
        confidence, share = (np.bincount(bins, weights=w, minlength=BINS) / counts for w in (sure, right))
    gap = float(np.nansum(np.abs(confidence - share) * counts) / len(t))
    return Reliability(method, confidence, share, counts, gap)


def _panel(curve: Reliability) -> Markup:
    x, y = Scale(0, 1), Scale(0, 1, down=True)
    plot = Plot(
        label=f"Reliability of the probabilities of {curve.method}; calibration error {100 * curve.error:.1f} %.",
        x=x,
        y=y,
        x_title="confidence, %",
        height=190,
        left=34,
        right=12,
        top=6,
        kind="reliability",
    )
    for show, scale in ((plot.x_axis, x), (plot.y_axis, y)):
        show((scale(t), f"{100 * t:g}") for t in (0, 0.5, 1))
    plot.line([0, 100], [100, 0], "dash")
    known = np.flatnonzero(curve.counts)
    plot.line([x(float(curve.confidence[b])) for b in known], [y(float(curve.right[b])) for b in known], "k c0")
    total = curve.counts.sum()
    for b in known:
        sure, right, count = float(curve.confidence[b]), float(curve.right[b]), int(curve.counts[b])
        tip = f"{curve.method}\n{count} answers, {100 * sure:.0f} % sure on average\n{100 * right:.0f} % of them right"
        plot.add(plot.dot(x(sure), y(right), tip, r=3 + 7 * float(np.sqrt(count / total)), css="k c0"))
    head = tag("h3", curve.method, " ", tag("small", f"off by {100 * curve.error:.1f} %"))
    return tag("div", head, plot.html(), class_="panel")
