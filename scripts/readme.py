"""Tables of docs/methods.md, docs/benchmarks.md, docs/results and docs/guide/diagnosis.md, made from code and records.

python scripts/readme.py              # prints them
python scripts/readme.py --write      # puts them into their pages, between markers, and writes the csv tables
"""

import csv
import io
import json
import re
import sys
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "benchmarks")]

import _marked  # noqa: E402
from targets import OPEN_GOALS  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"
PAPERS = {
    "loosli2016": "Loosli et al. 2016",
    "oglic2018": "Oglic and Gärtner 2018",
    "chen2009pcvm": "Chen et al. 2009",
    "hammer2014": "Hammer et al. 2014",
    "czekalski2021": "Czekalski and Morzy 2021",
    "zhou2004": "Zhou et al. 2004",
    "haasdonk2008": "Haasdonk and Pekalska 2008",
}
# Lines of docs/benchmarks.md; benchmarks/results/speed.csv has them all.
HEADLINES = (
    "k-NN search, n = 2500",
    "KRI sweep 19 k x 9 lambda, noisy",
    "KRR sweep 19 k x 5 lambda, n = 800",
    "k-medoids (eager), n = 2500",
    "SDA exponents, 200 values, newton",
    "local SDA, 10 folds x 19 k, n = 800",
    "RNLC, 20 regularizers, n = 300",
    "MaxSim, two-letter words",
    "clip + SVC, n = 800, 2 classes",
    "SVM-KNN, 10 queries, 4 classes",
    "P-SVM solve, n = 800",
    "counting, d = 200",
    "VDM, d = 200",
    "Tanimoto",
    "import similis",
)


def shown(value):
    return f"{value:.{0 if value >= 10 else 1 if value >= 1 else 2}f}x"


def items():
    """Every comparison with the name of its record, in the order of the files."""
    for path in sorted(RESULTS.glob("*.json")):
        yield from ({"record": path.stem} | item for item in json.loads(path.read_text()).get("items", ()))


