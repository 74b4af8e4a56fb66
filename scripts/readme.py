"""The README's table of ratios, made from the committed results.

    python benchmarks/table.py              # prints it
    python benchmarks/table.py --write      # puts it into README.md between its two markers
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
START, END = "<!-- ratios: python benchmarks/table.py --write -->", "<!-- end of ratios -->"


def ratio(item):
    """The peer's best time over ours."""
    return min(item["peer_seconds"]) / min(item["ours_seconds"])


def shown(value):
    return f"{value:.0f}x" if value >= 10 else f"{value:.1f}x"


def rows():
    """Every comparison that names a floor, in the order of the files."""
    for path in sorted(RESULTS.glob("*.json")):
        record = json.loads(path.read_text())
        for item in record.get("items", ()):
            if item.get("floor") is not None:
                yield path.stem, item


def table():
    lines = ["| what | against, in the same run | ratio | floor |", "|---|---|---|---|"]
    lines += [f"| {item['name']} | {item['peer']} | {shown(ratio(item))} | {item['floor']:g}x |" for _, item in rows()]
    return "\n".join(lines)


def main():
    if "--write" not in sys.argv:
        print(table())
        return
    path = ROOT / "README.md"
    before, rest = path.read_text().split(START)
    _, after = rest.split(END)
    path.write_text(f"{before}{START}\n{table()}\n{END}{after}")


if __name__ == "__main__":
    main()
