"""Pages of the documentation, generated from the results files."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from papers.account import ABOUT, MISSING, account_for
from papers.notes import notes_on
from papers.published import PAPERS, SIZES, YES_OR_NO, PublishedCell, published_cells
from papers.records import read_results
from papers.verdict import NO_MISS, digits_of

__all__ = ["judged_cells", "write_pages"]

Record = dict[str, Any]
Cell = dict[str, Any]

_MADE = "<!-- Made by `scripts/reproduce --results {folder} --pages ...`. Do not edit. -->"


def write_pages(results: str | os.PathLike[str], pages: str | os.PathLike[str]) -> list[Path]:
    """Write a Markdown page per table, one that sums them up, and one that accounts for every published cell.

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
    folder = Path(pages)
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"index.md": _index_page(records), "all_tables.md": _account_page(records)}
    texts |= {f"{record['paper']}-{record['table']}.md": _page(record) for record in records}
    head = _MADE.format(folder="DIR" if Path(results).is_absolute() else Path(results).as_posix())
    for name, text in texts.items():
        (folder / name).write_text(f"{head}\n\n{text}", encoding="utf-8")
    return [folder / name for name in texts]


def _page(record: dict[str, Any]) -> str:
    cells = record["cells"]
    counts = _count_verdicts(cells)
    missed = [cell for cell in cells if cell["verdict"] not in NO_MISS]
    days, commits = _dates_and_commits(record)
    again = _repetition(cells)
    lines = [
        f"# {record['paper']}, table {record['table']}: {record['about']}",
        "",
        f"{counts['figures']} comparisons: {counts['agrees']} agree, ours is better in {counts['better']} and worse "
        f"in {counts['worse']}; {counts['none']} not judged.",
        "",
        f"At most {record['runs']} runs a figure, made {days}; commit {commits}; {_seconds_of(cells):.0f} seconds; "
        f"similis {record['versions']['similis']}, scikit-learn {record['versions']['scikit-learn']}, numpy "
        f"{record['versions']['numpy']}.",
        *_fewer(record),
        *([f"The first runs were repeated with the latest code: {again}."] if again else []),
        "",
        record["rule"],
        "",
        "## Misses",
        "",
    ]
    if missed:
        head = ["where", "method", "quantity", "paper", "ours", "difference", "standard error", "verdict", "why"]
        lines += _markdown_table(head, (_miss_row(cell) for cell in missed))
    else:
        lines += ["None."]
    lines += ["", *_remarks(cells), *_grids(cells), *_without(record["without"])]
    return "\n".join(lines)


def _fewer(record: dict[str, Any]) -> list[str]:
    """Sentence on figures with fewer runs than the table; facts have no runs."""
    found: dict[int, dict[str, None]] = {}
    for cell in record["cells"]:
        if cell["method"] and 0 < len(cell["values"]) < record["runs"]:
            found.setdefault(len(cell["values"]), {})[f"{cell['method']} ({_where(cell)})"] = None
    parts = [f"{runs} for {', '.join(names)}" for runs, names in sorted(found.items())]
    return [f"Fewer runs: {'; '.join(parts)}."] if parts else []


def _miss_row(cell: Cell) -> list[str]:
    notes = [note.mark for note in notes_on(cell) if note.verdicts]
    why = ", ".join(f"[{mark}](#{_anchor(mark)})" for mark in notes) or cell["reason"] or "not known"
    return [
        _where(cell),
        cell["method"],
        cell["quantity"],
        _number(cell["published"], cell),
        _number(cell["ours"], cell),
        _number(cell["difference"], cell, signed=True),
        _number(cell["standard_error"], cell),
        cell["verdict"],
        why,
    ]


def _remarks(cells: list[Cell]) -> list[str]:
    """Remarks that fit some cell, each once."""
    found = {note.mark: note for cell in cells for note in notes_on(cell)}
    lines = []
    for mark, note in found.items():
        lines += [f"### {mark.capitalize()}", "", note.text, ""]
    return ["## Remarks", "", *lines] if lines else []


