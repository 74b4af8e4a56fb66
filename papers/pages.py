"""Pages of the documentation, one per paper, and csv tables of all figures, made from the results files."""

from __future__ import annotations

import csv
import math
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from papers.account import MISSING, account_for
from papers.notes import IN_SHORT, notes_on
from papers.published import PAPERS, YES_OR_NO, published_cells
from papers.records import read_results
from papers.verdict import RULE, digits_of, joint_differences, lowest_errors

Record = dict[str, Any]
Cell = dict[str, Any]

_MADE = "<!-- Made by `scripts/reproduce --results {folder} --pages ...`. Do not edit. -->"
_TITLES = {
    "cazzanti2007": "Cazzanti 2007: generative models for similarity-based classification",
    "chen2010": "Chen 2010: strategies for similarity-based learning",
    "qiao2013": "Qiao and Li 2013: distance-based mixture modeling (HLM)",
    "pekalska2000": "Pekalska and Duin 2000: classifiers for dissimilarity data",
    "bernal2003": "Bernal et al. 2003: similarity-based classification",
}
_COUNTS = ("printed", "agree", "ours better", "ours worse", "cannot be judged", "not compared")
_FLOOR = " with floor"


def write_pages(results: str | os.PathLike[str], pages: str | os.PathLike[str]) -> list[Path]:
    """Write a summary, a page per paper, and beside the results files csv tables of all figures and of the counts.

    Parameters
    ----------
    results : path-like
        Folder of results files.
    pages : path-like
        Folder of the pages, created if needed.

    Returns
    -------
    list of Path
        The pages.
    """
    records = read_results(results)
    papers = [paper for paper in PAPERS if any(record["paper"] == paper for record in records)]
    by_paper = {paper: [record for record in records if record["paper"] == paper] for paper in papers}
    folder = Path(pages)
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"index.md": _index_page(by_paper)} | {f"{paper}.md": _page(paper, by_paper[paper]) for paper in papers}
    head = _MADE.format(folder="DIR" if Path(results).is_absolute() else Path(results).as_posix())
    for name, text in texts.items():
        (folder / name).write_text(f"{head}\n\n{text}", encoding="utf-8")
    for paper, found in by_paper.items():
        _write_table(Path(results) / f"{paper}.csv", found)
    _write_csv(Path(results) / "counts.csv", ["paper", "table", "about", *_COUNTS], _count_tables(by_paper))
    return [folder / name for name in texts]


# The summary.

_INTRODUCTION = """\
`scripts/reproduce all` repeats the experiments of the five papers whose data are available, with the data, protocols,
grids and numbers of runs of the papers. The page of a paper describes the choices that the paper leaves open. The table
counts the published numbers: those that the repeated experiments agree with, those where our error is lower (ours
better) or higher (ours worse), and those without a comparison. `papers/results/*.json` has every run, a csv file per
paper every number beside the published one, `counts.csv` the counts by table. Each run has its own random seed and can
be repeated alone. `scripts/reproduce chen2010:fig3.1` draws a figure; `--list` lists all tables and figures."""
_CAUTION = """\
The rule was fixed before the runs, with two exceptions: the part on leave-one-out (tables 6.9 and 6.10 of cazzanti2007)
was changed once after the first results, and *cannot be judged* was added in version 2. A number that is better by more
than the rule allows counts as a difference too. Among more than a thousand comparisons, some differences are due to
chance.

Where a paper leaves a detail open, the choice that fits its tables best was made; agreement is then no independent
evidence for this detail. Explanations that a paper does not state are marked as inferred or as a guess."""


def _index_page(by_paper: dict[str, list[Record]]) -> str:
    rows = [[f"[{_TITLES[paper]}]({paper}.md)", *map(str, _add_up(paper, found))] for paper, found in by_paper.items()]
    totals = [sum(int(row[i]) for row in rows) for i in range(1, len(_COUNTS) + 1)]
    absent = Counter(cell.dataset for cell in published_cells() if account_for(cell).status == "no data")
    return "\n".join(
        [
            "# The papers' experiments, re-run",
            "",
            _INTRODUCTION,
            "",
            *_markdown_table(["paper", *_COUNTS], [*rows, ["all", *map(str, totals)]]),
            "",
            "Every published number is counted in one of the columns. *Not compared* are times, descriptions of the "
            "set-up, and data that are not available.",
            "",
            *_floor_counts(by_paper.get("cazzanti2007", [])),
            "## The rule",
            "",
            RULE,
            "",
            _CAUTION,
            "",
            "## Data that are not available, and how many numbers need them",
            "",
            *(
                f"* {', '.join(f'{name} ({n})' for name, n in absent.items() if MISSING[name] == why)}: {why}."
                for why in dict.fromkeys(MISSING.values())
            ),
            "",
        ]
    )


def _floor_counts(records: list[Record]) -> list[str]:
    """Sentence on the simulated tables of [cazzanti2007] with their error floor simulated."""
    found = Counter(c["verdict"] for record in records for c in record["cells"] if c["quantity"].endswith(_FLOOR))
    if not found:
        return []
    return [
        "Nearly all numbers where ours is better belong to the simulated tables of cazzanti2007. Their errors contain "
        "a constant [floor](findings/floor.md) that the described data cannot produce. With the floor simulated, "
        f"{found['agrees']} of {found.total()} numbers agree, ours is better in {found['better']} and worse in "
        f"{found['worse']}; {found['cannot be judged']} cannot be judged.",
        "",
    ]


