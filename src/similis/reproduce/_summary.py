"""The pages above the tables: what was done and what came of it, and where every published cell went."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from similis.reproduce._account import ABOUT, MISSING, account_for
from similis.reproduce._counts import Cell, counted, made, markdown_table, repetition, seconds_of, spoken
from similis.reproduce._notes import notes_on
from similis.reproduce._published import PAPERS, PublishedCell, published_cells

__all__ = ["account_page", "index_page"]

Record = dict[str, Any]

_TITLES = {
    "cazzanti2007": "Cazzanti 2007, Generative Models for Similarity-based Classification",
    "chen2010": "Chen 2010, Strategies for Similarity-based Learning",
    "qiao2013": "Qiao and Li 2013, distance-based mixture modelling (HLM)",
    "pekalska2000": "Pekalska and Duin 2000, classification on dissimilarity data",
    "bernal2003": "Bernal et al. 2003, similarity based classification",
}
# Figures that stand in running text.
_SECTIONS = {"cazzanti2007": ("3.1.1", "5.3.5"), "qiao2013": ("5.3",), "bernal2003": ("6",)}
_INTRODUCTION = """\
`similis reproduce all` runs the experiments of five papers again, as far as their data can be had, and sets every
figure beside the published one. Protocols, grids and numbers of runs are the papers'; where they are not, or where a
paper is silent, the page of the table says what was done instead. [All published tables](all_tables.md) accounts for
every printed cell, with what is missing and why.

Our figures come from results files with every single run in `benchmarks/results/reproduce`. The pages are made from
those files by `similis reproduce --results benchmarks/results/reproduce --pages docs/results`.

