"""Results files: one JSON per table, with date, versions, machine and every run."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from papers.experiments import EXPERIMENTS, find_experiments
from papers.runner import Reproduction
from papers.verdict import RULE, ReproducedCell
from similis._utils.environment import machine, versions
from similis.exceptions import ProximityError

_NAME = re.compile(r"\w[\w.]*")  # file names are made of them
_FIELDS = {"paper", "table", "date", "cells"}


def write_results(result: Reproduction, folder: str | os.PathLike[str]) -> list[Path]:
    """Write one results file per table.

    Parameters
    ----------
    result : Reproduction
        Result of :func:`reproduce_tables`.
    folder : path-like
        Folder, created if needed. Files are named like ``cazzanti2007-6.1.json``.

    Returns
    -------
    list of Path
        The files.

    Notes
    -----
    If only some methods were run, the cells of the others are kept where a file of as many runs holds them.
    """
    if not isinstance(result, Reproduction):
        raise ProximityError(f"write_results needs a result of reproduce_tables. Got a {type(result).__name__}.")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    about = {experiment.key: experiment.about for experiment in EXPERIMENTS}
    written = []
    for key, runs in result.runs.items():
        paper, table = key.split(":")
        path = folder / f"{paper}-{table}.json"
        cells = [_rounded(asdict(cell)) for cell in result.table(key)]
        if result.methods is not None and path.exists():
            cells += [cell for cell in _known(path, runs) if cell["method"] not in result.methods]
            cells.sort(key=lambda cell: ReproducedCell(**cell).urgency)
        record = {
            "paper": paper,
            "table": table,
            "about": about[key],
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": versions(),
            "machine": machine(),
            "rule": RULE,
            "runs": runs,
            "without": result.without[key],
            "cells": cells,
        }
        _write(record, path)
        written.append(path)
    return written


def note_repetition(result: Reproduction, folder: str | os.PathLike[str]) -> tuple[int, int]:
    """Note in results files which of their runs give the same value when they are repeated.

    Parameters
    ----------
    result : Reproduction
        The first runs of some tables again, as :func:`reproduce_tables` gives them for a small number of runs.
    folder : path-like
        Results files, from the same tables; figures that they do not hold are passed over.

    Returns
    -------
    figures : int
        Number of figures compared, run by run.
    same : int
        Number of those that had the same values to four digits in all runs that were repeated.
    """
    figures = same = 0
    for key in result.runs:
        path = Path(folder) / f"{key.replace(':', '-')}.json"
        record = _read(path)
        again = {_figure_key(asdict(cell)): cell for cell in result.table(key)}
        for cell in record["cells"]:
            fresh = again.get(_figure_key(cell))
            if fresh is not None and fresh.values:
                pairs = list(zip(fresh.values, cell["values"]))
                equal = sum(abs(ours - known) < 1e-4 for ours, known in pairs)
                cell["repeated"] = [fresh.made[1], ", ".join(fresh.made[2:]), len(pairs), equal, fresh.seconds]
                figures, same = figures + 1, same + (equal == len(pairs))
        _write(record, path)
    return figures, same


def _figure_key(cell: dict[str, Any]) -> tuple[str, ...]:
    """Key of a figure within its table."""
    return cell["dataset"], cell["method"], cell["quantity"], str(sorted(cell["condition"].items()))


def read_results(folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Read the results files of a folder, in the order of the experiments.

    Parameters
    ----------
    folder : path-like
        Folder of results files.

    Returns
    -------
    list of dict
        One per table.

    Raises
    ------
    ProximityError
        If there are none, or one is not a results file.
    """
    records = [_read(path) for path in sorted(Path(folder).glob("*.json"))]
    if not records:
        raise ProximityError(f"{folder} holds no results files; run scripts/reproduce --results first.")
    order = {experiment.key: place for place, experiment in enumerate(EXPERIMENTS)}
    return sorted(records, key=lambda record: order.get(f"{record['paper']}:{record['table']}", len(order)))


def estimate_seconds(tables: list[str] | tuple[str, ...] | None = None) -> float:
    """Seconds on one core that the runs of some tables took, or would take at the speed of the last repetition.

    Parameters
    ----------
    tables : list of str, optional
        As in :func:`reproduce_tables`.

    Returns
    -------
    float
        Quantities of the same runs, and runs that tables share, count once.
    """
    runs: dict[tuple[str, str], float] = {}
    for experiment in find_experiments(tables):
        path = Path(__file__).parent / "results" / f"{experiment.key.replace(':', '-')}.json"
        known = {_figure_key(cell): _seconds(cell) for cell in _read(path)["cells"]} if path.exists() else {}
        for cell in experiment.cells():
            runs[experiment.problem(cell).name, cell.method] = known.get(_figure_key(vars(cell)), 0.0)
    return sum(runs.values())


def _seconds(cell: dict[str, Any]) -> float:
    """Seconds of all runs of a figure, from those that were repeated last if there are any."""
    if not cell["repeated"]:
        return float(cell["seconds"])
    *_, runs, _, seconds = cell["repeated"]
    return float(seconds) * len(cell["values"]) / runs


def _read(path: Path) -> dict[str, Any]:
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        complete = _FIELDS <= set(record) and all(_NAME.fullmatch(record[key]) for key in ("paper", "table"))
    except (ValueError, TypeError):
        complete = False
    if not complete:
        raise ProximityError(f"{path} is not a results file of scripts/reproduce.")
    return record


def _known(path: Path, runs: int) -> list[dict[str, Any]]:
    """Cells of a file, if it has as many runs."""
    record = _read(path)
    return list(record["cells"]) if record.get("runs") == runs else []


def _rounded(cell: dict[str, Any]) -> dict[str, Any]:
    """Round floats to four digits."""
    return {
        key: [round(v, 4) for v in value] if key == "values" else round(value, 4) if isinstance(value, float) else value
        for key, value in cell.items()
    }


def _write(record: dict[str, Any], path: Path) -> None:
    """Write JSON with one cell per line, for readable diffs; the file is replaced at once."""
    cells = ",\n".join("  " + json.dumps(cell) for cell in record["cells"])
    head = json.dumps({key: value for key, value in record.items() if key != "cells"}, indent=1)
    unfinished = path.with_suffix(".tmp")
    unfinished.write_text(head.removesuffix("\n}") + ',\n "cells": [\n' + cells + "\n ]\n}\n", encoding="utf-8")
    unfinished.replace(path)