# A paper.


def _page(paper: str, records: list[Record]) -> str:
    counts = _add_up(paper, records)
    days = sorted({day for r in records for cell in r["cells"] for day in cell.get("made", [])[:2]})
    made = " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "at an unknown date"
    lines = [
        f"# {_TITLES[paper]}",
        "",
        f"Of {counts[0]} printed figures {counts[1]} agree with ours; ours is better in {counts[2]} and worse in "
        f"{counts[3]}; {counts[4]} cannot be judged and {counts[5]} are not compared: "
        f"[the rule](index.md#the-rule). Every figure: `papers/results/{paper}.csv`. Runs made "
        f"{made}{_repetition(records)}.",
        "",
        IN_SHORT[paper],
        "",
        *_reasons(paper),
        *_beside(records),
        *_joint(records),
        *_differences(records),
        *_remarks(records),
    ]
    return "\n".join(lines)


def _folded(summary: str, head: list[str], rows: list[list[str]], text: str = "") -> list[str]:
    """A table behind its summary."""
    parts = [f"<details><summary>{summary}</summary>", "", *([text, ""] if text else [])]
    return [*parts, *_markdown_table(head, rows), "", "</details>", ""] if rows else []


def _repetition(records: list[Record]) -> str:
    """Number of figures whose first runs were repeated with later code, and of those with the same values."""
    known = [cell["repeated"] for record in records for cell in record["cells"] if cell.get("repeated")]
    same = sum(equal == runs for _, _, runs, equal, _ in known)
    return f"; of {len(known)} figures that were repeated with later code, {same} came out the same" if known else ""


def _tables(paper: str) -> list[str]:
    tables = dict.fromkeys(cell.table for cell in published_cells(paper))
    return sorted(tables, key=lambda table: [int(part) for part in table.split(".")])


def _add_up(paper: str, records: list[Record], table: str | None = None) -> tuple[int, ...]:
    """Printed cells of a paper or table: all, and by what became of them."""
    found: Counter[str] = Counter()
    for record in records:
        if table in (None, record["table"]):
            found += count_cells(record)
    statuses = Counter(account_for(cell).status for cell in published_cells(paper, table))
    judged = tuple(found[verdict] for verdict in ("agrees", "better", "worse", "cannot be judged"))
    return statuses.total(), *judged, statuses.total() - sum(judged)


def judged_cells(record: Record) -> list[Cell]:
    """Cells that the paper prints, without variants of the same figure."""
    return [cell for cell in record["cells"] if cell["verdict"] != "beside" and not cell["quantity"].endswith(_FLOOR)]


def count_cells(record: Record) -> Counter[str]:
    """Printed figures of a table by verdict; facts that differ count as worse, a single run as not judged."""
    names = {"differs": "worse", "one run": "cannot be judged"}
    return Counter(str(names.get(cell["verdict"], cell["verdict"])) for cell in judged_cells(record))


def _reasons(paper: str) -> list[str]:
    """Reasons why figures are not compared."""
    reasons: Counter[str] = Counter()
    for cell in published_cells(paper):
        account = account_for(cell)
        if account.status != "compared":
            reasons["figures of data that are not available" if account.status == "no data" else account.why] += 1
    return [f"Not compared: {'; '.join(f'{n} {why}' for why, n in reasons.most_common())}.", ""] if reasons else []


def _joint(records: list[Record]) -> list[str]:
    """Data sets on which all methods, or those of a family, judged one by one, lie on the same side of the paper."""
    rows: list[list[str]] = []
    tables = [[record] for record in records] if any(_has_floor(record) for record in records) else [records]
    for some in tables:
        quantity = f"error{_FLOOR}" if _has_floor(some[0]) else "error"
        cells = [
            c for record in some for c in record["cells"] if c["quantity"] == quantity and c["verdict"] != "beside"
        ]
        table = f"{some[0]['table']}, " if len(some) == 1 else ""
        rows += [
            [f"{table}{where}", family, str(n), f"{mean:+.2f}", f"{error:.2f}"]
            for where, family, n, mean, error in joint_differences(cells, _where)
            if abs(mean) > 1.5 * error
        ]
    return _folded(
        "Methods together",
        ["data", "methods", "number", "mean difference", "standard error"],
        rows,
        "Methods share their splits. Here all, or all of a family, agree one by one and lie on the same side of the "
        "paper, by more than 1.5 standard errors of their mean; 3 would be more than chance.",
    )


