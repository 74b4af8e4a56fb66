"""Command line of the papers' experiments, see ``scripts/reproduce --help``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from papers import (
    EXPERIMENTS,
    FIGURES,
    Reproduction,
    default_cache,
    draw_figures,
    estimate_seconds,
    note_repetition,
    reproduce_tables,
    write_pages,
    write_results,
)
from papers.experiments import find_experiments
from similis.exceptions import ProximityError

_ABOUT = """\
Run the experiments of the five papers again and compare with the published figures.

Every line shows the paper's figure, ours, the difference, its standard error and a verdict by a rule that was fixed
beforehand: two figures agree when they differ by at most three combined standard errors. Misses come first.
Finished runs are kept in journals: a reproduction that was stopped resumes.
"""
_EXAMPLES = """\
examples:
  scripts/reproduce --list
  scripts/reproduce cazzanti2007:6.1 --quick
  scripts/reproduce chen2010 --jobs 2 --data ~/benchmarks
  scripts/reproduce chen2010:fig3.1 cazzanti2007:fig5.1 --figures pictures
  scripts/reproduce all --data ~/benchmarks --results papers/results
  scripts/reproduce --results papers/results --pages docs/results
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line and run it; return the exit status."""
    options = _parser().parse_args(arguments)
    try:
        _run(options)
    except ProximityError as error:
        print(f"reproduce: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("reproduce: interrupted; the same command resumes.", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "scripts/reproduce",
        description=_ABOUT,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("tables", nargs="*", metavar="TABLE", help="paper or table, such as chen2010 or cazzanti2007:6.1, or all")
    add("--method", action="append", metavar="NAME", help="only this method; may be repeated")
    add("--runs", type=_positive, help="number of runs instead of the papers'")
    add("--quick", action="store_true", help="at most four runs: a first look")
    add("--all", action="store_true", help="print every figure, not the misses alone")
    add("--list", action="store_true", help="list the tables and stop")
    add("--estimate", action="store_true", help="print how long each table takes and stop")
    add("--jobs", type=int, default=1, help="number of processes; -1: all cores (default: 1)")
    add("--data", metavar="DIR", help="folder of benchmark data, instead of SIMILIS_DATA")
    add("--cache", metavar="DIR", help="folder of journals; in the user's cache by default")
    add("--no-cache", action="store_true", help="keep no finished runs, and use none")
    add("--results", metavar="DIR", help="write a results file per table")
    add(
        "--repeat",
        type=_positive,
        metavar="N",
        help="run the first N runs again and note in --results which give the same values",
    )
    add("--pages", metavar="DIR", help="only write pages from the files in --results")
    add("--figures", metavar="DIR", default=".", help="folder of figures such as chen2010:fig3.1; here by default")
    add("--json", action="store_true", help="print JSON")
    add("--quiet", "-q", action="store_true", help="show no progress bar")
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number, at least 1, got {text!r}")
    return int(text)


def _run(options: argparse.Namespace) -> None:
    if options.list:
        rows = [(e.key, e.about, len(e.cells()), ", ".join(e.without()["methods"]) or "-") for e in EXPERIMENTS]
        if options.json:
            print(json.dumps([dict(zip(("table", "about", "figures", "without"), row)) for row in rows], indent=1))
        else:
            _print_table(("table", "shows", "figures", "methods not available"), rows)
            print(f"Pictures: {', '.join(FIGURES)}")
        return
    if options.results is None and (options.pages is not None or options.repeat is not None):
        option = "--repeat" if options.pages is None else "--pages"
        raise ProximityError(f"{option} needs --results DIR, the folder of the results files.")
    if options.pages is not None:
        for path in write_pages(options.results, options.pages):
            print(f"wrote {path}", file=sys.stderr)
        return
    if options.data is not None:
        os.environ["SIMILIS_DATA"] = options.data  # the worker processes read it too
    figures = [name for name in options.tables if name in FIGURES or ":fig" in name]
    if figures:
        for path in draw_figures(figures, options.figures):
            print(f"wrote {path}", file=sys.stderr)
        if figures == options.tables:
            return
        options.tables = [name for name in options.tables if name not in figures]
    minutes = estimate_seconds(options.tables) / 60
    took = f"{minutes:.0f} minutes of one core when they were last made; --jobs N uses N."
    if options.estimate:
        tables = find_experiments(options.tables)
        _print_table(("table", "minutes"), [(e.key, f"{estimate_seconds([e.key]) / 60:.1f}") for e in tables])
        print(f"All together, with runs that tables share counted once: {took}")
        return
    if not (options.quiet or options.quick or options.runs or options.method or options.repeat):
        print(f"These runs took {took}", file=sys.stderr)
    result = reproduce_tables(
        options.tables,
        methods=options.method,
        runs=options.repeat or options.runs,
        quick=options.quick,
        n_jobs=options.jobs,
        cache=None if options.no_cache else Path(options.cache or default_cache()),
        progress=not options.quiet and sys.stderr.isatty(),
    )
    if options.repeat is not None:
        repeated, same = note_repetition(result, options.results)
        print(f"{repeated} figures repeated, {same} with the same values")
        return
    if options.results is not None:
        for path in write_results(result, options.results):
            print(f"wrote {path}", file=sys.stderr)
    if options.json:
        cells = [asdict(cell) for cell in result.cells]
        print(json.dumps({"runs": result.runs, "without": result.without, "cells": cells}, indent=1))
    else:
        _print_result(result, options.all)


def _print_result(result: Reproduction, show_all: bool) -> None:
    rows = []
    for c in result.cells if show_all else result.misses:
        where = f"d={c.condition['d']}" if "d" in c.condition else c.dataset
        ours, error = ("" if value is None else f"{value:.{c.digits}f}" for value in (c.ours, c.standard_error))
        difference = c.reason if c.difference is None else f"{c.difference:+.{c.digits}f}"
        published = f"{c.published:.{c.digits}f}"
        table = f"{c.paper}:{c.table}"
        rows.append((table, where, c.method, c.quantity, published, ours, difference, error, c.verdict))
    if rows:
        head = ("table", "where", "method", "quantity", "paper", "ours", "difference", "s.e.", "verdict")
        _print_table(head, rows)
    counts = Counter("agree" if c.verdict == "agrees" else c.verdict for c in result.cells)
    print(f"{len(result.cells)} figures: " + ", ".join(f"{n} {verdict}" for verdict, n in counts.most_common()))


def _print_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    table = Table(*head, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*map(str, row))
    Console(width=None if sys.stdout.isatty() else 200).print(table)  # nothing is cut off in a file or pipe


if __name__ == "__main__":
    sys.exit(main())
