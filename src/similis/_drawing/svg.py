"""HTML and SVG by construction: whatever is not markup already is escaped, so names can hold anything."""

from __future__ import annotations

import math
import struct
import zlib
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Markup", "join", "number", "png", "tag", "SHAPES", "Plot", "Scale", "framed", "plot_style", "short"]


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


_VOID = {"br", "circle", "img", "input", "line", "meta", "path", "rect", "use", "wbr"}


def tag(name: str, /, *content: Any, **attributes: Any) -> Markup:
    """An element; plain text in it is escaped, attributes that are None are left out.

    An underscore in the name of an attribute stands for a hyphen, one at its end for nothing (``class_``).
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(number(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID and not content:
        return Markup(f"<{name}{given}/>" if name not in ("meta", "input", "img", "br", "wbr") else f"<{name}{given}>")
    return Markup(f"<{name}{given}>{join(content)}</{name}>")


def join(parts: Iterable[Any], between: str = "") -> Markup:
    """Parts one after the other, those that are not markup escaped."""
    return Markup(between.join(part if isinstance(part, Markup) else escape(str(part)) for part in parts))


def number(value: Any) -> str:
    """A number as short as it may be in markup; other things as text."""
    if isinstance(value, (float, np.floating)):
        text = f"{value:.2f}".rstrip("0").rstrip(".")
        return "0" if text == "-0" else text
    return str(value)


def png(levels: NDArray[np.uint8], palette: NDArray[np.uint8]) -> str:
    """A picture of at most 256 colours as the address of an image; level 0 is transparent.

    Parameters
    ----------
    levels : ndarray of shape (height, width)
        Index into the palette.
    palette : ndarray of shape (256, 3)
        Red, green, blue.
    """

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = levels.shape
    rows = np.hstack([np.zeros((height, 1), dtype=np.uint8), levels])  # each row begins with "no filter"
    data = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
        + chunk(b"PLTE", palette.astype(np.uint8).tobytes())
        + chunk(b"tRNS", b"\0")
        + chunk(b"IDAT", zlib.compress(rows.tobytes(), 9))
        + chunk(b"IEND", b"")
    )
    return "data:image/png;base64," + b64encode(data).decode()


# Marks of about the same area around the origin, told apart without colour.
SHAPES = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "M-3.5-3.5h7v7h-7z",
    "M0-4.9 4.6 3.4h-9.2z",
    "M0-5 5 0 0 5-5 0z",
    "M0 4.9 4.6-3.4h-9.2z",
    "M-4.6-1.6h3v-3h3.2v3h3v3.2h-3v3h-3.2v-3h-3z",
)


@dataclass(frozen=True)
class Scale:
    """From numbers to places between 0 and 100.

    Parameters
    ----------
    low, high : float
        The numbers at the two ends.
    kind : {"linear", "log", "symlog"}, default="linear"
        How places grow with numbers.
    down : bool, default=False
        Whether large numbers have small places, as on an axis that points upwards.
    linear : float, default=1.0
        Around zero, where "symlog" is linear.
    """

    low: float
    high: float
    kind: Literal["linear", "log", "symlog"] = "linear"
    down: bool = False
    linear: float = 1.0

    def __call__(self, value: float) -> float:
        low, high, v = (self._bend(x) for x in (self.low, self.high, value))
        share = (v - low) / (high - low) if high > low else 0.5
        return 100 * (1 - share if self.down else share)

    def ticks(self, n: int = 5) -> list[float]:
        """A handful of round numbers."""
        if self.kind == "linear":
            return _round_numbers(self.low, self.high, n)
        if self.kind == "log":
            first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
            if last - first < 2:  # hardly a decade: 1, 2, 5 of each
                fine = [m * 10.0**p for p in range(first - 1, last + 1) for m in (1, 2, 5)]
                return [t for t in fine if self.low <= t <= self.high]
            step = max(1, math.ceil((last - first) / n))
            return [10.0**p for p in range(first, last + 1, step)]
        return self._symlog_ticks(n)

    def _symlog_ticks(self, n: int) -> list[float]:
        smallest = math.ceil(math.log10(self.linear))
        found = {0.0}
        for end in (self.low, self.high):
            if abs(end) > self.linear:
                largest = math.floor(math.log10(abs(end)) + 1e-9)
                step = max(1, math.ceil((largest - smallest + 1) / (n - 2)))
                found |= {math.copysign(10.0**p, end) for p in range(largest, smallest - 1, -step)}
        return sorted(found)

    def _bend(self, x: float) -> float:
        if self.kind == "log":
            return math.log10(x)
        if self.kind == "symlog":
            return math.asinh(x / self.linear)
        return x


def _round_numbers(low: float, high: float, n: int) -> list[float]:
    span = high - low
    if not span > 0:
        return [low]
    step = 10.0 ** math.floor(math.log10(span / n))
    step *= next(m for m in (1, 2, 2.5, 5, 10) if span / (m * step) <= n + 1e-9)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)]


@dataclass
class Plot:
    """One picture: axes and marks, written out by :meth:`html`.

    Parameters
    ----------
    label : str
        What is seen, in a sentence for those who do not see it.
    x, y : Scale or None
        For ticks and :meth:`place`.
    x_title, y_title : str
        What the axes show.
    height : int or None
        In pixels; None makes the plot square.
    left : int
        Pixels for the labels on the left; right, top, bottom likewise.
    kind : str
        Which plot it is, as a class of the markup.
    width : tuple of int, optional
        Least and largest width in pixels, labels apart.
    """

    label: str
    x: Scale | None = None
    y: Scale | None = None
    x_title: str = ""
    y_title: str = ""
    height: int | None = 300
    left: int = 52
    right: int = 14
    top: int = 8
    bottom: int = 42
    kind: str = ""
    width: tuple[int, int] | None = None
    parts: list[Markup] = field(default_factory=list)

    def add(self, *parts: Markup) -> None:
        """Put elements on top of what is there."""
        self.parts.extend(parts)

    def x_axis(self, ticks: Iterable[tuple[float, str]], *, grid: bool = True) -> None:
        """Ticks along the bottom, at places in per cent."""
        for place, text in ticks:
            at = f"{place:.2f}%"
            if grid:
                self.add(tag("line", x1=at, x2=at, y1=0, y2="100%", class_="grid"))
            self.add(tag("text", text, x=at, y="100%", dy="1.5em", class_="tick mid"))
        if self.x_title:
            self.add(tag("text", self.x_title, x="50%", y="100%", dy="2.9em", class_="title mid"))

    def y_axis(self, ticks: Iterable[tuple[float, str]], *, grid: bool = True) -> None:
        """Ticks along the left, at places in per cent."""
        for place, text in ticks:
            at = f"{place:.2f}%"
            if grid:
                self.add(tag("line", x1=0, x2="100%", y1=at, y2=at, class_="grid"))
            self.add(tag("text", text, x=-8, y=at, dy=".35em", class_="tick end"))
        if self.y_title:
            self.add(tag("text", self.y_title, x=-self.left + 2, y=0, dy="-.7em", class_="title"))

    def axes(self, show_x: Any = None, show_y: Any = None) -> None:
        """Both axes from their scales; `show_x` and `show_y` turn numbers into text."""
        if self.x is not None:
            self.x_axis((self.x(t), (show_x or short)(t)) for t in self.x.ticks())
        if self.y is not None:
            self.y_axis((self.y(t), (show_y or short)(t)) for t in self.y.ticks())

    def mark(self, x: float, y: float, tip: str, *, css: str = "", shape: int = 0, **more: Any) -> Markup:
        """A symbol at a place in per cent."""
        at = {"x": f"{x:.2f}%", "y": f"{y:.2f}%"}
        inner = tag("path", d=SHAPES[shape % len(SHAPES)])
        return tag("svg", inner, **at, class_=f"m {css}".strip(), data_t=tip, overflow="visible", **more)

    def dot(self, x: float, y: float, tip: str, *, r: float = 4, css: str = "", **more: Any) -> Markup:
        """A circle at a place in per cent."""
        return tag("circle", cx=f"{x:.2f}%", cy=f"{y:.2f}%", r=r, class_=f"m {css}".strip(), data_t=tip, **more)

    def line(self, xs: Sequence[float], ys: Sequence[float], css: str = "") -> None:
        """A line through places in per cent; its width does not change with the size of the plot."""
        d = "M" + " ".join(f"{x:.2f} {y:.2f}" for x, y in zip(xs, ys))
        path = tag("path", d=d, class_=f"line {css}".strip(), vector_effect="non-scaling-stroke")
        self.add(tag("svg", path, viewBox="0 0 100 100", preserveAspectRatio="none", overflow="visible"))

    def html(self) -> Markup:
        """The plot with its frame."""
        pad = f"padding:{self.top + (16 if self.y_title else 0)}px {self.right}px {self.bottom}px {self.left}px"
        if self.width:
            low, high = (w + self.left + self.right for w in self.width)
            pad += f";min-width:{low}px;max-width:{high}px"
        size = f"height:{self.height}px" if self.height else "aspect-ratio:1"
        svg = tag(
            "svg",
            *self.parts,
            role="group",
            tabindex=0,
            aria_roledescription="chart",
            aria_label=self.label,
            style=size,
        )
        return tag("div", svg, class_=f"plot {self.kind}".strip(), style=pad)


def short(value: float) -> str:
    """A number for an axis."""
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e5:
        return f"{value:.4g}".replace("-", "\N{MINUS SIGN}")
    mantissa, power = f"{value:.3g}".split("e") if "e" in f"{value:.3g}" else (f"{value:.0e}".split("e"))
    raised = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    mantissa = mantissa.replace("-", "\N{MINUS SIGN}")
    if mantissa.lstrip("\N{MINUS SIGN}") == "1":
        return f"{mantissa[:-1]}10{raised}"
    return f"{mantissa}·10{raised}"


def plot_style() -> Markup:
    """The style sheet of the plots, light and dark."""
    return Markup(files("similis._drawing").joinpath("plot.css").read_text(encoding="utf-8"))


def framed(*plots: Markup) -> str:
    """Plots with their style, to stand alone in a notebook."""
    return tag("div", tag("style", plot_style()), join(plots), class_="similis", style="padding:12px;border-radius:8px")
