"""Draw docs/figures/benchmarks.svg, the ratios of docs/benchmarks.md: python docs/figures/benchmarks.py"""

import sys
from pathlib import Path

from _style import BLUE, GRAY, ORANGE, panels, write

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import readme

found = [item for item in readme.items() if item.get("floor") and item["name"].startswith(readme.HEADLINES)]
found.sort(key=lambda item: item["ratio"])
figure, ax = panels(width=9.2, height=0.27 * len(found) + 0.9)
for place, item in enumerate(found):
    met = item["ratio"] >= item["floor"]
    ax.plot([1, item["ratio"]], [place, place], color=GRAY, linewidth=0.8, zorder=1)
    ax.plot(item["floor"], place, "|", color="black", markersize=9, zorder=2)
    ax.plot(item["ratio"], place, "o" if met else "X", color=BLUE if met else ORANGE, markersize=6, zorder=3)
ax.set_xscale("log")
ax.set_xticks([1, 3, 10, 30, 100, 300, 1000], ["1", "3x", "10x", "30x", "100x", "300x", "1000x"])
ax.minorticks_off()
ax.set_yticks(range(len(found)), [f"{item['name']} / {item['peer']}" for item in found], fontsize=8)
ax.set_xlabel("time of the peer / time of similis (dots); floor (bars)")
ax.axvline(1, color="black", linewidth=0.8)
ax.grid(axis="x", linewidth=0.4)
write(figure, "benchmarks")