def _grids(cells: list[Cell]) -> list[str]:
    """All figures, one grid per quantity: conditions down, methods across."""
    beside = " Ours alone where the data are not the paper's." if any(c["verdict"] == "beside" for c in cells) else ""
    lines = ["## All figures", "", f"Paper / ours (standard error of the difference); misses in bold.{beside}", ""]
    for quantity in dict.fromkeys(sorted(cell["quantity"] for cell in cells)):
        chosen = sorted((cell for cell in cells if cell["quantity"] == quantity), key=_row_order)
        methods = list(dict.fromkeys(sorted(cell["method"] for cell in chosen)))
        places = {(_where(cell), cell["method"]): cell for cell in chosen}
        rows = [
            [where, *(_entry(places.get((where, method))) for method in methods)]
            for where in dict.fromkeys(_where(cell) for cell in chosen)
        ]
        lines += [
            f"### {quantity.capitalize()}",
            "",
            *_markdown_table(["", *(method or "paper / ours" for method in methods)], rows),
            "",
        ]
    return lines


def _without(without: dict[str, list[str]]) -> list[str]:
    parts = [f"{what} {', '.join(names)}" for what, names in without.items() if names]
    return [f"Not available: {'; '.join(parts)}.", ""] if parts else []


def _entry(cell: Cell | None) -> str:
    if cell is None:
        return ""
    if cell["ours"] is None:
        return f"{_number(cell['published'], cell)} / none"
    if cell["verdict"] == "beside":
        return _number(cell["ours"], cell)
    text = f"{_number(cell['published'], cell)} / {_number(cell['ours'], cell)}"
    if cell["standard_error"] is not None and cell["method"]:
        text += f" ({_number(cell['standard_error'], cell)})"
    return f"**{text}**" if cell["verdict"] in ("better", "worse", "differs") else text


def _where(cell: Cell) -> str:
    """Label of a row."""
    if "d" in cell["condition"]:
        return f"d = {cell['condition']['d']}"
    if cell["verdict"] == "beside":
        return str(cell["dataset"])
    at = cell["condition"]
    parts = [cell["dataset"], at.get("distance", ""), f"p = {at['p']}" if "p" in at else "", at.get("kernel", "")]
    return ", ".join(part for part in parts if part)


def _row_order(cell: Cell) -> tuple[float, str]:
    return float(cell["condition"].get("d", 0)), _where(cell)


def _number(value: float | None, cell: Cell, *, signed: bool = False) -> str:
    if value is None:
        return ""
    if cell["quantity"] in YES_OR_NO:
        return "yes" if value else "no"
    digits = digits_of(cell["quantity"])
    return f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"


def _anchor(mark: str) -> str:
    return mark.replace(" ", "-")


# Counts, dates and tables that several pages share.


def _count_verdicts(cells: Iterable[Cell]) -> dict[str, int]:
    """Count the judged figures by verdict; facts that differ count as worse."""
    verdicts = ["worse" if cell["verdict"] == "differs" else cell["verdict"] for cell in cells]
    verdicts = [verdict for verdict in verdicts if verdict != "beside"]
    counts = {name: verdicts.count(name) for name in ("agrees", "better", "worse")}
    return {"figures": len(verdicts), **counts, "none": sum(v in ("failed", "no data", "one run") for v in verdicts)}


def _quantity_group(quantity: str) -> str:
    """Name of a quantity in a list; facts about data go together."""
    return "facts about data" if quantity in SIZES else quantity


def _dates_and_commits(record: dict[str, Any]) -> tuple[str, str]:
    """Days and commits of the runs behind a table."""
    known = [cell["made"] for cell in record["cells"] if cell.get("made")]
    days = sorted({day for one in known for day in one[:2]}) or [record["date"][:10]]
    commits = dict.fromkeys(commit for one in known for commit in one[2:])
    return " to ".join(dict.fromkeys((days[0], days[-1]))), ", ".join(commits) or "not recorded"


def _repetition(cells: Iterable[Cell]) -> str:
    """Number of figures that were repeated, and of those with the same values; empty if none was."""
    known = [cell["repeated"] for cell in cells if cell.get("repeated")]
    if not known:
        return ""
    same = sum(equal == runs for _, _, runs, equal in known)
    commits = ", ".join(dict.fromkeys(commit for _, several, _, _ in known for commit in several.split(", ")))
    return f"{same} of {len(known)} the same, commit {commits}"