def _beside(records: list[Record]) -> list[str]:
    """Accuracies of all methods of [bernal2003] on the runs that they share, and SBC minus SVM with its error."""
    found: dict[str, dict[str, list[float]]] = {}
    for cell in (cell for record in records for cell in record["cells"] if cell["quantity"] == "accuracy"):
        found.setdefault(_where(cell), {})[cell["method"]] = cell["values"]
    methods = ("sbc", "svm", "maxsim", "perceptron")
    rows = []
    for where, known in sorted(found.items()):
        runs = min(map(len, known.values()))
        if "sbc" in known and runs:
            apart = np.subtract(known["sbc"][:runs], known["svm"][:runs])
            error = apart.std(ddof=1) / math.sqrt(runs) if runs > 1 else math.nan
            accuracies = [f"{np.mean(known[name][:runs]):.1f}" if name in known else "" for name in methods]
            rows.append([where, str(runs), *accuracies, f"{apart.mean():+.1f} ({error:.1f})"])
    head = ["data, measure", "splits", *methods, "sbc - svm (standard error)"]
    return ["Percent right in the same splits:", "", *_markdown_table(head, rows), ""] if rows else []


def _has_floor(record: Record) -> bool:
    return any(cell["quantity"].endswith(_FLOOR) for cell in record["cells"])


def _differences(records: list[Record]) -> list[str]:
    """Figures that differ, once where tables share them; of simulated tables those with the floor."""
    found: dict[tuple[str, ...], list[str]] = {}
    for record in records:
        floor = _has_floor(record)
        for cell in record["cells"]:
            if cell["verdict"] in ("better", "worse", "differs", "failed") and floor == cell["quantity"].endswith(
                _FLOOR
            ):
                why = ", ".join(note.mark for note in notes_on(cell) if note.verdicts) or "not known"
                *figures, error = _figures(cell)
                row = (_where(cell), cell["method"], *figures, cell["verdict"], why)
                found.setdefault(row, [error]).append(record["table"])
    rows = [[", ".join(dict.fromkeys(tables)), *row[:4], error, *row[4:]] for row, (error, *tables) in found.items()]
    head = ["table", "data", "method", "paper", "ours", "standard error", "ours is", "remark"]
    if len(rows) > 40:  # the simulated tables: by their first remark
        counts = Counter((row[-1].partition(", ")[0], row[-2]) for row in rows)
        head, rows = ["remark", "ours is", "figures"], [[why, verdict, str(n)] for (why, verdict), n in counts.items()]
    return _folded("Differences", head, rows)


def _remarks(records: list[Record]) -> list[str]:
    """Remarks on differences, and on data and protocols, each once."""
    found = {note.mark: note for record in records for cell in record["cells"] for note in notes_on(cell)}
    lines = [f"* **{mark[0].upper()}{mark[1:]}:** {note.text}" for mark, note in found.items()]
    text = "Figures that no table has are made by `python benchmarks/readings.py`."
    return ["## Remarks", "", text, "", *lines, ""] if lines else []


# Shared.


def _write_table(path: Path, records: list[Record]) -> None:
    """Write all figures of a paper as csv: printed, ours, and what became of each printed cell."""
    names = ["table", "dataset", "condition", "method", "quantity", "published", "spread", "ours", "standard_error"]
    names += ["tolerance", "runs", "lowest", "verdict", "reason"]
    rows: list[list[Any]] = []
    for record in records:
        marked = lowest_errors([c for c in record["cells"] if c["verdict"] != "beside"], _where)
        for cell in record["cells"]:
            at = ";".join(f"{key}={value}" for key, value in cell["condition"].items())
            mark = "yes" if any(cell is one for one in marked) else ""
            known = {**cell, "condition": at, "runs": len(cell["values"]), "lowest": mark}
            rows.append([record["table"], *(known[name] for name in names[1:])])
    for one in published_cells(records[0]["paper"]):
        account = account_for(one)
        if account.status != "compared":
            at = ";".join(f"{key}={value}" for key, value in one.condition.items())
            figures = [one.printed or one.text, one.spread, "", "", "", "", "", account.status, account.why]
            rows.append([one.table, one.dataset, at, one.method, one.quantity, *figures])
    rows.sort(key=lambda row: ([int(part) for part in row[0].split(".")], *map(str, row[1:5])))
    _write_csv(path, names, rows)


def _count_tables(by_paper: dict[str, list[Record]]) -> list[list[Any]]:
    """Printed figures of every table by what became of them."""
    return [
        [paper, table, next((r["about"] for r in found if r["table"] == table), ""), *_add_up(paper, found, table)]
        for paper, found in by_paper.items()
        for table in _tables(paper)
    ]


def _write_csv(path: Path, names: list[str], rows: list[list[Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)


def _where(cell: Cell) -> str:
    """Data set and conditions of a figure."""
    at = cell["condition"]
    if "d" in at:
        return f"d = {at['d']}"
    parts = [cell["dataset"], at.get("distance", ""), f"p = {at['p']}" if "p" in at else "", at.get("kernel", "")]
    return ", ".join(part for part in parts if part)


def _figures(cell: Cell) -> list[str]:
    return [_number(cell[key], cell) for key in ("published", "ours", "standard_error")]


def _number(value: float | None, cell: Cell) -> str:
    if value is None:
        return ""
    if cell["quantity"] in YES_OR_NO:
        return "yes" if value else "no"
    return f"{value:.{digits_of(cell['quantity'])}f}"


def _markdown_table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    head = list(head)
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]
