"""The pictures of a matrix as SVG: heat map, spectrum, embedding, histogram. The displays hold the numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from similis._utils.markup import Markup, join, png, tag
from similis._utils.svg import SHAPES, Plot, Scale, short

if TYPE_CHECKING:
    from similis.proximity._display_matrix import MatrixDisplay, SpectrumDisplay
    from similis.proximity._display_objects import EmbeddingDisplay, HistogramDisplay

__all__ = ["color_levels", "color_limits", "draw_embedding", "draw_histogram", "draw_matrix", "draw_spectrum"]

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