def _seconds_of(cells: Iterable[Cell]) -> float:
    """Seconds of all runs; quantities of the same runs count once."""
    runs = {}
    for cell in cells:
        at = {key: value for key, value in cell["condition"].items() if key != "test-similarities"}
        runs[cell["dataset"], cell["method"], str(sorted(at.items()))] = cell["seconds"]
    return float(sum(runs.values()))


def _markdown_table(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    """Lines of a Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


# The pages above the tables.


_TITLES = {
    "cazzanti2007": "Cazzanti 2007, Generative Models for Similarity-based Classification",
    "chen2010": "Chen 2010, Strategies for Similarity-based Learning",
    "qiao2013": "Qiao and Li 2013, distance-based mixture modelling (HLM)",
    "pekalska2000": "Pekalska and Duin 2000, classification on dissimilarity data",
    "bernal2003": "Bernal et al. 2003, similarity based classification",
}
# Figures in running text.
_SECTIONS = {"cazzanti2007": ("3.1.1", "5.3.5"), "qiao2013": ("5.3",), "bernal2003": ("6",)}
_INTRODUCTION = """\
`scripts/reproduce all` runs the experiments of five papers again, as far as their data can be had, and sets every
figure beside the published one. Protocols, grids and numbers of runs are the papers'; where they are not, or where a
paper is silent, the page of the table says what was done instead. [All published tables](all_tables.md) accounts for
every printed cell, with what is missing and why.

Our figures come from results files with every single run in `papers/results`. The pages are made from those files by
`scripts/reproduce --results papers/results --pages docs/results`.

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


def _index_page(records: list[Record]) -> str:
    """Page with the protocol, the rule, counts by paper and table, and the misses by explanation."""
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


def _account_page(records: list[Record]) -> str:
    """Page that accounts for every cell of the five papers."""
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
    lines += ["## Times as ratios", "", *_times(), ""]
    lines += ["## When, and by what", "", *_when(records), ""]
    return "\n".join(lines)


def judged_cells(record: Record) -> list[Cell]:
    """Cells without the variants of the same published figure."""
    extra = (" with floor", ", augmented rows")
    return [cell for cell in record["cells"] if not cell["quantity"].endswith(extra)]


def _by_paper(records: list[Record]) -> list[str]:
    rows = []
    for paper in PAPERS:
        counts = _count_verdicts(
            cell for record in records if record["paper"] == paper for cell in judged_cells(record)
        )
        statuses = Counter(account_for(cell).status for cell in published_cells(paper))
        printed = sum(statuses.values())
        rows.append([_TITLES[paper], *map(str, (printed, *counts.values(), statuses["tested"], statuses["no data"]))])
    total = [str(sum(int(row[column]) for row in rows)) for column in range(1, len(rows[0]))]
    head = ["paper", "cells", "compared", "agree", "ours better", "ours worse", "not judged", "tested", "no data"]
    return _markdown_table(head, [*rows, ["all", *total]])


def _with_floor(records: list[Record]) -> str:
    """Counts of the simulated tables with the floor."""
    counts = _count_verdicts(
        cell for record in records for cell in record["cells"] if cell["quantity"].endswith("with floor")
    )
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
        for quantity in sorted({_quantity_group(cell["quantity"]) for cell in record["cells"]}):
            counts = _count_verdicts(cell for cell in record["cells"] if _quantity_group(cell["quantity"]) == quantity)
            rows.append([link, record["about"], quantity, *map(str, counts.values())])
    head = ["table", "shows", "quantity", "figures", "agree", "ours better", "ours worse", "not judged"]
    return _markdown_table(head, rows)


def _misses(records: list[Record]) -> list[str]:
    """Misses by remark; a miss with several remarks is listed at the first, one without at the end."""
    found: dict[tuple[str, str], list[tuple[Record, Cell]]] = {}
    for record in records:
        for cell in record["cells"]:
            if cell["verdict"] in ("better", "worse", "differs"):
                note = next((note for note in notes_on(cell) if note.verdicts), None)
                found.setdefault((record["paper"], note.mark if note else ""), []).append((record, cell))
    rows = []
    for (paper, mark), misses in found.items():
        if mark:
            counts = _count_verdicts(cell for _, cell in misses)
            tables = list(dict.fromkeys(record["table"] for record, _ in misses))
            link = f"[{mark}]({paper}-{tables[0]}.md#{mark.replace(' ', '-')})"
            rows.append([paper, ", ".join(tables), str(counts["better"]), str(counts["worse"]), link])
    head = ["paper", "tables", "ours better", "ours worse", "remark"]
    lines = [
        "A remark says what is established, what is inferred and what was tried in vain; the pages have the figures.",
        "",
        *_markdown_table(head, rows),
    ]
    unknown = [miss for (_, mark), misses in found.items() if not mark for miss in misses]
    if not unknown:
        return [*lines, "", "No miss is without a remark."]
    rows = [
        [record["paper"], record["table"], _where_missed(cell), cell["method"], cell["quantity"], *_figures(cell)]
        for record, cell in unknown
    ]
    head = ["paper", "table", "where", "method", "quantity", "paper's", "ours", "standard error", "verdict"]
    return [*lines, "", "Nothing is known of these:", "", *_markdown_table(head, rows)]


def _where_missed(cell: Cell) -> str:
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
        judged = _count_verdicts(judged_cells(record)) if record else _count_verdicts([])
        word = "section" if table in _SECTIONS.get(paper, ()) else "table"
        shown = f"{word} [{table}]({paper}-{table}.md)" if record else f"{word} {table}"
        about = record["about"] if record else ABOUT.get(f"{paper}:{table}", "")
        counts = (len(cells), statuses["compared"], judged["agrees"], judged["better"], judged["worse"])
        rows.append([shown, about, *map(str, counts), str(statuses["tested"]), _rest(cells)])
    head = ["table", "shows", "cells", "compared", "agree", "ours better", "ours worse", "tested", "the rest"]
    return _markdown_table(head, rows)


def _rest(cells: Iterable[PublishedCell]) -> str:
    """Reasons why cells are not compared, with the number of cells."""
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
    return _markdown_table(["data set", "cells", "tables", "why"], rows)


def _times() -> list[str]:
    """Ratios of times that a benchmark measured, and the paper's own."""
    rows = []
    folder = Path(__file__).parents[1] / "benchmarks" / "results"
    for name in ("hlm", "maxsim", "learned_kernels"):
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
    return [*lines, *(_markdown_table(head, rows) if rows else ["No benchmark has been run."])]


def _printed_ratio(name: str) -> float | None:
    """The paper's own ratio, where two of its times belong to a benchmark's line."""
    if name.startswith("MaxSim, two-letter words"):
        words = {cell.method: cell.value or 0.0 for cell in published_cells("bernal2003", "6", quantity="time")}
        return words["svm"] / words["maxsim"]
    if "linear program (5.28), p = " in name:
        cells = (cell for cell in published_cells("chen2010", "5.1", quantity="time") if cell.dataset == "Aural Sonar")
        times = {cell.condition.get("p", ""): cell.value or 0.0 for cell in cells}
        return times[name.rpartition(" ")[2]] / times[""]
    return None


def _when(records: list[Record]) -> list[str]:
    rows = []
    for record in records:
        days, commits = _dates_and_commits(record)
        seconds = _seconds_of(record["cells"])
        name = f"{record['paper']}, table {record['table']}"
        rows.append([name, days, *_versions(record), commits, f"{seconds:.0f}", _repetition(record["cells"])])
    head = ["table", "runs made", "similis", "scikit-learn", "numpy", "commits", "seconds", "first runs repeated"]
    return [
        "Seconds are those of all runs of a table on a machine shared with other work. Runs that two tables share are "
        "counted in both. A commit with + had changes that were committed later. Runs draw their random numbers from "
        "the name of the problem and their own number, so that a run that is repeated must give the same value: "
        "`scripts/reproduce all --repeat 2 --results papers/results` does so, and notes how many figures "
        "came out the same in every run that was repeated.",
        "",
        *_markdown_table(head, rows),
    ]


def _versions(record: Record) -> Iterator[str]:
    return (record["versions"][name] for name in ("similis", "scikit-learn", "numpy"))