Runs are seeded by the problem's name and their own number. Before the release the first runs of the tables were made
again with the code of that day and compared with the results files one by one;
[the account](all_tables.md#when-and-by-what) says how many of the figures came out the same."""
_RULE = """\
The rule was fixed before the runs, but for leave-one-out (tables 6.9 and 6.10 of cazzanti2007): it was changed once
after a first look. At first the mean over shuffled orders of the objects was judged; now it is the figure for the order
of the file, and other orders give its standard error.

A figure of ours that is better than the paper's by more than the rule allows is a miss too. With more than two
thousand comparisons some misses are chance.

Where a paper leaves a detail open (what Omega is, how ties are broken, how the matrix of the P-SVM is scaled), readings
were compared with the same published tables before these runs, and the best was taken. For such a detail agreement is
no independent evidence. An explanation of a miss comes from the paper's text, from mathematics, or from readings that
were tried and are listed with it; it is called inferred, or a guess, where the paper does not say so."""


def index_page(records: list[Record]) -> str:
    """What was done, by which rule, counts by paper, the tables, the misses by explanation."""
    return "\n".join(
        [
            "# The papers' tables, re-run",
            "",
            _INTRODUCTION,
            "",
            "## The rule",
            "",
            records[0]["rule"],
            "",
            _RULE,
            "",
            "## By paper",
            "",
            *_by_paper(records),
            "",
            _with_floor(records),
            "",
            "## By table",
            "",
            *_by_table(records),
            "",
            "## Misses and what is known of them",
            "",
            *_misses(records),
            "",
        ]
    )


def account_page(records: list[Record], results: Path) -> str:
    """Every table of the five papers, cell by cell."""
    lines = [
        "# All published tables",
        "",
        f"The five papers print {len(published_cells())} cells in tables and worked sections. Each is in one of the "
        "columns below. Compared: ours stands beside it, on the page of the table. Tested: worked numbers, which the "
        "tests check. The last column has the rest, with numbers and reasons. [The summary](index.md) has the rule "
        "of agreement and the misses.",
        "",
    ]
    found = {(record["paper"], record["table"]): record for record in records}
    for paper in PAPERS:
        lines += [f"## {_TITLES[paper]}", "", *_tables_of(paper, found), ""]
    lines += ["## Data that are missing", "", *_missing(), ""]
    lines += ["## Times as ratios", "", *_times(results.parent), ""]
    lines += ["## When, and by what", "", *_when(records), ""]
    return "\n".join(lines)


def _judged(record: Record) -> list[Cell]:
    """One cell of ours for each published one that is judged."""
    extra = (" with floor", ", augmented rows")
    return [cell for cell in record["cells"] if not cell["quantity"].endswith(extra)]


def _by_paper(records: list[Record]) -> list[str]:
    rows = []
    for paper in PAPERS:
        counts = counted(cell for record in records if record["paper"] == paper for cell in _judged(record))
        statuses = Counter(account_for(cell).status for cell in published_cells(paper))
        printed = sum(statuses.values())
        rows.append([_TITLES[paper], *map(str, (printed, *counts.values(), statuses["tested"], statuses["no data"]))])
    total = [str(sum(int(row[column]) for row in rows)) for column in range(1, len(rows[0]))]
    head = ["paper", "cells", "compared", "agree", "ours better", "ours worse", "not judged", "tested", "no data"]
    return markdown_table(head, [*rows, ["all", *total]])


def _with_floor(records: list[Record]) -> str:
    """The simulated tables once more."""
    counts = counted(cell for record in records for cell in record["cells"] if cell["quantity"].endswith("with floor"))
    return (
        "Nearly all of the better figures are those of cazzanti2007, whose simulated tables carry an error floor that "
        "the data they describe cannot produce ([remark](cazzanti2007-6.1.md#floor)). With that floor simulated, "
        f"{counts['agrees']} of the {counts['figures']} figures of tables 6.1 to 6.8 agree; ours is better in "
        f"{counts['better']} and worse in {counts['worse']}."
    )


def _by_table(records: list[Record]) -> list[str]:
    rows = []
    for record in records:
        link = f"[{record['paper']}, table {record['table']}]({record['paper']}-{record['table']}.md)"
        for quantity in sorted({spoken(cell["quantity"]) for cell in record["cells"]}):
            counts = counted(cell for cell in record["cells"] if spoken(cell["quantity"]) == quantity)
            rows.append([link, record["about"], quantity, *map(str, counts.values())])
    head = ["table", "shows", "quantity", "figures", "agree", "ours better", "ours worse", "not judged"]
    return markdown_table(head, rows)


def _misses(records: list[Record]) -> list[str]:
    """By remark; a miss with several remarks stands at the first, one without at the end."""
    found: dict[tuple[str, str], list[tuple[Record, Cell]]] = {}
    for record in records:
        for cell in record["cells"]:
            if cell["verdict"] in ("better", "worse", "differs"):
                note = next((note for note in notes_on(cell) if note.verdicts), None)
                found.setdefault((record["paper"], note.mark if note else ""), []).append((record, cell))
    rows = []
    for (paper, mark), misses in found.items():
        if mark:
            counts = counted(cell for _, cell in misses)
            tables = list(dict.fromkeys(record["table"] for record, _ in misses))
            link = f"[{mark}]({paper}-{tables[0]}.md#{mark.replace(' ', '-')})"
            rows.append([paper, ", ".join(tables), str(counts["better"]), str(counts["worse"]), link])
    head = ["paper", "tables", "ours better", "ours worse", "remark"]
    lines = [
        "A remark says what is established, what is inferred and what was tried in vain; the pages have the figures.",
        "",
        *markdown_table(head, rows),
    ]
    unknown = [miss for (_, mark), misses in found.items() if not mark for miss in misses]
    if not unknown:
        return [*lines, "", "No miss is without a remark."]
    rows = [
        [record["paper"], record["table"], _where(cell), cell["method"], cell["quantity"], *_figures(cell)]
        for record, cell in unknown
    ]
    head = ["paper", "table", "where", "method", "quantity", "paper's", "ours", "standard error", "verdict"]
    return [*lines, "", "Nothing is known of these:", "", *markdown_table(head, rows)]


def _where(cell: Cell) -> str:
    words = [f"d = {cell['condition']['d']}" if "d" in cell["condition"] else cell["dataset"]]
    return ", ".join(words + [cell["condition"][key] for key in ("distance", "kernel") if key in cell["condition"]])


def _figures(cell: Cell) -> list[str]:
    numbers = (cell["published"], cell["ours"], cell["standard_error"])
    return [*("" if number is None else f"{number:.2f}" for number in numbers), cell["verdict"]]


def _tables_of(paper: str, found: dict[tuple[str, str], Record]) -> list[str]:
    rows = []
    tables = dict.fromkeys(cell.table for cell in published_cells(paper))
    for table in sorted(tables, key=lambda table: [int(part) for part in table.split(".")]):
        cells = published_cells(paper, table)
        record = found.get((paper, table))
        accounts = [account_for(cell) for cell in cells]
        statuses = Counter(account.status for account in accounts)
        judged = counted(_judged(record)) if record else counted([])
        word = "section" if table in _SECTIONS.get(paper, ()) else "table"
        shown = f"{word} [{table}]({paper}-{table}.md)" if record else f"{word} {table}"
        about = record["about"] if record else ABOUT.get(f"{paper}:{table}", "")
        counts = (len(cells), statuses["compared"], judged["agrees"], judged["better"], judged["worse"])
        rows.append([shown, about, *map(str, counts), str(statuses["tested"]), _rest(cells)])
    head = ["table", "shows", "cells", "compared", "agree", "ours better", "ours worse", "tested", "the rest"]
    return markdown_table(head, rows)


def _rest(cells: Iterable[PublishedCell]) -> str:
    """Why cells are not compared, with their numbers."""
    reasons: Counter[str] = Counter()
    absent: Counter[str] = Counter()
    for cell in cells:
        account = account_for(cell)
        if account.status == "no data":
            absent[cell.dataset] += 1
        elif account.why:
            reasons[account.why] += 1
    parts = [f"{number} {why}" for why, number in reasons.items()]
    if absent:
        parts.append(f"{absent.total()} no data: {', '.join(absent)}")
    return "; ".join(parts)


def _missing() -> list[str]:
    counts = Counter(cell.dataset for cell in published_cells() if account_for(cell).status == "no data")
    tables: dict[str, dict[str, None]] = {}
    for cell in published_cells():
        if cell.dataset in counts:
            tables.setdefault(cell.dataset, {})[f"{cell.paper} {cell.table}"] = None
    rows = [[name, str(counts[name]), ", ".join(tables[name]), MISSING[name]] for name in counts]
    return markdown_table(["data set", "cells", "tables", "why"], rows)


def _times(folder: Path) -> list[str]:
    """Ratios of times that a benchmark measured beside the paper's own."""
    rows = []
    for name in ("hlm", "maxsim", "learnt_kernels"):
        path = folder / f"{name}.json"
        for item in json.loads(path.read_text())["items"] if path.exists() else []:
            printed = item.get("paper_ratio") or _printed_ratio(item["name"])
            if printed:
                ratios = (f"{ratio:.3g}" if ratio < 1000 else f"{ratio:.0f}" for ratio in (printed, item["ratio"]))
                rows.append([item["name"], item["peer"], *ratios, f"`benchmarks/bench_{name}.py`"])
    head = ["faster or slower", "than", "paper's ratio", "ours", "measured by"]
    lines = [
        "Seconds on other machines cannot be compared; ratios between two methods of one run can, with care: data and "
        "numbers of objects are not the papers'. A ratio above one means the first is faster.",
        "",
    ]
    return [*lines, *(markdown_table(head, rows) if rows else ["No benchmark has been run."])]


def _printed_ratio(name: str) -> float | None:
    """The paper's own, where two of its times belong to a benchmark's line."""
    if name.startswith("MaxSim, two-letter words"):
        words = {cell.method: cell.value or 0.0 for cell in published_cells("bernal2003", "6", quantity="time")}
        return words["svm"] / words["maxsim"]
    if "linear programme (5.28), p = " in name:
        cells = (cell for cell in published_cells("chen2010", "5.1", quantity="time") if cell.dataset == "Aural Sonar")
        times = {cell.condition.get("p", ""): cell.value or 0.0 for cell in cells}
        return times[name.rpartition(" ")[2]] / times[""]
    return None


def _when(records: list[Record]) -> list[str]:
    rows = []
    for record in records:
        days, commits = made(record)
        seconds = seconds_of(record["cells"])
        name = f"{record['paper']}, table {record['table']}"
        rows.append([name, days, *_versions(record), commits, f"{seconds:.0f}", repetition(record["cells"])])
    head = ["table", "runs made", "similis", "scikit-learn", "numpy", "commits", "seconds", "first runs repeated"]
    return [
        "Seconds are those of all runs of a table on a machine shared with other work. Runs that two tables share are "
        "counted in both. A commit with + had changes that were committed later. Runs draw their random numbers from "
        "the name of the problem and their own number, so that a run that is repeated must give the same value: "
        "`similis reproduce all --repeat 2 --results benchmarks/results/reproduce` does so, and notes how many figures "
        "came out the same in every run that was repeated.",
        "",
        *markdown_table(head, rows),
    ]


def _versions(record: Record) -> Iterator[str]:
    return (record["versions"][name] for name in ("similis", "scikit-learn", "numpy"))
