"""Pictures of the matrix itself: a heat map in a telling order, the spectrum before and after repair.

In the manner of scikit-learn's displays: the numbers first, the drawing after.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from similis._drawing.display import COLORS, INK, Display
from similis._drawing.svg import SHAPES, Markup, Plot, Scale, join, png, short, tag
from similis._utils.linalg import eigen_symmetric, symmetric_part
from similis.base import Kind, check_labels, check_proximity, quote
from similis.proximity._diagnosis import to_dissimilarities
from similis.proximity._embedding import PseudoEuclidean

__all__ = [
    "MatrixDisplay",
    "SpectrumDisplay",
    "seriation",
    "EmbeddingDisplay",
    "HistogramDisplay",
    "color_levels",
    "color_limits",
    "draw_embedding",
    "draw_histogram",
    "draw_matrix",
    "draw_spectrum",
]


def seriation(D: NDArray[Any]) -> NDArray[np.intp]:
    """Order objects so that near ones stand together: leaves of average linkage, turned for smooth neighbours.

    Parameters
    ----------
    D : ndarray of shape (n, n)
        Dissimilarities; NaN counts as the largest.

    Returns
    -------
    ndarray of shape (n,)
        The order.
    """
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform

    D = check_proximity(D, allow_missing=True)
    if len(D) < 3:
        return np.arange(len(D))
    D = np.where(np.isnan(D), np.nanmax(D, initial=0.0), D)
    D = (D + D.T) / 2
    np.fill_diagonal(D, 0.0)
    condensed = squareform(np.maximum(D, 0.0), checks=False)
    tree = hierarchy.linkage(condensed, "average", optimal_ordering=len(D) <= 400)
    return hierarchy.leaves_list(tree).astype(np.intp)


class MatrixDisplay(Display):
    """The matrix as a heat map, objects ordered by class and, within a class, by seriation; or by seriation alone.

    Parameters
    ----------
    values : ndarray of shape (n, n)
        The matrix in the order shown.
    order : ndarray of shape (n,)
        Which object stands where.
    bounds : ndarray of shape (G + 1,)
        Where each class begins, and n.
    class_names : list of str
        Names of the classes; empty without labels.
    kind : {"similarity", "dissimilarity"}
        What the numbers are.
    codes : ndarray of shape (n,), optional
        Class of each object shown, where `bounds` does not tell.
    limits : tuple of float, optional
        Values at which the colours of :meth:`svg` begin and end; by default those of the outermost hundredths.

    Examples
    --------
    >>> import numpy as np
    >>> from similis.proximity import MatrixDisplay
    >>> S = np.array([[1.0, 0.1, 0.8], [0.1, 1.0, 0.2], [0.8, 0.2, 1.0]])
    >>> MatrixDisplay.from_proximity(S, ["b", "a", "b"], plot=False).order
    array([1, 0, 2])
    """

    _size = (5.4, 4.6)

    def __init__(
        self,
        *,
        values: NDArray[Any],
        order: NDArray[np.intp],
        bounds: NDArray[np.intp],
        class_names: list[str],
        kind: Kind,
        codes: NDArray[np.intp] | None = None,
        limits: tuple[float, float] | None = None,
    ) -> None:
        self.values = values
        self.order = order
        self.bounds = bounds
        self.class_names = class_names
        self.kind = kind
        self.codes = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds)) if codes is None else codes
        self.limits = color_limits(values) if limits is None else limits

    @classmethod
    def from_proximity(
        cls,
        S: ArrayLike,
        y: Any = None,
        *,
        kind: Kind = "similarity",
        order: Literal["class", "seriation"] = "class",
        plot: bool = True,
        ax: Any = None,
        **options: Any,
    ) -> MatrixDisplay:
        """Order a matrix and draw it.

        Parameters
        ----------
        S : array-like of shape (n, n)
            Proximities; NaN is left blank.
        y : array-like of shape (n,), optional
            Class labels.
        kind : {"similarity", "dissimilarity"}, default="similarity"
            What the numbers are.
        order : {"class", "seriation"}, default="class"
            By class and, within a class, by nearness; or by nearness alone, which shows whether classes are found
            without being told.
        plot : bool, default=True
            Whether to draw at once.
        ax, **options
            Passed to :meth:`plot`.

        Returns
        -------
        MatrixDisplay
        """
        A = check_proximity(S, kind=kind, allow_missing=True)
        D = to_dissimilarities(A, kind)
        classes, codes = (
            (np.array([""]), np.zeros(len(A), np.intp)) if y is None else check_labels(y, len(A), min_classes=1)
        )
        groups = [np.flatnonzero(codes == g) for g in range(len(classes))] if order == "class" else [np.arange(len(A))]
        found = np.concatenate([group[seriation(D[np.ix_(group, group)])] for group in groups])
        display = cls(
            values=A[np.ix_(found, found)],
            order=found,
            bounds=np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(np.intp),
            class_names=[] if y is None else [quote(c).strip("'") for c in classes],
            kind=kind,
            codes=codes[found],
        )
        return display.plot(ax=ax, **options) if plot else display

    def levels(self) -> NDArray[np.uint8]:
        """The values in 255 steps between the limits; 0 is a missing one.

        Returns
        -------
        ndarray of shape (n, n)
        """
        return color_levels(self.values, *self.limits)

    def svg(self, names: Sequence[str] | None = None) -> Markup:
        """The heat map as HTML, with a strip of class colours along two sides.

        Parameters
        ----------
        names : sequence of str, optional
            Of the objects, in the order shown.

        Returns
        -------
        str
        """
        return draw_matrix(self, names)

    def plot(self, ax: Any = None, **options: Any) -> MatrixDisplay:
        """Draw the heat map; dark means alike.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            Passed to ``Axes.imshow``.

        Returns
        -------
        MatrixDisplay
            Itself.
        """
        ax = self._axes(ax)
        style = {"cmap": "bone_r" if self.kind == "similarity" else "bone", "interpolation": "nearest"}
        image = ax.imshow(self.values, **{**style, **options})
        for edge in self.bounds[1:-1]:
            ax.axhline(edge - 0.5, color=COLORS[1], linewidth=0.8)
            ax.axvline(edge - 0.5, color=COLORS[1], linewidth=0.8)
        if len(self.class_names) == len(self.bounds) - 1 <= 30:
            middle = (self.bounds[1:] + self.bounds[:-1] - 1) / 2
            ax.set_xticks(middle, self.class_names, rotation=45 if len(self.class_names) > 4 else 0)
            ax.set_yticks(middle, self.class_names)
        else:
            ax.set_xticks([])
            ax.set_yticks([])
        ax.tick_params(length=0)
        self.figure_.colorbar(image, ax=ax, label=self.kind, shrink=0.85)
        return self


class SpectrumDisplay(Display):
    """Eigenvalues of a similarity matrix, before and after a repair.

    Parameters
    ----------
    eigenvalues : ndarray of shape (n,)
        Descending.
    repaired : dict of str to ndarray of shape (n,)
        Eigenvalues after each repair, in the same order of eigenvectors.

    Examples
    --------
    >>> from similis.proximity import SpectrumDisplay
    >>> SpectrumDisplay.from_proximity([[0.0, 1.0], [1.0, 0.0]], plot=False).repaired["flip"]
    array([1., 1.])
    """

    def __init__(self, *, eigenvalues: NDArray[Any], repaired: dict[str, NDArray[Any]]) -> None:
        self.eigenvalues = eigenvalues
        self.repaired = repaired

    @classmethod
    def from_proximity(cls, S: ArrayLike, *, plot: bool = True, ax: Any = None, **options: Any) -> SpectrumDisplay:
        """Decompose the symmetric part of a similarity matrix and draw its spectrum.

        Parameters
        ----------
        S : array-like of shape (n, n)
            Similarities.
        plot : bool, default=True
            Whether to draw at once.
        ax, **options
            Passed to :meth:`plot`.

        Returns
        -------
        SpectrumDisplay
        """
        A = symmetric_part(check_proximity(S))
        l = eigen_symmetric(A).values[::-1].copy()  # noqa: E741
        repaired = {"clip": np.maximum(l, 0), "flip": np.abs(l), "shift": l - min(l.min(initial=0.0), 0)}
        display = cls(eigenvalues=l, repaired=repaired)
        return display.plot(ax=ax, **options) if plot else display

    def svg(self) -> Markup:
        """Eigenvalues and repairs as HTML with inline SVG.

        Returns
        -------
        str
        """
        return draw_spectrum(self)

    def plot(
        self, ax: Any = None, *, repairs: tuple[str, ...] = ("clip", "flip", "shift"), **options: Any
    ) -> SpectrumDisplay:
        """Draw the eigenvalues, negative ones in another colour, and the repairs as lines.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        repairs : tuple of str
            Which repairs to show.
        **options
            Passed to ``Axes.vlines`` of the eigenvalues.

        Returns
        -------
        SpectrumDisplay
            Itself.
        """
        ax = self._axes(ax)
        at = np.arange(1, len(self.eigenvalues) + 1)
        colors = np.where(self.eigenvalues < 0, COLORS[1], COLORS[0])
        ax.vlines(at, 0, self.eigenvalues, colors=colors, **{"linewidth": max(0.6, min(3.0, 250 / len(at))), **options})
        for name, dash, color in zip(repairs, ("-", "--", ":"), (INK, COLORS[2], COLORS[3])):
            ax.plot(at, self.repaired[name], dash, color=color, linewidth=1.4, label=name)
        ax.axhline(0, color=INK, linewidth=0.8)
        top = np.abs(self.eigenvalues).max(initial=0.0)
        ax.set_yscale("symlog", linthresh=max(1e-3 * top, 1e-12))
        ax.set_xlabel("eigenvalue, by size")
        ax.set_ylabel("value (symmetric logarithmic scale)")
        self._frame(ax)
        ax.legend(frameon=False, title="after")
        return self


class EmbeddingDisplay(Display):
    """The objects on the two largest axes of the pseudo-Euclidean embedding.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        Coordinates.
    signature : ndarray of shape (2,)
        -1 for an axis that shortens distances.
    shares : ndarray of shape (2,)
        Share of each axis in the sum of the magnitudes of the eigenvalues.
    codes : ndarray of shape (n,)
        Class of each object.
    class_names : list of str
        Names of the classes; empty without labels.

    Examples
    --------
    >>> from similis.proximity import EmbeddingDisplay
    >>> D = [[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]]
    >>> EmbeddingDisplay.from_proximity(D, kind="dissimilarity", plot=False).points.shape
    (3, 2)
    """

    def __init__(
        self,
        *,
        points: NDArray[Any],
        signature: NDArray[Any],
        shares: NDArray[Any],
        codes: NDArray[np.intp],
        class_names: list[str],
    ) -> None:
        self.points = points
        self.signature = signature
        self.shares = shares
        self.codes = codes
        self.class_names = class_names

    @classmethod
    def from_proximity(
        cls,
        S: ArrayLike,
        y: Any = None,
        *,
        kind: Kind = "similarity",
        plot: bool = True,
        ax: Any = None,
        **options: Any,
    ) -> EmbeddingDisplay:
        """Embed and draw.

        Parameters
        ----------
        S : array-like of shape (n, n)
            Proximities without missing entries; similarities enter as the largest one minus s.
        y : array-like of shape (n,), optional
            Class labels.
        kind : {"similarity", "dissimilarity"}, default="similarity"
            What the numbers are.
        plot : bool, default=True
            Whether to draw at once.
        ax, **options
            Passed to :meth:`plot`.

        Returns
        -------
        EmbeddingDisplay
        """
        A = check_proximity(S, kind=kind)
        D = to_dissimilarities(A, kind)
        model = PseudoEuclidean().fit((D + D.T) / 2)
        X = model.transform((D + D.T) / 2)
        X = np.hstack([X, np.zeros((len(X), 2))])[:, :2]
        total = np.abs(model.eigenvalues_).sum() or 1.0
        shares = np.append(np.abs(model.eigenvalues_) / total, [0.0, 0.0])[:2]
        classes, codes = (
            (np.array([]), np.zeros(len(A), np.intp)) if y is None else check_labels(y, len(A), min_classes=1)
        )
        display = cls(
            points=X,
            signature=np.append(model.signature_, [1, 1])[:2],
            shares=shares,
            codes=codes,
            class_names=[quote(c).strip("'") for c in classes],
        )
        return display.plot(ax=ax, **options) if plot else display

    def svg(self, tips: Sequence[str] | None = None, ringed: Sequence[int] | None = None) -> Markup:
        """The points as HTML with inline SVG.

        Parameters
        ----------
        tips : sequence of str, optional
            What to say of each object.
        ringed : sequence of int, optional
            Objects to draw a ring around.

        Returns
        -------
        str
        """
        return draw_embedding(self, tips, ringed)

    def plot(self, ax: Any = None, **options: Any) -> EmbeddingDisplay:
        """Draw the points, one colour and mark a class.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            Passed to ``Axes.scatter``.

        Returns
        -------
        EmbeddingDisplay
            Itself.
        """
        ax = self._axes(ax)
        marks = "os^Dv<>P"
        for g in range(max(1, len(self.class_names))):
            mine = self.points[self.codes == g]
            style = {"s": 26, "alpha": 0.8, "linewidths": 0.5, "edgecolors": "white"}
            style |= {"color": COLORS[g % len(COLORS)], "marker": marks[g % len(marks)], **options}
            ax.scatter(mine[:, 0], mine[:, 1], label=self.class_names[g] if self.class_names else None, **style)
        for axis, name in enumerate(("x", "y")):
            negative = ", negative" if self.signature[axis] < 0 else ""
            getattr(ax, f"set_{name}label")(f"axis {axis + 1} ({self.shares[axis]:.0%} of the spectrum{negative})")
        self._frame(ax)
        ax.grid(axis="x", color="#e6e6e6", linewidth=0.8)
        if 0 < len(self.class_names) <= 12:
            ax.legend(frameon=False, loc="best")
        return self


class HistogramDisplay(Display):
    """Proximities within classes beside those between them.

    Parameters
    ----------
    within, between : ndarray
        The known off-diagonal entries.
    kind : {"similarity", "dissimilarity"}
        What the numbers are.

    Examples
    --------
    >>> from similis.proximity import HistogramDisplay
    >>> S = [[1.0, 0.8, 0.1], [0.8, 1.0, 0.3], [0.1, 0.3, 1.0]]
    >>> HistogramDisplay.from_proximity(S, [0, 0, 1], plot=False).within
    array([0.8, 0.8])
    """

    def __init__(self, *, within: NDArray[Any], between: NDArray[Any], kind: Kind) -> None:
        self.within = within
        self.between = between
        self.kind = kind

    @classmethod
    def from_proximity(
        cls, S: ArrayLike, y: Any, *, kind: Kind = "similarity", plot: bool = True, ax: Any = None, **options: Any
    ) -> HistogramDisplay:
        """Sort the entries and draw.

        Parameters
        ----------
        S : array-like of shape (n, n)
            Proximities; missing entries are left out.
        y : array-like of shape (n,)
            Class labels.
        kind : {"similarity", "dissimilarity"}, default="similarity"
            What the numbers are.
        plot : bool, default=True
            Whether to draw at once.
        ax, **options
            Passed to :meth:`plot`.

        Returns
        -------
        HistogramDisplay
        """
        A = check_proximity(S, kind=kind, allow_missing=True)
        _, codes = check_labels(y, len(A), who="HistogramDisplay", min_classes=1)
        same = codes[:, None] == codes[None, :]
        off = ~np.eye(len(A), dtype=bool) & ~np.isnan(A)
        display = cls(within=A[same & off], between=A[~same & off], kind=kind)
        return display.plot(ax=ax, **options) if plot else display

    def svg(self) -> Markup:
        """Both distributions as HTML with inline SVG.

        Returns
        -------
        str
        """
        return draw_histogram(self)

    def plot(self, ax: Any = None, **options: Any) -> HistogramDisplay:
        """Draw both distributions, each of area one.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        **options
            Passed to ``Axes.hist``.

        Returns
        -------
        HistogramDisplay
            Itself.
        """
        ax = self._axes(ax)
        everything = np.concatenate([self.within, self.between])
        edges = np.histogram_bin_edges(everything, bins=min(60, max(10, len(np.unique(everything)))))
        for values, name, color in (
            (self.between, "between classes", COLORS[1]),
            (self.within, "within classes", COLORS[0]),
        ):
            style = {"bins": edges, "density": True, "alpha": 0.55, "color": color, "label": name, **options}
            if values.size:
                ax.hist(values, **style)
        ax.set_xlabel(self.kind)
        ax.set_ylabel("density")
        self._frame(ax)
        ax.legend(frameon=False)
        return self


BARS = 160  # eigenvalues drawn; of more, the largest and the smallest
_ANCHORS = ("#fdfcf7", "#cfe6df", "#86c3c6", "#3f93b5", "#25619c", "#1b3a70", "#0c1738")  # little to much alike


def color_limits(A: NDArray[Any]) -> tuple[float, float]:
    """Values at which colours begin and end: all but the outermost hundredths of the entries off the diagonal."""
    known = A[~np.eye(len(A), dtype=bool) & np.isfinite(A)]
    if not known.size:
        known = A[np.isfinite(A)]
    if not known.size:
        return 0.0, 1.0
    low, high = (float(v) for v in np.quantile(known, [0.01, 0.99]))
    if not high > low:
        low, high = float(known.min()), float(known.max())
    if not high > low:
        return low - 0.5, low + 0.5
    tiny = 1e-9 * (high - low)
    return 0.0 if abs(low) < tiny else low, 0.0 if abs(high) < tiny else high


def color_levels(A: NDArray[Any], low: float, high: float) -> NDArray[np.uint8]:
    """Levels 1 to 255 between the limits; 0 where an entry is missing."""
    level = np.clip(np.rint(1 + 254 * (A - low) / (high - low)), 1, 255)
    return np.where(np.isfinite(A), level, 0).astype(np.uint8)


def palette(kind: str) -> NDArray[np.uint8]:
    """256 colours, dark for what is alike."""
    rgb = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in _ANCHORS])
    rgb = rgb if kind == "similarity" else rgb[::-1]
    at = np.linspace(0, len(rgb) - 1, 255)
    ramp = np.stack([np.interp(at, np.arange(len(rgb)), rgb[:, channel]) for channel in range(3)], axis=1)
    return np.vstack([[[128, 128, 128]], np.rint(ramp)]).astype(np.uint8)


def draw_matrix(shown: MatrixDisplay, names: Sequence[str] | None = None) -> Markup:
    """The heat map, with a strip of class colours along two sides, and what the colours mean."""
    low, high = shown.limits
    colors = palette(shown.kind)
    names = [f"object {i + 1}" for i in shown.order] if names is None else list(names)
    n = len(shown.order)
    how = "by class" if len(shown.bounds) > 2 else "by nearness"
    plot = Plot(
        label=f"Heat map of {n} by {n} entries, objects ordered {how}; arrow keys walk through the cells.",
        height=None,
        left=16,
        right=2,
        top=16,
        bottom=6,
        kind="heatmap",
    )
    address = png(shown.levels(), colors)
    plot.add(tag("image", href=address, width="100%", height="100%", preserveAspectRatio="none", class_="heat"))
    plot.add(*_class_strips(shown, n))
    data = {"low": low, "high": high, "kind": shown.kind, "names": names}
    frame = tag("div", plot.html(), data_heat=json.dumps(data, separators=(",", ":")))
    ramp = png(np.arange(1, 256, dtype=np.uint8)[None, :], colors)
    near = [" (alike)" if shown.kind == end else "" for end in ("dissimilarity", "similarity")]
    scale = tag(
        "div",
        tag("span", f"\N{LESS-THAN OR EQUAL TO} {short(low)}{near[0]}"),
        tag("img", src=ramp, alt=f"colours of {shown.kind} from {short(low)} to {short(high)}", class_="ramp"),
        tag("span", f"\N{GREATER-THAN OR EQUAL TO} {short(high)}{near[1]}"),
        class_="scale",
    )
    legend = class_legend(shown.class_names) if shown.class_names else Markup("")
    return join([frame, scale, legend])


def _class_strips(shown: MatrixDisplay, n: int) -> list[Markup]:
    """Runs of objects of one class, in its colour, left of the matrix and above it."""
    if not shown.class_names:
        return []
    edges = [0, *(np.flatnonzero(np.diff(shown.codes)) + 1).tolist(), n]
    parts = []
    for start, end in pairwise(edges):
        css = f"k c{shown.codes[start] % 8}"
        at, size = f"{100 * start / n:.3f}%", f"{100 * (end - start) / n:.3f}%"
        parts.append(tag("rect", x=-12, y=at, width=7, height=size, class_=css))
        parts.append(tag("rect", x=at, y=-12, width=size, height=7, class_=css))
    return parts


def class_legend(class_names: Sequence[str], counts: Sequence[int] | None = None, most: int = 24) -> Markup:
    """Mark and name of each class."""
    items = []
    for g, name in enumerate(class_names[:most]):
        symbol = tag("svg", tag("path", d=SHAPES[g % len(SHAPES)]), viewBox="-7 -7 14 14", aria_hidden="true")
        text = name if counts is None else f"{name} ({counts[g]})"
        items.append(tag("li", symbol, tag("span", text), class_=f"c{g % 8}"))
    if len(class_names) > most:
        items.append(tag("li", f"and {len(class_names) - most} more"))
    return tag("ul", *items, class_="legend")


def draw_spectrum(shown: SpectrumDisplay) -> Markup:
    """Eigenvalues as needles, the repairs as lines; of many, the two ends."""
    values = shown.eigenvalues
    n = len(values)
    keep = np.arange(n) if n <= BARS else np.r_[: BARS // 2, n - BARS // 2 : n]
    top = float(np.abs(values).max(initial=0.0)) or 1.0
    high = max(float(v.max(initial=0.0)) for v in [values, *shown.repaired.values()]) or 1.0
    low = min(float(values.min(initial=0.0)), 0.0)
    y = Scale(1.15 * low, 1.15 * high, "symlog", down=True, linear=max(1e-3 * top, 1e-12))
    n_negative = int((values < -1e-9 * top).sum())
    plot = Plot(
        label=f"Spectrum: {n} eigenvalues, {n_negative} of them negative, and what repairs make of them.",
        x=Scale(0, len(keep) + 1),
        y=y,
        x_title="eigenvalues by size" + ("" if n <= BARS else f": the {BARS // 2} largest, the {BARS // 2} smallest"),
        y_title="eigenvalue (symmetric logarithmic scale)",
        height=400,
        kind="spectrum",
    )
    plot.y_axis((y(t), short(t)) for t in y.ticks(6))
    places = [plot.x(i + 1) for i in range(len(keep))]  # type: ignore[misc]
    plot.x_axis([(places[0], "1"), (places[-1], str(n))], grid=False)
    plot.add(tag("line", x1=0, x2="100%", y1=f"{y(0):.2f}%", y2=f"{y(0):.2f}%", class_="rule"))
    width = min(8.0, 70 / len(keep))
    for place, rank in zip(places, keep):
        value = float(values[rank])
        ends = sorted((y(0), y(value)))
        tip = f"eigenvalue {rank + 1} of {n}: {short(value)}"
        tip += "".join(f"\n{name}: {short(float(repaired[rank]))}" for name, repaired in shown.repaired.items())
        bar = {"x": f"{place - width / 2:.2f}%", "y": f"{ends[0]:.2f}%", "width": f"{width:.2f}%"}
        css = "m bad" if value < -1e-9 * top else "m key"
        plot.add(tag("rect", **bar, height=f"{max(ends[1] - ends[0], 0.3):.2f}%", class_=css, data_t=tip))
    styles = {"clip": "k c6", "flip": "k c2 dash", "shift": "k c3 dotted"}
    for name, repaired in shown.repaired.items():
        plot.line(places, [y(float(repaired[rank])) for rank in keep], styles.get(name, ""))
    return join([plot.html(), _line_legend({name: styles.get(name, "") for name in shown.repaired})])


def _line_legend(styles: dict[str, str]) -> Markup:
    dashes = {"dash": "5 4", "dotted": "2 3"}
    items = []
    for name, css in styles.items():
        dash = next((dashes[word] for word in css.split() if word in dashes), None)
        stroke = tag("path", d="M-7 0H7", class_="stroke", stroke_dasharray=dash)
        color = next((word for word in css.split() if word[0] == "c"), "c6")
        symbol = tag("svg", stroke, viewBox="-7 -7 14 14", aria_hidden="true")
        items.append(tag("li", symbol, tag("span", f"after {name}"), class_=color))
    return tag("ul", *items, class_="legend")


def draw_embedding(
    shown: EmbeddingDisplay, tips: Sequence[str] | None = None, ringed: Sequence[int] | None = None
) -> Markup:
    """The points, a colour and shape a class; `ringed` ones get a circle around."""
    X = np.asarray(shown.points, dtype=np.float64)
    x, y = (_around(X[:, axis], down=axis == 1) for axis in (0, 1))
    titles = [
        f"axis {axis + 1}: {shown.shares[axis]:.0%} of the spectrum{', negative' if shown.signature[axis] < 0 else ''}"
        for axis in (0, 1)
    ]
    plot = Plot(
        label=f"Embedding of {len(X)} objects in two dimensions, a colour and shape for each class.",
        x=x,
        y=y,
        x_title=titles[0],
        y_title=titles[1],
        height=430,
        kind="embedding",
    )
    plot.axes()
    names = [f"object {i + 1}" for i in range(len(X))] if tips is None else tips
    size = "tiny" if len(X) > 600 else "small" if len(X) > 250 else ""
    for (a, b), g, tip in zip(X.tolist(), shown.codes.tolist(), names):
        plot.add(plot.mark(x(a), y(b), tip, css=f"k c{g % 8} {size}".strip(), shape=g, data_g=g))
    for i in ringed or ():
        place = {"cx": f"{x(X[i, 0]):.2f}%", "cy": f"{y(X[i, 1]):.2f}%"}
        plot.add(tag("circle", **place, r=8, class_="ring"))
    counts = np.bincount(shown.codes, minlength=len(shown.class_names)).tolist()
    return join([plot.html(), class_legend(shown.class_names, counts) if shown.class_names else ""])


def _around(values: NDArray[Any], *, down: bool) -> Scale:
    low, high = float(values.min(initial=0.0)), float(values.max(initial=0.0))
    reach = 0.04 * (high - low) or 1.0
    return Scale(low - reach, high + reach, down=down)


def draw_histogram(shown: HistogramDisplay) -> Markup:
    """Both distributions over the same bins."""
    everything = np.concatenate([shown.within, shown.between])
    edges = np.histogram_bin_edges(everything, bins=min(40, max(10, len(np.unique(everything)))))
    parts = (("within classes", shown.within, "c0"), ("between classes", shown.between, "c1"))
    shares = {name: np.histogram(v, edges)[0] / max(1, v.size) for name, v, _ in parts}
    y = Scale(0, 1.08 * max(float(s.max(initial=0.0)) for s in shares.values()) or 1.0, down=True)
    x = Scale(float(edges[0]), float(edges[-1]))
    plot = Plot(
        label="Distribution of the proximities within classes and between them.",
        x=x,
        y=y,
        x_title=shown.kind,
        y_title="share of the pairs",
        height=240,
        kind="histogram",
    )
    plot.axes(show_y=lambda v: f"{100 * v:.3g} %")
    for name, _, color in parts:
        for a, b, share in zip(edges[:-1].tolist(), edges[1:].tolist(), shares[name].tolist()):
            bar = {"x": f"{x(a):.2f}%", "width": f"{x(b) - x(a):.2f}%", "y": f"{y(share):.2f}%"}
            tip = f"{name}\n{short(a)} to {short(b)}: {share:.1%} of the pairs"
            if share:
                css = f"m k {color} soft"
                plot.add(tag("rect", **bar, height=f"{100 - y(share):.2f}%", class_=css, data_t=tip))
    return join([plot.html(), class_legend([name for name, _, _ in parts])])
