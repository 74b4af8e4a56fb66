"""Renderer of figures to HTML with inline SVG; positions are percentages, so that labels keep their size."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from similis._drawing import figure as fig
from similis._drawing.html import Markup, read_template, render, tag

# Symbols of about the same area around the origin, told apart without color.
SHAPES = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
    "M-3.5-3.5h7v7h-7z",
    "M0-4.9 4.6 3.4h-9.2z",
    "M0-5 5 0 0 5-5 0z",
    "M0 4.9 4.6-3.4h-9.2z",
    "M-4.6-1.6h3v-3h3.2v3h3v3.2h-3v3h-3.2v-3h-3z",
)
_ANCHORS = ("#fdfcf7", "#cfe6df", "#86c3c6", "#3f93b5", "#25619c", "#1b3a70", "#0c1738")
_LEGEND = 24  # entries of a legend


def render_svg(figures: Sequence[fig.Figure]) -> Markup:
    """Render figures, several as panels side by side."""
    panels = len(figures) > 1 or any(figure.title for figure in figures)
    shown = Markup().join(_render(figure, panel=panels) for figure in figures)
    return tag("div", shown, class_="panels") if panels else shown


def plot_style() -> Markup:
    """Style sheet of the pictures, light and dark."""
    return read_template("similis._drawing", "plot.css")


def frame_for_notebook(*parts: Markup, style: str = "") -> str:
    """Put pictures and their style into one element, for a notebook."""
    return str(render("similis._drawing", "notebook.html", style=plot_style() + style, parts=parts))


def _padding(figure: fig.Figure) -> tuple[int, int, int, int]:
    """Pixels above, right of, below and left of a picture, enough for its tick labels and titles."""
    if not figure.frame:
        right, left = (6, 16) if figure.margin is None else (figure.margin, figure.margin)
        return 16, right, 6, left
    left = fig.label_width([text for _, text in figure.y.labels()])
    if figure.x.names:
        longest = max([1, *(len(text) for _, text in figure.x.labels())])
        return min(190, round(6.7 * longest) + 16), 6, 6, left
    return 24 if figure.y.title else 8, 18, 42 if figure.x.title else 24, left


def _render(figure: fig.Figure, *, panel: bool) -> Markup:
    heat = next((mark for mark in figure.marks if isinstance(mark, fig.HeatMap)), None)
    top, right, bottom, left = _padding(figure)
    style = f"padding:{top}px {right}px {bottom}px {left}px"
    if figure.width:
        style += ";min-width:{}px;max-width:{}px".format(*(w + left + right for w in figure.width))
    parts = list(_axes(figure, left)) if figure.frame else []
    for method, marks in groupby(figure.marks, key=lambda mark: mark.method):
        drawn = [part for mark in marks for part in _draw(mark, figure)]
        parts += [tag("g", *drawn, data_m=method)] if method else drawn
    context = {
        "grid": any(isinstance(mark, fig.Cells) for mark in figure.marks),
        "legend": figure.legend[:_LEGEND] if len(figure.legend) > 1 else (),
        "n_more": max(0, len(figure.legend) - _LEGEND),
        "ramp": "" if heat is None else png(np.arange(1, 256, dtype=np.uint8)[None, :], heat_palette(heat.dark)),
    }
    context |= {"figure": figure, "panel": panel, "heat": heat, "style": style, "parts": Markup().join(parts)}
    return render("similis._drawing", "plot.html", shapes=SHAPES, number=fig.format_number, **context)


def _axes(figure: fig.Figure, left: int) -> Iterator[Markup]:
    is_short = all(len(text) < 3 for _, text in figure.x.labels())
    for value, text, css, method in _ticks(figure.x):
        at = _percent(figure.x.place(value))
        if figure.x.grid:
            yield tag("line", x1=at, x2=at, y1=0, y2="100%", class_="grid")
        if figure.x.names:
            turn = {"class_": f"{css} mid"} if is_short else {"dy": ".35em", "transform": "rotate(-90)", "class_": css}
            yield tag("svg", tag("text", text, **turn), x=at, y=-8, overflow="visible", data_m=method)
        else:
            yield tag("text", text, x=at, y="100%", dy="1.5em", class_=f"{css} mid")
    for value, text, css, method in _ticks(figure.y):
        at = _percent(1 - figure.y.place(value))
        if figure.y.grid:
            yield tag("line", x1=0, x2="100%", y1=at, y2=at, class_="grid")
        yield tag("text", text, x=-8, y=at, dy=".35em", class_=f"{css} end", data_m=method)
    if figure.x.title and not figure.x.names:
        yield tag("text", figure.x.title, x="50%", y="100%", dy="2.9em", class_="title mid")
    if figure.y.title and not figure.y.names:
        yield tag("text", figure.y.title, x=2 - left, y=0, dy="-.9em", class_="title")


def _ticks(axis: fig.Axis) -> Iterator[tuple[float, str, str, str]]:
    for k, (value, text) in enumerate(axis.labels()):
        strong = k < len(axis.strong) and axis.strong[k]
        yield value, text, "tick strong" if strong else "tick", text if axis.linked else ""


def _draw(mark: fig.Mark, figure: fig.Figure) -> Iterator[Markup]:
    """Elements of a mark. Those with a tip have the class ``m``, which the script of a page looks for."""

    def at(x: float, y: float) -> tuple[str, str]:
        return _percent(figure.x.place(x)), _percent(1 - figure.y.place(y))

    def look(k: int = 0) -> dict[str, Any]:
        css = " ".join(filter(None, ("m" if mark.tips else "", mark.color_of(k), mark.name)))
        faint, tip = mark.opacity if mark.opacity < 1 else None, mark.tips[k] if mark.tips else None
        return {"class_": css, "fill_opacity": faint, "data_t": tip}

    match mark:
        case fig.Points():
            for k, (x, y) in enumerate(zip(mark.x, mark.y)):
                shape = mark.shape if isinstance(mark.shape, int) else mark.shape[k]
                size = mark.size if isinstance(mark.size, (int, float)) else mark.size[k]
                cx, cy = at(x, y)
                given = {**look(k), "data_m": mark.methods[k] if mark.methods else None}
                if mark.hollow:
                    yield tag("circle", cx=cx, cy=cy, r=size, class_=f"ring {mark.color_of(k)}")
                elif shape % len(SHAPES) == 0:
                    yield tag("circle", cx=cx, cy=cy, r=size, **given)
                else:
                    scale = None if size == 4 else f"scale({size / 4:.2g})"
                    symbol = tag("path", d=SHAPES[shape % len(SHAPES)], transform=scale)
                    yield tag("svg", symbol, x=cx, y=cy, overflow="visible", **given)
        case fig.Lines():
            places = ((100 * figure.x.place(x), 100 - 100 * figure.y.place(y)) for x, y in zip(mark.x, mark.y))
            path = " ".join(f"{x:.2f} {y:.2f}" for x, y in places)
            css = " ".join(filter(None, ("line", mark.color_of(0), mark.dash, mark.name)))
            width = None if mark.width == 1.5 else f"stroke-width:{mark.width:g}"
            line = tag("path", d=f"M{path}", class_=css, style=width, vector_effect="non-scaling-stroke")
            yield tag("svg", line, viewBox="0 0 100 100", preserveAspectRatio="none", overflow="visible")
        case fig.Segments():
            for k, (x0, y0, x1, y1) in enumerate(zip(mark.x0, mark.y0, mark.x1, mark.y1)):
                (a, b), (c, d) = at(x0, y0), at(x1, y1)
                yield tag("line", x1=a, y1=b, x2=c, y2=d, stroke_width=float(mark.width), **look(k))
        case fig.Bars():
            for k, (x0, x1, y0, y1) in enumerate(zip(mark.x0, mark.x1, mark.y0, mark.y1)):
                left, right = sorted((figure.x.place(x0), figure.x.place(x1)))
                top, bottom = sorted((1 - figure.y.place(y0), 1 - figure.y.place(y1)))
                box = {"width": _percent(max(right - left, 0.003)), "height": _percent(max(bottom - top, 0.003))}
                yield tag("rect", x=_percent(left), y=_percent(top), **box, **look(k))
        case fig.Rule():
            place = _percent(figure.x.place(mark.at) if mark.axis == "x" else 1 - figure.y.place(mark.at))
            ends = {"x1": place, "x2": place, "y1": 0, "y2": "100%"}
            if mark.axis == "y":
                ends = {"x1": 0, "x2": "100%", "y1": place, "y2": place}
            yield tag("line", **ends, class_=f"rule {mark.color_of(0)} {mark.dash}".strip())
        case fig.Texts():
            side = {"start": "", "middle": " mid", "end": " end"}[mark.anchor]
            for k, (x, y, text) in enumerate(zip(mark.x, mark.y, mark.texts)):
                (px, py), given = at(x, y), look(k)
                given["class_"] += side
                yield tag("text", text, x=px, y=py, dx=mark.dx or None, dy=".35em", **given)
        case fig.Labels():
            for k, (right, down) in enumerate(fig.place_labels(figure, mark)):
                px, py = at(mark.x[k], mark.y[k])
                css = f"halo{' end' if right < 0 else ''}{' strong' if mark.strong[k] else ''}"
                shift = f"translate({right},{down})"
                yield tag("text", mark.texts[k], x=px, y=py, dy=".35em", transform=shift, class_=css)
        case fig.Cells():
            yield from _cells(mark)
        case fig.HeatMap():
            levels = color_levels(mark.values, mark.low, mark.high)
            address = png(levels, heat_palette(mark.dark))
            yield tag("image", href=address, width="100%", height="100%", preserveAspectRatio="none", class_="heat")
        case fig.Groups():
            n = len(mark.codes)
            for start, end in pairwise([0, *(np.flatnonzero(np.diff(mark.codes)) + 1).tolist(), n]):
                color = fig.class_color(int(mark.codes[start]))
                begin, extent = f"{100 * start / n:.3f}%", f"{100 * (end - start) / n:.3f}%"
                yield tag("rect", x=-12, y=begin, width=7, height=extent, class_=color)
                yield tag("rect", x=begin, y=-12, width=extent, height=7, class_=color)


def _cells(mark: fig.Cells) -> Iterator[Markup]:
    R, C = mark.values.shape
    pale, dark = mark.shades
    for i, j in np.ndindex(R, C):
        value = float(mark.values[i, j])
        share = (value - mark.low) / (mark.high - mark.low) if mark.high > mark.low else 0.0
        opacity = 0.0 if value != value else pale + (dark - pale) * share
        color = mark.color_of(0) if mark.colors is None else mark.colors[i][j]
        if tip := mark.tips[i * C + j]:
            box = {"x": j / C, "y": i / R, "width": 0.96 / C, "height": 0.94 / R}
            given = {name: _percent(share) for name, share in box.items()}
            yield tag("rect", **given, rx=2, fill_opacity=opacity, class_=f"m {color}", data_t=tip)
        if mark.texts is not None and mark.texts[i][j]:
            place = {"x": _percent((j + 0.48) / C), "y": _percent((i + 0.47) / R)}
            yield tag("text", mark.texts[i][j], **place, dy=".35em", class_="mid", pointer_events="none")


def _percent(share: float) -> str:
    return f"{100 * share:.2f}%"


def color_levels(A: NDArray[Any], low: float, high: float) -> NDArray[np.uint8]:
    """Levels 1 to 255 between the limits; 0 where an entry is missing."""
    level = np.clip(np.rint(1 + 254 * (A - low) / (high - low)), 1, 255)
    return np.where(np.isfinite(A), level, 0).astype(np.uint8)


def heat_palette(dark: str) -> NDArray[np.uint8]:
    """256 colors of a heat map; level 0, a missing entry, is gray."""
    rgb = np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in _ANCHORS])
    rgb = rgb if dark == "high" else rgb[::-1]
    at = np.linspace(0, len(rgb) - 1, 255)
    ramp = np.stack([np.interp(at, np.arange(len(rgb)), rgb[:, channel]) for channel in range(3)], axis=1)
    return np.vstack([[[128, 128, 128]], np.rint(ramp)]).astype(np.uint8)


def png(levels: NDArray[np.uint8], palette: NDArray[np.uint8]) -> str:
    """Encode an image, levels of a palette of at most 256 colors, as a data URL of a PNG; level 0 is transparent."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = levels.shape
    rows = np.pad(levels, ((0, 0), (1, 0)))  # each row begins with "no filter"
    header, colors = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0), palette.astype(np.uint8).tobytes()
    data = chunk(b"IHDR", header) + chunk(b"PLTE", colors) + chunk(b"tRNS", b"\0")
    data += chunk(b"IDAT", zlib.compress(rows.tobytes(), 9)) + chunk(b"IEND", b"")
    return "data:image/png;base64," + b64encode(b"\x89PNG\r\n\x1a\n" + data).decode()
