"""Descriptions of pictures: axes and marks in data coordinates.

Colors are names of ``plot.css``: ``ink``, ``muted``, ``accent``, ``bad``, ``good`` and ``c0`` to ``c7`` for classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Numbers = Sequence[float] | NDArray[Any]
Dash = Literal["", "dash", "dotted"]


def format_number(value: float) -> str:
    """Format a number for an axis: four digits, powers of ten outside 0.001 to 100000."""
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e5:
        return f"{value:.4g}".replace("-", "\N{MINUS SIGN}")
    mantissa, power = f"{value:.2e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".").replace("-", "\N{MINUS SIGN}")
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    whole = mantissa.removesuffix("1") if len(mantissa.lstrip("\N{MINUS SIGN}")) == 1 else mantissa
    return f"{whole}10{raised}" if whole != mantissa else f"{mantissa}·10{raised}"


@dataclass(frozen=True)
class Axis:
    """Range, scale and tick labels of one axis."""

    low: float
    high: float
    title: str = ""  # quantity and unit
    scale: Literal["linear", "log", "symlog"] = "linear"
    linear: float = 1.0  # "symlog" is linear within this distance of zero and logarithmic beyond
    reverse: bool = False  # values grow to the left or downwards
    ticks: Sequence[tuple[float, str]] | None = None  # values and labels; by default about `n_ticks` round numbers
    n_ticks: int = 5
    format: Callable[[float], str] = format_number  # label of an automatic tick
    grid: bool = True  # draw a line at each tick
    names: bool = False  # the ticks are names of rows or columns; those of columns stand upright above the picture
    strong: Sequence[bool] = ()  # ticks in bold face
    linked: bool = False  # the names are methods; a page highlights them together with the same method elsewhere

    def place(self, value: float) -> float:
        """Position of a value between 0 (left or bottom) and 1."""
        low, high, v = (self._transform(x) for x in (self.low, self.high, value))
        share = (v - low) / (high - low) if high > low else 0.5
        return 1 - share if self.reverse else share

    def labels(self) -> list[tuple[float, str]]:
        """Tick values with their labels."""
        return [(t, self.format(t)) for t in self.find_ticks()] if self.ticks is None else list(self.ticks)

    def find_ticks(self) -> list[float]:
        """About `n_ticks` round numbers between the ends, the same for both renderers."""
        if self.scale == "linear":
            span = self.high - self.low
            if not span > 0:
                return [self.low]
            step = 10.0 ** math.floor(math.log10(span / self.n_ticks))
            step *= next(m for m in (1, 2, 2.5, 5, 10) if span / (m * step) <= self.n_ticks + 1e-9)
            first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
            return [k * step for k in range(first, last + 1)]
        if self.scale == "log":
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            if last - first < 2:  # less than two decades: 1, 2, 5 of each
                fine = [m * 10.0**p for p in range(first - 1, last + 1) for m in (1, 2, 5)]
                return [t for t in fine if self.low <= t <= self.high]
            return [10.0**p for p in range(first, last + 1, max(1, math.ceil((last - first) / self.n_ticks)))]
        smallest, found = math.ceil(math.log10(self.linear)), {0.0}
        for end in (self.low, self.high):
            if abs(end) > self.linear:
                largest = math.floor(math.log10(abs(end)) + 1e-9)
                step = max(1, math.ceil((largest - smallest + 1) / (self.n_ticks - 2)))
                found |= {math.copysign(10.0**p, end) for p in range(largest, smallest - 1, -step)}
        return sorted(found)

    def _transform(self, x: float) -> float:
        if self.scale == "log":
            return math.log10(x)
        return math.asinh(x / self.linear) if self.scale == "symlog" else x


def names_axis(names: Sequence[str], title: str = "", **options: Any) -> Axis:
    """Axis with a name at each of 0, 1, 2, ...; pass ``reverse=True`` for rows from top to bottom."""
    return Axis(-0.5, len(names) - 0.5, title, ticks=list(enumerate(names)), grid=False, names=True, **options)


@dataclass(frozen=True, kw_only=True)
class Mark:
    """Base of everything drawn between the axes."""

    color: str | Sequence[str] = "muted"  # of all elements, or one per element
    opacity: float = 1.0  # of the filled area
    tips: Sequence[str] = ()  # shown for each element on hover, touch and arrow keys; without, a mark is decoration
    method: str = ""  # method shown; a page highlights its row and its marks together
    name: str = ""  # additional class of the markup
    main: bool = False  # receives the options that a user gives to ``plot``

    def color_of(self, k: int) -> str:
        """Color of element `k`."""
        return self.color if isinstance(self.color, str) else self.color[k]


@dataclass(frozen=True)
class Points(Mark):
    """Symbols; `size` is their radius in pixels, `shape` an index of six shapes."""

    x: Numbers
    y: Numbers
    shape: int | Sequence[int] = 0
    size: float | Sequence[float] = 4.0
    hollow: bool = False
    methods: Sequence[str] = ()  # one method per element instead of one for all


@dataclass(frozen=True)
class Lines(Mark):
    """Line through points."""

    x: Numbers
    y: Numbers
    dash: Dash = ""
    width: float = 1.5


@dataclass(frozen=True)
class Segments(Mark):
    """Separate straight lines of a width in pixels."""

    x0: Numbers
    y0: Numbers
    x1: Numbers
    y1: Numbers
    width: float = 1.0


@dataclass(frozen=True)
class Bars(Mark):
    """Rectangles between x0 and x1, y0 and y1."""

    x0: Numbers
    x1: Numbers
    y0: Numbers
    y1: Numbers


@dataclass(frozen=True)
class Rule(Mark):
    """Line across the whole picture at a value of one axis."""

    at: float
    axis: Literal["x", "y"]
    dash: Dash = ""


@dataclass(frozen=True)
class Texts(Mark):
    """Words at points, moved by dx pixels to the right."""

    x: Numbers
    y: Numbers
    texts: Sequence[str]
    anchor: Literal["start", "middle", "end"] = "middle"
    dx: float = 0.0


@dataclass(frozen=True)
class Labels(Mark):
    """Names of points, placed beside them by :func:`place_labels`; `around` are points to keep clear of."""

    x: Numbers
    y: Numbers
    texts: Sequence[str]
    strong: Sequence[bool]
    around: tuple[Numbers, Numbers]


@dataclass(frozen=True)
class Cells(Mark):
    """Small matrix between two axes of names, one rectangle per entry; NaN is left blank."""

    values: NDArray[np.float64]
    low: float  # value of the palest cell
    high: float  # value of the darkest cell
    shades: tuple[float, float] = (0.06, 1.0)  # opacity at `low` and at `high`
    colors: Sequence[Sequence[str]] | None = None  # of each cell in a page; matplotlib maps white to `color`
    texts: Sequence[Sequence[str]] | None = None  # words in the cells
    title: str = ""  # of the color bar of matplotlib; no color bar without


@dataclass(frozen=True)
class HeatMap(Mark):
    """Large matrix as an image of 255 colors; NaN is left blank."""

    values: NDArray[Any]
    low: float  # value at which the colors begin
    high: float  # value at which they end
    title: str  # quantity shown
    names: Sequence[str]  # of the objects
    dark: Literal["low", "high"] = "high"  # end of the scale with the dark colors
    ends: tuple[str, str] = ("", "")  # remarks on the two ends of the color scale


@dataclass(frozen=True)
class Groups(Mark):
    """Classes of the objects along both sides of a heat map: colored strips in a page, lines in matplotlib."""

    codes: NDArray[np.intp]
    names: Sequence[str]


@dataclass(frozen=True)
class Key:
    """Entry of a legend: a symbol, or a line where `shape` is None."""

    text: str
    color: str
    shape: int | None = 0
    dash: Dash = ""


@dataclass(frozen=True)
class Figure:
    """One picture."""

    label: str  # content in a sentence, for screen readers
    x: Axis
    y: Axis
    marks: list[Mark] = field(default_factory=list)  # from back to front
    kind: str = ""  # class of the markup
    height: int | None = 300  # pixels of a page; None makes the picture square
    title: str = ""  # heading of a panel among several
    note: str = ""  # remark beside it
    legend: Sequence[Key] = ()  # a page shows it where it has several entries
    legend_title: str = ""
    width: tuple[int, int] | None = None  # least and largest width in pixels of a page
    margin: int | None = None  # pixels on the left and on the right of a picture without axes
    frame: bool = True  # draw the axes; False for a picture that draws its own


def class_color(g: int) -> str:
    """Color of class `g`; there are eight, told apart by all common kinds of color vision."""
    return f"c{g % 8}"


def label_width(names: Sequence[str], least: int = 34) -> int:
    """Pixels for names on the left of a picture."""
    return min(190, max([least - 18, *(round(6.9 * len(name)) for name in names)]) + 18)


def place_labels(figure: Figure, mark: Labels) -> list[tuple[int, int]]:
    """Offsets in pixels, right (the name ends there if negative) and down, by which names cover the fewest points."""

    def to_places(xs: Numbers, ys: Numbers) -> list[tuple[float, float]]:
        return [(100 * figure.x.place(x), 100 * (1 - figure.y.place(y))) for x, y in zip(xs, ys)]

    points = to_places(*mark.around)
    taken: list[tuple[float, float, float, float]] = []
    found = []
    for (x, y), text in zip(to_places(mark.x, mark.y), mark.texts):
        wide, best = 2.3 * len(text), (math.inf, 9, 0, (0.0, 0.0, 0.0, 0.0))
        for right, down in ((9, 0), (-9, 0), (9, -17), (9, 17), (-9, -17), (-9, 17)):
            left = x + (2.4 if right > 0 else -2.4 - wide)
            box = (left, y + 0.3 * down - 2.3, left + wide, y + 0.3 * down + 2.3)
            outside = max(0.0, box[2] - 101) + max(0.0, -1 - box[0])
            over = sum(box[0] <= t[2] and t[0] <= box[2] and box[1] <= t[3] and t[1] <= box[3] for t in taken)
            hit = sum(box[0] - 1 < u < box[2] + 1 and box[1] - 1 < v < box[3] + 1 for u, v in points)
            best = min(best, (100 * over + 10 * outside + hit, right, down, box), key=lambda spot: spot[0])
        taken.append(best[3])
        found.append(best[1:3])
    return found
