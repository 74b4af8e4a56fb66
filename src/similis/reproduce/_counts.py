"""Counts, dates and tables that several pages share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from similis.reproduce._facts import SIZES

__all__ = ["Cell", "counted", "made", "markdown_table", "repetition", "seconds_of", "spoken"]

Cell = dict[str, Any]


def counted(cells: Iterable[Cell]) -> dict[str, int]:
    """Figures that are judged, by verdict; facts that differ count with the worse."""
    verdicts = ["worse" if cell["verdict"] == "differs" else cell["verdict"] for cell in cells]
    verdicts = [verdict for verdict in verdicts if verdict != "beside"]
    counts = {name: verdicts.count(name) for name in ("agrees", "better", "worse")}
    return {"figures": len(verdicts), **counts, "none": sum(v in ("failed", "no data", "one run") for v in verdicts)}


def spoken(quantity: str) -> str:
    """A quantity in a list of quantities; sizes and the like go together."""
    return "facts about data" if quantity in SIZES else quantity


def made(record: dict[str, Any]) -> tuple[str, str]:
    """When the runs behind a table were made, and by which commits."""
    known = [cell["made"] for cell in record["cells"] if cell.get("made")]
    days = sorted({day for one in known for day in one[:2]}) or [record["date"][:10]]
    commits = dict.fromkeys(commit for one in known for commit in one[2:])
    return " to ".join(dict.fromkeys((days[0], days[-1]))), ", ".join(commits) or "not recorded"


def repetition(cells: Iterable[Cell]) -> str:
    """How many figures were repeated, and how many of them came out the same; empty if none was."""
    known = [cell["repeated"] for cell in cells if cell.get("repeated")]
    if not known:
        return ""
    same = sum(equal == runs for _, _, runs, equal in known)
    commits = ", ".join(dict.fromkeys(commit for _, several, _, _ in known for commit in several.split(", ")))
    return f"{same} of {len(known)} the same, commit {commits}"


def seconds_of(cells: Iterable[Cell]) -> float:
    """Time of all runs; quantities of the same runs count once."""
    runs = {}
    for cell in cells:
        at = {key: value for key, value in cell["condition"].items() if key != "test-similarities"}
        runs[cell["dataset"], cell["method"], str(sorted(at.items()))] = cell["seconds"]
    return float(sum(runs.values()))


def markdown_table(head: list[str], rows: Iterable[list[str]]) -> list[str]:
    """Lines of a table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]
