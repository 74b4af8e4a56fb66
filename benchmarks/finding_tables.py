"""The tables of docs/results/findings, from the results behind them.

python benchmarks/finding_tables.py              # prints them
python benchmarks/finding_tables.py --write      # puts them into the pages, between their markers
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import _marked  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"


def read(name):
    return json.loads((RESULTS / f"{name}.json").read_text())


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def likely(p):
    return "< 1e-99" if p < 1e-99 else f"{p:.2g}"


def fitted(fit, mechanism):
    squares = fit[mechanism]
    return f"{squares:.0f}" if squares >= 100 else f"{squares:.1f} ({likely(fit[f'{mechanism}, p'])})"


def mechanisms():
    names = ("as described", "one label vector", "exact halves", "independent counts", "wrong labels")
    rows = [
        [fit["table"], fit["p2"], fit["centroids"], f"{fit['floor']:.2f}", *(fitted(fit, name) for name in names)]
        for fit in read("findings/floor")["mean_squared_z"]
    ]
    return table(["table", "p2", "centroids", "floor, d from 125 on", *names], rows)


def classes():
    rows = [
        [name, found["pairs"], found["ten or more"], found["wrong"]]
        for name, found in read("findings/protein")["by_classes"].items()
    ]
    rows.append(["all", *(sum(row[i] for row in rows) for i in (1, 2, 3))])
    rows = [row for row in rows if row[-1]]  # other classes have no wrong pairs
    return table(["classes", "pairs", "at a distance of 10 or more", "wrong"], rows)


def facts():
    found = read("findings/protein")
    rows = [[name, value, abs(found["clean"][name])] for name, value in found["damaged"].items()]
    return table(["", "damaged", "right values"], rows)


def gaps():
    rows = []
    for item in read("learned_kernels")["items"]:
        if item["name"].startswith("Indefinite SVM, value") or "eta = 0.001" in item["name"]:
            continue
        difference = item["error"]
        if difference is None:
            difference = item["peer_above_optimum"]
        gap = f"{item['gap']:.0e}" if "gap" in item else ""
        ratio = item["ratio"]
        rows.append(
            [
                item["name"],
                item["peer"],
                f"{difference:.0e}" if difference < 1e-3 else f"{difference:.2f}",
                gap,
                f"{ratio:.0f}x",
            ]
        )
    return table(["problem", "peer", "difference", "gap", "times faster"], rows)


def law():
    rows = [
        [row["condition of S"], row["cyclic coordinate descent"], row["SMO, single"], row["interior-point steps"]]
        for row in read("findings/descent")["by_condition"]
    ]
    return table(["condition of S", "sweeps, cyclic", "sweeps, SMO (single)", "interior-point steps"], rows)


SECTIONS = {
    ("floor", "mechanisms"): mechanisms,
    ("protein", "classes"): classes,
    ("protein", "facts"): facts,
    ("duals", "gaps"): gaps,
    ("descent", "law"): law,
}


def quoted(page, name):
    """What stands on the page."""
    return _marked.quoted(ROOT / "docs" / "results" / "findings" / f"{page}.md", name)


def main():
    folder = ROOT / "docs" / "results" / "findings"
    _marked.run({(folder / f"{page}.md", name): make for (page, name), make in SECTIONS.items()})


if __name__ == "__main__":
    main()