def markdown(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def table(name):
    """A csv table of :data:`TABLES` as text."""
    columns, found = TABLES[name]
    file = io.StringIO()
    writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(found())
    return file.getvalue()


def headlines():
    found = (item for item in items() if item.get("floor") and item["name"].startswith(HEADLINES))
    rows = [[item["name"], item["peer"], shown(item["ratio"]), f"{item['floor']:g}x"] for item in found]
    return markdown(["what", "against, in the same run", "ratio", "floor"], rows)


def timed():
    """Comparisons of times; those of models before and after `compact` are on the page of costs."""
    return [item for item in items() if "ours_seconds" in item and item["record"] != "scale_compact"]


def speed():
    """One row per record: who is compared, the range of the ratios, the floors; then the floors that are missed."""
    rows, missed, total = [], [], 0
    for record, found in groupby(timed(), key=lambda item: item["record"]):
        found = list(found)
        peers = list(dict.fromkeys(re.split(r",|\(| of | on ", item["peer"])[0] for item in found))
        ratios = sorted(item["ratio"] for item in found)
        low, median, high = (shown(ratios[place]) for place in (0, len(ratios) // 2, -1))
        judged = [item for item in found if item.get("floor")]
        below = [item for item in judged if item["ratio"] < item["floor"]]
        missed += [f"{i['name']}, {i['peer']}: {i['ratio']:.4g}x of {i['floor']:g}x" for i in below]
        total += len(judged)
        against = ", ".join(peers[:3]) + (" ..." if len(peers) > 3 else "")
        rows.append([record, against, f"{low}-{high}", median, f"{len(judged) - len(below)} of {len(judged)}"])
    head = ["record", "against, in the same run", "ratios", "median", "floors met"]
    verdict = f"{total - len(missed)} of {total} floors are met{'; missed:' if missed else ''}"
    return "\n".join([markdown(head, rows), "", verdict, "", *(f"* {line}" for line in missed)]).strip()


def open_goals():
    """Goals of version 1.0 that are not reached: the range of the ratios of today and why they are left."""
    rows = []
    for goal in OPEN_GOALS:
        ratios = sorted(i["ratio"] for i in goal.items([i for i in items() if i["record"] == goal.record]))
        now = " to ".join(dict.fromkeys(map(shown, (ratios[0], ratios[-1]))))
        if ratios[0] < goal.goal:
            rows.append([goal.work, now, f"{goal.goal:g}x", goal.why])
    return markdown(["goal of version 1.0", "ratio", "goal", "left open because of"], rows)


def joined(summaries):
    """One sentence for several that differ in a word: "made a kernel by clip, flip or shift"."""
    merged = []
    for words in zip(*(summary.split() for summary in summaries), strict=True):
        *others, last = dict.fromkeys(words)
        merged.append(f"{', '.join(others)} or {last}" if others else last)
    return " ".join(merged)


def searched(method):
    """Parameters of the grid with the range of their values."""
    found = []
    for key, grid in method.grid.items():
        values = list(getattr(grid, "values", grid))
        name = key.rpartition("__")[2]
        if len(values) > 1 and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values):
            found.append(f"`{name}` {min(values):g} to {max(values):g}")
        else:
            found.append(f"`{name}` {', '.join(map(str, values))}".strip())
    return "; ".join(found)


def methods():
    from similis.study import list_methods

    lines = ["| method | what it does | searched parameters | classes | paper |", "|---|---|---|---|---|"]

    def row(m):  # methods that differ in an option and one word of the summary share a row
        return m.name.partition("(")[0], m.paper, len(m.summary.split()), m.summary.split()[:-1], [*m.grid]

    for (_, paper, *_), family in groupby(list_methods(), key=row):
        family = list(family)
        names = ", ".join(f"`{m.name}`" for m in family)
        summary = joined([m.summary for m in family]).replace("|", r"\|")
        key, _, place = paper.partition(" ")
        cite = f"[{key}] {place}" if place else PAPERS.get(key, "")
        lines.append(f"| {names} | {summary} | {searched(family[0])} | {classes(family)} | {cite} |")
    return "\n".join(lines)


def classes(family):
    """Classes that the methods are made of, in the order of the pipeline; alternatives with a slash."""
    places = [dict.fromkeys(type(step).__name__ for step in place) for place in zip(*(m.steps() for m in family))]
    return ", ".join("/".join(f"`{name}`" for name in place) for place in places)


def damage():
    """Precision and recall of suspicious entries, by simulated damage."""
    found = json.loads((RESULTS / "suspects.json").read_text())["items"]
    clean = next(item for item in found if item["name"] == "clean")
    lines = ["| damage | damaged pairs | precision | recall |", "|---|---|---|---|"]
    for item in found:
        if item is not clean:
            lines.append(f"| {item['name']} | {item['damaged']} | {item['precision']:.2f} | {item['recall']:.2f} |")
    lines.append(f"| none: false alarms | {clean['flagged']} of {clean['pairs']} pairs | | |")
    return "\n".join(lines)


def errors():
    """Errors of ours and of peers on the same splits."""
    return [item for item in items() if item["record"] == "accuracy"]


TABLES = {
    "speed": (("record", "name", "peer", "ours_seconds", "peer_seconds", "ratio", "floor"), timed),
    "accuracy": (("name", "objects", "method", "by", "error", "deviation", "seconds", "splits"), errors),
}
SECTIONS = {
    ("docs/guide/diagnosis.md", "damage"): damage,
    ("docs/methods.md", "methods"): methods,
    ("docs/benchmarks.md", "ratios"): headlines,
    ("docs/benchmarks.md", "open goals"): open_goals,
    ("docs/results/speed.md", "ratios"): speed,
}


def quoted(page, name):
    """What stands on the page."""
    return _marked.quoted(ROOT / page, name)


def main():
    _marked.run({(ROOT / page, name): make for (page, name), make in SECTIONS.items()})
    for name in TABLES if "--write" in sys.argv else ():
        (RESULTS / f"{name}.csv").write_text(table(name))


if __name__ == "__main__":
    main()
