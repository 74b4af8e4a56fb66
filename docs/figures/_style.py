"""One look for the figures of the pages: colors that the color-blind can distinguish, marks beside colors."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot as plt

BLUE, ORANGE, GREEN, GRAY = "#0072b2", "#d55e00", "#009e73", "#767676"
COLORS, MARKS = (BLUE, ORANGE, GREEN), ("o", "^", "s")

plt.rcParams.update(
    {
        "svg.hashsalt": "similis",
        "font.size": 10,
        "axes.titlesize": 10.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.frameon": False,
        "legend.fontsize": 9,
        "image.interpolation": "nearest",
    }
)


def panels(n=1, width=4.4, height=3.3):
    """A figure with n axes side by side."""
    figure, axes = plt.subplots(1, n, figsize=(width * n, height), layout="constrained")
    return figure, axes


def write(figure, name):
    """Save as name.svg in this folder, without a date."""
    figure.savefig(Path(__file__).with_name(f"{name}.svg"), metadata={"Date": None}, dpi=150)
    plt.close(figure)
