"""Tables of docs/methods.md, docs/benchmarks.md and docs/guide/diagnosis.md, made from the code and the records.

python scripts/readme.py              # prints them
python scripts/readme.py --write      # puts them into their pages, between markers
"""

import json
import sys
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import _marked  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"
PAPERS = {
    "cazzanti2007": "Cazzanti 2007",
    "chen2010": "Chen 2010",
    "qiao2013": "Qiao and Li 2013",
    "pekalska2000": "Pekalska and Duin 2000",
    "bernal2003": "Bernal et al. 2003",
    "loosli2016": "Loosli et al. 2016",
    "oglic2018": "Oglic and Gärtner 2018",
    "chen2009pcvm": "Chen et al. 2009",
    "hammer2014": "Hammer et al. 2014",
    "czekalski2021": "Czekalski and Morzy 2021",
    "zhou2004": "Zhou et al. 2004",
    "haasdonk2008": "Haasdonk and Pekalska 2008",
}
# Lines of docs/benchmarks.md; docs/results/speed.md has them all.
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
    return f"{value:.0f}x" if value >= 10 else f"{value:.1f}x"


def items():
    """Every comparison, in the order of the files."""
    for path in sorted(RESULTS.glob("*.json")):
        yield from json.loads(path.read_text()).get("items", ())


def ratio_rows(found):
    lines = ["| what | against, in the same run | ratio | floor |", "|---|---|---|---|"]
    for item in found:
        floor = "" if item.get("floor") is None else f"{item['floor']:g}x"
        lines.append(f"| {item['name']} | {item['peer']} | {shown(item['ratio'])} | {floor} |")
    return "\n".join(lines)


def headlines():
    return ratio_rows(item for item in items() if item.get("floor") and item["name"].startswith(HEADLINES))


def all_ratios():
    found = [item for item in items() if "ours_seconds" in item]
    judged = [item for item in found if item.get("floor")]
    missed = [f"{item['name']} ({shown(item['ratio'])})" for item in judged if item["ratio"] < item["floor"]]
    verdict = f"{len(judged) - len(missed)} of {len(judged)} floors are met"
    return f"{ratio_rows(found)}\n\n{verdict}{'; missed: ' + ', '.join(missed) if missed else ''}."


def joined(summaries):
    """One sentence for several that differ in a word: "made a kernel by clip, flip or shift"."""
    said = []
    for words in zip(*(summary.split() for summary in summaries), strict=True):
        *others, last = dict.fromkeys(words)
        said.append(f"{', '.join(others)} or {last}" if others else last)
    return " ".join(said)


def methods():
    from similis.study import list_methods

    lines = ["| method | what it does | paper |", "|---|---|---|"]

    def row(m):  # methods that differ in an option and one word of the summary share a row
        return m.name.partition("(")[0], m.paper, len(m.summary.split()), m.summary.split()[:-1]

    for (_, paper, *_), family in groupby(list_methods(), key=row):
        family = list(family)
        names = ", ".join(f"`{m.name}`" for m in family)
        summary = joined([m.summary for m in family]).replace("|", r"\|")
        key, _, place = paper.partition(" ")
        lines.append(f"| {names} | {summary} | {PAPERS.get(key, '')}{', ' if place else ''}{place} |")
    return "\n".join(lines)


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


def accuracy():
    """Errors of ours and the peers on the same splits."""
    path = RESULTS / "accuracy.json"
    found = json.loads(path.read_text())["items"] if path.exists() else []
    lines = ["| data, objects | method | of | error, % | seconds a split | splits |", "|---|---|---|---|---|---|"]
    for item in found:
        error, seconds = f"{item['error']:.1f} ± {item['deviation']:.1f}", f"{item['seconds']:.2g}"
        data = f"{item['name'].replace('_', ' ')}, {item['objects']}"
        lines.append(f"| {data} | {item['method']} | {item['by']} | {error} | {seconds} | {item['splits']} |")
    return "\n".join(lines)


SECTIONS = {
    ("docs/guide/diagnosis.md", "damage"): damage,
    ("docs/methods.md", "methods"): methods,
    ("docs/benchmarks.md", "ratios"): headlines,
    ("docs/results/speed.md", "ratios"): all_ratios,
    ("docs/results/accuracy.md", "accuracy"): accuracy,
}


def quoted(page, name):
    """What stands on the page."""
    return _marked.quoted(ROOT / page, name)


def main():
    _marked.run({(ROOT / page, name): make for (page, name), make in SECTIONS.items()})


if __name__ == "__main__":
    main()
