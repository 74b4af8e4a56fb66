"""Base of the displays: numbers first, then one description of the picture, drawn as SVG or with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from similis._drawing.figure import Figure
from similis._drawing.html import Markup
from similis._drawing.svg import frame_for_notebook, render_svg
from similis._utils.environment import require_package


class Display:
    """A picture that a notebook shows as SVG and :meth:`plot` draws with matplotlib."""

    figure_: Any
    ax_: Any
    _size = (5.0, 4.2)  # inches of a new matplotlib figure

    def describe(self) -> Figure | Sequence[Figure]:
        """Describe the picture; several figures are panels of one picture."""
        raise NotImplementedError

    def svg(self, *args: Any, **options: Any) -> Markup:
        """Draw the picture as HTML with inline SVG, as in a report; the arguments are those of :meth:`describe`."""
        described = self.describe(*args, **options)
        return render_svg([described] if isinstance(described, Figure) else described)

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw the picture with matplotlib into `ax` or a new figure, the attributes ``figure_`` and ``ax_``.

        The options are passed to the function of matplotlib that draws the data, for example ``Axes.scatter``.
        """
        return self._plot(self.describe(), ax, options)

    def _plot(self, described: Figure | Sequence[Figure], ax: Any, options: dict[str, Any]) -> Self:
        axes = _import_axes()
        self.ax_ = axes.new_axes(self._size)[0] if ax is None else ax
        self.figure_ = self.ax_.figure
        if figures := [described] if isinstance(described, Figure) else list(described):
            axes.draw(self.ax_, figures, options)
        return self

    def _plot_panels(self, figures: Sequence[Figure], given: Any, options: dict[str, Any]) -> NDArray[Any]:
        """Draw each figure into axes of its own."""
        axes = _import_axes()
        found = axes.new_axes(self._size, len(figures)) if given is None else np.atleast_1d(given).ravel()
        for ax, figure in zip(found, figures):
            axes.draw(ax, [figure], options)
        self.ax_, self.figure_ = found[0], found[0].figure
        return np.array(found[: len(figures)], dtype=object)

    def _repr_html_(self) -> str | None:
        return None if hasattr(self, "figure_") else frame_for_notebook(self.svg())  # a drawn figure shows itself


def _import_axes() -> Any:
    require_package("matplotlib", extra="report", who="A picture")
    from similis._drawing import axes

    return axes
