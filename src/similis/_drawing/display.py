"""What the pictures share. The numbers come first, then the drawing: SVG for a notebook, matplotlib for a paper."""

from __future__ import annotations

from typing import Any

from similis._drawing.svg import Markup, framed
from similis.exceptions import ProximityError

__all__ = ["COLORS", "INK", "Display"]

# Okabe and Ito's colours, told apart by all common kinds of colour vision.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666", "#F0E442")
INK = "#333333"


class Display:
    """Draws into given axes or new ones (``figure_`` and ``ax_``); shows itself in a notebook without matplotlib."""

    figure_: Any
    ax_: Any
    _size = (5.0, 4.2)

    def svg(self) -> Markup:
        """The picture as it stands in a report: HTML with inline SVG."""
        raise NotImplementedError

    def _repr_html_(self) -> str | None:
        return None if hasattr(self, "figure_") else framed(self.svg())  # what was drawn is shown already

    def _axes(self, ax: Any) -> Any:
        try:
            from matplotlib import pyplot
        except ImportError:
            raise ProximityError("A picture needs matplotlib. Install it with: pip install similis[report]") from None
        if ax is None:
            _, ax = pyplot.subplots(figsize=self._size, layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax

    def _frame(self, ax: Any) -> None:
        for side in ("top", "right"):
            ax.spines[side].set_visible(False)
        ax.tick_params(colors=INK)
        ax.grid(axis="y", color="#e6e6e6", linewidth=0.8)
        ax.set_axisbelow(True)
