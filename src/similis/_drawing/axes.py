"""Renderer of figures into matplotlib axes, for papers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import chain, product
from typing import Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, ListedColormap
from matplotlib.lines import Line2D

from similis._drawing import figure as fig
from similis._drawing.svg import heat_palette, plot_style

_MARKERS = "os^DvP"
_DASHES: dict[str, Any] = {"": "-", "dash": "--", "dotted": ":"}
_LEGEND = 12  # entries of a legend


def new_axes(size: tuple[float, float], n: int = 1) -> list[Any]:
    """Axes of a new figure of matplotlib, at most three in a row, each of the given size in inches."""
    from matplotlib import pyplot  # not needed, nor wanted, where the caller has made the axes

    columns, rows = min(n, 3), -(-n // 3)
    whole = size[0] * columns, size[1] * rows
    axes = pyplot.subplots(rows, columns, figsize=whole, squeeze=False, layout="constrained")[1].ravel()
    for ax in axes[n:]:
        ax.remove()
    return list(axes[:n])


def draw(ax: Any, figures: Sequence[fig.Figure], options: dict[str, Any]) -> None:
    """Draw figures into the same axes; `options` go to their main marks."""
    figure = figures[0]
    table = any(isinstance(mark, (fig.Cells, fig.HeatMap)) for mark in figure.marks)
    if not figure.frame:
        ax.set_xticks([])
        ax.set_yticks([])
    for each in figures:
        for mark in each.marks:
            _draw(ax, each, mark, options if mark.main else {})
    for which in "xy":
        _set_axis(ax, which, figure)
    for side in ("top", "right") if figure.frame else ("top", "right", "left", "bottom"):
        ax.spines[side].set_visible(table)
    ax.set_axisbelow(True)
    keys = [key for each in figures for key in each.legend]
    if 0 < len(keys) <= _LEGEND and not table:
        handles = []
        for key in keys:
            marker = None if key.shape is None else _MARKERS[key.shape % len(_MARKERS)]
            line: Any = "" if marker else _DASHES[key.dash]
            handles.append(Line2D([], [], color=_colors()[key.color], label=key.text, marker=marker, linestyle=line))
        ax.legend(handles=handles, frameon=False, title=figure.legend_title or None)


@cache
def _colors() -> dict[str, str]:
    """Colors by name: the first, light block of the style sheet of the pages."""
    return dict(re.findall(r"--(\w+): (#\w{6})", plot_style().partition("@media")[0]))


def _draw(ax: Any, figure: fig.Figure, mark: fig.Mark, options: dict[str, Any]) -> None:
    colors = _colors()
    color = colors[mark.color_of(0)] if mark.color else None
    match mark:
        case fig.Points():
            _draw_points(ax, mark, options)
        case fig.Lines():
            style = {"color": color, "linestyle": _DASHES[mark.dash], "linewidth": mark.width, **options}
            ax.plot(mark.x, mark.y, **style)
        case fig.Segments():
            for k, (x0, y0, x1, y1) in enumerate(zip(mark.x0, mark.y0, mark.x1, mark.y1)):
                style = {"color": colors[mark.color_of(k)], "linewidth": mark.width, "clip_on": False, **options}
                ax.plot([x0, x1], [y0, y1], **style)
        case fig.Bars():
            x0, x1, y0, y1 = (np.asarray(side, dtype=float) for side in (mark.x0, mark.x1, mark.y0, mark.y1))
            style = {"color": [colors[mark.color_of(k)] for k in range(len(x0))], "alpha": mark.opacity, **options}
            ax.bar(x0, y1 - y0, width=x1 - x0, bottom=y0, align="edge", **style)
        case fig.Rule():
            rule = ax.axvline if mark.axis == "x" else ax.axhline
            rule(mark.at, color=color, linewidth=0.8, linestyle=_DASHES[mark.dash])
        case fig.Texts():
            for x, y, text in zip(mark.x, mark.y, mark.texts):
                _write(ax, text, (x, y), (mark.dx, 0), mark.anchor, color)
        case fig.Labels():
            for k, (right, down) in enumerate(fig.place_labels(figure, mark)):
                weight, anchor = "bold" if mark.strong[k] else "normal", "start" if right > 0 else "end"
                _write(ax, mark.texts[k], (mark.x[k], mark.y[k]), (right, -down), anchor, colors["ink"], weight=weight)
        case fig.Cells() if mark.values.size:
            _draw_cells(ax, mark, options)
        case fig.HeatMap():
            colormap = ListedColormap(heat_palette(mark.dark)[1:] / 255)
            style = {"cmap": colormap, "vmin": mark.low, "vmax": mark.high, "interpolation": "nearest", **options}
            image = ax.imshow(mark.values, **style)
            ax.figure.colorbar(image, ax=ax, label=mark.title, shrink=0.85, extend="both")
        case fig.Groups():
            edges = np.flatnonzero(np.diff(mark.codes)) + 1
            for line, edge in product((ax.axhline, ax.axvline), edges):
                line(edge - 0.5, color=colors["c1"], linewidth=0.8)
            if len(edges) + 1 == len(mark.names) <= 30:
                bounds = np.concatenate([[0], edges, [len(mark.codes)]])
                middle = (bounds[1:] + bounds[:-1] - 1) / 2
                names = [mark.names[mark.codes[start]] for start in bounds[:-1]]
                ax.set_xticks(middle, names, rotation=45 if len(names) > 4 else 0)
                ax.set_yticks(middle, names)
                ax.tick_params(length=0)


def _draw_points(ax: Any, mark: fig.Points, options: dict[str, Any]) -> None:
    """One call of ``Axes.scatter`` per shape, so that classes stay separate collections."""
    colors = np.array([_colors()[mark.color_of(k)] for k in range(len(mark.x))])
    shapes = np.broadcast_to(mark.shape, len(mark.x))
    area = (np.broadcast_to(mark.size, len(mark.x)) * 1.5) ** 2  # matplotlib: squared diameter in points
    for shape in np.unique(shapes):
        mine = shapes == shape
        style: dict[str, Any] = {"marker": _MARKERS[shape % len(_MARKERS)], "s": area[mine], "alpha": mark.opacity}
        if mark.hollow:
            style |= {"facecolors": "none", "edgecolors": colors[mine]}
        else:
            style |= {"c": colors[mine], "linewidths": 0.5, "edgecolors": "white", "zorder": 3}
        if "color" in options:
            del style["c"]
        style |= {"clip_on": False, **options}  # points at the ends of an axis stay whole
        ax.scatter(np.asarray(mark.x)[mine], np.asarray(mark.y)[mine], **style)


def _draw_cells(ax: Any, mark: fig.Cells, options: dict[str, Any]) -> None:
    colormap = LinearSegmentedColormap.from_list("similis", ["#ffffff", _colors()[mark.color_of(0)]])
    style = {"cmap": colormap, "vmin": mark.low, "vmax": mark.high, "aspect": "auto", **options}
    image = ax.imshow(mark.values, **style)
    for (i, j), text in zip(np.ndindex(mark.values.shape), chain.from_iterable(mark.texts or ())):
        dark = mark.values[i, j] > (mark.low + mark.high) / 2
        ax.text(j, i, text, ha="center", va="center", color="white" if dark else "black")
    if mark.title:
        ax.figure.colorbar(image, ax=ax, label=mark.title, shrink=0.85)


def _set_axis(ax: Any, which: str, figure: fig.Figure) -> None:
    axis: fig.Axis = getattr(figure, which)
    own = getattr(ax, f"{which}axis")
    if axis.scale != "linear":
        getattr(ax, f"set_{which}scale")(axis.scale, **({"linthresh": axis.linear} if axis.scale == "symlog" else {}))
    if figure.frame:
        labels = axis.labels()
        texts = [text for _, text in labels]
        crowded = which == "x" and axis.names and sum(map(len, texts)) > 48
        own.set_ticks([value for value, _ in labels], texts, rotation=90 if crowded else 0)
        own.set_ticks([], minor=True)
        own.set_tick_params(labelcolor=_colors()["ink"], color=_colors()["muted"])
        if len(texts) > 16:
            own.set_tick_params(labelsize=7)
        if axis.grid:
            ax.grid(axis=which, color=_colors()["faint"], linewidth=0.8)
        for label, strong in zip(own.get_ticklabels(), axis.strong):
            label.set_fontweight("bold" if strong else "normal")
    if axis.high > axis.low:
        getattr(ax, f"set_{which}lim")(*((axis.high, axis.low) if axis.reverse else (axis.low, axis.high)))
    getattr(ax, f"set_{which}label")(axis.title)


def _write(ax: Any, text: str, at: Any, offset: Any, anchor: str, color: Any, **options: Any) -> None:
    side = {"start": "left", "middle": "center", "end": "right"}[anchor]
    style = {"textcoords": "offset points", "ha": side, "va": "center", "color": color, "fontsize": 8, **options}
    ax.annotate(text, at, xytext=offset, annotation_clip=False, **style)
