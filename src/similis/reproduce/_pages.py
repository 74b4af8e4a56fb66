"""Pages for the documentation, made from the results files alone; nothing on them is typed by hand."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from similis._utils.files import atomic_write
from similis.reproduce._counts import Cell, counted, made, markdown_table, repetition, seconds_of
from similis.reproduce._facts import WORDS
from similis.reproduce._notes import notes_on
from similis.reproduce._record import read_results
from similis.reproduce._summary import account_page, index_page
from similis.reproduce._verdict import NO_MISS, digits_of

__all__ = ["write_pages"]

_MADE = "<!-- Made by `similis reproduce --results {folder} --pages ...`. Do not edit. -->"


def write_pages(results: str | os.PathLike[str], pages: str | os.PathLike[str]) -> list[Path]:
    """Write a Markdown page per table, one that sums them up, and one that accounts for every published cell.

    Parameters
    ----------
    results : path-like
        Folder of results files.
    pages : path-like
        Where the pages go; made if need be.

    Returns
    -------
    list of Path
        The pages.
    """
    records = read_results(results)
    folder = Path(pages)
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"index.md": index_page(records), "all_tables.md": account_page(records, Path(results))}
    texts |= {f"{record['paper']}-{record['table']}.md": _page(record) for record in records}
    head = _MADE.format(folder="DIR" if Path(results).is_absolute() else Path(results).as_posix())
    for name, text in texts.items():
        with atomic_write(folder / name) as file:
            file.write(f"{head}\n\n{text}".encode())
    return [folder / name for name in texts]


def _page(record: dict[str, Any]) -> str:
    cells = record["cells"]
    counts = counted(cells)
    missed = [cell for cell in cells if cell["verdict"] not in NO_MISS]
    days, commits = made(record)
    again = repetition(cells)
    lines = [
        f"# {record['paper']}, table {record['table']}: {record['about']}",
        "",
        f"{counts['figures']} comparisons: {counts['agrees']} agree, ours is better in {counts['better']} and worse "
        f"in {counts['worse']}; {counts['none']} not judged.",
        "",
        f"At most {record['runs']} runs a figure, made {days}; commit {commits}; {seconds_of(cells):.0f} seconds; "
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
        lines += markdown_table(head, (_miss_row(cell) for cell in missed))
    else:
        lines += ["None."]
    lines += ["", *_remarks(cells), *_grids(cells), *_without(record["without"])]
    return "\n".join(lines)


def _fewer(record: dict[str, Any]) -> list[str]:
    """Figures with fewer runs than the table has; facts, which have no runs, are none of them."""
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
    """Every remark that fits some cell, once."""
    found = {note.mark: note for cell in cells for note in notes_on(cell)}
    lines = []
    for mark, note in found.items():
        lines += [f"### {mark.capitalize()}", "", note.text, ""]
    return ["## Remarks", "", *lines] if lines else []


def _grids(cells: list[Cell]) -> list[str]:
    """All figures, one grid per quantity: circumstances down, methods across."""
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
            *markdown_table(["", *(method or "paper / ours" for method in methods)], rows),
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
    """What tells a row from the others of its table."""
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
    if cell["quantity"] in WORDS:
        return "yes" if value else "no"
    digits = digits_of(cell["quantity"])
    return f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"


def _anchor(mark: str) -> str:
    return mark.replace(" ", "-")
