"""Results files: one JSON per table, with date, versions, machine and every run."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from similis._utils.environment import machine, versions
from similis._utils.files import atomic_write, short_path
from similis.exceptions import ProximityError
from similis.reproduce._experiments import EXPERIMENTS
from similis.reproduce._runner import Reproduction
from similis.reproduce._verdict import RULE, Comparison

__all__ = ["note_repetition", "read_results", "write_results"]

_NAME = re.compile(r"\w[\w.]*")  # file names are made of them
_FIELDS = {"paper", "table", "date", "cells"}


def write_results(result: Reproduction, folder: str | os.PathLike[str]) -> list[Path]:
    """Write one results file per table.

    Parameters
    ----------
    result : Reproduction
        What :func:`reproduce_tables` returned.
    folder : path-like
        Where to; made if need be. Files are named like ``cazzanti2007-6.1.json``.

    Returns
    -------
    list of Path
        The files.

    Notes
    -----
    If only some methods were asked for, the cells of the others that a file of as many runs holds are kept.
    """
    if not isinstance(result, Reproduction):
        raise ProximityError(f"write_results needs what reproduce_tables returned. Got a {type(result).__name__}.")
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    about = {experiment.key: experiment.about for experiment in EXPERIMENTS}
    written = []
    for key, runs in result.runs.items():
        paper, table = key.split(":")
        path = folder / f"{paper}-{table}.json"
        cells = [_rounded(asdict(comparison)) for comparison in result.table(key)]
        if result.methods is not None and path.exists():
            cells += [cell for cell in _known(path, runs) if cell["method"] not in result.methods]
            cells.sort(key=lambda cell: Comparison(**cell).urgency)
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
        How many figures were compared, run by run.
    same : int
        How many of them had the same values to four digits in all runs that were repeated.
    """
    figures = same = 0
    for key in result.runs:
        path = Path(folder) / f"{key.replace(':', '-')}.json"
        record = _read(path)
        again = {_place(asdict(comparison)): comparison for comparison in result.table(key)}
        for cell in record["cells"]:
            fresh = again.get(_place(cell))
            if fresh is not None and fresh.values:
                pairs = list(zip(fresh.values, cell["values"]))
                equal = sum(abs(ours - known) < 1e-4 for ours, known in pairs)
                cell["repeated"] = [fresh.made[1], ", ".join(fresh.made[2:]), len(pairs), equal]
                figures, same = figures + 1, same + (equal == len(pairs))
        _write(record, path)
    return figures, same


def _place(cell: dict[str, Any]) -> tuple[str, ...]:
    """What a figure is about, wherever it came from."""
    return cell["dataset"], cell["method"], cell["quantity"], str(sorted(cell["condition"].items()))


def read_results(folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """Read the results files of a folder, in the order of the experiments.

    Parameters
    ----------
    folder : path-like
        Where :func:`write_results` wrote.

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
        raise ProximityError(f"{short_path(folder)} holds no results files; run similis reproduce --results first.")
    order = {experiment.key: place for place, experiment in enumerate(EXPERIMENTS)}
    return sorted(records, key=lambda record: order.get(f"{record['paper']}:{record['table']}", len(order)))


def _read(path: Path) -> dict[str, Any]:
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        complete = _FIELDS <= set(record) and all(_NAME.fullmatch(record[key]) for key in ("paper", "table"))
    except (ValueError, TypeError):
        complete = False
    if not complete:
        raise ProximityError(f"{short_path(path)} is not a results file of similis reproduce.")
    return record


def _known(path: Path, runs: int) -> list[dict[str, Any]]:
    """The cells of a file, if as many runs stand behind them."""
    record = _read(path)
    return list(record["cells"]) if record.get("runs") == runs else []


def _rounded(cell: dict[str, Any]) -> dict[str, Any]:
    """Numbers without the digits that say nothing."""
    return {
        key: [round(v, 4) for v in value] if key == "values" else round(value, 4) if isinstance(value, float) else value
        for key, value in cell.items()
    }


def _write(record: dict[str, Any], path: Path) -> None:
    """JSON with one cell a line, so that differences between two files can be read."""
    cells = ",\n".join("  " + json.dumps(cell) for cell in record["cells"])
    head = json.dumps({key: value for key, value in record.items() if key != "cells"}, indent=1)
    with atomic_write(path) as file:
        file.write((head.removesuffix("\n}") + ',\n "cells": [\n' + cells + "\n ]\n}\n").encode())
